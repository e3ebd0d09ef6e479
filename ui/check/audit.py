"""The audit page: two made-up tables, a question watched on both, and the same question broken on purpose."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from demos.neighbours import ANA, SCHEMA, Example, Table, settings
from demos.twins import twins
from dpengine.declared.facts import named_columns
from dpengine.declared.schema import Category, ItemSet
from dpengine.messages import plain, say
from ui.check import audit_chart, audit_state, audit_words, own_column
from ui.check.audit_state import CARE, CHOICES, MOST, Drawn, Prepared
from ui.parts import exports
from ui.shell import frame
from ui.words import gloss


def show(table: dp.Table) -> None:
    frame.instead(say("check.meter"))
    title, lead = escape(say("check.title")), gloss.text(say("check.lead"))
    st.html(f'{_STYLE}<h1>{title}</h1><p class="lead">{lead}</p>')
    given = audit_state.state()
    with st.container(key="card-audit"):
        given = controls(given)
        example = audit_state.example_of(given)
        st.html(tables_html(example))
    with st.container(key="card-audit-built"):
        st.html(f"<h2>{escape(say('check.built'))}</h2>")
        checked(example, "")
    with st.container(key="card-audit-broken"):
        st.html(f'<h2>{escape(say("check.broken"))}</h2><p class="muted">{escape(say("check.broken_lead"))}</p>')
        given = given | {"twin": _twin(example, given)}
        checked(example, given["twin"])
    with st.container(key="card-audit-own"):
        own_column.show(table, given["e"])
    audit_state.remember(given)


def controls(given: dict[str, str]) -> dict[str, str]:
    """Which question, on which two tables, under which promise."""
    left, right = st.columns([1, 1])
    with left:
        question = st.selectbox(
            say("check.field.question"),
            CHOICES["q"],
            CHOICES["q"].index(given["q"]),
            key=audit_state.widget("q"),
            format_func=lambda one: say(f"card.{one}.noun"),
        )
    with right:
        care = st.select_slider(
            say("check.field.care"),
            CARE,
            given["e"],
            key=audit_state.widget("e"),
            format_func=lambda one: say("check.care", times=audit_words.times(math.exp(float(one))), epsilon=one),
        )
    chosen = {}
    given = audit_state.fitted(given | {"q": str(question), "e": str(care)})
    pairs = settings(given["q"])
    for place, (column, name) in enumerate(zip(st.columns([1, 1]), ("relation", "unit"), strict=True)):
        offered = [one for one in CHOICES[name] if one in {pair[place] for pair in pairs}]
        with column:
            chosen[name] = st.segmented_control(
                say(f"check.field.{name}"),
                offered,
                default=given[name],
                required=True,
                key=audit_state.widget(name if len(offered) > 1 else f"{name}-only"),
                format_func=_named(name),
            )
    given |= {name: str(value or given[name]) for name, value in chosen.items()}
    return given | {"twin": audit_state.twin_of(given, given["twin"])}


def _named(name: str) -> Callable[[str], str]:
    return lambda one: say(f"check.{name}.{one}")


def _twin(example: Example, given: dict[str, str]) -> str:
    offered = list(twins(example))
    return str(
        st.selectbox(
            say("check.field.twin"),
            offered,
            offered.index(given["twin"]),
            key=audit_state.widget("twin-" + "-".join(offered)),
            format_func=lambda one: say(f"check.twin.{one}"),
        )
    )


# --- the two tables ---------------------------------------------------------------------------------------------------


def tables_html(example: Example) -> str:
    """Both tables in full: nobody is in them."""
    columns = sorted(example.query.used() or set(named_columns(example.query.parameters())))
    one, other = example.tables
    drawn = "".join(
        _table_html(rows, columns, say(f"check.table.{letter}"), example.relation == "add_remove" and letter == "b")
        for letter, rows in (("a", one), ("b", other))
    )
    free = f"<b>{escape(say('check.only'))}</b> {escape(say('check.free'))}"
    asked = f"{escape(say('check.asked'))} <b>{escape(example.query.sentence())}</b>"
    return f'<p>{asked}</p><div class="pair">{drawn}</div><p class="muted">{free}</p>'


def _table_html(rows: Table, columns: list[str], title: str, absent: bool) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in [say("check.column.name"), *columns])
    body = ""
    for row in rows:
        cells = "".join(f"<td>{escape(_cell(row, name))}</td>" for name in columns)
        mark = ' class="ana"' if row["name"] == ANA else ""
        body += f"<tr{mark}><th scope='row'>{escape(row['name'])}</th>{cells}</tr>"
    if absent:
        body += f"<tr class='ana gone'><td colspan='{len(columns) + 1}'>{escape(say('check.absent'))}</td></tr>"
    caption = f"<caption>{escape(title)}</caption>"
    return f"<div class='scroll' tabindex='0'><table class='plain'>{caption}<tr>{head}</tr>{body}</table></div>"


def _cell(row: Any, name: str) -> str:
    if name not in SCHEMA.columns:
        return str(row[name])
    column, code = SCHEMA[name], row[name]
    if isinstance(column, Category):
        return str(column.labels[code])
    if isinstance(column, ItemSet):
        return ", ".join(column.labels[item] for item in code) or "–"
    written = row["written"]
    return plain(written) if written == code else say("check.clipped", written=written, counted=code)


# --- one check --------------------------------------------------------------------------------------------------------


def checked(example: Example, twin: str) -> None:
    """What answers look like from both tables, what the exact law says, and what the draws prove."""
    ready, kept = audit_state.prepared(example, twin), audit_state.drawn(example, twin)
    top, key = st.container(), f"audit-{'twin' if twin else 'built'}"
    if kept.many < kept.wanted:
        bar = st.progress(0.0, say("check.drawing"))
        audit_state.draw_more(ready, kept, lambda share: bar.progress(share, say("check.drawing")))
        bar.empty()
    found = audit_words.found(ready, kept)
    with top:
        st.html(f'<p class="found" role="status">{found}</p>')
        _picture(example, ready, kept, found, key)
        st.html(_gauge(ready, kept, twin))
    with st.container(horizontal=True):
        if kept.many < MOST:
            st.button(say("check.more_draws"), key=f"{key}-more", on_click=audit_state.wish, args=(kept,))
        else:
            st.html(f'<p class="muted">{escape(say("check.enough"))}</p>')
    with st.expander(say("check.details")):
        lines = audit_words.details(example, ready, twin)
        st.html("".join(f"<p>{gloss.text(line)}</p>" for line in lines))
        st.download_button(
            say("check.csv"),
            _csv(ready, kept),
            f"check-{example.key}.csv",
            "text/csv",
            key=f"{key}-csv",
            on_click="ignore",
        )


def _sides(example: Example, ready: Prepared, kept: Drawn) -> tuple[audit_chart.Side, audit_chart.Side]:
    cells, known = ready.view.cells, ready.view.known
    names = say("check.side.a"), say(f"check.side.{example.relation}")
    exact = ([cell.one or 0.0 for cell in cells], [cell.other or 0.0 for cell in cells])
    one, other = (
        audit_chart.Side(names[at], exact[at] if known else None, kept.shares(at, len(cells))) for at in (0, 1)
    )
    return one, other


def _picture(example: Example, ready: Prepared, kept: Drawn, found: str, key: str) -> None:
    view, claim = ready.view, ready.claim
    one, other = _sides(example, ready, kept)
    alt = say("check.alt.chart", found=audit_words.bare(found))
    audit_chart.both(
        audit_words.labels(view),
        one,
        other,
        claim.times,
        float(claim.delta),
        view.worst(claim)[1],
        audit_words.axis(view),
        alt,
        f"{key}-chart",
    )
    few = len(view.cells) <= audit_chart.FEW
    read = say("check.read.drawn" if not view.known else "check.read.bars" if few else "check.read.lines")
    beyond = ready.loss is not None and ready.loss > claim.epsilon
    st.html(f'<p class="muted">{escape(read + (" " + say("check.read.beyond") if beyond else ""))}</p>')


def _gauge(ready: Prepared, kept: Drawn, twin: str) -> str:
    claim, proven = ready.claim, audit_state.evidence(ready, kept).epsilon
    figures = {"claim": audit_words.two(claim.epsilon, up=True), "proven": audit_words.two(proven, up=False)}
    alt = say("check.alt.gauge", **figures)
    lines = "".join(f'<li class="{kind}">{line}</li>' for kind, line in audit_words.gauge(ready, kept))
    verdict = audit_words.verdict(ready, kept, twin)
    kind = "warn" if twin or proven > claim.epsilon else "muted"
    return (
        f'{audit_chart.gauge(float(claim.epsilon), ready.loss, float(proven), alt)}<ul class="gauge-words">{lines}</ul>'
        f'<p class="{kind}">{escape(verdict)}</p>'
    )


def _csv(ready: Prepared, kept: Drawn) -> str:
    cells = ready.view.cells
    columns = [say(f"check.csv.{what}", table=one) for what in ("exact", "drawn") for one in audit_words.TABLES]
    shares = [kept.shares(side, len(cells)) for side in (0, 1)]
    exact = [[cell.one for cell in cells], [cell.other for cell in cells]]
    return exports.as_csv(
        [say("check.csv.answer"), *columns], zip(audit_words.labels(ready.view), *exact, *shares, strict=True)
    )


_STYLE = """<style>
.found { font-family: var(--serif); font-size: 1.3rem; line-height: 1.4; max-width: 54rem; color: var(--ink);
  margin: 0.3rem 0 0.5rem 0 !important; }
