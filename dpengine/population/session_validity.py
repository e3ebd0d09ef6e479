"""How far a session's answers may lie from the population its people were drawn from (validity.py, for a session).

A session's questions are shares and averages; on [0, 1] each is a multiple of 1/s with noise of s/ε₀ (Laplace) or
variance (s/ε₀)² (Gaussian), so the bounds of validity.py hold with s = 1: what one answer tells of a person is the same
for every s. Only α differs: on a finer grid it is at most 1½ people larger, and two are added.

Under add/remove the noise of an average is half as wide, because joining moves a centred sum by half its range;
replacing a person is two steps, (2ε, (1 + e^ε)·δ). So the bounds are taken at half the noise, and α is added once more.
Sums are divided by the declared size, so the bounds are for a table of that size.

“Which is largest” adds no noise to a number. It is ε₀-DP, which is all that Jung et al. need; the other bounds are not
claimed for a session in which it is asked.

Where answers are rounded (`AdaptiveSession.rounded`), the *description* bound holds for every question before which
nothing else was released from these rows (`others`), for public n and replace-one; “which is largest” has at most
MOST_OPTIONS outcomes and being lost.

All of it assumes that people were drawn independently and that this session is all that is seen of the table.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.session.asks import MOST_OPTIONS
from dpengine.population.noise_for_k import GAUSSIAN, LAPLACE, Calibration
from dpengine.population.validity import Width, cells_for, description, split, widths

ONLY_PRIVATE = ("jung",)  # bounds that need nothing but (ε, δ)-DP


def noise_of(query: AdaptiveSession) -> Calibration:
    """The noise of one answer, in people; half of it where averages have half the noise."""
    scale = 1 / query.each / (1 if query.facts.relation == "replace" else 2)
    kind = GAUSSIAN if query.calibration == "gaussian" else LAPLACE
    return Calibration(kind, query.people, query.questions, 1, scale**2 if kind == GAUSSIAN else scale, query.beta)


def roundable(query: AdaptiveSession) -> bool:
    """May rounding make the answers say more about the population? Of a public number of people only."""
    return query.facts.relation == "replace" and query.facts.people is not None


def rounded(query: AdaptiveSession) -> AdaptiveSession:
    """The same session with answers rounded to the number of values that suits the population best."""
    return replace(query, rounded=cells_for(noise_of(query), query.beta)) if roundable(query) else query


def outward(
    query: AdaptiveSession, choice: bool = False, others: bool = False, question: int | None = None
) -> tuple[Width, ...]:
    """Every bound on this session's answers, the narrowest claimed one first, and last what splitting would give.
    `choice`: “which is largest” is asked too. `others`: something else was released from these rows before. A bound
    that depends on the question's number is told for `question`, or for the last."""
    spare = Fraction(2, query.people) + (0 if query.facts.relation == "replace" else query.alpha)
    bounds = _widths(noise_of(query), query.beta)
    widened = [replace(bound, width=min(bound.width + spare + query.half_cell, Fraction(1))) for bound in bounds]
    if choice:
        widened = [bound if bound.theorem in ONLY_PRIVATE else replace(bound, claimed=False) for bound in widened]
    if query.rounded is not None and roundable(query) and not others:
        outcomes = MOST_OPTIONS + 1 if choice else None
        told = description(noise_of(query), query.rounded, query.beta, question, outcomes)
        widened.append(replace(told, width=min(told.width + Fraction(2, query.people), Fraction(1))))
    ordered = sorted(widened, key=lambda bound: (not bound.claimed, bound.width))
    return (*ordered, split(query.people, query.questions, query.beta))


@lru_cache(maxsize=64)
def _widths(noise: Calibration, beta: Fraction) -> tuple[Width, ...]:
    return widths(noise, beta)
