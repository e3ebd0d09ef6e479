"""How far a session's answers may lie from the population its people were drawn from (validity.py, for a session).

A session's questions are shares and averages; on [0, 1] each is a multiple of 1/s with noise of s/ε₀ (Laplace) or
variance (s/ε₀)² (Gaussian), so the bounds of validity.py hold with s = 1: what one answer tells of a person is the same
for every s. Only α differs: on a finer grid it is at most 1½ people larger, and two are added.

Under add/remove the noise of an average is half as wide, because joining moves a centred sum by half its range;
replacing a person is two steps, (2ε, (1 + e^ε)·δ). So the bounds are taken at half the noise, and α is added once more.
Sums are divided by the declared size, so the bounds are for a table of that size.

“Which is largest” adds no noise to a number. It is ε₀-DP, which is all that Jung et al. need; the other bounds are not
claimed for a session in which it is asked.

All of it assumes that people were drawn independently and that this session is all that is seen of the table.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.population.noise_for_k import GAUSSIAN, LAPLACE, Calibration
from dpengine.population.validity import Width, split, widths

ONLY_PRIVATE = ("jung",)  # bounds that need nothing but (ε, δ)-DP


def noise_of(query: AdaptiveSession) -> Calibration:
    """The noise of one answer, in people; half of it where averages have half the noise."""
    scale = 1 / query.each / (1 if query.facts.relation == "replace" else 2)
    kind = GAUSSIAN if query.calibration == "gaussian" else LAPLACE
    return Calibration(kind, query.people, query.questions, 1, scale**2 if kind == GAUSSIAN else scale, query.beta)


def outward(query: AdaptiveSession, choice: bool = False) -> tuple[Width, ...]:
    """Every bound on this session's answers, the narrowest claimed one first, and last what splitting would give.
    `choice`: “which is largest” is asked too."""
    spare = Fraction(2, query.people) + (0 if query.facts.relation == "replace" else query.alpha)
    bounds = _widths(noise_of(query), query.beta)
    widened = [replace(bound, width=min(bound.width + spare, Fraction(1))) for bound in bounds]
    if choice:
        widened = [bound if bound.theorem in ONLY_PRIVATE else replace(bound, claimed=False) for bound in widened]
    ordered = sorted(widened, key=lambda bound: (not bound.claimed, bound.width))
    return (*ordered, split(query.people, query.questions, query.beta))


@lru_cache(maxsize=64)
def _widths(noise: Calibration, beta: Fraction) -> tuple[Width, ...]:
    return widths(noise, beta)
