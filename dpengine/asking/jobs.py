"""Runs releases in background threads, from the charge to the stored answer, and reports their state.

A page never runs a release itself: it submits one, and a small pool of threads of this process runs it. The steps are
in one place, `carry_release`: charge and commit, compute the statistic, draw, store the answer. Whatever happens after
the charge, the charge stays, and a charged request is never drawn a second time. A charge without an outcome is
*running* while the process that wrote it lives (workers.py), and *interrupted* after that.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dpengine.core.errors import AllowanceError
from dpengine.core.types import JsonObject
from dpengine.ledger.ledger import Entry, Ledger
from dpengine.ledger.rows import Reservation, questions_of, read_request
from dpengine.messages.language import carried as in_words_of_caller
from dpengine.storage.workers import Worker, carried, in_hand, note_waiting, refuse_apart, tidy_notes, waited

# The order in which releases are run: short questions and long ones apart, and in each lane the people take turns.
#
# Training a model, publishing a table or making a synthetic one may take minutes, and somebody else's count must not
# wait for them: they have a thread of their own. Within a lane whoever has waited longest since their last turn is
# next, so that one person with twenty questions delays another's by one. Who asks and whether a question is a long one
# are public; nothing about a table decides the order.

THREADS = {False: 2, True: 1}  # for short questions, and for long ones
Work = Callable[[], None]


@dataclass
class _Lane:
    pool: ThreadPoolExecutor
    waiting: OrderedDict[str, deque[tuple[str, Work]]] = field(default_factory=OrderedDict)


class Lanes:
    """Each lane's threads take whoever is next when they are free."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lanes = {
            long: _Lane(ThreadPoolExecutor(threads, thread_name_prefix="long" if long else "release"))
            for long, threads in THREADS.items()
        }

    def put(self, person: str, request: str, work: Work, long: bool = False) -> None:
        lane = self._lanes[long]
        with self._lock:
            lane.waiting.setdefault(person, deque()).append((request, work))
            lane.pool.submit(self._next, lane)

    def ahead(self, request: str) -> int:
        """How many are run before this one as things stand; 0 once its turn has come."""
        with self._lock:
            for lane in self._lanes.values():
                order = _turns(lane)
                if request in order:
                    return order.index(request) + 1
        return 0

    def waiting(self) -> dict[bool, int]:
        """How many wait in each lane, of short questions and of long ones."""
        with self._lock:
            return {long: sum(map(len, lane.waiting.values())) for long, lane in self._lanes.items()}

    def close(self) -> None:
        """Finishes what runs and drops what waits."""
        for lane in self._lanes.values():
            lane.pool.shutdown(wait=True, cancel_futures=True)

    def _next(self, lane: _Lane) -> None:
        """There is one call for every piece of work, so one is waiting."""
        with self._lock:
            person, own = next(iter(lane.waiting.items()))
            _, work = own.popleft()
            if own:
                lane.waiting.move_to_end(person)
            else:
                del lane.waiting[person]
        work()


def _turns(lane: _Lane) -> list[str]:
    """The requests that wait, in the order in which they will be taken."""
    people, order = [list(own) for own in lane.waiting.values()], []
    while people:
        order += [own.pop(0)[0] for own in people]
        people = [own for own in people if own]
    return order


Statistic = TypeVar("Statistic")

PATIENCE = 30.0  # seconds that a second asker waits for the answer that another is drawing
_LOOK_AGAIN = 0.02
_ENDED_BADLY = {"failed": "release.failed", "interrupted": "release.interrupted"}
_REMEMBERED = 1000  # refusals kept in memory: the only outcomes that are not in the ledger

_log = logging.getLogger(__name__)


def carry_release(
    ledger: Ledger,
    reserve_args: Reservation,
    read: Callable[[], Statistic],
    draw: Callable[[Statistic], JsonObject],
    patience: float = PATIENCE,
) -> Entry:
    """Charge, compute, draw, store. A request that was charged before gets its stored outcome, and no second draw."""
    with in_hand(reserve_args["worker"], reserve_args["request"]):
        charge = ledger.reserve(**reserve_args)
        if charge.fresh:
            _draw_once(ledger, charge.request, read, draw)
    # Read back as stored, also by the one who drew it, so that a reload shows exactly the same.
    return outcome_of(ledger, charge.request, patience)


@dataclass(frozen=True)
class Release:
    """What to charge, how to compute the statistic and how to draw the answer."""

    reserve_args: Reservation
    read: Callable[[], Any]
    draw: Callable[[Any], JsonObject]


def carry_plan(ledger: Ledger, steps: Sequence[Release], keep: Fraction) -> None:
    """Charge all questions in one transaction, or none; then draw one after the other. One that fails does not stop the
    others: they are paid for. If this process is stopped, the rest stays charged and is never drawn."""
    with ExitStack() as hands:
        for step in steps:
            hands.enter_context(in_hand(step.reserve_args["worker"], step.reserve_args["request"]))
        charges = ledger.reserve_all([step.reserve_args for step in steps], keep)
        for charge, step in zip(charges, steps, strict=True):
            if charge.fresh:
                with suppress(AllowanceError):  # recorded in the ledger
                    _draw_once(ledger, charge.request, step.read, step.draw)


