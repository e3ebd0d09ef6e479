"""The thesis's figures 1 to 3: the level of their noise, exact and drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers_page import html_of, open_page, plain

from demos.thesis_curves import DELTA, EPSILONS, delta_of, figures, levels, people, question
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.messages.numbers import to_figures
from dpengine.noise.coins import SystemCoins

DRAWS = 200


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_level_is_that_of_the_corollary(epsilon: float) -> None:
    """2·√ln(2/δ)/(ε·n·√(2π)·h), not the half of it that Example 6.12 prints; the question drawn has just this noise."""
    meant = 2 * math.sqrt(math.log(2 / 0.1)) / (epsilon * 200 * math.sqrt(2 * math.pi) * 0.6)
    told, query = levels(epsilon), question(epsilon)
    assert math.isclose(told.thesis, meant) and math.isclose(told.printed, meant / 2)
    steps = 2.0 ** query.axes[0].bits * query.scale * 200
    assert math.isclose(math.sqrt(query.variance) * query.height / steps, meant, rel_tol=1e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_least_level_is_the_least(epsilon: float) -> None:
    told = levels(epsilon)
    move = told.thesis / (math.sqrt(2 * math.log(2 / DELTA)) / epsilon)
    assert delta_of(epsilon, told.least / move) <= DELTA < delta_of(epsilon, told.least / move * 0.999)
    assert told.least < told.thesis and told.kept <= DELTA
    assert math.isclose(delta_of(1.0, 1.0), 0.12693673750664397, rel_tol=1e-9)  # Balle and Wang 2018, by numbers


def test_half_of_it_is_too_little_at_three() -> None:
    kept = [delta_of(epsilon, math.sqrt(2 * math.log(2 / DELTA)) / epsilon / 2) for epsilon in EPSILONS]
    assert kept[0] < DELTA and kept[1] < DELTA < kept[2]


@pytest.mark.long
def test_every_point_has_that_noise_the_first_one_too() -> None:
    """The mean of 200 squares, in units of the variance, lies between 0.45 and 1.9 at all 100 points but for a chance
    below 1e-8 (Chernoff for χ²: exp(−100·(x − 1 − ln x)) at each); half or twice the noise lies outside."""
    query = question(1.0)
    sums, coins = query.measured(people()), SystemCoins()
    truth = np.array(list(query.finish(sums).value.values()))
    off = []
    for _ in range(DRAWS):
        noise = coins.gaussian([0] * len(sums), query.variance)
        drawn = query.finish(tuple(one + other for one, other in zip(sums, noise, strict=True)))
        off.append(np.array(list(drawn.value.values())) - truth)
    shares = (np.array(off) ** 2).mean(axis=0) / levels(1.0).thesis ** 2
    assert shares.min() > 0.45 and shares.max() < 1.9
    assert shares.max() / 4 < 0.45 and shares.min() * 4 > 1.9  # power: but for a chance below 1e-7


def test_the_three_figures() -> None:
    drawn = figures()
    assert [one.epsilon for one in drawn] == [0.1, 1.0, 3.0]
    for one in drawn:
        assert 0.15 < max(one.truth) < 0.25 and len(one.drawn) == len(one.xs) == 100
        assert one.reach > 3 * one.levels.thesis


@pytest.mark.parametrize(("language", "words"), [("en", ("corollary", "notebook")), ("sl", ("posledic", "Zvezek"))])
def test_the_page_says_which_level_is_drawn_and_which_the_thesis_drew(language: str, words: tuple[str, str]) -> None:
    with speaking(language):
        assert words[0] in say("thesis.figures_lead", width="0.6", delta="0.1")
        assert all(word in say("thesis.levels_proved") for word in words)


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_each_figure_says_its_constant() -> None:
    """2·√ln(2/δ)/ε at δ = 0.1, the corollary's; the example prints half of it."""
    told = plain(html_of(open_page("thesis")), "")
    for epsilon in EPSILONS:
        constant = 2 * math.sqrt(math.log(20)) / epsilon
        assert f"2·√ln(2/δ)/ε = {to_figures(constant, 2)}" in told
