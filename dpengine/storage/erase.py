"""Deletes a table's rows from disk, and cleans up after killed programs.

Forgetting is recorded in the ledger first, so that no more questions are accepted. Then the table's folder is deleted:
the raw rows, every coding of them, everything derived, and what DuckDB spilled there. If the process is killed in
between, the next start finishes the work. The registry keeps the declaration and the keyed fingerprint: old answers
still open, the name stays taken, and the same content uploaded again is charged to its old budget. A published table
stays too: it is a paid answer, and others may already have it. This program cannot reach what a disk or a backup keeps
of deleted files.
"""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.storage.workers import alive

_TRIES = 5
ABANDONED = 24 * 3600.0  # seconds: nobody takes as long to write a file of a table


def erase(folder: Path) -> None:
    """Rename the folder in one step, then delete it; once more if a running question wrote into it meanwhile."""
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
    """The folder where this worker's engine writes rows of any table that exceed memory. It is outside the tables' own
    folders."""
    return folder / "tmp" / f"spill-{worker}"


def sweep(home: Path, known: Iterable[str]) -> None:
    """Remove the folders of tables that are not `known`, files that killed processes left half written, and rows that
    these processes spilled to disk."""
    kept = set(known)
    for folder in (home / "tables").iterdir():
        if folder.name not in kept:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        for part in folder.glob(".*"):
            with suppress(OSError):  # another process has finished it
                if time.time() - part.stat().st_mtime > ABANDONED:
                    shutil.rmtree(part) if part.is_dir() else part.unlink()
    sweep_spill(home)


def sweep_spill(home: Path) -> None:
    """Remove the rows that workers spilled to disk, if they have stopped."""
    for folder in (home / "tmp").glob("spill-*"):
        named = re.fullmatch(r"spill-([0-9a-f]+)", folder.name)
        if named and not alive(home, named[1]):
            shutil.rmtree(folder, ignore_errors=True)


def sweep_published(folder: Path, known: Callable[[], set[str]]) -> None:
    """Remove published files that are no answer: the release was killed while writing such a file. The files are listed
    before `known` reads the ledger. A file is written only after its charge, so none in progress is removed."""
    files = list(folder.iterdir()) if folder.is_dir() else []
    answers = known() if files else set()
    for file in files:
        if file.with_suffix(".parquet").name not in answers:
            file.unlink(missing_ok=True)
