"""Who is here and which table is open. Everything lasting lives in the workspace; a session only remembers a choice."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import cast

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from dpengine.people.face import Face
from dpengine.storage.samples import SAMPLES
from ui.shell import person, workshop_state
from ui.shell.language import address
from ui.shell.web import visitor_of

ROOT = Path(__file__).resolve().parents[2]
FIRST_TABLE = "town"
NOBODY = "local"


def home() -> Path:
    """Where the tables and the ledger lie."""
    return Path(os.environ.get("ALLOWANCE_HOME") or ROOT / "var")


def workspace() -> dp.Workspace:
    """The workspace on a laptop; where people sign in, only what the person may do who is signed in."""
    who = person.person()
    if who is None:
        return dp.open_workspace(home(), samples_only=workshop_state.on())
    return cast(dp.Workspace, dp.open_workspace(home()).as_person(who))


def face() -> Face:
    """What the person may do who is signed in; refuses where nobody signs in."""
    who = person.person()
    if who is None:
        raise dp.AllowanceError("porter.nobody")
    return dp.open_workspace(home()).as_person(who)


def may(verb: str, table: str | None = None) -> bool:
    """For what a page shows: may whoever is here do this? On a laptop everything."""
    who = person.person()
    return who is None or dp.open_workspace(home()).as_person(who).may(verb, table)


def browser() -> str:
    """The browser's random name from its cookie; without one (a notebook, a test) everybody is the same visitor, but in
    a workshop, where the instructor must be told from the others."""
    if named := visitor_of(st.context.cookies):
        return named
    return str(st.session_state.setdefault("browser", secrets.token_hex(16))) if workshop_state.on() else NOBODY


def visitor() -> str:
    """Whose practice budgets they are: the person's who is signed in; in a workshop, the participant's of this
    round."""
    if (who := person.person()) is not None:
        return who
    here = workshop_state.room()
    return browser() if here is None else here.name(browser())


def held(*widgets: str) -> bool:
    """Is what stands in these widgets still known? A page forgets them when a link arrives, and a change that was on
    its way then comes too late: it changes nothing."""
    return all(key in st.session_state for key in widgets)


def open_table(name: str) -> dp.Table:
    return workspace().table(name, visitor=visitor())


def current_table() -> dp.Table:
    """The table in the URL, else the one chosen before, else the newest that somebody brought, else the first sample.
    An unknown name falls back to the sample."""
    try:
        table = open_table(
            st.query_params.get("table") or st.session_state.get("table") or newest_table() or FIRST_TABLE
        )
    except dp.AllowanceError as complaint:
        if complaint.code != "table.unknown":  # a damaged ledger: say so, and let the Ledger page show where
            st.session_state["complaint"] = str(complaint)
        table = open_table(FIRST_TABLE)
    st.session_state["table"] = table.name
    return table


def newest_table(verb: str = "table") -> str | None:
    """Of the tables that were brought and are still open, the newest with which one may do this: whoever comes back
    later means their own, not the sample."""
    closed = workspace().closed()
    return next((name for name, _ in reversed(workspace().names()) if name not in closed and may(verb, name)), None)


def choose_table(name: str) -> None:
    """Forget what was being asked of another table."""
    if st.session_state.get("table") != name:
        st.session_state["table"] = name
        for key in ("ask", "answer"):
            st.session_state.pop(key, None)
    address({})


def table_names() -> list[str]:
    return [name for name, _ in workspace().names()] + list(SAMPLES)


def table_labels() -> dict[str, str]:
    """The names with what an owner did to them: a table that is closed says so where it is chosen."""
    closed = workspace().closed()
    return {name: say(f"owner.label.{closed[name]}", table=name) if name in closed else name for name in table_names()}
