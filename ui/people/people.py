"""People, for an administrator: who has signed in, their roles and groups, whose a table is, and which tables match.

Everything here is asked of the face of whoever is signed in; the engine refuses whoever may not, whatever is shown.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.ledger.people_rules import ADMINISTRATOR, AUDITOR, BARRED, OWNER, Role
from dpengine.messages import say
from dpengine.storage.people_names import KnownPerson
from ui.parts import history, said
from ui.people import apart, grants, groups, names
from ui.people.opened import opened
from ui.shell.state import face

PER_PAGE = 25
GIVEN = (OWNER, AUDITOR, ADMINISTRATOR)


def show() -> None:
    if not opened("people.page", "name_role", "people.page.not_you"):
        return
    said.tell("people")
    everybody = face().people()
    roles: dict[str, list[Role]] = {}
    for role in face().roles():
        roles.setdefault(role.person, []).append(role)
    waiting = face().pending()
    for table in dict.fromkeys(one.table for one in waiting):
        said.tell(f"grants-{table}")
    for one in waiting:  # nobody decides about a wish of their own: those of owners come here
        grants.wished(None, one, names.called(everybody))
    _list(everybody, roles)
    groups.show(names.called(everybody))
    _hand_over(everybody)
    apart.show(names.called(everybody))
    groups.matches(names.called(everybody))


def _list(everybody: list[KnownPerson], roles: dict[str, list[Role]]) -> None:
    found = everybody
    if len(everybody) > PER_PAGE:
        wanted = st.text_input(say("people.page.find"), key="people-find", width=360).strip().lower()
        found = [one for one in everybody if wanted in f"{one.name} {one.email} {one.id}".lower()]
    pages = -(-len(found) // PER_PAGE)
    page = st.pagination(pages, key="people-pages") if pages > 1 else 1
    for one in found[(page - 1) * PER_PAGE : page * PER_PAGE]:
        _person(one, roles.get(one.id, []))
    if not found:
        st.html(f'<p class="muted">{escape(say("people.page.nobody"))}</p>')


def _person(one: KnownPerson, roles: list[Role]) -> None:
    with st.container(key=f"card-person-{one.id}", horizontal=True, vertical_alignment="center"):
        beside = [one.email if one.name else "", say("people.page.since", at=history.when(one.at)) if one.at else ""]
        tags = "".join(f'<span class="tag">{escape(_role(role))}</span>' for role in roles)
        facts = " · ".join(part for part in beside if part)
        st.html(
            f'<div class="person"><b>{escape(one.shown)}</b> {tags}<br><span class="muted">{escape(facts)}</span></div>'
        )
        with st.popover(say("people.page.change"), key=f"person-{one.id}", width="content"):
            st.html(f"<p><b>{escape(one.shown)}</b></p>")
            here = {role.role for role in roles if not role.table}
            for role in GIVEN:
                st.toggle(
                    say(f"people.role.{role}"),
                    value=role in here,
                    key=f"role-{role}-{one.id}-{role in here}",
                    help=say(f"people.role.{role}.means"),
                    on_change=_name,
                    args=(one.id, role, role not in here),
                )
            barred = BARRED in here
            what = "people.page.readmit" if barred else "people.page.bar"
            st.button(say(what), key=f"bar-{one.id}-{barred}", on_click=_name, args=(one.id, BARRED, not barred))
            st.button(say("people.page.forget"), key=f"forget-{one.id}", on_click=_forget, args=(one.id,))
            st.html(
                f'<p class="muted">{escape(say("people.page.forget_means"))}</p><p class="muted">{escape(one.id)}</p>'
            )


def _role(role: Role) -> str:
    name = say(f"people.role.{role.role}.short")
    return say("people.role.of", role=name, table=role.table) if role.table else name


def _hand_over(everybody: list[KnownPerson]) -> None:
    tables = [name for name, _ in face().names()]
    if not tables:
        return
    called = names.called(everybody)
    st.html(f'<h2>{escape(say("people.hand.title"))}</h2><p class="muted">{escape(say("people.hand.lead"))}</p>')
    with st.container(key="people-hand", horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            say("people.hand.table"), tables, None, key="hand-table", width=260, placeholder=say("grants.choose")
        )
        st.selectbox(
            say("people.hand.to"),
            list(called),
            None,
            format_func=called.__getitem__,
            key="hand-to",
            width=300,
            placeholder=say("grants.choose"),
        )
        st.button(say("people.hand.do"), key="hand-do", on_click=_hand)
    said.tell("hand")


def _name(who: str, role: str, on: bool) -> None:
    said.act("people", "people.page.done", lambda: face().name_role(who, role, on), person=names.of(who).shown)


def _forget(who: str) -> None:
    said.act("people", "people.page.forgotten", lambda: face().forget_person(who))


def _hand() -> None:
    table, to = (str(st.session_state.get(f"hand-{name}") or "") for name in ("table", "to"))
    said.act("hand", "people.hand.done", lambda: face().hand_over(table, to), table=table, person=names.of(to).shown)
