"""The meter at the top of every page, with the open table's name. A page that knows a price adds it to the meter."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import percent, percent_left, power_of_ten
from dpengine.messages import say
from ui.shell import person, scroll, speed
from ui.shell.state import choose_table, face, table_labels, table_names
from ui.words import gloss
from ui.words.markup import html_lines, p

if TYPE_CHECKING:
    from dpengine.asking.plan import Priced

_SLOT, _PICKER = "_meter_slot", "_picker_slot"
_SHOWN, _WAITS = "_meter_shown", "_meter_waits"  # the page and table it was drawn for; is it to be drawn in this run?
_DRAWN = "_meter_drawn"  # its HTML
_DOT = "\u00a0· "  # never begins a line


def draw(table: dp.Table | None, page: str) -> None:
    """Draw the meter, and reserve the place of the picker. In a later run of the same page the browser still shows the
    meter, so the page may draw it with its price at once; `meter_after` does it for a page that has not."""
    with st.container(key="line", horizontal=True, vertical_alignment="center"):
        st.session_state[_PICKER] = st.container(key="pick-table", width="content")
        st.session_state[_SLOT] = st.container(key="meter").empty()
    now = None if table is None else (page, table.name)
    st.session_state[_WAITS], st.session_state[_SHOWN] = st.session_state.get(_SHOWN) == now, now
    if table is not None and not st.session_state[_WAITS]:
        _fill(table, None)


def lend_meter(table: dp.Table) -> None:
    """Let a fragment draw the meter when it runs again without the frame. Streamlit asks that it has drawn there in
    each run of the whole page; a meter that the browser still shows is drawn as it is."""
    if st.session_state.get(_WAITS) and (before := st.session_state.get(_DRAWN)):
        st.session_state[_SLOT].html(before)
    else:
        _fill(table, None)


def begin_again(table: dp.Table, page: str) -> None:
    """Begin a run without the frame: the meter is drawn at its end, or before, with a price."""
    st.session_state[_WAITS], st.session_state[_SHOWN] = True, (page, table.name)


def meter_after(table: dp.Table | None) -> None:
    """Draw the meter if the page left it to the frame."""
    if table is not None and st.session_state.get(_WAITS):
        _fill(table, None)


def _show(html: str) -> None:
    """Put this into the place of the meter, instead of what was there."""
    st.session_state[_WAITS], st.session_state[_DRAWN] = False, html
    st.session_state[_SLOT].html(html)


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """In this context a page that fails says so in one sentence."""
    try:
        yield
    except dp.AllowanceError as error:
        from dpengine.ledger.people_rules import NO_RIGHT

        show_refusal(str(error), calmly=error.code == NO_RIGHT)
    except Exception as error:  # its message may hold a value: the log gets its type, the page one sentence
        logging.getLogger("allowance").error("page %s failed: %s", name, type(error).__name__)
        show_refusal(say("page.failed"))


def finish(table: dp.Table | None, began: float, prepare: Callable[[], None] | None = None) -> None:
    """What follows each run of a page that `began` then."""
    if person.served():  # otherwise nobody can ask for figures about the server
        from ui.api import metrics

        metrics.here.page(time.perf_counter() - began)
    speed.settle(prepare)
    meter_after(table)


def pick_table(table: dp.Table, page: str, here: bool = False) -> None:
    """Draw the picker for the page's table: beside the meter, or with `here` at this place of the page. Choosing
    another table reloads the page with that table."""
    names, labels = table_names(), table_labels()
    now, key = names.index(table.name), f"{page}-table-{labels[table.name]}"
    longest = min(max(130, 60 + 9 * len(labels[table.name])), 300)
    look: Any = {"label_visibility": "visible" if here else "collapsed", "width": 320 if here else longest}
    with st.container() if here else st.session_state[_PICKER]:
        picked = st.selectbox(say("ask.table"), names, now, labels.__getitem__, key, **look)
    if picked != table.name:
        choose_table(str(picked))
        st.query_params["table"] = str(picked)
        st.rerun()


def show_refusal(sentence: str | None, calmly: bool = False) -> None:
    """Say why the page or the table cannot be shown; with `calmly`, without alarm, because the person merely lacks a
    right."""
    if sentence and calmly:
        st.html(f'<p class="lead">{escape(sentence)}</p>')
    elif sentence:
        show_error(say("page.trouble"), sentence)


def paragraph(text: str, kind: str = "muted", role: str = "", **options: Any) -> None:
    st.html(p(text, kind, role), **options)


def hint(sentence: str) -> None:
    """Draw a warning, or what a form still needs; nothing was asked yet."""
    st.html(f'<p class="warn" role="status">{html_lines(sentence)}</p>')


def page_head(title: str, lead: str) -> None:
    st.html(f"<h1>{escape(title)}</h1>{p(lead, 'lead')}")


def heard_head(title: str) -> None:
    """Draw a title that only screen readers show, on a page that begins with its form."""
    st.html(f'<h1 class="sr">{escape(title)}</h1>')


def arrived_head(title: str, below: str, came_for: str) -> None:
    """Draw the heading of a section, with the HTML `below`. If the visitor just `came_for` the section, scroll to
    it."""
    mark = ' class="arrived" tabindex="-1"' if came_for else ""
    st.html(f"<h2{mark}>{escape(title)}</h2>{below}")
    if came_for:
        scroll.bring(came_for)


def section_head(title: str, lead: str = "", level: str = "h2") -> None:
    st.html(f"<{level}>{escape(title)}</{level}>{p(lead, 'muted') if lead else ''}")


def in_rows(many: int, across: int, **look: Any) -> list[Any]:
    """Containers for `many` elements, row by row; on a phone they keep this order."""
    return [place for _ in range(0, many, across) for place in st.columns(across, **look)][:many]


def show_success(sentence: str, bring: bool = False) -> None:
    """Say that something succeeded; with `bring`, scroll to that message."""
    mark = ' class="arrived" tabindex="-1"' if bring else ""
    st.html(f'<p role="status"{mark}><b class="whole">✓</b> {escape(sentence)}</p>')
    if bring:
        scroll.show()


def show_error(title: str, sentence: str, arrived: bool = False) -> None:
    """Draw a refusal, with or without a title; `arrived` marks it as what the page scrolls to."""
    mark, bold = ' arrived" tabindex="-1' if arrived else "", f"<b>{html_lines(title)}</b> " if title else ""
    st.html(f'<div class="refused{mark}" role="alert">{bold}{html_lines(sentence)}</div>')


def show_price(table: dp.Table, preview: dp.Preview | Priced | None, of: str = "", aside: bool = True) -> None:
    """Draw the meter with the price of a question or plan (`of` chooses the words); `aside` adds the table's name and
    terms."""
    _fill(table, preview, of, aside)


def replace_meter(sentence: str) -> None:
    """Draw a sentence in place of the meter, on pages that spend no open table's allowance."""
    words = f"<span>{gloss.text(sentence)}</span>"
    _show(f'<div class="meter"><div class="words" dir="auto">{words}</div></div>')


