"""Figures that were picked, and what they say beside each other: free, in one claim with all that could be picked."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import dpengine as dp
from dpengine.messages import say
from dpengine.released.compare import FEWEST, Comparable, compare, offers
from ui.answers import compare_words
from ui.answers.compare_words import Named
from ui.parts import fitting
from ui.pictures import many
from ui.shell.state import held, workspace
from ui.words.figures import printed
from ui.words.markup import unmarked

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
        names, question = compare_words.shortened([one.name for one in found])
        found = [replace(one, name=name) for one, name in zip(found, names, strict=True)]
    words = compare_words.Words(told, found, table.name, question)
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
    named = [Named(_name(answer, one, several), one, tuple(fitting.notes(answer, one.part))) for answer, one in found]
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
