"""What an observer learns who sees a question's answers and wonders which of two tables lies behind them.

Such an observer can use only how much likelier one table makes an answer than the other: its *evidence* ln(P/Q). A view
sorts the possible answers into a few cells with their exact chances on both tables: by the answer itself if it is one
number or one name, by evidence if it is several numbers.

Loss on a pair, at δ: the smallest ε with Σ(P − e^ε·Q)₊ ≤ δ, and the same with P and Q exchanged; with δ = 0 the largest
|evidence|. Sorting is post-processing: it can hide loss, never add to it. It hides none if all answers of a cell have
the same evidence; the strongest evidence always has its own cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from demos.views import Claim, View, along_a_line, between, by_evidence, by_name, of_bells
from dpengine.accountant import compositions
from dpengine.accountant.costs import cost
from dpengine.declared.conditions import Row
from dpengine.mechanisms.choices.find_declarations import FindDeclarations, ValueCounts
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.counts.fit_check import FitCheck
from dpengine.mechanisms.counts.fit_checks import FitChecks
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.sums.sum import Sum
from dpengine.mechanisms.synthetic.of_class import OfClass
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.laws import Finite, Independent, Laplace, Law, Normal, chance

MOST_NAMED = 60  # outcomes listed one by one
LOOSE = Fraction(1, 1000)  # the δ for noise without a finite ε


def claimed(query: AnyQuery) -> Claim:
    loss = query.loss()
    price = cost(loss, None)
    if price.epsilon is not None:
        return Claim(price.epsilon, price.delta)
    epsilon = compositions.zcdp_epsilon([loss], LOOSE + price.delta)
    assert epsilon is not None
    return Claim(epsilon, LOOSE + price.delta)


@dataclass(frozen=True)
class Watched:
    """A question as built, and how its answers look to an observer. A broken twin overrides the step that is wrong, and
    keeps the stated loss."""

    query: AnyQuery

    def value(self, rows: Sequence[Row]) -> Any:
        return self.query.need().of(rows)

    def draw(self, value: Any, coins: Coins) -> Any:
        return self.query.draw(value, coins)

    def law(self, value: Any) -> Law | None:
        return self.query.law(value)

    def _number(self, at: int) -> tuple[str, str]:
        """What the noisy number at this index means to a person ("answer", "bar" or "number"), and the name of its bar
        or ""."""
        if isinstance(self.query, FitChecks):
            return "bar", ": ".join(self.query.number_names()[at])
        if isinstance(self.query, Histogram):
            return "bar", self.query.labels()[at]
        return "answer" if isinstance(self.query, Count | FitCheck | Sum) else "number", ""

    def named(self, outcome: Any) -> str:
        """An outcome in words: the chosen name; for a sum of messages the estimate, to a tenth; for drawn rows how many
        of each."""
        value = self.query.finish(outcome).value
        if isinstance(self.query, OfClass):
            return ", ".join(f"{many} × {label}" for label, many in value.items() if many)
        return f"{value:.1f}" if isinstance(value, float) else str(value)

    def view(self, one: Any, other: Any) -> View:
        """How answers look to an observer who knows that one of these two values lies behind them."""
        first, second = self.law(one), self.law(other)
        assert first is not None and second is not None
        several = isinstance(first, Independent)
        ours, theirs = _parts(first), _parts(second)
        pairs = {at: (p, q) for at, (p, q) in enumerate(zip(ours, theirs, strict=True)) if p != q}
        if len(pairs) == 1:
            [(at, (p, q))] = pairs.items()
            if isinstance(p, Laplace | Normal) and isinstance(q, Laplace | Normal):
                kind, bar = self._number(at)
                return along_a_line(p, q, lambda raw: raw[at], kind, bar)
            few = isinstance(p, Finite) and len(p.chances) <= MOST_NAMED
            if few and isinstance(p, Finite) and isinstance(q, Finite) and not (several and len(ours) > 1):
                pick = (lambda raw: raw[at]) if several else (lambda raw: raw)
                return by_name(p, q, pick, lambda outcome: self.named((outcome,) if several else outcome))
        if pairs and all(isinstance(p, Normal) and isinstance(q, Normal) for p, q in pairs.values()):
            return of_bells(pairs)
        return by_evidence(pairs, (lambda raw: raw) if several else (lambda raw: (raw,)))


@dataclass(frozen=True)
class WatchedValues(Watched):
    """The question which values enough people hold. For each value it releases whether the value is shown, and its
    noisy count."""

    query: FindDeclarations

    @property
    def threshold(self) -> int:
        return self.query.threshold

    def value(self, rows: Sequence[Row]) -> ValueCounts:
        (counts,) = self.query.need().of(rows)
        return counts  # type: ignore[return-value]

    def draw(self, value: ValueCounts, coins: Coins) -> ValueCounts:
        noisy = self.noised([count for _, count in value], coins)
        return tuple((name, count) for (name, _), count in zip(value, noisy, strict=True) if count >= self.threshold)

    def noised(self, counts: list[int], coins: Coins) -> list[int]:
        return self.query.of_values.draw(counts, coins) if counts else []

    def noise(self, count: int) -> Laplace | Normal:
        return self.query.of_values.law(count)

    def view(self, one: ValueCounts, other: ValueCounts) -> View:
        names = sorted(dict(one).keys() | dict(other).keys())
        last = max(self.threshold, *(count for _, count in one + other)) + self._beyond
        ours, theirs = ([self._shown(dict(value).get(name, 0), last) for name in names] for value in (one, other))
        pairs = {at: (p, q) for at, (p, q) in enumerate(zip(ours, theirs, strict=True)) if p != q}

        def parts(raw: ValueCounts) -> tuple[int | None, ...]:
            shown = dict(raw)
            return tuple(min(shown[name], last) if name in shown else None for name in names)

        return by_evidence(pairs, parts)

    @property
    def _beyond(self) -> int:
        """How far above the counts all answers become one outcome. Farther out the noises differ, but hardly any mass
        lies there."""
        return 2 if self.query.noise else 14 * (math.isqrt(int(self.query.of_values.size)) + 1)

    def _shown(self, count: int, last: int) -> Finite:
        """The law of what is shown of one value: nothing (None), its noisy count, or `last` for every count from `last`
        on."""
        if not count:
            return Finite({None: Decimal(1)})
        law, least = self.noise(count), self.threshold
        counts = {at: chance(law, at) for at in range(least, last)}
        return Finite({None: between(law, None, least - 1), **counts, last: between(law, last, None)})


def watch(query: AnyQuery) -> Watched:
    return WatchedValues(query) if isinstance(query, FindDeclarations) else Watched(query)


def _parts(law: Law) -> tuple[Law, ...]:
    return law.parts if isinstance(law, Independent) else (law,)


class BulkCoins(SystemCoins):
    """The same noise, drawn in batches. A value plus noise has the same law whenever the noise was drawn, and batches
    are ten times as fast as a mechanism's own `draw`. For made-up tables only: unused draws stay in memory."""

    def __init__(self, at_once: int = 2_000) -> None:
        self.at_once = at_once
        self.store: dict[tuple[str, Fraction], list[int]] = {}

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        return self._added("laplace", values, scale)

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        return self._added("gaussian", values, sigma_squared)

    def _added(self, kind: str, values: Sequence[int], scale: Fraction) -> list[int]:
        kept = self.store.setdefault((kind, scale), [])
        if len(kept) < len(values):
            kept += getattr(super(), kind)([0] * max(self.at_once, len(values)), scale)
        return [value + kept.pop() for value in values]
