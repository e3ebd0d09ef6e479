"""A clerk brings what she has: an SPSS survey with its labels, and visits with the people in a second file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from browser.steps import settled
from browser.test_data import CANARY, Bringing, csv_file

import dpengine as dp

PEOPLE = 400


def survey(path: Path) -> Path:
    rows = pd.DataFrame(
        {
            "q1": [float(1 + number % 3) for number in range(PEOPLE)],
            "v2": [float(1 + number % 2) for number in range(PEOPLE)],
            "age": [float(20 + number % 60) for number in range(PEOPLE)],
            "remark": [CANARY] * PEOPLE,
        }
    )
    labels = {"q1": {1: "Very", 2: "Somewhat", 3: "Not at all", 9: "Refused"}, "v2": {1: "Male", 2: "Female"}}
    names = {"q1": "How satisfied are you?", "v2": "Sex", "age": "Age in years"}
    given: dict[str, Any] = {"column_labels": names, "variable_value_labels": labels, "missing_ranges": {"q1": [9]}}
    pyreadstat.write_sav(rows, path, **given)
    return path


@pytest.mark.long
def test_a_survey_with_its_labels(page: Any, server: Any, tmp_path: Path) -> None:
    bringing = Bringing(page, "survey", "names", "cards")
    bringing.upload(survey(tmp_path / "survey of 2024.sav"), "Are these the columns?", "names")
    assert "How satisfied are you?" in page.locator("ul.names").inner_text()
    bringing.press("Yes, go on", "Can one person", "unit").pick("one row each").pick("only the details")
    bringing.press("Go on", "What can be in the columns?", "cards")
    lines = page.locator(".st-key-card-lines").inner_text()
    assert "Very, Somewhat, Not at all" in lines and "Male, Female" in lines
    page.locator(".st-key-declare-add-now button").click()
    page.get_by_role("heading", name="is ready").wait_for()
    bringing.look("done")
    table = dp.open_workspace(server.home).table("survey of 2024")
    declared = table.schema.category("How satisfied are you?")
    assert table.facts.people == PEOPLE and dict(declared.aliases)["1"] == "Very"


@pytest.mark.long
def test_visits_and_the_people_in_a_second_file(page: Any, server: Any) -> None:
    visits = "patient,cost,remark\n" + "".join(f"p{row % 300},{row % 90},{CANARY}\n" for row in range(900))
    people = "patient,age,remark\n" + "".join(f"p{row},{20 + row % 60},{CANARY}\n" for row in range(PEOPLE))
    bringing = Bringing(page, "two-files", "unit", "cards")
    bringing.upload(csv_file("clinic visits.csv", visits), "Are these the columns?", "names")
    bringing.press("Yes, go on", "Can one person", "unit").pick("not sure")
    page.locator(".st-key-declare-who input").fill("patient")
    page.get_by_role("option", name="patient", exact=True).click()
    settled(page)
    second = page.locator('[data-testid="stExpander"]', has_text="in a second file").first
    second.locator("summary").click()
    second.locator("input[type=file]").set_input_files(csv_file("people.csv", people))
    page.get_by_text("Every row of clinic visits.csv gets these columns").wait_for()
    bringing.fill("Another number", "5").pick("only the details").look("unit")
    bringing.press("Go on", "What can be in the columns?", "cards")
    page.locator(".st-key-declare-add-now button").click()
    page.get_by_role("heading", name="is ready").wait_for()
    table = dp.open_workspace(server.home).table("clinic visits")
    assert table.facts.people == PEOPLE and {"cost", "age"} <= {*table.schema.columns}
