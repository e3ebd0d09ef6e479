"""The face of a workspace: everything one person may do, and nothing else. Where people sign in, pages and the API use
only this, so a page that forgets to check a right does no harm.

Every verb is checked when it is called, against the ledger at that moment (rights.py lists who may use which verb). The
ledger itself decides once more about everything that spends or changes, in the transaction that writes its row. A face
never hands out the workspace, its tables, ledger or jobs, but faces of them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from dpengine.asking.answers import Answer, Job
from dpengine.asking.jobs import Jobs
from dpengine.asking.plan import PlanRun
from dpengine.asking.receipts import Finding, check, read_receipts
from dpengine.asking.sessions import Session
from dpengine.core.errors import AllowanceError
from dpengine.declared.source import Source
from dpengine.intake.postgres import Described
from dpengine.ledger.chain import Verdict
from dpengine.ledger.ledger import Act, Entry, Ledger
from dpengine.people import limiter, rights
from dpengine.people.face_people import PeopleFace
from dpengine.people.home import House, PersonHome, Standpoint
from dpengine.people.person_table import PersonTable
from dpengine.storage.registry import Record
from dpengine.storage.tokens import Token
from dpengine.table import Table

_log = logging.getLogger("allowance")


class Guarded:
    """A part of the workspace with some of its verbs, each checked when it is called."""

    __slots__ = ("__at", "__inner", "__name", "__verbs")

    def __init__(self, at: Standpoint, inner: object, verbs: Mapping[str, frozenset[str]], name: str | None) -> None:
        self.__at, self.__inner, self.__verbs, self.__name = at, inner, verbs, name

    def __getattr__(self, verb: str) -> object:
        if verb not in self.__verbs:
            raise AttributeError(verb)
        at, verbs, name = self.__at, self.__verbs, self.__name
        kind = type(self.__inner)
        if not callable(getattr(kind, verb, None)):
            at.refuse(verbs[verb], name)
            return getattr(self.__inner, verb)
        act = getattr(self.__inner, verb)

        def checked(*given: object, **named: object) -> object:
            at.refuse(verbs[verb], name)
            limiter.here.verb(at.person, verb)
            return faced(at, act(*given, **named))

        checked.__name__, checked.__doc__ = verb, act.__doc__  # and nothing that leads to `act`
        return checked

    def __dir__(self) -> list[str]:
        return sorted(self.__verbs)


def faced(at: Standpoint, value: object) -> object:
    """What a verb returned, behind its own face if it has one."""
    if isinstance(value, Table):
        return Guarded(at, value, rights.TABLE, value.name)
    if isinstance(value, Session):
        if value.entry.charge.actor != at.person:
            raise AllowanceError("session.unknown")
        return Guarded(at, value, rights.SESSION, value.entry.charge.table)
    if isinstance(value, PlanRun) and any(entry.charge.actor != at.person for entry, _ in value.rows):
        return PlanRun(value.id)
    return value


class Face(PeopleFace):
    """A workspace as one person may use it."""

    __slots__ = ()

    def __init__(self, house: House, person: str) -> None:
        self._at = Standpoint(house, person)
        self.person = person

    def may(self, verb: str, table: str | None = None) -> bool:
        """May they do this now, to a table or at all? For what a page shows; the verb itself checks again."""
        verbs = rights.WORKSPACE | rights.TABLE if table is not None else rights.WORKSPACE
        return verb in verbs and self._at.may(verbs[verb], table)

    @property
    def served(self) -> bool:
        return True

    @property
    def samples_only(self) -> bool:
        self._check("samples_only")
        return self._at.house.samples_only

    @property
    def folder(self) -> Path:
        """Where their files wait before they become a table. Nobody else's files are there."""
        self._check("folder")
        place = self._at.house.folder / "people" / self.person
        for part in (place.parent, place, place / "tmp", place / "files"):
            part.mkdir(mode=0o700, exist_ok=True)
        return place

    @property
    def ledger(self) -> Ledger:
        """The ledger as pages read it: rows about tables that the person may see."""
        return cast(Ledger, Guarded(self._at, self._at.ledger, rights.LEDGER, None))

    @property
    def jobs(self) -> Jobs:
        return cast(Jobs, Guarded(self._at, self._at.jobs, rights.JOBS, None))

    # Tables

    def table(self, name: str, visitor: str = "") -> Table:
        """A table that they may see; a sample has a practice budget of their own."""
        self._check("table", name)
        return self._table(name)

    def _table(self, name: str, joined: bool = False) -> Table:
        record = self._at.house.record(name)
        table = PersonTable(PersonHome(self._at), record, self._at.budget_of(record), self.person, joined)
        return cast(Table, faced(self._at, table))

    def tables(self) -> list[Record]:
        self._check("tables")
        return [record for record in self._at.house.tables() if self._at.visible(record.name, record.budget)]

    def names(self) -> list[tuple[str, str]]:
        self._check("names")
        knows = self._administers()  # whoever hands tables over knows which there are
        return [(name, budget) for name, budget in self._at.house.names() if knows or self._at.visible(name, budget)]

    def here(self, name: str) -> bool:
        self._check("here")
        return self._at.visible(name) and self._at.house.here(name)

    def closed(self) -> dict[str, str]:
        self._check("closed")
        return {name: kind for name, kind in self._at.house.closed().items() if self._at.visible(name)}

    def add_table(self, name: str, source: object, **declared: object) -> Table:
        """Add a table: they become its owner, with a grant of its whole allowance."""
        self._check("add_table")
        if isinstance(source, str | Path) and self.folder.resolve() not in Path(source).resolve().parents:
            raise AllowanceError("load.absent")  # files outside their own folder do not exist for them
        added = self._at.house.add_table(name, source, **declared | {"actor": self.person})
        return self._table(added.name, added.joined)

    def describe_source(self, source: Source) -> Described:
        """The columns of a table in a database, on hosts that the operator named."""
        self._check("describe_source")
        described = self._at.house.describe_source(source)
        return replace(described, earlier=tuple(name for name in described.earlier if self._at.governs(name)))

    @property
    def reads_databases(self) -> bool:
        self._check("reads_databases")
        return self._at.house.reads_databases

    @property
    def reads_lakes(self) -> bool:
        self._check("reads_lakes")
        return self._at.house.reads_lakes

    def has_source(self, name: str) -> bool:
        self._check("has_source", name)
        return self._at.house.has_source(name)

    def bring_newer(self, name: str, newer: str, **declared: object) -> Table:
        """A newer state of a table of theirs from a database."""
        self._check("bring_newer", name)
        added = self._at.house.bring_newer(name, newer, **declared | {"actor": self.person})
        return self._table(added.name, added.joined)

    def seal(self, name: str, actor: str = "") -> Act:
        self._check("seal", name)
        return self._at.house.seal(name, self.person)

    def forget(self, name: str, actor: str = "") -> Act:
        self._check("forget", name)
        return self._at.house.forget(name, self.person)

    def raise_cap(self, name: str, epsilon: object, actor: str = "") -> Act:
        self._check("raise_cap", name)
        return self._at.house.raise_cap(name, epsilon, self.person)

    # Tokens, by which a program asks for a person (storage/tokens.py)

    def new_token(
        self, name: str, tables: Sequence[str] = (), metrics: bool = False, until: str = ""
    ) -> tuple[str, Token]:
        """A token, shown now and never again, and its stored record. It covers the named tables, or all that the person
        may see; with `metrics`, only the figures about the server, for an administrator alone. It works through its
        last day, at most a year from now; 90 days if none is named."""
        self._check("new_token")
        for table in tables:
            self._check("table", table)
        if metrics and not self._administers():
            raise AllowanceError("people.no_right")
        shown, token = self._at.house.token_book.make(self.person, name, tables, metrics, until)
        _log.warning("token made: %s by %s", token.id, self.person)
        return shown, token

    def tokens(self, person: str | None = None) -> list[Token]:
        """Their own tokens; for an administrator also another person's."""
        self._check("tokens")
        if person not in (None, self.person) and not self._administers():
            raise AllowanceError("people.no_right")
        return self._at.house.token_book.of(person or self.person)

    def revoke_token(self, token: str) -> None:
        """Revoke a token of their own by its id; an administrator anybody's. It opens nothing from now on."""
        self._check("revoke_token")
        known = self._at.house.token_book.find(token)
        if known is None or not (known.person == self.person or self._administers()):
            raise AllowanceError("token.unknown")
        self._at.house.token_book.revoke(token)
        _log.warning("token revoked: %s by %s", token, self.person)

    def _administers(self) -> bool:
        return self._at.may(frozenset({rights.ADMINISTRATOR}))

    # Answers

    def answer_of(self, entry: Entry) -> Answer | None:
        self._check("answer_of", entry.charge.table)
        return PersonHome(self._at).answer_of(entry)

    def job(self, request_id: str, actor: str = "") -> Job:
        """The state of a question of theirs; any other is unknown."""
        self._check("job")
        return PersonHome(self._at).job(request_id)

    def published_file(self, request_id: str) -> Path:
        self._check("published_file")
        entry = self._at.ledger.find(request_id)
        if entry is None:
            raise AllowanceError("request.unknown")
        self._check("published_file", entry.charge.table)
        return self._at.house.published_file(request_id)

    def verify_ledger(self) -> Verdict:
        self._check("verify_ledger")
        return self._at.house.verify_ledger()

    def check_receipts(self, content: bytes, name: str) -> list[Finding]:
        """Checked against the rows that they may see: any other is unknown."""
        self._check("check_receipts")
        rows = self._at.house.ledger.export_rows()  # all: the chain is one
        return check(read_receipts(content, name), rows, lambda request: self._at.ledger.find(request) is not None)
