"""Days and numbers in groups on Ask: picked, drawn from a link, and in the question as it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers_page import html_of, open_page
from streamlit.testing.v1 import AppTest

import dpengine as dp
from ui.parts import conditions

WEEKDAY = {"column": "visited", "by": "weekday"}


@pytest.fixture(scope="module")
def visits(shared: dp.Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Table]:
    file = Path(tmp_path_factory.mktemp("visits")) / "v.csv"
    days = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    lines = [f"{day},{18 + at % 70},{'AB'[at % 2]}" for at, day in enumerate(days * 3)]
    file.write_text("visited,age,town\n" + "\n".join(lines) + "\n")
    schema = dp.Schema(
        {
            "visited": dp.Date("2023-11-01", "2024-12-31"),
            "age": dp.Number(18, 99, missing=18),
            "town": dp.Category(["A", "B"]),
        }
    )
    yield shared.add_table("calls", file, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("3", "1e-6"))


def asked(app: AppTest) -> dict[str, Any]:
    told = {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}
    return {name: json.loads(value) if value.startswith(("{", "[")) else value for name, value in told.items()}


@pytest.mark.long
def test_groups_of_days_and_numbers_are_offered_by(visits: dp.Table) -> None:
    app = open_page("ask", table="calls", q="mean", column="age", epsilon="0.1")
    by = app.selectbox(key="ask-by-mean-0" if "ask-by-mean-0" in app.session_state else "ask-by-mean")
    assert [option for option in by.options if "visited" in option] == [
        "month of visited",
        "quarter of visited",
        "year of visited",
        "weekday of visited",
        "month of the year of visited",
    ]
    by.set_value(json.dumps(WEEKDAY)).run()
    assert not app.exception
    assert asked(app)["by"] == WEEKDAY


@pytest.mark.long
def test_a_link_with_groups_is_drawn_and_stays(visits: dp.Table) -> None:
    for by in (WEEKDAY, {"column": "age", "step": "20"}, {"column": "age", "edges": ["30", "65"]}):
        app = open_page("ask", table="calls", q="count", by=json.dumps(by), epsilon="0.1")
        assert asked(app)["by"] == by, html_of(app)


def test_the_columns_of_a_crosstab_may_be_groups(visits: dp.Table) -> None:
    columns = ["town", {"column": "visited", "by": "quarter"}, {"column": "age", "step": "25"}]
    app = open_page("ask", table="calls", q="crosstab", columns=json.dumps(columns), epsilon="0.3")
    assert asked(app)["columns"] == columns


def test_a_condition_on_weekdays_is_picked(visits: dp.Table) -> None:
    rows = [[WEEKDAY, "in", ["Saturday", "Sunday"]]]
    app = open_page("ask", table="calls", q="count", where=json.dumps(rows), epsilon="0.1")
    assert asked(app)["where"] == rows
    app = open_page("ask", table="calls", q="count", where=json.dumps(rows), epsilon="0.1", lang="sl")
    (picked,) = [one for one in app.multiselect if "groups-weekday" in str(one.key)]
    assert "ponedeljek" in picked.options and picked.value == ["Saturday", "Sunday"]


def test_the_first_step_of_a_number_makes_a_few_groups() -> None:
    told = [
        (dp.Number(0, 120), "10"),
        (dp.Number(18, 99), "10"),
        (dp.Number(0, 100_000), "10000"),
        (dp.Number(0, 1, step="0.01"), "0.1"),
        (dp.Number(0, 3), "1"),
    ]
    assert [str(float(conditions.usual_step(one))).removesuffix(".0") for one, _ in told] == [step for _, step in told]


@pytest.mark.long
def test_an_answer_by_weekday_speaks_the_readers_language(visits: dp.Table) -> None:
    visits.ask(visits.query("count", by=WEEKDAY, epsilon="1"), request_id="weekdays")
    assert "ponedeljek" in html_of(open_page("ask", table="calls", answer="weekdays", lang="sl"))
    assert "Monday" in html_of(open_page("ask", table="calls", answer="weekdays"))


@pytest.mark.long
def test_people_are_counted_by_group_too(shared: dp.Workspace) -> None:
    """It is offered first where a person may have several rows, and led into a refusal."""
    app = open_page("ask", table="visits", q="count", by="reason", epsilon="0.2")
    assert app.toggle[0].value is True and 'class="hint"' not in html_of(app) and 'class="refused"' not in html_of(app)
    assert [one for one in app.button if one.label.startswith("Ask") and not one.disabled], [
        one.label for one in app.button
    ]
    query = shared.table("visits", visitor="local").query("count", by="reason", people=True, epsilon="0.2")
    assert query.unit == "people" and query.limits() == (0, query.facts.about)
