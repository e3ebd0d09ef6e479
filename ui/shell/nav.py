"""Navigation: five places, the pages in each, and links between them.

A place opens its first page, and each of its pages lists the others. In a workshop the wall is the first place, and
nobody adds tables.
"""

from __future__ import annotations

from copy import copy
from functools import cache, lru_cache
from html import escape
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpengine.messages import say
from ui.shell import workshop_state
from ui.shell.language import address as write
from ui.shell.language import in_address
from ui.shell.state import ROOT, may, table_labels

PLACES: dict[str, tuple[str, ...]] = {
    "wall": ("wall",),
    "tables": ("tables", "data"),
    "ask": ("ask", "board", "several", "more"),
    "answers": ("answers",),
    "whatif": ("whatif",),
    "learn": ("lessons", "audit", "thesis"),
}
# Unlisted pages, each under a listed one.
WITHIN = {
    "publish": "more",
    "synthetic": "more",
    "train": "more",
    "people": "tables",
    "accounts": "answers",
    "programs": "tables",
}
START = "start"
VIEW = "view"  # in the address: which view of a page
NAMES = (START, *(name for pages in PLACES.values() for name in pages), *WITHIN)
_OF_A_TABLE = {*PLACES["ask"], *PLACES["answers"], "whatif"}  # links to these name the open table


@cache
def _page(name: str, title: str) -> Any:
    return st.Page(str(ROOT / "pages" / f"{name}.py"), title=title, url_path=name, default=name == START)


def pages() -> dict[str, Any]:
    """All pages by name, copied for each run because Streamlit ties a Page to one run. A page's file is found once,
    because that is slow."""
    pages_by_name = {name: copy(_page(name, say(f"page.{name}"))) for name in NAMES}
    st.session_state["pages"] = pages_by_name
    return pages_by_name


def page(name: str) -> Any:
    return st.session_state["pages"][name]


def places() -> list[str]:
    return [place for place in PLACES if place != "wall" or workshop_state.on()]


def rooms(place: str) -> list[str]:
    return [name for name in PLACES[place] if name != "data" or not (workshop_state.on() or not may("add_table"))]


def place_of(name: str) -> str | None:
    """The place to which a page belongs; None for Start."""
    listed = WITHIN.get(name, name)
    return next((place for place, pages in PLACES.items() if listed in pages), None)


def address(name: str, table: str | None = None, **beside: str) -> str:
    """A link to a page in the chosen language, escaped for an HTML attribute."""
    query = ({"table": table} if table is not None else {}) | beside | in_address()
    return _written(name, tuple(query.items()))


@lru_cache(maxsize=1024)
def _written(name: str, query: tuple[tuple[str, str], ...]) -> str:
    return escape(("./" if name == START else name) + (f"?{urlencode(query)}" if query else ""), quote=True)


def view(table: str, name: str) -> None:
    """Go to another view of this page; "" is the first one. Only the table stays in the address."""
    write({"table": table} | ({VIEW: name} if name else {}))


def to_ledger(table: str) -> dict[str, str]:
    """The query of the address at which Answers shows the ledger."""
    return {"table": table, VIEW: "ledger"}


def forget(*names: str) -> None:
    """Drop these parameters from the address, which leads back to a page's beginning."""
    for name in names:
        st.query_params.pop(name, None)


def head(name: str, table: str) -> None:
    """Draw the navigation bar: the app's name, linked to Start, and a link to each main place of the app."""
    links = [_link(PLACES[place][0], say(f"place.{place}"), place == place_of(name), table) for place in places()]
    brand = f'<a class="brand" href="{address(START)}" target="_self">{escape(say("place.name"))}</a>'
    with st.container(key="places"):
        st.html(f'<nav aria-label="{escape(say("place.label"))}">{brand}<ul>{"".join(links)}</ul></nav>')


def inside(name: str, table: str) -> None:
    """Draw links to the pages of this page's place, the same row on each of them."""
    place = place_of(name)
    listed = rooms(place) if place else []
    if place is None or len(listed) < 2:
        return
    here = WITHIN.get(name, name)
    about = str(st.query_params.get("table", "")) if name == "data" else ""  # an existing table's page
    links = [_link(room, say(f"room.{room}"), room == here and not about, table) for room in listed]
    if about:
        links.append(_item(address("data", about), table_labels().get(about, about), True))
    with st.container(key="rooms"):
        st.html(f'<nav aria-label="{escape(say(f"place.{place}"))}"><ul>{"".join(links)}</ul></nav>')


def _link(name: str, label: str, here: bool, table: str) -> str:
    return _item(address(name, table if name in _OF_A_TABLE else None), label, here)


def _item(link: str, label: str, here: bool) -> str:
    mark = ' aria-current="page"' if here else ""
    return f'<li><a href="{link}" target="_self"{mark}>{escape(label)}</a></li>'


def check_link(**address: str) -> None:
    """Draw a link to the audit page, which runs the same question on made-up tables."""
    st.page_link(page("audit"), label=say("check.link"), query_params=address)
