"""Spreadsheets and statistics files, for the rest of the program: their names, sheets and code book, and their rows.

Nothing here opens such a file: a process of its own does (file_process.py), and hands back names, or text in Parquet.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Json
from dpengine.declared.dialect import Dialect
from dpengine.declared.spelling import normal
from dpengine.intake import file_process
from dpengine.intake.csv_records import Batches, without_blanks

SHEETS = (".xlsx", ".xls", ".ods")
STATISTICS = (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
FOREIGN = (*SHEETS, *STATISTICS)
_ROWS = 61_440  # at once


@dataclass(frozen=True)
class CodedColumn:
    """What a statistics file says about one of its variables, in the file's own words. No rows."""

    name: str  # as the file calls it
    label: str = ""  # as people read it
    kind: str = "number"  # or "text" or "date"
    values: tuple[tuple[str, str], ...] = ()  # a code, and its label
    missing: tuple[str, ...] = ()  # codes that mean “no answer”
    ranges: bool = False  # are whole ranges of numbers missing? They are read as empty
    scale: bool = False  # is it a measured number, and no code?


@dataclass(frozen=True)
class DescribedFile:
    names: tuple[str, ...]
    sheets: tuple[str, ...] = ()
    book: dict[str, CodedColumn] = field(default_factory=dict)  # by the column's name in `names`


def is_foreign(path: Path) -> bool:
    return path.suffix.lower() in FOREIGN


def is_statistics(path: Path) -> bool:
    return path.suffix.lower() in STATISTICS


def describe(path: Path, dialect: Dialect) -> DescribedFile:
    """The column names, the visible sheets and the code book; no row. Cached while the file is the same."""
    return _described(str(path), *_state(path), _key(dialect))


def sheet_list(path: Path) -> list[str]:
    """The names of the visible sheets."""
    return list(_listed(str(path), *_state(path)))


def _state(path: Path) -> tuple[int, int]:
    with refusing("load.absent", OSError):
        state = path.stat()
    return state.st_mtime_ns, state.st_size


def _key(dialect: Dialect) -> tuple[tuple[str, Json], ...]:
    """The parts of a dialect on which the names depend, for caching."""
    return tuple((part, getattr(dialect, part)) for part in ("sheet", "names_row", "names_rows", "labels"))


@lru_cache(maxsize=64)
def _described(path: str, changed: int, size: int, dialect: tuple[tuple[str, Json], ...]) -> DescribedFile:
    described = file_process.run("describe", {"path": path, "dialect": Dialect(**dict(dialect)).as_json()})
    book = {
        name: CodedColumn(
            **column | {"values": tuple(map(tuple, column["values"])), "missing": tuple(column["missing"])}
        )
        for name, column in described["book"].items()
    }
    return DescribedFile(tuple(described["names"]), tuple(described["sheets"]), book)


@lru_cache(maxsize=64)
def _listed(path: str, changed: int, size: int) -> tuple[str, ...]:
    return tuple(file_process.run("list_sheets", {"path": path}))


def has_rows(path: Path, dialect: Dialect, progress: Callable[[float], None] | None = None) -> bool:
    """Does the file hold a row? Refuses what `read_foreign` would refuse."""
    return bool(file_process.run("has_rows", {"path": str(path), "dialect": dialect.as_json()}, progress))


def read_foreign(path: Path, dialect: Dialect) -> tuple[list[str], Batches]:
    """The column names, and the rows as text. They pass through a Parquet file in a folder beside the given file, which
    only its user can read and which is deleted at the end."""
    names = list(describe(path, dialect).names)

    def batches() -> Batches:
        with refusing("load.unwritable", OSError):
            inside = Path(tempfile.mkdtemp(prefix=".", dir=path.parent))  # 0700
        try:
            rows = inside / "rows.parquet"
            file_process.run("convert", {"path": str(path), "dialect": dialect.as_json(), "to": str(rows)})
            with pq.ParquetFile(rows, memory_map=False) as file:
                done, total = 0, max(file.metadata.num_rows, 1)
                for batch in file.iter_batches(batch_size=_ROWS):
                    done += batch.num_rows
                    yield without_blanks(list(batch.columns)), done / total
        except (pa.ArrowException, OSError):
            raise AllowanceError("load.unreadable") from None
        finally:
            shutil.rmtree(inside, ignore_errors=True)

    return names, batches()


# A code book in a file of its own: a statistics file, with or without rows, or a sheet about columns, with a line for
# each column (`1 = male; 2 = female`) or for each value. A sheet with other headings is refused, and none of its cells
# is used: it may be the private one.

_HEADINGS = {
    "variable": "variable column field name attribute stolpec spremenljivka polje ime",
    "label": "label meaning description question oznaka pomen opis vprašanje",
    "values": "values codes value code categories vrednosti kode vrednost koda kategorije",
    "missing": "missing unknown manjkajoče neznano",
}
_PAIR = re.compile(r"\s*([^=:]{1,40}?)\s*[=:]\s*(.+?)\s*")
MOST_BOOK = 100_000  # lines of a code book


def read_book(path: Path, dialect: Dialect) -> list[CodedColumn]:
    """What a code book in a file of its own says about columns, in its order."""
    if is_statistics(path):
        return list(describe(path, replace(dialect, labels=False)).book.values())
    if path.suffix.lower() not in SHEETS:
        raise AllowanceError("codebook.file")
    names = [normal(name) for name in describe(path, dialect).names]
    places = {part: _heading(names, words.split()) for part, words in _HEADINGS.items()}
    if places["variable"] is None or (places["values"] is None and places["missing"] is None):
        raise AllowanceError("codebook.headings")
    lines: list[dict[str, str]] = []
    for columns, _ in read_foreign(path, dialect)[1]:
        cells = {part: columns[place].to_pylist() for part, place in places.items() if place is not None}
        lines += [{part: (of[row] or "").strip() for part, of in cells.items()} for row in range(len(columns[0]))]
        if len(lines) > MOST_BOOK:
            raise AllowanceError("codebook.long", most=MOST_BOOK)
    return _book(lines)


def _heading(names: list[str], words: list[str]) -> int | None:
    """The place of the column whose heading is one of these words, or begins with one (`Value labels`)."""
    exact = [place for place, name in enumerate(names) if name in words]
    return next(iter([*exact, *(place for place, name in enumerate(names) if name.split(" ")[0] in words)]), None)


def _book(lines: list[dict[str, str]]) -> list[CodedColumn]:
    found: dict[str, CodedColumn] = {}
    name = ""
    for line in lines:
        name = line["variable"] or name
        if not name:
            continue
        column = found.get(name, CodedColumn(name, kind="text"))
        values, label = line.get("values", ""), line.get("label", "")
        pairs = [_PAIR.fullmatch(part) for part in re.split(r"[;\n]|,(?=[^,]*[=:])", values) if part.strip()]
        if pairs and all(pairs):
            column = replace(column, values=column.values + tuple((pair[1], pair[2]) for pair in pairs if pair))
        elif values:  # a line for each value, with its meaning beside it
            column, label = replace(column, values=(*column.values, (values, label or values))), ""
        missing = [part.strip() for part in re.split(r"[;,\n]", line.get("missing", "")) if part.strip()]
        alone = [pair[1] if (pair := _PAIR.fullmatch(part)) else part for part in missing]
        column = replace(column, label=column.label or label, missing=tuple(dict.fromkeys([*column.missing, *alone])))
        found[name] = replace(column, kind="number" if column.missing and not column.values else "text")
    return list(found.values())
