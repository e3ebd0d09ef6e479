"""Previews of an answer on a made-up table. It knows public facts only, and draws with the real mechanism."""

from __future__ import annotations

from dpengine.coins import SystemCoins
from dpengine.contract import Query, Released
from dpengine.dates import Date
from dpengine.schema import Number


def rehearse(query: Query, times: int) -> list[Released]:
    column = query.facts.schema.columns.get(getattr(query, "column", ""))
    shape = column.shape if isinstance(column, (Number, Date)) else "even"
    statistic = query.need().imagine(query.facts.about, shape)
    coins = SystemCoins()
    return [query.release(statistic, coins) for _ in range(times)]
