"""Lessons on the lectures' and the thesis's own examples: an election, and rows that are pictures or curves."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import pytest
from helpers_lessons import Quiet, view

from demos.lessons import election, film, rows
from dpengine.core.amounts import BETA
from dpengine.noise import laws


@pytest.mark.parametrize("way", election.WAYS)
def test_naming_the_winner_keeps_epsilon_between_all_neighbours(way: str) -> None:
    """Lecture 3's example and lecture 6's NoisyArgmax: one vote for another, exactly; half the noise would not do."""
    counted, epsilon = (30, 28, 28, 27, 20), Fraction(1)
    chances = election.named(way, counted, epsilon)
    assert sum(chances) == pytest.approx(1)
    worst = 0.0
    for loses, wins in product(range(5), repeat=2):
        if loses != wins:
            other = list(counted)
            other[loses] -= 1
            other[wins] += 1
            pairs = zip(chances, election.named(way, tuple(other), epsilon), strict=True)
            worst = max(worst, *(abs(log(a / b)) for a, b in pairs))
    assert 0.4 < worst <= 1 + 1e-9


def test_the_laws_are_those_of_the_statements() -> None:
    counted, epsilon = election.votes(8), Fraction(1, 2)
    weights = [exp(0.25 * (votes - counted[0])) for votes in counted]
    assert election.named("exponential", counted, epsilon) == pytest.approx(
        [weight / sum(weights) for weight in weights]
    )
    gaps = tuple(counted[0] - votes for votes in counted)
    assert election.named("laplace", counted, epsilon)[0] == pytest.approx(_two(gaps, 4.0), rel=1e-9)
    assert sum(counted) == election.PEOPLE and laws.weighted({0: 0, 1: 8}, Fraction(1, 4)).chances[0] > 0.5


def _two(gaps: tuple[int, ...], scale: float) -> float:
    """The highest of all with noise Lap(2/ε), summed the plain way: ties count by how many share them."""
    reach = 250
    at = {z: exp(-abs(z) / scale) for z in range(-reach, reach + 1)}
    whole = sum(at.values())
    at = {z: part / whole for z, part in at.items()}
    below, run = {}, 0.0
    for z in range(-reach, reach + 1):
        below[z] = run
        run += at[z]
    found = 0.0
    for z, part in at.items():
        tied = {0: 1.0}  # by how many others tie, all else below
        for gap in gaps[1:]:
            place = z + gap
            less, equal = (1.0, 0.0) if place > reach else (below[place], at[place])
            step: dict[int, float] = {}
            for many, chance in tied.items():
                step[many] = step.get(many, 0.0) + chance * less
                step[many + 1] = step.get(many + 1, 0.0) + chance * equal
            tied = step
        found += part * sum(chance / (many + 1) for many, chance in tied.items())
    return found


@pytest.mark.long
def test_a_larger_lead_is_named_more_often_and_permute_and_flip_is_never_worse() -> None:
    for epsilon in election.EPSILONS:
        figures = [election.figures(election.Settings(lead, epsilon)) for lead in election.LEADS]
        for way in election.WAYS:
            winner = [found.chances[way][0] for found in figures]
            assert winner == sorted(winner)
        assert all(found.chances["flip"][0] >= found.chances["exponential"][0] - 1e-12 for found in figures)
        assert figures[0].behind["flip"] <= figures[0].behind["exponential"] < figures[0].behind["laplace"]
    assert Fraction(1, 20) == BETA and film.changed(1) == 2
    told = view(14, lead="10", epsilon="0.2")
    assert "With a lead of 10 votes and ε = 0.2" in told.one and "NoisyArgmax" in told.theorem


def test_a_row_s_noise_has_the_scale_of_its_diameter() -> None:
    """Examples 3.2, 3.4 with 4.9: Σ|a − b| over 64 pixels, or over 24 hours of 4 kW."""
    for settings, scale in (
        (rows.Settings("picture", Fraction(10)), Fraction(64 * rows.GRAIN, 10)),
        (rows.Settings("curve", Fraction(10), "own", 3), Fraction(24 * 4 * rows.GRAIN, 10)),
        (rows.Settings("curve", Fraction(10), "one", 1), Fraction(4 * rows.GRAIN, 10)),
    ):
        coins = Quiet()
        found = rows.run(settings, coins)
        assert (
            coins.scales == [scale]
            and found.published == found.truth
            and found.scale == pytest.approx(float(scale / rows.GRAIN))
        )
    assert max(rows.CURVE) <= 10 * rows.MOST and len(rows.CURVE) == rows.HOURS and len(rows.PIXELS) == 64


@pytest.mark.parametrize(("noise", "points", "delta"), [("own", 1, 0), ("own", 2, 0), ("one", 1, 0), ("one", 2, 1)])
def test_a_curve_is_tested_at_every_finite_number_of_times(noise: str, points: int, delta: int) -> None:
    """Example 4.2, by brute force over all outcomes at these hours: Σ (P − e^ε·Q)₊ on a coarse grid of tenths."""
    epsilon, reach = 2.0, 400
    scale = 10 * rows.MOST * (rows.HOURS if noise == "own" else 1) / epsilon
    law = {z: exp(-abs(z) / scale) for z in range(-reach, reach + 1)}
    whole = sum(law.values())

    def chances(curve: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        if noise == "one":
            return {tuple(y + z for y in curve[:points]): part / whole for z, part in law.items()}
        few = {z: part / whole for z, part in law.items() if abs(z) <= 60}
        each = product(few.items(), repeat=points)
        return {
            tuple(y + z for y, (z, _) in zip(curve, outcome, strict=False)): _product(part for _, part in outcome)
            for outcome in each
        }

    first, second = chances(rows.CURVE), chances(rows.FLAT)
    common = [key for key in first if key in second]
    found = sum(max(first[key] - exp(epsilon) * second[key], 0.0) for key in common)
    apart = sum(part for key, part in first.items() if key not in second) if noise == "one" and points > 1 else 0.0
    assert found + apart == pytest.approx(delta, abs=1e-6) and rows.tested(noise, points) == delta
    told = view(15, kind="curve", noise=noise, points=str(points))
    assert ("δ = 1" in told.picture) == bool(delta)


def _product(parts: object) -> float:
    found = 1.0
    for part in parts:  # type: ignore[attr-defined]
        found *= part
    return found
