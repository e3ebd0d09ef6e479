"""A support vector machine: separate yes from no by a line with a margin.

Loss of a row: max(0, 1 − y·w·x), y = ±1 (the hinge loss): 0 for a row on its own side beyond the margin, and growing
with the distance for others. It is convex; −y·x where y·w·x < 1, and 0 elsewhere, is a subgradient with the residual
−1, 0 or 1: G = 1 clips nothing, and a smaller G trains on G times the loss. A row is on the wrong side only if its loss
is at least 1, so the share of such rows is at most the average loss.

The loss has a corner, so only those bounds of excess.py apply that need no second derivative. The average over all
steps has the least of them. There is no interval. Guarantee, noise and proof: of_gradients.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpengine.mechanisms.card import Card
from dpengine.mechanisms.models.excess import AVERAGE
from dpengine.mechanisms.models.of_gradients import OF_SIDES, OfSides, card
from dpengine.mechanisms.trial import ONE_STEP, YES_OR_NO, Trial


@dataclass(frozen=True, kw_only=True)
class TrainHinge(OfSides):
    card: ClassVar[Card] = card("train_hinge", "score", 715, OF_SIDES)
    trial: ClassVar[Trial] = Trial(
        cases={
            "from a number": {"target": "c", "features": ["x"], **ONE_STEP},
            "from days, in a box": {
                "target": "t",
                "features": ["b"],
                "calibration": "l2_laplace",
                "region": "box",
                **ONE_STEP,
            },
            "weight by weight": {"target": "c", "features": ["z"], "calibration": "coordinate", **ONE_STEP},
        },
        example=YES_OR_NO,
        covered="test_the_promise_is_kept_on_average",
        large={"target": "c", "features": ["x"]},
    )
    sharp: ClassVar[bool] = True
    smooth: ClassVar[Fraction | None] = None
    usual_clip: ClassVar[Fraction] = Fraction(1)
    usual_reach: ClassVar[int] = 2
    usual_iterate: ClassVar[str] = AVERAGE
    blank: ClassVar[Fraction] = Fraction(1)
    toss: ClassVar[float] = 1.0
