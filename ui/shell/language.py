"""The visitor's language: from the address, else chosen before, else the browser's, else English.

A choice stays in the address, so that shared links keep their language, and in a cookie (ui/shell/web.py).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Literal

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpengine.messages import MEANT, say
from dpengine.messages.language import LANGUAGES, STORED, by_default, current, speaking
from ui.shell import web

IN_ADDRESS = "lang"
RIGHT_TO_LEFT = ("he",)
_CHOSEN, _PICKER = "language", "language-picked"
_MOST = 10_000


class BySession:
    """One word kept for each session, because callbacks and fragments run without the frame on other threads."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}

    def now(self) -> str | None:
        run = get_script_run_ctx(suppress_warning=True)
        return None if run is None else self.words.get(run.session_id)

    def keep(self, word: str) -> None:
        run = get_script_run_ctx(suppress_warning=True)
        if run is None:
            return
        self.words.pop(run.session_id, None)
        self.words[run.session_id] = word
        while len(self.words) > _MOST:
            self.words.pop(next(iter(self.words)), None)


_spoken = BySession()
by_default(_spoken.now)


def settle() -> None:
    """Set the language for this run and the rest of the session."""
    lang = _ours(st.query_params.get(IN_ADDRESS)) or _ours(st.session_state.get(_CHOSEN))
    lang = lang or _ours(web.read_cookie(IN_ADDRESS))
    if lang:
        st.session_state[_CHOSEN] = lang
        if st.query_params.get(IN_ADDRESS) != lang:
            st.query_params[IN_ADDRESS] = lang
    _spoken.keep(lang or _ours(st.context.locale) or STORED)


def kept() -> AbstractContextManager[None]:
    """A context with one language while a page is drawn, so that it is not looked up for each of the page's hundreds of
    sentences."""
    return speaking(current())


def address(wanted: dict[str, str], again: bool = False) -> None:
    """Write a view and the chosen language into the address. An equal address is left alone, because each write adds to
    the browser's history; `again` writes anyway."""
    wanted = wanted | in_address()
    if again or dict(st.query_params) != wanted:
        st.query_params.from_dict(wanted)


def in_address() -> dict[str, str]:
    """The chosen language as part of an address; empty if none was chosen."""
    lang = st.session_state.get(_CHOSEN)
    return {IN_ADDRESS: lang} if lang else {}


def _ours(wanted: object) -> str | None:
    """The language if it is one of ours, also from a browser's regional form such as sl-SI; else None."""
    name = str(wanted or "").split("-")[0].lower()
    return name if name in LANGUAGES else None


def pick(at_once: bool) -> None:
    """Draw the language picker at the right of the head; its window only while it is open, or `at_once`."""
    more: Any = {"key": "language-open", "on_change": "ignore" if at_once else "rerun"}
    with st.container(key="language", width="content"):
        with st.popover(say(f"language.name.{current()}"), **more) as window:
            if at_once or window.open:
                _choices()
        web.keep_cookie(IN_ADDRESS, st.session_state.get(_CHOSEN))


def _choices() -> None:
    label, now, key = say("language.label"), LANGUAGES.index(current()), f"{_PICKER}-{current()}"
    st.radio(label, LANGUAGES, now, _name, key, on_change=_choose, args=(key,))


def _name(lang: str) -> str:
    return say(f"language.name.{lang}" if MEANT[lang] == MEANT[STORED] else f"language.only.{lang}")


def _choose(widget: str) -> None:
    st.session_state[_CHOSEN] = st.query_params[IN_ADDRESS] = st.session_state[widget]


def day_format() -> Literal["YYYY-MM-DD", "DD.MM.YYYY"]:
    return "DD.MM.YYYY" if current() == "sl" else "YYYY-MM-DD"


def written() -> str:
    """HTML attributes for the text direction of a lesson, as Streamlit has no mirrored layout."""
    return f' dir="rtl" lang="{current()}"' if current() in RIGHT_TO_LEFT else ""
