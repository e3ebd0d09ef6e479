"""A session of five: two questions, a reload, a third, an early end; then on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from browser.journeys import kind, meter, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot

ASK = "Ask — costs nothing more"


def ask(page: Any, number: int) -> None:
    page.get_by_role("button", name=ASK).click()
    page.get_by_role("heading", name=f"Question {number + 1} of 5").wait_for()
    page.locator(".taken .said").nth(number - 1).wait_for()
    settled(page)


def choose(page: Any, value: str) -> None:
    page.locator("[class*=st-key-where-values] input").first.click()
    page.get_by_role("option", name=value, exact=True).click()
    page.keyboard.press("Escape")
    settled(page)


@pytest.mark.long
def test_a_session_of_five_is_asked_reloaded_and_ended(page: Any, phone: Any, server: Any) -> None:
    go(page, "/several?table=town&k=5&share=30")
    page.get_by_role("heading", name="Several questions").wait_for()
    kind(page)
    shot(page, "session-start")
    page.get_by_role("button", name="Reserve 5 questions").click()
    page.get_by_role("heading", name="Question 1 of 5").wait_for()
    settled(page)
    table = table_of(page, server)
    [charged] = table.history()
    left = meter(page)
    assert "session=" in page.url and charged.charge.claim["parameters"]["questions"] == 5

    choose(page, "Harbour")
    ask(page, 1)
    page.locator(".st-key-sentence input").first.click()
    page.get_by_role("option", name="average").click()
    settled(page)
    ask(page, 2)
    answers = page.locator(".taken").all_inner_texts()
    assert meter(page) == left, "a step moves the meter"
    page.reload()
    page.get_by_role("heading", name="Question 3 of 5").wait_for()
    settled(page)
    assert page.locator(".taken").all_inner_texts() == answers
    shot(page, "session-running")
    choose(page, "Mill")
    ask(page, 3)
    kind(page)
    address = page.url

    page.get_by_text("End early").click()
    settled(page)  # what is clicked while it unfolds may slip away
    page.get_by_role("button", name="End the session for good").click()
    page.get_by_role("heading", name="Session ended after 3 of 5 questions").wait_for()
    settled(page)
    kind(page)
    assert page.get_by_role("button", name=ASK).count() == 0 and meter(page) == left
    rows = [row[2] for row in table.ledger_rows()]
    assert rows.count("step") == rows.count("part") == 3 and rows[-1] == "ended" and len(table.history()) == 1

    page.get_by_role("link", name="Start another session").click()
    page.get_by_role("heading", name="Several questions").wait_for()
    settled(page)
    page.get_by_text("Sources, and how many people").click()
    page.get_by_text("Everything released, this session included").wait_for()  # one came before
    shot(page, "session-another")

    phone.context.add_cookies(page.context.cookies())
    go(phone, address)
    phone.get_by_role("heading", name="Session ended after 3 of 5 questions").wait_for()
    no_sideways_scrolling(phone)
    shot(phone, "session-ended-phone")
    go(phone, "/several?table=town&k=200&how=lecture")
    no_sideways_scrolling(phone)
    kind(phone)
    shot(phone, "session-start-phone")
