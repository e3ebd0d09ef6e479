"""A rate limit: a bucket for each person and kind of work, which fills at a steady rate.

It counts by person, never by address: behind a proxy a whole office has one address, and a person may have many. It is
kept in memory, and nothing about a table or an answer influences it.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from types import MappingProxyType

from dpengine.core.errors import AllowanceError

# Rate per second, and the burst after a pause
RATES: Mapping[str, tuple[float, int]] = MappingProxyType(
    {"request": (10.0, 30), "preview": (5.0, 20), "verify": (1 / 10, 10), "export": (1 / 3, 20)}
)
# Verbs that walk over the whole ledger or all answers of a table, from pages or the API
HEAVY: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("verify_ledger", "check_receipts"), "verify")
    | dict.fromkeys(("export", "ledger_rows", "answer_rows", "answer_lines", "account_lines"), "export")
)
AT_ONCE = 2  # heavy API calls that may run at once for one person
_MOST = 10_000  # buckets remembered; a forgotten bucket is full


class Limiter:
    def __init__(
        self, rates: Mapping[str, tuple[float, int]] = RATES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rates, self._clock = rates, clock
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()  # by person
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()  # how full it was, and when

    def wait(self, person: str, kind: str = "request") -> float:
        """Take one unit of this kind of work and return 0; if there is none, take nothing and return the seconds until
        there will be one."""
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
        """Take one unit of this kind of work; refuse if there is none."""
        if left := self.wait(person, kind):
            raise AllowanceError("door.slow", seconds=seconds(left))

    def begin(self, person: str) -> bool:
        """Begin heavy work for a person, until `end`; False if enough heavy work of this person is running."""
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
        """Take one unit for a verb that costs much work; other verbs need none."""
        if verb in HEAVY:
            self.take(person, HEAVY[verb])


def seconds(left: float) -> int:
    """A waiting time in whole seconds, at least one."""
    return max(int(-(-left // 1)), 1)


here = Limiter()  # of this process, shared by pages and the API
