"""However a person clicks, leaves or reloads: one charge, one answer, and it is found again."""

from __future__ import annotations

from typing import Any

import pytest
from browser.journeys import ask_link, table_of, until
from browser.steps import go, settled

GO = ".st-key-ask-go button"
QUESTION = ask_link("town", "count", where=[["age", ">=", 30]], epsilon="0.02")
LEAVING = ("another page", "a reload", "a closed tab", "a reload")


def found_again(page: Any, server: Any, charges: int) -> None:
    """Exactly so many charges, each with an answer; the last one at its own address and in the history of Ask."""
    entries = until(lambda: ended(page, server, charges))
    assert entries, f"{len(table_of(page, server).history())} charges where {charges} were due"
    last = entries[0].charge
    go(page, f"{QUESTION}&answer={last.request}")
    assert page.locator(".headline").inner_text().startswith("About ")
    assert last.claim["sentence"] in page.locator("p.question").first.inner_text()
    assert page.get_by_role("link", name=last.hash[:8]).count() == 1
    assert len(table_of(page, server).history()) == charges


def ended(page: Any, server: Any, charges: int) -> list[Any]:
    entries = table_of(page, server).history()
    assert len(entries) <= charges
    return entries if len(entries) == charges and all(entry.outcome for entry in entries) else []


def test_many_clicks_charge_once(page: Any, server: Any) -> None:
    go(page, QUESTION)
    page.locator(GO).evaluate("button => { for (let click = 0; click < 10; click++) button.click(); }")
    found_again(page, server, 1)
    page.locator(GO).dblclick()
    found_again(page, server, 2)
    button = page.locator(GO)
    button.focus()
    for pause in (100, 200, 400):  # the later ones may come when the answer is there already
        page.keyboard.press("Enter")
        page.wait_for_timeout(pause)
    settled(page)
    page.keyboard.press("Enter")
    found_again(page, server, 3)


@pytest.mark.long
def test_leaving_right_after_the_click_charges_once(page: Any, server: Any) -> None:
    go(page, QUESTION)
    for number, way in enumerate(LEAVING):
        page.locator(GO).click(no_wait_after=True)
        if way == "another page":
            page.get_by_role("link", name="Ledger").first.click()
        elif way == "a reload":
            page.reload()
        else:
            closed, page = page, page.context.new_page()
            closed.close()
        found_again(page, server, number + 1)


@pytest.mark.long
def test_leaving_start_right_after_the_click_charges_once(page: Any, server: Any) -> None:
    go(page)
    page.get_by_role("button", name="See the answer").click(no_wait_after=True)
    page.reload()
    found_again(page, server, 1)


@pytest.mark.long
def test_another_question_after_leaving_in_between(page: Any, server: Any) -> None:
    """The next question of the same window is a new one, also when the answer before it was never looked at."""
    go(page, QUESTION)
    page.locator(GO).click(no_wait_after=True)
    page.get_by_role("link", name="Ledger").first.click()
    assert until(lambda: ended(page, server, 1))
    settled(page)
    page.get_by_role("link", name="Ask").first.click()
    page.locator(GO).wait_for()
    settled(page)
    page.locator(".st-key-sentence [data-testid='stSelectbox'] input").first.click()
    page.get_by_role("option", name="median").click()
    settled(page)
    page.locator(GO).click()
    page.locator(".headline").wait_for()
    assert until(lambda: ended(page, server, 2))
