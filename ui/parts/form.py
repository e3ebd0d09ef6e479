"""The question as a sentence of pickers, drawn from the card and the schema. Its state lives in the URL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import Unread, read_number, text_of
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Column, ItemSet, Number
from dpengine.mechanisms.card import Parameter
from dpengine.messages import say
from ui.parts import density, number_field
from ui.shell.language import IN_ADDRESS, address, day_format

STATE = "ask"
_BESIDE = ("table", "answer", IN_ADDRESS)  # in the address too, and no part of the question
_ROUND = "form-round"
_ARRIVED = "form-arrived"
ORDER = (
    "median",
    "mean",
    "count",
    "proportion",
    "histogram",
    "top_item",
    "sum",
    "quantile",
    "variance",
    "crosstab",
    "noisy_argmax",
    "density",
    "cdf_tree",
    "cdf",
    "fit_check",
)
_JSON = ("where", "of", "bins", "with_range", "people", "columns", "how_many", "options", "bandwidth")
MOST_CONDITIONS = 5
MOST_GROUPS = 8
MOST_PICKED = 1_000  # values offered in a picker
USUAL = {"epsilon": "0.1"}


@dataclass(frozen=True)
class Lists:
    """Some columns of a table, for conditions on them alone."""

    name: str
    schema: dp.Schema


def state(table: dp.Table) -> dict[str, Any]:
    """What is being asked: from the URL on arrival, else as it was left, else the first thing this table can answer."""
    arriving = {name: st.query_params[name] for name in st.query_params if name not in _BESIDE}
    kept = st.session_state.get(STATE)
    if kept is None or kept["table"] != table.name or (arriving and arriving.get("q") and arriving != kept["url"]):
        forget_pickers()
        kept = {"table": table.name, "url": arriving, "given": _read(arriving), "q": arriving.get("q")}
        st.session_state[STATE] = kept
    if kept["q"] not in ORDER or not choices(table, kept["q"]):
        first = next(iter(table.suggestions()), None)
        if first is not None and first.card.key in ORDER:
            kept["q"], kept["given"] = first.card.key, first.parameters() | kept["given"]
        else:
            kept["q"] = next(key for key in ORDER if choices(table, key))
    return dict(kept)


def forget_pickers() -> None:
    """A question that arrives by a link replaces what the pickers held: new ones take the place of the old, because a
    browser would go on showing what it has."""
    st.session_state[_ROUND] = st.session_state.get(_ROUND, -1) + 1
    st.session_state[_ARRIVED] = True
    for key in [key for key in st.session_state if str(key).startswith(("ask-", "where-"))]:
        if not str(key).startswith("ask-table"):
            del st.session_state[key]


def _round() -> str:
    return f"-{st.session_state[_ROUND]}" if st.session_state.get(_ROUND) else ""


def _read(arriving: dict[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, text in arriving.items():
        if name == "q":
            continue
        if name in _JSON:
            try:
                given[name] = json.loads(text)
            except ValueError:
                continue
        else:
            given[name] = text
    return given


def remember(table: dp.Table, key: str, given: dict[str, Any]) -> None:
    """The URL says what the form says, so that every view can be sent to somebody."""
    told = {"q": key} | {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in given.items()
        if value not in (None, [])
    }
    st.session_state[STATE] = {"table": table.name, "url": told, "given": given, "q": key}
    wanted = {"table": table.name} | told
    answer = st.query_params.get("answer")
    if answer:
        wanted["answer"] = answer
    arrived = st.session_state.pop(_ARRIVED, False)  # a link to this very page leaves the browser's address as it was
    address(wanted, again=arrived)


def choices(table: dp.Table, key: str) -> list[str]:
    """The declared columns a question can be about; a question without a column needs one to set a condition on."""
    kinds: dict[str, tuple[type[Column], ...]] = {
        "column.number": (Number,),
        "column.ordered": (Number, dp.Date),
        "column.category": (Category,),
        "column.listed": (Category, ItemSet),
        "column.any": (Number, Category, ItemSet, dp.Date),
    }
    for parameter in dp.catalogue[key].card.parameters:
        if parameter.kind in kinds:
            return table.schema.of_kind(*kinds[parameter.kind])
        if parameter.kind == "columns.curve":
            return table.schema.of_kind(Number)
        if parameter.kind == "columns":
            lists = table.schema.of_kind(Category)
            return lists if len(lists) > 1 else []
    return list(table.schema.columns)


def sentence(table: dp.Table) -> tuple[str, dict[str, Any]]:
    """“The [median] of [income] for [everyone]”, and below it whatever else the card asks for."""
    kept = state(table)
    given = kept["given"]
    keys = [key for key in ORDER if choices(table, key)]
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(say("form.the"), width="content")
        key = picker("form.kind", keys, kept["q"], lambda one: say(f"form.kind.{one}"), "ask-kind")
        chosen: dict[str, Any] = {}
        parameters = {parameter.name: parameter for parameter in dp.catalogue[key].card.parameters}
        if "column" in parameters:
            st.markdown(say(f"form.of.{key}"), width="content")
            columns = choices(table, key)
            now = given.get("column") if given.get("column") in columns else columns[0]
            chosen["column"] = picker("form.column", columns, now, str, f"ask-column-{key}")
        choice = "everyone"
        if "where" in parameters:
            st.markdown(say("form.for.count" if key == "count" else "form.for"), width="content")
            counted = key == "count" and table.facts.people is not None and not given.get("by")
            choice = picker(
                "form.who",
                ["everyone", "some"],
                "some" if given.get("where") or counted else "everyone",
                lambda one: say(f"form.who.{one}.count" if key == "count" else f"form.who.{one}"),
                f"ask-who-{key}",
            )
        groups = table.schema.of_kind(Category)
        if "by" in parameters and groups:
            st.markdown(say("form.by"), width="content")
            now = given.get("by") if given.get("by") in groups else ""
            by = picker("form.by_label", ["", *groups], now, lambda one: one or say("form.by_none"), f"ask-by-{key}")
            if by:
                chosen["by"] = by
    if "of" in parameters:
        st.html(f'<p class="muted">{say("form.of_title")}</p>')
        chosen["of"] = conditions(table, given.get("of") or [], "of")
    if "options" in parameters:
        chosen["options"] = compare(table, given.get("options"))
    if choice == "some":
        if "of" in parameters or "options" in parameters:
            st.html(f'<p class="muted">{say("form.where_title")}</p>')
        chosen["where"] = conditions(table, given.get("where") or [], "where")
    if key == "density":
        chosen |= density.pickers(table, given, _round())
    for parameter in parameters.values():
        if parameter.kind == "people" and table.facts.unit.id_column is None:
            continue
        if parameter.kind in ("share", "bins", "switch", "number", "columns", "people", "points"):
            value = _extra(table, parameter, given, chosen, key)
            if value is not None:
                chosen[parameter.name] = value
    return key, chosen


def picker(label: str, options: list[str], now: str, words: Any, key: str) -> str:
    """A selectbox as wide as the word in it."""
    key += _round()
    shown = st.session_state.get(key, now)
    longest = len(words(shown if shown in options else now))
    picked = st.selectbox(
        say(label),
        options,
        index=options.index(now),
        format_func=words,
        key=key,
        label_visibility="collapsed",
        width=min(max(100, 64 + 13 * longest), 420),
    )
    return str(picked)


def _extra(table: dp.Table, parameter: Parameter, given: dict[str, Any], chosen: dict[str, Any], key: str) -> Any:
    widget = f"ask-{parameter.name}-{key}{_round()}"
    if parameter.kind == "share":
        typed = number_field.fields(
            parameter.label, _percents(given, parameter), widget, "%", help=parameter.help, width=260
        )
        return _shares(typed)
    if parameter.kind == "points":
        points = str(given.get(parameter.name) or "")
        return number_field.field(parameter.label, points, widget, help=parameter.help, width=260) or None
    if parameter.kind == "bins":
        if not isinstance(table.schema[chosen["column"]], Number):
            return None
        now = given.get("bins", parameter.default)
        if isinstance(now, list):
            return number_field.fields(say("form.edges"), [_edge(edge) for edge in now], f"{widget}-edges")
        count = _whole(now, 2, 100, int(parameter.default))
        return int(st.number_input(parameter.label, 2, 100, count, help=parameter.help, key=widget, width=160))
    if parameter.kind == "number":
        count = _whole(given.get(parameter.name, parameter.default), 1, 20, int(parameter.default))
        return int(st.number_input(parameter.label, 1, 20, count, help=parameter.help, key=widget, width=160))
    if parameter.kind == "columns":
        lists = table.schema.of_kind(Category)
        wanted = given.get(parameter.name)
        now = [name for name in wanted if name in lists] if isinstance(wanted, list) else lists[:2]
        return st.multiselect(parameter.label, lists, now, max_selections=3, help=parameter.help, key=widget)
    on = bool(given.get(parameter.name, parameter.default))
    return bool(st.toggle(parameter.label, on, help=parameter.help, key=widget))


def _whole(value: Any, least: int, most: int, usual: int) -> int:
    """A whole number from a link, kept inside the field."""
    try:
        return min(max(int(value), least), most)
    except (TypeError, ValueError, OverflowError):
        return usual


def _edge(edge: Any) -> str:
    try:
        return text_of(read_number(edge, ""))
    except dp.AllowanceError:
        return str(edge)


def _percents(given: dict[str, Any], parameter: Parameter) -> list[str]:
    shares = given.get("share", parameter.default)
    try:
        listed = shares if isinstance(shares, list) else json.loads(shares) if str(shares).startswith("[") else [shares]
        return [text_of(read_number(share, "") * 100) for share in listed]
    except (TypeError, ValueError, dp.AllowanceError):
        return ["90"]


def _shares(typed: list[str]) -> Any:
    """“25; 50; 75” in percent, as the engine takes them."""
    shares = [one if isinstance(one, Unread) else text_of(Fraction(one) / 100) for one in typed]
    return shares[0] if len(shares) == 1 else shares


def conditions(table: dp.Table | Lists, rows: list[Any], kind: str) -> list[Any]:
    """“Only people where …”, one line each, all of which must hold; under *more*, some of which at least one must hold.
    Only declared values are offered."""
    rows = rows if isinstance(rows, list) else []
    simple = [row for row in rows if isinstance(row, list) and len(row) == 3][:MOST_CONDITIONS]
    either = [row[1] for row in rows if isinstance(row, list) and len(row) == 2 and row[0] == "any"]
    drawn = [row for row in either[0] if isinstance(row, list) and len(row) == 3] if either else []
    whole = not either or (isinstance(either[0], list) and len(drawn) == len(either[0]) <= MOST_CONDITIONS)
    if rows and not (whole and len(simple) + len(either) == len(rows) and len(either) < 2):
        st.html(f'<p class="muted">{say("form.where_from_link")}</p>')  # the pickers cannot draw it: it stays as it is
        return rows
    counter, other = f"ask-conditions-{kind}-{table.name}", f"ask-either-{kind}-{table.name}"
    least = 0 if st.session_state.setdefault(other, len(drawn)) else 1
    count = st.session_state.setdefault(counter, max(len(simple), least))
    with st.container(key=f"card-{kind}"):
        built = _lines(table, simple, kind, count)
        with st.container(horizontal=True):
            if count < MOST_CONDITIONS:
                st.button(say("form.add"), key=f"ask-more-{kind}", on_click=_more, args=(counter, 1))
            if count > least:
                st.button(say("form.remove"), key=f"ask-less-{kind}", on_click=_more, args=(counter, -1))
        alternatives = _either(table, drawn, kind, other)
    return built + ([["any", alternatives]] if alternatives else [])


def _lines(table: dp.Table | Lists, rows: list[Any], kind: str, count: int) -> list[Any]:
    built = []
    for place in range(count):
        one = _condition(table, rows[place] if place < len(rows) else None, f"{kind}-{place}{_round()}")
        if one is not None:
            built.append(one)
    return built


def _either(table: dp.Table | Lists, rows: list[Any], kind: str, counter: str) -> list[Any]:
    count = st.session_state[counter]
    with st.expander(say("form.either"), expanded=count > 0):
        st.html(f'<p class="muted">{say("form.either_lead")}</p>')
        built = _lines(table, rows, f"{kind}-or", count)
        with st.container(horizontal=True):
            if count < MOST_CONDITIONS:
                label = say("form.either_add" if count else "form.either_start")
                st.button(label, key=f"ask-or-{kind}", on_click=_more, args=(counter, 1 if count else 2))
            if count:
                gone = -1 if count > 2 else -count
                st.button(say("form.remove"), key=f"ask-or-less-{kind}", on_click=_more, args=(counter, gone))
    return built


def compare(table: dp.Table, given: Any) -> list[Any]:
    """Groups of people to compare, each with its own conditions."""
    known = [one for one in given if isinstance(one, list)] if isinstance(given, list) else []
    counter = f"ask-options-{table.name}"
    count = st.session_state.setdefault(counter, min(max(len(known), 2), MOST_GROUPS))
    built = []
    for place in range(count):
        st.html(f'<p class="muted">{say("form.option", number=place + 1)}</p>')
        built.append(conditions(table, known[place] if place < len(known) else [], f"option{place}"))
    with st.container(horizontal=True):
        if count < MOST_GROUPS:
            st.button(say("form.option_add"), key="ask-more-options", on_click=_more, args=(counter, 1))
        if count > 2:
            st.button(say("form.option_remove"), key="ask-less-options", on_click=_more, args=(counter, -1))
    return [one for one in built if one]


def _more(counter: str, step: int) -> None:
    st.session_state[counter] += step


def _condition(table: dp.Table | Lists, row: list[Any] | None, place: str) -> list[Any] | None:
    columns = list(table.schema.columns)
    left, middle, right = st.columns([2, 2, 4], vertical_alignment="bottom")
    start = columns.index(row[0]) if row and row[0] in columns else None
    if start is None:
        start = next((at for at, name in enumerate(columns) if isinstance(table.schema[name], Category)), 0)
    name = str(left.selectbox(say("form.where_column"), columns, index=start, key=f"where-column-{place}"))
    column = table.schema[name]
    same = row is not None and row[0] == name
    if isinstance(column, Category | ItemSet):
        ops = ["in", "not in"] if isinstance(column, Category) else ["has", "has none of"]
        op = str(
            middle.selectbox(
                say("form.where_op"),
                ops,
                index=ops.index(row[1]) if same and row and row[1] in ops else 0,
                format_func=lambda one: say(f"form.op.{one}"),
                key=f"where-op-{name}-{place}",
            )
        )
        chosen = row[2] if same and row else []
        chosen = [value for value in (chosen if isinstance(chosen, list) else [chosen]) if value in column.labels]
        values = _values(column, chosen, f"where-values-{name}-{place}", right)
        return [name, op, values] if values else None
    ops = ["between", ">=", "<="]
    op = str(
        middle.selectbox(
            say("form.where_op"),
            ops,
            index=ops.index(row[1]) if same and row and row[1] in ops else 0,
            format_func=lambda one: say(f"form.op.{one}"),
            key=f"where-op-{name}-{place}",
        )
    )
    now = row[2] if same and row and row[1] == op else None
    pick = _dates if isinstance(column, Date) else _numbers
    return [name, op, pick(column, op, now, name, place, right)]  # type: ignore[arg-type]


def _values(column: Category | ItemSet, chosen: list[str], key: str, where: Any) -> list[str]:
    """Picked, or of a list too long for a browser, typed; what is not listed is left for the engine to refuse."""
    if column.size <= MOST_PICKED:
        return list(where.multiselect(say("form.where_values"), list(column.labels), chosen, key=key))
    text = where.text_input(say("form.typed_values"), "; ".join(chosen), key=key)
    return [part.strip() for part in text.split(";") if part.strip()]


def _dates(column: Date, op: str, now: Any, name: str, place: str, where: Any) -> Any:
    first, last = date.fromisoformat(column.value(0)), date.fromisoformat(column.value(column.size - 1))

    def inside(text: Any, usual: date) -> date:
        try:
            return min(max(date.fromisoformat(str(text)), first), last)
        except ValueError:
            return usual

    if op == "between":
        ends = now if isinstance(now, list) and len(now) == 2 else [None, None]
        places, at = where.columns(2), f"{name}-{place}"
        picked = [
            one.date_input(say(label), inside(end, usual), first, last, f"where-{label}-{at}", format=day_format())
            for one, label, end, usual in zip(places, ("form.from", "form.to"), ends, (first, last), strict=True)
        ]
        return [one.isoformat() for one in picked]
    key = f"where-date-{op}-{name}-{place}"
    return where.date_input(say("form.value"), inside(now, first), first, last, key, format=day_format()).isoformat()


def _numbers(column: Number, op: str, now: Any, name: str, place: str, where: Any) -> Any:
    whole = column.step.denominator == 1 and column.lower.denominator == 1
    whole = whole and max(abs(column.lower), abs(column.upper)) < 2**53  # a browser counts no further
    kind: type[int] | type[float] = int if whole else float  # a whole number is not shown as 65.00
    bounds = (kind(column.lower), kind(column.upper), kind(column.step))
    if op == "between":
        low, high = where.columns(2)
        ends = now if isinstance(now, list) and len(now) == 2 else bounds[:2]
        return [
            _plain(
                low.number_input(
                    say("form.from"), *bounds[:2], _inside(ends[0], bounds), bounds[2], key=f"where-low-{name}-{place}"
                )
            ),
            _plain(
                high.number_input(
                    say("form.to"), *bounds[:2], _inside(ends[1], bounds), bounds[2], key=f"where-high-{name}-{place}"
                )
            ),
        ]
    value = _inside(now if now is not None else (bounds[0] + bounds[1]) / 2, bounds)
    return _plain(
        where.number_input(say("form.value"), *bounds[:2], value, bounds[2], key=f"where-value-{op}-{name}-{place}")
    )


def _inside(value: Any, bounds: tuple[float, float, float]) -> float:
    try:
        return type(bounds[0])(min(max(float(value), bounds[0]), bounds[1]))
    except (TypeError, ValueError, OverflowError):
        return bounds[0]


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() else float(value)
