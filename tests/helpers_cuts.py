"""Is all that a declaration cuts told by the question? Held against the statistic itself.

The same question is built on a wider declaration of the small world (`dpengine.audit.world`): longer ranges, one more
value in every list for cells outside it and one for empty cells, all rows of a person. There a table can be written as
the file has it, and as it counts. Where the two have different statistics, the cut between them must be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpengine.audit.world import HEADER, POSSIBLE_ROWS, SCHEMA
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import base
from dpengine.declared.read_group import read_ref
from dpengine.declared.schema import MISSING, Category, Column, ItemSet, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.cuts import EMPTY, FILLED, ITEMS, LOWER, OUTSIDE, UPPER
from dpengine.mechanisms.query import Query
from dpengine.statistics.counts import cut
from dpengine.statistics.marginals import axis_in
from dpengine.statistics.need import Spread

MORE = 3  # steps that a range is longer, on each side
ROWS, SET = "rows", "set"


def _wide(column: Column) -> Column:
    if isinstance(column, Category):
        values = [*column.labels, "outside the list", "an empty cell"]
        return Category(values, unknown=column.unknown, missing=column.missing)
    if isinstance(column, ItemSet):
        return ItemSet([*column.values, "outside the list"], at_most=column.at_most)
    if isinstance(column, Number):
        return Number(column.lower - MORE * column.step, column.upper + MORE * column.step, step=column.step)
    first, last = (column.first.toordinal() - MORE, column.last.toordinal() + MORE)
    return type(column)(column.first.fromordinal(first), column.last.fromordinal(last))


WIDE = Schema({name: _wide(column) for name, column in SCHEMA.columns.items()})


def widened(query: Query) -> Query:
    given = query.parameters()
    given = {name: value for name, value in given.items() if name not in ("bandwidth", "resolution")}
    if "model" in given:
        model = dict(given["model"])
        longer = 2 * sum(isinstance(SCHEMA[name], Category) for name, _ in model["features"])
        if cells := model.get("cells"):  # groups of a longer range are more of them
            longer = 1 + sum(axis_in(read_ref(one, WIDE), WIDE).size for one in cells) - len(model["weights"])
        model["features"] = [[name, WIDE[name].as_json()] for name, _ in model["features"]]
        model["target"] = [model["target"][0], WIDE[model["target"][0]].as_json()]
        given["model"] = model | {"weights": [*model["weights"], *[0] * longer]}
    facts = query.facts
    wide = Facts(facts.table, WIDE, facts.unit, facts.relation, max(facts.about, 100), HEADER)
    return type(query).build(wide, given)


def _in_wide(row: Row) -> Row:
    """A row of the world under the wider declaration: the same values."""
    ordered = [name for name, column in SCHEMA.columns.items() if not isinstance(column, Category | ItemSet)]
    return row | {name: row[name] if row[name] == MISSING else row[name] + MORE for name in ordered}


def _pairs(query: Query) -> Iterator[tuple[str, str, list[Row], list[Row]]]:
    """Column, what is cut, a table as the file has it and as it counts."""
    rows = [_in_wide(row) | {"person": place} for place, row in enumerate(POSSIBLE_ROWS)]
    axes = getattr(query, "axes", None) or getattr(getattr(getattr(query, "model", None), "layout", None), "axes", ())
    apart = {base(axis.ref) for axis in axes if getattr(axis, "misfit", False)}  # misfits are bars of their own
    for name, column in SCHEMA.columns.items():
        if name in apart:
            continue
        last, values = column.size - 1, dict[str, tuple[Any, Any]]()
        if isinstance(column, Category):
            outside, empty = column.size, column.size + 1
            values = {OUTSIDE: (outside, column.code(column.unknown)), EMPTY: (empty, column.code(column.missing))}
        elif isinstance(column, ItemSet):
            values = {ITEMS: ((0, last + 1), (0,)), SET: (tuple(range(last + 1)), (0, 1))}
        else:
            values = {UPPER: (last + 2 * MORE, last + MORE), LOWER: (0, MORE)}
            yield from ((name, UPPER, *tables) for tables in _replaced(rows, name, last + MORE + 1, last + MORE))
            yield from ((name, LOWER, *tables) for tables in _replaced(rows, name, MORE - 1, MORE))
        if isinstance(column, Number) and column.missing is not None:
            values[FILLED] = (MISSING, column.code(column.missing) + MORE)
        for kind, (written, counts) in values.items():
            yield from ((name, kind, *tables) for tables in _replaced(rows, name, written, counts, kind))
    if query.facts.unit.id_column is not None:
        most = query.facts.unit.at_most
        for row in rows:
            yield "", ROWS, [row | {"person": 0}] * (most + 1), [row | {"person": 0}] * most


def _replaced(
    rows: list[Row], name: str, written: Any, counts: Any, kind: str = ""
) -> Iterator[tuple[list[Row], list[Row]]]:
    """One row at a time: its cell as the file has it, and as it counts. Of a set that is cut only what is counted in a
    histogram changes."""
    for place, row in enumerate(rows):
        changed = [{cut(name): held} | ({} if kind == SET else {name: held}) for held in (written, counts)]
        with_cell = [[*rows[:place], row | one, *rows[place + 1 :]] for one in changed]
        yield with_cell[0], with_cell[1]


def _differ(one: Any, other: Any) -> bool:
    if isinstance(one, Spread):
        return not (np.array_equal(one.codes, other.codes) and np.array_equal(one.counts, other.counts))
    if isinstance(one, tuple):
        return len(one) != len(other) or any(map(_differ, one, other))
    return bool(np.any(np.asarray(one) != np.asarray(other)))


def told(query: Query) -> set[tuple[str, str]]:
    """What the question tells, as (column, kind)."""
    found: set[tuple[str, str]] = set()
    for one in query.cuts():
        code, facts = one.code.removeprefix("cut."), dict(one.facts)
        if code == ROWS:
            found.add(("", ROWS))
        for name in facts.get("columns", [facts.get("column")]):
            ends = [end for end in (LOWER, UPPER) if end in facts]
            lists = {"list": [OUTSIDE], "list.empty": [EMPTY], "list.both": [OUTSIDE, EMPTY]}
            alone = {"filled": [FILLED], "items": [ITEMS], "set": [SET]}
            found |= {(name, kind) for kind in [*ends, *lists.get(code, []), *alone.get(code, [])]}
    return found


def cut_of(query: Query) -> set[tuple[str, str]]:
    """What changes the statistic between the file and what counts, over all these tables."""
    need: Any = widened(query).need()
    found: set[tuple[str, str]] = set()
    every = getattr(need, "every_row", False)
    for name, kind, written, counts in _pairs(query):
        if (name, kind) not in found and not (kind == ROWS and every) and _differ(need.of(written), need.of(counts)):
            found.add((name, kind))
    return found


def check_cuts_are_told(query: Query) -> None:
    missing = cut_of(query) - told(query)
    assert not missing, f"{query.card.key}: what is cut of {sorted(missing)} is not told"


def check_rows_without_a_value(query: Query) -> None:
    """One more row changes nothing if a value that it needs is missing, and the answer's number of rows, if it has a
    public one, is not that of all rows."""
    rows = [row | {"person": place} for place, row in enumerate(POSSIBLE_ROWS)]
    need: Any = query.need()
    for name in query.left_out():
        told = f"{query.card.key}: a row without {name} counts, and is said not to"
        more = [*rows, *(row | {name: MISSING, "person": len(rows) + place} for place, row in enumerate(rows))]
        assert not _differ(need.of(rows), need.of(more)), told
        assert getattr(query, "known", None) is None, told


def with_unit(kind: type[Query], several: bool = True) -> Unit:
    return Unit.column("who", at_most=2) if several and kind.card.several else Unit.rows()
