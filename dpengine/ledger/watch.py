"""Checks the chain while the program runs: nothing is spent from a ledger with altered rows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from dpengine.core.errors import AllowanceError, LedgerDamaged
from dpengine.ledger.chain import START, sound
from dpengine.ledger.store import Database, Store

WITHIN, SOON = 600.0, 300.0  # seconds since the last whole check: a charge waits for a new one, or starts one
_PAGE = 500
_NEXT = f"SELECT * FROM entries WHERE seq > ? ORDER BY seq LIMIT {_PAGE}"
_AT = "SELECT hash FROM entries WHERE seq = ?"
_BELOW = "SELECT seq FROM entries WHERE seq < 1 LIMIT 1"

Head = tuple[int, str]


class Watch:
    """Stops all spending within ten minutes after a row was edited, even if the edit recomputes that row's hash.

    Two things must hold before a charge, and before a step of a session is used. First, this process found the **whole
    chain** sound within the last ten minutes: every row's number, hash and link. It checks before its first charge, and
    again in the background after five minutes, so that nobody waits while questions come steadily. Second, all **rows
    since then** are sound. Those are read under the write lock; usually they are few.

    Earlier answers can still be read. The *content* of the rows (sums, rights, grants) is recomputed by `verify`
    (chain.py), not here. A chain that somebody wrote anew as a whole has another head: compare it with one kept
    elsewhere. An older copy put back is noticed at the next charge (high_water.py). A process has one Watch for each
    ledger, shared by its threads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._checking, self._state = threading.Lock(), threading.Lock()
        self._head: Head = (0, START)
        self._whole: float | None = None  # start time of the last whole check that passed
        self._runs: threading.Thread | None = None
        self._closed = False

    def before_spending(self) -> None:
        """Check the whole chain if the last check is too old. Call this method before taking the write lock: others can
        still write. It refuses nothing, as an earlier charge may be looked up; `refuse_broken` refuses, later."""
        age = self._age()
        if age > WITHIN:
            with self._checking:  # whoever waited here is served by the check they waited for
                if self._age() > WITHIN:
                    with suppress(LedgerDamaged):  # `refuse_broken` refuses that
                        self._check()
        elif age > SOON:
            self.check_soon()

    def refuse_broken(self, db: Database) -> None:
        """Refuse, under the write lock, if the checked rows or the rows since then are not sound."""
        with self._state:
            seq, digest = self._head
            checked = self._whole is not None
        if not checked:
            self._refuse()
        if seq and next((row["hash"] for row in db.query(_AT, [seq])), None) != digest:
            self._refuse()
        head, ended = (seq, digest), False
        while not ended:
            head, ended = self._page(db, head)
        with self._state:
            self._head = max(self._head, head)

    def check_soon(self) -> None:
        """Start a whole check in the background, unless one is running."""
        with self._state:
            if self._closed or (self._runs is not None and self._runs.is_alive()):
                return
            # No daemon: when the program ends, it would still read from a connection that is being closed.
            self._runs = threading.Thread(target=self._in_background, name="chain")
            self._runs.start()

    def close(self) -> None:
        with self._state:
            self._closed, runs = True, self._runs
        if runs is not None and runs is not threading.current_thread():
            runs.join()
        self._closed = False  # a later call opens the ledger again

    def _in_background(self) -> None:
        with self._checking, suppress(AllowanceError):  # the next charge checks again, and refuses
            self._check(threading.main_thread().is_alive)

    def _check(self, wanted: Callable[[], bool] = lambda: True) -> None:
        """Check every row from the first on, a page at a time, as long as `wanted` returns True."""
        began, head = time.monotonic(), (0, START)
        with self._store.reading() as db:
            if list(db.query(_BELOW)):
                self._refuse()
        ended = False
        while not ended and not self._closed and wanted():
            with self._store.reading() as db:
                head, ended = self._page(db, head)
        if ended:
            with self._state:
                self._head, self._whole = head, began

    def _page(self, db: Database, head: Head) -> tuple[Head, bool]:
        """Check the next page of rows after `head`. Returns the new head, and whether this was the last page."""
        page = list(db.query(_NEXT, [head[0]]))
        for row in page:
            if row["seq"] != head[0] + 1 or row["prev"] != head[1] or not sound(row):
                self._refuse()
            head = row["seq"], row["hash"]
        return head, len(page) < _PAGE

    def _refuse(self) -> None:
        with self._state:
            self._whole = None  # so the next charge checks everything again
        raise LedgerDamaged()

    def _age(self) -> float:
        with self._state:
            return float("inf") if self._whole is None else time.monotonic() - self._whole
