"""The base of ratios: weights that rise or fall, columns that a question takes, previews for evenly spread values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import harmonic_mean, pstdev
from typing import Any, ClassVar

import numpy as np
import pytest
from battery import allowed_failures, build, check_law_against_loss, check_sensitivity, facts
from helpers_made_up import made_up

from dpengine.accountant.loss import Pure, Together
from dpengine.core.errors import AllowanceError
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms.card import ABOVE_ZERO, Parameter
from dpengine.mechanisms.noise import LaplaceNoise
from dpengine.mechanisms.query import Query
from dpengine.mechanisms.ratios import MeanOfWeights
from dpengine.mechanisms.sums.mean import Mean
from dpengine.mechanisms.sums.variance import Variance
from dpengine.mechanisms.trial import IN_A
from dpengine.messages.language import speaking
from dpengine.noise.coins import SystemCoins

OWN = tuple(replace(one, takes=ABOVE_ZERO) if one.name == "column" else one for one in Mean.card.own)


@dataclass(frozen=True, kw_only=True)
class Plain(MeanOfWeights):
    """The mean, by weights."""

    card = replace(Mean.card, key="mean")

    def weight(self, code: int) -> int:
        return code

    def value_at(self, mean: Fraction) -> float:
        return float(self.declared.lower + self.declared.step * mean)


@dataclass(frozen=True, kw_only=True)
class Harmonic(MeanOfWeights):
    """Its weights fall along the grid, and are rounded."""

    card = replace(Mean.card, key="mean", own=OWN)
    rounding: ClassVar[Fraction] = Fraction(1, 2)

    def weight(self, code: int) -> int:
        return round(10**6 * self.declared.lower / self.declared.value(code))

    def value_at(self, mean: Fraction) -> float:
        return float(10**6 * self.declared.lower / mean)

    def truth(self, rows: Sequence[Row]) -> float:
        return harmonic_mean(self.values(rows))


class TooFine(Plain):
    """Its sums over many rows would not fit 64 bits."""

    def weight(self, code: int) -> int:
        return 10**7 * code


class Peaked(Plain):
    """A mistake: its largest weights are in the middle."""

    def weight(self, code: int) -> int:
        return (0, 50, 50, 3)[code]


ASKED: list[dict[str, Any]] = [
    {},
    {"by": "c"},
    {"where": IN_A},
    {"noise": "gaussian"},
    {"by": "c", "noise": "gaussian"},
]
SPEEDS = Schema({"speed": Number(10, 1000, step=10), "late": Number(0, 60), "c": Category(["a", "b"], "b", "b")})


def asked(kind: type[Query], given: dict[str, Any], relation: str = "replace", people: int = 1_000) -> Any:
    about = Facts("roads", SPEEDS, Unit.rows(), relation, people)  # type: ignore[arg-type]
    return kind.build(about, {"column": "speed", "epsilon": "1"} | given)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("given", ASKED, ids=str)
@pytest.mark.parametrize("column", ["x", "z"])
def test_a_mean_by_weights_is_the_mean(relation: str, given: dict[str, Any], column: str) -> None:
    mean = build("mean", {"column": column} | given, relation, about=50)
    same: Any = Plain.build(mean.facts, mean.parameters())
    rows = [{"x": at % 5 - 1, "z": at % 4, "c": at % 2} for at in range(50)]
    law = mean.law(mean.need().of(rows))
    assert (same.law(same.need().of(rows)), same.loss(), same.sensitivity()) == (law, mean.loss(), mean.sensitivity())
    raw = mean.draw(mean.need().of(rows), SystemCoins())
    assert same.finish(raw) == mean.finish(raw)


@pytest.mark.every(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("given", ASKED, ids=str)
def test_falling_weights_keep_their_claims(relation: str, given: dict[str, Any]) -> None:
    query = Harmonic.build(facts(relation), {"column": "p", "epsilon": "1"} | given)
    check_sensitivity(query)
    check_law_against_loss(query)


def test_weights_that_turn_back_cost_no_privacy() -> None:
    check_law_against_loss(Peaked.build(facts("replace"), {"column": "x", "epsilon": "1"}))


@pytest.mark.parametrize(
    ("relation", "noise"),
    [("replace", ""), ("add_remove", "gaussian"), ("replace", "shared")]
    + [
        pytest.param(*one, marks=pytest.mark.long)
        for one in (("add_remove", ""), ("replace", "gaussian"), ("add_remove", "shared"))
    ],
)
def test_its_ranges_hold_the_truth_in_every_group(relation: str, noise: str) -> None:
    """β = 0.2, 100 draws; false alarm ≤ 1e-6 by the binomial tail."""
    rng, coins, missed = np.random.default_rng(), SystemCoins(), 0
    rows = [{"speed": int(rng.integers(0, 100)), "c": at % 2} for at in range(1_000)]
    query = asked(Harmonic, {"by": "c", "beta": "0.2"} | ({"noise": noise} if noise else {}), relation)
    truth = {label: query.truth([row for row in rows if row["c"] == at]) for at, label in enumerate("ab")}
    value = query.need().of(rows)
    for _ in range(100):
        ranges = query.release(value, coins).interval
        missed += any(not low <= truth[label] <= high for label, (low, high) in ranges.items())
    assert missed <= allowed_failures(100, 0.2)


def test_only_columns_that_it_takes_are_offered_and_others_refused_in_one_sentence() -> None:
    column: Parameter = next(one for one in Harmonic.card.parameters if one.name == "column")
    assert column.fitting(["speed", "late", "c"], SPEEDS) == ["speed"]
    for name, words in (("late", "a column with a declared range above 0"), ("nobody", "is declared; choose")):
        with pytest.raises(AllowanceError, match=words):
            asked(Harmonic, {"column": name})
    with pytest.raises(AllowanceError, match="too wide or too fine"):
        asked(TooFine, {})


@pytest.mark.parametrize("kind", [Harmonic, Mean])
def test_a_preview_is_for_values_spread_over_the_range_and_says_so(kind: type[Query]) -> None:
    """What comes for such values is near it."""
    query = asked(kind, {}, "add_remove", 20_000)
    even = made_up(query, 20_000, "even")
    low, high = query.release(even, SystemCoins()).interval
    promise = query.promise()
    assert float(promise.amount) / 2 < (high - low) / 2 < 2 * float(promise.amount)
    assert "for values spread over the declared range" in promise.words(query)
    with speaking("sl"):
        assert "za vrednosti, razporejene po vsem navedenem razponu" in promise.words(query)
    known = Mean.build(
        replace(query.facts, relation="replace", schema=Schema({"speed": Number(1, 9, missing=1)})),
        {"column": "speed", "epsilon": "1"},
    )
    assert not known.promise().spread and "spread over" not in known.promise().words(known)


# Ranges by a test


def _exact(scale: float, most: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The values of discrete Laplace noise, and their chances."""
    places = np.arange(-most, most + 1)
    r = np.exp(-1 / scale)
    return places, (1 - r) / (1 + r) * r ** np.abs(places)