def _draw_once(
    ledger: Ledger, request: str, read: Callable[[], Statistic], draw: Callable[[Statistic], JsonObject]
) -> None:
    try:
        ledger.answer(request, draw(read()))
        return
    except BaseException as error:
        # The class name only: the text of an error may quote the data.
        _log.error("A release failed after its charge: %s", type(error).__name__)
        _note_failure(ledger, request)
        if not isinstance(error, Exception):
            raise
    # Raised outside the handler, so that this error has no reference to the first one.
    raise AllowanceError("release.failed")


def _note_failure(ledger: Ledger, request: str) -> None:
    try:
        ledger.fail(request, "release.failed")
    except AllowanceError as error:  # then the charge has no outcome, and counts as interrupted
        _log.error("A failed release could not be noted: %s", error.code)


def _look(ledger: Ledger, request: str) -> tuple[str, Entry | None]:
    """The state of a request, from the ledger and the workers' locks. Where machines share a ledger, a release that was
    cut short is noted there, once: then all tell the same, and a machine that was only cut off stores nothing later."""
    entry = ledger.find(request)
    if entry is None:
        return "unknown", None
    charge, kept_in = entry.charge, ledger.kept_in
    if entry.outcome is None and not carried(ledger.path.parent, charge.worker, charge.request, kept_in.hears):
        if (
            kept_in.shared and questions_of(charge.claim) is None
        ):  # opening a session draws nothing: it can still be done
            with suppress(AllowanceError):
                ledger.fail(request, "release.interrupted")
        entry = ledger.find(request) or entry  # its worker may have stored the answer and ended between the two reads
        if entry.outcome is None:
            return "interrupted", entry
    if entry.outcome is None:
        return "running", entry
    if entry.outcome.body.get("code") == "release.interrupted" and entry.outcome.kind == "failed":
        return "interrupted", entry
    return "done" if entry.outcome.kind == "answer" else "failed", entry


def outcome_of(ledger: Ledger, request: str, patience: float = PATIENCE) -> Entry:
    """The stored outcome of a request that was charged, once there is one."""
    deadline = time.monotonic() + patience
    while True:
        state, entry = _look(ledger, request)
        if state == "done" and entry is not None:
            return entry
        if state in _ENDED_BADLY:
            raise AllowanceError(_ENDED_BADLY[state])
        if time.monotonic() > deadline:
            raise AllowanceError("release.waiting")
        time.sleep(_LOOK_AGAIN)


@dataclass(frozen=True)
class JobState:
    """unknown, queued, running, done, failed, refused or interrupted; the last three have a sentence in `error`."""

    state: str
    error: AllowanceError | None = None

    @property
    def over(self) -> bool:
        return self.state not in ("queued", "running")


@dataclass(frozen=True)
class JobCounts:
    asked: int
    refused: dict[str, int]  # by the first part of the code
    waiting: int
    waiting_long: int


class _Job:
    def __init__(self) -> None:
        self.state = "queued"
        self.error: AllowanceError | None = None
        self.progress = (0, 1)  # of a public total
        self.stopped = threading.Event()
        self.ended = threading.Event()


