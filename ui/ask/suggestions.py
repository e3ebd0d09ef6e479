"""A visitor's plan for a table, kept in the session and, while short enough, in the URL; and suggested questions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.plan import MOST_ROWS, Wish, wish_as_json
from dpengine.core.exact import read_number
from dpengine.core.strict_json import canonical, read_strict
from dpengine.messages import say
from ui.ask import preview
from ui.parts import tables
from ui.shell import nav
from ui.shell.language import address
from ui.words import prices
from ui.words.markup import unmarked

_PLANS = "plans"
_NUMBER = "plan-number"
LONGEST_URL = 1500
MOST_IDEAS = 3  # beside a question that stands in the form
KEEPS = (0, 10, 20, 30, 40, 50)  # percent


@dataclass
class Row:
    """A wish, and a number of its own that its widgets are named by."""

    wish: Wish
    number: int


@dataclass
class Plan:
    rows: list[Row] = field(default_factory=list)
    keep: int = 0  # percent of the allowance
    url: str = ""
    unread: bool = False  # some of the link could not be used
    before: list[Wish] | None = None  # it was made to fit, and was this until then

    @property
    def wishes(self) -> list[Wish]:
        return [row.wish for row in self.rows]

    @property
    def share(self) -> Fraction:
        return Fraction(self.keep, 100)

    def text(self) -> str:
        return canonical([wish_as_json(wish) for wish in self.wishes])

    def change(self, place: int, **changes: Any) -> None:
        self.rows[place].wish, self.before = replace(self.rows[place].wish, **changes), None

    def move(self, place: int, step: int) -> None:
        other, self.before = place + step, None
        if 0 <= other < len(self.rows):
            self.rows[place], self.rows[other] = self.rows[other], self.rows[place]

    def remove(self, place: int) -> None:
        del self.rows[place]
        self.before = None

    def replace_wishes(self, wishes: list[Wish]) -> None:
        """New wishes get new fields, because a browser keeps old widget values."""
        self.before, self.rows = self.wishes, [Row(wish, _number()) for wish in wishes]

    def undo(self) -> None:
        """Restores the wishes from before the plan was made to fit."""
        if self.before is not None:
            self.replace_wishes(self.before)
            self.before = None

    def holds(self, query: dp.Query) -> bool:
        """Does the plan hold this question, at any wish?"""
        return any(row.wish.query.digest() == query.digest() for row in self.rows)


def current_plan(table: dp.Table) -> Plan:
    """The plan as the person left it, or from a link. After a revision of the table, its rows are read again."""
    plans = st.session_state.setdefault(_PLANS, {})
    plan: Plan = plans.setdefault(table.name, Plan())
    arriving = st.query_params.get("plan")
    if arriving and arriving not in (plan.url, plan.text()):
        plan = plans[table.name] = _read(table, arriving, st.query_params.get("keep", "0"))
    stale = [row for row in plan.rows if row.wish.query.facts != table.facts]
    if stale:
        plan = plans[table.name] = _read(table, plan.text(), str(plan.keep))
    return plan


def add_to_plan(table: dp.Table, query: dp.Query) -> None:
    plan: Plan = st.session_state.setdefault(_PLANS, {}).setdefault(table.name, Plan())
    if len(plan.rows) >= MOST_ROWS:
        st.session_state["refusal"] = str(dp.AllowanceError("plan.long", most=MOST_ROWS))
        return
    plan.rows.append(Row(Wish.of(query), _number()))
    plan.before = None


def clear_plan(table: dp.Table) -> None:
    st.session_state.setdefault(_PLANS, {})[table.name] = Plan()


def forget_plan(table: dp.Table) -> None:
    clear_plan(table)
    address({"table": table.name})


def remember_plan(table: dp.Table, plan: Plan) -> None:
    """Writes the plan to the URL, if it is short enough, so that it can be shared."""
    plan.url = plan.text()
    wanted = {"table": table.name}
    if plan.rows and len(plan.url) <= LONGEST_URL:
        wanted |= {"plan": plan.url} | ({"keep": str(plan.keep)} if plan.keep else {})
    address(wanted)


def _number() -> int:
    st.session_state[_NUMBER] = int(st.session_state.get(_NUMBER, 0)) + 1
    return int(st.session_state[_NUMBER])


def _read(table: dp.Table, text: str, keep: str) -> Plan:
    plan = Plan(url=text, keep=int(keep) if keep in map(str, KEEPS) else 0)
    try:
        rows = read_strict(text)
    except ValueError:
        rows = None
    if not isinstance(rows, list) or len(rows) > MOST_ROWS:
        plan.unread = True
        return plan
    for row in rows:
        try:
            key, given, amount, locked = row
            read = read_number(amount, say("spend.wish.name"))
            query = table.query(str(key), **{str(name): value for name, value in given.items()})
            plan.rows.append(Row(Wish(query, max(read, Fraction(0)), bool(locked)), _number()))
        except (dp.AllowanceError, ValueError, TypeError, AttributeError):
            plan.unread = True
    return plan


# “Five questions this table can answer”, priced, for somebody who has just arrived.


def show_suggestions(table: dp.Table, asked: dp.Query | None = None, for_plan: bool = True) -> None:
    """A line each; for a plan with a button that adds it, else below the first look. `asked` stands in the form."""
    queries = list(table.suggestions())
    if asked is not None:
        queries = [query for query in queries if query.sentence() != asked.sentence()][:MOST_IDEAS]
    if not queries:
        if not for_plan:
            tables.first_look_link(table)
        return
    plan = current_plan(table)
    st.html(f'<h2 class="ideas">{escape(say("suggest.title"))}</h2>')
    with st.container(key="suggest", gap=None):
        if not for_plan:
            tables.first_look_link(table)
        for place, best in enumerate(queries):
            price = table.preview(best, checked=True)
            with st.container(key=f"suggest-{place}", horizontal=True, vertical_alignment="center"):
                label, where = unmarked(best.sentence()), preview.opening(table, best)
                st.page_link(nav.page("ask"), label=label, query_params=where, width="content")
                st.html(f'<span class="muted">{escape(price.promise.short(best))}</span>', width="content")
                takes = escape(prices.takes(table, price.share))
                st.html(f'<span class="take-words">{takes}</span>', width="content")
                if not for_plan:
                    continue
                if plan.holds(best):
                    st.html(f'<p role="status"><b class="whole">✓</b> {escape(say("plan.holds"))}</p>', width="content")
                    continue
                st.button(say("plan.add"), key=f"suggest-add-{place}", on_click=add_to_plan, args=(table, best))
