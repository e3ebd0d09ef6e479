"""A public lookup table joined to a list: districts and their regions. Every line names a declared value and its group.

The list is public and so is the lookup; a row's group is a public function of its own value, so whatever counts by the
list can count by the groups, with the sensitivity of a list of as many values (`grouped`). Nothing of it comes from the
rows: values of the lookup that are not declared are left out, declared ones that it does not name stay by themselves.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import Category, normal

MOST_LINES = 5_000
_SIGNS = "\t;,"  # between two cells, the first that occurs in the first line


@dataclass(frozen=True)
class Lookup:
    groups: tuple[tuple[str, tuple[str, ...]], ...]  # in the order in which the lookup first names them
    strange: int  # lines whose value is not declared, the line of names among them
    alone: tuple[str, ...]  # declared values that it does not name

    def as_json(self) -> list[list[object]]:
        """As a first look takes it: {"column": …, "merged": this}."""
        return [[name, list(values)] for name, values in self.groups]


def read_lookup(text: str, column: Category) -> Lookup:
    lines = [line for line in text.replace("\ufeff", "").splitlines() if line.strip()]
    if not lines or len(lines) > MOST_LINES:
        raise AllowanceError("lookup.lines", most=MOST_LINES)
    sign = next((one for one in _SIGNS if one in lines[0]), "")
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
    return Lookup(
        _grouped(group_of, column.labels), strange, tuple(one for one in column.labels if one not in group_of)
    )


def _grouped(group_of: dict[str, str], labels: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for value, group in group_of.items():
        found.setdefault(group, []).append(value)
    rank = {label: place for place, label in enumerate(labels)}
    return tuple((group, tuple(sorted(values, key=rank.__getitem__))) for group, values in found.items())
