"""Reading the ledger: budgets, charges with their outcomes, the steps of sessions, and the check of every row.

Nothing here writes. `Ledger` in ledger.py adds what does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dpengine.accountant.filter import Totals
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.ledger import owner_rows, repeats, session_rows
from dpengine.ledger.chain import START, Verdict, verify
from dpengine.ledger.owner_rows import Act
from dpengine.ledger.rows import BudgetRecord, Burned, Charge, Entry, Looked, Outcome, Standing, is_request
from dpengine.ledger.sqlite_file import LedgerFile, head_of, sound_rows
from dpengine.ledger.store import Database, Store

_PAGE = 500
_BUDGET = "SELECT * FROM entries WHERE kind = 'budget' AND budget = ?"
_CHARGE = "SELECT * FROM entries WHERE kind = 'charge' AND request = ?"
_LAST_CHARGE = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? ORDER BY seq DESC LIMIT 1"
_CHARGE_BEFORE = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
_NEXT_CHARGES = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND seq > ? ORDER BY seq LIMIT ?"
_NEAREST = (  # for each of several row numbers the last charge up to it
    "SELECT * FROM entries WHERE seq IN (SELECT (SELECT seq FROM entries WHERE kind = 'charge' AND budget = ?"
    " AND seq <= CAST(place.value AS BIGINT) ORDER BY seq DESC LIMIT 1) FROM json_each(?) AS place) ORDER BY seq"
)
_OUTCOMES = "SELECT * FROM entries WHERE kind IN ('answer', 'failed') AND request IN (SELECT value FROM json_each(?))"
_THESE = "SELECT * FROM entries WHERE kind = 'charge' AND seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?))"
_NEWEST = (
    "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND json_extract(body, '$.table') = ?"
    " AND json_extract(body, '$.claim.digest') = ? ORDER BY seq DESC LIMIT 1"
)
_FIRST = "SELECT hash FROM entries WHERE seq = 1"
_HASHED = "SELECT seq FROM entries WHERE substr(hash, 1, ?) = ? ORDER BY seq DESC LIMIT 1"


class LedgerReader:
    """All that can be read from a ledger, by any number of threads and processes."""

    def __init__(self, path: Path, wait: float = 5.0, store: Store | None = None) -> None:
        self._file: Store = LedgerFile(Path(path), wait) if store is None else store
        self.path = self._file.path

    @property
    def kept_in(self) -> Store:
        """Where the rows are: what is asked there about the processes that spend from it."""
        return self._file

    def close(self) -> None:
        self._file.close()

    def budget(self, budget_id: str) -> BudgetRecord:
        def read(db: Database) -> BudgetRecord:
            record = self._budget(db, budget_id)
            if record is None:
                owner_rows.refuse_budget_closed(db, budget_id)  # its own rows are lost
                raise AllowanceError("budget.unknown")
            return record

        return self._file.kept(("budget", budget_id), read)

    def standing(self, budget: str) -> Standing:
        """The running sums of a budget; zeros if nothing was charged yet."""
        return self._file.kept(("standing", budget), lambda db: self._standing(db, budget))

    def acts(self, budget: str) -> list[Act]:
        """What its owner did, newest first."""
        with self._file.reading() as db:
            return owner_rows.of_budget(db, budget)

    def closed(self) -> dict[tuple[str, str], str]:
        """(budget, table) → `seal` or `forget`; (budget, "") → `close`."""
        return self._file.kept(("closed",), owner_rows.all_closed)

    def find(self, request: str) -> Entry | None:
        if not is_request(request):
            return None  # typed into an address by hand
        with self._file.reading() as db:
            entries = self._entries(db, self._charge_rows(db, request))
        return entries[0] if entries else None

    def charges(
        self,
        budget: str | None = None,
        table: str | None = None,
        limit: int = 100,
        offset: int = 0,
        key: str | None = None,
    ) -> list[Entry]:
        """Newest first, skipping `offset` of them; `key` selects one kind of question."""
        wanted, values = ["kind = 'charge'"], []
        for expression, value in (("budget", budget), ("json_extract(body, '$.table')", table)):
            if value is not None:
                wanted.append(f"{expression} = ?")
                values.append(value)
        if key is not None:
            wanted.append("json_extract(body, '$.claim.key') = ?")
            values.append(key)
        sql = f"SELECT * FROM entries WHERE {' AND '.join(wanted)} ORDER BY seq DESC LIMIT ? OFFSET ?"
        with self._file.reading() as db:
            return self._entries(db, sound_rows(db, sql, [*values, limit, offset]))

    def told(self, charge: Charge) -> Charge:
        """The charge as far as whoever reads may know it: here all of it."""
        return charge

    def before(self, charge: Charge) -> Totals:
        """The sums of its budget just before a charge."""

        def read(db: Database) -> Totals:
            row = sound_rows(db, _CHARGE_BEFORE, [charge.budget, charge.seq])
            return Charge.from_row(row[0]).totals_after if row else Totals.NOTHING

        return self._file.kept(("before", charge.budget, str(charge.seq)), read)

    def walk(self, budget: str) -> Iterator[Entry]:
        """Every charge of a budget with its outcome, oldest first, read in pages like `export_rows`."""
        after = 0
        while True:
            with self._file.reading() as db:
                page = self._entries(db, sound_rows(db, _NEXT_CHARGES, [budget, after, _PAGE]))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].charge.seq

    def spread(self, budget: str, most: int) -> list[Charge]:
        """At most `most` charges of a budget, oldest first: all of them, or the first, the last and some about evenly
        spaced in between. Takes the same work after a hundred thousand charges as after a thousand."""
        with self._file.reading() as db:
            newest = sound_rows(db, _LAST_CHARGE, [budget])
            if not newest or Charge.from_row(newest[0]).history.count <= most:
                rows = sound_rows(db, _NEXT_CHARGES, [budget, 0, most])
            else:
                [first], last = sound_rows(db, _NEXT_CHARGES, [budget, 0, 1]), newest[0]["seq"]
                apart = [first["seq"] + (last - first["seq"]) * place // (most - 1) for place in range(most)]
                rows = sound_rows(db, _NEAREST, [budget, json.dumps(apart)])
        return [Charge.from_row(row) for row in rows]

    def answers_to(self, budget: str, table: str, claim: JsonObject, noises: Sequence[str] = ("",)) -> list[Entry]:
        """The latest answers already paid for to one question, oldest first, whichever of `noises` they have."""
        laws = [repeats.law_of(claim, noise) for noise in noises]
        with self._file.reading() as db:
            charges = repeats.of_laws(db, repeats.question_of(budget, table, claim), laws)
            return self._answered(db, charges)[-repeats.MOST_NEWEST :]

    def newest_to(self, budget: str, table: str, claim_digest: str) -> Entry | None:
        """The last charge for one question, whatever its outcome."""
        with self._file.reading() as db:
            entries = self._entries(db, self._newest_to(db, budget, table, claim_digest))
        return entries[0] if entries else None

    def looks_at(self, budget: str, table: str, claim: JsonObject) -> Looked:
        """The answers to one question, at any ε and with any noise: how many there are, the first ones of each law, and
        the latest. Takes the same work after ten thousand answers as after a hundred."""
        question = repeats.question_of(budget, table, claim)
        with self._file.reading() as db:
            count = repeats.number(db, question)
            first, newest = (self._answered(db, find(db, question)) for find in (repeats.first, repeats.newest))
        return Looked(count, tuple(first), tuple(newest))

    def steps(self, session: str, newest: int | None = None) -> list[Burned]:
        """The steps of a session in order, with their outcomes: all, or the newest."""
        with self._file.reading() as db:
            after = 0 if newest is None else max(session_rows.asked(db, session) - newest, 0)
            return session_rows.of_session(db, session, after)

    def progress(self, session: str) -> tuple[int, bool, bool]:
        """How many steps were used, whether the session was ended, and whether “which is largest” was asked in it."""
        with self._file.reading() as db:
            return session_rows.asked(db, session), session_rows.ended(db, session), session_rows.chose(db, session)

    def first_other(self, budget: str, request: str) -> int | None:
        """The number of the budget's first charge other than this one; None where there is none."""
        with self._file.reading() as db:
            charges = db.query(_NEXT_CHARGES, [budget, 0, 2])
            return next((int(row["seq"]) for row in charges if row["request"] != request), None)

    def step(self, session: str, step: str) -> Burned | None:
        """One step by its id."""
        with self._file.reading() as db:
            return session_rows.find(db, session, step)

    def export_rows(self, budget: str | None = None) -> Iterator[JsonObject]:
        """Every row, or those of a budget, as it is stored, oldest first: enough to recompute each hash."""
        return self._pages("", []) if budget is None else self._pages("budget = ? AND", [budget])

    def head(self) -> tuple[int, str]:
        """The last row's number and hash. Worth keeping elsewhere: it changes if any rows are cut off or changed."""
        with self._file.reading() as db:
            return head_of(db)

    def row_of(self, start_of_hash: str) -> int | None:
        """The number of the last row whose hash starts like this."""
        with self._file.reading() as db:
            rows = list(db.query(_HASHED, [len(start_of_hash), start_of_hash]))
        return rows[0]["seq"] if rows else None

    def verify(self) -> Verdict:
        """Recompute everything from the first row on, and name the first row that does not hold."""
        try:
            verdict = verify(self._pages("", []))
            with self._file.reading() as db:
                guarded = self._file.guarded(db) and repeats.tells_the_same(db)
                intact = self._file.intact(db)
        except AllowanceError as error:
            if error.code != "ledger.damaged":
                raise
            return Verdict(False, 0, (0, START), None, error.code)
        if not verdict.ok or (guarded and intact):
            return verdict
        return replace(verdict, ok=False, why="chain.guards" if intact else "ledger.damaged")

    def _budget(self, db: Database, budget_id: str) -> BudgetRecord | None:
        rows = sound_rows(db, _BUDGET, [budget_id])
        return owner_rows.raised(db, BudgetRecord.from_row(rows[0])) if rows else None

    def _standing(self, db: Database, budget: str) -> Standing:
        rows = sound_rows(db, _LAST_CHARGE, [budget])
        return Charge.from_row(rows[0]).standing if rows else Standing.NOTHING

    def _known_budget(self, db: Database, budget: str) -> BudgetRecord:
        record = self._budget(db, budget)
        if record is None:
            raise AllowanceError("budget.unknown")
        return record

    def _charge_rows(self, db: Database, request: str) -> list[JsonObject]:
        return sound_rows(db, _CHARGE, [request])

    def _newest_to(self, db: Database, budget: str, table: str, claim_digest: str | None) -> list[JsonObject]:
        return sound_rows(db, _NEWEST, [budget, table, claim_digest])

    def _ended(self, db: Database, request: str) -> bool:
        return bool(list(db.query(_OUTCOMES, [json.dumps([request])])))

    def _charge(self, db: Database, request: str) -> Charge | None:
        rows = self._charge_rows(db, request)
        return Charge.from_row(rows[0]) if rows else None

    def _entries(self, db: Database, charges: list[JsonObject]) -> list[Entry]:
        origin = next((row["hash"] for row in db.query(_FIRST)), "")
        requests = json.dumps([row["request"] for row in charges])
        outcomes = {row["request"]: Outcome.from_row(row) for row in sound_rows(db, _OUTCOMES, [requests])}
        return [Entry(Charge.from_row(row), outcomes.get(row["request"]), origin) for row in charges]

    def _answered(self, db: Database, charges: list[int]) -> list[Entry]:
        """Those of the charges that were answered, in the order of their answers."""
        entries = self._entries(db, sound_rows(db, _THESE, [json.dumps(charges)]))
        answered = [(entry.outcome.seq, entry) for entry in entries if entry.outcome and entry.outcome.kind == "answer"]
        return [entry for _, entry in sorted(answered, key=lambda numbered: numbered[0])]

    def _pages(self, where: str, values: list[Json]) -> Iterator[JsonObject]:
        """Reads in pages, each in its own transaction, so that a long read does not block later writes."""
        after = -(2**63)  # a row numbered below 1 by hand must be seen too
        while True:
            with self._file.reading() as db:
                sql = f"SELECT * FROM entries WHERE {where} seq > ? ORDER BY seq LIMIT {_PAGE}"
                page = list(db.query(sql, [*values, after]))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1]["seq"]
