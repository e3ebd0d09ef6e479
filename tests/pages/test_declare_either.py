"""A file of an older program is read without a question about how its letters are written."""

from __future__ import annotations

from typing import Literal

import pytest
from helpers_declare import Page

import dpengine as dp


@pytest.fixture
def page(shared: dp.Workspace) -> Page:
    return Page()


def test_lines_of_an_older_program_are_read_without_a_question(page: Page) -> None:
    page.upload(b"name;town;age\n" + "Müller;Köln;42\n".encode("windows-1252") * 3)
    assert not page.refusals and page.draft.step == "unit"


@pytest.mark.parametrize(("lang", "asks"), [("sl", False), ("en", True)])
def test_letters_of_the_reader_s_own_language_need_no_question(
    shared: dp.Workspace, lang: Literal["sl", "en"], asks: bool
) -> None:
    """Elsewhere they may as well be others: “Èakanje” is a word that somebody could use."""
    page = Page(lang=lang)
    page.upload("Št. pacienta;Spol;Čakanje (min)\n12;Ž;7,5\n".encode("windows-1250"))
    assert page.draft.step == ("names" if asks else "unit")
    assert asks or page.draft.names == ["Št. pacienta", "Spol", "Čakanje (min)"]


def test_a_sign_that_another_encoding_takes_for_a_space_does_no_harm(shared: dp.Workspace) -> None:
    page = Page(lang="sl")
    page.upload("Opomba…;Čakanje;Spol\n12;7,5;Ž\n".encode("windows-1250"))
    assert page.draft.step == "names", "which is right is asked"


def test_letters_of_another_language_are_asked_about_everywhere(shared: dp.Workspace) -> None:
    page = Page(lang="sl")
    page.upload("Pacient;Prénom;Età\n12;a;7,5\n".encode("windows-1252"))
    assert page.draft.step == "names"


@pytest.mark.long
def test_how_numbers_are_read_is_said_where_nobody_saw_the_screen_that_asks_it(page: Page) -> None:
    page.upload("age;town;wait\n42;Ljubljana;7,5\n").to("cards")
    assert "Numbers are written like 1234,5 or 1.234,5." in page.text
    page.press("Not right?")
    assert page.draft.step == "names"
    page.set("declare-numbers", "1,234.5").to("cards")
    assert "Numbers are written like 1234.5 or 1,234.5." in page.text


def test_between_commas_no_number_has_one(page: Page) -> None:
    assert "Numbers are written like" not in page.upload("age,town,wait\n42,Ljubljana,7.5\n").to("cards").text


def test_where_the_names_are_utf_8_and_lines_are_not_one_click_reads_them(page: Page) -> None:
    page.upload("näme,town,age\n".encode() + "Müller,Köln,42\n".encode("windows-1252") * 3)
    assert "cannot be read as utf-8" in page.refusals[0]
    page.press("Read such lines as Western European (Windows-1252)")
    assert not page.refusals and page.draft.step != "names"
    assert page.draft.dialect.encoding == "utf-8 or windows-1252"
