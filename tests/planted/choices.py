"""Wrong twins of choosing the highest of several averages."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from itertools import product

from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.choices.noisy_argmax import NoisyArgmax
from dpengine.noise.laws import max_divergence
from tests.planted.registry import Planted
from tests.planted.wrong_questions import OneStepEach

SCHEMA = Schema({"x": Number(0, 2), "y": Number(0, 4, step=2)})
CODES = (MISSING, 0, 1, 2)


def averages(kind: type[NoisyArgmax], relation: str) -> NoisyArgmax:
    facts = Facts("t", SCHEMA, Unit.rows(), relation, 3)  # type: ignore[arg-type]
    return kind.build(facts, {"options": [{"mean": "x"}, {"mean": "y"}], "epsilon": "1"})


def check_a_choice_of_averages_keeps_its_epsilon(built: Callable[[str], NoisyArgmax]) -> None:
    """Over every table of two people (three where one is added) and every neighbour: the exact loss is ε at most."""
    rows = [{"x": x, "y": y} for x, y in product(CODES, CODES)]
    for relation in ("replace", "add_remove"):
        query = built(relation)
        need, worst, law = query.need(), Decimal(0), cache(query.law)
        for rest in rows:
            before = [need.of([rest])] if relation == "add_remove" else [need.of([rest, one]) for one in rows]
            after = [need.of([rest, one]) for one in rows]
            for one, other in {(a, b) for a in before for b in after if a != b}:
                worst = max(worst, max_divergence(law(one), law(other)), max_divergence(law(other), law(one)))
        assert worst <= 1 + Decimal("1e-12"), f"a choice loses {float(worst):.3f} at ε = 1"
        assert worst > Decimal("0.5"), "the check sees little of what can be lost"


def right(relation: str) -> NoisyArgmax:
    return averages(NoisyArgmax, relation)


def one_step_each(relation: str) -> NoisyArgmax:
    return averages(OneStepEach, relation)


PLANTED = [
    Planted(
        "averages with noise for groups",
        "A person moves a sum of places by the whole range, and the noise is for one step.",
        check_a_choice_of_averages_keeps_its_epsilon,
        "a choice loses",
        right,
        one_step_each,
    ),
]
