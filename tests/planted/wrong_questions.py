"""Wrong twins of questions: too little noise, none, noise for something else, and shapes that follow the data."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from battery import SCHEMA, facts
from helpers_coins import SeededCoins

from dpengine.accountant.loss import Loss, Pure
from dpengine.declared.unit import Unit
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.mechanisms.choices.joint_cuts import Chain, JointCuts
from dpengine.mechanisms.choices.median import Median
from dpengine.mechanisms.choices.noisy_argmax import NoisyArgmax
from dpengine.mechanisms.choices.quantile import Blocks, Quantile
from dpengine.mechanisms.choices.top_item import TopItem
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.noise import Added
from dpengine.mechanisms.query import Query, Released
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.session.asks import Average
from dpengine.mechanisms.sums.mean import Mean
from dpengine.mechanisms.sums.sum import Sum
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Independent
from dpengine.statistics.need import Spread

SOME: dict[str, Any] = {"where": [["c", "in", ["a"]]]}


def made(kind: type[Query], parameters: dict[str, Any], relation: str = "replace", unit: Unit | None = None) -> Any:
    return kind.build(facts(relation, unit=unit), {"epsilon": "1"} | parameters)


# Too little noise, or noise for something else


class HalfNoise(Count):
    @property
    def scale(self) -> Fraction:
        return super().scale / 2


class HalfNoiseDrawn(Histogram):
    """Its law and its price speak of the right noise."""

    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        return tuple(coins.laplace(list(self.measured(value)), self.scale / 2))


class OneLess(Sum):
    def sensitivity(self) -> Any:
        right = super().sensitivity()
        return replace(right, bound=right.bound - 1)


class OtherRelation(Histogram):
    """What one person changes under add/remove, claimed for replace-one."""

    def sensitivity(self) -> Any:
        return replace(super().sensitivity(), bound=1)


class OneRowEach(Count):
    """As if nobody had a second row."""

    @property
    def moves(self) -> tuple[int, int]:
        return super().moves[0], 1


class DoubleRate(TopItem):
    @property
    def rate(self) -> Fraction:
        return super().rate * 2


class MonotoneRate(TopItem):
    """The rate that is right where all scores move one way, which under replace-one they do not."""

    @property
    def rate(self) -> Fraction:
        return self.epsilon / self.how_many / self.sensitivity().bound


class EachGroupWhole(Mean):
    """Noise for one group, though under replace-one a person can leave one and enter another."""

    def sensitivity(self) -> Any:
        right = super().sensitivity()
        return replace(right, bound=right.bound // 2)


class FreeRange(Median):
    """The range is drawn twice more at the whole ε, and nobody pays for it."""

    @property
    def each(self) -> Fraction:
        return self.epsilon

    def loss(self) -> Loss:
        return Pure(self.epsilon)


class UncappedScore(Median):
    """Without the cap, q = −|#{≥ℓ} − #{≤ℓ}| moves by two."""

    def blocks(self, value: Spread, share: Fraction, side: int = 0) -> Blocks:
        blocks = super().blocks(value, share, side)
        size = SCHEMA["x"].size
        codes = np.arange(size, dtype=np.int64)
        above = np.array([value.counts[value.codes >= code].sum() for code in codes], dtype=np.int64)
        below = np.array([value.counts[value.codes <= code].sum() for code in codes], dtype=np.int64)
        return replace(blocks, firsts=codes, sizes=np.ones(size, dtype=np.int64), gaps=np.abs(above - below))


class TwiceTheDepth(Median):
    """How deep the place lies in a value's rows counts double."""

    def blocks(self, value: Spread, share: Fraction, side: int = 0) -> Blocks:
        blocks = super().blocks(value, share, side)
        return replace(blocks, gaps=np.where(blocks.gaps < 0, 2 * blocks.gaps, blocks.gaps))


class TwiceAsDeep(JointCuts):
    """The same for cuts drawn together."""

    def costs(self, value: Spread, chain: Chain) -> dict[tuple[int, ...], int]:
        return {cuts: 2 * cost if cost < 0 else cost for cuts, cost in super().costs(value, chain).items()}


class JointTwiceAsDeep(Quantile):
    @property
    def way(self) -> JointCuts | None:  # type: ignore[override]
        right = super().way
        return None if right is None else TwiceAsDeep(**vars(right) | {"asked": right.asked})


class OneRowMoves(JointCuts):
    """As if one person moved one gap only: what leaves one gap enters another."""

    @property
    def moves(self) -> int:
        return super().moves // 2


