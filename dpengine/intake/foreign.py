"""Spreadsheets and statistics files, for the rest of the program: their names, sheets and code book, and their rows.

Nothing here opens such a file: a process of its own does (file_process.py), and hands back names, or text in Parquet.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Json
from dpengine.declared.dialect import Dialect
from dpengine.intake import file_process
from dpengine.intake.csv_records import Batches, without_blanks

SHEETS = (".xlsx", ".xls", ".ods")
STATISTICS = (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
FOREIGN = (*SHEETS, *STATISTICS)
_ROWS = 61_440  # at once


@dataclass(frozen=True)
class CodedColumn:
    """What a statistics file says about one of its variables: its own words, not its rows."""

    name: str  # as the file calls it
    label: str = ""  # as people read it
    kind: str = "number"  # or "text" or "date"
    values: tuple[tuple[str, str], ...] = ()  # a code, and its label
    missing: tuple[str, ...] = ()  # codes that mean “no answer”
    ranges: bool = False  # are whole ranges of numbers missing? They are read as empty
    scale: bool = False  # measured, not named


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
    """The names, the sheets and the code book. No row is read, or none is returned. Remembered while the file is the
    same: a page asks at every click."""
    return _described(str(path), *_state(path), _key(dialect))


def sheet_list(path: Path) -> list[str]:
    """The names of the visible sheets."""
    return list(_listed(str(path), *_state(path)))


def _state(path: Path) -> tuple[int, int]:
    with refusing("load.absent", OSError):
        state = path.stat()
    return state.st_mtime_ns, state.st_size


def _key(dialect: Dialect) -> tuple[tuple[str, Json], ...]:
    """What decides the names; a decimal sign does not."""
    return tuple((part, getattr(dialect, part)) for part in ("sheet", "names_row", "names_rows", "labels"))


@lru_cache(maxsize=64)
def _described(path: str, changed: int, size: int, dialect: tuple[tuple[str, Json], ...]) -> DescribedFile:
    told = file_process.run("describe", {"path": path, "dialect": Dialect(**dict(dialect)).as_json()})
    book = {
        name: CodedColumn(
            **column | {"values": tuple(map(tuple, column["values"])), "missing": tuple(column["missing"])}
        )
        for name, column in told["book"].items()
    }
    return DescribedFile(tuple(told["names"]), tuple(told["sheets"]), book)


@lru_cache(maxsize=64)
def _listed(path: str, changed: int, size: int) -> tuple[str, ...]:
    return tuple(file_process.run("list_sheets", {"path": path}))


def has_rows(path: Path, dialect: Dialect, progress: Callable[[float], None] | None = None) -> bool:
    """Is there a row? Refuses what `read_foreign` would refuse."""
    return bool(file_process.run("has_rows", {"path": str(path), "dialect": dialect.as_json()}, progress))


def read_foreign(path: Path, dialect: Dialect) -> tuple[list[str], Batches]:
    """The column names, and the rows as text. They pass through a file in a folder of its own beside the given one,
    readable by its user alone and deleted at the end."""
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
