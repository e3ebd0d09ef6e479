"""Kept counts: the same statistics as from the rows, used where public facts allow it, and gone with the rows."""

from __future__ import annotations

import os
import time
import tracemalloc
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpengine as dp
from dpengine.declared.cell_kinds import ABOVE, EMPTY, FITS
from dpengine.declared.conditions import kind_name, read_predicate
from dpengine.declared.schema import Category, Number, Schema
from dpengine.statistics import kept
from dpengine.statistics.counts import (
    BinCounts,
    CellCounts,
    ConditionCounts,
    Distribution,
    GroupDistributions,
    HitCounts,
    KindCounts,
    MisfitCount,
    Moments,
    PairDistribution,
    RowCount,
)
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.kept_view import KeptRows, computed
from dpengine.statistics.need import Needs, Spread
from dpengine.statistics.view import WEIGHT
from dpengine.storage import erase, redeclare
from dpengine.storage.registry import Registry

SCHEMA = Schema({"x": Number(0, 9), "c": Category(["a", "b"]), "y": Number(0, 4)})
SIZES = {"x": 10, "c": 4, "y": 5}
WHERES: list[Any] = [None, [["x", ">", 3]], [["c", "in", ["a"]]], [["any", [["x", "<", 2], ["c", "in", ["b"]]]]]]
KINDS = st.sampled_from([FITS, EMPTY, ABOVE])
ROW = st.fixed_dictionaries(
    {"x": st.integers(-1, 9), "c": st.integers(0, 3), "y": st.integers(-1, 4)}
    | {kind_name(name): KINDS for name in SIZES}
)


def needs(where: Any) -> list[Any]:
    hit = read_predicate([["x", "<", 5]], SCHEMA)
    low = read_predicate([["y", "<", 2]], SCHEMA)
    return [
        RowCount(where),
        ConditionCounts((hit, low), where),
        CellCounts(("c",), (4,), where),
        CellCounts(("c", "x"), (4, 10), where),
        BinCounts("x", (0, 3, 7), 10, where),
        HitCounts(hit, None, 1, where),
        HitCounts(hit, "c", 4, where),
        MisfitCount("x", where),
        KindCounts((("x", (FITS, EMPTY, ABOVE)), ("c", (FITS, EMPTY))), where),
        *(Moments("x", 10, degree, by, groups, where) for degree in (1, 2) for by, groups in ((None, 1), ("c", 4))),
        Distribution("x", 10, where),
        GroupDistributions("x", 10, "c", 4, where),
        PairDistribution(("x", "y"), (10, 5), where),
    ]


def coded(folder: Path, rows: list[dict[str, int]]) -> Path:
    columns = {f"c{at}": pa.array([row[name] for row in rows], pa.int8()) for at, name in enumerate(SIZES)}
    columns |= {f"f{at}": pa.array([row[kind_name(name)] for row in rows], pa.int8()) for at, name in enumerate(SIZES)}
    path = folder / "coded-1.parquet"
    pq.write_table(pa.table(columns | {"person": pa.array(range(len(rows)), pa.int64())}), path)
    return path


def plain(value: Any) -> Any:
    if isinstance(value, Spread):
        return value.codes.tolist(), value.counts.tolist()
    return tuple(plain(part) for part in value) if isinstance(value, tuple) else value


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROW, max_size=30), chosen=st.sampled_from(WHERES))
def test_kept_counts_give_every_statistic(tmp_path: Path, rows: list[dict[str, int]], chosen: Any) -> None:
    for file in tmp_path.iterdir():
        file.unlink()
    path, where, engine = coded(tmp_path, rows), read_predicate(chosen, SCHEMA), DuckEngine()
    stem = tmp_path / "coded-1"
    scan = partial(engine.read, coded=path, schema=SCHEMA)
    kept.keep_all(stem, SCHEMA, scan, {})
    wanted = needs(where)
    assert plain(kept.read_kept(Needs(tuple(wanted)), SCHEMA, stem, scan)) == tuple(plain(n.of(rows)) for n in wanted)
    assert not kept.differing(stem, SCHEMA, scan)
    path.unlink()  # what the kept counts hold needs no row
    for need in (n for n in wanted if not where.clauses):
        assert plain(kept.read_kept(need, SCHEMA, stem, scan)) == plain(need.of(rows))


def test_a_person_changes_few_kept_counts() -> None:
    rows = [{"x": 3, "c": 1, "y": 2} | dict.fromkeys(map(kind_name, SIZES), FITS)] * 5
    other = [rows[0] | {"x": 4}, *rows[1:]]
    counts = [kept.CodeCounts(("x", "c")).of(some) for some in (rows, other)]
    assert [table[WEIGHT].tolist() for table in counts] == [[5], [4, 1]]


