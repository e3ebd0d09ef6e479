"""Every sentence a person can read, by code; one catalogue per language.

A catalogue is a package of plain dictionaries `SENTENCES` (one module per area), so that a translator
needs no Python. `say` fills a sentence with public facts; a missing code is a programming error. Sentences that a
language does not have are shown in English; `MEANT` lists the areas that it should have, and a test checks them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType

from dpengine.messages.language import LANGUAGES, STORED, current
from dpengine.messages.language import language as language
from dpengine.messages.numbers import forms, kept_together, local, to_figures

AREAS = (
    "declare",
    "load",
    "ask",
    "ledger",
    "cards",
    "pages",
    "ledger_page",
    "data_page",
    "looks",
    "plan",
    "whatif",
    "owner",
    "receipts",
    "validity",
    "session",
    "audit_report",
    "operating",
    "audit_page",
    "lessons",
    "lessons_more",
    "workshop",
    "glossary",
    "about",
    "publish",
    "shuffle",
    "publish_page",
    "trust_page",
    "trust_honest",
    "lessons_trust",
    "lessons_descent",
    "lessons_linkage",
    "curves",
    "synthetic",
    "synthetic_page",
    "density",
    "train",
    "train_page",
    "shapes",
    "model_check",
    "telling",
    "widgets",
    "cuts",
    "vector",
    "answers_page",
    "fit",
    "groups",
    "labels",
    "places",
    "data_lines",
    "overview",
    "board",
    "serving",
    "people",
    "people_page",
    "door",
    "source",
    "practice",
    "sample",
    "reading",
)
LESSON_AREAS = ("lessons", "lessons_more", "lessons_trust", "lessons_descent", "lessons_linkage", "widgets")
MEANT = MappingProxyType({"en": AREAS, "sl": AREAS, "he": tuple(area for area in AREAS if area in LESSON_AREAS)})


def _part(lang: str, area: str) -> dict[str, str]:
    name = f"{__name__}.{lang}.{area}"
    try:
        sentences: dict[str, str] = import_module(name).SENTENCES
    except ModuleNotFoundError as missing:
        if lang == "en" or missing.name not in (name, name.rpartition(".")[0]):
            raise
        return {}  # not translated yet
    return sentences


def own(lang: str) -> dict[str, str]:
    """The sentences that are written in this language."""
    sentences: dict[str, str] = {}
    for area in MEANT[lang]:
        part = _part(lang, area)
        twice = sentences.keys() & part.keys()
        if twice:
            raise ValueError(f"codes defined twice in {lang}: {sorted(twice)}")
        sentences.update(part)
    return sentences


class _Catalogues(Mapping[str, Mapping[str, str]]):
    """Every language's sentences, over the English ones; a language is read when it is first used."""

    def __init__(self) -> None:
        self._read: dict[str, Mapping[str, str]] = {}

    def __getitem__(self, lang: str) -> Mapping[str, str]:
        if lang not in self._read:
            self._read[lang] = MappingProxyType(own(lang) if lang == STORED else {**self[STORED], **own(lang)})
        return self._read[lang]

    def __iter__(self) -> Iterator[str]:
        return iter(LANGUAGES)

    def __len__(self) -> int:
        return len(LANGUAGES)


CATALOGUES: Mapping[str, Mapping[str, str]] = _Catalogues()


def hidden(sign: str) -> bool:
    """Is it a control sign, a line end, or one that changes the direction of text? With such a sign, what is seen is not
    what is there: a name could add a second line to a log, or show a sentence backwards."""
    return sign in _TURNS or unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp")


_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _confined(text: str) -> bool:
    """Has it no hidden signs but complete pairs of isolates, which our own sentences put around formulas? These do not
    affect the text outside."""
    depth = 0
    for sign in text:
        depth += (sign in "\u2066\u2067\u2068") - (sign == "\u2069")
        if depth < 0 or (hidden(sign) and not "\u2066" <= sign <= "\u2069"):
            return False
    return depth == 0


class Automatic(str):
    """A label that a declaration makes by itself, “other”, “no answer”, “yes” or “no”: stored in English and equal to
    those words, shown in the reader’s language. The same word written by a person is shown as it was written: “no” in a
    list of countries is Norway."""

    __slots__ = ()


