"""The class wall: the instructor picks a question, everyone asks it once, and thirty answers land around the truth.

One fragment updates: it reads a snapshot built for all (ui/shell/workshop_state.py). Asking goes through the worker
like any other question, on the participant's own practice budget. Outside a workshop this page has one sentence.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from statistics import fmean, median
from typing import Any
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

import dpengine as dp
from demos import truth
from dpengine.core.printed import chance, percent
from dpengine.messages import language, say
from dpengine.messages.numbers import local
from ui.parts import answer_notes, job
from ui.pictures import picture
from ui.pictures.svg import Axis
from ui.shell import frame, state
from ui.shell.frame import page_head, paragraph
from ui.shell.state import open_table, workspace
from ui.shell.style import sheet
from ui.shell.workshop_state import ADDRESS, GONE, WAITING, Dot, Snapshot, WallQuestion, here, on
from ui.words import prices
from ui.words.figures import rounded
from ui.words.markup import p, paragraphs
from ui.words.wording import axis, headline, range_words
from ui.workshop.workshop import figure

# --- the picture on the class wall: every answer a dot, its interval a line below, the mean, and the truth once shown
#
# It is drawn once for everybody and cached; a style rule for each viewer marks their own dot.

_CELLS = 80  # parts of the axis; dots in one part are stacked
_TALL = 130  # pixels for the dots
_ROWS = 60  # intervals drawn; the sentence below counts all of them
_BARS = 40


def width(dots: Sequence[Dot]) -> float:
    """Half of the width of a typical interval."""
    return median((dot.high - dot.low) / 2 for dot in dots) or 1.0


@lru_cache(maxsize=64)
def wall(dots: tuple[Dot, ...], truth: float | None, title: str, lang: str) -> str:
    """HTML with all answers and their intervals on one axis. Cached; the key includes `lang`."""
    half = width(dots)
    middle = fmean(dot.value for dot in dots)
    mean = rounded(middle, middle - half, middle + half)
    shown = [dot.value for dot in dots] + ([] if truth is None else [truth])
    low, high = min(shown) - 1.15 * half, max(shown) + 1.15 * half
    room = 0.05 * (high - low)  # the axis goes no further beyond what is possible
    ends = [*shown, *(dot.low for dot in dots), *(dot.high for dot in dots)]
    axis = Axis(max(low, min(ends) - room), min(high, max(ends) + room), 0, 100, days=False)
    drawn = "".join(
        _mark(axis, at, say(f"workshop.mark.{kind}", **{kind: number}), kind)
        for kind, at, number in (("truth", truth, truth), ("mean", middle, mean))
        if at is not None
    )
    drawn += f'<div class="dots" style="height:{_TALL}px">{_dots(axis, dots, truth)}</div>'
    drawn += f'<div class="rows">{_ranges(axis, dots, truth)}</div>'
    facts = {"n": len(dots), "mean": mean} | ({} if truth is None else {"truth": truth})
    alt = say("workshop.alt" if truth is None else "workshop.alt_truth", **facts)
    under = f'{picture.ticks(axis, 3)}<div class="title">{escape(title)} – {escape(say("workshop.axis.each"))}</div>'
    return picture.figure(f'<div class="field">{drawn}</div>{under}', alt, "wall")


def _dots(axis: Axis, dots: Sequence[Dot], truth: float | None) -> str:
    cell = (axis.high - axis.low) / _CELLS
    placed = [round((dot.value - axis.low) / cell) for dot in dots]
    lift, stacked = min(12.0, (_TALL - 34) / max(Counter(placed).values())), Counter[int]()
    drawn = ""
    for number, (dot, at) in enumerate(zip(dots, placed, strict=True)):
        missed = " missed" if truth is not None and not dot.holds(truth) else ""
        across = axis.place(min(max(dot.value, axis.low), axis.high))  # exactly above its interval
        where = f"left:{across:.2f}%;bottom:{3 + stacked[at] * lift:.1f}px"
        drawn += f'<i class="d{number}{missed}" style="{where}"></i>'
        stacked[at] += 1
    return drawn


def _ranges(axis: Axis, dots: Sequence[Dot], truth: float | None) -> str:
    drawn = ""
    for number, dot in enumerate(dots[:_ROWS]):
        left, right, at = (axis.place(min(max(end, axis.low), axis.high)) for end in (dot.low, dot.high, dot.value))
        missed = " missed" if truth is not None and not dot.holds(truth) else ""
        line = f'<u style="left:{left:.2f}%;width:{max(right - left, 0.3):.2f}%"></u><s style="left:{at:.2f}%"></s>'
        drawn += f'<div class="d{number}{missed}">{line}</div>'
    return drawn


def _mark(axis: Axis, at: float, words: str, kind: str) -> str:
    where = axis.place(min(max(at, axis.low), axis.high))
    side = " end" if where > 60 else ""
    return f'<b class="{kind}{side}" style="left:{where:.2f}%"><span>{escape(words)}</span></b>'


def yours(number: int) -> str:
    words = say("workshop.yours").replace("\\", "").replace('"', "")
    mine = f".wall .dots i.d{number}"
    return (
        f"<style>{mine}{{background:var(--take);opacity:1;transform:scale(1.5);z-index:3}}"
        f'{mine}::after{{content:"{words}"}}'
        f".wall .rows .d{number} u{{background:var(--take);height:4px;margin-top:-1px}}</style>"
    )


@lru_cache(maxsize=64)
def simulated(values: tuple[float, ...], held: int, truth: float, half: float, title: str, lang: str) -> str:
    """HTML: a thousand simulated answers as bars. Cached; the key includes `lang`."""
    ordered = sorted(values)
    low, high = (ordered[int(share * (len(ordered) - 1))] for share in (0.025, 0.975))
    axis = Axis(min(truth, low) - half, max(truth, high) + half, 0, 100, days=False)
    cell = (axis.high - axis.low) / _BARS
    counts = Counter(min(max(int((value - axis.low) / cell), 0), _BARS - 1) for value in values)
    bars = "".join(f'<i style="height:{100 * counts[at] / max(counts.values()):.1f}%"></i>' for at in range(_BARS))
    ends = {name: rounded(end, end - half, end + half) for name, end in (("low", low), ("high", high))}
    drawn = _mark(axis, truth, say("workshop.mark.truth", truth=truth), "truth") + f'<div class="bars">{bars}</div>'
    alt = say("workshop.simulated_alt", truth=truth, **ends)
    under = f'{picture.ticks(axis, 3)}<div class="title">{escape(title)}</div>'
    body = picture.figure(f'<div class="field">{drawn}</div>{under}', alt, "wall")
    sentence = say("workshop.simulated_means", held=held, **ends)
    return f'<h2>{escape(say("workshop.simulated"))}</h2>{body}<p class="muted">{escape(sentence)}</p>'


# --- questions for the class wall, each with one number about a bundled sample; their answers, and the truth

EVERY = 2  # seconds between two updates of a viewer
MANY = 1_000

QUESTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "car": ("town", "count", {"where": [["has_car", "in", ["yes"]]]}),
    "income": ("town", "median", {"column": "monthly_income"}),
    "mean_income": ("town", "mean", {"column": "monthly_income"}),
    "smokers": ("clinic", "count", {"where": [["smoker", "in", ["yes"]]]}),
    "pressure": ("clinic", "mean", {"column": "blood_pressure"}),
    "typical_pressure": ("clinic", "median", {"column": "blood_pressure"}),
}
EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1")
USUAL = ("car", "0.1")


def clean(question: Any, epsilon: Any) -> tuple[str, str]:
    """The question and the ε in an address; the default for anything else."""
    return question if question in QUESTIONS else USUAL[0], epsilon if epsilon in EPSILONS else USUAL[1]


def query_of(question: str, epsilon: str) -> tuple[dp.Table, dp.Query]:
    """The table with the viewer's own practice budget, and the question."""
    name, key, given = QUESTIONS[question]
    table = open_table(name)
    return table, table.query(key, epsilon=epsilon, **given, noise="")


