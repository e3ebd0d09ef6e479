"""People's names. The ledger knows only ids; the registry holds the names, some of them erased."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import streamlit as st

from dpengine.messages import say
from dpengine.storage.people_names import KnownPerson
from ui.shell import frame, nav, person
from ui.shell.frame import paragraph
from ui.shell.state import face, may
from ui.words.markup import unmarked


def known_person(who: str) -> KnownPerson:
    """The person with this id, with their name if the signed-in person may know others; else with the id alone."""
    matching = (known for known in face().people() if known.id == who) if may("people") else ()
    return next(iter(matching), KnownPerson(who, "", "", ""))


def labels_of(people: Iterable[KnownPerson]) -> dict[str, str]:
    """By id, the name of each person for a picker; people with the same name get their address or a part of the id."""
    listed = list(people)
    shown = [known.shown for known in listed]
    return {
        known.id: known.shown if shown.count(known.shown) == 1 else f"{known.shown} ({known.email or known.id[2:8]})"
        for known in listed
    }


def person_html(name: str, facts: str, tags: str = "", below: str = "") -> str:
    """HTML with a person, a group or a program on a line of its own; `tags` and `below` are HTML."""
    line = f'<b>{escape(name)}</b>{tags}<br><span class="muted">{escape(facts)}</span>'
    return f'<div class="person">{line}{below}</div>'


def opened(page: str, verb: str, not_you: str) -> bool:
    """Draw the head of a page, in words whose keys begin with `page`. False if nobody signs in or the person lacks the
    right to `verb`: then the head says so and the page draws nothing else."""
    frame.hide_meter()
    st.html(f"<h1>{escape(say(f'{page}.title'))}</h1>")
    shut = "people.page.none" if not person.served() else "" if may(verb) else not_you
    paragraph(say(shut or f"{page}.lead"), "lead")
    return not shut


# --- the signed-in person at the right of the head: their name, their roles here, and sign-out

# The verb that marks each role.
SIGNS = {"administrator": "name_role", "auditor": "accounts", "owner": "add_table", "analyst": "wish"}


def show() -> None:
    who = person.person()
    if who is None:
        return
    known = face().myself() if may("myself") else KnownPerson(who, "", "", "")
    waiting = face().pending() if may("pending") else []
    label = unmarked(known.shown) + (f" :orange-badge[{len(waiting)}]" if waiting else "")
    with st.container(key="who", width="content"), st.popover(label, icon=":material/person:", key="who-open"):
        roles = [say(f"who.role.{role}") for role, verb in SIGNS.items() if may(verb)] or [say("who.role.none")]
        address = f'<p class="muted">{escape(known.email)}</p>' if known.email and known.name else ""
        html = "".join(f"<li>{escape(role)}</li>" for role in roles)
        st.html(f"<p><b>{escape(known.shown)}</b></p>{address}<ul>{html}</ul>")
        for table in dict.fromkeys(wish.table for wish in waiting):
            html = say("who.waiting", table=unmarked(table), wishes=sum(wish.table == table for wish in waiting))
            st.page_link(nav.page("data"), label=html, query_params={"table": table})
        for name, verb in (("people", "name_role"), ("accounts", "accounts"), ("programs", "new_token")):
            if may(verb):
                st.page_link(nav.page(name), label=say(f"page.{name}"))
        out = f'<a class="button" rel="external" href="sign-out" target="_self">{escape(say("porter.sign_out"))}</a>'
        st.html(f"<p>{out}</p>")
