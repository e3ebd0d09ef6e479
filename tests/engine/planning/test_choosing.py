"""Choosing one of T against asking for all T: the figures are the questions' own promises."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpengine as dp
from dpengine.core.amounts import BETA
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.noise import PermuteAndFlip
from dpengine.noise.tails import laplace_reach
from dpengine.planning import alternatives

TEN = [f"v{place}" for place in range(10)]
SCHEMA = Schema({"c": Category(TEN, unknown="v0", missing="v0")})


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_choosing_is_the_question_s_own_promise_and_asking_is_that_of_ten_counts(relation: str) -> None:
    facts = Facts("t", SCHEMA, Unit.rows(), relation, 1_000)  # type: ignore[arg-type]
    found = {
        name: dict(points) for name, points in alternatives.choice_gaps(dp.Budget("1", "1e-6").rule(), facts).items()
    }
    options = [[["c", "in", [label]]] for label in TEN]
    given = {"options": options, "epsilon": "1", "noise": PermuteAndFlip.name}
    chosen = catalogue["noisy_argmax"].build(facts, given).promise()
    assert found["choose"][10] == chosen.amount == (8 if relation == "replace" else 4)
    assert found["basic"][10] == 2 * laplace_reach(Fraction(10), BETA / 10), "each of ten at a tenth of ε"
    for options_ in alternatives.OPTIONS[3:]:
        rest = [found[name][options_] for name in alternatives.ALL]
        assert found["choose"][options_] < min(rest)
    steps = [found["choose"][many] for many in (10, 100, 1000)]
    assert steps[2] - steps[1] <= steps[1] - steps[0] + 1, "it grows with the logarithm"
    assert found["basic"][1000] > 100 * found["basic"][10] > found["filter"][1000]


def test_where_there_is_no_delta_costs_add_up() -> None:
    facts = Facts("t", SCHEMA, Unit.rows(), "replace", 1_000)
    found = alternatives.choice_gaps(dp.Budget("1", "0").rule(), facts)
    assert found["filter"] == found["basic"] and found["choose"]
