"""How often a person may ask for something: a bucket for each person and kind of work, which fills at a steady rate.

By person and never by address: behind a proxy a whole office has one address, and a person may have many. Kept in
memory; nothing about a table or an answer decides.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from types import MappingProxyType

from dpengine.core.errors import AllowanceError

# How many a second, and how many at once after a pause.
RATES: Mapping[str, tuple[float, int]] = MappingProxyType(
    {
        "request": (10.0, 30),
        "preview": (5.0, 20),
        "verify": (1 / 10, 10),
        "export": (1 / 3, 20),
    }
)
# What walks over the whole ledger or all of a table's answers, whichever door it is asked for by.
HEAVY: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("verify_ledger", "check_receipts"), "verify")
    | dict.fromkeys(("export", "ledger_rows", "answer_rows", "answer_lines", "account_lines"), "export")
)
AT_ONCE = 2  # pieces of heavy work at the door that are under way for one person
_MOST = 10_000  # buckets that are remembered; one that is forgotten is full


class Limiter:
    def __init__(
        self, rates: Mapping[str, tuple[float, int]] = RATES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rates, self._clock = rates, clock
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()  # by person
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()  # how full it was, and when

    def wait(self, person: str, kind: str = "request") -> float:
        """Take one; 0 where there was one to take, else the seconds until there is."""
        rate, most = self._rates[kind]
        with self._lock:
            now = self._clock()
            full, since = self._buckets.pop((person, kind), (float(most), now))
            full = min(full + (now - since) * rate, most)
            taken = full >= 1
            self._buckets[person, kind] = (full - taken, now)
            while len(self._buckets) > _MOST:
                self._buckets.popitem(last=False)
            return 0.0 if taken else (1 - full) / rate

    def take(self, person: str, kind: str = "request") -> None:
        """The same, refused in one sentence."""
        if left := self.wait(person, kind):
            raise AllowanceError("door.slow", seconds=seconds(left))

    def begin(self, person: str) -> bool:
        """Heavy work of a person begins, unless enough of theirs is under way; `end` says that it is over."""
        with self._lock:
            free = self._under_way[person] < AT_ONCE
            self._under_way[person] += free
            return free

    def end(self, person: str) -> None:
        with self._lock:
            self._under_way[person] -= 1
            if self._under_way[person] <= 0:
                del self._under_way[person]

    def verb(self, person: str, verb: str) -> None:
        """Take one for a verb of a face that is heavy work; the others are free."""
        if verb in HEAVY:
            self.take(person, HEAVY[verb])


def seconds(left: float) -> int:
    """Whole seconds to wait, at least one."""
    return max(int(-(-left // 1)), 1)


here = Limiter()  # of this process, for every door
