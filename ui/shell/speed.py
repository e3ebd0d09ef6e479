"""Streamlit runs the garbage collector after every run of a script or a fragment, and that walks everything that was
ever imported: a tenth of a second, thirty times over in a class. What exists once the program has started stays, so it
is frozen once, and later collections look only at newer objects.
"""

from __future__ import annotations

import atexit
import gc
import threading

_once = threading.Lock()


def settle(again: bool = False) -> None:
    """After the first page was drawn, and `again` once a workshop's tables are in: nobody's data is there yet."""
    if _once.acquire(blocking=False):
        atexit.register(gc.unfreeze)  # libraries that count what is left at the end find it
    elif not again:
        return
    gc.collect()
    gc.freeze()
