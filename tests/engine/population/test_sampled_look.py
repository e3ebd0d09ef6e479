"""A first look at a random sample: its noise by its law, coverage counted exactly in small worlds, width beside exact
inversion. Whole looks are in the grid of test_sampling.py."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from functools import reduce
from math import comb, prod

import numpy as np
import pytest

from dpengine.mechanisms import sampling
from dpengine.mechanisms.marginals import sampled_cells
from dpengine.mechanisms.marginals.residuals import Columns, moved_parts
from dpengine.mechanisms.marginals.sampled_cells import Off, SumNoise, above, among, noise_of_sum, of_everybody
from dpengine.mechanisms.noise import GaussianNoise

BETA = F(1, 20)
Law = dict[int, float]


def _law(variance: F) -> Law:
    law = sampling.window(GaussianNoise(variance))
    assert law is not None
    return {place - law.reach: float(chance) for place, chance in enumerate(law.chances) if chance > 1e-15}


def _plus(one: Law, other: Law) -> Law:
    found: Law = {}
    for a, chance in one.items():
        for b, held in other.items():
            found[a + b] = found.get(a + b, 0.0) + chance * held
    return {place: chance for place, chance in found.items() if chance > 1e-13}


def _exactly(noise: dict[Columns, F], part: Columns, sums: list[np.ndarray]) -> list[tuple[tuple[float, ...], float]]:
    """The joint law of sums of cells, from every residual's own draw: values in steps of 1/Πn², and their chances."""
    sizes = sums[0].shape
    step = prod(size**2 for size in sizes)
    laws: list[dict[tuple[int, ...], float]] = []
    for place, base in enumerate([own for own, _ in moved_parts(part, sums[0])]):
        if base not in noise:
            continue
        size = prod(sizes[part.index(column)] for column in base)
        law = _law(noise[base] * size**2)
        moves = [list(moved_parts(part, a))[place][1].ravel() / size for a in sums]
        for weights in zip(*moves, strict=True):
            each = [round(float(weight) * step) for weight in weights]
            laws.append({tuple(weight * z for weight in each): chance for z, chance in law.items()})
    joint = reduce(_times, laws)
    return [(tuple(value / step for value in values), chance) for values, chance in joint.items()]


