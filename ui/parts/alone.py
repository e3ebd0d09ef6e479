"""A page that runs again without the frame.

Streamlit runs the whole script at every click: the frame, then the page. A page with a form gives its content to
`draw`. A click inside that content runs the content again, and not the frame.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

import dpengine as dp
from ui.parts import job
from ui.shell import frame, language, scroll, tour
from ui.shell.state import current_table, has_opened, opened, steady


@st.fragment
def draw(name: str, content: Callable[[dp.Table], None]) -> None:
    """Draw the content of a page. Clicks in it run it again without the frame."""
    if has_opened():  # the frame runs the page
        with frame.guarded(name):  # an error that leaves a fragment would be Streamlit's to show
            frame.lend_meter(current_table())
            content(current_table())
        return
    if tour.wish() == "on":  # its card stands in the frame, and follows what was done
        st.rerun()
    began = time.perf_counter()
    try:
        job.look_up()
        table = current_table()
    except dp.AllowanceError:
        st.rerun()
    if "complaint" in st.session_state:  # the workspace has changed or is damaged, which the frame says
        st.rerun()
    scroll.at_address(name)
    frame.begin_again(table, name)
    try:
        with frame.guarded(name), steady(), language.kept(), opened(table):
            content(table)
    finally:
        frame.finish(table, began)
