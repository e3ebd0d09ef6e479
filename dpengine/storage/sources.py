"""How a table that came from a database can be brought again: its connection, with the password, in one file.

The file lies in the table's own folder, readable by its user alone, and goes with the rows when the table is forgotten.
It is in no backup: whoever restores one says the connection again. Nothing else that is stored holds any of it; the
registry has keyed marks of the address (marks.py), which say nothing to who does not hold the key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.declared.source import USUAL_PORT, Source
from dpengine.intake import in_place
from dpengine.statistics.engines import PostgresRows, SparkRows

CONNECTION = "connection.json"
_MADE = "made"


def keep(folder: Path, source: Source, made: str = "") -> None:
    """Write the file, with what the coded table in a database was when it was `made`; one of an earlier reading is
    replaced."""
    place = folder / CONNECTION
    fresh = place.with_suffix(".new")
    with suppress(FileNotFoundError):
        fresh.unlink()
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(source.kept() | {_MADE: made}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, place)
    except OSError:
        raise AllowanceError("load.unwritable") from None


def kept(folder: Path) -> Source | None:
    """The connection of a table; None where it came by another way, or from a backup."""
    return _read(folder)[0]


def _read(folder: Path) -> tuple[Source | None, str]:
    """The connection, and what the coded table was when it was made: nothing is known of those of earlier versions."""
    try:
        told = json.loads((folder / CONNECTION).read_text(encoding="utf-8"))
        return Source.from_kept(told), str(told.get(_MADE, ""))
    except (OSError, ValueError, KeyError, TypeError):
        return None, ""


def coded_name(folder: Path, version: int = 1) -> str:
    """What the coded rows of a table are called in its database: the folder's random name, which says nothing."""
    return f"t_{folder.name}_{version}"


def coded_there(folder: Path, version: int) -> PostgresRows | SparkRows | None:
    """Where the coded rows of a table lie whose rows did not leave their database or lake; None of every other."""
    source, made = _read(folder)
    if source is None or not source.in_place:
        return None
    if source.spark:
        return SparkRows(str(folder / f"coded-{version}.parquet"), source.spark)
    return PostgresRows(in_place.OURS, coded_name(folder, version), source.url, made)


def drop_there(folder: Path) -> None:
    """Delete what a database holds of a table's coded rows, before its folder is deleted."""
    source = kept(folder)
    if source is not None and source.in_place and not source.spark:
        in_place.drop(source, coded_name(folder))


def refuse_elsewhere(source: Source, allowed: Sequence[str] | None, served: bool) -> None:
    """Whoever names an address makes this machine connect to it, with what it can reach. Where people sign in, only
    hosts that its operator named are: `host` or `host:port`. On a laptop, whose user can reach them anyway, all are."""
    if allowed is None and not served:
        return
    if source.spark:  # it reads any file that the server can
        raise AllowanceError("source.not_allowed")
    hosts = {one.strip().lower() for one in allowed or ()}
    usual = {source.host, f"[{source.host}]"} if source.port == USUAL_PORT else set()
    if not hosts & {source.where, *usual}:
        raise AllowanceError("source.not_allowed")
