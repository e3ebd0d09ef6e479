"""What people are called. The ledger knows ids alone; names stand in the registry, and some were forgotten there."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import streamlit as st

from dpengine.messages import say
from dpengine.storage.people_names import KnownPerson
from ui.shell import frame, nav, person
from ui.shell.state import face, may
from ui.words.markup import unmarked


def of(who: str) -> KnownPerson:
    """One person by their id, for whoever may know of others; whoever is not known is shown by it."""
    found = (one for one in face().people() if one.id == who) if may("people") else ()
    return next(iter(found), KnownPerson(who, "", "", ""))


def called(people: Iterable[KnownPerson]) -> dict[str, str]:
    """Names for a list to choose from: where two share one, the address tells them apart, else their id."""
    listed = list(people)
    shown = [one.shown for one in listed]
    return {
        one.id: one.shown if shown.count(one.shown) == 1 else f"{one.shown} ({one.email or one.id[2:8]})"
        for one in listed
    }


# What begins every page for people who sign in: its heading, and whether whoever is here may use it.


def opened(page: str, verb: str, not_you: str) -> bool:
    """The head of a page, in words that begin with `page`. False where nobody signs in, or this person may not do what
    the page is for: then it says so, and nothing else is drawn."""
    frame.nothing()
    st.html(f"<h1>{escape(say(f'{page}.title'))}</h1>")
    shut = "people.page.none" if not person.served() else "" if may(verb) else not_you
    st.html(f'<p class="lead">{escape(say(shut or f"{page}.lead"))}</p>')
    return not shut


# Who is signed in, at the right end of the head: their name, what they may do here, and the way out.

# What tells that somebody is one: a verb that is theirs alone.
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
        told = "".join(f"<li>{escape(role)}</li>" for role in roles)
        st.html(f"<p><b>{escape(known.shown)}</b></p>{address}<ul>{told}</ul>")
        for table in dict.fromkeys(one.table for one in waiting):
            told = say("who.waiting", table=unmarked(table), wishes=sum(one.table == table for one in waiting))
            st.page_link(nav.page("data"), label=told, query_params={"table": table})
        for name, verb in (("people", "name_role"), ("accounts", "accounts"), ("programs", "new_token")):
            if may(verb):
                st.page_link(nav.page(name), label=say(f"page.{name}"))
        out = f'<a class="button" rel="external" href="sign-out" target="_self">{escape(say("porter.sign_out"))}</a>'
        st.html(f"<p>{out}</p>")
