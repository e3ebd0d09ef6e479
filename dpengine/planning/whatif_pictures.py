"""The same made-up people, as an answer would show them: their true figures, and how far each may be off.

Nothing is drawn at random and no table is read. The people follow a public shape on the declared range (a bell), and
the error is the question's own promise, so the picture is the promise and not a lucky or unlucky draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

from dpengine.declared.schema import Number
from dpengine.mechanisms.card import CURVES
from dpengine.mechanisms.choices.noisy_argmax import NoisyArgmax
from dpengine.mechanisms.choices.top_item import TopItem
from dpengine.mechanisms.promises import Band, NearBest, Rank, WithinEach
from dpengine.mechanisms.query import AnyQuery

MOST_BARS = 24
POINTS = 60
SHARES = 10  # of a class or a session, which has very many
TRAIT = 0.4  # the part of made-up people who meet a condition
LEAD = 1_000  # the largest group leads the next by one person in this many
_WIDE = 0.15 / 1.6  # of the bell, relative to the range


@dataclass(frozen=True)
class Picture:
    """The true figures `truth` of made-up people at the places `at`, and the ends `low` and `high` between which an
    answer may lie. By kind: named bars, one range, a curve over a column, or the chance that each name is given."""

    kind: str  # bars, range, curve, chance
    unit: str  # people, percent, column
    at: tuple[str, ...] | tuple[float, ...]
    truth: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    limits: tuple[float, float] | None = None  # beyond which no answer can be


def value_at(rank: float) -> float:
    """The point of the range, from 0 to 1, below which this share of the made-up people are."""
    if not 0 < rank < 1:
        return float(rank >= 1)
    return min(max(0.5 + _WIDE * log(rank / (1 - rank)), 0.0), 1.0)


def rank_at(place: float) -> float:
    """The share of the made-up people up to this point of the range."""
    return 0.0 if place <= 0 else 1.0 if place >= 1 else 1 / (1 + exp((0.5 - place) / _WIDE))


def picture(query: AnyQuery) -> Picture:
    """The picture of a solved question, chosen by the kinds of its promise and answer."""
    promise, people = query.promise(), query.planned_size
    off, kind = float(promise.figure_for(query)), query.answer_kind
    if isinstance(promise, Rank):
        return _places(query, float(promise.share))
    if isinstance(promise, NearBest):
        return _chances(query)
    if isinstance(promise, Band):
        return _curve("percent", lambda place: 100 * _density(place), off, _ends(query))
    if kind in CURVES:
        share = off if promise.unit == "percent" else 100 * off / people
        return _curve("percent", lambda place: 100 * rank_at(place), share, _ends(query), (0.0, 100.0))
    if isinstance(promise, WithinEach):
        names = tuple(str(place + 1) for place in range(len(promise.columns)))
        return _bars("percent", names[:MOST_BARS], [50.0] * len(names), off, 100.0)
    many = max(len(query.labels()), int(getattr(promise, "of", 1)))
    if promise.unit in ("people", "percent") and many > 1:
        whole, many = (float(people), many) if promise.unit == "people" else (100.0, min(many, SHARES))
        shown = query.shown()
        labels = query.labels()[:many] or [str(place + 1) for place in range(many)]
        names = tuple(shown.get(label, label) for label in labels)
        shares = [rank_at((place + 1) / many) - rank_at(place / many) for place in range(many)]
        start = max((many - MOST_BARS) // 2, 0)  # of very many, those in the middle
        middle = slice(start, start + MOST_BARS)
        return _bars(promise.unit, names[middle], [whole * share for share in shares[middle]], off, whole)
    if promise.unit in ("people", "percent"):
        whole = float(people) if promise.unit == "people" else 100.0
        return _range(promise.unit, TRAIT * whole, off, (0.0, whole))
    low, high = _ends(query)
    if kind == "place":
        return _range("column", (low + high) / 2, off, (low, high))
    if kind == "distance":
        return _range("column", (high - low) * _WIDE * 1.81, off, (0.0, high - low))  # a logistic: π/√3
    if kind == "amount":
        return _range("column", (low + high) / 2 * people, off, None)
    return Picture("range", "percent", (), (0.0,), (0.0,), (off,))  # a model: how much worse than the best


def _ends(query: AnyQuery) -> tuple[float, float]:
    """The ends of the range of the question's column; 0 and 100 (percent) for a column of days or without a column."""
    name = query.answer_column or str(next(iter(getattr(query, "columns", ())), ""))
    column = query.facts.schema.columns.get(name)
    return (float(column.lower), float(column.upper)) if isinstance(column, Number) else (0.0, 100.0)


