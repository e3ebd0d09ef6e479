"""On the Trust page: what is left of each promise if only some of the people are honest. A slider, and figures."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.amounts import BETA
from dpengine.core.printed import chance, power_of_ten
from dpengine.messages import say
from dpengine.planning import trust_models
from dpengine.planning.trust_models import Kept, Shuffled, Way
from ui.pictures import charts
from ui.trust import trust_more, trust_state


def show(table: dp.Table, given: dict[str, Any], found: tuple[Way, ...]) -> dict[str, Any]:
    people = table.facts.about
    st.html(f'<h2>{escape(say("honest.title"))}</h2><p class="muted">{escape(say("honest.lead"))}</p>')
    share = st.select_slider(
        say("honest.slider", people=people),
        trust_state.HONEST,
        given["honest"],
        key=trust_state.widget("honest"),
        format_func=lambda one: say("honest.of", honest=trust_models.honest_people(people, int(one)), people=people),
    )
    given = given | {"honest": str(share)}
    honest = trust_models.honest_people(people, int(given["honest"]))
    rows = trust_models.kept(found, honest)
    st.html(f'{_table(rows)}<div role="status" class="after">{_said(found, rows, honest)}</div>')
    _curve(found, honest)
    st.html(f'<p class="muted">{escape(say("honest.assumed"))}</p>')
    return given


def _table(rows: tuple[Kept, ...]) -> str:
    body = ""
    for row in rows:
        sign = "✓" if row.holds else "✗"
        delta = say("honest.pure") if row.chance is None else say("honest.delta", delta=power_of_ten(row.delta))
        cells = (f"{sign} {delta}", _off(row.error), _off(row.worst))
        coin = f'<br><span class="muted">p = {trust_more.coin(row.chance)}</span>' if row.chance is not None else ""
        told = "".join(f"<td class='number'>{escape(cell)}</td>" for cell in cells)
        body += f"<tr><th scope='row'>{escape(_name(row))}{coin}</th>{told}</tr>"
    heads = [say(f"honest.column.{name}", chance=chance(BETA)) for name in ("privacy", "error", "worst")]
    head = "".join(f"<th scope='col' class='number'>{escape(one)}</th>" for one in heads)
    return trust_more.scrolled(f"<tr><td></td>{head}</tr>{body}", say("honest.title"))


def _name(row: Kept) -> str:
    return say("honest.needed") if row.model == "needed" else say(f"trust.model.{row.model}")


def _off(error: Fraction | None) -> str:
    return "—" if error is None else say("trust.error", error=-(-error.numerator // error.denominator))


def _said(found: tuple[Way, ...], rows: tuple[Kept, ...], honest: int) -> str:
    """What happened to the shuffler's promise, what would mend it, and why the others keep theirs."""
    query, by_model = trust_models.shuffled_of(found), {row.model: row for row in rows}
    lines = []
    if query is not None:
        row, wanted = by_model["tight"], power_of_ten(query.delta)
        if row.holds:
            lines.append(say("honest.holds", honest=honest, delta=wanted))
        else:
            lines.append(say("honest.breaks", honest=honest, delta=power_of_ten(row.delta), wanted=wanted))
            lines.append(_mended(query, row, by_model.get("needed"), honest))
    lines.append(say("honest.others"))
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _mended(query: Shuffled, row: Kept, needed: Kept | None, honest: int) -> str:
    if needed is None:
        return say("honest.few", honest=honest, least=trust_models.fewest(query) or 0)
    assert needed.chance is not None and row.chance is not None
    coins = {"p": trust_more.coin(row.chance), "needed": trust_more.coin(needed.chance)}
    return say("honest.mend", before=_off(row.error), after=_off(needed.error), **coins)


def _curve(found: tuple[Way, ...], honest: int) -> None:
    """δ against honest people, with the δ that is claimed."""
    query = trust_models.shuffled_of(found)
    if query is None:
        return
    points = [(float(one), delta) for one, delta in trust_models.along(query, query.facts.about)]
    here = (float(honest), float(trust_models.delta_of(query, honest)))
    claimed = [(points[0][0], float(query.delta)), (points[-1][0], float(query.delta))]
    lines = [
        charts.Line(say("honest.line.kept"), points, here, "refuse"),
        charts.Line(say("honest.line.claimed"), claimed, None, "left", "dash"),
    ]
    charts.curves(lines, say("honest.axis.honest"), "δ", say("honest.alt"), "trust-honest", height=280)
