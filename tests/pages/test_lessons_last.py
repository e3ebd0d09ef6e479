"""What lessons 11 and 12 say is true: by the questions' own promises and by brute force."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from helpers_lessons import view

import dpengine as dp
from demos.lessons import descent, trust
from dpengine.accountant import compositions
from dpengine.accountant.loss import Gaussian
from dpengine.declared.facts import Facts
from dpengine.noise.coins import SystemCoins
from dpengine.planning import trust_models

# --- 11 whom do you trust ---------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("people", (trust.PEOPLE[0], 10_000, trust.PEOPLE[-1]))
def test_trust_says_its_figures(people: int) -> None:
    """The errors are promises of the questions themselves, built here anew."""
    schema = dp.Schema({"c": dp.Category(["a", "b"], unknown="b", missing="b")})
    facts = Facts("t", schema, dp.Unit.rows(), "replace", people)
    given = {"where": [["c", "in", ["a"]]], "epsilon": "1"}
    shuffled = ("shuffle_count", given | {"delta": "1e-6"})
    keys = {"central": ("count", given), "tight": shuffled, "local": ("local_count", given)}
    found, told = trust.errors(trust.Settings(people)), view(11, people=str(people))
    for model, (key, parameters) in keys.items():
        assert found[model] == float(dp.catalogue[key].build(facts, parameters).promise().alpha)
    assert f"off by up to {found['central']:,.0f} people and the shuffler’s by up to {found['tight']:,.0f}" in told.one
    assert f"{found['local']:,.0f} people, {found['local'] / found['central']:,.0f} times" in told.two
    assert "Honest participants are assumed" in told.theorem


@pytest.mark.long
def test_without_trust_the_error_grows_with_the_root_of_the_people() -> None:
    few, many = (trust.errors(trust.Settings(people)) for people in (10_000, 1_000_000))
    assert many["local"] / few["local"] == pytest.approx(10, rel=0.02)
    assert many["central"] == few["central"] and many["tight"] / few["tight"] == pytest.approx(1, rel=0.05)


# --- 12 descent with a blindfold --------------------------------------------------------------------------------------

PLACES = {"ball": [(math.cos(turn), math.sin(turn)) for turn in np.linspace(0, 6.2, 25).tolist()], "box": []}
PLACES["box"] = [(a, b) for a in (-1.0, -0.3, 1.0) for b in (-1.0, 0.4, 1.0)]


class Told(SystemCoins):
    """No noise, or one that points away; and a note of what was asked for."""

    def __init__(self, away: int = 0) -> None:
        self.away, self.asked = away, list[F]()

    def gaussian(self, values: Any, sigma_squared: F) -> list[int]:
        self.asked.append(sigma_squared)
        return [value + self.away for value in values]


@pytest.mark.parametrize("within", descent.SETS)
def test_one_flat_moves_the_slope_by_what_is_claimed(within: str) -> None:
    """Rows as steep as the claim allows exist, and none in the lesson's own table is steeper, rounding included."""
    slope = descent.reach(within)[1]
    for place in [*PLACES[within], descent.START, (0.0, 0.0)]:
        assert np.linalg.norm(descent.slopes(place), axis=1).max() <= descent.moved(within) / 2
    steepest = max(abs(math.hypot(*place) + 1) for place in PLACES[within])  # x along w, y = −1
    assert steepest == pytest.approx(slope) and descent.moved(within) == pytest.approx(2 * slope * descent.LATTICE)
    features, rent = descent.flats()
    assert np.linalg.norm(features, axis=1).max() <= 1 and np.abs(rent).max() <= 1


@pytest.mark.parametrize("epsilon", descent.EPSILONS, ids=str)
def test_all_steps_together_keep_the_whole_epsilon_and_no_less_noise_does(epsilon: F) -> None:
    for settings in (descent.Settings(epsilon), descent.Settings(epsilon, 200, 30, "box")):
        sigma_squared = descent.sigma_squared(settings, epsilon)
        each = F(descent.moved(settings.within) ** 2) / (2 * sigma_squared)
        together = compositions.zcdp_epsilon([Gaussian(settings.steps * each)], descent.DELTA)
        less = compositions.zcdp_epsilon([Gaussian(settings.steps * each * F(102, 100))], descent.DELTA)
        assert together is not None and less is not None
        assert together - F(1, 10**11) <= epsilon < less  # prices are rounded up to 10^-12


