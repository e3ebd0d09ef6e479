"""Every sentence a person can read, by code; one catalogue per language.

A catalogue is a package of plain dictionaries `SENTENCES` (one module per area), so that a translator
needs no Python. `say` fills a sentence with public facts; a missing code is a programming error.
"""

from __future__ import annotations

from contextvars import ContextVar
from fractions import Fraction
from importlib import import_module
from types import MappingProxyType
from typing import Any

LANGUAGES = ("en",)
AREAS = (
    "declare", "load", "ask", "ledger", "cards", "pages", "ledger_page", "data_page", "looks", "plan", "whatif", "owner",
    "receipts", "validity", "session", "publish", "shuffle", "curves",
)  # fmt: skip

language: ContextVar[str] = ContextVar("language", default="en")


def _read(lang: str) -> dict[str, str]:
    sentences: dict[str, str] = {}
    for area in AREAS:
        part: dict[str, str] = import_module(f"{__name__}.{lang}.{area}").SENTENCES
        twice = sentences.keys() & part.keys()
        if twice:
            raise ValueError(f"codes defined twice in {lang}: {sorted(twice)}")
        sentences.update(part)
    return sentences


CATALOGUES = MappingProxyType({lang: MappingProxyType(_read(lang)) for lang in LANGUAGES})


def plain(value: Any) -> str:
    """A public fact as a person writes it: 1234567 as 1,234,567, one third as 0.333."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value and (abs(value) < 1e-4 or abs(value) >= 1e15):
            return f"{value:.3g}"
        text = f"{value:,.6f}" if abs(value) < 10 else f"{value:,.3f}"
        return text.rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(item) for item in value)
    return str(value)


def say(code: str, /, **facts: Any) -> str:
    """The sentence for `code` in the current language, filled with public facts."""
    template = CATALOGUES[language.get()][code]
    return template.format_map({name: plain(value) for name, value in facts.items()})


def known(code: str) -> bool:
    return code in CATALOGUES[language.get()]
