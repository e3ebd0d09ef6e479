"""The ledger and the jobs as one person sees them: rows of the tables that they may see, and jobs of their own.

What is charged is decided by the ledger itself, from all rows; here is only what is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals
from dpengine.accountant.history import Past
from dpengine.asking.jobs import Jobs, JobState
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import JsonObject
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import Act, BudgetRecord, Burned, Charge, Entry, Ledger
from dpengine.ledger.people_rows import KINDS
from dpengine.ledger.reader import NO_ROW
from dpengine.ledger.rows import ACTS, Standing, together

Sees = Callable[[str, str], bool]  # may the person see what was asked of this table, on this budget?
Kindred = Callable[
    [str], list[str] | None
]  # the tables whose sums are told, where others use the budget unknown to them

_OF_A_TABLE = (*ACTS, *KINDS)
_BETWEEN_TWO = ("wish", "decided", "grant")  # between who wishes or was given something and who decides
_PAGE = 200


class SeenLedger(Ledger):
    def __init__(
        self,
        ledger: Ledger,
        person: str,
        sees: Sees,
        kindred: Kindred,
        knows: Callable[[str], bool],
        governs: Callable[[str], bool],
    ) -> None:
        """`governs`: does the person own this table, or audit it?"""
        self._file, self.path, self._watch = ledger._file, ledger.path, ledger._watch
        self._person, self._sees, self._kindred, self._knows, self._governs = person, sees, kindred, knows, governs

    def close(self) -> None:
        """The file is the workspace's, which closes it."""

    def _shows(self) -> Callable[[Charge], bool]:
        """Is a charge told? Rights are looked up once for each table and call, and never kept longer."""
        sees = cache(self._sees)
        return lambda charge: charge.actor == self._person or sees(charge.budget, charge.table)

    def budget(self, budget_id: str) -> BudgetRecord:
        if not self._knows(budget_id):
            raise AllowanceError("budget.unknown")
        record, kin = super().budget(budget_id), self._kindred(budget_id)
        if kin is None:
            return record
        with self.people() as book:  # what it was opened for, and when, is the other owner's
            since = min((role.at for role in book.roles() if role.table in kin), default=record.at)
        return replace(record, name=kin[0], at=since)

    def standing(self, budget: str) -> Standing:
        """The sums of a budget; where others use it unknown to this person, those of the tables that they know of."""
        kin = self._kindred(budget)
        if kin is None:
            return super().standing(budget)
        with self.people() as book:
            return together(book.of_table(budget, name) for name in kin)

    def before(self, charge: Charge) -> Totals:
        if self._kindred(charge.budget) is None:
            return super().before(charge)
        paid, after = cost(charge.loss, self.budget(charge.budget).rule.alpha), charge.totals_after
        finite = after.epsilon is not None and paid.epsilon is not None
        epsilon = after.epsilon - paid.epsilon if finite else None  # type: ignore[operator]
        return Totals(epsilon, after.renyi - paid.renyi, after.delta - paid.delta)

    def recounted(self, charge: Charge) -> tuple[Totals, Totals] | None:
        """Not where others use the budget unknown to this person: its sums are not theirs to know."""
        return super().recounted(charge) if self._kindred(charge.budget) is None else None

    def protection_of(self, budget: str, unit: Unit) -> tuple[Standing, Standing]:
        if self._kindred(budget) is not None:
            raise AllowanceError("protect.shared")
        return super().protection_of(budget, unit)

    def told(self, charge: Charge) -> Charge:
        """Its running sums as the person may know them."""
        if charge.sums is None or self._kindred(charge.budget) is None:
            return charge
        of_table = charge.sums.table
        told = replace(charge, totals_after=of_table.totals, history=of_table.history)
        return replace(told, totals_before=self.before(told))

    def _entry(self, entry: Entry) -> Entry:
        return replace(entry, charge=self.told(entry.charge))

    def acts(self, budget: str) -> list[Act]:
        return [act for act in super().acts(budget) if not act.table or self._sees(budget, act.table)]

    def find(self, request: str) -> Entry | None:
        entry = super().find(request)
        return self._entry(entry) if entry is not None and self._shows()(entry.charge) else None

    def charges(
        self,
        budget: str | None = None,
        table: str | None = None,
        limit: int = 100,
        offset: int = 0,
        key: str | None = None,
    ) -> list[Entry]:
        shows = self._shows()

        def read() -> Iterator[Entry]:
            start = 0
            while page := super(SeenLedger, self).charges(budget, table, _PAGE, start, key):
                yield from (self._entry(entry) for entry in page if shows(entry.charge))
                start += _PAGE

        return list(islice(read(), offset, None if limit < 0 else offset + limit))

    def walk(self, budget: str) -> Iterator[Entry]:
        shows = self._shows()
        return (self._entry(entry) for entry in super().walk(budget) if shows(entry.charge))

    def spread(self, budget: str, most: int) -> list[Charge]:
        return list(map(self.told, filter(self._shows(), super().spread(budget, most))))

    def steps(self, session: str, newest: int | None = None) -> list[Burned]:
        return super().steps(session, newest) if self.find(session) is not None else []

    def progress(self, session: str) -> tuple[int, bool, bool]:
        return super().progress(session) if self.find(session) is not None else (0, False, False)

    def released(self, budget: str, before: int | None = None, but: str = "") -> Past:
        """As the sums are told: where others use the budget unknown to this person, of the tables that they know of."""
        kin = self._kindred(budget)
        if kin is None:
            return super().released(budget, before, but)
        with self._file.reading() as db:
            row = NO_ROW if before is None else before
            return self._counted(db, budget, row, but, lambda charge: charge.table in kin)

    def others_since(self, budget: str, row: int, but: str, most: int = 1) -> list[int]:
        kin = self._kindred(budget)
        if kin is None:
            return super().others_since(budget, row, but, most)
        charged = {entry.charge.request for entry in super().walk(budget) if entry.charge.table in kin}
        rows = (found for found in super().export_rows(budget) if found["seq"] > row and found["request"] in charged)
        kinds = ("charge", "answer", "part")
        found = (int(one["seq"]) for one in rows if one["kind"] in kinds and one["request"] != but)
        return list(islice(found, most))

    def export_rows(self, budget: str | None = None) -> Iterator[JsonObject]:
        """The rows about tables that the person may see, with what belongs to them; what somebody else wishes or was
        given, and why, only for the table's owner and an auditor."""
        shows, sees, governs = self._shows(), cache(self._sees), cache(self._governs)
        hidden: set[str] = set()
        wished: set[str] = set()  # by the person themselves
        with self.people() as book:
            mine = {self._person, *book.groups_of(self._person)}
        for row in super().export_rows(budget):
            if row["kind"] == "charge":
                told = shows(Charge.from_row(row))
            elif row["kind"] == "budget":  # one that another owner opened is not told of, nor by whom
                told = self._knows(row["budget"]) and self._kindred(row["budget"]) is None
            else:
                body = json.loads(row["body"]) if row["kind"] in _OF_A_TABLE else {}
                table = body.get("table", "")
                told = row["request"] not in hidden and (not table or sees(row["budget"], table))
                if told and row["kind"] in _BETWEEN_TWO and not governs(table):
                    told = row["actor"] == self._person or body.get("to") in mine or row["request"] in wished
                if told and row["kind"] == "wish" and row["actor"] == self._person:
                    wished.add(row["request"])
            if told:
                yield row
            elif row["request"]:
                hidden.add(row["request"])


class OwnJobs(Jobs):
    """The jobs of one person."""

    def __init__(self, jobs: Jobs, person: str) -> None:
        self._all, self._person = jobs, person

    @property
    def worker(self) -> str:
        return self._all.worker

    def submit(
        self, request: str, carry: Callable[[], object], actor: str = "", turn: str = "", long: bool = False
    ) -> None:
        self._all.submit(request, carry, self._person, turn, long)

    def ahead(self, request: str, actor: str = "") -> int:
        return self._all.ahead(request, self._person)

    def state(self, request: str, actor: str = "") -> JobState:
        return self._all.state(request, self._person)

    def note(self, request: str, done: int, total: int, actor: str = "") -> None:
        self._all.note(request, done, total, self._person)

    def progress(self, request: str, actor: str = "") -> tuple[int, int]:
        return self._all.progress(request, self._person)

    def cancel(self, request: str, actor: str = "") -> bool:
        return self._all.cancel(request, self._person)

    def cancelled(self, request: str, actor: str = "") -> bool:
        return self._all.cancelled(request, self._person)

    def wait(self, request: str, timeout: float, actor: str = "") -> JobState:
        return self._all.wait(request, timeout, self._person)

    def close(self) -> None:
        """They are the workspace's, which closes them."""
