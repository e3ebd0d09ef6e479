"""Numbers and promises as a person reads them: rounded to what the noise supports, always on the safe side."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from html import escape
from math import ceil, floor, log, sqrt
from typing import Any

import dpengine as dp
from dpengine.asking.repeated_answers import Reading
from dpengine.core.exact import decimal_of, text_of
from dpengine.mechanisms.card import WHOLE
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.mechanisms.curves.density import Density
from dpengine.mechanisms.models.of_models import OfModel
from dpengine.mechanisms.promises import Band, Blurred, Excess, NearBest, NoPromise, Promise, Rank, Within
from dpengine.mechanisms.telling import APART, leaders
from dpengine.messages import known, plain, say
from dpengine.messages.numbers import day, local, setting
from dpengine.released.monotone import halfway
from ui.words import density_words
from ui.words.figures import anything, figure, printed, printed_range, two_figures


def percent(share: Fraction | float) -> str:
    """A share of the allowance: 12 %, 0.4 %, below 0.1 %. Nearly all is not all: 99.96 % is 99 %."""
    value = float(share) * 100
    if 0 < value < 0.1:
        return say("percent.tiny")
    if 99 < value < 100:
        value = 99.0
    text = f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.1f}".rstrip("0").rstrip(".")
    return f"{local(text)} %"


def power_of_ten(value: Fraction) -> str:
    """A small δ as 10⁻⁶ or 9 · 10⁻⁷, to three figures and never below the truth; from 0.001 on plain."""
    if value <= 0:
        return "0"
    number = decimal_of(value)
    if number >= Decimal("0.001"):
        return plain(float(value))
    number = number.quantize(Decimal(1).scaleb(number.adjusted() - 2), rounding=ROUND_CEILING)
    power = number.adjusted()
    leading = number.scaleb(-power).normalize()
    ten = "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return ten if leading == 1 else f"{local(str(leading))} · {ten}"


def three_figures(epsilon: Fraction) -> str:
    """An ε in a line of words: exact where it is short, else to three figures."""
    return local(text_of(epsilon) if epsilon.denominator <= 1000 else f"{float(epsilon):.3g}")


def chance(beta: Fraction) -> str:
    return plain(float(1 - beta) * 100)


def promise_words(promise: Promise, query: dp.Query | None = None) -> str:
    """What the answer will be worth, before it is bought; more plainly where the question is given too."""
    if isinstance(promise, Within) and query is not None and (unseen := query.unseen()) is not None:
        facts = {"alpha": amount(replace(promise, alpha=query.off()), query), "unseen": unseen}
        return say("promise.found", unit=unit_words(query), chance=chance(promise.beta), **facts) + _guess(promise)
    if isinstance(promise, Within):
        code = "promise.within" if promise.of == 1 else "promise.within_all"
        if query is not None and query.answer_kind == "curve":
            code = "promise.curve"
        told = say(code, alpha=amount(promise, query), of=promise.of, chance=chance(promise.beta))
        return told + _guess(promise, query)
    if isinstance(promise, Rank):
        if (around := places(promise, query)) is not None:
            return say("promise.places" if around else "promise.anywhere", **around) + _guess(promise)
        share = percent(min(promise.share, Fraction(1)))
        return say("promise.rank", share=share, chance=chance(promise.beta)) + _guess(promise)
    if isinstance(promise, NearBest):
        unit = unit_words(query)
        return say("promise.near_best", gap=promise.gap, unit=unit, chance=chance(promise.beta))
    if isinstance(promise, Blurred):
        return _blurred("promise.blurred", promise)
    if isinstance(promise, Band):
        return say("promise.band", share=percent_up(promise.amount), chance=chance(promise.beta)) + _guess(promise)
    if isinstance(promise, Excess):
        return worse_words("promise.excess", promise, query)
    assert isinstance(promise, NoPromise)
    return promise.why


def _blurred(code: str, promise: Blurred) -> str:
    """What all rows of a published table tell together; nothing where that could be anything."""
    if promise.empty:
        return say(f"{code}_nothing")
    return say(code, share=percent_up(promise.share), chance=chance(promise.beta))


def worse(risk: float, query: dp.Query) -> float:
    """An excess loss in the reader's unit: how much larger the typical error is at most, as √(a + b) ≤ √a + √b; of yes
    and no, in percent of what the toss of a coin loses, ln 2."""
    goal = _goal(query)
    return sqrt(2 * risk) * float(goal.diameter) / 2 if isinstance(goal, dp.Number) else 100 * risk / log(2)


def less_worse(told: Fraction, query: dp.Query) -> Fraction:
    """The inverse, for what is typed."""
    goal = _goal(query)
    if isinstance(goal, dp.Number):
        return (2 * told / goal.diameter) ** 2 / 2
    return told / 100 * Fraction(log(2)).limit_denominator(10**9)


def _goal(query: dp.Query | None) -> Any:
    """The column a model predicts."""
    return None if query is None else query.facts.schema[query.target]  # type: ignore[attr-defined]


def worse_words(code: str, promise: Excess, query: dp.Query | None) -> str:
    """An excess loss in a sentence; where nobody says of what, in units of the loss."""
    goal = _goal(query)
    if query is None or goal is None:
        return say(f"{code}_loss", error=two_figures(promise.risk))
    if known(f"{code}_nothing") and promise.risk >= query.blank:  # type: ignore[attr-defined]
        return say(f"{code}_nothing")  # the model that knows nothing loses no more
    error = two_figures(Fraction(worse(float(promise.risk), query)).limit_denominator(10**9))
    return say(f"{code}_number" if isinstance(goal, dp.Number) else f"{code}_list", error=error, target=query.target)  # type: ignore[attr-defined]


def worse_axis(query: dp.Query) -> str:
    goal = _goal(query)
    code = "train_page.axis.excess_number" if isinstance(goal, dp.Number) else "train_page.axis.excess_list"
    return say(code, target=query.target)  # type: ignore[attr-defined]


def percent_up(share: Fraction) -> str:
    """A size of error in percent, to two figures and never below the truth."""
    return two_figures(share * 100) + " %"


def _guess(promise: Within | Rank | Band, query: dp.Query | None = None) -> str:
    """A promise that rests on the declared size says so: how many people a condition leaves is not public."""
    if not promise.nominal:
        return ""
    grouped = isinstance(promise, Within) and promise.of > 1 and promise.unit != "people"
    grouped = grouped and (query is None or query.by is not None)
    return say("promise.nominal_groups" if grouped else "promise.nominal")


def places(promise: Rank, query: dp.Query | None) -> dict[str, Any] | None:
    """Between which two of so many sorted people the answer lies, rounded outwards; empty where that is anywhere, None
    where the question asks for several places."""
    wanted: tuple[Fraction, ...] = getattr(query, "shares", ())
    if len(wanted) != 1:
        return None
    low, high = wanted[0] - promise.share, wanted[0] + promise.share
    if low <= 0 and high >= 1:
        return {}
    per = 100 if promise.share >= Fraction(1, 100) else 1_000 if promise.share >= Fraction(1, 1_000) else 100_000
    low, high = Fraction(floor(max(low, Fraction(0)) * per)), Fraction(ceil(min(high, Fraction(1)) * per))
    return {"low": low, "high": high, "per": per, "chance": chance(promise.beta)}


def unit_words(query: dp.Query | None) -> str:
    return say("chart.rows" if query is not None and query.counts_rows else "chart.people")


def amount(promise: Within, query: dp.Query | None = None) -> str:
    """“60 people”, “1.2 percentage points”, or a figure in the column's own unit; to two figures, rounded up."""
    kind, figure = amount_kind(promise, query), amount_figure(promise)
    return say(f"amount.{kind}", alpha=figure, column=promise.unit) if kind else figure


