"""Reading API requests (token, language, body) and answering them.

Only what a program sends is accepted. Cookies are ignored, a page (which sends an `Origin`) and a posted form are
refused, and a body is one JSON object of bounded size, depth and numbers. The engine works on its own threads. An error
is answered by one sentence and its code.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.exact import LONGEST_NUMBER
from dpengine.core.strict_json import read_strict
from dpengine.core.types import Json, JsonObject
from dpengine.messages import MEANT
from dpengine.messages.language import STORED, speaking
from ui.api import serialize

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 256 * 1024
MOST_DEEP = 16
PATIENCE = 30.0  # seconds for a body to arrive
_LARGEST = 10**LONGEST_NUMBER


def header(scope: Mapping[str, Any], wanted: bytes) -> str:
    """The value of a header; "" if the header is missing or repeated."""
    values = [value for name, value in scope["headers"] if name.lower() == wanted]
    return values[0].decode("latin-1").strip() if len(values) == 1 else ""


def has(scope: Mapping[str, Any], wanted: bytes) -> bool:
    return any(name.lower() == wanted for name, _ in scope["headers"])


def token_of(scope: Mapping[str, Any]) -> str:
    kind, _, token = header(scope, b"authorization").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def language_of(scope: Mapping[str, Any]) -> str:
    """The program's preferred language among ours, else English."""
    wanted = []
    for place, part in enumerate(header(scope, b"accept-language")[:200].split(",")):
        name, _, weight = part.partition(";q=")
        try:
            wanted.append((-float(weight or 1), place, name.strip()[:2].lower()))
        except ValueError:
            continue
    known = [name for _, _, name in sorted(wanted) if name in MEANT and MEANT[name] == MEANT[STORED]]
    return known[0] if known else STORED


async def body_of(scope: Mapping[str, Any], receive: Receive) -> JsonObject:
    if header(scope, b"content-type").split(";")[0].strip().lower() != "application/json":
        raise AllowanceError("door.type")
    length = header(scope, b"content-length")
    if length.isdecimal() and (len(length) > 12 or int(length) > MOST_BYTES):
        raise AllowanceError("door.large", most=MOST_BYTES // 1024)
    try:
        async with asyncio.timeout(PATIENCE):
            return read(await _bytes(receive))
    except TimeoutError:
        raise AllowanceError("door.late") from None


async def _bytes(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise AllowanceError("door.late")
        body += message.get("body", b"")
        if len(body) > MOST_BYTES:
            raise AllowanceError("door.large", most=MOST_BYTES // 1024)
        if not message.get("more_body"):
            return bytes(body)


def read(content: bytes) -> JsonObject:
    try:
        parsed = read_strict(content.decode("utf-8"), MOST_DEEP, _LARGEST)
    except ValueError:
        parsed = None  # raised below, because the parser's own error quotes the body
    if not isinstance(parsed, dict):
        raise AllowanceError("door.json")
    return parsed


# --- answering

T = TypeVar("T")
Headers = list[tuple[bytes, bytes]]
_pool = ThreadPoolExecutor(4, thread_name_prefix="door")
_heavy = ThreadPoolExecutor(4, thread_name_prefix="door-heavy")  # for work that may take seconds
_log = logging.getLogger("allowance")

_CODES = {  # by status
    400: "door.json door.field door.unknown",
    401: "door.token door.token_ended",
    403: "door.origin people.no_right",
    404: "door.path table.unknown request.unknown",
    405: "door.method",
    408: "door.late",
    409: "request.reused",
    413: "door.large",
    415: "door.type",
    429: "door.slow",
    500: "door.failed",
}
_STATUS = {code: status for status, codes in _CODES.items() for code in codes.split()}


async def run(work: Callable[[], T], lang: str, heavy: bool = False) -> T:
    """The result of `work`, done in this language on the API's own threads, so that pages never wait."""

    def speak() -> T:
        with speaking(lang):
            return work()

    return await asyncio.get_running_loop().run_in_executor(_heavy if heavy else _pool, speak)


async def complaint(send: Send, error: Exception, lang: str) -> AllowanceError:
    """Send the error as the answer, and return what was sent. The text of an unexpected error is never sent: it may
    hold a value."""
    if not isinstance(error, AllowanceError):
        _log.error("the door failed: %s", type(error).__name__)
    shown = error if isinstance(error, AllowanceError) else AllowanceError("door.failed")
    with speaking(lang):
        body = written(serialize.error(shown))
    status = _STATUS.get(shown.code, 403 if isinstance(shown, BudgetExceeded) else 422)
    await answer(send, status, body, [*spoken(lang), *_more(shown)])
    return shown


def spoken(lang: str) -> Headers:
    return [(b"content-language", lang.encode("ascii"))]


def _more(error: AllowanceError) -> Headers:
    facts: Mapping[str, Any] = error.facts
    return {
        "door.token": [(b"www-authenticate", b"Bearer")],
        "door.token_ended": [(b"www-authenticate", b"Bearer")],
        "door.slow": [(b"retry-after", str(facts.get("seconds", 1)).encode())],
        "door.method": [(b"allow", str(facts.get("method", "")).encode())],
    }.get(error.code, [])


def written(content: Json) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


async def answer(send: Send, status: int, body: bytes, more: Headers, kind: bytes = b"application/json") -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    headers += [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