def _times(one: dict[tuple[int, ...], float], other: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    found: dict[tuple[int, ...], float] = {}
    for a, chance in one.items():
        for b, held in other.items():
            at = tuple(x + y for x, y in zip(a, b, strict=True))
            found[at] = found.get(at, 0.0) + chance * held
    return {at: chance for at, chance in found.items() if chance > 1e-12}


@pytest.mark.parametrize("variance", [F(1, 20), F(1, 4), F(1), F(30)], ids=str)
def test_discrete_noise_is_below_a_bell_one_place_on(variance: F) -> None:
    law, deviation = _law(variance), float(variance) ** 0.5
    places = np.array(sorted(law))
    tails = np.array([sum(chance for z, chance in law.items() if z >= place) for place in places])
    bells = above((places - 1) / deviation)
    assert (tails <= bells + 1e-12).all()
    assert (tails > above(places / deviation) + 1e-12).any()  # planted: without the place it is not


@pytest.mark.parametrize("size", [F(1, 16), F(2)], ids=str)
def test_a_sum_of_cells_is_below_a_bell_of_its_variance(size: F) -> None:
    """Two columns of two cells with three residuals, little noise and more: its law, drawn one by one, against either
    bound. Without the shift both fail."""
    noise = {(0,): size, (1,): size, (0, 1): size}
    cell = np.zeros((2, 2))
    cell[0, 0] = 1
    bound = noise_of_sum(noise, (0, 1), cell)
    assert (bound.times == 1) == (size < 1)
    law = _exactly(noise, (0, 1), [cell])
    assert 0.9 * bound.variance < sum(value[0] ** 2 * chance for value, chance in law) <= bound.variance + 1e-9
    values, chances = np.array([value[0] for value, _ in law]), np.array([chance for _, chance in law])
    order = np.argsort(-values)
    values, tails = values[order], np.cumsum(chances[order])  # from above where values are equal
    last = np.append(np.diff(values) < -1e-9, True)
    values, tails = values[last], tails[last]
    assert (tails <= bound.times * above((values - bound.off) / bound.variance**0.5) + 1e-9).all()
    assert (tails > bound.times * above(values / bound.variance**0.5) + 1e-9).any()


@pytest.mark.parametrize("n, size", [(1, 3), (7, 2), (16, 2)])
def test_a_share_of_everybody_is_covered_at_every_p(n: int, size: int) -> None:
    """Every number of people in the cell and every draw of its residual, with its chance. The range of the noise alone,
    planted, does not cover."""
    noise = {(0,): F(1, size)}
    cell = np.eye(1, size)[0]
    bound = noise_of_sum(noise, (0,), cell)
    drawn = _exactly(noise, (0,), [cell])
    outcomes = [(hits, hits + value[0], chance) for hits in range(n + 1) for value, chance in drawn]
    ranges = of_everybody([one for _, one, _ in outcomes], n, bound, BETA, F(0))
    reach = 2.5 * bound.variance**0.5 + bound.off
    least = planted = 1.0
    for p in np.linspace(0.004, 0.996, 32):
        weights = [comb(n, hits) * p**hits * (1 - p) ** (n - hits) * chance for hits, _, chance in outcomes]
        pairs = list(zip(outcomes, ranges, weights, strict=True))
        least = min(least, sum(weight for _, (low, high), weight in pairs if low <= p <= high))
        planted = min(planted, sum(weight for (_, one, _), _, weight in pairs if abs(one - p * n) <= reach))
    assert least >= 0.95 - 1e-9
    if n == 16:
        assert planted < 0.95


@pytest.mark.every(2)
@pytest.mark.parametrize("known", [True, False], ids=["public number", "secret number"])
def test_a_share_of_a_group_is_covered_at_every_p(known: bool) -> None:
    """Two columns of two cells and six people in the group, exactly. As if the group's size were exact, planted,
    does not cover where it is noisy."""
    noise = {base: F(1, 8) for base in ((0,), (1,), (0, 1))} | ({} if known else {(): F(1, 8)})
    cell, group = np.zeros((2, 2)), np.zeros((2, 2))
    cell[0, 0], group[0, :] = 1, 1
    off, people = Off.of_cells(noise, (0, 1), cell, group), 6
    law = {}
    for (hit, whole), chance in _exactly(noise, (0, 1), [cell, group]):
        at = (round(hit, 9), round(whole, 9))
        law[at] = law.get(at, 0.0) + chance
    kept = [(values, chance) for values, chance in law.items() if chance > 1e-6]
    outcomes = [(hits, hits + a, people + b, chance) for hits in range(people + 1) for (a, b), chance in kept]
    hits, whole = (np.array([one[place] for one in outcomes]) for place in (1, 2))
    low, high = among(hits, whole, off, BETA, 40 if known else None)
    binomials, chances = np.array([one[0] for one in outcomes]), np.array([one[3] for one in outcomes])
    for p in np.linspace(0.01, 0.99, 15):
        of = np.array([comb(people, k) * p**k * (1 - p) ** (people - k) for k in range(people + 1)])[binomials]
        assert (of * chances)[(low > p) | (p > high)].sum() <= 0.05 - 1e-3  # what was left out holds less
    assert (high - low).mean() < 0.97  # it says something


@pytest.mark.every(7)  # each number of people, deviation, share and chance
@pytest.mark.parametrize("n", [50, 200, 1_000, 30_000])
@pytest.mark.parametrize("deviation", [1.0, 4.0, 20.0])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("each", [BETA / 8, BETA / 300], ids=str)
def test_ranges_are_hardly_wider_than_exact_inversion(each: F, share: float, deviation: float, n: int) -> None:
    """By at most a tenth."""
    noise, hits = GaussianNoise(F(deviation**2)), round(share * n)
    exact = sampling.share_of_all(hits, n, noise, each)
    ((low, high),) = of_everybody([hits], n, SumNoise.of_one(deviation**2), each, F(0))
    assert high - low <= 1.1 * (exact[1] - exact[0])
    two = Off.of_two(deviation**2, deviation**2)
    two = replace(two, people=2 * two.people, both=two.hits, off=two.off / 2, off_people=two.off)  # hits and misses
    first, last = (float(end[0]) for end in among(np.array([float(hits)]), np.array([float(n)]), two, each, None))
    exact = sampling.share_among(hits, n - hits, noise, noise, each)
    assert last - first <= 1.1 * (exact[1] - exact[0])


def test_a_column_of_one_value_has_no_noise() -> None:
    assert of_everybody([40.0], 40, SumNoise(0.0, 0.0, 1.0), BETA, F(0)) == [(pytest.approx(1 - 0.088, abs=2e-3), 1.0)]


def test_what_was_seen_widens_a_look_as_the_theory_says() -> None:
    ((low, high),) = of_everybody([300_000.0], 10**6, SumNoise(100.0, 0.5, 1.0), BETA, F(0))
    ((least, most),) = of_everybody([300_000.0], 10**6, SumNoise(100.0, 0.5, 1.0), BETA, F(1, 80))
    assert 1 / 80 <= low - least <= 1 / 80 + 1e-3 and 1 / 80 <= most - high <= 1 / 80 + 1e-3


def test_the_maximum_is_one_over_all_places() -> None:
    a, u = np.linspace(0, 7, 200)[:, None], np.linspace(-8, 8.9, 3_000)[None, :]
    found = np.log((above(u) * np.exp(a * u - a**2 / 2)).max(axis=1))
    assert (sampled_cells._ln_maximum(a[:, 0]) >= found - 0.01).all()  # places of `above` are from above by so much
