"""How much room a workspace's disk has, and how its blocks are made: asked before something is begun that would need
room to be finished. A charge whose answer finds no room stays charged, and nobody has the answer."""

from __future__ import annotations

import os
from pathlib import Path

from dpengine.core.errors import AllowanceError

KEPT_FREE = 16 * 2**20  # bytes: answers of questions under way, a table that was published, the ledger's own log
_PAGE = 4096


def refuse_full(folder: Path) -> None:
    """While there is still room for what is under way. A disk that says nothing about itself is believed."""
    if nearly_full(folder):
        raise AllowanceError("ledger.full", megabytes=KEPT_FREE // 2**20)


def nearly_full(folder: Path) -> bool:
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False  # whoever writes there is told
    return disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < KEPT_FREE


def small_blocks(folder: Path) -> bool:
    """Blocks smaller than a page of memory: SQLite's shared memory, of which it writes one byte a page, would have
    holes there, and on a full disk the kernel ends a process that touches one (SIGBUS)."""
    try:
        return os.statvfs(folder).f_bsize < _PAGE
    except OSError:
        return False
