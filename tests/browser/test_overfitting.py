"""Why many questions fool you, in a browser: from What-if by a link, other settings, a link that brings them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser.journeys import kind, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot


def test_from_what_if_to_the_demonstration_and_back_by_a_link(
    page: Any, open_page: Callable[..., Any], server: Any
) -> None:
    go(page, "/whatif")
    assert page.get_by_test_id("stTopNavLink").filter(has_text="Many questions").count() == 0
    page.get_by_role("link", name="Why asking many questions fools you").click()
    page.get_by_role("heading", name="Why asking many questions fools you").wait_for()
    page.locator("p.found", has_text="no better than a coin").wait_for()
    settled(page)
    kind(page)
    shot(page, "overfitting")

    page.get_by_role("radio", name="careful", exact=True).click()
    settled(page)
    page.get_by_role("button", name="Toss the coins again").click()
    page.wait_for_url("**seed=2**")
    settled(page)
    page.get_by_text("What is promised, and how it is drawn").click()
    page.get_by_text("together take ε = 0.5").wait_for()
    page.get_by_role("button", name="Figures (CSV)").wait_for()
    settled(page)
    shot(page, "overfitting-more")
    exact = page.locator("p.found").first.inner_text()

    cold = open_page(color_scheme="dark")
    cold.goto(page.url)
    settled(cold)
    assert cold.locator("p.found").first.inner_text() == exact
    shot(cold, "dark-overfitting")
    assert not table_of(page, server).history()


@pytest.mark.long
def test_on_a_phone(phone: Any) -> None:
    go(phone, "/overfitting?people=2000&features=1000")
    phone.locator("p.found", has_text="no better than a coin").wait_for()
    kind(phone)
    no_sideways_scrolling(phone)
    shot(phone, "phone-overfitting")
