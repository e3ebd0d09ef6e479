"""The Data page step by step, without a browser: what it asks, keeps and refuses, and that no cell is ever on it."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers_declare import CANARY, Page
from helpers_page import html_of, open_page

import dpengine as dp
from dpengine.messages import say
from tests.helpers_ledger import PATIENCE
from ui.data import wizard
from ui.data.draft import NUMBERS
from ui.words.markup import unmarked

FILES = Path(__file__).resolve().parents[1] / "files"


@pytest.fixture
def page(shared: dp.Workspace) -> Page:
    return Page()


def test_only_how_careful_is_preselected_and_each_step_asks(page: Page) -> None:
    page.upload(f"age,way\n33,{CANARY}\n44,bus\n")
    assert "<li>age</li>" in page.everything  # so what `run` looks through is the whole page
    page.press("Yes, go on").press("Go on")
    assert say("unit.missing") in page.refusals[0] and say("data.relation.missing") in page.refusals[0]
    page.set("declare-unit", "more").press("Go on")
    assert all(say(code) in page.refusals[0] for code in ("unit.column", "unit.each", "data.relation.missing"))
    assert page.draft.step == "unit"
    page.set("declare-who", "way").press("Go on")
    assert say("unit.each") in page.refusals[0] and page.draft.step == "unit"
    page.set("declare-unit", "one").press("Go on")
    assert say("unit.whose") in page.refusals[0]
    page.set("declare-whose", "").press("Go on")
    assert say("data.relation.missing") in page.refusals[0]
    page.set("declare-relation", "add_remove").press("Go on")
    assert "previews need your estimate" in page.refusals[0]
    page.set("declare-about", 50).press("Go on")
    assert page.draft.state("age") == "guess"
    page.set("declare-0-kind", "out").press("Go on")
    assert say("data.cards.none") in page.refusals[0]
    page.set("declare-0-kind", "number").press("This is right").press("Go on")
    assert page.draft.step == "care" and page.draft.care == "usual" and not page.refusals
    assert "2 people" not in page.text  # the number of rows is nowhere


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("again", ["another tab", "from Ask"])
def test_whoever_comes_back_after_adding_a_table_brings_another(
    shared: dp.Workspace, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It once said that the table before is ready."""
    monkeypatch.setattr(wizard, "visitor", lambda: again)
    name = f"added-{again.split()[0]}"
    page = Page().upload(f"age,way\n{33 + len(again)},bus\n")
    page.finish(name)
    ready = say("data.done.title", table=name)
    assert ready in page.text
    if again == "another tab":
        page = Page()
    else:
        page.app.switch_page("../pages/ask.py").run()
        page.app.query_params.clear()
        page.app.switch_page("../pages/data.py")
        page.run()
    assert ready not in page.text and say("data.file.title") in page.text


@pytest.mark.long
def test_answers_stay_when_going_back_or_to_another_page(page: Page) -> None:
    page.upload("age,way\n33,bus\n").to("cards").set("declare-0-upper", "99")
    page.app.switch_page("../pages/start.py").run()
    page.app.switch_page("../pages/data.py")
    page.run()
    assert page.draft.step == "cards" and page.app.text_input(key="declare-0-upper").value == "99"
    for _ in range(2):
        page.press("Back")
    assert page.draft.step == "names"
    page.press("Yes, go on")
    assert page.app.radio(key="declare-unit").value == "one"
    page.press("Go on").click("declare-0-open")
    assert page.app.text_input(key="declare-0-upper").value == "99"


