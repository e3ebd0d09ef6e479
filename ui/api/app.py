"""The door for notebooks and other programs: `/api/v1`, JSON in and out, on the server that shows the pages.

A request is let in by its token alone (dpengine/storage/tokens.py). Then it does what the person of the token may do at
that moment, through their face, of what concerns the tables of the token. Whatever is wrong is one sentence and its
code, in the language of the request; no traceback, and no value.

Nothing here waits in a thread: a question is handed to the background like one from a page, and looked for from time to
time; when it takes longer than the program wants to wait, the answer is 202 and the address of the job.
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
from ui.api import http, metrics, openapi, serialize, verbs
from ui.api.http import Headers, Receive, Scope, Send, answer, complaint, run, spoken, written
from ui.api.verbs import Asked, Visit

BASE = "api/v1"
DESCRIPTION = "openapi.json"
_LOOKS = (0.02, 0.5)  # seconds between two looks at a job: at first, and at most
T = TypeVar("T")
Reply = tuple[int, Json, Headers]


class Door:
    """An ASGI app. It is given the workspace when it is first needed."""

    visits: type[Visit] = Visit

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        limits: Limiter = limiter.here,
        counted: metrics.Counted = metrics.here,
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
        except Exception as fault:
            self._counted.refusal((await complaint(send, fault, lang)).code)
            return
        await answer(send, status, body, [*spoken(lang), *more])

    async def _reply(self, scope: Scope, receive: Receive, lang: str) -> Reply:
        if http.has(scope, b"origin"):  # a page in a browser; programs send none
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
        """On threads that nothing quick waits for, and few at once for one person; who comes while those are under way
        is refused, at once or when their patience is over."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        while not self._limits.begin(visit.person):
            if loop.time() >= deadline:
                raise AllowanceError("door.slow", seconds=1)
            await asyncio.sleep(_LOOKS[0])

        def over(_: object) -> None:
            self._limits.end(visit.person)

        begun = asyncio.ensure_future(run(work, lang, heavy=True))
        begun.add_done_callback(over)
        return await asyncio.shield(begun)  # who goes away meanwhile does not free a thread

    def _limit(self, visit: Visit, scope: Scope, kind: str = "request") -> None:
        self._limits.take(visit.person, kind)

    def _visit(self, shown: str) -> Visit:
        space = self._workspace()
        token = space.token_book.opened(shown)
        if token is None or token.metrics:
            raise AllowanceError("door.token")
        face = space.as_person(token.person)
        if not face.may("tables"):  # barred since
            raise AllowanceError("door.token")
        return self.visits(face, token, self._asked)

    async def _ask(self, verb: verbs.Verb, visit: Visit, given: JsonObject, lang: str) -> Reply:
        patience = min(max(float(given.get("wait", verbs.USUAL_WAIT)), 0.0), verbs.MOST_WAIT)
        name = given["request"]
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + patience, _LOOKS[0]
        await self._heavy(lambda: verb.does(visit, given), visit, lang, verbs.MOST_WAIT)
        while not (state := await run(lambda: visit.face.jobs.state(name), lang)).over:
            if loop.time() >= deadline:
                break
            await asyncio.sleep(min(pause, max(deadline - loop.time(), 0)))
            pause = min(pause * 1.5, _LOOKS[1])
        if state.state == "refused":
            self._asked.drop(visit.person, name)
            raise state.error or AllowanceError("door.failed")
        shows = verb.shows or serialize.job
        found = await run(lambda: shows(visit.job(name)), lang)
        if found["state"] in ("queued", "running"):
            return 202, found, [(b"location", quote(f"/{BASE}/job/{name}").encode("ascii"))]
        return 200, found, []
