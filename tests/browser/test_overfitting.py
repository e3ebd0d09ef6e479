"""Why many questions fool you, in a browser: from What-if by a link, and by the address it once had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser.journeys import kind, table_of
from browser.steps import go, settled, shot

SAYS = "p.lesson-say"


@pytest.mark.long
def test_from_what_if_to_the_demonstration_and_back_by_a_link(
    page: Any, open_page: Callable[..., Any], server: Any
) -> None:
    go(page, "/whatif")
    page.get_by_role("link", name="Why asking many questions fools you").click()
    page.get_by_role("heading", name="Why asking many questions fools you").wait_for()
    page.locator(SAYS, has_text="no better than a coin").wait_for()
    settled(page)
    kind(page)
    page.get_by_role("button", name="Toss the coins again").click()
    page.wait_for_url("**seed=2**")
    settled(page)
    page.get_by_text("The theorem", exact=True).click()
    page.get_by_text("together take ε = 1").wait_for()
    page.get_by_role("button", name="Figures (CSV)").wait_for()
    settled(page)
    shot(page, "overfitting")
    exact = page.locator(SAYS).first.inner_text()

    cold = open_page(color_scheme="dark")
    cold.goto("/lessons?lesson=overfitting&seed=2")
    cold.locator(SAYS, has_text="no better than a coin").wait_for()
    settled(cold)
    assert cold.locator(SAYS).first.inner_text() == exact
    shot(cold, "dark-overfitting")
    assert not table_of(page, server).history()
