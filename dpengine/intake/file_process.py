"""Reads a file of a foreign format in a process of its own, with bounded memory and time.

Spreadsheets and statistics files are read by libraries that we did not write. A damaged or hostile file can make such a
reader take all memory, run without end or crash. Here that ends one small process and becomes one refusal. The process
gets the file's path and the declared dialect, and writes rows as text into a Parquet file; it has no key, no ledger and
no other table. Memory is bounded where the system can bound it (not on Windows).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Arrow, Json, JsonObject
from dpengine.declared.dialect import LONGEST_RECORD, Dialect, check_names
from dpengine.intake import sheet_records, statistics_records

MOST_MEMORY = 4 << 30  # bytes of address space
MOST_SECONDS = 1_800
_ROOT = str(Path(__file__).resolve().parents[2])
_START = "import sys; sys.path.insert(0, sys.argv[1]); from dpengine.intake.file_process import main; main()"
# What a process needs to start; nothing else of the environment is passed on.
_PASSED = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def run(work: str, given: JsonObject, progress: Callable[[float], None] | None = None) -> Json:
    """Do `work` (a name in `_WORKS`) in a process and return its result. A refusal there is raised here. A process that
    crashes, or takes too much memory or time, becomes a refusal."""
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    command = [sys.executable, "-I", "-c", _START, _ROOT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}  # errors quote cells
    started = subprocess.Popen(command, env=environment, encoding="utf-8", **pipes)  # type: ignore[call-overload]
    with started as process, _ended(process):
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"work": work, "given": given}))
            process.stdin.close()
        for line in process.stdout:
            message = _read(line)
            if "share" in message and progress is not None:
                progress(float(message["share"]))
            if "done" in message:
                return message["done"]
            if "refused" in message:
                raise AllowanceError(message["refused"], **message["facts"])
    raise AllowanceError("load.heavy")


@contextmanager
def _ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """A context that ends the process when the work ends, at the latest after MOST_SECONDS."""
    timer = threading.Timer(MOST_SECONDS, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        process.kill()


def _read(line: str) -> JsonObject:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


# --- in the process


def main() -> None:
    """What the process does: read one job from standard input, do it, and write the result as a line of JSON."""
    _limit()
    answers, sys.stdout = sys.stdout, sys.stderr  # a library may print

    def tell(what: JsonObject) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    asked = json.loads(sys.stdin.read())
    try:
        work = _WORKS[asked["work"]]
        tell({"done": work(lambda share: tell({"share": share}), **asked["given"])})
    except AllowanceError as refusal:
        facts = {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in refusal.facts.items()}
        tell({"refused": refusal.code, "facts": facts})
    except MemoryError:
        tell({"refused": "load.heavy", "facts": {}})


def _limit() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold rows
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


# Files of foreign formats as rows of text, read in that process.
#
# A reader yields the column names and rows of texts; the same rules bound them as any other file: no more cells than a
# file of its size can hold, no cell longer than a record, nothing read from rows but the rows.

MOST_UNPACKED = 10**9  # bytes that a small file may unpack to …
MOST_TIMES = 200  # … and a larger one, per byte of its own
CELL = 8  # bytes that an empty cell counts for

Report = Callable[[float], None]


def describe(report: Report, path: str, dialect: Json) -> JsonObject:
    """The column names, the visible sheets and the file's own code book. Returns no row."""
    place, how = Path(path), Dialect.from_json(dialect)
    if sheet_records.is_sheet(place):
        return {"sheets": sheet_records.sheets(place), "names": sheet_records.sheet_names(place, how), "book": {}}
    return {"sheets": [], **statistics_records.describe(place, how)}


def list_sheets(report: Report, path: str) -> list[str]:
    return sheet_records.sheets(Path(path))


def has_rows(report: Report, path: str, dialect: Json) -> bool:
    """Are there rows? Reads everything, keeps nothing, and refuses what `convert` would refuse."""
    some = False
    for columns, share in _batches(Path(path), Dialect.from_json(dialect))[1]:
        some = some or bool(len(columns[0]))
        report(share)
    return some


def convert(report: Report, path: str, dialect: Json, to: str) -> list[str]:
    """Write the rows to a Parquet file, as texts in columns c0, c1, …; returns the column names."""
    names, batches = _batches(Path(path), Dialect.from_json(dialect))
    schema = pa.schema([(f"c{place}", pa.string()) for place in range(len(names))])
    with pq.ParquetWriter(to, schema, write_statistics=False) as writer:
        for columns, share in batches:
            writer.write_batch(pa.record_batch(columns, schema=schema))
            report(share)
    return names


def _batches(path: Path, dialect: Dialect) -> tuple[list[str], Iterator[tuple[list[Arrow], float]]]:
    reader = sheet_records.read_rows if sheet_records.is_sheet(path) else statistics_records.read_rows
    names, batches = reader(path, dialect)
    return check_names(names), _bounded(path, batches)


def _bounded(path: Path, batches: Iterator[tuple[list[Arrow], float]]) -> Iterator[tuple[list[Arrow], float]]:
    import pyarrow.compute as pc  # slow to import

    most, size = MOST_UNPACKED + MOST_TIMES * path.stat().st_size, 0
    for columns, share in batches:
        for cells in columns:
            lengths = pc.binary_length(cells)
            if (pc.max(lengths).as_py() or 0) > LONGEST_RECORD:
                raise AllowanceError("load.long", most=LONGEST_RECORD)
            size += CELL * len(cells) + (pc.sum(lengths).as_py() or 0)
        if size > most:
            raise AllowanceError("load.swollen")
        yield columns, share


_WORKS: dict[str, Callable[..., Json]] = {work.__name__: work for work in (describe, list_sheets, has_rows, convert)}