class Jobs:
    """The releases of one process on one workspace folder."""

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        if ledger.path.parent != Path(folder).absolute():
            raise ValueError("the workers' locks lie beside the ledger")
        self._ledger = ledger
        self._worker = Worker(ledger.path.parent)
        self._begin()
        if ledger.kept_in.shared:  # announced from the start, so that others notice a folder that is not theirs
            try:
                assert self.worker
            except BaseException:
                ledger.kept_in.leave()
                self._worker.close()
                raise

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, _Job] = OrderedDict()
        self._lanes = Lanes()
        self._asked, self._refused = 0, Counter[str]()

    @property
    def worker(self) -> str:
        """The name this process charges under; others know by it that it lives."""
        name = self._worker.name
        if self._ledger.kept_in.announce(name):
            refuse_apart(self._ledger.path.parent, self._ledger.kept_in.others)
        return name

    def submit(
        self, request: str, carry: Callable[[], object], actor: str = "", turn: str = "", long: bool = False
    ) -> None:
        """Queue a release. While the same request is queued or running this does nothing. With `actor`, here and below,
        only what this person asked is known. Whoever has a `turn` of their own takes turns with the others, and what
        takes long does not delay the rest (lanes.py)."""
        read_request(request)
        if self._pid != os.getpid():
            self._begin()  # threads do not survive a fork
        with self._lock:
            known = self._jobs.get(_key(request, actor))
            if known is not None and not known.ended.is_set():
                return
            job = self._jobs[_key(request, actor)] = _Job()
            self._jobs.move_to_end(_key(request, actor))
            self._asked += 1
            self._note(_key(request, actor), True)
            run = partial(self._run, _key(request, actor), job, in_words_of_caller(carry))
            self._lanes.put(turn or actor, _key(request, actor), run, long)

    def counted(self) -> JobCounts:
        """What this process did since it started: figures about the server, which tell of no table and no person. A
        question counts when it is handed over, so nothing here says how long a release took."""
        waiting = self._lanes.waiting()
        with self._lock:
            return JobCounts(self._asked, dict(self._refused), waiting[False], waiting[True])

    def ahead(self, request: str, actor: str = "") -> int:
        """How many other questions are run before this one; 0 once it runs, or where this process has none of it."""
        return max(self._lanes.ahead(_key(request, actor)) - 1, 0)

    def state(self, request: str, actor: str = "") -> JobState:
        """From this process's memory, else from the ledger; so it is found after a reload or restart too."""
        with self._lock:
            job = self._jobs.get(_key(request, actor))
        if job is not None and not job.ended.is_set():
            return JobState(job.state)
        state, entry = _look(self._ledger, request)
        if actor and entry is not None and entry.charge.actor != actor:
            state = "unknown"
        refused = job.error if job is not None else None
        if refused is not None and (state == "unknown" or refused.code == "request.reused"):
            return JobState("refused", refused)
        if entry is None and waited(self._ledger.path.parent, _key(request, actor), self._ledger.kept_in.hears):
            return JobState("refused", AllowanceError("release.dropped"))
        return JobState(state, AllowanceError(_ENDED_BADLY[state]) if state in _ENDED_BADLY else None)

    def note(self, request: str, done: int, total: int, actor: str = "") -> None:
        """How far a long release has come; both numbers are public."""
        with self._lock:
            if _key(request, actor) in self._jobs:
                self._jobs[_key(request, actor)].progress = done, total

    def progress(self, request: str, actor: str = "") -> tuple[int, int]:
        with self._lock:
            job = self._jobs.get(_key(request, actor))
            return (0, 1) if job is None else job.progress

    def cancel(self, request: str, actor: str = "") -> bool:
        """Ask a release with several steps to end after the current one: its charge stays, and so does what it drew. If
        it is still queued it is neither started nor charged. False if this process has none of that id."""
        with self._lock:
            job = self._jobs.get(_key(request, actor))
            if job is None or job.ended.is_set():
                return False
            job.stopped.set()
            return True

    def cancelled(self, request: str, actor: str = "") -> bool:
        with self._lock:
            job = self._jobs.get(_key(request, actor))
            return job is not None and job.stopped.is_set()

    def wait(self, request: str, timeout: float, actor: str = "") -> JobState:
        """The final state, or the state after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            state = self.state(request, actor)
            left = deadline - time.monotonic()
            if state.over or left <= 0:
                return state
            with self._lock:
                job = self._jobs.get(_key(request, actor))
            if job is not None:
                job.ended.wait(left)
            else:
                time.sleep(min(_LOOK_AGAIN, left))  # another process has it

    def close(self) -> None:
        """Finish what runs, drop what is queued (nothing was charged for it), release the lock."""
        self._lanes.close()
        with self._lock:
            for job in self._jobs.values():
                job.ended.set()
        self._ledger.kept_in.leave()  # before the lock in the folder: whoever is announced has one
        self._worker.close()
        tidy_notes(self._ledger.path.parent)

    def _note(self, name: str, waits: bool) -> None:
        """So that what waits when this process is stopped is found: it was not asked, and nothing was spent."""
        with suppress(AllowanceError):  # the charge says it, if it comes to one
            note_waiting(self._ledger.path.parent, self._worker.name, name, waits)

    def _run(self, request: str, job: _Job, carry: Callable[[], object]) -> None:
        job.state = "running"
        try:
            if job.stopped.is_set():
                raise AllowanceError("release.stopped")
            carry()
        except AllowanceError as error:
            job.error = error.with_traceback(None)  # its frames would keep the data alive
        except BaseException as error:  # a job must end, whatever ends it
            _log.error("A release could not be started: %s", type(error).__name__)
            job.error = AllowanceError("release.not_started")
        with self._lock:
            self._note(request, False)
            job.ended.set()
            if job.error is None:
                del self._jobs[request]  # the ledger knows the rest
            elif not job.error.code.startswith("release."):  # what failed after its charge took its time
                self._refused[job.error.code.split(".")[0]] += 1
            over = [name for name, other in self._jobs.items() if other.ended.is_set()]
            for name in over[:-_REMEMBERED]:
                del self._jobs[name]


def _key(request: str, actor: str) -> str:
    """Two people who use the same id do not meet: an id holds no line end."""
    return f"{actor}\n{request}" if actor else request
