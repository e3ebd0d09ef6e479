"""All answers of a table, newest first: at a glance, and as cards, a page at a time. It reads the ledger alone, and
costs nothing."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.answers import cards, glance, picked, take_away
from ui.parts import first_look
from ui.shell import frame, nav
from ui.shell.state import workspace
from ui.words import gloss

PER_PAGE = 8
COLUMNS = 2
MOST_TABLES = 10  # that are offered where this one has no answers


def show(table: dp.Table) -> None:
    _title(table)
    asked = table.meter().charges
    if not asked:
        st.html(f"<p>{escape(say('ledger.empty', table=table.name))}</p>")
        if not table.closed:
            first_look.link(table)
            st.page_link(nav.page("ask"), label=say("ledger.first"), query_params={"table": table.name})
        _elsewhere(table)
        return
    picked.show(table)
    pages = -(-asked // PER_PAGE)
    slot = st.container()
    page = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    entries = table.history(PER_PAGE, (page - 1) * PER_PAGE)
    with slot:
        if page == 1:
            glance.show(table)
        for start in range(0, len(entries), COLUMNS):
            for column, entry in zip(st.columns(COLUMNS), entries[start : start + COLUMNS], strict=False):
                with column:
                    cards.show(table, entry)
        if pages > 1:
            first = (page - 1) * PER_PAGE + 1
            told = say("answers.rows", first=first, last=first + len(entries) - 1, charges=asked)
            st.html(f'<p class="muted">{escape(told)}</p>')


def _elsewhere(table: dp.Table) -> None:
    """Links to the answers of one's own tables, newest first: whoever comes back later may not know which was asked."""
    names = [name for name, _ in workspace().names() if name != table.name]
    for name in names[::-1][:MOST_TABLES]:
        label = say("answers.elsewhere", table=name)
        link = escape(nav.address("answers", name))  # a page link to the page itself would leave the address as it was
        st.html(f'<p><a href="{link}" target="_self">{escape(label)}</a></p>')


def _title(table: dp.Table) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        lead = gloss.text(say("answers.lead"))
        title = escape(say("answers.title", table=table.name))
        st.html(f'{_STYLE}<h1>{title}</h1><p class="lead">{lead}</p>', width=620)
        with st.container(horizontal=True, vertical_alignment="bottom", width="content"):
            frame.pick_table(table, "answers", width=240)
            if table.meter().charges:
                take_away.show(table)


_STYLE = """<style>
[class*="st-key-card-answer"] .headline { font-size: 1.55rem; line-height: 1.25; }
[class*="st-key-card-answer"] .headline.long { font-size: 1.25rem; line-height: 1.35; }
.took { color: var(--take); white-space: nowrap; }
table.plain.compared { max-width: 44rem; }
.st-key-card-compare { border-color: var(--left) !important; }
.st-key-card-compare .headline { font-size: 1.75rem; }
.st-key-card-compare .fit { margin-top: 0.8rem; }
@media print {
  [data-testid="stHeader"], .st-key-head, .st-key-take-away, .st-key-compare-clear, .see, [data-testid="stPopover"],
  [data-testid="stExpander"], [data-testid="stSelectbox"], [data-testid="stButtonGroup"], .modebar-container,
  [data-testid="stMultiSelect"] { display: none !important; }
  [data-testid="stApp"], [data-testid="stMain"], [data-testid="stAppViewContainer"] { position: static !important;
    overflow: visible !important; height: auto !important; }
  [class*="st-key-card"] { break-inside: avoid; }
}
</style>"""
