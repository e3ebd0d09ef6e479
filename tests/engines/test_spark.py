"""What is Spark's own: one job for a question, settings that are ours, partitions that change nothing, sums of any
length, and errors that quote nothing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from engines.tables import BIG, WIDE, C, Made, X, in_parquet, made, same, stored, wide_needs
from pyspark.errors import PySparkException
from pyspark.sql import functions

from dpengine.core.errors import AllowanceError
from dpengine.statistics.counts import (
    BinCounts,
    CellCounts,
    ConditionCounts,
    Distribution,
    Moments,
    PlaceSums,
    RowCount,
)
from dpengine.statistics.engines import SparkRows
from dpengine.statistics.engines.spark import HERE, QUIET, SETTINGS, SparkEngine
from dpengine.statistics.marginals import Marginals
from dpengine.statistics.need import Aggregate


def some(people: int = 60) -> Made:
    return made(WIDE, np.random.default_rng(), people, several=True)


ONE_JOB: list[Aggregate[Any]] = [
    RowCount(),
    RowCount(people=True),
    BinCounts(C, (0, 1, 2, 3, 4), 5),
    Distribution(BIG, 10**7),
    Moments(BIG, 10**7, 2, C, 5),
    CellCounts((C, X), (5, 10)),
    next(need for need in wide_needs() if isinstance(need, Marginals)),
    next(need for need in wide_needs() if isinstance(need, ConditionCounts)),
]


@pytest.mark.parametrize("need", ONE_JOB[:7], ids=lambda need: type(need).__name__)
def test_a_question_is_one_job(need: Aggregate[Any], spark: SparkEngine, tmp_path: Path) -> None:
    table = some()
    where = in_parquet(table, tmp_path / "t.parquet")
    session, sql = spark.statement(need, where, WIDE)  # here the files are listed
    context = session.sparkContext
    context.setJobGroup(sql, "")
    assert same(spark.read(need, where, WIDE), table.of(need))
    assert len(context.statusTracker().getJobIdsForGroup(sql)) == 1


def test_the_settings_are_ours(spark: SparkEngine, tmp_path: Path) -> None:
    session, _ = spark.statement(RowCount(), in_parquet(some(3), tmp_path / "t.parquet"), WIDE)
    for name, value in SETTINGS.items():
        assert session.conf.get(name) == value, name
    for name, value in (QUIET | HERE).items():
        assert session.sparkContext.getConf().get(name) == value, name


def test_partitions_change_nothing(spark: SparkEngine, tmp_path: Path) -> None:
    """One file, or many, of which some are empty."""
    table = some()
    whole, folder = in_parquet(table, tmp_path / "t.parquet"), tmp_path / "parts.parquet"
    folder.mkdir()
    ends = [0, 0, 1, 7, 7, 30, len(table.rows)]
    for at, (first, last) in enumerate(pairwise(ends)):
        pq.write_table(stored(table.rows[first:last], WIDE), folder / f"part-{at}.parquet")
    for need in ONE_JOB:
        found = [spark.read(need, where, WIDE) for where in (whole, SparkRows(str(folder)))]
        assert same(found[0], table.of(need)) and same(found[1], found[0])


def test_a_sum_beyond_64_bits_is_exact(spark: SparkEngine, tmp_path: Path) -> None:
    """By a weight that no question has: a table of 10^12 rows would reach it with a small one."""
    table = some()
    for row in table.rows:
        row[BIG] = 10**7 - 1
    where = in_parquet(table, tmp_path / "far.parquet")
    need = PlaceSums((BIG,), (2**38,))
    assert table.of(need)[0] > 2**63
    assert same(spark.read(need, where, WIDE), table.of(need))


def test_an_error_quotes_nothing(
    spark: SparkEngine, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Not in its sentence, nor in what Spark and its client print: here of a path, which any error of Spark's names."""
    (tmp_path / "canary-7421.parquet").write_bytes(b"PAR1 canary-7421")
    with pytest.raises(AllowanceError) as refused:
        spark.read(RowCount(), SparkRows(str(tmp_path / "canary-7421.parquet")), WIDE)
    printed = capfd.readouterr()
    assert refused.value.code == "engine.away" and refused.value.__suppress_context__
    assert "canary" not in str(refused.value) + printed.out + printed.err + caplog.text
    session = spark.session("local[2]")
    for failing in (
        lambda: session.sql("SELECT CAST('canary-7421' AS INT)").collect(),
        lambda: session.range(1).select(functions.lit("canary-7421").cast("int")).collect(),
    ):  # PySpark has a log for each way to ask
        with pytest.raises(PySparkException):
            failing()
    printed = capfd.readouterr()
    assert "canary" not in printed.out + printed.err + caplog.text
