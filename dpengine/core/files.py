"""Files and locks that behave the same on Linux, macOS and Windows.

On Windows a file that is open can be neither replaced nor deleted, and a locked file can be read by its holder alone.
So a lock has a file of its own, with nothing in it. The kernel drops a lock when its holder ends, on a kill too.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from dpengine.core.errors import AllowanceError

_PATIENCE = 5.0  # seconds to wait for a reader on Windows


def private(path: str | os.PathLike[str], flags: int) -> int:
    """An opener for `open(…, opener=private)`: a new file is then readable by its user only."""
    return os.open(path, flags, 0o600)


def create(path: Path) -> BinaryIO:
    """Open a new file, readable by its user only. FileExistsError if there is such a file."""
    return cast(BinaryIO, open(path, "xb", opener=private))


def replace(fresh: Path, place: Path) -> None:
    """Put the finished file `fresh` in the place of another file, in one step. On Windows this waits until readers
    close the other file."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return os.replace(fresh, place)
        except PermissionError:
            if os.name != "nt" or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def put_first(fresh: Path, place: Path) -> None:
    """Move a finished file to an empty place. If another process put a file there first, the other process's file
    stays."""
    try:
        if os.name == "nt":
            os.rename(fresh, place)  # refuses an existing place there, and only there
        else:
            os.link(fresh, place)
    except FileExistsError:
        pass
    finally:
        fresh.unlink(missing_ok=True)


def lock(handle: int, shared: bool = False, wait: bool = True) -> bool:
    """Lock an open file until it is closed. False if somebody else holds the lock and `wait` is off. OSError if the
    disk has no locks."""
    # Imported here: of what `import dpengine.workspace` takes it would be a twentieth.
    from portalocker import AlreadyLocked, LockException, LockFlags
    from portalocker import portalocker as lockers

    if sys.platform == "win32":
        locker = lockers.Win32Locker()  # the usual one gives up after ten seconds
    else:
        locker = lockers.FlockLocker()
    kind = LockFlags.SHARED if shared else LockFlags.EXCLUSIVE
    try:
        locker.lock(handle, kind if wait else kind | LockFlags.NON_BLOCKING)
    except AlreadyLocked:
        return False
    except LockException:
        raise OSError("no locks here") from None
    return True


@contextmanager
def locked(path: Path, shared: bool = False, wait: bool = True) -> Iterator[bool]:
    """A context that holds the lock of this file, which is created if it is missing. Yields False if the lock is taken
    and `wait` is off."""
    with open(path, "ab", opener=private) as file:
        yield lock(file.fileno(), shared, wait)


def after_fork(begin_anew: Callable[[], None]) -> None:
    """Have `begin_anew` called in every forked child, on systems that can fork."""
    if register := getattr(os, "register_at_fork", None):
        register(after_in_child=begin_anew)


# Free space and block size of a workspace's disk, checked before every charge: if the disk were full when the answer
# is stored, the charge would stand and nobody would have the answer.

KEPT_FREE = 16 * 2**20  # bytes: room for answers being computed, a published table, and the ledger's own log
_PAGE = 4096


def refuse_full(folder: Path) -> None:
    """Refuse new questions once little space is left on the folder's disk, since running questions need it. If a disk
    does not report its space, nothing is refused."""
    if nearly_full(folder):
        raise AllowanceError("ledger.full", megabytes=KEPT_FREE // 2**20)


def nearly_full(folder: Path) -> bool:
    try:
        disk = shutil.disk_usage(folder)
    except OSError:
        return False  # writing there gives an error of its own
    return disk.total > 0 and disk.free < KEPT_FREE


def small_blocks(folder: Path) -> bool:
    """Are the disk's blocks smaller than a memory page? SQLite then leaves holes in its shared-memory file, and on a
    full disk the kernel kills a process that touches one (SIGBUS). Windows does not."""
    blocks = getattr(os, "statvfs", None)
    try:
        return blocks is not None and blocks(folder).f_bsize < _PAGE
    except OSError:
        return False
