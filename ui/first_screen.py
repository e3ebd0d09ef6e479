"""A thread imports the engine and opens the workspace. Every page waits for that thread, so two threads never import at
the same time. The thread begins while the browser loads the page; where there is no workspace yet, after the page Start
is drawn, which does not need the engine (ui/shell/speed.py)."""

from __future__ import annotations

import gc
import threading
from contextlib import suppress

_thread: threading.Thread | None = None
_lock = threading.Lock()


def begin() -> None:
    """Start the thread that imports the engine and opens the workspace, once."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_get_ready, daemon=True, name="first screen")
            _thread.start()


def wait_if_begun() -> None:
    if _thread is not None:
        _thread.join()


def finish() -> None:
    begin()
    wait_if_begun()


def _get_ready() -> None:
    try:
        from dpengine.ledger import sqlite_file

        sqlite_file.import_library()
        from ui.data import wizard  # noqa: F401
        from ui.learn import why  # noqa: F401
        from ui.people import names  # noqa: F401
        from ui.shell import person, state
        from ui.workshop import workshop

        with suppress(Exception):  # the first page meets the same error, and says it in a sentence
            if not person.served():
                state.workspace()
        workshop.warm()
    finally:
        gc.freeze()  # what was imported stays
        gc.enable()
