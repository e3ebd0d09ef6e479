"""`python -m dpengine ledger`: carry the ledger from its file into a Postgres database, or back.

Every row is carried over as it is, so the head and all receipts stay the same; the new ledger is checked whole before
it counts. No program may have the workspace open. The old ledger is set aside, so that nobody spends from it: the file
into `found-…/`, the tables into a schema of that name. If the command is killed, run it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from dpengine.commands.backup import home_of
from dpengine.commands.ledger_places import InDatabase, InFile, Place
from dpengine.commands.recover import look
from dpengine.core.errors import AllowanceError, Misused
from dpengine.core.types import JsonObject
from dpengine.ledger.store import SETTING, address_set
from dpengine.messages import say
from dpengine.storage.workers import Hold


def main(arguments: list[str]) -> int:
    home, rest = home_of(arguments)
    if rest not in (["--into-postgres"], ["--into-file"]):
        raise Misused
    address = address_set()
    if address is None:
        raise AllowanceError("carry.no_address", setting=SETTING)
    with Hold(home, alone=True), closing(InDatabase(home, address)) as database:
        rows = into_database(home, database) if rest == ["--into-postgres"] else into_file(home, database)
    print(say("carry.done" if rest == ["--into-postgres"] else "carry.back", rows=rows, setting=SETTING))
    return 0


def into_database(home: Path, database: InDatabase) -> int:
    file = InFile(home)
    if database.store.holds_rows():
        if not file.there():
            raise AllowanceError("carry.not_empty", setting=SETTING)
        database.tidy()  # carried over before, and only the file is left
        return _fine(home, database)
    rows = _fine(home, file)
    database.renew(lambda: _all(file), lambda _: None)
    return rows


def into_file(home: Path, database: InDatabase) -> int:
    file = InFile(home)
    if not database.store.holds_rows():
        raise AllowanceError("carry.nothing", setting=SETTING)
    if not file.there():
        _fine(home, database)
        file.renew(lambda: _all(database), lambda _: None)
    with file.rows() as ours, database.rows() as theirs:  # the file may have been used since
        if not all(next(ours, {}).get("hash") == row["hash"] for row in theirs):
            raise AllowanceError("ledger.both")
    database.store.put_away()
    return _fine(home, file)


def _all(place: Place) -> Iterable[JsonObject]:
    with place.rows() as rows:
        yield from rows


def _fine(home: Path, place: Place) -> int:
    state = look(home, place)
    if state.state != "fine":
        raise AllowanceError("carry.not_fine")
    return state.rows
