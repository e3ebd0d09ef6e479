"""A table of visits, several for each patient, read by somebody who counts both: what is tapped is what is asked, and
what is said of rows is not said of people."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from helpers_page import open_page

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.messages.language import speaking
from ui.parts import preview
from ui.parts.counted import finding

SCHEMA = dp.Schema(
    {
        "sex": dp.Category(["ženska", "moški"]),
        "wait": dp.Number(0, 240),
        "day": dp.Date("2024-01-01", "2024-12-31"),
        "ward": dp.Category([f"ward {place}" for place in range(4)]),
    }
)
WOMEN = [["sex", "in", ["ženska"]]]


def answered(key: str, value: Any, interval: Any = None, **given: Any) -> dp.Answer:
    facts = Facts("clinic", SCHEMA, dp.Unit.column("patient", 3), "add_remove", 5_000, ("patient", *SCHEMA.columns))
    query = dp.catalogue[key].build(facts, {"epsilon": "0.1"} | given)
    receipt = {"table": "clinic", "charge": {"hash": "abcdef0123"}}
    return dp.Answer(value, interval, query.promise(), receipt, query, "request", "2026-11-16T04:14:00")


@pytest.fixture
def visits(home: dp.Workspace) -> dp.Table:
    places = range(6_000)
    frame = pd.DataFrame(
        {
            "patient": [str(place // 2) for place in places],
            "sex": ["ženska" if place % 4 < 2 else "moški" for place in places],
            "wait": [str(place % 200) for place in places],
            "day": ["2024-03-05" for _ in places],
            "ward": [f"ward {place % 4}" for place in places],
        }
    )
    return home.add_table(
        "our visits",
        frame,
        schema=SCHEMA,
        unit=dp.Unit.column("patient", 3),
        relation="add_remove",
        about_rows=600,
        budget=dp.Budget("9", "1e-6"),
    )


@pytest.mark.parametrize("people", [False, True])
def test_what_is_tapped_is_what_is_asked(visits: dp.Table, people: bool) -> None:
    tapped = visits.query("count", epsilon="0.1", where=WOMEN, people=people)
    app = open_page("ask", **preview.link(visits, tapped))
    assert [toggle.value for toggle in app.toggle if "people" in str(toggle.key)] == [people]


def test_rows_that_are_cut_are_not_said_of_everybody() -> None:
    everybody = answered("count", 5_187, (5_100, 5_270), people=True)
    women = answered("count", 2_187, (2_100, 2_270), people=True, where=WOMEN)
    rows = answered("count", 2_187, (2_100, 2_270), where=WOMEN)
    assert "3" not in finding(everybody)
    assert "At most 3 rows of each person are looked at; in truth there may be more people." in finding(women)
    assert "At most 3 rows of a person counted; in truth there may be more." in finding(rows)
    with speaking("sl"):
        assert "3" not in finding(everybody)
        assert "Pri vsaki osebi štejejo največ 3 vrstice; v resnici je oseb lahko več." in finding(women)
        assert "Šteje največ 3 vrstice na osebo; v resnici jih je lahko več." in finding(rows)
