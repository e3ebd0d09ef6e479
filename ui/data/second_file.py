"""A second file about the same people: its columns stand beside the rows of the first, joined by the id.

Only the names of both files are read here, and shown; no cell is.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as changed
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.spelling import normal
from dpengine.intake.inspect import files_of, names_of
from dpengine.messages import say
from ui.data import presets
from ui.data.draft import MOST_SHOWN, Draft
from ui.data.source import guess, is_typed
from ui.data.wizard import kept, problem
from ui.shell.frame import paragraph
from ui.shell.incoming import here
from ui.shell.state import workspace


@dataclass(frozen=True)
class Second:
    """The second file, and how it is joined."""

    path: Path
    file: str
    dialect: Dialect
    names: tuple[str, ...]
    who: str | None = None
    everybody: bool = True


def offer(draft: Draft) -> None:
    """Below the column that says who: pick the file, agree on its id, and read in words what is joined."""
    if draft.path is None or draft.who is None:
        return
    with st.expander(say("data.join.title"), expanded=draft.second is not None):
        paragraph(say("data.join.lead"))
        if draft.second is None:
            given = here.picker(say("data.join.file"), key=f"declare-second-{draft.uploads}")
            if given is not None:
                _take(draft, given)
        else:
            _agree(draft, draft.second)
        if (refused := st.session_state.pop("declare-second-refused", "")) != "":
            problem(str(refused))
    names = list(draft.own)
    if draft.second is not None and draft.second.who is not None:
        with suppress(AllowanceError):
            names = joined(draft).names(draft.own, draft.second.names)
    draft.names = names


def _take(draft: Draft, given: Any) -> None:
    draft.uploads += 1
    path = None
    try:
        path = here.take(given, workspace().folder / "tmp", int(st.get_option("server.maxUploadSize")) * 2**20)
        own = Dialect() if is_typed(path) else guess(files_of(path)[0])
        own = changed(own, decimal=draft.dialect.decimal, thousands=draft.dialect.thousands)
        names = tuple(names_of(path, own))
        shown = "".join(sign for sign in str(given.name) if sign.isprintable()).strip()
        likely = next((name for name in names if normal(name) == normal(draft.who or "")), None)
        draft.second = Second(path, shown[-MOST_SHOWN:], own, names, likely or presets.sure_id_column(names))
    except AllowanceError as refusal:
        here.forget(path)
        st.session_state["declare-second-refused"] = str(refusal)
    st.rerun()


def _agree(draft: Draft, second: Second) -> None:
    key = kept("declare-second-who", second.who)
    more: dict[str, Any] = {"placeholder": say("data.unit.who_none"), "help": say("data.unit.who_help")}
    who = st.selectbox(say("data.join.who", file=second.file), second.names, None, key=key, width=420, **more)
    key = kept("declare-second-everybody", second.everybody)
    everybody = st.checkbox(say("data.join.everybody"), key=key)
    draft.second = changed(second, who=who, everybody=everybody)
    if who is not None:
        columns = [name for name in second.names if name != who]
        facts = {"events": draft.file, "people": second.file, "who": draft.who, "id": who}
        paragraph(say("data.join.words", **facts), "read", role="status")
        items = "".join(f"<li>{escape(name)}</li>" for name in columns)
        st.html(f'<ul class="names">{items}</ul>')
    st.button(say("data.join.remove"), key="declare-second-remove", on_click=let_go, args=(draft,))


def let_go(draft: Draft) -> None:
    """Without the second file again."""
    if draft.second is not None:
        here.forget(draft.second.path)
    draft.second = None
    draft.names = list(draft.own) or draft.names
    for part in ("who", "everybody"):
        st.session_state.pop(f"declare-second-{part}", None)


def joined(draft: Draft) -> dp.Joined:
    """The source to add; refuses if the id is not agreed on."""
    second = draft.second
    assert second is not None and draft.path is not None
    if second.who is None or draft.who is None:
        raise AllowanceError("joined.on")
    on = draft.who, second.who
    own = changed(second.dialect, decimal=draft.dialect.decimal, thousands=draft.dialect.thousands)
    return dp.Joined(draft.path, second.path, on, draft.dialect, own, second.everybody)
