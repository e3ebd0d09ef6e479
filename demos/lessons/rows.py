"""A row may be a picture or a curve (thesis, Examples 3.2, 3.4 and 4.2).

*Picture* (Ex. 3.2). Eight by eight pixels between 0 and 1, ρ(A, B) = Σ|a − b|: the diameter is 64, so every pixel gets
Laplace noise of scale 64/ε (Ex. 4.9). Published, it hides that this picture and not another stands in the row.

*Curve* (Ex. 3.4). What a household draws in each of 24 hours, between 0 and 4 kW. Every hour gets noise of its own, of
scale 24·4/ε: ε-DP in the same way.

*Testing* (Ex. 4.2). For a mechanism with values in C([0, 1]) it is enough to test the events that look at finitely many
times t₁ … t_k: they generate the Borel sets. *Every* finite number must be tested, though. Take one noise Z, of scale
4/ε, for the whole curve: at one hour it is ε-DP. At two hours the difference of the answers is that of the curve
itself, without any noise: two curves of other shape never give the same answer, and δ = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.noise.coins import Coins, SystemCoins

FACE = (
    "00111100",
    "01000010",
    "10100101",
    "10000001",
    "10100101",
    "10011001",
    "01000010",
    "00111100",
)
PIXELS = tuple(int(pixel) for row in FACE for pixel in row)
GRAIN = 100  # steps of a pixel, and of a kilowatt
HOURS = 24
MOST = 4  # kW
CURVE = (4, 3, 3, 3, 3, 4, 8, 14, 12, 8, 7, 7, 10, 9, 7, 7, 9, 14, 22, 30, 28, 20, 12, 6)  # tenths of a kW
FLAT = (10,) * HOURS  # another household
KINDS = ("picture", "curve")
NOISES = ("own", "one")
EPSILONS = ("1", "10", "100", "1000", "10000")


@dataclass(frozen=True)
class Settings:
    kind: str = "picture"
    epsilon: Fraction = Fraction(10)
    noise: str = "own"
    points: int = 1


@dataclass(frozen=True)
class Figures:
    truth: tuple[float, ...]
    published: tuple[float, ...]
    scale: float  # of the noise of one pixel or hour
    delta: int  # found at the tested times; 0 for a picture


def run(settings: Settings, coins: Coins | None = None) -> Figures:
    coins = coins or SystemCoins()
    if settings.kind == "picture":
        steps, diameter = [pixel * GRAIN for pixel in PIXELS], len(PIXELS)
    else:
        steps, diameter = [tenth * GRAIN // 10 for tenth in CURVE], MOST * (HOURS if settings.noise == "own" else 1)
    scale = Fraction(diameter * GRAIN) / settings.epsilon
    if settings.kind == "curve" and settings.noise == "one":
        moved = coins.laplace([0], scale)[0]
        drawn = [step + moved for step in steps]
    else:
        drawn = coins.laplace(steps, scale)
    delta = 0 if settings.kind == "picture" else tested(settings.noise, settings.points)
    truth, published = (tuple(step / GRAIN for step in row) for row in (steps, drawn))
    return Figures(truth, published, float(scale) / GRAIN, delta)


def tested(noise: str, points: int) -> int:
    """The least δ with which the answers at the first `points` hours keep ε for these two households.

    Own noise: an outcome's log-ratio is at most Σ|shift|/scale ≤ points·MOST/(HOURS·MOST/ε) ≤ ε, so δ is 0. One noise:
    where both curves have the same shape at these hours the shift is at most MOST = ε·scale, so δ is 0; elsewhere no
    outcome is possible for both, so δ is 1.
    """
    shifts = {own - other for own, other in zip(CURVE[:points], FLAT[:points], strict=True)}
    return int(noise == "one" and len(shifts) > 1)
