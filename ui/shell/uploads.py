"""Uploaded files on the server: in the workspace's tmp/, readable by its user only, under a random name, deleted after
use. The browser's file name is never part of a path. The first bytes decide the kind of file.
"""

from __future__ import annotations

import re
import secrets
import shutil
import time
from pathlib import Path
from typing import BinaryIO

from dpengine.core import files
from dpengine.core.errors import AllowanceError
from dpengine.intake.file_kinds import KINDS, PACKED, kind_of, unpack

ONE_DAY = 24 * 60 * 60
_OURS = re.compile(rf"upload-[0-9a-f]{{16}}\.({'|'.join(KINDS)})")


def keep(stream: BinaryIO, size: int, folder: Path, most: int) -> Path:
    """Write the file. Refuses an empty one and one above `most` bytes."""
    if size > most:
        raise AllowanceError("data.file.large", most=most // 2**20)
    stream.seek(0)
    if not stream.read(1):
        raise AllowanceError("load.empty")
    path = folder / f"upload-{secrets.token_hex(8)}.{kind_of(stream)}"
    try:
        with files.create(path) as target:
            shutil.copyfileobj(stream, target, 1 << 20)
    except OSError:
        path.unlink(missing_ok=True)
        raise AllowanceError("load.unwritable") from None
    return path


def opened(path: Path, folder: Path) -> Path:
    """The file itself; for a packed one, what is in it, as an upload of its own. A packed upload is deleted."""
    if path.suffix.lower().lstrip(".") not in PACKED:
        return path
    try:
        return unpack(path, folder, f"upload-{secrets.token_hex(8)}")
    finally:
        drop(path)


def waiting(folder: Path) -> list[Path]:
    """Tables and folders of tables in the owner's folder for large files. Links are not followed."""
    from dpengine.intake.inspect import SUFFIXES

    if not folder.is_dir():
        return []
    visible = (path for path in folder.iterdir() if not path.is_symlink() and not path.name.startswith("."))
    return sorted(path for path in visible if path.is_dir() or (path.is_file() and path.suffix.lower() in SUFFIXES))


def drop(path: Path | None) -> None:
    if path is not None and _OURS.fullmatch(path.name):
        path.unlink(missing_ok=True)


def is_deleted_upload(path: Path) -> bool:
    """Was this an upload that is now deleted?"""
    return bool(_OURS.fullmatch(path.name)) and not path.exists()


def sweep(folder: Path, older_than: float = ONE_DAY) -> None:
    """Delete unfinished uploads."""
    for path in folder.glob("upload-*"):
        try:
            if _OURS.fullmatch(path.name) and time.time() - path.stat().st_mtime > older_than:
                path.unlink()
        except OSError:
            continue  # another process deleted it first
