"""However a person clicks, leaves or reloads: one charge, one answer, and it is found again."""

from __future__ import annotations

from typing import Any

import pytest
from browser.journeys import ask_again, ask_link, choose, place, table_of, until
from browser.steps import go, settled

GO, SURE = ".st-key-ask-go button", ".st-key-ask-go-sure [data-testid=stBaseButton-primary]"
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
    assert page.locator(f'a[href*="answer={last.request}"]').count() >= 1
    assert len(table_of(page, server).history()) == charges


def ended(page: Any, server: Any, charges: int) -> list[Any]:
    entries = table_of(page, server).history()
    assert len(entries) <= charges
    return entries if len(entries) == charges and all(entry.outcome for entry in entries) else []


def test_many_clicks_charge_once(page: Any, server: Any) -> None:
    go(page, QUESTION)
    page.locator(GO).evaluate("button => { for (let click = 0; click < 10; click++) button.click(); }")
    found_again(page, server, 1)
    page.locator(GO).click()
    page.locator(SURE).dblclick()
    found_again(page, server, 2)
    page.locator(GO).click()
    page.locator(SURE).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert until(lambda: table_of(page, server).meter().charges == 3)
    page.keyboard.press("Enter")  # the answer may be there already, or not yet
    settled(page)
    page.keyboard.press("Enter")
    found_again(page, server, 3)


@pytest.mark.long
def test_the_answer_comes_into_view_and_a_second_click_on_the_spot_pays_nothing(page: Any, server: Any) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    go(page, QUESTION)
    button = page.locator(GO)
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    spot = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(*spot)
    page.locator(".headline").wait_for()
    settled(page)
    top = page.locator(".headline").bounding_box()
    assert top["y"] >= 0 and top["y"] + top["height"] <= 500, "the answer is off the screen"
    assert page.evaluate("document.activeElement.className") == "question arrived"
    page.mouse.click(*spot)
    settled(page)
    page.locator(GO).scroll_into_view_if_needed()  # as if the page had not moved
    box = page.locator(GO).bounding_box()
    for _ in range(2):
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        settled(page)
    assert len(table_of(page, server).history()) == 1


@pytest.mark.long
def test_two_tabs_with_one_question_pay_once(page: Any, server: Any) -> None:
    """The second is told first; it may pay for another answer then."""
    go(page, QUESTION)
    second = page.context.new_page()
    go(second, QUESTION)
    for tab in (page, second):
        tab.locator(GO).click(no_wait_after=True)
    page.locator(".headline").wait_for()
    second.locator(".refused", has_text="asked a moment ago").wait_for()
    found_again(page, server, 1)
    go(second, QUESTION)  # what was refused while the other waited is found when it is looked for
    second.locator(".headline").wait_for()
    assert second.locator(".headline").inner_text() == page.locator(".headline").inner_text()
    ask_again(second)
    found_again(second, server, 2)


@pytest.mark.long
def test_leaving_right_after_the_click_charges_once(page: Any, server: Any) -> None:
    go(page, QUESTION)
    for number, way in enumerate(LEAVING):
        page.locator(GO).click(no_wait_after=True)
        if number:  # a second step, where it was answered before
            page.locator(SURE).click(no_wait_after=True)
        if way == "another page":
            place(page, "Answers").click()
        elif way == "a reload":
            page.reload()
        else:
            closed, page = page, page.context.new_page()
            closed.close()
        found_again(page, server, number + 1)


@pytest.mark.long
def test_another_question_after_leaving_in_between(page: Any, server: Any) -> None:
    """The next question of the same window is a new one, also when the answer before it was never looked at."""
    go(page, QUESTION)
    page.locator(GO).click(no_wait_after=True)
    place(page, "Answers").click()
    assert until(lambda: ended(page, server, 1))
    settled(page)
    place(page, "Ask").click()
    page.locator(GO).wait_for()
    settled(page)
    choose(page, page.locator(".st-key-sentence [data-testid='stSelectbox'] input").first, "median")
    page.locator(GO).click()
    page.locator(".headline").wait_for()
    assert until(lambda: ended(page, server, 2))
