"""Who is signed in, at the right end of the head: their name, what they may do here, and the way out."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.messages import say
from dpengine.storage.people_names import KnownPerson
from ui.shell import nav, person
from ui.shell.state import face, may
from ui.words.markup import unmarked

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
