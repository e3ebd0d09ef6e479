"""Listed values that somebody put together, in a first look or by a declared lookup: there are fewer bars, each more
exact.

Which values belong together is decided by a person from the declared list, so a group is a public function of a row's
code like any other, and every row is in exactly one.
"""

from __future__ import annotations

from dpengine.core.canonical import canonical
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json
from dpengine.declared.grouped import MERGED, Grouped
from dpengine.declared.schema import LONGEST_VALUE, Category, Schema, normal, visible

MOST_MERGED = 3_000  # values of a list whose values can be put together


def read_merged(given: Json, schema: Schema) -> Grouped | None:
    """{"column": "town", "merged": [["the south", ["Koper", "Piran"]], …]}, and “title” where the groups have a name
    together; None where it is something else."""
    if not isinstance(given, dict) or MERGED not in given:
        return None
    name, groups, title = given.get("column"), given[MERGED], given.get("title", "")
    known = set(given) <= {"column", MERGED, "title"} and isinstance(title, str) and len(title) <= LONGEST_VALUE
    if not isinstance(name, str) or not known or not isinstance(groups, (list, tuple)):
        raise AllowanceError("group.unreadable")
    column = schema[name]
    if not isinstance(column, Category) or column.size > MOST_MERGED:
        raise AllowanceError("merged.column", column=name, most=MOST_MERGED)
    told = [_read(group, column, name) for group in groups]
    group_of: dict[str, int] = {}  # a value: in which group
    for group, (_, values) in enumerate(told):
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
        labels.append(label if group < 0 else told[group][0])
        first |= {group: len(labels) - 1} if group >= 0 else {}
    if not told or len(labels) < 2:
        raise AllowanceError("group.one", column=name)
    if len({normal(label) for label in labels}) != len(labels):
        raise AllowanceError("merged.name", column=name, most=LONGEST_VALUE)
    starts = [code for code in range(column.size) if not code or places[code] != places[code - 1]]
    rule = (MERGED, tuple(canonical([called, values]) for called, values in told))
    return Grouped(name, rule, tuple(labels), tuple(starts), tuple(places[code] for code in starts), title=title)


def _read(group: Json, column: Category, name: str) -> tuple[str, list[str]]:
    """A group's name and its values; without a name, the values are its name."""
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
