"""Grouped needs, computed by the engine over Parquet, against their meaning over a list of rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpengine.declared.conditions import read_predicate
from dpengine.declared.schema import Category, Number, Schema
from dpengine.statistics.counts import CellCounts, ConditionCounts, GroupDistributions, HitCounts, Moments, RowCount
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.engines.statements import compiled, statement
from dpengine.statistics.need import Spread

SCHEMA = Schema({"x": Number(0, 9), "c": Category(["a", "b"]), "d": Category(["p", "q"])})
WHERES: list[Any] = [None, [["x", ">", 3]], [["c", "in", ["a"]]], [["any", [["x", "<", 2], ["d", "in", ["q"]]]]]]
ROW = st.fixed_dictionaries(
    {"x": st.integers(-1, 9), "c": st.integers(0, 3), "d": st.integers(0, 3), "person": st.integers(0, 5)}
)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, Spread):
        return np.array_equal(one.codes, other.codes) and np.array_equal(one.counts, other.counts)
    if isinstance(one, tuple) and one and isinstance(one[0], Spread):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROW, max_size=25), chosen=st.sampled_from(WHERES))
def test_grouped_needs_say_what_they_mean(tmp_path: Path, rows: list[dict[str, int]], chosen: Any) -> None:
    columns = {f"c{place}": pa.array([row[name] for row in rows], pa.int8()) for place, name in enumerate("xcd")}
    columns["person"] = pa.array([row["person"] for row in rows], pa.int64())
    path = tmp_path / "coded.parquet"
    pq.write_table(pa.table(columns), path)
    where = read_predicate(chosen, SCHEMA)
    hit = read_predicate([["any", [["x", "<", 5], ["d", "in", ["p"]]]]], SCHEMA)
    engine = DuckEngine()
    for need in (
        RowCount(where, people=True),
        ConditionCounts((hit, read_predicate([["x", ">=", 5]], SCHEMA)), where),
        CellCounts(("c", "d"), (4, 4), where),
        CellCounts(("x", "d"), (10, 4), where),
        CellCounts(("c",), (4,), where, people=True),
        HitCounts(hit, None, 1, where),
        HitCounts(hit, "c", 4, where),
        Moments("x", 10, 1, None, 1, where),
        Moments("x", 10, 2, None, 1, where),
        Moments("x", 10, 2, "c", 4, where),
        GroupDistributions("x", 10, "c", 4, where),
    ):
        assert same(engine.read(need, path, SCHEMA), need.of(rows)), need


def test_sums_are_plain_sums_of_codes() -> None:
    """No arithmetic on every row but the square; far codes of a long grid are added exactly."""
    columns = (("x", False), ("c", False))
    assert re.findall(r"SUM\((.*?)\)", compiled(Moments("x", 10, 2, "c", 4), columns, "duckdb").sql) == [
        '"t1"."c0"',
        '"t1"."c0" * "t1"."c0"',
    ]
    size, found = (
        10**7,
        {"s0": np.array([3]), "s1": np.array([2 * (10**7 - 1)]), "s2": np.array([2 * (10**7 - 1) ** 2])},
    )
    rows = [{"x": size - 1}, {"x": size - 1}, {"x": 0}]
    assert Moments("x", size, 2, None, 1).shape(found) == Moments("x", size, 2, None, 1).of(rows)


def test_rows_are_looked_through_for_missing_ones_only_where_there_can_be_some() -> None:
    """By the declaration: with a value that stands in for a missing one, every row has a code."""
    for missing, looks in ((None, True), (0, False)):
        schema = Schema({"x": Number(0, 9, missing=missing)})
        assert ("WHERE" in statement(Moments("x", 10, 1, None, 1), schema, "duckdb").sql) == looks


def test_spark_adds_in_64_bits_where_a_public_number_of_rows_fits_them_and_in_decimals_elsewhere() -> None:
    schema = Schema({"x": Number(0, 999)})
    for degree, rows, decimals in ((1, 10**12, 0), (2, 10**12, 0), (1, 10**16, 1), (2, 10**13, 1), (2, None, 2)):
        sql = statement(Moments("x", 1000, degree, None, 1), schema, "pyspark", rows).sql
        assert sql.upper().count("DECIMAL(28, 0)") == decimals, (degree, rows)


@pytest.mark.parametrize(("kind", "largest"), [(pa.int8(), 127), (pa.int16(), 2**15 - 1), (pa.int32(), 10**7 - 1)])
def test_narrow_codes_never_overflow(tmp_path: Path, kind: Any, largest: int) -> None:
    """Added up as narrow as they are stored, multiplied only at full width."""
    pq.write_table(pa.table({"c0": pa.array([largest] * 5_000, kind)}), tmp_path / "coded.parquet")
    schema, rows = Schema({"x": Number(0, largest)}), [{"x": largest}] * 5_000
    assert statement(Moments("x", largest + 1, 1, None, 1), schema, "duckdb").wide == "c0"
    for degree in (1, 2):
        need = Moments("x", largest + 1, degree, None, 1)
        assert DuckEngine().read(need, tmp_path / "coded.parquet", schema) == need.of(rows)
