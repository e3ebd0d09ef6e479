"""A list that is said to be complete: no label beside its values, and other cells are one of them without a sign."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Schema, extra_labels
from dpengine.declared.unit import Unit
from dpengine.intake.encode import encode
from dpengine.mechanisms import catalogue
from dpengine.workspace import Workspace

SIZES = (7, 5, 6, 4, 3, 3)  # 7,560 combinations; with “other” and “no answer” 75,600


def _columns(complete: bool) -> dict[str, dp.Category]:
    return {
        f"c{at}": dp.Category([f"v{one}" for one in range(many)], complete=complete) for at, many in enumerate(SIZES)
    }


def _facts(columns: dict[str, dp.Category]) -> Facts:
    return Facts("t", Schema(dict(columns)), Unit.rows(), "replace", 1000)


def test_a_complete_list_has_its_values_and_no_others() -> None:
    column = dp.Category(["a", "b"], complete=True)
    assert column.labels == ("a", "b") and extra_labels(column) == [] and column.unknown == column.missing == "a"
    again = Schema.from_json(Schema({"c": column}).as_json())["c"]
    assert again == column and again.as_json()["complete"] is True
    assert dp.Category(["a", "b"], complete=True, unknown="B").missing == "b"
    with pytest.raises(dp.AllowanceError) as refused:
        dp.Category(["a", "b"], complete=True, unknown="other")
    assert refused.value.code == "category.complete"


def test_declarations_from_before_are_written_as_they_were() -> None:
    """What is written is hashed: old tables keep their fingerprints."""
    assert dp.Category(["a", "b"]).as_json() == {
        "kind": "category",
        "values": ["a", "b"],
        "unknown": "other",
        "missing": "no answer",
    }
    closed = dp.Category(["a", "b"], unknown="b", missing="a")
    assert "complete" not in closed.as_json() and not closed.complete and "" in closed.fitting()
    assert dp.Category(["a", "b"], unknown="a", missing="a") != dp.Category(["a", "b"], complete=True)


def test_cells_outside_become_the_fixed_value_and_are_still_counted_as_not_fitting(tmp_path: Path) -> None:
    schema = Schema({"c": dp.Category(["a", "b"], unknown="b", complete=True)})
    cells = pa.array(["a", "b", "ship", "", None, "B "], pa.string())
    pq.write_table(pa.table({"c": cells}), tmp_path / "raw")
    encode(tmp_path / "raw", schema, dp.Dialect(), tmp_path / "coded")
    found = pq.read_table(tmp_path / "coded").to_pydict()
    misfits = [kind < 0 for kind in found["f0"]]
    assert found["c0"] == [0, 1, 1, 1, 1, 1] and misfits == [False, False, True, True, True, False]


def test_what_is_asked_of_a_complete_list(tmp_path: Path) -> None:
    home = Workspace(tmp_path / "var")
    frame = pd.DataFrame({"c": ["a", "b", "ship", None] * 500})
    table = home.add_table(
        "people",
        frame,
        schema=Schema({"c": dp.Category(["a", "b"], complete=True)}),
        unit=Unit.rows(),
        relation="replace",
        budget=dp.Budget("99", "1e-6"),
    )
    bars = table.ask(table.query("histogram", column="c", epsilon="20")).value
    assert list(bars) == ["a", "b"] and abs(bars["a"] - 1500) < 20  # false alarm: below 10^-80
    assert abs(table.ask(table.query("fit_check", column="c", epsilon="20")).value - 1000) < 20
    home.close()


def test_six_columns_are_too_many_combinations_where_their_lists_are_open() -> None:
    names = {"columns": list(_columns(True)), "epsilon": "1"}
    with pytest.raises(dp.AllowanceError) as refused:
        catalogue["small_database"].build(_facts(_columns(False)), names)
    assert refused.value.code == "synthetic.cells_open"
    told = str(refused.value)
    assert "75,600 combinations" in told and "at most 10,000" in told and "7,560" in told and "complete" in told


def test_a_crosstab_says_which_limit_was_met() -> None:
    lists = {
        name: dp.Category([str(one) for one in range(many)]) for name, many in (("a", 100), ("b", 99), ("d", 3000))
    }
    for names, told in ((["a", "b"], "Without “other”"), (["a", "d"], "Choose shorter lists")):
        with pytest.raises(dp.AllowanceError, match=told) as refused:
            catalogue["crosstab"].build(_facts(lists), {"columns": names, "epsilon": "1"})
        assert f"{102 * (101 if 'b' in names else 3002):,} combinations; at most 10,000" in str(refused.value)


def test_numbers_and_days_in_a_crosstab_without_saying_how() -> None:
    """They are told in groups that follow from the declared range alone, and the question says which."""
    schema = Schema(
        {"age": dp.Number(0, 120), "day": dp.Date("2024-01-01", "2024-12-31"), "sex": dp.Category(["f", "m"])}
    )
    facts = Facts("t", schema, Unit.rows(), "replace", 1000)
    query = catalogue["crosstab"].build(facts, {"columns": ["age", "day", "sex"], "epsilon": "1"})
    assert query.parameters()["columns"] == [{"column": "age", "step": "10"}, {"column": "day", "by": "month"}, "sex"]
    again = catalogue["crosstab"].build(facts, query.parameters())
    assert again == query and len(query.labels()) == 13 * 12 * 4
    counted = query.need().of([{"age": 35, "day": 40, "sex": 1}, {"age": -1, "day": 40, "sex": 1}])  # type: ignore[attr-defined]
    assert sum(counted) == 1
