"""One declared table: build a question, see its price, ask it, find it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import cache

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.loss import Pure
from dpengine.asking import made_rows, statement
from dpengine.asking.account import lines_of
from dpengine.asking.answers import Answer, Job, Meter, Preview, make_answer, make_meter, make_preview
from dpengine.asking.asked import asked
from dpengine.asking.column_fit import ColumnFit, Fits, fits_of
from dpengine.asking.paid_answers import (
    MOST_LOOKS,
    already_known,
    answer_of,
    answers_of_kinds,
    answers_to,
    entries_of_kinds,
    latest_to,
    looks_at,
    run_of,
    session_for,
)
from dpengine.asking.people_told import PeopleTold, far_off, kinds
from dpengine.asking.plan import Planner, PlanRun
from dpengine.asking.release import Asker, Home, new_request
from dpengine.asking.repeated_answers import Reading
from dpengine.asking.sessions import BEST, Session, fitted
from dpengine.asking.statement import BurnDownStep, Fit
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json
from dpengine.declared.dialect import Dialect
from dpengine.declared.facts import Facts
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
from dpengine.mechanisms.query import AnyQuery, Released
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.planning import rehearsal
from dpengine.planning.best_noise import at_share, cheapest, least_priced, price_now
from dpengine.planning.levers import Lever, levers
from dpengine.planning.suggestions import suggest, takes_at_most, worth_asking
from dpengine.planning.training_for_spend import trained
from dpengine.planning.ways_at_once import WaysAtOnce, ways
from dpengine.released.compare import Comparable, figures
from dpengine.released.look_answers import KnownAlready
from dpengine.released.made_table import MadeTable
from dpengine.released.published import Published
from dpengine.released.registry_draft import ReleasedSoFar
from dpengine.released.synthetic import KEYS, Synthetic
from dpengine.storage.registry import Record

MOST_ASKED = 20  # of the newest answers that may tell how many people there are


class Table:
    """Reads of public facts and of the ledger are free; `ask` and `submit` spend."""

    def __init__(self, workspace: Home, record: Record, budget: BudgetRecord, actor: str, joined: bool = False):
        self._workspace = workspace
        self._record = record
        self._budget = budget
        self.actor = actor
        self.joined = joined  # this content already had a budget, whose cap stays
        self.name, self.practice = record.name, record.practice
        self.dialect = Dialect.from_json(record.dialect)  # how its own file is written
        self.facts = Facts(
            table=record.name,
            schema=workspace.schema_of(record),
            unit=Unit.from_json(record.unit),
            relation=read_relation(record.relation),
            about=record.about,
            header=tuple(record.header),
        )
        self._asker = Asker(workspace, record, budget, actor, self.facts)

    @property
    def schema(self) -> Schema:
        return self.facts.schema

    @property
    def budget(self) -> BudgetRecord:
        """The budget as it is now: an owner may have raised its cap since this object was made."""
        return self._budget if self.practice else self._workspace.ledger.budget(self._budget.id)

    @property
    def closed(self) -> str | None:
        """`seal`, `forget` or `close` if it accepts no more questions."""
        return None if self.practice else closed_kind(self._workspace.ledger.closed(), self._budget.id, self.name)

    def acts(self) -> list[Act]:
        """What an owner did to this budget and its tables, newest first."""
        return self._workspace.ledger.acts(self._budget.id)

    def query(self, key: str, /, **parameters: Json) -> AnyQuery:
        """A question from the catalogue; refuses in one sentence what it cannot use."""
        return asked(key, self.facts, parameters, self.budget.rule.delta_reserve)

    def preview(self, query: AnyQuery) -> Preview:
        standing = self._standing()  # read before the cap, which only grows: the meter never shows more than 100 %
        return make_preview(query, self.budget.rule, standing)

    def took(self, entry: Entry) -> Fraction:
        """How far a charge moved the meter, as a share of the allowance as it is now."""
        return filter.used(self.budget.rule, entry.charge.totals_after) - 1 + self.left_before(entry)

    def left_before(self, entry: Entry) -> Fraction:
        """What was left of the allowance, as it is now, when a charge was made."""
        return 1 - filter.used(self.budget.rule, self._workspace.ledger.before(entry.charge))

    def took_by(self, answer: Answer) -> Fraction:
        """The same for the charge of an answer."""
        entry = self._workspace.ledger.find(answer.request_id)
        return Fraction(0) if entry is None else self.took(entry)

    def prices(self, queries: Sequence[AnyQuery]) -> list[Fraction | None]:
        """What each of these would take of the allowance now, with the noise that it would be answered with; None where
        none that is as accurate fits into what is left."""
        rule, totals = self.budget.rule, self._standing().totals
        return [price_now(query, rule, totals) for query in queries]

    def suggestions(self) -> list[AnyQuery]:
        """Up to five questions this table can answer, from public facts, each for at most half of what is left."""
        return list(suggest(self.facts, self.budget.rule, self._standing().totals))

    def suggested(self, key: str, /, **parameters: Json) -> AnyQuery | None:
        """This question at the smallest usual ε at which it is clearly more than noise, for at most half of what is
        left; None where there is none, or where it cannot be asked like this."""
        affordable = takes_at_most(Fraction(1, 2), self.budget.rule, self._standing().totals)
        return worth_asking(self.facts, key, parameters, affordable, 1)

    def affordable(self, steps: Sequence[str], share: Fraction) -> list[str]:
        """Which of these ε a plain question could use for at most this share of the allowance."""
        rule, totals = self.budget.rule, self._standing().totals
        return [step for step in steps if filter.affords(rule, totals, cost(Pure(Fraction(step)), rule.alpha), share)]

    def least_epsilon(self, query: AnyQuery, wish: Fraction) -> Fraction | None:
        """The least ε at which the answer is as accurate as wished, or None."""
        return least_epsilon(query, wish)

    def cheapest(self, query: AnyQuery) -> AnyQuery:
        """The same question with the most accurate noise for the share of the allowance that it takes now."""
        return cheapest(query, self.budget.rule, self._standing().totals)

    def ways(self, query: AnyQuery) -> WaysAtOnce | None:
        """What each way of drawing several averages at once is worth for the price now; None for other questions."""
        return ways(query, self.budget.rule, self._standing().totals)

    def least_priced(self, query: AnyQuery, wish: Fraction) -> AnyQuery | None:
        """The same question with the cheapest noise and ε at which it is as accurate as wished, or None."""
        return least_priced(query, wish, self.budget.rule, self._standing().totals)

    def levers(self, query: AnyQuery) -> list[Lever]:
        """What would help a question that is mostly noise, the strongest first. From public facts; nothing is read."""
        rule, totals = self.budget.rule, self._standing().totals

        def share(changed: AnyQuery) -> Fraction | None:
            price = cost(changed.loss(), rule.alpha)
            return filter.share(rule, totals, price) if filter.admits(rule, totals.plus(price)) else None

        return levers(query, share)

    def at_share(self, query: AnyQuery, share: Fraction) -> AnyQuery | None:
        """The same question at the largest ε that takes at most this share of the allowance now, or None."""
        return at_share(query, share, self.budget.rule, self._standing().totals)

    def rehearse(self, query: AnyQuery, times: int = 1) -> list[Released]:
        """What answers could look like, drawn on a made-up table from public facts. Free, and reveals nothing."""
        return rehearsal.rehearse(query, times)

    def rehearse_rows(self, query: OfRows) -> tuple[list[list[Json]], list[list[Json]]]:
        """A few made-up rows, and what would be published for each. Free, and reveals nothing."""
        return imagined(query, rehearsal.coins())

    def ask(self, query: AnyQuery, request_id: str | None = None, seen: int | None = None) -> Answer:
        """Charge, commit, then draw. The same request id is the same answer; a new one is a new, paid draw."""
        return make_answer(query, self._asker.carry(query, request_id or new_request(), seen)())

    def revise(self, schema: Schema) -> Table:
        """The same rows declared anew, on the same budget. Free; answers already given keep their meaning."""
        if self.practice:
            raise AllowanceError("table.practice")
        return type(self)(
            self._workspace, self._workspace.revise(self.name, schema, self.actor), self._budget, self.actor
        )

    def submit(self, query: AnyQuery, request_id: str | None = None, seen: int | None = None) -> Job:
        """The same in a background thread; `Workspace.job` finds it by its request id, also after a reload or a
        restart. With `seen`, the last ledger row that the person has seen, it is refused if somebody asked the same
        since."""
        request = request_id or new_request()
        carry = made_rows.with_rows(self._asker, query, request, self._asker.carry(query, request, seen))
        self._workspace.jobs.submit(request, carry, turn=self.actor, long=query.takes_long)
        return self._workspace.job(request)

    def cancel(self, request_id: str) -> bool:
        """Ask a training to end after the current step. What was charged stays charged, and the model so far is the
        answer. False if none runs here under that id."""
        return self._workspace.jobs.cancel(request_id)

    def training_for(self, key: str, share: Fraction, /, **parameters: Json) -> AnyQuery:
        """The training with the least noise that takes at most this share of the allowance. Free; nothing is read."""
        return trained(self.query, key, parameters, share, self.budget.rule, self._standing().totals)

    def planner(self, keep: Fraction = Fraction(0)) -> Planner:
        """Prices plans against the present state of the budget, of which the share `keep` must be left. Free."""
        standing = self._standing()  # before the cap, as in `preview`
        return Planner(self.budget.rule, standing.totals, keep)

    def submit_plan(
        self, queries: Sequence[AnyQuery], run: str, keep: Fraction = Fraction(0), seen: int | None = None
    ) -> None:
        """All of them in a background thread: charged together or not at all, then drawn one after the other."""
        carry, long = self._asker.carry_all(queries, run, keep, seen), any(query.takes_long for query in queries)
        self._workspace.jobs.submit(run, carry, turn=self.actor, long=long)

    def run(self, run: str) -> PlanRun:
        """The state of a plan, whether it runs in this process or another, or was stored before a restart."""
        return run_of(self._asker, run)

    def session_for(self, questions: Json, share: Fraction, calibration: str = BEST) -> AdaptiveSession:
        """The session with the least noise that takes at most this share of the allowance, of whichever kind promises
        more now unless one is named. Free; nothing is opened."""
        return fitted(self.facts, questions, calibration, share, self.budget.rule, self._standing().totals)

    def open_session(self, query: AnyQuery, request_id: str | None = None) -> Session:
        """Charge a whole session; its questions are then asked one by one. `submit` does the same in the background."""
        request = request_id or new_request()
        self._asker.carry(query, request)()
        return self.session(request)

    def session(self, request_id: str) -> Session:
        """A session that was paid for, at whatever step it is; refused if this table has none of that id."""
        return session_for(self._asker, request_id)

    def published(self, answer: Answer) -> Published:
        """A table that was published, with what can be computed from it: free."""
        return Published(answer.query, self._workspace.published_file(answer.request_id), answer.value)

    def publications(self, most: int = 20) -> list[Answer]:
        """Tables that were published from this one under this budget, newest first: free to see and to ask."""
        return answers_of_kinds(self._asker, ("publish_*",), most)

    def trainings(self, most: int = 20) -> list[Answer]:
        """Models that were trained on this table under this budget, newest first: free to see and to use."""
        return answers_of_kinds(self._asker, ("train_*",), most)

    def checks(self, most: int = 50) -> list[Answer]:
        """What was paid to know about models on this table, newest first: free to see."""
        return answers_of_kinds(self._asker, ("check_*",), most)

    def drafted(self, most: int = 20) -> list[Answer]:
        """Ranges and lists of several columns that were bought of this table, newest first: free to see and to use."""
        return answers_of_kinds(self._asker, (FindDeclarations.card.key,), most)

    def synthetic(self, answer: Answer) -> Synthetic | MadeTable:
        """A synthetic table, with what can be computed from it: free."""
        return made_rows.made(self._asker, answer)

    def make_rows(self, answer: Answer) -> None:
        """Fit the rows of a synthetic table in a background thread, where they are not fitted yet: free."""
        made_rows.submit(self._asker, answer)

    def syntheses(self, most: int = 20) -> list[Answer]:
        """Synthetic tables that were made from this one under this budget, newest first."""
        return answers_of_kinds(self._asker, KEYS, most)

    def first_looks(self, most: int = 20, but: str = "") -> list[Answer]:
        """First looks that were bought of this table under this budget, newest first, but for one: free to look at."""
        return answers_of_kinds(self._asker, (Overview.card.key,), most, but)

    def newest_look(self) -> str | None:
        """The request that bought the newest of them."""
        found = entries_of_kinds(self._asker, (Overview.card.key,), 1)
        return found[0].charge.request if found else None

    def already_known(self, query: AdaptiveSession) -> KnownAlready | None:
        """What first looks that were bought of this table say about one question of a session, before it is asked: the
        narrowest promised range, else an estimate of the newest that has one. Free."""
        return already_known(self.first_looks(MOST_LOOKS), query)

    def last_asked(self, query: AnyQuery) -> Entry | None:
        """The last charge for exactly this question, even if it has no answer yet: free."""
        return self._workspace.ledger.newest_to(self._budget.id, self.name, query.digest())

    def recall(self, query: AnyQuery, exactly: bool = True) -> list[Answer]:
        """The latest paid answers to exactly this question, oldest first: free. The same question under other bounds is
        a different one. Not `exactly`: the latest one at any ε."""
        return answers_to(self._asker, query) if exactly else latest_to(self._asker, query)

    def looks(self, query: AnyQuery) -> Reading:
        """The paid answers to this question at any ε, and what they say together: free. They are read in the order they
        were given, so that a later answer never changes a range already stated."""
        return looks_at(self._asker, query)

    def fits(self) -> Fits:
        """The paid checks of whether the cells of its columns are as declared: free to see."""
        return fits_of(self._workspace.ledger, self._budget.id, self.name, made=self.practice)

    def people_far_off(self) -> PeopleTold | None:
        """What a paid answer says of the number of people, where the declared one is surely far off: free to see."""
        if self.practice or self.facts.people is not None:
            return None
        return far_off(answers_of_kinds(self._asker, kinds(), MOST_ASKED), self.facts.about)

    def correct_people(self, people: int) -> Table:
        """Declare another number of people, where membership is secret. Free: nothing is read, and answers already
        given keep what they were planned with."""
        record = self._workspace.correct_people(self.name, people, self.actor)
        return type(self)(self._workspace, record, self._budget, self.actor)

    def fit_of(self, column: str) -> ColumnFit:
        """The same for one column, as it is declared now."""
        return self.fits().of(column, self.schema[column])

    def answer_of(self, entry: Entry) -> Answer:
        """The answer as it was given: under the bounds in its claim, even if the table was declared anew since."""
        return answer_of(self.facts, entry)

    def figures(self, entry: Entry, parts: Collection[str] | None = None) -> list[Comparable]:
        """The figures of a paid answer, or some of them, for comparison, in one joint claim with all others of the
        budget: free."""
        answer = None if entry.outcome is None else self._workspace.answer_of(entry)
        if answer is None or answer.query.card.answer == "session":
            return []
        place, table = entry.charge.history.count, entry.charge.table
        return figures(answer.query, answer.value, answer.interval, answer.raw, place, answer.request_id, table, parts)

    def history(self, limit: int = 50, offset: int = 0) -> list[Entry]:
        """What was charged to this table's budget, newest first, for all tables that share it."""
        return self._workspace.ledger.charges(budget=self._budget.id, limit=limit, offset=offset)

    def sharing(self) -> list[str]:
        """The tables that spend this budget, this one among them."""
        return [name for name, budget in self._workspace.names() if budget == self._budget.id] or [self.name]

    def burn_down(self) -> list[BurnDownStep]:
        return statement.burn_down(self._workspace.ledger, self.budget)

    def more_like_last(self) -> Fit | None:
        return statement.more_like_last(self._workspace.ledger, self.budget)

    def ledger_rows(self) -> Iterator[list[Json]]:
        """Every row of the budget, under `statement.ROW_COLUMNS`."""
        return statement.rows(self._workspace.ledger, self.budget)

    def answer_rows(self) -> Iterator[list[Json]]:
        """Every figure released under the budget, under `statement.ANSWER_COLUMNS`."""
        ledger = self._workspace.ledger

        @cache
        def fits(name: str) -> Fits:
            return fits_of(ledger, self._budget.id, name, made=self.practice)

        return statement.answer_rows(ledger, self.budget, fits)

    def answer_lines(self) -> Iterator[str]:
        """The same as lines of JSON, each with its receipt."""
        return statement.answer_lines(self._workspace.ledger, self.budget)

    def account_lines(self) -> Iterator[str]:
        """Every answer under the budget as a record to take away (`asking/account.py`)."""
        return lines_of(self._workspace.ledger.walk(self._budget.id))

    def released_so_far(self) -> ReleasedSoFar | None:
        """What a registry is told of this budget; None before the first answer."""
        meter, kinds, first = self.meter(), Counter[str](), ""
        for entry in self._workspace.ledger.walk(self._budget.id):
            if entry.outcome is not None and entry.outcome.kind == "answer" and entry.charge.claim["key"] in catalogue:
                kinds[entry.charge.claim["key"]] += 1
                first = first or entry.charge.at[:10]
        if not kinds:
            return None
        cards = [(catalogue[key].card, times) for key, times in kinds.items()]
        return ReleasedSoFar(meter.spent_epsilon, meter.delta_now, meter.epsilon, meter.delta, first, cards)

    def answers(self, most: int) -> list[Answer]:
        """The newest answers under the budget, oldest first, for all tables that share it."""
        answers = (self._workspace.answer_of(entry) for entry in reversed(self.history(most)))
        return [answer for answer in answers if answer is not None]

    def meter(self) -> Meter:
        standing = self._standing()
        return make_meter(self.budget, standing)

    def _standing(self) -> Standing:
        return self._workspace.ledger.standing(self._budget.id)
