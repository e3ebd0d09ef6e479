"""Training that follows the shape of the data: the length of a step is how far it moves people's log-odds, not how far
it moves the weights.

Plain descent is slow along columns that are correlated or hardly vary, so a few hundred steps stop short of the best
model. Here we first draw one noisy table of second moments, and divide every step by it.

Guarantee   that of of_gradients.py: the moments and all T gradients together lose ρ = ε²/2, charged before the first.
Theorem     discrete Gaussian: Canonne, Kamath, Steinke 2020, Thm 14; adaptive composition of T+1 releases.
Moments     S = Σ x·xᵀ over rows that count (statistics/moments.py): squared ℓ2 change m² under add/remove; under
            replace-one 2m² and what the cut to whole units adds, both in `SecondMoments.change`. A fifth of ρ: Gaussian
            noise of variance change/(2ρ/5) on every sum. The other four fifths are for the gradients, T equal parts.
Shape       M = (S̃₊ + λ)/(4n), S̃₊ the noisy moments without negative eigenvalues. The noise is a symmetric matrix N of
            variance v, so ‖N‖ ≤ λ = √v·(2·√d + 2·√ln 10⁹) except with 10⁻⁹ (E‖N‖ ≤ 2·√(vd), and ‖N‖ is √2-Lipschitz in
            its entries). Then M ≽ S/(4n), which is at least the Hessian of the log-loss everywhere, and M ≽ λ/(4n).
Draw        w ← Π(w − η·M⁻¹·(noisy sum)/n), Π shrinks into the region ‖w‖_M ≤ R: post-processing of paid draws. As
            ‖w‖²_M ≥ (1/4n)·Σ(w·x)², a radius 2R says how far log-odds lie from 0, as a root mean square over people.
Accuracy    excess.py, with all lengths in the norm of M: the Hessian is at most 1, the gradient E[r·x] at most 2
            (Cauchy and Schwarz: ‖E[r·x]‖²_{M⁻¹} ≤ 4·E[r²]), and the squared noise of a step at most 4n/λ times what it
            is in weights. The promise is on top of the best model of this region.
When        λ ≤ n/60: with more noise in the moments there is no shape to follow, and the ball does better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Floats, Json
from dpengine.mechanisms.models.excess import GAUSSIAN, TrainingSetting
from dpengine.mechanisms.models.of_gradients import OfSides
from dpengine.mechanisms.models.of_models import BALL, MARGINS, REGIONS
from dpengine.mechanisms.query import Released, Sensitivity
from dpengine.mechanisms.stepwise import Reader
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Normal
from dpengine.statistics.features import WEIGHT_BITS, Weights
from dpengine.statistics.model_needs import SecondMoments
from dpengine.statistics.need import AnyNeed, Needs

MOMENTS = Fraction(1, 5)  # of ρ
USUAL_MARGIN = Fraction(4)
USUAL_STEPS = 60
UNSURE = 1e-9  # the chance that the moments' noise is larger than λ
FLATTEST = 2e-5  # λ is at least this share of n, which keeps weights in the range of integers
NOISIEST = 1 / 60  # λ is at most this share of n, else the ball is the usual region


@dataclass(frozen=True)
class Shape:
    """M by its eigenvalues and eigenvectors."""

    sizes: Floats
    ways: Floats

    def divided(self, vector: Floats) -> Floats:
        """M⁻¹·v"""
        return np.asarray(self.ways @ ((self.ways.T @ vector) / self.sizes), dtype=np.float64)

    def length(self, vector: Floats) -> float:
        """‖v‖_M"""
        return math.sqrt(float(((self.ways.T @ vector) ** 2) @ self.sizes))


@dataclass(frozen=True, kw_only=True)
class OfMargins(OfSides):
    regions: ClassVar[tuple[str, ...]] = (MARGINS, *REGIONS)
    usual_region: ClassVar[str] = MARGINS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.follows and self.calibration != GAUSSIAN:
            raise AllowanceError("train.margins")

    @property
    def follows(self) -> bool:
        return self.region == MARGINS

    def _usual_region(self) -> str:
        """A ball if a radius, a rate (both in weights) or other noise was chosen, or if M would be too noisy."""
        own = bool(self.radius or self.rate) or self.calibration != GAUSSIAN
        return BALL if own or self.ridge > NOISIEST * self.people else MARGINS

    def _usual_radius(self) -> Fraction:
        return USUAL_MARGIN if self.follows else super()._usual_radius()

    def _usual_steps(self) -> int:
        return min(super()._usual_steps(), USUAL_STEPS) if self.follows else super()._usual_steps()

    @property
    def clearly(self) -> int:
        """Bounds for a region that excludes hardly any model are wider than those for small regions."""
        return 2 if self.follows else super().clearly

    # Public numbers

    @property
    def moments(self) -> SecondMoments:
        return SecondMoments(self.layout, self.lattice)

    @property
    def moments_variance(self) -> Fraction:
        return self._moments_change / (MOMENTS * self.epsilon**2)

    @property
    def _moments_change(self) -> int:
        return self.moments.change(self.facts.unit.at_most, self.facts.relation == "replace")

    @property
    def ridge(self) -> float:
        """λ: what is added to the eigenvalues of the noisy moments, in rows."""
        spread = math.sqrt(self.moments_variance) / (1 << self.lattice)
        noise = spread * 2 * (math.sqrt(self.width) + math.sqrt(-math.log(UNSURE)))
        return max(noise, FLATTEST * self.people)

    @cached_property
    def amount(self) -> Fraction:
        return super().amount / (1 - MOMENTS) if self.follows else super().amount

    @property
    def setting(self) -> TrainingSetting:
        plain = super().setting
        if not self.follows:
            return plain
        part, stretch = float(1 - MOMENTS), self.people / self.ridge
        return replace(
            plain, radius=float(self.radius) / 2, clip=2 * plain.clip, smooth=1.0, part=part, stretch=stretch
        )

    @property
    def diverges(self) -> bool:
        return self.rate > 2 if self.follows else super().diverges

    def interval_reason(self) -> str | None:
        return "train.interval.margins" if self.follows else super().interval_reason()

    # One step: the moments, and the gradient at 0

    def need(self) -> AnyNeed:
        return Needs((self.moments, super().need())) if self.follows else super().need()

    def sensitivity(self) -> Sensitivity:
        """The sum of the bounds for the moments and for the steps; each of the two has noise for its own bound."""
        plain = super().sensitivity()
        return replace(plain, bound=plain.bound + self._moments_change) if self.follows else plain

    def measured(self, value: Json) -> tuple[int, ...]:
        return (*value[0], *value[1]) if self.follows else super().measured(value)

    def draw(self, value: Json, coins: Coins) -> tuple[int, ...]:
        if not self.follows:
            return super().draw(value, coins)
        moments, slope = value
        return *self.noisy_moments(moments, coins), *self.noisy(slope, coins)

    def law(self, value: Json) -> Independent:
        if not self.follows:
            return super().law(value)
        moments, slope = value
        bells = (Normal(moment, self.moments_variance) for moment in moments)
        return Independent((*bells, *super().law(slope).parts))

    def finish(self, raw: tuple[int, ...]) -> Released:
        if not self.follows:
            return super().finish(raw)
        start, moments = (0,) * self.width, len(self.moments.pairs)
        there = self.moved_in(self.shape_of(raw[:moments]), start, raw[moments:])
        return self.ended(self.path([start, there]))

    # The shape, and a step in it

    def shape_of(self, noisy: Sequence[int]) -> Shape:
        """M from noisy moments: post-processing."""
        moments = np.zeros((self.width, self.width))
        for (i, j), amount in zip(self.moments.pairs, noisy, strict=True):
            moments[i, j] = moments[j, i] = amount / 2**self.lattice
        sizes, ways = np.linalg.eigh(moments)
        return Shape((np.maximum(sizes, 0) + self.ridge) / (4 * self.people), ways)

    def noisy_moments(self, moments: Sequence[int], coins: Coins) -> list[int]:
        return coins.gaussian(list(moments), self.moments_variance)

    def moved_in(self, shape: Shape, weights: Weights, noisy: tuple[int, ...]) -> Weights:
        slope = np.array([float(value) for value in noisy]) / (self.people * 2.0**self.lattice)
        there = np.array(weights, dtype=np.float64) / 2.0**WEIGHT_BITS - float(self.rate) * shape.divided(slope)
        edge, length = float(self.radius) / 2, shape.length(there)
        kept = there * (edge / length) if length > edge else there
        return tuple(int(weight) for weight in kept * 2.0**WEIGHT_BITS)

    def mover(self, read: Reader, coins: Coins) -> Callable[[Weights, tuple[int, ...]], Weights]:
        if not self.follows:
            return super().mover(read, coins)
        return partial(self.moved_in, self.shape_of(self.noisy_moments(read(self.moments), coins)))
