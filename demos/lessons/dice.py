"""The exponential mechanism as a loaded die: private choice of the middle of forty made-up ways to work.

Every public candidate is a face. For a face with L people below, E at and G above it the capped score is
q = −max(0, n/2 − min(L+E, E+G)): how many people it lies from the middle. Replacing one person moves every score by one
at most, Δ = 1, so rolling a face with chance ∝ exp(ε·q/(2Δ)) is ε-DP (McSherry and Talwar 2007, Thm 6), and with chance
≥ 1−β the face is at most (2Δ/ε)·ln(|R|/β) from the best (Thm 7).

Without the cap, q = −|(L+E) − (E+G)| has Δ = 2, and where values repeat no face may score 0.

The engine's median (`mechanisms/choices/quantile.py`) lets the score go on above 0, which only helps the right faces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpengine.core.amounts import BETA
from dpengine.noise import laws
from dpengine.noise.tails import choice_gap

FACES = tuple(range(0, 65, 5))  # minutes to work, the public list
PEOPLE = (0, 1, 3, 5, 8, 7, 6, 4, 3, 2, 1, 0, 0)  # how many made-up people take that long
REPEATED = (30, 10)  # three in four people at one face, one in four at the next: why the score is capped
EPSILONS = tuple(map(Fraction, ("0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5")))
EACH_TIME, MOST_ROLLS = 100, 1000

Score = Callable[[Sequence[int], int], int]


@dataclass(frozen=True)
class Settings:
    epsilon: Fraction = Fraction(1)
    rolls: int = 0
    seed: int = 1


@dataclass(frozen=True)
class Figures:
    chances: tuple[float, ...]  # the width of each face
    counts: tuple[int, ...]  # how often each came up
    last: float | None  # where on the strip of faces the last roll landed, in [0, 1)
    gaps: tuple[int, ...]  # people between a face and the middle
    promised: int  # of the gap, on any table of any size, 95 times in 100
    within: float  # the true chance of a face within the promise
    worst: float  # the largest factor by which replacing one of these people multiplies a face's chance
    most: float  # e^ε, the largest factor on any table

    @property
    def best(self) -> int:
        return self.gaps.index(0)


def figures(settings: Settings) -> Figures:
    rate = settings.epsilon / 2
    law = law_of(PEOPLE, rate)
    chances = tuple(float(chance) for chance in law)
    points = np.random.default_rng(settings.seed).random(settings.rolls)
    edges = np.cumsum(chances)
    fell = np.minimum(np.searchsorted(edges, points, side="right"), len(FACES) - 1)
    counts = tuple(np.bincount(fell, minlength=len(FACES)).tolist())
    gaps = tuple(-capped(PEOPLE, face) for face in range(len(FACES)))
    promised = choice_gap(rate, len(FACES), BETA)
    within = sum(chance for chance, gap in zip(chances, gaps, strict=True) if gap <= promised)
    last = float(points[-1]) if settings.rolls else None
    worst = worst_ratio(PEOPLE, rate)
    return Figures(chances, counts, last, gaps, promised, within, worst, math.exp(settings.epsilon))


def capped(people: Sequence[int], face: int) -> int:
    """The score of a face as the median, capped at 0. It is an integer, as all tables here have an even number of
    people."""
    half = sum(people) // 2
    return -max(0, half - min(sum(people[: face + 1]), sum(people[face:])))


def plain(people: Sequence[int], face: int) -> int:
    return -abs(sum(people[: face + 1]) - sum(people[face:]))


def law_of(people: Sequence[int], rate: Fraction, score: Score = capped) -> tuple[Decimal, ...]:
    """The exact chance of each face, proportional to exp(rate·score)."""
    gaps = {face: -score(people, face) for face in range(len(people))}
    return tuple(laws.weighted(gaps, rate).chances.values())


def neighbours(people: Sequence[int]) -> list[tuple[int, ...]]:
    """Every table with one person replaced."""
    tables = []
    for old, there in enumerate(people):
        for new in range(len(people)):
            if there and new != old:
                tables.append(tuple(n - (at == old) + (at == new) for at, n in enumerate(people)))
    return tables


def moves(people: Sequence[int], score: Score) -> int:
    """The largest change of any face's score when one of these people is replaced."""
    faces = range(len(people))
    return max(abs(score(people, face) - score(other, face)) for other in neighbours(people) for face in faces)


def worst_ratio(people: Sequence[int], rate: Fraction, score: Score = capped) -> float:
    """The largest factor between a face's chances when one of these people is replaced."""
    here = law_of(people, rate, score)
    others = (law_of(other, rate, score) for other in neighbours(people))
    ratios = (max(p / q, q / p) for other in others for p, q in zip(here, other, strict=True))
    return float(max(ratios))
