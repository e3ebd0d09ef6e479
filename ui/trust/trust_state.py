"""The choices on the Trust page. The address keeps them, so that a link restores them."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import streamlit as st

import dpengine as dp
from demos.lessons import channel
from dpengine.core.exact import text_of
from dpengine.core.strict_json import read_strict
from dpengine.declared.schema import Category
from dpengine.mechanisms.local.shuffle_histogram import SOLUTIONS
from dpengine.planning import trust_models
from dpengine.planning.opening import PART
from dpengine.planning.opening import STEPS as SPENDS
from ui.shell.language import address

STATE = "trust"
FIELDS = ("kind", "where", "column", "e", "d", "solution", "step", "honest", "channel")
STEPS = ("1", "2", "3", "4")
LONGEST = 1_500
HONEST = tuple(str(share) for share in trust_models.SHARES)
_CHOICES = {
    "kind": trust_models.KINDS,
    "solution": SOLUTIONS,
    "step": STEPS,
    "honest": HONEST,
    "channel": channel.CHANNELS,
}


def state(table: dp.Table) -> dict[str, Any]:
    """The settings: from the URL on arrival, else as last left, else the defaults."""
    arriving = {name: st.query_params[name] for name in FIELDS if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or kept["table"] != table.name or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0  # new widgets, because a browser keeps old widget values
        kept = {"table": table.name, "url": arriving, "given": _clean(table, arriving), "turn": turn}
        st.session_state[STATE] = kept
    return dict(kept["given"])


def usual(table: dp.Table) -> dict[str, Any]:
    """From public facts: the first listed value, and an ε and δ that fit the table and its reserve."""
    lists = table.schema.of_kind(Category)
    several = [name for name in lists if table.schema.category(name).size > 1] or lists
    first = [[several[0], "in", [table.schema.category(several[0]).labels[0]]]] if several else []
    rule = table.budget.rule
    return {
        "kind": "count",
        "where": first,
        "column": several[0] if several else "",
        "solution": "first",
        "step": "1",
        "honest": HONEST[-1],
        "channel": channel.CHANNELS[0],
        "e": min(trust_models.usual_epsilon(table.facts, rule), _opens(table, first), key=Fraction),
        "d": _small(trust_models.usual_delta(rule)),
    }


def _small(delta: Fraction) -> str:
    """10⁻⁸ as typed: 1e-8."""
    return f"1e-{len(str(delta.denominator)) - 1}" if delta.numerator == 1 else text_of(delta)


def _opens(table: dp.Table, where: list[Any]) -> str:
    """The largest step at which one trust model takes no more than a form's default; else the smallest. Asking in all
    models has its own button and price."""
    steps, most = spend_steps(table), PART * table.meter().unused
    try:
        asked = table.query("count", where=where, epsilon=steps[0])
    except dp.AllowanceError:  # no list to set a condition on
        return steps[0]
    shares = table.prices([asked.at(Fraction(step)) for step in steps])
    fits = [step for step, share in zip(steps, shares, strict=True) if share is not None and share <= most]
    return fits[-1] if fits else steps[0]


def spend_steps(table: dp.Table) -> list[str]:
    """The same steps as on Ask, up to the allowance."""
    most = table.budget.rule.epsilon
    return [step for step in SPENDS if Fraction(step) <= most] or [text_of(most)]


def _clean(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    """Replace impossible values by defaults and drop long ones; nothing in a URL is trusted."""
    given = usual(table)
    for name, text in arriving.items():
        if len(text) > LONGEST:
            continue
        if name == "where":
            given["where"] = _rows(text, given["where"])
        elif name == "column":
            given["column"] = text if text in table.schema.of_kind(Category) else given["column"]
        elif name == "e":
            given["e"] = text if text in spend_steps(table) else given["e"]
        else:
            given[name] = text[:30] if text in _CHOICES.get(name, (text,)) else given[name]
    return given


def _rows(text: str, instead: list[Any]) -> list[Any]:
    try:
        rows = read_strict(text)
    except ValueError:
        return instead
    return rows if isinstance(rows, list) else instead


def change(**values: Any) -> None:
    kept = st.session_state[STATE]
    kept["given"] = kept["given"] | values


def widget(name: str) -> str:
    return f"trust-{name}-{st.session_state[STATE]['turn']}"


def remember(table: dp.Table, given: dict[str, Any]) -> None:
    """Write the settings to the URL, without defaults."""
    kept, before = st.session_state[STATE], usual(table)
    query = {name: _text(given[name]) for name in FIELDS if given[name] != before[name]}
    query = {name: text for name, text in query.items() if len(text) <= LONGEST}
    kept["given"], kept["url"] = given, query
    beside = {name: st.query_params[name] for name in ("answer", "run") if name in st.query_params}
    address({"table": table.name} | query | beside)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
