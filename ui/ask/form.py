"""The form of Ask: the question as a sentence of pickers, drawn from its card and the table's schema.

`given` are the parameters that the form held before this run, `chosen` those that its pickers hold now; `now` is where
a picker starts; `rows` ends the keys of messages about rows. Conditions and groups stay when another question is
picked, and a note says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import Unread, read_number, text_of
from dpengine.core.strict_json import read_strict
from dpengine.declared.conditions import read_predicate, who
from dpengine.declared.schema import Category, Number
from dpengine.mechanisms.card import Parameter
from dpengine.messages import say
from ui.ask import averages, density
from ui.ask.form_state import ORDER, SET_WITH, STATE, offered, state
from ui.parts import conditions, fields
from ui.shell.frame import paragraph

_FILLED_IN = "ask-where-made-up"  # the condition that the form filled in, as the answer about everyone is public


def sentence(table: dp.Table) -> tuple[str, dict[str, Any]]:
    """Draw “The [median] of [income] for [everyone]”, and below it the other parameters of the question. Returns the
    question's key and its parameters, without a price."""
    held = state(table)
    given = held["given"]
    keys = [key for key in ORDER if offered(table, key)]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        fields.word(say("form.the"))
        key = fields.pick("form.kind", keys, held["q"], lambda question: dp.catalogue[question].card.noun, "ask-kind")
        if key != held["q"] and given.get("where") and given["where"] == st.session_state.get(_FILLED_IN):
            given = {name: value for name, value in given.items() if name != "where"}
        parameters = {parameter.name: parameter for parameter in dp.catalogue[key].card.parameters}
        column = _pick_column(table, key, given, parameters["column"]) if "column" in parameters else ""
        counts = {name: _on(switch, given, key) for name, switch in parameters.items() if switch.kind == "people"}
        rows = ".rows" if dp.catalogue[key].rows_in_form(table.facts, given | {"column": column} | counts) else ""
        public = dp.catalogue[key].known_of_everyone(table.facts) and not given.get("by")
        some = "where" in parameters and _pick_some(key, given, parameters["where"], rows, public)
        by = _pick_groups(table, key, given) if "by" in parameters else ""
    if column:
        _note_other_column(table, key, given, column)
    below = st.container()  # what is said stands below: the sentence never moves away from the pointer
    chosen: dict[str, Any] = {}
    if column:
        at = f"ask-column-figures-{key}"
        chosen["column"] = conditions.chosen_groups(table.schema, column, given.get("column"), at)
    if by:
        chosen["by"] = conditions.chosen_groups(table.schema, by, given.get("by"), f"ask-by-figures-{key}")
    if "of" in parameters:
        st.html(f'<p class="muted">{say(f"form.of_title{rows}")}</p>')
        chosen["of"] = conditions.conditions(table, given.get("of") or [], "of")
    if "options" in parameters:
        chosen["options"] = conditions.compare(table, given.get("options"), rows)
    if some:
        if "of" in parameters or "options" in parameters:
            st.html(f'<p class="muted">{say(f"form.where_title{rows}")}</p>')
        chosen["where"] = conditions.conditions(table, given.get("where") or [], "where")
        if public and not given.get("where"):
            st.session_state[_FILLED_IN] = chosen["where"]
    with below:
        _note_carried_over(table, key, chosen, by, rows)
    if any(parameter.kind == "columns.curve" for parameter in parameters.values()):
        chosen |= density.pickers(table, given, fields.turn_picker())
    if any(parameter.kind == "columns.number" for parameter in parameters.values()):
        chosen |= averages.pickers(offered(table, key), given, fields.turn_picker())
    for parameter in parameters.values():
        if parameter.kind == "people" and table.facts.unit.id_column is None:
            continue
        if parameter.above and chosen.get(parameter.above, 1) <= 1:
            continue
        if parameter.kind in ("share", "bins", "switch", "number", "columns", "people", "points"):
            value = _extra(table, parameter, given, chosen, key)
            if value is not None:
                chosen[parameter.name] = value
    return key, chosen


# The pickers of the sentence.


def _pick_column(table: dp.Table, key: str, given: Mapping[str, Any], parameter: Parameter) -> str:
    fields.word(parameter.around("form.of"))
    columns, before = offered(table, key), conditions.group_option(given.get("column"))
    now = before if before in columns else columns[0]
    return fields.pick("form.column", columns, now, conditions.group_words, f"ask-column-{key}")


def _pick_some(key: str, given: Mapping[str, Any], parameter: Parameter, rows: str, public: bool) -> bool:
    """Draw the picker of “everyone” or “some”. True if the question is about some people only. The picker begins at
    “some” if the answer about everyone is `public`."""
    if word := parameter.around("form.for"):
        fields.word(word)

    def label(option: str) -> str:
        return parameter.around(f"form.who.{option}{rows}")

    now = "some" if given.get("where") or public else "everyone"
    return fields.pick(f"form.who{rows}", ["everyone", "some"], now, label, f"ask-who-{key}") == "some"


def _pick_groups(table: dp.Table, key: str, given: Mapping[str, Any]) -> str:
    """Draw the picker of groups. Returns the picked option; "" for none, or if no column can be grouped."""
    groups = table.schema.of_kind(Category) + conditions.group_options(table.schema)
    if not groups:
        return ""
    fields.word(say("form.by"))
    before = conditions.group_option(given.get("by"))
    now = before if before in groups else ""
    return fields.pick("form.by_label", ["", *groups], now, _by_words, f"ask-by-{key}")


