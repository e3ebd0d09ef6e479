"""Names that are more than names: HTML, scripts, SQL, formulas, Markdown, LaTeX. Each holds the mark."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import dpengine as dp
from ui.shell.scroll import OURS

MARK = "qzq"
HTML = f'<{MARK} onload=alert(1)><img src=x onerror=alert("{MARK}")></p><script>alert("{MARK}")</script>'
LINK = f"[{MARK}](javascript:alert(1)) ![{MARK}](http://evil.example/{MARK}.png)"
SIGNS = f":red[{MARK}] :material/{MARK}: **{MARK}** `{MARK}` ${MARK}^2$ # {MARK} ~{MARK}~ {{{MARK}}} %s"
SQL = f"{MARK}\"; DROP TABLE entries; -- ' OR 1=1"
FORMULA = f'=HYPERLINK("http://evil.example/{MARK}";"x")'
SPLIT = f"a;=1+1;{MARK}"
QUOTED = f'a;"=1+1;{MARK}'  # once its quote is doubled, as a file writes it, an empty word and a formula
NAMES = {"html": HTML, "link": LINK, "signs": SIGNS, "sql": SQL, "formula": FORMULA, "split": SPLIT}
TABLE = f'{MARK}"; DROP TABLE tables;-- <b>{MARK}</b> [x](javascript:1)'

# What of these would be something else than text where Markdown is read.
MARKDOWN = re.compile(
    rf"(?<!\\)\[{MARK}\]\(|(?<!\\):red\[{MARK}|(?<!\\):material/{MARK}|(?<!\\)\*\*{MARK}|(?<!\\)`{MARK}|(?<!\\)\${MARK}"
    rf"|(?<!\\)<{MARK}|(?<!\\)<b>{MARK}|(?<!\\)\[x\]\(javascript"
)
_READS_MARKDOWN = {"label", "help", "text", "caption", "captions", "title", "body", "markdown", "content"}
_PLAIN = {"Html", "Code"}  # looked at apart; text
_DRAWN = re.compile(r'<img(?: class="map")? alt="" src="data:image/(?:svg\+xml|png);base64,([\w+/=]*)">')


class Elements(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs


def elements(text: str) -> list[str]:
    """What in a piece of HTML is not ours: elements that act or fetch, handlers, addresses of scripts."""
    found = Elements(text)
    bad = [tag for tag in found.tags if tag in {"script", "img", "iframe", "object", "form", MARK} or MARK in tag]
    for name, value in found.attributes:
        leads = name in ("href", "src") and re.match(r"\s*(javascript|data|https?):", value or "", re.I)
        if name.startswith("on") or leads:
            bad.append(f"{name}={value}")
    return bad


def strings(message: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every string of a message that Streamlit sends, with the names of the fields that lead to it."""
    for field, value in message.ListFields():
        many = value if hasattr(value, "append") or hasattr(value, "add") else [value]
        if hasattr(value, "keys"):
            continue
        for one in many:
            if isinstance(one, str):
                yield (*path, field.name), one
            elif hasattr(one, "ListFields"):
                yield from strings(one, (*path, field.name))


def faults(proto: Any) -> list[str]:
    """Where a name would be more than text in the browser."""
    kind, found = type(proto).__name__, []
    for path, text in strings(proto):
        name = path[-1]
        if kind == "Html" and name == "body":
            for script in OURS:  # word for word: they hold no name
                text = text.replace(f"<script>{script}</script>", "")
            for drawn in _DRAWN.findall(text):  # a picture's lines and areas: they hold no name
                found += ["a name in a picture"] if MARK.encode() in b64decode(drawn) else []
            found += [f"Html: {one}" for one in elements(_DRAWN.sub("", text))]
        elif kind not in _PLAIN and (name in _READS_MARKDOWN or (name == "options" and kind == "Radio")):
            found += [f"{kind}.{'.'.join(path)}: {text[:80]}"] if MARKDOWN.search(text) else []
    return found


def schema() -> dp.Schema:
    """Every kind of column under every kind of name; the values are as bad."""
    values = list(NAMES.values())
    columns: dict[str, Any] = {name: dp.Number(0, 10) for name in values}
    columns |= {f"list {HTML}": dp.Category(values), f"list {LINK} {SIGNS}": dp.Category(values)}
    columns[f"sets {SIGNS}"] = dp.ItemSet(values, separator="¦", at_most=2)
    columns[f"day {LINK}"] = dp.Date("1990-01-01", "1999-12-31")
    return dp.Schema(columns)


def frame() -> Any:
    import pandas as pd

    values, rows = list(NAMES.values()), 60
    told: dict[str, Any] = {name: [place % 11 for place in range(rows)] for name in values}
    told |= {name: [values[place % len(values)] for place in range(rows)] for name in schema().of_kind(dp.Category)}
    told[f"sets {SIGNS}"] = ["¦".join(values[: place % 3]) for place in range(rows)]
    told[f"day {LINK}"] = ["1991-02-03"] * rows
    told[f"free {HTML}"] = [HTML] * rows
    return pd.DataFrame(told)