def test_start_over_removes_the_upload(page: Page, shared: dp.Workspace) -> None:
    for old in (shared.folder / "tmp").iterdir():
        old.unlink()
    page.upload("age\n33\n").to("cards")
    assert len(list((shared.folder / "tmp").iterdir())) == 1
    page.press("Start over")
    assert not list((shared.folder / "tmp").iterdir()) and page.draft.step == "file"


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty"),
        (b"PK\x03\x04\x14\x00[Content_Types].xml", "a zip archive or a damaged spreadsheet, not plain text"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "This spreadsheet cannot be read"),
        (b"%PDF-1.7 zebra7421", "a PDF, not plain text"),
    ],
)
def test_what_is_no_table_is_refused_at_once_and_another_file_mends_it(page: Page, data: bytes, sentence: str) -> None:
    page.upload(data, "table.csv")
    assert sentence in page.refusals[0] and page.draft.step == "file"
    page.upload("age\n33\n")
    assert page.draft.step == "names" and not page.refusals


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"a,a\n1,{CANARY}\n", "names “a” twice"),
        (f"a,,b\n1,2,{CANARY}\n", "leaves a column unnamed"),
        (",,\n1,2,3\n", "must name the columns"),
        ("a,b\n", "has no rows"),
        (f"a,b\n1,2\n{CANARY},4,5\n", "more or fewer cells"),
        (f'a,b\n"{CANARY},2\n', "open or misplaced quote"),
        (f"12,{CANARY}\n3,4\n", "looks like data"),
        ("a,é\n".encode() + b"\xe8rka,2\n", "cannot be read as utf-8"),
    ],
)
def test_faults_of_form_are_told_with_the_names(page: Page, text: str | bytes, sentence: str) -> None:
    page.upload(text)
    if not page.refusals:
        page.press("Yes, go on")
    assert sentence in page.refusals[0] and page.draft.step == "names"


@pytest.mark.long
def test_damaged_lines_can_be_read_as_empty(page: Page) -> None:
    page.upload(f"age,way\n33,bus\n{CANARY},4,5\n\n51,car\n").press("Yes, go on").press("Read such lines as empty")
    table = page.to("cards").set("declare-1-kind", "list").set("declare-1-listed", "bus\ncar").finish("with damage")
    assert table.facts.people == 4


@pytest.mark.long
def test_a_quote_that_never_closes_can_be_explained_either_way(page: Page) -> None:
    page.upload(f'age,way\n33,"bus\n44,{CANARY}\n').press("Yes, go on").press("Yes, cells hold line breaks")
    assert "never closed" in page.refusals[0] and page.app.toggle(key="declare-line_breaks").value
    page.app.toggle(key="declare-line_breaks").set_value(False)
    page.run().press("Yes, go on").press("Read such lines as empty")
    assert page.draft.step == "unit"


@pytest.mark.long
def test_another_file_keeps_what_was_said(page: Page) -> None:
    page.upload("age,way\n33,bus,9\n").press("Yes, go on")
    assert page.refusals
    page.press("Back").upload("age,way\n33,bus\n").to("cards").set("declare-0-upper", "77")
    for _ in range(3):
        page.press("Back")
    page.upload("way,age\nbus,33\n").to("cards").click("declare-1-open")
    assert page.draft.chosen == ["age"] and page.app.text_input(key="declare-1-upper").value == "77"


@pytest.mark.long
def test_a_moment_of_glued_names_loses_nothing(page: Page) -> None:
    page.upload("age,way\n33,bus\n").to("cards").set("declare-0-kind", "out").set("declare-1-kind", "list")
    for _ in range(2):
        page.press("Back")
    page.set("declare-separator", "|")
    assert page.draft.names == ["age,way"]
    page.set("declare-separator", ",").to("cards")
    assert page.draft.chosen == ["way"]


@pytest.mark.long
def test_an_old_encoding_is_chosen_by_how_the_names_look(page: Page) -> None:
    page.upload("plača;občina\n1.234,5;Žiče\n".encode("windows-1250"))
    options = page.app.radio(key="declare-spelled")
    assert options.value is None
    page.press("Yes, go on")  # a wrong guess is not accepted unnoticed
    assert page.draft.step == "names" and "First choose the line that is spelled correctly" in page.refusals[0]
    assert [unmarked("plača, občina") in option for option in options.options].count(True) == 1
    page.set("declare-spelled", "windows-1250")
    assert page.draft.names == ["plača", "občina"] and page.draft.dialect.encoding == "windows-1250"
    assert page.app.selectbox(key="declare-encoding").value == "windows-1250"
    page.to("cards")


def test_a_wrong_separator_is_mended_on_the_page(page: Page) -> None:
    page.upload("a b|c;d\n1|2;3\n")
    page.set("declare-separator", "|")
    assert page.draft.names == ["a b", "c;d"]
    page.set("declare-numbers", "1 234,5")
    assert (page.draft.dialect.decimal, page.draft.dialect.thousands) == NUMBERS["1 234,5"]
    assert page.to("unit").draft.dialect.separator == "|"


