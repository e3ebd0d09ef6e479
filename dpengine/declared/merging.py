"""Merged values of a list, as picked in a first look or by a lookup: fewer bars, each more exact.

A person merges values of the declared list, so a group is a public function of a row's code, and every row is in
exactly one.

A lookup is a public table joined to a list, such as districts and their regions: every line names a declared value and
its group. Whatever counts by the list can count by the groups, with the sensitivity of a list of as many values
(`grouped`). Nothing of it comes from the rows: values of the lookup that are not declared are left out, declared ones
that it does not name stay by themselves.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical
from dpengine.core.types import Json
from dpengine.declared.grouped import MERGED, Grouped
from dpengine.declared.schema import LONGEST_VALUE, Category, Schema
from dpengine.declared.spelling import normal, visible

MOST_MERGED = 3_000  # values of a list that can be merged
MOST_LINES = 5_000  # of a lookup
_SIGNS = "\t;,"  # between two cells, the first that occurs in the first line


def read_merged(given: Json, schema: Schema) -> Grouped | None:
    """Merged values from JSON such as {"column": "town", "merged": [["the south", ["Koper", "Piran"]], …]}. None
    for any other JSON."""
    if not isinstance(given, dict) or MERGED not in given:
        return None
    name, groups = given.get("column"), given[MERGED]
    if not isinstance(name, str) or len(given) > 2 or not isinstance(groups, (list, tuple)):
        raise AllowanceError("group.unreadable")
    column = schema[name]
    if not isinstance(column, Category) or column.size > MOST_MERGED:
        raise AllowanceError("merged.column", column=name, most=MOST_MERGED)
    merged = [_read(group, column, name) for group in groups]
    group_of: dict[str, int] = {}  # a value: in which group
    for group, (_, values) in enumerate(merged):
        for value in values:
            if group_of.setdefault(value, group) != group:
                raise AllowanceError("merged.twice", column=name, value=value)
    labels: list[str] = []
    places: list[int] = []
    first: dict[int, int] = {}  # a group: its place among the labels
    for label in column.labels:
        group = group_of.get(label, -1)
        if group in first:
            places.append(first[group])
            continue
        places.append(len(labels))
        labels.append(label if group < 0 else merged[group][0])
        first |= {group: len(labels) - 1} if group >= 0 else {}
    if not merged or len(labels) < 2:
        raise AllowanceError("group.one", column=name)
    if len({normal(label) for label in labels}) != len(labels):
        raise AllowanceError("merged.name", column=name, most=LONGEST_VALUE)
    starts = [code for code in range(column.size) if not code or places[code] != places[code - 1]]
    rule = (MERGED, tuple(canonical([called, values]) for called, values in merged))
    return Grouped(name, rule, tuple(labels), tuple(starts), tuple(places[code] for code in starts))


def _read(group: Json, column: Category, name: str) -> tuple[str, list[str]]:
    """The name and the values of one group. Without a name it is named after its values."""
    if not isinstance(group, (list, tuple)) or len(group) != 2 or not isinstance(group[1], (list, tuple)):
        raise AllowanceError("group.unreadable")
    known = {normal(label): label for label in column.labels}
    values = [known.get(normal(str(value)), "") for value in group[1]]
    if not values or "" in values:
        raise AllowanceError("merged.values", column=name)
    called = " ".join(str(group[0] or "").split()) or ", ".join(values)
    if len(called) > LONGEST_VALUE or not visible(called):
        raise AllowanceError("merged.name", column=name, most=LONGEST_VALUE)
    return called, values


@dataclass(frozen=True)
class Lookup:
    groups: tuple[tuple[str, tuple[str, ...]], ...]  # in the order in which the lookup first names them
    strange: int  # lines with an undeclared value, among them the line of names
    alone: tuple[str, ...]  # declared values that it does not name

    def as_json(self) -> list[list[object]]:
        """The lookup as groups of a column: {"column": …, "merged": this}."""
        return [[name, list(values)] for name, values in self.groups]


def read_lookup(text: str, column: Category) -> Lookup:
    lines = [line for line in text.replace("\ufeff", "").splitlines() if line.strip()]
    if not lines or len(lines) > MOST_LINES:
        raise AllowanceError("lookup.lines", most=MOST_LINES)
    sign = next((mark for mark in _SIGNS if mark in lines[0]), "")
    if not sign:
        raise AllowanceError("lookup.columns")
    places, group_of, strange = column.spelled(), dict[str, str](), 0
    for cells in csv.reader(lines, delimiter=sign):
        code = places.get(normal(cells[0])) if len(cells) > 1 and cells[1].strip() else None
        if code is None:
            strange += 1
            continue
        value, group = column.labels[code], cells[1].strip()
        if group_of.setdefault(value, group) != group:
            raise AllowanceError("lookup.twice", value=value)
    if not group_of:
        raise AllowanceError("lookup.none")
    alone = tuple(label for label in column.labels if label not in group_of)
    return Lookup(_grouped(group_of, column.labels), strange, alone)


def _grouped(group_of: dict[str, str], labels: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    values_of: dict[str, list[str]] = {}
    for value, group in group_of.items():
        values_of.setdefault(group, []).append(value)
    rank = {label: place for place, label in enumerate(labels)}
    return tuple((group, tuple(sorted(values, key=rank.__getitem__))) for group, values in values_of.items())
