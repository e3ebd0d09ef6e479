"""The chain is checked while the program runs: nothing is spent from a ledger whose rows are not as they were written.

Before a charge, and before a step of a session is used, two things must hold. The **whole chain**, every row's number,
hash and link from the first row on, was found sound by this process within the last ten minutes: at the first charge
after the start, and again in the background from five minutes on, so that nobody waits while questions come steadily.
And the **rows since then** are sound, up to the very row that the charge continues: those are read under the write
lock, and are usually a few. So a row that is edited by hand stops all spending within ten minutes, also where the edit
hashes its own row anew; earlier answers can still be read.

What the rows *say*, sums, rights and grants, is recomputed by `verify` (chain.py) and not here: somebody who writes a
whole new chain changes its head, which is kept elsewhere. A sound copy that was put back is noticed at the next charge.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import suppress

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import JsonObject
from dpengine.ledger.chain import START, sound
from dpengine.ledger.store import Database, Store

WITHIN, SOON = (
    600.0,
    300.0,
)  # seconds since the whole chain was checked: beyond which a charge waits for it, or begins it
DAMAGED = "ledger.damaged"
_PAGE = 500
_NEXT = f"SELECT * FROM entries WHERE seq > ? ORDER BY seq LIMIT {_PAGE}"
_AT = "SELECT hash FROM entries WHERE seq = ?"
_BELOW = "SELECT seq FROM entries WHERE seq < 1 LIMIT 1"

Head = tuple[int, str]


class Watch:
    """One for each ledger that a process has open, shared by its threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._one, self._state = threading.Lock(), threading.Lock()
        self._head: Head = (0, START)
        self._whole: float | None = None  # when the last whole check that found nothing began
        self._runs: threading.Thread | None = None
        self._closed = False

    def before_spending(self) -> None:
        """Look, outside the write lock: a long ledger must not keep others from writing. Refuses nothing: what was
        charged before is still found."""
        age = self._age()
        if age > WITHIN:
            with self._one:  # whoever waited here has been served by the check that they waited for
                if self._age() > WITHIN:
                    self._look()
        elif age > SOON:
            self.check_soon()

    def refuse_broken(self, db: Database) -> None:
        """Under the write lock: refuses if what was looked at, or a row since then, is not sound."""
        with self._state:
            seq, digest = self._head
            looked = self._whole is not None
        if not looked:
            self._refuse()
        if seq and next((row["hash"] for row in db.query(_AT, [seq])), None) != digest:
            self._refuse()
        head = self._walk(db, (seq, digest))
        with self._state:
            self._head = max(self._head, head)

    def check_soon(self) -> None:
        """Begin a whole check in the background, unless one runs: as when a program starts."""
        with self._state:
            if self._closed or (self._runs is not None and self._runs.is_alive()):
                return
            self._runs = threading.Thread(target=self._in_background, name="chain", daemon=True)
            self._runs.start()

    def close(self) -> None:
        with self._state:
            self._closed, runs = True, self._runs
        if runs is not None and runs is not threading.current_thread():
            runs.join()
        self._closed = False  # a later call opens the ledger again

    def _in_background(self) -> None:
        with self._one, suppress(AllowanceError):  # the next charge looks again, and says so
            self._check()

    def _look(self) -> None:
        try:
            self._check()
        except AllowanceError as error:
            if error.code != DAMAGED:  # `refuse_broken` says that
                raise

    def _check(self) -> None:
        """Every row from the first on, in pages that are each a read of their own."""
        began, head = time.monotonic(), (0, START)
        with self._store.reading() as db:
            if list(db.query(_BELOW)):
                self._refuse()
        while not self._closed:
            with self._store.reading() as db:
                page = list(db.query(_NEXT, [head[0]]))
            head = self._linked(page, head)
            if len(page) < _PAGE:
                with self._state:
                    self._head, self._whole = head, began
                return

    def _walk(self, db: Database, head: Head) -> Head:
        while True:
            page = list(db.query(_NEXT, [head[0]]))
            head = self._linked(page, head)
            if len(page) < _PAGE:
                return head

    def _linked(self, rows: Iterable[JsonObject], head: Head) -> Head:
        for row in rows:
            if row["seq"] != head[0] + 1 or row["prev"] != head[1] or not sound(row):
                self._refuse()
            head = row["seq"], row["hash"]
        return head

    def _refuse(self) -> None:
        with self._state:
            self._whole = None  # so the next charge looks at all of it again
        raise AllowanceError(DAMAGED)

    def _age(self) -> float:
        with self._state:
            return float("inf") if self._whole is None else time.monotonic() - self._whole
