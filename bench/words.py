"""How many words stand between a file and its first answer: `python -m bench.words`.

A browser goes the shortest way from a census-like file to the first answer about it, in English and in Slovene. On each
screen that must be passed all words in view are counted, without the navigation that every page has. Words inside a
closed expander and under a dotted word count half: nobody needs them to go on. What an expander draws only when it is
opened is not on this way and not counted; nor is the answer itself.
Then two strangers go from the first page to an answer about their own file, with names that nobody tuned for: a survey
in English, and in Slovene on a phone a clinic's visits in another code page, with several rows a person. Each goes
twice: to the question that the app itself proposes, and to a question of their own, typed. Every screen is read once as
it stands before it is left, four words a second; a click takes two seconds, a typed word three fifths of one, and five
seconds are for the rest. Putting the cursor into the question box is a click, Enter is none; nor are the words of the
typed question read again in the box, but those of what it was understood as are. What the first page takes, one click
among it, is told beside the rest and not held to the goal: a person who comes with a file has read it.
`--show` prints the text of each screen.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
from dataclasses import dataclass
from itertools import product
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
WORDS_A_SECOND, A_CLICK, A_TYPED_WORD, THE_REST = 4, 2, 0.6, 5
SURVEY = (
    "resp,hhsize,tenure,earn_wk,yrs_sch,b_place,lang_home,commute_m,veh,broadband,hlth,wrk_sect,sx,age_yrs,kids_u18"
)
VISITS = (
    "Kartoteka;Datum obiska;Ambulanta;Spol;Starost;Sist. tlak;Temperatura;Čas čakanja (min);Napotnica;Doplačilo (EUR);"
    "Zadovoljstvo;Diagnoza"
)
PATIENTS = 5_000
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
FIRST_PAGE = 1  # what comes before a file is at hand
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
        if (node.matches('input:not([type]), input[type=text]') && node.value && !node.closest('.st-key-box-field'))
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


def survey() -> bytes:
    draw, names = random.Random("survey"), SURVEY.split(",")
    rows = (",".join([str(place), *(str(draw.randint(0, 90)) for _ in names[1:])]) for place in range(PEOPLE))
    return "\n".join([SURVEY, *rows]).encode()


def visits() -> bytes:
    draw, lines = random.Random("visits"), [VISITS]
    for patient in range(PATIENTS):
        for _ in range(draw.randint(1, 3)):
            day = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.2025"
            cells = [patient, day, "splošna", draw.choice("mž"), draw.randint(1, 95), draw.randint(95, 180)]
            cells += [f"{draw.randint(358, 395) / 10}".replace(".", ","), draw.randint(0, 120), "da", "4,50", 5, "J06"]
            lines.append(";".join(map(str, cells)))
    return "\r\n".join(lines).encode("cp1250")


@dataclass(frozen=True)
class Stranger:
    """Who goes a way, and what it may take."""

    name: str
    lang: str
    window: dict[str, int]
    file: bytes
    own: str  # a question of their own
    kind: str  # a column of it that the page does not propose to declare; "" if it proposes all
    seconds: int
    clicks: int


STRANGERS = (
    Stranger("survey", "en", WIDE, survey(), "average commute_m", "240 min", 90, 10),
    Stranger("visits", "sl", PHONE, visits(), "povprečna temperatura po spolu", "", 120, 15),
)


@dataclass
class Going:
    """One stranger's way: what was read and how often something was clicked."""

    page: Any
    screens: list[Screen]
    clicks: int = 0
    typed: int = 0  # words

    def read(self, name: str) -> None:
        _rest(self.page)
        self.screens.append(Screen(name, *self.page.evaluate(_READ)))

    def click(self, what: Any, times: int = 1) -> None:
        what.evaluate("one => one.scrollIntoView({block: 'center'})")
        what.click()
        self.clicks += times
        _rest(self.page)

    def type(self, field: Any, text: str) -> None:
        field.wait_for()
        _rest(self.page)
        self.click(field)
        self.page.keyboard.type(text, delay=20)  # as fast as a hand
        self.page.keyboard.press("Enter")
        self.typed += len(text.split())
        _rest(self.page)

    def words(self, known: int = 0) -> float:
        """Without the first few screens."""
        return sum(screen.words for screen in self.screens[known:])

    def seconds(self, known: int = 0) -> float:
        """Without the first few screens, each left by one click."""
        typing = A_TYPED_WORD * self.typed
        return self.words(known) / WORDS_A_SECOND + A_CLICK * (self.clicks - known) + typing + THE_REST


