"""The least ε that keeps a promise."""

from __future__ import annotations

from fractions import Fraction

from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import first_true
from dpengine.core.remembered import remembered
from dpengine.mechanisms.query import AnyQuery


@remembered(2048)
def least_epsilon(query: AnyQuery, wish: Fraction, anew: bool = False, near: Fraction | None = None) -> Fraction | None:
    """The least ε, rounded to millionths, whose promised error is at most `wish`; None if even the largest ε is too
    small. With `anew`, the form's settings are chosen again at each ε. `near`, a first guess, saves steps."""
    grain = 10**6
    at = query.asked_at if anew else query.at
    low, high = int(LEAST_EPSILON * grain), int(MOST_EPSILON * grain)

    def amount(epsilon: int) -> Fraction | None:
        try:
            return at(Fraction(epsilon, grain)).promise().amount
        except AllowanceError:  # ε is too small for this question
            return None

    def enough(epsilon: int) -> bool:
        found = amount(epsilon)
        return found is not None and found <= wish

    if near is None:
        if not enough(high):
            return None
        return Fraction(first_true(enough, low, high), grain)
    guess = min(max(int(near * grain), low), high)
    if wish and (found := amount(guess)):
        guess = min(max(int(guess * found / wish), low), high)  # most errors fall like 1/ε
    step = guess // 1000 + 1
    if enough(guess):
        high = guess
        while high > low and enough(below := max(guess - step, low)):
            high, step = below, 4 * step
        low = low if high == low else below + 1
    else:
        while not enough(above := min(guess + step, high)):
            if above == high:
                return None
            guess, step = above, 4 * step
        low, high = guess + 1, above
    return Fraction(first_true(enough, low, high), grain)
