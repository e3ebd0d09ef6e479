"""A person brings a table of their own: from a file to a declared table to a private answer, and what can go wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.journeys import MAIN, first_asked, kind, meter, no_sideways_scrolling, none_tells_people_apart, place
from browser.steps import go, settled, shot

import dpengine as dp

FILES = Path(__file__).resolve().parents[1] / "files"
CANARY = "kanarček-70417"  # one cell of stranger.csv, and of the tables made here


class Bringing:
    """The steps of the Data page. Whatever is on it, no planted cell may be."""

    def __init__(self, page: Any, name: str, *pictures: str) -> None:
        self.page, self.name, self.pictures = page, name, pictures
        go(page, "/data")
        self.look("file")

    def look(self, step: str) -> Bringing:
        settled(self.page, quiet_ms=100)
        if step not in ("file", "disguise"):  # there no table's meter has anything to say
            kind(self.page)
        no_sideways_scrolling(self.page)
        assert CANARY not in self.page.content(), step
        if step in self.pictures:
            shot(self.page, f"data-{self.name}-{step}")
        return self

    def upload(self, file: Path | dict[str, Any], heading: str, step: str) -> Bringing:
        self.page.locator('[data-testid="stFileUploaderDropzoneInput"]').set_input_files(file)
        there = f"h1:has-text('{heading}'), h1:has-text('Can one person'), .refused"  # where there is no doubt, further
        self.page.locator(there).first.wait_for()
        return self.look(step)

    def press(self, button: str, heading: str, step: str) -> Bringing:
        """A button by its words; the one to go on may also say yes to all guesses."""
        if button == "Yes, go on" and self.page.get_by_role("heading", name="Can one person").count():
            return self.look(step)
        words = self.page.get_by_role("button", name=button, exact=True)
        (self.page.locator('[class*="st-key-declare-next-"] button') if button == "Go on" else words).click()
        self.page.get_by_role("heading", name=heading).wait_for()
        return self.look(step)

    def pick(self, text: str) -> Bringing:
        """One of several answers; clicked again when the page was just being drawn anew under the first click."""
        label = self.page.locator('[data-testid="stRadio"] [role="radiogroup"] label', has_text=text).first
        for _ in range(3):
            label.click()
            settled(self.page, quiet_ms=200)
            if label.locator("input").is_checked():
                break
        if text == "one row each":
            none_tells_people_apart(self.page)
        return self

    def tick(self, text: str) -> Bringing:
        """A box; clicked again when the page was still moving under the first click."""
        box = self.page.locator('[data-testid="stCheckbox"] label', has_text=text).first
        for _ in range(3):
            settled(self.page, quiet_ms=200)
            if box.locator("input").is_checked():
                break
            box.locator("p").first.click()
        assert box.locator("input").is_checked(), text
        return self

    def open(self, column: int, kind: str = "") -> Bringing:
        """A column's card; `kind` is what it holds, where that is to be said."""
        self.page.locator(f".st-key-declare-{column}-open button").click()
        self.page.locator(f".st-key-open-{column}").wait_for()
        settled(self.page)
        if kind:
            self.page.locator(f".st-key-declare-{column}-kind").get_by_text(kind, exact=True).click()
            settled(self.page)
        return self

    def agree(self) -> Bringing:
        """Yes to every guess that has a button of its own: to the first of its readings."""
        first = self.page.locator('[class*="-like-0"] button')
        while left := first.count():
            first.first.click()
            self.page.wait_for_function(
                "most => document.querySelectorAll('[class*=\"-like-0\"] button').length < most", arg=left
            )
            settled(self.page, quiet_ms=200)
        return self

    def leave_out(self, *columns: int) -> Bringing:
        for column in columns:
            self.open(column, "not used")
        return self

    def fill(self, label: str, text: str, which: int = 0) -> Bringing:
        field = self.page.locator("input, textarea").and_(self.page.get_by_label(label)).nth(which)
        field.fill(text)
        field.press("Tab")
        settled(self.page, quiet_ms=100)
        return self

    def refused(self) -> str:
        return str(self.page.locator(".refused").first.inner_text())


def csv_file(name: str, data: str | bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "text/csv", "buffer": data if isinstance(data, bytes) else data.encode()}


def people(rows: int) -> str:
    ways = ("car", "bus", CANARY)
    lines = [
        f"{20 + row % 60},{900 + row * 7 % 4000},{ways[row % 3]},{'no' if row % 4 else 'yes'}" for row in range(rows)
    ]
    return "\n".join(["age,monthly_income,way,smoker", *lines]) + "\n"