@pytest.mark.long
def test_names_that_look_like_code_are_names(page: Page) -> None:
    hostile = ['Robert"); DROP TABLE tables;--', "<script>alert(1)</script>", "it's {braces} :smile:", "**bold**"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in hostile)
    page.upload(f"{header}\n1,2,3,4\n5,6,7,8\n")
    assert page.draft.step == "unit", "there was no doubt how it is read"
    page.click("declare-back-unit")
    assert page.draft.names == hostile and "<script>alert" not in page.text and "&lt;script&gt;" in page.text
    page.to("cards")
    labels = [button.label for button in page.app.button]
    assert "<script>alert" not in page.text and all(unmarked(name) in labels for name in hostile)
    for place in range(4):
        page.set(f"declare-{place}-kind", "number")
        for part, value in (("lower", "0"), ("upper", "10"), ("step", "1")):
            page.set(f"declare-{place}-{part}", value)
    table = page.finish("hostile")
    assert list(table.schema.columns) == hostile
    assert table.ask(table.query("median", column=hostile[0], epsilon="0.5")).value in range(11)


@pytest.mark.long
def test_who_names_two_limits_need_not_say_how_numbers_are_rounded(page: Page) -> None:
    page.upload("a,b\n1,2\n").to("cards").set("declare-0-kind", "number")
    page.set("declare-0-lower", "0").set("declare-0-upper", "many")
    assert page.draft.cards["a"].step == ""
    page.set("declare-0-upper", "100")
    assert page.draft.cards["a"].step == "1" and page.app.text_input(key="declare-0-step").value == "1"
    page.set("declare-0-step", "5").set("declare-0-upper", "200")
    assert page.draft.cards["a"].step == "5"


@pytest.mark.long
def test_cells_that_are_no_numbers_and_unknown_values_load(page: Page) -> None:
    rows = ["33,bus", "NaN,car", "inf,", "-inf,tram", f"{CANARY},bus", ",car", "1e400,bus", "40,BUS "]
    page.upload("\n".join(["age,way", *rows]))
    page.to("cards").set("declare-1-kind", "list").set("declare-1-listed", "bus\ncar")
    table = page.finish("odd cells")
    assert table.facts.people == 8 and table.schema.category("way").labels == ("bus", "car", "other", "no answer")


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        ("lower", "500", "The lowest value must be below the highest"),
        ("step", "7", "divide the range into whole steps"),
        ("upper", "many", "Highest must be a plain number"),
        ("step", "0.000001", "more than 10,000,000 steps"),
    ],
)
def test_a_bad_range_is_refused_at_its_card(page: Page, part: str, value: str, sentence: str) -> None:
    page.upload("age,income\n33,1000\n").to("cards").click("declare-1-like-0").set(f"declare-0-{part}", value)
    assert sentence in page.refusals[0] and len(page.refusals) == 1
    page.press("Go on (1 column still to settle)")
    assert page.draft.step == "cards" and page.app.text_input(key=f"declare-0-{part}").value == value
    page.set("declare-0-range", "age")
    assert not page.refusals
    page.press("Go on")
    assert page.draft.step == "care"


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("typed_list", "sentence"),
    [
        ("bus", "at least 2 different values"),
        ("bus\nBus", "“Bus” twice"),
        ("x" * 201 + "\ny", "at most 200 characters"),
    ],
)
def test_a_bad_list_is_refused_at_its_card(page: Page, typed_list: str, sentence: str) -> None:
    page.upload("way\nbus\n").to("cards").set("declare-0-kind", "list").set("declare-0-listed", typed_list)
    assert sentence in page.refusals[0]
    page.set("declare-0-listed", "bus, car").press("Go on")
    assert page.draft.step == "care"


@pytest.mark.long
def test_a_list_is_said_to_be_complete_with_one_click(page: Page) -> None:
    page.upload("way\nbus\nship\n").to("cards").set("declare-0-kind", "list").set("declare-0-listed", "bus, car")
    page.set("declare-0-closed", True)
    assert not page.refusals and page.draft.card("way").goes_to == "bus"  # the first of the list, whatever the file has
    page.set("declare-0-goes-to", "car").set("declare-0-listed", "bus, tram")
    assert not page.refusals and page.draft.card("way").goes_to == "bus"
    page.set("declare-0-goes-to", "tram")
    column = page.finish("ways").schema["way"]
    assert isinstance(column, dp.Category) and column == dp.Category(
        ["bus", "tram"], unknown="tram", complete=True, spellings="missing-1"
    )


