"""Figures 1 to 3 of the thesis: a private density of 100 draws of N(1, 1) and 100 of N(5, 1), at ε = 0.1, 1 and 3.

δ = 0.1, bandwidth h = 0.6. One person replaced moves the curve by at most Δ = √2/(n√(2π)h) in the kernel's Hilbert
space (Ex. 6.12). Noise c·G, G a Gaussian process with the Gaussian kernel, has standard deviation c at every point. How
large c must be, in units of Δ:

    thesis      √(2·ln(2/δ))/ε                        Cor. 6.10; proved for ε ≤ 1 only, and figure 3 has ε = 3
    printed     half of it: Ex. 6.12 prints √ln(2/δ) where its own corollary gives 2·√ln(2/δ)
    least       the least σ for which N(0, σ²) and N(1, σ²) keep (ε, δ), exactly and for every ε: Balle and Wang 2018,
                Thm 8. It speaks of continuous noise; `kept` is the δ that a level really keeps, by the same formula.

The curves are drawn by the catalogue's own `density`, with the level of the corollary. Those of the thesis are not: its
notebook uses the constant of Ex. 6.12, and takes the noise of the first point off every point. The people are made up,
from a public seed; the range −4 … 10 is declared.

    python -m demos.thesis_curves
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.curves.density import Density
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.released import curves
from dpengine.statistics.need import Spread

DELTA, WIDTH, EACH = 0.1, "0.6", 100
EPSILONS = (0.1, 1.0, 3.0)
COLUMN = Number(-4, 10, step="0.001", missing=0)
SEED = 20_121


@dataclass(frozen=True)
class Levels:
    """Standard deviations of the noise at any point of the curve."""

    thesis: float
    printed: float
    least: float
    kept: float  # the δ that the thesis's level keeps at its ε


@dataclass(frozen=True)
class Figure:
    number: int
    epsilon: float
    levels: Levels
    xs: tuple[float, ...]
    truth: tuple[float, ...]  # the kernel curve of the data
    drawn: tuple[float, ...]
    reach: float  # 95 times in 100 the whole curve is within ± this


def delta_of(epsilon: float, sigma: float) -> float:
    """The smallest δ for which continuous noise of σ = `sigma` sensitivities keeps (ε, δ)."""

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return below(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * below(-0.5 / sigma - epsilon * sigma)


def levels(epsilon: float) -> Levels:
    move = math.sqrt(2) / (2 * EACH * math.sqrt(2 * math.pi) * float(WIDTH))
    thesis = math.sqrt(2 * math.log(2 / DELTA)) / epsilon
    low, high = 1e-6, thesis * 4
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(epsilon, middle) > DELTA else (low, middle)
    return Levels(thesis * move, thesis * move / 2, high * move, delta_of(epsilon, thesis))


def question(epsilon: float) -> Density:
    """The question `density` with the thesis's noise at this ε: t sensitivities have ρ = 1/(2t²), and an ε' has ρ =
    ε'²/4."""
    own = Fraction(int(epsilon / math.sqrt(math.log(2 / DELTA)) * 10**9), 10**9)
    facts = Facts("thesis", Schema({"x": COLUMN}), Unit.rows(), "replace", 2 * EACH)
    return Density.build(facts, {"columns": ["x"], "bandwidth": WIDTH, "epsilon": own})


@lru_cache(maxsize=1)
def people() -> Spread:
    generator = np.random.default_rng(SEED)
    values = np.concatenate((generator.normal(1, 1, EACH), generator.normal(5, 1, EACH)))
    codes, counts = np.unique([COLUMN.code(float(value)) for value in values.round(3)], return_counts=True)
    return Spread(codes.astype(np.int64), counts.astype(np.int64))


def figures(coins: Coins | None = None) -> tuple[Figure, ...]:
    source, drawn_figures = coins or SystemCoins(), []
    for number, epsilon in enumerate(EPSILONS, 1):
        query = question(epsilon)
        drawn = query.release(people(), source).value
        truth = query.finish(query.measured(people())).value  # shown, because the people are made up
        [grid] = query.grids()
        drawn_figures.append(
            Figure(
                number,
                epsilon,
                levels(epsilon),
                tuple(map(float, grid)),
                tuple(curves.heights(query, truth).tolist()),
                tuple(curves.heights(query, drawn).tolist()),
                float(query.promise().alpha),
            )
        )
    return tuple(drawn_figures)


def main() -> None:
    print("noise at every point of the curve, as a standard deviation; the curve itself is about 0.2 high")
    print("drawn here: the level of the thesis's corollary; the thesis's own figures use the printed constant")
    print(f"{'ε':>5} {'thesis':>9} {'printed':>9} {'least':>9} {'δ kept':>9} {'drawn, largest':>15}")
    for figure in figures():
        worst = max(abs(a - b) for a, b in zip(figure.truth, figure.drawn, strict=True))
        levels = figure.levels
        known = f"{figure.epsilon:>5} {levels.thesis:>9.5f} {levels.printed:>9.5f} {levels.least:>9.5f}"
        print(f"{known} {levels.kept:>9.4f} {worst:>15.5f}")


if __name__ == "__main__":
    main()