def hide_meter() -> None:
    """Draw no meter, on pages about no table or several tables."""
    _show('<div class="meter"></div>')


def small_bar(used: Fraction) -> str:
    """HTML with the bar of a table in a list of tables; `used` is the spent share."""
    label, gone = escape(say("meter.label", left=percent_left(1 - used))), _part("gone", used)
    return f'<div class="meter"><div class="bar slim" role="img" aria-label="{label}">{gone}</div></div>'


def _fill(table: dp.Table, preview: dp.Preview | Priced | None, of: str = "", named: bool = True) -> None:
    try:
        meter = table.meter()
    except dp.AllowanceError as error:  # a ledger that is locked, or was edited by hand
        words = f"<b>{escape(say('meter.none'))}</b> {escape(str(error))}"
        _show(f'<div class="refused" role="alert">{words}</div>')
        return
    bars = _shared(table, meter, preview)
    if bars is None:
        words, label, parts = _bar(meter.used, preview, of)
        aside = f'<div class="whose">{_aside(table, meter)}</div>' if named else ""
        bars = (
            f'<div class="words"><span>{gloss.html(words)}</span>{aside}</div>'
            f'<div class="bar" role="img" aria-label="{escape(label)}">{parts}</div>'
        )
    _show(f'<div class="meter">{bars}{_reserve(meter)}</div>')


