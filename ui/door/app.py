"""The door for notebooks and other programs: `/api/v1`, JSON in and out, on the server that shows the pages.

A request is let in by its token alone (dpengine/storage/tokens.py). Then it does what the person of the token may do at
that moment, through their face, of what concerns the tables of the token. Whatever is wrong is one sentence and its
code, in the language of the request; no traceback, and no value.

Nothing here waits in a thread: a question is handed to the background like one from a page, and looked for from time to
time; when it takes longer than the program wants to wait, the answer is 202 and the address of the job.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote

from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.json_types import Json, JsonObject
from dpengine.messages.language import speaking
from dpengine.workspace import Workspace
from ui.door import limiter, openapi, request, told, verbs
from ui.door.limiter import Limiter
from ui.door.request import Receive, Scope, Send
from ui.door.visit import Asked, Visit

T = TypeVar("T")
BASE = "api/v1"
DESCRIPTION = "openapi.json"
_THREADS = 4
_LOOKS = (0.02, 0.5)  # seconds between two looks at a job: at first, and at most
_log = logging.getLogger("allowance")

_STATUS: Mapping[str, int] = {
    "door.token": 401,
    "door.origin": 403,
    "door.path": 404,
    "door.method": 405,
    "door.late": 408,
    "door.large": 413,
    "door.type": 415,
    "door.json": 400,
    "door.field": 400,
    "door.unknown": 400,
    "door.slow": 429,
    "door.failed": 500,
    "people.no_right": 403,
    "table.unknown": 404,
    "request.unknown": 404,
    "request.reused": 409,
}
Reply = tuple[int, Json, list[tuple[bytes, bytes]]]


def status_of(complaint: AllowanceError) -> int:
    return _STATUS.get(complaint.code, 403 if isinstance(complaint, BudgetExceeded) else 422)


class Door:
    """An ASGI app. It is given the workspace when it is first needed."""

    def __init__(self, workspace: Callable[[], Workspace], limits: Limiter = limiter.here) -> None:
        self._workspace, self._limits = workspace, limits
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="door")
        self._asked = Asked()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        lang = request.language_of(scope)
        try:
            status, content, more = await self._reply(scope, receive, lang)
            body = written(content)
        except Exception as fault:
            if not isinstance(fault, AllowanceError):  # its text may hold a value
                _log.error("the door failed: %s", type(fault).__name__)
            complaint = fault if isinstance(fault, AllowanceError) else AllowanceError("door.failed")
            with speaking(lang):
                status, body, more = status_of(complaint), written(told.error(complaint)), _more(complaint)
        await answer(send, status, body, [(b"content-language", lang.encode("ascii")), *more])

    async def _reply(self, scope: Scope, receive: Receive, lang: str) -> Reply:
        if request.has(scope, b"origin"):  # a page in a browser; programs send none
            raise AllowanceError("door.origin")
        visit = await self._run(lang, lambda: self._visit(request.token_of(scope)))
        self._limits.take(visit.person)
        inner = scope["path"].partition(f"/{BASE}")[2].strip("/")
        if inner == DESCRIPTION and scope["method"] == "GET":
            return 200, await self._run(lang, lambda: openapi.described(lang)), []
        verb, given = verbs.find(inner)
        if verb is None:
            raise AllowanceError("door.path")
        if scope["method"] != verb.method:
            raise AllowanceError("door.method", method=verb.method)
        if verb.kind != "request":
            self._limits.take(visit.person, verb.kind)
        if verb.method == "POST":
            given = verbs.read(verb, await request.body_of(scope, receive))
        if verb.shows is None:
            return 200, await self._run(lang, lambda: verb.does(visit, given)), []
        return await self._ask(verb, visit, given, lang)

    def _visit(self, shown: str) -> Visit:
        space = self._workspace()
        token = space.token_book.opened(shown)
        if token is None or token.metrics:
            raise AllowanceError("door.token")
        face = space.as_person(token.person)
        if not face.may("tables"):  # barred since
            raise AllowanceError("door.token")
        return Visit(face, token, self._asked)

    async def _ask(self, verb: verbs.Verb, visit: Visit, given: JsonObject, lang: str) -> Reply:
        patience = min(max(float(given.get("wait", verbs.USUAL_WAIT)), 0.0), verbs.MOST_WAIT)
        name = given["request"]
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + patience, _LOOKS[0]
        await self._run(lang, lambda: verb.does(visit, given))
        while not (state := await self._run(lang, lambda: visit.face.jobs.state(name))).over:
            if loop.time() >= deadline:
                break
            await asyncio.sleep(min(pause, max(deadline - loop.time(), 0)))
            pause = min(pause * 1.5, _LOOKS[1])
        if state.state == "refused":
            self._asked.drop(visit.person, name)
            raise state.error or AllowanceError("door.failed")
        shows = verb.shows or told.job
        found = await self._run(lang, lambda: shows(visit.job(name)))
        if found["state"] in ("queued", "running"):
            return 202, found, [(b"location", quote(f"/{BASE}/job/{name}").encode("ascii"))]
        return 200, found, []

    async def _run(self, lang: str, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(_speaking, lang, work))


def _speaking(lang: str, work: Callable[[], T]) -> T:
    with speaking(lang):
        return work()


def _more(complaint: AllowanceError) -> list[tuple[bytes, bytes]]:
    """The headers that belong to a refusal."""
    facts: Mapping[str, Any] = complaint.facts
    return {
        "door.token": [(b"www-authenticate", b"Bearer")],
        "door.slow": [(b"retry-after", str(facts.get("seconds", 1)).encode())],
        "door.method": [(b"allow", str(facts.get("method", "")).encode())],
    }.get(complaint.code, [])


def written(content: Json) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


async def answer(
    send: Send, status: int, body: bytes, more: list[tuple[bytes, bytes]], kind: bytes = b"application/json"
) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