def test_how_far_apart_kept_codes_lie_takes_no_room() -> None:
    """One person's code may be far from all others: an array that reaches it would take milliseconds."""
    schema = Schema({"x": Number(0, 2**20 - 2), "c": Category(["a", "b"])})
    near = np.arange(20, dtype=np.int64)
    far = np.append(near[:-1], 2**20 - 2)
    peaks = []
    for codes in (near, far):
        for need in (Distribution("x", 2**20 - 1), GroupDistributions("x", 2**20 - 1, "c", 4)):
            held = {"c0": codes, "c1": codes % 2, WEIGHT: np.ones(20, dtype=np.int64)}
            tracemalloc.start()
            found = need.shape(computed(need, KeptRows(held), schema))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            spreads = found if isinstance(found, tuple) and not isinstance(found, Spread) else (found,)
            assert sum(int(spread.counts.sum()) for spread in spreads) == 20
    assert max(peaks) < 200_000


def test_a_wrong_kept_table_is_found(tmp_path: Path) -> None:
    rows = [{"x": at % 10, "c": 0, "y": 1} | dict.fromkeys(map(kind_name, SIZES), FITS) for at in range(40)]
    path, stem = coded(tmp_path, rows), tmp_path / "coded-1"
    scan = partial(DuckEngine().read, coded=path, schema=SCHEMA)
    kept.keep_all(stem, SCHEMA, scan, {})
    file = kept.place_of(stem, (0,))
    table = pq.read_table(file)
    wrong = table.set_column(2, WEIGHT, pa.array(np.array(table.column(WEIGHT)) + 1))
    pq.write_table(wrong, file)
    assert kept.differing(stem, SCHEMA, scan) == [file.name]
    assert kept.read_kept(RowCount(), SCHEMA, stem, scan) != len(rows)


def test_only_public_facts_decide_what_is_kept() -> None:
    wide = Schema({"n": Number(0, 2 * 10**6), "x": Number(0, 99), "s": dp.ItemSet(["p", "q"])})
    assert kept.keepable({"c1", "f1"}, wide) == (1,) and kept.keepable(frozenset(), wide) == (1,)
    for stored in ({"c0"}, {"c2"}, {"c0", "c1"}, {"person"}, {"fault"}):
        assert kept.keepable(stored, wide) is None


@pytest.fixture
def every_table_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LEAST_ROWS", 0)


@pytest.mark.usefixtures("every_table_is_large")
def test_kept_counts_follow_the_declaration_and_go_with_the_rows(tmp_path: Path) -> None:
    workspace = dp.open_workspace(tmp_path / "var")
    file = tmp_path / "people.csv"
    file.write_text("age,sex\n" + "".join(f"{20 + at % 60},{'fm'[at % 2]}\n" for at in range(200)))
    table = workspace.add_table(
        "people",
        file,
        schema=dp.Schema({"age": dp.Number(0, 120), "sex": dp.Category(["f", "m"])}),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget(epsilon="100", delta="1e-6"),
    )
    (folder,) = (tmp_path / "var" / "tables").iterdir()
    names = {path.name for path in folder.glob("*kept-*")}
    assert names == {"coded-1.kept-0.parquet", "coded-1.kept-1.parquet"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.glob("*kept-*"))
    table.ask(table.query("mean", column="age", by="sex", epsilon="50"))
    assert not workspace.differing_counts()
    wrong = pq.read_table(folder / "coded-1.kept-1.parquet")
    right = (folder / "coded-1.kept-1.parquet").read_bytes()
    pq.write_table(wrong.slice(1), folder / "coded-1.kept-1.parquet")
    assert workspace.differing_counts() == ["people"]
    (folder / "coded-1.kept-1.parquet").write_bytes(right)
    assert (folder / "coded-1.kept-0-1.parquet").is_file()
    table.revise(dp.Schema({"age": dp.Number(0, 60), "sex": dp.Category(["f", "m"])}))
    table = workspace.table("people")
    bars = table.ask(table.query("histogram", column="age", bins=2, epsilon="40"))
    assert sum(bars.value.values()) == pytest.approx(200, abs=20)  # the older kept counts are of ages up to 120
    assert (folder / "coded-2.kept-0.parquet").is_file()
    held = [path.read_bytes() for path in folder.glob("*kept-*")]
    assert len(held) >= 4 and all(_found(tmp_path / "var", bytes_) for bytes_ in held)
    workspace.forget("people")
    assert not list((tmp_path / "var" / "tables").rglob("*"))
    assert not any(_found(tmp_path / "var", bytes_) for bytes_ in held)
    workspace.close()


@pytest.mark.usefixtures("every_table_is_large")
@pytest.mark.parametrize("act", ["revise", "protect"])
def test_a_declaration_that_failed_leaves_no_kept_counts_to_the_next(tmp_path: Path, act: str) -> None:
    """Else sums would hold codes beyond the new range, or rows of a person beyond the new number, with the noise for
    fewer."""
    workspace = dp.open_workspace(tmp_path / "var")
    file = tmp_path / "people.csv"
    file.write_text("id,age\n" + "".join(f"{at // 50},{20 + at % 60}\n" for at in range(200)))
    age = dp.Number(0, 120)
    given: dict[str, Any] = {"unit": dp.Unit.rows(), "relation": "replace", "budget": dp.Budget("100", "1e-6")}
    workspace.add_table("people", file, schema=dp.Schema({"age": age}), **given)

    def declare(most: int) -> None:
        if act == "revise":
            workspace.revise("people", dp.Schema({"age": dp.Number(0, most)}))
        else:
            workspace.protect("people", dp.Unit.column("id", most))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Registry, "update", killed)
        patch.setattr(workspace.ledger, "protect", killed)
        patch.setattr(redeclare, "_drop", lambda *_: None)  # a killed process cleans nothing up
        with pytest.raises(KeyboardInterrupt):
            declare(40)
    assert list((tmp_path / "var" / "tables").rglob("coded-2.kept-0.parquet"))
    workspace.close()
    workspace = dp.open_workspace(tmp_path / "var")
    declare(2)
    assert not workspace.differing_counts()
    workspace.close()


