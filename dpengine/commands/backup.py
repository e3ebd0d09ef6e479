"""`python -m dpengine backup DESTINATION`: a whole copy of a workspace, made while it is in use.

Meanwhile no table is loaded or declared anew; questions go on. Tables are copied first, then the ledger in one
snapshot, as a file even if it is in a database: a table forgotten in between is closed in the copy's ledger, and its
rows are deleted when the copy is opened. Published tables come last. The copy is marked as a copy (high_water.py): it
cannot be used as a workspace before an operator says what became of the original (recover.py).
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import takewhile
from pathlib import Path

from dpengine.commands.ledger_places import LEDGER
from dpengine.core import files, places
from dpengine.core.errors import AllowanceError, LedgerDamaged, Misused
from dpengine.ledger.chain import START, Verdict, verify
from dpengine.ledger.exports import opened
from dpengine.ledger.high_water import Anchor, Mark
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.sqlite_file import anchor_path
from dpengine.messages import say
from dpengine.workspace import Workspace

REGISTRY, SECRET, PUBLISHED = "registry.sqlite", "secret", "published"


def main(arguments: list[str]) -> int:
    home, rest = home_of(arguments)
    if len(rest) != 1 or rest[0].startswith("-"):
        raise Misused
    place = Path(rest[0])
    tables, verdict = backup(home, place)
    print(say("backup.done", tables=tables, rows=verdict.rows, head=verdict.head[1], place=str(place)))
    return 0


def home_of(arguments: list[str]) -> tuple[Path, list[str]]:
    """The workspace's folder and the other arguments. The folder is that of the app, unless `--home` names another."""
    home, rest = place_of(arguments)
    folder = Path(home).resolve()
    if not any((folder / name).exists() for name in (LEDGER, REGISTRY, anchor_path(Path(LEDGER)))):
        raise AllowanceError("backup.nothing", place=home)
    return folder, rest


def place_of(arguments: list[str]) -> tuple[str, list[str]]:
    """The folder and the other arguments, as `home_of`; the folder need not hold a workspace."""
    rest, home = list(arguments), str(places.home())
    if "--home" in rest[:-1]:
        place = rest.index("--home")
        home = rest[place + 1]
        del rest[place : place + 2]
    return home, rest


def backup(home: Path, place: Path) -> tuple[int, Verdict]:
    """Copy a workspace; returns the number of tables and the verdict on the copy's ledger, which must be valid."""
    if place.exists():
        raise AllowanceError("backup.exists", place=str(place))
    if home in place.resolve().parents:
        raise AllowanceError("backup.inside")
    if not os.access(beside := place.resolve().parent, os.W_OK):  # also if it does not exist
        raise AllowanceError("backup.no_folder", place=str(beside))
    with closing(Workspace(home)) as workspace, workspace.loading(exclusive=True) as alone:
        if not alone:
            raise AllowanceError("backup.loading")
        try:
            return _copy(workspace, place)
        except BaseException as error:
            shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, OSError | sqlite3.Error | shutil.Error):
                raise AllowanceError("backup.failed") from None
            raise


def _copy(workspace: Workspace, place: Path) -> tuple[int, Verdict]:
    place.mkdir(mode=0o700)
    (place / "tables").mkdir(mode=0o700)
    line = Anchor(anchor_path(place / LEDGER))
    line.put(Mark(0, START, copy=True))  # first, so that an unfinished copy cannot be used as a workspace either
    gone = {name for name, kind in workspace.closed().items() if kind == "forget"}
    tables = [record for record in workspace.tables() if record.name not in gone]
    for record in tables:
        _folder(workspace.folder / "tables" / record.folder, place / "tables" / record.folder)
    _file(workspace.folder / SECRET, place / SECRET, shutil.copyfile)
    _file(workspace.folder / REGISTRY, place / REGISTRY, _database)
    if workspace.ledger.store.shared:
        _from_database(workspace.ledger, place / LEDGER)
    else:
        _file(workspace.folder / LEDGER, place / LEDGER, _database)
    published = workspace.folder / PUBLISHED  # after the ledger: by then every table it names as published exists
    if published.is_dir():
        _folder(published, place / PUBLISHED)
    with opened(place / LEDGER) as rows:
        verdict = verify(rows)
    if not verdict.ok:
        raise LedgerDamaged()
    # Samples are loaded again on first use: their rows are not copied, so they must not be listed.
    with closing(sqlite3.connect(place / REGISTRY)) as registry, registry:
        registry.execute("DELETE FROM tables WHERE practice = 1")
        registry.execute("DELETE FROM tokens")  # a token revoked since must not come alive with the copy
    line.put(Mark(*verdict.head, copy=True))
    return len(tables), verdict


def _folder(source: Path, place: Path) -> None:
    place.mkdir(mode=0o700)
    for file in sorted(source.iterdir()):
        if file.is_file() and file.suffix == ".parquet":
            _file(file, place / file.name, shutil.copyfile)


def _file(source: Path, place: Path, copy: Callable[[Path, Path], object]) -> None:
    """Copy a file for its user only, and flush the copy to disk."""
    files.create(place).close()
    copy(source, place)
    with open(place, "r+b") as file:
        os.fsync(file.fileno())


def _from_database(ledger: Ledger, place: Path) -> None:
    """Copy the rows of a ledger in Postgres, up to its last one now, into a ledger file, which needs no database."""
    last = ledger.head()[0]
    with closing(Ledger(place.with_name("ledger.new.sqlite"))) as file:
        file.adopt(takewhile(lambda row: row["seq"] <= last, ledger.export_rows()))
    _file(file.path, place, shutil.copyfile)
    for left in place.parent.glob("ledger.new.*"):
        left.unlink()


def _database(source: Path, place: Path) -> None:
    """Copy a SQLite database as of one moment, even while others write."""
    read_only = f"{source.as_uri()}?mode=ro"
    with closing(sqlite3.connect(read_only, uri=True)) as old, closing(sqlite3.connect(place)) as new:
        old.backup(new)
