"""Sign-in middleware, in front of everything else when the app is served to several people.

Without a pass (ui/auth/passes.py) a request gets nothing: no page, file, upload, download or socket. It can only sign
in or check the server's health. The decision rests on the signed cookie, or on the header of a proxy at a configured
address. It never rests on a page, because Streamlit runs callbacks and fragments before a page could check.

A whole page lives in one socket. Each message, in or out, passes only while the socket's pass is valid and the person
keeps a right. A person who loses their last right is signed out. Otherwise the socket closes. An idle socket is checked
every second.

A download goes only to the person a page offered it to (ui/shell/downloads.py). Only the owner of a session may upload
to it or resume it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from html import escape
from typing import Protocol
from urllib.parse import quote

from dpengine.core.errors import AllowanceError
from dpengine.messages import say
from dpengine.messages.language import current, speaking
from ui.api.http import ASGIApp, Message, Receive, Scope, Send
from ui.auth.config import Proxy, Served
from ui.auth.login import TEN_MINUTES, LoginProtocol
from ui.auth.passes import Pass, Passes
from ui.shell import downloads, gate, person, web
from ui.shell.web import HEADERS

# --- pages of the middleware itself: a sentence and a next step, without a script

_STYLE = (
    "body{margin:0;background:#FBFAF6;color:#1C2733;font:1.125rem/1.5 'Source Sans',system-ui,sans-serif}"
    "main{max-width:34rem;margin:18vh auto 0;padding:0 1.5rem}h1{font:600 1.75rem/1.2 Georgia,serif;margin:0 0 1rem}"
    "a,button{color:#0B6B63;font:inherit}button,.first{background:#0B6B63;color:#fff;border:0;border-radius:.5rem;"
    "padding:.5rem 1.25rem;text-decoration:none;display:inline-block;cursor:pointer}p+p{margin-top:1.5rem}"
    "@media(prefers-color-scheme:dark){body{background:#14191F;color:#ECE8DF}a{color:#5CC2B4}"
    "button,.first{background:#5CC2B4;color:#14191F}}"
)
Cookies = Sequence[bytes]


async def show_page(
    send: Send, status: int, sentence: str, links: Sequence[tuple[str, str]], cookies: Cookies = ()
) -> None:
    """Answer with a page of one sentence and these links, the first as a button."""
    shown = [(words, place) for words, place in links if place]
    classes = [' class="first"', *[""] * len(shown)]
    anchors = [
        f'<a{css_class} href="{escape(to, quote=True)}">{escape(words)}</a>'
        for css_class, (words, to) in zip(classes, shown, strict=False)
    ]
    await _page(send, status, sentence, "".join(f"<p>{anchor}</p>" for anchor in anchors), cookies)


async def ask_page(send: Send, sentence: str, button: str, place: str) -> None:
    form = f'<form method="post" action="{escape(place, quote=True)}"><button>{escape(button)}</button></form>'
    await _page(send, 200, sentence, form, ())


async def lead_page(send: Send, location: str, cookies: Cookies = ()) -> None:
    await _answer(send, 303, [(b"location", location.encode("ascii")), *_set(cookies)], b"")


async def _page(send: Send, status: int, sentence: str, below: str, cookies: Cookies) -> None:
    name = escape(say("place.name"))
    body = (
        f'<!doctype html><html lang="{current()}"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head><body><main>'
        f"<h1>{name}</h1><p>{escape(sentence)}</p>{below}</main></body></html>"
    ).encode()
    await _answer(send, status, [(b"content-type", b"text/html; charset=utf-8"), *_set(cookies)], body)


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    sent = [*HEADERS, (b"cache-control", b"no-store"), (b"content-length", str(len(body)).encode()), *headers]
    await gate.respond(send, status, sent, body)


def _set(cookies: Cookies) -> list[tuple[bytes, bytes]]:
    return [(b"set-cookie", cookie) for cookie in cookies]


# --- the middleware

HEALTH, SIGN_IN, BACK, SIGN_OUT = "_stcore/health", "sign-in", "oauth2callback", "sign-out"
DOORS = ("api/v1", "metrics")  # these check a token themselves
PERSON = "allowance.person"  # in the scope
_OWN_HEADER = person.HEADER.encode()
_NO_PAGES = ("_stcore/", "static/", "media/", "component/", "app/static/")
_CHECK_EVERY = 1.0  # seconds
_NOT_THEIRS = 1008  # the socket code for a policy violation
_log = logging.getLogger("allowance")


class People(Protocol):
    """The questions that the middleware asks the workspace, on a separate thread, because an answer may need files."""

    def known(self, issuer: str, subject: str, name: str, email: str) -> str: ...

    def welcome(self, who: str) -> bool:
        """May the person sign in? False if the person is barred."""

    def has_right(self, who: str) -> bool:
        """Has the person a role, or a grant on some table?"""


class AuthMiddleware:
    def __init__(
        self,
        app: ASGIApp,
        served: Served,
        passes: Passes,
        people: People,
        login: LoginProtocol | None = None,
        doors: Mapping[str, ASGIApp] | None = None,
    ) -> None:
        self.app, self._served, self._passes, self._people, self._login = app, served, passes, people, login
        self._doors = doors or {}
        self._named: dict[tuple[str, ...], str] = {}  # people a proxy has named before

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        scope = {**scope, "headers": [prefix for prefix in scope["headers"] if prefix[0].lower() != _OWN_HEADER]}
        inner = gate.within(scope["path"])
        if inner == HEALTH and scope["type"] == "http":
            await self.app(scope, receive, send)
            return
        ours = gate.own_origin(scope, self._served.origin)
        if ours != self._served.origin or gate.foreign(scope, ours):
            await self._no(scope, send, 403, "porter.elsewhere", address=self._served.address)
            return
        if door := next((prefix for prefix in DOORS if inner == prefix or inner.startswith(f"{prefix}/")), None):
            await self._door(door, scope, receive, send)
            return
        try:
            held = await self._pass(scope)
            if scope["type"] == "websocket":
                await self._socket(held, scope, receive, send)
            elif inner in (SIGN_IN, BACK, SIGN_OUT):
                await self._steps[inner](self, held, scope, send)
            elif held is None:
                await self._away(inner, scope, send)
            elif not inner.startswith("static/") and not await asyncio.to_thread(self._people.welcome, held.person):
                await self._no(scope, send, 403, "porter.barred")
            elif not self._theirs(held.person, scope["path"]):
                await self._no(scope, send, 403, "porter.not_yours")
            else:
                await self.app(_with_person(held.person, scope), receive, self._securing(send))
        except AllowanceError as error:
            status = {"porter.proxy": 403, "porter.group": 403, "porter.provider_gone": 502}.get(error.code, 400)
            await self._no(scope, send, status, error.code)

    # --- who it is

    async def _pass(self, scope: Scope) -> Pass | None:
        if self._served.proxy is None:
            return self._passes.of(web.cookies_of(scope))
        named = _named_by(self._served.proxy, scope)
        if named not in self._named:
            self._named[named] = await asyncio.to_thread(self._people.known, self._served.proxy.issuer, *named)
        return self._passes.held(self._named[named])

    def _theirs(self, who: str, path: str) -> bool:
        inner = gate.within(path)
        if "_stcore" in inner and gate.is_closed(path):
            return False
        if inner.startswith("media/"):
            return downloads.here.theirs(who, inner)
        upload = gate.upload(path)
        return upload is None or person.owns(who, upload[0])

    # --- signing in and out

    async def _away(self, inner: str, scope: Scope, send: Send) -> None:
        """Send a page request to the provider and remember the wanted address. Refuse any other request."""
        if scope["method"] not in ("GET", "HEAD") or inner.startswith(_NO_PAGES) or not web.asks_for_page(scope):
            await self._no(scope, send, 401, "porter.sign_in_first")
            return
        query = scope.get("query_string", b"").decode("latin-1")
        await self._lead(scope, send, scope["path"] + (f"?{query}" if query else ""))

    async def _lead(self, scope: Scope, send: Send, wanted: str) -> None:
        assert self._login is not None
        away = await self._login.begin(web.cookies_of(scope), wanted)
        cookies = [self._passes.header(*away.cookie, TEN_MINUTES)]
        cookies += [self._passes.header(name, "", 0) for name in away.stale]
        await lead_page(send, away.location, cookies)

    async def _sign_in(self, held: Pass | None, scope: Scope, send: Send) -> None:
        if held is None and self._login is not None:
            await self._lead(scope, send, gate.folder())
        else:
            await lead_page(send, self._at(gate.folder()))

    async def _back(self, held: Pass | None, scope: Scope, send: Send) -> None:
        if self._login is None:
            raise AllowanceError("porter.stale")
        identity, wanted, used = await self._login.end(scope, web.cookies_of(scope))
        who = await asyncio.to_thread(
            self._people.known, identity.issuer, identity.subject, identity.name, identity.email
        )
        _log.warning("signed in: %s", who)
        cookie = await asyncio.to_thread(self._passes.give, who)
        await lead_page(send, self._at(wanted), [cookie, self._passes.header(used, "", 0)])

    async def _sign_out(self, held: Pass | None, scope: Scope, send: Send) -> None:
        """Sign the person out if they followed our own link. After a link from elsewhere, ask first."""
        with speaking(web.language_of(scope)):
            meant = scope["method"] == "POST" or _followed(scope)
            if held is not None and not meant:
                await ask_page(send, say("porter.sign_out_asked"), say("porter.sign_out"), self._own(SIGN_OUT))
                return
            if held is not None:
                await asyncio.to_thread(self._passes.take_back, held.person)
                _log.warning("signed out: %s", held.person)
            if self._served.proxy is not None and self._served.proxy.sign_out:
                await lead_page(send, self._served.proxy.sign_out, [self._passes.without()])
                return
            more = await self._login.farewell() if self._login is not None else ""
            links = [(say("porter.sign_in_again"), self._own(SIGN_IN)), (say("porter.sign_out_there"), more)]
            await show_page(send, 200, say("porter.signed_out"), links, [self._passes.without()])

    _steps: Mapping[str, Callable[..., Awaitable[None]]] = {SIGN_IN: _sign_in, BACK: _back, SIGN_OUT: _sign_out}

    def _at(self, wanted: str) -> str:
        """The wanted address under our own origin, whatever host the text names."""
        path, _, query = wanted.partition("?")
        asked = f"?{quote(query, safe=_IN_QUERY)}" if query else ""
        return f"{self._served.address}/{quote(path.lstrip(_STROKES))}{asked}"

    def _own(self, name: str) -> str:
        return self._at(gate.folder() + name)

    async def _door(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        if name in self._doors:
            await self._doors[name](scope, receive, send)
        else:
            await self._no(scope, send, 404, "porter.no_door")

    async def _no(self, scope: Scope, send: Send, status: int, code: str, **facts: str) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _NOT_THEIRS})
            return
        with speaking(web.language_of(scope)):
            again = [] if self._login is None or status in (401, 404) else [(say("porter.again"), self._own(SIGN_IN))]
            await show_page(send, status, say(code, **facts), again)

    def _securing(self, send: Send) -> Send:
        """A `send` that marks the app's own cookies as secure; the given one unless our origin is encrypted."""
        if self._served.origin.scheme != "https":
            return send

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [_secure(header) for header in message.get("headers", ())]}
            await send(message)

        return secured

    # --- sockets

    async def _socket(self, held: Pass | None, scope: Scope, receive: Receive, send: Send) -> None:
        if held is None:
            await self._no(scope, send, 403, "porter.sign_in_first")
            return
        scope = _resuming_own(held.person, _with_person(held.person, scope))
        had_right = await asyncio.to_thread(self._people.has_right, held.person)
        may_stay = self._people.has_right if had_right else self._people.welcome  # without a right: practice only
        shut = False
        incoming: asyncio.Task[Message] | None = None

        async def may_go_on() -> bool:
            nonlocal shut
            good = self._passes.stands(held)
            if good and not await asyncio.to_thread(may_stay, held.person):
                good = False
                await asyncio.to_thread(self._passes.take_back, held.person)
            if not shut and not good:
                shut = True
                person.leave(held.person)
                _log.warning("socket closed: %s", held.person)
                await send({"type": "websocket.close", "code": _NOT_THEIRS})
            return not shut

        async def incoming_messages() -> Message:
            nonlocal incoming
            while True:
                if incoming is None:
                    incoming = asyncio.ensure_future(receive())
                await asyncio.wait({incoming}, timeout=_CHECK_EVERY)
                if not await may_go_on():
                    return {"type": "websocket.disconnect", "code": _NOT_THEIRS}
                if incoming.done():
                    message, incoming = incoming.result(), None
                    return message

        async def outgoing(message: Message) -> None:
            if shut or not self._passes.stands(held):
                return  # drop it; the receiving side closes the socket
            await send(message)

        try:
            await self.app(scope, incoming_messages, outgoing)
        finally:
            if incoming is not None:
                incoming.cancel()


