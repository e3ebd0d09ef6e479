"""A workshop's state, in memory only: the question on the wall, its answers, the participants and the instructor.

`make workshop` starts the app as a workshop (ui/workshop/invite.py sets the variables below). Its workspace is a
temporary folder that accepts only the bundled samples. The instructor's reset starts a new *round*: every participant
gets a new name and a new practice budget, and the ledger keeps all its rows. A *turn* is one question on the wall. Turn
and name fix a participant's request id, so the ledger answers a second click with the first answer.
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
LEAST_CODE = 8  # characters; a shorter code opens nothing
FRESH = 1.0  # seconds for which one read of the ledger serves everybody
_CHARACTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none is easily misread


def new_code() -> str:
    """A new code for the instructor, of about 40 bits: too many to guess in an afternoon, few enough to read off a
    terminal."""
    code = "".join(secrets.choice(_CHARACTERS) for _ in range(8))
    return f"{code[:4]}-{code[4:]}"


@dataclass(frozen=True)
class WallQuestion:
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
    """What everybody sees of the room, built once for all. `names` come from `Room.name`, in the order of `dots`."""

    version: int
    round: int
    posed: WallQuestion | None
    dots: tuple[Dot, ...]
    names: tuple[str, ...]
    people: int
    waiting: int


Read = Callable[[str], "Dot | str"]  # from a request id to its answer, WAITING, or GONE for no answer
WAITING, GONE = "waiting", "gone"


class Room:
    def __init__(self, code: str) -> None:
        self._code = _plain(code)
        self._secret = secrets.token_bytes(32)
        self._lock, self._looking = threading.RLock(), threading.Lock()
        self._instructors: set[str] = set()
        self._round, self._turn = 1, 0
        self._posed: WallQuestion | None = None
        self._people: dict[str, str] = {}  # browser by name
        self._asked: dict[str, str] = {}  # name by request id, in the order of asking
        self._dots: dict[str, Dot | str] = {}  # answers, and GONE for those that will not come
        self._seen: Snapshot | None = None
        self._until = 0.0

    # --- people

    def name(self, browser: str) -> str:
        """A participant's name in this round. The name reveals nothing about the browser; the ledger keeps the
        participant's budget under it."""
        with self._lock:
            name = self._mark(f"{self._round}:{browser}")
            self._people[name] = browser
            return name

    def unlock(self, browser: str, typed: str) -> bool:
        """Is the typed text the instructor's code? If so, the browser becomes the instructor's. The comparison takes
        constant time, and the text is not kept."""
        if len(self._code) < LEAST_CODE or not hmac.compare_digest(_plain(typed), self._code):
            return False
        with self._lock:
            self._instructors.add(browser)
        return True

    def instructs(self, browser: str) -> bool:
        return browser in self._instructors

    # --- the instructor's actions; each refuses everybody else, whatever their page shows

    def pose(self, browser: str, question: str, epsilon: str) -> None:
        """Put a question on the wall in place of the last one, whose cost stays in the ledger."""
        self._only(browser)
        with self._lock:
            self._turn += 1
            self._show(WallQuestion(self._turn, question, epsilon))
            self._asked, self._dots = {}, {}

    def reveal(self, browser: str, truth: bool, simulated: bool) -> None:
        self._only(browser)
        with self._lock:
            if self._posed is not None:
                self._show(replace(self._posed, truth=truth, simulated=truth and simulated))

    def reset(self, browser: str) -> None:
        """Start a new round: an empty wall, new names and new practice budgets. The ledger refunds nothing."""
        self._only(browser)
        with self._lock:
            self._round += 1
            self._show(None)
            self._asked, self._dots, self._people = {}, {}, {}

    def _only(self, browser: str) -> None:
        if not self.instructs(browser):
            raise AllowanceError("workshop.instructor_only")

    def _show(self, posed: WallQuestion | None) -> None:
        self._posed, self._until = posed, 0.0

    # --- the wall

    @property
    def round(self) -> int:
        return self._round

    @property
    def posed(self) -> WallQuestion | None:
        return self._posed

    def request(self, name: str, turn: int) -> str:
        """The only request id of a participant in a turn."""
        return self._mark(f"{turn}:{name}")

    def asks(self, name: str, turn: int) -> str:
        """Note that a participant asks the question of this turn, and return the request id. Refused if the wall has
        another question."""
        with self._lock:
            if self._posed is None or self._posed.turn != turn or name not in self._people:
                raise AllowanceError("workshop.moved_on")
            request = self.request(name, turn)
            self._asked.setdefault(request, name)
            self._until = 0.0
            return request

    def asked(self, name: str) -> str | None:
        """The request id of a participant who has asked in this turn; None before."""
        with self._lock:
            if self._posed is None:
                return None
            request = self.request(name, self._posed.turn)
            return request if request in self._asked else None

    def snapshot(self, read: Read) -> Snapshot:
        """The snapshot of the room. It reads the ledger at most once a second, for the first caller; the others get the
        last snapshot meanwhile."""
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
            result = read(request)
            if result != WAITING:
                known[request] = result
        with self._lock:
            if (posed, number) == (self._posed, self._round):
                self._dots = known
            else:  # the wall has moved on: drop the old answers
                known, asked, self._until = {}, {}, 0.0
                posed, number, people = self._posed, self._round, self._present()
            shown = [(name, dot) for request_id, name in asked.items() if isinstance(dot := known.get(request_id), Dot)]
            names, dots = tuple(name for name, _ in shown), tuple(dot for _, dot in shown)
            waiting = sum(request_id not in known for request_id in asked)
            fresh = Snapshot(0, number, posed, dots, names, people, waiting)
            before = self._seen
            version = 1 if before is None else before.version
            if before is None or replace(before, version=0) != fresh:
                version += 1
            self._seen = replace(fresh, version=version)
            return self._seen

    def _present(self) -> int:
        """The number of people in this round; of the instructors only those who have asked."""
        asked = set(self._asked.values())
        return sum(name in asked or browser not in self._instructors for name, browser in self._people.items())

    def _mark(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:32]


def _plain(code: str) -> bytes:
    """A code in capitals, without dashes and blanks."""
    return "".join(character for character in str(code)[:200].upper() if character.isalnum()).encode()


@cache
def _of(code: str) -> Room:
    return Room(code)


def on() -> bool:
    return bool(os.environ.get(CODE))


def room() -> Room | None:
    """This process's room, or None outside a workshop."""
    code = os.environ.get(CODE)
    return _of(code) if code else None


def here() -> Room:
    """This process's room. Refuses outside a workshop."""
    found = room()
    if found is None:
        raise AllowanceError("workshop.none")
    return found
