"""What every HTTP response carries: security headers, a visitor cookie, and cookies that remember choices from the
address: the language and the guided tour. A page also states its language.

The visitor cookie is a random name for a browser. It gives each visitor a practice budget that survives a reload. It is
no login: anybody who holds it is that visitor, and clearing it starts a new one.

(This file is not called http.py: Streamlit puts ui/ on the import path, where that name would hide Python's own.)
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import streamlit as st

from dpengine.messages import MEANT, say
from dpengine.messages.language import LANGUAGES, STORED, speaking
from ui.shell import gate, incoming, workshop_state
from ui.shell.scroll import ADMITTED

if TYPE_CHECKING:
    from ui.api.http import ASGIApp, Message, Receive, Scope, Send

VISITOR_COOKIE = "allowance_visitor"
LANGUAGE_COOKIE = "allowance_language"
START = "start"
_UPLOADS = "/_stcore/upload_file"
TOUR_COOKIE = "allowance_tour"
REMEMBERED = {  # by its name in an address: the cookie and its possible values
    "lang": (LANGUAGE_COOKIE, LANGUAGES),
    "tour": (TOUR_COOKIE, ("on", "off")),
}
_ONE_YEAR = 365 * 24 * 60 * 60
_VISITOR = re.compile(r"[0-9a-f]{32}")

# The browser refuses to contact any other host, and to run a script that this server did not serve as a file. The
# hashes admit Streamlit's one inline script ("window.prerenderReady = false") and ours in ui/shell/scroll.py.
CONTENT_POLICY = "; ".join(
    (
        "default-src 'self'",
        f"script-src 'self' 'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA=' {ADMITTED}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode("ascii")),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


def visitor_of(cookies: Mapping[str, str]) -> str | None:
    """The visitor named by these cookies; None if the name is not one that this app gives out."""
    name = cookies.get(VISITOR_COOKIE, "")
    return name if isinstance(name, str) and _VISITOR.fullmatch(name) else None


class FrontDoor:
    """ASGI middleware: refuses foreign requests (ui/shell/gate.py), adds headers to every HTTP response and the visitor
    cookie to pages. WebSockets pass unchanged.

    The browser fetches the page before it opens the WebSocket, so the script sees the cookie on the first visit.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._configured = gate.configured()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        ours, lang = gate.own_origin(scope, self._configured), language_of(scope)
        if ours is None:
            with speaking(lang):  # a person may have used another name of this server
                await _refuse(scope, send, say("gate.elsewhere", setting=gate.ORIGIN))
            return
        if gate.foreign(scope, ours) or gate.is_closed(scope["path"]):
            await _refuse(scope, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if gate.within(scope["path"]).rstrip("/") == START and scope.get("method", "GET") in ("GET", "HEAD"):
            await _lead(send, scope)
            return
        if workshop_state.on() and _UPLOADS in scope["path"]:  # no workshop page takes files
            await _refuse(scope, send)
            return

        if lang != STORED:  # the browser's cached page may be in another language
            asked = [(name, value) for name, value in scope["headers"] if name.lower() not in _IF_CHANGED]
            scope = {**scope, "headers": asked}
        in_english = False

        async def send_with_headers(message: Message) -> None:
            nonlocal in_english
            if message["type"] == "http.response.body" and in_english:
                in_ours = _IN_ENGLISH.replace(b"en", lang.encode("ascii"))
                message = {**message, "body": message.get("body", b"").replace(_IN_ENGLISH, in_ours, 1)}
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                present = {name.lower() for name, _ in headers}
                headers += [(name, value) for name, value in HEADERS if name not in present]
                if gate.within(scope["path"]).startswith("media/"):  # downloads stay out of every cache
                    headers = [(name, value) for name, value in headers if name.lower() != b"cache-control"]
                    headers.append((b"cache-control", b"no-store"))
                if _is_page(scope, message["status"], headers):
                    headers += [(b"set-cookie", cookie) for cookie in _new_cookies(scope, ours.scheme)]
                    in_english = lang != STORED
                if in_english:
                    headers = [(name, value) for name, value in headers if name.lower() not in _VERSION]
                message = {**message, "headers": headers}
            await send(message)

        await incoming.here.through(self.app, scope, receive, send_with_headers)


async def _lead(send: Send, scope: Scope) -> None:
    """Redirect to the page Start, which has no path of its own, and keep the query."""
    query: bytes = scope.get("query_string", b"")
    up = b"../" if scope["path"].endswith("/") else b"./"  # relative: a proxy may serve the app under a folder
    place = (b"location", up + (b"?" + query if query else b""))
    await gate.respond(send, 307, [*HEADERS, place])


async def _refuse(scope: Scope, send: Send, why: str = "") -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await gate.respond(send, 403, [*HEADERS, kind], why.encode())


def _is_page(scope: Scope, status: int, headers: list[tuple[bytes, bytes]]) -> bool:
    """Is this response a page: HTML, or "not modified" for a browser that asked for HTML?"""
    if status == 304:
        return asks_for_page(scope)
    return gate.header({"headers": headers}, b"content-type").startswith("text/html")


def asks_for_page(scope: Scope) -> bool:
    return "text/html" in gate.header(scope, b"accept")


def cookies_of(scope: Scope) -> dict[str, str]:
    pairs = gate.header(scope, b"cookie").split(";")
    return {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}


def _asked(scope: Scope, name: str) -> str:
    query: str = scope.get("query_string", b"").decode("latin-1")
    return parse_qs(query).get(name, [""])[0]


# Streamlit's page says that it is in English. Names of languages are of one length, so the answer's length stays.
_IN_ENGLISH = b'<html lang="en"'
_IF_CHANGED = (b"if-none-match", b"if-modified-since")
_VERSION = (b"etag", b"last-modified")


def language_of(scope: Scope) -> str:
    """The page's language: from the address, else the cookie, else the browser. Only fully translated ones count."""
    accepted = gate.header(scope, b"accept-language")
    for lang in (_asked(scope, "lang"), cookies_of(scope).get(LANGUAGE_COOKIE, ""), accepted[:2].lower()):
        if lang in LANGUAGES:
            return lang if MEANT[lang] == MEANT[STORED] else STORED
    return STORED


def _new_cookies(scope: Scope, scheme: str) -> list[bytes]:
    """Cookies to set: a name for a new visitor, and the choices in the address."""
    known = cookies_of(scope)
    pairs = [] if visitor_of(known) else [f"{VISITOR_COOKIE}={secrets.token_hex(16)}"]
    for name, (cookie, choices) in REMEMBERED.items():
        wanted = _asked(scope, name)
        if wanted in choices and known.get(cookie) != wanted:
            pairs.append(f"{cookie}={wanted}")
    secure = "; Secure" if scheme == "https" else ""
    return [f"{pair}; Path=/; Max-Age={_ONE_YEAR}; HttpOnly; SameSite=Lax{secure}".encode("ascii") for pair in pairs]


# --- a visitor's small choices, kept in the browser (`REMEMBERED`); nothing private


def read_cookie(name: str) -> str | None:
    """The value of a cookie that the browser sent when this session began; None without one."""
    values: dict[str, str | None] = st.session_state.setdefault("cookies", {})
    if name not in values:
        cookie, choices = REMEMBERED[name]
        value = st.context.cookies.get(cookie)
        values[name] = value if value in choices else None
    return values[name]


def keep_cookie(name: str, value: str | None) -> None:
    """Have the browser keep the value: a hidden picture asks for `?name=value`, with a turn that no cache knows."""
    turns = st.session_state.setdefault("cookie-turns", {})
    before, turn = turns.get(name, (read_cookie(name), 0))
    if value is None or (value == before and not turn):
        return
    if value != before:
        turn += 1
        turns[name] = (value, turn)
    st.html(f'<img class="sr" alt="" src="?{name}={value}&turn={turn}">')