def goes(page: Any, address: str, stranger: Stranger, own: bool = False) -> Going:
    """From the first page to the first answer about the stranger's file: to the question that the app proposes, or to
    their `own`."""
    going = Going(page, [])

    def words(code: str) -> str:
        with speaking(stranger.lang):
            return say(code)

    def button(code: str) -> Any:
        return page.get_by_role("button", name=words(code), exact=True)

    def option(key: str, code: str) -> Any:
        return page.locator(f".st-key-declare-{key} [data-testid=stRadioOption]").filter(has_text=words(code)).first

    page.goto(f"{address}/?lang={stranger.lang}")
    page.get_by_role("link", name=words("start.own")).wait_for()
    going.read("start")
    going.click(page.get_by_role("link", name=words("start.own")))
    page.locator('[data-testid="stFileUploaderDropzoneInput"]').wait_for(state="attached")
    going.read("file")
    file = {"name": f"{stranger.name}.csv", "mimeType": "text/csv", "buffer": stranger.file}
    page.locator('[data-testid="stFileUploaderDropzoneInput"]').set_input_files(file)
    going.clicks += 2  # the button, and the file in the system's own window
    page.get_by_role("heading", name=words("data.unit.title")).wait_for()
    _rest(page)
    if stranger.name == "survey":
        going.click(option("unit", "data.unit.one_label"))
        going.click(option("relation", "data.relation.replace_label"))
        going.click(page.locator(".st-key-declare-whose-likely button").first)
    else:
        going.click(option("unit", "data.unit.more_label"))
        going.click(page.locator(".st-key-declare-who-likely button[data-variant=pills]").first)
        each = page.locator(".st-key-declare-each-usual [data-testid=stRadioOption]")
        going.click(each.filter(has_text=re.compile(r"^3")).first)
        going.click(option("relation", "data.relation.add_remove_label"))
        going.click(page.locator(".st-key-declare-about input"))
        page.keyboard.type(str(PATIENTS))
        page.keyboard.press("Tab")
        going.typed += 1
    going.read("people")
    going.click(button("data.next"))
    page.get_by_role("heading", name=words("data.cards.title")).wait_for()
    going.read("columns")
    going.click(button("data.cards.agree_add"))
    ask = page.locator(".st-key-own-go button" if own else ".st-key-done-question-0 button")
    if own:
        going.type(page.locator(".st-key-box-field input"), stranger.own)
        if stranger.kind:
            going.click(page.locator("[class*=st-key-kinds-] button").filter(has_text=stranger.kind))
    ask.wait_for()
    going.read("done")
    going.click(ask)
    page.locator(".headline").wait_for()
    return going


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
        met = True
        for stranger, own in product(STRANGERS, (False, True)):
            with _served("app.py") as address:
                touch = stranger.window["width"] < 640
                page = browser.new_context(viewport=stranger.window, has_touch=touch).new_page()
                page.set_default_timeout(WAIT)
                met = _strange(stranger, goes(page, address, stranger, own), own, "--show" in sys.argv) and met
        browser.close()
    return max(told(found, show="--show" in sys.argv), int(not met))


def _strange(stranger: Stranger, going: Going, own: bool, show: bool) -> bool:
    """Prints a stranger's way. Was it as short as it must be?"""
    if show:
        for screen in going.screens:
            print(f"{stranger.lang}  {screen.name:8} {screen.words:5.0f}\n   ", " ".join(screen.seen.split()))
    clicks = going.clicks - FIRST_PAGE
    met = going.seconds(FIRST_PAGE) <= stranger.seconds and clicks <= stranger.clicks
    print(
        f"{stranger.lang}  {stranger.name:8} {'own' if own else 'proposed':8} {going.words(FIRST_PAGE):5.0f} words, "
        f"{clicks} clicks, {going.seconds(FIRST_PAGE):.0f} s; with the first page {going.words():.0f} words, "
        f"{going.clicks} clicks, {going.seconds():.0f} s"
        f"{'' if met else f': more than {stranger.seconds} s or {stranger.clicks} clicks'}"
    )
    return met


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
