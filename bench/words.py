"""How many words stand between a file and its first answer: `python -m bench.words`.

A browser goes the shortest way from a census-like file to the first answer about it, in English and in Slovene. On each
screen that must be passed all words in view are counted, without the navigation that every page has. Words inside a
closed expander and under a dotted word count half: nobody needs them to go on. What an expander draws only when it is
opened is not on this way and not counted; nor is the answer itself.
`--show` prints the text of each screen.
"""

from __future__ import annotations

import random
import shutil
import sys
from dataclasses import dataclass
from typing import Any

from bench.page import FLAGS, _served
from dpengine.messages import say
from dpengine.messages.language import speaking

GOAL = 250
LANGUAGES = ("en", "sl")
PEOPLE = 2_000
WAIT = 120_000  # milliseconds
NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,salary"
)
SCREENS = ("file", "people", "columns", "done")
_AT_REST = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    return app && app.dataset.testConnectionState === 'CONNECTED' && app.dataset.testScriptState === 'notRunning';
}"""
_READ = """() => {
    const main = document.querySelector('[data-testid="stMainBlockContainer"]');
    const out = '.st-key-places, .st-key-rooms, .st-key-head, .sr, style, [data-testid="stIconMaterial"]';
    const hidden = [], seen = [];
    const read = (node, under) => {
        if (node.nodeType === Node.TEXT_NODE) { (under ? hidden : seen).push(node.textContent); return; }
        if (node.nodeType !== Node.ELEMENT_NODE || node.matches(out)) return;
        if (node.matches('.gloss')) hidden.push(node.getAttribute('aria-description') || '');
        const style = getComputedStyle(node);
        if (style.display === 'none' || style.visibility === 'hidden') return;
        if (style.clipPath === 'inset(50%)') return;  // only read aloud
        if (node.matches('input[placeholder], textarea[placeholder]') && !node.value)
            (under ? hidden : seen).push(node.placeholder);
        if (node.matches('input:not([type]), input[type=text]') && node.value)
            (under ? hidden : seen).push(node.value);
        const closed = node.matches('details:not([open])');
        for (const child of node.childNodes) read(child, under || (closed && !child.matches?.('summary')));
        seen.push(' ');
    };
    read(main, false);
    return [seen.join(' '), hidden.join(' ')];
}"""


@dataclass(frozen=True)
class Screen:
    name: str
    seen: str
    hidden: str

    @property
    def words(self) -> float:
        return _count(self.seen) + _count(self.hidden) / 2


def _count(text: str) -> int:
    """Figures are no words."""
    return sum(any(sign.isalpha() for sign in word) for word in text.split())


def census(lang: str, people: int = PEOPLE) -> bytes:
    """A file with the names of a well-known census; the people are made up. Their values matter to no word: nothing
    of them is shown."""
    draw, lines = random.Random(lang), [NAMES]
    for _ in range(people):
        lines.append(",".join(str(draw.randint(0, 99)) for _ in NAMES.split(",")))
    return "\n".join(lines).encode()


def main() -> int:
    """1 if a language needs more than the goal; an error if the way was not gone to its end."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("there is no chromium in PATH: nothing was counted")
    from playwright.sync_api import sync_playwright

    found: dict[str, list[Screen]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for lang in LANGUAGES:
            with _served("app.py") as address:  # a workspace of its own: a second file like the first is asked about
                page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
                page.set_default_timeout(WAIT)
                found[lang] = way(page, address, lang)
        browser.close()
    return told(found, show="--show" in sys.argv)


def way(page: Any, address: str, lang: str) -> list[Screen]:
    """From the screen that takes a file to the first answer; every screen as it was read before it was left."""
    screens: list[Screen] = []

    def words(code: str) -> str:
        with speaking(lang):
            return say(code)

    def read(name: str) -> None:
        _rest(page)
        screens.append(Screen(name, *page.evaluate(_READ)))

    page.goto(f"{address}/data?lang={lang}")
    page.get_by_role("heading", name=words("data.file.title")).wait_for()
    read("file")
    file = {"name": f"census-{lang}.csv", "mimeType": "text/csv", "buffer": census(lang)}
    page.locator('[data-testid="stFileUploaderDropzoneInput"]').set_input_files(file)
    page.get_by_role("heading", name=words("data.unit.title")).wait_for()
    _rest(page)
    for code in ("data.unit.one_label", "data.relation.replace_label"):
        labels = page.locator('[data-testid="stRadio"] [role="radiogroup"] label')
        labels.filter(has_text=words(code)).first.click()
        _rest(page)
    none = page.locator(".st-key-declare-whose label").filter(has_text=words("data.unit.whose_none"))
    if none.count():
        none.first.click()
        _rest(page)
    read("people")
    page.get_by_role("button", name=words("data.next"), exact=True).click()
    page.get_by_role("heading", name=words("data.cards.title")).wait_for()
    read("columns")
    page.get_by_role("button", name=words("data.cards.agree_add"), exact=True).click()
    page.locator(".st-key-done-question-0 button").wait_for()
    read("done")
    page.locator(".st-key-done-question-0 button").click()
    page.locator(".headline").wait_for()
    return screens


def _rest(page: Any) -> None:
    page.wait_for_function(_AT_REST)
    page.wait_for_timeout(400)
    page.wait_for_function(_AT_REST)


def told(found: dict[str, list[Screen]], show: bool = False) -> int:
    """Prints each screen and the sum. Screens that nobody read are no result."""
    worst = 0.0
    for lang in LANGUAGES:
        screens = found.get(lang, [])
        if tuple(screen.name for screen in screens) != SCREENS or not all(screen.words for screen in screens):
            raise SystemExit(f"{lang}: the way was not gone to its end; nothing was counted")
        for screen in screens:
            print(f"{lang}  {screen.name:8} {screen.words:5.0f}")
            if show:
                print("   ", " ".join(screen.seen.split()), "\n    [half]", " ".join(screen.hidden.split()))
        whole = sum(screen.words for screen in screens)
        print(f"{lang}  all      {whole:5.0f}{'   more than ' + str(GOAL) if whole > GOAL else ''}")
        worst = max(worst, whole)
    return int(worst > GOAL)


if __name__ == "__main__":
    sys.exit(main())