def amount_figure(promise: Within) -> str:
    return plain(promise.alpha) if promise.unit == "people" else two_figures(promise.alpha)


def amount_kind(promise: Within, query: dp.Query | None) -> str:
    """What an amount is of; nothing where nobody named the column."""
    if promise.unit == "people":
        return "rows" if query is not None and query.counts_rows else "people"
    return promise.unit if promise.unit in ("", "percent") else "column"


def points(share: Fraction) -> str:
    """A distance on [0, 1] in percentage points."""
    return amount(Within(share * 100, 1, Fraction(1, 20), Fraction(0), "percent"))


def short_promise(promise: Promise, query: dp.Query | None = None) -> str:
    """For a card or a table cell."""
    if isinstance(promise, Within) and query is not None and query.unseen() is not None:
        promise = replace(promise, alpha=query.off())
    if isinstance(promise, Within):
        return say("promise.short.within", alpha=amount(promise, query))
    if isinstance(promise, Rank):
        return say("promise.short.rank", share=percent(min(promise.share, Fraction(1))))
    if isinstance(promise, NearBest):
        return say("promise.short.near_best", gap=promise.gap, unit=unit_words(query))
    if isinstance(promise, Blurred):
        return _blurred("promise.short.blurred", promise)
    if isinstance(promise, Band):
        return say("promise.short.band", share=percent_up(promise.amount))
    if isinstance(promise, Excess):
        return worse_words("promise.short.excess", promise, query)
    return say("promise.short.none")


