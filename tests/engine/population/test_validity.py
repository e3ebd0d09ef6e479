"""Widths to the population: reference values, what they are made of, and an analyst who tries to overfit."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F
from statistics import NormalDist

import numpy as np
import pytest
from helpers_noise import laplace
from helpers_noise import lecture as lecture_noise

from dpengine.core.amounts import BETA
from dpengine.core.errors import AllowanceError
from dpengine.noise.coins import SystemCoins
from dpengine.population import noise_for_k, people_needed, validity
from dpengine.population.noise_for_k import GAUSSIAN, LAPLACE, Calibration
from dpengine.population.validity import golden, information, jung, lecture, rogers, split

BOUNDS: dict[str, Callable[..., validity.Width | None]] = {
    "information": information,
    "jung": jung,
    "lecture": lecture,
    "rogers": rogers,
}


def noise_of(people: int, answers: int, amount: F, kind: str = GAUSSIAN, steps: int = 1) -> Calibration:
    return Calibration(kind, people, answers, steps, amount)


# --- reference values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answers", "wanted"), [(100, 0.056), (1000, 0.210)])
def test_splitting(answers: int, wanted: float) -> None:
    assert float(split(10**5, answers, yes_no=True).width) == pytest.approx(wanted, rel=0.02)
    hoeffding = math.sqrt(math.log(2 * answers / 0.05) / (2 * 10**5 / answers))
    assert float(split(10**5, answers).width) == pytest.approx(hoeffding, abs=2e-6)


@pytest.mark.parametrize(("answers", "wanted"), [(100, 0.0575), (1000, 0.102)])
def test_rogers_as_published(answers: int, wanted: float) -> None:
    found = people_needed.planned(10**5, answers, BETA, rogers)
    assert found.claimed and float(found.width) == pytest.approx(wanted, rel=0.02)


@pytest.mark.every(3)
@pytest.mark.parametrize(("answers", "wanted", "ours"), [(100, 0.073, 0.0788), (1000, 0.135, 0.1450)])
def test_jung_with_continuous_noise_and_with_ours(answers: int, wanted: float, ours: float) -> None:
    """The reference figures take the exact curve of continuous Gaussian noise; ours is zCDP's, for integers."""
    assert float(people_needed.planned(10**5, answers, BETA, jung).width) == pytest.approx(ours, rel=0.002)

    def width(ln_sigma: float, ln_missed: float, ln_delta: float) -> float:
        missed, delta = math.exp(ln_missed), math.exp(ln_delta)
        epsilon = continuous(math.sqrt(answers) / math.exp(ln_sigma), delta)
        alpha = -NormalDist().inv_cdf(missed / answers / 2) * math.exp(ln_sigma) / 10**5
        return alpha + math.expm1(epsilon) + (math.sqrt(missed) + math.sqrt(2 * delta)) ** 2 / 0.05

    at = [math.log(700.0), math.log(1e-5), math.log(1e-4)]
    for _ in range(4):
        for place, (low, high) in enumerate(((5, 9), (-16, -5), (-14, -5))):
            at[place] = golden(lambda x: width(*at[:place], x, *at[place + 1 :]), low, high, 25)  # noqa: B023
    assert width(*at) == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize(("answers", "wanted", "ours"), [(100, 0.203, 0.2149), (1000, 0.426, 0.4456)])
def test_the_lecture_with_continuous_noise_and_with_ours(answers: int, wanted: float, ours: float) -> None:
    told = people_needed.planned(10**5, answers, BETA, lecture)
    assert not told.claimed and float(told.width) == pytest.approx(ours, rel=0.002)

    def width(ln_sigma: float, ln_delta: float) -> float:
        epsilon = continuous(math.sqrt(answers) / math.exp(ln_sigma), math.exp(ln_delta))
        missed = 0.05 - answers * math.exp(ln_delta) / epsilon
        if missed <= 0:
            return 100 - ln_delta
        return -NormalDist().inv_cdf(missed / answers / 2) * math.exp(ln_sigma) / 10**5 + 10 * epsilon

    def at_sigma(ln_sigma: float) -> float:
        return width(ln_sigma, golden(lambda x: width(ln_sigma, x), -20, -9, 25))

    assert at_sigma(golden(at_sigma, 7, 10, 25)) == pytest.approx(wanted, rel=0.02)


def continuous(mu: float, delta: float) -> float:
    """ε at δ of continuous Gaussian noise whose mean moves by mu standard deviations."""
    cdf = NormalDist().cdf
    low, high = 0.0, 10 * mu + mu * mu
    for _ in range(45):
        middle = (low + high) / 2
        over = cdf(mu / 2 - middle / mu) - math.exp(middle) * cdf(-mu / 2 - middle / mu) > delta
        low, high = (middle, high) if over else (low, middle)
    return high