def test_a_preview_of_tiny_values_is_above_zero() -> None:
    """Rounding to the nearest millionth made ±0 of it."""
    tiny = Schema({"x": Number("0", "0.0000100", "0.0000001")})
    query = Variance.build(Facts("t", tiny, Unit.rows(), "add_remove", 1_000_000), {"column": "x", "epsilon": "1"})
    assert 0 < query.promise().alpha < Fraction(1, 100_000)


@pytest.mark.parametrize(("scale", "v"), [(4, 0.0), (4, 0.3), (6, 1.0), (12, 0.75), (0.4, 0.5)])
def test_two_noises_reach_as_far_as_their_exact_law_allows(scale: float, v: float) -> None:
    """And not much farther: no bound is worth having that a quarter less noise would still keep."""
    beta = Fraction(1, 20)
    places, chances = _exact(scale, int(60 * scale) + 20)
    sums, joint = np.abs(places[:, None] + v * places[None, :]), np.outer(chances, chances)
    both, factors = (LaplaceNoise(Fraction(scale)),) * 2, np.array([[1.0, -v]])
    reach = LaplaceNoise.line_reaches(both, factors, 1, beta)[0]
    assert joint[sums > reach].sum() <= beta
    assert joint[sums > reach * (0.75 if scale > 1 else 0.2)].sum() > beta
    for draws in (2, 3, 4):
        several = LaplaceNoise.line_reaches(both, factors, draws, beta)[0]
        drawn = sum(np.random.default_rng().choice(places, (2, 10**5), p=chances) for _ in range(draws)) / draws
        assert (np.abs(drawn[0] + v * drawn[1]) > several).mean() <= 0.05 + 0.004  # six standard deviations


