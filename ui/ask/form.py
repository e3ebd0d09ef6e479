"""The form of Ask: the question as a sentence of pickers, drawn from its card and the table's schema.

`given` are the parameters that the form held before this run, `chosen` those that its pickers hold now. A picker starts
from `given`; afterwards the session keeps its value, under a key that ends with `fields.key_end()`. `rows` ends the
keys of messages about rows. A column and its groups are picked as one *option*, a text (`ui/parts/conditions.py`).
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


def sentence(table: dp.Table) -> tuple[str, dict[str, Any]]:
    """Draw “The [median] of [income] for [everyone]”, and below it the other parameters of the question. Returns the
    question's key and its parameters, without a price."""
    held = state(table)
    given = held["given"]
    keys = [key for key in ORDER if offered(table, key)]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        fields.word(say("form.the"))
        key = fields.pick("form.kind", keys, held["q"], lambda question: dp.catalogue[question].card.noun, "ask-kind")
        if key != held["q"]:
            given = _without_own_condition(given)
        parameters = {parameter.name: parameter for parameter in dp.catalogue[key].card.parameters}
        column = _pick_column(table, key, given, parameters["column"]) if "column" in parameters else ""
        of_people = {name: _on(switch, given, key) for name, switch in parameters.items() if switch.kind == "people"}
        rows = ".rows" if dp.catalogue[key].rows_in_form(table.facts, given | {"column": column} | of_people) else ""
        public = dp.catalogue[key].known_of_everyone(table.facts) and not given.get("by")
        some = "where" in parameters and _pick_some(key, given, parameters["where"], rows, public)
        by = _pick_groups(table, key, given) if "by" in parameters else ""
    if column:
        _show_other_column(table, key, given, column)
    below = st.container()  # what is said stands below: the sentence never moves away from the pointer
    chosen: dict[str, Any] = {}
    if column:
        at = f"ask-column-figures-{key}"
        chosen["column"] = conditions.parameter_of(table.schema, column, given.get("column"), at)
    if by:
        chosen["by"] = conditions.parameter_of(table.schema, by, given.get("by"), f"ask-by-figures-{key}")
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
            st.session_state[_OWN_CONDITION] = chosen["where"]
    with below:
        _show_carried_over(table, key, chosen, by, rows)
    if any(parameter.kind == "columns.curve" for parameter in parameters.values()):
        chosen |= density.pickers(table, given, fields.key_end())
    if any(parameter.kind == "columns.number" for parameter in parameters.values()):
        chosen |= averages.pickers(offered(table, key), given, fields.key_end())
    for parameter in parameters.values():
        if parameter.kind == "people" and table.facts.unit.id_column is None:
            continue
        if parameter.if_several and chosen.get(parameter.if_several, 1) <= 1:
            continue
        value = _extra(table, parameter, given, chosen, key)
        if value is not None:
            chosen[parameter.name] = value
    return key, chosen


# The pickers of the sentence.


def _pick_column(table: dp.Table, key: str, given: Mapping[str, Any], parameter: Parameter) -> str:
    fields.word(parameter.around("form.of"))
    options, before = offered(table, key), conditions.option_of(given.get("column"))
    start = before if before in options else options[0]
    return fields.pick("form.column", options, start, conditions.option_words, f"ask-column-{key}")


def _pick_some(key: str, given: Mapping[str, Any], parameter: Parameter, rows: str, public: bool) -> bool:
    """Draw the picker of “everyone” or “some”. True if the question is about some people only. The picker begins at
    “some” if the answer about everyone is `public`."""
    if word := parameter.around("form.for"):
        fields.word(word)

    def label(option: str) -> str:
        return parameter.around(f"form.who.{option}{rows}")

    start = "some" if given.get("where") or public else "everyone"
    at = f"ask-who-{key}{rows}"  # the browser keeps the word that a picker of the same name showed
    return fields.pick(f"form.who{rows}", ["everyone", "some"], start, label, at) == "some"


def _pick_groups(table: dp.Table, key: str, given: Mapping[str, Any]) -> str:
    """Draw the picker of groups. Returns the picked option; "" for none, or if no column can be grouped."""
    options = table.schema.of_kind(Category) + conditions.group_options(table.schema)
    if not options:
        return ""
    fields.word(say("form.by"))
    before = conditions.option_of(given.get("by"))
    start = before if before in options else ""
    return fields.pick("form.by_label", ["", *options], start, _by_words, f"ask-by-{key}")


def _by_words(option: str) -> str:
    return conditions.option_words(option) if option else say("form.by_none")


# The other parameters, below the sentence.


def _extra(table: dp.Table, parameter: Parameter, given: dict[str, Any], chosen: dict[str, Any], key: str) -> Any:
    """The value that its field holds; None for an empty one, and for a parameter that has its field elsewhere."""
    widget, before = _widget(parameter, key), given.get(parameter.name, parameter.default)
    match parameter.kind:
        case "share":
            percents, note = _percents(before, parameter), parameter.help
            return _shares(fields.number_fields(parameter.label, percents, widget, "%", help=note, width=260))
        case "points":
            points = str(given.get(parameter.name) or "")
            return fields.number_field(parameter.label, points, widget, help=parameter.help, width=260) or None
        case "bins":
            if not isinstance(table.schema.columns.get(str(chosen["column"])), Number):
                return None
            if isinstance(before, list):
                return fields.number_fields(say("form.edges"), list(map(conditions.written, before)), f"{widget}-edges")
            return _count(parameter, before, 2, 100, widget)
        case "number":
            return _count(parameter, before, 1, 20, widget)
        case "columns":
            return _columns(table, parameter, given.get(parameter.name), key)
        case "switch" | "people":
            return bool(st.toggle(parameter.label, bool(before), help=parameter.help, key=widget))
        case _:  # in the sentence, among the conditions, of `density` or `averages`; and ε, which the price asks for
            return None


