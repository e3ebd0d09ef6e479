"""A paid session: asking its next question, finding it again, ending it.

Order of a step: the question is read, and refused if it must be; the ledger records the step as used, in a committed
row; then the statistic is computed, the noise drawn, the answer stored. Whatever happens after that row, the step stays
used: if the process is killed the step is lost, and never drawn again. Two people who ask at once get different
numbers, because the ledger assigns them under its write lock. Everything is in the ledger, so a reload or a restart
continues where it was.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.history import Past
from dpengine.asking.answers import build_step_receipt, cuts_as_json, promise_as_json
from dpengine.asking.checking import column_doubts, doubts
from dpengine.asking.column_fit import Fits
from dpengine.asking.jobs import PATIENCE, Jobs, JobState
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.printed import percent
from dpengine.core.remembered import largest, remembered
from dpengine.core.types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import Entry, SessionStep
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import MOST_QUESTIONS, AdaptiveSession, State
from dpengine.mechanisms.session.asks import Average, Share
from dpengine.messages.language import stored
from dpengine.noise.coins import Coins
from dpengine.population.session_validity import claimed, rounded
from dpengine.population.validity import Width
from dpengine.released.look_answers import KnownAlready
from dpengine.statistics.need import AnyNeed
from dpengine.storage.workers import in_hand, still_computing

HALF = Fraction(1, 2)
BEST = "best"  # the kind of noise that promises more now
_GRAIN = 10**6  # ε is tried in millionths
_POLL = 0.02  # seconds

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Taken:
    """One used step of a session and its state: `done`, `running` or `lost`."""

    index: int
    step: str
    at: str
    state: str
    query: AdaptiveSession
    value: Json
    interval: Json
    receipt: JsonObject
    seq: int = 0  # of its row in the ledger
    population: tuple[float, float] | None = None  # the range claimed for the population's value, if any

    @property
    def sentence(self) -> str:
        return self.query.sentence()


@dataclass(frozen=True)
class Session:
    """A paid session. Opening it charged all its questions, so everything here is free."""

    ledger: Ledger
    jobs: Jobs
    entry: Entry
    query: AdaptiveSession
    read: Callable[[AnyNeed], Any]
    coins: Coins
    ready: Callable[[], None]  # refuses if the table was declared anew since
    reserve: Fraction  # the most δ that charges to its budget spend
    fits: Callable[[], Fits]  # the paid checks of the table's columns
    known: Callable[[AdaptiveSession], KnownAlready | None]  # what first looks say about a question

    @property
    def request(self) -> str:
        return self.entry.charge.request

    def look(self, newest: int | None = None) -> tuple[State, bool, list[Taken]]:
        """Three values: the number of steps paid for and used; whether the session is over; and the used steps in
        order, all or only the `newest` ones."""
        burned = self.ledger.steps(self.request, newest)
        before = 0 if not burned or burned[0].index == 1 else self._choices_before(burned[0].index)
        steps, since = [], self.others_from
        for step in burned:
            steps.append(self._taken(step, before, since))
            before += _chose(step)
        asked, ended, _ = self.ledger.progress(self.request)
        return State(self.query.questions, asked), ended, steps

    @property
    def past(self) -> Past:
        """What had been released about these people before the session was charged."""
        return self.ledger.released(self.entry.charge.budget, self.entry.charge.seq)

    @property
    def others_from(self) -> int | None:
        """The number of the first later ledger row that released something else about these people; None if there is no
        such row. That row is a charge after the session's charge, or an answer after the session was opened or first
        asked. An earlier answer belongs to a charge that counts anyhow: a charge in `past`, such as a first look
        charged with the session, or a later charge."""
        own, opened, first = self.entry.charge, self.entry.outcome, self.ledger.first_step(self.request)
        answered = own.seq if opened is None else opened.seq if first is None else min(opened.seq, first)
        return self.ledger.other_since(own.budget, own.seq, answered, self.request)

    @property
    def withdrawn(self) -> bool:
        """Was more protection declared since the session was opened? More protection ends the session. It also
        withdraws every statement about the larger group, because rows of one person are not independent."""
        since = self.ledger.protected_since(self.entry.charge.budget)
        return since is not None and since > self.entry.charge.seq

    def ask(self, ask: Json, step: str, checked: bool = False) -> Taken:
        """The answer to the session's next question `ask`. The same step id always has the same answer; a new step id
        uses up a question. With `checked`, a question about a doubted or unchecked column is refused and uses up
        none."""
        burned = self._work_for(ask, step, checked)()
        return self._taken(burned, self._choices_before(burned.index), self.others_from)

    def answer(self, ask: Json, step: str, checked: bool = False) -> KnownAlready | Taken:
        """Free, what a first look says about the question, if that leaves little doubt (`KnownAlready.doubtful`) or no
        question is left; otherwise the session's next answer. Released figures and public facts alone decide which."""
        asked = self.query.asking(ask)
        known, (used, ended, _) = self.known(asked), self.ledger.progress(self.request)
        over = ended or used >= self.query.questions
        if known is not None and (over or not known.doubtful(asked.promise().amount)):
            return known
        return self.ask(ask, step, checked)

    def against(self, asked: AdaptiveSession) -> AllowanceError | None:
        """The refusal that the paid checks give a question of this session; None if the question may be asked."""
        fits = self.fits()
        # Whoever opened it has answered for whose rows they are, as far as checks before it could tell.
        since = replace(fits, checks=tuple(check for check in fits.checks if check.seq > self.entry.charge.seq))
        doubt = doubts(since, asked, asked.facts) or column_doubts(fits, asked, asked.facts)
        if doubt is not None:
            return doubt
        about = fits.about(asked)
        if unchecked := [fit.column for fit in about if not fit.checked]:
            return AllowanceError("session.unchecked", columns=unchecked)
        if isinstance(asked.ask, Average):  # which counts a person without a value in the middle of the range
            if asked.ask.rows > 1:  # and every row that a person does not have
                return AllowanceError("session.padded", column=asked.ask.column, rows=asked.ask.rows)
            for fit in about:
                if fit.unknown is not None:
                    share = percent(fit.unknown)
                    return AllowanceError("session.valueless", column=fit.column, share=share, middle=asked.ask.middle)
        return None

    def submit(self, ask: Json, step: str, checked: bool = False) -> None:
        """Ask the question `ask` in a background thread; `job` finds the answer by the step id `step`."""
        self.jobs.submit(self._name(step), self._work_for(ask, step, checked), turn=self.entry.charge.actor)

    def job(self, step: str) -> JobState:
        """The state of the step with this id: from this process, from another one, or from the ledger."""
        handed = self.jobs.state(self._name(step))
        burned = self.ledger.step(self.request, step)
        if burned is None:
            return handed
        state = self._state(burned)
        return JobState(state, AllowanceError("session.step_lost") if state == "lost" else None)

    def end(self) -> None:
        """Close the session for good. The charge stays."""
        self.ledger.end_session(self.request, self.entry.charge.actor)

    def _name(self, step: str) -> str:
        return hashlib.sha256(f"{self.request}\n{step}".encode()).hexdigest()[:32]

    def _work_for(self, ask: Json, step: str, checked: bool) -> Callable[[], SessionStep]:
        asked = self.query.asking(ask)
        claim = step_claim(asked)  # refused here, before a step is used
        if checked and (against := self.against(asked)) is not None:
            raise against

        def work() -> SessionStep:
            self.ready()
            worker = self.jobs.worker
            with in_hand(worker, self._name(step)):
                burned = self.ledger.burn(self.request, step, self.entry.charge.actor, claim, worker)
                if burned.fresh:
                    self._draw(burned, ask)
            return self._outcome(step)

        return work

    def _draw(self, burned: SessionStep, ask: Json) -> None:
        try:
            before = State(self.query.questions, burned.index - 1)
            _, part = self.query.step(before, ask, self.read, self.coins)
            self.ledger.settle_step(self.request, burned.index, "part", part.released.as_json())
        except BaseException as error:
            # The class name only: the text of an error may quote the data.
            _log.error("A step of a session failed after it was counted: %s", type(error).__name__)
            with suppress(AllowanceError):  # else the step stays without an outcome, and counts as interrupted
                self.ledger.settle_step(self.request, burned.index, "lost", {"code": "release.failed"})
            if not isinstance(error, Exception):
                raise

    def _outcome(self, step: str) -> SessionStep:
        deadline = time.monotonic() + PATIENCE
        while True:
            burned = self.ledger.step(self.request, step)
            assert burned is not None
            state = self._state(burned)
            if state == "done":
                return self.ledger.step(self.request, step) or burned
            if state == "lost":
                raise AllowanceError("session.step_lost")
            if time.monotonic() > deadline:
                raise AllowanceError("release.waiting")
            time.sleep(_POLL)

    def _state(self, burned: SessionStep) -> str:
        store, name = self.ledger.store, self._name(burned.step)
        if burned.outcome is None and not still_computing(self.ledger.path.parent, burned.worker, name, store.hears):
            if store.shared:  # noted once for all machines, as for a question (jobs.py)
                with suppress(AllowanceError):
                    self.ledger.settle_step(self.request, burned.index, "lost", {"code": "session.step_lost"})
            # Its worker may have stored the answer and ended between the two reads.
            burned = self.ledger.step(self.request, burned.step) or burned
            if burned.outcome is None:
                return "lost"
        if burned.outcome is None:
            return "running"
        return "done" if burned.outcome.kind == "part" else "lost"

    def _taken(self, burned: SessionStep, choices: int, since: int | None) -> Taken:
        """A used step with its state and answer. `choices`: how many steps before this one asked “which is largest”.
        `since`: the row `others_from`."""
        body = burned.outcome.body if burned.outcome is not None else {}
        interval = body.get("interval")
        state, query, value = self._state(burned), self.query.again(burned.claim), body.get("value")
        reach = self._claim(burned, choices, since) if state == "done" and interval is not None else None
        population = None if reach is None else _around(query, value, reach.width)
        ends, receipt = None if interval is None else tuple(interval), build_step_receipt(self.entry, burned)
        step = burned.index, burned.step, burned.at
        return Taken(*step, state, query, value, ends, receipt, burned.seq, population)

    def _claim(self, burned: SessionStep, choices: int, since: int | None) -> Width | None:
        """How far a step's answer may lie from the larger group, counting all that was released before the step; None
        where nothing is guaranteed."""
        if self.withdrawn:
            return None
        others = None
        if since is not None and since < burned.seq:
            others = self.ledger.released(self.entry.charge.budget, burned.seq, self.request)
        return claimed(self.query, self.past, self.reserve, burned.index, choices, others)

    def _choices_before(self, index: int) -> int:
        if not self.ledger.progress(self.request)[2]:
            return 0
        return sum(_chose(step) for step in self.ledger.steps(self.request) if step.index < index)


