"""Asking: the click only passes the question to a background thread; the page waits in a fragment and finds it by id.

The id is in the URL from the click on, so a reload, a second tab or a restart find the same answer and pay nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import streamlit as st

import dpengine as dp
from dpengine.asking.release import new_request
from dpengine.core.printed import percent_left
from dpengine.core.strict_json import read_strict
from dpengine.ledger.rows import Charge
from dpengine.messages import say
from ui.parts import owner, requests
from ui.shell import frame, nav, scroll
from ui.shell.frame import hint
from ui.shell.language import address
from ui.shell.state import workspace
from ui.words.markup import html_lines

Kind = Literal["primary", "secondary"]
PRIMARY: Kind = "primary"
SECONDARY: Kind = "secondary"
_NEXT, _SEEN, _CLICKED = "_next_request", "_seen", "_clicked"
_TYPED = "_just_typed"
BOX = "box-field"  # the question box
_FIELDS = "ask-", "where-", BOX  # how the keys of a form's fields begin
_OURS = ("ask-epsilon", "ask-epsilon-table", "ask-fresh", "ask-shape", "ask-began")  # no fields
JUST_NOW = timedelta(minutes=1)
PATIENCE = 0.4  # seconds that a page waits for an answer before it says that it waits: most come sooner


def ask_button(
    label: str,
    table: dp.Table,
    query: dp.Query,
    key: str,
    disabled: bool = False,
    kind: Kind = PRIMARY,
    url_name: str = "answer",
    again: bool | str = False,
    checked: bool = True,
    anyway: bool = False,
) -> None:
    """Draw a button that asks once, however often it is clicked: the id that it will use is chosen before the click.

    The id belongs to one question and is part of the button's own key: a late second click, or a key held down, meets a
    button that is gone, not the one that would pay for a new draw. The URL keeps the id under `url_name`. If `again` is
    true, this very question was paid for before; paying again then takes a second step, in another place than the first
    click. If `again` is a sentence, the sentence says why. If `checked` is true, the engine first checks columns that
    nobody has checked. With `anyway`, a question about a doubted column is asked of the cells that fit alone."""
    if requests.waits(table, query):
        requests.approval(table, query, key)
        return
    request = next_request(key, table.name, query.digest())
    known, drawn = seen(), _fields(key)

    def ask() -> None:
        """Hand over the question. If the click has also changed a field, nobody has seen the new question: refuse
        it."""
        now = _fields("")
        if changed := [name for name, value in drawn.items() if now.get(name, value) != value]:
            st.session_state[_TYPED] = changed == [BOX]  # whoever typed and clicked at once has done nothing wrong
            _refuse(say("ask.just_typed" if changed == [BOX] else "ask.just_changed"))
            return
        try:
            # First: at any st.* call the next click may abort this script.
            table.submit(query, request_id=request, seen=known, checked=checked, anyway=anyway)
        except dp.AllowanceError as refusal:
            _refuse(str(refusal))
            return
        expect(table, request, url_name)

    with st.container(key=key, width="content"):
        if not again or disabled:
            st.button(label, key=f"{key}-{request}", type=kind, disabled=disabled, on_click=ask)
            return
        turn = st.session_state.get(closed := f"{key}-closed", 0)  # another key closes it
        with st.popover(label, key=f"{key}-more-{request}-{turn}", type=kind):
            st.html(f'<p class="muted">{html_lines(again if isinstance(again, str) else say("ask.again_sure"))}</p>')
            with st.container(key=f"{key}-sure", horizontal=True):
                st.button(say("ask.again_pay"), key=f"{key}-{request}", type="primary", on_click=ask)
                no = {closed: turn + 1}
                st.button(say("ask.again_no"), key=f"decline-{key}", on_click=st.session_state.update, args=(no,))


def next_request(*what: object) -> str:
    """The id for the next click on the button that `what` describes: chosen before the click, and the same until
    `renew`."""
    waiting: dict[tuple[object, ...], str] = st.session_state.setdefault(_NEXT, {})
    return waiting.setdefault(what, new_request())


def look_up() -> None:
    """Note the newest row of the ledger as seen by the person who looks at this page. This comes before anything else
    is read."""
    st.session_state[_SEEN] = workspace().ledger.head()[0]


def seen() -> int | None:
    known: int | None = st.session_state.get(_SEEN)
    return known


def _fields(button: str) -> dict[str, str]:
    state: dict[str, Any] = st.session_state.to_dict()  # to read one after the other, each costs a walk
    found = {name: value for name, value in state.items() if name.startswith(_FIELDS)}
    return {
        name: repr(value) for name, value in found.items() if name not in _OURS and not name.startswith(f"{button}-")
    }


def submit(table: dp.Table, query: dp.Query, request: str, url_name: str) -> None:
    """Ask a question that the person has just seen with its price."""
    table.submit(query, request_id=request, seen=seen(), checked=True)
    expect(table, request, url_name)


def expect(table: dp.Table, request: str, url_name: str) -> None:
    scroll.expect(request)
    st.query_params["table"] = table.name
    st.query_params[url_name] = request


def _refuse(sentence: str) -> None:
    st.session_state["refusal"] = sentence
    st.session_state[_CLICKED] = True


def renew(request: str) -> bool:
    """Forget the id of a question that has ended, so that the next click is a new, paid draw. False if it was forgotten
    before."""
    waiting = st.session_state.get(_NEXT, {})
    over = [what for what, used in waiting.items() if used == request]
    for what in over:
        del waiting[what]
    return bool(over)


def running(table: dp.Table, query: dp.Query) -> str | None:
    """The request by which somebody is asking this question now, in another tab or elsewhere; None if nobody is."""
    last = table.last_asked(query)
    if last is None or last.outcome is not None or workspace().job(last.charge.request).over:
        return None
    return last.charge.request


def newer(table: dp.Table, request: str) -> Charge | None:
    """A question charged just now, after the one in the URL; else None. A quick reload loses the newer id, so the page
    points to that question."""
    known = workspace().ledger.find(request)
    for entry in table.history(1):
        age = datetime.now(UTC) - datetime.fromisoformat(entry.charge.at)
        if known is not None and entry.charge.seq > known.charge.seq and age < JUST_NOW:
            return entry.charge
    return None


def look(request: str) -> dp.Job:
    """The state of the question in the URL. Until the question ends, the page only waits. If it has ended without an
    answer, this draws the reason."""
    job = workspace().job(request)
    if not job.over and not job.ahead:
        workspace().jobs.wait(request, PATIENCE)
        job = workspace().job(request)
    if not job.over:
        wait(request)
        return job
    look_up()  # it may have been charged since the page began; what else the page shows is read after this
    renew(request)
    if job.answer is None and not isinstance(job.error, dp.ColumnDoubted):  # which the page shows with its ways out
        refused(say("job.unknown") if job.state == "unknown" else str(job.error), request)
    return job


@st.fragment(run_every=0.3)
def wait(request: str) -> None:
    asked = workspace().job(request)
    if asked.over:
        st.rerun()
    words = say("job.queued", ahead=asked.ahead) if asked.ahead else say("job.waiting")
    st.html(f'<p class="muted" role="status">{html_lines(words)}</p>')
    if asked.total > 1:
        st.progress(min(asked.done / asked.total, 1.0))


@st.fragment(run_every=0.3)
def elsewhere(request: str) -> None:
    """Say that somebody else is asking this question. Once that is over, reload the page, which then offers the
    answer."""
    if workspace().job(request).over:
        st.rerun()
    hint(say("ask.running"))


def short(table: dp.Table, price: dp.Preview) -> bool:
    """True if the question does not fit into the person's own share. Then this also says so, with a link to ask for
    more."""
    sentence = requests.own_short(price)
    if sentence is not None:
        refused(sentence)
        if price.covered:  # a larger share would not help
            st.page_link(nav.page("data"), label=say("wish.link"), query_params={"table": table.name})
    return sentence is not None


def only_covered(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    """Stop the page if the person's share does not allow this kind of question."""
    sentence = requests.not_covered(table, key, given)
    if sentence is not None:
        refused(sentence)
        st.stop()


