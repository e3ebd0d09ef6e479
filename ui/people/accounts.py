"""Accounts, for an auditor: every account and every act, by person, to check and to take along."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.messages import say
from ui.shell import frame, person
from ui.shell.state import may


def show() -> None:
    frame.nothing()
    st.html(f"<h1>{escape(say('accounts.title'))}</h1>")
    if not person.served() or not may("accounts"):
        code = "people.page.none" if not person.served() else "accounts.not_you"
        st.html(f'<p class="lead">{escape(say(code))}</p>')
        return
