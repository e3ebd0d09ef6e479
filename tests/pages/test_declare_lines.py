"""One line a column: guesses wait for a yes, given to a cell; code books fill many columns; undo takes it back."""

from __future__ import annotations

import io
import os
import re
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import openpyxl
import pandas as pd
import pyreadstat
import pytest
from files.make_census import NAMES, census
from helpers_declare import CANARY, Page

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import as_typed
from dpengine.messages import say
from dpengine.messages.language import LANGUAGES, speaking
from dpengine.messages.numbers import local
from ui.data import columns as codebook
from ui.data import draft as drafts
from ui.data import presets
from ui.data.draft import OUT, UNKNOWN, Card, Draft, column_of
from ui.data.presets import LISTS

pytestmark = pytest.mark.usefixtures("shared")
CENSUS = NAMES.split(",")
ALL_RIGHT = say("data.lines.agree_on")


def described(*names: str) -> Draft:
    draft = Draft(names=list(names), many="one", relation="replace")
    draft.choose()
    return draft


# --- a guess waits for a yes


@pytest.mark.parametrize("name", ["age", "sex", "salary", "smoker", "country", "education", "mesec"])
def test_a_guess_cannot_be_registered(name: str) -> None:
    draft = described(name)
    assert draft.state(name) == "guess" and draft.waiting == [name]
    with pytest.raises(AllowanceError) as refusal:
        drafts.schema(draft)
    assert refusal.value.code == "data.cards.pending" and "1 column is still to settle" in str(refusal.value)
    draft.card(name).take(draft.card(name).candidates[0])
    assert draft.state(name) == "settled" and name in drafts.schema(draft).columns


def test_saying_otherwise_settles_a_guess_too() -> None:
    draft = described("age")
    draft.card("age").upper = "100"
    assert draft.state("age") == "settled"
    draft.card("age").upper = "-1"
    assert draft.state("age") == "waits"
    draft.card("age").kind = UNKNOWN
    assert draft.state("age") == "unknown" and draft.waiting == []


