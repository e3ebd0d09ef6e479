"""`python -m dpengine move FILE` and `arrive FILE`: a workspace goes to another computer in one file.

Only one copy may spend. So `move` writes everything into the file and then marks the folder that is left as a copy: it
opens no more. `arrive` checks every file by its hash and the whole ledger, into a folder without a workspace, and goes
on where the other ended. The file holds rows and the key: guard it like the folder. It can be brought in only once
without spending the allowance twice, which no program can notice: delete it after arrival.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from dpengine.commands import recover
from dpengine.commands.backup import REGISTRY, SECRET, backup, home_of, place_of
from dpengine.commands.ledger_places import LEDGER, place_of_ledger
from dpengine.core import files
from dpengine.core.errors import AllowanceError, Misused
from dpengine.ledger.high_water import Anchor, Mark
from dpengine.ledger.sqlite_file import anchor_path
from dpengine.ledger.store import address_set
from dpengine.messages import say
from dpengine.storage.workers import Hold

_LIST = "allowance.json"
_HEAD = anchor_path(Path(LEDGER)).name
_NAME = re.compile(r"(tables/[0-9a-f]{16}|published)/[A-Za-z0-9_-][A-Za-z0-9._-]*\.parquet")
_PIECE = 1 << 20


def main(arguments: list[str]) -> int:
    home, rest = home_of(arguments)
    if len(rest) != 1 or rest[0].startswith("-"):
        raise Misused
    rows = move(home, Path(rest[0]))
    print(say("move.done", rows=rows, file=rest[0]))
    return 0


def move(home: Path, file: Path) -> int:
    """Write the workspace into a file and close the folder; returns the number of rows in the ledger."""
    if address_set() is not None:
        raise AllowanceError("move.database")
    if file.exists():
        raise AllowanceError("backup.exists", place=str(file))
    Hold(home, alone=True).let_go()  # refuses while the app runs
    staging, part = file.with_name(f"{file.name}.folder"), file.with_name(f"{file.name}.part")
    try:
        _, verdict = backup(home, staging)
        _pack(staging, part, verdict.head)
        with Hold(home, alone=True):
            anchor = Anchor(anchor_path(home / LEDGER))
            mark = anchor.read() or Mark(*verdict.head)
            if (mark.seq, mark.hash) != verdict.head:
                raise AllowanceError("move.meanwhile")
            files.replace(part, file)
            anchor.put(Mark(*verdict.head, copy=True))  # last: until here, nothing has changed
    except OSError:
        raise AllowanceError("backup.failed") from None
    finally:
        part.unlink(missing_ok=True)
        shutil.rmtree(staging, ignore_errors=True)
    return verdict.rows


def arriving(arguments: list[str]) -> int:
    home, rest = place_of(arguments)
    if len(rest) != 1 or rest[0].startswith("-"):
        raise Misused
    rows = arrive(Path(home).resolve(), Path(rest[0]))
    print(say("arrive.done", rows=rows, place=home))
    return 0


def arrive(home: Path, file: Path) -> int:
    """Unpack such a file into an empty place; returns the number of rows in the ledger."""
    if any((home / name).exists() for name in (LEDGER, REGISTRY, SECRET, _HEAD)):
        raise AllowanceError("arrive.taken", place=str(home))
    written: list[Path] = []
    try:
        with zipfile.ZipFile(file) as archive:
            listed, head = _checked(archive)
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            with Hold(home, alone=True):
                for name in sorted(listed, key=lambda name: name != _HEAD):  # first the mark that it is a copy
                    place = home / name
                    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    with archive.open(name) as packed, files.create(place) as target:
                        written.append(place)
                        shutil.copyfileobj(packed, target, _PIECE)
                with closing(place_of_ledger(home)) as place_there:
                    state = recover.look(home, place_there)
                    recover.moved(home, state, head, place_there)
    except BaseException as error:
        for place in written:
            with suppress(OSError):
                place.unlink(missing_ok=True)
        if isinstance(error, FileNotFoundError | IsADirectoryError):
            raise AllowanceError("arrive.missing", file=file.name) from None
        if isinstance(error, zipfile.BadZipFile | ValueError | KeyError | TypeError):
            raise AllowanceError("arrive.damaged", file=file.name) from None
        if isinstance(error, OSError):
            raise AllowanceError("backup.failed") from None
        raise
    return state.rows


def _pack(folder: Path, file: Path, head: tuple[int, str]) -> None:
    sums = {}
    with files.create(file) as target, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"):
            name = path.relative_to(folder).as_posix()
            archive.write(path, name)
            with path.open("rb") as opened:
                sums[name] = _sum(opened)
        archive.writestr(_LIST, json.dumps({"head": head[1], "files": sums}))


def _checked(archive: zipfile.ZipFile) -> tuple[dict[str, str], str]:
    """The archive's files. Refused unless they are those of its list, each with the content noted there."""
    contents = json.loads(archive.read(_LIST))
    sums, head = dict(contents["files"]), str(contents["head"])
    usual = {LEDGER, REGISTRY, SECRET, _HEAD, f"{Path(REGISTRY).stem}.head"}
    if {*sums, _LIST} != set(archive.namelist()) or not {LEDGER, REGISTRY, SECRET, _HEAD} <= sums.keys():
        raise ValueError
    for name, wanted in sums.items():
        if name not in usual and not _NAME.fullmatch(name):
            raise ValueError
        with archive.open(name) as packed:
            if _sum(packed) != wanted:
                raise ValueError
    return sums, head


def _sum(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while piece := file.read(_PIECE):
        digest.update(piece)
    return digest.hexdigest()
