"""The front door: another site's page gets nothing, and nobody outside is asked about it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ui.web import FrontDoor

SAME = [(b"host", b"localhost:8501"), (b"origin", b"http://localhost:8501")]
PROXIED = [(b"host", b"127.0.0.1:8501"), (b"x-forwarded-host", b"data.example"), (b"origin", b"https://data.example")]
OTHER = [(b"host", b"localhost:8501"), (b"origin", b"https://elsewhere.example")]
ODD = [(b"host", b"localhost:8501"), (b"origin", b"http://[")]


def through(kind: str, headers: list[tuple[bytes, bytes]]) -> tuple[bool, list[dict[str, Any]]]:
    """Was the app behind the door reached, and what was sent?"""
    reached, sent = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "path": "/_stcore/stream", "headers": headers, "query_string": b""}
    asyncio.run(FrontDoor(app)(scope, None, send))  # type: ignore[arg-type]
    return bool(reached), sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_only_our_own_pages_come_through(kind: str) -> None:
    for headers in (SAME, PROXIED, [(b"host", b"localhost:8501")]):
        assert through(kind, headers)[0]
    for headers in (OTHER, ODD):
        reached, sent = through(kind, headers)
        assert not reached and sent
        assert sent[0].get("status") == 403 if kind == "http" else sent[0]["type"] == "websocket.close"
