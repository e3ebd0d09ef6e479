"""The guided start through its three pages, and a word that explains itself to pointer, keyboard and finger."""

from __future__ import annotations

from typing import Any

import pytest
from browser.journeys import ask_link, no_sideways_scrolling
from browser.steps import go, settled, shot

from dpengine.messages import say

SHOWN = "one => getComputedStyle(one, '::after').content"


@pytest.mark.long
def test_the_guided_start_is_offered_followed_left_and_found_again(page: Any) -> None:
    go(page)
    page.get_by_role("button", name="Show me around").click()
    page.locator(".tour li[aria-current]", has_text="See why you need it").wait_for()
    settled(page)
    page.get_by_role("button", name="Ask the same privately").click()
    page.get_by_text("nobody can tell").wait_for()
    settled(page)
    shot(page, "tour-1")
    page.get_by_role("link", name="Next: Ask your own question").click()
    page.locator(".tour li[aria-current]", has_text="Ask your own question").wait_for()
    settled(page)
    page.reload()  # the browser remembers
    page.locator(".tour").wait_for()
    settled(page)
    shot(page, "tour-2")
    page.get_by_role("link", name="Next: Find your answers again").click()
    page.get_by_role("button", name="Finish").click()
    page.locator(".tour").wait_for(state="detached")
    settled(page)
    go(page)
    assert not page.locator(".tour").count() and not page.get_by_role("button", name="Show me around").count()
    go(page, "/whatif")
    page.get_by_role("button", name="What is this?").click()
    page.get_by_role("link", name="Guided start").click()
    page.locator(".tour").wait_for()


@pytest.mark.long
def test_a_word_explains_itself(page: Any, phone: Any) -> None:
    go(page, ask_link("residents", "mean", column="salary", epsilon="0.01"))  # mostly noise, which the page says
    word = page.locator(".st-key-card-spend .gloss", has_text="allowance")
    assert word.evaluate(SHOWN) == "none"
    word.hover()
    means = say("gloss.allowance.means")
    assert word.get_attribute("aria-description") == means and means[:40] in word.evaluate(SHOWN)
    page.mouse.move(0, 0)
    page.locator(".meter .gloss").first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.classList.contains('gloss')")
    assert page.locator(".meter .gloss").nth(1).evaluate(SHOWN) != "none"

    go(phone, "/ask")
    word = phone.locator(".meter .gloss:visible").last
    word.tap()
    assert word.evaluate(SHOWN) != "none"
    no_sideways_scrolling(phone)
    shot(phone, "phone-word")
    phone.get_by_role("button", name=say("about.open")).tap()
    phone.get_by_text(say("about.all"), exact=True).tap()
    phone.get_by_text("half have more").wait_for()
    no_sideways_scrolling(phone)
