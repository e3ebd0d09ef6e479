"""Pickers for conditions, shares, and groups. Only declared values are offered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.exact import decade, floor, one_two_five, read_number, text_of
from dpengine.core.strict_json import read_strict
from dpengine.declared.conditions import FIT_OP, excludes_nothing, read_predicate
from dpengine.declared.grouped import OF_DAYS
from dpengine.declared.read_group import read_group
from dpengine.messages import called, say
from ui.parts import fields
from ui.shell.frame import hint
from ui.shell.language import day_format

# Columns and grouped columns, as pickers offer them: days by month, quarter, year or weekday, numbers in steps or
# between edges. An *option* is a picker's text for one of them: a column's name, or the
# JSON of a column and its rule (`option_of` a parameter). The step or edges of a number are no part of it; they are
# asked for once it is picked, and complete the question's parameter (`parameter_of` an option).

USUAL_GROUPS = 15  # that a first step makes at most
_STEP_OR_EDGES = ("step", "edges")


def group_options(schema: dp.Schema, numbers: bool = True) -> list[str]:
    """The columns that can be grouped, as picker options. For a number, the step is asked for after the column is
    picked."""
    found = [
        _text({"column": name, "by": rule}) for name in schema.of_kind(dp.Date) for rule in group_rules(schema, name)
    ]
    return found + ([_text({"column": name}) for name in schema.of_kind(dp.Number)] if numbers else [])


def group_rules(schema: dp.Schema, name: str) -> list[str]:
    """The rules that group this column of days into at least two groups, and at most as many as the engine takes."""
    found = []
    for rule in OF_DAYS:
        try:
            if read_group({"column": name, "by": rule}, schema).size > 1:
                found.append(rule)
        except dp.AllowanceError:
            continue
    return found


def option_words(option: str) -> str:
    """A picker's option as a person reads it."""
    given = read_groups(option)
    if not isinstance(given, dict):
        return called(option)
    return say(f"group.of.{given.get('by', 'number')}", column=given["column"], figures="")


def read_groups(text: str) -> Any:
    """The groups that an address or an option describes; a column's name stays as it is."""
    if not text.startswith("{"):
        return text
    found = _groups_in(text)
    return text if found is None else dict(found)


@lru_cache(maxsize=1024)
def _groups_in(text: str) -> dict[str, Any] | None:
    """The groups in a JSON text; None if it holds none. Kept, since a picker reads all its options at every click."""
    try:
        found = read_strict(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("column"), str) else None


def option_of(given: Any) -> str:
    """The picker's option for a question's column or groups, without their step or edges."""
    if not isinstance(given, dict):
        return str(given or "")
    return _text({name: part for name, part in given.items() if name not in _STEP_OR_EDGES})


def parameter_of(schema: dp.Schema, option: str, given: Any, key: str) -> Any:
    """The parameter for a picked option. For a number this draws a field for the step or the edges, and adds what was
    typed."""
    wanted = read_groups(option)
    if not isinstance(wanted, dict) or "by" in wanted:
        return wanted
    now = given if option_of(given) == option and isinstance(given, dict) else {}
    column = schema.number(wanted["column"])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = {how: say(f"group.how.{how}", column=wanted["column"]) for how in _STEP_OR_EDGES}
        first = "edges" if "edges" in now else "step"
        rule = fields.pick("group.how", list(words), first, words.__getitem__, f"{key}-how")
        label, field = say(f"group.{rule}_field"), f"{key}-{rule}{fields.key_end()}"
        if rule == "step":
            step = written(now.get("step")) or text_of(usual_step(column))
            return wanted | {"step": fields.number_field(label, step, field, width=200)}
        kept = now.get("edges")
        edges = [written(edge) for edge in kept] if isinstance(kept, list) else _usual_edges(column)
        return wanted | {"edges": fields.number_fields(label, edges, field, width=320)}


def usual_step(column: dp.Number) -> Fraction:
    """A round step (1, 2 or 5 with zeros) that divides the column into a few groups: tens for ages."""
    power = decade(column.upper - column.lower)
    for step in one_two_five(power / 10, power):
        if step >= column.step and floor(column.upper / step) - floor(column.lower / step) < USUAL_GROUPS:
            return step
    return max(power, column.step)


def _usual_edges(column: dp.Number) -> list[str]:
    step = usual_step(column)
    first = floor(column.lower / step) + 1
    middle = step * max(first, floor((column.lower + column.upper) / 2 / step))
    return [text_of(middle)]


def written(figure: Any) -> str:
    try:
        return text_of(read_number(figure, ""))
    except dp.AllowanceError:
        return "" if figure is None else str(figure)


def _text(given: dict[str, Any]) -> str:
    return json.dumps(given, ensure_ascii=False)


MOST_CONDITIONS = 5
MOST_GROUPS = 8
MOST_PICKED = 1_000  # values offered in a picker


@dataclass(frozen=True)
class Lists:
    """Some columns of a table in place of the table, for conditions on these columns alone."""

    name: str
    schema: dp.Schema


