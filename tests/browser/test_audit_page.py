"""Check it yourself, in a browser: from What-if by a link, a broken twin, the other relation, and back by a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser.journeys import kind, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot


@pytest.mark.long
def test_from_what_if_to_a_broken_twin_and_back_by_a_link(
    page: Any, open_page: Callable[..., Any], server: Any
) -> None:
    go(page, "/whatif?q=histogram")
    page.get_by_role("link", name="Check it yourself: watch this on two made-up tables").click()
    page.get_by_role("heading", name="Broken on purpose").wait_for()
    page.get_by_text("All bars have noise, but a bar’s presence says that somebody is in it.").wait_for()
    settled(page)
    kind(page)
    assert page.locator(".drawn").count() == 2
    shot(page, "audit")

    page.get_by_text("no Ana", exact=True).click()
    page.wait_for_url("**relation=add_remove**")
    settled(page)
    page.get_by_text("Ana is not in this table").wait_for()

    dark = open_page(color_scheme="dark")
    go(dark, page.url)
    dark.get_by_text("Ana is not in this table").wait_for()
    dark.get_by_text("The theorem, and how this is checked").first.click()
    dark.get_by_text("Clopper and Pearson").first.wait_for()
    settled(dark)
    shot(dark, "dark-audit")
    assert not table_of(page, server).history()


@pytest.mark.long
def test_on_a_phone(phone: Any) -> None:
    go(phone, "/audit?q=median&e=2")
    phone.get_by_role("heading", name="Broken on purpose").wait_for()
    settled(phone)
    kind(phone)
    no_sideways_scrolling(phone)
    shot(phone, "phone-audit")
