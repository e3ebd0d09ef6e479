"""A question that was refused because a paid check doubts one of its columns: the reason, and buttons that help.

Also the note, before payment, on the check that the price includes.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.checking import WayOut, ways_in_part
from dpengine.asking.release import new_request
from dpengine.messages import say
from ui.ask import preview
from ui.parts import answer_notes, job
from ui.shell import frame, nav, scroll
from ui.shell.frame import hint, paragraph
from ui.shell.state import attempt, may, workspace
from ui.words import prices
from ui.words.markup import few_names, p, unmarked

_DECLARED = ("widen", "name_code", "written", "list")  # ways that lead to the column's card
_WHOSE = ("people", "more_rows")  # ways that lead to whose the rows are
_CHECKED = ("fitting", "rows", "cut")  # columns that nobody has checked are checked all the same
_ABOVE = "_refused_above"  # where a refusal stands on the page that is being drawn
_MEANS = {
    "code": "left_out",
    "words": "left_out",
    "fitting": "fitting",
    "rows": "rows",
    "real": "as_it_is",
    "cut": "as_it_is",
}


def any_of(table: dp.Table, query: dp.Query) -> bool:
    """Does a paid check doubt a column of this question?"""
    return not table.practice and bool(answer_notes.fits_of_table(table.name).doubts(query))


def check_words(table: dp.Table, price: dp.Preview) -> str:
    """A sentence: what this price has checked before the question is asked, and what that takes."""
    assert price.check is not None
    given, share = price.check.parameters(), prices.takes(table, price.check_share)
    if len(given["columns"]) == len(table.schema.columns) > 1:
        return say("data.first.check", share=share)
    names = given["columns"] or given["ids"]
    return say("fit.before", columns=few_names(names), many=len(names), share=share)


def before(table: dp.Table, query: dp.Query, price: dp.Preview) -> None:
    """Draw above the button that pays: what a check doubts, or which columns the price has checked first."""
    if table.practice:
        return
    if price.check is not None:
        paragraph(check_words(table, price))
    elif table.doubts(query) is None and (found := answer_notes.fits_of_table(table.name).doubts(query)):
        hint(" ".join(found))


def refused(table: dp.Table, asked: dp.Job | None) -> dp.ColumnDoubted | None:
    """Draw why the requested question was refused, in place of an answer, and return the refusal. None if no check
    refused it."""
    if asked is None or not isinstance(asked.error, dp.ColumnDoubted):
        return None
    frame.show_price(table, None)  # drawn again: the check was charged after the frame
    show(table, asked.error, asked.error.query, asked.request_id)
    return asked.error


def instead(table: dp.Table, query: dp.Query, quiet: bool = False, url_name: str = "answer") -> bool:
    """True if a check would refuse the question. Then this also draws the reason in place of the button, unless
    `quiet`."""
    against = table.doubts(query)
    if against is not None and not quiet:
        show(table, against, query, url_name=url_name)
    return against is not None


def instead_at(url_name: str, table: dp.Table, query: dp.Query) -> bool:
    """As `instead`, on a page whose request is in the URL parameter `url_name`: true if a check would refuse the
    question. Nothing is drawn if `became` has just drawn the refusal there, or while the URL has a request."""
    above = st.session_state.pop(_ABOVE, "") == url_name
    return instead(table, query, quiet=above or bool(st.query_params.get(url_name)), url_name=url_name)


def read_on_ask(table: dp.Table, request: str) -> bool:
    """Open Ask for a question that one click asked elsewhere. Returns only if there is nothing to open: True if the
    question is over."""
    asked = job.look(request)
    found = asked.answer or (asked.error if isinstance(asked.error, dp.ColumnDoubted) else None)
    if asked.over and found is not None:
        st.switch_page(nav.page("ask"), query_params=preview.unpriced(table, found.query) | {"answer": request})
    return asked.over


def show(
    table: dp.Table,
    refused: dp.ColumnDoubted,
    query: dp.Query | None,
    request: str = "",
    url_name: str = "answer",
    key: str = "",
) -> None:
    """Draw a refusal in place of an answer, or of the button that would ask. `url_name` is the URL parameter for the
    question that a button asks; `key` tells several refusals on one page apart."""
    # A refusal of an earlier run holds the sentences of the language in which it was raised.
    now = table.doubts(query) if request and query is not None else None
    reasons = (now or refused).reasons
    with st.container(key=f"card-doubted{key}"):
        mark = ' arrived" tabindex="-1' if request else ""
        asked = "" if query is None else p(query.sentence(), "question")
        st.html(
            f'{asked}<p class="headline long{mark}" role="alert">{escape(" ".join(reasons))}</p>'
            f"<p>{escape(_paid(table, refused))}</p>"
        )
        codes = [way for way in refused.ways if way.kind == "code"][:1]
        real = [WayOut("real", way.column, query=query, code=way.code) for way in codes]  # it is a value here
        for number, way in enumerate([*refused.ways, *real]):
            _way(table, way, query, f"{key}{number}", number == 0, url_name)
        # The check's results for the other columns.
        fits = answer_notes.fits_of_table(table.name).all_of(table.schema.columns.items())
        good = [fit for fit in fits if fit.checked and fit.fits and fit.column not in refused.columns]
        notes = [say("fit.others_fit", columns=len(good))] if good else []
        notes += [fit.words() for fit in fits if fit.column not in refused.columns and (fit.doubted or fit.in_part)]
        if notes:
            paragraph(" ".join(notes))
    scroll.arrived(request or None)


def became(
    table: dp.Table,
    request: str | None,
    url_name: str,
    mine: type | Callable[[Any], bool],
    unknown: str,
    show_answer: Callable[[dp.Table, dp.Answer], None],
    wait: Callable[[str], None] = job.wait,
) -> bool:
    """Draw what became of the `request`: its progress, or its answer if the question belongs to this page (`mine`), or
    why there is no answer, with ways out if a check refused the question. `url_name` is the URL parameter with the
    request. False if the page still has to draw its form."""
    if not request:
        return False
    asked = workspace().job(request)
    if not asked.over:
        frame.show_price(table, None)
        wait(request)
        return True
    job.renew(request)
    found = asked.answer
    own = found is not None and (isinstance(found.query, mine) if isinstance(mine, type) else mine(found.query))
    if found is not None and own and found.receipt["table"] == table.name:
        frame.show_price(table, None)  # drawn again: the charge may have come after the frame
        show_answer(table, found)
        return True
    if isinstance(asked.error, dp.ColumnDoubted):
        frame.show_price(table, None)
        st.session_state[_ABOVE] = url_name
        show(table, asked.error, asked.error.query, request, url_name)
    else:
        job.refused(str(asked.error or say(unknown)), request)
    return False


def in_part(table: dp.Table, answer: dp.Answer) -> None:
    """Draw below an answer: if a check found a few codes or words for “unknown”, buttons that declare them and ask
    again."""
    if table.practice or table.closed or not may("ask", table.name):
        return
    known, spared = answer_notes.fits_of_table(table.name), answer.query.where.fitting()
    names = [name for name in table.schema.columns if name in answer.query.about() and name not in spared]
    ways = [way for name in names for way in ways_in_part(known.of(name, table.schema[name]), table.schema)]
    if ways and may("revise", table.name):
        paragraph(say("fit.in_part.ways"), "")
        for place, way in enumerate(ways):
            _way(table, way, answer.query, f"part-{place}")


def _paid(table: dp.Table, refused: dp.ColumnDoubted) -> str:
    if refused.check is None:
        return say("fit.not_asked")
    entry = workspace().ledger.find(refused.check.request_id)
    return say("fit.not_asked_paid", share=prices.took(table, entry))


def _way(
    table: dp.Table, way: WayOut, query: dp.Query | None, name: str, first: bool = False, url_name: str = "answer"
) -> None:
    label, key = unmarked(way.words()), f"way-{way.kind}-{name}"
    kind: job.Kind = job.PRIMARY if first else job.SECONDARY
    stepwise = getattr(query, "ask", None) is not None  # a question of a session is not asked by itself
    with st.container(horizontal=True, vertical_alignment="center", key=f"ways-{name}"):
        if stepwise and way.schema is not None:
            if may("revise", table.name):
                st.button(label, key=key, type=kind, on_click=attempt, args=(table.revise, way.schema))
                st.html(f'<p class="muted">{escape(say("fit.means.then_unknown"))}</p>')
            return
        if way.kind in _DECLARED or way.kind in _WHOSE:
            if may("revise", table.name):
                declared = way.kind not in _WHOSE
                back = {} if query is None else preview.back(table, query)
                where = {"change": "1", "open": way.column} if declared else {"protect": way.column}
                st.page_link(nav.page("data"), label=label, query_params={"table": table.name} | where | back)
                if back and declared:
                    paragraph(say("fit.means.declared"))
            return
        if (asked := way.query or query) is None or stepwise:
            return
        if way.schema is not None and not may("revise", table.name):
            return
        best = asked if way.schema is not None else table.cheapest(asked)
        checked = way.kind in _CHECKED
        seen = table.preview(best, checked=checked)
        if way.schema is not None:
            given = (table, way.schema, asked, new_request(), url_name)
            st.button(label, key=f"{key}-{asked.digest()[:8]}", type=kind, on_click=_mend, args=given)
        else:
            shut = not seen.admissible
            job.ask_button(label, table, best, key, shut, kind, url_name, checked=checked, anyway=checked)
        paragraph(say(f"fit.means.{_MEANS[way.kind]}", share=prices.takes(table, seen.share)))


def _mend(table: dp.Table, schema: dp.Schema, query: dp.Query, request: str, url_name: str) -> None:
    """Revise the declaration, then ask the same question. The price beside the button is the sum for both steps."""
    try:
        anew = table.revise(schema)
        job.submit(anew, anew.query(query.card.key, **query.parameters() | {"noise": query.noise}), request, url_name)
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)