AUTOMATIC = {
    "other": "value.other",
    "not in the list": "value.not_listed",
    "no answer": "value.no_answer",
    "yes": "value.yes",
    "no": "value.no",
}


def named_in_any_language(label: str) -> list[str]:
    """The words for an automatic label, one for each language that has its own. It reads nothing else of a language."""
    return [part[AUTOMATIC[label]] for lang in LANGUAGES if (part := _part(lang, "labels"))]


_practised: ContextVar[str | None] = ContextVar("practised", default=None)
_in_view: Callable[[], str | None] | None = None
_JOINED = re.compile(r"(, | × | in | ali )")


def practice_in_view(listener: Callable[[], str | None]) -> None:
    """Use the practice table that `listener` names wherever no block names one."""
    global _in_view
    _in_view = listener


@contextmanager
def of_practice(table: str) -> Iterator[None]:
    """In this block names are those of this practice table; of none, if it is empty."""
    before = _practised.set(table)
    try:
        yield
    finally:
        _practised.reset(before)


def _translated(text: str) -> str:
    """A name or value of the practice table in view, in the reader's language; everything else as it is. Names that
    somebody gave to a table of their own are never translated."""
    if current() == STORED:
        return text
    asked = _practised.get()
    table = asked if asked is not None else _in_view() if _in_view else None
    if not table:
        return text
    words = CATALOGUES[current()]
    if found := words.get(f"practice.{table}" if text == table else f"practice.{table}.{text}"):
        return found
    parts = _JOINED.split(text)
    if len(parts) == 1 or any(f"practice.{table}.{part}" not in words for part in parts[::2]):
        return text
    return "".join(words.get(f"practice.{table}.{part}", part) for part in parts)


def called(label: str) -> str:
    """A label, or a column of a practice table, as the reader calls it; what is stored stays as it is."""
    if isinstance(label, Automatic):
        return say(AUTOMATIC[label]) if current() != STORED else label
    return _translated(label)


def shown(labels: Iterable[str]) -> dict[str, str]:
    """Stored labels that the reader calls by other words, with these."""
    return {label: words for label in labels if (words := called(label)) != label}


def plain(value: object) -> str:
    """A public fact as a person writes it: 1234567 as 1,234,567, one third as 0.333; in one line."""
    if isinstance(value, Automatic):
        return called(value)
    if isinstance(value, bool):
        return say("plain.yes" if value else "plain.no")
    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    if isinstance(value, int):
        return local(f"{value:,}")
    if isinstance(value, float):
        if value and (abs(value) < 1e-4 or abs(value) >= 1e15):
            return to_figures(value, 3)
        text = f"{value:,.6f}" if abs(value) < 10 else f"{value:,.3f}"
        return local(text.rstrip("0").rstrip("."))
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(item) for item in value)
    text = _translated(str(value))
    if text.isprintable() or _confined(text):
        return text
    return "".join(" " if sign in "\t\r\n" else "\ufffd" if hidden(sign) else sign for sign in text)


_TWICE = re.compile(r"(?<![.…])([.…])\.(?=\s|$)")  # a name that ends in a full stop, at the end of a sentence


def say(code: str, /, **facts: object) -> str:
    """The sentence for `code` in the current language, filled with public facts."""
    lang = current()
    sentence = CATALOGUES[lang][code]
    if not facts:
        return _without_facts(sentence, lang)
    words = {name: plain(value) for name, value in facts.items()}
    text = kept_together(forms(sentence, words).format_map(words))
    return _TWICE.sub(r"\1", text) if ".." in text or "…." in text else text


@lru_cache(maxsize=2**13)
def _without_facts(sentence: str, lang: str) -> str:
    """A sentence in the current language. Kept, since a page says a hundred of them: words of the catalogue alone."""
    return kept_together(forms(sentence, {}).format_map({}))


def written_day(iso: str) -> str:
    """A day as it stands in a letter: 16 November 2026; what is no day stays as it is."""
    try:
        parsed = date.fromisoformat(iso)
    except ValueError:
        return iso
    facts = {"day": str(parsed.day), "month": say(f"month.{parsed.month}"), "year": str(parsed.year)}
    return say("day.written", **facts)


def known(code: str) -> bool:
    return code in CATALOGUES[current()]
