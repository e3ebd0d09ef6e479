"""Which engine reads a table, what is imported for it, and that no statement holds anything but public facts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpengine.core.errors import AllowanceError
from dpengine.declared.conditions import read_predicate
from dpengine.declared.schema import Category, ItemSet, Number, Schema
from dpengine.statistics.counts import ConditionCounts, Moments, RowCount
from dpengine.statistics.engines import PostgresRows, SparkRows, every_row
from dpengine.statistics.engines.choose import Engines
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.engines.statements import MOST_OF_ROW, MOST_ROWS, statement
from dpengine.statistics.features import Layout
from dpengine.statistics.model_needs import GradientSum, HitsByMargin, SecondMoments
from dpengine.statistics.need import Aggregate

SCHEMA = Schema({"x": Number(0, 9), "c": Category(["a", "b"]), "s": ItemSet(["p", "q"])})
POSTGRES = PostgresRows("coded", "t", "postgresql://me:hunter2@db/x")
OTHERS = ("psycopg", "pyspark", "py4j")


@pytest.mark.parametrize(
    ("coded", "library", "file"),
    [(POSTGRES, "psycopg", "requirements-postgres.txt"), (SparkRows("/x"), "pyspark", "requirements-spark.txt")],
)
def test_an_engine_that_is_not_installed_is_said_in_one_sentence(
    coded: PostgresRows | SparkRows, library: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"dpengine.statistics.engines.{file[13:-4]}", raising=False)
    with pytest.raises(AllowanceError) as refused:
        Engines().of(coded)
    assert refused.value.code == "engine.absent" and file in str(refused.value)


def test_an_address_does_not_show_its_password() -> None:
    assert "hunter2" not in repr(POSTGRES) and every_row(POSTGRES).connection == POSTGRES.connection


def test_all_rows_lie_beside_those_that_count() -> None:
    assert every_row(Path("a/coded-1.parquet")) == Path("a/coded-1.every.parquet")
    assert every_row(POSTGRES).table == "t_every"
    assert every_row(SparkRows("hdfs://x/coded-1.parquet")).path == "hdfs://x/coded-1.every.parquet"
    assert every_row(SparkRows("/x/coded-1/")).path == "/x/coded-1.every.parquet"


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "pyspark"])
def test_codes_are_widened_before_any_arithmetic(dialect: str) -> None:
    """In every dialect: a narrow product would overflow by one person's value."""
    found = statement(Moments("x", 10, 2, "c", 4), SCHEMA, dialect)
    assert found.wide == "CAST(c0 AS BIGINT) AS c0, CAST(c1 AS BIGINT) AS c1, c2"
    assert found.sql.upper().count("SUM(") == 2


LONG = Schema({"x": Number(0, 9), "c": Category([f"v{place}" for place in range(160)])})
EVEN, ODD = tuple(range(0, 160, 2)), tuple(range(1, 160, 2))


def _long_needs() -> list[Aggregate[Any]]:
    """Where a need names 160 values, in each of the ways a person can name them."""
    column, goal = LONG["x"], LONG["c"]
    assert isinstance(column, Number) and isinstance(goal, Category)
    sides = Layout(("x",), (column,), "c", goal, EVEN, ODD)
    labels = [goal.labels[code] for code in EVEN]
    wheres = [
        read_predicate(given, LONG)
        for given in (
            [["c", "in", labels]],
            [["any", [["c", "in", [label]] for label in labels] * 3]],
            [["c", "not in", [label]] for label in labels] * 3,
        )
    ]
    return [
        GradientSum(sides, (2**20, -(2**22)), 2**24, 24),
        HitsByMargin(sides, (2**20, -(2**22)), (-5, 0, 5)),
        SecondMoments(sides, 24),
        *(RowCount(where) for where in wheres),
        ConditionCounts(tuple(wheres)),
    ]


@pytest.mark.every(3)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "pyspark"])
def test_a_long_list_makes_no_deep_statement(dialect: str) -> None:
    """An engine reads some hundred levels, and Ibis writes fewer: after the charge it would be too late to find out."""
    for need in _long_needs():
        assert _depth(statement(need, LONG, dialect).sql) < 60


def _depth(sql: str) -> int:
    deepest = now = 0
    for sign in sql:
        now += (sign == "(") - (sign == ")")
        deepest = max(deepest, now)
    return deepest


@pytest.mark.long
def test_a_long_list_means_what_it_says(tmp_path: Path) -> None:
    codes = [(place % 10, place) for place in range(-1, 162)]
    rows = [{"x": x, "c": c, "person": at} for at, (x, c) in enumerate(codes)]
    columns = {f"c{place}": pa.array([code[place] for code in codes], pa.int16()) for place in range(2)}
    pq.write_table(pa.table(columns | {"person": pa.array(range(len(codes)), pa.int64())}), tmp_path / "coded.parquet")
    for need in _long_needs():
        assert DuckEngine().read(need, tmp_path / "coded.parquet", LONG) == need.of(rows)


def test_spark_adds_decimals_however_many_rows_there_are() -> None:
    found = statement(Moments("x", 10, 2, "c", 4), SCHEMA, "pyspark")
    assert found.sql.count("AS DECIMAL(28, 0)") == 2
    assert MOST_OF_ROW * MOST_ROWS < 10**37 and MOST_OF_ROW < 10**28