def _by_words(option: str) -> str:
    return conditions.group_words(option) if option else say("form.by_none")


# Notes: another column stands in the form, or conditions and groups were carried over from another question.


def _note_other_column(table: dp.Table, key: str, given: Mapping[str, Any], column: str) -> None:
    """Say that `column` stands in the form because the question cannot be asked of the column that stood there
    before."""
    before = conditions.group_option(given.get("column"))
    if before in offered(table, key) or before not in (*table.schema.columns, *conditions.group_options(table.schema)):
        return
    note = say("form.other_column", before=conditions.group_words(before), now=conditions.group_words(column))
    paragraph(note, role="status")


def _note_carried_over(table: dp.Table, key: str, chosen: Mapping[str, Any], by: str, rows: str) -> None:
    question, where = [key, chosen.get("column")], chosen.get("where") or []
    if _note_set_with("where", where, question):
        with suppress(dp.AllowanceError):  # not complete yet, which the form says
            people = who(read_predicate(where, table.schema), rows=table.facts.said_rows if rows else None)
            _offer_without("where", "ask-still", say("form.still", who=people), say(f"form.still_drop{rows}"))
    if _note_set_with("by", chosen.get("by"), question):
        still = say("form.still_by", group=_by_words(by))
        _offer_without("by", "ask-still-by", still, say("form.still_by_drop"))


def _note_set_with(part: str, value: Any, question: Sequence[Any]) -> bool:
    """Store with which question (key and column) a part of the form got its value. True if the value came with another
    question than the present one."""
    set_with = dict(st.session_state.get(SET_WITH, {}))
    now, asked = json.dumps(value, default=str) if value else "", json.dumps(question, default=str)
    before, asked_before = set_with.get(part, ("", ""))
    if now != before:
        set_with[part] = (now, asked)
        st.session_state[SET_WITH] = set_with
        return False
    return bool(now) and asked_before != asked


def _offer_without(part: str, widget: str, note: str, button: str) -> None:
    with st.container(key=widget, horizontal=True, vertical_alignment="center"):
        paragraph(note, "", role="status", width="content")
        st.button(button, key=f"{widget}-drop", on_click=_without, args=(part,))


def _without(part: str) -> None:
    """Drop the condition (“where”) or the groups (“by”)."""
    st.session_state[STATE]["given"].pop(part, None)
    fields.forget_pickers()


# The other parameters, below the sentence.


def _extra(table: dp.Table, parameter: Parameter, given: dict[str, Any], chosen: dict[str, Any], key: str) -> Any:
    widget = _widget(parameter, key)
    if parameter.kind == "share":
        now, note = _percents(given, parameter), parameter.help
        return _shares(fields.number_fields(parameter.label, now, widget, "%", help=note, width=260))
    if parameter.kind == "points":
        points = str(given.get(parameter.name) or "")
        return fields.number_field(parameter.label, points, widget, help=parameter.help, width=260) or None
    if parameter.kind == "bins":
        if not isinstance(table.schema.columns.get(str(chosen["column"])), Number):
            return None
        now = given.get("bins", parameter.default)
        if isinstance(now, list):
            return fields.number_fields(say("form.edges"), list(map(conditions.written, now)), f"{widget}-edges")
        count = fields.whole_inside(now, 2, 100, int(parameter.default))
        return int(st.number_input(parameter.label, 2, 100, count, help=parameter.help, key=widget, width=160))
    if parameter.kind == "number":
        count = fields.whole_inside(given.get(parameter.name, parameter.default), 1, 20, int(parameter.default))
        return int(st.number_input(parameter.label, 1, 20, count, help=parameter.help, key=widget, width=160))
    if parameter.kind == "columns":
        lists, wanted = offered(table, key), given.get(parameter.name)
        kept = {conditions.group_option(column): column for column in wanted} if isinstance(wanted, list) else {}
        now = [option for option in kept if option in lists] or ([] if isinstance(wanted, list) else lists[:2])
        limits: Any = {"max_selections": 3, "help": parameter.help, "key": widget}
        picked = st.multiselect(parameter.label, lists, now, conditions.group_words, **limits)
        return [conditions.chosen_groups(table.schema, name, kept.get(name), f"{widget}-{name}") for name in picked]
    on = bool(given.get(parameter.name, parameter.default))
    return bool(st.toggle(parameter.label, on, help=parameter.help, key=widget))


def _on(parameter: Parameter, given: dict[str, Any], key: str) -> bool:
    """Is this switch on? The switch itself is drawn further down, so its stored state answers."""
    return bool(st.session_state.get(_widget(parameter, key), given.get(parameter.name, parameter.default)))


def _widget(parameter: Parameter, key: str) -> str:
    return f"ask-{parameter.name}-{key}{fields.turn_picker()}"


def _percents(given: dict[str, Any], parameter: Parameter) -> list[str]:
    shares = given.get("share", parameter.default)
    try:
        read = read_strict(shares) if isinstance(shares, str) and shares.startswith("[") else shares
        listed = read if isinstance(read, list) else [read]
        return [text_of(read_number(share, "") * 100) for share in listed]
    except (TypeError, ValueError, dp.AllowanceError):
        return ["90"]


def _shares(typed: list[str]) -> Any:
    """Typed percentages as the engine takes them: one share, or a list of several."""
    shares = [share if isinstance(share, Unread) else text_of(Fraction(share) / 100) for share in typed]
    return shares[0] if len(shares) == 1 else shares
