"""The First look page before anything is spent: which columns, how exact, what would help, the price."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from operator import itemgetter
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, two_figures
from dpengine.core.strict_json import canonical
from dpengine.declared.grouped import base
from dpengine.declared.merging import read_lookup
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import MOST_AGAINST
from dpengine.messages import called, plain, say
from dpengine.messages import plain as plain_number
from ui.ask import fit_warnings, spend
from ui.board import board_result, board_state
from ui.board.board_state import NAMES, PLACE
from ui.parts import history, job, owner
from ui.shell import frame, nav
from ui.shell.frame import hint, page_head, paragraph, section_head
from ui.words import prices
from ui.words.markup import unmarked

# --- what makes a first look more exact at the same price, one click each: fewer columns, fewer groups, merged values
#
# From public facts only: the values are the declared ones, and nobody knows who has them.

_OFFERED = 3


def show_gains(table: dp.Table, now: dict[str, Any], query: Overview) -> None:
    found = _gains(table, now, query)
    if not found:
        return
    section_head(say("board_page.gains"))
    for words, changed in found:
        where = board_state.link(table, now | changed) | {"new": "1"}
        st.page_link(nav.page("board"), label=unmarked(words), query_params=where)


def _gains(table: dp.Table, now: dict[str, Any], query: Overview) -> list[tuple[str, dict[str, Any]]]:
    """Fewer groups in the longest columns, leaving one out, or fewer pairs: the largest gain first."""
    sizes = {base(ref): axis.size for ref, axis in zip(query.columns, query.axes, strict=True)}
    sizes |= {held.column: held.size for held in query.held if held.column}
    longest = sorted(sizes, key=lambda name: -sizes[name])
    able = board_state.can_be_coarser(table)
    rough = [name for name in longest if name in able and name not in now["coarse"]]
    options: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    if rough:
        options.append(("coarse", {"coarse": [*now["coarse"], *rough]}, {"columns": rough[:_OFFERED]}))
    if len(longest) > 1:
        name = longest[0]
        left_out = {"without": [*now["without"], name], "against": [other for other in now["against"] if other != name]}
        options.append(("without", left_out, {"column": name, "values": sizes[name]}))
    if now["against"]:
        options.append(("alone", {"against": [], "three": ""}, {"columns": list(now["against"])}))
    if now.get("every"):
        if now.get("three"):
            options.append(("pairs", {"three": ""}, {}))
        options.append(("not_every", {"every": "", "three": ""}, {}))
    before = query.promise().amount
    found = []
    for code, changed, facts in options:
        after = promised(table, query, now | changed)
        if after is not None and after < before and two_figures(after) != two_figures(before):
            words = say(f"board_page.gain.{code}", now=plain(before), then=plain(after), **facts)
            found.append((after, words, changed))
    return [(words, changed) for _, words, changed in sorted(found, key=itemgetter(0))]


def promised(table: dp.Table, query: Overview, now: dict[str, Any]) -> Any:
    """The error of a bar with this form; None if it is refused."""
    return _amount(canonical([query.describe()["parameters"], _public(query), now]), table, now)


def _public(query: Overview) -> list[Any]:
    facts = query.facts
    return [facts.table, facts.schema.as_json(), facts.about, facts.relation, facts.unit.as_json()]


@st.cache_data(max_entries=500, show_spinner=False)
def _amount(facts: str, _table: dp.Table, _now: dict[str, Any]) -> Any:
    """Cached for all visitors: the key holds public facts only."""
    try:
        return board_state.query_of(_table, _now).promise().amount
    except dp.AllowanceError:
        return None


_PICKED = f"{PLACE}-picked"


def show_merge(table: dp.Table, chosen: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """The merged values, and fields to merge more; `gain` shows the gain."""
    able = [name for name in board_state.can_be_merged(table) if name in chosen]
    merged = {name: groups for name, groups in (given.get("merged") or {}).items() if name in able}
    st.session_state.pop(_PICKED, None)
    if not able:
        return {"merged": {}}
    with st.expander(say("board_page.merge"), expanded=bool(merged)):
        column = st.selectbox(
            say("board_page.column"), able, format_func=called, key=job.addressed_widget(PLACE, "merge-column")
        )
        groups = merged.get(column, [])
        taken = {value for _, values in groups for value in values}
        free = [label for label in table.schema.category(str(column)).labels if label not in taken]
        label, none = say("board_page.merge_values"), say("board_page.none")
        key = job.addressed_widget(PLACE, f"merge-values-{column}")
        values = st.multiselect(label, free, key=key, format_func=called, placeholder=none)
        name = st.text_input(say("board_page.merge_name"), key=job.addressed_widget(PLACE, f"merge-name-{column}"))
        if len(values) > 1:
            st.session_state[_PICKED] = (str(column), [*groups, [name, values]])
        _looked_up(table, str(column))
    return {"merged": merged}


def _looked_up(table: dp.Table, column: str) -> None:
    """All groups at once from a pasted public list, such as districts and their regions."""
    label, key = say("board_page.lookup", column=unmarked(column)), job.addressed_widget(PLACE, f"lookup-{column}")
    pasted = st.text_area(label, key=key, help=say("board_page.lookup_help"), height=120)
    if not (pasted or "").strip():
        return
    try:
        found = read_lookup(str(pasted), table.schema.category(column))
    except dp.AllowanceError as complaint:
        hint(str(complaint))
        return
    note = say("board_page.looked_up", groups=len(found.groups), alone=len(found.alone), strange=found.strange)
    paragraph(note, role="status")
    st.session_state[_PICKED] = (column, found.as_json())


def gain(table: dp.Table, now: dict[str, Any], query: Overview) -> None:
    """A link that merges the chosen values, with the error before and after; and a link to undo each group."""
    before = query.promise().amount
    if picked := st.session_state.pop(_PICKED, None):
        column, groups = picked
        changed = now | {"merged": now["merged"] | {column: groups}}
        after = promised(table, query, changed)
        if after is None:
            paragraph(_refusal(table, changed), "warn")
        else:
            words = {"column": column, "now": plain(before), "then": plain(after)}
            more = len(groups) > len(now["merged"].get(column, [])) + 1
            facts = {"groups": len(groups)} if more else {"values": groups[-1][1]}
            _link(table, say(f"board_page.{'lookup' if more else 'merge'}_gain", **words | facts), changed)
    for column, groups in now["merged"].items():
        for at, (name, values) in enumerate(groups):
            rest = groups[:at] + groups[at + 1 :]
            others = {other: kept for other, kept in now["merged"].items() if other != column}
            apart = say("board_page.merge_apart", group=name or ", ".join(values), column=column)
            _link(table, apart, now | {"merged": others | ({column: rest} if rest else {})})


def _link(table: dp.Table, words: str, changed: dict[str, Any]) -> None:
    st.page_link(nav.page("board"), label=unmarked(words), query_params=board_state.link(table, changed) | {"new": "1"})


def _refusal(table: dp.Table, now: dict[str, Any]) -> str:
    try:
        board_state.query_of(table, now)
    except dp.AllowanceError as complaint:
        return str(complaint)
    return ""


def show(table: dp.Table) -> None:
    request = st.query_params.get("look")
    if request is None and not any(name in st.query_params for name in ("new", *NAMES)):
        request = table.newest_look()  # instead of the form
    if request and job.became(
        table, request, Overview, "board_page.unknown", job.wait, board_result.show, fit_warnings.at("look")
    ):
        _earlier(table, request)
        return
    page_head(say("board_page.title", table=table.name), say("board_page.lead"))
    frame.pick_table(table, PLACE)
    _earlier(table)
    if table.closed:
        owner.closed(table)
    elif not board_state.offered(table):
        hint(say("board_page.no_columns"))
    else:
        _form(table)


def _earlier(table: dp.Table, but: str = "") -> None:
    history.kept(say("board_page.earlier"), table.first_looks(but=but), "board", "look")


def _form(table: dp.Table) -> None:
    given, arrived = job.address_given(table, PLACE, NAMES, lambda arriving: board_state.filled(table, arriving))
    offered = board_state.offered(table)
    left, right = st.columns([5, 6], gap="medium")
    query = None
    with left, st.container(key="card-board-what"):
        now = _columns(table, offered, given)
        chosen = [name for name in offered if name not in now["without"]]
        crossed = [name for name in chosen if name not in table.schema.of_kind(dp.ItemSet)]
        now |= _together(crossed, given)
        now |= show_merge(table, chosen, given)
        now |= _details(chosen, bool(now["every"]) or len(now["against"]) == MOST_AGAINST, given)
    with right, st.container(key="card-board"):
        try:
            plain = board_state.query_of(table, now | {"epsilon": "1"})
        except dp.AllowanceError as complaint:
            plain = None
            hint(str(complaint))
        found = None if plain is None else table.opening(plain)
        spend.start_from(table, given.get("epsilon") or spend.opens_at(found), PLACE)
        if plain is not None:
            usual = plain
            now["epsilon"] = spend.choose(table, lambda step: usual.at(Fraction(step)), PLACE)
            query = board_state.query_of(table, now)
        else:
            now["epsilon"] = st.session_state[f"{PLACE}-epsilon"]
        job.remember_address(table, PLACE, now, arrived)
        if query is not None:
            _buy(table, query)
        job.show_refusal()
    if query is not None:
        with left:
            gain(table, now, query)
        show_gains(table, now, query)


def _columns(table: dp.Table, offered: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Columns to leave out, and columns with fewer groups."""
    section_head(say("board_page.what"))
    paragraph(say("board_page.all", columns=len(offered)))
    without = _some("without", offered, given, say("board_page.without"))
    rough = [name for name in board_state.can_be_coarser(table) if name not in without]
    note = say("board_page.coarse_help")
    coarse = _some("coarse", rough, given, say("board_page.coarse"), help=note) if rough else []
    return {"without": without, "coarse": coarse}


