"""The connection of a table that came from a database, with its password, in one file: for loading it again.

The file is in the table's own folder, readable by its user alone, and is deleted with the rows when the table is
forgotten. It is in no backup: whoever restores one enters the connection again. No other stored file holds any of it;
the registry has keyed marks of the address (marks.py), which reveal nothing without the key.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from dpengine.core import files
from dpengine.core.errors import AllowanceError, refusing
from dpengine.declared.dialect import Dialect
from dpengine.declared.source import USUAL_PORT, Joined, Source, split_lake
from dpengine.declared.summary import PersonRows, Staying, tables_of
from dpengine.intake import in_place, in_spark
from dpengine.intake.bring_in import Declared
from dpengine.intake.load import Loaded
from dpengine.statistics.engines import PostgresRows, SparkRows
from dpengine.storage.registry import Record

CONNECTION = "connection.json"
OLDER = 6  # versions of the coded rows stay in a database: questions may still read the earlier ones
_MADE = "made"
_JOINED, _OF_PEOPLE = "joined", "of_people"  # what the table is made of, if not of one table's own rows


def stays(source: object) -> bool:
    """Do the rows of this source stay in their database or lake?"""
    tables = tables_of(source) if isinstance(source, Source | Joined | PersonRows) else []
    return bool(tables) and all(table.in_place for table in tables)


def keep(folder: Path, source: Staying, made: Mapping[int, str] | None = None) -> None:
    """Write the file with a table's connection. `made`: for each version of the coded table in a database, the identity
    that it had when it was created (libpq.AS_MADE); a later change is noticed by it."""
    of_people = {_OF_PEOPLE: source.kept()} if isinstance(source, PersonRows) else {}
    rows = source.rows if isinstance(source, PersonRows) else source
    joined = {_JOINED: rows.kept()} if isinstance(rows, Joined) else {}
    first = tables_of(source)[0]
    place = folder / CONNECTION
    fresh = place.with_suffix(".new")
    with suppress(FileNotFoundError):
        fresh.unlink()
    with refusing("load.unwritable", OSError):
        with open(fresh, "x", encoding="utf-8", opener=files.private) as file:
            json.dump(
                first.kept()
                | {_MADE: {str(version): identity for version, identity in (made or {}).items()}}
                | joined
                | of_people,
                file,
            )
            file.flush()
            os.fsync(file.fileno())
        files.replace(fresh, place)


def kept(folder: Path) -> Source | None:
    """The stored connection of a table. None if the table is not from a database, or its folder came from a backup."""
    return _read(folder)[0]


def kept_alone(folder: Path) -> Source | None:
    """The stored connection, if the table has just one source's own rows (only such a table can be loaded anew); else
    None."""
    source = made_of(folder)
    return source if isinstance(source, Source) else None


def made_of(folder: Path) -> Staying | None:
    """What a table is made of: a source's rows, two joined sources, or one row a person of either. None if no
    connection is stored."""
    source = kept(folder)
    if source is None:
        return None
    try:
        data = json.loads((folder / CONNECTION).read_text(encoding="utf-8"))
        of_people = data.get(_OF_PEOPLE)
        dialect = Dialect.from_json(of_people["dialect"]) if of_people else Dialect()
        rows = Joined.from_kept(source, data[_JOINED], dialect) if _JOINED in data else source
        return PersonRows.from_kept(rows, of_people) if of_people else rows
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read(folder: Path) -> tuple[Source | None, dict[int, str]]:
    """The connection, and for each version of the coded table its identity when it was created."""
    try:
        data = json.loads((folder / CONNECTION).read_text(encoding="utf-8"))
        return Source.from_kept(data), {int(version): str(identity) for version, identity in data[_MADE].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None, {}


def kept_there(folder: Path) -> Source | None:
    """The connection of a table whose rows stayed in their database or lake; None for any other table."""
    source = kept(folder)
    return source if source is not None and source.in_place else None


def coded_name(folder: Path, version: int = 1) -> str:
    """The name of a table's coded rows in its database: it contains the folder's random name, which reveals nothing."""
    return f"t_{folder.name}_{version}"


def coded_there(folder: Path, version: int, most: int | None) -> PostgresRows | SparkRows | None:
    """The address of a table's coded rows in a database or lake; None if they did not stay there. `most`: a bound on
    their number."""
    source, made = _read(folder)
    if source is None or not source.in_place:
        return None
    if source.spark:
        return SparkRows(str(folder / f"coded-{version}.parquet"), source.spark, most)
    return PostgresRows(in_place.OURS, coded_name(folder, version), source.url, made.get(version, ""))


def drop_there(folder: Path) -> None:
    """Delete all coded rows of a table from its database. Call it before its folder is deleted."""
    source, made = _read(folder)
    if source is not None and source.in_place and not source.spark:
        last = max(made, default=1) + 1  # a killed program may have left it
        in_place.drop(source, *(coded_name(folder, version) for version in {*made, 1, last}))


def code_there(
    folder: Path,
    source: Staying,
    version: int,
    declared: Declared,
    spill: Callable[[], Path] | None,
    progress: Callable[[float], None] = lambda share: None,
) -> Loaded:
    """Code a table where its rows stay, in its database or lake."""
    if tables_of(source)[0].spark:
        return in_spark.code_table(source, folder / f"coded-{version}.parquet", declared, progress, spill)
    return in_place.code_table(source, coded_name(folder, version), declared, progress)


def code_anew(
    folder: Path,
    source: Source,
    new: Record,
    declared: Declared,
    spill: Callable[[], Path] | None,
    other_people: bool = False,
) -> int:
    """Code the rows again in their database or lake, under a new declaration; returns the number of people. Earlier
    versions stay, because running questions may read them, except the one `OLDER` versions ago. Refused, with nothing
    written, if the rows are no longer the table's. `other_people`: the number of people may change, since rows now
    belong to people."""
    names = {version: coded_name(folder, version) for version in (new.version, new.version - OLDER)}
    if not source.spark:
        in_place.drop(source, names[new.version])  # a killed program may have left it
    whole = made_of(folder) or source
    loaded = code_there(folder, whole, new.version, declared, spill)
    people = max(int(loaded.people or 0), 1)
    counted_before = new.relation == "replace" and not other_people
    if loaded.fingerprint != new.fingerprint or (counted_before and people != new.about):
        if not source.spark:
            in_place.drop(source, names[new.version])
        for left in folder.glob(f"coded-{new.version}.*"):
            shutil.rmtree(left, ignore_errors=True)
        raise AllowanceError("source.moved_on", table=new.name)
    keep(folder, whole, _read(folder)[1] | {new.version: loaded.made})
    if not source.spark and new.version > OLDER:
        with suppress(AllowanceError):  # it is deleted when the table is forgotten
            in_place.drop(source, names[new.version - OLDER])
    return people


def refuse_elsewhere(source: Source, allowed: Sequence[str] | None, served: bool) -> None:
    """Refuse an address that this machine must not connect to. Whoever names an address makes this machine connect to
    it, with all that the machine can reach. Where people sign in, only hosts that the operator `allowed` may be named,
    as `host` or `host:port`; on a laptop, where the user can reach every host anyway, all may."""
    if allowed is None and not served:
        return
    if source.spark:
        if not any(_lake_allowed(source, entry) for entry in allowed or ()):
            raise AllowanceError("source.not_allowed")
        return
    hosts = {entry.strip().lower() for entry in allowed or ()}
    usual = {source.host, f"[{source.host}]"} if source.port == USUAL_PORT else set()
    if not hosts & {source.where, *usual}:
        raise AllowanceError("source.not_allowed")


def may_read(allowed: Sequence[str] | None, served: bool, lakes: bool) -> bool:
    """Can a table come from a database, or with `lakes` from a lake? True if nobody signs in and no list is set, or if
    the operator's list `allowed` names one. A lake also needs Spark, installed here."""
    if lakes and find_spec("pyspark") is None:
        return False
    return any(bool(split_lake(entry)[0]) == lakes for entry in allowed or ()) or (allowed is None and not served)


def _lake_allowed(source: Source, entry: str) -> bool:
    """Does this entry of the operator's list allow this source? Spark reads all that it can reach, whoever asks. So an
    entry names a Spark and a folder (`spark://host:7077/lake/`); an entry without a folder allows only tables of
    Spark's catalogue."""
    spark, folder = split_lake(entry)
    if spark != source.spark:
        return False
    plain = re.fullmatch(r"[0-9A-Za-z_./*=-]+", source.path) and ".." not in source.path  # no way out of the folder
    return bool(plain and source.path.startswith(folder)) if folder else not source.path
