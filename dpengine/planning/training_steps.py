"""How many steps a training takes by default, and how many by the lecture's formula: what each costs and promises.

Lecture 10, theorem 2, for a training that is (ε, δ)-DP as a whole, with n people and d weights, up to constants:

    excess ≲ ηG²(1 + T·d²·ln(1/δ)/(n²ε²)) + R²/(ηT),  so T = ε²n²/(d²·ln(1/δ)),  and n ≥ d·√(T·ln(1/δ))/ε for T.

That T is where noise and gradients weigh the same; it grows with n², and each step reads the table. The default stops
where further steps no longer help the bound much (`excess.enough_steps`), and no training makes more than MOST_STEPS.

ε is what this training alone amounts to at the allowance's δ (accountant/zcdp.py); the excess is the bound of excess.py
with all its constants. How long a step takes is an estimate from public facts alone, the rows and the weights:
`python -m bench.step_time` prints it beside what this machine needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from dpengine.accountant import zcdp
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.of_gradients import MOST_STEPS, OfGradients

A_STEP = 0.015  # seconds, whatever the size of the table
A_ROW = 80e-9  # and for every row …
A_WEIGHT = 7e-9  # … and every weight of it


@dataclass(frozen=True)
class StepsOption:
    """This training, the lecture's, or, where that makes more steps than can be had, the longest one."""

    kind: Literal["this", "lecture", "most"]
    steps: int
    seconds: float  # an estimate
    risk: Fraction  # the bound on the excess loss, at the step size that suits it


@dataclass(frozen=True)
class LectureSteps:
    epsilon: Fraction  # of this training alone, at the allowance's δ
    steps: int  # T of the lecture; 0 where there are too few people for one
    people: int  # as many as the lecture wants for the steps of this training
    for_one: int  # and for a single step
    options: tuple[StepsOption, ...]


def step_seconds(rows: int, width: int) -> float:
    """About how long one step takes."""
    return A_STEP + rows * (A_ROW + A_WEIGHT * width)


def lecture_steps(query: OfGradients, delta: Fraction) -> LectureSteps | None:
    """None without δ: the lecture's formula has its logarithm."""
    if delta <= 0:
        return None
    epsilon = zcdp.epsilon_of([query.loss()], delta)
    if epsilon is None:
        return None
    ln, people, width = math.log(1 / delta), query.people, query.width
    steps = math.floor((float(epsilon) * people / width) ** 2 / ln)

    def needed(many: int) -> int:
        return math.ceil(width * math.sqrt(many * ln) / float(epsilon))

    options = [_option(query, "this", query.steps)]
    if steps >= 1:
        options.append(_option(query, "lecture", steps))
    if steps > MOST_STEPS:
        options.append(_option(query, "most", MOST_STEPS))
    return LectureSteps(epsilon, steps, needed(query.steps), needed(1), tuple(options))


def _option(query: OfGradients, kind: Literal["this", "lecture", "most"], steps: int) -> StepsOption:
    seconds = steps * step_seconds(query.people * query.facts.unit.at_most, query.width)
    if kind == "this":
        return StepsOption(kind, steps, seconds, query.promise().risk)
    one = replace(query.setting, steps=steps)
    return StepsOption(kind, steps, seconds, Fraction(excess.risk(one, excess.best_rate(one))))
