"""Runs releases in background threads, from the charge to the stored answer, and reports their state.

A page never runs a release itself: it submits one (release.py), and a small pool of threads of this process runs it. A
charge without an outcome is *running* while the process that wrote it lives (workers.py), and *interrupted* after that.

**Order.** Short and long questions have their own lanes: training a model or publishing a table may take minutes, and a
count must not wait for it. Within a lane people take turns, the one with the longest wait since the last turn first, so
twenty questions of one person delay another's by one. The asker and the length of a question are public; nothing about
a table decides the order.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from dpengine.core.errors import AllowanceError
from dpengine.ledger.ledger import Entry, Ledger
from dpengine.ledger.rows import questions_of, read_request
from dpengine.messages.language import current, speaking
from dpengine.storage.workers import Worker, note_waiting, refuse_apart, still_computing, tidy_notes, was_waiting

THREADS = {False: 2, True: 1}  # for short questions, and for long ones
PATIENCE = 30.0  # seconds that a second asker waits for the answer that another is drawing
_POLL = 0.02  # seconds
_ENDED_BADLY = {"failed": "release.failed", "interrupted": "release.interrupted"}
_REMEMBERED = 1000  # refusals kept in memory: the only outcomes that are not in the ledger

Work = Callable[[], None]
Statistic = TypeVar("Statistic")
_log = logging.getLogger(__name__)


@dataclass
class _Lane:
    pool: ThreadPoolExecutor
    waiting: OrderedDict[str, deque[tuple[str, Work]]] = field(default_factory=OrderedDict)


class Lanes:
    """Two queues, for short and for long work. In each, a free thread takes the work of the next person in turn."""

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
        """The place of a request in its queue, counted from 1; 0 if the request runs already."""
        with self._lock:
            for lane in self._lanes.values():
                order = _turns(lane)
                if request in order:
                    return order.index(request) + 1
        return 0

    def waiting(self) -> dict[bool, int]:
        with self._lock:
            return {long: sum(map(len, lane.waiting.values())) for long, lane in self._lanes.items()}

    def close(self) -> None:
        """Let running work end and drop what waits."""
        for lane in self._lanes.values():
            lane.pool.shutdown(wait=True, cancel_futures=True)

    def _next(self, lane: _Lane) -> None:
        """Take and run the next waiting work of a queue. It is called once for each work that was put in, so the queue
        is never empty."""
        with self._lock:
            person, own = next(iter(lane.waiting.items()))
            _, work = own.popleft()
            if own:
                lane.waiting.move_to_end(person)
            else:
                del lane.waiting[person]
        work()


def _turns(lane: _Lane) -> list[str]:
    """The waiting requests of a queue, in the order in which they will run."""
    people, order = [list(own) for own in lane.waiting.values()], []
    while people:
        order += [own.pop(0)[0] for own in people]
        people = [own for own in people if own]
    return order


def _state_of(ledger: Ledger, request: str) -> tuple[str, Entry | None]:
    """The state of a request and its charge, from the ledger and the workers' locks. If machines share a ledger, an
    interrupted release is recorded in the ledger, once: then all machines report the same state, and a machine that was
    only disconnected can store nothing later."""
    entry = ledger.find(request)
    if entry is None:
        return "unknown", None
    charge, store = entry.charge, ledger.store
    if entry.outcome is None and not still_computing(ledger.path.parent, charge.worker, charge.request, store.hears):
        if store.shared and questions_of(charge.claim) is None:  # opening a session draws nothing: it can wait
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
    """The charge of a request with its outcome. Waits until there is an outcome, for at most `patience` seconds."""
    deadline = time.monotonic() + patience
    while True:
        state, entry = _state_of(ledger, request)
        if state == "done" and entry is not None:
            return entry
        if state in _ENDED_BADLY:
            raise AllowanceError(_ENDED_BADLY[state])
        if time.monotonic() > deadline:
            raise AllowanceError("release.waiting")
        time.sleep(_POLL)


@dataclass(frozen=True)
class JobState:
    """unknown, queued, running, done, failed, refused or interrupted; for the last three, `error` is a sentence."""

    state: str
    error: AllowanceError | None = None

    @property
    def over(self) -> bool:
        return self.state not in ("queued", "running")


@dataclass(frozen=True)
class JobCounts:
    asked: int
    refused: dict[str, int]  # refusals, by the first part of their code
    waiting: int
    waiting_long: int


class _Job:
    def __init__(self) -> None:
        self.state = "queued"
        self.error: AllowanceError | None = None
        self.progress = (0, 1)  # of a public total
        self.stopped = threading.Event()
        self.ended = threading.Event()


class _Running:
    """The work that this process runs, for all people. A forked child begins without any."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.jobs: OrderedDict[str, _Job] = OrderedDict()
        self.lanes = Lanes()
        self.asked, self.refused = 0, Counter[str]()