@lru_cache(maxsize=64)
def promised_of(question: str, epsilon: str, lang: str) -> tuple[str, str]:
    """The title of the axis, and how many of 100 intervals are promised to hold. Cached; the key includes `lang`."""
    query = query_of(question, epsilon)[1]
    return axis(query), chance(query.beta)


def words_of(question: str) -> str:
    return say(f"workshop.q.{question}")


def read(request: str) -> Dot | str:
    state_of_job = workspace().job(request)
    if state_of_job.answer is not None:
        value, interval = state_of_job.answer.value, state_of_job.answer.interval or (state_of_job.answer.value,) * 2
        return Dot(float(value), *map(float, interval))
    return GONE if state_of_job.over and state_of_job.state != "unknown" else WAITING


@lru_cache(maxsize=64)
def true_value(question: str) -> float:
    """The true answer, from the bundled file. All visitors share this cache."""
    here()
    return figure(truth.of(query_of(question, "1")[1]))


@lru_cache(maxsize=64)
def thousand(question: str, epsilon: str) -> tuple[tuple[float, ...], int, float]:
    """Simulated answers: their values, how many of their intervals hold the truth, and half of a typical interval. The
    instructor's switch draws them; later viewers find them cached."""
    here()
    answers = truth.simulated(query_of(question, epsilon)[1], MANY)
    dots = [Dot(float(answer.value), *map(float, answer.interval)) for answer in answers]
    return tuple(dot.value for dot in dots), sum(dot.holds(true_value(question)) for dot in dots), width(dots)


