"""The least ε that keeps a promise."""

from __future__ import annotations

from fractions import Fraction

from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import first_true
from dpengine.core.remembered import remembered
from dpengine.mechanisms.query import AnyQuery


@remembered(2048)
def least_epsilon(
    query: AnyQuery,
    wish: Fraction,
    most: Fraction = MOST_EPSILON,
    anew: bool = False,
    near: Fraction | None = None,
) -> Fraction | None:
    """The least ε, in millionths, that promises at most `wish`; None if even `most` does not. With `anew`, the form's
    own choices are made again at each ε. `near` is a guess, which spares steps."""
    grain = 10**6
    at = query.asked_at if anew else query.at
    low, high = int(LEAST_EPSILON * grain), int(most * grain)

    def enough(epsilon: int) -> bool:
        try:
            return at(Fraction(epsilon, grain)).promise().amount <= wish
        except AllowanceError:  # ε is too small for this question
            return False

    guess = int((near or 0) * grain)
    below, above = max(guess * 999 // 1000, low), min(guess * 1001 // 1000 + 1, high)
    if near is not None and enough(above) and not enough(below):
        low, high = below + 1, above
    elif not enough(high):
        return None
    return Fraction(first_true(enough, low, high), grain)
