"""Plain text inside HTML or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dpengine.messages import called, say


def html_lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def p(text: str, kind: str = "", role: str = "") -> str:
    """HTML with a paragraph of plain text."""
    marks = (f' class="{kind}"' if kind else "") + (f' role="{role}"' if role else "")
    return f"<p{marks}>{html(text)}</p>"


def first_names(names: Sequence[str], most: int) -> str:
    """The first few names as text, and a sign if there are more."""
    return ", ".join(called(name) for name in names[:most]) + (", …" if len(names) > most else "")


def few_names(names: Sequence[str], most: int = 5) -> Sequence[str] | str:
    """The names or, of many, a text with the first few and how many more there are."""
    return names if len(names) <= most + 1 else say("data.list", labels=list(names[:most]), more=len(names) - most)


class Html(str):
    """Text that is HTML already."""


def html(text: str) -> str:
    return text if isinstance(text, Html) else escape(text)


def paragraphs(lines: Iterable[str], kind: str = "muted") -> str:
    return "".join(p(line, kind) for line in lines)


def bullets(lines: Iterable[str], kind: str = "") -> str:
    items = "".join(f"<li>{html(line)}</li>" for line in lines)
    return f'<ul class="{kind}">{items}</ul>' if kind else f"<ul>{items}</ul>"


def link(address: str, words: str, kind: str = "", title: str = "") -> Html:
    """HTML with a link within the app; `address` is escaped already, as `nav.address` gives it."""
    mark = (f' class="{kind}"' if kind else "") + (f' title="{escape(title)}"' if title else "")
    return Html(f'<a{mark} href="{address}" target="_self">{escape(words)}</a>')


def html_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    words: int = 1,
    kind: str = "plain",
    scroll: str = "scroll",
    region: str = "",
) -> str:
    """HTML with a table that scrolls on its own, and may be named as a `region`. Columns after the first `words`
    columns hold numbers."""
    marks = ["" if place < words else ' class="number"' for place in range(len(heads))]
    head = "".join(f"<th{mark}>{html(title)}</th>" for title, mark in zip(heads, marks, strict=True))
    body = ""
    for row in rows:
        cells = "".join(f"<td{mark}>{html(cell)}</td>" for cell, mark in zip(row, marks, strict=True))
        body += f"<tr>{cells}</tr>"
    named = f' role="region" aria-label="{escape(region)}"' if region else ""
    return f'<div class="{scroll}" tabindex="0"{named}><table class="{kind}"><tr>{head}</tr>{body}</table></div>'


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def unmarked(text: str) -> str:
    """Plain text for a label, which Streamlit would read as Markdown."""
    return "".join(_sign(sign) for sign in text)


def _sign(sign: str) -> str:
    if not sign.isascii() or sign.isalnum() or sign == " ":
        return sign
    joined = "\u2060" if sign in ":-<>=~" else ""  # keeps :smile: and --> as they are
    return f"\\{sign}{joined}" if sign.isprintable() else " "
