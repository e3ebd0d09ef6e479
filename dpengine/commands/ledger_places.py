"""A ledger as an operator's commands see it: a file in the folder, or the tables of a database. Both can be inspected
when damaged, and renewed with their valid rows; the old ledger is set aside, never deleted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from itertools import count
from pathlib import Path
from typing import Protocol

from dpengine.core import files
from dpengine.core.errors import AllowanceError, LedgerDamaged
from dpengine.core.types import JsonObject
from dpengine.ledger.chain import Verdict
from dpengine.ledger.exports import opened
from dpengine.ledger.high_water import Anchor, Mark
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.sqlite_file import anchor_path
from dpengine.ledger.store import Address, address_set

LEDGER = "ledger.sqlite"
_NEW = "ledger.new.sqlite"
_BESIDE = ("-wal", "-shm", "-journal")

Rows = Callable[[], Iterable[JsonObject]]


class Place(Protocol):
    def there(self) -> bool: ...
    def rows(self) -> AbstractContextManager[Iterator[JsonObject]]: ...
    def checked(self) -> Verdict:
        """The verdict on a ledger whose rows are valid: are its triggers and indexes right too?"""

    def renew(self, rows: Rows, then: Callable[[Ledger], None]) -> str:
        """Replace this ledger by a new one with these rows and what `then` writes; returns where the old one is now."""

    def tidy(self) -> None:
        """Finish what a killed command left behind."""

    def close(self) -> None: ...


def place_of_ledger(home: Path) -> Place:
    address = address_set()
    return InFile(home) if address is None else InDatabase(home, address)


class InFile:
    def __init__(self, home: Path) -> None:
        self.path = home / LEDGER

    def there(self) -> bool:
        return self.path.exists()

    def rows(self) -> AbstractContextManager[Iterator[JsonObject]]:
        return opened(self.path)

    def checked(self) -> Verdict:
        with closing(Ledger(self.path)) as ledger:
            return ledger.verify()

    def renew(self, rows: Rows, then: Callable[[Ledger], None]) -> str:
        home, path, new = self.path.parent, self.path, self.path.with_name(_NEW)
        for left in home.glob("ledger.new.*"):  # left by a killed recovery
            left.unlink()
        with closing(Ledger(new)) as ledger:
            ledger.adopt(rows())
            then(ledger)
            if not ledger.verify().ok:
                raise LedgerDamaged()
            head = ledger.head()
        aside = set_aside(home)
        remove_beside(path)  # or SQLite would apply an old log or journal to the new file
        files.replace(new, path)
        Anchor(anchor_path(path)).put(Mark(*head))
        anchor_path(new).unlink(missing_ok=True)
        return aside.name

    def tidy(self) -> None:
        """Nothing to do for a file: the next `renew` removes what is left."""

    def close(self) -> None:
        """Nothing is held open."""


class InDatabase:
    """A ledger in a database. While this is open, no program on any machine has the ledger open."""

    def __init__(self, home: Path, address: Address) -> None:
        from dpengine.ledger.postgres_store import PostgresLedger  # imported only when used

        self.path = home / LEDGER
        self.store = PostgresLedger(self.path, address, alone=True)
        self._copied = not self.store.holds_rows() and self.path.exists()  # a backup's file, to be carried over

    def there(self) -> bool:
        return self._copied or self.store.holds_rows()

    def rows(self) -> AbstractContextManager[Iterator[JsonObject]]:
        return opened(self.path) if self._copied else self.store.all_rows()

    def checked(self) -> Verdict:
        self.store.prepare()
        return Ledger(self.path, store=self.store).verify()

    def renew(self, rows: Rows, then: Callable[[Ledger], None]) -> str:
        """The same in one transaction: if it is killed before its end, nothing has happened."""
        aside = set_aside(self.path.parent)
        ledger = Ledger(self.path, store=self.store)
        with self.store.renewing() as schema:
            ledger.adopt(rows())
            then(ledger)
            if not ledger.verify().ok:
                raise LedgerDamaged()
        remove_file(self.path)
        return f"{aside.name}, {schema}" if schema else aside.name

    def tidy(self) -> None:
        """Set a ledger file aside if all its rows are in the database: a killed command had carried them over."""
        if self.path.exists() and not self._copied:
            with opened(self.path) as rows, self.store.all_rows() as ours:
                same = all(row["hash"] == next(ours, {}).get("hash") for row in rows)
            if not same:
                raise AllowanceError("ledger.both")
            set_aside(self.path.parent)
            remove_file(self.path)

    def close(self) -> None:
        self.store.close()


def set_aside(home: Path) -> Path:
    """Copy the folder's ledger files to a new folder beside them, and return that folder."""
    aside = next(place for number in count(1) if not (place := home / f"found-{number}").exists())
    aside.mkdir(mode=0o700)
    for name in (LEDGER, *(LEDGER + end for end in _BESIDE), anchor_path(Path(LEDGER)).name):
        if (home / name).exists():
            shutil.copyfile(home / name, aside / name)
            (aside / name).chmod(0o600)
    return aside


def remove_beside(path: Path) -> None:
    for end in _BESIDE:
        path.with_name(path.name + end).unlink(missing_ok=True)


def remove_file(path: Path) -> None:
    remove_beside(path)
    path.unlink(missing_ok=True)
