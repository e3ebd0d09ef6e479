"""Whom do you trust, in a browser: four promises, asked together, the messages step by step; dark, on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser.journeys import kind, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.mark.long
def test_one_question_four_ways(page: Any, server: Any) -> None:
    go(page, "/trust?table=town")
    page.get_by_role("heading", name="Who could learn what").wait_for()
    settled(page)
    kind(page)
    shot(page, "trust")
    page.get_by_role("button", name="Ask all 3 together").click()
    page.get_by_text("Answer:").nth(2).wait_for()
    settled(page)
    history = table_of(page, server).history()
    assert sorted(entry.charge.claim["key"] for entry in history) == ["count", "local_count", "shuffle_count"]
    for step in range(2, 5):
        page.get_by_role("button", name="Next step").click()
        page.get_by_text(f"Step {step} of 4").wait_for()
    settled(page)
    assert page.locator(".st-key-card-trust-steps .pile i").count() == 24
    assert page.locator(".st-key-card-trust-steps").get_by_text("Ana", exact=True).count() == 0
    shot(page, "trust-asked")


@pytest.mark.long
def test_bars_from_messages_on_a_phone_at_night(open_page: Callable[..., Any]) -> None:
    phone = open_page(color_scheme="dark", **PHONE)
    go(phone, "/trust?kind=bars&column=way_to_work&solution=second&step=2")
    phone.get_by_role("heading", name="Who could learn what").wait_for()
    settled(phone)
    no_sideways_scrolling(phone)
    shot(phone, "phone-dark-trust")


@pytest.mark.long
def test_fewer_honest_people_and_one_pile_for_three_sums(page: Any) -> None:
    go(page, "/trust")
    page.get_by_role("heading", name="If not everybody is honest").wait_for()
    settled(page)
    card = page.locator(".st-key-card-trust-honest")
    assert "keeps its promise" in card.inner_text()
    card.get_by_role("slider").press("ArrowLeft")
    card.get_by_text("only honest people's coins are left").wait_for()
    assert "honest=99" in page.url
    page.get_by_text("in one pile, each with a tag").click()
    settled(page)
    assert page.locator(".st-key-card-trust-channel .pile.tags i").count() == 72
    page.get_by_text("person by person", exact=True).click()
    page.get_by_text("the way to work is now certain").wait_for()
    settled(page)
    kind(page)
    shot(page, "trust-honest")
