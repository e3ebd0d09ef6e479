"""The signed-in person, for pages.

The sign-in middleware (ui/auth/middleware.py) names the person in a header of the request that opens the socket, and
drops any such header from the browser. Callbacks and fragments read the same header. When people sign in, a session
without a name belongs to nobody and can do nothing.
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
_sessions: OrderedDict[str, str] = OrderedDict()  # the person of each Streamlit session


def serve() -> None:
    """Require from now on that every session belongs to a person."""
    _serving.set()


def served() -> bool:
    return _serving.is_set()


def person() -> str | None:
    """The signed-in person; None if nobody signs in here, as on a laptop. Refuses if the person is unknown."""
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
    with _lock:
        return _sessions.get(session)


def owns(who: str, session: str) -> bool:
    return owner(session) == who


def leave(who: str) -> None:
    """Stop all this person's sessions from being resumed: they show what the person's old rights allowed."""
    with _lock:
        for session in [session for session, owner in _sessions.items() if owner == who]:
            del _sessions[session]