class JointOfOneRow(Quantile):
    @property
    def way(self) -> JointCuts | None:  # type: ignore[override]
        right = super().way
        return None if right is None else OneRowMoves(**vars(right) | {"asked": right.asked})


class HalfRange(Average):
    def change(self, relation: str) -> int:
        return super().change(relation) // 2


class TwiceAsMany(AdaptiveSession):
    """Noise for half of the answers that were sold."""

    def loss(self) -> Loss:
        return Pure(self.each / 2)


class HalfVariance(Histogram):
    @property
    def variance(self) -> Fraction:
        return super().variance / 2


class GaussianAsPure(Histogram):
    """Gaussian noise has no finite ε, and is charged as if it had."""

    def loss(self) -> Loss:
        return Pure(self.epsilon)


class UntilPositive(Count):
    """A count below zero looks odd, so it is drawn again."""

    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        while True:
            drawn = super().draw(value, coins)
            if min(drawn) >= 0:
                return drawn


# Sets


class SetSizedScore(TopItem):
    """A score moves by one whatever the size of the set."""

    def sensitivity(self) -> Any:
        return replace(super().sensitivity(), bound=2)


class OneStepEach(NoisyArgmax):
    """Averages priced like groups, as if a person moved a sum of places by one step and not by the whole range."""

    def sensitivity(self) -> Any:
        return replace(super().sensitivity(), bound=self.facts.unit.at_most)


class OneItemEach(Histogram):
    """As if a person held one item."""

    def sensitivity(self) -> Any:
        return replace(super().sensitivity(), bound=1)


class Uncut(Histogram):
    """All items of large sets."""

    def need(self) -> Any:
        return replace(super().need(), cut=False)


# No noise where there should be some


class OneBinBare(Histogram):
    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return (value[0], *super().draw(value, coins)[1:])


class OneNoiseForAll(Histogram):
    """Every bar is right by itself; the difference of two is bare."""

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        [noise] = coins.laplace([0], self.scale)
        return tuple(count + noise for count in value)


class BareDenominator(Mean):
    """The number of people in the group is shown as it is."""

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return (value[0], *self.added[1].draw([value[1]], coins))

    def law(self, value: tuple[int, ...]) -> Independent:
        return Independent((Finite({value[0]: Decimal(1)}), self.added[1].law(value[1])))


class RangeAroundTheTruth(Count):
    def release(self, value: Any, coins: Coins) -> Released:
        noisy, reach = super().release(value, coins), self.reach()
        return replace(noisy, interval=(value - reach, value + reach))


class SeededFromTheQuestion(Count):
    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        return super().draw(value, SeededCoins(int(self.digest()[:12], 16)))


class FloatNoise(Sum):
    """Textbook noise in floats: which floats can come out tells what it was added to (Mironov 2012)."""

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[Any, ...]:
        noise = np.random.default_rng().laplace(0, float(self.added[0].size), len(self.measured(value)))
        return tuple((np.array(self.measured(value)) + noise).tolist())


# What appears


class DataBins(Histogram):
    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(count for count in value if count)


class OnlyFullBars(Histogram):
    """Every bar has its noise, and those that are empty in the table are not shown."""

    def release(self, value: tuple[int, ...], coins: Coins) -> Released:
        told = super().release(value, coins)
        return Released({name: told.value[name] for name, count in zip(told.value, value, strict=True) if count})


class PresentCandidates(TopItem):
    """Only values that somebody holds compete."""

    def law(self, value: tuple[int, ...]) -> Finite | None:
        law = super().law(value)
        assert law is not None
        present = {one: p for one, p in law.chances.items() if value[one[0]]}
        total = sum(present.values(), Decimal(0))
        return Finite({one: p / total for one, p in present.items()}) if present else law


class NoDelta(FindDeclarations):
    """Every value that is present appears, at no δ."""

    @property
    def threshold(self) -> int:
        return self.facts.unit.at_most

    def loss(self) -> Loss:
        return Pure(self.epsilon)


class LowThreshold(FindDeclarations):
    """A threshold that forgets the person's own rows releases a new value too often."""

    @property
    def threshold(self) -> int:
        return super().threshold - self.facts.unit.at_most


class LowListThreshold(FindDeclarations):
    """Of several columns together: a single person's value shows too often."""

    @property
    def threshold(self) -> int:
        return super().threshold - 3


class ForOneSide(FindDeclarations):
    """As if under replace-one nobody came where somebody went."""

    def _noise_for(self, sides: int, share: Fraction) -> Added:
        return super()._noise_for(1, share)
