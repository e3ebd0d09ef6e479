"""The current visitor and the open table. The workspace keeps all data; a session only remembers choices."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

import dpengine as dp
from dpengine.core import places
from dpengine.core.errors import UnknownTable
from dpengine.messages import called, of_practice, practice_in_view, say
from dpengine.messages.language import current
from ui.shell import gate, person, workshop_state
from ui.shell.language import BySession, address
from ui.shell.web import visitor_of

if TYPE_CHECKING:
    from dpengine.people.face import Face

ROOT = Path(__file__).resolve().parents[2]
FIRST_TABLE = "town"
NOBODY = "local"
_practised = BySession()  # the practice table, whose names are read in the visitor's language
practice_in_view(_practised.now)


def read_names_of(practice_table: str) -> None:
    """Show the names in this practice table in the visitor's language. In any other table names stay as people wrote
    them."""
    _practised.keep(practice_table)


def attempt(act: Callable[..., object], *given: object, **named: object) -> Any:
    """Call `act`, and return True. If the engine refuses, store the sentence, which the page shows, and return
    False."""
    try:
        act(*given, **named)
    except dp.AllowanceError as refusal:
        st.session_state["refusal"] = str(refusal)
        return False
    return True


def home() -> Path:
    """The folder of the workspace, with the tables and the ledger."""
    return places.home()


def on_own_computer() -> bool:
    """Is the visitor the one who started the app? Then the app's folder is the visitor's own."""
    return not (workshop_state.on() or person.served() or gate.configured())


def workspace() -> dp.Workspace:
    """The workspace; limited to the person's rights when people sign in."""
    who = person.person()
    if who is None:
        return dp.open_workspace(home(), samples_only=workshop_state.on())
    return cast("dp.Workspace", dp.open_workspace(home()).as_person(who))


def steady() -> AbstractContextManager[None]:
    """Within this context the page reads each part of the ledger only once, and sees one state of it."""
    if is_untouched():
        return nullcontext()
    return dp.open_workspace(home(), samples_only=workshop_state.on()).ledger.steady()


def face() -> Face:
    """The workspace as the signed-in person may use it. Refuses if nobody is signed in, as on a laptop."""
    who = person.person()
    if who is None:
        raise dp.AllowanceError("porter.nobody")
    return dp.open_workspace(home()).as_person(who)


def may(verb: str, table: str | None = None) -> bool:
    """May the current person do this verb, on this table if one is given? On a laptop always. Pages use it to decide
    what to show."""
    who = person.person()
    return who is None or dp.open_workspace(home()).as_person(who).may(verb, table)


def browser() -> str:
    """The browser's random name from its cookie. Without a cookie (a notebook, a test) all are the same visitor, except
    in a workshop, where the instructor must differ from the others."""
    if named := visitor_of(st.context.cookies):
        return named
    return str(st.session_state.setdefault("browser", secrets.token_hex(16))) if workshop_state.on() else NOBODY


def visitor() -> str:
    """The owner of practice budgets: the signed-in person, the participant of this round of a workshop, or else the
    browser."""
    if (who := person.person()) is not None:
        return who
    here = workshop_state.room()
    return browser() if here is None else here.name(browser())


def held(*widgets: str) -> bool:
    """Does the session still hold these widgets' values? A page drops such values when it follows a link, and a late
    change of a widget must then do nothing."""
    return all(key in st.session_state for key in widgets)


def open_table(name: str) -> dp.Table:
    return workspace().table(name, visitor=visitor())


_held = set[tuple[Path, str]]()  # folders, and ledgers elsewhere, that held a workspace: they are never untouched again


def is_untouched() -> bool:
    """Is there no workspace yet? Then Start can be shown before the engine is imported."""
    here = home(), os.environ.get(places.LEDGER, "")
    if person.served() or workshop_state.on() or here in _held:
        return False
    if not places.empty():
        _held.add(here)
        return False
    return True


def is_fresh() -> bool:
    """Has no table been opened yet, neither a person's own nor the first sample?"""
    wanted = st.query_params.get("table") or st.session_state.get("table")
    if not wanted and is_untouched():
        return True
    return not (wanted or workspace().here(FIRST_TABLE) or workspace().names())


def as_read(table: dp.Table) -> Hashable:
    """A key for caching words about a table that follow from its declaration, the ledger and the meter: what this
    person reads now, in this language."""
    here, meter = workspace(), table.meter()
    spent = meter.used, meter.unused, meter.charges, meter.spent_epsilon, meter.spent_delta, *meter.rules.values()
    return here.folder, here.ledger.head(), table.name, table.facts, spent, visitor(), current()


_in_frame: ContextVar[dp.Table | None] = ContextVar("table", default=None)


@contextmanager
def opened(table: dp.Table | None) -> Iterator[None]:
    """Within this context `current_table` is this table, which the frame has just opened for the page."""
    before = _in_frame.set(table)
    try:
        yield
    finally:
        _in_frame.reset(before)


def has_opened() -> bool:
    """Has the frame opened a table for the page that is being drawn?"""
    return _in_frame.get() is not None


def current_table() -> dp.Table:
    """The table in the URL, else the one chosen before, else the newest added, else the first sample."""
    if (drawn := _in_frame.get()) is not None:
        return drawn
    try:
        wanted = st.query_params.get("table") or st.session_state.get("table")
        table = open_table(wanted or newest_table() or FIRST_TABLE)
    except UnknownTable:
        table = open_table(FIRST_TABLE)
    except dp.AllowanceError as error:  # a damaged ledger: say so, and let the Ledger page show where
        st.session_state["complaint"] = str(error)
        table = open_table(FIRST_TABLE)
    st.session_state["table"] = table.name
    read_names_of(table.name if table.practice else "")
    return table


def newest_table(verb: str = "table") -> str | None:
    """The newest open table, no sample, on which the person may do this verb: a returning person means their own table.
    None without one."""
    if is_untouched():
        return None
    closed = workspace().closed()
    return next((name for name, _ in reversed(workspace().names()) if name not in closed and may(verb, name)), None)


def choose_table(name: str) -> None:
    """Open this table and drop the question about another one."""
    if st.session_state.get("table") != name:
        st.session_state["table"] = name
        for key in ("ask", "answer"):
            st.session_state.pop(key, None)
    address({})


def table_names() -> list[str]:
    from dpengine.storage.samples import SAMPLES

    return [name for name, _ in workspace().names()] + list(SAMPLES)


def names_in_view() -> list[str]:
    """Names that no new table may have: those of all tables, and what practice tables are called in this language."""
    return [*table_names(), *table_labels().values()]


def table_labels() -> dict[str, str]:
    """The label of each table, no two alike: a picker finds a table by its label. A closed table's label says so. A
    practice table's label says so if somebody's own table has the same name in this language."""
    from dpengine.storage.samples import SAMPLES

    closed = workspace().closed()
    labels: dict[str, str] = {}
    for name in table_names():
        with of_practice(name if name in SAMPLES else ""):
            label = say(f"owner.label.{closed[name]}", table=name) if name in closed else called(name)
        while label in labels.values():
            label = f"{label} ({say('meter.practice')})"
        labels[name] = label
    return labels
