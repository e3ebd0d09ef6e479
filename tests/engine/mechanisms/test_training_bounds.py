"""How far a trained model may lie from the best one: the bounds, and that they are kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from battery import POSSIBLE_ROWS, facts
from helpers_training import every_kind, made, walked

import dpengine as dp
from dpengine.declared.schema import Schema
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.excess import CALIBRATIONS
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.features import ROW_BITS, WEIGHT_BITS

# The bounds

LONGER = ("average", "last")


def test_excess_bounds_have_the_lecture_as_their_limit() -> None:
    one = excess.TrainingSetting(10**5, 10, 2.0, 1.0, 1.0, 2, 0.5, 1.0, 100)
    calm = replace(one, epsilon=math.inf)
    lecture = 2.0 / math.sqrt(100)
    assert excess.limit(one) == pytest.approx(lecture)
    assert excess.risk(calm, 2.0 / math.sqrt(100)) <= lecture * (1 + 1e-12)
    risks = [
        excess.risk(replace(one, calibration=name), excess.best_rate(replace(one, calibration=name)))
        for name in CALIBRATIONS
    ]
    assert risks == sorted(risks)  # Gaussian noise is best, noise on every coordinate worst
    told = excess.along_epsilon(one, [0.1, 1.0, 10.0])
    assert all([y for _, y in told[name]] == sorted((y for _, y in told[name]), reverse=True) for name in CALIBRATIONS)
    assert excess.along_steps(one, [1, 10])["limit"] == [(1.0, 2.0), (10.0, pytest.approx(2 / math.sqrt(10)))]


@every_kind
def test_what_was_chosen_for_a_person_is_read_again_as_it_was(key: str) -> None:
    """A paid answer is opened by its stored question: also where nearly nothing pulls, or the noise is enormous."""
    for given in ({"clip": "0.000001", "radius": "64", "steps": 1}, {"radius": "0.000001"}, {"iterate": "last"}):
        for epsilon in ("0.0001", "50"):
            query = made(key, "add_remove", epsilon=epsilon, about=1000, **given)
            assert type(query).build(query.facts, query.describe()["parameters"]) == query


def test_a_promise_about_all_rows_is_made_only_where_all_of_them_count() -> None:
    """A label on neither side, a missing number: so many rows count as nobody knows, and the promise says for how many
    it is."""
    schema = Schema({"age": dp.Number(0, 9, missing=0), "sure": dp.Category(["yes", "no"]), "gap": dp.Number(0, 9)})
    facts_ = replace(facts("replace"), schema=schema, about=1000)

    def nominal(features: list[str], **sides: Any) -> bool:
        given = {"target": "sure", "features": features, "epsilon": "1"} | sides
        return bool(dp.catalogue["train_logistic"].build(facts_, given).promise().nominal)

    assert nominal(["age"])  # "other" and "no answer" are on neither side
    assert not nominal(["age"], negative=["no", "other", "no answer"])
    assert nominal(["gap"], negative=["no", "other", "no answer"])


@pytest.mark.parametrize("steps", [1, 4])
def test_the_lecture_s_bound_counts_the_step_that_the_kept_iterates_are_late_by(steps: int) -> None:
    """The model averages w₂ … w_{T+1}, not w₁ … w_T: T+1 steps of gradient and noise are in it."""
    one = excess.TrainingSetting(10**3, 2, 9.0, 1.0, 1.0, 1, 0.5, 1.0, steps, iterate="average")
    rate = 3.0  # beyond 1/β: only the lecture's bound speaks
    late = 81 / (2 * rate * steps) + (steps + 1) / steps * rate / 2 * (1 + one.noise)
    assert excess.risk(one, rate) == pytest.approx(min(late, 18.0)) and late < 18


@pytest.mark.long
@pytest.mark.parametrize("iterate", ["tail", *(pytest.param(one, marks=[pytest.mark.long]) for one in LONGER)])
@every_kind
def test_the_promise_is_kept_on_average(key: str, iterate: str) -> None:
    """Excess loss over the best model of the region, 15 trainings of 40 people: its mean is far within the bound."""
    rng = np.random.default_rng()
    rows = [POSSIBLE_ROWS[place] for place in rng.integers(2, len(POSSIBLE_ROWS), 40)]
    query = made(key, "replace", about=40, clip="1", radius="1", steps=12, iterate=iterate, epsilon="8")
    best = min(loss_of(query, one, rows) for one in grid(query))
    runs = [loss_of(query, walked(query, rows, SystemCoins()).weights, rows) - best for _ in range(15)]
    assert np.mean(runs) <= float(query.promise().risk)


def test_a_loss_with_a_corner_has_the_lecture_s_bound_and_its_number_of_steps() -> None:
    """No second derivative bounds the hinge loss: what needs one is left out, for every iterate."""
    query = made("train_hinge", about=1000, steps=100, radius="2", epsilon="1", rate="0.1")
    one = query.setting
    assert query.iterate == "average" and math.isinf(one.smooth)
    squared = 1 + one.noise
    average = 4 / (2 * 0.1 * 100) + 0.1 / 2 * squared * 1.01
    assert excess.risk(one, 0.1) == pytest.approx(average)
    tail = (4 + 100 * 0.01 * squared / 2) / (2 * 0.1 * 50) + 0.1 / 2 * squared * 1.02
    assert excess.risk(replace(one, iterate="tail"), 0.1) == pytest.approx(tail)
    assert excess.best_rate(one) == pytest.approx(2 / math.sqrt(100 * squared))
    assert excess.enough_steps(one) == math.ceil(1 / one.each) and made("train_hinge", about=10**6).steps == 600
    far = replace(one, people=10**12, steps=10**4)
    assert excess.risk(far, excess.best_rate(far)) == pytest.approx(2 / 100, rel=0.01)  # RG/√T


def grid(query: OfGradients) -> list[tuple[int, ...]]:
    """Weights all over the region, for two coordinates."""
    assert query.width == 2
    edge = float(query.radius) * 2**WEIGHT_BITS
    turns = np.linspace(0, 2 * math.pi, 37)
    points = [(far * math.cos(turn), far * math.sin(turn)) for far in np.linspace(0, edge, 9) for turn in turns]
    return [(int(one), int(other)) for one, other in points]


def loss_of(query: OfGradients, weights: tuple[int, ...], rows: Any) -> float:
    total = 0.0
    for row in rows:
        margin, target = query.layout.margin(row, weights), query.layout.target_of(row)
        if margin is None or target is None:
            continue
        there = margin / 2 ** (ROW_BITS + WEIGHT_BITS)
        if query.layout.kind == "linear":
            off, edge = abs(there - target / 2**ROW_BITS), float(query.clip)
            total += off * off / 2 if off <= edge else edge * (off - edge / 2)
        elif query.layout.sharp:
            total += max(0.0, 1 - there if target else 1 + there)
        else:
            total += math.log1p(math.exp(-there if target else there))
    return total / len(rows)
