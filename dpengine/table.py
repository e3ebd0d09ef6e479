"""One declared table: build a question, see its price, ask it, find it again."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Protocol

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals
from dpengine.accountant.history import Past
from dpengine.asking import exports, paid_answers
from dpengine.asking.answers import (
    Answer,
    Job,
    Meter,
    Preview,
    Protection,
    asked,
    build_meter,
    build_preview,
    build_protection,
    claim_of,
    identity,
    with_folded_names,
)
from dpengine.asking.checking import ColumnDoubted, check_for, column_doubts, doubts, finer_check, id_check_for
from dpengine.asking.column_fit import ColumnFit, Fits, ImpliedPeople, far_off, fits_of, kinds, only_fitting
from dpengine.asking.exports import BurnDownStep, Fit, account_lines
from dpengine.asking.jobs import outcome_of
from dpengine.asking.plan import Planner, PlanRun, Priced
from dpengine.asking.release import Asker, Home, new_request
from dpengine.asking.sessions import BEST, Session, fitted
from dpengine.core.amounts import BETA
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.remembered import Lately, remembered
from dpengine.core.types import Json, JsonObject
from dpengine.declared.declaration import Declaration
from dpengine.declared.dialect import Dialect
from dpengine.declared.facts import Facts
from dpengine.declared.id_names import id_like
from dpengine.declared.schema import Schema
from dpengine.declared.unit import Unit, read_relation
from dpengine.ledger.ledger import Act, BudgetRecord, Entry, Standing
from dpengine.ledger.owner_rows import closed_kind
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.publish.write_file import imagined
from dpengine.mechanisms.query import AnyQuery, Query
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.planning.alternatives import WaysAtOnce, means_together
from dpengine.planning.both_ranges import BothRanges, both_ranges
from dpengine.planning.listed_columns import over_columns
from dpengine.planning.opening import (
    Make,
    Opening,
    Room,
    at_share,
    cheapest,
    least_priced,
    nearest,
    opened,
    opening,
    price_now,
    room,
    three_figures,
)
from dpengine.planning.suggestions import Lever, levers, suggest, takes_at_most, worth_asking
from dpengine.planning.training import trained
from dpengine.reading import reader
from dpengine.reading.reader import Meaning
from dpengine.released.compare import (
    MOST_ANSWERS,
    AcrossTables,
    AskedFigures,
    Comparable,
    PersonInBoth,
    across,
    figures,
    promised,
)
from dpengine.released.look_answers import KnownAlready
from dpengine.released.published import Published
from dpengine.released.synthetic import FittedTable, Synthetic
from dpengine.storage.registry import Record

CHECK = ".check"  # ends the request id of a question's check
_one_check_at_a_time: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_lately = Lately(1024)
MOST_ASKED = 20  # the newest answers that are searched for the number of people or a column's range


@remembered(4096)
def _priced_now(rule: filter.Rule, totals: Totals, queries: tuple[AnyQuery, ...]) -> Priced:
    return Planner(rule, totals).price_of(queries)


class TableHome(Home, Protocol):
    """The methods of the workspace that a table uses: of the workspace itself, or of a person's view of it
    (people/home.py)."""

    def schema_of(self, record: Record) -> Schema: ...
    def revise(self, name: str, schema: Schema, actor: str) -> Record: ...
    def protect(self, name: str, unit: Unit, actor: str, people: int | None = None) -> Record: ...
    def refuse_unit(self, record: Record, unit: Unit) -> None: ...
    def correct_people(self, name: str, people: int, actor: str) -> Record: ...
    def declare_sample(self, name: str, sample: bool, actor: str) -> Record: ...
    def names(self) -> list[tuple[str, str]]: ...
    def job(self, request_id: str, actor: str = "") -> Job: ...
    def answer_of(self, entry: Entry) -> Answer | None: ...
    def keep_draft(self, name: str, actor: str, draft: JsonObject | None) -> None: ...
    def draft_of(self, name: str, actor: str) -> JsonObject | None: ...


class Table:
    """One declared table. Reading public facts and the ledger is free; `ask` and `submit` spend."""

    def __init__(self, workspace: TableHome, record: Record, budget: BudgetRecord, actor: str, joined: bool = False):
        self._workspace = workspace
        self._record = record
        self._budget = budget
        self.actor = actor
        self.joined = joined  # this content already had a budget; its cap stays
        self.name, self.practice = record.name, record.practice
        self.dialect = Dialect.from_json(record.dialect)  # how its own file is written
        self.facts = Facts(
            table=record.name,
            schema=workspace.schema_of(record),
            unit=Unit.from_json(record.unit),
            relation=read_relation(record.relation),
            about=record.about,
            header=tuple(record.header),
            sample=record.sample,
            whose=record.whose,
        )
        if not self.practice and self.facts.unit == Unit.rows() and id_like(self.facts):
            self.facts = replace(self.facts, repeated=bool(self.fits().repeated))
        self._asker = Asker(workspace, record, budget, actor, self.facts)

    @property
    def schema(self) -> Schema:
        return self.facts.schema

    @property
    def budget(self) -> BudgetRecord:
        """The budget's record with its present cap, which an owner may have raised since the table was opened."""
        return self._budget if self.practice else self._workspace.ledger.budget(self._budget.id)

    @property
    def closed(self) -> str | None:
        """The kind of act that closed the table: `seal`, `forget`, `close` or `joined`. None if the table still accepts
        questions."""
        return None if self.practice else closed_kind(self._workspace.ledger.closed(), self._budget.id, self.name)

    def declaration(self) -> Declaration:
        """The table's declaration, to save as a file and use for another table. Public facts alone. Free."""
        facts = self.facts
        return Declaration(facts.schema, facts.unit, facts.relation, self.dialect, facts.header, self.name, facts.whose)

    def acts(self) -> list[Act]:
        """The acts on this table and on others on its budget, newest first."""
        return self._workspace.ledger.acts(self._budget.id)

    def query(self, key: str, /, **parameters: Json) -> AnyQuery:
        """A question from the catalogue. Parameters that the question cannot use are refused in one sentence. Without
        `noise` the question gets the most accurate noise among those that cost no more at this ε
        (`planning.opening.nearest`); `noise=""` is the default noise. `cheapest`, which pages call as well, may also
        change ε."""
        given = {name: value for name, value in parameters.items() if name != "noise" or value != ""}
        query = asked(key, self.facts, given, self._delta_at_hand)
        if "noise" in parameters or not query.noises:
            return query
        return nearest(query, self.budget.rule, self._standing().totals)

    def readings(self, text: str) -> list[Meaning]:
        """The up to three questions that a typed text may mean, best first. Free; only public facts are searched."""
        return reader.readings(text, self.facts)

    def read(self, text: str, epsilon: Json = None) -> AnyQuery:
        """The question that a text means, such as “median income of women by region”: at this ε, or at the price with
        which pages open the question. If the text is not clear, the error `NotUnderstood` has the possible readings.
        Free."""
        found = reader.understood(text, self.facts)
        query = self.query(found.key, **found.given, epsilon=reader.USUAL if epsilon is None else epsilon)
        start = self.opening(query) if epsilon is None else None
        return query if start is None else start.asked

    def draft(self) -> JsonObject | None:
        """The question that this person left unfinished, as `key` and `given`; None if there is none. Free."""
        found = self._workspace.draft_of(self.name, self.actor) or {}
        return {name: found[name] for name in ("key", "given")} if {"key", "given"} <= found.keys() else None

    def keep_draft(self, key: str | None, given: JsonObject | None = None) -> None:
        """Store an unfinished question for this person, so that it survives a sign-out. None deletes the stored one.
        Free."""
        self._keep({"key": key, "given": None if key is None else given or {}})

    def plan_draft(self) -> JsonObject | None:
        """The plan that this person left unfinished, as the `plan` and `keep` of its link; None if there is none.
        Free."""
        found = self._workspace.draft_of(self.name, self.actor) or {}
        return {name: found[name] for name in ("plan", "keep")} if {"plan", "keep"} <= found.keys() else None

    def keep_plan(self, plan: str | None, keep: int = 0) -> None:
        """Store an unfinished plan for this person, so that it survives a sign-out. None deletes the stored one.
        Free."""
        self._keep({"plan": plan, "keep": None if plan is None else keep})

    def _keep(self, part: JsonObject) -> None:
        before = self._workspace.draft_of(self.name, self.actor) or {}
        after = {name: value for name, value in {**before, **part}.items() if value is not None}
        if after != before:
            self._workspace.keep_draft(self.name, self.actor, after or None)

    def completions(self, text: str) -> list[str]:
        """The text with its last word completed, once for each word that a question may have there; from public facts.
        Free."""
        return reader.completions(text, self.schema)

    @property
    def _delta_at_hand(self) -> Fraction:
        """The δ of which a question that names no δ takes a share: here the whole δ reserve."""
        return self.budget.rule.delta_reserve

    def preview(self, query: AnyQuery, checked: bool = False) -> Preview:
        """The price and the promise of a question. With `checked` the price includes that of the checks that the
        question would buy first. Free."""
        standing = self._standing()  # read before the cap, which only grows: the meter never shows more than 100 %
        seen = build_preview(query, self.budget.rule, standing)
        checks = self.checks_for([query]) if checked else []
        if not checks:
            return seen
        whole = self._priced([*checks, query])
        return replace(
            seen,
            cost=whole.cost,
            share=whole.share,
            unused_after=max(1 - whole.used - whole.share, Fraction(0)),
            admissible=whole.fits,
            check=checks[-1],
            check_share=sum((line.share for line in whole.lines[:-1]), Fraction(0)),
        )

    def checks_for(self, queries: Sequence[AnyQuery]) -> list[AnyQuery]:
        """The checks that these questions would buy first: the check of ids, then the check of their columns. From
        public facts and released figures."""
        if not any(query.gated or query.to_check() for query in queries):
            return []
        wanted = frozenset[str]().union(*(query.to_check() for query in queries))

        def work() -> list[AnyQuery]:
            checks = (id_check_for(self), check_for(self, wanted, len(queries)))
            return [check for check in checks if check is not None]

        follows = self._follows()
        return work() if follows is None else list(_lately((follows, wanted, len(queries)), work))

    def _follows(self) -> Hashable:
        """A key for caching the prices of checks and suggestions, from all that these prices depend on. None: do not
        cache."""
        checks = tuple(check.seq for check in self.fits().checks)
        place = self._budget.id, self._record.folder, self._record.version
        return place, self.facts, self.facts.repeated, self.budget.rule, self._standing().totals, checks

    def finer_check(self, columns: Sequence[str]) -> AnyQuery | None:
        """A check that finds nearly all misfits of columns that were checked only roughly. None if that check costs too
        much."""
        return finer_check(self, columns)

    def doubts(self, query: AnyQuery) -> ColumnDoubted | None:
        """The refusal that the paid checks give this question; None if the question may be asked. Free."""
        return None if self.practice else doubts(self.fits(), query, self.facts)

    def can_read(self, query: AnyQuery) -> bool:
        """Can the question's statistic be computed where the table's rows are? Decided from public facts."""
        try:
            for need in query.needs():
                self._workspace.refuse_need(need, self._record)
        except AllowanceError:
            return False
        return True

    def took(self, entry: Entry) -> Fraction:
        """The share of the present allowance that a charge took, counted under the present protection."""
        before, after = self._sums(entry)
        return filter.used(self.budget.rule, after) - filter.used(self.budget.rule, before)

    def left_before(self, entry: Entry) -> Fraction:
        """The share of the present allowance that was left before a charge."""
        return 1 - filter.used(self.budget.rule, self._sums(entry)[0])

    def _sums(self, entry: Entry) -> tuple[Totals, Totals]:
        ledger, charge = self._workspace.ledger, entry.charge
        return ledger.recounted(charge) or (ledger.before(charge), charge.totals_after)

    def checks_before(self, entry: Entry) -> list[Entry]:
        """The charges of the checks that this question bought first."""
        return self.checks_of(entry.charge.request)

    def checks_of(self, request: str) -> list[Entry]:
        """The charges of the checks that the question or the plan with this request bought first."""
        requests = [f"{request}{CHECK}{place}" for place in ("", "1")]
        found = [entry for one in requests if (entry := self._workspace.ledger.find(one)) is not None]
        return [entry for entry in found if entry.charge.table == self.name]

    def prices(self, queries: Sequence[AnyQuery], checked: bool = False) -> list[Fraction | None]:
        """The share that each question takes now, with the cheapest noise that is as accurate; None if the rule admits
        none. With `checked` (for versions of one question) each price includes the checks that the question would buy
        first."""
        rule, totals = self.budget.rule, self._standing().totals
        if checked:
            before, now = filter.used(rule, totals), totals
            for check in self.checks_for(queries):
                now = now.plus(check.cost(rule.alpha))
            shares: list[Fraction | None] = []
            refused = None
            for query in queries:  # what is refused at one ε is refused at a larger one, which need not be searched
                shares.append(None)
                if refused is not None and query.epsilon >= refused:
                    continue
                after = now.plus(cheapest(query, rule, totals).cost(rule.alpha))
                if filter.admits(rule, after):
                    shares[-1] = filter.used(rule, after) - before
                else:
                    refused = query.epsilon
            return shares
        return [price_now(query, rule, totals) for query in queries]

    def suggestions(self) -> list[AnyQuery]:
        """Up to five questions worth asking, each at its opening price; from public facts and paid checks."""
        rule, totals, follows = self.budget.rule, self._standing().totals, self._follows()

        def work() -> tuple[AnyQuery, ...]:
            return suggest(self.facts, rule, totals, lambda query: self._check_share(lambda _: query))

        found = work() if follows is None else _lately((follows, "suggestions"), work)
        return [query for query in found if self.doubts(query) is None]

    def suggested(self, key: str, /, **parameters: Json) -> AnyQuery | None:
        """This question at its opening price; None if not even half of what is left would give more than noise."""
        rule, totals, given = self.budget.rule, self._standing().totals, json.dumps(parameters, default=repr)
        affordable = takes_at_most(Fraction(1, 2), rule, totals)
        name = ("worth", self.facts, self.facts.repeated, rule, totals, key, given)
        query = _lately(name, lambda: worth_asking(self.facts, key, parameters, affordable))
        start = None if query is None else self.opening(query)
        return None if start is None else start.asked

    def opening(self, query: AnyQuery | Make, worth: Room = room) -> Opening | None:
        """The question at the price at which every page opens it: a twentieth of what is left or less, if that gives an
        answer worth having. None if what is left pays for nothing. `query` may be a function that builds the question
        at an ε; `worth` measures how useful an answer is."""
        rule, totals, left = self.budget.rule, self._standing().totals, self._spendable()
        make = query.asked_at if isinstance(query, Query) else query
        check = self._check_share(make)
        if isinstance(query, Query) and worth is room:
            return opening(query.with_noise("").at(Fraction(1)), rule, totals, left, check)
        return opened(make, rule, totals, left, check, worth)

    def _check_share(self, make: Make) -> Fraction:
        try:
            checks = self.checks_for([make(Fraction(1))])
        except AllowanceError:  # it cannot be asked like this
            return Fraction(0)
        return self._priced(checks).share if checks else Fraction(0)

    def _priced(self, queries: Sequence[AnyQuery]) -> Priced:
        """These questions as a plan, with its price from the present state of the budget."""
        return _priced_now(self.budget.rule, self._standing().totals, tuple(queries))

    def check_part(self, query: AnyQuery) -> Fraction:
        """The price of the checks that this question would buy first, as a share of what is left of the allowance."""
        left, alone = self._spendable(), self.preview(query)
        return (self.preview(query, checked=True).share - alone.share) / left if left else Fraction(0)

    def _spendable(self) -> Fraction:
        return self.meter().unused

    def least_epsilon(self, query: AnyQuery, wish: Fraction) -> Fraction | None:
        """The least ε at which the question's answer is as accurate as `wish`; None if there is none."""
        return least_epsilon(query, wish)

    def cheapest(self, query: AnyQuery) -> AnyQuery:
        """The same question with the most accurate noise that costs no more than its default noise."""
        return cheapest(query, self.budget.rule, self._standing().totals)

    def ways(self, query: AnyQuery) -> WaysAtOnce | None:
        """For a question about several averages: how accurate each way of drawing them is at this price. None for any
        other question."""
        return means_together(query, self.budget.rule, self._standing().totals)

    def least_priced(self, query: AnyQuery, wish: Fraction) -> AnyQuery | None:
        """The same question with the cheapest noise and ε that are as accurate as `wish`; None if the rule admits
        none."""
        return least_priced(query, wish, self.budget.rule, self._standing().totals)

    def levers(self, query: AnyQuery) -> list[Lever]:
        """What would help a question that is mostly noise, best first. From public facts; no row is read."""
        rule, totals = self.budget.rule, self._standing().totals

        def share(changed: AnyQuery) -> Fraction | None:
            price = cost(changed.loss(), rule.alpha)
            return filter.share(rule, totals, price) if filter.admits(rule, totals.plus(price)) else None

        def bought(changed: AnyQuery, part: Fraction) -> AnyQuery | None:
            closest = at_share(changed, part, rule, totals)
            return None if closest is None else cheapest(closest.at(three_figures(closest.epsilon)), rule, totals)

        column = query.answer_column
        return levers(query, share, bought, not self._found_outside(column), self._answered_between(column))

    def _found_outside(self, column: str) -> bool:
        """Did a paid check, under any declaration, certainly find cells that do not fit the column?"""
        if self.practice or column not in self.schema.columns:
            return False
        results = (check.found.get(column) for check in self.fits().checks)
        return any(found is not None and found.misfit.low > 0 for found in results)

    def _answered_between(self, column: str) -> tuple[Fraction, Fraction] | None:
        """The lowest and the highest end of the ranges of a column's newest paid averages, medians and the like; None
        if there are none."""
        now = self._budget.id, self._record.folder, self._record.version, self._workspace.ledger.head()
        # The actor: a person's answers are those that the person may see.
        return _lately((now, self.actor, "between", column), lambda: self._between(column))

    def _between(self, column: str) -> tuple[Fraction, Fraction] | None:
        answers = [] if self.practice else self.answers(MOST_ASKED)
        facts = [(answer.query.answer_kind, answer.query.answer_column, answer.interval) for answer in answers]
        own = [interval for kind, name, interval in facts if (kind, name) == ("place", column)]
        ends = [interval for interval in own if isinstance(interval, tuple) and not isinstance(interval[0], str)]
        if not ends:
            return None
        return min(Fraction(low) for low, _ in ends), max(Fraction(high) for _, high in ends)

    def at_share(self, query: AnyQuery, share: Fraction) -> AnyQuery | None:
        """The same question at the largest ε that takes at most this share of the allowance now; None if none does."""
        return at_share(query, share, self.budget.rule, self._standing().totals)

    def rehearse_rows(self, query: OfRows) -> tuple[list[list[Json]], list[list[Json]]]:
        """A few made-up rows, and what would be published for them. Free; reveals nothing."""
        return imagined(query, self._workspace.coins)

    def ask(
        self,
        query: AnyQuery,
        request_id: str | None = None,
        seen: int | None = None,
        checked: bool = False,
        anyway: bool = False,
    ) -> Answer:
        """Charge, commit, then draw. The same request id is the same answer; a new one is a new, paid draw.

        With `checked`, unchecked columns are checked first, for a charge of its own; if a check doubts a column,
        `ColumnDoubted` is raised and the question is neither asked nor paid for. With `anyway` it is then asked of the
        cells that fit, if it takes conditions and enough cells fit."""
        return self.answer_of(self._work_for(query, request_id or new_request(), seen, checked, anyway)())

    def _work_for(
        self, query: AnyQuery, request: str, seen: int | None, checked: bool, anyway: bool
    ) -> Callable[[], Entry]:
        """A function that buys the question's checks, charges the question and stores its answer. A question that
        cannot be asked is refused at once."""
        ledger = self._workspace.ledger
        if not checked or self.practice:
            return self._asker.work_for(query, request, seen)
        known = ledger.find(request)
        if known is not None and self._asked_before(known, query, anyway):
            return lambda: outcome_of(ledger, request)  # the same request is the same answer
        first, checks = self._decided(query, anyway, None), self.checks_for([query])
        self._asker.prepared(first, request, seen)  # refuses what cannot be asked at all
        if checks and not self.preview(query, checked=True).admissible:
            raise BudgetExceeded("fit.both")

        def work() -> Entry:
            asked = first
            for place, check in enumerate(checks):
                asked = self._decided(query, anyway, self._bought(check, f"{request}{CHECK}{place or ''}"))
            chosen = request + CHECK if checks and asked == query else ""  # else the check changed the question
            return self._asker.work_for(asked, request, seen, chosen)()

        return work

    def _asked_before(self, known: Entry, query: AnyQuery, anyway: bool) -> bool:
        """Is `known` this person's charge for this very question to this table? With `anyway`, also true if it is for
        only the cells that fit."""
        same = [query, *([other] if anyway and (other := only_fitting(query, self.fits().doubted(query))) else [])]
        charge = known.charge
        ours = (charge.actor, charge.budget, charge.table) == (self.actor, self._budget.id, self.name)
        return ours and any(claim_of(asked) == charge.claim for asked in same)

    def _bought(self, check: AnyQuery, request: str) -> Answer | None:
        """The answer of a check, which is charged now. None if another question bought the same check meanwhile."""
        with _one_check_at_a_time[self._record.folder]:
            if self._workspace.ledger.find(request) is None and self.fits().answer(check, self.facts.unit):
                return None
            return self.answer_of(self._asker.work_for(check, request)())

    def _decided(self, query: AnyQuery, anyway: bool, check: Answer | None) -> AnyQuery:
        """The question to ask, after its checks. Refused if a check doubts a column; with `anyway`, the question about
        only the cells that fit."""
        fits = self.fits()
        refused = doubts(fits, query, self.facts, check)
        if refused is None:
            return query
        if not anyway:
            raise refused
        doubted = fits.doubted(query)
        if any(fit.hardly_fits for fit in doubted):
            raise column_doubts(fits, query, self.facts, check) or refused
        return only_fitting(query, doubted) or query

    def revise(self, schema: Schema) -> Table:
        """Declare the same rows anew, on the same budget. Free; earlier answers keep their meaning."""
        if self.practice:
            raise AllowanceError("table.practice")
        record = self._workspace.revise(self.name, schema, self.actor)
        return type(self)(self._workspace, record, self._budget, self.actor)

    def protection_preview(self, unit: Unit) -> Protection:
        """What would be left of the allowance if rows belonged to people. Every earlier answer then counts for a person
        with as many rows as `unit` says. Free; no row is read."""
        self._workspace.refuse_unit(self._record, unit)
        before, after = self._workspace.ledger.protection_of(self._budget.id, unit)
        return build_protection(self.budget.rule, before, after, unit.at_most)

    def protect(self, unit: Unit, people: int | None = None) -> Table:
        """Declare more protection, never less: one row each becomes an id column with a bound on a person's rows, or
        the bound grows. You vouch for the bound, since earlier answers count for a person with that many rows. Open
        sessions end. `people`: about how many there are, if that is secret."""
        record = self._workspace.protect(self.name, unit, self.actor, people)
        return type(self)(self._workspace, record, self.budget, self.actor)

    def submit(
        self,
        query: AnyQuery,
        request_id: str | None = None,
        seen: int | None = None,
        checked: bool = False,
        anyway: bool = False,
    ) -> Job:
        """Ask in a background thread. `Workspace.job` finds the question by its request id, even after a reload or a
        restart. `seen`: the last ledger row that the person has seen; refused if the same question was charged
        since."""
        request = request_id or new_request()
        asked = self._work_for(query, request, seen, checked, anyway)
        work = paid_answers.with_rows(self._asker, query, asked)
        self._workspace.jobs.submit(request, work, turn=self.actor, long=query.takes_long)
        return self._workspace.job(request)

    def cancel(self, request_id: str) -> bool:
        """Ask a training to end after its present step. The charge stays, and the model so far is the answer. False if
        no training with this id runs here."""
        return self._workspace.jobs.cancel(request_id)

    def training_for(self, key: str, share: Fraction, /, **parameters: Json) -> AnyQuery:
        """The training with the least noise that takes at most this share of the allowance. Free; no row is read."""
        rule, totals, given = self.budget.rule, self._standing().totals, json.dumps(parameters, default=repr)
        name = ("training", self.facts, self.facts.repeated, rule, totals, key, given, share)
        return _lately(name, lambda: trained(self.query, key, parameters, share, rule, totals))

    def planner(self, keep: Fraction = Fraction(0)) -> Planner:
        """Prices plans from the present state of the budget; the share `keep` must be left afterwards. Free."""
        standing = self._standing()  # before the cap, as in `preview`
        return Planner(self.budget.rule, standing.totals, keep)

    def submit_plan(
        self,
        queries: Sequence[AnyQuery],
        run: str,
        keep: Fraction = Fraction(0),
        seen: int | None = None,
        checked: bool = False,
    ) -> None:
        """Ask all questions in a background thread: charged together or not at all, then drawn one after the other.
        With `checked`, unchecked columns are checked first, and questions about a doubted column are neither asked nor
        paid for."""
        work, long = self._plan_work(queries, run, keep, seen, checked), any(query.takes_long for query in queries)
        self._workspace.jobs.submit(run, work, turn=self.actor, long=long)

    def _plan_work(
        self, queries: Sequence[AnyQuery], run: str, keep: Fraction, seen: int | None, checked: bool
    ) -> Callable[[], None]:
        at_once = self._asker.work_for_all(queries, run, keep, seen)
        checks = self.checks_for(queries) if checked else []
        if checks and not self.planner(keep).price_of([*checks, *queries]).fits:
            raise BudgetExceeded("fit.both")

        def checked_first() -> None:
            for place, check in enumerate(checks):
                self._bought(check, f"{run}{CHECK}{place or ''}")
                if all(self.doubts(query) for query in queries):
                    break  # no later check could help
            left = [query for query in queries if self.doubts(query) is None]
            if not left and (doubt := self.doubts(queries[0])) is not None:
                raise doubt
            self._asker.work_for_all(left, run, keep, seen, run + CHECK if checks else "")()

        return checked_first if checked and not self.practice else at_once

    def run(self, run: str) -> PlanRun:
        """The state of the plan `run`: from this process, from another one, or from the ledger."""
        return paid_answers.run_of(self._asker, run)

    def session_for(self, questions: Json, share: Fraction, calibration: str = BEST) -> AdaptiveSession:
        """The session with the least noise that takes at most this share of the allowance. `calibration` names the kind
        of noise; by default the one that promises more now. Free; nothing is opened."""
        rule, totals = self.budget.rule, self._standing().totals
        return fitted(self.facts, questions, calibration, share, rule, totals, self.released())

    def session_over(
        self, columns: Sequence[str], questions: Json, share: Fraction
    ) -> tuple[Overview, AdaptiveSession]:
        """A first look at these columns, and a session for what the look leaves in doubt (`Session.answer`): together
        they take at most this share of the allowance. Free; nothing is opened."""
        rule, totals = self.budget.rule, self._standing().totals
        return over_columns(self.facts, columns, questions, share, rule, totals, self.released())

    def open_session_over(
        self, look: Overview, session: AdaptiveSession, run: str | None = None, checked: bool = False
    ) -> Session:
        """Charge the look and the session together or not at all, and draw the look. `submit_plan` does the same in the
        background."""
        run = run or new_request()
        self._plan_work([look, session], run, Fraction(0), None, checked)()
        return self.session_of_run(run)

    def session_of_run(self, run: str) -> Session:
        """The session that a plan opened; refused if the plan opened none."""
        for entry, _ in self.run(run).rows:
            if entry.charge.claim["key"] == AdaptiveSession.card.key:
                return self.session(entry.charge.request)
        raise AllowanceError("session.unknown")

    def open_session(self, query: AnyQuery, request_id: str | None = None, checked: bool = False) -> Session:
        """Charge a whole session; then its questions are asked one by one. `submit` does the same in the background.
        With `checked`, unchecked columns are checked first."""
        request = request_id or new_request()
        self._work_for(query, request, None, checked, False)()
        return self.session(request)

    def session(self, request_id: str) -> Session:
        """A paid session of this table in its present state; refused if no session has this request id."""
        return paid_answers.paid_session(self._asker, request_id)

    def published(self, answer: Answer) -> Published:
        """The published table of an answer, with all that can be computed from it. Free."""
        return Published(answer.query, self._workspace.published_file(answer.request_id), answer.value)

    def publications(self, most: int = 20) -> list[Answer]:
        """Tables of published rows made from this table under this budget, newest first. Free to see and to ask."""
        return paid_answers.answers_of_kinds(self._asker, ("publish_*",), most)

    def trainings(self, most: int = 20) -> list[Answer]:
        """Models trained on this table under this budget, newest first: free to see and to use."""
        return paid_answers.answers_of_kinds(self._asker, ("train_*",), most)

    def checks(self, most: int = 50) -> list[Answer]:
        """Paid checks of trained models on this table, newest first. Free to see."""
        return paid_answers.answers_of_kinds(self._asker, ("check_*",), most)

    def drafted(self, most: int = 20) -> list[Answer]:
        """Paid ranges and lists found for several columns of this table, newest first. Free to see and to use."""
        return paid_answers.answers_of_kinds(self._asker, (FindDeclarations.card.key,), most)

    def synthetic(self, answer: Answer) -> Synthetic | FittedTable:
        """The synthetic table of an answer, with all that can be computed from it. Free."""
        return paid_answers.synthetic_rows(self._asker, answer)

    def make_rows(self, answer: Answer) -> None:
        """Begin to fit the rows of a synthetic table in the background, unless they are fitted already. Free."""
        paid_answers.submit_rows(self._asker, answer)

    def syntheses(self, most: int = 20) -> list[Answer]:
        """Synthetic tables from this one under this budget, newest first."""
        keys = tuple(key for key, question in catalogue.items() if question.card.answer == "table")
        return paid_answers.answers_of_kinds(self._asker, keys, most)

    def first_looks(self, most: int = 20) -> list[Answer]:
        """Bought first looks at this table under this budget, newest first: free to see."""
        return paid_answers.answers_of_kinds(self._asker, (Overview.card.key,), most)

    def newest_look(self) -> str | None:
        """The request of the newest paid first look; None if there is none."""
        entries = paid_answers.entries_of_kinds(self._asker, (Overview.card.key,), 1)
        return entries[0].charge.request if entries else None

    def already_known(self, query: AdaptiveSession) -> KnownAlready | None:
        """What the paid first looks say about a session's question: the narrowest range that one of them promises, else
        an estimate, else None. Free."""
        return paid_answers.already_known(self.first_looks(paid_answers.MOST_LOOKS), query)

    def last_asked(self, query: AnyQuery) -> Entry | None:
        """The last charge for exactly this question, answered or not; None if there is none. Free."""
        return self._workspace.ledger.newest_to(self._budget.id, self.name, query.digest())

    def recall(self, query: AnyQuery, exactly: bool = True) -> list[Answer]:
        """The latest paid answers to exactly this question under the same bounds, oldest first. With `exactly` false: a
        list with only the latest answer, at any ε. Free."""
        return paid_answers.answers_to(self._asker, query) if exactly else paid_answers.latest_to(self._asker, query)

    def looks(self, query: AnyQuery) -> paid_answers.Reading:
        """All paid answers to this question at any ε, and what they say together. Read in the order in which they were
        given, so a later answer never changes a range stated before. Free."""
        return paid_answers.repeated_answers(self._asker, query)

    def fits(self) -> Fits:
        """What the paid checks say about how well the cells fit their declarations. Free."""
        return fits_of(self._workspace.ledger, self._budget.id, self.name, made=self.practice)

    def people_far_off(self) -> ImpliedPeople | None:
        """How many people a paid answer implies, if the declared number is certainly far off; else None. Free."""
        if self.practice or self.facts.people is not None:
            return None
        return far_off(paid_answers.answers_of_kinds(self._asker, kinds(), MOST_ASKED), self.facts.about)

    def correct_people(self, people: int) -> Table:
        """Declare another number of people, if that number is secret. Free: no row is read, no answer changes."""
        record = self._workspace.correct_people(self.name, people, self.actor)
        return type(self)(self._workspace, record, self._budget, self.actor)

    def both_ranges(self, query: AnyQuery) -> BothRanges | None:
        """For a random sample: how wide the range for the table and the range for the larger group will be, after all
        that was released. None if the answer will have no range for the larger group. Free; no row is read."""
        if not self.facts.sample:
            return None
        return both_ranges(query, self.released(), self.budget.rule.delta_reserve)

    def declare_sample(self, sample: bool = True) -> Table:
        """Declare that these people, one row each, are a random sample of a larger group, or that they are not. Later
        answers then have a second range, for that group (`Answer.population`). A question that was built before must be
        built again. Free: no row is read."""
        record = self._workspace.declare_sample(self.name, sample, self.actor)
        return type(self)(self._workspace, record, self._budget, self.actor)

    def fit_of(self, column: str) -> ColumnFit:
        """What the paid checks say about how well one column, as declared now, fits. Free."""
        return self.fits().of(column, self.schema[column])

    def answer_of(self, entry: Entry) -> Answer:
        """The stored answer of a charge, under the bounds that the question had, even if the table was declared anew
        since."""
        return paid_answers.answer_of(self._workspace.ledger, self.facts, entry)

    def beside(self, other: Table) -> list[AcrossTables]:
        """The figures that the newest answers of this table and of another one have in common, with each difference
        (this table less the other): last year's and this year's. Only the same questions under the same declarations
        are compared. Free."""
        each = BETA if self.budget.id == other.budget.id else BETA / 2
        return across(other.asked_figures(each), self.asked_figures(each))

    def asked_figures(self, beta: Fraction = BETA) -> dict[str, AskedFigures]:
        """For each question about this table, the figures of its newest answer. All their ranges hold at once, except
        with probability `beta`."""
        found: dict[str, AskedFigures] = {}
        for entry in self.history(MOST_ANSWERS):
            if entry.charge.table == self.name and entry.answer and (figures := self.figures(entry, beta=beta)):
                answer = self.answer_of(entry)
                claim = claim_of(answer.query.with_noise(""))
                asked = identity(with_folded_names(claim, answer.query.facts.schema.columns))
                found.setdefault(asked, AskedFigures(answer.sentence, {figure.part: figure for figure in figures}))
        return found

    def person_in_both(self, other: Table) -> PersonInBoth:
        """What a person who is in both tables is promised. Free."""
        one, two = self.meter(), other.meter()
        if self.budget.id == other.budget.id:
            return PersonInBoth(one.epsilon, one.delta, self.facts.relation, shared=True)
        return promised(((one.epsilon, one.delta, self.facts.relation), (two.epsilon, two.delta, other.facts.relation)))

    def figures(self, entry: Entry, parts: Collection[str] | None = None, beta: Fraction = BETA) -> list[Comparable]:
        """The figures of a paid answer, or of some of its `parts`. The ranges of these and of all other figures of the
        budget hold together, except with probability `beta`. Free."""
        answer = None if entry.outcome is None else self._workspace.answer_of(entry)
        if answer is None or answer.query.card.answer == "session":
            return []
        place, table = entry.charge.history.count, entry.charge.table
        given = answer.query, answer.value, answer.interval, answer.raw, place, answer.request_id, table
        return figures(*given, parts, beta, answer.population)

    def history(self, limit: int = 50, offset: int = 0) -> list[Entry]:
        """The charges to this table's budget, newest first, also those of other tables that share it."""
        return self._workspace.ledger.charges(budget=self._budget.id, limit=limit, offset=offset)

    def sharing(self) -> list[str]:
        """The names of the tables that spend this budget, this one among them."""
        return [name for name, budget in self._workspace.names() if budget == self._budget.id] or [self.name]

    def burn_down(self) -> list[BurnDownStep]:
        return exports.burn_down(self._workspace.ledger, self.budget)

    def more_like_last(self) -> Fit | None:
        return exports.more_like_last(self._workspace.ledger, self.budget)

    def ledger_rows(self) -> Iterator[list[Json]]:
        """Every ledger row of the budget, as a table with `exports.ROW_COLUMNS`."""
        return exports.statement_rows(self._workspace.ledger, self.budget)

    def answer_rows(self) -> Iterator[list[Json]]:
        """Every figure released under the budget, as a table with `exports.ANSWER_COLUMNS`."""
        ledger = self._workspace.ledger

        @cache
        def fits(name: str) -> Fits:
            return fits_of(ledger, self._budget.id, name, made=self.practice)

        def beyond(entry: Entry) -> Json:
            answer = self._workspace.answer_of(entry)
            return None if answer is None else answer.population

        return exports.answer_rows(ledger, self.budget, fits, beyond)

    def answer_lines(self) -> Iterator[str]:
        """Every answer under the budget as a line of JSON with its receipt, oldest first."""
        return exports.answer_lines(self._workspace.ledger, self.budget)

    def account_lines(self) -> Iterator[str]:
        """Every answer under the budget as a line of a downloadable account (`exports.Account`)."""
        return account_lines(self._workspace.ledger.walk(self._budget.id))

    def released(self, before: int | None = None) -> Past:
        """The losses of all that was charged to the budget, up to now or before a row. Every statement about a larger
        group counts them."""
        return self._workspace.ledger.released(self._budget.id, before)

    def answers(self, most: int) -> list[Answer]:
        """The newest answers under the budget, oldest first, also those of other tables that share it."""
        answers = (self._workspace.answer_of(entry) for entry in reversed(self.history(most)))
        return [answer for answer in answers if answer is not None]

    def meter(self) -> Meter:
        standing = self._standing()  # before the cap, as in `preview`
        return build_meter(self.budget, standing)

    def _standing(self) -> Standing:
        return self._workspace.ledger.standing(self._budget.id)
