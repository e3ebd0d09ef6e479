"""The sign-in middleware before an app that notes what reaches it, for tests without a server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ui.auth.config import Provider, Proxy, Served
from ui.auth.login import Identity, Redirect
from ui.auth.middleware import AuthMiddleware
from ui.auth.passes import Passes
from ui.shell import gate

ADDRESS = "https://data.example.org"
HOST = "data.example.org"
SECRET = "f3b1c0a927d84e56ab90" * 2
ANA, BOR = "p-" + "a" * 32, "p-" + "b" * 32
Answer = tuple[list[Any], list[dict[str, Any]]]


class Known:
    """Two people; a right can be withdrawn."""

    def __init__(self) -> None:
        self.right = self.admitted = True
        self.told: list[tuple[str, ...]] = []

    def known(self, *told: str) -> str:
        self.told.append(told)
        return ANA if told[1] == "ana" else BOR

    def welcome(self, who: str) -> bool:
        return self.admitted

    def has_right(self, who: str) -> bool:
        return self.right and self.admitted


class Abroad:
    """A provider that says yes to everybody as Ana."""

    def __init__(self) -> None:
        self.wanted = "/"

    async def begin(self, cookies: Any, wanted: str) -> Redirect:
        self.wanted = wanted
        return Redirect("https://id.example.org/authorize?x=1", ("__Host-allowance_login_1", "kept"), ())

    async def end(self, scope: Any, cookies: Any) -> tuple[Identity, str, str]:
        return Identity("https://id.example.org", "ana", "Ana", ""), self.wanted, "__Host-allowance_login_1"

    async def farewell(self) -> str:
        return ""


class Door:
    """The sign-in middleware before an app that notes what reaches it and answers."""

    def __init__(self, home: Path, proxy: Proxy | None = None) -> None:
        provider = None if proxy else Provider(f"{ADDRESS}/x", "id", "secret", "openid", "", ())
        origin = gate.read(ADDRESS)
        assert origin is not None
        self.served = Served(ADDRESS, origin, SECRET, 8, ("i", "s"), provider, proxy)
        self.passes = Passes(SECRET, home, 8, secure=True)
        self.people, self.abroad = Known(), Abroad()
        self.reached: list[Any] = []
        self.says: list[dict[str, Any]] = []  # what the app tells a socket
        self.heard: list[Any] = []
        self.auth = AuthMiddleware(self._app, self.served, self.passes, self.people, None if proxy else self.abroad)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.reached.append(scope)
        if scope["type"] == "http":
            cookie = (b"Set-Cookie", b"_streamlit_xsrf=1; Path=/; SameSite=Lax")
            await send({"type": "http.response.start", "status": 200, "headers": [cookie]})
            await send({"type": "http.response.body", "body": b"the app"})
            return
        while True:
            message = await receive()
            self.heard.append(message)
            if message["type"] == "websocket.disconnect":
                return
            for one in self.says:
                await send(one)

    def scope(self, kind: str, path: str, cookie: str = "", **more: Any) -> dict[str, Any]:
        given = {"host": HOST, "accept": "text/html", "cookie": cookie, **more.pop("headers", {})}
        headers = [(name.encode(), value.encode()) for name, value in given.items() if value]
        return {
            "type": kind,
            "path": path,
            "method": "GET",
            "query_string": b"",
            "headers": headers + more.pop("twice", []),
            "server": ("127.0.0.1", 8501),
            "client": ("10.0.0.9", 4711),
            **more,
        }

    def ask(self, path: str, cookie: str = "", kind: str = "http", **more: Any) -> Answer:
        """What came through to the app, and what was answered."""
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "websocket.connect"} if not self.heard else {"type": "websocket.disconnect"}

        before = len(self.reached)
        asyncio.run(self.auth(self.scope(kind, path, cookie, **more), receive, send))
        return self.reached[before:], sent

    def signed_in(self, who: str = ANA) -> str:
        return self.passes.give(who).decode().split(";")[0]


def status(answer: Answer) -> int:
    return int(answer[1][0]["status"])


def location(answer: Answer) -> str:
    return dict(answer[1][0]["headers"])[b"location"].decode()


def cookies(answer: Answer) -> list[str]:
    return [value.decode() for name, value in answer[1][0]["headers"] if name == b"set-cookie"]
