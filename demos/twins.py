"""Broken twins: the catalogue's questions with one step wrong, to show what a broken question looks like.

Each states the loss of the original question and draws something that loses more. They are for made-up tables
(`demos.neighbours`) and for tests; nothing in the engine, and no page that asks a table, imports this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from demos.neighbours import Example
from demos.views import Cell, View
from demos.watching import Watched, WatchedValues, watch
from dpengine.core.exact import decimal_of
from dpengine.declared.conditions import Row
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.mechanisms.choices.median import Median
from dpengine.mechanisms.choices.quantile import Blocks
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.local.shuffle_histogram import ShuffleHistogram
from dpengine.mechanisms.noised import OfCounts
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.sums.sum import Sum
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Independent, Laplace, Law, Normal
from dpengine.statistics.need import Spread


@dataclass(frozen=True)
class OtherNoise(Watched):
    """A twin that states the loss of `query` and draws with the noise of `drawn`."""

    drawn: AnyQuery

    def draw(self, value: Any, coins: Coins) -> Any:
        return self.drawn.draw(value, coins)

    def law(self, value: Any) -> Law | None:
        return self.drawn.law(value)


@dataclass(frozen=True)
class OtherThreshold(WatchedValues):
    """A twin that shows every value whose noisy count reaches `least`, whatever the question's own threshold."""

    least: int

    @property
    def threshold(self) -> int:
        return self.least


@dataclass(frozen=True)
class OneBare(Watched):
    """A twin that releases one of several noisy numbers without noise."""

    place: int

    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        drawn = list(self.query.draw(value, coins))
        drawn[self.place] = _centers(self.query.law(value))[self.place]
        return tuple(drawn)

    def law(self, value: Any) -> Independent:
        law = self.query.law(value)
        assert isinstance(law, Independent)
        parts = list(law.parts)
        parts[self.place] = Finite({_centers(law)[self.place]: Decimal(1)})
        return Independent(tuple(parts))

    def named(self, outcome: Any) -> str:
        return str(outcome[0])


@dataclass(frozen=True)
class OnlyNonEmpty(Watched):
    """A twin that draws a bar only for values that occur; a missing bar is None."""

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int | None, ...]:
        drawn = self.query.draw(value, coins)
        return tuple(noisy if count else None for noisy, count in zip(drawn, value, strict=True))

    def law(self, value: tuple[int, ...]) -> Independent:
        law = self.query.law(value)
        assert isinstance(law, Independent)
        nothing = Finite({None: Decimal(1)})
        return Independent(tuple(part if count else nothing for part, count in zip(law.parts, value, strict=True)))


class UncappedMedian(Median):
    """A twin of the median with the score −|rows at or above − rows at or below|. Replacing one person moves this score
    by two, but the stated Δ is one."""

    def blocks(self, value: Spread, share: Fraction, side: int = 0) -> Blocks:
        codes = np.arange(self.facts.schema[self.column].size, dtype=np.int64)
        at_least = np.array([value.counts[value.codes >= code].sum() for code in codes], dtype=np.int64)
        at_most = np.array([value.counts[value.codes <= code].sum() for code in codes], dtype=np.int64)
        return Blocks(codes, np.ones_like(codes), np.abs(at_least - at_most))


@dataclass(frozen=True)
class Unclipped(Watched):
    """A twin that sums the values as written, with noise for the declared range."""

    query: Sum

    def value(self, rows: Sequence[Row]) -> int:
        return sum(int(row["written"]) for row in rows)

    def draw(self, value: int, coins: Coins) -> tuple[int, ...]:
        return tuple(self.query.added[0].draw([value], coins))

    def law(self, value: int) -> Independent:
        return Independent((self.query.added[0].law(value),))


_GRID = 2.0**53


@dataclass(frozen=True)
class FloatNoise(Watched):
    """Textbook Laplace noise in floating point: −s·ln(u) for one of 2^53 values u, added to the count.

    Which doubles are possible depends on the count (Mironov 2012): many numbers that one table gives are impossible on
    the other. `reaches` tries every u that could lead to a number, so what it calls impossible is impossible.
    """

    query: OfCounts

    def draw(self, value: int, coins: Coins) -> float:
        return value + self._noise(coins.bits(53) + 1, coins.bits(1))

    def law(self, value: int) -> None:
        return None

    def _noise(self, place: int, sign: int) -> float:
        size = -float(self.query.scale) * math.log(place / _GRID)
        return -size if sign else size

    def reaches(self, number: float, count: int) -> bool:
        away, half = number - count, math.ulp(max(abs(number), abs(number - count))) * 2
        sign, scale = int(away < 0), float(self.query.scale)
        low, high = (_GRID * math.exp(-max(abs(away) + side * half, 0.0) / scale) for side in (1, -1))
        first, last = max(math.floor(low) - 2, 1), min(math.ceil(high) + 2, int(_GRID))
        return any(count + self._noise(place, sign) == number for place in range(first, last + 1))

    def view(self, first: int, second: int) -> View:
        kinds = [Cell(name, None, None, evidence) for name, evidence in (("other", -1), ("both", 0), ("one", 1))]
        return View(
            "digits", tuple(kinds), lambda raw: 1 + int(self.reaches(raw, first)) - int(self.reaches(raw, second))
        )


