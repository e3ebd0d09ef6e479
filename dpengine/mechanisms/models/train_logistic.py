"""Logistic regression: predict yes or no from other columns.

Loss of a row: ln(1 + e^(−±w·x)), whose residual σ(w·x) − y is between −1 and 1: G = 1 clips nothing.
Guarantee, noise and proof: of_gradients.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.models.of_gradients import SHARED, OfGradients
from dpengine.mechanisms.promises import Goal
from dpengine.mechanisms.query import Fields
from dpengine.mechanisms.telling import NOISE
from dpengine.mechanisms.trial import ONE_STEP, Example, Trial
from dpengine.messages import say
from dpengine.statistics.features import Layout


@dataclass(frozen=True, kw_only=True)
class TrainLogistic(OfGradients):
    card: ClassVar[Card] = Card(
        key="train_logistic",
        asked_on=("train",),
        order=710,
        version=1,
        answer="model",
        states=(NOISE,),
        caveats=("noise", "bounds"),
        parameters=(
            Parameter("target", "column.target.category", required=True),
            Parameter("positive", "labels"),
            Parameter("negative", "labels"),
            Parameter("features", "columns.features", required=True),
            *SHARED,
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "from a number": {"target": "c", "features": ["x"], **ONE_STEP},
            "from days": {"target": "t", "features": ["b"], "calibration": "l2_laplace", **ONE_STEP},
            "weight by weight": {"target": "c", "features": ["z"], "calibration": "coordinate", **ONE_STEP},
        },
        example=Example(
            {"target": "member", "features": ["visits"], "calibration": "coordinate", **ONE_STEP, "lattice": 4},
            instead="near",
        ),
        covered="test_intervals_hold_the_model_without_noise",
        large={"target": "c", "features": ["x"]},
    )
    smooth: ClassVar[Fraction] = Fraction(1, 4)
    usual_clip: ClassVar[Fraction] = Fraction(1)
    usual_reach: ClassVar[int] = 4
    blank: ClassVar[Fraction] = Fraction(7, 10)  # above ln 2

    @property
    def goal(self) -> Goal:
        return Goal(self.target, None, self.blank)

    positive: tuple[str, ...]
    negative: tuple[str, ...]

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        fields = super().read(facts, given)
        goal = facts.schema.category(fields["target"])
        if len(goal.values) < 2:
            raise AllowanceError("train.target_one", column=fields["target"])
        positive = _labels(goal, given.get("positive"))
        if not positive:
            positive = ("yes",) if "yes" in goal.values else goal.values[:1]
        negative = _labels(goal, given.get("negative"))
        if not negative:
            negative = tuple(value for value in goal.values if value not in positive)
        if not negative or set(positive) & set(negative):
            raise AllowanceError("train.sides")
        return fields | {"positive": positive, "negative": negative}

    def own_json(self) -> JsonObject:
        return super().own_json() | {"positive": list(self.positive), "negative": list(self.negative)}

    def sentence(self) -> str:
        words = {"target": self.target, "positive": list(self.positive), "columns": list(self.features)}
        return say("sentence.train_logistic", **words)

    @property
    def nominal(self) -> bool:
        """Also where a row may be on neither side: such rows are left out, and their number is private."""
        return super().nominal or len({*self.layout.yes, *self.layout.no}) < self.layout.goal.size

    @cached_property
    def layout(self) -> Layout:
        goal = self.facts.schema.category(self.target)
        yes, no = (tuple(goal.code(label) for label in side) for side in (self.positive, self.negative))
        return Layout(self.features, self._columns, self.target, goal, yes, no)


def _labels(goal: Category, given: Json) -> tuple[str, ...]:
    """Labels on one side, as they are declared; refused where one is not."""
    if given in (None, ""):
        return ()
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, (list, tuple)) or not all(isinstance(label, str) for label in given):
        raise AllowanceError("train.sides")
    try:
        codes = sorted({goal.code(label) for label in given})
    except KeyError:
        raise AllowanceError("train.sides") from None
    return tuple(goal.labels[code] for code in codes)
