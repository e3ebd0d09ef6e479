"""Picked values of answers, and how they compare: free. The stated chance covers everything that could be picked."""

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
from dpengine.released.compare import (
    FEWEST,
    Comparable,
    Compared,
    Comparison,
    Stated,
    beyond_difference,
    compare,
    difference,
    offers,
)
from ui.parts import answer_notes
from ui.pictures import many
from ui.shell.frame import hint, paragraph
from ui.shell.state import held, workspace
from ui.words.figures import printed, rounded, rounded_range
from ui.words.markup import p, paragraphs, unmarked

# --- the comparison in words. Intervals are rounded outwards, so that the printed ones hold as often.

_GRAIN = 10**9
_LONG, _KEPT = 3, 2  # words that must be shared to be dropped, and shared words that stay: “Sex is male”, not “male”


@dataclass(frozen=True)
class Named:
    name: str
    figure: Comparable
    notes: tuple[str, ...] = ()  # on how the cells behind it fit


def shortened(names: Sequence[str]) -> tuple[list[str], str]:
    """The names without a long common beginning (but with its last words), and what was cut; "" if nothing was."""
    words = [name.split(" ") for name in names]
    alike = next((at for at, each in enumerate(zip(*words, strict=False)) if len({*each}) > 1), 0)
    cut = alike - _KEPT
    if cut < _LONG:
        return list(names), ""
    return [" ".join(name[cut:]) for name in words], " ".join(words[0][:cut])


def printed_figure(stated: Stated) -> tuple[str, str, str]:
    """A value and the two ends of its interval as texts."""
    low, high = down(stated.low, _GRAIN), up(stated.high, _GRAIN)
    value = rounded(down(stated.value, _GRAIN), low, high)  # type: ignore[arg-type]
    return value, *rounded_range(low, high)  # type: ignore[arg-type]


class Words:
    """The sentences of a comparison, with the names of the values that were picked."""

    def __init__(self, comparison: Comparison, picked: Sequence[Named], table: str, question: str = "") -> None:
        """`question` is the question that all picks share if they are parts of one answer, else empty."""
        self.comparison, self.picked, self.table_name, self.question = comparison, list(picked), table, question
        self.names = [named.name for named in picked]

    def headline(self) -> str:
        """A sentence. For two values: their difference, or that the difference may be zero. For more: whether one is
        the largest."""
        if len(self.comparison.pairs) > 1:
            largest = self.comparison.largest
            if largest is None:
                return say("compare.largest_unknown")
            return say("compare.largest", name=self.names[self.comparison.picks.index(largest)])
        pair, (first, second) = self.comparison.pairs[0], self.names
        apart = pair.difference
        if not pair.different:
            low, high = printed_figure(apart)[1:]
            return say("compare.same", first=first, second=second, low=low, high=high, unit=self._unit(high))
        if apart.value < 0:  # from the larger one
            first, second, apart = second, first, difference(pair.second.stated, pair.first.stated)
        value, low, high = printed_figure(apart)
        return say("compare.above", first=first, second=second, value=value, low=low, high=high, unit=self._unit(value))

    def _unit(self, value: str) -> str:
        """The unit of a difference or a sum in words; `value` is the number as printed."""
        first = self.comparison.picks[0]
        kind, column, _ = first.unit
        if first.measure and not first.day:
            return first.measure
        code = "compare.unit.days" if first.day else f"compare.unit.{kind}"
        return say(code, **({"column": column} if kind == "column" and not first.day else {"value": value}))

    def notes(self) -> list[str]:
        """The notes of checks on the picked values: once if all have the same notes, else each with the name of its
        value."""
        if len({named.notes for named in self.picked}) == 1:
            return list(self.picked[0].notes)
        return [say("compare.note", name=named.name, note=note) for named in self.picked for note in named.notes]

    def rows(self) -> list[tuple[str, str]]:
        """What was computed, with each result: the difference or ratio of each pair, and the sum."""
        rows = []
        for pair, name in zip(self.comparison.pairs, self.names[1:], strict=True):
            rows += self._pair(pair, self.names[0], name)
        if self.comparison.total is not None:
            rows.append((say("compare.sum"), self._range(self.comparison.total)))
        return rows

    def _pair(self, pair: Compared, first: str, second: str) -> list[tuple[str, str]]:
        names = {"first": first, "second": second}
        rows = [(say("compare.difference", **names), self._range(pair.difference))]
        if not pair.first.day:
            near = say("compare.near_zero", second=second)
            rows.append((say("compare.ratio", **names), near if pair.ratio is None else stated_words(pair.ratio)))
            if pair.change is not None:
                rows.append((say("compare.change", **names), stated_words(pair.change, " %")))
        rows.append((say("compare.differ", **names), say("compare.yes" if pair.different else "compare.unknown")))
        return rows

    def _range(self, stated: Stated) -> str:
        value, low, high = printed_figure(stated)
        return say("compare.figure", value=f"{value} {self._unit(value)}", low=low, high=high)

    def table(self) -> str:
        rows = "".join(f"<tr><td>{escape(what)}</td><td>{escape(result)}</td></tr>" for what, result in self.rows())
        return f'<div class="scroll" tabindex="0"><table class="plain compared">{rows}</table></div>'

    def chance_words(self) -> str:
        """A sentence: with which chance all ranges hold, for which comparisons, and what it does not say."""
        code = "compare.claim"
        if self.comparison.alone:
            code = "compare.claim_alone" if self.comparison.answers == 1 else "compare.claim_bought"
        words = say(code, chance=chance(self.comparison.beta), table=self.table_name)
        twice = self.comparison.total is not None and len({pick.request for pick in self.comparison.picks}) > 1
        return f"{words} {say('compare.twice')}" if twice else words

    def beyond(self) -> str:
        """For two picks, a sentence on their difference in the larger group; empty if a table is no random sample."""
        return beyond_words(*self.comparison.picks) if len(self.comparison.picks) == FEWEST else ""

    def sentence(self) -> str:
        several = len(self.comparison.pairs) > 1
        rows = "".join(f" {what}: {result}." for what, result in self.rows()) if several else ""
        finding = self.headline()
        finding = say("compare.of", question=self.question, finding=finding) if self.question else finding
        return " ".join(filter(None, (f"{finding}{rows}", *self.notes(), self.chance_words(), self.beyond())))