def _around(query: AdaptiveSession, value: Json, width: Fraction) -> tuple[float, float] | None:
    """The range of this width on both sides of a value, in the question's own unit; None if the answer is no number."""
    if not isinstance(query.ask, Share | Average):
        return None
    low, high, reach = query.ask.low, query.ask.low + query.ask.width, width * query.ask.width
    return float(max(Fraction(value) - reach, low)), float(min(Fraction(value) + reach, high))


def _chose(burned: SessionStep) -> bool:
    return "largest" in burned.claim["ask"]


def step_claim(query: AdaptiveSession) -> JsonObject:
    """What the ledger stores about a step: only public facts."""
    assert query.ask is not None
    with stored():
        sentence = query.sentence()
    return {
        "ask": query.ask.as_json(),
        "sentence": sentence,
        "bounds": {name: query.facts.schema[name].as_json() for name in sorted(query.used())},
        "promise": promise_as_json(query.promise()),
        "cuts": cuts_as_json(query),
    }


# Before a session: from public facts and the ledger's sums


def refuse_unusable_session(query: AnyQuery) -> None:
    """Refuse a session so noisy that guessing would do as well. Refuse also a session's question that is asked outside
    its session."""
    if not isinstance(query, AdaptiveSession):
        return
    if query.ask is not None:
        raise AllowanceError("session.step_alone")
    if query.alpha >= HALF:
        most = largest(lambda k: replace(query, questions=k).alpha < HALF, 0, query.questions)
        raise AllowanceError("session.too_many", most=most) if most else AllowanceError("session.too_small")


