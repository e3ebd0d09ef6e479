"""How far from the best a choice may be: the bound on its worst table, and what the range of a quantile is made of."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.choices.median import Median
from dpengine.noise.tails import choice_gap
from dpengine.statistics.need import Spread


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2)])
@pytest.mark.parametrize("candidates", [1, 2, 50, 10**6])
@pytest.mark.parametrize("beta", [Fraction(1, 5), Fraction(1, 10**6)])
def test_the_gap_is_the_least_that_the_union_bound_gives(rate: Fraction, candidates: int, beta: Fraction) -> None:
    """All others just beyond the gap: together they are chosen with chance at most β."""
    gap = choice_gap(rate, candidates, beta)
    beyond = math.exp(-rate * (gap + 1))
    others = (candidates - 1) * beyond
    assert others / (1 + others) <= float(beta)
    assert candidates * beyond <= float(beta) < candidates * math.exp(-rate * gap) * (1 + 1e-12)


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_the_ends_of_a_range_are_sought_where_a_draw_can_just_miss(relation: str) -> None:
    """One person at each of 1,001 points: an end is best λ ranks from the middle, λ what its draw misses by at β/2."""
    schema = Schema({"x": Number(0, 1000, missing=0)})
    facts = Facts("t", schema, Unit.rows(), relation, 1001)  # type: ignore[arg-type]
    query, half = Median.build(facts, {"column": "x", "epsilon": "3", "beta": "0.1"}), Fraction(1, 2)
    points = 1 if relation == "replace" else 2
    away = query.shift(half)
    assert away == -(-choice_gap(query.rate(half), 1002, Fraction(1, 20)) // points)
    value = Spread(np.arange(1001), np.ones(1001, dtype=np.int64))
    for side in (-1, 0, 1):
        blocks = query.blocks(value, half, side)
        best = blocks.firsts[(blocks.sizes > 0) & (blocks.gaps <= 0)]
        assert len(best) and np.abs(best - (500 + side * away)).max() <= 1