def floor_words(promise: Promise, people: int) -> str:
    """The line nobody can cross, where one is known."""
    if isinstance(promise, Rank):
        return say("floor.rank", share=local(f"{float(promise.floor / people) * 100:.2g} %")) if promise.floor else ""
    if isinstance(promise, (Within, NearBest)):
        return say(f"floor.{promise.kind}", amount=round(promise.floor)) if round(promise.floor) else ""
    return ""


def headline(answer: dp.Answer) -> str:
    """The finding in a few words."""
    query, value = answer.query, answer.value
    state = query.state(value, answer.interval)
    if query.answer_kind in WHOLE:
        return say("answer.noise", what=_whole(answer)) if state else _whole(answer)
    if query.answer_kind == "range":
        return say("answer.no_range") if state else say("answer.found_range", **value)
    if isinstance(query, Density):
        return say("answer.density_flat") if state else density_words.headline(query, value)
    if isinstance(value, dict) and not value:
        return say("answer.no_values")
    if isinstance(answer.promise, NearBest):
        if state:
            return say("answer.uncertain_order" if isinstance(value, dict) else "answer.uncertain")
        return names_of(answer)
    if state and state != APART:
        return say("answer.nothing")
    if query.answer_kind == "curve":
        if isinstance(query, Cdf):
            return say("answer.made_up", points=query.points)
        half = halfway_words(answer)
        return say("answer.half", value=half[0]) if half else say("answer.curve", points=len(value))
    if isinstance(query, OfModel):
        return _of_model(answer)
    if isinstance(value, dict):
        return finding(answer, state)
    least = query.sure()[0]
    if least == 0 and isinstance(answer.interval, tuple) and answer.interval[0] <= 0 < answer.interval[1]:
        unit = " %" if _in_percent(answer) else ""
        return say("answer.at_most", value=printed_range(query, *answer.interval)[1] + unit)
    return _about(answer, printed(query, value, answer.interval))


_LISTED = 3  # figures that a headline names


def _whole(answer: dp.Answer) -> str:
    query, value = answer.query, answer.value
    if query.answer_kind == "file":
        return say("answer.file", rows=value["rows"], columns=len(value["columns"]))
    if query.answer_kind == "table":
        return say("answer.made", rows=sum(value.values()))
    return say("answer.model", target=query.target, columns=len(query.features))  # type: ignore[attr-defined]


def _about(answer: dp.Answer, told: str) -> str:
    if isinstance(answer.value, str):
        return told
    return say("answer.about_percent" if _in_percent(answer) else "answer.about", value=told)


def names_of(answer: dp.Answer) -> str:
    """The names that were drawn, in the reader's language."""
    names = answer.query.shown()
    return ", ".join(names.get(name, name) for name in _drawn(answer))


def _drawn(answer: dp.Answer) -> list[str]:
    return list(answer.value) if isinstance(answer.value, dict) else [answer.value]


