"""The kinds of noise. Each holds its draw, its exact law, its tail and its loss in one object.

A question lists the kinds it accepts (`Query.accepts`), the usual one first. Its JSON names one of the others.

Laplace     Z with Pr[Z=z] ∝ exp(−|z|/scale). A change of Δ in L1 needs scale Δ/ε: ε-DP (Dwork et al. 2006, Prop. 1).
            Where the change falls into several parts of the same ε, their sum costs less than one part of ε.
Gaussian    Z with Pr[Z=z] ∝ exp(−z²/(2·variance)). A change of Δ² in squared L2 needs variance Δ²/(2ρ): ρ-zCDP
            (Canonne, Kamath, Steinke 2020, Thm 14). ρ = ε²/(2·parts), about the Rényi loss of Laplace noise in that
            many parts; no finite ε, so it closes the pure clause of a budget.
Choice      by the exponential mechanism: one of several candidates with probability ∝ exp(−rate·gap), ε-bounded range
            (McSherry and Talwar 2007, Thm 6). Or by permute-and-flip: in a random order the first candidate with a
            coin, of chance exp(−rate·gap), that comes up (McKenna and Sheldon 2020, Thm 2): ε-DP and no more; never
            farther from the best.

Noise for several numbers at once stays with its question: sets (`choices/top_item`), cuts (`choices/joint_cuts`), trees
and roots (`choices/tree_cuts`, `curves/count_tree`), vectors (`sums/vector_mean`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, TypeVar

import numpy as np

from dpengine.accountant.loss import Exponential, Gaussian, Loss, Pure, Together
from dpengine.core.exact import float_above
from dpengine.core.types import Floats, Integers
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Laplace, Normal, flipped, weighted
from dpengine.noise.tails import (
    choice_behind,
    choice_gap,
    flip_behind,
    flip_gap,
    gaussian_mean_reach,
    gaussian_sum_reach,
    least_count_error,
    mean_reach,
    mixed_gaussian_reaches,
    mixed_laplace_reaches,
    sum_reach,
    total_reach,
    weighted_reaches,
)

# The most parts of one loss in the ledger. Beyond it we charge a single part of ε: it costs more and is as valid.
MOST_PARTS = 100


class NoiseKind:
    name: ClassVar[str] = ""  # in a question's JSON, if it is not the usual kind


Kind = TypeVar("Kind", bound=NoiseKind)


def chosen(accepts: Sequence[type[Kind]], name: str) -> type[Kind]:
    """The kind of noise with this name; for "" the first one, which is the usual one."""
    return next((kind for kind in accepts[1:] if kind.name == name), accepts[0])


@dataclass(frozen=True)
class Added(NoiseKind, ABC):
    """Independent noise on integers."""

    norm: ClassVar[str]  # of a person's change, as in `Sensitivity`

    size: Fraction  # the scale, or the variance

    @classmethod
    @abstractmethod
    def fitted(cls, change: Fraction | int, epsilon: Fraction, parts: int) -> Self:
        """The noise for one person's change of this size in `norm`, at a loss of `parts` equal parts of ε in all."""

    @classmethod
    @abstractmethod
    def of(cls, scale: Fraction, variance: Fraction) -> Self:
        """The noise of this kind: with this scale if Laplace, with this variance if Gaussian."""

    @classmethod
    @abstractmethod
    def loss(cls, epsilon: Fraction, parts: int) -> Loss: ...

    @classmethod
    @abstractmethod
    def least_error(cls, epsilon: Fraction, beta: Fraction) -> Fraction:
        """A lower bound on any method's error of a count, at this loss; 0 if none is known."""

    @abstractmethod
    def thinner(self, weight: int | Fraction, copies: int = 1) -> Self:
        """The smaller noise of a number that the measured vector holds `copies` times, each `weight` times as large."""

    @abstractmethod
    def draw(self, values: Sequence[int], coins: Coins) -> list[int]: ...

    @abstractmethod
    def law(self, value: int) -> Laplace | Normal: ...

    @abstractmethod
    def reach(self, beta: Fraction, draws: int = 1) -> int | Fraction:
        """How far the mean noise of `draws` draws can be from 0, except with probability β."""

    @classmethod
    def line_reaches(cls, noises: Sequence[Added], factors: Floats, draws: int, beta: Fraction) -> Floats:
        """For each row of factors, how far Σ factor·Z can be from 0 except with probability β, where each Z is the mean
        of `draws` draws of one of two or three noises. It is the smaller of two bounds: by the law of the sum, or with
        a part of β for each noise (better for noise that is narrower than 1)."""
        sizes = np.abs(factors)
        each = np.array([float_above(Fraction(noise.reach(beta / len(noises), draws))) for noise in noises])
        apart: Floats = sizes @ each * (1 + 1e-12)
        return np.minimum(apart, cls._summed(noises, sizes, draws, beta))

    @staticmethod
    @abstractmethod
    def _summed(noises: Sequence[Added], sizes: Floats, draws: int, beta: Fraction) -> Floats:
        """The bound of `line_reaches` by the law of the sum."""

    @abstractmethod
    def sum_reach(self, many: int, beta: Fraction, exact: int) -> int:
        """How far a sum of `many` noises can be from 0 except with probability β. Up to `exact` of them it uses their
        exact law, if there is one."""

    @abstractmethod
    def mixed_reaches(self, sizes: Floats, times: Floats, draws: int, beta: Fraction) -> tuple[float, ...]:
        """For each row of factors (`sizes`), how far a weighted sum of noises can be from 0 except with probability β.
        Each noise is the mean of `draws` draws, and `times` says how often each factor occurs."""