def _some(name: str, offered: list[str], given: dict[str, Any], label: str, **options: Any) -> list[str]:
    """Some of these columns. The address keeps them under `name`."""
    now = [column for column in given[name] if column in offered]
    key, none = job.addressed_widget(PLACE, name), say("board_page.none")
    return st.multiselect(label, offered, now, called, key=key, placeholder=none, **options)


def _together(crossed: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Pairs to count: each column with one or two others, or every pair."""
    label, note, key = say("board_page.every"), say("board_page.every_help"), job.addressed_widget(PLACE, "every")
    every = st.toggle(label, bool(given.get("every")), key=key, help=note, disabled=len(crossed) < 2)
    limits = {"max_selections": MOST_AGAINST, "disabled": every}
    against = _some("against", crossed, given, say("board_page.against"), help=say("param.against.help"), **limits)
    whole = every and len(crossed) > 1
    return {"against": [] if whole else against, "every": "1" if whole else ""}


def _details(chosen: list[str], threes: bool, given: dict[str, Any]) -> dict[str, Any]:
    """Columns that matter most, and triples."""
    with st.expander(say("board_page.details")):
        most = _some("most", chosen, given, say("param.weights.label"), help=say("param.weights.help"))
        label, note, key = say("param.three.label"), say("param.three.help"), job.addressed_widget(PLACE, "three")
        three = st.toggle(label, bool(given.get("three")), key=key, help=note, disabled=not threes)
    return {"most": most, "three": "1" if three and threes else ""}


def _buy(table: dp.Table, query: Overview) -> None:
    price = table.preview(query, checked=True)
    frame.show_price(table, price, "_board")
    st.html(f"<p><b>{escape(worth(table, query, price))}</b></p>")
    board_state.counted_as(query)
    if least := spend.least_html(table, table.opening(query)):
        st.html(least)
    if not price.useful:
        paragraph(spend.noise_words(table, query, price), "warn")
    spend.exactly(table, query, PLACE)
    label = say("board_page.button", share=prices.takes(table, price.share))
    paid = bool(table.recall(query))
    if fit_warnings.instead_at("look", table, query):
        return
    with st.container(key="in-view"):
        job.ask_button(label, table, query, "board-go", disabled=not price.admissible, place="look", again=paid)
    if not price.admissible:
        job.too_much(table, "board_page.too_much")


def worth(table: dp.Table, query: Overview, price: dp.Preview) -> str:
    """The price and the promise in one sentence."""
    facts = {"share": prices.takes(table, price.share), "columns": len(query.names), "few": price.people_needed}
    facts |= {"reach": plain_number(price.promise.amount), "chance": chance(query.beta)}
    facts |= {"people": query.facts.about, "each": query.facts.unit.at_most}
    return say(f"board_page.worth.{query.counted}", **facts)
