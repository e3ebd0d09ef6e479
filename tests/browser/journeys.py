"""What journeys ask of a page and of the ledger behind it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from browser.steps import LIMIT, go, settled
from playwright.sync_api import TimeoutError as PlaywrightTimeout

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.shell.web import VISITOR_COOKIE

MAIN = '[data-testid="stMainBlockContainer"]'
METER = ".st-key-meter .words"
WENT_WRONG = "[data-testid='stException'], [data-testid='stErrorElement']"

# The figures along an axis are part of a picture; its title is read. An icon is a picture too, its
# text is a name.
_READ = """(main) => {
    const ticks = [...main.querySelectorAll('.drawn :is(.under, .beside)')];
    ticks.forEach(tick => { tick.style.display = 'none'; });
    const pictures = [...main.querySelectorAll('[data-testid="stIconMaterial"]')];
    pictures.forEach(picture => { picture.style.display = 'none'; });
    const text = main.innerText;
    [...ticks, ...pictures].forEach(element => { element.style.display = ''; });
    return text;
}"""


def read_text(page: Any) -> str:
    """Everything a person reads below the navigation, without the ticks of axes."""
    return str(page.locator(MAIN).evaluate(_READ))


def words(text: str) -> list[str]:
    return [word for word in text.split() if re.search(r"\w", word)]


def meter(page: Any) -> str:
    return str(page.locator(METER).inner_text()).replace("\N{NO-BREAK SPACE}", " ")


def picked(page: Any) -> str:
    """The table that the page speaks of, as the picker beside the meter says."""
    return str(page.locator(".st-key-pick-table input").input_value())


def kind(page: Any) -> None:
    """The page stands: the places and the meter on top (no bar where no table is spoken of), no error box."""
    assert page.locator(".st-key-places nav").is_visible() and page.locator(".st-key-meter .meter").count() == 1
    assert page.locator(WENT_WRONG).count() == 0
    assert "Traceback" not in page.locator("body").inner_text()


def no_sideways_scrolling(page: Any) -> None:
    wide = """() => [...document.querySelectorAll('html, body, [data-testid="stMain"]')]
        .every(element => element.scrollWidth <= window.innerWidth)"""
    assert page.evaluate(wide)


def visitor(page: Any) -> str:
    return next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == VISITOR_COOKIE)


def table_of(page: Any, server: Any, name: str = "town") -> dp.Table:
    """This visitor's own practice table, read by the test from the same workspace folder."""
    return dp.open_workspace(server.home).table(name, visitor=visitor(page))


def asked_in_url(page: Any) -> str | None:
    return (parse_qs(urlsplit(page.url).query).get("answer") or [None])[0]


def ask_link(table: str, key: str, **parameters: Any) -> str:
    """The address of a question."""
    told = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
    return "/ask?" + urlencode({"table": table, "q": key} | told)


def ask(page: Any, link: str) -> None:
    """Open a question, ask it and wait for its answer."""
    go(page, link)
    pay(page)


def pay(page: Any) -> None:
    """Ask what stands in the form, in a second step where it takes a large part of the allowance, and wait for its
    answer."""
    page.locator(".st-key-ask-go button").click()
    sure = page.locator(".st-key-ask-go-sure [data-testid=stBaseButton-primary]")
    page.locator(".headline").or_(sure).first.wait_for()
    if sure.count():
        sure.click()
    page.locator(".headline").wait_for()
    settled(page)


def first_asked(page: Any, column: str) -> int:
    """The first question about a column, from the page of a new table: by its button, or else through the form. How
    many clicks it took."""
    row = page.locator('[class*="st-key-done-first-"]', has_text=column).locator("button")
    button = row.or_(page.locator('[class*="st-key-done-alike-"] button', has_text=column))
    others = page.locator(".st-key-done-others summary")
    if not row.count() and others.count():
        others.click()
        settled(page)
    if at_once := button.count() > 0:
        button.first.click()
        page.locator(".headline").wait_for()
        settled(page)
    else:
        page.locator(".columns-on a.way", has_text=column).click()
        page.locator(".st-key-ask-go button").wait_for()
        settled(page)
        pay(page)
    return 1 if at_once else 2


def first_answer(page: Any) -> None:
    """From Start: try the town, and ask the question that is ready. Two clicks."""
    page.locator(".st-key-start-try a").click()
    page.locator(".st-key-ask-go button").click()
    page.locator(".headline").wait_for()
    settled(page)


def choose(page: Any, field: Any, option: str) -> None:
    """Pick from a list. One that was opened while the page was being drawn anew closes with it: it is opened again."""
    tries = 3
    for left in reversed(range(tries)):
        field.click()
        try:
            page.get_by_role("option", name=option).click(timeout=LIMIT / tries)
            return settled(page)
        except PlaywrightTimeout:
            if not left:
                raise


def speak(page: Any, language: str) -> None:
    """Choose a language in the head."""
    page.locator(".st-key-language button").click()
    page.locator("[data-testid='stRadioOption']", has_text=language).click()


def place(page: Any, name: str, row: str = "Places") -> Any:
    """A link of the navigation: to a place, or inside one to a page of it."""
    return page.get_by_role("navigation", name=row, exact=True).get_by_role("link", name=name, exact=True)


def ask_again(page: Any, button: str = "ask-go") -> None:
    """Pay for one more answer to a question that was answered before: in two steps."""
    settled(page)
    page.locator(f".st-key-{button} button").click()
    page.locator(f".st-key-{button}-sure [data-testid=stBaseButton-primary]").click()


def download(page: Any, button: Any) -> Any:
    """What a button brings. Streamlit forgets a file when the page runs again, and a click in that moment brings
    nothing: then once more."""
    tries = 3
    for left in reversed(range(tries)):
        settled(page)
        try:
            with page.expect_download(timeout=LIMIT / tries) as coming:
                button.click()
            return coming.value
        except PlaywrightTimeout:
            if not left:
                raise
    raise AssertionError


def until(true: Callable[[], Any]) -> Any:
    """What it tells as soon as it is true, else what it told last. It asks another process: there is no event."""
    deadline = time.monotonic() + LIMIT / 1000
    while True:
        found = true()
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def none_tells_people_apart(page: Any, lang: str = "en") -> int:
    """Says so where the page asks which column tells whose row it is. How many clicks it took."""
    with speaking(lang):
        none = say("data.unit.whose_none")
    asked = page.locator(".st-key-declare-whose")
    if not asked.count():
        return 0
    few = asked.locator('[role="radiogroup"] label').filter(has_text=none)
    if few.count():
        few.first.click()
    else:
        asked.locator("input").click()
        page.get_by_role("option", name=none, exact=True).click()
    settled(page, quiet_ms=200)
    return 1 if few.count() else 2