@pytest.mark.long
def test_epsilon_and_delta_can_be_typed(page: Page) -> None:
    page.upload("age\n33\n44\n").to("care").set("declare-care", "usual")
    for care, epsilon, most in (("Careful", "0.5", "15.5"), ("Usual", "1", "23.2"), ("Loose", "3", "69.1")):
        assert f"{care} is ε = {epsilon}. A suspicion about a person can grow from 10 to at most {most}" in page.text
    assert "is at most 23.2 % sure" in page.text
    for key, value, sentence in (
        ("epsilon", "lots", "ε must be a plain number"),
        ("epsilon", "0", "must be above 0"),
        ("delta", "2", "δ must be at least 0 and below 1"),
    ):
        page.set(f"declare-{key}", value).press("Add the table")
        assert [sentence in told for told in page.refusals] == [True] and page.draft.step == "care"
        page.set(f"declare-{key}", "")
    page.set("declare-epsilon", "0,7").set("declare-delta", "1e-8")
    table = page.finish("typed budget")
    assert (table.meter().epsilon, table.meter().delta) == (Fraction(7, 10), Fraction(1, 10**8))


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "sentence"), [("town", "“town” already exists"), (" ", "needs a name")])
def test_a_name_must_be_free(page: Page, name: str, sentence: str) -> None:
    page.upload("age\n33\n").to("care").set("declare-care", "usual").set("declare-name", name).press("Add the table")
    assert sentence in page.refusals[0] and page.draft.step == "care"


@pytest.mark.long
def test_the_same_rows_join_the_budget_they_have(page: Page, shared: dp.Workspace) -> None:
    rows = "age\n" + "\n".join(map(str, range(20, 70))) + "\n"
    first = page.upload(rows).finish("first time")
    again = Page().upload(rows, "copy.csv")
    again.to("care").set("declare-care", "loose").set("declare-name", "second time").press("Add the table")
    second = shared.table("second time")
    assert second.budget.id == first.budget.id and second.meter().epsilon == 1
    assert "These rows were added before" in again.text and "ε = 1" in again.text


