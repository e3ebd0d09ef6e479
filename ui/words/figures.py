"""Numbers as a person reads them, all rounded by one rule.

Place       two digits of how far off a figure may be, half the width of its range, decide the last place that is
            printed: of 45,510 (30,685 – 60,335), which may be off by 14,825, the thousands.
Figure      to the nearest: 46,000.
Range       outwards, 30,000 – 61,000, so that what is printed holds at least as often as what was computed.
Decimals    never more than the figures have: whole numbers stay whole.
Cut         where the truth cannot be beyond some number (a count is not negative) neither figure nor range is shown
            beyond it: free post-processing of what was released, which stays as it is in the receipt. A range that
            lies wholly beyond is shown from that number on, half as wide as it was.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

import dpengine as dp
from dpengine.core.exact import decimal_of
from dpengine.messages import plain, say
from dpengine.messages.numbers import day, local, to_figures, ungrouped

Range = tuple[Any, Any]
MOST_DECIMALS = 12


def rounded(value: float, low: float, high: float) -> str:
    """A figure as text, rounded by its range."""
    step = _place(low, high, _decimals(value, low, high))
    return _print(_exact(value), step, ROUND_HALF_EVEN) if step else plain(value)


def rounded_range(low: float, high: float) -> tuple[str, str]:
    step = _place(low, high, _decimals(low, high))
    if not step:
        return plain(low), plain(high)
    return _print(_exact(low), step, ROUND_FLOOR), _print(_exact(high), step, ROUND_CEILING)


def bare(value: float) -> str:
    """A figure without a known error as text: to three digits, whole from a hundred on."""
    if abs(value) >= 100:
        return local(f"{value:,.0f}").replace("-", "−")
    return to_figures(value, 3).replace("-", "−")


def limits(query: dp.Query) -> tuple[float, float] | None:
    """The limits that an axis need not exceed; None without limits, and for days, whose axis chooses its own."""
    found = query.limits()
    return None if found is None or isinstance(found[0], str) else (float(found[0]), float(found[1]))


def cut(query: dp.Query, value: Any, interval: Any, part: str = "") -> tuple[Any, Any]:
    """A figure and its range, cut to what is certainly possible, as numbers to be drawn. Days stay as they are."""
    if isinstance(value, str) or interval is None:
        return value, interval
    least, most = (_drawable(end) for end in query.sure(part))
    low, high = interval
    half = (high - low) / 2
    if least is not None and high < least:
        low, high = least, least + half
    if most is not None and low > most:
        low, high = most - half, most
    return _kept(value, least, most), (_kept(low, least, most), _kept(high, least, most))


def printed_range(query: dp.Query, low: Any, high: Any, part: str = "") -> tuple[str, str]:
    """The ends of a range as text, rounded outwards. A range of days is shown as it is."""
    return _texts(query, low, low, high, part)[1:]


def anything(query: dp.Query, interval: Range) -> tuple[str, str]:
    """The ends of everything that is possible as text, for a figure that says nothing."""
    least, most = query.limits() or interval
    return printed_range(query, min(least, interval[0]), max(most, interval[1]))


def printed(query: dp.Query, value: Any, interval: Any, part: str = "") -> str:
    """A figure as text, rounded by its range if there is one."""
    if interval is None:
        text = day(value) if isinstance(value, str) else plain(value)
        return ungrouped(text) if _in_years(query, part) else text
    return _texts(query, value, interval[0], interval[1], part)[0]


def figure(answer: dp.Answer, part: str) -> str:
    """One of several figures of an answer as text, or words that it says nothing."""
    interval = answer.interval[part] if answer.interval else None
    if answer.query.mute(interval, part):
        return say("answer.nothing")
    return printed(answer.query, answer.value[part], interval, part)


def pictured(query: dp.Query, given: dict[str, Any], intervals: Any) -> tuple[Any, Any]:
    """The values and ranges of an answer's parts as a picture shows them. The value of a part that says nothing is
    None."""
    values: dict[str, Any] = {}
    ranges: dict[str, Range] = {}
    for part, value in given.items():
        interval = intervals[part] if intervals else None
        values[part] = value
        if interval is not None:
            values[part], ranges[part] = cut(query, value, interval, part)
        if query.mute(interval, part):
            values[part] = None
    return shown(query, values, ranges or None)


def shown(query: dp.Query, values: dict[str, Any], ranges: dict[str, Any] | None) -> tuple[Any, Any]:
    """The values and ranges of an answer's parts under names in the reader's language. The answer keeps the stored
    names."""
    names = query.shown()

    def renamed(part: dict[str, Any] | None) -> Any:
        return part and {names.get(label, label): value for label, value in part.items()}

    return renamed(values), renamed(ranges)


def printable(value: Any) -> Any:
    """An exact value, or a collection of them, as numbers to print. Ranges are rounded outwards only when they are
    printed."""
    if isinstance(value, dict):
        return {label: printable(part) for label, part in value.items()}
    if isinstance(value, tuple):
        return tuple(printable(part) for part in value)
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _texts(query: dp.Query, value: Any, low: Any, high: Any, part: str) -> tuple[str, str, str]:
    if isinstance(low, str):
        return day(value), day(low), day(high)
    least, most = query.sure(part)
    value, (first, last) = cut(query, value, (low, high), part)
    step = _place(low, high, _decimals(value, first, last))
    texts = []
    for number, rounding in ((value, ROUND_HALF_EVEN), (first, ROUND_FLOOR), (last, ROUND_CEILING)):
        whole = _whole(_exact(number), step, rounding) if step else _exact(number)
        kept = _kept(Fraction(whole), least, most)
        moved = kept != Fraction(whole) or not step
        texts.append(_end(kept, rounding) if moved else _print(_exact(number), step, rounding))
    return tuple(map(ungrouped, texts)) if _in_years(query, part) else tuple(texts)  # type: ignore[return-value]


def _end(value: Fraction, rounding: str) -> str:
    """The end of a range as text, with all its decimals and not rounded to its range: rounded to three decimals, a
    range could end before this end."""
    exact = _exact(value)
    step = Decimal(1).scaleb(-min(_decimals(value), MOST_DECIMALS))
    return plain(value) if step == 1 else _print(exact, step, rounding)


def _drawable(end: Any) -> Any:
    if not isinstance(end, Fraction):
        return end
    return int(end) if end.denominator == 1 else float(end)


def _kept(value: Any, least: Any, most: Any) -> Any:
    value = value if least is None or value >= least else least
    return value if most is None or value <= most else most


def _in_years(query: dp.Query, part: str) -> bool:
    """Is this part of the answer a place in a column of years?"""
    column = query.facts.schema.columns.get(query.column_of(part))
    return query.answer_kind == "place" and isinstance(column, dp.Number) and column.years


def _exact(value: Any) -> Decimal:
    """The decimal a float prints as: 1.63 is 1.63, not the binary fraction a hair below it."""
    return decimal_of(value) if isinstance(value, Fraction) else Decimal(str(value))


def _decimals(*values: Any) -> int:
    """The largest number of decimals that any of these figures has."""
    return max(0, *(-int(_exact(value).normalize().as_tuple().exponent) for value in values))


def _place(low: Any, high: Any, decimals: int) -> Decimal:
    """The last place worth printing, as a power of ten; 0 if nothing is uncertain."""
    half = (_exact(high) - _exact(low)) / 2
    return Decimal(1).scaleb(max(half.adjusted() - 1, -decimals)) if half > 0 else Decimal(0)


def _whole(value: Decimal, step: Decimal, rounding: str) -> Decimal:
    return (value / step).to_integral_value(rounding=rounding) * step


def _print(value: Decimal, step: Decimal, rounding: str) -> str:
    rounded_value = _whole(value, step, rounding) + 0
    return local(f"{rounded_value:,.{max(0, -step.adjusted())}f}".replace("-", "−"))