def _places(query: AnyQuery, share: float) -> Picture:
    """The picture of a question about percentiles, or about the distance of two: the true values, and the values at the
    ranks where an answer may lie."""
    low, high = _ends(query)
    ranks = [float(place) for place in query.wanted_places]

    def at(rank: float) -> float:
        return low + (high - low) * value_at(rank)

    if query.answer_kind == "distance":
        first, last = min(ranks), max(ranks)
        least = max(at(last - share) - at(first + share), 0.0)
        ends = ((at(last) - at(first),), (least,), (at(last + share) - at(first - share),))
        return Picture("range", "column", (), *ends, (0.0, high - low))
    truth, lowest, highest = (tuple(at(rank + move) for rank in ranks) for move in (0.0, -share, share))
    if len(ranks) == 1:
        return Picture("range", "column", (), truth, lowest, highest, (low, high))
    names = tuple(f"{100 * rank:g} %" for rank in ranks)
    return Picture("bars", "column", names, truth, lowest, highest, (low, high))


def _chances(query: AnyQuery) -> Picture:
    """The picture of a choice: how often each group is named, in percent, if each group is smaller than the one before
    by one person in LEAD."""
    if isinstance(query, NoisyArgmax):
        names = [str(place + 1) for place in range(len(query.options or query.averages))]
    else:
        assert isinstance(query, TopItem)
        column = query.facts.schema.listed(query.column)
        names = [str(column.labels[code]) for code in query.candidates.tolist()]
    rate, step = float(query.rate), max(query.facts.about // LEAD, 1)
    weights = [exp(-rate * step * place) for place in range(len(names))]
    chances = tuple(100 * weight / sum(weights) for weight in weights)[:MOST_BARS]
    return Picture("chance", "percent", tuple(names[:MOST_BARS]), chances, chances, chances, (0.0, 100.0))


def _density(place: float) -> float:
    """The height of the bell relative to an even spread."""
    rank = 1 / (1 + exp((0.5 - place) / _WIDE))
    return rank * (1 - rank) / _WIDE


def _curve(
    unit: str,
    height: Callable[[float], float],
    off: float,
    ends: tuple[float, float],
    limits: tuple[float, float] | None = None,
) -> Picture:
    places = [step / POINTS for step in range(POINTS + 1)]
    xs = tuple(ends[0] + (ends[1] - ends[0]) * place for place in places)
    least, most = limits or (0.0, float("inf"))
    truth = tuple(height(place) for place in places)
    low, high = tuple(max(y - off, least) for y in truth), tuple(min(y + off, most) for y in truth)
    return Picture("curve", unit, xs, truth, low, high, limits)


def _bars(unit: str, names: tuple[str, ...], truth: list[float], off: float, most: float) -> Picture:
    low, high = tuple(max(y - off, 0.0) for y in truth), tuple(min(y + off, most) for y in truth)
    return Picture("bars", unit, names, tuple(truth), low, high, (0.0, most))


def _range(unit: str, truth: float, off: float, limits: tuple[float, float] | None) -> Picture:
    least, most = limits or (-float("inf"), float("inf"))
    return Picture("range", unit, (), (truth,), (max(truth - off, least),), (min(truth + off, most),), limits)
