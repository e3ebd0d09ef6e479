"""The order in which releases are run: short questions and long ones apart, and in each lane the people take turns.

Training a model, publishing a table or making a synthetic one may take minutes, and somebody else's count must not
wait for them: they have a thread of their own. Within a lane whoever has waited longest since their last turn is next,
so that one person with twenty questions delays another's by one. Who asks and whether a question is a long one are
public; nothing about a table decides the order.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

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
