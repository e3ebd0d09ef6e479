"""Figures about the server, for whoever runs it: `/metrics`, as OpenMetrics text.

They count what was asked, refused and shown by this process. None of them is about a table or a person, and none comes
from a private value: a question counts when it is handed over and not when it ends, what takes time is measured of
pages alone, in a few wide classes and without their sum, and all of it is told anew four times a minute, so that nobody
can time a release by asking often. What failed after its charge is in the ledger and in the log, not here.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from dpengine.asking.jobs import JobCounts
from dpengine.core.errors import AllowanceError
from dpengine.messages import say
from dpengine.messages.language import STORED
from dpengine.people import limiter
from dpengine.people.limiter import Limiter
from dpengine.workspace import Workspace
from ui.api import http
from ui.api.http import Receive, Scope, Send, answer, complaint, run

PATH = "metrics"
KIND = b"application/openmetrics-text; version=1.0.0; charset=utf-8"
SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)  # the classes of how long a page took
OFTEN = 15.0  # seconds for which what was counted is told again


class Counted:
    """What was counted at the doors and of the pages of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages = [0] * (len(SECONDS) + 1)
        self._requests, self._refused = 0, Counter[str]()

    def page(self, seconds: float) -> None:
        """A page was drawn, from beginning to end."""
        with self._lock:
            self._pages[bisect_left(SECONDS, seconds)] += 1

    def request(self) -> None:
        """A program asks for something; it counts before it is answered, which may wait for a release."""
        with self._lock:
            self._requests += 1

    def refusal(self, code: str) -> None:
        with self._lock:
            self._refused[code.split(".")[0]] += 1

    def lines(self, jobs: JobCounts) -> Iterator[str]:
        with self._lock:
            pages, requests, refused = list(self._pages), self._requests, dict(self._refused)
        yield from _family("questions", "counter", {"": jobs.asked})
        yield from _family("refusals", "counter", _labelled("class", jobs.refused))
        yield from _family("queue", "gauge", _labelled("lane", {"short": jobs.waiting, "long": jobs.waiting_long}))
        yield from _family("api_requests", "counter", {"": requests})
        yield from _family("api_refusals", "counter", _labelled("class", refused))
        ends = [*map(str, SECONDS), "+Inf"]
        upto = {end: sum(pages[: place + 1]) for place, end in enumerate(ends)}
        yield from _family("page_seconds", "histogram", _labelled("le", upto))
        yield "# EOF\n"


_SUFFIX = {"counter": "_total", "histogram": "_bucket", "gauge": ""}


def _family(name: str, kind: str, values: Mapping[str, int]) -> Iterator[str]:
    yield f"# TYPE allowance_{name} {kind}\n"
    yield f"# HELP allowance_{name} {say(f'metrics.{name}')}\n"
    for labels, value in values.items():
        yield f"allowance_{name}{_SUFFIX[kind]}{labels} {value}\n"


def _labelled(name: str, values: Mapping[str, int]) -> dict[str, int]:
    return {f'{{{name}="{value}"}}': count for value, count in values.items()}


here = Counted()  # of this process


class FiguresDoor:
    """An ASGI app for `GET /metrics`, by a token that an administrator made for it."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        counted: Counted = here,
        limits: Limiter = limiter.here,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspace, self._counted, self._limits, self._clock = workspace, counted, limits, clock
        self._lock = threading.Lock()
        self._told: tuple[float, bytes] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        lang = http.language_of(scope)
        try:
            if http.has(scope, b"origin"):
                raise AllowanceError("door.origin")
            body = await run(lambda: self._text(http.token_of(scope), scope["method"]), STORED)
        except Exception as fault:
            await complaint(send, fault, lang)
            return
        await answer(send, 200, body, [], KIND)

    def _text(self, shown: str, method: str) -> bytes:
        space = self._workspace()
        token = space.token_book.opened(shown)
        if token is None or not token.metrics or not space.as_person(token.person).may("name_role"):
            raise AllowanceError("door.token")
        self._limits.take(token.person)
        if method != "GET":
            raise AllowanceError("door.method", method="GET")
        with self._lock:
            now = self._clock()
            if self._told is None or now - self._told[0] >= OFTEN:
                self._told = now, "".join(self._counted.lines(space.jobs.counted())).encode()
            return self._told[1]
