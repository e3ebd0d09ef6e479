"""A table in a database or a lake: its address and its reader, never its contents.

The address is read strictly, here and not by a driver: one host, one database, one name. Drivers accept many more
settings (files with passwords, several hosts, programs to run), and the person who types an address may not be the one
who runs the machine. The password never appears in `repr`, in an error or in the displayed address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Json, JsonObject
from dpengine.declared.dialect import Dialect
from dpengine.declared.unit import MOST_ROWS_EACH

SCHEMES = ("postgresql", "postgres")
USUAL_PORT = 5432
ENCRYPTED = ("disable", "prefer", "require", "verify-full")  # libpq's words for how a connection is encrypted
LONGEST = 500
_PORT = r"[0-9]{1,4}|[1-5][0-9]{4}|6(?:[0-4][0-9]{3}|5(?:[0-4][0-9]{2}|5(?:[0-2][0-9]|3[0-5])))"  # up to 65535
_SPARK = rf"(?:spark|sc)://[0-9A-Za-z._-]+(?::(?:{_PORT}))?"
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, repr=False)
class Source:
    """`Source("postgresql://name:password@host/database", table="visits")`. The table may be a view, with or without
    its schema: `care.visits`. With `in_place` its rows may not leave the database. `Source("spark",
    path="/data/visits/*.parquet")`: Parquet that a Spark on this machine reads, codes and queries; `spark://host:port`
    or `sc://host:port` (Spark Connect) is a Spark elsewhere. Instead of the path, `table="visits"` is a table of its
    catalogue; `snapshot` is one of its states by number or name, if the format keeps states (Delta Lake, Iceberg)."""

    host: str
    port: int
    database: str
    user: str
    password: str
    encrypted: str
    table: str
    in_place: bool = False
    path: str = ""
    spark: str = ""  # the Spark that reads the path or table, as Spark itself calls it
    snapshot: str = ""  # the state to read, of a table of Spark's
    # The columns with their types at the last description. A table with other columns is not read.
    seen: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __init__(
        self,
        address: str,
        table: str = "",
        *,
        path: str = "",
        password: str = "",
        in_place: bool = False,
        snapshot: str = "",
    ) -> None:
        if spark := spark_of(address):
            self._of_lake(spark, path, table, snapshot, password)
            return
        parts = _read(address if not path and not snapshot else "")
        if password:
            parts["password"] = password
        name = str(table).strip()
        _named(name)
        rest = {"table": name, "in_place": bool(in_place), "path": "", "spark": "", "snapshot": "", "seen": ()}
        for key, value in (parts | rest).items():
            object.__setattr__(self, key, value)
        if not all(_fit(str(part)) for part in (self.password or "-", *parts.values()) if part != ""):
            raise AllowanceError("source.address")

    def _of_lake(self, spark: str, path: object, table: object, snapshot: object, password: str) -> None:
        """Check a source in a lake. Its rows are always coded and queried in place."""
        texts = [str(part).strip() if isinstance(part, (str, int)) else "\0" for part in (path, table, snapshot)]
        if password or bool(texts[0]) == bool(texts[1]) or not _fit(texts[0] or texts[1]):
            raise AllowanceError("source.path")
        if texts[1]:
            _named(texts[1], most=3)
        if texts[2] and not (texts[1] and re.fullmatch(r"[0-9A-Za-z._:-]{1,100}", texts[2])):
            raise AllowanceError("source.snapshot")
        parts = dict.fromkeys(_KEPT, "") | {"port": 0, "table": texts[0] or texts[1], "path": texts[0], "spark": spark}
        for key, value in (parts | {"in_place": True, "snapshot": texts[2], "seen": ()}).items():
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        if self.spark:
            named = f"path={self.path!r}" if self.path else f"table={self.table!r}"
            return f"Source({self.spark!r}, {named}{f', snapshot={self.snapshot!r}' if self.snapshot else ''})"
        return f"Source({self.shown!r}, table={self.table!r})"

    @property
    def shown(self) -> str:
        return f"postgresql://{self.user}@{self.where}/{self.database}"

    @property
    def where(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address with the password, for core/libpq.py."""
        who = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return f"postgresql://{who}@{self.where}/{quote(self.database, safe='')}?sslmode={self.encrypted}"

    @property
    def names(self) -> tuple[str, ...]:
        """The parts of the table's name: its schema, if that was given, and its own."""
        return _named(self.table, most=3 if self.spark else 2)

    def newest(self) -> Source:
        """The same table in its present state, not at a `snapshot`."""
        return _built(vars(self) | {"snapshot": ""})

    def beside(self, what: str) -> Source:
        """The same source for another table of its database or lake, read by the same role."""
        name = what.strip()
        if self.spark:
            path, table = (name, "") if "/" in name else ("", name)
            return Source("spark" if self.spark.startswith("local") else self.spark, table, path=path)
        _named(name)
        return _built(vars(self) | {"table": name, "seen": ()})

    def lake_place(self) -> tuple[str, ...]:
        """The identity of a path (a local one in full) or a table, in any state and read by any Spark. Tables of one
        name in two catalogues are taken for one: they share an allowance, which is safe."""
        if not self.path:
            return "spark table", *(part.lower() for part in self.names)
        local = self.path if "://" in self.path else os.path.abspath(self.path)
        return "spark", local.removeprefix("file://")

    def place(self, schema: str, table: str) -> tuple[str, ...]:
        """The identity of the table, without its reader and the password."""
        host = "localhost" if self.host in _THIS_MACHINE else self.host
        return "postgresql", host, str(self.port), self.database, schema, table

    def described(self, columns: tuple[tuple[str, str], ...]) -> Source:
        """The same source; reading it is refused if it no longer has these columns."""
        return _built(vars(self) | {"seen": tuple(columns)})

    def kept(self) -> JsonObject:
        """All of it as JSON, the password too, for the only file that stores it."""
        return {key: getattr(self, key) for key in (*_KEPT, "in_place")} | {"seen": [list(pair) for pair in self.seen]}

    @staticmethod
    def from_kept(kept: Json) -> Source:
        seen = tuple((str(name), str(kind)) for name, kind in kept["seen"])
        return _built({key: kept.get(key, "") for key in _KEPT} | {"in_place": bool(kept["in_place"]), "seen": seen})


