"""The true answers about a bundled sample, from its public file in data/ and nothing else: for a workshop, where the
truth stands beside the private answers.

No path leads from here to a table of a workspace. Rows come from one of the files below only, not from the table that a
question names, and nothing here opens any other file. The people in those files are made up.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpengine.core import places
from dpengine.declared.conditions import Row
from dpengine.declared.schema import Category, Column, Number
from dpengine.mechanisms.query import AnyQuery, Released
from dpengine.noise.coins import SystemCoins

FILES = {name: places.SAMPLES / f"{name}.csv" for name in ("clinic", "residents", "town")}  # a row is a person
KINDS = ("count", "mean", "median", "proportion")


def tellable(query: AnyQuery) -> bool:
    """True if the question is of a supported kind, about a bundled sample, and answered by one number."""
    return query.card.key in KINDS and query.facts.table in FILES and query.by is None


def of(query: AnyQuery) -> float:
    """The true answer to a question, in the question's unit. Refuses a question that is not `tellable`."""
    counts, key = statistic(query), query.card.key
    if key == "count":
        return float(counts)
    if key == "proportion":
        hits, misses = counts
        return float(Fraction(100 * hits, max(hits + misses, 1)))
    column = query.facts.schema.number(getattr(query, "column", ""))
    if key == "mean":
        people, doubled = counts  # distances from the centre of the grid, doubled
        return float((column.lower + column.upper) / 2 + column.step * Fraction(doubled, 2 * max(people, 1)))
    below, half = 0, int(counts.counts.sum() + 1) // 2
    for code, count in zip(counts.codes, counts.counts, strict=True):
        below += int(count)
        if below >= half:
            return float(column.value(int(code)))
    return float(column.lower)


def statistic(query: AnyQuery) -> Any:
    """What the mechanism would get from the engine, here computed from the rows of the bundled file."""
    if not tellable(query):
        raise KeyError("no true answer for this question")
    need = query.need()
    columns = tuple(sorted((name, query.facts.schema[name]) for name in query.used()))
    return need.of(_rows(query.facts.table, columns))


def simulated(query: AnyQuery, times: int) -> list[Released]:
    """Answers drawn by the mechanism itself, for this page only: nobody is charged."""
    counts, coins = statistic(query), SystemCoins()
    return [query.release(counts, coins) for _ in range(times)]


@lru_cache(maxsize=16)
def _rows(name: str, columns: tuple[tuple[str, Column], ...]) -> tuple[Row, ...]:
    coded: dict[str, dict[str, int]] = {column: {} for column, _ in columns}
    rows = []
    with FILES[name].open(encoding="utf-8", newline="") as file:
        for written in csv.DictReader(file):
            row = {}
            for column, kind in columns:
                cell, known = written[column], coded[column]
                if cell not in known:
                    known[cell] = _code(cell, kind)
                row[column] = known[cell]
            rows.append(row)
    return tuple(rows)


def _code(cell: str, kind: Column) -> int:
    if isinstance(kind, Number):
        place = (Fraction(cell) - kind.lower) / kind.step
        return min(max(round(place), 0), kind.size - 1)
    assert isinstance(kind, Category)
    return kind.code(cell)
