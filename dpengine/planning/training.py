"""Planning a model: the training with the least noise for a share of the allowance, how many steps it takes, and which
first look to buy for a model of yes or no. From public facts and the ledger's sums alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from dpengine.accountant import compositions, filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.remembered import largest
from dpengine.core.types import Json, JsonObject
from dpengine.declared.grouped import Grouped, Ref, ref_json
from dpengine.declared.read_group import read_group
from dpengine.declared.schema import Number, Schema
from dpengine.mechanisms import asked_on, catalogue
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import EVEN, EVERY_PAIR, FOR_MODEL, MOST_COLUMNS, readable
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.excess import COORDINATE
from dpengine.mechanisms.models.of_gradients import MOST_STEPS, OfGradients
from dpengine.mechanisms.query import AnyQuery

_GRAIN = 10**6  # ε is tried in millionths


def trainings() -> tuple[str, ...]:
    return tuple(key for key in asked_on("train") if issubclass(catalogue[key], OfGradients))


def trained(
    make: Callable[..., AnyQuery], key: str, given: JsonObject, share: Fraction, rule: Rule, totals: Totals
) -> AnyQuery:
    """The training at the largest ε that takes at most `share`, with the default steps and rate for about that ε."""

    fixed: JsonObject = {}

    def at(millionths: int) -> AnyQuery:
        return make(key, **given | fixed | {"epsilon": text_of(Fraction(millionths, _GRAIN))})

    least = int(LEAST_EPSILON * _GRAIN)
    usual = at(least)
    if not isinstance(usual, OfGradients):
        raise AllowanceError("query.unknown", key=key[:60], keys=list(trainings()))
    if usual.calibration != COORDINATE and rule.c is None:
        raise AllowanceError("train.no_delta")

    def allowed(millionths: int) -> bool:
        paid = cost(at(millionths).loss(), rule.alpha)
        return filter.affords(rule, totals, paid, share)

    if not allowed(least):
        raise AllowanceError("train.no_room")
    most = int(MOST_EPSILON * _GRAIN)
    query = at(largest(allowed, least, most))
    assert isinstance(query, OfGradients)
    fixed["steps"] = query.steps  # the default number of steps grows with ε, and the cost of pure parts jumps with it
    return at(largest(allowed, least, most))


# Seconds of a step, an estimate: `python -m bench.step_time` prints it beside this machine's measurements.
A_STEP = 0.015  # for any size of the table
A_ROW = 80e-9  # and for every row …
A_WEIGHT = 7e-9  # … and every weight of it


@dataclass(frozen=True)
class StepsOption:
    """A number of steps: that of this training, the lecture's, or the largest possible one if the lecture's is
    larger."""

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
    return A_STEP + rows * (A_ROW + A_WEIGHT * width)


def lecture_steps(query: OfGradients, delta: Fraction) -> LectureSteps | None:
    """The steps of this training and of the lecture's formula, with the cost and promise of each; None without δ, which
    is in the formula.

    Lecture 10, theorem 2, for a training that is (ε, δ)-DP as a whole, with n people and d weights, up to constants:

        excess ≲ ηG²(1 + T·d²·ln(1/δ)/(n²ε²)) + R²/(ηT),  so T = ε²n²/(d²·ln(1/δ)),  and n ≥ d·√(T·ln(1/δ))/ε for T.

    At that T noise and gradients weigh the same; it grows with n², and each step reads the table. The default stops
    where further steps no longer help the bound much (`excess.enough_steps`), and no training makes more than
    MOST_STEPS. ε is that of this training alone at the allowance's δ (`compositions.zcdp_epsilon`); the excess is the
    bound of excess.py with all its constants."""
    if delta <= 0:
        return None
    epsilon = compositions.zcdp_epsilon([query.loss()], delta)
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
    setting = replace(query.setting, steps=steps)
    return StepsOption(kind, steps, seconds, Fraction(excess.risk(setting, excess.best_rate(setting))))


CODES = 100  # values: a first group of a number with more is split
_FINER = (1, 2, 5, 10, 20, 50)  # thousandths … of the first group


def look_for_model(schema: Schema, target: str, features: Sequence[str]) -> JsonObject:
    """The parameters, without ε, of the first look for a model of yes or no.

    It counts the cells of every two columns, most exactly against the target: a noisy table of two columns is cut to
    what stands out of its noise (`released.shapes`), one against the target is all that is known about it. A weight of
    30 was best or within the error of the best for 3,000 and 30,000 people at ε 0.3, 1 and 3
    (`python -m bench.models weights`). Only for yes and no: a number to predict would be counted in groups, and their
    noise adds up; steps toward the best line (`train_linear`) come closer (`python -m bench.models numbers`)."""
    if not features:
        raise AllowanceError("train.features")
    if len(features) >= MOST_COLUMNS:
        raise AllowanceError("overview.columns", most=MOST_COLUMNS)
    columns = [*(ref_json(bins(name, schema)) for name in features), target]
    return {"columns": columns, "against": EVERY_PAIR, "weights": {target: FOR_MODEL}, "spread": EVEN}


def bins(name: str, schema: Schema) -> Ref:
    """The groups of a column, as in a first look. For amounts from 0 up, where small values are common, the first group
    is split: 0 by itself, then at 1, 2 and 5 times powers of ten over three of these powers."""
    usual, column = readable(name, schema), schema[name]
    if not isinstance(column, Number) or not isinstance(usual, Grouped) or len(usual.starts) < 2:
        return usual
    if column.lower != 0 or usual.starts[1] < CODES:
        return usual
    first = Fraction(column.value(usual.starts[1]))
    finer = {Fraction(column.step)}
    for power in (1, 10):
        finer |= {first * times * power / 1000 for times in _FINER if times * power < 1000}
    edges = [edge for edge in sorted(finer) if 0 < edge < first and (edge / column.step).denominator == 1]
    given: list[Json] = [text_of(edge) for edge in edges]
    given += [column.text(start) for start in usual.starts[1:]]
    return read_group({"column": name, "edges": given}, schema)


def reach_of_cells(query: Overview, target: str) -> float:
    """How far noise moves any count against the target, all at once except with probability β, in rows."""
    goal = query.names.index(target)
    return max(query.reach((min(at, goal), max(at, goal))) for at in range(len(query.axes)) if at != goal)


def reach_of_effect(query: Overview, target: str, rows: int) -> float:
    """About how far noise moves the effect of a value with this many rows on the chance of a yes, all values at once.
    This is the band in `released.shapes` for independent columns."""
    goal = query.names.index(target)
    listed = query.axes[goal].size
    noise = max(float(query.noise_of[(min(at, goal), max(at, goal))]) for at in range(len(query.axes)) if at != goal)
    cells = sum(axis.size for at, axis in enumerate(query.axes) if at != goal)
    return math.sqrt(2 * noise * (1 - 1 / listed) * math.log(2 * cells / float(query.beta))) / max(rows, 1)
