"""Linear regression: predict a number from other columns.

Loss of a row: half the squared error of w·x against the target, both on [−1, 1]; beyond a residual of G it grows
linearly (Huber's loss), which is what clipping the residual means. G = 1 + R loses nothing on the ball of radius R.
Noise grows with G, and most residuals are far below 1: so the default G is at most ½ while noise limits the model, by
the public n·ε, and ¾ beyond, where what clipping does to a lopsided target is seen.
Guarantee, noise and proof: of_gradients.py; while noise limits it, the usual training starts at the average:
of_averages.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dpengine.core.types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.of_averages import OfAverages
from dpengine.mechanisms.models.of_gradients import SHARED, USUAL_STEPS, card
from dpengine.mechanisms.promises import Goal
from dpengine.mechanisms.query import Fields
from dpengine.mechanisms.trial import ONE_STEP, Example, Trial
from dpengine.statistics.features import Layout

CLEAR = 3  # noise does not limit the model if even more than this many times the default steps would help


@dataclass(frozen=True, kw_only=True)
class TrainLinear(OfAverages):
    card: ClassVar[Card] = card(
        "train_linear",
        "noise",
        700,
        (
            Parameter("target", "column.target.number", required=True),
            Parameter("features", "columns.features", required=True),
            *SHARED,
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "from a list": {"target": "z", "features": ["c"], **ONE_STEP},
            "in a box": {"target": "z", "features": ["x"], "calibration": "l2_laplace", "region": "box", **ONE_STEP},
            "weight by weight": {"target": "x", "features": ["c"], "calibration": "coordinate", **ONE_STEP},
        },
        example=Example(
            {"target": "visits", "features": ["member"], "calibration": "coordinate", "steps": 1, "lattice": 4}
        ),
        covered="test_intervals_hold_the_model_without_noise",
        large={"target": "z", "features": ["x"]},
    )
    smooth: ClassVar[Fraction | None] = Fraction(1)
    usual_clip: ClassVar[Fraction] = Fraction(3, 4)
    noisy_clip: ClassVar[Fraction] = Fraction(1, 2)
    usual_reach: ClassVar[int] = 1
    blank: ClassVar[Fraction] = Fraction(1, 2)

    @property
    def goal(self) -> Goal:
        return Goal(self.target, self.facts.schema[self.target].diameter, self.blank)

    def _usual_clip(self) -> Fraction:
        return self.noisy_clip if self.noise_limits else self.usual_clip

    @property
    def noise_limits(self) -> bool:
        """Does noise limit the model? Not if far more steps than we take would still improve it."""
        radius = self.reach if self.radius else float(self._usual_radius())
        ball = replace(self.setting, radius=radius, clip=float(self.usual_clip), part=1.0)
        return excess.enough_steps(ball) <= CLEAR * USUAL_STEPS

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        fields = super().read(facts, given)
        facts.schema.number(fields["target"])
        return fields

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.features, self._columns, self.target, self.facts.schema.number(self.target))