_STROKES = "/\\"
_IN_QUERY = "=&%+!$'()*,;:@/?~"


def _secure(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    name, value = header
    plain = name.lower() == b"set-cookie" and b"; secure" not in value.lower()
    return (name, value + b"; Secure") if plain else header


def _followed(scope: Scope) -> bool:
    """Did the person follow our link or type the address? A picture or script on a page does neither."""
    site, mode = gate.header(scope, b"sec-fetch-site"), gate.header(scope, b"sec-fetch-mode")
    return site in ("same-origin", "none") and mode in ("", "navigate")


def _with_person(who: str, scope: Scope) -> Scope:
    return {**scope, "headers": [*scope["headers"], (_OWN_HEADER, who.encode("ascii"))], PERSON: who}


def _resuming_own(who: str, scope: Scope) -> Scope:
    """The request without the name of another person's session. Streamlit would resume any session that is third in
    this header."""

    def own_session(value: bytes) -> bytes:
        parts = value.split(b",")
        if len(parts) > 2 and not person.owns(who, parts[2].strip().decode("latin-1")):
            parts = parts[:2]
        return b",".join(parts)

    named = b"sec-websocket-protocol"
    return {
        **scope,
        "headers": [(name, own_session(value) if name.lower() == named else value) for name, value in scope["headers"]],
    }


def _named_by(proxy: Proxy, scope: Scope) -> tuple[str, str, str]:
    """Subject, name and e-mail address from the headers of a trusted proxy. Refuses another sender, and a repeated
    header."""
    if not proxy.believed(scope.get("client")):
        raise AllowanceError("porter.proxy")

    def header_value(wanted: str) -> str:
        key = wanted.encode("latin-1")
        values = [value for name, value in scope["headers"] if key and name.lower() == key]
        if len(values) > 1:
            raise AllowanceError("porter.proxy")
        text = values[0].decode("utf-8", "replace").strip() if values else ""
        if not text.isprintable() or len(text) > 255:
            raise AllowanceError("porter.proxy")
        return text

    subject = header_value(proxy.header)
    if not subject:
        raise AllowanceError("porter.proxy")
    return subject, header_value(proxy.name_header), header_value(proxy.email_header)
