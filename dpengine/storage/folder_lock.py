"""Who has a workspace open: a kernel lock on `open.lock`, shared by programs that use it, exclusive for recovery."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from dpengine.core import files
from dpengine.core.errors import AllowanceError


class Hold:
    """Held until released, or until the process ends in any way."""

    def __init__(self, folder: Path, alone: bool = False) -> None:
        handle = files.private(folder / "open.lock", os.O_RDWR | os.O_CREAT)
        try:
            held = files.lock(handle, shared=not alone, wait=False)
        except OSError:
            held = False
        if not held:
            os.close(handle)
            raise AllowanceError("workspace.in_use" if alone else "workspace.mending")
        self.let_go = weakref.finalize(self, os.close, handle)
