"""A published table's expected value, from public facts: one row, all rows, the lower bound, and made-up rows."""

from __future__ import annotations

import json
from decimal import ROUND_FLOOR
from fractions import Fraction
from html import escape
from math import prod
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import down, text_of
from dpengine.core.printed import chance, percent_up, points, two_figures
from dpengine.core.strict_json import canonical
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, ItemSet, Number
from dpengine.mechanisms.publish.of_rows import Chosen, OfRows
from dpengine.messages import plain, say
from dpengine.messages.numbers import local, to_figures
from dpengine.noise.floors import farthest, nearest
from dpengine.noise.row_noise import Blur, Marginal, expected_error, thesis_scale
from dpengine.noise.set_noise import MOST_AT_ONCE, AsOne, ItemByItem, OfItems
from dpengine.planning.alternatives import asked_instead

MOST_ROWS = 8
LONGEST_CELL = 40  # characters of a made-up cell; a declared value may be a whole sentence
_TENTHS = 1000  # of a percent


def show(table: dp.Table, chosen: Chosen) -> None:
    query = chosen.query
    each = "".join(_column(query, name) for name in query.columns)
    html = "".join(f"<p class='muted'>{escape(line)}</p>" for line in _together(chosen))
    st.html(f"<ul class='facts'>{each}</ul>{html}{_STYLE}")
    before, after = _rehearsed(_public(query), table, query)
    st.html(
        f"<h2>{escape(say('publish_page.example'))}</h2><p class='muted'>{escape(say('publish_page.example_lead'))}</p>"
        + _rows_html(query, before, after)
    )
    with st.expander(say("publish_page.figures")):
        st.html(_figures_html(query))


@st.cache_data(max_entries=200, show_spinner=False)
def _rehearsed(facts: str, _table: dp.Table, _query: OfRows) -> tuple[list[list[Any]], list[list[Any]]]:
    """Cached for all visitors, so that the example stays the same; the key holds public facts only."""
    return _table.rehearse_rows(_query)


def _public(query: OfRows) -> str:
    return canonical([query.describe(), query.facts.schema.as_json(), query.facts.about])


def link(table: str, query: OfRows, **changed: Any) -> dict[str, str]:
    """URL parameters of the Publish page for this question, with changes."""
    query_params = {"columns": json.dumps(list(query.columns), ensure_ascii=False), "epsilon": text_of(query.epsilon)}
    query_params |= {"grid": str(query.grid)} if query.grid else {}
    query_params |= {"delta": text_of(query.delta)} if query.delta else {}
    return {"table": table} | query_params | {name: str(value) for name, value in changed.items()}


def _column(query: OfRows, name: str) -> str:
    """A column in a few sentences: one row, all rows, the lower bound, and what asking would give."""
    column = query.facts.schema[name]
    if isinstance(column, ItemSet):
        row_words, whole, nothing, best = _of_set(query, name, column)
    elif isinstance(column, Category):
        row_words, whole, nothing, best = _of_list(query, name, column)
    else:
        row_words, whole, nothing, best = _of_line(query, name, column)
    whole = say("publish_page.nothing") if nothing else whole
    muted = "".join(f"<br><span class='muted'>{escape(line)}</span>" for line in (best, _asked(query, name)) if line)
    return f"<li><b>{escape(name)}</b><br>{escape(row_words)} <b>{escape(whole)}</b>{muted}</li>"


def _of_list(query: OfRows, name: str, column: Category) -> tuple[str, str, bool, str]:
    row, reach, error = query.row(name), query.reach(name), query.error(name)
    sentence = say("publish_page.truth", truth=_share(row.truth), blind=_share(Fraction(1, column.size)))
    best = say("publish_page.truth_best", error=_share(error))
    if len(query.columns) > 1:
        best = say("publish_page.truth_beside", error=_share(error), alone=_share(query.alone(name).error))
    return sentence, say("publish_page.shares", points=points(reach), chance=chance(query.beta)), 2 * reach >= 1, best


