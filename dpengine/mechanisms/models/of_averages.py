"""Training around the average: two noisy looks at the target alone, then steps that start there and are no longer than
their noise allows, or a third look where the two saw too little. For lines from few people, where steps from the middle
of the range end farther from the truth than the average alone.

Guarantee   that of of_gradients.py: looks and gradients together lose ρ = ε²/2, charged before the first.
Theorem     discrete Gaussian: Canonne, Kamath, Steinke 2020, Thm 14; adaptive composition of T+2 releases, or of three.
            Where a look is centred, whether steps follow, where residuals are clipped and how long steps are follows
            from earlier draws alone.
Look        r is the target less a public centre, rounded to 2^-15 and clipped to ±M such units; a look is the vector of
            sums (M²·N, M·Σr, Σr²) over rows that count (`ErrorSums`), N their number. A row adds M²·(1, t, t²), t in
            [−1, 1]: at most 3M⁴ squared. Two rows that both count differ by (t−u)²·(1 + (t+u)²)·M⁴ ≤ 4M⁴: with x =
            |t+u|, |t−u| ≤ 2 − x, and (2−x)²(1+x²) falls from 4 on [0, 2]. So m rows for m others change a look by at
            most 4m²M⁴ squared, m rows more or less by 3m²M⁴. An eighth of ρ each: Gaussian noise of variance
            change/(2ρ/8) on every sum. The first look sees the whole range; the second is centred on what the first
            found, and as narrow as that allows.
Steps       three quarters of ρ, T equal parts, as in of_gradients.py. With s⁻ ≤ s⁺ about the looks' noise below and
            above the root mean square residual they found, residuals are clipped at G = min(2s⁺, the declared clip),
            and noise is made for that G. Step size η = rate·2s⁻/G, at most 1.
Last look   steps if s⁻ > s⁺/2. If not, what they learn is hardly more than what noise hides, so a third look has their
            three quarters of ρ, and the model is the average that all three found.
Harm        Let σ² be the variance that all of ρ for the steps puts on a coordinate of an average gradient, when spent
            at once: a step has Tσ². The rate is such that ηT ≤ s⁻/(2σ). While residuals are within the clip, the loss
            is quadratic with Hessian H, λ(H) ≤ 1, tr H ≤ 1 (rows lie in the unit ball). Noise z of a step reaches a
            later iterate as η(I−ηH)^k·z, so iterate t has noise of covariance ≼ tη²Tσ²·I, the average of the second
            half ≼ ⅔(ηT)²σ²·I (up to 1/T), and noise adds at most ⅔(ηT)²σ²·tr H ≤ s⁻²/6 to the mean squared error: a
            sixth of what the average alone leaves, if s⁻ is below the truth, and mostly far less. Without noise the
            descent from the average only lowers the loss (η ≤ 1). So where nothing can be learned, the line stays with
            the average, whatever the range that was declared.
Draw        the model is post-processing of these draws; it lies within R of that of the average.
Accuracy    excess.py with three quarters of ρ, from a start within R of the best model of the region, while s⁺ and s⁻
            agree. Let the looks find the squared scale v, with noise d. Where no steps follow, v − d ≤ (v + d)/4, so
            v ≤ 5d/3. If v is within 2d of the truth, that is below 4d, and the average itself is no worse than the best
            by 2d, half of its own squared error.
When        noise limits the model (`train_linear.CLEAR`) and no setting asks for a ball.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import floor, up
from dpengine.core.types import Json
from dpengine.mechanisms.models.excess import GAUSSIAN, TrainingSetting
from dpengine.mechanisms.models.of_gradients import GRAIN, USUAL_STEPS, OfGradients
from dpengine.mechanisms.models.of_models import BALL, REGIONS, projected
from dpengine.mechanisms.promises import Excess
from dpengine.mechanisms.query import Progress, Released, Sensitivity
from dpengine.mechanisms.stepwise import Path, Reader
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Normal
from dpengine.statistics.features import MARGIN_UNITS, ROW_BITS, WEIGHT_BITS, Weights
from dpengine.statistics.model_needs import ErrorSums, GradientSum
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import RawNeed

AROUND = "around"
LOOKS = 2
FIRST = Fraction(1, 4)  # of ρ, for the looks
LOOK_BITS = 15  # a residual of a look is in units of 2^-15, so that sums of squares of 2^31 rows stay below 2^62
FASTEST = Fraction(19, 20)  # step size: the smooth bound of excess.py has 1 less it below the noise
PULL = Fraction(1, 2)  # ηT·σ in units of s⁻
WIDE, TIGHT = 2.5, 2.0  # how many root mean squares the second look and the steps see
UNSEEN = 4  # no steps may follow where the squared scale is below this many times a look's noise


@dataclass(frozen=True)
class Seen:
    """What the looks found: post-processing. Lengths are in half-ranges of the target."""

    centre: float = 0.0
    surety: float = 0.0  # one over the variance of the centre
    low: float = 0.0  # s⁻
    high: float = 1.0  # s⁺
    reach: float = 1.0  # of the next look

    @property
    def clear(self) -> bool:
        """Do steps follow?"""
        return self.low > self.high / 2

    def after(self, mean: float, square: float, noise: float) -> Seen:
        """What is known after a look that found this mean of residuals and of their squares (in units of `reach`;
        `noise` is its deviation)."""
        surety = self.surety + 1 / (self.reach * noise) ** 2
        found = self.centre + self.reach * mean
        centre = found + (self.centre - found) * self.surety / surety
        varied = square - mean * mean
        low, high = (self.reach * math.sqrt(max(varied + sign * noise, 0.0)) for sign in (-1, 1))
        reach = min(self.reach, WIDE * high + 2 / math.sqrt(surety))
        return Seen(max(min(centre, 1.0), -1.0), surety, min(low, 1.0), min(high, 1.0), reach)


@dataclass(frozen=True, kw_only=True)
class OfAverages(OfGradients):
    regions: ClassVar[tuple[str, ...]] = (AROUND, *REGIONS)
    usual_region: ClassVar[str] = AROUND

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.around and self.calibration != GAUSSIAN:
            raise AllowanceError("train.around")

    @property
    def around(self) -> bool:
        return self.region == AROUND

    @property
    def nearer(self) -> bool:
        return self.around

    def _usual_region(self) -> str:
        """A ball around the model of zeros if settings for one were chosen, or if noise does not limit the model."""
        own = bool(self.radius or self.rate or self.clip) or self.calibration != GAUSSIAN
        return BALL if own or not self.noise_limits else AROUND

    @property
    def noise_limits(self) -> bool:
        return False

    # Public numbers

    @property
    def farthest(self) -> float:
        """ηT if s⁻ and s⁺ agree. It is then s/(2σ) with the noise for G = 2s, and the same for every s."""
        noise = self.sides / (float(self.epsilon) * math.sqrt(1 - FIRST) * self.people)
        return float(PULL) / (TIGHT * noise)

    def _usual_steps(self) -> int:
        return max(min(math.ceil(2 * self.farthest), USUAL_STEPS), 2) if self.around else super()._usual_steps()

    def _usual_rate(self) -> Fraction:
        if not self.around:
            return super()._usual_rate()
        rate = Fraction(math.floor(self.farthest / self.steps * GRAIN), GRAIN)
        return max(min(rate, FASTEST), Fraction(1, GRAIN))

    @property
    def setting(self) -> TrainingSetting:
        plain = super().setting
        return replace(plain, part=float(1 - FIRST)) if self.around else plain

    def interval_reason(self) -> str | None:
        return "train.interval.around" if self.around else super().interval_reason()

    def promise(self) -> Excess:
        plain = super().promise()
        unseen = up(Fraction(UNSEEN * self.look_noise(1 << LOOK_BITS) / 2), 10**9)
        return replace(plain, risk=max(plain.risk, unseen)) if self.around else plain

    # A look

    def look_at(self, centre: float, most: int) -> ErrorSums:
        """The statistic of a look from this centre, in bins by the sign of the prediction (the same for everybody)."""
        weight = round(centre * MARGIN_UNITS / self.layout.most)
        weights = (weight,) + (0,) * (self.width - 1)
        return ErrorSums(self.layout, weights, (0,), ROW_BITS + WEIGHT_BITS - LOOK_BITS, most)

    def look_change(self, most: int) -> int:
        rows = self.facts.unit.at_most
        return (4 if self.facts.sides == 2 else 3) * rows**2 * most**4

    def look_variance(self, most: int, part: Fraction = FIRST / LOOKS) -> Fraction:
        """Of a look that costs this part of ρ."""
        return self.look_change(most) / (part * self.epsilon**2)

    def look_noise(self, most: int, part: Fraction = FIRST / LOOKS) -> float:
        """The deviation of the noise in the mean of residuals, in units of their clip."""
        return math.sqrt(self.look_variance(most, part)) / (most**2 * self.people)

    def looked(self, value: Sequence[int], most: int) -> tuple[int, int, int]:
        """(M²·N, M·Σr, Σr²), from the statistic of a look."""
        squares, *bins = value
        return most**2 * sum(bins[::2]), most * sum(bins[1::2]), squares

    def seen(self, before: Seen, most: int, raw: Sequence[int], part: Fraction = FIRST / LOOKS) -> Seen:
        people = max(raw[0] / most**2, 1.0) if self.nominal else float(self.people)
        many = most**2 * people
        return before.after(raw[1] / many, raw[2] / many, self.look_noise(most, part) * self.people / people)

    def look(self, before: Seen, part: Fraction, read: Reader, coins: Coins) -> Seen:
        most = max(math.ceil(before.reach * 2**LOOK_BITS), 1)
        found = self.looked(read(self.look_at(before.centre, most)), most)
        return self.seen(before, most, coins.gaussian(list(found), self.look_variance(most, part)), part)

    def start(self, seen: Seen) -> Weights:
        return self.look_at(seen.centre, 1).weights

    # What is charged and drawn first

    def need(self) -> AnyNeed:
        return self.look_at(0.0, 1 << LOOK_BITS) if self.around else super().need()

    def needs(self) -> tuple[AnyNeed | RawNeed, ...]:
        return (self.need(), super().need()) if self.around else super().needs()

    def sensitivity(self) -> Sensitivity:
        if not self.around:
            return super().sensitivity()
        return Sensitivity("l2sq", self.look_change(1 << LOOK_BITS), attained=False)

    def measured(self, value: Json) -> tuple[int, ...]:
        return self.looked(value, 1 << LOOK_BITS) if self.around else super().measured(value)

    def draw(self, value: Json, coins: Coins) -> tuple[int, ...]:
        if not self.around:
            return super().draw(value, coins)
        return tuple(coins.gaussian(list(self.measured(value)), self.look_variance(1 << LOOK_BITS)))

    def law(self, value: Json) -> Independent:
        if not self.around:
            return super().law(value)
        variance = self.look_variance(1 << LOOK_BITS)
        return Independent(tuple(Normal(centre, variance) for centre in self.measured(value)))

    def finish(self, raw: tuple[int, ...]) -> Released:
        if not self.around:
            return super().finish(raw)
        start = self.start(self.seen(Seen(), 1 << LOOK_BITS, raw))
        return self.ended(self.path([start, start]))

    # All of it

    def descend(self, read: Reader, coins: Coins, progress: Progress, stopped: Callable[[], bool]) -> Path:
        if not self.around:
            return super().descend(read, coins, progress, stopped)
        seen = Seen()
        for _ in range(LOOKS):
            seen = self.look(seen, FIRST / LOOKS, read, coins)
        if not seen.clear:
            average = self.start(self.look(seen, 1 - FIRST, read, coins))
            progress(self.steps, self.steps)
            return self.path([average] * (self.steps + 1))
        start, units = self.start(seen), self.units_for(seen)
        rate = min(float(self.rate) * 2 * seen.low * 2**self.lattice / units, 1.0)
        walk = [start]
        for step in range(1, self.steps + 1):
            slope = read(GradientSum(self.layout, walk[-1], units, self.lattice))
            walk.append(self.moved_around(start, walk[-1], rate, coins.gaussian(list(slope), self.variance_for(units))))
            progress(step, self.steps)
            if stopped():
                break
        return self.path(walk)

    def units_for(self, seen: Seen) -> int:
        """G on the lattice; at least as much as lets a row count."""
        least = -(-(1 << ROW_BITS) // self.layout.most)
        return max(min(math.floor(TIGHT * seen.high * 2.0**self.lattice), self.units), least)

    def variance_for(self, units: int) -> Fraction:
        return (self.sides * units) ** 2 * self.steps / ((1 - FIRST) * self.epsilon**2)

    def moved_around(self, start: Weights, weights: Weights, rate: float, noisy: Sequence[int]) -> Weights:
        factor = rate * 2.0 ** (WEIGHT_BITS - self.lattice) / self.people
        away = [at - by - factor * slope for at, by, slope in zip(weights, start, noisy, strict=True)]
        kept = projected(away, floor(self.radius * 2**WEIGHT_BITS), BALL)
        return tuple(by + one for by, one in zip(start, kept, strict=True))
