"""The last question: how careful to be. Then the table is added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.accountant.budget import usual_delta
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.printed import power_of_ten
from dpengine.declared.unit import read_relation
from dpengine.messages import say
from dpengine.messages.numbers import local
from ui.data import declare_draft as drafts
from ui.data import declare_price as price
from ui.data import declare_shared
from ui.data.declare import begin, complain, heading, kept, onwards, problem, reconsider
from ui.data.declare_draft import CARE, Draft
from ui.data.declare_people import USUAL_EACH, about
from ui.data.declare_price import MOST_TOLD
from ui.parts import number_field, odds
from ui.shell.incoming import here
from ui.shell.state import table_names, workspace

PRIOR = 10  # percent: a suspicion before any answer
USUAL, CAREFUL = "usual", "careful"  # chosen until somebody chooses otherwise; careful where being in it is secret
ENOUGH = 10  # good answers: a table that holds fewer says so


def budget(draft: Draft) -> None:
    heading("data.care")
    suggest(draft)
    free = draft.relation == "replace"  # else it was said before: nobody goes on without
    with st.container(key="card-care"):
        if free and "declare-about" in st.session_state:  # its field stands below what it tells
            draft.about = st.session_state["declare-about"] or None
        people = draft.people
        many = {care: _many(dp.Budget(epsilon, draft.usual_delta), draft) for care, epsilon in CARE.items()}
        draft.care = st.radio(
            say("data.care.title"),
            list(CARE),
            index=None,
            key=kept("declare-care", draft.care),
            format_func=lambda one: say(f"data.care.{one}_label"),
            label_visibility="collapsed",
            captions=[say(f"data.care.{care}_means", many=told) for care, told in many.items()],
        )
        _trade(draft)
        _scarce(draft)
        with st.expander(say("data.care.odds_title")):
            _explained(draft)
        with st.expander(
            say("data.care.about_title" if free else "data.care.more"), expanded=bool(draft.epsilon or draft.delta)
        ):
            if free:
                about(draft)
                st.html(f'<p class="muted">{escape(say("data.care.about_means"))}</p>')
            st.html(f'<p class="muted">{escape(say("data.care.more_lead"))}</p>')
            left, right = st.columns(2)
            usual = CARE.get(draft.care or "", "")
            draft.epsilon = number_field.kept(
                say("data.care.epsilon"),
                draft.epsilon,
                "declare-epsilon",
                left,
                placeholder=local(usual or "1"),
            )
            draft.delta = number_field.kept(
                say("data.care.delta"),
                draft.delta,
                "declare-delta",
                right,
                placeholder=local(text_of(draft.usual_delta)),
                help=say("data.care.delta_help", delta=power_of_ten(draft.usual_delta), people=people),
            )
        told = _typed(draft)
        declare_shared.show(draft)
    with st.container(key="card-name"):
        draft.name = draft.name or drafts.table_name(draft.file, table_names())
        draft.name = (
            st.text_input(
                say("data.name.label"), key=kept("declare-name", draft.name), max_chars=80, help=say("data.name.help")
            )
            or ""
        )
        if taken := drafts.taken_name(draft, table_names()):
            st.html(f'<p class="price">{escape(say("data.name.taken", taken=taken, name=draft.name))}</p>')

        def check() -> None:
            drafts.budget(draft)
            if draft.name.strip() in table_names():
                raise AllowanceError("table.exists", name=draft.name.strip())

        reconsider(draft, check, "data.care.", "budget.", "number.", "table.exists")
        if not told:
            complain(draft)
    if onwards(draft, check, "data.add"):
        add(draft)


def at_once(draft: Draft) -> str:
    """What a table is added with that is added from the screen before, in one sentence; nothing where there is
    something to decide first: a name that is taken, few answers."""
    suggest(draft)
    name = draft.name = draft.name or drafts.table_name(draft.file, table_names())
    try:
        given = drafts.budget(draft)
    except AllowanceError:
        return ""
    scarce = draft.about is not None and _good(draft, given) < ENOUGH
    if scarce or draft.shares or name in table_names() or drafts.taken_name(draft, table_names()):
        return ""
    care = say(f"data.care.{draft.care}") if not (draft.epsilon or draft.delta) else say("data.care.own")
    adds = say("data.cards.adds", name=name, care=care, many=_many(given, draft))
    if not declare_shared.offered(draft):
        return adds
    return f"{adds} {say('data.cards.adds_shared', last=say('data.cards.care'))}"


def suggest(draft: Draft) -> None:
    """What is chosen already, as long as the person chose nothing else: careful where being in it is secret and that
    still holds enough good answers, else usual."""
    suggested = CAREFUL if draft.relation == "add_remove" and _held(draft, CAREFUL) >= ENOUGH else USUAL
    if draft.care is None or (draft.care == draft.suggested != suggested):
        draft.care = suggested
        if draft.step == "care":  # elsewhere its field is not on the screen
            st.session_state["declare-care"] = suggested
    draft.suggested = suggested


def _good(draft: Draft, allowance: dp.Budget, people: int | None = None) -> int:
    """How many good answers an allowance holds."""
    return price.good_questions(allowance, _typical(draft, people))


def _held(draft: Draft, care: str) -> int:
    return _good(draft, dp.Budget(CARE[care], draft.usual_delta))


def _typical(draft: Draft, people: int | None = None) -> price.Typical:
    known = drafts.likely(draft) or drafts.schema(draft)
    return price.typical(known, read_relation(draft.relation), people or draft.people, drafts.unit(draft))


def _trade(draft: Draft) -> None:
    """Why this is chosen, in one sentence; nothing where the person chose."""
    if draft.care != draft.suggested or draft.relation != "add_remove":
        return
    told = say("data.care.secret")
    if draft.care == USUAL:
        told = say(
            "data.care.chosen",
            care=say("data.care.usual_label"),
            tighter=say("data.care.careful_label"),
            few=_held(draft, CAREFUL),
        )
    st.html(f'<p class="price">{escape(told)}</p>')


def _many(allowance: dp.Budget, draft: Draft) -> str:
    """How many good answers an allowance holds; where nobody said how many people there are, for several sizes."""
    found = {people: _good(draft, allowance, people) for people in draft.sizes}
    if len(found) > 1:
        told = [
            say("data.care.size_most" if many > MOST_TOLD else "data.care.size", many=min(many, MOST_TOLD), people=one)
            for one, many in found.items()
        ]
        return say("data.care.sizes", each=", ".join(told))
    ((people, many),) = found.items()
    if many > MOST_TOLD:
        return say("data.care.most", many=MOST_TOLD, people=people)
    code = "data.care.many" if many > 1 else "data.care.one" if many else "data.care.none"
    return say(code, many=many, people=people)


def _scarce(draft: Draft) -> None:
    """A table that holds few answers says so before it is added, with what would make them more."""
    try:
        given = drafts.budget(draft)
    except AllowanceError:
        return  # told below
    st.html(f'<p class="price">{escape(say("data.care.usual_people"))}</p>')
    if draft.about is None or _good(draft, given) >= ENOUGH:
        return
    told = [say("data.care.scarce")]
    if (each := draft.each if draft.many == "more" else None) is not None:
        told += _fewer_rows(draft, given, each)
    for care, epsilon in CARE.items():
        if Fraction(epsilon) > given.epsilon:
            many = _good(draft, dp.Budget(epsilon, given.delta))
            told.append(say("data.care.scarce_looser", care=say(f"data.care.{care}_label"), many=min(many, MOST_TOLD)))
    st.html(f'<p class="warn" role="status">{escape(" ".join(told))}</p>')


def _fewer_rows(draft: Draft, given: dp.Budget, each: int) -> list[str]:
    """How many answers there would be if fewer rows of a person counted: the most rows that leave enough, else one."""
    for fewer in sorted({1, *USUAL_EACH}, reverse=True):
        if fewer < each:
            many = _good(replace(draft, each=fewer), given)
            if many >= ENOUGH or fewer == 1:
                return [say("data.care.scarce_each", each=fewer, now=each, many=min(many, MOST_TOLD))]
    return []


def _odds(draft: Draft, epsilon: str) -> str:
    return say(f"data.care.odds.{draft.relation}", prior=PRIOR, most=odds.after(PRIOR, Fraction(epsilon)))


def _explained(draft: Draft) -> None:
    """What the chosen allowance means for one person, before a choice the usual one; and what each would be."""
    told = [
        say("data.care.choices", care=say(f"data.care.{care}_label"), epsilon=epsilon, odds=_odds(draft, epsilon))
        for care, epsilon in CARE.items()
    ]
    st.html("".join(f'<p class="muted">{escape(one)}</p>' for one in told))
    try:
        given = drafts.budget(draft)
    except AllowanceError:
        given = dp.Budget(CARE["usual"], draft.usual_delta)
    odds.show(given.epsilon, given.delta, read_relation(draft.relation), PRIOR)


def _typed(draft: Draft) -> bool:
    """What a typed ε and δ mean, or why they cannot be used; True when the latter was told."""
    if not (draft.epsilon.strip() or draft.delta.strip()):
        return False
    try:
        given = drafts.budget(draft)
    except AllowanceError as complaint:
        if not (draft.epsilon.strip() or draft.care):
            return False
        problem(str(complaint))
        return True
    terms = say("meter.terms", epsilon=given.epsilon, delta=power_of_ten(given.delta))
    told = say("data.care.typed", terms=terms, many=_many(given, draft))
    st.html(f'<p class="price">{escape(told)}</p>')
    return False


def add(draft: Draft) -> None:
    """Everything is read off the draft now; the work runs on, whatever the page does meanwhile."""
    path, source, name, new_people = draft.path, draft.source or draft.path, draft.name, draft.new_people
    space, declared, given = workspace(), drafts.schema(draft), drafts.budget(draft)
    whose, kind = drafts.unit(draft), drafts.relation(draft)
    declared_about = draft.about if kind == "add_remove" else None
    usual = declared_about is None and not draft.delta.strip()  # then δ is for as many people as are counted
    own = (lambda people: dp.Budget(given.epsilon, usual_delta(people))) if usual else given
    allowance = declare_shared.budget_of(draft) or own
    dialect, bad_records = draft.dialect, draft.bad_records

    def work(tell: Callable[[float], None]) -> dp.Table:
        table = space.add_table(
            name,
            source,
            schema=declared,
            unit=whose,
            relation=kind,
            budget=allowance,
            about_rows=declared_about,
            dialect=dialect,
            bad_records=bad_records,
            progress=tell,
            new_people=new_people,
        )
        here.forget(path)
        return table

    begin(draft, "add", work)
