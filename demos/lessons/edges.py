"""Why a range must not come from the data: the bars are noisy, the axis is not.

Two neighbouring tables of made-up monthly incomes, the same but for one person: the richest in the first, somebody
ordinary in the second. Both are drawn as ten noisy bars (discrete Laplace of scale 2/ε: replacing a person moves two
bars by one).

*Range from the data.* The bars stand between the least and the greatest income of the table. Whenever these differ, no
picture can come from both tables: seeing the axis one knows which it was, at any ε. That is (ε, δ)-DP for δ = 1 alone.

*Declared range.* Whoever is richer is counted in the last bar. The axis is the same, and no picture is more than e^ε
times as likely from one table as from the other.

*Rescaling* the distances is the same mistake in other words. Noise of scale diam/ε, with distances in thousands, is a
thousand times smaller, and the printed ε is the same; two people whose incomes differ by the whole range are then
distinguishable by up to e^(1000·ε).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

OTHERS = (
    1300,
    1420,
    1480,
    1550,
    1610,
    1640,
    1690,
    1740,
    1780,
    1800,
    1850,
    1890,
    1930,
    1960,
    2010,
    2040,
    2080,
    2120,
    2170,
    2210,
    2260,
    2300,
    2340,
    2400,
    2450,
    2520,
    2580,
    2650,
    2730,
    2800,
    2890,
    2960,
    3050,
    3180,
    3300,
    3450,
    3620,
    3880,
    4200,
    5200,
)
ORDINARY = 2150  # replaces the richest in the neighbouring table
RICHEST = (2150, 3500, 5200, 6000, 7500, 10_000, 15_000, 25_000, 50_000, 100_000, 250_000, 1_000_000)
DECLARED = (0, 8000)  # typed by the owner before the table was read
BARS = 10
EPSILON = Fraction(1)
UNITS = (1, 10, 100, 1000)


@dataclass(frozen=True)
class Settings:
    richest: int = 50_000
    seed: int = 1


@dataclass(frozen=True)
class Bars:
    """The release of one table: the ends of the axis, and the noisy bars between them."""

    ends: tuple[int, int]
    heights: tuple[int, ...]


@dataclass(frozen=True)
class Figures:
    automatic: tuple[Bars, Bars]  # with the richest, and with an ordinary person instead
    declared: tuple[Bars, Bars]
    automatic_guess: float  # the chance that the best guess names the right table
    declared_guess: float
    most: float  # e^ε/(1+e^ε): the best guess that ε allows on any two neighbours


def figures(settings: Settings) -> Figures:
    tables = ((*OTHERS, settings.richest), (*OTHERS, ORDINARY))
    rng = np.random.default_rng(settings.seed)
    ranges = [(min(table), max(table)) for table in tables]
    automatic, declared = (
        [Bars(ends, noisy(counted(table, ends), rng)) for table, ends in zip(tables, chosen, strict=True)]
        for chosen in (ranges, [DECLARED, DECLARED])
    )
    both = list(zip(tables, ranges, strict=True))
    releases = [[(ends, counted(table, ends)) for ends in (own, DECLARED)] for table, own in both]
    guesses = [best_guess(first, other) for first, other in zip(*releases, strict=True)]
    most = 1 / (1 + math.exp(-EPSILON))
    return Figures((automatic[0], automatic[1]), (declared[0], declared[1]), guesses[0], guesses[1], most)


def counted(table: tuple[int, ...], ends: tuple[int, int]) -> tuple[int, ...]:
    """People in each bar; those outside the axis count in the end bars."""
    low, high = ends
    places = [min(max((income - low) * BARS // (high - low), 0), BARS - 1) for income in table]
    return tuple(places.count(bar) for bar in range(BARS))


def noisy(bars: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
    """The bars plus discrete Laplace noise of scale 2/ε, simulated as differences of geometric draws: the table is made
    up."""
    p = -math.expm1(-EPSILON / 2)
    plus, minus = rng.geometric(p, (2, BARS))
    return tuple((np.array(bars) + plus - minus).tolist())


Exact = tuple[tuple[int, int], tuple[int, ...]]  # an axis, and the bars before noise


def best_guess(first: Exact, second: Exact) -> float:
    """The chance of the best guess which of two tables was released: ½ + ½·(total variation distance). With different
    axes the best guess is always right. With equal axes only the bars that differ matter, each by one, and their joint
    law is summed."""
    if first[0] != second[0]:
        return 1.0
    shifts = [mine - other for mine, other in zip(first[1], second[1], strict=True) if mine != other]
    if not shifts:
        return 0.5
    scale = 2 / float(EPSILON)
    reach = int(40 * scale)
    at = np.tanh(1 / (2 * scale)) * np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    p, q = np.ones(1), np.ones(1)
    for shift in shifts:
        p, q = np.outer(p, at).ravel(), np.outer(q, np.roll(at, shift)).ravel()
    return float(0.5 + np.abs(p - q).sum() / 4)


@dataclass(frozen=True)
class Rescaled:
    unit: int  # the unit of distances, in euros
    noise: float  # scale of the noise on one income, in euros
    printed: float  # the ε that is printed
    real: float  # the ε that holds for two people at the ends of the range


def rescaled(unit: int) -> Rescaled:
    width = DECLARED[1] - DECLARED[0]
    noise = Fraction(width, unit) / EPSILON
    return Rescaled(unit, float(noise), float(EPSILON), float(width / noise))