_KEPT = ("host", "port", "database", "user", "password", "encrypted", "table", "path", "spark", "snapshot")


def _built(parts: JsonObject) -> Source:
    source = object.__new__(Source)
    for key, value in parts.items():
        object.__setattr__(source, key, value)
    return source


def split_lake(entry: str) -> tuple[str, str]:
    """The Spark's address and the folder in an entry of a list of readable sources; empty if the entry is no lake."""
    match = re.fullmatch(rf"({_SPARK})(/(?:[0-9A-Za-z_.=-]+/)+)?", entry.strip())
    return (match[1], match[2] or "") if match else ("", "")


def spark_of(address: object) -> str:
    """The Spark that an address names; "local[2]" for one on this machine. Empty if it names none."""
    if address == "spark":
        return "local[2]"
    elsewhere = isinstance(address, str) and re.fullmatch(_SPARK, address)
    return str(address) if elsewhere else ""


def _read(address: object) -> dict[str, str | int]:
    """The parts of an address. A refusal quotes none of it, since a mistyped one may hold the password anywhere."""
    try:
        if not isinstance(address, str) or not _fit(address.strip()):
            raise ValueError
        url = urlsplit(address.strip())
        more = dict(parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query)))
        encrypted = more.pop("sslmode", "prefer")
        host = (url.hostname or "").rstrip(".")
        parts: dict[str, str | int] = {
            "host": host,
            "port": url.port or USUAL_PORT,
            "database": unquote(url.path.removeprefix("/"), errors="strict"),
            "user": unquote(url.username or "", errors="strict"),
            "password": unquote(url.password or "", errors="strict"),
            "encrypted": encrypted,
        }
    except ValueError:
        parts = {}
    good = bool(parts) and url.scheme in SCHEMES and not more and not url.fragment and encrypted in ENCRYPTED
    if not good or not all(parts[key] for key in ("host", "database", "user")):
        raise AllowanceError("source.address")
    if not re.fullmatch(r"[0-9a-z._:-]+", host) or "/" in str(parts["database"]):  # no folders, no lists of hosts
        raise AllowanceError("source.address")
    return parts


