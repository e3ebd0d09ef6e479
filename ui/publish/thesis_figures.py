"""Figures 1 to 3 of the thesis: a private curve of two hundred made-up people, drawn anew, and its level of noise."""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

from demos.thesis_curves import DELTA, WIDTH, Figure, figures
from dpengine.core.printed import power_of_ten
from dpengine.messages import say
from dpengine.messages.numbers import local, to_figures
from ui.pictures import curve_charts

_DRAWN = "thesis-figures"


def show() -> None:
    if _DRAWN not in st.session_state:
        again()
    drawn: tuple[Figure, ...] = st.session_state[_DRAWN]
    st.html(
        f"<h2>{escape(say('thesis.figures'))}</h2>"
        f"<p>{escape(say('thesis.figures_lead', width=local(WIDTH), delta=power_of_ten(Fraction(str(DELTA)))))}</p>"
    )
    for one in drawn:
        with st.container(key=f"card-figure-{one.number}"):
            _figure(one)
    st.html(_levels(drawn))


def again() -> None:
    """New draws with the coins that releases use; the people are made up, so nothing is spent."""
    st.session_state[_DRAWN] = figures()


def _figure(one: Figure) -> None:
    told = {"number": one.number, "epsilon": to_figures(one.epsilon, 6)}
    st.html(f"<p><b>{escape(say('thesis.figure', **told))}</b></p>")
    band = [y - one.reach for y in one.drawn], [y + one.reach for y in one.drawn]
    alt = say("thesis.figure_alt", reach=_short(one.reach), most=_short(max(one.drawn)), **told)
    titles = ("x", say("thesis.figure_height"))
    curve_charts.band(one.xs, one.drawn, band, titles, alt, f"chart-figure-{one.number}", other=one.truth, height=240)


def _levels(drawn: tuple[Figure, ...]) -> str:
    names = ("epsilon", "thesis", "printed", "least", "kept")
    head = "".join(f"<th>{escape(say(f'thesis.level.{name}'))}</th>" for name in names)
    body = ""
    for one in drawn:
        told = one.levels
        cells = [
            to_figures(one.epsilon, 6),
            _short(told.thesis),
            _short(told.printed),
            _short(told.least),
            _short(told.kept),
        ]
        body += "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    return (
        f"<h3>{escape(say('thesis.levels'))}</h3><p class='muted'>{escape(say('thesis.levels_lead'))}</p>"
        f'<div class="scroll" tabindex="0"><table class="plain thesis"><tr>{head}</tr>{body}</table></div>'
        f"<p class='muted'>{escape(say('thesis.levels_proved'))}</p>"
    )


def _short(value: float) -> str:
    return to_figures(value, 2)
