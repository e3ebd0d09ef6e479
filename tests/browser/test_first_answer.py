"""From nothing to a first private answer: how many clicks, how many words, what it costs, and what follows."""

from __future__ import annotations

from typing import Any

import pytest
from browser.journeys import asked_in_url, first_answer, kind, meter, place, read_text, table_of, words
from browser.steps import go, settled, shot

import dpengine as dp

MOST_WORDS = 90


def test_the_first_answer_takes_two_clicks_and_few_words(page: Any, server: Any) -> None:
    go(page)
    before = read_text(page)
    shot(page, "start")
    assert len(words(before)) <= MOST_WORDS, f"{len(words(before))} words: {before}"
    assert "ε" not in before and "epsilon" not in before.lower()
    assert page.locator(".why b").all_inner_texts() == ["191", "192", "has it"]
    assert page.get_by_role("link", name="Use my file").get_attribute("href").startswith("data")

    first_answer(page)
    kind(page)
    shot(page, "first-answer")
    assert "100 %" not in meter(page)
    assert page.locator(".headline").inner_text().startswith("About ")
    assert "The exact answer, counted as declared, is between" in read_text(page)

    table = table_of(page, server)
    (entry,) = table.history()
    assert entry.outcome is not None and entry.outcome.kind == "answer"
    assert entry.charge.request == asked_in_url(page)
    rows = dp.open_workspace(server.home).ledger.export_rows(table.budget.id)
    assert [row["kind"] for row in rows] == ["budget", "charge", "answer"]


@pytest.mark.long
def test_the_answer_is_a_link_and_stands_on_the_tables_card(page: Any, server: Any) -> None:
    """Its address shows it again after a reload and in a second tab, for nothing."""
    go(page)
    first_answer(page)
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
    place(page, "Tables").click()
    card = page.locator("article", has_text="town")
    card.get_by_role("link", name="The median of monthly_income for everyone").click()
    page.locator(".headline", has_text=said).wait_for()
