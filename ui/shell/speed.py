"""Streamlit collects garbage after every run of a script or a fragment, and walks everything that was ever imported to
do so: a tenth of a second, thirty times over in a class. What is there when the program has come up stays there; it is
set aside once, so that a collection looks at what came since.
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