def test_a_name_that_says_nothing_is_left_out() -> None:
    draft = described("fnlwgt", "age")
    assert draft.state("fnlwgt") == OUT and draft.chosen == ["age"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_a_field_shows_of_a_guess_is_the_guess(lang: str) -> None:
    """Else a look at the open card would settle it."""
    with speaking(lang):
        for usual in presets.RANGES.values():
            for part in (usual.lower, usual.upper, usual.step):
                assert as_typed(local(part)) == part


@pytest.mark.long
@pytest.mark.parametrize("name", ["visit date", "age", "sex", "is_member", "Teža (kg)", "salary"])
def test_to_open_a_guess_does_not_settle_it(name: str) -> None:
    page = Page().upload(f'"{name}",other thing\n1,2\n').to("cards").click("declare-0-open").run()
    assert page.draft.opened == name and page.draft.state(name) == "guess"


# --- readings that a name cannot tell apart


def test_cells_tell_readings_apart() -> None:
    likes = {
        name: [one.like[0] for one in Card.for_name(name).candidates] for name in ("salary", "višina", "visit date")
    }
    assert likes == {
        "salary": ["2500", "34000"],
        "višina": ["173", "1.73"],
        "visit date": ["31.12.1999", "1999-12-31", "12/31/1999"],
    }
    for name, kinds in (("salary", [dp.Number, dp.Number]), ("višina", [dp.Number, dp.Number])):
        for place, kind in enumerate(kinds):
            card = Card.for_name(name)
            card.take(card.candidates[place])
            assert isinstance(column_of(card, Draft().dialect), kind) and not card.waits_for_yes
    metres = Card.for_name("height")
    metres.take(metres.candidates[1])
    assert (metres.lower, metres.upper, metres.step, metres.measure) == ("0.5", "2.5", "0.01", "m")


def test_every_reading_takes_the_cells_it_shows() -> None:
    """Examples come from public lists, and the list they stand for knows them."""
    for preset, usual in LISTS.items():
        card = Card(kind="list")
        card.take_list(preset)
        column = column_of(card, Draft().dialect)
        assert isinstance(column, dp.Category)
        assert all(column.spelled()[like.lower()] < len(column.values) for like in usual.like), preset
    for key, usual in presets.RANGES.items():
        assert float(usual.lower) <= float(usual.like) <= float(usual.upper), key


@pytest.mark.parametrize(
    ("name", "measure"),
    [("Mesečna plača (EUR)", "€"), ("price $", "$"), ("weight", "kg"), ("age", ""), ("minutes", "min"), ("amount", "")],
)
def test_a_name_tells_what_a_number_is_counted_in(name: str, measure: str) -> None:
    assert Card.for_name(name).measure == measure


def test_another_usual_range_takes_its_own_measure_along() -> None:
    card = Card.for_name("height")
    card.take_range("age")
    assert card.measure == ""
    pay = Card.for_name("plača (EUR)")
    pay.take_range("amount")
    assert pay.measure == "€"


def test_names_that_only_one_census_has_tell_together_how_the_others_are_read() -> None:
    """Each still waits for a yes, given to its cell; without those names nothing is read as that census writes it."""
    for name, cell in (("education", "HS-grad"), ("marital-status", "Married-civ-spouse"), ("salary", ">50K")):
        draft = described(name, "workclass", "fnlwgt", "capital-gain", "age")
        assert [one.like[0] for one in draft.card(name).candidates] == [cell] and draft.state(name) == "guess"
        others = described(name, "age", "Work class").card(name).candidates
        assert others and not {one.preset for one in others} & {*presets.EDITION}
    assert described("Work class", "age").state("Work class") == "out"


def test_a_day_waits_for_how_it_is_written_and_for_nothing_else() -> None:
    draft = described("visit date")
    card = draft.card("visit date")
    year = date.today().year
    assert (card.first, card.last, card.order) == (f"{year - 9}-01-01", f"{year}-12-31", None)
    assert draft.state("visit date") == "guess"
    card.take(card.candidates[0])
    assert draft.state("visit date") == "settled" and card.order == "dmy"
    with speaking("sl"):  # nobody writes the month first: one reading, which still waits for its yes
        draft = described("datum obiska")
        card = draft.card("datum obiska")
        assert [one.like for one in card.candidates] == [("31.12.1999", "1999-12-31")]
        assert card.order == "dmy" and draft.state("datum obiska") == "guess"


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["pacient_id", "datum", "oddelek"], ["pacient_id"]),
        (["visit id", "patient", "Patient No"], ["Patient No", "patient"]),
        (["order_id", "item"], ["order_id"]),
        (["age", "identity", "way"], []),
        (["???", "EMŠO"], ["EMŠO"]),
        (["Št. kartoteke", "Datum obiska"], ["Št. kartoteke"]),
        (["PatNr", "Geb.-Jahr"], ["PatNr"]),
        (["Letnik", "KZZ"], ["KZZ"]),
        (["mrn", "age"], ["mrn"]),
    ],
)
def test_names_that_say_whose_a_row_is(names: list[str], found: list[str]) -> None:
    assert presets.id_columns(names) == found
    sure = found[0] if found in (["pacient_id"], ["EMŠO"], ["Št. kartoteke"], ["PatNr"], ["KZZ"], ["mrn"]) else None
    assert presets.sure_id_column(names) == sure, "no guess stands there where another column may be meant"


# --- the page


@pytest.mark.long
def test_a_likely_id_and_a_usual_number_of_rows_are_one_click_each_and_rows_are_never_chosen_before() -> None:
    page = Page().upload("patient_id,age\na,33\na,34\nb,44\n").to("unit").set("declare-unit", "more")
    assert page.draft.who == "patient_id", "the only one, as a guess to go on with"
    assert page.draft.each is None
    assert "declare-who-likely" not in page.app.session_state, "nothing to choose from: its field has it"
    page.set("declare-who", None)
    assert page.draft.who is None
    page = Page().upload("patient,customer,age\na,b,33\na,b,34\nb,c,44\n").to("unit").set("declare-unit", "more")
    assert page.draft.who is None
    page.set("declare-who-likely", "customer").set("declare-each-usual", 3)
    assert (page.draft.who, page.draft.each) == ("customer", 3)
    page.set("declare-each", 4)
    assert page.draft.each == 4 and page.app.session_state["declare-each-usual"] is None
    page.set("declare-who", "age")
    assert page.draft.who == "age" and page.app.session_state["declare-who-likely"] is None