def stated_words(stated: Stated, unit: str = "") -> str:
    value, low, high = printed_figure(stated)
    return say("compare.figure", value=value + unit, low=low + unit, high=high + unit)


_PICKED = "answers-picked"
_LAST = "picked-last"  # the answer that was picked from last
FEW_PARTS = 12  # more parts are chosen from a list
Pick = tuple[str, str]


def _picks() -> list[Pick]:
    kept: list[Pick] = st.session_state.setdefault(_PICKED, [])
    return kept


def pick(table: dp.Table, entry: dp.Entry, answer: dp.Answer) -> None:
    """Draw the picker of an answer's values; nothing if none of them can be compared."""
    if entry.charge.table != table.name or not offers(answer.query, answer.value, answer.interval):
        return
    request, names = entry.charge.request, answer.query.shown()
    key = f"pick-{entry.charge.seq}"
    ranges = answer.interval if isinstance(answer.value, dict) else {"": answer.interval}
    shown = many.drawn(answer.value, True) if isinstance(answer.value, dict) else [""]
    parts = [part for part in shown if ranges.get(part) is None or not answer.query.mute(ranges[part], part)]
    if not parts:  # an uninformative value is not offered
        return
    if key not in st.session_state:
        st.session_state[key] = [part for asked, part in _picks() if asked == request and part in parts]

    def label(part: str) -> str:
        if name := names.get(part, part):
            return unmarked(name)
        return unmarked(say("answers.pick_one", value=printed(answer.query, answer.value, answer.interval)))

    title, args = say("answers.pick"), (request, key)
    if len(parts) <= FEW_PARTS:
        st.pills(title, parts, selection_mode="multi", key=key, format_func=label, on_change=_chosen, args=args)
    else:
        none = say("answers.pick_none")
        st.multiselect(title, parts, key=key, format_func=label, on_change=_chosen, args=args, placeholder=none)
    if _beside() == request:
        _show(table)
    elif any(asked == request for asked, _ in _picks()):
        st.html(f'<a class="see" href="#compare">{escape(say("answers.see", picked=len(_picks())))}</a>')


def _chosen(request: str, key: str) -> None:
    """Store which values of one answer are picked. The picks of other answers keep their order."""
    if not held(key):
        return
    st.session_state[_LAST] = request
    now = list(st.session_state[key])
    kept = [pick for pick in _picks() if pick[0] != request or pick[1] in now]
    st.session_state[_PICKED] = kept + [(request, part) for part in now if (request, part) not in kept]


