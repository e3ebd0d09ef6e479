"""Reading the ledger: budgets, charges with their outcomes, the steps of sessions, and the check of every row.

Nothing here writes. `Ledger` in ledger.py adds what does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals
from dpengine.accountant.group import for_group
from dpengine.accountant.history import Past
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.unit import Unit
from dpengine.ledger import owner_rows, repeats, session_rows
from dpengine.ledger.chain import START, Verdict, verify
from dpengine.ledger.owner_rows import Act
from dpengine.ledger.people_rows import base_of
from dpengine.ledger.rows import (
    BudgetRecord,
    Burned,
    Charge,
    Entry,
    Looked,
    Outcome,
    Paid,
    Raised,
    Standing,
    is_request,
    paid_of,
    repriced,
    rows_of_a_person,
    standing_after,
)
from dpengine.ledger.sqlite_file import LedgerFile, head_of, sound_rows
from dpengine.ledger.store import Database, Store
from dpengine.ledger.watch import Watch

_PAGE = 500
_MOST_COUNTED = 500  # losses that are counted one by one; of more the running sums are taken, which say a little less
_CHARGES_BEFORE = "SELECT * FROM entries WHERE kind = 'charge' AND budget = ? AND seq < ? ORDER BY seq"
_OTHERS_SINCE = (
    "SELECT * FROM entries WHERE kind IN ('charge', 'answer', 'part') AND budget = ? AND seq > ? AND request <> ?"
    " ORDER BY seq LIMIT ?"
)
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
NO_ROW = 2**62  # after every row
_FIRST = "SELECT hash FROM entries WHERE seq = 1"
_HASHED = "SELECT seq FROM entries WHERE substr(hash, 1, ?) = ? ORDER BY seq DESC LIMIT 1"


class LedgerReader:
    """All that can be read from a ledger, by any number of threads and processes."""

    def __init__(self, path: Path, wait: float = 5.0, store: Store | None = None) -> None:
        self._file: Store = LedgerFile(Path(path), wait) if store is None else store
        self.path = self._file.path
        self._watch = Watch(self._file)

    def check_soon(self) -> None:
        """Check the whole chain in the background: the first question then need not wait for it."""
        self._watch.check_soon()

    @property
    def kept_in(self) -> Store:
        """Where the rows are: what is asked there about the processes that spend from it."""
        return self._file

    def close(self) -> None:
        self._watch.close()
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

    def protected_since(self, budget: str) -> int | None:
        """The row that last declared more protection on this budget. What was claimed before it about anything but the
        table itself is withdrawn, and sessions opened before it are over."""

        def read(db: Database) -> int | None:
            rows = owner_rows.protections(db, base_of(budget))
            return int(rows[0]["seq"]) if rows else None

        return self._file.kept(("protected", budget), read)

    def protection_of(self, budget: str, unit: Unit) -> tuple[Standing, Standing]:
        """The sums of a budget now, and for this unit, which must protect more. Nothing is written."""
        with self._file.reading() as db:
            record = self._known_budget(db, budget)
            rows = rows_of_a_person(record.unit, unit)
            return self._standing(db, budget), repriced(self._past(db, budget), rows, record.rule.alpha).whole

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
            acts = [Act.from_row(one) for one in owner_rows.protections(db, charge.budget) if one["seq"] < charge.seq]
            if acts and acts[0].standing is not None and (not row or acts[0].seq > row[0]["seq"]):
                return acts[0].standing.totals
            return Charge.from_row(row[0]).totals_after if row else Totals.NOTHING

        return self._file.kept(("before", charge.budget, str(charge.seq)), read)

    def recounted(self, charge: Charge) -> tuple[Totals, Totals] | None:
        """The sums of its budget before and after a charge, as they count since more protection was declared; None
        where none was declared after it."""

        def read(db: Database) -> dict[int, tuple[Totals, Totals]]:
            done = owner_rows.protections(db, charge.budget)
            if not done:
                return {}
            record, by_row_before = self._known_budget(db, charge.budget), self._by_row_before(db, charge.budget)
            rows, last = Unit.from_json(record.unit).at_most, int(done[0]["seq"])
            found: dict[int, tuple[Totals, Totals]] = {}
            totals, seq = Totals.NOTHING, 0
            while page := sound_rows(db, _NEXT_CHARGES, [charge.budget, seq, _PAGE]):
                for row in page:
                    seq = int(row["seq"])
                    if seq > last:
                        return found
                    loss = paid_of(row, seq < by_row_before).loss_for(rows)
                    found[seq] = totals, totals.plus(cost(loss, record.rule.alpha))
                    totals = found[seq][1]
            return found

        return self._file.kept(("recounted", charge.budget), read).get(charge.seq)

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
            charges = repeats.of_laws(db, repeats.question_of(repeats.since(db, budget), table, claim), laws)
            return self._answered(db, charges)[-repeats.MOST_NEWEST :]

    def newest_to(self, budget: str, table: str, claim_digest: str) -> Entry | None:
        """The last charge for one question, whatever its outcome."""
        with self._file.reading() as db:
            entries = self._entries(db, self._newest_to(db, budget, table, claim_digest))
            if entries and self._outlived(db, entries[0].charge):
                return None  # of rows, and the same words now ask about people
        return entries[0] if entries else None

    def looks_at(self, budget: str, table: str, claim: JsonObject) -> Looked:
        """The answers to one question, at any ε and with any noise: how many there are, the first ones of each law, and
        the latest. Takes the same work after ten thousand answers as after a hundred."""
        with self._file.reading() as db:
            question = repeats.question_of(repeats.since(db, budget), table, claim)
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
            ended = session_rows.ended(db, session) or self._outlived(db, self._charge(db, session))
            return session_rows.asked(db, session), ended, session_rows.chose(db, session)

    def released(self, budget: str, before: int | None = None, but: str = "") -> Past:
        """What has been released about the people of a budget before row `before`, or up to now: every loss charged to
        it, from whichever table that shares it, whether or not it was answered. `but` is the request of a charge that
        is left out. Every claim that would need “nothing else was seen” asks this. Where more protection was declared
        since, what was charged for a row counts as for a person, whichever row is asked about."""
        with self._file.reading() as db:
            newest = sound_rows(db, _CHARGE_BEFORE, [budget, NO_ROW if before is None else before])
            anew = owner_rows.protections(db, budget)
        if not newest:
            return Past.NOTHING
        last = Charge.from_row(newest[0])
        if last.history.count > _MOST_COUNTED:  # then `but` is counted in: never less than what was released
            sums = standing_after(anew[0]) if anew and anew[0]["seq"] > last.seq else last.standing
            return Past.of_sums(sums.history)
        key = ("released", budget, str(last.seq), but)
        return self._file.kept(key, lambda db: self._counted(db, budget, last.seq + 1, but))

    def others_since(self, budget: str, row: int, but: str, most: int = 1) -> list[int]:
        """The first rows after `row` in which something about the people of a budget was charged or let out, other
        than by the request `but`."""
        with self._file.reading() as db:
            return [int(found["seq"]) for found in db.query(_OTHERS_SINCE, [budget, row, but, most])]

    def _counted(
        self, db: Database, budget: str, row: int, but: str, told: Callable[[Charge], bool] = lambda _: True
    ) -> Past:
        charges = (Charge.from_row(one) for one in sound_rows(db, _CHARGES_BEFORE, [budget, row]))
        anew, by_row_before = owner_rows.protections(db, budget), self._by_row_before(db, budget)
        rows = int(json.loads(anew[0]["body"])["unit"]["at_most"]) if anew else 1
        losses = ((one, one.seq < by_row_before) for one in charges if one.request != but and told(one))
        return Past.of(for_group(one.loss, rows if by_row else 1) for one, by_row in losses)

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
        return owner_rows.protected(db, owner_rows.raised(db, BudgetRecord.from_row(rows[0]))) if rows else None

    def _standing(self, db: Database, budget: str) -> Standing:
        rows = sound_rows(db, _LAST_CHARGE, [budget])
        anew = owner_rows.protections(db, budget)
        if anew and (not rows or anew[0]["seq"] > rows[0]["seq"]):
            return Act.from_row(anew[0]).standing or Standing.NOTHING
        return Charge.from_row(rows[0]).standing if rows else Standing.NOTHING

    def _past(self, db: Database, budget: str) -> list[Paid | Raised]:
        """Every charge of a budget in order, for a change of its unit, and every raise of its cap in between."""
        by_row_before, raises = self._by_row_before(db, budget), owner_rows.raises(db, budget)
        past: list[Paid | Raised] = []
        same: dict[Paid, Paid] = {}
        after = 0
        while page := sound_rows(db, _NEXT_CHARGES, [budget, after, _PAGE]):
            for row in page:
                while raises and raises[0][0] < row["seq"]:
                    past.append(raises.pop(0)[1])
                one = paid_of(row, row["seq"] < by_row_before)
                past.append(same.setdefault(one, one))
            after = page[-1]["seq"]
        return [*past, *(one for _, one in raises)]

    def _by_row_before(self, db: Database, budget: str) -> int:
        """Before which row the charges of a budget were stated for one row: the first that declared more protection."""
        created, protections = sound_rows(db, _BUDGET, [budget]), owner_rows.protections(db, budget)
        if not created or BudgetRecord.from_row(created[0]).unit != Unit.rows().as_json():
            return 0
        return int(protections[-1]["seq"]) if protections else NO_ROW

    def _outlived(self, db: Database, charge: Charge | None) -> bool:
        """Was more protection declared since this charge?"""
        rows = [] if charge is None else owner_rows.protections(db, base_of(charge.budget))
        return bool(rows) and charge is not None and int(rows[0]["seq"]) > charge.seq

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