@pytest.mark.long
def test_from_my_own_file_to_a_private_answer(page: Any, server: Any) -> None:
    bringing = Bringing(page, "own", "names", "relation", "reversed", "care", "done")
    bringing.upload(csv_file("our people.csv", people(9_000)), "Are these the columns?", "names")
    bringing.press("Yes, go on", "Can one person have several rows?", "unit")
    bringing.pick("one row each").pick("only the details").look("relation")
    bringing.press("Go on", "What can be in the columns?", "cards")
    assert "9,000" not in page.locator(MAIN).inner_text()
    bringing.agree().open(2, "one of a list").fill("The values", "car\nbus\nother way")
    bringing.open(1).fill("Lowest", "20,000")
    assert "The lowest value must be below the highest" in bringing.refused()  # at the card, before going on
    bringing.press("These 2 are right", "What can be in the columns?", "reversed")
    bringing.press("Go on (1 column still to settle)", "What can be in the columns?", "reversed").fill("Lowest", "0")
    page.locator(".st-key-open-1 .refused").wait_for(state="detached")
    bringing.press("Go on", "How careful?", "care").pick("Usual").press("Add the table", "is ready", "done")
    assert "our people" in page.locator("h1").inner_text() and not list((server.home / "tmp").glob("upload-*"))

    assert "100 %" in meter(page)
    first_asked(page, "age")
    assert "100 %" not in meter(page) and "our+people" in page.url
    assert page.locator(".headline").inner_text().startswith("About ")
    entry, _check = dp.open_workspace(server.home).table("our people").history()
    assert entry.outcome is not None and entry.outcome.kind == "answer"


@pytest.mark.long
def test_a_stranger(page: Any, server: Any) -> None:
    """Semicolons, decimal commas, dotted thousands, marks, quotes, missing cells; to another page on the way."""
    bringing = Bringing(page, "stranger", "line-breaks", "cards", "done")
    bringing.upload(FILES / "stranger.csv", "Are these the columns?", "names")
    page.locator(".names li").nth(6).wait_for()  # six, and how many more
    assert page.locator(".names li").count() == 7
    assert "If cells hold line breaks, say so" in bringing.refused()
    bringing.look("line-breaks").press("Yes, cells hold line breaks", "Can one person", "unit")
    bringing.pick("one row each").pick("Yes, that too")
    bringing.fill("About how many people", "600").press("Go on", "What can be in the columns?", "cards")
    header = ["Šifra", "Ime; priimek", "Datum vpisa", "Leto rojstva", "Spol", "Regija", "Kadilec", "Višina (cm)"]
    names = [*header, "Teža [kg]", "Mesečna plača (EUR)", "Delež dela %", 'Ocena "zadovoljstva"']
    wanted = {"Leto rojstva", "Spol", "Kadilec", "Mesečna plača (EUR)", 'Ocena "zadovoljstva"'}
    guesses = [place for place, name in enumerate(names) if page.locator(f".st-key-line-{place} .guess").count()]
    assert wanted <= {names[place] for place in guesses}
    assert all(page.locator(f".st-key-line-{place} .line > b").inner_text() == names[place] for place in guesses)
    assert "<" in page.locator(".st-key-lines-out button", has_text="Opomba").inner_text()  # shown as it is written
    bringing.leave_out(*(place for place in guesses if names[place] not in wanted)).agree()
    place(page, "Learn").click()
    page.get_by_role("heading", name="What can be in the columns?").wait_for(state="detached")
    settled(page)
    place(page, "Tables").click()
    page.get_by_role("link", name="Go on with stranger.csv").click()  # and back: nothing is lost
    page.get_by_role("heading", name="What can be in the columns?").wait_for()
    settled(page)
    bringing.press("Go on", "How careful?", "care").pick("Loose").press("Add the table", "is ready", "done")
    table = dp.open_workspace(server.home).table("stranger")
    assert table.facts.people is None and table.facts.about == 600
    answer = table.ask(table.query("median", column="Mesečna plača (EUR)", epsilon="2.5"))
    assert 1_000 < answer.value < 3_000  # so 2.066,41 was read as a number


@pytest.mark.long
def test_a_spreadsheet_in_disguise_on_a_dark_phone(open_page: Callable[..., Any]) -> None:
    """Refused in one sentence and mended by another upload; then the whole way at phone width."""
    phone = open_page(viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark")
    bringing = Bringing(phone, "phone", "disguise", "names", "unit-more", "cards-missing", "done")
    bringing.upload(csv_file("table.csv", b"PK\x03\x04\x14\x00\x06\x00" + CANARY.encode()), "Are these", "disguise")
    assert "a zip archive or a damaged spreadsheet, not plain text" in bringing.refused()
    table = f"plača;šport\n1200;nogomet\n;{CANARY}\n900;tek\n"
    bringing.upload(csv_file("plače.csv", table.encode("windows-1250")), "Are these the columns?", "names")
    phone.locator(".names li", has_text="plaèa").wait_for()  # a wrong guess, in sight
    bringing.pick("plača").look("names-mended")
    phone.locator(".names li", has_text="plača").wait_for()
    bringing.press("Yes, go on", "Can one person", "unit").pick("not sure").look("unit-more")
    bringing.pick("one row each").pick("only the details")
    bringing.press("Go on", "What can be in the columns?", "cards")
    bringing.press("Go on (1 column still to settle)", "What can be in the columns?", "cards-missing")
    assert "1 column is still to settle" in bringing.refused()
    bringing.agree().open(1, "one of a list").fill("The values", "nogomet, tek").press(
        "Go on", "How careful?", "care"
    ).pick("Careful")
    bringing.press("Add the table", "is ready", "done")