def _of_set(query: OfRows, name: str, column: ItemSet) -> tuple[str, str, bool, str]:
    row, reach, error = query.row(name), query.reach(name), query.error(name)
    sentence = say("publish_page.wrong_items", error=_three(error), items=column.size)
    if isinstance(row, AsOne | ItemByItem):
        ways = AsOne(column.size, row.epsilon, row.delta), ItemByItem(column.size, row.epsilon, row.delta)
        if isinstance(row, AsOne):
            sentence += " " + say("publish_page.set_as_one", sets=row.swap.size, other=_three(ways[1].error))
        elif column.points <= MOST_AT_ONCE:
            sentence += " " + say("publish_page.set_apart", sets=column.points, other=_three(ways[0].error))
        else:
            sentence += " " + say("publish_page.set_large")
    best = say("publish_page.items_best", **_beside(error, query.floor(name)))
    whole = say("publish_page.item_shares", points=points(reach), chance=chance(query.beta))
    return sentence, whole, 2 * reach >= 1, best


def _of_line(query: OfRows, name: str, column: Number | Date) -> tuple[str, str, bool, str]:
    reach, error, width = query.reach(name), query.error(name), column.diameter
    unit = "days" if isinstance(column, Date) else "off"
    code = f"publish_page.{unit}_end" if isinstance(query.row(name), Marginal) else f"publish_page.{unit}"
    sentence = say(code, error=two_figures(error), width=plain(width))
    if query.steps(name) < column.points - 1:
        step = query.grain(name)
        sentence += " " + say("publish_page.off_rounded", grain=two_figures(step), half=two_figures(step / 2))
    best = say("publish_page.off_best", **_beside(error, query.floor(name)))
    code = "publish_page.mean_day" if isinstance(column, Date) else "publish_page.mean"
    whole = say(code, reach=two_figures(reach * width), chance=chance(query.beta))
    return sentence, whole, 2 * reach >= 1, best


def _beside(error: Fraction, floor: Fraction) -> dict[str, str]:
    """The lower bound, and the error as a multiple of it."""
    times = to_figures(float(error / floor), 2) if floor else "∞"
    return {"floor": two_figures(floor, ROUND_FLOOR), "times": times}


def _asked(query: OfRows, name: str) -> str:
    """What the same spend would give if asked instead of published (thesis, Remark 7.1)."""
    instead = asked_instead(query, name)
    if instead is None:
        return ""
    times = to_figures(float(instead.times), 2)
    column = query.facts.schema[name]
    if isinstance(column, Number):
        return say("publish_page.asked_mean", reach=two_figures(instead.asked * column.diameter), times=times)
    return say("publish_page.asked_shares", points=points(instead.asked), times=times)


def _three(size: Fraction) -> str:
    """Three digits, because two ways may differ in the third."""
    return to_figures(float(size), 3)


def _share(share: Fraction) -> str:
    """A chance in percent, to the nearest tenth; it is a parameter of the method, not a bound."""
    return local(f"{float(share) * 100:.1f}".removesuffix(".0")) + " %"


def _together(chosen: Chosen) -> list[str]:
    """For several columns: how they are published and why, and how often a whole row is true."""
    query, promise = chosen.query, chosen.query.promise()
    if len(query.columns) == 1:
        return [say("publish_page.one_column")]
    rows = prod(query.steps(name) + 1 for name in query.columns)
    split = {"columns": len(query.columns), "epsilon": query.epsilon / len(query.columns)}
    lines = [] if chosen.as_row else [say("publish_page.split", **split)]
    if chosen.other is None:
        lines.append(say("publish_page.no_product", most=MOST_AT_ONCE))
    else:
        code, beaten = "publish_page.as_row" if chosen.as_row else "publish_page.as_columns", chosen.other.promise()
        if promise.empty:
            lines.append(say(f"{code}_noise", rows=rows))
        elif beaten.empty:
            lines.append(say(f"{code}_nothing", rows=rows, own=percent_up(promise.amount)))
        else:
            lines.append(say(code, rows=rows, own=percent_up(promise.amount), other=percent_up(beaten.amount)))
    best = 1 - down(promise.untrue_floor, _TENTHS)  # rounded up, because it is a bound
    return [*lines, say("publish_page.row_true", truth=_share(1 - promise.untrue), best=_share(best))]


