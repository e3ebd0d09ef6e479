"""Small things that a page must say, and say where they are looked for: saved, not deleted, closed, empty, reserved."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from browser.journeys import meter, read_text
from browser.steps import go, settled, shot

import dpengine as dp
from dpengine.core.printed import percent
from dpengine.messages import say


def own_table(server: Any, name: str, schema: dict[str, Any] | None = None) -> dp.Table:
    """A private table, brought by a notebook into the same workspace."""
    told = {"age": [20, 30, 40, 50] * 100, "hours-per-week": [20, 40] * 200, "town": [name, "elsewhere"] * 200}
    declared = dp.Schema(schema or {"age": dp.Number(0, 100, step=1)})
    home = dp.open_workspace(server.home)
    return home.add_table(name, pd.DataFrame(told), schema=declared, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))


@pytest.mark.long
def test_what_is_saved_is_told_as_done_and_nothing_is_about_to_be_asked(page: Any, server: Any) -> None:
    own_table(server, "saved people")
    go(page, "/data?table=saved people&change=1")
    page.locator(".st-key-card-buy").scroll_into_view_if_needed()  # a list closes when the page moves under it
    settled(page)
    page.locator(".st-key-found-columns input").click()
    page.get_by_role("option", name="hours-per-week").click()
    page.keyboard.press("Escape")  # while the list is open, screen readers and roles know nothing else
    settled(page)
    page.locator(".st-key-buy-found button").wait_for()  # about to be bought
    page.locator(".st-key-card-lines").get_by_role("button", name="Use it").first.click()  # one more column
    page.get_by_role("heading", name="hours-per-week").wait_for()
    settled(page)
    page.locator('[class*="-like-0"] button').first.click()  # a cell like 40
    settled(page)
    page.locator('[class*="st-key-line-"]', has_text="hours-per-week").get_by_role("button", name="Change").click()
    settled(page)
    assert page.get_by_label("Start from a usual range").last.input_value() == "hours a week, 0 to 100"
    page.get_by_role("button", name="Save").click()
    saved = page.get_by_text("Saved. The allowance and earlier answers have not changed")
    saved.wait_for()
    settled(page)
    shot(page, "data-saved")
    assert "100 %" in meter(page) and "after this question" not in meter(page)
    box = saved.evaluate("one => getComputedStyle(one).backgroundColor")
    assert box == "rgba(0, 0, 0, 0)" and not page.locator(".warn", has_text="Saved").count()


@pytest.mark.long
def test_a_wrong_name_deletes_nothing_and_says_so_and_a_forgotten_table_is_not_open(page: Any, server: Any) -> None:
    table = own_table(server, "gone people")
    go(page, "/data?table=gone people")
    page.get_by_text("For the owner of “gone people”").click()
    settled(page)
    delete = page.get_by_role("button", name="Delete its rows")
    for typed, code in (("", "owner.confirm_typed"), ("gone poeple", "owner.confirm_name")):
        page.get_by_label("Type the table’s name").fill(typed)
        delete.click()  # straight from the field, as people do
        refusal = page.get_by_role("alert").filter(has_text=say(code, table="gone people"))
        refusal.wait_for()
        settled(page)
        seen = refusal.bounding_box()
        assert seen["y"] - delete.bounding_box()["y"] < 150 and refusal.is_visible()  # where one looks
        assert table.closed is None
    shot(page, "owner-wrong-name")
    page.get_by_label("Type the table’s name").fill("gone people")
    delete.click()
    page.get_by_text("its rows are deleted.").wait_for()
    settled(page)

    go(page, "/tables")
    line = page.locator("article").filter(has_text="gone people")
    assert "gone people (forgotten)" in line.inner_text()
    assert not line.get_by_role("link", name="Ask a question").count()
    shot(page, "tables-forgotten")


@pytest.mark.long
def test_the_reserve_has_a_name(page: Any, server: Any) -> None:
    table = own_table(server, "reserved people")
    table.ask(table.query("find_declarations", lists=["town"], epsilon="0.5", delta="4e-8", noise="laplace"))
    go(page, "/ask?table=reserved people")
    reserve = page.locator(".meter .reserve")
    told = say("meter.reserve", share=percent(Fraction(40, 100)))
    assert reserve.inner_text().strip().replace("\N{NO-BREAK SPACE}", " ") == told
    assert reserve.get_by_role("img", name=told).count() == 1
    shot(page, "meter-reserve")


@pytest.mark.long
def test_an_empty_plan_says_how_to_fill_it(phone: Any, server: Any) -> None:
    own_table(server, "days alone", {"age": dp.Date("2000-01-01", "2000-12-31", "dmy")})
    for table in ("town", "days alone"):
        go(phone, f"/several?table={table}")
        text = read_text(phone)
        assert f"Nothing is planned for “{table}” yet." in text and "“Add to the plan”" in text
        assert phone.get_by_role("link", name="Build a question on Ask").is_visible()
        below = phone.locator("[class*=st-key-suggest-add]").count()
        assert ("one of the questions below" in text) == bool(below)
    shot(phone, "plan-empty-phone")