def refused(sentence: str, request: str | None = None) -> None:
    """Draw why nothing was asked, or why a `request` has no answer; after a click, scroll to that."""
    now = st.session_state.pop(_CLICKED, False)
    if st.session_state.pop(_TYPED, False):
        frame.paragraph(sentence, "", role="status")
        return
    frame.show_error(say("job.refused"), sentence, bool(request or now))
    if now:
        scroll.show()
    scroll.arrived(request)


def show_form(table: dp.Table, place: str, hint_words: str, form: Callable[[dp.Table], None]) -> None:
    """Draw the picker of tables and the form of a page; if the table is closed, or there is a hint, only that in place
    of the form."""
    frame.pick_table(table, place)
    if table.closed:
        owner.closed(table)
    elif hint_words:
        hint(hint_words)
    else:
        form(table)


def show_refusal() -> None:
    """Draw why the last click asked nothing; nothing if it asked."""
    if sentence := st.session_state.pop("refusal", None):
        refused(sentence)


def too_much(table: dp.Table, code: str = "ask.too_much", nothing: Callable[[], str] | None = None) -> None:
    """Say that a question does not fit into what is left of the allowance. `code` is the key of the message; `nothing`
    gives the sentence for an allowance that is used up."""
    left = table.meter().unused
    refused(say(code, left=percent_left(left)) if left else nothing() if nothing else say("ask.nothing_left"))


