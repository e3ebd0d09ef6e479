"""A declaration is taken away as one file and brought again; nothing of the rows is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect

CANARY = "zebra7421"
SCHEMA = dp.Schema(
    {
        "age": dp.Number(0, 120, codes=[999]),
        "way": dp.Category(["bus", "car"], aliases={"1": "bus"}),
        "day": dp.Date("2024-01-01", "2024-12-31", "dmy"),
        "tags": dp.ItemSet(["a", "b", "c"], "|", 2),
    }
)
DIALECT = Dialect(separator=";", decimal=",", thousands=".")


def table(tmp_path: Path) -> dp.Table:
    path = tmp_path / "visits.csv"
    path.write_text(f"who;age;way;day;tags;note\n{CANARY};31;bus;1.2.2024;a|b;{CANARY}\nb;31;1;1.2.2024;c;x\n", "utf-8")
    given: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.column("who", 3), "relation": "add_remove"}
    workspace = dp.open_workspace(tmp_path / "home")
    return workspace.add_table(
        "stays", path, **given, dialect=DIALECT, about_rows=41_413, budget=dp.Budget("2.71", "1e-6")
    )


def test_what_was_declared_comes_back_and_nothing_else_is_in_the_file(tmp_path: Path) -> None:
    declared = table(tmp_path).declaration()
    text = declared.text()
    again = dp.Declaration.read(text)
    assert again == declared and again.terms()["schema"].as_json() == SCHEMA.as_json()
    assert again.header == ("who", "age", "way", "day", "tags", "note")
    assert CANARY not in text and "41413" not in text and "2.71" not in text


def test_other_programs_read_columns_and_ranges(tmp_path: Path) -> None:
    data = json.loads(table(tmp_path).declaration().text())
    columns = {column["name"]: column for column in data["tableSchema"]["columns"]}
    assert data["@context"] == "http://www.w3.org/ns/csvw" and data["dialect"]["delimiter"] == ";"
    assert columns["age"]["datatype"] == {"base": "integer", "minimum": "0", "maximum": "120"}
    assert columns["age"]["null"] == ["", "999"] and columns["tags"]["separator"] == "|"


def test_next_years_file_is_told_what_differs(tmp_path: Path) -> None:
    declared = table(tmp_path).declaration()
    fitted, differs = declared.fitted(["who", " Age", "way", "day", "note", "cost"])
    assert differs.absent == ("tags",) and differs.fresh == ("cost",) and differs.renamed == (("age", " Age"),)
    assert list(fitted.schema.columns) == [" Age", "way", "day"] and not differs.who
    assert declared.fitted(["age", "way", "day", "tags"])[1].who == "who"
    same, nothing = declared.fitted(list(declared.header))
    assert not nothing and same.terms() == declared.terms()


def test_the_column_that_tells_people_apart_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("tag,age\nx,1\ny,2\n", "utf-8")
    terms: dict[str, Any] = {"schema": dp.Schema({"age": dp.Number(0, 9)}), "unit": dp.Unit.rows()}
    workspace = dp.open_workspace(tmp_path / "home")
    added = workspace.add_table("list", path, **terms, relation="replace", budget=dp.Budget("1", "1e-6"), whose="tag")
    declared = dp.Declaration.read(added.declaration().text())
    assert declared == added.declaration() and declared.whose == declared.terms()["whose"] == "tag"
    assert declared.fitted([" Tag", "age"])[0].whose == " Tag" and declared.fitted(["age"])[0].whose == ""


def test_a_table_is_declared_like_the_last(tmp_path: Path) -> None:
    first = table(tmp_path)
    newer = tmp_path / "newer.csv"
    newer.write_text("who;age;way;day;tags;note\nc;41;car;2.2.2024;a;y\n", "utf-8")
    declared, _ = dp.Declaration.read(first.declaration().text().encode()).fitted(first.facts.header)
    terms = declared.terms()
    added = dp.open_workspace(tmp_path / "home").add_table(
        "next year", newer, **terms, about_rows=1_000, budget=dp.Budget("1", "1e-6")
    )
    assert added.declaration().terms() == terms and added.budget.id != first.budget.id


@pytest.mark.parametrize(
    "text",
    ["", "no", "[]", "{}", '{"allowance": 1}', '{"allowance": {"version": 1}}', "[" * 100_000, b"\xff\xfe", "null"],
)
def test_what_is_no_declaration_is_one_sentence(text: str | bytes) -> None:
    with pytest.raises(AllowanceError) as refusal:
        dp.Declaration.read(text)
    assert refusal.value.code == "declaration.unreadable"


def test_a_wrong_declaration_is_refused_as_if_it_was_typed(tmp_path: Path) -> None:
    data = table(tmp_path).declaration().as_json()
    for part, value, code in (
        ("version", 2, "declaration.newer"),
        ("relation", "none", "relation.unknown"),
        ("unit", {"kind": "column", "column": "who", "at_most": 0}, "unit.at_most"),
        ("schema", data["allowance"]["schema"] | {"lookups": {}}, "schema.unknown_key"),
        ("schema", {"columns": [["a", {"kind": "number", "lower": 0, "upper": 1, "more": 1}]]}, "schema.unknown_key"),
    ):
        with pytest.raises(AllowanceError) as refusal:
            dp.Declaration.read(json.dumps(data | {"allowance": data["allowance"] | {part: value}}))
        assert refusal.value.code == code
    with pytest.raises(AllowanceError) as refusal:
        dp.Declaration.read(json.dumps(data)).fitted(["something", "else"])
    assert refusal.value.code == "declaration.other"
