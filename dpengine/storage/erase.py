"""How a table's rows leave the disk, and what is swept up behind programs that were killed.

Forgetting is written in the ledger first, so nothing more is asked of the table; then its folder goes: the raw rows,
every coding of them, what was derived, and what DuckDB spilled there. A kill in between is made good at the next start.
The registry keeps the declaration and the keyed fingerprint: old answers still open, the name stays taken, and the
same content uploaded again finds its old budget. A table that was published stays too: it is an answer, paid for, and
others may hold it already. What a disk or a backup keeps of deleted files is beyond this program.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.storage.workers import alive

_TRIES = 5


def erase(folder: Path) -> None:
    """Out of reach in one step, then deleted. A question under way may still be writing there: look again."""
    gone = folder.with_name(f"gone-{secrets.token_hex(8)}")
    try:
        folder.rename(gone)
    except FileNotFoundError:
        return  # done before
    except OSError:
        raise AllowanceError("forget.left") from None
    for _ in range(_TRIES):
        shutil.rmtree(gone, ignore_errors=True)
        if not gone.exists():
            return
    raise AllowanceError("forget.left")


def spill_folder(folder: Path, worker: str) -> Path:
    """Where the engine of this worker may spill rows of any table: in no table's own folder."""
    return folder / "tmp" / f"spill-{worker}"


def sweep(home: Path, known: Iterable[str]) -> None:
    """Remove folders of no known table, and what killed processes spilled."""
    kept = set(known)
    for folder in (home / "tables").iterdir():
        if folder.name not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    sweep_spill(home)


def sweep_spill(home: Path) -> None:
    """What is left by workers that live no more, and by versions that named these folders otherwise."""
    for folder in (home / "tmp").glob("spill-*"):
        named = re.fullmatch(r"spill-([0-9a-f]+)(-[0-9a-f]{8})?", folder.name)
        if named and (named[2] or not alive(home, named[1])):
            shutil.rmtree(folder, ignore_errors=True)


def sweep_published(folder: Path, known: Callable[[], set[str]]) -> None:
    """Remove what is no answer: a release was killed while it wrote. The files are listed before the ledger is read:
    whoever writes one was charged before, so none that is being made is taken for one that was left."""
    found = list(folder.iterdir()) if folder.is_dir() else []
    kept = known() if found else set()
    for file in found:
        if file.with_suffix(".parquet").name not in kept:
            file.unlink(missing_ok=True)
