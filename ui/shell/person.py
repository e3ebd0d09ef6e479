"""Who is signed in, as a page asks it.

The porter (ui/auth/middleware.py) tells a session who it is for in a header of the request that opened its socket; what
a browser itself writes there never comes through. Callbacks and fragments ask the same way. Where the app is served,
a session that the porter has not named is nobody's, and nobody can do nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpengine.core.errors import AllowanceError

HEADER = "x-allowance-person"
_MOST = 10_000
_lock = threading.Lock()
_serving = threading.Event()
_sessions: OrderedDict[str, str] = OrderedDict()  # whose each session of Streamlit is


def serve() -> None:
    """From now on every session must be somebody's."""
    _serving.set()


def served() -> bool:
    return _serving.is_set()


def person() -> str | None:
    """Who is signed in; None on a laptop, where nobody signs in. Refuses where it cannot be told."""
    if not served():
        return None
    named = st.context.headers.get(HEADER)
    run = get_script_run_ctx(suppress_warning=True)
    if not named or run is None:
        raise AllowanceError("porter.nobody")
    with _lock:
        owner = _sessions.setdefault(run.session_id, named)
        while len(_sessions) > _MOST:
            _sessions.popitem(last=False)
    if owner != named:
        raise AllowanceError("porter.nobody")
    return named


def owner(session: str) -> str | None:
    """Whose this session of Streamlit is, by its id."""
    with _lock:
        return _sessions.get(session)


def owns(who: str, session: str) -> bool:
    return owner(session) == who


def leave(who: str) -> None:
    """None of this person's sessions can be taken up again: what they show was drawn for somebody with other rights."""
    with _lock:
        for session in [session for session, owner in _sessions.items() if owner == who]:
            del _sessions[session]
