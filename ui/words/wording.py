"""Answers as a person reads them: a headline, and how far the truth may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import dpengine as dp
from dpengine.asking.paid_answers import Reading
from dpengine.core.printed import chance, measured, two_figures
from dpengine.mechanisms.answer_state import APART, LIKELY, REST, leaders
from dpengine.mechanisms.card import AnswerKind
from dpengine.mechanisms.edges import at_end, named
from dpengine.messages import called, say
from dpengine.messages.numbers import day
from ui.words import model_words, phrases
from ui.words.figures import anything, figure, printable, printed, printed_range, rounded_range
from ui.words.phrases import LISTED, halfway_words, listed_edges

_COUNTED = ("people", "rows")
NAMED = 4  # groups that may be as high: up to this many, all are named
_AXES: dict[AnswerKind, str] = {"check": "check_model.axis", "model": "train_page.axis.weight"}


def axis(query: dp.Query) -> str:
    """The title of an axis of answers: people, percent, or the column itself."""
    unit = query.unit  # works out the promise: once
    if unit == "percent":
        return say("chart.percent")
    if query.answer_kind in _AXES:
        return say(_AXES[query.answer_kind], column=query.answer_column)
    if not query.answer_column or unit in _COUNTED:
        return say(f"chart.{query.counted}")
    return with_measure(query.answer_column, query.measure)


def with_measure(name: str, measure: str) -> str:
    """A column's name with its unit of measurement, unless the name contains it."""
    name = called(name)
    return f"{name} ({measure})" if measure and f"({measure})" not in name else name


def from_zero(query: dp.Query) -> bool:
    """Is the answer a number of people or rows, to be drawn as bars?"""
    return query.unit in _COUNTED


# The headline ---------------------------------------------------------------------------------------------------------


def headline(answer: dp.Answer) -> str:
    """The finding of an answer in a few words."""
    if title := answer.query.finding_of(answer.value, answer.interval, answer.raw):
        return title
    state, kind = answer.query.state(answer.value, answer.interval), answer.query.answer_kind
    if kind in _WHOLE:
        what = _WHOLE[kind](answer)
        return say("answer.noise", what=what) if state else what
    if state and kind in ("curve", "column", "check"):
        return say("answer.nothing")
    return _HEADLINES.get(kind, _figures)(answer, state)


def cut_rows(answer: dp.Answer) -> str:
    """If only some rows of each person count, a sentence on which side of the answer the truth over all rows lies; else
    empty."""
    query = answer.query
    if (most := query.most_rows) is None:
        return ""
    own_words = query.finding(answer.value, answer.interval)
    if own_words or not from_zero(query):
        return say("answer.cut", most=most)
    return say("answer.cut.people" if query.unit == "people" else "answer.cut.count", most=most)


def _figures(answer: dp.Answer, state: str) -> str:
    query, value = answer.query, answer.value
    if value == {}:
        return say("answer.no_values")
    if state and state != APART:
        return say("answer.nothing")
    if isinstance(value, dict):
        return finding(answer, state)
    least = query.sure()[0]
    if least == 0 and isinstance(answer.interval, tuple) and answer.interval[0] <= 0 < answer.interval[1]:
        return say("answer.at_most", value=_counted(query, printed_range(query, *answer.interval)[1]))
    value_words = printed(query, value, answer.interval)
    if isinstance(value, str):
        return value_words
    if _percent_sign(query):
        return say("answer.about_percent", value=value_words)
    return say("answer.about", value=_counted(query, value_words))


def _percent_sign(query: dp.Query) -> str:
    return " %" if query.unit == "percent" else ""


def _counted(query: dp.Query, figure: str, part: str = "") -> str:
    """A figure with its unit: people, rows, percent, or the column's own."""
    if from_zero(query) and figure[-1:].isdigit():  # else it is no figure: too few to tell
        return say(f"answer.counted.{query.unit}", value=figure)
    return figure + (_percent_sign(query) or measured("", query.measure_of(part)))


# Answers that are a whole: a file, a table, a model, a first look. One that is mostly noise says so around these words.
_WHOLE: dict[AnswerKind, Callable[[dp.Answer], str]] = {
    "file": lambda answer: say("answer.file", rows=answer.value["rows"], columns=len(answer.value["columns"])),
    "table": lambda answer: say("answer.made", rows=sum(answer.value.values())),
    "model": model_words.trained,
    "board": model_words.board,
}


def _density(answer: dp.Answer, state: str) -> str:
    query: Any = answer.query
    return say("answer.density_flat") if state else phrases.density_headline(query, answer.value)