def _rows_html(query: OfRows, before: list[list[Any]], after: list[list[Any]]) -> str:
    """Made-up rows beside their published versions."""
    published = escape(say("publish_page.published_as"))
    head = "".join(f"<th>{escape(name)}</th><th>{published}</th>" for name in query.columns)
    body = ""
    for old, new in list(zip(before, after, strict=True))[:MOST_ROWS]:
        pairs = [(escape(_short(cell_words(a))), escape(_short(cell_words(b)))) for a, b in zip(old, new, strict=True)]
        cells = "".join(f"<td class='muted'>{a}</td><td>{b}</td>" for a, b in pairs)
        body += f"<tr>{cells}</tr>"
    return f'<div class="scroll" tabindex="0"><table class="plain example"><tr>{head}</tr>{body}</table></div>'


def _short(words: str) -> str:
    return words if len(words) <= LONGEST_CELL else words[: LONGEST_CELL - 1] + "…"


def cell_words(value: Any) -> str:
    """A cell as shown; the empty set needs a sign."""
    if value == "":
        return "–"
    return value if isinstance(value, str) else plain(value).replace("-", "−")


def _figures_html(query: OfRows) -> str:
    """The parameters, for experts: the thesis's scale beside the smallest one, and the probabilities."""
    lines = []
    for name in query.columns:
        row = query.row(name)
        if isinstance(row, Blur):
            grain = query.grain(name)
            thesis = thesis_scale(row.steps, row.epsilon, row.delta)
            facts = {"thesis": thesis, "thesis_off": expected_error(thesis), "least": row.scale, "least_off": row.error}
            figures = {part: two_figures(size * grain) for part, size in facts.items()}
            code = "publish_page.scales" if row.delta else "publish_page.scale"
            lines.append(say(code, column=name, steps=row.steps, **figures))
        elif isinstance(row, OfItems):
            lines.append(say("publish_page.chances_set", column=name, items=row.items, flip=_exact(row.flip)))
        else:
            chances = {"truth": _exact(row.truth), "other": _exact(row.chance)}
            lines.append(say("publish_page.chances", column=name, size=row.size, **chances))
        lines.append(_floors(query, name))
    lines += [say("receipt.theorem", theorem=query.theorem), *query.card.caveat_texts]
    return "".join(f'<p class="muted">{escape(line)}</p>' for line in lines)


def _floors(query: OfRows, name: str) -> str:
    """Both lower-bound theorems, from the public facts they rest on: |D|, the diameter and κ."""
    column, kappa, size = query.facts.schema[name], query.grain(name), query.steps(name) + 1
    far = farthest(column.diameter / kappa, query.epsilon, query.delta) * kappa
    near = nearest(size, query.epsilon, query.delta) * kappa
    facts = {"column": name, "size": size, "diameter": plain(column.diameter), "kappa": plain(kappa)}
    bounds = {"farthest": far, "half": far / 2, "nearest": near, "floor": query.floor(name)}
    shown = {name: two_figures(bound, ROUND_FLOOR) for name, bound in bounds.items()}
    return say("publish_page.floors", **facts, **shown)


def _exact(share: Fraction) -> str:
    return to_figures(float(share), 5)


_STYLE = """<style>
[data-testid="stHtml"] ul.facts { list-style: none; padding: 0; margin: 0 0 0.5rem 0; }
[data-testid="stHtml"] ul.facts li { margin: 0 0 0.7rem 0; padding: 0; overflow-wrap: anywhere; }
table.plain.example th, table.plain.example td { padding-top: 0.25rem; padding-bottom: 0.25rem; }
table.plain.example td { white-space: nowrap; }
</style>"""
