"""A workspace whose tables are read at another address: brought in as usual, their coded rows then put into Postgres or
where Spark reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pyarrow.parquet as pq
from engines.postgres_server import PostgresServer
from engines.tables import put

from dpengine.statistics.engines import Coded, PostgresRows, SparkRows, every_row
from dpengine.storage.registry import Record
from dpengine.table import Table
from dpengine.workspace import Workspace


class Elsewhere(Workspace):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.addresses: dict[str, Coded] = {}

    def coded(self, record: Record) -> Any:
        return self.addresses.get(record.name) or super().coded(record)

    def refuse_damaged(self, record: Record) -> None:
        self.engine.of(self.coded(record)).refuse_away(self.coded(record))

    def at_home(self, table: Table) -> Path:
        """The coded file that the table was brought in as."""
        found = super().coded(self.record(table.name))
        assert isinstance(found, Path)
        return found

    def to_postgres(self, table: Table, server: PostgresServer) -> PostgresRows:
        url, file = server.database(), self.at_home(table)
        where = PostgresRows("coded", "t", url)
        with psycopg.connect(url) as connection:
            connection.execute("CREATE SCHEMA coded")
            put(connection, pq.read_table(file), where)
            if every_row(file).exists():
                put(connection, pq.read_table(every_row(file)), every_row(where))
        self.addresses[table.name] = where
        return where

    def to_spark(self, table: Table, master: str = "local[2]") -> SparkRows:
        where = SparkRows(str(self.at_home(table)), master)
        self.addresses[table.name] = where
        return where
