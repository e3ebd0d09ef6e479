"""Server metrics for operators: `/metrics`, as OpenMetrics text.

Metrics count this process's questions, refusals and pages. None is about a table or a person, and none comes from a
private value: a question counts when it is submitted, not when it ends. Only pages are timed, in a few wide bins and
without their sum. The text changes four times a minute, so that frequent requests cannot time a release. Failures after
a charge are in the ledger and the log, not here.
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
SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)  # bins of page times
OFTEN = 15.0  # seconds for which the same text is sent


class Counters:
    """This process's counts of API requests and pages."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages = [0] * (len(SECONDS) + 1)
        self._requests, self._refused = 0, Counter[str]()

    def page(self, seconds: float) -> None:
        """Count a page that was drawn completely, and the seconds that it took."""
        with self._lock:
            self._pages[bisect_left(SECONDS, seconds)] += 1

    def request(self) -> None:
        """Count an API request. It is counted before its answer, which may wait for a release."""
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


here = Counters()  # of this process


class MetricsApp:
    """An ASGI app for `GET /metrics`, with an administrator's metrics token."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        counted: Counters = here,
        limits: Limiter = limiter.here,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspace, self._counted, self._limits, self._clock = workspace, counted, limits, clock
        self._lock = threading.Lock()
        self._sent: tuple[float, bytes] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        lang = http.language_of(scope)
        try:
            if http.has(scope, b"origin"):
                raise AllowanceError("door.origin")
            body = await run(lambda: self._text(http.token_of(scope), scope["method"]), STORED)
        except Exception as error:
            await complaint(send, error, lang)
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
            if self._sent is None or now - self._sent[0] >= OFTEN:
                self._sent = now, "".join(self._counted.lines(space.jobs.counted())).encode()
            return self._sent[1]
