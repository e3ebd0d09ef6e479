"""Fields for a made-up person: a declared value, or one on the declared grid."""

from __future__ import annotations

from datetime import date
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.strict_json import read_strict
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category
from dpengine.messages import called
from ui.shell.language import day_format
from ui.words.markup import unmarked


def typed(text: str | None) -> dict[str, Any]:
    try:
        told = read_strict(text or "")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


MANY = 6  # fields: more stand in two columns


def beside(many: int) -> list[Any]:
    """A place for each of so many fields, row by row; on a phone they stand below each other in the same order."""
    if many <= MANY:
        return [st.container() for _ in range(many)]
    places: list[Any] = []
    while len(places) < many:
        places += st.columns(2)
    return places[:many]


def field(name: str, column: dp.Number | Date | Category, now: Any, key: str) -> Any:
    name = unmarked(name)
    if isinstance(column, Category):
        labels = list(column.labels)
        return str(st.selectbox(name, labels, labels.index(now) if now in labels else 0, called, key=key))
    if isinstance(column, Date):
        first, last = column.first, column.last
        try:
            picked = min(max(date.fromisoformat(str(now)), first), last)
        except ValueError:
            picked = date.fromisoformat(column.value(column.size // 2))
        return st.date_input(name, picked, first, last, key=key, format=day_format()).isoformat()
    try:
        code = column.code(now) if now is not None else column.size // 2
    except dp.AllowanceError:
        code = column.size // 2
    kind: type[int] | type[float] = int if column.step.denominator == column.lower.denominator == 1 else float
    ends = kind(column.lower), kind(column.upper)
    return st.number_input(name, *ends, kind(column.value(code)), kind(column.step), key=key)
