"""Wrong twins of choosing the largest of several groups or averages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from battery import check_law_against_loss, check_sensitivity

from dpengine.accountant.loss import Exponential
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.choices.noisy_argmax import NoisyArgmax
from dpengine.mechanisms.choices.quantile import Quantile
from dpengine.mechanisms.choices.top_item import TopItem
from dpengine.mechanisms.choices.tree_cuts import TreeCuts
from dpengine.mechanisms.query import Sensitivity
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.noise.laws import Finite, max_divergence
from tests.planted.registry import Planted
from tests.planted.wrong_questions import OneStepEach, made

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


class BothWaysAtOnce(NoisyArgmax):
    """The rate for scores that all move one way, where one may rise while another falls."""

    @property
    def rate(self) -> Fraction:
        return self.epsilon / self.sensitivity().bound


class FlipAsBoundedRange(NoisyArgmax):
    """Permute-and-flip for the Rényi price of the exponential mechanism."""

    def loss(self) -> Exponential:
        return Exponential(self.epsilon)


class SetOfOneMove(TopItem):
    """A set drawn as if the least in it and the largest outside moved one way."""

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.each)


class OrderOfOneMove(SetOfOneMove):
    """An order drawn as if a place's true holder and the one named there moved one way."""


class WholeForEachGroup(Quantile):
    """Percentiles by group where a person may leave one group and enter another, each group at the whole ε."""

    def law(self, value: Any) -> Any:
        return Quantile.law(replace(self, epsilon=2 * self.epsilon), value)


class RootsOfOneGroup(Quantile):
    """Roots by group with noise for a row that moves within one of them."""

    @property
    def way(self) -> Any:
        right: Any = super().way
        return replace(right, asked=replace(right.asked, grouped=False))


@dataclass(frozen=True)
class SeesAllRows(TreeCuts):
    """Least squares over a tree is told how many rows there are, where nobody may know it."""

    def draw(self, value: Any, coins: Any) -> Any:
        return *super().draw(value, coins), int(value.counts.sum())

    def law(self, value: Any) -> Any:
        return *super().law(value), Finite({int(value.counts.sum()): Decimal(1)})

    def over(self, drawn: Any, share: Fraction, beta: Fraction) -> Any:
        return super(SeesAllRows, replace(self, asked=replace(self.asked, rows=drawn[-1]))).over(
            drawn[:-1], share, beta
        )


class FitsToAllRows(Quantile):
    @property
    def way(self) -> Any:
        return SeesAllRows(**vars(super().way))


class TwiceTheChoice(AdaptiveSession):
    """In a Gaussian session a choice of range 4ε₀ costs four times the ρ of an answer."""

    @property
    def _choice(self) -> NoisyArgmax:
        right = super()._choice
        return right.at(2 * right.epsilon)


TWO_IN_ORDER: dict[str, Any] = {"column": "t", "how_many": 2, "noise": "joint_order"}
TWO_AT_ONCE: dict[str, Any] = {"column": "t", "how_many": 2, "ordered": False, "noise": "joint_set"}
SOME: dict[str, Any] = {"column": "x", "share": ["0.25", "0.75"], "by": "c"}
JOINTLY, ROOTED = SOME | {"with_range": False, "noise": "joint"}, SOME | {"noise": "gaussian_root"}
FROM_A_TREE = {"column": "x", "share": ["0.25", "0.75"], "noise": "tree"}
GROUPS: dict[str, Any] = {"options": [[["c", "in", ["a"]]], [["c", "in", ["b"]]]]}
FLIPPED = GROUPS | {"noise": "permute_and_flip"}
LARGEST = made(AdaptiveSession, {"calibration": "gaussian", "questions": 1, "ask": {"largest": GROUPS["options"]}})

PLANTED = [
    Planted(
        "a set drawn with Δ = 1",
        "One person may lower the least of those named and raise the largest of those left out.",
        check_sensitivity,
        "moves it by",
        made(TopItem, TWO_AT_ONCE),
        made(SetOfOneMove, TWO_AT_ONCE),
        also=((check_law_against_loss, "exceeds"),),
    ),
    Planted(
        "an order drawn with Δ = 1",
        "One person may raise the true holder of a place and lower the one that is named there.",
        check_sensitivity,
        "moves it by",
        made(TopItem, TWO_IN_ORDER),
        made(OrderOfOneMove, TWO_IN_ORDER),
    ),
    Planted(
        "percentiles of every group at the whole ε",
        "A joint draw for each group, as if nobody could leave one group and enter another.",
        check_law_against_loss,
        "exceeds",
        made(Quantile, JOINTLY),
        made(WholeForEachGroup, JOINTLY),
    ),
    Planted(
        "roots by group with noise for one",
        "A row that goes from one group to another moves two roots, and the noise is for one.",
        check_sensitivity,
        "moves it by",
        made(Quantile, ROOTED),
        made(RootsOfOneGroup, ROOTED),
    ),
    Planted(
        "percentiles fitted to the true number of rows",
        "Least squares for ranges of percentiles uses how many rows there are, which is not public.",
        check_law_against_loss,
        "exceeds",
        made(Quantile, FROM_A_TREE, "add_remove"),
        made(FitsToAllRows, FROM_A_TREE, "add_remove"),
    ),
    Planted(
        "groups at the rate for one way",
        "The largest group saves the factor 2 where one group grows and another shrinks.",
        check_law_against_loss,
        "exceeds",
        made(NoisyArgmax, GROUPS),
        made(BothWaysAtOnce, GROUPS),
    ),
    Planted(
        "permute-and-flip at the exponential price",
        "A choice by permute-and-flip is charged as if its range were bounded.",
        check_law_against_loss,
        "Rényi",
        made(NoisyArgmax, FLIPPED),
        made(FlipAsBoundedRange, FLIPPED),
    ),
    Planted(
        "a choice twice as sharp in a Gaussian session",
        "The largest group takes four times the loss of an answer.",
        check_law_against_loss,
        "Rényi",
        LARGEST,
        TwiceTheChoice(**{one.name: getattr(LARGEST, one.name) for one in fields(LARGEST)}),
    ),
    Planted(
        "averages with noise for groups",
        "A person moves a sum of places by the whole range, and the noise is for one step.",
        check_a_choice_of_averages_keeps_its_epsilon,
        "a choice loses",
        right,
        one_step_each,
    ),
]
