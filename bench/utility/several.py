"""Several things in one question: disjoint conditions as one, the five most common values, percentiles by group.

Before      conditions one after the other, each at its part of ε. Percentiles of each group one after the other.
OpenDP      a Laplace measurement of the vector of counts by category; `make_noisy_max` again and again, the chosen one
            left out; percentiles of each group at their parts of ε.
Joint       top-k by one exponential mechanism over all sequences (Gillenwater, Joseph, Muñoz Medina, Ribero 2022,
            arXiv 2201.12333), in floats: score −max_i (i-th largest − count of the i-th named), Δ = 1 under add/remove
            and 2 under replace-one, so the rate is ε/(2Δ). Ours is the same law, drawn exactly, where it comes nearer.
Measure     mean error of a count; the largest rank error of the named, in people; mean rank error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from opendp import measurements as m
from opendp.domains import atom_domain, vector_domain
from opendp.measures import max_divergence
from opendp.metrics import l1_distance, linf_distance

import dpengine as dp
from bench.accuracy import ADD_REMOVE, RELATIONS, REPLACE, again, line
from bench.utility.columns import PEOPLE, Made, made
from bench.utility.frame import BEFORE, COINS, NAMES, OURS, best, pure
from bench.utility.percentiles import FIVE, Ranks, opendp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.query import AnyQuery

SPENDS = ("0.1", "0.5")
EDGES = (30, 50, 65)
NAMED = 5
DIGITS = [f"digit {place}" for place in range(10)]


def rows(draws: int) -> Iterator[dict[str, Any]]:
    for people in PEOPLE:
        table = made("age", people)
        for relation in RELATIONS:
            for epsilon in SPENDS:
                yield from _conditions(table, relation, epsilon, draws)
                yield from _named(table, relation, epsilon, draws)
        yield from _by_group(table, ADD_REMOVE, SPENDS[1], draws)


def _asked(schema: dp.Schema, people: int, relation: str, key: str, epsilon: str, **given: Any) -> AnyQuery:
    facts = Facts("bench", schema, dp.Unit.rows(), NAMES[relation], people)  # type: ignore[arg-type]
    return dp.catalogue[key].build(facts, {"epsilon": epsilon} | given)


def _conditions(table: Made, relation: str, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    case, schema = f"how many in each of {len(EDGES) + 1} bands of {table.title}", dp.Schema({"x": table.column})
    counts = np.bincount(np.searchsorted(np.array(EDGES), table.codes, side="right"), minlength=len(EDGES) + 1)
    edges = [str(edge) for edge in EDGES]
    whole = _asked(schema, table.rows, relation, "count", epsilon, by={"column": "x", "edges": edges})
    each = Fraction(epsilon) / len(counts)
    alone = _asked(schema, table.rows, relation, "count", "1", where=[["x", "<", EDGES[0]]]).at(each)

    def ours() -> float:
        told = np.array(whole.draw(tuple(counts.tolist()), COINS))
        return float(np.abs(told - counts).mean())

    yield line(case, relation, pure(epsilon), OURS, again(draws, ours))
    yield line(case, relation, pure(epsilon), BEFORE, again(draws, lambda: abs(alone.draw(0, COINS)[0])))
    sides = 2 if relation == REPLACE else 1
    their = m.make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=sides / float(epsilon))
    yield line(
        case,
        relation,
        pure(epsilon),
        "OpenDP",
        again(draws, lambda: float(np.abs(np.array(their(counts.tolist())) - counts).mean())),
    )


def _named(table: Made, relation: str, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    case = f"the {NAMED} most common last digits: {table.title}"
    counts = np.bincount(table.codes % 10, minlength=10)
    schema = dp.Schema({"x": dp.Category(DIGITS, DIGITS[0], DIGITS[0])})
    usual = _asked(schema, table.rows, relation, "top_item", epsilon, column="x", how_many=NAMED)
    largest, value = np.sort(counts)[::-1][:NAMED], tuple(counts.tolist())

    def off(places: Any) -> float:
        return float((largest - counts[list(places)]).max())

    for who, query in ((OURS, best(usual)), (BEFORE, usual)):
        drawn = again(draws, lambda q=query: off(q.draw(value, COINS)))
        yield line(case, relation, pure(epsilon), who, drawn, note=query.noise)
    yield from _in_no_order(table, relation, epsilon, draws, usual, counts)
    moves = 2 if relation == REPLACE else 1
    near = linf_distance(T="i64", monotonic=relation != REPLACE)
    scale = NAMED * moves / float(epsilon)
    their = m.make_noisy_max(vector_domain(atom_domain(T="i64")), near, max_divergence(), scale)
    yield line(case, relation, pure(epsilon), "OpenDP", again(draws, lambda: off(peeled(their, counts))))
    joint = [off(joint_names(counts, float(epsilon) / (2 * moves))) for _ in range(draws)]
    yield line(case, relation, pure(epsilon), "joint draw", joint)


def _in_no_order(
    table: Made, relation: str, epsilon: str, draws: int, usual: AnyQuery, counts: Any
) -> Iterator[dict[str, Any]]:
    """How far one that is left out is ahead of one that is named."""
    case, value = f"the {NAMED} most common last digits, in no order: {table.title}", tuple(counts.tolist())

    def ahead(places: Any) -> float:
        named = list(places)
        return float(max(np.delete(counts, named).max() - counts[named].min(), 0))

    now = best(replace(usual, ordered=False))  # type: ignore[call-arg]
    for who, query in ((OURS, now), (BEFORE, usual)):
        drawn = again(draws, lambda q=query: ahead(q.draw(value, COINS)))
        yield line(case, relation, pure(epsilon), who, drawn, note=query.noise)
    moves = 2 if relation == REPLACE else 1
    near = linf_distance(T="i64", monotonic=relation != REPLACE)
    their = m.make_noisy_max(
        vector_domain(atom_domain(T="i64")), near, max_divergence(), NAMED * moves / float(epsilon)
    )
    yield line(case, relation, pure(epsilon), "OpenDP", again(draws, lambda: ahead(peeled(their, counts))))
    joint = [ahead(joint_names(counts, float(epsilon) / (2 * moves))) for _ in range(draws)]
    yield line(case, relation, pure(epsilon), "joint draw", joint)


def peeled(chosen: Any, counts: Any) -> list[int]:
    left, found = list(range(len(counts))), []
    for _ in range(NAMED):
        found.append(left.pop(chosen(counts[left])))
    return found


def joint_names(counts: Any, rate: float) -> list[int]:
    """Layer by layer: of sequences off by at most h there are Π(t_i − i + 1), t_i the values within h of the i-th."""
    order = np.argsort(-counts)
    held = counts[order]
    layers = np.unique(np.concatenate([held[place] - held[held <= held[place]] for place in range(NAMED)]))
    within = [[int((held >= held[place] - layer).sum()) for place in range(NAMED)] for layer in layers]
    sizes = np.array([np.prod([t - place for place, t in enumerate(one)], dtype=float) for one in within])
    weights = np.diff(sizes, prepend=0) * np.exp(-rate * layers)
    random = np.random.default_rng()
    layer = int(random.choice(len(layers), p=weights / weights.sum()))
    while True:  # a sequence of at most this layer, until it is of the layer itself
        left, found = list(range(len(counts))), []
        for place, inside in enumerate(within[layer]):
            found.append(left.pop(int(random.integers(inside - place))))
        worst = max(held[place] - held[one] for place, one in enumerate(found))
        if worst == layers[layer]:
            return [int(order[one]) for one in found]


def _by_group(table: Made, relation: str, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    """Five percentiles of the ages of two groups, of two and of one in three."""
    case = f"five percentiles of two groups: {table.title}"
    parts = [Made(table.name, table.column, table.codes[place::3]) for place in (0, 1)]
    parts[0] = Made(table.name, table.column, np.concatenate((parts[0].codes, table.codes[2::3])))
    schema = dp.Schema({"x": table.column, "c": dp.Category(["a", "b"], "b", "b")})
    shares, ranks = [Fraction(share) for share in FIVE], [Ranks(part) for part in parts]
    given: dict[str, Any] = {"column": "x", "by": "c", "with_range": False}
    together = best(_asked(schema, table.rows, relation, "quantile", epsilon, share=list(FIVE), **given))
    each = Fraction(epsilon) / len(FIVE)
    alone = [_asked(schema, table.rows, relation, "quantile", "1", share=share, **given).at(each) for share in FIVE]
    value = tuple(part.spread for part in parts)

    def off(values: list[Any], group: int) -> float:
        return ranks[group].mean(table.codes_of(values), shares)

    def ours() -> float:
        told = list(together.release(value, COINS).value.values())
        return (off(told[: len(FIVE)], 0) + off(told[len(FIVE) :], 1)) / 2

    def before() -> float:
        told = [list(query.release(value, COINS).value.values()) for query in alone]
        return (off([one[0] for one in told], 0) + off([one[1] for one in told], 1)) / 2

    yield line(case, relation, pure(epsilon), OURS, again(draws, ours), note=together.noise)
    yield line(case, relation, pure(epsilon), BEFORE, again(draws, before))
    lists = [part.codes for part in parts]
    made_for = [opendp(table, share, relation, float(each)) for share in shares]

    def theirs() -> float:
        return sum(ranks[group].mean([one(lists[group]) for one in made_for], shares) for group in (0, 1)) / 2

    yield line(case, relation, pure(epsilon), "OpenDP", again(draws, theirs))
