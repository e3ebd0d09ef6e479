"""A clerk brings what she has: an SPSS survey with its labels, and visits with the people in a second file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from browser.journeys import choose, download, no_sideways_scrolling, none_tells_people_apart
from browser.steps import go, settled, shot
from browser.test_data import CANARY, Bringing, csv_file
from browser.test_data_lines import Clicking

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import speaking

PEOPLE = 400
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
FILES = Path(__file__).parent.parent / "files"


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
def test_a_survey_in_slovene_on_a_phone(open_page: Callable[..., Any], server: Any, tmp_path: Path) -> None:
    phone = open_page(**PHONE)
    clicking = Clicking(phone, "sl", "anketa")
    phone.locator('[data-testid="stFileUploaderDropzoneInput"]').set_input_files(survey(tmp_path / "anketa.sav"))
    phone.get_by_role("heading", name=clicking.say("data.names.title")).wait_for()
    assert "How satisfied are you?" in phone.locator("ul.names").inner_text() and CANARY not in phone.content()
    clicking.look("names").press("data.names.next").on("data.unit.title").pick("data.unit.one_label")
    clicking.pick("data.relation.replace_label").press("data.next").on("data.cards.title").look("cards")
    assert "Very, Somewhat, Not at all" in phone.locator(".st-key-card-lines").inner_text()
    clicking.press("data.cards.agree_add").on("data.done.title", table="anketa").look("done")
    table = dp.open_workspace(server.home).table("anketa")
    assert dict(table.schema.category("How satisfied are you?").aliases)["1"] == "Very"


@pytest.mark.long
def test_a_locked_workbook_and_then_visits_and_people_in_slovene_on_a_phone(
    open_page: Callable[..., Any], server: Any
) -> None:
    """A real spreadsheet under a password is one sentence; a real .ods goes on from there, its people beside it."""
    phone = open_page(**PHONE)
    clicking = Clicking(phone, "sl", "obiski ods")
    given = phone.locator('[data-testid="stFileUploaderDropzoneInput"]')
    given.set_input_files(FILES / "locked.xlsx")
    phone.get_by_text(clicking.say("load.sheet_locked")).wait_for()
    no_sideways_scrolling(phone)
    clicking.look("locked")
    given.set_input_files({"name": "obiski ods.ods", "mimeType": "", "buffer": (FILES / "obiski.ods").read_bytes()})
    clicking.on("data.unit.title").pick("data.unit.more_label")
    phone.locator(".st-key-declare-who input").fill("oseba")
    phone.get_by_role("option", name="oseba", exact=True).click()
    settled(phone)
    people = "oseba,spol,remark\n" + "".join(f"p{row},{'ž' if row % 2 else 'm'},{CANARY}\n" for row in range(600))
    second = phone.locator('[data-testid="stExpander"]', has_text=clicking.say("data.join.title")).first
    second.locator("summary").click()
    second.locator("input[type=file]").set_input_files(csv_file("ljudje.csv", people))
    phone.get_by_text("ljudje.csv", exact=False).first.wait_for()
    settled(phone)
    clicking.click(phone.locator(".st-key-declare-each-usual label").filter(has_text="3").first)
    clicking.pick("data.relation.replace_label").look("people").press("data.next")
    clicking.on("data.cards.title").look("cards")
    assert CANARY not in phone.content()
    clicking.press("data.cards.agree_add").on("data.done.title", table="obiski ods").look("done")
    table = dp.open_workspace(server.home).table("obiski ods")
    assert table.facts.people == 600 and {"starost", "spol"} <= {*table.schema.columns}


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


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_last_years_declaration_and_then_both_years(page: Any, server: Any, lang: str, tmp_path: Path) -> None:
    """Last year's table is here and was asked. This year's file is declared like it: in English with one click, in
    Slovene from the file that the table's page gives. Then the two years stand side by side."""
    workspace, last, now = dp.open_workspace(server.home), f"pupils 2024 {lang}", f"pupils 2025 {lang}"
    header, rows = "town,age,points,remark", range(PEOPLE)
    cells = "".join(f"{'Kranj' if row % 2 else 'Ptuj'},{7 + row % 8},{row % 41},{CANARY}\n" for row in rows)
    (tmp_path / "last.csv").write_text(f"{header}\n{cells}", encoding="utf-8")
    columns = {"town": dp.Category(["Kranj", "Ptuj"]), "age": dp.Number(5, 20), "points": dp.Number(0, 100)}
    given: dict[str, Any] = {"schema": dp.Schema(columns), "unit": dp.Unit.rows(), "budget": dp.Budget("9", "1e-6")}
    table = workspace.add_table(last, tmp_path / "last.csv", **given)
    table.ask(table.query("mean", column="points", epsilon="2"))
    later = "".join(f"{'Kranj' if row % 3 else 'Ptuj'},{7 + row % 8},{40 + row % 41},{row} {lang}\n" for row in rows)
    go(page, f"/data?lang={lang}&table={last}")
    kept = None
    if lang == "sl":
        kept = tmp_path / "kept.declaration.json"
        download(page, page.locator(".st-key-declare-take button").first).save_as(kept)
    with speaking(lang):
        go(page, f"/data?lang={lang}")
        file = csv_file(f"{now}.csv", f"town,Age,points,room\n{later}")
        page.locator('[data-testid="stFileUploaderDropzoneInput"]').set_input_files(file)
        page.get_by_role("heading", name=say("data.unit.title")).wait_for()
        shot(page, f"data-like-{lang}-offer")
        if kept is None:
            page.get_by_role("button", name=say("data.like.do", table=last)).click()
        else:
            page.get_by_text(say("data.like.file_title")).click()
            page.locator(".st-key-card-like input[type=file]").set_input_files(kept)
        settled(page)
        none_tells_people_apart(page, lang)  # a new column might
        page.locator(".st-key-declare-next-unit button").click()
        page.get_by_role("heading", name=say("data.cards.title")).wait_for()
        settled(page)
        told = page.locator("body").inner_text()
        assert "room" in told and CANARY not in page.content()
        pair = say("data.like.pair", was="age", now="Age")
        assert pair in told, told
        shot(page, f"data-like-{lang}-columns")
        page.locator(".st-key-declare-add-now button").click()
        page.get_by_role("heading", name=now).wait_for()
        table = workspace.table(now)
        assert table.facts.people == PEOPLE and table.schema.number("points").upper == 100
        table.ask(table.query("mean", column="points", epsilon="0.6"))
        go(page, f"/answers?lang={lang}&table={now}")
        page.locator('[data-testid="stExpander"]', has_text=say("years.title")).locator("summary").click()
        choose(page, page.locator(".st-key-years-with input"), last)
        page.locator(".year-ranges").first.wait_for()
        told = page.locator("body").inner_text()
        assert say("years.differs") in told and last in told and CANARY not in page.content()
        shot(page, f"years-{lang}")
        no_sideways_scrolling(page)
