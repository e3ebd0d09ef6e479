"""People, for an administrator: who has signed in, roles and groups, owners of tables, and matching tables.

Every action runs with the signed-in person's rights; the engine refuses the others, whatever the page shows.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any
from zlib import crc32

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import AuditRow
from dpengine.core.printed import percent_left
from dpengine.ledger.people_rules import ADMINISTRATOR, AUDITOR, BARRED, OWNER, Role
from dpengine.messages import say
from dpengine.storage.people_names import KnownPerson
from ui.ledger import ledger_view
from ui.parts import exports, history, requests
from ui.people import grants, names
from ui.people.names import opened
from ui.shell import frame
from ui.shell.frame import paragraph, section_head
from ui.shell.state import face
from ui.words.markup import html_table

# --- people who keep apart, for an administrator. An owner has no such form: a refusal would reveal that somebody else
# has the same content.


def show_apart(called: dict[str, str]) -> None:
    tables = [name for name, _ in face().names()]
    if not tables:
        return
    section_head(say("apart.title"), say("apart.lead"))
    requests.show_feedback("apart")
    for table, people in face().agreements().items():
        members = ", ".join(called.get(member, member[:10]) for member in people)
        st.html(names.person_html(table, members))
    with st.container(key="apart-new", horizontal=True, vertical_alignment="bottom"):
        none, everybody = say("grants.choose"), list(called)
        st.selectbox(say("people.hand.table"), tables, None, key="apart-table", width=260, placeholder=none)
        look: Any = {"key": "apart-people", "width": 420, "placeholder": none}
        st.multiselect(say("apart.people"), everybody, format_func=called.__getitem__, **look)
        st.button(say("apart.do"), key="apart-do", on_click=_agreed)


def _agreed() -> None:
    table, people = str(st.session_state.get("apart-table") or ""), list(st.session_state.get("apart-people") or ())
    if requests.act("apart", "apart.done", lambda: face().keep_apart(table, people), table=table):
        st.session_state["apart-people"] = []


# --- groups and matches, for an administrator: members of the groups that owners may grant to, and tables with the same
# content as another owner's. Nobody else learns of a match: it would reveal another table's content.

MOST = 50  # matches listed


def show_groups(called: dict[str, str]) -> None:
    groups = face().groups()
    section_head(say("groups.title"), say("groups.lead"))
    requests.show_feedback("groups")
    for name, people in sorted(groups.items()):
        _group(name, people, called)
    with st.container(key="group-new", horizontal=True, vertical_alignment="bottom"):
        st.text_input(say("groups.name"), key="group-name", width=240, max_chars=40)
        _members("group-people", (), called)
        st.button(say("groups.make"), key="group-make", on_click=_add_group)


def _group(name: str, people: tuple[str, ...], called: dict[str, str]) -> None:
    with st.container(key=f"card-group-{name}", horizontal=True, vertical_alignment="center"):
        members = ", ".join(called.get(member, member[:10]) for member in people) or say("groups.empty")
        st.html(names.person_html(name[2:], members))
        with st.popover(say("people.page.change"), key=f"group-{name}", width="content"):
            field = f"group-people-{name}-{crc32(repr(people).encode())}"
            _members(field, people, called)
            st.button(say("groups.set"), key=f"set-{field}", on_click=_named, args=(name, field))


def _members(field: str, people: tuple[str, ...], called: dict[str, str]) -> None:
    names = {member: called.get(member, member[:10]) for member in (*called, *people)}
    look: Any = {"key": field, "width": 420, "placeholder": say("grants.choose")}
    st.multiselect(say("groups.members"), list(names), list(people), names.__getitem__, **look)


def matches(called: dict[str, str]) -> None:
    all_matches = face().matches()
    if not all_matches:
        return
    section_head(say("matches.title"), say("matches.lead"))
    rows = []
    for match in reversed(all_matches[-MOST:]):
        who = called.get(match.person, match.person[:10])
        what = say(f"matches.{'refused' if match.refused else 'joined'}")
        rows.append((history.when(match.at), match.name, who, ", ".join(match.others), what))
    heads = [say(f"matches.head.{name}") for name in ("at", "table", "who", "others", "what")]
    st.html(html_table(heads, rows, words=5, kind="acts", scroll="wide"))


def _add_group() -> None:
    name = " ".join(str(st.session_state.get("group-name") or "").split())
    if f"g-{name}" in face().groups():  # change an existing group in its own place, never by its name
        requests.act("groups", "groups.done", _there, group=name)
    elif _group_name(f"g-{name}", "group-people"):
        st.session_state["group-name"], st.session_state["group-people"] = "", []


def _there() -> None:
    raise dp.AllowanceError("groups.there")


def _named(group: str, field: str) -> None:
    _group_name(group, field)


def _group_name(group: str, field: str) -> bool:
    people = list(st.session_state.get(field) or ())
    return requests.act("groups", "groups.done", lambda: face().name_group(group, people), group=group[2:])


PER_PAGE = 25
GIVEN = (OWNER, AUDITOR, ADMINISTRATOR)


def show() -> None:
    if not opened("people.page", "name_role", "people.page.not_you"):
        return
    requests.show_feedback("people")
    everybody = face().people()
    roles: dict[str, list[Role]] = {}
    for role in face().roles():
        roles.setdefault(role.person, []).append(role)
    waiting = face().pending()
    for table in dict.fromkeys(wish.table for wish in waiting):
        requests.show_feedback(f"grants-{table}")
    for wish in waiting:  # nobody decides on their own request, so owners' requests come here
        grants.wished(None, wish, names.labels_of(everybody))
    listed = everybody
    if len(everybody) > PER_PAGE:
        wanted = st.text_input(say("people.page.find"), key="people-find", width=360).strip().lower()
        listed = [known for known in everybody if wanted in f"{known.name} {known.email} {known.id}".lower()]
    pages = -(-len(listed) // PER_PAGE)
    page = st.pagination(pages, key="people-pages") if pages > 1 else 1
    for known in listed[(page - 1) * PER_PAGE : page * PER_PAGE]:
        _person(known, roles.get(known.id, []))
    if not listed:
        paragraph(say("people.page.nobody"))
    show_groups(names.labels_of(everybody))
    _hand_over(everybody)
    show_apart(names.labels_of(everybody))
    matches(names.labels_of(everybody))


def _person(who: KnownPerson, roles: list[Role]) -> None:
    with st.container(key=f"card-person-{who.id}", horizontal=True, vertical_alignment="center"):
        beside = [who.email if who.name else "", say("people.page.since", at=history.when(who.at)) if who.at else ""]
        tags = "".join(f'<span class="tag">{escape(_role(role))}</span>' for role in roles)
        facts = " · ".join(part for part in beside if part)
        st.html(names.person_html(who.shown, facts, f" {tags}"))
        with st.popover(say("people.page.change"), key=f"person-{who.id}", width="content"):
            st.html(f"<p><b>{escape(who.shown)}</b></p>")
            here = {role.role for role in roles if not role.table}
            for role in GIVEN:
                label, note, on = say(f"people.role.{role}"), say(f"people.role.{role}.means"), role in here
                st.toggle(label, on, f"role-{role}-{who.id}-{on}", note, _name, args=(who.id, role, not on))
            barred = BARRED in here
            what = "people.page.readmit" if barred else "people.page.bar"
            st.button(say(what), key=f"bar-{who.id}-{barred}", on_click=_name, args=(who.id, BARRED, not barred))
            st.button(say("people.page.forget"), key=f"forget-{who.id}", on_click=_forget, args=(who.id,))
            lines = say("people.page.forget_means"), who.id
            st.html("".join(f'<p class="muted">{escape(line)}</p>' for line in lines))


def _role(role: Role) -> str:
    name = say(f"people.role.{role.role}.short")
    return say("people.role.of", role=name, table=role.table) if role.table else name


def _hand_over(everybody: list[KnownPerson]) -> None:
    tables = [name for name, _ in face().names()]
    if not tables:
        return
    called = names.labels_of(everybody)
    section_head(say("people.hand.title"), say("people.hand.lead"))
    with st.container(key="people-hand", horizontal=True, vertical_alignment="bottom"):
        none = say("grants.choose")
        st.selectbox(say("people.hand.table"), tables, None, key="hand-table", width=260, placeholder=none)
        look: Any = {"width": 300, "placeholder": none}
        st.selectbox(say("people.hand.to"), list(called), None, called.__getitem__, "hand-to", **look)
        st.button(say("people.hand.do"), key="hand-do", on_click=_hand)
    requests.show_feedback("hand")


def _name(who: str, role: str, on: bool) -> None:
    person = names.known_person(who).shown
    requests.act("people", "people.page.done", lambda: face().name_role(who, role, on), person=person)


def _forget(who: str) -> None:
    requests.act("people", "people.page.forgotten", lambda: face().forget_person(who))


def _hand() -> None:
    table, to = (str(st.session_state.get(f"hand-{name}") or "") for name in ("table", "to"))
    facts = {"table": table, "person": names.known_person(to).shown}
    requests.act("hand", "people.hand.done", lambda: face().hand_over(table, to), **facts)


# --- accounts, for an auditor: every account and every action, by person, to check and to download

MOST_ACTS = 100


def show_accounts() -> None:
    if not opened("accounts", "accounts", "accounts.not_you"):
        return
    called = names.labels_of(face().people())
    tiles = []
    for account in face().accounts():
        person_name = called.get(account.budget.id.rpartition(":")[2], "")
        title = ", ".join(account.tables) + (f" · {person_name}" if person_name else "")
        left = say("tables.left", left=percent_left(1 - account.meter.used))
        facts = say("accounts.facts", charges=account.meter.charges, epsilon=account.meter.epsilon)
        head = f'<h3>{escape(title)}</h3><p class="muted">{escape(facts)}</p>'
        bar = f'{frame.small_bar(min(account.meter.used, Fraction(1)))}<p class="left">{left}</p>'
        tiles.append(f'<article class="tile">{head}{bar}</article>')
    html = "".join(tiles) or f'<p class="muted">{escape(say("accounts.none"))}</p>'
    st.html(f'<section class="tables"><h2>{escape(say("accounts.all"))}</h2><div class="tiles">{html}</div></section>')
    _acts(called)
    ledger_view.check()
    whole = face()
    exports.offer(say("accounts.export"), lambda: "".join(whole.export()), "ledger.jsonl", "accounts-export")


def _acts(called: dict[str, str]) -> None:
    section_head(say("accounts.acts"))
    everybody = {"": say("accounts.everybody")} | called
    who = st.selectbox(say("accounts.by"), list(everybody), 0, everybody.__getitem__, "accounts-by", width=320)
    before = st.session_state.get("accounts-before")
    deeds = face().acts_of(who or None, MOST_ACTS, before)
    heads = [say(f"accounts.head.{name}") for name in ("row", "at", "who", "what")]
    st.html(html_table(heads, [_deed(deed, called) for deed in deeds], words=4, kind="acts", scroll="wide"))
    with st.container(horizontal=True):
        if before is not None:
            st.button(say("accounts.newest"), key="accounts-newest", on_click=_from, args=(None,))
        if len(deeds) == MOST_ACTS:
            st.button(say("accounts.older"), key="accounts-older", on_click=_from, args=(deeds[-1].seq,))


def _deed(deed: AuditRow, called: dict[str, str]) -> tuple[str, ...]:
    who = called.get(deed.actor, deed.actor[:12])
    words = deed.words
    for known, name in called.items():  # the ledger names people by the start of their ids
        words = words.replace(known[:12], name)
    shown = f"{deed.table}: {words}" if deed.table and deed.table not in words else words
    return str(deed.seq), history.when(deed.at), who, shown


def _from(seq: int | None) -> None:
    st.session_state["accounts-before"] = seq
