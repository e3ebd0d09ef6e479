"""Plain text inside HTML or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dpengine.messages import called


def html_lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def p(text: str, kind: str = "", role: str = "") -> str:
    """A paragraph of plain text."""
    marks = (f' class="{kind}"' if kind else "") + (f' role="{role}"' if role else "")
    return f"<p{marks}>{escape(text)}</p>"


def first_names(names: Sequence[str], most: int) -> str:
    """The first few names, and a mark that there are more."""
    return ", ".join(called(name) for name in names[:most]) + (", …" if len(names) > most else "")


def html_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1, kind: str = "plain", scroll: str = "scroll"
) -> str:
    """A table that scrolls on its own. Columns after the first `words` hold numbers."""
    marks = ["" if place < words else ' class="number"' for place in range(len(heads))]
    head = "".join(f"<th{mark}>{escape(title)}</th>" for title, mark in zip(heads, marks, strict=True))
    body = ""
    for row in rows:
        cells = "".join(f"<td{mark}>{escape(cell)}</td>" for cell, mark in zip(row, marks, strict=True))
        body += f"<tr>{cells}</tr>"
    return f'<div class="{scroll}" tabindex="0"><table class="{kind}"><tr>{head}</tr>{body}</table></div>'


def unmarked(text: str) -> str:
    """Plain text for a label, which Streamlit would read as Markdown."""
    return "".join(_sign(sign) for sign in text)


def _sign(sign: str) -> str:
    if not sign.isascii() or sign.isalnum() or sign == " ":
        return sign
    joined = "\u2060" if sign in ":-<>=~" else ""  # keeps :smile: and --> as they are
    return f"\\{sign}{joined}" if sign.isprintable() else " "
