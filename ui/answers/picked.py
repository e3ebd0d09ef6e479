"""Figures that were picked, and what they say beside each other: free, in one claim with all that could be picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import dpengine as dp
from dpengine.core.exact import down, up
from dpengine.core.printed import chance
from dpengine.messages import say
from dpengine.released.compare import FEWEST, Comparable, Compared, Comparison, Stated, compare, difference, offers
from ui.parts import answer_notes
from ui.pictures import many
from ui.shell.state import held, workspace
from ui.words.figures import printed, rounded, rounded_range
from ui.words.markup import unmarked

# What figures say beside each other, in words. Ranges are rounded outwards, so that what is printed holds as often.

_GRAIN = 10**9
_LONG, _KEPT = 3, 2  # words that must be shared to be left out, and that stay: “Sex is male”, not “male”


@dataclass(frozen=True)
class Named:
    name: str
    figure: Comparable
    notes: tuple[str, ...] = ()  # on how the cells behind it fit


def shortened(names: Sequence[str]) -> tuple[list[str], str]:
    """Names that begin alike without what they share, but for its last words; and what was left out."""
    words = [name.split(" ") for name in names]
    alike = next((at for at, each in enumerate(zip(*words, strict=False)) if len({*each}) > 1), 0)
    cut = alike - _KEPT
    if cut < _LONG:
        return list(names), ""
    return [" ".join(name[cut:]) for name in words], " ".join(words[0][:cut])


def printed_figure(told: Stated) -> tuple[str, str, str]:
    """A figure and its range."""
    low, high = down(told.low, _GRAIN), up(told.high, _GRAIN)
    value = rounded(down(told.value, _GRAIN), low, high)  # type: ignore[arg-type]
    return value, *rounded_range(low, high)  # type: ignore[arg-type]


class Words:
    """Of one comparison; `names` stand for its picks."""

    def __init__(self, told: Comparison, picked: Sequence[Named], table: str, question: str = "") -> None:
        """`question` is theirs, where they are parts of one answer."""
        self.told, self.picked, self.table_name, self.question = told, list(picked), table, question
        self.names = [one.name for one in picked]

    def headline(self) -> str:
        """Of two: how far apart, or that they cannot be told apart. Of more: whether one is the largest."""
        if len(self.told.pairs) > 1:
            largest = self.told.largest
            if largest is None:
                return say("compare.largest_unknown")
            return say("compare.largest", name=self.names[self.told.picks.index(largest)])
        pair, (first, second) = self.told.pairs[0], self.names
        apart = pair.difference
        if not pair.different:
            low, high = printed_figure(apart)[1:]
            return say("compare.same", first=first, second=second, low=low, high=high, unit=self._unit(high))
        if apart.value < 0:  # told from the larger one
            first, second, apart = second, first, difference(pair.second.stated, pair.first.stated)
        value, low, high = printed_figure(apart)
        return say("compare.above", first=first, second=second, value=value, low=low, high=high, unit=self._unit(value))

    def _unit(self, value: str) -> str:
        """What so many are counted in: a difference, or a sum."""
        first = self.told.picks[0]
        kind, column, _ = first.unit
        if first.measure and not first.day:
            return first.measure
        code = "compare.unit.days" if first.day else f"compare.unit.{kind}"
        return say(code, **({"column": column} if kind == "column" and not first.day else {"value": value}))

    def notes(self) -> list[str]:
        """How the cells behind the figures fit: once where it is the same of all, else beside the name of each."""
        if len({one.notes for one in self.picked}) == 1:
            return list(self.picked[0].notes)
        return [say("compare.note", name=one.name, note=note) for one in self.picked for note in one.notes]

    def rows(self) -> list[tuple[str, str]]:
        """What was worked out, and what came of it."""
        found = []
        for pair, name in zip(self.told.pairs, self.names[1:], strict=True):
            found += self._pair(pair, self.names[0], name)
        if self.told.total is not None:
            found.append((say("compare.sum"), self._range(self.told.total)))
        return found

    def _pair(self, pair: Compared, first: str, second: str) -> list[tuple[str, str]]:
        names = {"first": first, "second": second}
        found = [(say("compare.difference", **names), self._range(pair.difference))]
        if not pair.first.day:
            near = say("compare.near_zero", second=second)
            found.append((say("compare.ratio", **names), near if pair.ratio is None else _stated(pair.ratio)))
            if pair.change is not None:
                found.append((say("compare.change", **names), _stated(pair.change, " %")))
        found.append((say("compare.differ", **names), say("compare.yes" if pair.different else "compare.unknown")))
        return found

    def _range(self, told: Stated) -> str:
        value, low, high = printed_figure(told)
        return say("compare.figure", value=f"{value} {self._unit(value)}", low=low, high=high)

    def table(self) -> str:
        rows = "".join(f"<tr><td>{escape(what)}</td><td>{escape(told)}</td></tr>" for what, told in self.rows())
        return f'<div class="scroll" tabindex="0"><table class="plain compared">{rows}</table></div>'

    def claim(self) -> str:
        """How often it holds, of what, and what it does not say."""
        code = "compare.claim"
        if self.told.alone:
            code = "compare.claim_alone" if self.told.answers == 1 else "compare.claim_bought"
        told = say(code, chance=chance(self.told.beta), table=self.table_name)
        twice = self.told.total is not None and len({one.request for one in self.told.picks}) > 1
        return f"{told} {say('compare.twice')}" if twice else told

    def sentence(self) -> str:
        """All of it in one breath."""
        several = len(self.told.pairs) > 1
        rows = "".join(f" {what}: {told}." for what, told in self.rows()) if several else ""
        finding = self.headline()
        finding = say("compare.of", question=self.question, finding=finding) if self.question else finding
        return " ".join((f"{finding}{rows}", *self.notes(), self.claim()))


def _stated(told: Stated, sign: str = "") -> str:
    value, low, high = printed_figure(told)
    return say("compare.figure", value=value + sign, low=low + sign, high=high + sign)


_PICKED = "answers-picked"
FEW_PARTS = 12  # more are chosen from a list
Pick = tuple[str, str]


def _picks() -> list[Pick]:
    kept: list[Pick] = st.session_state.setdefault(_PICKED, [])
    return kept


def pick(table: dp.Table, entry: dp.Entry, answer: dp.Answer) -> None:
    """Which figures of an answer to compare; nothing where it has none."""
    if entry.charge.table != table.name or not offers(answer.query, answer.value, answer.interval):
        return
    request, names = entry.charge.request, answer.query.shown()
    key = f"pick-{entry.charge.seq}"
    ranges = answer.interval if isinstance(answer.value, dict) else {"": answer.interval}
    shown = many.drawn(answer.value, True) if isinstance(answer.value, dict) else [""]
    parts = [one for one in shown if ranges.get(one) is None or not answer.query.mute(ranges[one], one)]
    if not parts:  # a figure that says nothing is not told here either
        return
    if key not in st.session_state:
        st.session_state[key] = [part for asked, part in _picks() if asked == request and part in parts]

    def label(part: str) -> str:
        return unmarked(names.get(part, part) or say("answers.pick_one", value=_value(answer)))

    told, args = say("answers.pick"), (request, key)
    if len(parts) <= FEW_PARTS:
        st.pills(told, parts, selection_mode="multi", key=key, format_func=label, on_change=_chosen, args=args)
    else:
        none = say("answers.pick_none")
        st.multiselect(told, parts, key=key, format_func=label, on_change=_chosen, args=args, placeholder=none)
    if any(asked == request for asked, _ in _picks()):
        st.html(f'<a class="see" href="#compare">{escape(say("answers.see", picked=len(_picks())))}</a>')


def _value(answer: dp.Answer) -> str:
    return printed(answer.query, answer.value, answer.interval)


def _chosen(request: str, key: str) -> None:
    """Others stay in the order they were picked."""
    if not held(key):
        return
    now = list(st.session_state[key])
    kept = [one for one in _picks() if one[0] != request or one[1] in now]
    st.session_state[_PICKED] = kept + [(request, part) for part in now if (request, part) not in kept]


def clear() -> None:
    st.session_state[_PICKED] = []
    for key in [key for key in st.session_state if str(key).startswith("pick-")]:
        del st.session_state[key]


def show(table: dp.Table) -> None:
    """What the picked ones say together, on top of the page."""
    found, question = _named(table)
    if not found:
        st.html(f'<p class="muted" id="compare">{escape(say("answers.compare_how"))}</p>')
        return
    with st.container(key="card-compare"):
        names = ", ".join(one.name for one in found)
        names = say("answers.name", part=names, question=question) if question else names
        told = say("answers.picked", picked=len(found))
        st.html(f'<p class="question" id="compare"><b>{escape(told)}</b> {escape(names)}</p>')
        words, actions = st.container(), st.container(horizontal=True)
        with words:
            if len(found) < FEWEST:
                st.html(f'<p class="lead">{escape(say("answers.one_more"))}</p>')
            else:
                _compared(found, question, table, actions)
        actions.button(say("answers.clear"), key="compare-clear", on_click=clear)


def _compared(found: list[Named], question: str, table: dp.Table, actions: DeltaGenerator) -> None:
    try:
        told = compare([one.figure for one in found])
    except dp.AllowanceError as complaint:
        st.html(f'<p class="warn" role="status">{escape(str(complaint))}</p>')
        return
    if not question:  # whole questions, which begin alike
        names, question = shortened([one.name for one in found])
        found = [replace(one, name=name) for one, name in zip(found, names, strict=True)]
    words = Words(told, found, table.name, question)
    notes = "".join(f'<p class="warn fit">{escape(note)}</p>' for note in words.notes())
    claim = f'<p class="muted">{escape(words.claim())}</p>'
    st.html(f'<p class="headline">{escape(words.headline())}</p>{words.table()}{notes}{claim}')
    with actions, st.popover(say("answers.copy"), key="copy-compared"):
        st.code(words.sentence(), language=None, wrap_lines=True)


def _named(table: dp.Table) -> tuple[list[Named], str]:
    """The picked figures of this table that are in its ledger, each with a name that tells it from the others, and the
    question that all are parts of, where it is one."""
    wanted: dict[str, list[str]] = {}
    for request, part in _picks():
        wanted.setdefault(request, []).append(part)
    known = {request: _figures(table, request, parts) for request, parts in wanted.items()}
    found = [known[request][part] for request, part in _picks() if part in known[request]]
    several = len({one.request for _, one in found}) > 1
    parts = bool(found) and not several and bool(found[0][1].part)
    named = [
        Named(_name(answer, one, several), one, tuple(answer_notes.fit_lines(answer, one.part)))
        for answer, one in found
    ]
    return named, found[0][0].sentence if parts else ""


def _figures(table: dp.Table, request: str, parts: list[str]) -> dict[str, tuple[dp.Answer, Comparable]]:
    """By part; nothing where it is not an answer of this table under this budget."""
    entry = workspace().ledger.find(request)
    if entry is None or (entry.charge.table, entry.charge.budget) != (table.name, table.budget.id):
        return {}
    answer = table.answer_of(entry)
    return {one.part: (answer, one) for one in table.figures(entry, parts)}


def _name(answer: dp.Answer, one: Comparable, several: bool) -> str:
    label = answer.query.shown().get(one.part, one.part)
    if not label:
        return answer.sentence
    return say("answers.name", part=label, question=answer.sentence) if several else label
