"""Who has a workspace open: a kernel lock on `open.lock`, shared by programs that use it, exclusive for recovery."""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path

from dpengine.core.errors import AllowanceError


class Hold:
    """Held until released, or until the process ends in any way."""

    def __init__(self, folder: Path, alone: bool = False) -> None:
        handle = os.open(folder / "open.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise AllowanceError("workspace.in_use" if alone else "workspace.mending") from None
        self.let_go = weakref.finalize(self, os.close, handle)
