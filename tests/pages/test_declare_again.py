"""The Data page of a table that is there: dates and sets through the wizard, long lists, changing, buying, fitting."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from helpers_declare import CANARY, ROOT, Page

import dpengine as dp
from dpengine.messages import say
from dpengine.noise.coins import SystemCoins
from ui.ledger import report
from ui.parts import exports

pytestmark = pytest.mark.usefixtures("shared", "still")


@pytest.fixture(name="still")
def without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """These are about the page: what a find shows must not be one draw in twenty another."""
    for noise in ("laplace", "gaussian"):
        monkeypatch.setattr(SystemCoins, noise, lambda self, values, scale: [int(value) for value in values])


class Declared(Page):
    """The page of one table; a click that asks is followed until its answer is there."""

    def __init__(self, table: str, **more: str) -> None:
        from streamlit.testing.v1 import AppTest

        self.app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
        self.app.switch_page("../pages/data.py")
        for name, value in ({"table": table} | more).items():
            self.app.query_params[name] = value
        self.run()

    def run(self) -> Declared:
        self.app.run()
        for _ in range(100):  # work in the background: a question, or a change
            tasks = [draft.task for _, draft in self.changes.values() if draft.task is not None]
            asked = self.app.query_params.get("answer")
            waits = asked and not space().job(asked if isinstance(asked, str) else asked[0]).over
            if not tasks and not waits and not any(say("job.waiting") in told for told in self.told):
                break
            for task in tasks:
                task.wait(60)
            self.app.run()
        assert not self.app.exception and CANARY not in self.everything
        return self

    @property
    def changes(self) -> dict[str, Any]:
        state = self.app.session_state
        found: dict[str, Any] = state["changes"] if "changes" in state else {}  # noqa: SIM401 - it has no get
        return found

    @property
    def told(self) -> list[str]:
        return [part.proto.body for part in self.app.get("html")]

    def field(self, table: str, column: int, part: str) -> str:
        return f"{self.changes[table][1].mark}-{column}-{part}"

    def start(self, label: str) -> Declared:
        next(button for button in self.app.button if button.label.startswith(label)).click()
        return self.run()


def space() -> dp.Workspace:
    from ui.shell.state import workspace

    return workspace()


def people(rows: int = 4_000) -> str:
    towns = ("Mill", "Hill, upper", "Quay")
    lines = [f'{20 + row % 60},{100 + row % 800},"{towns[row % 3]}"' for row in range(rows)]
    return "\n".join(["age,pay,town", *lines, f"1,2,{CANARY}"]) + "\n"


@pytest.fixture
def table(tmp_path: Path, request: pytest.FixtureRequest) -> dp.Table:
    path = tmp_path / "people.csv"
    path.write_text(people(4_000 + len(request.node.name)))  # other rows, or they would share an allowance
    return space().add_table(
        request.node.name[:60],
        path,
        schema=dp.Schema({"age": dp.Number(0, 120)}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("1", "1e-6"),
    )


@pytest.mark.long
def test_days_sets_and_a_stand_in_are_declared_in_the_wizard() -> None:
    page = Page().upload("birth date,likes,age\n31.12.1999,tea;milk,\n1.2.1980,coffee,33\n").to("cards")
    assert page.draft.card("birth date").kind == "date" and page.draft.card("birth date").first == "1900-01-01"
    page.click("declare-0-open").press("This is right")
    assert any(say("data.card.order_missing") in told for told in page.refusals)
    page.set("declare-0-order", "dmy").set("declare-0-first", date(2020, 1, 1)).set("declare-0-last", date(1990, 1, 1))
    assert any(say("date.reversed") in told for told in page.refusals)
    page.set("declare-0-days", "births").set("declare-1-kind", "items").set("declare-1-listed", "tea, coffee, milk")
    page.set("declare-1-separator", ";").set("declare-1-at-most", 9)
    assert any("from 1 to 3" in told for told in page.refusals)
    page.set("declare-1-at-most", 2).set("declare-2-filled", True).set("declare-2-stand-in", "150")
    assert any(say("number.missing_outside") in told for told in page.refusals)
    table = page.set("declare-2-stand-in", "40").finish("all kinds")
    columns = table.schema.columns
    assert columns["age"] == dp.Number(0, 120, missing=40, codes=[-999, -99, -9, -1, 999, 9999])
    assert columns["likes"].at_most == 2  # type: ignore[union-attr]
    assert isinstance(columns["birth date"], dp.Date) and columns["birth date"].order == "dmy"
    page.app.query_params["table"] = "all kinds"
    page.run()
    assert "empty cells count as 40" in page.text and "several of: tea, coffee, milk" in page.text


@pytest.mark.long
def test_a_long_public_list_from_a_file_stays_on_the_server() -> None:
    page = Page().upload("town\nplace 7\nplace 99999\n").to("cards").set("declare-0-kind", "list")
    values = "\n".join(f"place {one}" for one in range(100_000))
    page.app.file_uploader[0].set_value(("towns.txt", values.encode(), "text/plain"))
    page.run()
    assert "100,000 values from towns.txt: place 0, place 1" in page.text
    assert any(say("data.list.not_public")[:30] in told for told in page.refusals)
    page.press("Go on")
    assert page.draft.step == "cards"
    page.set("declare-0-public-1", True).set("declare-0-closed", True).set("declare-0-goes-typed", "place 5")
    assert not page.refusals and "place 50000" not in page.everything and len(page.everything) < 100_000
    table = page.finish("a hundred thousand places")
    assert table.schema.category("town").size == 100_000 and "place 50000" not in page.everything
    ask = Declared("a hundred thousand places", change="1")  # and to change it
    ask.click(ask.field("a hundred thousand places", 0, "open"))
    assert "100,000 values" in ask.text and "place 50000" not in ask.everything


@pytest.mark.long
def test_what_is_declared_is_changed_and_nothing_else(table: dp.Table) -> None:
    given = table.ask(table.query("median", column="age", epsilon="0.3"))
    before = table.meter()
    page = Declared(table.name).start("Change the declaration").start("Save")
    assert say("data.change.same") in page.refusals[0]
    page.set(page.field(table.name, 0, "upper"), "-5").start("Save")
    assert any(say("number.reversed") in told for told in page.refusals)
    page.set(page.field(table.name, 0, "upper"), "99")
    page.set(page.field(table.name, 2, "kind"), "list")
    page.set(page.field(table.name, 2, "listed"), "Mill\nHill, upper\nQuay").start("Save")
    new = space().table(table.name)
    assert say("data.change.done") in page.text and new.meter() == before
    assert say("data.first.check", share="X").partition(",")[0] in page.text, "and asked about with one click"
    assert new.schema["age"] == dp.Number(0, 99)
    assert new.schema.category("town").values == ("Mill", "Hill, upper", "Quay")
    (entry,) = new.history()
    assert new.answer_of(entry).value == given.value


def test_a_sample_is_not_changed() -> None:
    assert say("table.practice") in Declared("town").text
    assert say("table.practice") in Declared("town", change="1").text
    assert "There is no table called" in Declared("nowhere").text


@pytest.mark.long
def test_the_fit_is_offered_until_it_is_bought_for_this_declaration(table: dp.Table) -> None:
    page = Declared(table.name)
    assert say("data.fit.all_title") in page.text and table.meter().charges == 0
    assert "fit_checks" not in str(page.app.query_params)
    page.start("Check 1 column")
    good = (say("data.fit.good", columns="age"), say("data.fit.good_rough", columns="age"))
    assert any(one in page.text for one in good) and table.meter().charges == 1
    page = Declared(table.name)
    assert not [button for button in page.app.button if str(button.key).startswith("buy-fit")]
    table.revise(dp.Schema({"age": dp.Number(0, 10)}))
    page = Declared(table.name).start("Check 1 column")
    assert "of the cells of age do not fit" in page.text and say("fit.slip.number") in page.text
    page.start(say("data.fit.again", column="age"))
    assert "change" in page.app.query_params and page.changes[table.name][1].opened == "age"


@pytest.mark.long
def test_an_answer_says_what_is_known_of_the_cells_behind_it(table: dp.Table) -> None:
    given = table.ask(table.query("median", column="age", epsilon="0.01"), request_id="before")
    page = Declared(table.name, answer="before")
    assert say("fit.note.unchecked", column="age") in page.text and say("fit.note.link") in page.text
    assert say("fit.note.unchecked", column="age") in exports.answer_csv(given)
    printed = report.html(table, space().ledger.head(), given.at)
    assert say("fit.note.unchecked", column="age") in printed and say("fit.note.link") not in printed
    check = table.query("fit_checks", epsilon="0.3")
    table.ask(check)
    assert "fit.note" not in page.text and "Nobody has checked" not in Declared(table.name, answer="before").text
    assert "Nobody has checked" not in exports.answer_csv(given)
    narrow = table.revise(dp.Schema({"age": dp.Number(0, 10)}))
    narrow.ask(narrow.query("fit_checks", epsilon="0.3"))
    narrow.ask(narrow.query("median", column="age", epsilon="0.01"), request_id="after")
    assert narrow.fit_of("age").note() in Declared(table.name, answer="after").text
    assert narrow.fit_of("age").note()


def test_a_sample_nags_nobody() -> None:
    town = space().table("town")
    town.ask(town.query("median", column="age", epsilon="0.1"), request_id="of-town")
    page = Declared("town", answer="of-town")
    assert "Nobody has checked" not in page.text and say("data.fit.all_title") not in page.text


@pytest.mark.long
def test_without_a_reserve_ranges_can_be_bought_and_lists_cannot(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(people(50))
    space().add_table(
        "no delta",
        path,
        schema=dp.Schema({"age": dp.Number(0, 120)}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("1", Fraction(0)),
    )
    page = Declared("no delta")
    page.app.multiselect(key="found-columns").set_value(["town"])
    page.run()
    page.set("found-kind-town", "list")
    assert say("data.buy.no_delta") in page.text
    page.set("found-kind-town", "number").start("Find 1 column")
    (entry,) = space().table("no delta").history()
    assert entry.charge.claim["parameters"]["noise"] == "laplace" and say("data.found.nothing") in page.text


@pytest.mark.parametrize("act", ["forget", "seal"])
def test_a_closed_table_is_seen_and_not_changed(table: dp.Table, act: str) -> None:
    getattr(space(), act)(table.name)
    for page in (Declared(table.name), Declared(table.name, change="1")):
        assert not [button for button in page.app.button if button.label.startswith(("Check ", "Change", "Save"))]
        assert say("page.failed") not in page.text


def test_unknown_columns_are_bought_together_and_used_once_paid(table: dp.Table) -> None:
    page = Declared(table.name)
    page.app.multiselect(key="found-columns").set_value(["pay", "town"])
    page.run()
    page.set("found-kind-pay", "number").set("found-kind-town", "list")
    assert "Finds every value that at least about" in page.text and table.meter().charges == 0  # told before
    assert "ranges with at most about" in page.text
    page.start("Find 2 columns")
    (entry,) = table.history()
    assert entry.charge.claim["key"] == "find_declarations" and table.meter().charges == 1
    assert table.meter().spent_delta == table.meter().delta_reserve / 10
    assert "Found: 2 of 2 columns" in page.text and "town: 3 values found" in page.text
    assert "something else or nothing" in page.text
    page.start(say("data.found.use"))
    assert "change" in page.app.query_params
    page.start("Save")
    new = space().table(table.name)
    assert set(new.schema.category("town").values) == {"mill", "hill, upper", "quay"} and new.meter().charges == 1
    pay = new.schema.number("pay")
    assert pay.lower >= 0 and pay.upper == 1024
    page = Declared(table.name)
    page.app.multiselect(key="found-columns").set_value(["town"])
    page.run()
    page.set("found-kind-town", "list").start(say("ask.again_free"))
    assert "town: 3 values found" in page.text and new.meter().charges == 1


@pytest.mark.long
def test_a_second_link_to_the_same_column_opens_its_card_again(table: dp.Table) -> None:
    page = Declared(table.name, change="1", open="age")
    assert page.changes[table.name][1].opened == "age"
    page.changes[table.name][1].opened = None
    assert page.run().changes[table.name][1].opened is None, "it stays as the person left it"
    page.app.switch_page("../pages/ask.py").run()
    page.app.switch_page("../pages/data.py")
    for name, value in {"table": table.name, "change": "1", "open": "age"}.items():
        page.app.query_params[name] = value
    assert page.run().changes[table.name][1].opened == "age"