def test_the_walk_is_drawn_by_the_coins_with_this_noise() -> None:
    settings = descent.Settings(F(1), 20, 3)
    coins = Told()
    found = descent.figures(settings, coins)
    assert found.exact.places == found.little.places == found.much.places and len(coins.asked) == 40
    assert set(coins.asked) == {descent.sigma_squared(settings, epsilon) for epsilon in (F(1), F(1, 10))}
    pushed = descent.walk(settings, F(1), Told(10**12))
    assert pushed.put_back == 20 and all(math.hypot(*place) <= 1 + 1e-12 for place in pushed.places)


def test_more_steps_for_one_epsilon_make_each_look_noisier() -> None:
    few, many = (descent.figures(descent.Settings(steps=steps)) for steps in (5, 20))
    assert many.little.blur / few.little.blur == pytest.approx(2)
    assert f"{math.sqrt(20):.3g} times as noisy" in view(12, steps="20").two


@pytest.mark.parametrize("within", descent.SETS)
@pytest.mark.parametrize("steps", (descent.STEPS[0], descent.STEPS[-1]))
def test_without_noise_the_lecture_s_bound_holds(steps: int, within: str) -> None:
    way, slope = descent.reach(within)
    found = descent.walk(descent.Settings(F(1), steps, 1, within), None, Told())
    assert descent.above(found.average) <= way * slope / math.sqrt(steps)
    assert descent.bound(descent.Settings(F(1), steps, 1, within), None) == pytest.approx(
        way * slope / math.sqrt(steps), rel=1e-4
    )


def test_a_step_far_too_long_leaves_the_set_every_time_and_the_average_is_better_than_the_last() -> None:
    found = descent.walk(descent.Settings(F(1), 20, 30), None, Told())
    assert found.put_back == 20 and found.down[0] > 0.9 > 0.1 > found.down[1]
    told = view(12, length="30", epsilon="10")
    assert "of the steps at ε = 1 crossed the dashed line" in told.two


def test_the_map_is_the_valley() -> None:
    """Every contour line has one height; the lowest place is the least squares solution, inside both sets."""
    middle, turn, axes = descent.contours((0.5, 1.0))
    features, rent = descent.flats()
    assert np.allclose(middle, np.linalg.lstsq(features, rent, rcond=None)[0]) and math.hypot(*middle) < 1
    for share, (long, short) in zip((0.5, 1.0), axes, strict=True):
        for angle in np.linspace(0, 6, 7).tolist():
            a, b, t = long * math.cos(angle), short * math.sin(angle), math.radians(turn)
            place = (middle[0] + a * math.cos(t) - b * math.sin(t), middle[1] + a * math.sin(t) + b * math.cos(t))
            assert descent.above(place) == pytest.approx(share * descent.above(descent.START))
    assert view(12, steps="20").picture.count("<s ") == 60


def test_a_slope_is_cut_toward_zero() -> None:
    """So that no row's slope is longer than G."""
    for place in (descent.START, (1.0, 0.0), (-0.6, 0.8)):
        features, rent = descent.flats()
        exact = (features @ np.array(place) - rent)[:, None] * features * descent.LATTICE
        told = descent.slopes(place)
        assert (np.abs(told) <= np.abs(exact)).all() and (np.abs(told - exact) < 1).all()


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_the_spread_of_local_answers_is_that_of_the_unbiased_count(epsilon: str) -> None:
    """n coins that flip with chance p, and the count is divided by 1−2p."""
    facts = Facts("t", dp.Schema({"c": dp.Category(["a", "b"], "b", "b")}), dp.Unit.rows(), "replace", 900)
    given = {"epsilon": epsilon, "delta": "1e-6", "where": [["c", "in", ["a"]]]}
    [local] = [way for way in trust_models.ways(facts, "count", given) if way.model == "local"]
    p = 1 / (1 + math.exp(float(epsilon)))
    assert local.noise is not None
    assert local.noise.deviation == pytest.approx(30 * math.sqrt(p * (1 - p)) / (1 - 2 * p))
