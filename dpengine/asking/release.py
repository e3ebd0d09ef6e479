"""One release from charge to answer: charge and commit, compute the statistic, draw, store the answer.

Whatever happens after the charge, the charge stays, and a charged request is never drawn a second time. Everywhere here

- `seen` is the last ledger row that the person has seen (None: not compared). If the same question was charged after
  it, in another tab or by somebody else, it is refused, so that nobody pays twice without knowing.
- `first_of_click` is the request that the same click charges first: the check before a question or plan, else the first
  question of a plan. The person chose before seeing its answer, so the claim about the larger group counts as its past
  only what was charged before this request (`beyond`). Empty: this request is the first, or a check changed the
  question, which was then chosen after it.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dpengine.asking import beyond
from dpengine.asking.answers import claim_of, keep_question
from dpengine.asking.jobs import PATIENCE, Jobs, Statistic, outcome_of
from dpengine.asking.plan import MOST_ROWS, requests_of
from dpengine.asking.sessions import refuse_unusable_session
from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical
from dpengine.core.types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Schema
from dpengine.ledger.ledger import BudgetRecord, Entry, Ledger
from dpengine.ledger.rows import Reservation
from dpengine.mechanisms.query import AnyQuery, ReleaseTools
from dpengine.noise.coins import Coins
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import RawNeed
from dpengine.storage.registry import Record
from dpengine.storage.workers import in_hand

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Release:
    """One charge to be made (`reserve_args`), how its statistic is read (`read`), and how its answer is drawn from it
    (`draw`)."""

    reserve_args: Reservation
    read: Callable[[], Any]
    draw: Callable[[Any], JsonObject]


class Home(Protocol):
    """The methods of the workspace that a release uses; a table uses more of them (`table.TableHome`)."""

    @property
    def ledger(self) -> Ledger: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def coins(self) -> Coins: ...
    def current(self, record: Record) -> bool: ...
    def refuse_damaged(self, record: Record) -> None: ...
    def refuse_need(self, need: AnyNeed | RawNeed, record: Record) -> None: ...
    def read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> Any: ...
    def open_budget(self, budget: BudgetRecord, actor: str) -> None: ...
    def published_file(self, request_id: str) -> Path: ...


@dataclass(frozen=True)
class Asker:
    """Asks one table for one person, on the budget that pays."""

    home: Home
    record: Record
    budget: BudgetRecord
    actor: str
    facts: Facts

    def read(self, need: AnyNeed | RawNeed) -> Any:
        return self.home.read(need, self.record, self.facts.schema)

    def refuse_changed(self) -> None:
        """Refuse, before a charge, if the table was declared anew or its file is not complete."""
        if not self.home.current(self.record):
            raise AllowanceError("table.revised")
        self.home.refuse_damaged(self.record)

    def work_for(
        self, query: AnyQuery, request: str, seen: int | None = None, first_of_click: str = ""
    ) -> Callable[[], Entry]:
        """A function that charges a question and stores the question's answer; a background thread may call that
        function."""
        prepared = self.prepared(query, request, seen, first_of_click)

        def work() -> Entry:
            self._before_charge(request)
            release = prepared()
            entry = charge_and_draw(self.home.ledger, release.reserve_args, release.read, release.draw)
            if query.facts is self.facts:
                keep_question(entry.charge, self.facts, query)
            return entry

        return work

    def work_for_all(
        self,
        queries: Sequence[AnyQuery],
        run: str,
        keep: Fraction,
        seen: int | None = None,
        first_of_click: str = "",
    ) -> Callable[[], None]:
        """A function that charges all questions of a plan together or none, then draws them one after the other. `run`
        names the plan; the share `keep` of the allowance must be left."""
        if not queries:
            raise AllowanceError("plan.empty")
        if len(queries) > MOST_ROWS:
            raise AllowanceError("plan.long", most=MOST_ROWS)
        requests = requests_of(run)[: len(queries)]
        first = first_of_click or requests[0]
        prepared = [self.prepared(query, own, seen, first) for query, own in zip(queries, requests, strict=True)]

        def work() -> None:
            self._before_charge(requests[0])  # charged all together or none, so the first stands for all
            charge_and_draw_all(self.home.ledger, [make() for make in prepared], keep)

        return work

    def prepared(
        self, query: AnyQuery, request: str, seen: int | None = None, first_of_click: str = ""
    ) -> Callable[[], Release]:
        """A function that makes the `Release`. The thread that charges calls that function. A question that this
        table cannot answer is refused at once, in the caller's thread."""
        if query.facts is not self.facts and not self._same(query.facts):
            raise AllowanceError("query.other_table")
        refuse_unusable_session(query)
        for need in query.needs():
            self.home.refuse_need(need, self.record)
        jobs = self.home.jobs
        progress = partial(jobs.note, request)
        stopped = partial(jobs.cancelled, request)  # never raises: a stopped training stores the model so far

        def draw(statistic: Any) -> JsonObject:
            file = partial(self.home.published_file, request)
            body = query.draw_body(statistic, ReleaseTools(self.read, self.home.coins, progress, stopped, file))
            return body | beyond.population_part(self.home.ledger, self.budget, query, body, [first_of_click, request])

        return lambda: Release(  # made when it is charged: `jobs.worker` names, and announces, the process that charges
            {
                "budget": self.budget.id,
                "table": self.record.name,
                "actor": self.actor,
                "request": request,
                "claim": claim_of(query),
                "loss": query.loss(),
                "worker": jobs.worker,
                "seen": seen,
            },
            lambda: query.first_statistic(self.read),
            draw,
        )

    def _before_charge(self, request: str) -> None:
        """Refuse a changed table, but only for a new request: a retry of a charged one still gets its stored outcome. A
        practice budget is created in the ledger now, with its first charge."""
        if self.home.ledger.find(request) is None:
            self.refuse_changed()
        self.home.open_budget(self.budget, self.actor)

    def _same(self, facts: Facts) -> bool:
        """Are `facts` the table's own facts? The order and the names of listed values must agree too."""
        return facts == self.facts and canonical(facts.schema.as_json()) == canonical(self.facts.schema.as_json())