class Jobs:
    """The releases of one process on one workspace folder."""

    _person = ""  # the person who asks through it; empty: the workspace itself

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        if ledger.path.parent != Path(folder).absolute():
            raise ValueError("the workers' locks lie beside the ledger")
        self._ledger = ledger
        self._worker = Worker(ledger.path.parent)
        self._running = _Running()
        if ledger.store.shared:  # announce at once, so that others notice a folder that is not theirs
            try:
                assert self.worker
            except BaseException:
                ledger.store.leave()
                self._worker.close()
                raise

    def of(self, person: str) -> Jobs:
        """The same jobs as one person sees them: only that person's requests are found."""
        theirs = copy(self)
        theirs._person = person
        return theirs

    @property
    def worker(self) -> str:
        """The name under which this process charges. Other processes see by the lock of that name that this one is
        alive."""
        name = self._worker.name
        if self._ledger.store.announce(name):
            refuse_apart(self._ledger.path.parent, self._ledger.store.others)
        return name

    def submit(self, request: str, work: Callable[[], object], turn: str = "", long: bool = False) -> None:
        """Queue the work of a request, unless the same request is queued or running. Work of one `turn` (by default a
        person) alternates with that of others; `long` work has a queue of its own."""
        read_request(request)
        now, key = self._running, self._key(request)
        if now.pid != os.getpid():
            now.begin()  # threads do not survive a fork
        with now.lock:
            known = now.jobs.get(key)
            if known is not None and not known.ended.is_set():
                return
            job = now.jobs[key] = _Job()
            now.jobs.move_to_end(key)
            now.asked += 1
            self._note(key, True)
            now.lanes.put(turn or self._person, key, partial(self._run, key, job, work, current()), long)

    def _job(self, request: str) -> _Job | None:
        with self._running.lock:
            return self._running.jobs.get(self._key(request))

    def _key(self, request: str) -> str:
        """The person and the request as one text, since two people may choose the same request. A request holds no line
        end."""
        return f"{self._person}\n{request}" if self._person else request

    def counted(self) -> JobCounts:
        """Counts since this process started, about the server and not about any table or person. A question is counted
        when it is submitted, so the counts do not show how long it took."""
        now = self._running
        waiting = now.lanes.waiting()
        with now.lock:
            return JobCounts(now.asked, dict(now.refused), waiting[False], waiting[True])

    def ahead(self, request: str) -> int:
        """How many questions run before this one; 0 if this one runs, or is not in this process."""
        return max(self._running.lanes.ahead(self._key(request)) - 1, 0)

    def state(self, request: str) -> JobState:
        """The state of a request: from this process's memory, else from the ledger. So the state is known after a
        reload or a restart too."""
        job, person = self._job(request), self._person
        if job is not None and not job.ended.is_set():
            return JobState(job.state)
        state, entry = _state_of(self._ledger, request)
        if person and entry is not None and entry.charge.actor != person:
            state = "unknown"
        refused = job.error if job is not None else None
        if refused is not None and (state == "unknown" or refused.code == "request.reused"):
            return JobState("refused", refused)
        if entry is None and was_waiting(self._ledger.path.parent, self._key(request), self._ledger.store.hears):
            return JobState("refused", AllowanceError("release.dropped"))
        return JobState(state, AllowanceError(_ENDED_BADLY[state]) if state in _ENDED_BADLY else None)

    def note(self, request: str, done: int, total: int) -> None:
        """Note the progress of a long release: `done` of `total` steps, both public numbers."""
        if (job := self._job(request)) is not None:
            job.progress = done, total

    def progress(self, request: str) -> tuple[int, int]:
        job = self._job(request)
        return (0, 1) if job is None else job.progress

    def cancel(self, request: str) -> bool:
        """Ask a release with several steps to end after its present step; its charge and its draws stay. A queued
        release is dropped, not charged. False if this process has no such release."""
        job = self._job(request)
        if job is None or job.ended.is_set():
            return False
        job.stopped.set()
        return True

    def cancelled(self, request: str) -> bool:
        job = self._job(request)
        return job is not None and job.stopped.is_set()

    def wait(self, request: str, timeout: float) -> JobState:
        """The final state of a request, or its state after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            state = self.state(request)
            left = deadline - time.monotonic()
            if state.over or left <= 0:
                return state
            if (job := self._job(request)) is not None:
                job.ended.wait(left)
            else:
                time.sleep(min(_POLL, left))  # another process has it

    def close(self) -> None:
        """Let running work end, drop what waits (it was not charged), and release the worker's lock."""
        self._running.lanes.close()
        with self._running.lock:
            for job in self._running.jobs.values():
                job.ended.set()
        self._ledger.store.leave()  # before the folder's lock: every announced worker has one
        self._worker.close()
        tidy_notes(self._ledger.path.parent)

    def _note(self, name: str, waits: bool) -> None:
        """Note on disk whether a request waits: after a crash these notes show which requests were never charged."""
        with suppress(AllowanceError):  # a charge, if there will be one, shows the same
            note_waiting(self._ledger.path.parent, self._worker.name, name, waits)

    def _run(self, request: str, job: _Job, work: Callable[[], object], lang: str) -> None:
        """Run the work of a request and note its state. `lang`: the language of the person who asked."""
        job.state = "running"
        try:
            if job.stopped.is_set():
                raise AllowanceError("release.stopped")
            with speaking(lang):
                work()
        except AllowanceError as error:
            job.error = error.with_traceback(None)  # its frames would keep the data alive
        except BaseException as error:  # a job must end, whatever ends it
            _log.error("A release could not be started: %s", type(error).__name__)
            job.error = AllowanceError("release.not_started")
        now = self._running
        with now.lock:
            self._note(request, False)
            job.ended.set()
            if job.error is None:
                del now.jobs[request]  # the ledger knows the rest
            elif not job.error.code.startswith("release."):  # those may fail after the charge, at a time of their own
                now.refused[job.error.code.split(".")[0]] += 1
            ended = [name for name, other in now.jobs.items() if other.ended.is_set()]
            for name in ended[:-_REMEMBERED]:
                del now.jobs[name]
