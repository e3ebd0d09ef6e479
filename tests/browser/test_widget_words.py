"""No word of Streamlit's own is read in English on a page that is read in another language."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from browser import views
from browser.journeys import ask_link, speak
from browser.steps import LIMIT, go, settled, shot
from playwright.sync_api import TimeoutError as PlaywrightTimeout

import dpengine as dp
from dpengine.messages import _part, say
from dpengine.messages.language import speaking

# What Streamlit writes that no page here may show; beside the words that are turned, those that a page avoids.
ENGLISH = [
    *_part("en", "widgets").values(),
    "Browse files",
    "Drag and drop files here",
    "Limit {it} per file",
    "Add an option",
    "Choose or add an option",
    "Choose or add options",
    "Select...",
    "Select a date",
    "This field is required.",
    "Fullscreen",
    "Close fullscreen",
    "Download as CSV",
    "Search",
    "{it} files are not allowed.",
    "Clear entry",
    "Deploy",
    "Rerun",
    "Settings",
    "Print",
    "Next",
    "Previous",
    "Empty",
    "Choose date range",
    "Today, {it}",
    *calendar.month_name[1:],
    *(f"{month} {{it}}" for month in calendar.month_name[1:]),
    *(f"{day}, {{it}}" for day in calendar.day_name),
]
_ENGLISH = [
    re.compile("(.+)".join(map(re.escape, wording.split("{it}"))), re.DOTALL) for wording in dict.fromkeys(ENGLISH)
]

# Texts that are seen, placeholders, and names for those who listen; neither what pages write themselves, nor icons.
_SAID = """() => {
    const said = [];
    for (const one of document.querySelectorAll('body *')) {
        if (one.closest('script, style, [data-testid="stHtml"], [data-testid="stIconMaterial"]'))
            continue;
        for (const name of ['placeholder', 'aria-label', 'title', 'aria-roledescription', 'aria-valuetext'])
            if (one.getAttribute(name)) said.push(one.getAttribute(name).trim());
        for (const node of one.childNodes)
            if (node.nodeType === Node.TEXT_NODE && node.nodeValue.trim()) said.push(node.nodeValue.trim());
    }
    return said;
}"""


def english(page: Any) -> set[str]:
    return {said for said in page.evaluate(_SAID) if any(one.fullmatch(said) for one in _ENGLISH)}


def in_slovene(code: str) -> str:
    with speaking("sl"):
        return say(code)


def unfold(page: Any, field: Any) -> None:
    """A list that was opened while the page was being drawn anew closes with it: it is opened again."""
    for turn in range(5):
        field.click()
        try:
            return page.locator('[role="listbox"]').wait_for(timeout=LIMIT / 5)
        except PlaywrightTimeout:
            if turn == 4:
                raise


def everywhere(page: Any) -> set[str]:
    """On the page as it is, with all unfolded, and with its first lists and calendars open."""
    found = english(page)
    page.evaluate("() => document.querySelectorAll('details:not([open]) > summary').forEach(one => one.click())")
    settled(page)
    found |= english(page)
    for widget in ("stMultiSelect", "stSelectbox"):
        fields = page.locator(f'[data-testid="{widget}"]:visible input')
        if fields.count():
            unfold(page, fields.first)
            found |= english(page)
            fields.first.press_sequentially("qqzz")
            page.locator('[role="option"]').nth(1).wait_for(state="hidden")  # one is left: that there are none
            found |= english(page)
            page.keyboard.press("Escape")
            page.keyboard.press("Escape")
            settled(page)
    return found


def walk(page: Any, addresses: dict[str, str], lang: str) -> dict[str, set[str]]:
    found = {}
    for name, address in addresses.items():
        go(page, address + ("&" if "?" in address else "?") + f"lang={lang}")
        found[name] = everywhere(page)
    return {name: said for name, said in found.items() if said}


@pytest.mark.long
def test_the_pages_with_most_widgets_speak_slovene(page: Any) -> None:
    go(page, "/publish?lang=en")
    wrong = {"Open", "Clear all", "Selected values", "Skip to main content", "No results"}
    assert wrong <= everywhere(page)  # a fault would be found
    some = {name: address for name, address in views.pages().items() if name in ("data", "publish", "several")}
    assert not walk(page, some, "sl")
    assert page.evaluate("() => document.documentElement.lang") == "sl"  # as those who listen hear it read
    source = page.locator("[data-testid='stForm']").first  # what a form says while it is filled in
    go(page, "/data?lang=sl")
    page.locator("summary", has=page.get_by_text(in_slovene("data.source.title"))).click()
    source.get_by_role("button", name=in_slovene("widget.show_password")).click()
    source.get_by_role("button", name=in_slovene("widget.hide_password")).wait_for()
    source.get_by_role("textbox").first.press_sequentially("db")
    source.get_by_text(in_slovene("widget.enter_form")).wait_for()
    assert not english(page)
    go(page, "/lessons?lesson=definition&lang=sl")
    said = page.locator("p.lesson-say").last.evaluate("one => one.textContent")
    assert "δ\u00a0=\u00a00" in said and "δ =" not in said  # a dotted symbol stays with its value on one line
    go(page, "/publish?lang=sl")
    speak(page, "English")  # and turn back where another language is chosen
    page.locator(".meter", has_text="Privacy allowance").wait_for()
    settled(page)
    assert {"Skip to main content", "Open", "Clear all"} <= english(page)


@pytest.mark.long
def test_a_calendar_speaks_slovene_in_an_english_browser(page: Any, server: Any) -> None:
    days = pd.DataFrame({"day": ["2024-02-01", "2024-03-01"] * 100})
    schema = dp.Schema({"day": dp.Date("2024-01-01", "2024-12-31", "ymd")})
    dp.open_workspace(server.home).add_table(
        "calendar", days, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6")
    )
    link = ask_link("calendar", "count", where=[["day", ">=", "2024-02-05"]], epsilon="0.1")
    for lang, month, written in (("en", "February", "2024-02-05"), ("sl", "februar", "05.02.2024")):
        go(page, f"{link}&lang={lang}")
        day = page.locator('[data-testid="stDateInput"]')
        assert written in re.sub(r"\s", "", day.inner_text())
        day.get_by_role("button").last.click()
        opened = page.locator('[data-testid="stDateInputCalendar"]')
        opened.wait_for()
        assert month in opened.inner_text()
        assert bool(english(page)) == (lang == "en"), english(page)
        shot(page, f"calendar-{lang}")
        page.keyboard.press("Escape")


@pytest.mark.long
@pytest.mark.parametrize("lang", ["sl", "he"])
def test_every_page_speaks_one_language(lang: str, open_page: Callable[..., Any]) -> None:
    for look in ("light", "phone"):
        page = open_page(**views.LOOKS[look])
        addresses = views.each_lesson() if lang == "he" else views.pages() | views.each_lesson()
        assert not walk(page, addresses, lang)
        if lang == "sl":
            assert not walk(page, views.use(page, lang) | views.after_asking(), lang)
