"""The door before a served workspace, for tests without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpengine.people.limiter import RATES, Limiter
from tests.helpers_people import MINE, Office, office
from ui.api.app import ApiApp

PLENTY = Limiter(dict.fromkeys(RATES, (1000.0, 1000)))
COUNT: dict[str, Any] = {
    "table": MINE,
    "key": "count",
    "parameters": {"where": [["town", "in", ["a"]]], "epsilon": "0.1"},
}


@dataclass
class Said:
    status: int
    headers: dict[str, str]
    body: Any

    @property
    def code(self) -> str:
        return str(self.body.get("code", ""))


@dataclass
class AtDoor:
    here: Office
    door: Any
    made: dict[Any, str] = field(default_factory=dict)

    def token(self, name: str = "analyst", tables: tuple[str, ...] = (), metrics: bool = False) -> str:
        if (name, tables, metrics) not in self.made:
            self.made[name, tables, metrics] = self.here.face(name).new_token("notebook", tables, metrics)[0]
        return self.made[name, tables, metrics]

    def ask(self, path: str, token: str = "", body: object = None, method: str = "", **more: Any) -> Said:
        return asyncio.run(self.asked(path, token, body, method, **more))

    async def asked(self, path: str, token: str = "", body: object = None, method: str = "", **more: Any) -> Said:
        sent: list[dict[str, Any]] = []
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        given = {"host": "data.example.org", "content-type": "application/json"} | more.get("headers", {})
        given |= {"authorization": f"Bearer {token}"} if token else {}
        scope = {
            "type": "http",
            "method": method or ("GET" if body is None else "POST"),
            "path": path if path.startswith("/") else f"/api/v1/{path}",
            "query_string": more.get("query", b""),
            "headers": [(name.encode(), value.encode()) for name, value in given.items() if value],
            "client": more.get("client", ("10.0.0.9", 4711)),
        }

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content}

        await self.door(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        text = b"".join(one.get("body", b"") for one in sent[1:])
        return Said(
            sent[0]["status"], headers, json.loads(text) if "json" in headers["content-type"] else text.decode()
        )

    def charges(self) -> int:
        """How much was ever charged to anybody."""
        return len(self.here.workspace.ledger.charges(limit=-1))


@contextmanager
def at_door(folder: Path, limits: Limiter = PLENTY, kind: type[ApiApp] = ApiApp) -> Iterator[AtDoor]:
    with office(folder) as here:
        yield AtDoor(here, kind(lambda: here.workspace, limits))
