"""Declare a file like an earlier table, or from a statistics file's own code book."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from helpers_declare import CANARY, Page

import dpengine as dp
from dpengine.intake.foreign import CodedColumn
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.data.draft import Card, column_of

FIRST = "whose,age,stay,left\nana,33,1,0\nana,37,2,0\nbor,41,1,0\n"
NEXT = "whose,Age,left,cost\nana,33,0,12\neva,37,0,13\n"


@pytest.fixture
def page(shared: object) -> Page:
    return Page()


def test_next_years_file_is_declared_with_one_click(page: Page) -> None:
    page.upload(FIRST, "stays.csv").to("unit").set("declare-unit", "more").set("declare-who", "whose")
    page.set("declare-each", 3).set("declare-relation", "replace").press("Go on")
    page.set("declare-2-kind", "number").set("declare-2-lower", "0").set("declare-2-upper", "30").set(
        "declare-2-step", "1"
    )
    page.click("declare-2-right")
    first = page.finish("stays")
    again = Page().upload(NEXT, "stays 2.csv").to("unit")
    labels = [button.label for button in again.app.button]
    assert say("data.like.do", table="stays") in labels
    again.press(say("data.like.do", table="stays"))
    assert again.draft.step == "cards" and again.draft.who == "whose" and again.draft.each == 3
    assert again.draft.relation == "replace" and again.draft.state("Age") == "settled"
    assert say("data.like.absent", columns=["stay"], many=1) in again.text
    assert say("data.like.fresh", columns=["cost"], many=1) in again.text
    assert again.draft.state("left") == "out"
    page_of = Page()
    page_of.app.query_params["table"] = "stays"
    page_of.run()
    assert dp.Declaration.read(first.declaration().text()).unit == dp.Unit.column("whose", 3)


def test_a_survey_brings_its_labels_as_guesses(page: Page, tmp_path: Path) -> None:
    rows = pd.DataFrame({"q1": [1.0, 2.0, 99.0], "note": [CANARY] * 3, "v3": [5.0, 6.0, 7.0], "born": [1.0, 2.0, 3.0]})
    pyreadstat.write_sav(
        rows,
        tmp_path / "a.sav",
        column_labels={"q1": "How satisfied?", "v3": "Points"},
        variable_value_labels={"q1": {1: "Good", 2: "Bad = worse", 99: "Refused"}},
        missing_ranges={"q1": [99], "v3": [7]},
        variable_format={"born": "DATE11"},
    )
    page.upload((tmp_path / "a.sav").read_bytes(), "survey.sav")
    assert page.draft.step == "names" and page.draft.names == ["How satisfied?", "note", "Points", "born"]
    assert say("data.names.coded", many=2) in page.text
    page.press("Yes, go on").to("cards")
    card = page.draft.card("How satisfied?")
    assert card.listed == "Good = 1\nBad – worse = 2\nno answer = 99" and page.draft.state("How satisfied?") == "guess"
    assert page.draft.card("Points").codes == "7" and page.draft.card("born").order == "ymd"
    page.click("declare-back-cards").click("declare-back-unit")
    page.app.toggle[0].set_value(False)
    assert page.run().draft.names == ["q1", "note", "v3", "born"]


@pytest.mark.long
def test_a_scale_with_labels_at_its_ends_is_asked_about(page: Page, tmp_path: Path) -> None:
    """Its numbers in between would be lost as a list, so no single click takes it for one. Labels that all say “no
    answer” make no list."""
    rows = pd.DataFrame({name: [1.0, 5.0, 77.0] for name in ("trust", "income", "sex", "done")})
    labels: dict[str, Any] = {
        "trust": {0: "None at all", 10: "Complete", 77: "Refused (unprompted)", 88: "Don't know"},
        "income": {77: "Refused", 88: "Ne vem"},
        "sex": {1: "Male", 2: "Female", 9: "Refused"},
        "done": {1: "Yes", 5: "No"},
    }
    pyreadstat.write_sav(rows, tmp_path / "a.sav", variable_value_labels=labels, missing_ranges={"trust": [88]})
    page.upload((tmp_path / "a.sav").read_bytes(), "survey.sav")
    page.to("cards")
    draft = page.draft
    assert [reading.kind for reading in draft.card("trust").candidates] == ["number", "list"]
    assert draft.state("trust") == draft.state("done") == "guess"
    assert draft.card("income").kind == "number" and draft.card("income").codes == "77; 88"
    assert draft.card("sex").listed == "Male = 1\nFemale = 2\nRefused = 9" and len(draft.card("sex").candidates) == 1
    page.click(f"declare-{draft.names.index('trust')}-like-0").click(f"declare-{draft.names.index('done')}-like-1")
    trust = column_of(page.draft.card("trust"), page.draft.dialect)
    assert trust == dp.Number(0, 10, 1, codes=[77, 88])
    assert column_of(page.draft.card("done"), page.draft.dialect).labels[:2] == ("Yes", "No")


def test_the_day_of_birth_in_a_survey_is_a_day_of_birth_in_slovene_too() -> None:
    for lang, name in (("en", "Date of birth"), ("sl", "Datum rojstva")):
        with speaking(lang):
            card = Card.for_name(name)
            card.coded(CodedColumn("born", name, "date"), dp.Dialect())
            assert card.first == "1900-01-01" and card.order == "ymd" and card.waits_for_yes


def test_names_below_titles_are_found_with_one_number(page: Page, tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (["Visits, 2024"], [], ["whose", "age", "note"], ["a", 3, CANARY], ["b", 4, CANARY]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    page.upload((tmp_path / "a.xlsx").read_bytes(), "visits.xlsx")
    assert page.draft.step == "names" and say("data.names.titles") in str(page.app.get("expander"))
    page.press("Yes, go on")  # a clerk's slip: the title is taken for the one name
    (titles,) = (one for one in page.app.expander if one.label == say("data.names.titles"))
    assert page.draft.step == "names" and say("load.sheet_ragged") in page.text and titles.proto.expanded
    page.set("declare-names_row", 3)
    assert page.draft.names == ["whose", "age", "note"]
