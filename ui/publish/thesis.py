"""Tables 2 to 7 of the thesis on publishing: exact figures to the printed digits, random ones drawn anew."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from math import log, sqrt

import streamlit as st

from demos.thesis import BETA, HIGH, LOW, Cell, Printed, covers, residents, tables
from demos.thesis_curves import DELTA, WIDTH, Figure, figures
from dpengine.core.printed import power_of_ten
from dpengine.messages import say
from dpengine.messages.numbers import local, to_figures
from ui.pictures import charts
from ui.shell import frame, nav
from ui.shell.style import sheet
from ui.words.markup import Html, html_table, p

# Figures 1 to 3 of the thesis: a private curve of two hundred made-up people, drawn anew, and its noise level.


def _show_figures(drawn: tuple[Figure, ...]) -> None:
    st.html(
        f"<h2>{escape(say('thesis.figures'))}</h2>"
        f"<p>{escape(say('thesis.figures_lead', width=local(WIDTH), delta=power_of_ten(Fraction(str(DELTA)))))}</p>"
    )
    for figure in drawn:
        with st.container(key=f"card-figure-{figure.number}"):
            _curve_figure(figure)
    st.html(_levels(drawn))


def _curve_figure(figure: Figure) -> None:
    key = f"chart-figure-{figure.number}"
    facts = {"number": figure.number, "epsilon": to_figures(figure.epsilon, 6)}
    constant = say("thesis.figure_constant", constant=_short(2 * sqrt(log(2 / DELTA)) / figure.epsilon))
    st.html(f"<p><b>{escape(say('thesis.figure', **facts))}</b> <span class='muted'>{escape(constant)}</span></p>")
    band = [y - figure.reach for y in figure.drawn], [y + figure.reach for y in figure.drawn]
    alt = say("thesis.figure_alt", reach=_short(figure.reach), most=_short(max(figure.drawn)), **facts)
    titles = ("x", say("thesis.figure_height"))
    charts.band(figure.xs, figure.drawn, band, titles, alt, key, other=figure.truth, height=240)


def _levels(drawn: tuple[Figure, ...]) -> str:
    names = ("thesis", "printed", "least", "kept")
    heads = [say(f"thesis.level.{name}") for name in ("epsilon", *names)]
    rows = []
    for figure in drawn:
        levels = [_short(getattr(figure.levels, name)) for name in names]
        rows.append([to_figures(figure.epsilon, 6), *levels])
    return (
        f"<h3>{escape(say('thesis.levels'))}</h3><p class='muted'>{escape(say('thesis.levels_lead'))}</p>"
        f"{html_table(heads, rows, words=len(heads), kind='plain thesis')}"
        f"<p class='muted'>{escape(say('thesis.levels_proved'))}</p>"
    )


def _short(value: float) -> str:
    return to_figures(value, 2)


_DRAWN = "thesis-drawn"


def show() -> None:
    frame.replace_meter(say("thesis.meter"))
    people = len(residents()[0])
    st.html(
        f"{_STYLE}<h1>{escape(say('thesis.title'))}</h1><p class='lead'>{escape(say('thesis.lead', people=people))}</p>"
        f"<p>{escape(say('thesis.declared', low=LOW, high=HIGH))}</p>"
        f"<p class='muted'>{escape(say('thesis.read', times=int(1 / BETA)))}</p>"
    )
    st.button(say("thesis.again"), key="thesis-again", on_click=_again)
    if _DRAWN not in st.session_state:
        _again()
    printed, curves = st.session_state[_DRAWN]
    for table in printed:
        with st.container(key=f"card-thesis-{table.number}"):
            st.html(_html(table))
    _show_figures(curves)
    st.html(f"<p class='muted'>{escape(say('thesis.command'))}</p><pre>{escape(say('thesis.command_line'))}</pre>")
    st.page_link(nav.page("publish"), label=say("thesis.back"))


def _again() -> None:
    """Draw the random columns anew with the coins that releases use. The people are made up, so nothing is spent."""
    st.session_state[_DRAWN] = tables(), figures()


def _html(table: Printed) -> str:
    heads, digits = [say(f"thesis.column.{name}") for name in ("setting", *table.columns)], _digits(table)
    rows = [(_setting(name), *map(_cell, cells, digits)) for name, cells in table.rows]
    title, lead = (say(f"thesis.table{part}.{table.number}") for part in ("", "_lead"))
    return f"<h2>{escape(title)}</h2>{p(lead, 'muted')}{html_table(heads, rows, len(heads), 'plain thesis')}"


def _setting(name: str) -> str:
    """“(0.1, 0.1)” as ε and δ; the first row of some tables is the table itself."""
    if name == "original":
        return say("thesis.original")
    epsilon, delta = name.strip("()").split(", ")
    return f"ε {local(epsilon)}, δ {local(delta)}"


def _digits(table: Printed) -> list[int]:
    """By column, how many decimals the thesis prints; 0.0075 has a column of its own. A column that the thesis lacks
    has three."""
    columns = zip(*(cells for _, cells in table.rows), strict=True)
    printed = [[cell.printed for cell in column if isinstance(cell.printed, float)] for column in columns]
    return [max((len(str(number).partition(".")[2]) for number in column), default=3) for column in printed]


def _cell(cell: Cell, digits: int) -> Html:
    """Our value, below it the printed one, and the range in which a random figure must lie."""
    here = _figure(cell.here, digits)
    lines = []
    if cell.printed != "":
        lines.append(say("thesis.printed", figure=_figure(cell.printed, digits)))
    if cell.low is not None and cell.high is not None:
        places = digits if cell.high < 1 else 0  # both ends to the same places
        lines.append(say("thesis.range", low=_figure(cell.low, places), high=_figure(cell.high, places)))
    wrong = not (covers(cell, cell.here) and (cell.printed == "" or covers(cell, cell.printed)))
    outside = f"<br><span class='warn'>{escape(say('thesis.outside'))}</span>" if wrong else ""
    kind = " class='random'" if cell.random else ""
    below = "<br>".join(map(escape, lines))
    return Html(f"<b{kind}>{escape(here)}</b><br><span class='muted'>{below}</span>{outside}")


def _figure(value: float | str, digits: int) -> str:
    """A value as text, to the digits printed in the thesis; numbers from 1 on have no decimals."""
    if isinstance(value, str):
        return value
    return local(f"{value:,.{digits if abs(value) < 1 else 0}f}".replace("-", "−"))


_STYLE = sheet("publish/thesis")
