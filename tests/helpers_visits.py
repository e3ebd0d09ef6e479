"""A table of visits, several for each patient, and answers about it as a page gets them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.declared.facts import Facts

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


MONTHS = {f"2024-{month:02d}": 500 for month in range(1, 12)} | {"2024-12": 5_000}
OF_MONTHS, WEEK = {"column": "day", "by": "month"}, {"column": "day", "by": "weekday"}
