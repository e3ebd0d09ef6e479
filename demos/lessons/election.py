"""An election: every row is one person's vote, and the winner is named in private (lecture 3's example).

The score of a candidate is the number of votes. One vote for another changes two scores by one each, so Δ = 1 for the
exponential mechanism: candidate i with chance ∝ exp(ε·votes/2). Lecture 6 names the winner another way, NoisyArgmax:
add Lap(2/(εn)) to every *share* of the votes, that is Lap(2/ε) to every number of votes, and name the highest. Given
the noise of the others, a candidate wins iff its own noise exceeds a threshold, which one vote moves by at most 2: so ε
too.
Permute-and-flip (McKenna and Sheldon 2020) is never farther behind than either.

A thousand made-up voters and five candidates, each `lead` votes behind the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpengine.core.amounts import BETA
from dpengine.noise import laws
from dpengine.noise.tails import choice_gap, flip_gap, laplace_reach

CANDIDATES = ("Ahlin", "Brod", "Cerar", "Dolenc", "Ermenc")
PEOPLE = 1_000
LEADS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 40)
EPSILONS = tuple(map(Fraction, ("0.05", "0.1", "0.2", "0.5", "1", "2")))
WAYS = ("exponential", "laplace", "flip")
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(len(CANDIDATES))


@dataclass(frozen=True)
class Settings:
    lead: int = 10
    epsilon: Fraction = Fraction(1, 5)


@dataclass(frozen=True)
class Figures:
    votes: tuple[int, ...]
    chances: dict[str, tuple[float, ...]]  # by way: how often each candidate is named
    behind: dict[str, int]  # by way: at most this many votes behind the winner, 95 times in 100


def votes(lead: int) -> tuple[int, ...]:
    top = PEOPLE // len(CANDIDATES) + 2 * lead
    return tuple(top - place * lead for place in range(len(CANDIDATES)))


def figures(settings: Settings) -> Figures:
    counted, epsilon = votes(settings.lead), settings.epsilon
    rate, many = epsilon / 2, len(CANDIDATES)
    behind = {
        "exponential": choice_gap(rate, many, BETA),
        "laplace": 2 * laplace_reach(2 / epsilon, BETA / many),
        "flip": flip_gap(rate, many, BETA),
    }
    return Figures(counted, {way: named(way, counted, epsilon) for way in WAYS}, behind)


def named(way: str, counted: tuple[int, ...], epsilon: Fraction) -> tuple[float, ...]:
    """How often each candidate is named, exactly up to float rounding."""
    if way == "laplace":
        return tuple(_highest(counted, place, 2 / float(epsilon)) for place in range(len(counted)))
    gaps = {place: max(counted) - many for place, many in enumerate(counted)}
    law = laws.flipped(gaps, epsilon / 2) if way == "flip" else laws.weighted(gaps, epsilon / 2)
    return tuple(float(law.chances[place]) for place in range(len(counted)))


def _highest(counted: tuple[int, ...], place: int, scale: float) -> float:
    """The chance that this one's votes plus noise are the highest, ties broken at random: Σ_x Pr[Z=x]·∫₀¹ Π_j (Pr[Z <
    x+gap_j] + u·Pr[Z = x+gap_j]) du over the others; Gauss's rule gives the integral exactly."""
    reach = int(45 * scale) + 2 + max(counted) - min(counted)
    xs = np.arange(-reach, reach + 1)
    at = np.tanh(1 / (2 * scale)) * np.exp(-np.abs(xs) / scale)
    below = np.cumsum(at) - at
    inside = np.ones((len(xs), len(_NODES)))
    for other, many in enumerate(counted):
        if other != place:
            moved = np.clip(xs + counted[place] - many + reach, 0, len(xs) - 1)
            inside *= below[moved, None] + (_NODES + 1) / 2 * at[moved, None]
    return float(at @ (inside @ (_WEIGHTS / 2)))
