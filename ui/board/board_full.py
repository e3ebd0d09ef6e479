"""One column of the board in full: a picture to take as a PNG, and all its figures."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.released.look import Look
from ui.board import board_figures
from ui.board.board_figures import Bar, Picked
from ui.parts import answer as answers
from ui.pictures import camera, charts, many
from ui.shell.state import held
from ui.words.figures import bare, rounded


def show(found: dp.Answer, look: Look, picked: Picked) -> None:
    st.html(f"<h2>{escape(say('board_page.full'))}</h2>")
    now = st.query_params.get("of", "")
    turn = now if now in look.columns else ""
    column = st.selectbox(
        say("board_page.column"),
        ["", *look.columns],
        look.columns.index(turn) + 1 if turn else 0,
        format_func=lambda name: name or say("board_page.none"),
        key=f"board-of-{turn}",
        on_change=_chosen,
        args=(f"board-of-{turn}",),
        width=320,
    )
    if not column:
        return
    if sets := column in look.query.items:
        if picked.by:
            st.html(f'<p class="muted">{escape(say("board_page.sets_everyone"))}</p>')
        picked = Picked(shares=picked.shares)
    if (note := board_figures.note_of(look, str(column), picked)) in ("untold", "large"):
        st.html(f'<p class="warn">{escape(say(f"board_page.{note}"))}</p>')
        return
    bars = board_figures.bars_of(look, str(column), picked)
    short = found.receipt["charge"]["hash"][:8]
    title = say("chart.percent") if picked.shares else say("chart.people" if sets else f"chart.{look.query.counted}")
    group = "".join(f" · {name}: {label}" for name, label in picked.of(str(column)).items())
    source = say(
        "answers.picture", question=f"{found.sentence}, {found.receipt['table']}: {column}{group}", receipt=short
    )
    values = {bar.name: bar.value for bar in bars}
    ranges = {bar.name: (bar.low, bar.high) for bar in bars if bar.low is not None and bar.high is not None}
    alt = "; ".join(f"{bar.name}: {bar.told}" for bar in bars[:60])
    with st.container(key="card-board-full"), camera.takes(f"first-look-{short}", source):
        charts.bars(values, ranges or None, title, alt, "board-full", [bar.name for bar in bars if bar.faint])
    if not ranges:
        st.html(f'<p class="warn">{escape(say("board_page.estimated"))}</p>')
    with st.expander(say("answer.figures")):
        page = [bars[int(at)] for at in many.page(map(str, range(len(bars))), "board-figures")]
        st.html(_table(page, picked.shares) + answers.not_adding())


def _chosen(key: str) -> None:
    if not held(key):
        return
    if st.session_state[key]:
        st.query_params["of"] = st.session_state[key]
    else:
        st.query_params.pop("of", None)


def _table(bars: list[Bar], shares: bool) -> str:
    titles = ("answer.column.label", "answer.column.value", "answer.column.range")
    head = "".join(f'<th class="{"number" if at else ""}">{escape(say(one))}</th>' for at, one in enumerate(titles))
    sign, body = " %" if shares else "", ""
    for bar in bars:
        told = bare(bar.value) if bar.low is None or bar.high is None else rounded(bar.value, bar.low, bar.high)
        cells = (told + sign, bar.range or say("board_page.no_promise"))
        numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
        body += f"<tr><td>{escape(bar.name)}</td>{numbers}</tr>"
    return f'<div class="scroll" tabindex="0"><table class="plain"><tr>{head}</tr>{body}</table></div>'