def _found(folder: Path, held: bytes, size: int = 24) -> bool:
    """Do any bytes of a kept table stand in a file of the folder? Without its head and foot, which all tables share."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return any(held[at : at + size] in file for at in range(8, len(held) // 2, 4) for file in files)


@pytest.mark.usefixtures("every_table_is_large")
@pytest.mark.parametrize("unit", [dp.Unit.rows(), dp.Unit.column("id", 2)])
def test_what_is_counted_while_a_table_is_coded_is_what_a_scan_counts(tmp_path: Path, unit: dp.Unit) -> None:
    cells = {"a": ["", "3", "7.4", "-99", "1000000", "-5", "?", "x", "2.5", " 4 "], "b": ["1", "300", ""]}
    cells |= {"c": ["u", "V", "w", ""], "d": ["2020-01-05", "", "bad", "1990-01-01"], "s": ["p", "p;q", ""]}
    rows = [{"id": str(at // 3)} | {name: some[at * 7 % len(some)] for name, some in cells.items()} for at in range(90)]
    file = tmp_path / "odd.csv"
    file.write_text("\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n")
    columns: dict[str, Any] = {"a": dp.Number(0, 10, codes=[-99]), "b": dp.Number(0, 255, missing=0)}
    columns |= {"c": dp.Category(["u", "v"]), "d": dp.Date("2000-01-01", "2021-01-01"), "s": dp.ItemSet(["p", "q"])}
    workspace = dp.open_workspace(tmp_path / "var")
    with pytest.MonkeyPatch.context() as patch:  # not one column is scanned
        patch.setattr(DuckEngine, "read", lambda *_, **__: pytest.fail("a column is scanned"))
        given: dict[str, Any] = {"unit": unit, "relation": "replace", "budget": dp.Budget(epsilon="1", delta="1e-6")}
        workspace.add_table("odd", file, schema=dp.Schema(columns), **given)
    assert len(list((tmp_path / "var" / "tables").rglob("*kept-*"))) == 4 and not workspace.differing_counts()
    workspace.close()


@pytest.mark.usefixtures("every_table_is_large")
def test_a_table_that_is_stopped_at_any_step_leaves_nothing(tmp_path: Path) -> None:
    """While the file is copied, read or coded, and when its columns have been counted."""
    workspace = dp.open_workspace(tmp_path / "var")
    file = tmp_path / "people.csv"
    file.write_text("age\n" + "".join(f"{20 + at % 60}\n" for at in range(200)))
    given: dict[str, Any] = {"schema": dp.Schema({"age": dp.Number(0, 120)}), "unit": dp.Unit.rows()}
    given |= {"relation": "replace", "budget": dp.Budget(epsilon="100", delta="1e-6")}
    heard = list[float]()
    workspace.add_table("heard", file, **given, progress=heard.append)
    assert heard == sorted(heard) and heard[-1] == 1 and len(set(heard)) > 3
    workspace.forget("heard")
    for last in set(heard):

        def stop(share: float, last: float = last) -> None:
            if share >= last:
                raise dp.AllowanceError("load.cancelled")

        with pytest.raises(dp.AllowanceError) as refused:
            workspace.add_table("stopped", file, **given, progress=stop)
        assert refused.value.code == "load.cancelled"
        assert not list((tmp_path / "var" / "tables").rglob("*")) and "stopped" not in dict(workspace.names())
    workspace.close()


def test_what_a_killed_process_had_half_written_goes_a_day_later(tmp_path: Path) -> None:
    """In the folder of a table that stays; a process that is writing now is left alone."""
    table, day = tmp_path / "tables" / "known", erase.ABANDONED
    for age, name in ((day + 60, ".old"), (day - 60, ".new")):
        for path in (table / name / "coded-1.kept-0.parquet", table / f"{name}.part"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"rows")
        for path in (table / name, table / f"{name}.part"):
            os.utime(path, (time.time() - age,) * 2)
    (tmp_path / "tables" / "unknown").mkdir()
    (tmp_path / "tmp").mkdir()
    (table / "raw.parquet").write_bytes(b"rows")
    os.utime(table / "raw.parquet", (0, 0))
    erase.sweep(tmp_path, ["known"])
    left = {str(path.relative_to(table)) for path in table.rglob("*") if path.is_file()}
    assert left == {"raw.parquet", ".new.part", ".new/coded-1.kept-0.parquet"}
    assert [path.name for path in (tmp_path / "tables").iterdir()] == ["known"]
