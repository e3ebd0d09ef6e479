"""The ledger of a workspace: a file in its folder, unless the environment names a database (store.py)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.core.types import JsonObject
from dpengine.ledger.exports import opened
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.store import SETTING, address_set, mark_of


def open_ledger(path: Path, secret: bytes = b"") -> Ledger:
    """`path`: its place in the folder. `secret`: the folder's key, from which the database's mark is derived."""
    address = address_set()
    if address is None:
        return Ledger(path)
    from dpengine.ledger.postgres_store import PostgresLedger  # imported only when used

    return Ledger(path, store=PostgresLedger(path, address, mark=mark_of(secret) if secret else ""))


@contextmanager
def opened_anywhere(path: Path) -> Iterator[Iterator[JsonObject]]:
    """The rows of a ledger that is only read, in order: from the database if one is set, else from the file."""
    address = address_set()
    if address is None:
        if str(path) == SETTING:
            raise AllowanceError("carry.no_address", setting=SETTING)
        with opened(path) as rows:
            yield rows
        return
    from dpengine.ledger.postgres_store import rows_in

    with rows_in(address) as rows:
        yield rows
