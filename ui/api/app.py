"""The API for notebooks and other programs: `/api/v1`, JSON in and out, on the server that shows the pages.

A token alone admits a request (dpengine/storage/tokens.py). The request may then do what the token's person may do at
that moment, on the token's tables. An error is one sentence and its code in the request's language, without a traceback
or a value.

No thread waits here. A question goes to the background like one from a page, and the API polls for it. If it takes
longer than the program wants to wait, the answer is 202 and the job's address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Json, JsonObject
from dpengine.people import limiter
from dpengine.people.limiter import Limiter
from dpengine.workspace import Workspace
from ui.api import http, metrics, openapi, verbs
from ui.api.http import Headers, Receive, Scope, Send, answer, complaint, run, spoken, written
from ui.api.verbs import Asked, Visit

BASE = "api/v1"
DESCRIPTION = "openapi.json"
_POLL = (0.02, 0.5)  # seconds between two polls of a job: at first, and at most
T = TypeVar("T")
Reply = tuple[int, Json, Headers]


class ApiApp:
    """An ASGI app. It opens the workspace at the first request that needs it."""

    visits: type[Visit] = Visit

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        limits: Limiter = limiter.here,
        counted: metrics.Counters = metrics.here,
    ) -> None:
        self._workspace, self._limits, self._counted = workspace, limits, counted
        self._asked = Asked()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        lang = http.language_of(scope)
        self._counted.request()
        try:
            status, content, more = await self._reply(scope, receive, lang)
            body = written(content)
        except Exception as error:
            self._counted.refusal((await complaint(send, error, lang)).code)
            return
        await answer(send, status, body, [*spoken(lang), *more])

    async def _reply(self, scope: Scope, receive: Receive, lang: str) -> Reply:
        if http.has(scope, b"origin"):  # sent by pages in a browser, not by programs
            raise AllowanceError("door.origin")
        visit = await run(lambda: self._visit(http.token_of(scope)), lang)
        self._limit(visit, scope)
        inner = scope["path"].partition(f"/{BASE}")[2].removeprefix("/")
        if inner == DESCRIPTION and scope["method"] == "GET":
            return 200, await run(lambda: openapi.described(lang), lang), []
        verb, given = verbs.find(inner)
        if verb is None:
            raise AllowanceError("door.path")
        if scope["method"] != verb.method:
            raise AllowanceError("door.method", method=verb.method)
        if verb.kind != "request":
            self._limit(visit, scope, verb.kind)
        if verb.method == "POST":
            given = verbs.read(verb, await http.body_of(scope, receive))
        if verb.shows is not None:
            return await self._ask(verb, visit, given, lang)
        if verb.kind != "request":
            return 200, await self._heavy(lambda: verb.does(visit, given), visit, lang), []
        return 200, await run(lambda: verb.does(visit, given), lang), []

    async def _heavy(self, work: Callable[[], T], visit: Visit, lang: str, patience: float = 0.0) -> T:
        """The result of slow work, done on threads of its own, a few jobs at once for each person. If a person has
        more, the request waits up to `patience` seconds and is then refused."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        while not self._limits.begin(visit.person):
            if loop.time() >= deadline:
                raise AllowanceError("door.slow", seconds=1)
            await asyncio.sleep(_POLL[0])

        task = asyncio.ensure_future(run(work, lang, heavy=True))
        task.add_done_callback(lambda _: self._limits.end(visit.person))
        return await asyncio.shield(task)  # a client that disconnects does not free a thread

    def _limit(self, visit: Visit, scope: Scope, kind: str = "request") -> None:
        """Count a request against the limit of its person. Colleagues may share an address, and one person may change
        it."""
        self._limits.take(visit.person, kind)

    def _visit(self, shown: str) -> Visit:
        space = self._workspace()
        token = space.token_book.opened(shown)
        if token is None or token.metrics:
            raise AllowanceError("door.token")
        face = space.as_person(token.person)
        if not face.may("tables"):  # barred meanwhile
            raise AllowanceError("door.token")
        return self.visits(face, token, self._asked)

    async def _ask(self, verb: verbs.Verb, visit: Visit, given: JsonObject, lang: str) -> Reply:
        patience = min(max(float(given.get("wait", verbs.USUAL_WAIT)), 0.0), verbs.MOST_WAIT)
        name = given["request"]
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + patience, _POLL[0]
        shows = verb.shows or verbs.shown
        await self._heavy(lambda: verb.does(visit, given), visit, lang, verbs.MOST_WAIT)
        while True:
            state = await run(lambda: visit.face.jobs.state(name), lang)
            if state.state == "refused":
                self._asked.drop(visit.person, name)
                raise state.error or AllowanceError("door.failed")
            # A client that sends the same request once more lets its job run again, to find the answer that stands. So
            # it may be over here and running again when it is read.
            late = loop.time() >= deadline
            if state.over or late:
                job = await run(lambda: shows(visit, visit.job(name)), lang)
                if job["state"] not in ("queued", "running"):
                    return 200, job, []
                if late:
                    return 202, job, [(b"location", quote(f"/{BASE}/job/{name}").encode("ascii"))]
            await asyncio.sleep(min(pause, max(deadline - loop.time(), 0)))
            pause = min(pause * 1.5, _POLL[1])
