"""What the porter itself shows: a sentence and what to do next, in a page without a script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dpengine.messages import say
from dpengine.messages.language import current
from ui.shell.web import HEADERS, Send

_STYLE = (
    "body{margin:0;background:#FBFAF6;color:#1C2733;font:1.125rem/1.5 'Source Sans',system-ui,sans-serif}"
    "main{max-width:34rem;margin:18vh auto 0;padding:0 1.5rem}h1{font:600 1.75rem/1.2 Georgia,serif;margin:0 0 1rem}"
    "a,button{color:#0B6B63;font:inherit}button,.first{background:#0B6B63;color:#fff;border:0;border-radius:.5rem;"
    "padding:.5rem 1.25rem;text-decoration:none;display:inline-block;cursor:pointer}p+p{margin-top:1.5rem}"
    "@media(prefers-color-scheme:dark){body{background:#14191F;color:#ECE8DF}a{color:#5CC2B4}"
    "button,.first{background:#5CC2B4;color:#14191F}}"
)
Cookies = Sequence[bytes]


async def show(send: Send, status: int, sentence: str, links: Sequence[tuple[str, str]], cookies: Cookies = ()) -> None:
    """A sentence, and links where there are any: the first as a button."""
    shown = [(words, place) for words, place in links if place]
    marks = [' class="first"', *[""] * len(shown)]
    said = [
        f'<a{mark} href="{escape(to, quote=True)}">{escape(words)}</a>'
        for mark, (words, to) in zip(marks, shown, strict=False)
    ]
    await _page(send, status, sentence, "".join(f"<p>{one}</p>" for one in said), cookies)


async def ask(send: Send, sentence: str, button: str, place: str) -> None:
    form = f'<form method="post" action="{escape(place, quote=True)}"><button>{escape(button)}</button></form>'
    await _page(send, 200, sentence, form, ())


async def lead(send: Send, location: str, cookies: Cookies = ()) -> None:
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
