"""How a door answers: work of the engine on threads of its own, and one sentence with its code where something is
wrong."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.types import Json
from dpengine.messages.language import speaking
from ui.door import told
from ui.door.request import Send

T = TypeVar("T")
Headers = list[tuple[bytes, bytes]]
_pool = ThreadPoolExecutor(4, thread_name_prefix="door")
_heavy = ThreadPoolExecutor(4, thread_name_prefix="door-heavy")  # what may take seconds; nothing quick waits for it
_log = logging.getLogger("allowance")

_STATUS: Mapping[str, int] = {
    "door.token": 401,
    "door.token_ended": 401,
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


def status_of(complaint: AllowanceError) -> int:
    return _STATUS.get(complaint.code, 403 if isinstance(complaint, BudgetExceeded) else 422)


async def run(work: Callable[[], T], lang: str, heavy: bool = False) -> T:
    """Not on the threads that others of this process wait for."""
    pool = _heavy if heavy else _pool
    return await asyncio.get_running_loop().run_in_executor(pool, partial(_speaking, lang, work))


async def complaint(send: Send, fault: Exception, lang: str) -> AllowanceError:
    """Say what is wrong; of an error that nobody foresaw only that there was one."""
    if not isinstance(fault, AllowanceError):  # its text may hold a value
        _log.error("the door failed: %s", type(fault).__name__)
    wrong = fault if isinstance(fault, AllowanceError) else AllowanceError("door.failed")
    with speaking(lang):
        body = written(told.error(wrong))
    await answer(send, status_of(wrong), body, [*spoken(lang), *_more(wrong)])
    return wrong


def spoken(lang: str) -> Headers:
    return [(b"content-language", lang.encode("ascii"))]


def _speaking(lang: str, work: Callable[[], T]) -> T:
    with speaking(lang):
        return work()


def _more(complaint: AllowanceError) -> Headers:
    """The headers that belong to a refusal."""
    facts: Mapping[str, Any] = complaint.facts
    return {
        "door.token": [(b"www-authenticate", b"Bearer")],
        "door.token_ended": [(b"www-authenticate", b"Bearer")],
        "door.slow": [(b"retry-after", str(facts.get("seconds", 1)).encode())],
        "door.method": [(b"allow", str(facts.get("method", "")).encode())],
    }.get(complaint.code, [])


def written(content: Json) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


async def answer(send: Send, status: int, body: bytes, more: Headers, kind: bytes = b"application/json") -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
