"""Somebody at the door: a person's face, as far as their token reaches. Every verb asks for its table here, so one that
the token does not name is refused like one that does not exist, before anything else happens."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from dpengine.asking.answers import Job
from dpengine.core.errors import AllowanceError
from dpengine.people.face import Face
from dpengine.storage.samples import SAMPLES
from dpengine.storage.tokens import Token
from dpengine.table import Table

_LONGEST = 80
_MOST = 10_000


class Asked:
    """Which question stands behind a request that came in here, while the ledger does not know it yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()

    def note(self, person: str, request: str, table: str, digest: str) -> None:
        """Refuses a request that another question came with before."""
        with self._lock:
            if self._known.setdefault((person, request), (table, digest)) != (table, digest):
                raise AllowanceError("request.reused")
            while len(self._known) > _MOST:
                self._known.popitem(last=False)

    def drop(self, person: str, request: str) -> None:
        """It was refused, so nothing was asked under this id."""
        with self._lock:
            self._known.pop((person, request), None)

    def table_of(self, person: str, request: str) -> str | None:
        with self._lock:
            return self._known.get((person, request), (None,))[0]


@dataclass(frozen=True)
class Visit:
    face: Face
    token: Token
    asked: Asked

    @property
    def person(self) -> str:
        return self.token.person

    def table(self, name: object) -> Table:
        if not isinstance(name, str) or not self.token.covers(name):
            raise AllowanceError("table.unknown", name=str(name)[:_LONGEST])
        return self.face.table(name)

    def tables(self) -> list[str]:
        """The tables that the person may see and the token covers; samples last."""
        seen = [*(record.name for record in self.face.tables() if record.name not in SAMPLES), *SAMPLES]
        return [name for name in seen if self.token.covers(name)]

    def charged(self, request: str, table: str, digest: str) -> bool:
        """Was this very question charged under this request before? Refused where another was."""
        entry = self.face.ledger.find(request)
        if entry is None:
            return False
        if (entry.charge.actor, entry.charge.table, entry.charge.claim.get("digest")) != (self.person, table, digest):
            raise AllowanceError("request.reused")
        return True

    def job(self, request: str) -> Job:
        """A question of this person's about a table of this token; any other is unknown."""
        found = self.face.job(request)
        table = self.asked.table_of(self.person, request)
        if table is None and (entry := self.face.ledger.find(request)) is not None:
            table = entry.charge.table
        if found.state == "unknown" or (self.token.tables and not (table and self.token.covers(table))):
            raise AllowanceError("request.unknown")
        return found