def _label(answer: dp.Answer, state: str) -> str:
    if state == REST:
        return say("answer.rest", column=answer.query.answer_column)
    if state:
        return say("answer.likely" if state == LIKELY else "answer.perhaps", names=names_of(answer, _explained))
    return names_of(answer, lambda query, name: _quoted(named(query, name)))


def _curve(answer: dp.Answer, state: str) -> str:
    half = halfway_words(answer)
    return say("answer.half", value=half[0]) if half else say("answer.curve", points=len(answer.value))


def _column(answer: dp.Answer, state: str) -> str:
    query: Any = answer.query
    return say("answer.made_up", points=query.points)


_HEADLINES: dict[AnswerKind, Callable[[dp.Answer, str], str]] = {
    "density": _density,
    "label": _label,
    "curve": _curve,
    "column": _column,
    "check": lambda answer, state: model_words.checked(answer),
}


def names_of(answer: dp.Answer, words: Callable[[dp.Query, str], str] | None = None) -> str:
    """The drawn names as one text, in the reader's language or, with `words`, as this function gives them."""
    drawn = list(answer.value) if isinstance(answer.value, dict) else [answer.value]
    return ", ".join((words or named)(answer.query, name) for name in drawn)


def _explained(query: dp.Query, part: str) -> str:
    """The name of a part with its meaning: “other” alone would read as “something else”, and a value called “no” as the
    answer."""
    name, why = named(query, part), query.unlisted(part)
    return say(f"answer.unlisted.{why}", name=name) if why else _quoted(name)


def _quoted(name: str) -> str:  # so that it is not read as a word of the sentence
    return name if any(map(str.isdigit, name)) else say("answer.quoted", name=name)


def finding(answer: dp.Answer, state: str) -> str:
    """A headline for several figures: all that say something, if they are few, else which figure is the largest."""
    query, names = answer.query, answer.query.shown()
    ranges = answer.interval or {}
    telling = [part for part in answer.value if not query.mute(ranges.get(part), part)]
    if len(telling) <= LISTED or not query.compared or not ranges:
        first = listed_edges(query, telling)
        words = "; ".join(_part(answer, part, names.get(part, part)) for part in first)
        words += "; …" if len(telling) > LISTED else ""
        return say("answer.apart", parts=words) if state else words
    if state:
        return say("answer.apart_many", parts=len(telling), **_spanned(answer, telling))
    return _largest(answer, telling)


def _largest(answer: dp.Answer, telling: list[str]) -> str:
    """A headline: which of several figures is the largest. A bar at an end of a declared range may hold everything
    beyond that end, so such a bar is never called the largest: the headline names the largest between the ends, and the
    bars at the ends beside it."""
    query = answer.query
    first = leaders({part: answer.interval[part] for part in telling})
    ends, inner = [part for part in first if at_end(query, part)], [part for part in telling if not at_end(query, part)]
    among, beside = "answer.", {}
    if ends and inner:
        among, telling, first = "answer.inner.", inner, leaders({part: answer.interval[part] for part in inner})
        values = {part: _counted(query, figure(answer, part), part) for part in ends}
        at_ends = [say("answer.inner.end", name=named(query, part), value=value) for part, value in values.items()]
        beside = {"ends": "; ".join(at_ends)}
    code = among + ("most" if from_zero(query) else "highest")
    if len(first) == 1:
        return say(code, name=_explained(query, first[0]), value=_counted(query, figure(answer, first[0])), **beside)
    if len(first) <= LISTED:
        largest = sorted(first, key=lambda part: answer.value[part], reverse=True)
        names = say("answer.or").join(_part(answer, part, _explained(query, part)) for part in largest)
        return say(f"{code}_among", names=names, **beside)
    return say("answer.inner.first_of", **_spanned(answer, inner), **beside) if beside else _ahead(answer, first)


def _spanned(answer: dp.Answer, parts: list[str]) -> dict[str, str]:
    """The ends of the range in which all of these parts lie, as facts for a sentence."""
    ends = sorted(end for part in parts for end in answer.interval[part])
    low, high = printed_range(answer.query, ends[0], ends[-1])
    return {"low": low, "high": _counted(answer.query, high)}


def _part(answer: dp.Answer, part: str, name: str) -> str:
    """One of several figures with its range, so that nobody takes it for exact."""
    query, value = answer.query, _counted(answer.query, figure(answer, part), part)
    if not answer.interval or query.mute(answer.interval.get(part), part):
        return f"{name}: {value}"
    first, last = answer.interval[part]
    low, high = printed_range(query, first, last, part)
    return say("answer.part", name=name, value=value, low=low, high=high)