def clear() -> None:
    st.session_state[_PICKED] = []
    for key in [key for key in st.session_state if str(key).startswith("pick-")]:
        del st.session_state[key]


def show(table: dp.Table, entries: Sequence[dp.Entry]) -> None:
    """Draw the top of the page: how to compare if nothing is picked, else the comparison. If the last pick was from one
    of these entries, the comparison stands lower on the page, beside that answer."""
    if not _picks():
        st.html(f'<p class="muted" id="compare">{escape(say("answers.compare_how"))}</p>')
    elif _beside() not in [entry.charge.request for entry in entries]:
        _show(table)


def _beside() -> str | None:
    """The request of the answer that was picked from last, beside which the comparison stands; None without such a
    pick."""
    last = st.session_state.get(_LAST)
    return last if any(asked == last for asked, _ in _picks()) else None


def _show(table: dp.Table) -> None:
    named, question = _named(table)
    if not named:
        return
    with st.container(key="card-compare"):
        names = ", ".join(figure.name for figure in named)
        names = say("answers.name", part=names, question=question) if question else names
        sentence = say("answers.picked", picked=len(named))
        st.html(f'<p class="question" id="compare"><b>{escape(sentence)}</b> {escape(names)}</p>')
        words, actions = st.container(), st.container(horizontal=True)
        with words:
            if len(named) < FEWEST:
                paragraph(say("answers.one_more"), "lead")
            else:
                _compared(named, question, table, actions)
        actions.button(say("answers.clear"), key="compare-clear", on_click=clear)


def _compared(named: list[Named], question: str, table: dp.Table, actions: DeltaGenerator) -> None:
    try:
        comparison = compare([figure.figure for figure in named])
    except dp.AllowanceError as error:
        hint(str(error))
        return
    if not question:  # whole questions, which begin alike
        names, question = shortened([figure.name for figure in named])
        named = [replace(figure, name=name) for figure, name in zip(named, names, strict=True)]
    words = Words(comparison, named, table.name, question)
    notes = paragraphs(words.notes(), "warn fit")
    holds = p(words.chance_words(), "muted")
    wider = p(words.beyond(), "lead") if words.beyond() else ""
    st.html(f'<p class="headline">{escape(words.headline())}</p>{words.table()}{wider}{notes}{holds}')
    with actions, st.popover(say("answers.copy"), key="copy-compared"):
        st.code(words.sentence(), language=None, wrap_lines=True)


def beyond_words(first: Comparable, second: Comparable) -> str:
    """A sentence on the difference of two figures in the larger group; empty unless both tables are random samples."""
    found = beyond_difference(first, second)
    if found is None:
        return ""
    low, high = rounded_range(found.low, found.high)
    kind = {"count": "_share", "share": "_share", "amount": "_amount"}.get(first.unit[2], "")
    code = f"sample.difference{kind}{'_none' if found.holds_zero else ''}"
    words = say(code, low=low, high=high, chance=chance(found.beta))
    return words if first.request == second.request else f"{words} {say('sample.difference_two')}"


def _named(table: dp.Table) -> tuple[list[Named], str]:
    """The picked values that are in this table's ledger, each with a name, and the question if all are from one
    answer."""
    wanted: dict[str, list[str]] = {}
    for request, part in _picks():
        wanted.setdefault(request, []).append(part)
    known = {request: _figures(table, request, parts) for request, parts in wanted.items()}
    figures = [known[request][part] for request, part in _picks() if part in known[request]]
    several = len({figure.request for _, figure in figures}) > 1
    parts = bool(figures) and not several and bool(figures[0][1].part)
    named = [
        Named(_name(answer, figure, several), figure, tuple(answer_notes.fit_lines(answer, figure.part)))
        for answer, figure in figures
    ]
    return named, figures[0][0].sentence if parts else ""


def _figures(table: dp.Table, request: str, parts: list[str]) -> dict[str, tuple[dp.Answer, Comparable]]:
    """The answer and the figure for each of these parts; empty if the request is not of this table and its present
    budget."""
    entry = workspace().ledger.find(request)
    if entry is None or (entry.charge.table, entry.charge.budget) != (table.name, table.budget.id):
        return {}
    answer = table.answer_of(entry)
    return {figure.part: (answer, figure) for figure in table.figures(entry, parts)}


def _name(answer: dp.Answer, figure: Comparable, several: bool) -> str:
    label = answer.query.shown().get(figure.part, figure.part)
    if not label:
        return answer.sentence
    return say("answers.name", part=label, question=answer.sentence) if several else label
