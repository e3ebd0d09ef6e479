"""Where the weights of a training may lie, and the way back into it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpengine.statistics.features import Weights

BALL, BOX = REGIONS = ("ball", "box")
MARGINS = "margins"  # of_margins.py


def projected(there: Sequence[float], edge: int, region: str) -> Weights:
    """The nearest point of the ball or the box, on the lattice of weights; `edge` is its size there."""
    if region == BOX:
        return tuple(max(min(int(weight), edge), -edge) for weight in there)
    norm = math.hypot(*there)
    shrink = edge / norm if norm > edge else 1.0
    shrunk = tuple(int(weight * shrink) for weight in there)
    while sum(weight * weight for weight in shrunk) > edge * edge:  # beyond the edge by a float's error
        shrunk = tuple(weight - (weight > 0) + (weight < 0) for weight in shrunk)
    return shrunk
