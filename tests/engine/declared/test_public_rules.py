"""What everybody knows of a table is declared with its columns and kept with them: combinations that cannot be."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.declared.public_rules import carry_over, check, rules_on
from dpengine.released.synthetic import FittedTable
from dpengine.workspace import Workspace

COLUMNS: dict[str, Any] = {
    "age": dp.Number(0, 79, missing=0),
    "pay": dp.Number(0, 99, missing=0),
    "town": dp.Category(["a", "b", "c", "d"], "d", "d"),
}
CHILD = [["age", "<", 20], ["pay", ">=", 10]]
SCHEMA = dp.Schema(COLUMNS, never=[CHILD])  # type: ignore[arg-type]


def test_they_come_back_with_the_declaration_and_older_ones_read_as_before() -> None:
    again = dp.Schema.from_json(SCHEMA.as_json())
    assert again == SCHEMA and again.never == (CHILD,)
    bare = dp.Schema(COLUMNS)
    assert set(bare.as_json()) == {"columns"} and dp.Schema.from_json(bare.as_json()) == bare != SCHEMA


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"never": [[]]}, "synthetic_table.never"),
        ({"never": [CHILD] * 21}, "synthetic_table.never"),
        ({"never": [[["nobody", "<", 1]]]}, "column.unknown"),
    ],
)
def test_what_cannot_be_read_is_refused_when_it_is_declared(given: dict[str, Any], code: str) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        check(dp.Schema(COLUMNS, **given))
    assert refused.value.code == code


def test_a_declaration_made_anew_keeps_what_still_fits() -> None:
    kept = carry_over(SCHEMA, dp.Schema({"age": COLUMNS["age"], "town": COLUMNS["town"]}))
    assert kept.never == ()
    other = dp.Schema(COLUMNS | {"town": dp.Category(["x", "y"])})
    assert carry_over(SCHEMA, other).never == (CHILD,)


def test_a_synthetic_table_keeps_the_rules_of_its_table_unasked(tmp_path: Any) -> None:
    workspace = Workspace(tmp_path)
    frame = pd.DataFrame({"age": [str(place % 80) for place in range(400)], "pay": ["50"] * 400, "town": ["a"] * 400})
    table = workspace.add_table("t", frame, schema=SCHEMA, unit=dp.Unit.rows(), budget=dp.Budget("20", "1e-6"))
    query = table.query("synthetic_table", columns=["age", "pay"], epsilon="2")
    assert query.own_json()["never"] == [CHILD] == rules_on(table.schema, ["age", "pay", "town"])  # type: ignore[comparison-overlap]
    assert "never" not in table.query("synthetic_table", columns=["age", "town"], epsilon="2").own_json()
    made = table.synthetic(table.ask(query))
    assert isinstance(made, FittedTable)
    rows = made.table().to_pandas()
    assert not ((rows["age"] < 20) & (rows["pay"] >= 10)).any()
    again = workspace.table("t").revise(dp.Schema(COLUMNS))
    assert again.schema.never == (CHILD,)
    workspace.close()
