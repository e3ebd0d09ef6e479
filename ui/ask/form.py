"""The form of Ask: the question as a sentence of pickers. It keeps conditions and groups from the previous question."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.exports import sentence_of
from dpengine.core.exact import Unread, read_number, text_of
from dpengine.core.strict_json import read_strict
from dpengine.declared.conditions import read_predicate, who
from dpengine.declared.schema import Category, Column, ItemSet, Number
from dpengine.mechanisms import asked_on
from dpengine.mechanisms.card import Parameter
from dpengine.messages import say
from ui.ask import averages, density
from ui.parts import conditions, fields, job
from ui.shell import scroll
from ui.shell.frame import paragraph
from ui.shell.language import IN_ADDRESS, address

_DRAFT = "form-draft"  # what was last kept as a draft
_SET_WITH = "where-set-with"  # by part: it, and the question in the form when it was set; a link forgets it


def _came_along(part: str, held: Any, asked: Sequence[Any]) -> bool:
    """Was it set for another question than `asked`, which is the current one without its conditions and groups?"""
    set_with = dict(st.session_state.get(_SET_WITH, {}))
    now, question = json.dumps(held, default=str) if held else "", json.dumps(asked, default=str)
    before, with_question = set_with.get(part, ("", ""))
    if now != before:
        set_with[part] = (now, question)
        st.session_state[_SET_WITH] = set_with
        return False
    return bool(now) and with_question != question


def _offer_without(part: str, key: str, note: str, button: str) -> None:
    with st.container(key=key, horizontal=True, vertical_alignment="center"):
        paragraph(note, "", role="status", width="content")
        st.button(button, key=f"{key}-drop", on_click=_without, args=(part,))


# The question as a sentence of pickers, drawn from the card and the schema. Its state lives in the URL.

STATE = "ask"
_BEGAN = "ask-began"  # what the form held when the person came
_MADE_UP = "ask-where-made-up"  # conditions that the form began with, because of everyone the answer is known
MOST_ASKED = 100
_BESIDE = ("table", "answer", IN_ADDRESS)  # in the address too, and no part of the question
ORDER = asked_on("ask")
_JSON = ("where", "of", "bins", "with_range", "people", "columns", "how_many", "ordered", "options", "bandwidth")
USUAL = {"epsilon": "0.1"}


def state(table: dp.Table) -> dict[str, Any]:
    """The current form: from the URL on arrival, else as left, else the first question this table can answer."""
    arriving = {name: st.query_params[name] for name in st.query_params if name not in _BESIDE}
    kept = st.session_state.get(STATE)
    if kept is None or kept["table"] != table.name or (arriving and arriving.get("q") and arriving != kept["url"]):
        fields.forget_pickers()
        kept = {"table": table.name, "url": arriving, "given": _read(arriving), "q": arriving.get("q")}
        st.session_state[STATE] = kept
        st.session_state.pop(_BEGAN, None)
    elif not arriving:  # back to the form as it was left: its conditions and groups belong to an earlier question
        held = st.session_state.get(_SET_WITH, {})
        st.session_state[_SET_WITH] = {part: (value, "") for part, (value, _) in held.items()}
    if kept["q"] not in ORDER or not offered(table, kept["q"]):
        first = _first(table)
        if first is not None and STATE in first.card.asked_on:
            given = {name: value for name, value in whole(first).items() if name != "epsilon"}  # as any that is picked
            kept["q"], kept["given"] = first.card.key, given | kept["given"]
        else:
            kept["q"] = next(key for key in ORDER if offered(table, key))
    return dict(kept)


def replace_question(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    """Put another question into the form. For callbacks, before the form is drawn."""
    began = st.session_state.get(_BEGAN)
    fields.forget_pickers()
    if began is not None:
        st.session_state[_BEGAN] = began  # the form no longer holds the first question
    arriving = {name: st.query_params[name] for name in st.query_params if name not in _BESIDE}
    st.session_state[STATE] = {"table": table.name, "url": arriving, "given": dict(given), "q": key}


def keep_draft(table: dp.Table, key: str, given: dict[str, Any], paid: bool) -> None:
    """Keep a question that the person has begun to change, without its price, until it is paid."""
    if untouched(key, given):
        return
    plain = {name: value for name, value in given.items() if name != "epsilon" and value not in (None, [])}
    now = None if paid else json.dumps([key, plain], default=str, sort_keys=True)
    if st.session_state.get(_DRAFT) == (table.name, now):
        return
    st.session_state[_DRAFT] = (table.name, now)
    with suppress(dp.AllowanceError):  # a full disk stops no question
        table.keep_draft(None) if now is None else table.keep_draft(key, json.loads(now)[1])


def unfinished(table: dp.Table, now: dp.Query | None) -> None:
    """Offer the question that the person left unfinished, while the form holds the first one: unless the form holds it
    already, or it was answered since."""
    draft = table.draft()
    if draft is None or draft.get("key") not in ORDER or not isinstance(draft.get("given"), dict):
        return
    try:
        sentence = table.query(draft["key"], **USUAL | draft["given"] | {"noise": ""}).sentence()
    except dp.AllowanceError:  # declared anew since, or not complete
        return
    if (now is not None and sentence == now.sentence()) or sentence in _sentences_asked(table):
        return
    with st.container(key="form-draft", horizontal=True, vertical_alignment="center"):
        paragraph(say("draft.left", sentence=sentence), "", role="status", width="content")
        given = (table, draft["key"], draft["given"])
        st.button(say("draft.take"), key="form-draft-take", on_click=replace_question, args=given)
        st.button(say("draft.drop"), key="form-draft-drop", on_click=table.keep_draft, args=(None,))


def _sentences_asked(table: dp.Table) -> set[str]:
    return {sentence_of(entry.charge) for entry in table.history(MOST_ASKED)}


def _first(table: dp.Table) -> dp.Query | None:
    """The form's first question: one that the table answers well, new ones and those about everyone first."""
    asked = _sentences_asked(table)
    suggested = table.suggestions()
    return min(suggested, key=lambda query: (query.sentence() in asked, not query.where.everyone), default=None)


