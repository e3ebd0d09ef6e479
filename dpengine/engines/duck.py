"""Needs as Ibis expressions, computed by embedded DuckDB over the coded Parquet file.

Ibis only builds and compiles the expression (10 ms, without a backend or a connection of its own), so another
Ibis dialect can compile the same one. DuckDB runs it: one database per engine, so that the memory limit holds for
all threads together, and one cursor per thread. Only integers are compared and counted; no float is involved and
nothing in the data can make a reading fail.
"""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import pairwise
from math import prod
from operator import and_, or_
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.engines import checking, descent
from dpengine.errors import AllowanceError
from dpengine.modelneeds import OfModel
from dpengine.needs import (
    Cells,
    Count,
    Counts,
    Faults,
    Gradient,
    Histogram,
    Hits,
    Integers,
    ItemCounts,
    Need,
    Nothing,
    OfRows,
    Pairs,
    Ranks,
    RanksBy,
    Rows,
    Spread,
    Statistic,
)  # fmt: skip
from dpengine.predicate import AnyOf, Clause, Has, Range
from dpengine.schema import MISSING, Code, ItemSet, Schema

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "1GB",
    "threads": 2,
    "preserve_insertion_order": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
}
MOST_RUNS = 30  # Ibis takes half a millisecond for each literal: longer lists become a table