def charge_and_draw(
    ledger: Ledger,
    reserve_args: Reservation,
    read: Callable[[], Statistic],
    draw: Callable[[Statistic], JsonObject],
    patience: float = PATIENCE,
) -> Entry:
    """Charge, read the statistic, draw, store. If the request was charged before, its stored outcome is returned and
    nothing is drawn again."""
    with in_hand(reserve_args["worker"], reserve_args["request"]):  # before the charge, which else seems abandoned
        charge = ledger.reserve(**reserve_args)
        if charge.fresh:
            _draw_once(ledger, charge.request, read, draw)
    # Read back as stored, even after our own draw, so that a reload shows exactly the same.
    return outcome_of(ledger, charge.request, patience)


def charge_and_draw_all(ledger: Ledger, releases: Sequence[Release], keep: Fraction) -> None:
    """Charge all questions in one transaction, or none; then draw one after the other. A failure does not stop the
    others, which are paid for. If this process stops, the rest stays charged and is never drawn. The share `keep` of
    the allowance must be left."""
    with ExitStack() as registered:  # before the charges, as above
        for release in releases:
            registered.enter_context(in_hand(release.reserve_args["worker"], release.reserve_args["request"]))
        charges = ledger.reserve_all([release.reserve_args for release in releases], keep)
        for charge, release in zip(charges, releases, strict=True):
            if charge.fresh:
                with suppress(AllowanceError):  # in the ledger as failed, or else as a charge without an outcome
                    _draw_once(ledger, charge.request, release.read, release.draw)


def _draw_once(
    ledger: Ledger, request: str, read: Callable[[], Statistic], draw: Callable[[Statistic], JsonObject]
) -> None:
    """Store the answer of a fresh charge. If anything fails, store that instead, and raise `release.failed`."""
    try:
        ledger.answer(request, draw(read()))
        return
    except BaseException as error:
        # The class name only: the text of an error may quote the data.
        _log.error("A release failed after its charge: %s", type(error).__name__)
        try:
            ledger.fail(request, "release.failed")
        except AllowanceError as fault:  # then the charge has no outcome, and counts as interrupted
            _log.error("A failed release could not be noted: %s", fault.code)
        if not isinstance(error, Exception):
            raise
    # Raised outside the handler, so that this error has no reference to the first one.
    raise AllowanceError("release.failed")


def new_request() -> str:
    return secrets.token_hex(8)
