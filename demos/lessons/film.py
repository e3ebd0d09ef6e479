"""The popular film: everybody holds a set of films, and one film is named.

The score of a film is how many people like it. Replacing one person, with sets of any size, moves every score by one
at most: Δ = 1, so the exponential mechanism's chances depend on how far the others lie behind and not on the size of
the sets. To publish *all* the bars is another matter: a person with at most k films moves up to 2k of them (or all
there are), so each bar needs noise of scale min(2k, films)/ε.

The made-up people are dealt so that the favourite's lead is the same for every k: 400 people, 20 films; the other films
lie 8, 9, … people behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpengine.core.amounts import BETA
from dpengine.noise import laws
from dpengine.noise.tails import choice_gap, laplace_reach

FILMS = (
    "The Paper Lighthouse",
    "Seven Quiet Rivers",
    "Midnight Orchard",
    "A Map of Rain",
    "The Clockmaker's Daughter",
    "Salt and Thunder",
    "North of Nowhere",
    "The Last Ferry",
    "Velvet Comet",
    "Hollow Summer",
    "Brass Horizon",
    "The Borrowed Moon",
    "Letters to Vienna",
    "Copper Wolves",
    "The Glass Harvest",
    "Tomorrow's Ashes",
    "Kite Season",
    "The Silent Cartographer",
    "Amber Street",
    "Winter Parade",
)
PEOPLE = 400
GAPS = (0, *range(8, 25), 24, 24)  # behind the favourite; their sum is a multiple of the films, so that bars are whole
LEAST_SIZE, MOST_SIZE = 1, 18
EPSILON = Fraction(1)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(len(FILMS))  # exact for polynomials of twice that degree


@dataclass(frozen=True)
class Settings:
    size: int = 3


@dataclass(frozen=True)
class Figures:
    counts: tuple[int, ...]  # how many people like each film
    chosen: float  # the chance that the choice names the favourite
    behind: int  # the promise for a choice on any table, 95 times in 100
    moved: int  # bars that one person can move
    reach: int  # how far noise moves any bar, 95 times in 100
    bars: float  # the chance that the favourite's noisy bar is the highest


def figures(settings: Settings) -> Figures:
    rate = EPSILON / 2
    law = laws.weighted(dict(enumerate(GAPS)), rate)
    moved = changed(settings.size)
    scale = moved / EPSILON
    return Figures(
        counts(settings.size),
        float(law.chances[0]),
        choice_gap(rate, len(FILMS), BETA),
        moved,
        laplace_reach(scale, BETA / len(FILMS)),
        highest(scale),
    )


def counts(size: int) -> tuple[int, ...]:
    """Bars with the fixed gaps, with `size` films per person."""
    top = (PEOPLE * size + sum(GAPS)) // len(FILMS)
    return tuple(top - gap for gap in GAPS)


def deal(bars: tuple[int, ...], people: int) -> list[set[int]]:
    """Sets of equal size with these bars: each film's fans are dealt to the people in turn."""
    held: list[set[int]] = [set() for _ in range(people)]
    place = 0
    for film, fans in enumerate(bars):
        for _ in range(fans):
            held[place % people].add(film)
            place += 1
    return held


def changed(size: int, films: int = len(FILMS)) -> int:
    """On how many bars two sets of at most `size` films can differ."""
    return min(2 * size, films)


def highest(scale: Fraction, gaps: tuple[int, ...] = GAPS) -> float:
    """The chance that the first noisy bar is the highest, when the other bars lie `gaps` below; equal bars are ordered
    at random. This is Σ_x Pr[Z=x]·∫₀¹ Π_j (Pr[Z < x+gap_j] + u·Pr[Z = x+gap_j]) du for noise Z. Gauss's rule gives the
    integral exactly, for as many bars as there are films."""
    s = float(scale)
    reach = int(45 * s) + 2 + max(gaps) - min(gaps)  # the tail beyond is below e^-45
    xs = np.arange(-reach, reach + 1)
    at = np.tanh(1 / (2 * s)) * np.exp(-np.abs(xs) / s)
    below = np.cumsum(at) - at
    inside = np.ones((len(xs), len(_NODES)))
    for gap in gaps[1:]:
        place = np.clip(xs + gap + reach, 0, len(xs) - 1)
        inside *= below[place, None] + (_NODES + 1) / 2 * at[place, None]
    return float(at @ (inside @ (_WEIGHTS / 2)))
