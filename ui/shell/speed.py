"""The garbage collector, out of the way of clicks. Streamlit would run it after every run of a script or a fragment,
and that walks everything that was ever imported: a tenth of a second, thirty times over in a class. So that is switched
off (`postScriptGC` in .streamlit/config.toml). What exists once the program has started stays, and is frozen once; what
runs leave behind is collected by a thread of its own, once for all runs of some seconds.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import threading
import time
from contextlib import suppress
from typing import Any

from streamlit import runtime

_EVERY, _IDLE = 5.0, 60.0  # seconds
_once, _tidied = threading.Lock(), threading.Lock()
_ran = threading.Event()


def settle(again: bool = False) -> None:
    """After each run. After the first, and `again` once a workshop's tables are in, what is there is frozen: nobody's
    data is among it yet."""
    _ran.set()
    if runtime.exists() and _tidied.acquire(blocking=False):
        threading.Thread(target=_tidy, name="garbage", daemon=True).start()
    if _once.acquire(blocking=False):
        atexit.register(gc.unfreeze)  # libraries that count what is left at the end find it
    elif not again:
        return
    gc.collect()
    gc.freeze()


def _tidy() -> None:
    while True:
        if _ran.wait(_IDLE):  # else nobody clicks, and sessions of people who left may have ended
            _ran.clear()
            time.sleep(_EVERY)
        else:
            _let_go()
        gc.collect()
        with suppress(OSError, AttributeError):  # glibc keeps freed memory for itself unless it is asked; others do not
            ctypes.CDLL(None).malloc_trim(0)


def _let_go() -> None:
    """Streamlit keeps the session of whoever left for two minutes, in case they come back, and then until the next one
    leaves: with nobody there it would keep all that the last ones held."""
    with suppress(AttributeError, RuntimeError):  # of Streamlit's own parts, which may be called otherwise tomorrow
        here = runtime.get_instance()
        kept: Any = here._session_mgr
        here._get_async_objs().eventloop.call_soon_threadsafe(kept._session_storage._cache.expire)
        time.sleep(_EVERY)