@pytest.mark.long
def test_prices_before_a_table_is_added_are_told_for_a_small_and_a_large_table() -> None:
    """Nobody counts before: no figure on the way may be taken for that of this file."""
    page = Page().upload("age,sex\n33,m\n44,f\n").to("cards")
    page.press("Go on").click("declare-back-care")
    assert "±" not in page.text
    page.click("declare-0-open")
    assert "For 1,000 people: " in page.text and "For 10,000 people: " in page.text
    said = Page().upload("age\n33\n44\n").to("care").set("declare-about", 30_000).click("declare-back-care")
    assert (
        re.search(r"average ±0\.\d", said.text) and "10,000 people" not in said.text and "with fewer" not in said.text
    )


@pytest.mark.long
def test_rows_are_called_rows_and_one_button_is_coloured() -> None:
    page = Page().upload("patient_id,age,sex\na,33,m\na,34,m\nb,44,f\n").to("unit").set("declare-unit", "more")
    page.set("declare-who", "patient_id").set("declare-each-usual", 5).set("declare-relation", "add_remove")
    page.set("declare-about", 5_000).press("Go on")

    def coloured() -> list[str]:
        return [button.label for button in page.app.button if button.proto.type == "primary"]

    assert coloured() == [say("data.cards.agree_add")]
    page.click("declare-next-cards").click("declare-back-care")
    assert (
        coloured() == [say("data.add")] and re.search(r"each bar ±\d+ rows", page.text) and "M, F, Male …" in page.text
    )
    page.click("declare-1-open")
    assert coloured() == ["This is right"]


@pytest.mark.long
def test_columns_without_a_hint_are_to_be_found_together_and_those_that_wait_left_for_later() -> None:
    page = Page().upload("oddelek,diagnoza,age,sex,salary\na,b,33,m,2500\nc,d,44,f,900\n").to("cards")
    assert say("data.cards.left_out") in page.text
    assert say("data.cards.open_left", columns="salary") in page.text
    page.click("declare-next-cards")
    assert page.draft.state("salary") == OUT and not page.draft.waiting
    page.click("declare-back-care").click("declare-4-undo")
    assert page.draft.state("salary") == "guess"  # nothing was settled by leaving it
    table = page.click("declare-next-cards").finish("some of it")
    assert list(table.schema.columns) == ["age", "sex"]
    links = [link.proto.label.replace("\\", "") for link in page.app.get("page_link")]
    assert "Find what 3 columns hold" in links


@pytest.mark.long
def test_every_declared_column_leads_to_its_first_question() -> None:
    page = Page().upload("age,sex\n" + "33,m\n44,f\n" * 300)
    page.finish("two ways on")
    ways = re.findall(r'class="way" href="(ask[^"]+)"', page.text)
    asked = [parse_qs(urlsplit(unescape(way)).query) for way in ways]
    assert [(one["q"], one["column"], one["table"]) for one in asked] == [
        (["mean"], ["age"], ["two ways on"]),
        (["histogram"], ["sex"], ["two ways on"]),
    ]


@pytest.mark.long
def test_a_census_like_file_is_settled_in_a_few_clicks() -> None:
    page = Page().upload(census(60), "few clicks.csv").to("cards")
    states = {name: page.draft.state(name) for name in CENSUS}
    assert states.pop("fnlwgt") == OUT and set(states.values()) == {"guess"}
    assert not [button for button in page.app.button if button.label == say("data.line.yes")]
    adds = say("data.cards.adds", name="few clicks", care=say("data.care.usual"), many="")
    assert adds.strip() in page.text
    page.press(say("data.cards.agree_add"))
    assert not page.draft.waiting and not page.refusals and page.draft.step == "done"
    table = dp.open_workspace(os.environ["ALLOWANCE_HOME"]).table("few clicks")
    assert table.meter().epsilon == 1
    assert len(table.schema.columns) == 14 and "fnlwgt" not in table.schema.columns
    told = table.schema.category("salary")
    assert told.values == ("<=50K", ">50K") and len(table.schema.category("native-country").values) >= 249
    assert "HS-grad" in table.schema.category("education").values


@pytest.mark.long
def test_only_the_open_column_is_tall() -> None:
    page = Page().upload(census(20), "census.csv").to("cards")
    assert not page.app.get("button_group")
    page.click("declare-0-open")
    assert len([one for one in page.app.get("button_group") if one.key.endswith("-kind")]) == 1
    page.press("This is right")
    assert page.draft.state("age") == "settled" and page.draft.opened is None