def _ahead(answer: dp.Answer, first: list[str]) -> str:
    """A sentence if several may be the largest: the one with the largest figure and its range, and those that may be as
    large. A few are all named, of many only some: “1 other” would read like a group's name."""
    query = answer.query
    top, *rest = sorted(first, key=lambda part: answer.value[part], reverse=True)
    names = [_explained(query, part) for part in (rest if len(rest) <= NAMED else rest[:LISTED])]
    facts = {"part": _part(answer, top, _explained(query, top)), "names": ", ".join(names)}
    if len(rest) <= NAMED:
        return say("answer.ahead", **facts)
    return say("answer.ahead_more", others=len(rest), more=len(rest) - LISTED, **facts)


# How far the truth may be ---------------------------------------------------------------------------------------------


def range_words(answer: dp.Answer) -> str:
    """Sentences: how far the truth may be, in the promise's own kind; and, for a random sample, what holds for the
    larger group."""
    words = _RANGES.get(answer.query.answer_kind, _figures_range)(answer)
    if not answer.beyond:
        return words
    both = isinstance(answer.population, tuple) and isinstance(answer.interval, tuple)
    both = both and not answer.query.state(answer.value, answer.interval)
    return beyond_words(answer) if both else f"{words} {beyond_words(answer)}"


def wider_words(answer: dp.Answer) -> str:
    """A sentence for one figure whose range is clearly wider than was expected before it was paid for; else empty."""
    ends: Any = answer.interval
    if not isinstance(ends, tuple) or isinstance(ends[0], str) or answer.query.mute(ends):  # days are texts
        return ""
    return answer.promise.wider_words(ends[0], ends[1], answer.query)


def beyond_words(answer: dp.Answer) -> str:
    """A sentence: what the answer of a random sample says about the larger group, beside the table; or why it says
    nothing."""
    query, found = answer.query, answer.population
    if found is None:
        secret = not query.speaks_of_all and query.of_known_people and query.facts.people is None
        secret = secret and answer.beyond == "kind"
        return say("sample.secret" if secret else f"sample.{answer.beyond}")
    facts: dict[str, Any] = {"chance": chance(query.beta)}
    if isinstance(answer.interval, tuple):
        least, most = printed_range(query, *answer.interval)
        facts["here"] = f"{least} – {_counted(query, most)}"
    if query.answer_kind == "label":
        several = "gap_left_out" if not query.names_ordered else "gap_ranks" if query.names_ranks else "gap_order"
        code = "gap" if isinstance(answer.value, str) else several
        words = say(f"sample.{code}", points=rounded_range(0, found[1])[1], **facts)
    elif isinstance(found, dict):
        words = say("sample.several", **facts)
    elif found == answer.interval:
        words = say("sample.same", **facts)
    else:
        low, high = beyond_printed(found)
        kind = {"count": "share", "distance": "place"}.get(query.answer_kind, query.answer_kind)
        words = say(f"sample.{kind}", low=low, high=measured(high, query.measure), **facts)
    return words if answer.beyond == "first" else f"{words} {say('sample.after')}"


def beyond_printed(ends: tuple[Any, Any]) -> tuple[str, str]:
    """The ends of a range for the larger group as text: shares and averages, rounded outwards."""
    low, high = ends
    return (day(low), day(high)) if isinstance(low, str) else rounded_range(low, high)


def _figures_range(answer: dp.Answer) -> str:
    query, interval = answer.query, answer.interval
    if isinstance(interval, tuple):
        if query.mute(interval):
            low, high = anything(query, interval)
            return say("answer.nothing_means", low=low, high=high)
        low, high = printed_range(query, *interval)
        if query.holds_none(interval):
            return say("answer.misfits", high=high, chance=chance(query.beta))
        high = high + _percent_sign(query) if _percent_sign(query) else measured(high, query.measure)
        return say("answer.between", low=low, high=high, chance=chance(query.beta))
    if (state := query.state(answer.value, interval)) and state != APART and answer.value:
        return say("answer.nothing_all" if isinstance(answer.value, dict) else "answer.anywhere")
    return _each(answer) if isinstance(interval, dict) else answer.promise.drawn(query)


def _table_range(answer: dp.Answer) -> str:
    promised = answer.promise.words(answer.query)
    return say("answer.made_within", promise=promised[:1].upper() + promised[1:])


