"""A lower bound on the privacy loss of a black box, from its outcomes on two neighbouring tables alone.

**Statement.** `one` and `other` are independent draws of a release on the two tables. If the release is (ε, δ)-DP, then
with probability at least 1 − `failure` the returned ε does not exceed that ε. It is a lower bound: a small value means
that this many draws showed nothing, never that there is nothing to show.

**Proof.** The first half of each sample is searched for an event S and a direction; the second halves play no part in
that. Given the first halves, S and the direction are therefore fixed, and the hits in the second halves are binomial:
k₁ of n₁ with p = Pr[S] on the table that shows S more often, k₂ of n₂ with q on the other. Clopper and Pearson (1934):
p ≥ p₋(k₁, n₁) except with probability failure/2, and q ≤ q₊(k₂, n₂) except with probability failure/2, for all p and
q; by the union bound, both hold except with probability `failure`. Neighbours are neighbours in both directions, so
(ε, δ)-DP implies p ≤ e^ε·q + δ either way, hence ε ≥ ln((p − δ)/q) ≥ ln((p₋ − δ)/q₊). Only one event is tested, so the
number of searched events costs nothing. Averaging over the first halves keeps the bound. ∎

A searched draw must not be tested: the best of many events fits its own sample, and a bound computed on it accuses
honest releases. `tests/engine/audit/test_audit.py` shows this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpengine.audit.events import Event, EventReading, plain, readings_of, values_of
from dpengine.core.types import Floats

FAILURE = 1e-6
_ENDS = 40  # half-lines and values of one coordinate
_INNER = 16  # ends of its intervals
_ROUNDING = 1e-9  # far above the relative error of an inverse beta function

Counts = npt.NDArray[np.int64]
Bound = Callable[[Counts, int, Counts, int], Floats]  # from hits and draws on the one table and on the other


@dataclass(frozen=True)
class Evidence:
    """ε is at least this at the given δ, except with probability `failure`."""

    epsilon: float
    delta: Fraction
    failure: float
    family: str
    event: str  # in words
    hits: tuple[int, int, int, int]  # k₁ of n₁ on the table that shows the event more often, k₂ of n₂ on the other
    swapped: bool  # True: that table is `other`


def lower_bound(
    one: Sequence[object], other: Sequence[object], delta: Fraction = Fraction(0), failure: float = FAILURE
) -> Evidence:
    """A lower bound on ε at this δ for a release that drew `one` on a table and `other` on a neighbouring one."""
    if min(len(one), len(other)) < 2 or not 0 < failure < 1 or not 0 <= delta < 1:
        raise ValueError("two draws of each table, a failure probability and a δ below 1 are needed")
    first, second = plain(one), plain(other)
    middle, centre = len(first) // 2, len(second) // 2
    event, swapped = search(first[:middle], second[:centre], delta, failure)
    return measure(event, swapped, first[middle:], second[centre:], delta, failure)


def measure(
    event: Event, swapped: bool, one: Sequence[object], other: Sequence[object], delta: Fraction, failure: float
) -> Evidence:
    """The bound for this event and direction, from draws that played no part in choosing them."""
    more, less = (other, one) if swapped else (one, other)
    hits = (event.hits(more), len(more), event.hits(less), len(less))
    [epsilon] = _bounds(np.array([hits[0]]), hits[1], np.array([hits[2]]), hits[3], delta, failure)
    return Evidence(max(0.0, float(epsilon)), delta, failure, event.family, event.words, hits, swapped)


def search(one: Sequence[object], other: Sequence[object], delta: Fraction, failure: float) -> tuple[Event, bool]:
    """The event and the direction (True: more often on `other`) for which these draws give the best bound on ε."""
    return search_by(one, other, lambda more, many, less, others: _bounds(more, many, less, others, delta, failure))


def search_by(one: Sequence[object], other: Sequence[object], bound: Bound) -> tuple[Event, bool]:
    """`search` for any bound that follows from hits. Likelihood ratios are fitted to half of the draws and ranked on
    the rest: otherwise they would win by chance, and the bound would stay valid but be useless."""
    best: tuple[float, Event, bool] | None = None
    middle, centre = (len(one) + 1) // 2, (len(other) + 1) // 2
    readings = readings_of(one[:middle], other[:centre])
    first, second = one[middle:] or one, other[centre:] or other
    for events, counts in _candidates(readings, first, second):
        for swapped in (False, True):
            more, less = counts[::-1] if swapped else counts
            many, others = (len(second), len(first)) if swapped else (len(first), len(second))
            # Ranked as if twice as many draws had shown the same, because that many will be tested.
            bounds = bound(2 * more, 2 * many, 2 * less, 2 * others)
            place = int(np.argmax(bounds))
            if best is None or bounds[place] > best[0]:
                best = (float(bounds[place]), events[place], swapped)
    assert best is not None
    return best[1], best[2]


def lower_chance(hits: Counts, draws: int, failure: float) -> Floats:
    """Clopper–Pearson: the true chance is at least this, except with probability `failure`."""
    from scipy.special import betaincinv

    chances = betaincinv(np.maximum(hits, 1), draws - np.maximum(hits, 1) + 1, failure) * (1 - _ROUNDING)
    return np.where(hits == 0, 0.0, chances)


def upper_chance(hits: Counts, draws: int, failure: float) -> Floats:
    """Clopper–Pearson: the true chance is at most this, except with probability `failure`."""
    from scipy.special import betainccinv

    most = np.minimum(hits, draws - 1)
    chances = betainccinv(most + 1, draws - most, failure) * (1 + _ROUNDING)
    return np.where(hits == draws, 1.0, np.minimum(chances, 1.0))


def _bounds(more: Counts, many: int, less: Counts, others: int, delta: Fraction, failure: float) -> Floats:
    """ln((p₋ − δ)/q₊) for each event, each side with half of the failure probability; −∞ if δ explains everything."""
    above = lower_chance(more, many, failure / 2) - float(delta)
    below = upper_chance(less, others, failure / 2)
    return np.where(above > 0, np.log(np.maximum(above, 1e-300) / below), -math.inf)


def _candidates(
    readings: dict[str, list[EventReading]], one: Sequence[object], other: Sequence[object]
) -> Iterator[tuple[list[Event], tuple[Counts, Counts]]]:
    """Events by reading, with the number of hits of each in the two samples."""
    for kind, readings_of_kind in readings.items():
        for reading in readings_of_kind:
            first, second = (np.sort(values_of(reading, outcomes)) for outcomes in (one, other))
            events = list(_events(kind, reading, first, second))
            low = np.array([event.low for event in events])
            high = np.array([event.high for event in events])
            yield events, (_hits(first, low, high), _hits(second, low, high))


def _hits(values: Floats, low: Floats, high: Floats) -> Counts:
    return np.searchsorted(values, high, side="right") - np.searchsorted(values, low, side="left")


def _events(kind: str, reading: EventReading, first: Floats, second: Floats) -> Iterator[Event]:
    ends = _ends(first, second, _ENDS)
    if kind == "outcome":
        yield from (Event(kind, reading, end, end) for end in (1.0, 0.0))
        return
    for end in ends:
        family = "half-line" if kind == "coordinate" else kind
        yield Event(family, reading, end, math.inf)
        yield Event(family, reading, -math.inf, end)
    if kind == "coordinate":
        yield from (Event("value", reading, end, end) for end in ends)
        inner = _ends(first, second, _INNER)
        for place, low in enumerate(inner):
            yield from (Event("interval", reading, low, high) for high in inner[place + 1 :])


def _ends(first: Floats, second: Floats, most: int) -> list[float]:
    """Possible ends of events: values that occur, evenly by rank, including the rarest on both sides."""
    ends = np.unique(np.concatenate((first, second)))
    if len(ends) > most:
        pooled = np.sort(np.concatenate((first, second)))
        # Half of the ends by rank and half towards the two extremes, where the ratio is largest and the hits are few.
        ranks = np.concatenate((np.linspace(0, 1, most // 2), 0.5 ** np.arange(2, 2 + most // 4)))
        ranks = np.concatenate((ranks, 1 - ranks))
        ends = np.unique(pooled[(ranks * (len(pooled) - 1)).astype(np.int64)])
    return [float(end) for end in ends]
