"""More than one answer: a table to publish, made-up people, a model, a curve, each with its own page."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.mechanisms import asked_on
from dpengine.messages import say
from ui.shell import frame, nav
from ui.shell.frame import page_head


def show(table: dp.Table) -> None:
    page_head(say("more.title"), say("more.lead"))
    frame.pick_table(table, "more")
    ways = {name: nav.address(name, table.name) for name in ("publish", "synthetic", "train")}
    if table.schema.of_kind(dp.Number):
        ways["curves"] = nav.address(
            "ask", table.name, q=next(key for key in asked_on("ask") if dp.catalogue[key].card.answer == "density")
        )
    cards = "".join(
        f'<a class="tile" href="{link}" target="_self"><b>{escape(say(f"more.{name}"))}</b>'
        f"<span>{escape(say(f'more.{name}.line'))}</span></a>"
        for name, link in ways.items()
    )
    st.html(f'<div class="tiles">{cards}</div>')
