"""From nothing to a first private answer: how many clicks, how many words, what it costs, and what follows."""

from __future__ import annotations

from typing import Any

import pytest
from browser.journeys import asked_in_url, kind, meter, read_text, table_of, words
from browser.steps import go, settled, shot

import dpengine as dp

MOST_CLICKS = 3
MOST_WORDS = 60


def test_the_first_answer_takes_one_click_and_few_words(page: Any, server: Any) -> None:
    go(page)
    kind(page)
    before = read_text(page)
    shot(page, "start")
    assert len(words(before)) <= MOST_WORDS, f"{len(words(before))} words: {before}"
    assert "ε" not in before and "epsilon" not in before.lower()
    assert "100 %" in meter(page)

    clicks = 0
    page.get_by_role("button", name="See the answer").click()
    clicks += 1
    page.locator(".headline").wait_for()
    settled(page)
    shot(page, "start-answer")
    assert clicks <= MOST_CLICKS
    assert "90 %" in meter(page) and "100 %" not in meter(page)
    assert page.locator(".headline").inner_text().startswith("About ")
    assert "Between" in read_text(page)

    cards = page.locator("[class*='st-key-card-next']")
    assert cards.count() == 3
    assert all("%" in cards.nth(place).locator(".take-words").inner_text() for place in range(3))

    table = table_of(page, server)
    (entry,) = table.history()
    assert entry.outcome is not None and entry.outcome.kind == "answer"
    assert entry.charge.request == asked_in_url(page)
    rows = dp.open_workspace(server.home).ledger.export_rows(table.budget.id)
    assert [row["kind"] for row in rows] == ["budget", "charge", "answer"]


@pytest.mark.long
def test_the_answer_is_a_link_and_leads_on(page: Any, server: Any) -> None:
    """Its address shows it again after a reload and in a second tab, for nothing; a next question has its price."""
    go(page)
    page.get_by_role("button", name="See the answer").click()
    page.locator(".headline").wait_for()
    settled(page)
    said = page.locator(".headline").inner_text()
    second = page.context.new_page()
    second.goto(page.url)
    page.reload()
    for tab in (page, second):
        tab.locator(".headline").wait_for()
        assert tab.locator(".headline").inner_text() == said
    second.close()
    assert len(table_of(page, server).history()) == 1

    settled(page)
    page.locator(".st-key-card-next-count a").click()
    button = page.locator(".st-key-ask-go button")
    button.wait_for()
    settled(page)
    assert "5 %" in button.inner_text()
    assert "90 %" in meter(page) and "85 %" in meter(page)
    shot(page, "ask-from-start")
    button.click()
    page.locator(".headline").wait_for()
    settled(page)
    shot(page, "ask-answer")
    assert [entry.charge.claim["sentence"] for entry in table_of(page, server).history()] == [
        "The number of people where has_car is yes",
        "The median of monthly_income for everyone",
    ]
    assert "85 %" in meter(page)
