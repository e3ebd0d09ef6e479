"""A file, a frame or a table of a database becomes the raw table: Parquet, every cell text, an empty cell NULL, one row
per record.

`csv_records` reads text files and has the rules for damaged lines. Parquet files and frames are typed already; their
columns are written as the text a CSV file would hold. The database itself does the same for its columns (postgres.py).
Everything is streamed: memory does not grow with the table. A file is copied once, and both the rows and the mark come
from that copy, even if the file is replaced meanwhile.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core import files
from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Arrow
from dpengine.declared.dialect import LONGEST_RECORD, Dialect, check_names
from dpengine.declared.source import Source
from dpengine.intake import postgres
from dpengine.intake.csv_records import Batches, every_text, read_csv, without_blanks
from dpengine.intake.foreign import is_foreign, read_foreign
from dpengine.intake.inspect import Unpacked, files_of, is_text
from dpengine.intake.marks import RowMarks, address_mark, own_copy

if TYPE_CHECKING:
    import pandas

GROUP = 122_880  # rows of a Parquet row group, the size DuckDB prefers …
HEAVY = 32 << 20  # … or fewer, once they have this many bytes
LIGHT = 4 << 20  # bytes of small batches that are marked together
BATCH = 2 * GROUP  # rows at once: a text that many of them hold is then read, hashed and written once
MOST = 2 * BATCH  # rows that are read again at once: all of a block of a CSV file with two or more columns
TEXTS = pa.dictionary(pa.int32(), pa.string())
COPYING, READING = 0.1, 0.85  # shares of the work for copying, and for reading and marking


@dataclass(frozen=True)
class Loaded:
    """A loaded raw table. `rows` is public only if the number of people is. Marks are never shown (marks.py)."""

    rows: int
    columns: tuple[str, ...]
    fingerprint: str = ""  # of all rows
    marks: tuple[str, ...] = field(default=(), compare=False)  # of the rows of each file of a folder
    files: tuple[str, ...] = field(default=(), compare=False)  # of the bytes of each file
    addresses: tuple[str, ...] = field(default=(), compare=False)  # of its place in a database
    seen: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # the columns' types in the database
    people: int | None = field(default=None, compare=False)  # if the rows stayed there: the number of people
    made: str = field(default="", compare=False)  # … and the coded table's identity (libpq.AS_MADE)


def load(
    source: Path | Source | pandas.DataFrame,
    dialect: Dialect,
    raw: Path,
    secret: bytes,
    progress: Callable[[float], None] | None = None,
    bad_records: str = "refuse",
    separators: Mapping[str, str] | None = None,
    marked: bool = True,
) -> Loaded:
    """Write the raw table. A refusal names a formal fault, no row number and no value, and leaves no file behind. With
    `marked` off, the rows get no mark by which they would be recognised."""
    if bad_records not in ("refuse", "empty"):
        raise AllowanceError("load.bad_records")
    report = progress or (lambda share: None)
    try:
        if isinstance(source, Source):
            return _database(source, dialect, raw, secret, report, separators or {})
        if not isinstance(source, (str, Path)):
            return write_table([_frame(source, dialect)], raw, secret, report)
        with own_copy(Path(source), raw.parent, secret, lambda share: report(COPYING * share)) as (copy, marks):
            parts = [_file(path, dialect, bad_records) for path in files_of(copy)]
            if any(check_names(names) != check_names(parts[0][0]) for names, _ in parts):
                raise AllowanceError("load.folder_names")
            loaded = write_table(parts, raw, secret, report, marked=marked)
            return replace(loaded, files=tuple(dict.fromkeys(marks())))
    except AllowanceError as refusal:
        refusal.__context__ = None  # an error below it may quote a cell
        raise


def _database(
    source: Source,
    dialect: Dialect,
    raw: Path,
    secret: bytes,
    report: Callable[[float], None],
    separators: Mapping[str, str],
) -> Loaded:
    with refusing("load.unwritable", OSError):
        inside = Path(tempfile.mkdtemp(prefix=".", dir=raw.parent))  # 0700
    try:
        copy = inside / "rows.csv"
        described = postgres.copy_rows(source, dialect, separators, copy, lambda share: report(COPYING * share))
        _, batches = read_csv(copy, postgres.AS_READ, "empty", distinct=True)
        names = [column.name for column in described.columns]
        loaded = write_table([(names, batches)], raw, secret, report, "source.no_rows")
    finally:
        shutil.rmtree(inside, ignore_errors=True)
    addresses = tuple(address_mark(place, secret) for place in described.places)
    return replace(loaded, addresses=addresses, seen=described.seen)


def write_table(
    parts: list[tuple[list[str], Batches]],
    raw: Path,
    secret: bytes,
    report: Callable[[float], None],
    no_rows: str = "load.no_rows",
    marked: bool = True,
) -> Loaded:
    """Write all parts as one table, in their order, with its marks. `no_rows`: the refusal of an empty one; "" allows
    it."""
    names = check_names(parts[0][0])
    sources = [batches for _, batches in parts]
    with written(raw) as part, RowMarks(len(parts), secret) as added:
        marking = added.add if marked else lambda place, cells: None
        rows = _store(part, names, sources, marking, lambda share: report(COPYING + READING * share))
        if not sum(rows) and no_rows:
            raise AllowanceError(no_rows)
        fingerprint, *marks = (added.marks() if marked else []) or [""]
    report(1.0)
    return Loaded(sum(rows), tuple(names), fingerprint, tuple(marks))


def _file(path: Path, dialect: Dialect, bad_records: str) -> tuple[list[str], Batches]:
    kind = path.suffix.lower()
    if is_foreign(path):
        return read_foreign(path, dialect)
    return _parquet(path, dialect) if kind == ".parquet" else read_csv(path, dialect, bad_records, distinct=True)


@contextmanager
def written(target: Path) -> Iterator[Path]:
    """A context with a new file beside `target`, for its owner only; it becomes `target` if all goes well."""
    part = None
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)  # 0600
        part = Path(name)
        try:
            yield part
            os.fsync(handle)
        finally:
            os.close(handle)
        files.replace(part, target)
    except OSError:
        raise AllowanceError("load.unwritable") from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


@contextmanager
def parquet(part: Path, schema: Arrow) -> Iterator[Callable[[Arrow], None]]:
    """A function that writes batches of codes in row groups of a size that scans read fastest. Few different codes are
    written as places in a short dictionary, many as they are."""
    held: list[Arrow] = []
    short = [field.name for field in schema if pa.types.is_int8(field.type) or pa.types.is_int16(field.type)]
    short += [f"{field.name}.list.element" for field in schema if pa.types.is_list(field.type)]
    # Without statistics: what a reader skips, and so how long it takes, must not depend on the values.
    options = {"write_statistics": False, "use_dictionary": short, "compression": "NONE"}
    with open(part, "wb") as file, pq.ParquetWriter(file, schema, **options) as writer:

        def flush() -> None:
            if held:
                writer.write_table(pa.Table.from_batches(held, schema=schema), row_group_size=GROUP)
            held.clear()

        def store(batch: Arrow) -> None:
            held.append(batch)
            if sum(rows.num_rows for rows in held) >= GROUP or sum(rows.nbytes for rows in held) >= HEAVY:
                flush()

        yield store
        flush()


def _store(
    part: Path,
    names: list[str],
    sources: list[Batches],
    mark: Callable[[int, Sequence[Arrow]], None],
    report: Callable[[float], None],
) -> list[int]:
    """Write and mark the rows of all sources; returns the number of rows from each. If most texts of a column's first
    rows differ, the column is handled text by text: looking for equal ones would only take time."""
    rows = [0] * len(sources)
    given = ((place, *batch) for place, batches in enumerate(sources) for batch in _gathered(batches))
    first = list(islice(given, 1))
    different = {name for _, columns, _ in first for name, texts in zip(names, columns, strict=True) if _differ(texts)}
    schema = pa.schema([(name, pa.string() if name in different else TEXTS) for name in names])
    # Without statistics: what a reader skips, and so how long it takes, must not depend on the values.
    options: dict[str, bool | list[str]] = {"write_statistics": False, "store_schema": False}  # texts to who reads them
    options["use_dictionary"] = [name for name in names if name not in different]
    with open(part, "wb") as file, pq.ParquetWriter(file, schema, **options) as writer:
        for place, columns, share in chain(iter(first), given):
            named = zip(names, columns, strict=True)
            cells = [_each(texts) if name in different else distinct(texts) for name, texts in named]
            mark(place, cells)
            writer.write_batch(pa.record_batch(cells, schema=schema), row_group_size=MOST)
            rows[place] += len(columns[0])
            report((place + share) / len(sources))
            first.clear()
    return rows


def _gathered(batches: Batches) -> Batches:
    """The same rows in larger batches."""
    held, share = list[list[Arrow]](), 0.0

    def together() -> list[Arrow]:
        return [_joined(parts) for parts in zip(*held, strict=True)] if len(held) > 1 else held[0]

    for columns, share in batches:
        if len(columns[0]):
            held.append(columns)
        if sum(len(part[0]) for part in held) >= GROUP or sum(one.nbytes for part in held for one in part) >= LIGHT:
            yield together(), share
            held.clear()
    if held:
        yield together(), share


def _joined(parts: Sequence[Arrow]) -> Arrow:
    alike = len({part.type for part in parts}) == 1
    return pa.concat_arrays(parts if alike else map(every_text, parts))


def _differ(texts: Arrow) -> bool:
    """Do most cells hold different texts?"""
    return 2 * len(distinct(texts).dictionary) > len(texts)


def _each(texts: Arrow) -> Arrow:
    """One text for each cell; NULL if it is empty."""
    import pyarrow.compute as pc  # slow to import

    found = every_text(texts)
    empty = pc.equal(found, "")
    return pc.if_else(empty, None, found) if pc.any(empty).as_py() else found


def distinct(texts: Arrow) -> Arrow:
    """The distinct texts, and each cell's place among them; NULL for an empty cell."""
    import pyarrow.compute as pc  # slow to import

    found = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    empty = pc.fill_null(pc.equal(found.dictionary, ""), True)
    if not pc.any(empty).as_py():
        return found
    gone = pc.is_in(found.indices, value_set=pa.array(np.flatnonzero(empty), found.indices.type))
    places = pc.if_else(gone, None, found.indices)
    return pa.DictionaryArray.from_arrays(places, pc.fill_null(found.dictionary, ""))