def connect(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory that loads no extension and spills, if it must, into the workspace folder."""
    connection = duckdb.connect(config=SETTINGS | {"temp_directory": str(folder / ".spill")})
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET lock_configuration = true")
    return connection


def every_row(coded: Path) -> Path:
    """Beside the rows that count, where a person has several and holds a set: all rows, coded alike."""
    return coded.with_name(f"{coded.stem}.every.parquet")


class DuckEngine:
    def __init__(self, spill: Path | None = None) -> None:
        self._spill = spill  # one database reads many tables: it must not spill into the folder of one of them
        self._lock = threading.Lock()
        self._database: duckdb.DuckDBPyConnection | None = None
        self._local = threading.local()

    def read(self, need: Need, coded: Path, schema: Schema) -> Statistic:
        """Exactly `need.of(rows)`. A damaged or absent file is the only thing that can go wrong."""
        if isinstance(need, Nothing):
            return ()
        coded = every_row(coded) if isinstance(need, ItemCounts) and need.people else coded
        if isinstance(need, Rows):
            return _rows(need, coded, schema)
        if not coded.is_file():  # an absent name with a * in it would be taken for a pattern
            raise AllowanceError("engine.unreadable")
        try:
            return self._read(need, coded, schema)
        except duckdb.Error:
            raise AllowanceError("engine.unreadable") from None

    def let_go(self) -> None:
        """Drop the database, with what it holds or spilled of any table, as soon as questions under way are done."""
        with self._lock:
            self._database, self._local = None, threading.local()

    def _cursor(self, folder: Path) -> duckdb.DuckDBPyConnection:
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            with self._lock:
                if self._database is None:
                    if self._spill is not None:
                        self._spill.mkdir(mode=0o700, exist_ok=True)
                        folder = Path(tempfile.mkdtemp(dir=self._spill))  # no two databases spill into one place
                    self._database = connect(folder)
                cursor = self._local.cursor = self._database.cursor()
        return cursor

    def _read(self, need: OfRows, coded: Path, schema: Schema) -> Statistic:
        sets = schema.of_kind(ItemSet)
        columns = tuple((name, name in sets) for name in schema.columns)
        if isinstance(need, Gradient | OfModel):  # compiled once for all steps: the weights are looked up
            plan = _compiled(replace(need, weights=()), columns)
            weights = descent.weights_table(need.layout, need.weights)
            plan = replace(plan, lists=(*plan.lists, (descent.WEIGHTS, weights)))
        else:
            plan = _compiled(need, columns)
        return _shaped(need, self._run(plan, coded))

    def _run(self, plan: Plan, coded: Path) -> dict[str, Integers]:
        cursor = self._cursor(coded.parent)
        try:
            for name, values in plan.lists:
                cursor.register(name, values)
            found = cursor.execute(plan.sql, [str(coded)]).fetchnumpy()
        finally:
            for name, _ in plan.lists:
                cursor.unregister(name)
        if any(values.dtype.kind not in "iu" for values in found.values()):
            raise TypeError("a statistic came as a float, perhaps rounded")  # by its query's types, never by its values
        return {name: np.array(values, dtype=np.int64) for name, values in found.items()}


def _rows(need: Rows, coded: Path, schema: Schema) -> tuple[Integers, ...]:
    """Codes as narrow as they are stored, column by column, in the order of the file."""
    places = list(schema.columns)
    try:
        return tuple(
            pq.read_table(coded, columns=[f"c{places.index(name)}"]).column(0).to_numpy() for name in need.columns
        )
    except (OSError, pa.ArrowException):
        raise AllowanceError("engine.unreadable") from None


@dataclass(frozen=True)
class Plan:
    """A need as one SQL statement over the file named by its parameter, and the long lists it looks things up in."""

    sql: str
    lists: tuple[tuple[str, pa.Table], ...]


@lru_cache(maxsize=128)
def _compiled(need: OfRows, columns: tuple[tuple[str, bool], ...]) -> Plan:
    """From public facts alone, so it is kept: Ibis takes 3 to 5 ms to compile, as long as a million rows take to read.

    `columns` are the declared names in order, each with whether it holds sets.
    """
    import ibis  # half a second: only those who read data wait for it

    names = {name: f"c{place}" for place, (name, _) in enumerate(columns)}
    kinds = {names[name]: "array<int64>" if of_sets else "int64" for name, of_sets in columns}
    if isinstance(need, Count | ItemCounts) and need.people:
        kinds["person"] = "int64"
    if isinstance(need, ItemCounts) and need.cut:
        kinds[cut_name(names[need.column])] = "array<int64>"
    if isinstance(need, Faults):
        kinds[_fault(need, names)] = "int64"
    table = ibis.table(kinds, name="coded")
    lists: dict[str, pa.Table] = {}
    rows = table
    if need.where.clauses:
        rows = table.filter(reduce(and_, [_holds(clause, table, names, lists) for clause in need.where.clauses]))
    sql = str(ibis.to_sql(_asked(need, rows, names, lists), dialect="duckdb"))
    # Codes are stored as narrow as they fit, and DuckDB computes in the stored width: 64 bits before any arithmetic,
    # or a large code would overflow and one person's value decide whether a release fails. Items of a set are only
    # looked for and counted.
    wide = ", ".join(f"{name}::BIGINT AS {name}" if kind == "int64" else name for name, kind in kinds.items())
    source = f"WITH coded AS NOT MATERIALIZED (SELECT {wide} FROM read_parquet(?))"
    sql = f"{source}, {sql.removeprefix('WITH ')}" if sql.startswith("WITH ") else f"{source} {sql}"
    return Plan(sql, tuple(lists.items()))


def _asked(need: OfRows, rows: Any, names: dict[str, str], lists: dict[str, pa.Table]) -> Any:
    """The need as a grouped aggregate: keys are codes, the rest are counts and integer sums."""
    import ibis

    if isinstance(need, OfModel):
        checked = checking.asked(need, rows, names)
        return checked["rows"].aggregate(**{name: _whole(one) for name, one in checked["sums"].items()})
    if isinstance(need, Gradient):
        kept, sums = descent.asked(need, rows, names)
        return kept.aggregate(**{name: _whole(one.coalesce(0)) for name, one in sums.items()})
    if isinstance(need, Count):
        return rows.aggregate(rows=rows.person.nunique() if need.people else rows.count())
    if isinstance(need, Counts):
        met = [reduce(and_, [_holds(clause, rows, names, lists) for clause in one.clauses]) for one in need.options]
        return rows.aggregate(**{f"n{place}": _whole(one.sum().coalesce(0)) for place, one in enumerate(met)})
    if isinstance(need, ItemCounts):
        items = rows[cut_name(names[need.column]) if need.cut else names[need.column]].unnest()
        held = rows.select(*([rows.person] if need.people else []), item=items)
        return held.group_by(held.item).aggregate(rows=held.person.nunique() if need.people else held.count())
    if isinstance(need, Faults):
        return rows.aggregate(rows=_whole(rows[_fault(need, names)].sum().coalesce(0)))
    if isinstance(need, Histogram | Ranks):
        rows = rows.filter(rows[names[need.column]] != MISSING)
        return rows.group_by(code=rows[names[need.column]]).aggregate(rows=rows.count()).order_by("code")
    if isinstance(need, Cells | Pairs):
        for column in need.columns:
            rows = rows.filter(rows[names[column]] != MISSING)
        keys = {f"k{place}": rows[names[column]] for place, column in enumerate(need.columns)}
        return rows.group_by(**keys).aggregate(rows=rows.count())
    group = ibis.literal(0, "int64") if need.by is None else rows[names[need.by]]
    if isinstance(need, Hits):
        hit = reduce(and_, [_holds(clause, rows, names, lists) for clause in need.hit.clauses])
        return rows.group_by(group=group, miss=hit.ifelse(0, 1)).aggregate(rows=rows.count())
    rows = rows.filter(rows[names[need.column]] != MISSING)
    group = ibis.literal(0, "int64") if need.by is None else rows[names[need.by]]
    if isinstance(need, RanksBy):
        keys = {"group": group, "code": rows[names[need.column]]}
        return rows.group_by(**keys).aggregate(rows=rows.count()).order_by("group", "code")
    y = rows[names[need.column]] * 2 - (need.size - 1)
    powers = range(1, need.degree + 1)
    sums = {f"s{power}": _whole((y if power == 1 else y * y).sum().coalesce(0)) for power in powers}
    whole = rows if need.by is None else rows.group_by(group=group)  # one group need not be looked up row by row
    return whole.aggregate(s0=rows.count(), **sums)


def _whole(total: Any) -> Any:
    """A sum of integers is 128 bits wide in DuckDB and would reach numpy as a float, rounded beyond 2^53; declared
    bounds keep it below 2^62. By way of a decimal, which is exact: Ibis takes a sum for 64 bits wide and drops a plain
    cast to them."""
    return total.cast("decimal(38, 0)").cast("int64")


def _fault(need: Faults, names: dict[str, str]) -> str:
    """Where the coded file keeps the flag: f3 for the column c3, `fault` for any."""
    return "fault" if need.column is None else f"f{names[need.column].removeprefix('c')}"


def cut_name(column: str) -> str:
    """Where the coded file keeps `needs.cut` of a column."""
    return f"{column}k"


def _shaped(need: OfRows, found: dict[str, Integers]) -> Statistic:
    """Every declared cell and group, the empty ones too, in the declared order."""
    if isinstance(need, Count | Faults):
        return int(found["rows"][0])
    if isinstance(need, OfModel):
        return checking.shaped(need, found)
    if isinstance(need, Gradient):
        return tuple(int(found[f"g{place}"][0]) for place in range(need.layout.width))
    if isinstance(need, Counts):
        return tuple(int(found[f"n{place}"][0]) for place in range(len(need.options)))
    if isinstance(need, ItemCounts):
        return _placed(found["item"], found["rows"], need.size)
    if isinstance(need, Ranks):
        return Spread(found["code"], found["rows"])
    if isinstance(need, Histogram):
        return _binned(need, Spread(found["code"], found["rows"]))
    if isinstance(need, RanksBy):
        edges = np.searchsorted(found["group"], np.arange(need.groups + 1))
        return tuple(
            Spread(found["code"][a:b].copy(), found["rows"][a:b].copy()) for a, b in pairwise(edges.tolist())
        )
    if isinstance(need, Cells | Pairs):
        place = np.zeros(len(found["rows"]), dtype=np.int64)
        for at, size in enumerate(need.sizes):
            place = place * size + found[f"k{at}"]
        if isinstance(need, Pairs):
            order = np.argsort(place)
            return Spread(place[order], found["rows"][order])
        return _placed(place, found["rows"], prod(need.sizes))
    if isinstance(need, Hits):
        return _placed(2 * found["group"] + found["miss"], found["rows"], 2 * need.groups)
    width = need.degree + 1
    sums = np.zeros(need.groups * width, dtype=np.int64)
    groups = found.get("group", np.zeros(1, dtype=np.int64))
    for power in range(width):
        sums[groups * width + power] = found[f"s{power}"]
    return tuple(sums.tolist())


def _placed(places: Integers, counts: Integers, size: int) -> tuple[int, ...]:
    cells = np.zeros(size, dtype=np.int64)
    cells[places] = counts
    return tuple(cells.tolist())


def _holds(clause: Clause, table: Any, names: dict[str, str], lists: dict[str, pa.Table]) -> Any:
    import ibis

    if isinstance(clause, AnyOf):
        parts = [_holds(part, table, names, lists) for part in clause.parts]
        return reduce(or_, parts) if parts else ibis.literal(False)
    code = table[names[clause.column]]
    if isinstance(clause, Has):
        found = reduce(or_, [code.contains(one) for one in clause.codes]) if clause.codes else ibis.literal(False)
        return ~found if clause.none else found
    if isinstance(clause, Range):
        return code.between(max(clause.low, MISSING + 1), clause.high)
    runs = _runs(clause.codes)
    if len(runs) > MOST_RUNS:
        name = f"codes{len(lists)}"
        lists[name] = pa.table({"code": pa.array(sorted(set(clause.codes)), pa.int64())})
        return code.isin(ibis.table({"code": "int64"}, name=name).code)
    return reduce(or_, [code.between(low, high) for low, high in runs]) if runs else ibis.literal(False)


def _runs(codes: tuple[Code, ...]) -> list[tuple[Code, Code]]:
    """Neighbouring codes as ranges: “all but one” of a long list is two of them."""
    runs: list[tuple[Code, Code]] = []
    for code in sorted(set(codes)):
        if runs and runs[-1][1] == code - 1:
            runs[-1] = runs[-1][0], code
        else:
            runs.append((code, code))
    return runs


def _binned(need: Histogram, spread: Spread) -> tuple[int, ...]:
    """Every declared bin, the empty ones too."""
    counts = np.zeros(len(need.starts), dtype=np.int64)
    starts = np.sort(np.array(need.starts, dtype=np.int64))
    np.add.at(counts, np.searchsorted(starts, spread.codes, side="right") - 1, spread.counts)
    return tuple(counts.tolist())