def revisit(table: dp.Table, answer: dp.Answer) -> None:
    """Show an answer that was already paid for."""
    st.query_params["table"] = table.name
    st.query_params["answer"] = answer.request_id


# What a URL holds: a form's whole state, which is read on arrival, kept while it is filled in, and written back.


def _state(place: str) -> str:
    return f"{place}-form"


def address_given(
    table: dp.Table, place: str, names: tuple[str, ...], fill: Callable[[dict[str, str]], dict[str, Any]]
) -> tuple[dict[str, Any], bool]:
    """The form's values, from the URL on arrival and else as the person left them; and whether the form has just
    arrived. `fill` builds the values from the address, which is not trusted."""
    kept = st.session_state.get(_state(place))
    arriving = {name: st.query_params[name] for name in names if name in st.query_params}
    arrived = kept is None or kept["table"] != table.name or bool(arriving and arriving != kept["url"])
    if kept is None or arrived:
        for key in [key for key in st.session_state if str(key).startswith(f"{place}-") and key != _state(place)]:
            if not str(key).startswith(f"{place}-table"):
                del st.session_state[key]
        turn = kept["turn"] + 1 if kept else 0  # new widgets, because a browser keeps showing the old ones
        kept = {"table": table.name, "url": arriving, "given": arriving | fill(arriving), "turn": turn}
        st.session_state[_state(place)] = kept
    return dict(kept["given"]), arrived


def addressed_widget(place: str, name: str) -> str:
    return f"{place}-{name}-{st.session_state[_state(place)]['turn']}"


def remember_address(table: dp.Table, place: str, now: dict[str, Any], again: bool = False) -> None:
    """Put the form's values into the address; with `again` even if they are the same, since a link to this page keeps
    the old address."""
    url = as_texts({name: value for name, value in now.items() if value or name == "columns"})
    st.session_state[_state(place)] |= {"url": url, "given": now}
    address({"table": table.name} | url, again)


def as_texts(given: dict[str, Any]) -> dict[str, str]:
    """Values as texts for an address. A value that is no text is written as JSON, which `read_address` reads."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in given.items()
    }


def read_address(text: str | None) -> Any:
    """The value of a JSON text in an address; None if the text is not valid."""
    try:
        return read_strict(text or "")
    except ValueError:
        return None


def read_names(text: str | None, offered: Sequence[str]) -> list[str] | None:
    """The offered names in an address's list, each once; None if the address has no list."""
    wanted = read_address(text)
    if not isinstance(wanted, list):
        return None
    return list(dict.fromkeys(name for name in wanted if isinstance(name, str) and name in offered))
