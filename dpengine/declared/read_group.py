"""Groups of a declared column from the JSON of a form: {"column": "visited", "by": "month"}, {"column": "age", "step":
10} or {"column": "age", "edges": [18, 65]}; or merged values of a list (`merging`). Everything follows from the
declaration."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, floor, read_number, text_of
from dpengine.core.remembered import remembered
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import OF_DAYS, WEEK, Grouped, Ref
from dpengine.declared.merging import read_merged
from dpengine.declared.schema import Number, Schema
from dpengine.messages import say
from dpengine.messages.language import stored

MOST_GROUPS = 400
MOST_RUNS = 3_000  # of codes: each is a comparison in the statement that is read


def read_ref(given: Json, schema: Schema) -> Ref:
    """A column's name, or a grouped column, from JSON."""
    if isinstance(given, Grouped):
        return given
    return read_group(given, schema) if isinstance(given, dict) else str(given)


def read_group(given: Json, schema: Schema) -> Grouped:
    if not isinstance(given, dict) or not isinstance(given.get("column"), str):
        raise AllowanceError("group.unreadable")
    name, rest = given["column"], {key: part for key, part in given.items() if key != "column"}
    if (merged := read_merged(given, schema)) is not None:
        return merged
    column = schema[name]
    if isinstance(column, Date) and list(rest) == ["by"]:
        if rest["by"] not in OF_DAYS:
            raise AllowanceError("group.of_days", column=name, rules=OF_DAYS)
        return _of_days(name, column, str(rest["by"]))
    if isinstance(column, Number) and list(rest) in (["step"], ["edges"]):
        (rule,) = rest
        if rule == "step":
            return _of_steps(name, column, rest[rule])
        return _of_edges(name, column, tuple(rest[rule]) if isinstance(rest[rule], list | tuple) else (rest[rule],))
    raise AllowanceError("group.kind", column=name)


_COARSER = {"month": ("quarter", "year"), "quarter": ("year",)}


def coarser(group: Grouped, schema: Schema) -> list[JsonObject]:
    """Ways to put the same column in fewer groups (at least two), as JSON."""
    column = schema[group.column]
    options: list[JsonObject] = [{"column": group.column, "by": rule} for rule in _COARSER.get(group.rule, ())]
    if group.rule == "step" and isinstance(column, Number):
        step = Fraction(group.by[1][0])
        options = [{"column": group.column, "step": text_of(step * times)} for times in (2, 5, 10)]
    kept = []
    for given in options:
        try:
            if 1 < read_group(given, schema).size < group.size:
                kept.append(given)
        except AllowanceError:  # all of it in one group
            continue
    return kept


def _of_days(name: str, column: Date, rule: str) -> Grouped:
    if rule == "weekday":
        with stored():
            labels = tuple(say(f"weekday.{place + 1}") for place in range(WEEK))
        return Grouped(name, rule, labels, monday=-column.first.weekday() % WEEK)
    named: dict[str, Callable[[date], str]] = {
        "month": lambda day: f"{day.year:04}-{day.month:02}",
        "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": lambda day: f"{day.year:04}",
        "month_of_year": lambda day: f"{day.year:04}-{day.month:02}",
    }
    starts: list[int] = []
    labels_of: list[str] = []
    months: list[int] = []
    day = column.first
    while True:  # the first day of each month after the first
        label = named[rule](day)
        if not labels_of or labels_of[-1] != label:
            starts.append((day - column.first).days)
            labels_of.append(label)
            months.append(day.month - 1)
            if len(starts) > (MOST_RUNS if rule == "month_of_year" else MOST_GROUPS):
                raise AllowanceError("group.many", most=MOST_GROUPS, column=name)
        if (day.year, day.month) == (date.max.year, date.max.month):
            break
        day = (day.replace(day=1) + timedelta(days=31)).replace(day=1)
        if day > column.last:
            break
    if rule == "month_of_year":
        with stored():
            labels = tuple(say(f"month.{place + 1}") for place in range(12))
        return Grouped(name, rule, labels, tuple(starts), tuple(months))
    return Grouped(name, rule, tuple(labels_of), tuple(starts), tuple(range(len(starts))))


def _of_steps(name: str, column: Number, step: Json) -> Grouped:
    """Groups that begin at multiples of the step: by tens, 30–39 is one group wherever the range begins."""
    wide = read_number(step, say("group.step"))
    if wide <= 0:
        raise AllowanceError("group.step_positive", column=name)
    first, last = floor(column.lower / wide), floor(column.upper / wide)
    if last - first >= MOST_GROUPS:
        raise AllowanceError("group.many", most=MOST_GROUPS, column=name)
    edges = [wide * place for place in range(first + 1, last + 1)]
    codes = [ceiling(column.place(edge)) for edge in edges]
    return _between(name, column, ("step", (text_of(wide),)), codes)


@remembered(1000)  # a form reads those of every column at every price
def _of_edges(name: str, column: Number, edges: tuple[Json, ...]) -> Grouped:
    """Groups that begin at each edge, and one more below the first edge."""
    numbers = [read_number(edge, say("group.edges")) for edge in edges]
    if not numbers or any(b <= a for a, b in pairwise(numbers)):
        raise AllowanceError("group.rising", column=name)
    if numbers[0] < column.lower or numbers[-1] > column.upper:
        raise AllowanceError("bins.outside", lower=column.value(0), upper=column.value(column.size - 1))
    if len(numbers) >= MOST_GROUPS:
        raise AllowanceError("group.many", most=MOST_GROUPS, column=name)
    codes = [ceiling(column.place(edge)) for edge in numbers]
    return _between(name, column, ("edges", tuple(map(text_of, numbers))), codes)


def _between(name: str, column: Number, rule: tuple[str, tuple[str, ...]], codes: list[int]) -> Grouped:
    starts = sorted({0} | {code for code in codes if 0 < code < column.size})
    if len(starts) < 2:
        raise AllowanceError("group.one", column=name)
    ends = [*starts[1:], column.size]
    labels = tuple(_span(column.text(a), column.text(b - 1)) for a, b in zip(starts, ends, strict=True))
    return Grouped(name, rule, labels, tuple(starts), tuple(range(len(starts))))


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"
