"""Several questions in one go, and one question several times."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from browser.journeys import ask_again, ask_link, kind, meter, no_sideways_scrolling, place, table_of
from browser.steps import go, settled, shot

CARS = ask_link("town", "count", where=[["has_car", "in", ["yes"]]], epsilon="0.05")
INCOME = ask_link("town", "mean", column="monthly_income", epsilon="0.1")


def plan(page: Any, link: str, count: str) -> None:
    go(page, link)
    page.get_by_role("button", name="Add to the plan").first.click()
    page.get_by_text(f"In the plan: {count}").wait_for()
    settled(page)


@pytest.mark.long
def test_a_three_question_plan(page: Any, server: Any) -> None:
    plan(page, CARS, "1 question")
    place(page, "Several", "Ask").click()
    page.get_by_role("heading", name="Several questions").wait_for()
    settled(page)
    rows = page.locator("[class*=st-key-card-plan-row]")
    page.locator(".st-key-suggest-add-0 button").click()
    rows.nth(1).wait_for()
    settled(page)
    assert page.locator(".st-key-suggest-add-0").count() == 0  # the line says that it is in the plan
    page.locator(".st-key-suggest-add-1 button").click()
    rows.nth(2).wait_for()
    settled(page)
    page.get_by_role("link", name="Add another question").click()  # another page, and back: nothing is lost
    page.get_by_role("link", name="In the plan: 3 questions").click()
    page.get_by_role("heading", name="Several questions").wait_for()
    settled(page)
    assert rows.count() == 3 and "after the plan" in meter(page)
    assert not table_of(page, server).history()  # nothing is spent by planning
    shot(page, "plan-fits")

    first = rows.first.locator("input").first
    first.fill("2")  # people: far too exact
    first.press("Tab")
    page.get_by_text("Any one of these is enough").wait_for()
    settled(page)
    assert "not enough for the plan" in meter(page)
    assert page.get_by_role("button", name="Run the plan").count() == 0
    shot(page, "plan-over")
    page.get_by_role("button", name="Make it fit").click()
    page.get_by_role("button", name="Run the plan").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Any one of these is enough").wait_for()
    settled(page)
    assert first.input_value() == "2"
    page.get_by_role("button", name="Make it fit").click()
    page.get_by_role("button", name="Run the plan").wait_for()
    settled(page)
    page.get_by_text("For specialists: the price if this list were fixed in advance").click()
    page.get_by_text("numerical accounting").wait_for()
    settled(page)
    kind(page)
    shot(page, "plan-made-to-fit")
    address = page.url
    page.reload()  # the plan is in its address
    page.get_by_role("button", name="Run the plan").wait_for()
    settled(page)
    assert page.url == address and rows.count() == 3

    page.get_by_role("button", name="Run the plan").click()
    page.get_by_role("heading", name="The plan was run: 3 of 3 answered").wait_for()
    settled(page)
    shot(page, "plan-run")
    entries = table_of(page, server).history()
    assert len(entries) == 3 and all(entry.outcome and entry.outcome.kind == "answer" for entry in entries)
    address = page.url
    place(page, "Ask").click()
    page.locator(".st-key-ask-go button").wait_for()
    place(page, "Several", "Ask").click()
    page.get_by_text("Nothing is planned for “town” yet").wait_for()  # it is not run again by chance
    go(page, address)
    page.get_by_role("heading", name="The plan was run: 3 of 3 answered").wait_for()
    assert len(table_of(page, server).history()) == 3
    page.locator("td.at-receipt a").first.click()
    page.locator(".headline").wait_for()


@pytest.mark.long
def test_asking_again_is_averaged(page: Any, phone: Any, server: Any) -> None:
    go(page, CARS)
    page.locator(".st-key-ask-go button").click()
    page.locator(".headline").wait_for()
    for count in ("2", "3"):
        ask_again(page)  # on the form: whether combining is offered depends on the draws
        page.get_by_role("heading", name=f"Asked {count} times").wait_for()
    settled(page)
    assert "The exact answer, counted as declared, is between" in page.locator(".st-key-card-looks").inner_text()
    page.get_by_text("Each answer alone").click()
    shot(page, "looks")
    table = table_of(page, server)
    reading = table.looks(table.query("count", where=[["has_car", "in", ["yes"]]], epsilon="0.05"))
    assert reading.count == 3 and reading.agree
    assert "3 answers together" in page.locator("table.rows").inner_text()

    plan(phone, INCOME, "1 question")
    told = json.dumps([["mean", {"column": "monthly_income", "epsilon": "0.1"}, "20", 1]])
    go(phone, f"/several?{urlencode({'table': 'town', 'plan': told})}")
    phone.locator("[class*=st-key-card-plan-row]").wait_for()
    no_sideways_scrolling(phone)
    shot(phone, "plan-phone")
