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

from demos.lessons.film import highest
from dpengine.core.amounts import BETA
from dpengine.noise import laws
from dpengine.noise.tails import choice_gap, flip_gap, laplace_reach

CANDIDATES = ("Ahlin", "Brod", "Cerar", "Dolenc", "Ermenc")
PEOPLE = 1_000
LEADS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 40)
EPSILONS = tuple(map(Fraction, ("0.05", "0.1", "0.2", "0.5", "1", "2")))
WAYS = ("exponential", "laplace", "flip")


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
        others = [(*counted[:place], *counted[place + 1 :]) for place in range(len(counted))]
        behind = [(0, *(own - other for other in rest)) for own, rest in zip(counted, others, strict=True)]
        return tuple(highest(2 / epsilon, gaps) for gaps in behind)
    gaps = {place: max(counted) - many for place, many in enumerate(counted)}
    law = laws.flipped(gaps, epsilon / 2) if way == "flip" else laws.weighted(gaps, epsilon / 2)
    return tuple(float(law.chances[place]) for place in range(len(counted)))
