"""Synthetic tables by the plain formulas: sequences one by one, weights in a dictionary. For small cases."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from dpengine.core.exact import exp_decimal
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


def mwem_law(query: Any, value: tuple[int, ...], total: int) -> dict[tuple[int, ...], float]:
    """All rounds of all choices and answers, in floats, where the total is public."""
    queries, each = class_of(query), float(query.epsilon) / (2 * query.turns)
    counts, ratio = [sum(value[at] for at in h) for h in queries], math.exp(-each)
    found: dict[tuple[int, ...], tuple[float, list[float]]] = {(): (1.0, [1 / query.domain] * query.domain)}
    for _ in range(query.turns):
        longer = {}
        for raw, (likely, weights) in found.items():
            near = [math.floor(total * sum(weights[at] for at in h) + 0.5) for h in queries]
            odds = [math.exp(each / 2 * abs(count - one)) for count, one in zip(counts, near, strict=True)]
            for place, h in enumerate(queries):
                for answer in range(total + 1):
                    ends = range(-400, 1) if answer == 0 else range(total, 400) if answer == total else (answer,)
                    noise = sum((1 - ratio) / (1 + ratio) * ratio ** abs(z - counts[place]) for z in ends)
                    step = math.exp(4 * (answer / total - sum(weights[at] for at in h)))
                    moved = [one * step if at in h else one for at, one in enumerate(weights)]
                    told = likely * odds[place] / sum(odds) * noise
                    longer[(*raw, place, answer)] = told, [one / sum(moved) for one in moved]
        found = longer
    return {raw: likely for raw, (likely, _) in found.items()}


def off_by(query: OfClass, value: tuple[int, ...], told: dict[str, int]) -> float:
    """The largest error of any share of the class, in percent."""
    rows = list(told.values())
    n, m = sum(value), sum(rows)
    return max(abs(sum(value[at] for at in h) / n - sum(rows[at] for at in h) / m) for h in class_of(query)) * 100
