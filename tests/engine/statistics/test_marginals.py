"""Counts over many sets of columns: what one pass over the file finds is what is meant, however a column is grouped."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpengine.core.errors import AllowanceError
from dpengine.declared.cell_kinds import FITS
from dpengine.declared.date_column import Date
from dpengine.declared.read_group import read_group
from dpengine.declared.schema import Category, Number, Schema
from dpengine.statistics import marginals
from dpengine.statistics.engines import duck
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.engines.statements import compiled
from dpengine.statistics.kept import keep, read_kept
from dpengine.statistics.marginals import CellAxis, Marginals

MANY = 3_000_000  # steps: too many to look every code up
SCHEMA = Schema(
    {
        "x": Number(0, 9),
        "big": Number(0, MANY),
        "day": Date("1990-01-03", "1990-12-31"),
        "c": Category(["a", "b"], unknown="b", missing="b"),
        "full": Number(0, 9, missing=0),
    }
)
GROUPS: dict[str, Any] = {
    "x": {"column": "x", "step": 4},
    "big": {"column": "big", "edges": [10, 2_000_000]},
    "day": {"column": "day", "by": "weekday"},
    "month": {"column": "day", "by": "month_of_year"},
    "full": {"column": "full", "edges": [3]},
}
AXES = (
    CellAxis(read_group(GROUPS["x"], SCHEMA), 3, absent=True, misfit=True),
    CellAxis(read_group(GROUPS["big"], SCHEMA), 3, absent=True, misfit=True),
    CellAxis(read_group(GROUPS["day"], SCHEMA), 7, absent=True, misfit=True),
    CellAxis(read_group(GROUPS["month"], SCHEMA), 12, absent=True, misfit=True),
    CellAxis("c", 2, absent=False, misfit=False),
    CellAxis(read_group(GROUPS["full"], SCHEMA), 2, absent=False, misfit=True),
)
SETS = ((0, 1), (2,), (0, 2, 4), (3, 4), (4, 5))
ROW = st.fixed_dictionaries(
    {
        "x": st.integers(-1, 9),
        "big": st.one_of(st.integers(-1, MANY), st.sampled_from([9, 10, 1_999_999, 2_000_000])),
        "day": st.integers(-1, 362),
        "c": st.integers(0, 1),
        "full": st.integers(0, 9),
    }
    | {f"kind {name}": st.integers(-3, 1) for name in ("x", "big", "day", "full")}
)

EMPTY = dict.fromkeys(["x", "big", "day", "c", "full", *(f"kind {name}" for name in ("x", "big", "day", "full"))], 0)


def stored(path: Path, rows: list[dict[str, int]], group: int | None = None) -> Path:
    """In groups of so many rows."""
    kinds = {"x": pa.int8(), "big": pa.int32(), "day": pa.int16(), "c": pa.int8(), "full": pa.int8()}
    columns = {
        f"c{place}": pa.array([row[name] for row in rows], kinds[name]) for place, name in enumerate(SCHEMA.columns)
    }
    columns |= {
        f"f{place}": pa.array([row[f"kind {name}"] for row in rows], pa.int8())
        for place, name in enumerate(SCHEMA.columns)
        if name != "c"
    }
    pq.write_table(pa.table(columns), path, row_group_size=group)
    return path


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(ROW, max_size=25),
    at_once=st.sampled_from([1, 100, 2**15]),
    group=st.sampled_from([1, 4, 10, 100]),
    threads=st.sampled_from([1, 2, 5]),
)
def test_one_pass_counts_what_is_meant(
    tmp_path: Path, rows: list[dict[str, int]], at_once: int, group: int, threads: int
) -> None:
    """Also where sets are counted one by one, some together, and all together; where the file has one group of rows or
    many, and more threads than groups go through them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "MOST_AT_ONCE", at_once)
        patch.setattr(duck, "STREAMED", 7)  # several batches
        patch.setattr(duck, "THREADS", threads)
        need = Marginals(AXES, SETS)
        found = DuckEngine().read(need, stored(tmp_path / "coded.parquet", rows, group), SCHEMA)
        assert found == need.of(rows)
        assert all(sum(counts) == len(rows) for counts in found)
        assert all(any(set(columns) <= set(pack) for pack in need.together) for columns in SETS)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROW, max_size=25), at_once=st.sampled_from([1, 2**15]))
def test_an_engine_that_aggregates_counts_the_same(tmp_path: Path, rows: list[dict[str, int]], at_once: int) -> None:
    """Where the file is not at hand only cells leave the engine, by one statement."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "MOST_AT_ONCE", at_once)
        compiled.cache_clear()  # what was compiled before the constant changed
        need, engine = Marginals(AXES, SETS), DuckEngine()
        found = engine._read(need, stored(tmp_path / "coded.parquet", rows), SCHEMA)
        assert found == need.of(rows)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROW, max_size=25))
def test_kept_counts_give_the_same_and_what_they_hold_reads_no_row(tmp_path: Path, rows: list[dict[str, int]]) -> None:
    for file in tmp_path.iterdir():
        file.unlink()
    path, stem = stored(tmp_path / "coded-1.parquet", rows), tmp_path / "coded-1"
    scan = partial(DuckEngine().read, coded=path, schema=SCHEMA)
    table = pq.read_table(path)
    pq.write_table(table.append_column("f3", pa.array([FITS] * len(rows), pa.int8())), path)
    need, alone = Marginals(AXES, (*SETS, (0,), (4,))), Marginals(AXES, ((2,), (0,), (3, 4)))
    assert read_kept(need, SCHEMA, stem, scan) == need.of(rows)
    keep(stem, (2, 3), SCHEMA, scan)
    assert read_kept(need, SCHEMA, stem, scan) == need.of(rows)
    path.unlink()
    assert read_kept(alone, SCHEMA, stem, scan) == alone.of(rows)


def test_every_row_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sets are wanted, each batch of the file comes by once, with each column once."""
    path, seen = stored(tmp_path / "coded.parquet", [EMPTY] * 20, 3), []
    real = pq.ParquetFile.iter_batches

    def counted(self: pq.ParquetFile, **how: Any) -> Any:
        for batch in real(self, **how):
            seen.append(batch.num_rows)
            assert len(set(how["columns"])) == len(how["columns"])
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counted)
    DuckEngine().read(Marginals(AXES, SETS), path, SCHEMA)
    assert sum(seen) == 20


@pytest.mark.parametrize("damage", ["absent", "cut", 0, 1, 4])
def test_a_damaged_file_is_one_clear_sentence(tmp_path: Path, damage: str | int) -> None:
    """Whichever thread comes upon it: a number is that of a damaged group of rows."""
    path = tmp_path / "coded.parquet"
    if damage == "cut":
        path.write_bytes(b"PAR1 and then nothing")
    if isinstance(damage, int):
        about = pq.ParquetFile(stored(path, [EMPTY] * 20, 4)).metadata.row_group(damage).column(0)
        with path.open("r+b") as file:
            file.seek(about.dictionary_page_offset or about.data_page_offset)
            file.write(b"\xff" * 16)
    with pytest.raises(AllowanceError) as refused:
        DuckEngine().read(Marginals(AXES, SETS), path, SCHEMA)
    assert refused.value.code == "engine.unreadable"
