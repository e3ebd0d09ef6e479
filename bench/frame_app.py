"""Streamlit for bench/pages.py: of the app that it runs, one page is empty and one has links to all the others, if
their addresses ask for it."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.web import cli

from bench.pages import EMPTY, addresses
from ui.publish import more, thesis
from ui.shell import nav

LINKS = "links"
_more, _thesis = more.show, thesis.show


def _empty(table: Any) -> None:
    if EMPTY not in st.query_params:
        _more(table)


def _links() -> None:
    if LINKS not in st.query_params:
        _thesis()
        return
    with st.container(key=LINKS):
        for name, (page, address) in addresses().items():
            st.page_link(nav.page(page), label=name, query_params=address)


if __name__ == "__main__":
    more.show, thesis.show = _empty, _links
    cli.main()
