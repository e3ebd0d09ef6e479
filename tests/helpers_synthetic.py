"""Synthetic tables by the plain formulas: sequences one by one. For small cases."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dpengine.core.exact import exp_decimal
from dpengine.core.types import Floats, Integers
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.synthetic.of_class import OfClass


def facts(sizes: tuple[int, ...], people: int, relation: str = "replace") -> Facts:
    lists = {f"c{at}": Category([f"v{one}" for one in range(size)], "v0", "v0") for at, size in enumerate(sizes)}
    return Facts("t", Schema(lists), Unit.rows(), relation, people)  # type: ignore[arg-type]


def class_of(query: OfClass) -> list[frozenset[int]]:
    """The cells of every query, from rows and conditions, one cell at a time."""
    names, sizes = query.columns, [query.facts.schema.category(name).size for name in query.columns]
    rows = [dict(zip(names, codes, strict=True)) for codes in product(*(range(size) for size in sizes))]
    if query.queries:
        return [frozenset(at for at, row in enumerate(rows) if one.holds(row)) for one in query.queries]
    groups: list[tuple[str, ...]] = [(name,) for name in names]
    groups += [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    found = []
    for group in groups:
        for codes in product(*(range(query.facts.schema.category(name).size) for name in group)):
            wanted = dict(zip(group, codes, strict=True))
            found.append(frozenset(at for at, row in enumerate(rows) if all(row[n] == c for n, c in wanted.items())))
    return found


def gap(value: tuple[int, ...], rows: tuple[int, ...], queries: list[frozenset[int]]) -> int:
    """⌈max_h |c_h(x) − n·c_h(y)/m|⌉, in fractions."""
    n, m = sum(value), sum(rows)
    off = [abs(sum(value[at] for at in h) - Fraction(n * sum(rows[at] for at in h), m)) for h in queries]
    return math.ceil(max(off))


def small_database_law(query: Any, value: tuple[int, ...]) -> dict[tuple[int, ...], Decimal]:
    """Over every single sequence of D^m."""
    queries, found = class_of(query), Counter[tuple[int, ...]]()
    for sequence in product(range(query.domain), repeat=query.rows):
        seen = Counter(sequence)
        found[tuple(seen[at] for at in range(query.domain))] += 1
    rate = query.epsilon / (2 * query.facts.unit.at_most)
    weights = {rows: many * exp_decimal(-rate * gap(value, rows, queries)) for rows, many in found.items()}
    total = sum(weights.values(), Decimal(0))
    return {rows: weight / total for rows, weight in weights.items()}


def off_by(query: OfClass, value: tuple[int, ...], told: dict[str, int]) -> float:
    """The largest error of any share of the class, in percent."""
    rows = list(told.values())
    n, m = sum(value), sum(rows)
    return max(abs(sum(value[at] for at in h) / n - sum(rows[at] for at in h) / m) for h in class_of(query)) * 100


def in_rows(shares: Floats, rows: int) -> Integers:
    """A distribution as `rows` whole rows: rounded down, then one more for the largest remainders, first cells
    first."""
    wanted = shares * (rows / shares.sum())
    down = np.floor(wanted).astype(np.int64)
    left = min(max(rows - int(down.sum()), 0), len(down))
    more = np.argsort(down - wanted, kind="stable")[:left]
    down[more] += 1
    return np.asarray(down)
