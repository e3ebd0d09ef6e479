"""What the porter itself shows: a sentence and what to do next, in a page without a script."""

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
from ui.auth.config import Proxy, Served
from ui.auth.login import TEN_MINUTES, Way
from ui.auth.passes import Pass, Passes
from ui.shell import downloads, gate, person, web
from ui.shell.web import HEADERS, ASGIApp, Message, Receive, Scope, Send

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
    """A sentence, and links where there are any: the first as a button."""
    shown = [(words, place) for words, place in links if place]
    marks = [' class="first"', *[""] * len(shown)]
    said = [
        f'<a{mark} href="{escape(to, quote=True)}">{escape(words)}</a>'
        for mark, (words, to) in zip(marks, shown, strict=False)
    ]
    await _page(send, status, sentence, "".join(f"<p>{one}</p>" for one in said), cookies)


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
    told = [*HEADERS, (b"cache-control", b"no-store"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})


def _set(cookies: Cookies) -> list[tuple[bytes, bytes]]:
    return [(b"set-cookie", cookie) for cookie in cookies]


# The porter: before everything else, where the app is served to people who sign in.
#
# Nobody passes without a pass (ui/auth/passes.py): no page, no file of Streamlit's, no upload, no download, no socket.
# Without one there are the way to the provider and the health check. The porter decides from the signed cookie, or from
# the header of a proxy at an address that is named in the configuration; never from anything that a page does, because
# callbacks and fragments of Streamlit run before a page could look.
#
# Sockets are the point: all of a page happens in one. Each message is let through, in and out, only while the pass that
# opened the socket still stands and the person has not lost their last right, which signs them out; otherwise the
# socket is closed. One on which nothing is said is looked at every second.
#
# What one person was sent is theirs: a download is given only to whom a page offered it (ui/shell/downloads.py), and an
# upload or the taking up of a session is refused to anybody but the person whose session it is.

HEALTH, SIGN_IN, BACK, SIGN_OUT = "_stcore/health", "sign-in", "oauth2callback", "sign-out"
DOORS = ("api/v1", "metrics")  # they look at a token themselves; until they are there, nothing is
PERSON = "allowance.person"  # in the scope
_OWN_HEADER = person.HEADER.encode()
_NO_PAGES = ("_stcore/", "static/", "media/", "component/", "app/static/")
_LOOK = 1.0  # seconds
_NOT_THEIRS = 1008  # a socket's code for "against the rules"
_log = logging.getLogger("allowance")


class People(Protocol):
    """What the porter asks the workspace. It may read files: it is asked on a thread of its own."""

    def known(self, issuer: str, subject: str, name: str, email: str) -> str: ...

    def welcome(self, who: str) -> bool:
        """Has nobody barred them?"""

    def has_right(self, who: str) -> bool:
        """Have they a role, or a grant on some table?"""