.found b { font-weight: 600; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0.5rem 2.5rem; margin-bottom: 0.6rem; }
.pair caption { text-align: left; font-family: var(--serif); font-weight: 600; font-size: 1.15rem; color: var(--ink); }
.pair table.plain th, .pair table.plain td { padding: 0.25rem 0.6rem 0.25rem 0.4rem; color: var(--muted);
  font-weight: 400; }
.pair table.plain tr.ana th, .pair table.plain tr.ana td { background: var(--take-soft); color: var(--ink);
  font-weight: 600; }
.pair table.plain tr.gone td { font-style: italic; font-weight: 400; }
.gauge { position: relative; height: 18px; border-radius: 9px; overflow: hidden; max-width: 54rem;
  margin: 0.8rem 0 0.5rem 0; border: 1px solid var(--line);
  background: repeating-linear-gradient(45deg, var(--take-soft) 0 6px, var(--card) 6px 12px); }
.gauge span, .gauge i { position: absolute; display: block; top: 0; height: 100%; left: 0; }
.gauge .promised { background: var(--left-soft); }
.gauge .proven { top: 5px; height: 6px; border-radius: 0 3px 3px 0; }
.gauge .proven.fine { background: var(--left); }
.gauge .proven.over { background: var(--refuse); }
.gauge i.limit { width: 3px; background: var(--left); margin-left: -3px; }
.gauge i.exact { width: 3px; background: var(--ink); margin-left: -3px; }
[data-testid="stHtml"] .gauge-words { list-style: none; padding: 0; margin: 0 0 0.6rem 0; }
[data-testid="stHtml"] .gauge-words li { margin: 0 0 0.1rem 0; padding-left: 1.6rem; position: relative; }
.gauge-words li::before { content: ""; position: absolute; left: 0; top: 0.35rem; width: 1rem; height: 0.8rem;
  border-radius: 2px; }
.gauge-words li.promised::before { background: var(--left-soft); border-right: 3px solid var(--left); }
.gauge-words li.exact::before { background: var(--ink); width: 3px; left: 0.5rem; }
.gauge-words li.fine::before, .gauge-words li.over::before { top: 0.6rem; height: 6px; background: var(--left); }
.gauge-words li.over::before { background: var(--refuse); }
@media (max-width: 640px) { .found { font-size: 1.12rem; } .pair { grid-template-columns: 1fr; } }
</style>"""