class LaplaceNoise(Added):
    name = "laplace"
    norm = "l1"

    @classmethod
    def fitted(cls, change: Fraction | int, epsilon: Fraction, parts: int) -> Self:
        return cls(change / epsilon)

    @classmethod
    def of(cls, scale: Fraction, variance: Fraction) -> Self:
        return cls(scale)

    @classmethod
    def loss(cls, epsilon: Fraction, parts: int) -> Loss:
        return Together((Pure(epsilon / parts),) * parts) if 1 < parts <= MOST_PARTS else Pure(epsilon)

    @classmethod
    def least_error(cls, epsilon: Fraction, beta: Fraction) -> Fraction:
        return least_count_error(epsilon, beta)

    def thinner(self, weight: int | Fraction, copies: int = 1) -> Self:
        return type(self)(self.size / (copies * weight))

    def draw(self, values: Sequence[int], coins: Coins) -> list[int]:
        return coins.laplace(values, self.size)

    def law(self, value: int) -> Laplace:
        return Laplace(value, self.size)

    def reach(self, beta: Fraction, draws: int = 1) -> int | Fraction:
        return mean_reach(self.size, draws, beta)

    @staticmethod
    def _summed(noises: Sequence[Added], sizes: Floats, draws: int, beta: Fraction) -> Floats:
        return mixed_laplace_reaches(tuple(noise.size for noise in noises), sizes, draws, beta)

    def sum_reach(self, many: int, beta: Fraction, exact: int) -> int:
        return (sum_reach if many <= exact else total_reach)(self.size, many, beta)

    def mixed_reaches(self, sizes: Floats, times: Floats, draws: int, beta: Fraction) -> tuple[float, ...]:
        return tuple(weighted_reaches(self.size, sizes / draws, times * draws, beta).tolist())


class SharedNoise(LaplaceNoise):
    """Laplace noise on numbers among which every row divides one weight, so that each number gets the whole ε."""

    name = "shared"


