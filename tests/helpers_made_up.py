"""A made-up table, from a declaration alone: numbers in a public shape, listed values less and less often."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpengine.declared.cell_kinds import FITS
from dpengine.declared.conditions import Row, kind_name
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, ItemSet
from dpengine.mechanisms.query import AnyQuery
from dpengine.statistics.counts import Distribution, cut
from dpengine.statistics.raw_needs import Several, _OfColumn


def made_up_rows(facts: Facts, people: int, shape: str, raw: bool) -> list[Row]:
    """One coded row a person, with an id in every column that is not declared; or, with `raw`, the texts of a file."""
    cells: dict[str, list[Any]] = {"person": list(range(people)), "fault": [0] * people}
    for name in set(facts.header) - set(facts.schema.columns):
        cells[name] = [f"{person.bit_count()}" if raw else f"id {person}" for person in range(people)]
    for at, (name, column) in enumerate(facts.schema.columns.items()):
        if isinstance(column, Category | ItemSet):
            weights = np.array([1 / (place + 2) for place in range(column.size)])
            codes = np.searchsorted(np.cumsum(weights / weights.sum()), (np.arange(people) + 0.5) / people)
        else:
            spread = Distribution(name, column.size).imagine(people, shape)
            codes = np.repeat(spread.codes, spread.counts)
        mixed = np.random.default_rng(at).permutation(codes).tolist()  # so that columns are independent
        held = [(code,) for code in mixed] if isinstance(column, ItemSet) else mixed
        cells |= {name: list(map(str, held)) if raw else held, kind_name(name): [FITS] * people, cut(name): held}
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def made_up(query: AnyQuery, people: int, shape: str) -> Any:
    """The question's statistic on a made-up table."""
    need = query.need()
    return need.of(made_up_rows(query.facts, people, shape, isinstance(need, _OfColumn | Several)))