def finding(answer: dp.Answer, state: str) -> str:
    """What several figures say together: all that tell where they are few, else which is the largest."""
    query, names = answer.query, answer.query.shown()
    ranges = answer.interval or {}
    telling = [part for part in answer.value if not query.mute(ranges.get(part), part)]
    unit = " %" if _in_percent(answer) else ""
    if len(telling) <= _LISTED or not query.compared or not ranges:
        told = "; ".join(f"{names.get(part, part)}: {figure(answer, part)}{unit}" for part in telling[:_LISTED])
        told += "; …" if len(telling) > _LISTED else ""
        told = say("answer.apart", parts=told) if state else told
    elif state:
        told = say("answer.apart_many", parts=len(telling))
    else:
        first = leaders({part: ranges[part] for part in telling})
        code = "answer.most" if from_zero(query) else "answer.highest"
        if len(first) == 1:
            told = say(code, name=names.get(first[0], first[0]), value=figure(answer, first[0]) + unit)
        elif len(first) <= _LISTED:
            told = say(f"{code}_among", names=say("answer.or").join(names.get(part, part) for part in first))
        else:
            told = say("answer.first_of", parts=len(telling))
    return say("answer.found", values=len(answer.value), most=told) if query.unseen() is not None else told


def halfway_words(answer: dp.Answer) -> tuple[str, str, str] | None:
    """The value that half of the rows are at or below, and between which ones it is; only where a curve tells."""
    if not isinstance(answer.query, CdfTree):
        return None
    names = list(answer.value)
    lows, highs = zip(*(answer.interval[name] for name in names), strict=True)
    found = halfway([answer.value[name] for name in names], lows, highs)
    if found is None:
        return None
    column = answer.query.facts.schema[answer.query.column]
    write = day if isinstance(column, dp.Date) else local if getattr(column, "years", False) else setting
    told = [write(names[place]) for place in found]
    return told[0], told[1], told[2]


def _of_model(answer: dp.Answer) -> str:
    """The first of a model's figures: how often it is right, or how far off it is."""
    first = next(iter(answer.value))
    interval = answer.interval[first]
    code = "check_model.about.right" if _in_percent(answer) else "check_model.about.off"
    return say(code, value=printed(answer.query, answer.value[first], interval, first))


def _in_percent(answer: dp.Answer) -> bool:
    return isinstance(answer.promise, Within) and answer.promise.unit == "percent"


def axis(query: dp.Query) -> str:
    """What an answer is measured in: people, percent, or the column itself."""
    promise = query.promise()
    if isinstance(promise, Within) and promise.unit == "percent":
        return say("chart.percent")
    if isinstance(query, OfModel):
        return say("check_model.axis", column=query.model.layout.target)
    counted = isinstance(promise, Within) and promise.unit == "people"
    return unit_words(query) if counted else str(getattr(query, "column", unit_words(query)))


def from_zero(query: dp.Query) -> bool:
    """Is the answer a number of people or rows, to be drawn as bars?"""
    return axis(query) == unit_words(query)


def range_words(answer: dp.Answer) -> str:
    """How far the truth may be, in the promise's own kind."""
    if answer.query.answer_kind == "table":
        promised = promise_words(answer.promise, answer.query)
        return say("answer.made_within", promise=promised[:1].upper() + promised[1:])
    if answer.query.answer_kind == "range":
        return say("answer.range_means")
    if isinstance(answer.interval, tuple):
        if answer.query.mute(answer.interval):
            low, high = anything(answer.query, answer.interval)
            return say("answer.nothing_means", low=low, high=high)
        low, high = printed_range(answer.query, *answer.interval)
        if answer.query.holds_none(answer.interval):
            return say("answer.misfits", high=high, chance=chance(answer.query.beta))
        return say("answer.between", low=low, high=high, chance=chance(answer.query.beta))
    promise = answer.promise
    if answer.query.answer_kind == "curve" and isinstance(promise, Within):
        told = {"alpha": amount(promise, answer.query), "chance": chance(promise.beta)}
        rows = answer.query.facts.about
        if promise.nominal:
            return say("answer.curve_nominal", rows=rows, **told)
        half = halfway_words(answer)
        between = say("answer.half_between", low=half[1], high=half[2]) + " " if half else ""
        return between + say("answer.curve_within", **told)
    if isinstance(promise, Blurred):
        return _blurred("answer.blurred", promise)
    if isinstance(answer.query, Density):
        alpha, pointwise = (two_figures(one) for one in density_words.reach(answer.query))
        facts = {"alpha": alpha, "unit": density_words.unit(answer.query), "chance": chance(answer.query.beta)}
        code = "answer.density_map" if len(answer.query.columns) > 1 else "answer.density_band"
        return say(code, pointwise=pointwise, **facts)
    if answer.path is not None and answer.path.stopped:
        return say("answer.model_stopped")
    if isinstance(promise, Excess):
        return worse_words("answer.excess", promise, answer.query)
    if isinstance(promise, NearBest):
        return _ahead(answer, promise)
    if (state := answer.query.state(answer.value, answer.interval)) and state != APART and answer.value:
        return say("answer.nothing_all" if isinstance(answer.value, dict) else "answer.anywhere")
    if isinstance(answer.interval, dict):
        return _each(answer, promise)
    if isinstance(promise, Rank):
        if around := places(promise, answer.query):
            return say("answer.places", **around)
        return say("answer.rank", alpha=percent(min(promise.share, Fraction(1))), chance=chance(promise.beta))
    return promise_words(promise)


