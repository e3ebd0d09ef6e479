"""One declared table: build a question, see its price, ask it, find it again."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dpengine.asking import statement
from dpengine.asking.answers import (
    Answer,
    Job,
    Meter,
    Preview,
    claim_of,
    descended_as_json,
    drawn_as_json,
    make_answer,
    make_meter,
    make_preview,
    released_as_json,
)
from dpengine.asking.jobs import Jobs, carry_plan, carry_release
from dpengine.asking.jobs import Step as Release
from dpengine.asking.plan import MOST_ROWS, Planner, Run
from dpengine.asking.repeated_answers import Reading, read_together
from dpengine.asking.sessions import Session, fitted, refuse_hopeless, session_of
from dpengine.asking.statement import Fit, Step
from dpengine.core.canonical import canonical
from dpengine.core.errors import AllowanceError
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Schema
from dpengine.declared.unit import Unit, read_relation
from dpengine.ledger.ledger import Act, BudgetRecord, Entry, Ledger, Standing
from dpengine.ledger.rows import questions_of
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.query import Query, Released, least_epsilon
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.stepwise import Stepwise
from dpengine.mechanisms.synthetic.of_class import OfClass
from dpengine.noise.coins import Coins
from dpengine.planning import rehearsal
from dpengine.planning.best_noise import cheapest, closing
from dpengine.planning.suggestions import suggest
from dpengine.planning.training_for_spend import trained
from dpengine.released.published import Published
from dpengine.released.synthetic import KEYS, Synthetic
from dpengine.released.write_published import imagined, publish
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import RawNeed
from dpengine.storage.registry import Record


class Home(Protocol):
    """What a table uses of the workspace that it stands in."""

    @property
    def ledger(self) -> Ledger: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def coins(self) -> Coins: ...
    def schema_of(self, record: Record) -> Schema: ...
    def revise(self, name: str, schema: Schema) -> Record: ...
    def current(self, record: Record) -> bool: ...
    def refuse_damaged(self, record: Record) -> None: ...
    def read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> Any: ...
    def open_budget(self, budget: BudgetRecord, actor: str) -> None: ...
    def published_file(self, request_id: str) -> Path: ...
    def names(self) -> list[tuple[str, str]]: ...
    def job(self, request_id: str) -> Job: ...
    def answer_of(self, entry: Entry) -> Answer | None: ...


class Table:
    """Reads of public facts and of the ledger are free; `ask` and `submit` spend."""

    def __init__(self, workspace: Home, record: Record, budget: BudgetRecord, actor: str, joined: bool = False):
        self._workspace = workspace
        self._record = record
        self._budget = budget
        self.actor = actor
        self.joined = joined  # this content already had a budget, whose first cap stays
        self.name = record.name
        self.practice = record.practice
        self.facts = Facts(
            table=record.name,
            schema=workspace.schema_of(record),
            unit=Unit.from_json(record.unit),
            relation=read_relation(record.relation),
            about=record.about,
            header=tuple(record.header),
        )

    @property
    def schema(self) -> Schema:
        return self.facts.schema

    @property
    def budget(self) -> BudgetRecord:
        """As it stands now: an owner may have raised its cap since this object was made."""
        return self._budget if self.practice else self._workspace.ledger.budget(self._budget.id)

    @property
    def closed(self) -> str | None:
        """`seal`, `forget` or `close` where nothing more may be asked of it."""
        return None if self.practice else closed_kind(self._workspace.ledger.closed(), self._budget.id, self.name)

    def acts(self) -> list[Act]:
        """What an owner did to this budget and its tables, newest first."""
        return self._workspace.ledger.acts(self._budget.id)

    def query(self, key: str, /, **parameters: Any) -> Query:
        """A question from the catalogue; refuses in one sentence what it cannot use."""
        if key not in catalogue:
            raise AllowanceError("query.unknown", key=str(key)[:60], keys=list(catalogue))
        return catalogue[key].build(self.facts, parameters)

    def preview(self, query: Query) -> Preview:
        standing = self._standing()  # before the cap, which only grows: the meter never shows more than all
        return make_preview(query, self.budget.rule, standing)

    def suggestions(self) -> list[Query]:
        """Up to five questions this table can answer, from public facts, for at most half of what is left."""
        return suggest(self.facts, self.meter().left / 2)

    def least_epsilon(self, query: Query, wish: Fraction) -> Fraction | None:
        """The least ε whose promise is as good as wished, or None."""
        return least_epsilon(query, wish)

    def cheapest(self, query: Query) -> Query:
        """The same question with the noise that promises most, where it costs no more now and as many like it fit."""
        return cheapest(query, self.budget.rule, self._standing().totals)

    def closing(self, query: Query) -> Query | None:
        """The same question with better noise that closes the pure clause: a person must choose that."""
        return closing(query, self.budget.rule, self._standing().totals)

    def rehearse(self, query: Query, times: int = 1) -> list[Released]:
        """What answers could look like, drawn on a made-up table from public facts. Costs nothing, says nothing."""
        return rehearsal.rehearse(query, times)

    def rehearse_rows(self, query: OfRows) -> tuple[list[list[Any]], list[list[Any]]]:
        """A few made-up rows, and what would be published of each. Costs nothing, says nothing."""
        return imagined(query, rehearsal.coins())

    def ask(self, query: Query, request_id: str | None = None, seen: int | None = None) -> Answer:
        """Charge, commit, then draw. The same request id is the same answer; a new one is a new, paid draw."""
        return make_answer(query, self._carry(query, request_id or new_request(), seen)())

    def revise(self, schema: Schema) -> Table:
        """The same rows declared anew, on the same budget. Free; answers already given keep their meaning."""
        if self.practice:
            raise AllowanceError("table.practice")
        return Table(self._workspace, self._workspace.revise(self.name, schema), self._budget, self.actor)

    def submit(self, query: Query, request_id: str | None = None, seen: int | None = None) -> Job:
        """The same on the worker; `Workspace.job` finds it by its request id, also after a reload or a restart. With
        `seen`, the last row of the ledger that the asker knew of, it is refused where another asked the same since."""
        request = request_id or new_request()
        self._workspace.jobs.submit(request, self._carry(query, request, seen))
        return self._workspace.job(request)

    def cancel(self, request_id: str) -> bool:
        """Ask a training to end after the step under way. What was charged stays charged, and the model so far is the
        answer. False where none runs here under that id."""
        return self._workspace.jobs.cancel(request_id)

    def training_for(self, key: str, spend: Fraction, /, **parameters: Any) -> Query:
        """The training with the least noise whose price is at most `spend` of the meter's ε. Free; nothing is read."""
        return trained(self.query, key, parameters, spend, self.budget.rule, self._standing().totals)

    def planner(self, keep: Fraction = Fraction(0)) -> Planner:
        """Prices plans against the budget as it stands, `keep` of it untouched. Free."""
        standing = self._standing()  # before the cap, as in `preview`
        return Planner(self.budget.rule, standing.totals, keep)

    def submit_plan(
        self, queries: Sequence[Query], run: str, keep: Fraction = Fraction(0), seen: int | None = None
    ) -> None:
        """All of them on the worker: charged together or not at all, then drawn one after the other."""
        if not queries:
            raise AllowanceError("plan.empty")
        if len(queries) > MOST_ROWS:
            raise AllowanceError("plan.long", most=MOST_ROWS)
        asked = zip(queries, requests_of(run), strict=False)
        releases = [self._release(query, request, seen) for query, request in asked]
        workspace, kept = self._workspace, keep * self.budget.rule.epsilon

        def carry() -> None:
            self._open(requests_of(run)[0])
            carry_plan(workspace.ledger, [release() for release in releases], kept)

        workspace.jobs.submit(run, carry)

    def run(self, run: str) -> Run:
        """Where a plan stands: in this process, in another one, or in the ledger since before a restart."""
        jobs, rows = self._workspace.jobs, []
        handed = jobs.state(run)
        for request in requests_of(run):
            entry = self._workspace.ledger.find(request)
            if entry is None or entry.charge.budget != self._budget.id:
                break
            rows.append((entry, jobs.state(request).state))
        return Run(run, tuple(rows), waiting=not rows and not handed.over, error=None if rows else handed.error)

    def session_for(self, questions: Any, spend: Fraction, calibration: str = "laplace") -> AdaptiveSession:
        """The session with the least noise whose price is at most `spend` of the meter's ε. Free; nothing is opened."""
        return fitted(self.facts, questions, calibration, spend, self.budget.rule, self._standing().totals)

    def open_session(self, query: Query, request_id: str | None = None) -> Session:
        """Charge a whole session; its questions are then asked one by one. `submit` does the same on the worker."""
        request = request_id or new_request()
        self._carry(query, request)()
        return self.session(request)

    def session(self, request_id: str) -> Session:
        """A session that was paid for, wherever it stands; refused where this table has none of that id."""
        workspace, record, facts = self._workspace, self._record, self.facts
        entry = workspace.ledger.find(request_id)
        if entry is None or (entry.charge.budget, entry.charge.table) != (self._budget.id, self.name):
            raise AllowanceError("session.unknown")
        if questions_of(entry.charge.claim) is None:
            raise AllowanceError("session.unknown")
        query = session_of(facts, entry)
        if entry.outcome is None and workspace.jobs.state(request_id).state == "interrupted":
            with suppress(AllowanceError):  # opening draws nothing: what a kill left out is written now
                workspace.ledger.answer(request_id, drawn_as_json(query, query.draw((), workspace.coins)))

        def ready() -> None:
            if not workspace.current(record):
                raise AllowanceError("table.revised")
            workspace.refuse_damaged(record)

        return Session(
            workspace.ledger,
            workspace.jobs,
            workspace.ledger.find(request_id) or entry,
            query,
            lambda need: workspace.read(need, record, facts.schema),
            workspace.coins,
            ready,
        )

    def published(self, answer: Answer) -> Published:
        """A table that was published, with what can be computed from it: free."""
        if not isinstance(answer.query, OfRows):
            raise AllowanceError("publish.unknown")
        return Published(answer.query, self._workspace.published_file(answer.request_id), answer.value)

    def publications(self, most: int = 20) -> list[Answer]:
        """Tables that were published from this one under this budget, newest first: free to see and to ask."""
        return self._given(("publish_*",), most)

    def trainings(self, most: int = 20) -> list[Answer]:
        """Models that were trained on this table under this budget, newest first: free to see and to use."""
        return self._given(("train_*",), most)

    def checks(self, most: int = 50) -> list[Answer]:
        """What was paid to know about models on this table, newest first: free to see."""
        return self._given(("check_*",), most)

    def _given(self, keys: Sequence[str], most: int) -> list[Answer]:
        """Answers to questions of some kinds, asked of this table under this budget, newest first."""
        ledger, asked = self._workspace.ledger, [key for key in catalogue if any(fnmatchcase(key, one) for one in keys)]
        found = [one for key in asked for one in ledger.charges(self._budget.id, self.name, key=key, limit=most)]
        found = sorted(found, key=lambda one: one.charge.seq, reverse=True)[:most]
        return [self.answer_of(entry) for entry in found if entry.outcome and entry.outcome.kind == "answer"]

    def synthetic(self, answer: Answer) -> Synthetic:
        """A synthetic table, with what can be computed from it: free."""
        if not isinstance(answer.query, OfClass):
            raise AllowanceError("synthetic.unknown")
        return Synthetic(answer.query, answer.value)

    def syntheses(self, most: int = 20) -> list[Answer]:
        """Synthetic tables that were made from this one under this budget, newest first."""
        return self._given(KEYS, most)

    def last_asked(self, query: Query) -> Entry | None:
        """The last time this very question was charged, also where it has no answer yet: free."""
        return self._workspace.ledger.newest_to(self._budget.id, self.name, query.digest())

    def recall(self, query: Query) -> list[Answer]:
        """The latest answers already paid for to this very question, oldest first: free. The same words under other
        bounds are another question."""
        ledger = self._workspace.ledger
        found = ledger.answers_to(self._budget.id, self.name, claim_of(query), ("", *query.noises))
        return [self.answer_of(entry) for entry in found]

    def looks(self, query: Query) -> Reading:
        """The paid answers to this question at whatever ε, and what they say together: free. In the order they were
        seen, which later ones never change: a range once stated must stay as it was stated."""
        found = self._workspace.ledger.looks_at(self._budget.id, self.name, claim_of(query))
        made = {entry.charge.seq: self.answer_of(entry) for entry in (*found.first, *found.newest)}
        first, newest = ([made[entry.charge.seq] for entry in some] for some in (found.first, found.newest))
        return read_together(first, query.beta, newest, found.count)

    def answer_of(self, entry: Entry) -> Answer:
        """As it was given: under the bounds its claim holds, also where the table was declared anew since."""
        claim = entry.charge.claim
        kind, bounds, columns = catalogue[claim["key"]], claim.get("bounds", {}), self.schema.columns
        if all(name in columns and columns[name].as_json() == told for name, told in bounds.items()):
            query = kind.build(self.facts, claim["parameters"])
            if not bounds or query.used() == bounds.keys():  # a column declared since may be one more it speaks of
                return make_answer(query, entry)
        facts = replace(self.facts, schema=Schema.from_json({"columns": list(bounds.items())}))
        return make_answer(kind.build(facts, claim["parameters"]), entry)

    def history(self, limit: int = 50, offset: int = 0) -> list[Entry]:
        """What was charged to this table's budget, newest first, for whichever table it was asked of."""
        return self._workspace.ledger.charges(budget=self._budget.id, limit=limit, offset=offset)

    def sharing(self) -> list[str]:
        """The tables that spend this budget, this one among them."""
        return [name for name, budget in self._workspace.names() if budget == self._budget.id] or [self.name]

    def burn_down(self) -> list[Step]:
        return statement.burn_down(self._workspace.ledger, self.budget)

    def more_like_last(self) -> Fit | None:
        return statement.more_like_last(self._workspace.ledger, self.budget)

    def ledger_rows(self) -> Iterator[list[Any]]:
        """Every row of the budget, under `statement.ROW_COLUMNS`."""
        return statement.rows(self._workspace.ledger, self.budget)

    def answer_rows(self) -> Iterator[list[Any]]:
        """Every figure released under the budget, under `statement.ANSWER_COLUMNS`."""
        return statement.answer_rows(self._workspace.ledger, self.budget)

    def answer_lines(self) -> Iterator[str]:
        """The same as lines of JSON, each with its receipt."""
        return statement.answer_lines(self._workspace.ledger, self.budget)

    def answers(self, most: int) -> list[Answer]:
        """The newest answers under the budget, oldest first, of whichever table."""
        found = (self._workspace.answer_of(entry) for entry in reversed(self.history(most)))
        return [answer for answer in found if answer is not None]

    def meter(self) -> Meter:
        standing = self._standing()
        return make_meter(self.budget, standing)

    def _standing(self) -> Standing:
        return self._workspace.ledger.standing(self._budget.id)

    def _same(self, facts: Facts) -> bool:
        """Also where a list holds the same values in another order or under other names."""
        return facts == self.facts and canonical(facts.schema.as_json()) == canonical(self.schema.as_json())

    def _carry(self, query: Query, request: str, seen: int | None = None) -> Callable[[], Entry]:
        release = self._release(query, request, seen)

        def carry() -> Entry:
            self._open(request)
            step = release()
            return carry_release(self._workspace.ledger, step.reserve_args, step.read, step.draw)

        return carry

    def _open(self, request: str) -> None:
        workspace = self._workspace
        if workspace.ledger.find(request) is None:
            if not workspace.current(self._record):
                raise AllowanceError("table.revised")
            workspace.refuse_damaged(self._record)
        workspace.open_budget(self._budget, self.actor)

    def _release(self, query: Query, request: str, seen: int | None = None) -> Callable[[], Release]:
        """How a question is charged, read and drawn; refused at once when it was made for another table."""
        if query.facts is not self.facts and not self._same(query.facts):
            raise AllowanceError("query.other_table")
        refuse_hopeless(query)
        workspace, facts, record = self._workspace, self.facts, self._record

        def read(need: Any) -> Any:
            return workspace.read(need, record, facts.schema)

        def draw(statistic: Any) -> dict[str, Any]:
            told = partial(workspace.jobs.note, request)
            if isinstance(query, OfRows):
                file = workspace.published_file(request)
                return released_as_json(query.finish(publish(query, statistic, workspace.coins, file, told)))
            if isinstance(query, Stepwise):
                stopped = partial(workspace.jobs.cancelled, request)
                return descended_as_json(query, query.descend(read, workspace.coins, told, stopped))
            return drawn_as_json(query, query.drawn(statistic, workspace.coins, told))

        return lambda: Release(
            {
                "budget": self._budget.id,
                "table": self.name,
                "actor": self.actor,
                "request": request,
                "claim": claim_of(query),
                "loss": query.loss(),
                "worker": workspace.jobs.worker,
                "seen": seen,
            },
            lambda: None if isinstance(query, Stepwise) else read(query.need()),  # those read as they go
            draw,
        )


def closed_kind(closed: dict[tuple[str, str], str], budget: str, table: str) -> str | None:
    """How a table is closed; what was done to it itself says more than what was done to its budget."""
    return closed.get((budget, table)) or closed.get((budget, ""))


def requests_of(run: str) -> list[str]:
    """The request ids of a plan's rows, in order."""
    return [f"{run}.{number}" for number in range(1, MOST_ROWS + 1)]


def new_request() -> str:
    return secrets.token_hex(8)