@pytest.mark.long
def test_undo_takes_back_one_column() -> None:
    page = Page().upload("age,salary,way\n33,1200,bus\n").to("cards")
    page.click("declare-0-like-0").click("declare-1-like-1")
    assert [page.draft.state(name) for name in ("age", "salary")] == ["settled", "settled"]
    page.click("declare-1-undo")
    assert page.draft.state("salary") == "guess" and page.draft.card("salary").kind == "number"
    assert page.draft.state("age") == "settled"
    page.set("declare-2-kind", "list").set("declare-2-listed", "bus, car").click("declare-2-undo")
    assert page.draft.state("way") == OUT


@pytest.mark.long
def test_many_columns_are_shown_a_screen_at_a_time() -> None:
    names = [f"thing {place}" for place in range(90)]
    page = Page().upload(",".join(names) + "\n" + ",".join("1" * 90) + "\n").to("cards")
    assert len([button for button in page.app.button if str(button.key).endswith("-open")]) == 40
    page.set("declare-screen", 80)
    assert len([button for button in page.app.button if str(button.key).endswith("-open")]) == 10


CENSUS = {
    "age": "39",
    "workclass": "State-gov",
    "fnlwgt": "77516",
    "education": "Bachelors",
    "education-num": "13",
    "marital-status": "Never-married",
    "occupation": "Adm-clerical",
    "relationship": "Not-in-family",
    "race": "White",
    "capital-gain": "2174",
    "capital-loss": "0",
    "hours-per-week": "40",
    "native-country": "United-States",
    "income": "<=50K",
}


def test_beside_a_guess_from_the_names_stands_another_cell_than_in_the_first_row_of_a_known_table() -> None:
    """Four examples were the first row of the census of 1994, number by number: nobody believed that they had not been
    read there."""
    offered = {name: presets.candidates(name, list(CENSUS)) for name in CENSUS}
    same = [name for name, cell in CENSUS.items() for one in offered[name] if cell in one.like]
    assert same == [] and sum(map(bool, offered.values())) >= 8


def test_nothing_of_the_cells_is_on_the_page() -> None:
    """Two tables with the same names and other cells: the same page, to the last byte."""
    shown = []
    for cells in ("39, Male,2500\n 40,Female, 900", "173,moški,<=50K\n?,zebra,x"):
        page = Page().upload(f"age,sex,salary\n{cells}\n", "same.csv").to("cards")
        shown.append([proto.SerializeToString(deterministic=True) for proto in page.protos()])
        page.click("declare-1-open")
        shown[-1] += [proto.SerializeToString(deterministic=True) for proto in page.protos()]
    assert shown[0] == shown[1]


@pytest.mark.long
def test_a_spreadsheet_is_brought_and_its_sheet_chosen() -> None:
    book = openpyxl.Workbook()
    book.active.append(["nothing"])  # type: ignore[union-attr]
    sheet = book.create_sheet("people")
    for row in (["age", "sex", "since"], [33, "Male", date(2020, 1, 5)], [44, "Ž", date(2021, 2, 3)], [55, "F", None]):
        sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    page = Page().upload(out.getvalue(), "our people.xlsx")
    assert page.draft.names == ["nothing"] and not page.refusals
    page.set("declare-sheet", "people")
    assert page.draft.names == ["age", "sex", "since"]
    table = page.finish("our people")
    assert table.facts.people == 3 and list(table.schema.columns) == ["age", "sex"]


# --- a code book


@pytest.mark.parametrize("sign", ["\t", ";", ","])
def test_a_code_book_is_read(sign: str) -> None:
    rows = [
        ("Variable", "Code", "Label"),
        ("SEX", "1", "male"),
        ("", "2", "female"),
        ("way", "bus", ""),
        ("way", "car"),
    ]
    rows += [("income", "1", "low"), ("income", "2", "low"), ("income", "3", "high"), ("foo", "1", "x")]
    found = codebook.read_codebook("\n".join(sign.join(row) for row in rows), ["sex", "way", "income", "age"])
    assert found.columns == {"sex": "male = 1\nfemale = 2", "way": "bus\ncar", "income": "low = 1, 2\nhigh = 3"}
    assert found.strangers == ["foo"] and not found.odd


@pytest.mark.parametrize("text", ["just words", "a;\nb;", ";1;x", "\n", "sex"])
def test_a_text_that_is_no_code_book(text: str) -> None:
    with pytest.raises(AllowanceError) as refusal:
        codebook.read_codebook(text, ["sex"])
    assert refusal.value.code == "data.codebook.form"


