"""Free space and block size of a workspace's disk, checked before every charge: if the disk were full when the answer
is stored, the charge would stand and nobody would have the answer."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from dpengine.core.errors import AllowanceError

KEPT_FREE = 16 * 2**20  # bytes: room for answers being computed, a published table, and the ledger's own log
_PAGE = 4096


def refuse_full(folder: Path) -> None:
    """Refuse new questions once little space is left: running ones need it. A disk that does not report its free space
    counts as large enough."""
    if nearly_full(folder):
        raise AllowanceError("ledger.full", megabytes=KEPT_FREE // 2**20)


def nearly_full(folder: Path) -> bool:
    try:
        disk = shutil.disk_usage(folder)
    except OSError:
        return False  # writing there gives an error of its own
    return disk.total > 0 and disk.free < KEPT_FREE


def small_blocks(folder: Path) -> bool:
    """Are the disk's blocks smaller than a memory page? SQLite writes one byte per page of its shared-memory file. Such
    a file would then have holes, and on a full disk the kernel kills a process that touches one (SIGBUS). Windows does
    not."""
    blocks = getattr(os, "statvfs", None)
    try:
        return blocks is not None and blocks(folder).f_bsize < _PAGE
    except OSError:
        return False
