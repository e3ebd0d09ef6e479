"""Which language sentences are in: the one a `with` block asks for, else the reader's, else English.

The user interface says who the reader is; it is asked for each sentence, because a page, a callback and a fragment may
run on different threads. What is stored is in English (`stored`), so that a row means the same to all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")

LANGUAGES = ("en", "sl", "he")
STORED = "en"

_asked_for: ContextVar[str | None] = ContextVar("language", default=None)
_listener: Callable[[], str | None] | None = None


def by_default(listener: Callable[[], str | None]) -> None:
    """Use the language that `listener` returns wherever no block says otherwise."""
    global _listener
    _listener = listener


def current() -> str:
    return _asked_for.get() or (_listener() if _listener else None) or STORED


class _Language:
    """`language.get()` is the current language, for the keys of caches that readers share."""

    get = staticmethod(current)


language = _Language()


@contextmanager
def speaking(lang: str) -> Iterator[None]:
    before = _asked_for.set(lang)
    try:
        yield
    finally:
        _asked_for.reset(before)


def stored() -> AbstractContextManager[None]:
    """For names and sentences that are stored in a row, or compared with one."""
    return speaking(STORED)


def carried(work: Callable[Given, Made]) -> Callable[Given, Made]:
    """The same function for another thread: its sentences stay in the language of the thread that passed it on."""
    lang = current()

    def run(*args: Given.args, **named: Given.kwargs) -> Made:
        with speaking(lang):
            return work(*args, **named)

    return run
