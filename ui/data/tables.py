"""All tables as cards: how much of each allowance is left, what was asked last, and the ways on.

A card shows only what is public or paid for: names, declarations, the ledger's sums and released answers.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import sentence_of
from dpengine.core.printed import percent_left
from dpengine.mechanisms.marginals.wanted import has_cells
from dpengine.messages import called, of_practice, plain, say
from dpengine.storage.samples import SAMPLES
from ui.data import wizard
from ui.parts import answer_notes, history, requests, tables
from ui.shell import frame, nav, workshop_state
from ui.shell.frame import page_head
from ui.shell.state import home, may, on_own_computer, open_table, table_labels, workspace
from ui.words.markup import first_names, link, p, paragraphs

LATEST = 3
_NAMED = 6  # columns on a card
_SEARCHED = 20  # charges of a budget that other tables spend too


def show() -> None:
    frame.hide_meter()  # each card has a bar of its own
    page_head(say("tables.title"), say("tables.lead"))
    labels = table_labels()
    if not workshop_state.on():
        with of_practice(""):
            own = [_card(record.name, labels[record.name]) for record in workspace().tables()]
        brings = may("add_table")
        _section("tables.own", own, _add() if brings else "", say("tables.none" if brings else "tables.none_granted"))
        requests.elsewhere(labels)
    _section("tables.practice", [_sample(name) for name in SAMPLES], kind="tiles narrow")
    if on_own_computer():
        with st.expander(say("tables.leave")):
            lines = say("tables.leave_move"), say("tables.leave_remove", place=str(home().resolve()))
            st.html(paragraphs(lines, ""))


def _section(title: str, cards: list[str], first: str = "", none: str = "", kind: str = "tiles") -> None:
    note = p(none, "muted") if none and not cards else ""
    grid = "".join(cards)
    st.html(
        f'<section class="tables"><div class="over"><h2>{escape(say(title))}</h2>{first}</div>{note}'
        f'<div class="{kind}">{grid}</div></section>'
    )


def _add() -> str:
    """HTML with a link that adds a table, or goes on with an unfinished one."""
    draft = wizard.under_way()
    label = say("tables.add") if draft is None else say("tables.go_on", file=draft.file)
    return link(nav.address("data"), label, "button")


def _card(name: str, label: str) -> str:
    try:
        table = open_table(name)
        meter = table.meter()
    except dp.AllowanceError as complaint:  # its ledger is damaged or locked: the others can be used
        return _tile(label, "", p(str(complaint), "refused"))
    counted = table.practice or table.facts.people is not None
    people = escape(say("tables.people" if counted else "tables.people_supposed", people=table.facts.about))
    others = [] if table.practice else [other for other in table.sharing() if other != name]
    shared = f" · {escape(say('tables.shared', tables=plain(others)))}" if others else ""
    about = nav.address("data", name), "tables.about" if table.practice else "tables.about_own"
    ways = [] if table.closed or not may("ask", name) else [(nav.address("ask", name), "tables.ask")]
    if tables.first_look_label(table):
        ways.append((nav.address("board", name), "tables.first_look"))
    if meter.charges:
        ways.append((nav.address(nav.PLACES["answers"][0], name), "tables.answers"))
    middle = f"{_attention(table)}{_latest(table)}{tables.missing_html(table)}"
    inner = f"{_left(meter.used, shared)}{middle}{_ways(*ways, about)}"
    return _tile(label, f"{people} · {_columns(table.schema)}", inner)


def _sample(name: str) -> str:
    """HTML with the card of a practice table. It does not load the table."""
    with of_practice(name):
        if workspace().here(name):
            return _card(name, called(name))
        ways = [(nav.address("ask", name), "tables.ask"), (nav.address("data", name), "tables.about")]
        if any(has_cells(column) for column in SAMPLES[name].schema.columns.values()):
            ways.insert(1, (nav.address("board", name), "tables.first_look"))
        return _tile(called(name), _columns(SAMPLES[name].schema), _left(Fraction(0)) + _ways(*ways))


def _tile(label: str, facts: str, inner: str) -> str:
    return f'<article class="tile"><h3>{escape(label)}</h3><p class="muted">{facts}</p>{inner}</article>'


def _left(used: Fraction, beside: str = "") -> str:
    return f'{frame.small_bar(used)}<p class="left">{say("tables.left", left=percent_left(1 - used))}{beside}</p>'


def _ways(*ways: tuple[str, str]) -> str:
    """HTML with the ways on as links, the first one as a button."""
    links = [link(address, say(code), "" if place else "button") for place, (address, code) in enumerate(ways)]
    return f'<p class="ways">{"".join(links)}</p>'


def _attention(table: dp.Table) -> str:
    """HTML with warnings: columns that a paid check doubts, or that no column was checked; empty without any."""
    if table.practice or table.closed:
        return ""
    fits = answer_notes.fits_of_table(table.name).all_of(table.schema.columns.items())
    notes = [fit.words() for fit in fits if fit.doubted]
    if fits and not any(fit.checked for fit in fits):
        notes = [say("tables.unchecked")]
    lines = [escape(line) for line in notes]
    if (people := answer_notes.far_off(table)) is not None:
        lines.insert(0, f"{escape(people.note('card'))} {answer_notes.people_way(table.name)}")
    return "".join(f'<p class="warn">{line}</p>' for line in lines[:LATEST])


def _columns(schema: dp.Schema) -> str:
    return escape(say("tables.columns", count=len(schema.columns), names=first_names([*schema.columns], _NAMED)))


def _latest(table: dp.Table) -> str:
    entries = [entry for entry in table.history(_SEARCHED) if entry.charge.table == table.name][:LATEST]
    if not entries:
        return ""
    rows = "".join(
        f'<li><a href="{history.answer_link(entry.charge)}" target="_self">{escape(sentence_of(entry.charge))}</a> '
        f"<span>{escape(history.outcome(entry))}</span> {answer_notes.fit_in_short_html(entry)}</li>"
        for entry in entries
    )
    return f'<ul class="latest">{rows}</ul>'
