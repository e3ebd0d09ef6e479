"""The face of a workspace: all that one person may do, and nothing else. Once people sign in, pages and other doors use
only this, so a page that forgets to ask whether somebody may do something cannot do harm.

Every verb is checked when it is called, against the ledger as it is then (rights.py says which verb is whose); what
spends or changes something is decided once more by the ledger itself, in the transaction that writes its row. A face
never hands out the workspace, a table of it, its ledger or its jobs, but faces of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import update_wrapper
from pathlib import Path
from typing import cast

from dpengine.asking.answers import Answer, Job
from dpengine.asking.jobs import Jobs
from dpengine.asking.plan import PlanRun
from dpengine.asking.receipts import Finding
from dpengine.asking.sessions import Session
from dpengine.core.errors import AllowanceError
from dpengine.ledger.chain import Verdict
from dpengine.ledger.ledger import Act, Entry, Ledger
from dpengine.ledger.people_rows import Role
from dpengine.people import rights
from dpengine.people.home import House, PersonHome, Standpoint
from dpengine.storage.people_names import KnownPerson
from dpengine.storage.registry import Record
from dpengine.table import Table


class Guarded:
    """Something of the workspace's with some of its verbs, each checked when it is called."""

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
            return faced(at, act(*given, **named))

        return update_wrapper(checked, act, assigned=("__name__", "__qualname__", "__doc__"), updated=())

    def __dir__(self) -> list[str]:
        return sorted(self.__verbs)


def faced(at: Standpoint, found: object) -> object:
    """What a verb returned, with its own face where it has one."""
    if isinstance(found, Table):
        return Guarded(at, found, rights.TABLE, found.name)
    if isinstance(found, Session):
        if found.entry.charge.actor != at.person:
            raise AllowanceError("session.unknown")
        return Guarded(at, found, rights.SESSION, found.entry.charge.table)
    if isinstance(found, PlanRun) and any(entry.charge.actor != at.person for entry, _ in found.rows):
        return PlanRun(found.id)
    return found


class Face:
    """A workspace as one person may use it."""

    __slots__ = ("__at", "person")

    def __init__(self, house: House, person: str) -> None:
        self.__at = Standpoint(house, person)
        self.person = person

    def may(self, verb: str, table: str | None = None) -> bool:
        """May they do this now, to a table or at all? For what a page shows; the verb itself asks again."""
        verbs = rights.WORKSPACE | rights.TABLE if table is not None else rights.WORKSPACE
        return verb in verbs and self.__at.may(verbs[verb], table)

    @property
    def served(self) -> bool:
        return True

    @property
    def samples_only(self) -> bool:
        self.__check("samples_only")
        return self.__at.house.samples_only

    @property
    def folder(self) -> Path:
        """Where their files wait before they become a table: nobody else's are there."""
        self.__check("folder")
        place = self.__at.house.folder / "people" / self.person
        for part in (place.parent, place, place / "tmp", place / "files"):
            part.mkdir(mode=0o700, exist_ok=True)
        return place

    @property
    def ledger(self) -> Ledger:
        """The ledger as far as pages read it: rows about tables that the person may see."""
        return cast(Ledger, Guarded(self.__at, self.__at.ledger, rights.LEDGER, None))

    @property
    def jobs(self) -> Jobs:
        return cast(Jobs, Guarded(self.__at, self.__at.jobs, rights.JOBS, None))

    # Tables

    def table(self, name: str, visitor: str = "") -> Table:
        """A table that they may see; of a sample, with a practice budget of their own."""
        self.__check("table", name)
        record = self.__at.house.record(name)
        found = Table(PersonHome(self.__at), record, self.__at.budget_of(record), self.person)
        return cast(Table, faced(self.__at, found))

    def tables(self) -> list[Record]:
        """The declared tables that they may see."""
        self.__check("tables")
        return [record for record in self.__at.house.tables() if self.__at.visible(record.name, record.budget)]

    def names(self) -> list[tuple[str, str]]:
        self.__check("names")
        knows = self.__at.may(frozenset({rights.ADMINISTRATOR}))  # who hands tables over knows which there are
        return [(name, budget) for name, budget in self.__at.house.names() if knows or self.__at.visible(name, budget)]

    def here(self, name: str) -> bool:
        self.__check("here")
        return self.__at.visible(name) and self.__at.house.here(name)

    def closed(self) -> dict[str, str]:
        self.__check("closed")
        return {name: kind for name, kind in self.__at.house.closed().items() if self.__at.visible(name)}

    def add_table(self, name: str, source: object, **declared: object) -> Table:
        """Bring a table: they become its owner, with a grant of its whole allowance."""
        self.__check("add_table")
        added = self.__at.house.add_table(name, source, **declared | {"actor": self.person})
        return self.table(added.name)

    def seal(self, name: str, actor: str = "") -> Act:
        self.__check("seal", name)
        return self.__at.house.seal(name, self.person)

    def forget(self, name: str, actor: str = "") -> Act:
        self.__check("forget", name)
        return self.__at.house.forget(name, self.person)

    def raise_cap(self, name: str, epsilon: object, actor: str = "") -> Act:
        self.__check("raise_cap", name)
        return self.__at.house.raise_cap(name, epsilon, self.person)

    # Answers

    def answer_of(self, entry: Entry) -> Answer | None:
        """A stored answer of a table that they may see."""
        self.__check("answer_of", entry.charge.table)
        return PersonHome(self.__at).answer_of(entry)

    def job(self, request_id: str, actor: str = "") -> Job:
        """The state of a question of theirs; any other is unknown."""
        self.__check("job")
        return PersonHome(self.__at).job(request_id)

    def published_file(self, request_id: str) -> Path:
        self.__check("published_file")
        entry = self.__at.ledger.find(request_id)
        if entry is None:
            raise AllowanceError("request.unknown")
        self.__check("published_file", entry.charge.table)
        return self.__at.house.published_file(request_id)

    def verify_ledger(self) -> Verdict:
        self.__check("verify_ledger")
        return self.__at.house.verify_ledger()

    def check_receipts(self, content: bytes, name: str) -> list[Finding]:
        self.__check("check_receipts")
        return self.__at.house.check_receipts(content, name)

    # People

    def people(self) -> list[KnownPerson]:
        """Everybody who ever signed in or was named."""
        self.__check("people")
        return self.__at.house.people()

    def roles(self, person: str | None = None) -> list[Role]:
        """The roles that everybody, or one person, has now."""
        self.__check("roles")
        with self.__at.house.ledger.people() as book:
            return book.roles() if person is None else book.roles_of(person)

    def name_role(self, person: str, role: str, on: bool = True, table: str = "") -> None:
        """Make a person an administrator, an auditor or an owner, or bar them; with `on` false, no longer."""
        self.__check("name_role")
        budget = self.__at.house.record(table).budget if table else ""
        self.__at.house.ledger.name_role(person, role, self.person, table, on, budget)

    def hand_over(self, table: str, person: str) -> None:
        """Make a person owner of a table, with a grant of its whole allowance where they have none."""
        self.__check("hand_over", table)
        record = self.__at.house.record(table)
        if record.practice:
            raise AllowanceError("act.practice")
        self.__at.house.ledger.hand_over(record.budget, table, person, self.person)

    def forget_person(self, person: str) -> None:
        self.__check("forget_person")
        self.__at.house.forget_person(person)

    def __check(self, verb: str, table: str | None = None) -> None:
        self.__at.refuse(rights.WORKSPACE[verb], table)
