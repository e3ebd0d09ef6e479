"""Work that takes seconds, off the page: the page hands it over, shows how far it is, and never holds it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from dpengine.core.errors import AllowanceError
from dpengine.messages.language import carried

Work = Callable[[Callable[[float], None]], Any]


class Task:
    """One piece of work on a thread of its own. `share` goes from 0 to 1; then `result` or `error` is there."""

    def __init__(self, purpose: str, work: Work, stoppable: bool = True) -> None:
        self.purpose = purpose
        self.stoppable = stoppable
        self.share = 0.0
        self._stopped = False
        self.result: Any = None
        self.error: AllowanceError | None = None
        self._over = threading.Event()
        threading.Thread(target=self._run, args=(carried(work),), name=f"data-{purpose}", daemon=True).start()

    def _run(self, work: Work) -> None:
        try:
            self.result = work(self._tell)
        except AllowanceError as refusal:
            self.error = refusal.with_traceback(None)  # its frames may hold cells
        except Exception as fault:  # its text may hold a cell: only its kind goes to the log
            logging.getLogger("allowance").error("%s a table failed: %s", self.purpose, type(fault).__name__)
            self.error = AllowanceError("data.failed")
        finally:
            self._over.set()

    def _tell(self, share: float) -> None:
        if self._stopped:
            raise AllowanceError("load.cancelled")  # the loader removes what it wrote
        self.share = min(max(share, self.share), 1.0)

    def stop(self) -> None:
        """Ask the work to end at its next step."""
        self._stopped = True

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def wait(self, seconds: float) -> bool:
        return self._over.wait(seconds)
