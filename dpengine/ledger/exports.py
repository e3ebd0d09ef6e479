"""Reading a ledger from a file: the SQLite file itself, a copy of it, or the export as JSON lines.

Nothing here creates or changes a file beside the one it reads. A SQLite file without a log is read in place; one with a
write-ahead log too if both of SQLite's helper files exist, else from a private copy. A file with a rollback journal is
read under SQLite's locks; if a write to it was killed, from a copy in which that write is undone. An export begins with
a line that gives the number of rows and the hash of the last one, so that a shortened file is noticed.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical
from dpengine.core.types import Json, JsonObject
from dpengine.ledger.chain import FORMAT
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import COLUMNS
from dpengine.ledger.sqlite_file import SHARES_MEMORY
from dpengine.ledger.store import SETTING, address_set

_SQLITE = b"SQLite format 3\x00"
_ROWS = f"SELECT {', '.join(COLUMNS)} FROM entries ORDER BY seq"


def export_lines(ledger: Ledger) -> Iterator[str]:
    """The whole ledger as text: a line with the number of rows and the last hash, then every row as stored."""
    rows, head = ledger.head()
    yield canonical({"ledger": FORMAT, "rows": rows, "head": head}) + "\n"
    for row in ledger.export_rows():
        if row["seq"] > rows:  # written while we were reading
            return
        yield canonical({name: row[name] for name in COLUMNS}) + "\n"


def opened_anywhere(path: Path) -> AbstractContextManager[Iterator[JsonObject]]:
    """A context with all rows of the ledger in order, read-only: from the database that the environment names, else
    from the file at `path`."""
    address = address_set()
    if address is None:
        if str(path) == SETTING:
            raise AllowanceError("carry.no_address", setting=SETTING)
        return opened(path)
    from dpengine.ledger.postgres_store import rows_in  # imported only when used

    return rows_in(address)


@contextmanager
def opened(path: Path) -> Iterator[Iterator[JsonObject]]:
    """A context with the rows of a ledger file, in order. A fault in the file is raised as one sentence."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_SQLITE))
        if start != _SQLITE:
            with path.open(encoding="utf-8", errors="surrogateescape") as lines:
                yield _exported(lines, path.name)
            return
        with _database(path.absolute()) as address, closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            connection.row_factory = sqlite3.Row
            yield (dict(row) for row in connection.execute(_ROWS))
    except FileNotFoundError:
        raise AllowanceError("verify.ledger_missing", file=path.name) from None
    except OSError:
        raise AllowanceError("verify.ledger_unreadable", file=path.name) from None
    except sqlite3.DatabaseError:
        raise AllowanceError("verify.ledger_cut", file=path.name) from None
    except (TypeError, ValueError, LookupError, ArithmeticError, RecursionError):  # somebody made this file by hand
        raise AllowanceError("verify.not_ledger", file=path.name) from None


@contextmanager
def _database(path: Path) -> Iterator[str]:
    """The address under which SQLite reads the file in place, without creating a file beside it."""
    log, shared, journal = (path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))
    with path.open("rb") as file:
        keeps_log = file.read(20)[18:] == SHARES_MEMORY
    in_place = f"{path.as_uri()}?mode=ro"
    if keeps_log and (not log.exists() or not log.stat().st_size):
        yield f"{in_place}&immutable=1"
    elif shared.exists() if keeps_log else not (journal.exists() and _killed(in_place)):
        yield in_place
    else:
        with tempfile.TemporaryDirectory() as folder:
            for source in (path, log if keeps_log else journal):
                shutil.copyfile(source, Path(folder, source.name))
            yield f"{Path(folder, path.name).as_uri()}?mode=rw"


def _killed(address: str) -> bool:
    """Was a write to this file killed halfway? SQLite would have to undo that write first, which a read-only file does
    not allow."""
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
    return False


def _exported(lines: Iterator[str], name: str) -> Iterator[JsonObject]:
    """An export's rows, each with exactly the columns of a row. The first line gives their number and last hash."""
    first = _read(next(lines, ""))
    if not isinstance(first, dict) or first.get("ledger") != FORMAT:
        raise AllowanceError("verify.not_ledger", file=name)
    seen, head = 0, None
    for line in lines:
        row = _read(line)
        if row is None:
            raise AllowanceError("verify.ledger_cut", file=name)
        if not isinstance(row, dict) or set(row) != set(COLUMNS) or type(row["seq"]) is not int:
            raise AllowanceError("verify.not_ledger", file=name)
        seen, head = seen + 1, row["hash"]
        yield row
    if seen != first.get("rows") or (seen and head != first.get("head")):
        raise AllowanceError("verify.ledger_cut", file=name)


def _read(line: str) -> Json:
    """The line as JSON; None if it is no JSON. The parser's own error would quote the line, and somebody may have
    picked the wrong file."""
    try:
        return json.loads(line)
    except ValueError:
        return None