# Typed sources


def _parquet(path: Path, dialect: Dialect) -> tuple[list[str], Batches]:
    with refusing("load.unreadable", OSError), open(path, "rb") as head:
        if head.read(4) != b"PAR1":
            raise AllowanceError("load.not_parquet")
    with _readable(), pq.ParquetFile(path, memory_map=False) as file:
        names = list(file.schema_arrow.names)
        texts = [field.name for field in file.schema_arrow if is_text(field.type)]
        Unpacked(path).declared(file.metadata)
    check_names(names)

    def batches() -> Batches:
        done, size = 0, Unpacked(path)
        # Texts stay dictionary-encoded until their length is checked: one long text could be repeated in every row.
        with _readable(), pq.ParquetFile(path, memory_map=False, read_dictionary=texts) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                done += batch.num_rows
                columns = zip(batch.columns, names, strict=True)
                for few in _weighed(list(columns), size):
                    texts_of = [_text(cells, name, dialect) for cells, name in few]
                    yield without_blanks(texts_of), done / file.metadata.num_rows

    return names, batches()


def _weighed(columns: list[tuple[Arrow, str]], size: Unpacked) -> Iterator[list[tuple[Arrow, str]]]:
    """The batch in pieces of at most HEAVY bytes of text, or of one row. A cell that is too long is refused."""
    import pyarrow.compute as pc  # slow to import

    rows = len(columns[0][0])
    weights = np.zeros(rows, dtype=np.int64)
    for cells, _ in columns:
        if pa.types.is_dictionary(cells.type) and is_text(cells.type.value_type) and len(cells.dictionary):
            lengths = pc.fill_null(pc.binary_length(cells.dictionary), 0).to_numpy(zero_copy_only=False)
            if lengths.max() > LONGEST_RECORD:
                raise AllowanceError("load.long", most=LONGEST_RECORD)
            places = pc.fill_null(cells.indices, 0).to_numpy(zero_copy_only=False)
            weights += np.where(cells.indices.is_valid().to_numpy(zero_copy_only=False), lengths[places], 0)
    size.add(rows * len(columns), int(weights.sum()))
    start, sums = 0, np.cumsum(weights)
    while start < rows:
        held = sums[start - 1] if start else 0
        end = max(int(np.searchsorted(sums, held + HEAVY, side="right")), start + 1)
        yield [(cells.slice(start, end - start), name) for cells, name in columns]
        start = end


