"""What a column is asked about first follows from its declaration."""

from __future__ import annotations

import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Column
from dpengine.mechanisms import catalogue
from dpengine.planning.suggestions import FEW, first_asked

FIRST: dict[str, tuple[Column, str]] = {
    "a number": (dp.Number(0, 100), "The mean of a number"),
    "days": (dp.Date("2023-01-01", "2024-12-31"), "by month of days"),
    "many days": (dp.Date("1900-01-01", "2024-12-31"), "many days"),
    "a list": (dp.Category(["a", "b"], unknown="a", missing="b"), "a list"),
    "a long list": (dp.Category(list(map(str, range(FEW + 1))), unknown="0", missing="0"), "most common"),
    "sets": (dp.ItemSet(["a", "b"], at_most=2), "most common"),
}


@pytest.mark.parametrize("name", FIRST)
def test_every_kind_of_column_has_a_first_question(name: str) -> None:
    column, words = FIRST[name]
    schema = dp.Schema({name: column})
    facts = Facts("table", schema, dp.Unit.rows(), "replace", 1_000)
    asked = [catalogue[key].build(facts, given | {"epsilon": "1"}) for key, given in first_asked(name, schema)]
    assert words in asked[0].sentence(), asked[0].sentence()
    assert all(query.used() == {name} for query in asked)
