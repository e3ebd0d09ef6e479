"""The events that test a black box: a number read off each outcome lies between two ends.

An outcome is a number, a text, a tuple of numbers, or values with their counts; a mapping is read as its items. The
families:

    outcome     the outcome is this one, or is not
    value       one coordinate has this value
    half-line   one coordinate is at most, or at least, a bound
    interval    one coordinate lies between two values
    likelihood  the outcome's estimated log-likelihood ratio is at most, or at least, a bound: by whole outcomes if
                they are few, and as a sum over the coordinates
    label       a value was released, or was not; released with at least a count
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpengine.core.types import Floats
from dpengine.messages import say

ABSENT = -math.inf

MOST_COORDINATES = 128
MOST_OUTCOMES = 64  # single outcomes tried, the most frequent ones
_FEWEST = 10  # hits of a whole outcome for which the ratio is estimated
_BINS = 32  # of one coordinate, in the estimated ratio


class EventReading(Protocol):
    """Reads a number off an outcome."""

    def read(self, outcome: object) -> float: ...

    def words(self, low: float, high: float) -> str: ...


@dataclass(frozen=True)
class Coordinate:
    """Reads one number of an outcome; if `place` is None, the outcome is that number."""

    place: int | None

    def read(self, outcome: Any) -> float:
        try:
            return float(outcome if self.place is None else outcome[self.place])
        except (TypeError, ValueError, IndexError):  # an outcome of another shape belongs to no event of this reading
            return math.nan

    def words(self, low: float, high: float) -> str:
        name = say("audit.event.number") if self.place is None else say("audit.event.nth", place=self.place + 1)
        return _between(name, low, high)


@dataclass(frozen=True)
class Same:
    """Reads 1 for one outcome, 0 for every other."""

    outcome: object

    def read(self, outcome: object) -> float:
        return float(outcome == self.outcome)

    def words(self, low: float, high: float) -> str:
        return say("audit.event.same" if high >= 1 else "audit.event.other", outcome=repr(self.outcome)[:60])


@dataclass(frozen=True)
class Label:
    """Reads the count that a value was released with; −∞ if it was not released."""

    name: str

    def read(self, outcome: Any) -> float:
        try:
            return next((float(count) for name, count in outcome if name == self.name), ABSENT)
        except (TypeError, ValueError):
            return math.nan

    def words(self, low: float, high: float) -> str:
        if high == ABSENT:
            return say("audit.event.absent", name=self.name)
        if low == ABSENT:
            return say("audit.event.seldom", name=self.name, high=_number(high))
        return say("audit.event.found", name=self.name, low=_number(low))


@dataclass(frozen=True)
class Ratio:
    """Reads ln(P/Q), estimated from a histogram of each reading and summed; 0 if neither table showed such an
    outcome."""

    readings: tuple[EventReading, ...]
    edges: tuple[Floats, ...]
    scores: tuple[Floats, ...]

    def read(self, outcome: object) -> float:
        return sum(
            float(score[np.searchsorted(edge, reading.read(outcome), side="right")])
            for reading, edge, score in zip(self.readings, self.edges, self.scores, strict=True)
        )

    def words(self, low: float, high: float) -> str:
        return _between(say("audit.event.ratio"), low, high)

    @staticmethod
    def fitted(readings: Sequence[EventReading], one: Sequence[object], other: Sequence[object]) -> Ratio:
        edges, scores = [], []
        for reading in readings:
            first, second = (values_of(reading, outcomes) for outcomes in (one, other))
            pooled = np.unique(np.concatenate((first, second)))
            if len(pooled) > _BINS:
                every = np.sort(np.concatenate((first, second)))
                pooled = np.unique(every[np.linspace(0, len(every) - 1, _BINS + 1).astype(np.int64)])
            counts = [
                np.bincount(np.searchsorted(pooled, values, side="right"), minlength=len(pooled) + 1)
                for values in (first, second)
            ]
            edges.append(pooled)
            scores.append(_log_ratio(counts[0], counts[1], len(one), len(other)))
        return Ratio(tuple(readings), tuple(edges), tuple(scores))


@dataclass(frozen=True)
class Outcomes:
    """Reads ln(P/Q) as estimated from a histogram of whole outcomes; 0 if an outcome was seen too rarely."""

    scores: Mapping[Any, float]

    def read(self, outcome: object) -> float:
        return self.scores.get(outcome, 0.0)

    def words(self, low: float, high: float) -> str:
        return _between(say("audit.event.ratio"), low, high)

    @staticmethod
    def fitted(first: Counter[Any], second: Counter[Any]) -> Outcomes:
        names = [name for name, hits in (first + second).items() if hits >= _FEWEST]
        counts = [np.array([table[name] for name in names], dtype=np.int64) for table in (first, second)]
        ratios = _log_ratio(counts[0], counts[1], first.total(), second.total())
        return Outcomes(dict(zip(names, ratios.tolist(), strict=True)))


@dataclass(frozen=True)
class Event:
    family: str
    reading: EventReading
    low: float
    high: float

    def hits(self, outcomes: Sequence[object]) -> int:
        return sum(self.low <= self.reading.read(outcome) <= self.high for outcome in outcomes)

    @property
    def words(self) -> str:
        return self.reading.words(self.low, self.high)


def plain(outcomes: Sequence[object]) -> list[Any]:
    """Hashable outcomes: a mapping as its items by name, a list as a tuple."""
    return [
        tuple(sorted(item.items())) if isinstance(item, Mapping) else tuple(item) if isinstance(item, list) else item
        for item in outcomes
    ]


def readings_of(one: Sequence[object], other: Sequence[object]) -> dict[str, list[EventReading]]:
    """The readings of outcomes like these, by the family of events they serve; ratios are fitted to these."""
    both = [*one, *other]
    first, second = Counter(one), Counter(other)
    common = (first + second).most_common(MOST_OUTCOMES)
    readings: dict[str, list[EventReading]] = {"outcome": [Same(name) for name, _ in common]}
    readings["coordinate"] = list(_coordinates(both))
    readings["label"] = [] if readings["coordinate"] else list(_labels(both))
    likely: list[EventReading] = [Outcomes.fitted(first, second)]
    parts = readings["coordinate"] or readings["label"]
    if parts:
        likely.append(Ratio.fitted(parts, one, other))
    return readings | {"likelihood": likely}


def values_of(reading: EventReading, outcomes: Sequence[object]) -> Floats:
    return np.fromiter((reading.read(outcome) for outcome in outcomes), dtype=np.float64, count=len(outcomes))


def _coordinates(outcomes: Sequence[object]) -> list[EventReading]:
    if all(_is_number(outcome) for outcome in outcomes):
        return [Coordinate(None)]
    width = len(outcomes[0]) if isinstance(outcomes[0], tuple) else 0
    same = all(
        isinstance(item, tuple) and len(item) == width and all(_is_number(part) for part in item) for item in outcomes
    )
    return [Coordinate(place) for place in range(min(width, MOST_COORDINATES))] if same else []


def _labels(outcomes: Sequence[Any]) -> list[EventReading]:
    def has_counts(outcome: object) -> bool:
        return isinstance(outcome, tuple) and all(
            isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str) and _is_number(part[1])
            for part in outcome
        )

    if not all(has_counts(outcome) for outcome in outcomes):
        return []
    names = Counter(name for outcome in outcomes for name, _ in outcome)
    return [Label(name) for name, _ in names.most_common(MOST_COORDINATES)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not (isinstance(value, float) and math.isnan(value))


def _log_ratio(first: Any, second: Any, many: int, others: int) -> Floats:
    """ln(P/Q), 0 where nothing was seen. Half a hit more on each side keeps unseen outcomes from being impossible."""
    seen = (first + second) > 0
    ratio = np.log((first + 0.5) / (many + 1)) - np.log((second + 0.5) / (others + 1))
    return np.where(seen, ratio, 0.0)


def _between(name: str, low: float, high: float) -> str:
    if low == high:
        return say("audit.event.equal", name=name, value=_number(low))
    if low == -math.inf:
        return say("audit.event.at_most", name=name, high=_number(high))
    if high == math.inf:
        return say("audit.event.at_least", name=name, low=_number(low))
    return say("audit.event.between", name=name, low=_number(low), high=_number(high))


def _number(value: float) -> str:
    return f"{value:.4g}"
