"""What a URL holds: a form's whole state, which is read on arrival, kept while it is filled in, and written back; and a
request, with its outcome."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.strict_json import read_strict
from dpengine.messages import say
from ui.parts import job
from ui.shell import frame
from ui.shell.language import address
from ui.shell.state import workspace


def _state(place: str) -> str:
    return f"{place}-form"


def given(
    table: dp.Table, place: str, names: tuple[str, ...], fill: Callable[[dict[str, str]], dict[str, Any]]
) -> tuple[dict[str, Any], bool]:
    """From the URL on arrival, else as it was left; and whether it has just arrived. `fill` makes what the form shows
    of what the address says, nothing of which is trusted."""
    kept = st.session_state.get(_state(place))
    arriving = {name: st.query_params[name] for name in names if name in st.query_params}
    arrived = kept is None or kept["table"] != table.name or bool(arriving and arriving != kept["url"])
    if kept is None or arrived:
        for key in [key for key in st.session_state if str(key).startswith(f"{place}-") and key != _state(place)]:
            if not str(key).startswith(f"{place}-table"):
                del st.session_state[key]
        turn = kept["turn"] + 1 if kept else 0  # new widgets, because a browser keeps showing the old ones
        kept = {"table": table.name, "url": arriving, "given": arriving | fill(arriving), "turn": turn}
        st.session_state[_state(place)] = kept
    return dict(kept["given"]), arrived


def widget(place: str, name: str) -> str:
    return f"{place}-{name}-{st.session_state[_state(place)]['turn']}"


def remember(table: dp.Table, place: str, now: dict[str, Any], again: bool = False) -> None:
    """`again`: a link to the page itself brought this, which a browser does not put into its address."""
    told = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in now.items()
        if value or name == "columns"
    }
    st.session_state[_state(place)] |= {"url": told, "given": now}
    address({"table": table.name} | told, again)


def read(text: str | None) -> Any:
    """What an address says as JSON; None where it is none."""
    try:
        return read_strict(text or "")
    except ValueError:
        return None


def became(
    table: dp.Table,
    request: str,
    mine: type | Callable[[Any], bool],
    unknown: str,
    wait: Callable[[str], None],
    show: Callable[[dp.Table, dp.Answer], None],
) -> bool:
    """The answer to a question of this page (`mine`) that a request of this table became, or how far it has come; False
    where there is none, and the page says why."""
    asked = workspace().job(request)
    if not asked.over:
        frame.show_price(table, None)
        wait(request)
        return True
    job.renew(request)
    found = asked.answer
    own = found is not None and (isinstance(found.query, mine) if isinstance(mine, type) else mine(found.query))
    if found is None or not own or found.receipt["table"] != table.name:
        job.refused(str(asked.error or say(unknown)), request)
        return False
    frame.show_price(table, None)  # drawn again: the charge may have come after the frame
    show(table, found)
    return True
