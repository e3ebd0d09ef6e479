"""A session that was paid for: asking its next question, finding it again, ending it.

Order of a step: the question is read, and refused if it must be; the ledger records the step as used, in a committed
row; then the statistic is computed, the noise drawn, the answer stored. Whatever happens after that row, the step stays
used: if the process is killed the step is lost, and never drawn again. Two people who ask at once get different
numbers, because the ledger assigns them under its write lock. Everything is in the ledger, so a reload or a restart
goes on where it was.
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
from dpengine.accountant.how_many_fit import largest
from dpengine.asking.answers import cuts_as_json, make_step_receipt, promise_as_json
from dpengine.asking.jobs import PATIENCE, Jobs, JobState
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.json_types import Json, JsonObject
from dpengine.core.remembered import remembered
from dpengine.declared.facts import Facts
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import Burned, Entry
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import MOST_QUESTIONS, AdaptiveSession, State
from dpengine.messages.language import stored
from dpengine.noise.coins import Coins
from dpengine.population.session_validity import rounded
from dpengine.statistics.need import AnyNeed
from dpengine.storage.workers import carried, in_hand

HALF = Fraction(1, 2)
BEST = "best"  # the kind of noise that promises more now
_GRAIN = 10**6  # ε is tried in millionths
_LOOK_AGAIN = 0.02

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Taken:
    """One step and its state: `done`, `running` or `lost`."""

    index: int
    step: str
    at: str
    state: str
    query: AdaptiveSession
    value: Json
    interval: Json
    receipt: JsonObject
    seq: int = 0  # of its row in the ledger

    @property
    def sentence(self) -> str:
        return self.query.sentence()


@dataclass(frozen=True)
class Session:
    """Looking is free, and so is asking, up to the number of questions: the whole session was charged when it was
    opened."""

    ledger: Ledger
    jobs: Jobs
    entry: Entry
    query: AdaptiveSession
    read: Callable[[AnyNeed], Any]
    coins: Coins
    ready: Callable[[], None]  # refuses if the table was declared anew since it was opened here

    @property
    def request(self) -> str:
        return self.entry.charge.request

    def look(self, newest: int | None = None) -> tuple[State, bool, list[Taken]]:
        """How many steps were used, whether it was ended early, and its steps in order: all, or the newest."""
        steps = [self._taken(step) for step in self.ledger.steps(self.request, newest)]
        asked, ended, _ = self.ledger.progress(self.request)
        return State(self.query.questions, asked), ended, steps

    @property
    def others_from(self) -> int | None:
        """From which row of the ledger on something else was released from these rows; None where nothing was."""
        return self.ledger.first_other(self.entry.charge.budget, self.request)

    @property
    def chose(self) -> bool:
        """Was “which is largest” asked? Then fewer bounds on the population hold."""
        return self.ledger.progress(self.request)[2]

    def ask(self, ask: Json, step: str) -> Taken:
        """The next answer. The same step id is the same answer; a new one uses up the next number."""
        return self._taken(self._carry(ask, step)())

    def submit(self, ask: Json, step: str) -> None:
        """The same in a background thread; `job` finds it by its step id."""
        self.jobs.submit(self._name(step), self._carry(ask, step), turn=self.entry.charge.actor)

    def job(self, step: str) -> JobState:
        """The state of a step, whether it runs in this process or another, or was stored before a restart."""
        handed = self.jobs.state(self._name(step))
        burned = self.ledger.step(self.request, step)
        if burned is None:
            return handed
        state = self._state(burned)
        return JobState(state, AllowanceError("session.step_lost") if state == "lost" else None)

    def end(self) -> None:
        """No more questions, for good. The charge stays."""
        self.ledger.end_session(self.request, self.entry.charge.actor)

    def _name(self, step: str) -> str:
        return hashlib.sha256(f"{self.request}\n{step}".encode()).hexdigest()[:32]

    def _carry(self, ask: Json, step: str) -> Callable[[], Burned]:
        claim = step_claim(self.query.asking(ask))  # refused here, before a step is used

        def carry() -> Burned:
            self.ready()
            worker = self.jobs.worker
            with in_hand(worker, self._name(step)):
                burned = self.ledger.burn(self.request, step, self.entry.charge.actor, claim, worker)
                if burned.fresh:
                    self._draw(burned, ask)
            return self._outcome(step)

        return carry

    def _draw(self, burned: Burned, ask: Json) -> None:
        try:
            before = State(self.query.questions, burned.index - 1)
            _, part = self.query.step(before, ask, self.read, self.coins)
            self.ledger.tell(self.request, burned.index, "part", part.released.as_json())
        except BaseException as error:
            # The class name only: the text of an error may quote the data.
            _log.error("A step of a session failed after it was counted: %s", type(error).__name__)
            with suppress(AllowanceError):  # then the step stays without an outcome, and counts as cut short
                self.ledger.tell(self.request, burned.index, "lost", {"code": "release.failed"})
            if not isinstance(error, Exception):
                raise

    def _outcome(self, step: str) -> Burned:
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
            time.sleep(_LOOK_AGAIN)

    def _state(self, burned: Burned) -> str:
        kept_in, name = self.ledger.kept_in, self._name(burned.step)
        if burned.told is None and not carried(self.ledger.path.parent, burned.worker, name, kept_in.hears):
            if kept_in.shared:  # noted once for all machines, as for a question (jobs.py)
                with suppress(AllowanceError):
                    self.ledger.tell(self.request, burned.index, "lost", {"code": "session.step_lost"})
            # Its worker may have stored the answer and ended between the two reads.
            burned = self.ledger.step(self.request, burned.step) or burned
            if burned.told is None:
                return "lost"
        if burned.told is None:
            return "running"
        return "done" if burned.told.kind == "part" else "lost"

    def _taken(self, burned: Burned) -> Taken:
        body = burned.told.body if burned.told is not None else {}
        interval = body.get("interval")
        return Taken(
            burned.index,
            burned.step,
            burned.at,
            self._state(burned),
            step_query(self.query, burned.claim),
            body.get("value"),
            None if interval is None else tuple(interval),
            make_step_receipt(self.entry, burned),
            burned.seq,
        )


def step_claim(query: AdaptiveSession) -> JsonObject:
    """What the ledger stores about a step: public facts only."""
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


def step_query(session: AdaptiveSession, claim: JsonObject) -> AdaptiveSession:
    """The question as it was asked: under the bounds in its claim, even if the table was declared anew since."""
    return session.again(claim)


# Before a session: from public facts and the ledger's sums


def refuse_hopeless(query: AnyQuery) -> None:
    """Refuses a session so noisy that guessing would do as well, and a single answer without its session."""
    if not isinstance(query, AdaptiveSession):
        return
    if query.ask is not None:
        raise AllowanceError("session.step_alone")
    if query.alpha >= HALF:
        most = largest(lambda k: replace(query, questions=k).alpha < HALF, 0, query.questions)
        raise AllowanceError("session.too_many", most=most) if most else AllowanceError("session.too_small")


@remembered(2048)
def fitted(
    facts: Facts, questions: Json, calibration: str, share: Fraction, rule: Rule, totals: Totals
) -> AdaptiveSession:
    """The session with the least noise that moves the meter by at most `share`, of the kinds of noise that it may have
    (`BEST`: whichever promises more now, from public facts and the ledger's sums); for the lecture's formula, at this
    share of the budget's ε, or less where that would move the meter further. Where nothing was released from these rows
    before, answers are rounded, so that they say more about the population."""
    found: list[AdaptiveSession] = []
    refused: AllowanceError | None = None
    for kind in ("laplace", "gaussian") if calibration == BEST else (calibration,):
        try:
            found.append(_fitted(facts, questions, kind, share, rule, totals))
        except AllowanceError as refusal:  # no δ for one, or no room left for the other
            refused = refused or refusal
    if not found:
        raise refused or AllowanceError("session.no_room")
    query = min(found, key=lambda option: option.alpha)
    return rounded(query) if totals == Totals.NOTHING else query


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


def bears(make: Callable[[int], AdaptiveSession], alpha: Fraction, most: int = MOST_QUESTIONS) -> int:
    """The most questions for which every answer is within alpha of the table's own; 0 if even one is too many."""

    def fine(questions: int) -> bool:
        try:
            return make(questions).alpha <= alpha
        except AllowanceError:
            return False

    return largest(fine, 0, most)


def session_of(facts: Facts, entry: Entry) -> AdaptiveSession:
    claim = entry.charge.claim
    facts = replace(facts, about=claim.get("about", facts.about))  # what sums are divided by stays what it was
    query = catalogue[claim["key"]].of_claim(facts, claim)
    assert isinstance(query, AdaptiveSession)
    return query
