"""The form of a first look, as the address holds the form: columns left out, of interest, in fewer groups, most
important."""

from __future__ import annotations

from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.declared.grouped import MERGED, Grouped, base, ref_json
from dpengine.declared.merging import MOST_MERGED, read_merged
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import (
    EVEN,
    EVERY_PAIR,
    MOST_AGAINST,
    MOST_COLUMNS,
    coarser,
    has_cells,
    readable,
)
from dpengine.messages import say
from ui.parts import answer_notes, job
from ui.shell.frame import paragraph

_SHORT = 300  # characters


def counted_as(query: dp.Query) -> None:
    """Draw a note on cells that count as something else; a long note goes into an expander."""
    note = answer_notes.cut_words(query)
    if len(note) <= _SHORT:
        if note:
            st.html(answer_notes.cut_note(query))
        return
    with st.expander(say("board_page.counted")):
        paragraph(note)


PLACE = "board"
NAMES = ("without", "against", "every", "coarse", "merged", "most", "three", "even", "epsilon")
_HEAVY = 4  # the weight of a column that matters most


def offered(table: dp.Table) -> list[str]:
    return [name for name, column in table.schema.columns.items() if has_cells(column)]


def can_be_coarser(table: dp.Table) -> list[str]:
    """The columns that allow fewer groups than usual."""
    rough = {name: coarser(name, table.schema) for name in offered(table)}
    other = [name for name, ref in rough.items() if ref != readable(name, table.schema)]
    return [name for name in other if not isinstance(rough[name], str)]


def filled(table: dp.Table, arriving: dict[str, str]) -> dict[str, Any]:
    """The form's values from an address, which is not trusted. If the address leaves no columns out, all columns up to
    the limit."""
    known = offered(table)

    def names(of: str) -> list[str]:
        wanted = job.read_address(arriving.get(of))
        found = wanted if isinstance(wanted, list) else []
        return [name for name in known if name in found]

    given: dict[str, Any] = {of: names(of) for of in ("without", "against", "coarse", "most")}
    if "without" not in arriving:
        given["without"] = known[MOST_COLUMNS:]
    given["every"] = "1" if arriving.get("every") == "1" else ""
    given["against"] = [] if given["every"] else given["against"][:MOST_AGAINST]
    given["merged"] = _merged(table, job.read_address(arriving.get("merged")))
    return given | {name: "1" if arriving.get(name) == "1" else "" for name in ("three", "even")}


def _merged(table: dp.Table, given: Any) -> dict[str, Any]:
    """By column, the merged groups that are valid, with their names."""
    found = {}
    for name, groups in given.items() if isinstance(given, dict) else ():
        try:
            read = read_merged({"column": name, MERGED: groups}, table.schema)
        except dp.AllowanceError:
            continue
        if read is not None:
            found[name] = read.as_json()[MERGED]
    return found


def can_be_merged(table: dp.Table) -> list[str]:
    """The columns with a list of more than two values."""
    columns = ((name, table.schema[name]) for name in offered(table))
    return [name for name, column in columns if isinstance(column, dp.Category) and 2 < column.size <= MOST_MERGED]


def query_of(table: dp.Table, now: dict[str, Any]) -> Overview:
    names = [name for name in offered(table) if name not in now["without"]]
    merged = now.get("merged") or {}
    columns: list[Any] = []
    for name in names:
        ref = ref_json(coarser(name, table.schema)) if name in now["coarse"] else name
        columns.append({"column": name, MERGED: merged[name]} if name in merged else ref)
    against = EVERY_PAIR if now.get("every") else now["against"]
    given: dict[str, Any] = {"columns": columns or [""], "against": against, "epsilon": now["epsilon"]}
    given |= {"three": True} if now.get("three") else {}
    given |= {"spread": EVEN} if now.get("even") else {}
    given |= {"weights": dict.fromkeys(now["most"], _HEAVY)} if now.get("most") else {}
    query = table.query("overview", **given, noise="")
    assert isinstance(query, Overview)
    return query


def link(table: dp.Table, now: dict[str, Any]) -> dict[str, str]:
    """The form's values as URL parameters."""
    return {"table": table.name} | job.as_texts({name: value for name, value in now.items() if value})


def state_of(table: dp.Table, query: Overview) -> dict[str, Any]:
    """The form's values from which an earlier question was built."""
    known = offered(table)  # the declarations may have changed since
    refs = {base(ref): ref for ref in (*query.columns, *query.items) if base(ref) in known}
    able = can_be_coarser(table)
    merged = {name: ref for name, ref in refs.items() if isinstance(ref, Grouped) and ref.rule == MERGED}
    return {
        "without": [name for name in known if name not in refs],
        "against": [name for name in query.against if name in refs],
        "every": "1" if query.every else "",
        "coarse": [name for name, ref in refs.items() if name in able and ref == coarser(name, table.schema)],
        "merged": _merged(table, {name: ref.as_json()[MERGED] for name, ref in merged.items()}),
        "most": [name for name, _ in query.weights if name in refs],
        "three": "1" if query.three else "",
        "even": "1" if query.spread == EVEN else "",
        "epsilon": text_of(query.epsilon),
    }