def conditions(table: dp.Table | Lists, rows: list[Any], kind: str) -> list[Any]:
    """Draw “Only people where …”: lines that must all hold and, under *more*, lines of which one must. Returns the
    conditions, with declared values only."""
    rows = rows if isinstance(rows, list) else []
    simple = [row for row in rows if _simple(row)][:MOST_CONDITIONS]
    either = [row[1] for row in rows if isinstance(row, list) and len(row) == 2 and row[0] == "any"]
    drawn = [row for row in either[0] if _simple(row)] if either and isinstance(either[0], list) else []
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
                st.button(say("form.add"), key=f"ask-more-{kind}", on_click=more_lines, args=(counter, 1))
            if count > least:
                st.button(say("form.remove"), key=f"ask-less-{kind}", on_click=more_lines, args=(counter, -1))
        alternatives = _either(table, drawn, kind, other)
        rows = built + ([["any", alternatives]] if alternatives else [])
        _idle(table.schema, rows)
    return rows


def _idle(schema: dp.Schema, rows: list[Any]) -> None:
    """Say which conditions exclude nobody, before anything is paid."""
    for row in rows:
        try:
            read = read_predicate([row], schema)
        except dp.AllowanceError:  # the price says so
            continue
        if any(excludes_nothing(clause, schema) for clause in read.clauses):
            names = sorted(read.columns())
            listed = all(isinstance(schema[name], dp.Category) for name in names)
            hint(say("form.where_all_listed" if listed else "form.where_all", column=names))


def _simple(row: Any) -> bool:
    """Can one line of pickers draw this condition? For a condition on groups, only if they are groups of days."""
    if not isinstance(row, list) or len(row) != 3:
        return False
    return isinstance(row[0], str) or (isinstance(row[0], dict) and "by" in row[0] and row[1] in ("in", "="))


def _lines(table: dp.Table | Lists, rows: list[Any], kind: str, count: int) -> list[Any]:
    """Draw the lines, and return their conditions. A line with nothing picked is a condition too, and the engine
    refuses it: without it, the answer would be about more people than the page seems to say."""
    known = [rows[place] if place < len(rows) else None for place in range(count)]
    return [_condition(table, row, f"{kind}-{place}{fields.key_end()}") for place, row in enumerate(known)]


def _either(table: dp.Table | Lists, rows: list[Any], kind: str, counter: str) -> list[Any]:
    count = st.session_state[counter]
    with st.expander(say("form.either"), expanded=count > 0):
        st.html(f'<p class="muted">{say("form.either_lead")}</p>')
        built = _lines(table, rows, f"{kind}-or", count)
        with st.container(horizontal=True):
            if count < MOST_CONDITIONS:
                label = say("form.either_add" if count else "form.either_start")
                st.button(label, key=f"ask-or-{kind}", on_click=more_lines, args=(counter, 1 if count else 2))
            if count:
                gone = -1 if count > 2 else -count
                st.button(say("form.remove"), key=f"ask-or-less-{kind}", on_click=more_lines, args=(counter, gone))
    return built


def compare(table: dp.Table, given: Any, rows: str = "") -> list[Any]:
    """Draw groups of people or rows to compare, each with conditions of its own, or number columns whose averages are
    compared. Returns the groups or columns. `rows` ends the keys of messages about rows."""
    columns = table.schema.of_kind(dp.Number)
    if len(columns) > 1:
        averages = isinstance(given, list) and any(isinstance(option, dict) for option in given)
        words = {"groups": say(f"form.compare.groups{rows}"), "averages": say("form.compare.averages")}
        key, now = f"ask-compare-{table.name}", "averages" if averages else "groups"
        if fields.choose("form.compare", list(words), now, key, format_func=words.__getitem__) == "averages":
            return _averages(columns, given if averages else [], table.name)
    known = [group for group in given if isinstance(group, list)] if isinstance(given, list) else []
    counter = f"ask-options-{table.name}"
    count = st.session_state.setdefault(counter, min(max(len(known), 2), MOST_GROUPS))
    built = []
    for place in range(count):
        st.html(f'<p class="muted">{say(f"form.option{rows}", number=place + 1)}</p>')
        built.append(conditions(table, known[place] if place < len(known) else [], f"option{place}"))
    with st.container(horizontal=True):
        if count < MOST_GROUPS:
            st.button(say("form.option_add"), key="ask-more-options", on_click=more_lines, args=(counter, 1))
        if count > 2:
            st.button(say("form.option_remove"), key="ask-less-options", on_click=more_lines, args=(counter, -1))
    return [group for group in built if group]


def _averages(columns: list[str], given: list[Any], name: str) -> list[Any]:
    asked = [column.get("mean") for column in given if isinstance(column, dict)]
    now = [column for column in asked if column in columns] or columns[:2]
    chosen = st.multiselect(say("form.compare.columns"), columns, now, called, key=f"ask-averages-{name}")
    st.html(f'<p class="muted">{say("form.compare.help")}</p>')
    return [{"mean": column} for column in chosen]


def more_lines(counter: str, step: int) -> None:
    st.session_state[counter] += step