# --- the instructor's controls: the code, the question, the truth, a new round, and the invitation. The room checks
# every action again, so a page that shows too much could still change nothing.

_TYPED, _WRONG = "workshop-typed", "workshop-wrong"


def address() -> str:
    """The participants' address, as `make workshop` found it; the instructor's own browser may say localhost."""
    parts = urlsplit(str(st.context.url or ""))
    return os.environ.get(ADDRESS) or (f"{parts.scheme}://{parts.netloc}" if parts.netloc else "")


def invitation(instructs: bool) -> None:
    with st.expander(say("workshop.invite"), expanded=instructs):
        where = f"{address()}/wall"
        st.html(
            f'<div class="invite"><img alt="{escape(say("workshop.qr", address=where))}" src="{_qr(where)}">'
            f"<div><p>{escape(say('workshop.invite_how'))}</p><code>{escape(where)}</code></div></div>"
        )


@lru_cache(maxsize=8)
def _qr(text: str) -> str:
    return str(segno.make(text, micro=False).svg_data_uri(scale=8, border=2, dark="#1C2733", light="#FFFFFF"))


def _unlock() -> None:
    st.session_state[_WRONG] = not here().unlock(state.browser(), str(st.session_state.get(_TYPED, "")))


def _controls() -> None:
    _counts()
    posed = here().posed
    wanted = st.query_params.get("q"), st.query_params.get("epsilon")
    question, epsilon = clean(*wanted) if posed is None or any(wanted) else (posed.question, posed.epsilon)
    label, names = say("workshop.question"), list(QUESTIONS)
    question = str(st.selectbox(label, names, names.index(question), words_of, "wall-question"))
    epsilon = str(st.select_slider(say("workshop.epsilon"), EPSILONS, epsilon, format_func=local, key="wall-epsilon"))
    table, query = query_of(question, epsilon)
    fresh = query.epsilon / table.budget.rule.epsilon
    paragraph(say("workshop.takes", share=percent(fresh), promise=_sentence(query.promise().words(query))))
    with st.container(horizontal=True):
        _button("workshop.pose", "wall-pose", _pose, question, epsilon, kind="primary")
        with st.popover(say("workshop.slide")):
            st.code(f"{address()}/wall?{urlencode({'q': question, 'epsilon': epsilon})}", language=None)
        with st.popover(say("workshop.reset")):
            paragraph(say("workshop.reset_means"), "")
            _button("workshop.reset_do", "wall-reset", lambda: here().reset(state.browser()))
    if posed is not None:
        for what, now in (("truth", posed.truth), ("simulated", posed.simulated)):
            if what == "truth" or posed.truth:
                key = f"wall-{what}-{posed.turn}"
                st.toggle(say(f"workshop.show_{what}"), now, key=key, on_change=_reveal, args=(posed.turn,))


@st.fragment(run_every=EVERY)
def _counts() -> None:
    seen = here().snapshot(read)
    sentence = say("workshop.counts", round=seen.round, people=seen.people, answers=len(seen.dots))
    st.html(f'<p role="status"><b>{escape(sentence)}</b></p>')


def _button(code: str, key: str, act: Any, *given: Any, kind: Any = "secondary") -> None:
    st.button(say(code), key=key, type=kind, on_click=state.attempt, args=(act, *given))


def _pose(question: str, epsilon: str) -> None:
    here().pose(state.browser(), question, epsilon)
    true_value(question)  # now, not when thirty people look


def _reveal(turn: int) -> None:
    posed = here().posed
    if posed is None or posed.turn != turn:
        return
    truth, simulated = (bool(st.session_state.get(f"wall-{what}-{turn}")) for what in ("truth", "simulated"))
    if truth and simulated:
        thousand(posed.question, posed.epsilon)
    state.attempt(here().reveal, state.browser(), truth, simulated)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


PATIENCE = 1.5  # seconds a click waits for its answer; the live part finds a later one


