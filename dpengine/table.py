"""One declared table: build a question, see its price, ask it, find it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

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
    claim_of,
    make_meter,
    make_preview,
    make_protection,
)
from dpengine.asking.checking import ColumnDoubted, check_for, column_doubts, doubts, finer_check, id_check_for
from dpengine.asking.column_fit import ColumnFit, Fits, fits_of, spared
from dpengine.asking.exports import BurnDownStep, Fit, account_lines
from dpengine.asking.implied_people import PeopleTold, far_off, kinds
from dpengine.asking.jobs import outcome_of
from dpengine.asking.paid_answers import (
    MOST_LOOKS,
    Reading,
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
from dpengine.asking.plan import Planner, PlanRun
from dpengine.asking.release import Asker, Home, new_request
from dpengine.asking.sessions import BEST, Session, fitted
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.types import Json
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
from dpengine.mechanisms.query import AnyQuery, Query, Released
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.planning.alternatives import WaysAtOnce, means_together
from dpengine.planning.opening import (
    Make,
    Opening,
    Room,
    at_share,
    cheapest,
    least_priced,
    opened,
    opening,
    price_now,
    room,
    three_figures,
)
from dpengine.planning.suggestions import Lever, coins, levers, rehearse, suggest, takes_at_most, worth_asking
from dpengine.planning.training import trained
from dpengine.released.compare import Comparable, figures
from dpengine.released.files import ReleasedSoFar
from dpengine.released.look_answers import KnownAlready
from dpengine.released.published import Published
from dpengine.released.synthetic import KEYS, MadeTable, Synthetic
from dpengine.storage.registry import Record

CHECK = ".check"  # ends the request under which a question's check is charged
MOST_ASKED = 20  # of the newest answers that may tell how many people there are, or where a column's values lie


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
        return asked(key, self.facts, parameters, self._delta_at_hand)

    @property
    def _delta_at_hand(self) -> Fraction:
        """The δ reserve, of which a question that names no δ takes a part."""
        return self.budget.rule.delta_reserve

    def preview(self, query: AnyQuery, checked: bool = False) -> Preview:
        """What a question takes and promises. With `checked`, the check that it would buy first is in the price."""
        standing = self._standing()  # read before the cap, which only grows: the meter never shows more than 100 %
        seen = make_preview(query, self.budget.rule, standing)
        checks = self.checks_for([query]) if checked else []
        return self._with_checks(seen, checks, query) if checks else seen

    def _with_checks(self, seen: Preview, checks: Sequence[AnyQuery], query: AnyQuery) -> Preview:
        whole = self.planner().price_of([*checks, query])
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
        """The checks that these questions buy with them, in this order: whether ids repeat, by itself; then their
        columns. From public facts and released figures."""
        if not any(query.gated or query.to_check() for query in queries):
            return []
        wanted = set[str]().union(*(query.to_check() for query in queries))
        found = (id_check_for(self), check_for(self, wanted))
        return [check for check in found if check is not None]

    def finer_check(self, columns: Sequence[str]) -> AnyQuery | None:
        """A check that tells nearly everything about columns that were checked only roughly; None where it is dear."""
        return finer_check(self, columns)

    def doubts(self, query: AnyQuery) -> ColumnDoubted | None:
        """Why this question would not be asked, by the checks that were paid for; None where it would be. Free."""
        return None if self.practice else doubts(self.fits(), query, self.facts)

    def can_read(self, query: AnyQuery) -> bool:
        """Can what it needs be computed where the table lies? From public facts."""
        try:
            self._workspace.refuse_need(query.need(), self._record)
        except AllowanceError:
            return False
        return True

    def took(self, entry: Entry) -> Fraction:
        """How far a charge moved the meter, as a share of the allowance as it is now. Where more protection was
        declared since, as it counts now."""
        before, after = self._sums(entry)
        return filter.used(self.budget.rule, after) - filter.used(self.budget.rule, before)

    def left_before(self, entry: Entry) -> Fraction:
        """What was left of the allowance, as it is now, when a charge was made."""
        return 1 - filter.used(self.budget.rule, self._sums(entry)[0])

    def _sums(self, entry: Entry) -> tuple[Totals, Totals]:
        """The sums before and after a charge."""
        ledger, charge = self._workspace.ledger, entry.charge
        return ledger.recounted(charge) or (ledger.before(charge), charge.totals_after)

    def checks_before(self, entry: Entry) -> list[Entry]:
        """The charges of the checks that were bought with a question."""
        requests = [f"{entry.charge.request}{CHECK}{place}" for place in ("", "1")]
        return [found for one in requests if (found := self._workspace.ledger.find(one)) is not None]

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
        """Up to five questions this table can answer, from public facts and paid checks, each at the price that it
        opens with; none that a check doubts."""
        totals = self._standing().totals
        found = suggest(self.facts, self.budget.rule, totals, lambda query: self._check_share(lambda _: query))
        return [query for query in found if self.doubts(query) is None]

    def suggested(self, key: str, /, **parameters: Json) -> AnyQuery | None:
        """This question at the price that it opens with, if half of what is left makes it more than noise; None where
        it does not, or where it cannot be asked like this."""
        affordable = takes_at_most(Fraction(1, 2), self.budget.rule, self._standing().totals)
        query = worth_asking(self.facts, key, parameters, affordable, 1)
        found = None if query is None else self.opening(query)
        return None if found is None else found.asked

    def opening(self, query: AnyQuery | Make, worth: Room = room) -> Opening | None:
        """The same question at the price that every page opens it with: at most a twentieth of what is left, if that
        can be had; None where nothing can. Also for what is built anew at each ε, or is `worth` its price by another
        measure than its promise."""
        rule, totals, left = self.budget.rule, self._standing().totals, self._spendable()
        make = query.asked_at if isinstance(query, Query) else query
        check = self._check_share(make)
        if isinstance(query, Query) and worth is room:
            return opening(query.with_noise("").at(Fraction(1)), rule, totals, left, check)
        return opened(make, rule, totals, left, check, worth)

    def _check_share(self, make: Make) -> Fraction:
        """What the check that a question would buy takes of the allowance."""
        try:
            checks = self.checks_for([make(Fraction(1))])
        except AllowanceError:  # it cannot be asked like this
            return Fraction(0)
        return self.planner().price_of(checks).share if checks else Fraction(0)

    def check_part(self, query: AnyQuery) -> Fraction:
        """By which part of what is left the check that this question would buy makes it dearer."""
        left, alone = self._spendable(), self.preview(query)
        return (self.preview(query, checked=True).share - alone.share) / left if left else Fraction(0)

    def _spendable(self) -> Fraction:
        """What is left for whoever asks."""
        return self.meter().unused

    def least_epsilon(self, query: AnyQuery, wish: Fraction) -> Fraction | None:
        """The least ε at which the answer is as accurate as wished, or None."""
        return least_epsilon(query, wish)

    def cheapest(self, query: AnyQuery) -> AnyQuery:
        """The same question with the most accurate noise for the share of the allowance that it takes now."""
        return cheapest(query, self.budget.rule, self._standing().totals)

    def ways(self, query: AnyQuery) -> WaysAtOnce | None:
        """What each way of drawing several averages at once is worth for the price now; None for other questions."""
        return means_together(query, self.budget.rule, self._standing().totals)

    def least_priced(self, query: AnyQuery, wish: Fraction) -> AnyQuery | None:
        """The same question with the cheapest noise and ε at which it is as accurate as wished, or None."""
        return least_priced(query, wish, self.budget.rule, self._standing().totals)

    def levers(self, query: AnyQuery) -> list[Lever]:
        """What would help a question that is mostly noise, the strongest first. From public facts; nothing is read."""
        rule, totals = self.budget.rule, self._standing().totals

        def share(changed: AnyQuery) -> Fraction | None:
            price = cost(changed.loss(), rule.alpha)
            return filter.share(rule, totals, price) if filter.admits(rule, totals.plus(price)) else None

        def bought(changed: AnyQuery, part: Fraction) -> AnyQuery | None:
            found = at_share(changed, part, rule, totals)
            return None if found is None else cheapest(found.at(three_figures(found.epsilon)), rule, totals)

        column = query.answer_column
        return levers(query, share, bought, not self._found_outside(column), self._answered_between(column))

    def _found_outside(self, column: str) -> bool:
        """Did a paid check, of whatever declaration, find cells that do not fit the column?"""
        if self.practice or column not in self.schema.columns:
            return False
        known = (check.found.get(column) for check in self.fits().checks)
        return any(found is not None and found.misfit.low > 0 for found in known)

    def _answered_between(self, column: str) -> tuple[Fraction, Fraction] | None:
        """The ends between which the newest paid averages, medians and the like of a column lie; None without any."""
        found = [] if self.practice else self.answers(MOST_ASKED)
        own = [one for one in found if (one.query.answer_kind, one.query.answer_column) == ("place", column)]
        ends = [one.interval for one in own if isinstance(one.interval, tuple) and not isinstance(one.interval[0], str)]
        if not ends:
            return None
        return min(Fraction(low) for low, _ in ends), max(Fraction(high) for _, high in ends)

    def at_share(self, query: AnyQuery, share: Fraction) -> AnyQuery | None:
        """The same question at the largest ε that takes at most this share of the allowance now, or None."""
        return at_share(query, share, self.budget.rule, self._standing().totals)

    def rehearse(self, query: AnyQuery, times: int = 1) -> list[Released]:
        """What answers could look like, drawn on a made-up table from public facts. Free, and reveals nothing."""
        return rehearse(query, times)

    def rehearse_rows(self, query: OfRows) -> tuple[list[list[Json]], list[list[Json]]]:
        """A few made-up rows, and what would be published for each. Free, and reveals nothing."""
        return imagined(query, coins())

    def ask(
        self,
        query: AnyQuery,
        request_id: str | None = None,
        seen: int | None = None,
        checked: bool = False,
        anyway: bool = False,
    ) -> Answer:
        """Charge, commit, then draw. The same request id is the same answer; a new one is a new, paid draw.

        With `checked`, a column that nobody has checked is checked first, for a charge of its own; where a check doubts
        a column, `ColumnDoubted` is raised and the question is neither asked nor paid for. With `anyway` it is then
        asked of the cells that fit, where it takes conditions; where hardly any fits, it is refused."""
        return self.answer_of(self._carry(query, request_id or new_request(), seen, checked, anyway)())

    def _carry(
        self, query: AnyQuery, request: str, seen: int | None, checked: bool, anyway: bool
    ) -> Callable[[], Entry]:
        """The work for one question, from the first charge to the stored answer."""
        ledger = self._workspace.ledger
        if not checked or self.practice:
            return self._asker.carry(query, request, seen)
        known = ledger.find(request)
        if known is not None and self._asked_before(known, query, anyway):
            return lambda: outcome_of(ledger, request)  # the same request is the same answer
        first, checks = self._decided(query, anyway, None), self.checks_for([query])
        self._asker.release(first, request, seen)  # refuses what cannot be asked at all
        if checks and not self.preview(query, checked=True).admissible:
            raise BudgetExceeded("fit.both")

        def carry() -> Entry:
            asked = first
            for place, check in enumerate(checks):
                bought = self.answer_of(self._asker.carry(check, f"{request}{CHECK}{place or ''}")())
                asked = self._decided(query, anyway, bought)
            return self._asker.carry(asked, request, seen)()

        return carry

    def _asked_before(self, known: Entry, query: AnyQuery, anyway: bool) -> bool:
        """Is this charge for this very question, by the same person; with `anyway`, or for its cells that fit?"""
        same = [query, *([other] if anyway and (other := spared(query, self.fits().doubted(query))) else [])]
        ours = (known.charge.actor, known.charge.budget) == (self.actor, self._budget.id)
        return ours and any(claim_of(one) == known.charge.claim for one in same)

    def _decided(self, query: AnyQuery, anyway: bool, check: Answer | None) -> AnyQuery:
        """The question that may be asked; refuses where a check doubts a column of it."""
        fits = self.fits()
        refused = doubts(fits, query, self.facts, check)
        if refused is None:
            return query
        if not anyway:
            raise refused
        doubted = fits.doubted(query)
        if any(fit.hardly_fits for fit in doubted):
            raise column_doubts(fits, query, self.facts, check) or refused
        return spared(query, doubted) or query

    def revise(self, schema: Schema) -> Table:
        """The same rows declared anew, on the same budget. Free; answers already given keep their meaning."""
        if self.practice:
            raise AllowanceError("table.practice")
        return type(self)(
            self._workspace, self._workspace.revise(self.name, schema, self.actor), self._budget, self.actor
        )

    def protection_preview(self, unit: Unit) -> Protection:
        """What would be left if rows belonged to people: every earlier answer counted for a person with as many rows
        as `unit` says. Free; no row is read."""
        self._workspace.refuse_unit(self._record, unit)
        before, after = self._workspace.ledger.protection_of(self._budget.id, unit)
        return make_protection(self.budget.rule, before, after, unit.at_most)

    def protect(self, unit: Unit, people: int | None = None) -> Table:
        """Declare more protection, never less: one row each becomes an id column with at most so many rows a person, or
        more rows of a person count. You vouch that nobody has more rows than that: earlier answers count for a person
        with that many. Sessions that are open end. `people`: about how many there are, where that is secret."""
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
        """The same in a background thread; `Workspace.job` finds it by its request id, also after a reload or a
        restart. With `seen`, the last ledger row that the person has seen, it is refused if somebody asked the same
        since."""
        request = request_id or new_request()
        carried = self._carry(query, request, seen, checked, anyway)
        carry = paid_answers.with_rows(self._asker, query, request, carried)
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
        self,
        queries: Sequence[AnyQuery],
        run: str,
        keep: Fraction = Fraction(0),
        seen: int | None = None,
        checked: bool = False,
    ) -> None:
        """All of them in a background thread: charged together or not at all, then drawn one after the other. With
        `checked`, columns that nobody has checked are checked first, and questions about a column that a check doubts
        are neither asked nor paid for."""
        carry, long = self._asker.carry_all(queries, run, keep, seen), any(query.takes_long for query in queries)
        checks = self.checks_for(queries) if checked else []
        if checks and not self.planner(keep).price_of([*checks, *queries]).fits:
            raise BudgetExceeded("fit.both")

        def checked_first() -> None:
            for place, check in enumerate(checks):
                self._asker.carry(check, f"{run}{CHECK}{place or ''}")()
                if any(doubts(self.fits(), query, self.facts) for query in queries if place == 0):
                    break
            fits = self.fits()
            refused = [doubts(fits, query, self.facts) for query in queries]
            left = [query for query, why in zip(queries, refused, strict=True) if why is None]
            if not left:
                raise next(why for why in refused if why is not None)
            self._asker.carry_all(left, run, keep, seen)()

        self._workspace.jobs.submit(
            run, checked_first if checked and not self.practice else carry, turn=self.actor, long=long
        )

    def run(self, run: str) -> PlanRun:
        """The state of a plan, whether it runs in this process or another, or was stored before a restart."""
        return run_of(self._asker, run)

    def session_for(self, questions: Json, share: Fraction, calibration: str = BEST) -> AdaptiveSession:
        """The session with the least noise that takes at most this share of the allowance, of whichever kind promises
        more now unless one is named. Free; nothing is opened."""
        rule, totals = self.budget.rule, self._standing().totals
        return fitted(self.facts, questions, calibration, share, rule, totals, self.released())

    def open_session(self, query: AnyQuery, request_id: str | None = None, checked: bool = False) -> Session:
        """Charge a whole session; its questions are then asked one by one. `submit` does the same in the background.
        With `checked`, columns that nobody has checked are checked first."""
        request = request_id or new_request()
        self._carry(query, request, None, checked, False)()
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
        return paid_answers.made_rows(self._asker, answer)

    def make_rows(self, answer: Answer) -> None:
        """Fit the rows of a synthetic table in a background thread, where they are not fitted yet: free."""
        paid_answers.submit_rows(self._asker, answer)

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
        return exports.burn_down(self._workspace.ledger, self.budget)

    def more_like_last(self) -> Fit | None:
        return exports.more_like_last(self._workspace.ledger, self.budget)

    def ledger_rows(self) -> Iterator[list[Json]]:
        """Every row of the budget, under `statement.ROW_COLUMNS`."""
        return exports.statement_rows(self._workspace.ledger, self.budget)

    def answer_rows(self) -> Iterator[list[Json]]:
        """Every figure released under the budget, under `statement.ANSWER_COLUMNS`."""
        ledger = self._workspace.ledger

        @cache
        def fits(name: str) -> Fits:
            return fits_of(ledger, self._budget.id, name, made=self.practice)

        return exports.answer_rows(ledger, self.budget, fits)

    def answer_lines(self) -> Iterator[str]:
        """The same as lines of JSON, each with its receipt."""
        return exports.answer_lines(self._workspace.ledger, self.budget)

    def account_lines(self) -> Iterator[str]:
        """Every answer under the budget as a record to take away (`asking/exports.py`)."""
        return account_lines(self._workspace.ledger.walk(self._budget.id))

    def released(self, before: int | None = None) -> Past:
        """What has been released about these people, up to now or before a row of the ledger: everything charged to the
        budget, from this table and those that share it. What is claimed about a population counts it."""
        return self._workspace.ledger.released(self._budget.id, before)

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