@pytest.mark.parametrize(("answers", "most"), [(100, 0.0443), (1000, 0.0828)])
def test_information_is_the_narrowest_claimed(answers: int, most: float) -> None:
    found = people_needed.planned(10**5, answers)
    assert found.claimed and float(found.width) <= most
    assert found.noise is not None and validity.stated(found.noise).theorem == "information"
    assert all(found.width <= one.width for one in validity.widths(found.noise))


# --- what the bounds are made of --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "amount"), [(GAUSSIAN, F(9, 4)), (GAUSSIAN, F(40)), (LAPLACE, F(3, 2)), (LAPLACE, F(9))]
)
@pytest.mark.parametrize("steps", [1, 3])
def test_one_answer_tells_no_more_than_is_said(kind: str, amount: F, steps: int) -> None:
    """The channel from one person's value to the noisy sum, exactly, over priors; and the bound is nearly attained."""
    said = float(validity._information_of(Calibration(kind, 1, 1, steps, amount)))
    grid = np.arange(-200, 201 + steps)
    laws = []
    for x in range(steps + 1):
        gap = np.abs(grid - x)
        weight = np.exp(-gap / float(amount)) if kind == LAPLACE else np.exp(-(gap**2) / (2 * float(amount)))
        laws.append(weight / weight.sum())
    table = np.array(laws)
    worst = 0.0
    for share in np.linspace(0, 1, 21):
        prior = np.zeros(steps + 1)
        prior[0] += 1 - share
        prior[-1] += share
        for mixed in (prior, 0.8 * prior + 0.2 / (steps + 1)):
            mean = mixed @ table
            seen = table > 0
            logs = np.log(np.where(seen, table, 1)) - np.log(np.maximum(mean, 1e-300))
            worst = max(worst, float((mixed[:, None] * np.where(seen, table * logs, 0)).sum()))
    assert worst <= said * (1 + 1e-9)
    if amount > 5 * steps:
        assert worst > 0.85 * said  # so a bound half as large would be caught


@pytest.mark.parametrize("people", [4, 30, 200])
@pytest.mark.parametrize("each", [0.1, 1e-3])
def test_splitting_covers_every_population(people: int, each: float) -> None:
    """The exact binomial tail at the worst p of every count, and the width is not idle."""
    width = split(people, 1, F(each).limit_denominator(10**6), yes_no=True).width

    def worst(w: float) -> float:
        tails = [upper_tail(people, count, count / people - w) for count in range(1, people + 1) if count / people > w]
        return 2 * max(tails, default=0.0)

    assert worst(float(width)) <= each * (1 + 1e-6)
    assert worst(float(width) * 0.85 - 1 / people) > each


def upper_tail(people: int, count: int, p: float) -> float:
    return math.fsum(math.comb(people, c) * p**c * (1 - p) ** (people - c) for c in range(count, people + 1))


def test_information_is_never_above_a_fine_grid_nor_below_its_least() -> None:
    noise = noise_of(5000, 60, F(9000))
    found = information(noise)
    told = float(validity._information_of(noise))
    grid = [
        float(noise.alpha_at(BETA * (1 - F(share, 400)))) + validity._leap(told, 0.05 * share / 400, 5000)
        for share in range(1, 400)
    ]
    assert min(grid) * (1 - 1e-4) <= float(found.width) <= min(grid) + 2 / 5000


def test_jung_is_as_good_as_a_fine_grid() -> None:
    noise = noise_of(5000, 60, F(20000))
    found = jung(noise)
    at = [math.exp(-x / 4) for x in range(12, 80)]
    epsilons = {delta: float(validity._zcdp_above(noise, F(delta).limit_denominator(10**12))) for delta in at}
    alphas = {missed: float(noise.alpha_at(F(missed).limit_denominator(10**12))) for missed in at}
    best = min(
        alphas[missed] + math.expm1(epsilons[delta]) + (math.sqrt(missed) + math.sqrt(2 * delta)) ** 2 / 0.05
        for missed in at
        for delta in at
    )
    assert float(found.terms["uncut"]) <= best * 1.005
    terms = found.terms
    assert terms["missed"] / terms["c"] + terms["delta"] / terms["d"] == BETA  # nothing of β is spent twice
    assert lower_than_any_formula(noise) <= float(found.width)


def lower_than_any_formula(noise: Calibration) -> float:
    return float(noise.alpha_at(F(1, 20)))  # no choice has less than the noise alone at all of β


@pytest.mark.every(9)
@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_planned_noise_is_as_good_as_a_grid_of_noises(name: str) -> None:
    found = people_needed.planned(20000, 40, BETA, BOUNDS[name])
    assert found.noise is not None
    for power in range(-6, 7):
        other = BOUNDS[name](noise_of(20000, 40, found.noise.amount * F(3, 2) ** power))
        assert other is not None and found.width <= other.width * F(1001, 1000) + F(1, 20000)


