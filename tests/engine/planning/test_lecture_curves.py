"""The pictures of the lectures: each grows as its statement says, with the constants it states. Nothing is random."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, isclose, log, sqrt

import pytest

from dpengine.accountant import compositions
from dpengine.accountant.loss import Gaussian, Pure, Repeated
from dpengine.mechanisms.models.excess import COORDINATE, GAUSSIAN, TrainingSetting, best_rate, risk
from dpengine.planning import lecture_curves as curves
from dpengine.population import people_needed
from dpengine.population.validity import split

BETA = Fraction(1, 20)
SETTING = TrainingSetting(100_000, 1, 1.0, 2.0, 1.0, 2, 1.0, 1.0, 50)


def at(points: curves.Points, x: float) -> float:
    return dict(points)[x]


def test_the_small_database_s_error_is_the_alpha_at_which_its_people_suffice() -> None:
    """S1.7: m = 2·ln(2|C|)/α², n ≥ (4/(αε))·ln(|D|^m/β)."""
    for many in (10, 10_000, 10**6):
        alpha = curves.class_error(10**6, many, 100, 1.0, 0.05)
        assert 0 < alpha < 1
        needed = curves.class_people(many, 100, 1.0, 0.05, alpha)
        rows = ceil(2 * log(2 * many) / alpha**2)
        assert needed == ceil(4 / alpha * (rows * log(100) + log(20))) <= 10**6
        assert curves.class_people(many, 100, 1.0, 0.05, alpha * 0.999) > 10**6


def test_a_class_of_questions_is_cheaper_from_one_database_once_it_is_large() -> None:
    drawn = curves.along_class(10**7, 100, 1.0, 1e-6, 0.05, 10**9)
    few, many = 10, 10**9
    assert at(drawn["small"], few) > at(drawn["strong"], few)  # one by one is better for few
    assert (
        at(drawn["small"], many) < at(drawn["strong"], many) < at(drawn["added"], many) or at(drawn["small"], many) < 1
    )
    assert at(drawn["added"], 10_000) == pytest.approx(10_000 * log(10_000 * 20) / 10**7)
    gamma = 1 / sqrt(8 * 10_000 * log(10**6))
    assert at(drawn["strong"], 10_000) == pytest.approx(log(10_000 / 0.05) / (gamma * 10**7))
    assert not curves.along_class(10**7, 100, 1.0, 0, 0.05, 100)["strong"]  # no δ, no strong composition


@pytest.mark.long
def test_private_answers_stay_ahead_of_splitting_up_to_about_n_squared() -> None:
    """S2.6, S2.8: error of the order k^¼/√n against √(k/n), so the last useful k is near n² and near n."""
    ratios = [curves.population_error(10**9, 16 * k, 0.05) / curves.population_error(10**9, k, 0.05) for k in (10**4,)]
    assert all(2 < ratio < 2.5 for ratio in ratios)  # 16^¼ = 2, and a logarithm
    for people in (10**4, 10**5):
        drawn = curves.along_questions(people, BETA)
        assert max(questions for questions, _ in drawn["lecture"]) == people**2 > 1_000
        assert at(drawn["split"], 1) == float(split(people, 1, BETA).width)
        assert at(drawn["best"], 1) == float(people_needed.planned(people, 1, BETA).width)
        parts, best = (curves.last_useful(drawn[name], 0.5) for name in ("split", "best"))
        assert parts < people < 20 * best
        assert curves.last_useful(drawn["split"], 0.5) < curves.last_useful(drawn["best"], 0.5)
    far = [
        curves.last_useful([(k, curves.population_error(n, k, 0.05)) for k in curves.decades(1, n**2, 8)], 1.0)
        for n in (10**7, 10**8)
    ]
    assert 50 < far[1] / far[0] < 150  # a hundred times the questions for ten times the people


def test_the_population_bound_is_the_least_over_epsilon() -> None:
    people, questions, beta = 10**7, 1000, 0.05
    found = curves.population_error(people, questions, beta)
    for step in range(1, 400):
        epsilon = step / 400
        delta = beta * epsilon / (2 * questions)
        gamma = epsilon / sqrt(8 * questions * log(1 / delta))
        assert log(2 * questions / beta) / (gamma * people) + 10 * epsilon >= found * (1 - 1e-3)


def test_the_first_histogram_grows_with_the_values_and_the_second_stops() -> None:
    """S4.4, S4.5."""
    drawn = curves.along_values(1000, Fraction(1), Fraction(1, 10**6), BETA)
    first, second = [error for _, error in drawn["first"]], [error for _, error in drawn["second"]]
    assert first == sorted(first) and first[-1] > 1.2 * first[3]
    beyond = [error for size, error in drawn["second"] if size >= 1000]
    assert len({*beyond}) == 1 and second == sorted(second) and len(beyond) > 3
    assert curves.along_values(10, Fraction(1), Fraction(1, 10**6), BETA) == {"first": [], "second": []}


def test_noise_of_d_columns_grows_like_d_like_its_root_or_not_at_all() -> None:
    """S5.4, d = 2..200; and each way really is within (ε, δ)."""
    people, epsilon, delta = 1000, 1.0, 1e-6
    drawn = curves.along_columns(people, epsilon, delta)
    assert [d for d, _ in drawn["ordinary"]] == list(range(2, 201, 2))
    assert at(drawn["ordinary"], 200) / at(drawn["ordinary"], 2) == pytest.approx(100)
    assert at(drawn["strong"], 200) / at(drawn["strong"], 2) == pytest.approx(10)
    assert at(drawn["length"], 200) == at(drawn["length"], 2) == pytest.approx(sqrt(2) * at(drawn["gaussian"], 2))
    each = 2 * sqrt(2) / (at(drawn["strong"], 200) * people)  # the ε of one column
    composed = compositions.zcdp_epsilon([Repeated(Pure(Fraction(each)), 200)], Fraction(1, 10**6))
    assert composed is not None and 0.8 < composed <= 1
    rho = Fraction((2 / (at(drawn["gaussian"], 2) * people)) ** 2 / 2)
    composed = compositions.zcdp_epsilon([Gaussian(rho)], Fraction(1, 10**6))
    assert composed is not None and 0.8 < composed <= 1
    assert set(curves.along_columns(people, epsilon, 0)) == {"ordinary"}


def test_weights_from_a_grid_keep_their_bound_and_are_private() -> None:
    """Lecture 10: on a made-up table the law keeps ε between neighbours, and its mean excess the bound."""
    setting = TrainingSetting(40, 1, 1.0, 2.0, 1.0, 2, 1.0, 1.0, 50)
    step = curves.best_step(setting)
    grid = [-1 + step * place for place in range(int(2 / step) + 1)]

    def loss(w: float, rows: list[float]) -> float:  # half the squared error of w·1 for y: G = 2 on [−1, 1]
        return sum((w - y) ** 2 / 2 for y in rows)

    def law(rows: list[float]) -> list[float]:
        rate = setting.epsilon / (2 * setting.sides * setting.clip * setting.radius)
        scores = [loss(0, rows) - loss(w, rows) for w in grid]
        weights = [exp(rate * (score - max(scores))) for score in scores]
        return [weight / sum(weights) for weight in weights]

    rows = [0.6] * 30 + [-0.2] * 10
    chances = law(rows)
    for other in (-1.0, 1.0):
        near = law([other, *rows[1:]])
        assert all(abs(log(a / b)) <= setting.epsilon + 1e-9 for a, b in zip(chances, near, strict=True))
    best = min(loss(w / 1000, rows) for w in range(-1000, 1001)) / len(rows)
    mean = sum(chance * loss(w, rows) for chance, w in zip(chances, grid, strict=True)) / len(rows)
    assert 0 <= mean - best <= curves.grid_excess(setting, step)
    assert len(grid) <= curves.grid_points(setting, step)


def test_a_grid_costs_more_with_every_weight_and_its_points_explode() -> None:
    drawn = curves.along_weights(SETTING)
    errors = [error for _, error in drawn["grid"]]
    assert errors == sorted(errors) and errors[-1] > 5 * errors[0]
    wide = replace(SETTING, width=10)
    assert curves.grid_points(wide, curves.best_step(wide)) > 10**12
    assert at(drawn["few"], 10) > at(drawn["grid"], 10) and isclose(at(drawn["few"], 1), at(drawn["grid"], 1))
    for calibration in (COORDINATE, GAUSSIAN):
        trained = replace(SETTING, width=3, calibration=calibration)
        assert at(drawn[calibration], 3) == risk(trained, best_rate(trained))


def test_the_noise_in_the_excess_promise_counts_every_weight() -> None:
    """V = d·variance/n² (S5.3): without the d the promise would be false for wide models."""
    for calibration, power in ((GAUSSIAN, 1), ("l2_laplace", 1), (COORDINATE, 2)):
        one, many = (replace(SETTING, width=width, calibration=calibration) for width in (1, 16))
        assert many.noise == pytest.approx(16**power * one.noise)
        variance = (one.sides * one.clip / (one.epsilon * one.people)) ** 2 * one.steps
        assert one.noise == pytest.approx(variance * (1 if calibration == GAUSSIAN else 2))
        assert risk(many, best_rate(many)) > risk(one, best_rate(one))
