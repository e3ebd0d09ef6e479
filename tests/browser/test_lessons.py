"""The lessons in a browser: from the overview into one, what there is to do, on to the next; and a picture of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browser.journeys import kind, no_sideways_scrolling
from browser.steps import go, settled, shot

from ui.learn import lessons

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
LOOKS: dict[str, dict[str, Any]] = {"light": {}, "dark": {"color_scheme": "dark"}, "phone": PHONE}


def in_address(page: Any) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


@pytest.mark.long
def test_two_harmless_questions_and_on_to_the_next(page: Any) -> None:
    go(page, "/lessons")
    page.get_by_role("button", name="Two harmless questions").click()
    page.get_by_text("The difference is 1: Edi has diabetes").wait_for()
    page.get_by_text("private answers, again and again").click()
    page.locator(".picture .legend", has_text="if Edi has diabetes").wait_for()
    page.get_by_role("slider").press("End")
    page.get_by_text("After 10 questions the ledger refuses").wait_for()
    settled(page)
    assert in_address(page) | {"pairs": "12", "way": "ledger", "lesson": "differencing"} == in_address(page)
    page.get_by_role("button", name="Next: ").click()
    page.get_by_role("heading", name=lessons.lesson(2).title).wait_for()
    settled(page)
    kind(page)
    assert in_address(page)["lesson"] == "averaging"


@pytest.mark.long
def test_names_taken_off_are_found_again_until_the_release_is_private(page: Any) -> None:
    go(page, "/lessons")
    page.get_by_role("button", name="Even without names").click()
    page.get_by_text("the program finds 277 on a roll").wait_for()
    assert page.locator(".linked td.found").count() > 0
    page.get_by_role("slider").press("Home")
    page.get_by_text("the program finds 0 on a roll").wait_for()
    page.get_by_text("a private release").click()
    page.get_by_text("Names drawn by lot").wait_for()
    settled(page)
    kind(page)
    assert in_address(page) | {"lesson": "linkage", "way": "private", "detail": "decade"} == in_address(page)
    for lang, said in (("sl", "Program"), ("he", "התוכנה")):
        go(page, f"/lessons?lesson=linkage&story=films&lang={lang}")
        assert said.lower() in page.locator("p.lesson-say").first.inner_text().lower()
        assert page.locator("p.lesson-say").count() == 2
        kind(page)


@pytest.mark.long
@pytest.mark.parametrize("look", sorted(LOOKS))
def test_through_every_lesson_with_a_picture(look: str, open_page: Callable[..., Any]) -> None:
    page = open_page(**LOOKS[look])
    go(page, "/lessons")
    shot(page, f"lessons-{look}")
    page.locator(f".st-key-lesson-open-{next(iter(lessons.NAMES))} button").click()
    for number in lessons.NAMES:
        page.get_by_role("heading", name=lessons.lesson(number).title).wait_for()
        settled(page)
        kind(page)
        no_sideways_scrolling(page)
        shot(page, f"lesson-{number}-{look}")
        for choice in page.get_by_role("radio").all()[1:]:  # the other ways, where there are some
            choice.click()
            settled(page)
            shot(page, f"lesson-{number}-{look}-{choice.inner_text()}")
        if page.get_by_role("slider").count():
            page.get_by_role("slider").first.press("ArrowRight")
            settled(page)
        page.get_by_text("The theorem", exact=True).click()
        page.get_by_text("Who is protected:").wait_for()
        page.get_by_role("button", name="Copy link").click()
        copied = page.get_by_test_id("stCode").inner_text().strip()
        page.keyboard.press("Escape")
        settled(page)
        shot(page, f"lesson-{number}-{look}-theorem")
        told = page.locator("h1, .lesson-do").all_inner_texts()
        cold = open_page(**LOOKS[look])
        cold.goto(copied)
        settled(cold)
        kind(cold)
        assert cold.locator("h1, .lesson-do").all_inner_texts() == told
        cold.context.close()
        if number != list(lessons.NAMES)[-1]:
            page.get_by_role("button", name="Next: ").click()
