"""A language is chosen in the head of a page, on a phone too, and stays: in the address, on other pages, later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser.journeys import speak
from browser.steps import go, settled, shot
from playwright.sync_api import expect


@pytest.mark.long
def test_a_language_is_chosen_once(phone: Any) -> None:
    go(phone, "/ask")
    assert "Privacy allowance" in phone.locator(".meter").inner_text() and "lang=" not in phone.url
    speak(phone, "Slovenščina")
    phone.locator(".meter", has_text="Proračun zasebnosti").wait_for()
    settled(phone)
    shot(phone, "language-slovene-phone")
    assert "lang=sl" in phone.url
    main = phone.locator('[data-testid="stMain"]')
    assert main.evaluate("one => one.scrollWidth <= one.clientWidth")
    go(phone, "/answers?view=ledger")  # an address that says nothing: the cookie does
    assert "Proračun zasebnosti" in phone.locator(".meter").inner_text()


@pytest.mark.long
def test_a_browser_says_its_language(open_page: Callable[..., Any]) -> None:
    slovene = open_page(locale="sl-SI")  # a browser that says so itself
    go(slovene, "/answers?view=ledger")
    assert "Proračun zasebnosti" in slovene.locator(".meter").inner_text() and "lang=" not in slovene.url


@pytest.mark.long
def test_what_is_picked_stays_picked_whatever_language_the_address_says(page: Any) -> None:
    go(page, "/ask?lang=sl")
    for kind in ("povprečje", "število"):
        picked = page.locator(".st-key-sentence [data-testid='stSelectbox'] input").first
        picked.click()
        page.get_by_role("option", name=kind, exact=True).click()
        key = {"povprečje": "mean", "število": "count"}[kind]
        page.wait_for_url(f"**q={key}**")  # the run that knows of the choice has told the address
        settled(page)
        expect(picked).to_have_value(kind)
        assert "lang=sl" in page.url
