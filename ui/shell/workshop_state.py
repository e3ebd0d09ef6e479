"""A workshop's room: one question on the wall, who has answered it, and the instructor. All of it lives in memory.

The app is a workshop when `make workshop` started it (ui/workshop/invite.py sets the variables below); then its
workspace is a temporary folder that refuses every table but the bundled samples. A *round* begins with the instructor's
reset: every participant goes on under a new name, with a new practice budget; no row of the ledger is changed or
deleted. A *turn* is one question on the wall. Each participant's request id is fixed by turn and name, so the ledger
itself answers a second click with the first answer.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from dpengine.core.errors import AllowanceError

CODE, ADDRESS = "ALLOWANCE_WORKSHOP", "ALLOWANCE_WORKSHOP_ADDRESS"
LEAST_CODE = 8  # signs; a shorter one, set by hand, opens nothing
FRESH = 1.0  # seconds for which one look at the ledger serves everybody
_SIGNS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that is read as another


def new_code() -> str:
    """About 40 bits: nobody guesses it in an afternoon, and it can be read off a terminal."""
    signs = "".join(secrets.choice(_SIGNS) for _ in range(8))
    return f"{signs[:4]}-{signs[4:]}"


@dataclass(frozen=True)
class Posed:
    """What is on the wall."""

    turn: int
    question: str
    epsilon: str
    truth: bool = False  # shown?
    simulated: bool = False


@dataclass(frozen=True)
class Dot:
    value: float
    low: float
    high: float

    def holds(self, truth: float) -> bool:
        return self.low <= truth <= self.high


@dataclass(frozen=True)
class Snapshot:
    """What everybody sees, made once for all of them. Names are those of `Room.name`, in the order of `dots`."""

    version: int
    round: int
    posed: Posed | None
    dots: tuple[Dot, ...]
    names: tuple[str, ...]
    people: int
    waiting: int


Read = Callable[[str], "Dot | str"]  # by request id: its answer, or WAITING, or GONE where there will be none
WAITING, GONE = "waiting", "gone"


class Room:
    def __init__(self, code: str) -> None:
        self._code = _plain(code)
        self._secret = secrets.token_bytes(32)
        self._lock, self._looking = threading.RLock(), threading.Lock()
        self._instructors: set[str] = set()
        self._round, self._turn = 1, 0
        self._posed: Posed | None = None
        self._people: dict[str, str] = {}  # browser by name
        self._asked: dict[str, str] = {}  # name by request id, in the order of asking
        self._dots: dict[str, Dot | str] = {}  # answers that have come, and those that will not
        self._seen: Snapshot | None = None
        self._until = 0.0

    # Who is here

    def name(self, browser: str) -> str:
        """A participant's name in this round, which says nothing of the browser; the ledger keeps a budget for it."""
        with self._lock:
            name = self._mark(f"{self._round}:{browser}")
            self._people[name] = browser
            return name

    def unlock(self, browser: str, typed: str) -> bool:
        """Is it the instructor's code? Compared in constant time; what was typed is kept nowhere."""
        if len(self._code) < LEAST_CODE or not hmac.compare_digest(_plain(typed), self._code):
            return False
        with self._lock:
            self._instructors.add(browser)
        return True

    def instructs(self, browser: str) -> bool:
        return browser in self._instructors

    # What the instructor does; each refuses everybody else, whatever the page has shown them

    def pose(self, browser: str, question: str, epsilon: str) -> None:
        """A question for everybody. What was on the wall is taken down; what it cost stays in the ledger."""
        self._only(browser)
        with self._lock:
            self._turn += 1
            self._show(Posed(self._turn, question, epsilon))
            self._asked, self._dots = {}, {}

    def reveal(self, browser: str, truth: bool, simulated: bool) -> None:
        self._only(browser)
        with self._lock:
            if self._posed is not None:
                self._show(replace(self._posed, truth=truth, simulated=truth and simulated))

    def reset(self, browser: str) -> None:
        """A new round: an empty wall, and new practice budgets under new names. Nothing is given back in the ledger."""
        self._only(browser)
        with self._lock:
            self._round += 1
            self._show(None)
            self._asked, self._dots, self._people = {}, {}, {}

    def _only(self, browser: str) -> None:
        if not self.instructs(browser):
            raise AllowanceError("workshop.instructor_only")

    def _show(self, posed: Posed | None) -> None:
        self._posed, self._until = posed, 0.0

    # The wall

    @property
    def round(self) -> int:
        return self._round

    @property
    def posed(self) -> Posed | None:
        return self._posed

    def request(self, name: str, turn: int) -> str:
        """The one request a participant has in a turn."""
        return self._mark(f"{turn}:{name}")

    def asks(self, name: str, turn: int) -> str:
        """Note that somebody asks what is on the wall; refused where the wall has moved on meanwhile."""
        with self._lock:
            if self._posed is None or self._posed.turn != turn or name not in self._people:
                raise AllowanceError("workshop.moved_on")
            request = self.request(name, turn)
            self._asked.setdefault(request, name)
            self._until = 0.0
            return request

    def asked(self, name: str) -> str | None:
        """The request of somebody who has asked what is on the wall."""
        with self._lock:
            if self._posed is None:
                return None
            request = self.request(name, self._posed.turn)
            return request if request in self._asked else None

    def snapshot(self, read: Read) -> Snapshot:
        """At most one look at the ledger in a second, by whoever comes first; meanwhile the others see the last one."""
        seen = self._seen
        if seen is not None and time.monotonic() < self._until:
            return seen
        if not self._looking.acquire(blocking=seen is None):
            assert seen is not None
            return seen
        try:
            return self._look(read)
        finally:
            self._looking.release()

    def _look(self, read: Read) -> Snapshot:
        with self._lock:
            posed, number, people = self._posed, self._round, self._present()
            asked, known = dict(self._asked), dict(self._dots)
            self._until = time.monotonic() + FRESH
        for request in asked.keys() - known.keys():  # outside the lock: others may ask meanwhile
            found = read(request)
            if found != WAITING:
                known[request] = found
        with self._lock:
            if (posed, number) == (self._posed, self._round):
                self._dots = known
            else:  # the wall has moved on: nothing of the old one is shown
                known, asked, self._until = {}, {}, 0.0
                posed, number, people = self._posed, self._round, self._present()
            shown = [(name, dot) for one, name in asked.items() if isinstance(dot := known.get(one), Dot)]
            fresh = Snapshot(
                0,
                number,
                posed,
                tuple(dot for _, dot in shown),
                tuple(name for name, _ in shown),
                people,
                sum(one not in known for one in asked),
            )
            before = self._seen
            version = 1 if before is None else before.version
            if before is None or replace(before, version=0) != fresh:
                version += 1
            self._seen = replace(fresh, version=version)
            return self._seen

    def _present(self) -> int:
        """Who has come in this round; an instructor counts once they have asked."""
        asked = set(self._asked.values())
        return sum(name in asked or browser not in self._instructors for name, browser in self._people.items())

    def _mark(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:32]


def _plain(code: str) -> bytes:
    """However it is typed: small letters, without the line or with blanks."""
    return "".join(sign for sign in str(code)[:200].upper() if sign.isalnum()).encode()


@cache
def _of(code: str) -> Room:
    return Room(code)


def on() -> bool:
    return bool(os.environ.get(CODE))


def room() -> Room | None:
    """The room of this process, or None where the app is no workshop."""
    code = os.environ.get(CODE)
    return _of(code) if code else None


def here() -> Room:
    """The same, where there must be one."""
    found = room()
    if found is None:
        raise AllowanceError("workshop.none")
    return found