class GaussianNoise(Added):
    name = "gaussian"
    norm = "l2sq"

    @staticmethod
    def rho(epsilon: Fraction, parts: int) -> Fraction:
        return epsilon**2 / (2 * parts)

    @classmethod
    def fitted(cls, change: Fraction | int, epsilon: Fraction, parts: int) -> Self:
        return cls(change / (2 * cls.rho(epsilon, parts)))

    @classmethod
    def of(cls, scale: Fraction, variance: Fraction) -> Self:
        return cls(variance)

    @classmethod
    def loss(cls, epsilon: Fraction, parts: int) -> Loss:
        return Gaussian(cls.rho(epsilon, parts))

    @classmethod
    def least_error(cls, epsilon: Fraction, beta: Fraction) -> Fraction:
        return Fraction(0)

    def thinner(self, weight: int | Fraction, copies: int = 1) -> Self:
        return type(self)(self.size / (copies * weight**2))

    def draw(self, values: Sequence[int], coins: Coins) -> list[int]:
        return coins.gaussian(values, self.size)

    def law(self, value: int) -> Normal:
        return Normal(value, self.size)

    def reach(self, beta: Fraction, draws: int = 1) -> int | Fraction:
        return gaussian_mean_reach(self.size, draws, beta)

    @staticmethod
    def _summed(noises: Sequence[Added], sizes: Floats, draws: int, beta: Fraction) -> Floats:
        squares = (sizes**2 * np.array([float_above(noise.size) for noise in noises])).sum(axis=1)
        return mixed_gaussian_reaches(squares, sizes.sum(axis=1), min(noise.size for noise in noises), draws, beta)

    def sum_reach(self, many: int, beta: Fraction, exact: int) -> int:
        return int(gaussian_mean_reach(self.size, many, beta) * many)  # an integer by definition

    def mixed_reaches(self, sizes: Floats, times: Floats, draws: int, beta: Fraction) -> tuple[float, ...]:
        lengths, sums = (times * sizes**2).sum(axis=1), (times * sizes).sum(axis=1)
        return tuple(gaussian_sum_reach(self.size, np.sqrt(lengths / draws), sums, beta).tolist())


ADDED: tuple[type[Added], ...] = (LaplaceNoise, GaussianNoise)


@dataclass(frozen=True)
class Choice(NoiseKind, ABC):
    """Draws one of several candidates by integer gaps. Only their differences count, so they may begin below 0."""

    rate: Fraction

    @staticmethod
    @abstractmethod
    def loss(epsilon: Fraction) -> Loss: ...

    @abstractmethod
    def draw(self, gaps: Integers, sizes: Integers, coins: Coins, most: int | None) -> tuple[int, int]:
        """The drawn candidate as (block of equal candidates, place in it). `most` is a public bound on the gaps."""

    @abstractmethod
    def law(self, gaps: Mapping[int, int]) -> Finite: ...

    @abstractmethod
    def gap(self, candidates: int, beta: Fraction) -> int:
        """The chosen score is at most this far below the best, except with probability β."""

    @abstractmethod
    def behind(self, candidates: int, beta: Fraction) -> int:
        """A bound like `gap`, computed on the worst table: never larger than `gap`."""


class ExponentialChoice(Choice):
    @staticmethod
    def loss(epsilon: Fraction) -> Loss:
        return Exponential(epsilon)

    def draw(self, gaps: Integers, sizes: Integers, coins: Coins, most: int | None) -> tuple[int, int]:
        least = gaps[sizes > 0].min()
        return coins.choose(np.maximum(gaps - least, 0), sizes, self.rate, most)  # an empty block may lie below it

    def law(self, gaps: Mapping[int, int]) -> Finite:
        return weighted(gaps, self.rate)

    def gap(self, candidates: int, beta: Fraction) -> int:
        return choice_gap(self.rate, candidates, beta)

    def behind(self, candidates: int, beta: Fraction) -> int:
        return choice_behind(self.rate, candidates, beta)


class PermuteAndFlip(Choice):
    name = "permute_and_flip"

    @staticmethod
    def loss(epsilon: Fraction) -> Loss:
        return Pure(epsilon)

    def draw(self, gaps: Integers, sizes: Integers, coins: Coins, most: int | None) -> tuple[int, int]:
        every = np.repeat(gaps, sizes)
        place, ends = coins.flip(every - every.min(), self.rate, most), np.cumsum(sizes)
        block = int(np.searchsorted(ends, place, side="right"))
        return block, place - int(ends[block] - sizes[block])

    def law(self, gaps: Mapping[int, int]) -> Finite:
        return flipped(gaps, self.rate)

    def gap(self, candidates: int, beta: Fraction) -> int:
        return flip_gap(self.rate, candidates, beta)

    def behind(self, candidates: int, beta: Fraction) -> int:
        return flip_behind(self.rate, candidates, beta)