def _condition(table: dp.Table | Lists, row: list[Any] | None, place: str) -> list[Any]:
    columns = list(table.schema.columns)
    left, middle, right = st.columns([2, 2, 4], vertical_alignment="bottom")
    on, rule = (row[0].get("column"), row[0]["by"]) if row and isinstance(row[0], dict) else (row and row[0], "")
    start = columns.index(on) if on in columns else None
    if start is None:
        start = next((at for at, name in enumerate(columns) if isinstance(table.schema[name], dp.Category)), 0)
    name = str(left.selectbox(say("form.where_column"), columns, start, called, f"where-column-{place}"))
    column = table.schema[name]
    same = row is not None and on == name
    fitting = [FIT_OP] if same and row and row[1] == FIT_OP else []  # it came with a link: nothing more is picked
    if isinstance(column, dp.Category | dp.ItemSet):
        ops = [*(["in", "not in"] if isinstance(column, dp.Category) else ["has", "has none of"]), *fitting]
        op = _operation(middle, ops, row[1] if same and row else "", f"where-op-{name}-{place}")
        chosen = row[2] if same and row else []
        if op == FIT_OP:
            return [name, op, chosen]
        chosen = [value for value in (chosen if isinstance(chosen, list) else [chosen]) if value in column.labels]
        values = _values(column, chosen, f"where-values-{name}-{place}", right)
        return [name, op, values]
    before = (rule or row[1]) if same and row else ""
    ops = ["between", ">=", "<=", *(op for op in ("<", ">", "=") if isinstance(column, dp.Number) or op == before)]
    ops += [*(group_rules(table.schema, name) if isinstance(column, dp.Date) else []), *fitting]
    op = _operation(middle, ops, before, f"where-op-{name}-{place}")
    now = row[2] if same and row and before == op else None
    if op == FIT_OP:
        return [name, op, now]
    if op in OF_DAYS:
        return _in_groups(table.schema, {"column": name, "by": op}, now, f"where-groups-{op}-{name}-{place}", right)
    pick = _dates if isinstance(column, dp.Date) else _numbers
    return [name, op, pick(column, op, now, name, place, right)]  # type: ignore[arg-type]


def _operation(where: Any, ops: list[str], now: str, key: str) -> str:
    at = ops.index(now) if now in ops else 0
    return str(where.selectbox(say("form.where_op"), ops, at, lambda op: say(f"form.op.{op}"), key))


def _in_groups(schema: dp.Schema, given: dict[str, str], now: Any, key: str, where: Any) -> list[Any]:
    group = read_group(given, schema)
    names = group.shown()
    named = [label for label in (now if isinstance(now, list) else [now]) if label in names]
    picked = where.multiselect(say("form.where_values"), list(names), named, names.__getitem__, key=key)
    return [given, "in", picked]


def _values(column: dp.Category | dp.ItemSet, chosen: list[str], key: str, where: Any) -> list[str]:
    """Draw a picker of values, or a text field if the list is too long for a browser. Returns the values."""
    if column.size <= MOST_PICKED:
        return list(where.multiselect(say("form.where_values"), list(column.labels), chosen, called, key=key))
    text = where.text_input(say("form.typed_values"), "; ".join(chosen), key=key)
    return [part.strip() for part in text.split(";") if part.strip()]


def _dates(column: dp.Date, op: str, now: Any, name: str, place: str, where: Any) -> Any:
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
            side.date_input(say(label), inside(end, usual), first, last, f"where-{label}-{at}", format=day_format())
            for side, label, end, usual in zip(places, ("form.from", "form.to"), ends, (first, last), strict=True)
        ]
        return [day.isoformat() for day in picked]
    key = f"where-date-{op}-{name}-{place}"
    return where.date_input(say("form.value"), inside(now, first), first, last, key, format=day_format()).isoformat()


def _numbers(column: dp.Number, op: str, now: Any, name: str, place: str, where: Any) -> Any:
    whole = column.step.denominator == 1 and column.lower.denominator == 1
    whole = whole and max(abs(column.lower), abs(column.upper)) < 2**53  # a browser counts no further
    kind: type[int] | type[float] = int if whole else float  # a whole number is not shown as 65.00
    bounds = (kind(column.lower), kind(column.upper), kind(column.step))

    def picked(at: Any, label: str, value: Any, part: str) -> int | float:
        key = f"where-{part}-{name}-{place}"
        return _plain(at.number_input(say(label), *bounds[:2], _inside(value, bounds), bounds[2], key=key))

    if op == "between":
        low, high = where.columns(2)
        ends = now if isinstance(now, list) and len(now) == 2 else bounds[:2]
        return [picked(low, "form.from", ends[0], "low"), picked(high, "form.to", ends[1], "high")]
    return picked(where, "form.value", now if now is not None else (bounds[0] + bounds[1]) / 2, f"value-{op}")


def _inside(value: Any, bounds: tuple[float, float, float]) -> float:
    try:
        return type(bounds[0])(min(max(float(value), bounds[0]), bounds[1]))
    except (TypeError, ValueError, OverflowError):
        return bounds[0]


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() else float(value)
