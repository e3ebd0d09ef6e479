"""Descent with a blindfold: the weights of a model are a place on a map, and each step sees the slope through noise.

Setting     n made-up flats with two features x, ‖x‖ ≤ 1, and a rent |y| ≤ 1, made by a formula, so public. The height
            of a place w is the mean of (⟨x,w⟩ − y)²/2. Every step looks at the slope, walks against it and is put back
            into the set C if it left it: a ball or a box around 0.
Without     L(average) − L* ≤ RG/√T for steps of η = R/(G√T) (lecture 10, Thm 1), R ≥ the way from the start to any
            place of C, G ≥ the slope of any row at any place of C: 2 on the ball, 1 + √2 on the box.
Noise       each row's slope is rounded towards zero to a lattice, so its norm is at most G still; the sum of integers
            has Δ₂ = 2G under replace-one, and discrete Gaussian noise of σ² makes the step ρ-zCDP with ρ = Δ₂²/(2σ²)
            (Canonne, Kamath, Steinke 2020, Thm 14). T steps are Tρ-zCDP however each depends on those before, and that
            is (ε, δ)-DP; so σ grows with √T at one ε.
With        E L(average) − L* ≤ R²/(2ηT) + η/2·(G² + 2σ²/n²), and what rounding adds.

The noise is drawn by the engine's coins; nobody lives in these flats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, hypot, sqrt

import numpy as np
import numpy.typing as npt

from dpengine.accountant import renyi
from dpengine.core.types import Floats
from dpengine.noise.coins import Coins, SystemCoins

FLATS = 1_000
LATTICE = 2**20  # integers for a slope of length 1
DELTA = Fraction(1, 10**6)
EPSILONS = tuple(Fraction(text) for text in ("0.1", "0.2", "0.5", "1", "2", "5", "10"))
STRICTER = 10  # the third path has a tenth of the ε
STEPS = (5, 10, 20, 50, 100, 200)
LENGTHS = (1, 3, 10, 30)  # times the theorem's step
SETS = ("ball", "box")
START = (-0.55, 0.7)

Place = tuple[float, float]


@dataclass(frozen=True)
class Settings:
    epsilon: Fraction = Fraction(1)
    steps: int = 20
    length: int = 1
    within: str = "ball"


@dataclass(frozen=True)
class Path:
    places: tuple[Place, ...]  # w_1, …, w_{T+1}
    put_back: int  # steps that left the set
    average: Place  # of w_1, …, w_T
    down: tuple[float, float]  # the part of the way down: the average, the last place
    blur: float  # standard deviation of the noise in each coordinate of a step's mean slope


@dataclass(frozen=True)
class Figures:
    exact: Path
    little: Path  # at ε
    much: Path  # at a tenth of it
    bound: float  # on the expected height of the average above the lowest place, at ε
    bound_exact: float  # without noise


def figures(settings: Settings, coins: Coins | None = None) -> Figures:
    coins = coins or SystemCoins()
    little, much = (sigma_squared(settings, epsilon) for epsilon in (settings.epsilon, settings.epsilon / STRICTER))
    paths = [walk(settings, noise, coins) for noise in (None, little, much)]
    return Figures(paths[0], paths[1], paths[2], bound(settings, little), bound(settings, None))


# --- the map ----------------------------------------------------------------------------------------------------------


@cache
def flats() -> tuple[Floats, Floats]:
    """Features and rents, by a formula: a ring of flats, denser along one direction."""
    place = np.arange(1, FLATS + 1)
    first, second, third = ((place * root) % 1 for root in (0.6180339887, 0.4142135624, 0.7320508076))
    angle = 2 * np.pi * first + 0.45 * np.sin(4 * np.pi * first + 0.9)
    features = (0.75 + 0.25 * second)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    rent = np.clip(features @ np.array([0.55, -0.4]) + 0.5 * (third - 0.5), -1, 1)
    return features, rent


@cache
def valley() -> tuple[Floats, Floats]:
    """The curvature H and the lowest place w*, with L(w) = L* + (w−w*)ᵀH(w−w*)/2; w* lies inside both sets."""
    features, rent = flats()
    curvature = features.T @ features / FLATS
    return curvature, np.asarray(np.linalg.solve(curvature, features.T @ rent / FLATS), dtype=np.float64)


def above(place: Place) -> float:
    """The height of a place above the lowest place."""
    curvature, lowest = valley()
    way = np.array(place) - lowest
    return float(way @ curvature @ way / 2)


def contours(shares: tuple[float, ...]) -> tuple[Place, float, list[tuple[float, float]]]:
    """The centre of the map's ellipses, their rotation in degrees, and both half-axes of each, at these shares of the
    start's height."""
    curvature, lowest = valley()
    values, vectors = np.linalg.eigh(curvature)
    turn = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
    axes = [
        (sqrt(2 * share * above(START) / float(values[0])), sqrt(2 * share * above(START) / float(values[1])))
        for share in shares
    ]
    return (float(lowest[0]), float(lowest[1])), turn, axes


