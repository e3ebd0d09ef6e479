"""A thread imports the engine and opens the workspace while the browser loads the page. The first run of ui/main.py
waits for it: two threads never import at the same time."""

from __future__ import annotations

import gc
import threading
from contextlib import suppress

_thread: threading.Thread | None = None


def begin() -> None:
    global _thread
    _thread = threading.Thread(target=_get_ready, daemon=True, name="first screen")
    _thread.start()


def wait() -> None:
    if _thread is not None:
        _thread.join()


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
