"""By keyboard the first field is near, two keys help; a finger hits what it means, a wide table says that it moves."""

from __future__ import annotations

from typing import Any

import pytest
from browser.steps import go, settled

from dpengine.messages import say

MOST_TABS, FINGER = 5, 43.5
_IN_FORM = "() => !!document.activeElement.closest('.st-key-box, .st-key-sentence')"
_SMALL = """(least) => [...document.querySelectorAll('button, a, summary, [role=radio], [role=tab]')]
    .filter(one => {
        const box = one.getBoundingClientRect();
        return box.height > 1 && box.height < least && !one.closest('p, td, .drawn')
            && !(one.getAttribute('aria-label') || '').startsWith('Help for');
    }).map(one => one.innerText || one.getAttribute('aria-label'))"""


@pytest.mark.long
def test_the_first_field_of_ask_is_a_few_tabs_away(page: Any) -> None:
    go(page, "/ask?table=town")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the link that skips to the content
    tabs = 1
    while not page.evaluate(_IN_FORM):
        page.keyboard.press("Tab")
        tabs += 1
        assert tabs <= MOST_TABS
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("/")
    assert page.evaluate(_IN_FORM)
    page.keyboard.press("/")  # inside a field it is a sign like any other
    assert page.evaluate("() => document.activeElement.value") == "/"
    page.keyboard.press("Backspace")
    page.evaluate("() => document.activeElement.blur()")
    settled(page)
    page.keyboard.press("?")
    page.get_by_text(say("about.keys")).wait_for()


@pytest.mark.long
@pytest.mark.parametrize(
    "path", ["/ask?table=town", "/answers?table=town", "/tables", "/several?table=town", "/lessons"]
)
def test_a_finger_hits_what_it_means(phone: Any, path: str) -> None:
    go(phone, path)
    assert settled(phone).evaluate(_SMALL, FINGER) == []


@pytest.mark.long
def test_a_table_wider_than_a_phone_says_that_it_can_be_moved(phone: Any) -> None:
    go(phone, "/lessons?lesson=linkage")
    wide = phone.locator(".scroll[data-wider]").first
    wide.wait_for()
    seen, held = wide.evaluate("one => [getComputedStyle(one, '::before').content, one.scrollWidth > one.clientWidth]")
    assert say("widget.wider") in seen and held


@pytest.mark.long
def test_what_is_typed_into_a_field_with_a_number_replaces_it(phone: Any) -> None:
    go(phone, "/ask?table=town&q=median&column=monthly_income&epsilon=0.1")
    phone.locator(".st-key-exactly-ask summary").click()
    field = settled(phone).locator(".st-key-exactly-ask input").first
    assert field.input_value() == "0.1"
    field.click()
    phone.keyboard.type("0.2")
    assert field.input_value() == "0.2"
    field.click()  # the cursor, in the field that has the focus already
    phone.keyboard.press("End")
    phone.keyboard.type("5")
    assert field.input_value() == "0.25"