def test_values_that_a_list_cannot_hold_are_passed_over() -> None:
    found = codebook.read_codebook("sex\t1,5\tmale\nsex\t2\tfemale\nway\tbus\tBus", ["sex", "way"])
    assert found.odd == ["sex", "way"] and not found.columns


@pytest.mark.long
def test_a_code_book_fills_columns_and_is_undone_one_by_one() -> None:
    page = Page().upload("sex,way,age\n1,a,33\n2,b,44\n").to("cards")
    page.app.session_state[f"{page.draft.mark}-codebook-open"] = True
    page.run()
    page.set("declare-codebook", "sex;1;male\nsex;2;female\nway;a;bus\nway;b;car\nelsewhere;1;x\n")
    assert "sex: 2 values (male, female)" in page.text and "elsewhere" in page.text
    page.press("Fill 2 columns")
    assert [page.draft.state(name) for name in ("sex", "way", "age")] == ["settled", "settled", "guess"]
    page.click("declare-0-undo")
    assert page.draft.state("sex") == "guess" and page.draft.state("way") == "settled"
    table = page.finish("from a code book")
    assert table.schema.category("way").values == ("bus", "car")
    assert table.ask(table.query("count", where=[["way", "in", ["bus"]]], epsilon="0.9")).value is not None


def book_sheet(path: Path, *rows: list[Any]) -> bytes:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path.read_bytes()


@pytest.mark.every(3)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_a_code_book_in_a_file_waits_for_a_yes(lang: str, tmp_path: Path) -> None:
    """A sheet fills two columns, an SPSS file without rows a third; each is a guess that the person agrees with."""
    heads = {
        "en": ["Variable", "Label", "Value labels", "Missing"],
        "sl": ["Spremenljivka", "Opis", "Vrednosti", "Manjkajoče"],
    }
    sheet = book_sheet(
        tmp_path / "book.xlsx",
        heads[lang],
        ["sex", "Sex of the pupil", "1 = male; 2 = female", "9"],
        ["grade", "", "", "-1, 99"],
        ["elsewhere", "", "1 = a; 2 = b", ""],
    )
    empty = pd.DataFrame({"way": pd.Series([], dtype=float)})
    pyreadstat.write_sav(empty, tmp_path / "book.sav", variable_value_labels={"way": {1: "bus", 2: "car"}})
    page = Page(lang=lang).upload("sex,way,grade\n1,1,33\n2,2,44\n").to("cards")
    page.app.session_state[f"{page.draft.mark}-codebook-open"] = True
    page.run()
    for name, content in (("book.xlsx", sheet), ("book.sav", (tmp_path / "book.sav").read_bytes())):
        at = next(one for one in page.app.file_uploader if "-codebook-file" in (one.key or ""))
        at.set_value((name, content, ""))
        page.run()
        assert not page.refusals
        page.click("declare-codebook-take")
    assert [page.draft.state(name) for name in ("sex", "way", "grade")] == ["guess", "guess", "guess"]
    assert page.draft.card("sex").listed.splitlines() == ["male = 1", "female = 2", "no answer = 9"]
    assert page.draft.card("way").listed.splitlines() == ["bus = 1", "car = 2"]
    assert set(page.draft.card("grade").codes.replace(";", " ").replace(",", " ").split()) == {"-1", "99"}
    at = next(one for one in page.app.file_uploader if "-codebook-file" in (one.key or ""))
    at.set_value(("data.xlsx", book_sheet(tmp_path / "data.xlsx", ["name", "age"], [CANARY, 3]), ""))
    page.run()
    assert len(page.refusals) == 1 and CANARY not in page.everything
    assert not list((dp.open_workspace(os.environ["ALLOWANCE_HOME"]).folder / "tmp").glob("upload-*.xlsx"))


def test_values_typed_just_before_the_card_is_accepted_count() -> None:
    """A click that leaves a field sends the field's text and the click in one run."""
    page = Page().upload("age,tenure\n33,own\n").to("cards")
    reading = next(one for one in presets.likely("tenure") if one.kind == "list")
    page.click(f"{page.draft.mark}-1-likely-{presets.likely('tenure').index(reading)}")
    (field,) = [one for one in page.app.text_area if str(one.key).endswith("-1-listed")]
    field.set_value("own\nrent")
    page.click(f"{page.draft.mark}-1-right")
    assert page.draft.state("tenure") == "settled" and page.draft.opened is None