def _bar(used: Fraction, preview: dp.Preview | Priced | None, of: str) -> tuple[str, str, str]:
    """The words, the label and the parts (HTML) of one bar, with the price of the preview if there is one."""
    left = 1 - used
    words, take, kind = say("meter.left", left=percent_left(left)), Fraction(0), "take"
    if preview is not None and preview.admissible:
        take = preview.share
        words = say(f"meter.after{of}", left=percent_left(left), after=percent_left(left - take))
    elif preview is not None:
        take, kind = left, "over"
        words = say(f"meter.short{of}", left=percent_left(left))
    return words, say("meter.label", left=percent_left(left)), _part("gone", used) + _part(kind, take)


def _shared(table: dp.Table, meter: dp.Meter, preview: dp.Preview | Priced | None) -> str | None:
    """HTML with two bars for a shared table: what is left of the person's own share, and of the table's allowance. None
    if the person has no share of it."""
    if table.practice or not person.served():
        return None
    mine, whole = face().meter(table.name)
    if not mine.share:  # an auditor, or a person without a current grant
        return None
    own_take = getattr(preview, "own_share", None) if getattr(preview, "covered", True) else None
    if isinstance(preview, dp.Preview) and preview.own_whole and preview.own_left is not None:  # the grant that pays
        mine = replace(mine, used=1 - preview.own_left / preview.own_whole, share=preview.own_whole)
    left, room = 1 - mine.used, 1 - whole.used
    own = say("meter.own.left", left=percent_left(left))
    parts, theirs = _part("gone", min(mine.used, Fraction(1))), _part("gone", min(whole.used, Fraction(1)))
    of_table = say("meter.own.table", left=percent_left(max(room, Fraction(0))))
    if preview is not None and own_take is not None:
        takes = own_take / mine.share
        short = takes > left
        if short:
            own = say("meter.own.short", left=percent_left(left))
        else:
            own = say("meter.own.after", left=percent_left(left), after=percent_left(left - takes))
        parts += _part("over" if short else "take", left if short else takes)
        over = preview.share > room
        if not over:
            of_table = say("meter.own.table_after", left=percent_left(room), after=percent_left(room - preview.share))
        theirs += _part("over" if over else "take", room if over else preview.share)
    share = say("meter.own.share", share=percent(mine.share))
    both = ((own, share, parts, percent_left(left)), (of_table, "", theirs, percent_left(max(room, Fraction(0)))))
    bars = "".join(
        f'<div><div class="words"><span>{gloss.html(words)}</span><span class="aside">{escape(beside)}</span></div>'
        f'<div class="bar" role="img" aria-label="{escape(say("meter.label", left=label))}">{bar}</div></div>'
        for words, beside, bar, label in both
    )
    return f'<div class="two">{bars}</div><div class="words"><div class="whose">{_aside(table, meter)}</div></div>'


def _aside(table: dp.Table, meter: dp.Meter) -> str:
    """HTML with the table's name and, under *details*, what the allowance protects and its terms. ε appears after the
    first answer only."""
    name, practice = str(gloss.text(say("meter.table", table=table.name))), ""
    if table.practice:
        name, practice = name + _DOT, gloss.text(say("meter.practice"))
    details = [protects(table)]
    if meter.charges:
        details.append(say("meter.terms", epsilon=meter.epsilon, delta=power_of_ten(meter.delta)))
    title, more = escape(say("meter.details")), gloss.text(_DOT.join(details))
    return f'<span class="name">{name}</span>{practice} <details><summary>{title}</summary>{more}</details>'


def protects(table: dp.Table) -> str:
    """A sentence on what the allowance protects: one row, or all rows with the same id."""
    relation, column = table.facts.relation, table.facts.unit.id_column
    return say(f"meter.relation.{relation}" if column is None else f"meter.relation.{relation}_each", column=column)


def _part(kind: str, share: Fraction) -> str:
    return f'<span class="{kind}" style="width:{float(share) * 100:.3f}%"></span>'


def _reserve(meter: dp.Meter) -> str:
    """HTML with a second, thinner bar for the δ reserve; empty while nothing of the reserve is used."""
    if not meter.spent_delta:
        return ""
    used = meter.spent_delta / meter.delta_reserve
    words = say("meter.reserve", share=percent(used))
    bar = f'<div class="bar thin" role="img" aria-label="{escape(words)}">{_part("gone", used)}</div>'
    return f'<div class="reserve"><span aria-hidden="true">{escape(words)}</span>{bar}</div>'
