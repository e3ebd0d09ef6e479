"""A model in plain words: what each column does to the prediction, in its own unit, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

import dpengine as dp
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Number
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.messages import plain, say
from dpengine.statistics.features import CONSTANT
from ui.words.figures import bare, rounded, rounded_range

Interval = tuple[float, float]
WIDE_ODDS = 10.0  # between the ends of such a range of log-odds lies a factor of more than 20,000


@dataclass(frozen=True)
class Effect:
    """What a change of one column does to the prediction, all else equal; of yes and no, to the log-odds or score."""

    column: str
    value: float
    interval: Interval | None
    reach: float  # the most it can do
    by: str = ""  # of a number: so much more of it
    label: str = ""  # of a list: this value …
    base: str = ""  # … rather than this one

    @property
    def clear(self) -> bool:
        """Could the noise alone not have made it? Not claimed where nothing is known."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def step_of(column: Number | Date) -> Fraction:
    """A round change that a person can picture: about a tenth of the range, more or less."""
    width = column.diameter
    best = Fraction(1)
    power = Fraction(10) ** (len(str(int(width))) + 1)
    while power > width / 10**4:
        for digit in (5, 2, 1):
            if digit * power <= width / 7:
                return max(digit * power, getattr(column, "step", best))
        power /= 10
    return width


def _by(column: Number | Date, step: Fraction) -> str:
    return say("train_page.days", days=step) if isinstance(column, Date) else plain(step)


def effects(answer: dp.Answer) -> list[Effect]:
    """One for each number and date, one for each list: its two values that differ most."""
    query = answer.query
    assert isinstance(query, OfGradients)
    found = []
    for name in query.features:
        column = query.facts.schema[name]
        if isinstance(column, Category):
            found.append(_widest(answer, name, column))
        else:
            assert isinstance(column, Number | Date)
            step = step_of(column)
            reach = abs(answer.value[name]) * float(column.diameter)
            found.append(Effect(name, *_times(answer, name, float(step)), reach, by=_by(column, step)))
    return found


def _times(answer: dp.Answer, label: str, factor: float) -> tuple[float, Interval | None]:
    interval = answer.interval and tuple(end * factor for end in answer.interval[label])
    return answer.value[label] * factor, interval or None


def _widest(answer: dp.Answer, name: str, column: Category) -> Effect:
    each = {label: answer.value[f"{name} = {label}"] for label in column.values}
    low, high = min(each, key=each.__getitem__), max(each, key=each.__getitem__)
    value, interval = each[high] - each[low], None
    if answer.interval:
        (least_a, most_a), (least_b, most_b) = (answer.interval[f"{name} = {label}"] for label in (high, low))
        interval = least_a - most_b, most_a - least_b
    return Effect(name, value, interval, abs(value), label=high, base=low)


def headline(answer: dp.Answer) -> tuple[str, Effect]:
    """The strongest effect as a sentence; one that stands clear of the noise goes first."""
    one = max(effects(answer), key=lambda effect: (effect.clear, effect.reach))
    return sentence(answer, one), one


def sentence(answer: dp.Answer, one: Effect) -> str:
    """“For every 10 more of age, monthly_income is about 120 higher, all else equal.”"""
    query: Any = answer.query
    kind = "by" if one.by else "value"
    facts: dict[str, Any] = {"column": one.column, "by": one.by, "label": one.label, "base": one.base}
    facts = {name: fact for name, fact in facts.items() if fact}
    if _linear(query):
        away = "higher" if one.value >= 0 else "lower"
        return say(f"train_page.says.{kind}.{away}", amount=_amount(one), target=query.target, **facts)
    yes = list(query.positive)
    if query.layout.sharp:
        away = "score_higher" if one.value >= 0 else "score_lower"
        return say(f"train_page.says.{kind}.{away}", amount=_amount(one), yes=yes, target=query.target, **facts)
    return say(f"train_page.says.{kind}.odds", times=_odds(one.value), yes=yes, target=query.target, **facts)


def _linear(query: Any) -> bool:
    return not query.layout.listed


def _amount(one: Effect) -> str:
    """Without its sign, to the places that its range supports, but never to nothing."""
    if one.interval is not None:
        told = rounded(abs(one.value), abs(one.value) - _half(one), abs(one.value) + _half(one))
        if any(sign in told for sign in "123456789"):
            return told
    return bare(abs(one.value))


def _half(one: Effect) -> float:
    return (one.interval[1] - one.interval[0]) / 2 if one.interval else 0.0


def _odds(value: float) -> str:
    return bare(exp(max(min(value, 40.0), -40.0)))


def rows(answer: dp.Answer) -> list[tuple[str, str, str]]:
    """A score card: when, what it adds (or what it multiplies the odds by), and its range."""
    query: Any = answer.query
    told = []
    for label in answer.value:
        column = query.facts.schema[label] if label in query.features else None
        factor, when = 1.0, label
        if label == CONSTANT:
            when = say("train_page.card.begin")
        elif isinstance(column, Number | Date):
            step = step_of(column)
            factor, when = float(step), say("train_page.card.by", by=_by(column, step), column=label)
        value, interval = _times(answer, label, factor)
        told.append((when, *_cells(query, value, interval, label == CONSTANT)))
    return told


def _cells(query: Any, value: float, interval: Interval | None, first: bool) -> tuple[str, str]:
    """A range wider than all there can be is no range."""
    wide = WIDE_ODDS if not _linear(query) else 2 * float(query.facts.schema[query.target].diameter)
    nothing = interval is not None and interval[1] - interval[0] >= wide
    amount, spread = _figures(query, value, interval, first)
    return amount, say("train_page.card.anything") if nothing else spread


def _figures(query: Any, value: float, interval: Interval | None, first: bool) -> tuple[str, str]:
    if _linear(query) or query.layout.sharp:
        amount = bare(value)  # not cut to its range: it is reckoned with
        spread = " – ".join(rounded_range(*interval)) if interval else ""
        return amount if first or value < 0 else f"+{amount}", spread
    spread = " – ".join(_odds(end) for end in interval) if interval else ""
    return _odds(value) if first else f"× {_odds(value)}", spread
