"""Which noise an answer gets: the most accurate one for the share of the allowance that the question takes now."""

from __future__ import annotations

from html import escape

import streamlit as st

import dpengine as dp
from dpengine.messages import say


def tell(query: dp.Query, usual: dp.Query) -> None:
    """One line, where the noise is not the usual one."""
    if query.noise:
        now, before = query.promise().short(query), usual.promise().short(usual)
        told = say(f"noise.{query.noise}.chosen", now=now, usual=before)
        st.html(f'<p class="muted">{escape(told)}</p>')
