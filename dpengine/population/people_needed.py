"""How many people a number of questions needs: the bounds of `validity.py` inverted, at the noise that suits the
population best.

With less noise an analyst overfits to the table, with more noise the answers get worse; in between the answers are
closest to the population. That noise may cost more than a privacy budget allows; under a budget, use `validity.stated`
with the budget's noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dpengine.core.amounts import BETA
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import up
from dpengine.core.remembered import largest
from dpengine.messages import say
from dpengine.messages.numbers import local
from dpengine.population.noise_for_k import GAUSSIAN, MOST_ANSWERS, MOST_PEOPLE, Calibration, check
from dpengine.population.validity import Width, exactly, golden, information, split


@lru_cache(maxsize=256)
def planned(
    people: int, answers: int, beta: Fraction = BETA, bound: Callable[..., Width | None] = information, steps: int = 1
) -> Width:
    """The narrowest width that `bound` gives, over all amounts of Gaussian noise."""
    check(people, answers, beta, steps)

    def at(ln_variance: float) -> Width:
        variance = exactly(math.exp(ln_variance))
        width = bound(Calibration(GAUSSIAN, people, answers, steps, variance, beta), beta)
        assert width is not None  # every bound covers Gaussian noise
        return width

    middle = math.log(steps**2 * people * math.sqrt(answers))  # where noise and overfitting are about equal
    return at(golden(lambda x: float(at(x).terms["uncut"]), middle - 9, middle + 9, 36))


def best(people: int, answers: int, beta: Fraction = BETA, yes_no: bool = False) -> Width:
    """The bound for private answers or the bound for splitting the people, whichever is narrower."""
    return min(planned(people, answers, beta), split(people, answers, beta, yes_no), key=lambda bound: bound.width)


def least_people(answers: int, width: Fraction, beta: Fraction = BETA, yes_no: bool = False) -> int | None:
    """How many people this many questions need for answers of this width; None if unrealistically many."""
    if not 0 < width < 1:
        raise AllowanceError("validity.width")
    check(1, answers, beta)
    short = largest(lambda n: n == 0 or best(n, answers, beta, yes_no).width > width, 0, MOST_PEOPLE)
    return short + 1 if short < MOST_PEOPLE else None


def crossing(people: int, beta: Fraction = BETA, yes_no: bool = False) -> int:
    """The number of questions up to which splitting the people is narrower than private answers."""
    check(people, 1, beta)

    def splitting(answers: int) -> bool:
        return answers == 0 or split(people, answers, beta, yes_no).width < planned(people, answers, beta).width

    return largest(splitting, 0, min(people, MOST_ANSWERS))


def comparison(people: int, answers: int, beta: Fraction = BETA, yes_no: bool = False) -> str:
    """One line of text: whether private answers or splitting is narrower at these numbers, and at how many questions
    that changes."""
    private, parts = planned(people, answers, beta).width, split(people, answers, beta, yes_no).width
    code = "validity.split_wins" if parts < private else "validity.private_wins"
    sizes = {"people": people, "answers": answers, "crossing": crossing(people, beta, yes_no)}
    return say(code, **sizes, private=points_above(private), split=points_above(parts))


def points_above(width: Fraction) -> str:
    """A width in percentage points, rounded up to a tenth."""
    return local(f"{float(up(100 * width, 10)):.1f}")
