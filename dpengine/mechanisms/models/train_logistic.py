"""Logistic regression: predict yes or no from other columns.

Loss of a row: ln(1 + e^(−±w·x)), whose residual σ(w·x) − y is between −1 and 1: G = 1 clips nothing.
Guarantee, noise and proof: of_gradients.py; the usual training, which follows the shape of the data: of_margins.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpengine.mechanisms.card import Card
from dpengine.mechanisms.models.of_gradients import OF_SIDES, card
from dpengine.mechanisms.models.of_margins import OfMargins
from dpengine.mechanisms.trial import ONE_STEP, YES_OR_NO, Trial


@dataclass(frozen=True, kw_only=True)
class TrainLogistic(OfMargins):
    card: ClassVar[Card] = card("train_logistic", "noise", 710, OF_SIDES)
    trial: ClassVar[Trial] = Trial(
        cases={
            "from a number": {"target": "c", "features": ["x"], **ONE_STEP},
            "from days": {"target": "t", "features": ["b"], "calibration": "l2_laplace", **ONE_STEP},
            "along the data": {"target": "c", "features": ["x"], "region": "margins", **ONE_STEP, "lattice": 6},
            "weight by weight": {"target": "c", "features": ["z"], "calibration": "coordinate", **ONE_STEP},
        },
        example=YES_OR_NO,
        covered="test_intervals_hold_the_model_without_noise",
        large={"target": "c", "features": ["x"]},
    )
    smooth: ClassVar[Fraction | None] = Fraction(1, 4)
    usual_clip: ClassVar[Fraction] = Fraction(1)
    usual_reach: ClassVar[int] = 4
    blank: ClassVar[Fraction] = Fraction(7, 10)  # above ln 2
