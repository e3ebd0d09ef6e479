"""The Lessons page without a browser: every lesson at the ends of every setting, links, and the way through."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from helpers_gloss import unmarked
from helpers_page import html_of, open_page
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.messages import CATALOGUES
from ui.learn import lessons
from ui.learn.lesson import Lesson, Setting

pytestmark = pytest.mark.usefixtures("shared")

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = list(lessons.NAMES)


def opened(**address: str) -> AppTest:
    return open_page("lessons", **address)


def html(page: AppTest) -> str:
    return unmarked(html_of(page))


def said(page: AppTest) -> list[str]:
    return [unescape(line) for line in re.findall(r'<p class="lesson-say"[^>]*>(.*?)</p>', html(page))]


def link(page: AppTest) -> dict[str, str]:
    """What the copied link says."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.code[0].value).query).items()}


@pytest.mark.parametrize("number", NUMBERS)
def test_a_lesson_is_whole(number: int) -> None:
    """It stands at its place, has all its words, and one thing to do."""
    lesson = lessons.lesson(number)
    assert lesson.number == number
    for name in ("title", "line", "do", *(f"set.{one.name}" for one in lesson.settings)):
        assert f"lesson.{number}.{name}" in CATALOGUES["en"]
    for one in lesson.settings:
        assert one.usual in one.choices and len(set(one.choices)) == len(one.choices) > 1
        assert one.name not in ("lesson", "table")
    assert not all(one.more for one in lesson.matters(lesson.clean({})))


def ends(lesson: Lesson) -> list[dict[str, str]]:
    """All settings at their first and at their last value, each alone and all together, for each of the few choices."""
    few: list[Setting] = [one for one in lesson.settings if one.kind in ("choice", "switch") and not one.more]
    bases: list[dict[str, str]] = [{}]
    for one in few:
        bases = [base | {one.name: choice} for base in bases for choice in one.choices]
    found = []
    for base in bases:
        rest = [one for one in lesson.settings if one not in few]
        found += [base, *(base | {one.name: one.choices[end] for one in rest} for end in (0, -1))]
        found += [base | {one.name: one.choices[end]} for one in rest for end in (0, -1)]
    return found


# A third of them, and the others in `make audit`.
some_lessons = pytest.mark.parametrize(
    "number", [pytest.param(number, marks=[pytest.mark.long] * (number % 3 > 0)) for number in NUMBERS]
)


@pytest.mark.long
@pytest.mark.every(9)
@some_lessons
def test_every_setting_at_its_ends_has_a_picture_and_words(number: int) -> None:
    lesson = lessons.lesson(number)
    for given in ends(lesson):
        view = lesson.view(lesson.clean(given))
        told = re.search('role="img"|<li>|<table', view.picture)  # a list and a table are read as they stand
        assert (view.data is not None or told) and "nan" not in view.picture
        for text in (view.one, view.two, view.theorem, view.source, view.relation):
            assert text.strip() and not re.search(r"[{}]|\bnan\b|\binf\b|None", text), (given, text)


@pytest.mark.long
@pytest.mark.every(9)
@some_lessons
def test_a_link_brings_a_lesson_back(number: int) -> None:
    lesson = lessons.lesson(number)
    told = {one.name: one.choices[-1] for one in lesson.settings}
    page = opened(lesson=lessons.NAMES[number], **told)
    assert link(page) == {"lesson": lessons.NAMES[number]} | told
    shown = {one.name for one in lesson.matters(told)}
    for one in lesson.settings:
        mine = f"lesson-{number}-{one.name}-"
        sliders = [widget.value for widget in page.select_slider if str(widget.key).startswith(mine)]
        assert sliders == ([told[one.name]] if one.kind == "slider" and one.name in shown else [])
    for widget in page.select_slider:  # from one end to the other, and the address follows
        name = str(widget.key).split("-")[2]
        widget.set_value(lesson.clean({name: "?"})[name]).run()
        assert not page.exception and page.query_params[name] == lesson.clean({})[name]
        break


@pytest.mark.long
@some_lessons
def test_whatever_stands_in_the_address_the_lesson_stands(number: int) -> None:
    wrong = {one.name: "<script>" + "9" * 99 for one in lessons.lesson(number).settings}
    page = opened(lesson=lessons.NAMES[number], **wrong)
    assert link(page) == {"lesson": lessons.NAMES[number]} | lessons.lesson(number).clean({})
    assert "<script>" not in html(page) and len(said(page)) == 2


@pytest.mark.every(3)
@pytest.mark.parametrize("text", ["0", "13", "99", "-1", "1.0", "one", "<script>", "٣"])
def test_no_such_lesson_is_the_overview(text: str) -> None:
    assert 'class="lesson-say"' not in html(page := opened(lesson=text)) and "<script>" not in html(page)
    assert len([one for one in page.button if str(one.key).startswith("lesson-open-")]) == len(lessons.NAMES)


TITLES = {
    1: "Two harmless questions",
    2: "Ask often enough",
    3: "Safe once, not twice",
    4: "Two worlds must look alike",
    5: "One person can move the median",
    6: "A loaded die",
    7: "You move each film",
    8: "Do a hundred questions",
    9: "Why asking many questions",
    10: "The bars are noisy",
    11: "Whom do you trust?",
    12: "Descent",
}


@pytest.mark.every(3)
@pytest.mark.parametrize("number", [1, 9, pytest.param(5, marks=pytest.mark.long), 12])
def test_a_link_opens_its_lesson(number: int) -> None:
    page = opened(lesson=lessons.NAMES[number])
    assert TITLES[number] in unescape(re.findall(r"<h1[^>]*>(.*?)</h1>", html(page))[0])
    assert f"Lesson {number + 1} of {len(NUMBERS)}" in html(page) and link(page)["lesson"] == lessons.NAMES[number]


@pytest.mark.long
def test_from_the_overview_through_the_lessons_and_nothing_is_spent(shared: dp.Workspace) -> None:
    page = opened()
    page.button(key=f"lesson-open-{NUMBERS[0]}").click().run()
    for place, number in enumerate(NUMBERS, start=1):
        assert f"<h1>{lessons.lesson(number).title}" in unescape(html(page))
        assert len(said(page)) == 2 and page.expander
        assert f"Lesson {place} of {len(NUMBERS)}" in html(page)
        if place < len(NUMBERS):
            page.button(key="lesson-next").click().run()
    page.button(key="lesson-all").click().run()
    assert not page.exception and 'class="lesson-say"' not in html(page)
    assert "The lessons use made-up people and take nothing from an allowance of yours." in html(page)
    assert shared.ledger.head()[0] == 0


def test_a_button_moves_on_and_the_address_follows() -> None:
    page = opened(lesson="differencing", way="noise", again="99")
    first = html(page)
    page.button[0].click().run()
    assert page.query_params["again"] in ("1", ["1"]) and html(page) != first
