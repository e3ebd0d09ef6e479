"""The lecture's number of steps beside the default: its formula, its price in people, its time and its bound."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from helpers_training import every_kind, made

from dpengine.accountant import compositions
from dpengine.core.printed import power_of_ten, three_figures
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.of_gradients import MOST_STEPS
from dpengine.messages import plain, say
from dpengine.planning.training import lecture_steps, step_seconds
from dpengine.planning.whatif import training_people
from ui.train import train
from ui.words import gloss

DELTA = Fraction(1, 10**6)


@every_kind
def test_the_lecture_s_steps_and_their_price_follow_from_each_other(key: str) -> None:
    """T = ε²n²/(d²·ln(1/δ)); with as many people as T steps want, T is the number of steps."""
    query = made(key, about=10_000, epsilon="0.5")
    found = lecture_steps(query, DELTA)
    assert found is not None and found.epsilon == compositions.zcdp_epsilon([query.loss()], DELTA)
    wanted = (float(found.epsilon) * 10_000 / query.width) ** 2 / math.log(10**6)
    assert found.steps == math.floor(wanted) > MOST_STEPS
    [this, lecture, most] = found.options
    assert (this.steps, lecture.steps, most.steps) == (query.steps, found.steps, MOST_STEPS)
    assert this.risk == query.promise().risk
    assert lecture.seconds == pytest.approx(lecture.steps * step_seconds(10_000, query.width))
    assert lecture.seconds > 100 * this.seconds and lecture.risk <= most.risk  # dearer, and hardly better
    short = made(key, about=10_000, epsilon="0.5", steps=found.steps if found.steps <= MOST_STEPS else MOST_STEPS)
    enough = lecture_steps(short, DELTA)
    assert enough is not None
    again = lecture_steps(made(key, about=enough.people, epsilon="0.5", steps=short.steps), DELTA)
    fewer = lecture_steps(made(key, about=enough.people - 1, epsilon="0.5", steps=short.steps), DELTA)
    assert again is not None and fewer is not None and fewer.steps < short.steps <= again.steps


def test_too_few_people_for_a_single_step_are_told_how_many_it_takes() -> None:
    query = made("train_linear", about=10, epsilon="0.05")
    found = lecture_steps(query, DELTA)
    assert found is not None and found.steps == 0 and [option.kind for option in found.options] == ["this"]
    enough = lecture_steps(made("train_linear", about=found.for_one, epsilon="0.05"), DELTA)
    assert enough is not None and enough.steps == 1
    assert lecture_steps(query, Fraction(0)) is None  # its logarithm


def test_the_bound_at_the_lecture_s_steps_is_that_of_noise_alone() -> None:
    """Where noise and gradients weigh the same, more steps would help by less than a root of two."""
    query = made("train_hinge", about=10**5, calibration="coordinate")
    found = lecture_steps(query, DELTA)
    assert found is not None
    lecture = next(option for option in found.options if option.kind == "lecture")
    one = query.setting
    alone = one.radius * math.sqrt(one.each)
    assert alone < lecture.risk < 2 * alone and lecture.risk < excess.limit(one)


@every_kind
def test_the_people_for_a_wished_excess_follow_from_the_same_formula(key: str) -> None:
    """T = (RG/excess)²; with so many people the lecture makes T steps, and with one fewer it does not."""
    query, risk = made(key, about=10_000, epsilon="0.5"), Fraction(1, 20)
    found = training_people(query, DELTA, risk)
    assert found is not None and found[0] == math.ceil((query.reach * float(query.clip) * 20) ** 2)
    epsilon = compositions.zcdp_epsilon([query.loss()], DELTA)
    assert epsilon is not None

    def most(people: int) -> float:
        return (float(epsilon) * people / query.width) ** 2 / math.log(10**6)

    assert most(found[1] - 1) < found[0] <= most(found[1])


@pytest.mark.parametrize("key", ["train_linear", "train_logistic"])
def test_the_usual_steps_are_enough_and_one_fewer_is_not(key: str) -> None:
    """βR²/T falls below R·√(V/T), and V is T times what one step costs."""
    one = made(key, about=10**4).setting
    steps = excess.enough_steps(one)
    left = [one.smooth * one.radius**2 / many for many in (steps, steps - 1)]
    assert left[0] <= one.radius * math.sqrt(one.each) < left[1]


@every_kind
def test_the_page_tells_the_figures_of_the_formula(key: str) -> None:
    query = made(key, about=10_000, epsilon="0.5")
    found, text = lecture_steps(query, DELTA), train.steps_html(query, DELTA)
    assert found is not None and found.people != found.for_one
    price = say(
        "train_page.lecture_price",
        people=found.people,
        steps=query.steps,
        about=10_000,
        epsilon=three_figures(found.epsilon),
        delta=power_of_ten(DELTA),
        width=query.width,
    )
    assert gloss.text(price) in text
    assert all(f'<td class="number">{plain(option.steps)}</td>' in text for option in found.options)


def test_a_residual_counts_for_less_while_noise_limits_a_line() -> None:
    """By public facts alone: people and ε. Asked for other sizes, a question keeps its own."""
    few, many = (made("train_linear", about=people) for people in (1_000, 1_000_000))
    assert (few.clip, many.clip) == (Fraction(1, 2), Fraction(3, 4))
    assert made("train_linear", about=1_000_000, epsilon="0.0001").clip == few.clip
    assert made("train_linear", about=1_000, clip="0.75").clip == few.of_size(1_000_000).clip + Fraction(1, 4)
    assert made("train_logistic", about=1_000).clip == made("train_logistic", about=1_000_000).clip == 1
    noise = [
        made("train_linear", about=1_000, **given).amount for given in ({"steps": 9}, {"steps": 9, "clip": "0.75"})
    ]
    assert noise[1] == noise[0] * Fraction(9, 4)