def show() -> None:
    if not on():
        frame.replace_meter(say("workshop.meter"))
        page_head(say("workshop.title"), say("workshop.none"))
        return
    room = here()
    st.html(sheet("workshop/wall"))
    name = state.visitor()
    posed, instructs = room.posed, room.instructs(state.browser())
    if posed is None:
        frame.replace_meter(say("workshop.meter"))
        page_head(say("workshop.title"), say("workshop.empty"))
        _wait_for_question()
    else:
        page_head(words_of(posed.question), say("workshop.lead"))
        answered = _own(posed, name)
        with st.container(key="card-wall"):
            _live(posed.turn, room.round, name, answered)
    invitation(instructs)
    with st.expander(say("workshop.for_instructor"), expanded=instructs):
        if instructs:
            _controls()
        else:
            with st.form("workshop-unlock", clear_on_submit=True, border=False):
                st.text_input(say("workshop.code"), type="password", key=_TYPED, width=260, autocomplete="off")
                st.form_submit_button(say("workshop.unlock"), on_click=_unlock)
            paragraph(say("workshop.code_where"))
            if st.session_state.pop(_WRONG, False):
                job.refused(say("workshop.wrong"))


def _own(posed: WallQuestion, name: str) -> bool:
    """Draw the viewer's own answer, or the button that asks. True if the answer is on the page, or certain not to
    come."""
    table, query = query_of(posed.question, posed.epsilon)
    request = here().asked(name)
    if request is None:
        price = table.preview(query)
        frame.show_price(table, price)
        job.show_refusal()
        if not price.admissible:
            job.refused(say("workshop.too_much"))
            return True
        label, given = say("workshop.ask", share=prices.takes(table, price.share)), (table, query, name, posed.turn)
        st.button(label, key=f"wall-ask-{posed.turn}", type="primary", on_click=_ask, args=given)
        return False
    own_job = state.workspace().job(request)
    frame.show_price(table, None)  # again: the charge came after the frame
    if not own_job.over:  # the live part below finds it: thirty waiting people must not poll one by one
        paragraph(say("job.waiting"), role="status")
    elif own_job.answer is None:
        job.refused(str(own_job.error or say("job.unknown")))
    else:
        st.html(
            f'<p class="muted">{escape(say("workshop.your_answer"))}</p>'
            f'<p class="together">{escape(headline(own_job.answer))}</p>'
            f"<p>{escape(range_words(own_job.answer))} {escape(say('workshop.others'))}</p>"
            f"{answer_notes.cut_note(own_job.answer.query)}"
        )
    return own_job.over


def _ask(table: dp.Table, query: dp.Query, name: str, turn: int) -> None:
    """Ask the question, for a click on the button. The participant's request id for this turn stays the same, so
    further clicks ask nothing."""
    try:
        request = here().asks(name, turn)
        table.submit(query, request_id=request)
        state.workspace().jobs.wait(request, PATIENCE)
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)


# --- everybody's ------------------------------------------------------------------------------------------------------


@st.fragment(run_every=EVERY)
def _wait_for_question() -> None:
    here().name(state.browser())
    if here().posed is not None:
        st.rerun()
    paragraph(say("workshop.none_yet"), role="status")


@st.fragment(run_every=EVERY)
def _live(turn: int, number: int, name: str, answered: bool) -> None:
    seen = here().snapshot(read)
    posed = seen.posed
    if posed is None or (posed.turn, seen.round) != (turn, number) or (name in seen.names and not answered):
        st.rerun()
    st.html(everybody(seen, name))


def everybody(seen: Snapshot, name: str) -> str:
    """HTML with everybody's answers and their sentences, as one viewer sees them."""
    posed = seen.posed
    assert posed is not None
    lang = language.get()
    waiting = p(say("workshop.waiting", n=seen.waiting), "muted") if seen.waiting else ""
    if not seen.dots:
        return f'<div role="status"><p class="wall-say">{escape(say("workshop.none_yet"))}</p>{waiting}</div>'
    true = true_value(posed.question) if posed.truth else None
    mine = yours(seen.names.index(name)) if name in seen.names else ""
    title, promised = promised_of(posed.question, posed.epsilon, lang)
    drawn = mine + wall(seen.dots, true, title, lang)
    drawn += f'<div role="status">{_sentences(seen, true, promised)}{waiting}</div>'
    if posed.simulated and true is not None:
        values, held, half = thousand(posed.question, posed.epsilon)
        drawn += simulated(values, held, true, half, title, lang)
    return drawn


def _sentences(seen: Snapshot, true: float | None, promised: str) -> str:
    dots, half = seen.dots, width(seen.dots)
    middle = sum(dot.value for dot in dots) / len(dots)
    mean = rounded(middle, middle - half, middle + half)
    if true is None:
        lines = [say("workshop.answers", n=len(dots), mean=mean)]
    else:
        held = sum(dot.holds(true) for dot in dots)
        lines = [
            say("workshop.answers_truth", n=len(dots), mean=mean, truth=true),
            say("workshop.held", held=held, n=len(dots), chance=promised),
        ]
    return paragraphs(lines, "wall-say")
