"""The pages, as objects that links and switches share."""

from __future__ import annotations

from functools import cache
from typing import Any

import streamlit as st

from dpengine.messages import say
from ui.shell import room
from ui.shell.state import ROOT

NAMES = ("start", "wall", "data", "ask", "session", "publish", "train", "plan", "whatif", "ledger", "lessons")
UNLISTED = ("overfitting", "audit", "glossary", "thesis", "trust", "synthetic")  # reached by a link on another page


@cache
def _path(name: str) -> str:
    return str(ROOT / "pages" / f"{name}.py")


def pages() -> dict[str, Any]:
    """Made anew on each run: Streamlit ties a Page to the run that made it. The wall belongs to a workshop, where
    nobody brings data."""
    unlisted = (*UNLISTED, "data" if room.on() else "wall")
    made = {
        name: st.Page(
            _path(name),
            title=say(f"page.{name}"),
            url_path=name,
            default=name == "start",
            visibility="hidden" if name in unlisted else "visible",
        )
        for name in (*NAMES, *UNLISTED)
    }
    st.session_state["pages"] = made
    return made


def page(name: str) -> Any:
    return st.session_state["pages"][name]


def check_link(**address: str) -> None:
    """To the audit page, where the same question can be watched on made-up tables."""
    st.page_link(page("audit"), label=say("check.link"), query_params=address)


def trust_link() -> None:
    """To the same question in other models of trust."""
    st.page_link(page("trust"), label=say("trust.link"))


def synthetic_link(table: str) -> None:
    """To made-up rows of the same table."""
    st.page_link(page("synthetic"), label=say("synthetic_page.link"), query_params={"table": table})


def train_link(table: str) -> None:
    """To a model of the same table."""
    st.page_link(page("train"), label=say("train_page.link"), query_params={"table": table})
