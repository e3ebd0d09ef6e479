"""What begins every page for people who sign in: its heading, and whether whoever is here may use it."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpengine.messages import say
from ui.shell import frame, person
from ui.shell.state import may


def opened(page: str, verb: str, not_you: str) -> bool:
    """The head of a page, in words that begin with `page`. False where nobody signs in, or this person may not do what
    the page is for: then it says so, and nothing else is drawn."""
    frame.nothing()
    st.html(f"<h1>{escape(say(f'{page}.title'))}</h1>")
    shut = "people.page.none" if not person.served() else "" if may(verb) else not_you
    st.html(f'<p class="lead">{escape(say(shut or f"{page}.lead"))}</p>')
    return not shut
