"""Which language is spoken: the one a block asks for, else the listener's, else English.

The listener is whoever the frame above speaks to; it is asked at each sentence, because a page, a callback and a
fragment may run on different threads. What is stored speaks English (`stored`), so that a row means the same to all.
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
    """Ask `listener` wherever no block says otherwise."""
    global _listener
    _listener = listener


def current() -> str:
    return _asked_for.get() or (_listener() if _listener else None) or STORED


class _Language:
    """`language.get()` is the language spoken now: for keys of what is kept between readers."""

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
    """Names and sentences that go into a row, or are compared with one."""
    return speaking(STORED)


def carried(work: Callable[Given, Made]) -> Callable[Given, Made]:
    """The same work for another thread: its sentences stay in the language of whoever handed it over."""
    lang = current()

    def run(*args: Given.args, **named: Given.kwargs) -> Made:
        with speaking(lang):
            return work(*args, **named)

    return run
