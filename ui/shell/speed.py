"""What takes time and need not be waited for: garbage collection, imports for the first question, and work that
Streamlit repeats at every click.

Streamlit would collect after every run of a script or fragment, and walk everything ever imported: a tenth of a second,
thirty times over in a class. That is switched off (`postScriptGC` in .streamlit/config.toml). Instead we freeze what
exists after the start, and a thread collects every few seconds what runs leave behind. Once the first page is drawn,
another thread imports what a question needs. (What the other pages need: ui/first_screen.py.)
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import threading
import time
from collections.abc import Callable, ItemsView, Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

from streamlit import runtime
from streamlit.runtime import app_session
from streamlit.runtime.state.safe_session_state import SafeSessionState

import dpengine as dp

_EVERY, _IDLE = 5.0, 60.0  # seconds
_DRAWN = 1.0  # for the browser to show the first page
_IMPORTED = 20.0  # for what is being imported when the app ends
_once, _tidied = threading.Lock(), threading.Lock()
_ran = threading.Event()
_lightened = False


def settle(prepare: Callable[[], None] | None = None, again: bool = False) -> None:
    """Freeze what exists, and start the imports. The frame calls this after each run of a page, and only the first call
    does something; with `again`, once a workshop's tables are loaded, a later call freezes once more. `prepare` imports
    the engine if the first page did without it."""
    _ran.set()
    if runtime.exists() and _tidied.acquire(blocking=False):
        threading.Thread(target=_tidy, name="garbage", daemon=True).start()
    if _once.acquire(blocking=False):
        atexit.register(gc.unfreeze)  # some libraries count live objects at exit
        if runtime.exists():
            ready = threading.Thread(target=_import_for_questions, args=(prepare,), name="ready", daemon=True)
            ready.start()
            atexit.register(ready.join, _IMPORTED)  # cut off in an import, it would never let go of Python's lock
    elif not again:
        return
    gc.collect()
    gc.freeze()


def _import_for_questions(prepare: Callable[[], None] | None) -> None:
    """Import the engine, its questions, the noise and the pictures, and load the sample of the first question."""
    time.sleep(_DRAWN)
    if prepare is not None:
        prepare()
    from dpengine.noise import coins
    from dpengine.statistics.engines import statements
    from ui.shell import person, state

    with suppress(dp.AllowanceError):  # a page says it
        if not person.served():
            state.workspace().record(state.FIRST_TABLE)
            state.workspace().engine.duck.get_ready()
    statements.get_ready()
    coins.get_ready()
    len(dp.catalogue)
    import streamlit.emojis  # noqa: F401  # of the first row of choices

    gc.collect()  # what was imported stays: a collection that walks it stops every page for as long
    gc.freeze()


def _tidy() -> None:
    while True:
        if _ran.wait(_IDLE):  # otherwise the app is idle, and old sessions may have ended
            _ran.clear()
            time.sleep(_EVERY)
        else:
            _let_go()
        gc.collect()
        with suppress(OSError, AttributeError):  # only glibc needs this call to return freed memory
            ctypes.CDLL(None).malloc_trim(0)


def _let_go() -> None:
    """Expire ended sessions. Streamlit keeps a session for two minutes after its visitor left, and then until another
    visitor leaves. On an idle server, Streamlit would keep the last sessions for ever."""
    with suppress(AttributeError, RuntimeError):  # Streamlit's private attributes may be renamed
        here = runtime.get_instance()
        sessions: Any = here._session_mgr
        here._get_async_objs().eventloop.call_soon_threadsafe(sessions._session_storage._cache.expire)
        time.sleep(_EVERY)


# Two private parts of Streamlit, replaced once by parts that do the same with less work. Both names are tested.


class StateAsAsked(Mapping[str, Any]):
    """A session's state, of which a key is looked up when somebody asks for it. Streamlit copies the whole state for
    each picker and field, only to ask for one key."""

    def __init__(self, state: SafeSessionState, whole: Callable[[SafeSessionState], dict[str, Any]]) -> None:
        self._state, self._whole = state, whole

    def __contains__(self, key: object) -> bool:
        return str(key) in self._state

    def __getitem__(self, key: str) -> Any:
        return self._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole(self._state))

    def __len__(self) -> int:
        return len(self._whole(self._state))

    def items(self) -> ItemsView[str, Any]:
        return self._whole(self._state).items()


def once_each(fill: Callable[..., None]) -> Callable[..., None]:
    """`fill` writes a section of the configured look into a message. Streamlit has it written anew for each click,
    although no section changes while the app runs; here each is written once and copied."""
    written: dict[str, Any] = {}

    def copied(message: Any, section: str = "theme") -> None:
        if section not in written:
            written[section] = type(message)()
            fill(written[section], section)
        if written[section].ListFields():
            message.MergeFrom(written[section])

    return copied


def lighten() -> None:
    """Replace the two parts, once. The app calls this when it starts to serve."""
    global _lightened
    if _lightened:
        return
    _lightened = True
    state, messages = cast(Any, SafeSessionState), cast(Any, app_session)
    read = state.filtered_state.fget
    state.filtered_state = property(lambda now: StateAsAsked(now, read))
    messages._populate_theme_msg = once_each(messages._populate_theme_msg)
