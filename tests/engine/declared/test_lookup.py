"""A public lookup joined to a list: its groups are counted like values, and nothing of it is held against the rows."""

from __future__ import annotations

import pytest
from helpers_shapes import SCHEMA

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped
from dpengine.declared.merging import read_lookup
from dpengine.mechanisms.marginals.overview import Overview

TOWNS = dp.Category(["Koper", "Piran", "Kranj", "Bled"], aliases={"Capodistria": "Koper"})


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_districts_are_told_by_their_regions(sign: str) -> None:
    lines = ["town,region", "Capodistria,coast", " piran ,coast", "Bled,north", "Rome,abroad"]
    found = read_lookup("\ufeff" + "\r\n".join(line.replace(",", sign) for line in lines), TOWNS)
    assert found.groups == (("coast", ("Koper", "Piran")), ("north", ("Bled",)))
    assert found.strange == 2 and found.alone == ("Kranj", "other", "no answer")
    facts = Facts("t", dp.Schema({"town": TOWNS, "sex": SCHEMA["sex"]}), dp.Unit.rows(), "replace", 100)
    given = {"columns": [{"column": "town", "merged": found.as_json()}, "sex"], "against": ["sex"], "epsilon": "1"}
    query = dp.catalogue["overview"].build(facts, given)
    assert isinstance(query, Overview) and isinstance(query.columns[0], Grouped)
    assert query.columns[0].labels == ("coast", "Kranj", "north", "other", "no answer")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" \n", "lookup.lines"),
        ("Koper", "lookup.columns"),
        ("Rome,abroad", "lookup.none"),
        ("Koper,", "lookup.none"),
        ("Koper,coast\nKoper,north", "lookup.twice"),
        ("Koper,coast\n" * 5_001, "lookup.lines"),
    ],
)
def test_a_list_that_cannot_be_used_gets_one_sentence(text: str, code: str) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        read_lookup(text, TOWNS)
    assert refused.value.code == code