def _ahead(answer: dp.Answer, promise: NearBest) -> str:
    """How far another may be ahead of the names that were drawn."""
    several = "_several" if isinstance(answer.value, dict) else ""
    facts = {"gap": promise.gap, "unit": unit_words(answer.query), "chance": chance(promise.beta)}
    told = say(f"answer.none_ahead{several}", **facts)
    if answer.query.state(answer.value, answer.interval):
        told = say(f"answer.drawn{several}", names=names_of(answer)) + " " + told
    return told


def _each(answer: dp.Answer, promise: Promise) -> str:
    """How far each of several figures may be off, and what else may be there."""
    query, told = answer.query, ""
    if answer.interval and isinstance(promise, Within) and not promise.nominal:
        alpha = amount(replace(promise, alpha=query.off()), query)
        told = say("answer.within_all", alpha=alpha, of=len(answer.interval), chance=chance(promise.beta))
    elif answer.interval:
        told = say("answer.ranges", of=len(answer.interval), chance=chance(query.beta))
    if (unseen := query.unseen()) is not None and isinstance(promise, Within):
        absent = say("answer.unseen", unseen=unseen, unit=unit_words(query))
        # Both are for as many values as rows are declared.
        told = " ".join(one.removesuffix(".") + _guess(promise) + "." for one in (told, absent) if one)
    if few := sum(query.mute(ends, part) for part, ends in answer.interval.items()):
        told += " " + say("answer.few_parts", few=few, of=len(answer.interval))
    return told.strip()


def as_one(reading: Reading) -> dp.Answer:
    """What the answers say together, in the shape of one of them."""
    last = reading.newest[-1]
    value, interval = _printable(reading.value), _printable(reading.interval)
    return replace(last, value=value, interval=interval, query=replace(last.query, beta=reading.beta))


def _printable(told: Any) -> Any:
    """Exact means as the numbers that are printed; a range rounds outwards when it is printed."""
    if isinstance(told, dict):
        return {label: _printable(one) for label, one in told.items()}
    if isinstance(told, tuple):
        return tuple(_printable(one) for one in told)
    if isinstance(told, Fraction):
        return int(told) if told.denominator == 1 else float(told)
    return told


def in_short(answer: dp.Answer) -> str:
    """One cell of a table: the answer with its range."""
    if isinstance(answer.value, dict) or not isinstance(answer.interval, tuple):
        return headline(answer)
    if answer.query.mute(answer.interval):
        return say("answer.nothing")
    low, high = printed_range(answer.query, *answer.interval)
    code = "answer.short_percent" if _in_percent(answer) else "answer.short"
    return say(code, value=printed(answer.query, answer.value, answer.interval), low=low, high=high)


def html_lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def unmarked(text: str) -> str:
    """Text for a label, where Streamlit would read Markdown: every sign stands for itself."""
    return "".join(_sign(sign) for sign in text)


def _sign(sign: str) -> str:
    if not sign.isascii() or sign.isalnum() or sign == " ":
        return sign
    joined = "\u2060" if sign in ":-<>=~" else ""  # keeps :smile: and --> as they are
    return f"\\{sign}{joined}" if sign.isprintable() else " "
