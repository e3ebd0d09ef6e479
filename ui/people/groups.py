"""Groups and matches, for an administrator: who is in a group that owners may grant to, and which tables hold what
another owner's table holds. Nobody else is told of a match: it would say what is in a table of somebody else."""

from __future__ import annotations

from html import escape
from zlib import crc32

import streamlit as st

import dpengine as dp
from dpengine.messages import say
from ui.parts import history, said
from ui.shell.state import face

MOST = 50  # matches that are listed


def show(called: dict[str, str]) -> None:
    found = face().groups()
    st.html(f'<h2>{escape(say("groups.title"))}</h2><p class="muted">{escape(say("groups.lead"))}</p>')
    said.tell("groups")
    for name, people in sorted(found.items()):
        _group(name, people, called)
    with st.container(key="group-new", horizontal=True, vertical_alignment="bottom"):
        st.text_input(say("groups.name"), key="group-name", width=240, max_chars=40)
        _members("group-people", (), called)
        st.button(say("groups.make"), key="group-make", on_click=_made)


def _group(name: str, people: tuple[str, ...], called: dict[str, str]) -> None:
    with st.container(key=f"card-group-{name}", horizontal=True, vertical_alignment="center"):
        members = ", ".join(called.get(one, one[:10]) for one in people) or say("groups.empty")
        line = f'<b>{escape(name[2:])}</b><br><span class="muted">{escape(members)}</span>'
        st.html(f'<div class="person">{line}</div>')
        with st.popover(say("people.page.change"), key=f"group-{name}", width="content"):
            field = f"group-people-{name}-{crc32(repr(people).encode())}"
            _members(field, people, called)
            st.button(say("groups.set"), key=f"set-{field}", on_click=_named, args=(name, field))


def _members(field: str, people: tuple[str, ...], called: dict[str, str]) -> None:
    st.multiselect(
        say("groups.members"),
        list(dict.fromkeys([*called, *people])),
        default=list(people),
        format_func=lambda one: called.get(one, one[:10]),
        key=field,
        width=420,
        placeholder=say("grants.choose"),
    )


def matches(called: dict[str, str]) -> None:
    found = face().matches()
    if not found:
        return
    st.html(f'<h2>{escape(say("matches.title"))}</h2><p class="muted">{escape(say("matches.lead"))}</p>')
    rows = []
    for one in reversed(found[-MOST:]):
        who = called.get(one.person, one.person[:10])
        what = say(f"matches.{'refused' if one.refused else 'joined'}")
        cells = (history.when(one.at), one.name, who, ", ".join(one.others), what)
        rows.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    heads = "".join(
        f"<th>{escape(say(f'matches.head.{name}'))}</th>" for name in ("at", "table", "who", "others", "what")
    )
    body = f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    st.html(f'<div class="wide"><table class="acts">{body}</table></div>')


def _made() -> None:
    name = " ".join(str(st.session_state.get("group-name") or "").split())
    if f"g-{name}" in face().groups():  # what somebody else made is changed where it stands, never by its name
        said.act("groups", "groups.done", _there, group=name)
    elif _name(f"g-{name}", "group-people"):
        st.session_state["group-name"], st.session_state["group-people"] = "", []


def _there() -> None:
    raise dp.AllowanceError("groups.there")


def _named(group: str, field: str) -> None:
    _name(group, field)


def _name(group: str, field: str) -> bool:
    people = list(st.session_state.get(field) or ())
    return said.act("groups", "groups.done", lambda: face().name_group(group, people), group=group[2:])
