"""Counts that are kept beside the coded rows, so that a question about everyone reads no rows.

A kept table has the number of rows for each code and kind of cell of one declared column, or of two. It follows from
the rows and the declaration, lies in the table's folder with the same protection, carries the version of the coding in
its name, and is deleted with the rows. The columns of a large table are counted when it is brought in, pairs when they
are first asked for. That releases nothing: a statistic may be computed at any time, and only a draw from it is paid.

A need that adds rows up (`Aggregate.weighed`) is the same expression over the kept table, where a row stands for as
many rows as its count says (kept_view.py). Whether a kept table is used depends on public facts alone: the need, the
declaration, the declared number of rows, and what was asked before. Prices and plans never read one, and no page shows
one.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import refusing
from dpengine.declared.conditions import EVERYONE, Predicate, Row, kind_name
from dpengine.declared.schema import Column, ItemSet, Schema
from dpengine.statistics.counts import Counts
from dpengine.statistics.kept_view import MOST_CELLS, KeptRows, computed, reads
from dpengine.statistics.marginals import Marginals
from dpengine.statistics.need import Aggregate, Aggregated, Need, Needs
from dpengine.statistics.view import WEIGHT, Expression, View, flag_name

LEAST_ROWS = 50_000  # below this declared number of rows a scan is as fast
Statistic = TypeVar("Statistic")
Scan = Callable[[Any], Any]  # computes a need on all rows
_STORED = re.compile(r"[cf](\d+)")


@dataclass(frozen=True)
class CodeCounts(Aggregate[Aggregated]):
    """The number of rows for each combination of code and kind that occurs in some columns, as columns c0, f0, c1, …
    and WEIGHT. A person changes at most two of the numbers."""

    columns: tuple[str, ...]
    where: Predicate = EVERYONE
    as_stored = True

    def of(self, rows: Sequence[Row]) -> Aggregated:
        keys = [name for column in self.columns for name in (column, kind_name(column))]
        counts = Counter(tuple(int(row[name]) for name in keys) for row in rows)
        held = np.array([(*key, count) for key, count in sorted(counts.items())], dtype=np.int64)
        stored = [f"{letter}{at}" for at in range(len(self.columns)) for letter in "cf"]
        return dict(zip([*stored, WEIGHT], held.reshape(-1, len(keys) + 1).T, strict=True))

    def flags(self, names: Mapping[str, str]) -> dict[str, str]:
        return {flag_name(names[column]): "int64" for column in self.columns}

    def expression(self, view: View) -> Expression:
        stored = [view.names[column] for column in self.columns]
        keys = [name for column in stored for name in (column, flag_name(column))]
        return view.rows.group_by(keys).aggregate(**{WEIGHT: view.rows.count()})

    def shape(self, columns: Aggregated) -> Aggregated:
        return columns


def keepable(stored: Set[str], schema: Schema) -> tuple[int, ...] | None:
    """The places of the one or two declared columns with kept counts that contain all these stored columns. None if
    there are no such counts. A count of all rows, which needs no column, uses the first column that can be kept."""
    matches = [_STORED.fullmatch(name) for name in stored]
    columns = list(schema.columns.values())
    if not all(matches):
        return None  # people, faults and items have no kept counts
    places = tuple(sorted({int(match[1]) for match in matches if match}))
    if not places:
        places = next(((at,) for at in range(len(columns)) if _small(columns, (at,))), ())
    return places if 1 <= len(places) <= 2 and _small(columns, places) else None


def _small(columns: Sequence[Column], places: tuple[int, ...]) -> bool:
    return not any(isinstance(columns[at], ItemSet) for at in places) and (
        prod(columns[at].size for at in places) <= MOST_CELLS
    )


def place_of(kept: Path, places: tuple[int, ...]) -> Path:
    """The file of kept counts. `kept` is the path of the coded rows without ending: coded-3 gives
    coded-3.kept-0-7.parquet, which is deleted with the other files of that coding."""
    return kept.with_name(f"{kept.name}.kept-{'-'.join(map(str, places))}.parquet")


def keep(kept: Path, places: tuple[int, ...], schema: Schema, scan: Scan, counted: Aggregated | None = None) -> Path:
    """The file with the counts of these columns. If absent, it is written: from `counted`, or else by a scan."""
    file = place_of(kept, places)
    if file.is_file():
        return file
    names = list(schema.columns)
    if counted is None:
        counted = scan(CodeCounts(tuple(names[at] for at in places)))
    order = [name for at in places for name in (f"c{at}", f"f{at}")]
    # Sorted, and with no room for absent numbers, a file is shorter and read in a third of the time.
    columns = {name: np.asarray(counted[name], dtype=np.int64) for name in [*order, WEIGHT]}
    rising = np.lexsort([columns[name] for name in reversed(order)])
    kinds = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in columns])
    table = pa.table({name: values[rising] for name, values in columns.items()}, schema=kinds)
    with refusing("engine.unreadable", OSError, pa.ArrowException):
        fresh = Path(tempfile.mkdtemp(prefix=".", dir=kept.parent))  # 0700; two questions at once write apart
        try:
            # Dictionaries make it small: compressed, it would hardly be smaller and slower to read.
            pq.write_table(table, fresh / file.name, compression="none", write_statistics=False)
            os.chmod(fresh / file.name, 0o600)
            os.replace(fresh / file.name, file)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return file


def keep_all(kept: Path, schema: Schema, scan: Scan, counted: Mapping[int, Aggregated]) -> None:
    """Write the counts of every column of a large table before its first question. `counted`: counts that intake made,
    by place."""
    for at in range(len(schema.columns)):
        if keepable({f"c{at}"}, schema):
            keep(kept, (at,), schema, scan, counted.get(at))


def stored_counts(file: Path, only: Iterable[str] | None = None) -> Aggregated:
    """The columns of a kept table as arrays; with `only`, just these."""
    with refusing("engine.unreadable", OSError, pa.ArrowException), pq.ParquetFile(file) as stored:
        table = stored.read(None if only is None else sorted(only), use_threads=False)
        return {name: table.column(name).to_numpy() for name in table.column_names}


def read_kept(need: Need[Statistic], schema: Schema, kept: Path, scan: Scan) -> Statistic:
    """The statistic from kept counts if they suffice, else by a scan of the rows."""
    if isinstance(need, Needs):
        return cast(Statistic, tuple(read_kept(part, schema, kept, scan) for part in need.parts))
    if isinstance(need, Marginals):
        return cast(Statistic, _marginals(need, schema, kept, scan))
    if isinstance(need, Aggregate) and need.weighed:
        files = _files(need, schema, kept, scan)
        if files:
            found = [_from_kept(part, file, schema) for part, file in files]
            return cast(Statistic, found[0] if len(found) == 1 else tuple(chain.from_iterable(found)))
    return cast(Statistic, scan(need))


def _files(need: Aggregate[Any], schema: Schema, kept: Path, scan: Scan) -> list[tuple[Aggregate[Any], Path]]:
    """The parts of a need, each with the file of its counts. Empty if one scan of the rows is better."""
    parts, files = need.apart(), list[tuple[Aggregate[Any], Path]]()
    for part in parts:
        places = keepable(reads(part, schema) - {WEIGHT}, schema)
        if places is None or (len(parts) > 1 and not place_of(kept, places).is_file()):
            return []
        files.append((part, keep(kept, places, schema, scan)))
    return files


def _from_kept(need: Aggregate[Statistic], file: Path, schema: Schema) -> Statistic:
    """The statistic from the counts in this file, which has all columns that the need reads."""
    rows = KeptRows(stored_counts(file, reads(need, schema) | {WEIGHT}))
    return need.shape(computed(need, rows, schema))


def _marginals(need: Marginals, schema: Schema, kept: Path, scan: Scan) -> tuple[Counts, ...]:
    """The counts of each set of columns. A set of one column, or of two with counts already kept, is computed from
    these; all others take one scan."""
    names, found = {name: f"c{at}" for at, name in enumerate(schema.columns)}, dict[tuple[int, ...], Counts]()
    for columns in need.sets:
        alone = need.only([columns])
        places = keepable(set(alone.stored(names)), schema)
        if places is not None and (len(places) == 1 or place_of(kept, places).is_file()):
            (found[columns],) = alone.weighed_counts(stored_counts(keep(kept, places, schema, scan)), names)
    others = [columns for columns in need.sets if columns not in found]
    if others:
        found |= zip(others, scan(need.only(others)), strict=True)
    return tuple(found[columns] for columns in need.sets)


def differing(kept: Path, schema: Schema, scan: Scan) -> list[str]:
    """The names of kept files that a scan of the rows contradicts, for `verify --kept`."""
    names, wrong = list(schema.columns), []
    for file in sorted(kept.parent.glob(f"{kept.name}.kept-*.parquet")):
        places = tuple(int(at) for at in file.stem.rpartition("kept-")[2].split("-"))
        order = [name for at in places for name in (f"c{at}", f"f{at}")] + [WEIGHT]
        counted = scan(CodeCounts(tuple(names[at] for at in places)))
        scanned = sorted(zip(*(np.asarray(counted[name]).tolist() for name in order), strict=True))
        stored = pq.read_table(file)
        if sorted(zip(*(stored.column(name).to_pylist() for name in order), strict=True)) != scanned:
            wrong.append(file.name)
    return wrong