def test_two_clicks_add_one_table(page: Page, shared: dp.Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work hangs while the page runs again and again; it was begun once, and the page never holds it."""
    added, let_go = [], threading.Event()
    really = dp.Workspace.add_table

    def slow(self: dp.Workspace, name: str, *given: Any, **more: Any) -> dp.Table:
        added.append(name)
        more["progress"](0.4)
        assert let_go.wait(PATIENCE)
        return really(self, name, *given, **more)

    monkeypatch.setattr(dp.Workspace, "add_table", slow)
    page.upload("age\n61\n62\n").to("care").set("declare-care", "usual").set("declare-name", "once")
    button = next(button for button in page.app.button if button.label == "Add the table")
    button.click()
    page.app.run()
    assert page.draft.task is not None and page.draft.task.share == 0.4
    assert [button.label for button in page.app.button] == ["Stop"]  # nothing else to click while it runs
    button.click()
    page.app.run()
    let_go.set()
    page.run()
    assert added == ["once"] and page.draft.step == "done"
    assert [record.name for record in shared.tables()].count("once") == 1


def test_work_tells_how_much_is_done_how_fast_and_what_is_left() -> None:
    let_go = threading.Event()

    def work(tell: Callable[[float], None]) -> None:
        tell(0.25)
        let_go.wait(PATIENCE)

    task = wizard.Task("add", work, size=10**9)
    while not task.share:
        pass
    assert task.words() == "Adding the table…"  # too early to tell
    task._began -= 10
    assert re.fullmatch(r"Adding the table… 25\s%, about \d\d seconds left \(2\d MB a second\)", task.words())
    task._began -= 300
    assert "minutes left" in task.words()
    let_go.set()


def test_a_fault_of_ours_is_one_sentence(page: Page, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def broken(*given: Any, **more: Any) -> dp.Table:
        raise RuntimeError(f"cell {CANARY}")

    page.upload("age\n71\n").to("care").set("declare-care", "usual")
    monkeypatch.setattr(dp.Workspace, "add_table", broken)
    page.press("Add the table")
    assert say("data.failed") in page.refusals[0] and page.draft.care == "usual"
    assert "RuntimeError" in caplog.text and CANARY not in caplog.text


@pytest.mark.long
def test_a_parquet_file_can_be_brought(page: Page) -> None:
    out = io.BytesIO()
    pd.DataFrame({"age": [31, 42, 53], "smoker": [True, False, None]}).to_parquet(out)
    table = page.upload(out.getvalue(), "people.parquet").finish("from parquet")
    assert table.facts.people == 3 and table.schema.category("smoker").values == ("yes", "no")


@pytest.mark.long
def test_the_stranger_is_read_as_it_is_meant(page: Page) -> None:
    page.upload((FILES / "stranger.csv").read_bytes(), "stranger.csv").press("Yes, go on")
    assert "open or misplaced quote" in page.refusals[0]
    page.press("Yes, cells hold line breaks").to("cards")
    for place, name in enumerate(page.draft.names):
        if name not in ("Spol", "Kadilec", "Mesečna plača (EUR)", "Teža [kg]"):
            page.set(f"declare-{place}-kind", "out")
    table = page.finish("the stranger")
    pay = table.ask(table.query("median", column="Mesečna plača (EUR)", epsilon="0.9"))
    assert 1_000 < pay.value < 3_000
    assert table.schema.category("Spol").values == ("female", "male")  # any spelling counts
    assert table.schema.number("Mesečna plača (EUR)").measure == "€"


@pytest.mark.long
def test_a_column_nobody_knows_is_left_out_and_offered_to_be_found(page: Page) -> None:
    page.upload("age,pay\n33,1200\n44,3000\n").to("cards").set("declare-0-kind", "unknown")
    page.set("declare-1-kind", "unknown").press("Go on")
    assert say("data.cards.all_unknown") in page.refusals[0] and page.draft.step == "cards"
    table = page.set("declare-0-kind", "number").finish("half known")
    assert list(table.schema.columns) == ["age"]
    (link,) = [link.proto for link in page.app.get("page_link") if link.proto.label == "Find what 1 column holds"]
    assert "find=1" in link.query_string
    page.app.query_params["table"], page.app.query_params["find"] = "half known", "1"
    page.run()
    (offered,) = [
        box for kind in ("multiselect", "button_group") for box in page.app.get(kind) if box.key == "found-columns"
    ]
    assert offered.value == ["pay"]


@pytest.mark.long
def test_rows_that_were_sealed_are_told_so_when_they_are_brought_again(page: Page, shared: dp.Workspace) -> None:
    rows = "age\n" + "\n".join(map(str, range(30, 90))) + "\n"
    page.upload(rows).finish("to be sealed")
    shared.seal("to be sealed")
    again = Page().upload(rows, "copy.csv")
    again.finish("sealed again")
    for shown in (page.run(), again):
        assert say("owner.sealed") in shown.text and "is ready" not in shown.text
        assert not [button for button in shown.app.button if button.label.startswith(("Check ", "Find"))]
        assert not [link for link in shown.app.get("page_link") if link.proto.label == say("data.done.ask")]


@pytest.mark.long
def test_the_meter_names_the_column_whose_rows_are_protected(page: Page) -> None:
    page.upload("who,age\na,33\na,34\nb,44\n").to("unit").set("declare-unit", "more").set("declare-who", "who")
    page.set("declare-each", 3).set("declare-relation", "replace").press("Go on")
    assert page.draft.offered == ["age"]  # the id is no column to ask about
    table = page.finish("several rows")
    told = re.sub(r"<[^>]+>", "", html_of(open_page("ask", table=table.name)))  # words may be marked
    assert told.count(say("meter.relation.replace_each", column="who")) == 1  # on the meter


@pytest.mark.long
def test_what_rows_beyond_the_limit_do_is_said_where_it_is_chosen(page: Page) -> None:
    """A limit that nobody chose was taken as it stood, and figures about rows came out too low unseen."""
    page.upload("who,age\na,33\na,34\nb,44\n").to("unit").set("declare-unit", "more").set("declare-who", "who")
    assert page.app.number_input(key="declare-each").value is None
    page.set("declare-each", 2)
    assert say("data.unit.each_cut", each=2) in page.text and "too low, averages may shift" in page.text
    page.set("declare-relation", "replace").press("Go on")
    assert page.draft.step == "cards" and page.draft.each == 2
