"""Previews of an answer on a made-up table, from public facts only, drawn with the real mechanism."""

from __future__ import annotations

from dpengine.declared.date_column import Date
from dpengine.declared.schema import Number
from dpengine.mechanisms.query import AnyQuery, Released
from dpengine.noise.coins import Coins, SystemCoins


def coins() -> Coins:
    return SystemCoins()


def rehearse(query: AnyQuery, times: int) -> list[Released]:
    column = query.facts.schema.columns.get(getattr(query, "column", ""))
    shape = column.shape if isinstance(column, (Number, Date)) else "even"
    statistic = query.need().imagine(query.facts.about, shape)
    drawn = coins()
    return [query.release(statistic, drawn) for _ in range(times)]