def _count(parameter: Parameter, before: Any, least: int, most: int, widget: str) -> int:
    start = fields.whole_inside(before, least, most, int(parameter.default))
    return int(st.number_input(parameter.label, least, most, start, help=parameter.help, key=widget, width=160))


def _columns(table: dp.Table, parameter: Parameter, before: Any, key: str) -> list[Any]:
    """At most three columns, or columns with groups; the first two that the question takes, if none is given."""
    widget, options = _widget(parameter, key), offered(table, key)
    by_option = {conditions.option_of(column): column for column in before} if isinstance(before, list) else {}
    start = [option for option in by_option if option in options] if isinstance(before, list) else options[:2]
    limits: Any = {"max_selections": 3, "help": parameter.help, "key": widget}
    picked = st.multiselect(parameter.label, options, start, conditions.option_words, **limits)
    return [conditions.parameter_of(table.schema, name, by_option.get(name), f"{widget}-{name}") for name in picked]


def _on(parameter: Parameter, given: dict[str, Any], key: str) -> bool:
    """Is this switch on? The switch itself is drawn further down, so its stored state answers."""
    return bool(st.session_state.get(_widget(parameter, key), given.get(parameter.name, parameter.default)))


def _widget(parameter: Parameter, key: str) -> str:
    return f"ask-{parameter.name}-{key}{fields.key_end()}"


def _percents(shares: Any, parameter: Parameter) -> list[str]:
    """Shares as percentages; the usual share if a link holds something else."""
    try:
        read = read_strict(shares) if isinstance(shares, str) and shares.startswith("[") else shares
        return [_percent(share) for share in (read if isinstance(read, list) else [read])]
    except (TypeError, ValueError, dp.AllowanceError):
        return [_percent(parameter.default)]


def _percent(share: Any) -> str:
    return text_of(read_number(share, "") * 100)


def _shares(typed: list[str]) -> str | list[str]:
    """Typed percentages as the engine takes them: one share, or a list of several.
    The engine refuses what is `Unread`, which is a text."""
    shares = [share if isinstance(share, Unread) else text_of(Fraction(share) / 100) for share in typed]
    return shares[0] if len(shares) == 1 else shares


# What stays when another question is picked: conditions and groups, and the column if the question takes it. A note
# says so, and offers to drop it.

_OWN_CONDITION = "ask-where-made-up"  # the condition that the form filled in, as the answer about everyone is public


def _without_own_condition(given: dict[str, Any]) -> dict[str, Any]:
    """`given` without its condition if the form filled that in for the question before, and nobody chose it."""
    if not given.get("where") or given["where"] != st.session_state.get(_OWN_CONDITION):
        return given
    return {name: value for name, value in given.items() if name != "where"}


def _show_other_column(table: dp.Table, key: str, given: Mapping[str, Any], column: str) -> None:
    """Say that `column` stands in the form because the question cannot be asked of the column before it."""
    before = conditions.option_of(given.get("column"))
    if before in offered(table, key) or before not in (*table.schema.columns, *conditions.group_options(table.schema)):
        return
    words = conditions.option_words
    paragraph(say("form.other_column", before=words(before), now=words(column)), role="status")


def _show_carried_over(table: dp.Table, key: str, chosen: Mapping[str, Any], by: str, rows: str) -> None:
    question, where = [key, chosen.get("column")], chosen.get("where") or []
    if _carried_over("where", where, question):
        with suppress(dp.AllowanceError):  # not complete yet, which the form says
            people = who(read_predicate(where, table.schema), rows=table.facts.said_rows if rows else None)
            _offer_without("where", "ask-still", say("form.still", who=people), say(f"form.still_drop{rows}"))
    if _carried_over("by", chosen.get("by"), question):
        still = say("form.still_by", group=_by_words(by))
        _offer_without("by", "ask-still-by", still, say("form.still_by_drop"))


def _carried_over(part: str, value: Any, question: Sequence[Any]) -> bool:
    """Did a part (“where”, “by”) get its value with another question (key and column)? Stores with which it did."""
    set_with = dict(st.session_state.get(SET_WITH, {}))
    value_text, asked = json.dumps(value, default=str) if value else "", json.dumps(question, default=str)
    value_before, asked_before = set_with.get(part, ("", ""))
    if value_text != value_before:
        set_with[part] = (value_text, asked)
        st.session_state[SET_WITH] = set_with
        return False
    return bool(value_text) and asked_before != asked


def _offer_without(part: str, widget: str, note: str, button: str) -> None:
    with st.container(key=widget, horizontal=True, vertical_alignment="center"):
        paragraph(note, "", role="status", width="content")
        st.button(button, key=f"{widget}-drop", on_click=_drop, args=(part,))


def _drop(part: str) -> None:
    st.session_state[STATE]["given"].pop(part, None)
    fields.forget_pickers()
