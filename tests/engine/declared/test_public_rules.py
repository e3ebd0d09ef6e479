"""What everybody knows of a table is declared with its columns and kept with them: combinations that cannot be, and
lookups by which a list can be counted."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.declared.public_rules import carry_over, check, rules_on
from dpengine.released.synthetic import FittedTable
from dpengine.workspace import Workspace

COLUMNS: dict[str, Any] = {
    "age": dp.Number(0, 79, missing=0),
    "pay": dp.Number(0, 99, missing=0),
    "town": dp.Category(["a", "b", "c", "d"], "d", "d"),
}
CHILD = [["age", "<", 20], ["pay", ">=", 10]]
REGION = {"region": ("town", [["coast", ["a", "c"]], ["hills", ["b", "d"]]])}
SCHEMA = dp.Schema(COLUMNS, never=[CHILD], lookups=REGION)  # type: ignore[arg-type]
BY = {"column": "town", "by": "region"}


def test_they_come_back_with_the_declaration_and_older_ones_read_as_before() -> None:
    again = dp.Schema.from_json(SCHEMA.as_json())
    assert again == SCHEMA and again.never == (CHILD,) and again.lookups == REGION
    bare = dp.Schema(COLUMNS)
    assert set(bare.as_json()) == {"columns"} and dp.Schema.from_json(bare.as_json()) == bare != SCHEMA


def test_a_question_by_a_lookup_is_one_by_a_list_and_needs_the_lookup_no_more() -> None:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), "replace", 100)
    rows = [{"age": 1, "pay": 1, "town": code} for code in (0, 1, 2, 2, 3)]
    query = dp.catalogue["histogram"].build(facts, {"column": BY, "epsilon": "1"})
    plain = dp.catalogue["histogram"].build(facts, {"column": "town", "epsilon": "1"})
    assert query.need().of(rows) == (3, 2) and query.labels() == ["coast", "hills"]
    assert (query.sensitivity(), query.loss()) == (plain.sensitivity(), plain.loss())
    assert "region of town" in query.sentence()
    older = Facts("t", dp.Schema(COLUMNS), dp.Unit.rows(), "replace", 100)
    assert dp.catalogue["histogram"].build(older, query.parameters()).column == query.column  # type: ignore[attr-defined]
    mean = dp.catalogue["mean"].build(facts, {"column": "pay", "by": BY, "epsilon": "1"})
    assert mean.labels() == ["coast", "hills"]
    some = dp.catalogue["count"].build(facts, {"where": [[BY, "in", ["coast"]]], "epsilon": "1"})
    assert some.need().of(rows) == 3


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"never": [[]]}, "synthetic_table.never"),
        ({"never": [CHILD] * 21}, "synthetic_table.never"),
        ({"never": [[["nobody", "<", 1]]]}, "column.unknown"),
        ({"lookups": {"month": REGION["region"]}}, "schema.lookup_name"),
        ({"lookups": {"age": REGION["region"]}}, "schema.lookup_name"),
        ({"lookups": {f"l{place}": REGION["region"] for place in range(21)}}, "schema.lookups"),
        ({"lookups": {"region": ("town", [["coast", ["nobody"]]])}}, "merged.values"),
        ({"lookups": {"region": ("age", [["old", ["1"]]])}}, "merged.column"),
    ],
)
def test_what_cannot_be_read_is_refused_when_it_is_declared(given: dict[str, Any], code: str) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        check(dp.Schema(COLUMNS, **given))
    assert refused.value.code == code


def test_a_declaration_made_anew_keeps_what_still_fits() -> None:
    kept = carry_over(SCHEMA, dp.Schema({"age": COLUMNS["age"], "town": COLUMNS["town"]}))
    assert kept.never == () and kept.lookups == REGION
    other = dp.Schema(COLUMNS | {"town": dp.Category(["x", "y"])})
    assert carry_over(SCHEMA, other).lookups == {} and carry_over(SCHEMA, other).never == (CHILD,)


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
    assert again.schema.never == (CHILD,) and again.schema.lookups == REGION
    workspace.close()
