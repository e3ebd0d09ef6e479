"""A request to the door, as far as it is read before anybody asks what it wants: its token, its language, its body.

Whatever is not exactly what a program sends is refused: cookies are not looked at, a page (which sends an `Origin`)
gets nothing, a form cannot be posted, and a body is one JSON object of bounded size, depth and numbers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import LONGEST_NUMBER
from dpengine.core.strict_json import read_strict
from dpengine.core.types import JsonObject
from dpengine.messages import MEANT
from dpengine.messages.language import STORED

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 256 * 1024
MOST_DEEP = 16
PATIENCE = 30.0  # seconds in which a body must have come
_LARGEST = 10**LONGEST_NUMBER


def header(scope: Mapping[str, Any], wanted: bytes) -> str:
    """One header's value; one that is given twice is none."""
    found = [value for name, value in scope["headers"] if name.lower() == wanted]
    return found[0].decode("latin-1").strip() if len(found) == 1 else ""


def has(scope: Mapping[str, Any], wanted: bytes) -> bool:
    return any(name.lower() == wanted for name, _ in scope["headers"])


def token_of(scope: Mapping[str, Any]) -> str:
    kind, _, token = header(scope, b"authorization").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def language_of(scope: Mapping[str, Any]) -> str:
    """The first of ours that the program prefers, else English."""
    wanted = []
    for place, part in enumerate(header(scope, b"accept-language")[:200].split(",")):
        name, _, weight = part.partition(";q=")
        try:
            wanted.append((-float(weight or 1), place, name.strip()[:2].lower()))
        except ValueError:
            continue
    ours = [name for _, _, name in sorted(wanted) if name in MEANT and MEANT[name] == MEANT[STORED]]
    return ours[0] if ours else STORED


async def body_of(scope: Mapping[str, Any], receive: Receive) -> JsonObject:
    """The one JSON object that was sent."""
    if header(scope, b"content-type").split(";")[0].strip().lower() != "application/json":
        raise AllowanceError("door.type")
    told = header(scope, b"content-length")
    if told.isdecimal() and (len(told) > 12 or int(told) > MOST_BYTES):
        raise AllowanceError("door.large", most=MOST_BYTES // 1024)
    try:
        async with asyncio.timeout(PATIENCE):
            return read(await _bytes(receive))
    except TimeoutError:
        raise AllowanceError("door.late") from None


async def _bytes(receive: Receive) -> bytes:
    came = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise AllowanceError("door.late")
        came += message.get("body", b"")
        if len(came) > MOST_BYTES:
            raise AllowanceError("door.large", most=MOST_BYTES // 1024)
        if not message.get("more_body"):
            return bytes(came)


def read(content: bytes) -> JsonObject:
    try:
        parsed = read_strict(content.decode("utf-8"), MOST_DEEP, _LARGEST)
    except ValueError:
        parsed = None  # raised below: the parser's own error quotes what was sent
    if not isinstance(parsed, dict):
        raise AllowanceError("door.json")
    return parsed
