"""Which language a visitor reads: the address says it, else it was chosen before, else the browser's, else English.

A choice stays in the address, so that a link can be given to somebody in their language, and in a cookie that any page
with `?lang=` sets (ui/shell/web.py).
"""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpengine.messages import MEANT, say
from dpengine.messages.language import LANGUAGES, STORED, by_default, current
from ui.shell import web

IN_ADDRESS = "lang"
RIGHT_TO_LEFT = ("he",)
_CHOSEN, _PICKER = "language", "language-picked"
_MOST = 10_000
_spoken: dict[str, str] = {}  # by session: callbacks and fragments run without the frame, and on other threads


def _of_this_session() -> str | None:
    run = get_script_run_ctx(suppress_warning=True)
    return None if run is None else _spoken.get(run.session_id)


by_default(_of_this_session)


def settle() -> None:
    """For this run and whatever follows it in this session."""
    lang = _ours(st.query_params.get(IN_ADDRESS)) or _ours(st.session_state.get(_CHOSEN))
    lang = lang or _ours(web.read_cookie(IN_ADDRESS))
    if lang:
        st.session_state[_CHOSEN] = lang
        if st.query_params.get(IN_ADDRESS) != lang:
            st.query_params[IN_ADDRESS] = lang
    _speak(lang or _ours(st.context.locale) or STORED)


def address(wanted: dict[str, str], again: bool = False) -> None:
    """What the address says of a view, the chosen language beside it. It is left alone where it says so already, since
    each change is a step in the browser's history; `again` writes it all the same."""
    wanted = wanted | in_address()
    if again or dict(st.query_params) != wanted:
        st.query_params.from_dict(wanted)


def in_address() -> dict[str, str]:
    """The language somebody chose, as part of an address; nothing where nobody did."""
    lang = st.session_state.get(_CHOSEN)
    return {IN_ADDRESS: lang} if lang else {}


def _ours(wanted: object) -> str | None:
    """One of ours, also where a browser names a country: sl-SI."""
    name = str(wanted or "").split("-")[0].lower()
    return name if name in LANGUAGES else None


def _speak(lang: str) -> None:
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return
    _spoken.pop(run.session_id, None)
    _spoken[run.session_id] = lang
    while len(_spoken) > _MOST:
        del _spoken[next(iter(_spoken))]


def pick() -> None:
    """The languages, small, at the right end of the head."""
    with st.container(key="language", width="content"):
        with st.popover(say(f"language.name.{current()}"), key="language-open", help=None):
            st.radio(
                say("language.label"),
                LANGUAGES,
                index=LANGUAGES.index(current()),
                format_func=_name,
                key=f"{_PICKER}-{current()}",
                on_change=_choose,
                args=(f"{_PICKER}-{current()}",),
            )
        web.keep_cookie(IN_ADDRESS, st.session_state.get(_CHOSEN))


def _name(lang: str) -> str:
    return say(f"language.name.{lang}" if MEANT[lang] == MEANT[STORED] else f"language.only.{lang}")


def _choose(widget: str) -> None:
    st.session_state[_CHOSEN] = st.query_params[IN_ADDRESS] = st.session_state[widget]


def day_format() -> Literal["YYYY-MM-DD", "DD.MM.YYYY"]:
    """How a field writes a day."""
    return "DD.MM.YYYY" if current() == "sl" else "YYYY-MM-DD"


def written() -> str:
    """How the words of a lesson run, as attributes of their HTML; Streamlit itself has no mirrored layout."""
    return f' dir="rtl" lang="{current()}"' if current() in RIGHT_TO_LEFT else ""