@dataclass(frozen=True)
class SharedCoin(Watched):
    """A twin with one coin for all people: the noise is 0 or n, and hides nobody's truth."""

    query: ShuffleCount | ShuffleHistogram

    def draw(self, value: Any, coins: Coins) -> Any:
        people, several = self.query.facts.about, isinstance(value, tuple)
        counts = value if several else (value,)
        sums = tuple(count + people * int(coins.many_flips(self.query.chance, 1)[0]) for count in counts)
        return sums if several else sums[0]

    def law(self, value: Any) -> Law:
        people, p = self.query.facts.about, decimal_of(self.query.chance)
        laws = tuple(
            Finite({count: 1 - p, count + people: p}) for count in (value if isinstance(value, tuple) else (value,))
        )
        return Independent(laws) if isinstance(value, tuple) else laws[0]


# --- which twin of which question -------------------------------------------------------------------------------------


def _centers(law: Law | None) -> tuple[int, ...]:
    assert isinstance(law, Independent)
    return tuple(part.center for part in law.parts if isinstance(part, Laplace | Normal))


def _moved(example: Example) -> list[int]:
    """The indices of the noisy numbers that differ between the two tables; empty if the law is not independent Laplace
    noise."""
    query = example.query
    laws = [query.law(query.need().of(rows)) for rows in example.tables]
    if not all(isinstance(law, Independent) and all(isinstance(part, Laplace) for part in law.parts) for law in laws):
        return []
    first, second = (_centers(law) for law in laws)
    return [at for at, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]


def half(example: Example) -> Watched:
    return OtherNoise(example.query, example.query.at(2 * example.query.epsilon))


def quarter(example: Example) -> Watched:
    """A twin with a quarter of the noise. (Half of the noise would not do: on one table a choice often loses little
    more than half of the stated ε.)"""
    return OtherNoise(example.query, example.query.at(4 * example.query.epsilon))


def small(example: Example) -> Watched | None:
    """A twin with noise for a Δ that is one too small; None where Δ is 1 or large: a large Δ hardly shows the error."""
    query, bound = example.query, example.query.sensitivity().bound
    return OtherNoise(query, query.at(query.epsilon * bound / (bound - 1))) if 2 <= bound <= 4 else None


def relation(example: Example) -> Watched | None:
    """A twin with the noise that add/remove would need; None if the tables differ by add/remove already."""
    query = example.query
    if example.relation != "replace":
        return None
    return OtherNoise(query, replace(query, facts=replace(query.facts, relation="add_remove")))


def bare(example: Example) -> Watched | None:
    """A twin with one number without noise. None if no noisy number differs, and for a mean over a public number of
    people: there the sum is the whole answer."""
    moved = _moved(example)
    return OneBare(example.query, moved[0]) if moved and getattr(example.query, "known", None) is None else None


def uncapped(example: Example) -> Watched | None:
    query = example.query
    if example.relation != "replace":
        return None
    return OtherNoise(query, UncappedMedian(**{each.name: getattr(query, each.name) for each in fields(query)}))


def unclipped(example: Example) -> Watched:
    assert isinstance(example.query, Sum)
    return Unclipped(example.query)


def floating(example: Example) -> Watched | None:
    assert isinstance(example.query, OfCounts)
    return None if example.query.noise else FloatNoise(example.query)


def threshold(example: Example) -> Watched:
    assert isinstance(example.query, FindDeclarations)
    return OtherThreshold(example.query, 1)


def shared(example: Example) -> Watched:
    assert isinstance(example.query, ShuffleCount | ShuffleHistogram)
    return SharedCoin(example.query)


TWINS: dict[str, Callable[[Example], Watched | None]] = {
    "nonempty": lambda example: OnlyNonEmpty(example.query),
    "uncapped": uncapped,
    "unclipped": unclipped,
    "threshold": threshold,
    "half": half,
    "quarter": quarter,
    "floating": floating,
    "relation": relation,
    "small": small,
    "bare": bare,
    "shared": shared,
}


def twins(example: Example) -> dict[str, Watched]:
    """By name, the broken twins that lose more than stated on these two tables, the plainest first."""
    named = catalogue[example.query.card.key].trial.broken_variants
    built = {name: make(example) for name, make in TWINS.items() if name in named}
    return {name: twin for name, twin in built.items() if twin is not None}


def watched(example: Example, twin: str = "") -> Watched:
    return twins(example)[twin] if twin else watch(example.query)