def test_laplace_noise_has_widths_too() -> None:
    rule = noise_for_k.rule_of(F(1, 10), F(1, 10**6))
    noise = laplace(10**5, 20, rule)
    assert [one.theorem for one in validity.widths(noise)] == ["information", "jung", "lecture"]
    alone = jung(noise_of(10**5, 1, F(50), LAPLACE))  # one pure answer: basic composition, no δ
    assert alone.terms["delta"] == 0 and alone.width < F(3, 100)


# --- shape, inverse, refusals -----------------------------------------------------------------------------------------


def test_widths_grow_with_questions_and_shrink_with_people() -> None:
    for make in (people_needed.planned, split):
        along_answers = [make(50_000, answers).width for answers in (1, 5, 25, 125, 625, 3125)]
        along_people = [make(people, 25).width for people in (200, 1000, 5000, 25_000, 10**6)]
        assert along_answers == sorted(along_answers) and along_people == sorted(along_people, reverse=True)
        along_beta = [make(5000, 25, F(1, x)).width for x in (5, 20, 100)]
        assert along_beta == sorted(along_beta)
    assert split(10, 11).width == 1  # nobody left to ask


@pytest.mark.long
def test_inverse_questions_agree() -> None:
    width = F(1, 10)
    answers = 25
    people = people_needed.least_people(answers, width)
    assert people is not None
    assert people_needed.best(people, answers).width <= width < people_needed.best(people - 1, answers).width
    assert people_needed.least_people(1000, F(1, 10**6)) is None
    crossing = people_needed.crossing(10**5, yes_no=True)
    assert 20 < crossing < 100
    assert "narrower if each question gets its own people" in people_needed.comparison(10**5, 5, yes_no=True)
    assert f"up to about {crossing} questions" in people_needed.comparison(10**5, 500, yes_no=True)


def test_refusals() -> None:
    for width in (F(0), F(1)):
        with pytest.raises(AllowanceError, match="width you accept"):
            people_needed.least_people(5, width)
    with pytest.raises(AllowanceError, match="chance of a miss"):
        information(noise_of(100, 5, F(10)), F(1))
    with pytest.raises(AllowanceError, match="number of people"):
        split(0, 5)


# --- an analyst who tries ---------------------------------------------------------------------------------------------

PEOPLE, ANSWERS, RUNS = 2000, 50, 60
FEATURES = ANSWERS - 1


def attack(noise: Calibration) -> tuple[float, float]:
    """49 coin-flip features and a coin-flip label; the last query is the majority of what looked related.

    Every query's value in the population is ½. Returns the worst distance of an answer from table and population.
    """
    rng = np.random.default_rng()
    agrees = rng.integers(0, 2, (PEOPLE, FEATURES))  # whether a feature equals the label
    sums = agrees.sum(axis=0).tolist()
    answers = noise.draw(SystemCoins(), sums)
    signs = np.where(np.array([float(answer) for answer in answers]) > 0.5, 1, -1)
    predicts = ((2 * agrees - 1) @ signs > 0).astype(int)  # FEATURES is odd: no ties
    sums.append(int(predicts.sum()))
    answers += noise.draw(SystemCoins(), sums[-1:])
    values = np.array([float(answer) for answer in answers])
    return float(np.abs(values - np.array(sums) / PEOPLE).max()), float(np.abs(values - 0.5).max())


def too_many(misses: int) -> bool:
    """More misses than chance β each would explain, at a false-alarm rate of 10^-7 (ten checks: 10^-6 in all)."""
    tail = math.fsum(math.comb(RUNS, m) * 0.05**m * 0.95 ** (RUNS - m) for m in range(misses, RUNS + 1))
    return tail < 1e-7


def calibrations() -> dict[str, Calibration]:
    rule = noise_for_k.rule_of(F(1), F(1, 10**4))
    planned = people_needed.planned(PEOPLE, ANSWERS).noise
    assert planned is not None
    return {
        "lecture": lecture_noise(PEOPLE, ANSWERS, F(1), F(1, 10**4)),
        "laplace": laplace(PEOPLE, ANSWERS, rule),
        "gaussian": noise_for_k.gaussian(PEOPLE, ANSWERS, rule),
        "planned": planned,
    }


@pytest.mark.every(9)
@pytest.mark.parametrize("name", ["gaussian", "laplace", "lecture", "planned"])
def test_an_adaptive_analyst_stays_within_the_widths(name: str) -> None:
    noise = calibrations()[name]
    alpha, width = float(noise.alpha), float(validity.stated(noise).width)
    errors = [attack(noise) for _ in range(RUNS)]
    assert not too_many(sum(sample > alpha for sample, _ in errors))
    assert not too_many(sum(population > width for _, population in errors))
    assert too_many(sum(sample > alpha / 4 for sample, _ in errors))  # power: a planted width is caught
    if name == "planned":
        assert too_many(sum(population > width / 4 for _, population in errors))
