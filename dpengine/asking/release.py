"""One release from charge to answer: the charge for a question, its statistic, its draw."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dpengine.asking.answers import Answer, Job, claim_of
from dpengine.asking.jobs import Jobs, Release, carry_plan, carry_release
from dpengine.asking.plan import MOST_ROWS, requests_of
from dpengine.asking.sessions import refuse_hopeless
from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical
from dpengine.core.types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Schema
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import BudgetRecord, Entry, Ledger
from dpengine.mechanisms.query import AnyQuery, ReleaseTools
from dpengine.noise.coins import Coins
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import RawNeed
from dpengine.storage.registry import Record


class Home(Protocol):
    """The part of the workspace that a table uses."""

    @property
    def ledger(self) -> Ledger: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def coins(self) -> Coins: ...
    def schema_of(self, record: Record) -> Schema: ...
    def revise(self, name: str, schema: Schema, actor: str) -> Record: ...
    def protect(self, name: str, unit: Unit, actor: str, people: int | None = None) -> Record: ...
    def refuse_unit(self, record: Record, unit: Unit) -> None: ...
    def correct_people(self, name: str, people: int, actor: str) -> Record: ...
    def current(self, record: Record) -> bool: ...
    def refuse_damaged(self, record: Record) -> None: ...
    def refuse_need(self, need: AnyNeed | RawNeed, record: Record) -> None: ...
    def read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> Any: ...
    def open_budget(self, budget: BudgetRecord, actor: str) -> None: ...
    def published_file(self, request_id: str) -> Path: ...
    def names(self) -> list[tuple[str, str]]: ...
    def job(self, request_id: str, actor: str = "") -> Job: ...
    def answer_of(self, entry: Entry) -> Answer | None: ...


@dataclass(frozen=True)
class Asker:
    """Who asks, which table, and which budget pays."""

    home: Home
    record: Record
    budget: BudgetRecord
    actor: str
    facts: Facts

    def read(self, need: AnyNeed | RawNeed) -> Any:
        return self.home.read(need, self.record, self.facts.schema)

    def refuse_changed(self) -> None:
        """Called before a charge: the table's declaration must be unchanged, and its file complete."""
        if not self.home.current(self.record):
            raise AllowanceError("table.revised")
        self.home.refuse_damaged(self.record)

    def carry(self, query: AnyQuery, request: str, seen: int | None = None) -> Callable[[], Entry]:
        """The work for one question, from its charge to its stored answer, for a background thread."""
        release = self.release(query, request, seen)

        def carry() -> Entry:
            self._open(request)
            step = release()
            return carry_release(self.home.ledger, step.reserve_args, step.read, step.draw)

        return carry

    def carry_all(
        self, queries: Sequence[AnyQuery], run: str, keep: Fraction, seen: int | None = None
    ) -> Callable[[], None]:
        """The same for a plan: charged together or not at all, then drawn one after the other."""
        if not queries:
            raise AllowanceError("plan.empty")
        if len(queries) > MOST_ROWS:
            raise AllowanceError("plan.long", most=MOST_ROWS)
        requests = requests_of(run)
        releases = [self.release(query, request, seen) for query, request in zip(queries, requests, strict=False)]

        def carry() -> None:
            self._open(requests[0])
            carry_plan(self.home.ledger, [release() for release in releases], keep)

        return carry

    def release(self, query: AnyQuery, request: str, seen: int | None = None) -> Callable[[], Release]:
        """How a question is charged, computed and drawn; refused at once if it was built for another table."""
        if query.facts is not self.facts and not self._same(query.facts):
            raise AllowanceError("query.other_table")
        refuse_hopeless(query)
        self.home.refuse_need(query.need(), self.record)
        jobs = self.home.jobs
        note, stopped = partial(jobs.note, request), partial(jobs.cancelled, request)

        def draw(statistic: Any) -> JsonObject:
            file = self.home.published_file(request)
            return query.carry(statistic, ReleaseTools(self.read, self.home.coins, note, stopped, file))

        return lambda: Release(
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

    def _open(self, request: str) -> None:
        if self.home.ledger.find(request) is None:
            self.refuse_changed()
        self.home.open_budget(self.budget, self.actor)

    def _same(self, facts: Facts) -> bool:
        """Are these the table's own facts? A list with its values in another order or under other names differs."""
        return facts == self.facts and canonical(facts.schema.as_json()) == canonical(self.facts.schema.as_json())


def new_request() -> str:
    return secrets.token_hex(8)
