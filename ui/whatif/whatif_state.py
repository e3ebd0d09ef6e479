"""The entries on the What-if page. The address keeps them, so that a link restores them."""

from __future__ import annotations

import json

import streamlit as st

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.core.strict_json import read_strict
from dpengine.planning.whatif import FIND, offered
from ui.shell.language import address

STATE = "whatif"
FIELDS = {"epsilon": "e", "people": "n", "questions": "k", "promise": "x"}  # the four numbers, in order
LONGEST = 60
SECTIONS = ("odds", "ways", "many", "choose", "median")
SHAPES = ("even", "bell", "skewed")
USUAL = {
    "q": "count",
    "find": "promise",
    "n": "1,000",
    "e": "1",
    "d": "0.000001",
    "x": "30",
    "k": "1",
    "from": "typed",
    "column": "",
    "relation": "replace",
    "low": "0",
    "high": "6,000",
    "step": "1",
    "values": "10",
    "share": "90",
    "columns": "3",
    "lists": "2",
    "options": "5",
    "features": "3",
    "asks": "20",
    "full": "no",
    "beta": "0.05",
    "see": "odds",
    "prior": "10",
    "shape": "bell",
}
_CHOICES = {
    "q": offered(),
    "find": FIND,
    "from": ("typed", "table"),
    "relation": ("replace", "add_remove"),
    "full": ("no", "yes"),
    "see": SECTIONS,
    "shape": SHAPES,
}
_COMPARED = tuple(name for name in USUAL if name not in ("find", "x", "see", "prior", "shape"))


def state(table: dp.Table) -> dict[str, str]:
    """The settings: from the URL on arrival, else as last left, else the defaults."""
    arriving = {name: st.query_params[name] for name in (*USUAL, "a") if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0
        kept = {"url": arriving, "given": _clean(arriving, table), "a": _pinned(arriving.get("a"), table), "turn": turn}
        kept["table"] = table.name
        st.session_state[STATE] = kept
    elif kept["given"]["from"] == "table" and kept["table"] != table.name:  # another table was opened meanwhile
        change(**from_table(table))
    return dict(st.session_state[STATE]["given"])


def _usual(table: dp.Table, source: str) -> dict[str, str]:
    """What an address omits: for an open table, its own terms."""
    return USUAL | from_table(table) if source == "table" else USUAL


def _clean(arriving: dict[str, str], table: dp.Table) -> dict[str, str]:
    """Replace impossible values by defaults and cut long ones; nothing in a URL is trusted."""
    given = {}
    for name, usual in _usual(table, arriving.get("from", "")).items():
        text = str(arriving.get(name, usual))[:LONGEST]
        given[name] = text if text in _CHOICES.get(name, (text,)) else usual
    return given


def _pinned(text: str | None, table: dp.Table) -> dict[str, str] | None:
    """Setting A, as JSON in the address."""
    try:
        value = read_strict(text or "null")
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return _clean({name: str(value[name]) for name in _COMPARED if name in value}, table)


def pinned() -> dict[str, str] | None:
    setting: dict[str, str] | None = st.session_state[STATE]["a"]
    return setting


def pin(given: dict[str, str] | None) -> None:
    st.session_state[STATE]["a"] = given


def widget(name: str) -> str:
    """The key of a widget; new after each link, because a browser keeps old widget values."""
    return f"whatif-{name}-{st.session_state[STATE]['turn']}"


def change(**values: str) -> None:
    """Set fields from outside their widgets, which are built anew."""
    kept = st.session_state[STATE]
    kept["given"] = kept["given"] | values
    kept["turn"] += 1


def remember(table: dp.Table, given: dict[str, str]) -> None:
    """Write the settings to the URL, without defaults."""
    kept = st.session_state[STATE]
    result = FIELDS[given["find"]]  # a result, not typed
    query = {name: text for name, text in _unusual(table, given).items() if name != result}
    if kept["a"]:
        first = {name: text for name, text in _unusual(table, kept["a"]).items() if name in _COMPARED}
        query["a"] = json.dumps(first, ensure_ascii=False, separators=(",", ":"))
    kept["given"], kept["url"], kept["table"] = given, query, table.name
    wanted = {"table": table.name} | query
    address(wanted)


def _unusual(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    usual = _usual(table, given["from"])
    return {name: text for name, text in given.items() if text != usual[name]}


def from_table(table: dp.Table) -> dict[str, str]:
    """The public terms of the open table."""
    rule = table.budget.rule
    return {"n": f"{table.facts.about:,}", "e": text_of(rule.epsilon), "d": text_of(rule.delta)}