def _curve_range(answer: dp.Answer) -> str:
    half = halfway_words(answer)
    between = say("answer.half_between", low=half[1], high=half[2]) + " " if half else ""
    return between + answer.promise.drawn(answer.query)


def _density_range(answer: dp.Answer) -> str:
    query: Any = answer.query
    alpha, pointwise = (two_figures(width) for width in phrases.density_reach(query))
    code = "answer.density_map" if len(query.columns) > 1 else "answer.density_band"
    facts = {"alpha": alpha, "unit": phrases.density_unit(query), "chance": chance(query.beta)}
    return say(code, pointwise=pointwise, **facts)


def _declared_range(answer: dp.Answer) -> str:
    query: Any = answer.query
    return str(query.worth())


def _whole_range(answer: dp.Answer) -> str:
    stopped = answer.path is not None and answer.path.stopped
    return say("answer.model_stopped") if stopped else answer.promise.drawn(answer.query)


def _board_range(answer: dp.Answer) -> str:
    promised = answer.promise.words(answer.query)
    error = promised[:1].upper() + promised[1:] + "."
    return f"{model_words.verdict(answer)} {error}".strip()


def released_words(answer: dp.Answer) -> str:
    """A sentence for an answer of names: what is released, and what is not."""
    if isinstance(answer.value, str):
        return say("answer.label_only")
    return say("answer.labels_only" if answer.query.names_ordered else "answer.names_only")


def _label_range(answer: dp.Answer) -> str:
    """Sentences: how far another name may be ahead of the names that were drawn."""
    several = isinstance(answer.value, dict)
    words = answer.promise.drawn(answer.query, several)
    state = answer.query.state(answer.value, answer.interval)
    if state == REST:
        words = say("answer.drawn_several" if several else "answer.drawn", names=names_of(answer)) + " " + words
    if state == APART:
        words += " " + say("answer.perhaps_means" if answer.query.conditional else "answer.perhaps_few")
    if not answer.query.names_ordered:
        return words
    first = next(iter(answer.value)) if several else answer.value
    return f"{words} {_unlisted(answer, first)}".strip()


def _unlisted(answer: dp.Answer, first: str) -> str:
    """A sentence if the first part is not on the list: what that means, and how to fix the list; else empty."""
    why = answer.query.unlisted(first)
    named = answer.query.shown().get(first, first)
    column = answer.query.answer_column or str(answer.query.by)
    return say(f"answer.rest_first.{why}", name=named, column=column) if why else ""


MOST_FEW = 3  # parts with too few to tell that are named

_RANGES: dict[AnswerKind, Callable[[dp.Answer], str]] = {
    "table": _table_range,
    "declarations": _declared_range,
    "curve": _curve_range,
    "column": _whole_range,
    "density": _density_range,
    "file": _whole_range,
    "model": _whole_range,
    "board": _board_range,
    "label": _label_range,
}


def _each(answer: dp.Answer) -> str:
    """Sentences: the error of each of several figures, how many say nothing, and whether the largest is not on the
    list."""
    query, promise, of = answer.query, answer.promise, len(answer.interval)
    words = promise.each(query, of) if of else ""
    few = [query.shown().get(part, part) for part, ends in answer.interval.items() if query.mute(ends, part)]
    if 0 < len(few) <= MOST_FEW:
        words += " " + say("answer.few_named", parts=few)
    elif few:
        words += " " + say("answer.few_parts", few=len(few), of=of)
    if of and from_zero(query):
        first = leaders(answer.interval)
        words += " " + _unlisted(answer, first[0]) if len(first) == 1 else ""
    return words.strip()


def as_one(reading: Reading) -> dp.Answer:
    """The combined result of several answers, in the shape of one of them."""
    last = reading.newest[-1]
    value, interval = printable(reading.value), printable(reading.interval)
    query = replace(last.query, beta=reading.beta)
    beyond = "kind" if last.beyond else ""  # of a sample: together they speak of the table only
    return replace(last, value=value, interval=interval, query=query, population=None, beyond=beyond)


def in_short(answer: dp.Answer) -> str:
    """An answer with its range, for one cell of a table."""
    if isinstance(answer.value, dict) or not isinstance(answer.interval, tuple):
        return headline(answer)
    if answer.query.mute(answer.interval):
        return say("answer.nothing")
    low, high = printed_range(answer.query, *answer.interval)
    code = "answer.short_percent" if _percent_sign(answer.query) else "answer.short"
    value = measured(printed(answer.query, answer.value, answer.interval), answer.query.measure)
    return say(code, value=value, low=low, high=high)