def untouched(key: str, given: dict[str, Any]) -> bool:
    """Does the form still hold the first question, at any spend?"""
    asked = json.dumps([key, {name: value for name, value in given.items() if name != "epsilon"}], default=str)
    return bool(st.session_state.setdefault(_BEGAN, asked) == asked)


def anew(table: dp.Table, also: Callable[[], None]) -> None:
    """A button below an answer that empties the form, and what `also` empties."""
    st.button(say("ask.anew"), key="ask-anew", on_click=_cleared, args=(table, also))


def _cleared(table: dp.Table, also: Callable[[], None]) -> None:
    also()
    fields.forget_pickers()
    st.session_state.pop(STATE, None)
    for name in set(st.query_params) - {IN_ADDRESS}:
        del st.query_params[name]
    st.query_params["table"] = table.name


def whole(query: dp.Query) -> dict[str, Any]:
    """All form values for this question. A switch that it omits is off, not at the form's default."""
    given: dict[str, Any] = query.with_noise("").parameters()
    rows = query.facts.unit.id_column is not None
    switches = [parameter for parameter in query.card.parameters if parameter.default is True]
    off = [switch.name for switch in switches if rows or switch.kind != "people"]
    return dict.fromkeys(off, False) | given


def _read(arriving: dict[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, text in arriving.items():
        if name == "q":
            continue
        if name in _JSON:
            try:
                given[name] = read_strict(text)
            except ValueError:
                continue
        else:
            given[name] = conditions.read_groups(text) if name in ("by", "column") else text
    return given


def of_link(table: dp.Table, link: dict[str, str]) -> dp.Query | None:
    """The question in a link to this form; None if it cannot be asked."""
    if link.get("q") not in ORDER:
        return None
    try:
        return table.query(link["q"], **USUAL | _read(link) | {"noise": ""})
    except dp.AllowanceError:
        return None


def remember(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    """Writes the form to the URL, so that every view can be sent as a link."""
    url = {"q": key} | job.as_texts({name: value for name, value in given.items() if value not in (None, [])})
    st.session_state[STATE] = {"table": table.name, "url": url, "given": given, "q": key}
    wanted = {"table": table.name} | url
    answer = st.query_params.get("answer")
    if answer:
        wanted["answer"] = answer
    # A link to this very page leaves the browser's address as it was.
    arrived = bool(st.session_state.pop(fields.ARRIVED, False))
    if arrived and fields.turn_picker() and not answer:  # a page that is opened begins at its top
        scroll.top()  # it may have been tapped far below
    address(wanted, again=arrived)


def choices(table: dp.Table, key: str) -> list[str]:
    """The declared columns that suit a question. A question without a column needs one for its condition."""
    kinds: dict[str, tuple[type[Column], ...]] = {
        "column.number": (Number,),
        "column.ordered": (Number, dp.Date),
        "column.category": (Category,),
        "column.listed": (Category, ItemSet),
        "column.any": (Number, Category, ItemSet, dp.Date),
    }
    for parameter in dp.catalogue[key].card.parameters:
        if parameter.kind in kinds:
            return parameter.fitting(table.schema.of_kind(*kinds[parameter.kind]), table.schema)
        if parameter.kind in ("columns.curve", "columns.number"):
            return table.schema.of_kind(Number)
        if parameter.kind == "columns":
            return table.schema.of_kind(Category)
    return list(table.schema.columns)


def offered(table: dp.Table, key: str) -> list[str]:
    """A picker's options: the same columns, and grouped columns where a list is asked for."""
    kinds = {parameter.kind for parameter in dp.catalogue[key].card.parameters}
    columns = choices(table, key)
    if kinds & {"column.listed", "column.category", "columns"}:
        columns = columns + conditions.group_options(table.schema)
    elif "column.any" in kinds:  # a number has bars of its own
        columns = columns + conditions.group_options(table.schema, numbers=False)
    return columns if not kinds & {"columns", "columns.number"} or len(columns) > 1 else []


def sentence(table: dp.Table) -> tuple[str, dict[str, Any]]:
    """“The [median] of [income] for [everyone]”, and below it the other parameters of the card."""
    kept = state(table)
    given = kept["given"]
    keys = [key for key in ORDER if offered(table, key)]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        fields.word(say("form.the"))
        key = fields.pick("form.kind", keys, kept["q"], lambda question: dp.catalogue[question].card.noun, "ask-kind")
        if key != kept["q"] and given.get("where") and given["where"] == st.session_state.get(_MADE_UP):
            given = {name: value for name, value in given.items() if name != "where"}
        chosen: dict[str, Any] = {}
        column, instead, columns = "", "", list[str]()
        parameters = {parameter.name: parameter for parameter in dp.catalogue[key].card.parameters}
        if "column" in parameters:
            fields.word(parameters["column"].around("form.of"))
            columns = offered(table, key)
            now = conditions.group_option(given.get("column"))
            instead, now = now, now if now in columns else columns[0]
            column = fields.pick("form.column", columns, now, conditions.group_words, f"ask-column-{key}")
        choice, known = "everyone", False
        counts = {name: _on(switch, given, key) for name, switch in parameters.items() if switch.kind == "people"}
        rows = ".rows" if dp.catalogue[key].rows_in_form(table.facts, given | {"column": column} | counts) else ""
        if "where" in parameters:
            people = parameters["where"]
            fields.word(people.around("form.for"))
            known = dp.catalogue[key].known_of_everyone(table.facts) and not given.get("by")

            def words(who: str) -> str:
                return say(f"form.who.{who}{rows}") if rows else people.around(f"form.who.{who}")

            now = "some" if given.get("where") or known else "everyone"
            choice = fields.pick(f"form.who{rows}", ["everyone", "some"], now, words, f"ask-who-{key}")
        groups = table.schema.of_kind(Category) + conditions.group_options(table.schema)
        by = ""
        if "by" in parameters and groups:
            fields.word(say("form.by"))
            now = conditions.group_option(given.get("by"))
            now = now if now in groups else ""
            by = fields.pick("form.by_label", ["", *groups], now, _by_words, f"ask-by-{key}")
    if instead not in columns and instead in (*table.schema.columns, *conditions.group_options(table.schema)):
        note = say("form.other_column", before=conditions.group_words(instead), now=conditions.group_words(column))
        paragraph(note, role="status")
    below = st.container()  # what is said stands below: the sentence never moves away from the pointer
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
    if choice == "some":
        if "of" in parameters or "options" in parameters:
            st.html(f'<p class="muted">{say(f"form.where_title{rows}")}</p>')
        chosen["where"] = conditions.conditions(table, given.get("where") or [], "where")
        if known and not given.get("where"):
            st.session_state[_MADE_UP] = chosen["where"]
    with below:
        asked, where = [key, chosen.get("column")], chosen.get("where") or []
        if _came_along("where", where, asked):
            with suppress(dp.AllowanceError):  # not complete yet, which the form says
                people_words = who(read_predicate(where, table.schema), rows=table.facts.said_rows if rows else None)
                still = say("form.still", who=people_words)
                _offer_without("where", "ask-still", still, say(f"form.still_drop{rows}"))
        if _came_along("by", chosen.get("by"), asked):
            still = say("form.still_by", group=_by_words(by))
            _offer_without("by", "ask-still-by", still, say("form.still_by_drop"))
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


def _without(part: str) -> None:
    """Ask about everyone again, or without groups."""
    st.session_state[STATE]["given"].pop(part, None)
    fields.forget_pickers()


def _by_words(option: str) -> str:
    return conditions.group_words(option) if option else say("form.by_none")


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
    """Is this switch on? It is drawn further down."""
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
    """“25; 50; 75” in percent, as the engine takes them."""
    shares = [share if isinstance(share, Unread) else text_of(Fraction(share) / 100) for share in typed]
    return shares[0] if len(shares) == 1 else shares