class Porter:
    def __init__(
        self,
        app: ASGIApp,
        served: Served,
        passes: Passes,
        people: People,
        way: Way | None = None,
        doors: Mapping[str, ASGIApp] | None = None,
    ) -> None:
        self.app, self._served, self._passes, self._people, self._way = app, served, passes, people, way
        self._doors = doors or {}
        self._named: dict[tuple[str, ...], str] = {}  # whom a proxy has named before

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        scope = {**scope, "headers": [one for one in scope["headers"] if one[0].lower() != _OWN_HEADER]}
        inner = gate.within(scope["path"])
        if inner == HEALTH and scope["type"] == "http":
            await self.app(scope, receive, send)
            return
        ours = gate.meant(scope, self._served.origin)
        if ours != self._served.origin or gate.foreign(scope, ours):
            await self._no(scope, send, 403, "porter.elsewhere", address=self._served.address)
            return
        if door := next((one for one in DOORS if inner == one or inner.startswith(f"{one}/")), None):
            await self._door(door, scope, receive, send)
            return
        try:
            found = await self._pass(scope)
            if scope["type"] == "websocket":
                await self._socket(found, scope, receive, send)
            elif inner in (SIGN_IN, BACK, SIGN_OUT):
                await self._ways[inner](self, found, scope, send)
            elif found is None:
                await self._away(inner, scope, send)
            elif not inner.startswith("static/") and not await asyncio.to_thread(self._people.welcome, found.person):
                await self._no(scope, send, 403, "porter.barred")
            elif not self._theirs(found.person, scope["path"]):
                await self._no(scope, send, 403, "porter.not_yours")
            else:
                await self.app(_as(found.person, scope), receive, self._securing(send))
        except AllowanceError as complaint:
            status = {"porter.proxy": 403, "porter.group": 403, "porter.provider_gone": 502}.get(complaint.code, 400)
            await self._no(scope, send, status, complaint.code)

    # --- who it is

    async def _pass(self, scope: Scope) -> Pass | None:
        if self._served.proxy is None:
            return self._passes.of(web.cookies_of(scope))
        told = _told_by(self._served.proxy, scope)
        if told not in self._named:
            self._named[told] = await asyncio.to_thread(self._people.known, self._served.proxy.issuer, *told)
        return self._passes.held(self._named[told])

    def _theirs(self, who: str, path: str) -> bool:
        inner = gate.within(path)
        if "_stcore" in inner and gate.shut(path):
            return False
        if inner.startswith("media/"):
            return downloads.here.theirs(who, inner)
        upload = gate.upload(path)
        return upload is None or person.owns(who, upload[0])

    # --- ways in and out

    async def _away(self, inner: str, scope: Scope, send: Send) -> None:
        """To the provider, with the wanted address remembered; whatever is no page gets nothing."""
        if scope["method"] not in ("GET", "HEAD") or inner.startswith(_NO_PAGES) or not web.asks_for_page(scope):
            await self._no(scope, send, 401, "porter.sign_in_first")
            return
        query = scope.get("query_string", b"").decode("latin-1")
        await self._lead(scope, send, scope["path"] + (f"?{query}" if query else ""))

    async def _lead(self, scope: Scope, send: Send, wanted: str) -> None:
        assert self._way is not None
        away = await self._way.begin(web.cookies_of(scope), wanted)
        cookies = [self._passes.header(*away.cookie, TEN_MINUTES)]
        cookies += [self._passes.header(name, "", 0) for name in away.stale]
        await lead_page(send, away.location, cookies)

    async def _sign_in(self, found: Pass | None, scope: Scope, send: Send) -> None:
        if found is None and self._way is not None:
            await self._lead(scope, send, gate.folder())
        else:
            await lead_page(send, self._at(gate.folder()))

    async def _back(self, found: Pass | None, scope: Scope, send: Send) -> None:
        if self._way is None:
            raise AllowanceError("porter.stale")
        told, wanted, used = await self._way.end(scope, web.cookies_of(scope))
        who = await asyncio.to_thread(self._people.known, told.issuer, told.subject, told.name, told.email)
        _log.warning("signed in: %s", who)
        cookie = await asyncio.to_thread(self._passes.give, who)
        await lead_page(send, self._at(wanted), [cookie, self._passes.header(used, "", 0)])

    async def _sign_out(self, found: Pass | None, scope: Scope, send: Send) -> None:
        """A link of ours signs out; one from elsewhere only asks whether that is meant."""
        with speaking(web.language_of(scope)):
            meant = scope["method"] == "POST" or _followed(scope)
            if found is not None and not meant:
                await ask_page(send, say("porter.sign_out_asked"), say("porter.sign_out"), self._own(SIGN_OUT))
                return
            if found is not None:
                await asyncio.to_thread(self._passes.take_back, found.person)
                _log.warning("signed out: %s", found.person)
            if self._served.proxy is not None and self._served.proxy.sign_out:
                await lead_page(send, self._served.proxy.sign_out, [self._passes.without()])
                return
            more = await self._way.farewell() if self._way is not None else ""
            links = [(say("porter.sign_in_again"), self._own(SIGN_IN)), (say("porter.sign_out_there"), more)]
            await show_page(send, 200, say("porter.signed_out"), links, [self._passes.without()])

    _ways: Mapping[str, Callable[..., Awaitable[None]]] = {SIGN_IN: _sign_in, BACK: _back, SIGN_OUT: _sign_out}

    def _at(self, wanted: str) -> str:
        """An address of ours, whatever is asked for: the origin is written in front of it."""
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
            again = [] if self._way is None or status in (401, 404) else [(say("porter.again"), self._own(SIGN_IN))]
            await show_page(send, status, say(code, **facts), again)

    def _securing(self, send: Send) -> Send:
        """Every cookie of the app too is for encrypted connections alone, where ours are encrypted."""
        if self._served.origin.scheme != "https":
            return send

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [_secure(one) for one in message.get("headers", ())]}
            await send(message)

        return secured

    # --- sockets

    async def _socket(self, found: Pass | None, scope: Scope, receive: Receive, send: Send) -> None:
        if found is None:
            await self._no(scope, send, 403, "porter.sign_in_first")
            return
        scope = _resuming_own(found.person, _as(found.person, scope))
        had_right = await asyncio.to_thread(self._people.has_right, found.person)
        still = self._people.has_right if had_right else self._people.welcome  # who had none may go on practising
        shut = False
        next_one: asyncio.Task[Message] | None = None

        async def may_go_on() -> bool:
            nonlocal shut
            good = self._passes.stands(found)
            if good and not await asyncio.to_thread(still, found.person):  # whoever comes back begins anew
                good = False
                await asyncio.to_thread(self._passes.take_back, found.person)
            if not shut and not good:
                shut = True
                person.leave(found.person)
                _log.warning("socket closed: %s", found.person)
                await send({"type": "websocket.close", "code": _NOT_THEIRS})
            return not shut

        async def heard() -> Message:
            nonlocal next_one
            while True:
                if next_one is None:
                    next_one = asyncio.ensure_future(receive())
                await asyncio.wait({next_one}, timeout=_LOOK)
                if not await may_go_on():
                    return {"type": "websocket.disconnect", "code": _NOT_THEIRS}
                if next_one.done():
                    message, next_one = next_one.result(), None
                    return message

        async def told(message: Message) -> None:
            if shut or not self._passes.stands(found):
                return  # whatever it is, it is not said; the socket is closed by who listens
            await send(message)

        try:
            await self.app(scope, heard, told)
        finally:
            if next_one is not None:
                next_one.cancel()


