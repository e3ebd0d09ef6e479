"""Lessons 6 to 12 in a browser: one thing to do on each, a picture that answers, and next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser.journeys import kind, table_of
from browser.steps import go, settled, shot

SAYS = "p.lesson-say"


def says(page: Any, text: str) -> None:
    page.locator(SAYS, has_text=text).first.wait_for()
    settled(page)


def slide(page: Any, number: int, name: str, key: str, times: int = 1) -> None:
    thumb = page.locator(f"[class*='st-key-lesson-{number}-{name}-'] input[type=range]")
    for _ in range(times):
        thumb.press(key)
        settled(page)


def following(page: Any, title: str) -> None:
    page.get_by_role("button", name=f"Next: {title}").click()
    page.get_by_role("heading", name=title).wait_for()
    settled(page)
    kind(page)


@pytest.mark.long
def test_through_the_lessons(page: Any, open_page: Callable[..., Any], server: Any) -> None:
    go(page, "/lessons?lesson=dice")
    says(page, "Roll, and count.")
    kind(page)
    page.get_by_role("button", name="Roll a hundred times").click()
    says(page, "times in 100 rolls")
    page.get_by_role("button", name="Roll a hundred times").click()
    says(page, "times in 200 rolls")
    shot(page, "lesson-6")
    slide(page, 6, "epsilon", "Home")
    says(page, "So fair a die promises nothing")
    assert "epsilon=0.05" in page.url and "rolls=200" in page.url
    shot(page, "lesson-6-fair")
    page.get_by_text("The theorem", exact=True).click()
    page.get_by_text("The exponential mechanism chooses").wait_for()
    settled(page)
    shot(page, "lesson-6-theorem")

    following(page, "You move each film by one at most")
    first = page.locator(SAYS).first.inner_text()
    shot(page, "lesson-7")
    slide(page, 7, "size", "End")
    says(page, "with 18 films one person can change 20 of them")
    assert page.locator(SAYS).first.inner_text() == first
    shot(page, "lesson-7-many")

    following(page, "Do a hundred questions leak a hundred times as much?")
    says(page, "But some mislead")
    shot(page, "lesson-8")
    slide(page, 8, "questions", "End")
    says(page, "If all 1,000 answers pointed the same way they would leak ε = 50")
    shot(page, "lesson-8-many")
    slide(page, 8, "questions", "Home")
    says(page, "One question leaks at most its own")
    shot(page, "lesson-8-one")

    following(page, "Why asking many questions fools you")
    says(page, "no better than a coin")
    slide(page, 9, "features", "End")
    page.wait_for_url("**features=2500**")
    says(page, "no better than a coin")
    shot(page, "lesson-9")
    page.get_by_text("The theorem", exact=True).click()
    page.get_by_text("together take ε = 1").wait_for()
    settled(page)
    shot(page, "lesson-9-theorem")

    following(page, "The bars are noisy. Is the axis?")
    says(page, "the axis ends at 50,000 or at 5,200")
    shot(page, "lesson-10")
    slide(page, 10, "richest", "Home")
    says(page, "This time both axes end at 5,200")
    shot(page, "lesson-10-same")
    slide(page, 10, "richest", "End")
    says(page, "the axis ends at 1,000,000")
    page.get_by_text("The theorem", exact=True).click()
    page.get_by_text("Distances in units of 1,000").wait_for()
    settled(page)
    shot(page, "lesson-10-theorem")

    cold = open_page()
    cold.goto(page.url)
    says(cold, "the axis ends at 1,000,000")
    cold.get_by_role("button", name="All lessons").click()
    settled(cold)
    shot(cold, "lessons-overview")
    assert not table_of(page, server).history()


@pytest.mark.long
def test_a_walk_with_a_blindfold(page: Any) -> None:
    go(page, "/lessons?lesson=descent")
    says(page, "The promise is about the average of all places")
    kind(page)
    assert page.locator(".map .ground s").count() == 60  # three walks of twenty steps
    slide(page, 12, "epsilon", "Home")
    says(page, "at ε = 0.1 and")
    slide(page, 12, "steps", "Home")
    says(page, "All 5 steps share one ε")
    assert "epsilon=0.1" in page.url and "steps=5" in page.url
    before = page.locator(".map").inner_html()
    page.get_by_role("button", name="Walk again").click()
    settled(page)
    page.wait_for_function("before => document.querySelector('.map').innerHTML !== before", arg=before)
    page.get_by_text("The theorem", exact=True).click()
    page.get_by_text("Projected gradient descent").wait_for()
    shot(page, "lesson-12-theorem")
