"""The engine answers exactly what the needs mean, on any coded table and any condition."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpengine.core.errors import AllowanceError
from dpengine.declared.conditions import AnyOf, Clause, Has, OneOf, Predicate, Range, Row, read_predicate
from dpengine.declared.schema import MISSING, Category, ItemSet, Number, Schema
from dpengine.intake import marks
from dpengine.statistics.counts import BinCounts, ConditionCounts, Distribution, PairDistribution, RowCount
from dpengine.statistics.engines import Engine
from dpengine.statistics.engines.duck import DuckEngine, connect
from dpengine.statistics.need import Need, Spread

SCHEMA = Schema({"x; --": Number(0, 9), 'big "one"': Number(0, 10**6), "city": Category(["A", "B", "C"])})
NUMBER, BIG, CITY = SCHEMA.columns
TYPES = [pa.int8(), pa.int32(), pa.int8()]
ENGINE = DuckEngine()


def store(rows: list[Row], path: Path, schema: Schema = SCHEMA, types: list[Any] | None = None) -> Path:
    columns = [[row[name] for row in rows] for name in schema.columns]
    kinds = types or TYPES
    arrays = [pa.array(codes, kind) for codes, kind in zip(columns, kinds, strict=True)]
    pq.write_table(pa.table(arrays, names=[f"c{place}" for place in range(len(arrays))]), path)
    return path


def same(found: Any, meant: Any) -> None:
    if isinstance(meant, Spread):
        assert isinstance(found, Spread)
        for one, other in ((found.codes, meant.codes), (found.counts, meant.counts)):
            assert one.dtype == np.int64 and one.flags.writeable and one.tolist() == other.tolist()
    else:
        assert type(found) is type(meant) and found == meant
        for number in found if isinstance(found, tuple) else [found]:
            assert type(number) is int


numbers = st.one_of(st.just(MISSING), st.integers(0, 9))
bigs = st.one_of(st.just(MISSING), st.integers(0, 10**6), st.sampled_from([0, 1, 10**6]))
tables = st.lists(st.fixed_dictionaries({NUMBER: numbers, BIG: bigs, CITY: st.integers(0, 4)}), max_size=30)
ranges = st.builds(Range, st.just(NUMBER), st.integers(-2, 11), st.integers(-2, 11)) | st.builds(
    Range, st.just(BIG), st.integers(0, 10**6), st.integers(0, 10**6)
)
lists = st.builds(OneOf, st.sampled_from([NUMBER, CITY]), st.lists(st.integers(-1, 9), max_size=6).map(tuple))
simple = ranges | lists
clauses = simple | st.builds(AnyOf, st.lists(simple, max_size=3).map(tuple))
predicates = st.builds(Predicate, st.lists(clauses, max_size=3).map(tuple))
starts = st.sets(st.integers(1, 9), max_size=5).map(lambda found: (0, *sorted(found)))
needs: st.SearchStrategy[Need] = st.one_of(
    st.builds(RowCount, predicates),
    st.builds(BinCounts, st.just(NUMBER), starts, st.just(10), predicates),
    st.builds(BinCounts, st.just(CITY), st.just((0, 1, 2, 3, 4)), st.just(5), predicates),
    st.builds(BinCounts, st.just(BIG), st.just((0, 10, 500_000)), st.just(10**6 + 1), predicates),
    st.builds(Distribution, st.just(NUMBER), st.just(10), predicates),
    st.builds(Distribution, st.just(BIG), st.just(10**6 + 1), predicates),
    st.builds(PairDistribution, st.just((BIG, NUMBER)), st.just((10**6 + 1, 10)), predicates),
)


@settings(max_examples=30, deadline=None)
@given(tables, st.lists(needs, min_size=1, max_size=2))
def test_the_engine_says_what_the_need_means(rows: list[Row], asked: list[Need]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        coded = store(rows, Path(folder) / "coded.parquet")
        for need in asked:
            same(ENGINE.read(need, coded, SCHEMA), need.of(rows))


def test_conditions_as_people_write_them(tmp_path: Path) -> None:
    rows = [{NUMBER: i % 11 - 1, BIG: i * 977 % 10**6, CITY: i % 5} for i in range(500)]
    coded = store(rows, tmp_path / "it's [a] *.parquet")
    for text in [
        [[NUMBER, ">", 3]],
        [[NUMBER, "between", [2, 5]], [CITY, "in", ["A", "other"]]],
        [[CITY, "not in", ["B"]]],
        [["any", [[NUMBER, "<=", 0], [CITY, "=", "no answer"]]], [BIG, "<", 400_000]],
        [[NUMBER, "=", "2.5"]],
    ]:
        where = read_predicate(text, SCHEMA)
        for need in (RowCount(where), BinCounts(CITY, (0, 1, 2, 3, 4), 5, where), Distribution(BIG, 10**6 + 1, where)):
            same(ENGINE.read(need, coded, SCHEMA), need.of(rows))


def test_a_condition_that_nobody_can_meet_is_counted_too(tmp_path: Path) -> None:
    """As one of several conditions too, where each is summed by itself: it was charged, and could not be drawn."""
    schema = Schema({"c": Category(["a", "b"], unknown="b", missing="b"), "s": ItemSet(["p", "q"])})
    rows: list[Row] = [{"c": 0, "s": (0,)}, {"c": 1, "s": ()}]
    nobody = read_predicate([["c", "not in", ["a", "b"]]], schema)
    some = read_predicate([["s", "has", ["p"]]], schema)
    path = tmp_path / "coded.parquet"
    pq.write_table(pa.table({"c0": pa.array([0, 1], pa.int8()), "c1": pa.array([[0], []])}), path)
    for need in (ConditionCounts((nobody, some)), RowCount(nobody), RowCount(Predicate((Has("s", ()),)))):
        assert DuckEngine().read(need, path, schema) == need.of(rows)


@pytest.mark.long
def test_a_long_list_of_values(tmp_path: Path) -> None:
    long = Schema({"code": Category([f"v{place}" for place in range(20_000)])})
    rows = [{"code": place * 7 % 20_000} for place in range(5_000)]
    coded = store(rows, tmp_path / "coded.parquet", long, [pa.int32()])
    but_one = OneOf("code", tuple(place for place in range(20_000) if place != 7))
    even, third = (OneOf("code", tuple(range(0, 20_000, step))) for step in (2, 3))
    conditions: list[list[Clause]] = [[but_one], [even], [even, third, but_one], [AnyOf((even, third))]]
    for condition in conditions:
        need = RowCount(Predicate(tuple(condition)))
        members = [[set(part.codes) for part in getattr(clause, "parts", [clause])] for clause in condition]
        meant = sum(all(any(row["code"] in codes for codes in clause) for clause in members) for row in rows)
        assert ENGINE.read(need, coded, long) == meant


def test_every_declared_bin_even_of_an_empty_table(tmp_path: Path) -> None:
    coded = store([], tmp_path / "coded.parquet")
    assert ENGINE.read(BinCounts(CITY, (0, 1, 2, 3, 4), 5), coded, SCHEMA) == (0, 0, 0, 0, 0)
    assert ENGINE.read(RowCount(), coded, SCHEMA) == 0
    same(ENGINE.read(Distribution(NUMBER, 10), coded, SCHEMA), Distribution(NUMBER, 10).of([]))


def test_many_threads_and_one_engine(tmp_path: Path) -> None:
    files = [store([{NUMBER: 1, BIG: 1, CITY: 0}] * n, tmp_path / f"{n}.parquet") for n in range(1, 9)]
    engine: Engine = DuckEngine()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda path: engine.read(RowCount(), path, SCHEMA), files * 3))
    assert found == [*range(1, 9)] * 3


def test_a_recoded_table_is_read_anew(tmp_path: Path) -> None:
    for rows in (3, 5, 4):
        store([{NUMBER: 1, BIG: 1, CITY: 0}] * rows, tmp_path / "new").replace(tmp_path / "coded.parquet")
        assert ENGINE.read(RowCount(), tmp_path / "coded.parquet", SCHEMA) == rows


def test_a_lost_or_damaged_file_is_said_in_one_sentence(tmp_path: Path) -> None:
    store([{NUMBER: 1, BIG: 1, CITY: 0}], tmp_path / "a1.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 zebra7421")
    for name in ("none.parquet", "broken.parquet", "a*.parquet"):
        with pytest.raises(AllowanceError) as refusal:
            ENGINE.read(RowCount(), tmp_path / name, SCHEMA)
        assert refusal.value.code == "engine.unreadable" and "zebra" not in str(refusal.value)


def test_a_connection_loads_nothing_and_stays_as_it_is(tmp_path: Path) -> None:
    with connect(tmp_path) as connection:
        found = dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
        with pytest.raises(Exception, match="locked"):
            connection.execute("SET threads = 5")
    assert found["autoload_known_extensions"] == found["autoinstall_known_extensions"] == "false"
    assert found["temp_directory"].startswith(str(tmp_path)) and found["threads"] == "2"
    of_marks = marks._calculator().execute("SELECT current_setting('temp_directory')").fetchone()
    assert of_marks == ("",)  # no rows beside the workspace
    assert not list(tmp_path.iterdir())
