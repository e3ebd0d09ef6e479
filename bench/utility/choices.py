"""The largest of ten groups: how many people fewer the chosen one has than the largest, on average. And one percentile
alone, which is a choice too: its rank error. The median of many rows on a fine grid is taken of a new table for every
ten draws: on a single one it decides where in a value's rows the middle happens to fall (bench/results.md has one on
which OpenDP's score has it easy).

OpenDP      `make_noisy_max`: under ε with exponential noise, which is permute-and-flip; under ρ-zCDP with Gumbel noise,
            which is the exponential mechanism, ρ = ε²/8.
Before      report noisy max with Laplace noise.
Draws       of digits MORE times as many: they are cheap, and errors rare but large.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from opendp import measurements as m
from opendp.domains import atom_domain, vector_domain
from opendp.measures import max_divergence, zero_concentrated_divergence
from opendp.metrics import linf_distance, symmetric_distance

import dpengine as dp
from bench.accuracy import RELATIONS, REPLACE, again, line, rank_error
from bench.data import bell, skewed
from bench.tasks import GRID
from bench.utility.columns import PEOPLE, Made, made
from bench.utility.frame import BEFORE, COINS, NAMES, OURS, ask, best, pure
from bench.utility.percentiles import Ranks, opendp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.query import AnyQuery
from dpengine.statistics.need import Spread

BANDS = [f"band {place}" for place in range(10)]
SPENDS = ("0.01", "0.1")
FINE, EACH = 10_000, 10  # people; draws of each table
MORE = 5
_GRID = dp.Number(0, GRID - 1, missing=0)
PLACES = [Fraction(place, 20) for place in range(1, 20)]


def rows(draws: int) -> Iterator[dict[str, Any]]:
    for people in PEOPLE:
        counts = np.bincount(made("age", people).codes % 10, minlength=10)
        for relation in RELATIONS:
            for epsilon in SPENDS:
                case = f"most common last digit of an age, {people:,} people"
                yield from _lines(case, counts, relation, epsilon, MORE * draws)
    yield from _fine(draws)
    for name in ("age", "hours"):
        for people in PEOPLE:
            yield from _places(made(name, people), SPENDS[1], draws)


def _fine(draws: int) -> Iterator[dict[str, Any]]:
    integers, epsilon = vector_domain(atom_domain(T="i64")), float(SPENDS[1])
    for name, make in (("bell", bell), ("skewed", skewed)):
        tables = [make(np.random.default_rng(), FINE) for _ in range(max(draws // EACH, 2))]
        for relation in RELATIONS:
            facts = Facts("bench", dp.Schema({"x": _GRID}), dp.Unit.rows(), NAMES[relation], FINE)  # type: ignore[arg-type]
            given = {"column": "x", "epsilon": SPENDS[1], "with_range": False}
            query = best(dp.catalogue["median"].build(facts, given))
            rows = 2 if relation == REPLACE else 1
            their = m.make_private_quantile(
                integers, symmetric_distance(), max_divergence(), list(range(GRID)), 0.5, rows / epsilon
            )
            told: dict[str, list[float]] = {OURS: [], "OpenDP": []}
            for values in tables:
                off, spread = rank_error(values), Spread(*_counted(values))
                told[OURS].append(_average(lambda o=off, s=spread, q=query: o(float(q.release(s, COINS).value))))
                told["OpenDP"].append(_average(lambda o=off, v=values, t=their: o(float(t(v)))))
            case, note = (
                f"median on a fine grid: {name}, {FINE:,} people",
                f"{len(tables)} tables, {EACH} draws of each",
            )
            for who, found in told.items():
                yield line(case, relation, pure(SPENDS[1]), who, found, note=note if who == OURS else "")


def _counted(values: Any) -> tuple[Any, Any]:
    codes, counts = np.unique(values, return_counts=True)
    return codes.astype(np.int64), counts.astype(np.int64)


def _average(draw: Any) -> float:
    return sum(draw() for _ in range(EACH)) / EACH


def _places(table: Made, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    """One percentile alone, each of 19 in turn. Single ones say little: where a percentile falls inside a value that
    many share, either score may have it easy."""
    case, ranks, spread = f"a percentile alone, the 5th to the 95th: {table.title}", Ranks(table), table.spread
    usual = [ask(REPLACE, table, "quantile", epsilon, share=str(float(one)), with_range=False) for one in PLACES]
    turns = range(-(-draws // len(PLACES)))
    for who, asked in ((OURS, [best(query) for query in usual]), (BEFORE, usual)):
        pairs = [pair for _ in turns for pair in zip(asked, PLACES, strict=True)]
        told = ((table.codes_of([query.release(spread, COINS).value])[0], share) for query, share in pairs)
        yield line(case, REPLACE, pure(epsilon), who, (ranks.off(code, share) for code, share in told))
    theirs = [(opendp(table, share, REPLACE, float(epsilon)), share) for share in PLACES]
    found = (ranks.off(draw(table.codes), share) for _ in turns for draw, share in theirs)
    yield line(case, REPLACE, pure(epsilon), "OpenDP", found)


def _lines(case: str, counts: Any, relation: str, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    usual, value = _asked(relation, int(counts.sum()), epsilon), tuple(counts.tolist())

    def behind(place: int) -> float:
        return float(counts.max() - counts[place])

    def ours(query: AnyQuery) -> Any:
        return again(draws, lambda: behind(query.draw(value, COINS)))

    flip = usual.with_noise("permute_and_flip")
    moves, loss = (2 if relation == REPLACE else 1), float(epsilon)
    zcdp = f"ρ-zCDP, ρ = {loss**2 / 8:g}"
    yield line(case, relation, pure(epsilon), OURS, ours(flip))
    yield line(case, relation, zcdp, OURS, ours(usual))
    near = linf_distance(T="i64", monotonic=relation != REPLACE)
    for measure, guarantee in ((max_divergence(), pure(epsilon)), (zero_concentrated_divergence(), zcdp)):
        their = m.make_noisy_max(vector_domain(atom_domain(T="i64")), near, measure, moves / loss)
        yield line(case, relation, guarantee, "OpenDP", again(draws, lambda t=their: behind(t(counts))))


def _asked(relation: str, people: int, epsilon: str) -> AnyQuery:
    schema = dp.Schema({"x": dp.Category(BANDS, BANDS[0], BANDS[0])})
    facts = Facts("bench", schema, dp.Unit.rows(), NAMES[relation], people)  # type: ignore[arg-type]
    options = [[["x", "in", [label]]] for label in BANDS]
    return dp.catalogue["noisy_argmax"].build(facts, {"options": options, "epsilon": epsilon})