# --- the walk ---------------------------------------------------------------------------------------------------------


def reach(within: str) -> tuple[float, float]:
    """The bounds R and G of a set, as in the module's docstring."""
    return (2.0, 2.0) if within == "ball" else (2 * sqrt(2), 1 + sqrt(2))


def step_size(settings: Settings) -> float:
    way, slope = reach(settings.within)
    return settings.length * way / (slope * sqrt(settings.steps))


def budget(epsilon: Fraction) -> Fraction:
    """The largest ρ whose zCDP is (ε, δ)-DP, at the best order."""
    order = renyi.order_for_cap(epsilon, DELTA)
    return (epsilon - renyi.toll(order, DELTA)) / order


def sigma_squared(settings: Settings, epsilon: Fraction) -> Fraction:
    """The variance of the integer noise in every coordinate of every step: Δ₂²/(2ρ) with a T-th of the budget each."""
    return Fraction(moved(settings.within) ** 2 * settings.steps) / (2 * budget(epsilon))


def moved(within: str) -> int:
    """The Δ₂ of the sum of slopes on the lattice, when one row's slope is replaced by another's."""
    return 2 * ceil(reach(within)[1] * LATTICE)


def slopes(place: Place) -> npt.NDArray[np.int64]:
    """Every flat's slope on the lattice, rounded towards zero."""
    features, rent = flats()
    exact = (features @ np.array(place) - rent)[:, None] * features
    whole: npt.NDArray[np.int64] = np.trunc(exact * LATTICE).astype(np.int64)
    return whole


def put_back(place: Place, within: str) -> Place:
    """The place in the set that is nearest to a place."""
    if within == "box":
        return min(max(place[0], -1.0), 1.0), min(max(place[1], -1.0), 1.0)
    far = hypot(*place)
    return place if far <= 1 else (place[0] / far, place[1] / far)


def walk(settings: Settings, noise: Fraction | None, coins: Coins) -> Path:
    """The path of T steps, with Gaussian noise of variance `noise` in each, or none. A step uses only the last
    place."""
    length, here, out = step_size(settings), START, 0
    places = [here]
    for _ in range(settings.steps):
        sums = [int(total) for total in slopes(here).sum(axis=0)]
        seen = sums if noise is None else coins.gaussian(sums, noise)
        wished = (here[0] - length * seen[0] / (FLATS * LATTICE), here[1] - length * seen[1] / (FLATS * LATTICE))
        here = put_back(wished, settings.within)
        out += here != wished
        places.append(here)
    first, second = np.mean(places[:-1], axis=0)
    average = float(first), float(second)
    blur = 0.0 if noise is None else sqrt(float(noise)) / (FLATS * LATTICE)
    return Path(tuple(places), out, average, (down(average), down(here)), blur)


def down(place: Place) -> float:
    """How much of the start's height a place has lost, from 0 (as high, or higher) to 1 (the lowest place)."""
    return max(0.0, 1 - above(place) / above(START))


def bound(settings: Settings, noise: Fraction | None) -> float:
    """A bound on the expected height of the steps' average above the lowest place."""
    way, slope = reach(settings.within)
    length = step_size(settings)
    blur = 0.0 if noise is None else float(noise) / (FLATS * LATTICE) ** 2
    rounding = way * sqrt(2) / LATTICE
    return way**2 / (2 * length * settings.steps) + length / 2 * (slope**2 + 2 * blur) + rounding