@remembered(2048)
def fitted(
    facts: Facts,
    questions: Json,
    calibration: str,
    share: Fraction,
    rule: Rule,
    totals: Totals,
    past: Past = Past.NOTHING,
) -> AdaptiveSession:
    """The session with the least noise that moves the meter by at most `share`. BEST takes the kind of noise that
    promises more now, from public facts and the ledger's sums; for the lecture's formula `share` also bounds the
    session's ε, as a share of the budget's ε. Answers are rounded if that narrows the range for the larger group, after
    the `past` releases."""
    options: list[AdaptiveSession] = []
    refused: AllowanceError | None = None
    for kind in ("laplace", "gaussian") if calibration == BEST else (calibration,):
        try:
            options.append(_fitted(facts, questions, kind, share, rule, totals))
        except AllowanceError as refusal:  # no δ for one, or no room left for the other
            refused = refused or refusal
    if not options:
        raise refused or AllowanceError("session.no_room")
    query = min(options, key=lambda option: option.alpha)
    return rounded(query, past, rule.delta_reserve)


def _fitted(
    facts: Facts, questions: Json, calibration: str, share: Fraction, rule: Rule, totals: Totals
) -> AdaptiveSession:
    given: JsonObject = {"questions": questions, "calibration": calibration}
    most = MOST_EPSILON
    if calibration == "lecture":
        if not rule.delta_slack:
            raise AllowanceError("session.no_delta")
        given |= {"delta": text_of(rule.delta_slack)}
        most = min(most, share * rule.epsilon)
    if calibration == "gaussian" and rule.c is None:
        raise AllowanceError("session.no_delta")
    usual = AdaptiveSession.build(facts, given | {"epsilon": text_of(LEAST_EPSILON)})

    def allowed(millionths: int) -> bool:
        return filter.affords(rule, totals, cost(usual.at(Fraction(millionths, _GRAIN)).loss(), rule.alpha), share)

    least = int(LEAST_EPSILON * _GRAIN)
    if not allowed(least):
        raise AllowanceError("session.no_room")
    return usual.at(Fraction(largest(allowed, least, int(most * _GRAIN)), _GRAIN))


def most_questions(make: Callable[[int], AdaptiveSession], alpha: Fraction) -> int:
    """The most questions for which every answer is within `alpha` of the table's own value; 0 if not even one is.
    `make` builds the session with a number of questions."""

    def fine(questions: int) -> bool:
        try:
            return make(questions).alpha <= alpha
        except AllowanceError:
            return False

    return largest(fine, 0, MOST_QUESTIONS)


def session_of(facts: Facts, entry: Entry) -> AdaptiveSession:
    claim = entry.charge.claim
    # The divisor of sums and the protected unit stay as they were.
    facts = replace(facts, about=claim["about"], unit=Unit.from_json(claim["unit"]))
    query = catalogue[claim["key"]].build(facts, claim["parameters"])
    assert isinstance(query, AdaptiveSession)
    return query