def without_password(address: str) -> str:
    """A typed address without what may be its password; empty if the password may be elsewhere in it."""
    head, at, tail = address.rpartition("@")
    scheme, colon, who = head.rpartition("://") if head.count("://") == 1 else ("", "", head)
    left = f"{scheme}{colon}{who.partition(':')[0]}{at}{tail}"
    bare = re.sub(r"\[[0-9a-fA-F:.]*\]", "", left.strip())
    doubtful = re.search(r"\s|pass\w*=|pwd?=|:(?!//|[0-9]{1,5}([/?]|$))", bare, re.IGNORECASE)
    return "" if doubtful else left


def _fit(text: str) -> bool:
    return 0 < len(text) <= LONGEST and text.isprintable()


def _named(table: str, most: int = 2) -> tuple[str, ...]:
    """The parts of a table's name, at most `most`. A part in double quotes may hold dots."""
    parts: list[str] = []
    rest = table
    while rest and _fit(rest):
        match = _PART.match(rest)
        if match is None:
            break
        parts.append(match[1].replace('""', '"') if match[1] else match[2].strip())
        rest = rest[match.end() :]
        if rest.startswith(".") and len(rest) > 1:
            rest = rest[1:]
        elif rest:
            break
    if rest or not 1 <= len(parts) <= most or not all(parts):
        raise AllowanceError("source.table")
    return tuple(parts)


# Two files or tables, one table: events (visits, payments) and the people they belong to, joined by the id.


@dataclass(frozen=True)
class Joined:
    """`Joined("visits.csv", "people.csv", on=("patient", "id"))`: every row of the first file, with the columns of the
    second beside it where `patient` equals `id`. Both files must be about people and say who; a record that several
    people share (a household, a shop) makes that the unit. With `everybody`, people without events are one row each,
    with empty event columns. Instead of a file, a `Source` is a table of a database; two tables that stay there are
    joined there, in one database or by one Spark."""

    events: str | Path | Source
    people: str | Path | Source
    on: tuple[str, str]
    events_dialect: Dialect = field(default_factory=Dialect)
    people_dialect: Dialect = field(default_factory=Dialect)
    everybody: bool = True
    people_at_most: int = 1  # rows of one person in the people file; earlier answers about its rows count for so many

    def __post_init__(self) -> None:
        if not all(isinstance(file, str | Path | Source) for file in (self.events, self.people)):
            raise AllowanceError("joined.files")
        if any(source.in_place for source in self.sources) and len({_server(file) for file in self.files}) > 1:
            raise AllowanceError("joined.files")
        if isinstance(self.on, str) or len(self.on) != 2 or not all(isinstance(name, str) and name for name in self.on):
            raise AllowanceError("joined.on")
        one, other = self.events_dialect, self.people_dialect
        if (one.decimal, one.thousands) != (other.decimal, other.thousands):
            raise AllowanceError("joined.numbers")
        if type(self.people_at_most) is not int or not 1 <= self.people_at_most <= MOST_ROWS_EACH:
            raise AllowanceError("unit.at_most", most=MOST_ROWS_EACH)

    @property
    def files(self) -> tuple[str | Path | Source, str | Path | Source]:
        return self.events, self.people

    @property
    def sources(self) -> list[Source]:
        """Those of the two files that are tables of a database or a lake."""
        return [file for file in self.files if isinstance(file, Source)]

    def kept(self) -> JsonObject:
        """How the tables are joined, as JSON for the only file that stores it."""
        assert isinstance(self.people, Source)
        return {"people": self.people.kept(), "on": list(self.on), "everybody": self.everybody}

    @staticmethod
    def from_kept(events: Source, kept: Json, dialect: Dialect) -> Joined:
        on, people = tuple(kept["on"]), Source.from_kept(kept["people"])
        return Joined(events, people, (on[0], on[1]), dialect, dialect, bool(kept["everybody"]))

    def names(self, events: Sequence[str], people: Sequence[str]) -> list[str]:
        """The columns of the events, then those of the people without the id. A name that both have gets a number."""
        for column, names in zip(self.on, (events, people), strict=True):
            if column not in names:
                raise AllowanceError("column.absent", column=column, columns=list(names))
        joined = list(events)
        for name in people:
            if name != self.on[1]:
                fresh, number = name, 2
                while fresh in joined:
                    fresh, number = f"{name} {number}", number + 1
                joined.append(fresh)
        return joined


def _server(file: str | Path | Source) -> tuple[object, ...]:
    """The server where the rows must stay; empty if they may be read here. Both tables need the same one."""
    if not isinstance(file, Source) or not file.in_place:
        return ()
    return (file.host, file.port, file.database, file.user, file.spark)