def _of_ten(relation: str, noise: str, epsilon: str) -> Mean:
    known = Facts("t", Schema({"x": Number(0, 10)}), Unit.rows(), relation, 60)  # type: ignore[arg-type]
    return Mean.build(known, {"column": "x", "epsilon": epsilon, "noise": noise})


@pytest.mark.parametrize("noise", ["", "shared"])
@pytest.mark.parametrize("place", [0, 1, 5])
def test_the_range_of_a_mean_holds_it_by_the_exact_law(noise: str, place: int) -> None:
    """The truth is in the range of every pair of draws that its test accepts; all pairs are counted with their chances.
    A test by two thirds of the noise fails: power."""
    query, u = _of_ten("add_remove", noise, "1"), place / 5 - 1
    laws = [_exact(float(added.size), int(25 * added.size)) for added in query.added]
    first, last = np.meshgrid(laws[0][0], laws[1][0], indexing="ij")
    off = ((1 - u) * last - (1 + u) * first) / 2 if noise else last - u * 10 * first
    chances, tests = np.outer(laws[0][1], laws[1][1]), query._tests(1, query.beta)
    reach = tests[int((1 + u) / 2 * (len(tests) - 1))]
    assert chances[np.abs(off) > reach].sum() <= query.beta < chances[np.abs(off) > reach * 2 / 3].sum()
    truth, rng = query.in_group(60, 60 * (2 * place - 10)), np.random.default_rng()
    for a, b in zip(*(rng.choice(values, 300, p=p / p.sum()) for values, p in laws), strict=True):
        low, high = query.estimate((truth[0] + int(a), truth[1] + int(b)))[1]
        accepted = abs(((1 - u) * b - (1 + u) * a) / 2 if noise else b - u * 10 * a) <= reach
        assert low <= place <= high or not accepted


def test_sharing_out_halves_the_square_of_the_error_and_is_taken_where_it_does() -> None:
    halves, shared = (_of_ten("add_remove", noise, "0.5") for noise in ("", "shared"))
    of_n, of_s = halves.added
    a, b = shared.added
    assert a.size == b.size == of_s.size == 10 * of_n.size
    assert shared.promise().amount < halves.promise().amount * Fraction(3, 4)
    assert shared.loss() == Pure(Fraction(1, 2)) and halves.loss() == Together((Pure(Fraction(1, 4)),) * 2)
    assert _of_ten("replace", "", "0.5").with_noise("shared").noise == ""


@pytest.mark.every(4)  # each noise and each table once
@pytest.mark.parametrize("noise", ["", "shared", "gaussian"])
@pytest.mark.parametrize("codes", [[5] * 60, [0] * 30 + [10] * 30, [0, 1, 2] * 20])
def test_the_range_of_a_spread_holds_it(noise: str, codes: list[int]) -> None:
    """At β = 10⁻⁷ in each of 20 draws it always does. With a third of the noise it would not, at β = 1/20: power."""
    known = Facts("t", Schema({"x": Number(0, 10)}), Unit.rows(), "add_remove", 60)
    y = [2 * code - 10 for code in codes]
    value, truth = (len(y), sum(y), sum(one * one for one in y)), pstdev(codes)
    query = Variance.build(known, {"column": "x", "epsilon": "1", "noise": noise})
    sure = replace(query, beta=Fraction(1, 10**7))
    for _ in range(20):
        low, high = sure.from_mean(sure.draw(value, SystemCoins()), 1).interval
        assert low <= truth <= high
    narrow = query.at(Fraction(12))
    missed = 0
    for _ in range(200):
        low, high = narrow.from_mean(query.draw(value, SystemCoins()), 1).interval
        missed += not low <= truth <= high
        if missed > 10:
            return
    assert missed > 10, "a range for a twelfth of the noise fails often"


def test_a_spread_has_a_range_of_means_that_are_possible_and_no_more() -> None:
    """Without noise to speak of, the range closes on the truth, at every mean."""
    known = Facts("t", Schema({"x": Number(0, 10)}), Unit.rows(), "add_remove", 10**6)
    for codes in ([5], [0, 1, 2], [0, 10], [9, 10]):
        y = [2 * code - 10 for code in codes]
        many = 10**6 // len(y)
        for noise in ("", "shared"):
            query = Variance.build(known, {"column": "x", "epsilon": "5", "noise": noise})
            numbers = query.noised((many * len(y), many * sum(y), many * sum(one * one for one in y)))
            low, high = query.from_mean(numbers, 1).interval
            assert low <= pstdev(codes) <= high and high - low < 0.05
