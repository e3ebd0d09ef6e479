"""What a published table will be worth, from public facts: one row, all rows, the lower bound, and made-up rows."""

from __future__ import annotations

import json
from decimal import ROUND_FLOOR
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.canonical import canonical
from dpengine.core.exact import down, text_of
from dpengine.core.printed import chance, points, two_figures
from dpengine.mechanisms.promises import Blurred
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from dpengine.noise.row_noise import Blur, Swap, expected_error, thesis_scale

MOST_ROWS = 8
LONGEST_CELL = 40  # of the made-up rows: a declared value may be a whole sentence
_TENTHS = 1000  # of a percent


def show(table: dp.Table, query: OfRows) -> None:
    promise = query.promise()
    each = [
        _column(query, name, error, floor)
        for name, error, floor in zip(promise.columns, promise.errors, promise.floors, strict=True)
    ]
    st.html(f"<ul class='told'>{''.join(each)}</ul><p class='muted'>{escape(_together(query, promise))}</p>{_STYLE}")
    before, after = _rehearsed(_public(query), table, query)
    st.html(
        f"<h2>{escape(say('publish_page.example'))}</h2><p class='muted'>{escape(say('publish_page.example_lead'))}</p>"
        + _rows_html(query, before, after)
    )
    with st.expander(say("publish_page.figures")):
        st.html(_figures_html(query))


@st.cache_data(max_entries=200, show_spinner=False)
def _rehearsed(facts: str, _table: dp.Table, _query: OfRows) -> tuple[list[list[Any]], list[list[Any]]]:
    """Cached for all visitors, so that the example does not change on every run; the key holds public facts only."""
    return _table.rehearse_rows(_query)


def _public(query: OfRows) -> str:
    return canonical([query.describe(), query.facts.schema.as_json(), query.facts.about])


def link(table: str, query: OfRows, **changed: Any) -> dict[str, str]:
    """The form filled in as for this question, but for what is changed: URL parameters of the Publish page."""
    told = {"columns": json.dumps(list(query.columns), ensure_ascii=False), "epsilon": text_of(query.epsilon)}
    told |= {"grid": str(query.grid)} if query.grid else {}
    told |= {"delta": text_of(query.delta)} if query.delta else {}
    return {"table": table} | told | {name: str(value) for name, value in changed.items()}


def _column(query: OfRows, name: str, error: Fraction, floor: Fraction) -> str:
    """One column in two sentences: a row of it, and all its rows."""
    row, reach = query.row(name), query.reach(name)
    if isinstance(row, Swap):
        told = say("publish_page.truth", truth=_share(row.truth), blind=_share(Fraction(1, row.size)))
        best = say("publish_page.truth_best", error=_share(error))
        if len(query.columns) > 1:
            best = say("publish_page.truth_beside", error=_share(error), alone=_share(query.alone(name).error))
        whole = say("publish_page.shares", points=points(reach), chance=chance(query.beta))
        nothing = reach >= 1
    else:
        width = query.facts.schema.number(name).diameter
        told = say("publish_page.off", error=two_figures(error), width=plain(width))
        if query.steps(name) < query.facts.schema.number(name).size - 1:
            step = query.grain(name)
            told += " " + say("publish_page.off_rounded", grain=two_figures(step), half=two_figures(step / 2))
        times = local(f"{float(error / floor):.2g}") if floor else "∞"
        best = say("publish_page.off_best", floor=two_figures(floor, ROUND_FLOOR), times=times)
        whole = say("publish_page.mean", reach=two_figures(reach * width), chance=chance(query.beta))
        nothing = 2 * reach >= 1
    whole = say("publish_page.nothing") if nothing else whole
    return (
        f"<li><b>{escape(name)}</b><br>{escape(told)} <b>{escape(whole)}</b>"
        f"<br><span class='muted'>{escape(best)}</span></li>"
    )


def _share(share: Fraction) -> str:
    """A chance in percent, to the nearest tenth: it is part of the method, not a bound."""
    return local(f"{float(share) * 100:.1f}".removesuffix(".0")) + " %"


def _together(query: OfRows, promise: Blurred) -> str:
    if len(query.columns) == 1:
        return say("publish_page.one_column")
    told = say("publish_page.split", columns=len(query.columns), epsilon=query.epsilon / len(query.columns))
    lists = sum(isinstance(query.row(name), Swap) for name in query.columns)
    if lists < 2:
        return told
    best = 1 - down(promise.untrue_floor, _TENTHS)  # upwards: a bound for everybody
    return told + " " + say("publish_page.row_true", lists=lists, truth=_share(1 - promise.untrue), best=_share(best))


def _rows_html(query: OfRows, before: list[list[Any]], after: list[list[Any]]) -> str:
    """Side by side: what a made-up row says, and what would be published of it."""
    head = "".join(
        f"<th>{escape(name)}</th><th>{escape(say('publish_page.published_as'))}</th>" for name in query.columns
    )
    body = ""
    for old, new in list(zip(before, after, strict=True))[:MOST_ROWS]:
        pairs = [(escape(_short(cell_words(a))), escape(_short(cell_words(b)))) for a, b in zip(old, new, strict=True)]
        cells = "".join(f"<td class='muted'>{a}</td><td>{b}</td>" for a, b in pairs)
        body += f"<tr>{cells}</tr>"
    return f'<div class="scroll" tabindex="0"><table class="plain example"><tr>{head}</tr>{body}</table></div>'


def _short(words: str) -> str:
    return words if len(words) <= LONGEST_CELL else words[: LONGEST_CELL - 1] + "…"


def cell_words(value: Any) -> str:
    return value if isinstance(value, str) else plain(value).replace("-", "−")


def _figures_html(query: OfRows) -> str:
    """For those who want the parameters: the scale of the thesis beside the least one, the probabilities."""
    lines = []
    for name in query.columns:
        row = query.row(name)
        if isinstance(row, Blur):
            grain = query.grain(name)
            thesis = thesis_scale(row.steps, row.epsilon, row.delta)
            told = {
                "column": name,
                "steps": row.steps,
                "thesis": two_figures(thesis * grain),
                "least": two_figures(row.scale * grain),
                "thesis_off": two_figures(expected_error(thesis) * grain),
                "least_off": two_figures(row.error * grain),
            }
            lines.append(say("publish_page.scales" if row.delta else "publish_page.scale", **told))
        else:
            floor = _share(down(query.alone(name).floor, _TENTHS))
            lines.append(
                say(
                    "publish_page.chances",
                    column=name,
                    size=row.size,
                    truth=_exact(row.truth),
                    other=_exact(row.chance),
                    floor=floor,
                )
            )
    lines += [say("receipt.theorem", theorem=query.theorem), *query.card.caveat_texts]
    return "".join(f'<p class="muted">{escape(line)}</p>' for line in lines)


def _exact(share: Fraction) -> str:
    return local(f"{float(share):.5g}")


_STYLE = """<style>
[data-testid="stHtml"] ul.told { list-style: none; padding: 0; margin: 0 0 0.5rem 0; }
[data-testid="stHtml"] ul.told li { margin: 0 0 0.7rem 0; padding: 0; overflow-wrap: anywhere; }
table.plain.example th, table.plain.example td { padding-top: 0.25rem; padding-bottom: 0.25rem; }
</style>"""
