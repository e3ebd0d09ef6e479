"""One row a person by the same expressions on DuckDB, Postgres and Spark: equal on random coded tables."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from amount import amount
from engines.postgres_server import PostgresServer

import dpengine as dp
from dpengine.intake.person_rows import summary_sql
from dpengine.statistics.engines.spark import SparkEngine

TABLES = amount(8, 20)
SCHEMA = dp.Schema(
    {
        "cost": dp.Number(0, 50),
        "way": dp.Category(["bus", "car", "tram"]),
        "day": dp.Date("2024-01-01", "2024-12-31", "ymd"),
    }
)
SUMMARIES = [
    dp.Summary("count", lower=0, upper=100),
    dp.Summary("count", "way", lower=0, upper=100),
    dp.Summary("count", "day", lower=0, upper=100),
    dp.Summary("any", "way", value="bus"),
    dp.Summary("sum", "cost", lower=0, upper=500),
    dp.Summary("mean", "cost"),
    dp.Summary("least", "cost"),
    dp.Summary("most", "cost"),
    dp.Summary("first", "way", by="day"),
    dp.Summary("last", "cost", by="day"),
    dp.Summary("frequent", "way"),
]


def coded(chance: random.Random) -> pa.Table:
    rows = [
        (person, chance.randint(-1, 50), chance.randint(0, 4), chance.randint(-1, 365))
        for person in range(chance.randint(1, 8))
        for _ in range(chance.choice([1, 2, 9]))
    ]
    columns = [pa.array(list(cells), pa.int64()) for cells in zip(*rows, strict=True)]
    return pa.table(dict(zip(("person", "c0", "c1", "c2"), columns, strict=True)))


def told(rows: list[Any]) -> list[tuple[int | None, ...]]:
    return sorted(tuple(None if cell is None else int(cell) for cell in row) for row in rows)


def by_duckdb(table: pa.Table) -> list[tuple[int | None, ...]]:
    with duckdb.connect() as connection:
        connection.register("rows_of", table)
        return told(connection.sql(summary_sql("rows_of", SCHEMA, SUMMARIES)).fetchall())


def test_postgres_gives_the_same_rows(postgres: PostgresServer) -> None:
    chance = random.SystemRandom()
    with psycopg.connect(postgres.database()) as connection:
        for number in range(TABLES):
            table, name = coded(chance), f"rows_{number}"
            connection.execute(f"CREATE TABLE {name} (person bigint, c0 bigint, c1 bigint, c2 bigint)")  # type: ignore[arg-type]
            with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:  # type: ignore[arg-type]
                for row in table.to_pylist():
                    copy.write_row(tuple(row.values()))
            found = connection.execute(summary_sql(name, SCHEMA, SUMMARIES)).fetchall()  # type: ignore[arg-type]
            assert told(found) == by_duckdb(table)


@pytest.mark.parametrize("tables", [4, pytest.param(TABLES, marks=pytest.mark.long)])
def test_spark_gives_the_same_rows(spark: SparkEngine, tmp_path: Path, tables: int) -> None:
    session, chance = spark.session("local[2]"), random.SystemRandom()
    for number in range(tables):
        table, name = coded(chance), f"rows_{number}"
        pq.write_table(table, tmp_path / f"{name}.parquet")
        session.read.parquet(str(tmp_path / f"{name}.parquet")).createOrReplaceTempView(name)
        found = session.sql(summary_sql(name, SCHEMA, SUMMARIES)).collect()
        assert told(found) == by_duckdb(table)
