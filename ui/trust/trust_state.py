"""What is chosen on the Trust page. It lives in the address, so that a link restores all of it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import streamlit as st

import dpengine as dp
from demos.lessons import channel
from dpengine.core.exact import text_of
from dpengine.declared.schema import Category
from dpengine.mechanisms.local.shuffle_histogram import SOLUTIONS
from dpengine.planning import honest_people, trust_models
from ui.parts import spend
from ui.shell.language import address

STATE = "trust"
FIELDS = ("kind", "where", "column", "e", "d", "solution", "step", "honest", "channel")
STEPS = ("1", "2", "3", "4")
LONGEST = 1_500
HONEST = tuple(str(share) for share in honest_people.SHARES)
_CHOICES = {
    "kind": trust_models.KINDS,
    "solution": SOLUTIONS,
    "step": STEPS,
    "honest": HONEST,
    "channel": channel.CHANNELS,
}


def state(table: dp.Table) -> dict[str, Any]:
    """The settings: from the URL on arrival, else as they were left, else the defaults."""
    arriving = {name: st.query_params[name] for name in FIELDS if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or kept["table"] != table.name or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0  # new widgets, because a browser keeps showing the old ones
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
        "e": _within(trust_models.usual_epsilon(table.facts, rule), table),
        "d": _small(trust_models.usual_delta(rule)),
    }


def _small(delta: Fraction) -> str:
    """10⁻⁸ as it is typed: 1e-8."""
    return f"1e-{len(str(delta.denominator)) - 1}" if delta.numerator == 1 else text_of(delta)


def _within(epsilon: str, table: dp.Table) -> str:
    return min(epsilon, spend_steps(table)[-1], key=Fraction)


def spend_steps(table: dp.Table) -> list[str]:
    """The same steps as on Ask, up to the allowance."""
    most = table.budget.rule.epsilon
    return [step for step in spend.STEPS if Fraction(step) <= most] or [text_of(most)]


def _clean(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    """Nothing in a URL is trusted: what cannot be chosen becomes the default, what is too long is left out."""
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
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return instead
    return rows if isinstance(rows, list) else instead


def change(**values: Any) -> None:
    """From a button."""
    kept = st.session_state[STATE]
    kept["given"] = kept["given"] | values


def widget(name: str) -> str:
    return f"trust-{name}-{st.session_state[STATE]['turn']}"


def remember(table: dp.Table, given: dict[str, Any]) -> None:
    """Writes the settings to the URL; defaults are left out."""
    kept, before = st.session_state[STATE], usual(table)
    told = {name: _text(given[name]) for name in FIELDS if given[name] != before[name]}
    told = {name: text for name, text in told.items() if len(text) <= LONGEST}
    kept["given"], kept["url"] = given, told
    beside = {name: st.query_params[name] for name in ("answer", "run") if name in st.query_params}
    address({"table": table.name} | told | beside)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
