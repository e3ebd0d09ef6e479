"""How far a session's answers may lie from the population its people were drawn from (validity.py, for a session).

A session's questions are shares and averages; on [0, 1] each is a multiple of 1/s with noise of s/ε₀ (Laplace) or
variance (s/ε₀)² (Gaussian), so the bounds of validity.py hold with s = 1: an answer reveals the same about a person
for every s. Only α differs: on a finer grid it is at most 1½ people larger, and two are added.

**Claims** (`claimable`) need replace-one, so that the number of people is public, and one row per person. Under
add/remove sums are divided by a declared size, and nothing is claimed. `outward` still computes what the bounds would
be for a table of that size from which nothing else was released. There the noise of an average is half as wide, because
joining moves a centred sum by half its range; replacing a person is two steps, (2ε, (1 + e^ε)·δ). So the bounds are
taken at half the noise, and α is added once more.

**The bound** is fixed when the session is reserved, by public facts and the ledger's sums: the narrowest one for the
last question (`outward`). If nothing was released about the people before, it may be any bound of validity.py; else
*history* (where answers are rounded) or *counted*. It has nine tenths of β. A tenth is kept for questions that it does
not cover: something else was released meanwhile, or “which is largest” was asked where the bound is for noisy sums
alone. They have *counted*, with everything released before the question (`claimed`). In *description* and *history* an
earlier “which is largest” counts as one of at most MOST_OPTIONS outcomes or being lost: a union bound over a tree with
as many branches as the question there has outcomes.

A claim as wide as USELESS or wider is none.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpengine.accountant.history import Past
from dpengine.accountant.loss import Repeated
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.session.asks import MOST_OPTIONS
from dpengine.population.noise_for_k import GAUSSIAN, LAPLACE, Calibration
from dpengine.population.validity import Width, cells_for, counted, split, widths
from dpengine.population.validity import rounded as rounded_width

ROUNDED = ("description", "history")  # bounds that rest on rounding
NOISY_SUMS = ("information", "rogers")  # bounds that need every answer to be a noisy sum
USELESS = Fraction(1, 4)
MAIN = Fraction(9, 10)  # of β, for the bound fixed at the reservation


def noise_of(query: AdaptiveSession) -> Calibration:
    """The noise of each answer of a session, in people; under add/remove half as large, as averages have half the
    noise."""
    scale = 1 / query.each / (1 if query.facts.relation == "replace" else 2)
    kind = GAUSSIAN if query.calibration == "gaussian" else LAPLACE
    return Calibration(kind, query.people, query.questions, 1, scale**2 if kind == GAUSSIAN else scale, query.beta)


def claimable(query: AdaptiveSession) -> bool:
    """Can anything be guaranteed about the population? True if the number of people is public and a person has one
    row."""
    return query.facts.people is not None and query.facts.unit.at_most == 1


def rounded(query: AdaptiveSession, past: Past = Past.NOTHING, reserve: Fraction = Fraction(0)) -> AdaptiveSession:
    """The same session with answers rounded to the number of values that suits the population best. After other
    releases its answers are rounded only if that gives a useful bound."""
    if not claimable(query):
        return query
    candidate = replace(query, rounded=cells_for(noise_of(query), query.beta))
    if past == Past.NOTHING:
        return candidate
    best = outward(candidate, past, reserve)[0]
    return candidate if best.theorem in ROUNDED and best.width < USELESS else query


def outward(
    query: AdaptiveSession, past: Past = Past.NOTHING, reserve: Fraction = Fraction(0), question: int | None = None
) -> tuple[Width, ...]:
    """Every bound on this session's answers, the narrowest guaranteed one first, and last that of splitting. `past`:
    earlier releases about these people; `reserve`: the δ that their budget holds for charges. A bound that depends on
    the question's number is given for `question`, or for the last question."""
    return _outward(query, past, reserve, question, 0)


def claimed(
    query: AdaptiveSession, past: Past, reserve: Fraction, question: int, choices: int = 0, others: Past | None = None
) -> Width | None:
    """How far one answer may lie from the population; None if nothing is guaranteed, or nothing useful. `choices`: how
    many earlier questions were “which is largest”. `others`: all releases but this session's, if some came after the
    session was reserved."""
    query = replace(query, ask=None)  # the whole session
    if not claimable(query):
        return None
    theorem = outward(query, past, reserve)[0].theorem
    if others is None and not (choices and theorem in NOISY_SUMS):
        bounds = _outward(query, past, reserve, question, choices)
        width = next(bound for bound in bounds if bound.theorem == theorem)
    else:
        seen = past if others is None else others
        if question > 1:
            seen = seen.plus(Repeated(noise_of(query).each, question - 1))
        width = _widened(query, counted(noise_of(query), seen, reserve, query.beta * (1 - MAIN), query.questions))
    return width if width.claimed and width.width < USELESS else None


@lru_cache(maxsize=512)
def _outward(
    query: AdaptiveSession, past: Past, reserve: Fraction, question: int | None, choices: int
) -> tuple[Width, ...]:
    noise, beta, fresh = noise_of(query), query.beta * MAIN, past == Past.NOTHING
    bounds = [replace(bound, claimed=bound.claimed and fresh) for bound in _widths(noise, beta)]
    if fresh or claimable(query):
        bounds.append(counted(noise, past.plus(Repeated(noise.each, noise.answers)), reserve, beta))
    bounds = [_widened(query, bound) for bound in bounds]
    if query.rounded is not None and claimable(query):
        last = query.questions if question is None else question
        known = (last - 1 - choices) * math.log(query.rounded + 1)
        known += choices * math.log(max(query.rounded + 1, MOST_OPTIONS + 1))
        own = rounded_width(noise, query.rounded, beta, known, past, reserve)
        bounds.append(replace(own, width=min(own.width + Fraction(2, query.people), Fraction(1))))
    ordered = sorted(bounds, key=lambda bound: (not bound.claimed, bound.width))
    return (*ordered, replace(split(query.people, query.questions, query.beta), claimed=fresh))


def _widened(query: AdaptiveSession, bound: Width) -> Width:
    spare = Fraction(2, query.people) + (0 if query.facts.relation == "replace" else query.alpha)
    return replace(bound, width=min(bound.width + spare + query.half_cell, Fraction(1)))


@lru_cache(maxsize=64)
def _widths(noise: Calibration, beta: Fraction) -> tuple[Width, ...]:
    return widths(noise, beta)
