"""What cannot be in a synthetic table, and its file: no row meets a rule, and what was written is read back."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import dpengine as dp
from dpengine.core.types import Integers
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import base
from dpengine.mechanisms.synthetic.rules import valued
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.messages.language import speaking
from dpengine.released.look import Look
from dpengine.released.synthetic import FittedTable
from dpengine.storage import erase

A_OR_B = {"column": "t", "merged": [["a or b", ["a", "b"]]]}
BY_DAY = {"column": "day", "by": "weekday"}
FAR = [["t", "=", "a"], ["y", "<", 40]], [["t", "=", "a"], ["y", ">", 60]]
WHOLE = [["any", [["y", "<", 40], ["y", ">=", 40]]], ["t", "=", "a"]]


def asked(columns: list[Any], never: list[Any], **more: Any) -> SyntheticTable:
    schema = dp.Schema(
        {
            "t": dp.Category(["a", "b", "c"]),
            "y": dp.Number(0, 999),
            "day": dp.Date("2024-01-01", "2024-03-31"),
            "fine": dp.Number(0, 9_999_990),
        }
    )
    given = {"columns": columns, "never": never, "epsilon": "1"} | more
    query = dp.catalogue["synthetic_table"].build(Facts("t", schema, dp.Unit.rows(), "replace", 4_000), given)
    assert isinstance(query, SyntheticTable)
    return query


def of(query: SyntheticTable, path: Path = Path("nowhere")) -> FittedTable:
    return FittedTable(query, Look(query, [0] * 9), path)


def any_rows(query: SyntheticTable) -> list[Integers]:
    rng = np.random.default_rng(5)
    return [rng.integers(0, axis.size, 4_000) for axis in query.axes]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("columns", "never"),
    [
        (["t", "y"], [*FAR]),
        (["t", "y"], [WHOLE]),
        (["y", A_OR_B], [[["t", "=", "c"], ["y", "<", 150]]]),
        (["y", A_OR_B], [[["t", "=", "a"], ["y", "<", 150]], [["t", "=", "b"], ["y", ">", 120]]]),
        ([BY_DAY, "y"], [[["day", ">", "2024-01-03"], ["y", "<", 400]], [["day", "<", "2024-03-01"], ["y", ">", 390]]]),
    ],
    ids=["two rules", "any", "values together", "values together by two rules", "weekdays"],
)
def test_no_row_meets_a_rule_whatever_the_others_say(columns: list[Any], never: list[Any]) -> None:
    """Held against every value that a told cell may stand for, one by one."""
    query = asked(columns, never)
    rows = of(query).arrow(any_rows(query)).to_pydict()
    schema = query.facts.schema

    of_value = {
        name: {one.value(code): code for code in range(one.size)} for name, one in list(schema.columns.items())[:3]
    }

    @cache
    def may_be(place: int, told: Any) -> list[int]:
        axis = query.axes[place]
        name = base(axis.ref)
        if told is None:
            return [-1]
        if valued(axis, query.facts):
            return [of_value[name][told]]
        cell = query.cell_labels[place].index(told)
        return [code for code in range(schema[name].size) if axis.of({name: code, f"kind {name}": 0}) == cell]

    names = [base(ref) for ref in query.columns]
    found = {tuple(rows[name][row] for name in names) for row in range(4_000)}
    assert len(found) > 100, "no power"
    for told in found:
        values = product(*(may_be(place, one) for place, one in enumerate(told)))
        fine = (not any(rule.holds(dict(zip(names, one, strict=True))) for rule in query.never) for one in values)
        assert any(fine), told


def test_rules_on_a_fine_grid_are_looked_up() -> None:
    """Ten million values are not gone through one by one: that took seconds for each of hundreds of calls."""
    query = asked(["t", "fine"], [[["t", "=", "a"], ["fine", "<", 4_321_987]]])
    [pieces] = [len(column.starts) for column in query.rules.columns if column.name == "fine"]
    assert pieces < 100 and query.rules.possible(any_rows(query)).mean() < 0.95


@pytest.mark.parametrize(
    ("columns", "never", "code"),
    [
        (["t", "y"], [[["y", "<", 50]], [["y", ">=", 50]]], "synthetic_table.nothing"),
        (["t", "y"], [[["y", ">=", 0]]], "synthetic_table.nothing"),
    ],
)
def test_rules_that_leave_nothing_are_refused_before_anything_is_spent(
    columns: list[Any], never: list[Any], code: str
) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        asked(columns, never)
    assert refused.value.code == code


def test_rows_are_read_back_as_they_were_written_in_every_language(tmp_path: Path) -> None:
    """Values outside a list have a name in each language; rows without a value are not those that do not fit."""
    query = asked(["t", "y"], [])
    made = of(query, tmp_path / "made.parquet")
    codes = any_rows(query)
    with speaking("sl"):
        pq.write_table(made.arrow(codes), made.path)
        words = set(made.table().column("t").to_pylist())
    with speaking("en"):
        assert made.table().column_names == ["t", "y"] and words != set(made.table().column("t").to_pylist())
        for name, code in zip(("t", "y"), codes, strict=True):
            assert made.counts(name).tolist() == np.bincount(code).tolist()


def test_a_file_that_is_being_written_is_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = asked(["t", "y"], [])
    made, seen = of(query, tmp_path / "made.parquet"), []
    made.targets, made.rows = [], 100
    monkeypatch.setattr("dpengine.released.synthetic.fitted", lambda *given, **more: None)
    monkeypatch.setattr(FittedTable, "_whole", lambda self, points: any_rows(query))
    monkeypatch.setattr(FittedTable, "_tried", lambda self: None)
    write = pq.write_table

    def swept(told: Any, part: Path, **more: Any) -> None:
        write(told, part, **more)
        seen.append(part)
        erase.sweep_published(tmp_path, lambda: {"made.parquet"})

    monkeypatch.setattr(pq, "write_table", swept)
    made.make()
    made.path.unlink()
    made.make()
    assert made.ready and len(set(seen)) == 2, "two threads would write into one file"
