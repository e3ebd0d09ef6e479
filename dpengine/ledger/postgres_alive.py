"""Which processes, on whichever machine, spend from a ledger in Postgres.

Each holds a session's advisory lock under its name. The server frees it with the connection: on kill -9, and within a
minute when a machine vanishes. A lock that is free while its process lives, because the server was started anew,
declares nobody dead: the kernel's lock in the folder counts too (workers.py), and the next charge takes it again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from dpengine.core.errors import AllowanceError
from dpengine.ledger.address import Address
from dpengine.ledger.postgres_link import Link

_LOOK_AGAIN = 0.05
_LISTED = (
    "SELECT objid::bigint AS name FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
    " AND mode = 'ExclusiveLock' AND classid::bigint = %s"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class Alive:
    def __init__(self, address: Address, wait: float, connected: Callable[[], Link]) -> None:
        self._ledger, self._wait, self._connected = address.lock("worker") % 2**32, wait, connected
        self._begin()

    def _begin(self) -> None:
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._link: Link | None = None
        self._worker = ""

    def announce(self, worker: str) -> bool:
        if self._pid != os.getpid():
            self._begin()  # a forked child leaves its parent's connection alone
        with self._lock:
            if self._worker == worker and self._link is not None and self._link.answers():
                return False
            self._drop()
            link = self._link = self._connected()
            deadline = time.monotonic() + self._wait
            while not link.value("SELECT pg_try_advisory_lock(%s, %s)", self._name(worker)):
                if time.monotonic() > deadline:  # the server has not noticed yet that an older connection broke
                    raise AllowanceError("ledger.locked")
                time.sleep(_LOOK_AGAIN)
            self._worker = worker
            return True

    def hears(self, db: Link, worker: str) -> bool:
        """The lock is tried as a shared one, so two that ask at once do not take each other for the worker."""
        return not db.value("SELECT pg_try_advisory_xact_lock_shared(%s, %s)", self._name(worker))

    def others(self, db: Link) -> list[str]:
        return [format(row["name"], "08x") for row in db.plain(_LISTED, [self._ledger])]

    def leave(self) -> None:
        if self._pid == os.getpid():
            with self._lock:
                self._drop()

    def _drop(self) -> None:
        link, self._link, self._worker = self._link, None, ""
        if link is not None:
            link.close()

    def _name(self, worker: str) -> list[int]:
        """The two numbers of a worker's lock: the ledger's, and how the worker's name begins."""
        return [_signed(self._ledger), _signed(int(worker[:8], 16))]


def _signed(number: int) -> int:
    return number - 2**32 if number >= 2**31 else number
