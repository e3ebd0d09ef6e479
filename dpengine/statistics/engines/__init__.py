"""The engines that compute a need, and the addresses of the coded rows they read. An engine reads coded tables and
nothing else; its result equals `need.of(rows)` exactly.

The coded rows of a table have an *address*, and its kind selects the engine (`choose.Engines`):

    Path           a Parquet file in the workspace          DuckDB, in this process
    PostgresRows   a table in a schema of ours              Postgres, which ships aggregates and no rows
    SparkRows      a folder of Parquet that Spark reaches   Spark

The columns have the same names everywhere (c0, c1, … and the further ones of `intake.encode`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar, overload

from dpengine.declared.schema import Schema
from dpengine.statistics.need import AnyNeed, Need
from dpengine.statistics.raw_needs import RawNeed

Statistic = TypeVar("Statistic")


@dataclass(frozen=True)
class PostgresRows:
    """A table of coded rows in Postgres. It never changes: rows coded anew get another table."""

    schema: str
    table: str
    connection: str = field(repr=False)  # a libpq URL; it may hold a password, so nothing shows it
    # The table's identity when it was written (libpq.AS_MADE), and after a space that of the table of every row, if
    # there is one; empty if nobody noted it.
    made: str = ""


@dataclass(frozen=True)
class SparkRows:
    """Coded rows as Parquet, and the Spark that reads them."""

    path: str  # as Spark knows it: a file or a folder, on a disk, in HDFS or in a store
    master: str = "local[2]"  # or spark://host:port, or sc://host:port for Spark Connect
    most: int | None = None  # a public bound on the number of rows, if there is one


Coded = Path | PostgresRows | SparkRows
Address = TypeVar("Address", contravariant=True)


class Engine(Protocol[Address]):
    def refuse(self, need: AnyNeed | RawNeed) -> None:
        """Raise before a charge if this engine cannot compute such a need. The need's class and public facts decide."""

    def refuse_away(self, coded: Address) -> None:
        """Raise before a charge if the rows cannot be reached. That reveals nothing about them."""

    def read(self, need: Need[Statistic], coded: Address, schema: Schema) -> Statistic: ...

    def let_go(self) -> None:
        """Close connections and caches, after the questions being computed are done."""


@overload
def every_row(coded: Path) -> Path: ...
@overload
def every_row(coded: PostgresRows) -> PostgresRows: ...
@overload
def every_row(coded: SparkRows) -> SparkRows: ...
def every_row(coded: Coded) -> Coded:
    """The address of *all* coded rows: a second table beside the rows that count, if a person has several rows and a
    column holds sets."""
    if isinstance(coded, PostgresRows):
        return replace(coded, table=f"{coded.table}_every")
    if isinstance(coded, SparkRows):
        path = f"{coded.path.removesuffix('/').removesuffix('.parquet')}.every.parquet"
        return replace(coded, path=path, most=None)
    return coded.with_name(f"{coded.stem}.every.parquet")