_STROKES = "/\\"
_IN_QUERY = "=&%+!$'()*,;:@/?~"


def _secure(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    name, value = header
    plain = name.lower() == b"set-cookie" and b"; secure" not in value.lower()
    return (name, value + b"; Secure") if plain else header


def _followed(scope: Scope) -> bool:
    """Did a person follow a link of ours, or write the address themselves? A picture or a script on a page does not."""
    site, mode = gate.header(scope, b"sec-fetch-site"), gate.header(scope, b"sec-fetch-mode")
    return site in ("same-origin", "none") and mode in ("", "navigate")


def _as(who: str, scope: Scope) -> Scope:
    return {**scope, "headers": [*scope["headers"], (_OWN_HEADER, who.encode("ascii"))], PERSON: who}


def _resuming_own(who: str, scope: Scope) -> Scope:
    """Streamlit takes a session up again for whoever names it, in the third place of this header."""

    def kept(value: bytes) -> bytes:
        parts = value.split(b",")
        if len(parts) > 2 and not person.owns(who, parts[2].strip().decode("latin-1")):
            parts = parts[:2]
        return b",".join(parts)

    named = b"sec-websocket-protocol"
    return {
        **scope,
        "headers": [(name, kept(value) if name.lower() == named else value) for name, value in scope["headers"]],
    }


def _told_by(proxy: Proxy, scope: Scope) -> tuple[str, str, str]:
    """Subject, name and e-mail address, from a proxy that is believed, each said at most once."""
    if not proxy.believed(scope.get("client")):
        raise AllowanceError("porter.proxy")

    def said(wanted: str) -> str:
        found = (
            [value for name, value in scope["headers"] if name.lower() == wanted.encode("latin-1")] if wanted else []
        )
        if len(found) > 1:
            raise AllowanceError("porter.proxy")
        text = found[0].decode("utf-8", "replace").strip() if found else ""
        if not text.isprintable() or len(text) > 255:
            raise AllowanceError("porter.proxy")
        return text

    subject = said(proxy.header)
    if not subject:
        raise AllowanceError("porter.proxy")
    return subject, said(proxy.name_header), said(proxy.email_header)
