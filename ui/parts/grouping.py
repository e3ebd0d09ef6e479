"""Columns told in groups, as pickers offer them: days by month, quarter, year or weekday, numbers in steps or between
edges, lists by a declared lookup. A picker's options are texts: a column's name, or the JSON of its groups."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import floor, read_number, text_of
from dpengine.core.strict_json import read_strict
from dpengine.declared.grouped import OF_DAYS
from dpengine.declared.read_group import read_group
from dpengine.declared.schema import Number, Schema
from dpengine.messages import say
from ui.parts import number_field, pickers

USUAL_GROUPS = 15  # that a first step makes at most
_FIGURES = ("step", "edges")


def options(schema: Schema, numbers: bool = True) -> list[str]:
    """What can be told in groups, each as a picker's option; of a number its step is asked for when it is picked."""
    found = [_text({"column": name, "by": rule}) for name in schema.of_kind(dp.Date) for rule in rules_of(schema, name)]
    found += [_text({"column": column, "by": title}) for title, (column, _) in schema.lookups.items()]
    return found + ([_text({"column": name}) for name in schema.of_kind(Number)] if numbers else [])


def rules_of(schema: Schema, name: str) -> list[str]:
    """By what the days of a column can be told: by more than one group, and by no more than the engine takes."""
    found = []
    for rule in OF_DAYS:
        try:
            if read_group({"column": name, "by": rule}, schema).size > 1:
                found.append(rule)
        except dp.AllowanceError:
            continue
    return found


def words(option: str) -> str:
    """A picker's option as a person reads it."""
    given = read(option)
    if not isinstance(given, dict):
        return option
    rule = given.get("by", "number")
    if rule not in (*OF_DAYS, "number"):
        return say("group.of.lookup", title=str(rule), column=given["column"])
    return say(f"group.of.{rule}", column=given["column"], figures="")


def read(text: str) -> Any:
    """The groups that an address or an option holds; a column's name as it is."""
    if not text.startswith("{"):
        return text
    try:
        found = read_strict(text)
    except ValueError:
        return text
    return found if isinstance(found, dict) and isinstance(found.get("column"), str) else text


def option_of(given: Any) -> str:
    """The option that a question's own groups, or its column, belong to."""
    if not isinstance(given, dict):
        return str(given or "")
    if "title" in given:
        return _text({"column": given["column"], "by": given["title"]})
    return _text({name: part for name, part in given.items() if name not in _FIGURES})


def chosen(schema: Schema, option: str, given: Any, key: str) -> Any:
    """What an option says of a question: of a number, with the step or the edges that are asked for here."""
    wanted = read(option)
    if not isinstance(wanted, dict) or "by" in wanted:
        return wanted
    now = given if option_of(given) == option and isinstance(given, dict) else {}
    column = schema.number(wanted["column"])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        rule = pickers.pick(
            "group.how",
            list(_FIGURES),
            "edges" if "edges" in now else "step",
            lambda one: say(f"group.how.{one}", column=wanted["column"]),
            f"{key}-how",
        )
        label, field = say(f"group.{rule}_field"), f"{key}-{rule}{pickers.turn()}"
        if rule == "step":
            step = number_field.field(label, _written(now.get("step")) or text_of(usual_step(column)), field, width=200)
            return wanted | {"step": step}
        kept = now.get("edges")
        edges = [_written(edge) for edge in kept] if isinstance(kept, list) else _usual_edges(column)
        return wanted | {"edges": number_field.fields(label, edges, field, width=320)}


def usual_step(column: Number) -> Fraction:
    """1, 2 or 5 with zeros, so that there are a few groups: of ages, tens."""
    width, power = column.upper - column.lower, Fraction(10) ** 12
    while width / power < 1:
        power /= 10
    for step in (power / 10, power / 5, power / 2, power):
        if step >= column.step and floor(column.upper / step) - floor(column.lower / step) < USUAL_GROUPS:
            return step
    return max(power, column.step)


def _usual_edges(column: Number) -> list[str]:
    step = usual_step(column)
    first = floor(column.lower / step) + 1
    middle = step * max(first, floor((column.lower + column.upper) / 2 / step))
    return [text_of(middle)]


def _written(figure: Any) -> str:
    try:
        return text_of(read_number(figure, ""))
    except dp.AllowanceError:
        return "" if figure is None else str(figure)


def _text(given: dict[str, Any]) -> str:
    return json.dumps(given, ensure_ascii=False)
