"""More of the Data page: several rows each, a range that is bought, and a declaration that is changed later."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser.journeys import kind, meter, no_sideways_scrolling, place, read_text
from browser.steps import go, settled, shot
from browser.test_data import CANARY, Bringing, csv_file

import dpengine as dp
from dpengine.messages import say


def visits(people: int) -> str:
    """Three rows each, and some without a name."""
    days = [f"{1 + row % 28}.{1 + row % 12}.2023" for row in range(3 * people)]
    likes = ("tea;coffee", "milk", "", CANARY)
    lines = [f"p{row // 3},{day},{likes[row % 4]},{row % 5}" for row, day in enumerate(days)]
    return "\n".join(["who,visit date,likes,score", *lines, ",1.1.2023,tea,3", ",2.1.2023,tea,3"]) + "\n"


def day(page: Any, field: str, digits: str) -> None:
    page.locator(f".st-key-{field} [role=spinbutton]").first.click()
    page.keyboard.type(digits)
    page.keyboard.press("Tab")
    settled(page)


@pytest.mark.long
def test_several_rows_each_with_days_and_sets(page: Any, server: Any) -> None:
    bringing = Bringing(page, "visits", "unit", "so-far", "cards", "done")
    bringing.upload(csv_file("our visits.csv", visits(3_000)), "Are these the columns?", "names")
    assert page.locator(".st-key-meter .words").count() == 0  # not the open table's
    bringing.press("Yes, go on", "Can one person", "unit").pick("not sure")
    page.locator(".st-key-declare-who input").fill("who")
    page.get_by_role("option", name="who", exact=True).click()
    settled(page)
    bringing.fill("Another number", "2").look("unit-more")
    bringing.pick("only the details").press("Go on", "What can be in the columns?", "cards")
    bringing.open(3, "a number").fill("Lowest", "1").fill("Highest", "5").fill("Rounded to", "1")
    bringing.open(2, "several from a list").fill("The values", "tea\ncoffee\nmilk")
    bringing.look("so-far").open(1)
    day(page, "declare-1-first", "20231231")
    day(page, "declare-1-last", "20230101")
    bringing.pick("31.12.1999")
    assert "The first day must come before the last" in bringing.refused()
    day(page, "declare-1-last", "20241231")
    day(page, "declare-1-first", "20220101")
    bringing.look("cards").press("Go on", "How careful?", "care")
    assert "3 columns" in page.locator(".so-far").inner_text()
    bringing.pick("Usual").press("Add the table", "is ready", "done")
    table = dp.open_workspace(server.home).table("our visits")
    assert table.facts.people == 3_000 and table.facts.unit == dp.Unit.column("who", 2)
    assert "100 %" in meter(page) and "our visits" in page.locator("h1").inner_text()
    page.get_by_role("link", name="Declaration").click()
    page.get_by_role("button", name="Check 3 columns").click()
    page.locator(".headline").wait_for()
    settled(page)
    assert "fit" in page.locator(".headline").inner_text()  # a score of 0, an item outside its list
    shot(page, "data-visits-fit")


def incomes(rows: int) -> str:
    towns = ("Mill", "Hill", CANARY)
    lines = [f"{20 + row % 60},{300 + row * 7 % 3500},{towns[min(row % 50, 2)]}" for row in range(rows)]
    return "\n".join(["age,pay,town", *lines]) + "\n"


def brought(server: Any, folder: Any, name: str, rows: int, column: str, kind: Any) -> dp.Table:
    path = folder / f"{name}.csv"
    path.write_text(incomes(rows))
    schema = dp.Schema({column: kind})
    return dp.open_workspace(server.home).add_table(
        name, path, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6")
    )


@pytest.mark.long
def test_a_range_that_nobody_knows_is_bought_and_used(page: Any, server: Any, tmp_path: Any) -> None:
    brought(server, tmp_path, "incomes", 8_000, "age", dp.Number(0, 120))
    bringing = Bringing(page, "buying")
    place(page, "Tables").click()
    here = page.locator("article", has_text="incomes")
    here.get_by_role("link", name="Columns and owner").click()
    page.get_by_role("heading", name="How “").wait_for()
    settled(page)
    assert "table=incomes" in page.url
    page.locator(".st-key-card-buy").scroll_into_view_if_needed()  # a list closes when the page moves under it
    settled(page)
    page.locator(".st-key-found-columns input").click()
    page.get_by_role("option", name="pay", exact=True).click()
    settled(page)
    page.locator(".st-key-found-kind-pay").get_by_text("numbers").click()
    settled(page)
    bringing.look("offer")
    shot(page, "data-buying-offer")
    page.get_by_role("button", name="Find 1 column — takes").click()  # the price, before
    page.locator(".headline").wait_for()
    settled(page)
    told = re.search(r"pay: from ([-−\d,]+) to ([-−\d,]+)\.", read_text(page))  # which ones is chance
    assert told is not None
    found = [end.replace(",", "").replace("−", "-") for end in told.groups()]
    table = dp.open_workspace(server.home).table("incomes")
    spent = table.meter().spent_epsilon
    assert spent > 0 and "after" not in meter(page)
    shot(page, "data-buying-answer")
    page.get_by_role("button", name="Use what was found").click()
    page.get_by_role("heading", name="Change the declaration").wait_for()
    settled(page)
    kind(page)
    line = page.locator(".st-key-line-1")
    assert "–".join(told.groups()) in line.inner_text() and "unknown" not in line.inner_text()  # no code beside it
    line.get_by_role("button", name=say("data.line.open_settled"), exact=True).click()
    ends = [page.locator(f".st-key-open-1 input[aria-label='{part}']") for part in ("Lowest", "Highest")]
    assert [end.input_value() for end in ends] == found
    shot(page, "data-buying-change")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved. The allowance and earlier answers").wait_for()
    settled(page)
    table = dp.open_workspace(server.home).table("incomes")
    pay = table.schema.number("pay")
    assert [pay.lower, pay.upper] == [int(end) for end in found] and table.meter().spent_epsilon == spent
    page.get_by_role("link", name="Ask a question").click()
    page.locator(".st-key-ask-go button").wait_for()
    settled(page)
    kind(page)


@pytest.mark.long
def test_a_declaration_is_changed_on_a_phone(open_page: Any, server: Any, tmp_path: Any) -> None:
    """An answer is given, then a list is mended and a column added: the allowance and the old answer stay."""
    space = dp.open_workspace(server.home)
    old = brought(server, tmp_path, "staff", 6_000, "town", dp.Category(["Mill", "Hil"]))
    given = old.ask(old.query("histogram", column="town", epsilon="0.2"), request_id="before")
    spent = old.meter().spent_epsilon
    phone = open_page(viewport={"width": 390, "height": 844}, has_touch=True)
    go(phone, "/data?table=staff")
    phone.get_by_role("button", name="Change the declaration").click()
    phone.get_by_role("heading", name="Change the declaration").wait_for()
    settled(phone)
    phone.get_by_role("button", name="Save").click()
    phone.get_by_text("Nothing has changed yet").wait_for()
    phone.locator('[class*="st-key-line-"]', has_text="age").get_by_role("button", name="Use it").click()
    settled(phone)
    phone.locator('[class*="-like-0"] button').first.click()
    settled(phone)
    phone.locator('[class*="st-key-line-"]', has_text="town").get_by_role("button", name="Change").click()
    settled(phone)
    values = phone.locator("textarea").first
    assert values.input_value() == "Mill\nHil"
    values.fill("Mill\nHill")
    values.press("Tab")
    settled(phone)
    no_sideways_scrolling(phone)
    shot(phone, "data-change-phone")
    phone.get_by_role("button", name="Save").click()
    phone.get_by_text("Saved. The allowance and earlier answers").wait_for()
    settled(phone)
    kind(phone)
    assert CANARY not in phone.content()
    table = space.table("staff")
    assert list(table.schema.columns) == ["age", "town"] and table.meter().spent_epsilon == spent
    answer = space.job("before").answer
    assert answer is not None and answer.value == given.value and "Hil" in answer.value
    shot(phone, "data-change-saved")
