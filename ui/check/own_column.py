"""A declared column of one's own table, audited from its declaration: what publishing it would lose, exactly."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.audit.columns import ColumnAudit, audited_column
from dpengine.core.printed import power_of_ten
from dpengine.mechanisms.publish.of_rows import OfRows, way_key
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from ui.check import audit_words
from ui.parts import job
from ui.shell import frame, nav

DELTAS = ("0", "1e-6", "0.01", "0.1")


def show(table: dp.Table, epsilon: str) -> None:
    st.html(f'<h2>{escape(say("check.own"))}</h2><p class="muted">{escape(say("check.own_lead"))}</p>')
    frame.pick_table(table, "check")
    left, right = st.columns([1, 1])
    with left:
        names = list(table.schema.columns)
        name = str(st.selectbox(say("check.own_column"), names, key=f"check-own-{table.name}", width=320))
    with right:
        delta = str(
            st.segmented_control(
                say("check.own_delta"),
                DELTAS,
                default=DELTAS[0],
                required=True,
                key="check-own-delta",
                format_func=lambda one: power_of_ten(Fraction(one)),
            )
        )
    try:
        query = table.query(way_key(table.schema, [name]), columns=[name], epsilon=epsilon, delta=delta)
    except dp.AllowanceError as refusal:
        job.hint(str(refusal))
        return
    assert isinstance(query, OfRows)
    found = audited_column(query, name)
    st.html(_told(found, name, epsilon, delta))
    st.page_link(
        nav.page("publish"),
        label=say("check.own_publish"),
        query_params={"table": table.name, "columns": json.dumps([name], ensure_ascii=False), "epsilon": epsilon},
    )


def _told(found: ColumnAudit, name: str, epsilon: str, delta: str) -> str:
    """The exact loss over all one-row tables, and why these decide."""
    infinite = found.epsilon.is_infinite()
    figures = {
        "column": name,
        "epsilon": local(epsilon),
        "exact": "∞" if infinite else audit_words.two(float(found.epsilon), up=True),
        "times": "∞" if infinite else audit_words.times(math.exp(float(found.epsilon)), up=True),
        "delta": power_of_ten(Fraction(delta)),
        "lost": power_of_ten(Fraction(found.delta)),
    }
    code = "check.own_exact_delta" if found.claimed_delta else "check.own_exact"
    verdict = say("check.own_kept" if found.kept else "check.own_broken")
    listed = {"cells": _many(found.cells), "pairs": _many(found.pairs), "kinds": found.kinds}
    return (
        f'<p class="found" role="status">{escape(say(code, **figures))}</p>'
        f'<p class="{"muted" if found.kept else "warn"}">{escape(verdict)}</p>'
        f'<p class="muted">{escape(say("check.own_why", **listed))}</p>'
    )


def _many(count: int) -> str:
    """In full up to a million million, else as a power of ten."""
    if count < 10**12:
        return plain(count)
    return "10" + str(len(str(count)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