def _readable() -> refusing:
    return refusing("load.unreadable", pa.ArrowException, OSError, UnicodeError)


def _frame(frame: Arrow, dialect: Dialect) -> tuple[list[str], Batches]:
    with refusing("load.unreadable", AttributeError, TypeError):
        names = [str(name) for name in frame.columns]
        rows = len(frame)
    check_names(names)

    def batches() -> Batches:
        for start in range(0, rows, BATCH):
            piece = frame.iloc[start : start + BATCH]
            with _readable():
                cells = [_array(piece.iloc[:, place], dialect) for place in range(len(names))]
                columns = [_text(array, name, dialect) for array, name in zip(cells, names, strict=True)]
            yield without_blanks(columns), start / rows

    return names, batches()


def _array(series: Arrow, dialect: Dialect) -> Arrow:
    if series.dtype != object:
        try:
            return pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            pass  # Arrow does not know the type: convert cell by cell
    return pa.array([_cell(value, dialect) for value in series], pa.string())


def _cell(value: Arrow, dialect: Dialect) -> str | None:
    """An object as text; None if it has none."""
    try:
        if value is None or bool(value != value):
            return None
        if isinstance(value, float):
            value = repr(float(value)).removesuffix(".0").replace(".", dialect.decimal)
        return str(value).encode("utf-8", "replace").decode("utf-8")
    except Exception:  # whatever an object in a cell does, only its own cell may be affected
        return None


_PLAIN = (
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
)


def _text(cells: Arrow, name: str, dialect: Dialect) -> Arrow:
    """The cells of a typed column as the texts that a CSV file in this dialect would hold. Each distinct value is
    converted once: 1500.0 becomes 1500, NaN is missing."""
    import pyarrow.compute as pc  # slow to import

    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    fractional = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not fractional and not any(is_kind(kind) for is_kind in _PLAIN):
        raise AllowanceError("load.column_kind", column=name)
    if not pa.types.is_dictionary(cells.type):
        plain = pc.cast(cells, pa.string()) if pa.types.is_null(kind) or pa.types.is_string_view(kind) else cells
        cells = plain.dictionary_encode()
    values = cells.dictionary
    if pa.types.is_floating(kind):
        values = pc.if_else(pc.is_nan(values), None, values)
    texts = pc.cast(values, pa.string())
    if fractional and dialect.decimal != ".":
        texts = pc.replace_substring(texts, ".", dialect.decimal)
    if (pc.max(pc.binary_length(texts)).as_py() or 0) > LONGEST_RECORD:
        raise AllowanceError("load.long", most=LONGEST_RECORD)
    return pa.DictionaryArray.from_arrays(pc.cast(cells.indices, pa.int32()), texts)
