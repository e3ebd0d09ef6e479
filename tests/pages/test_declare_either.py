"""A file of an older program is read without a question about how its letters are written."""

from __future__ import annotations

import pytest
from helpers_declare import Page

import dpengine as dp


@pytest.fixture
def page(shared: dp.Workspace) -> Page:
    return Page()


def test_lines_of_an_older_program_are_read_without_a_question(page: Page) -> None:
    page.upload(b"name;town;age\n" + "Müller;Köln;42\n".encode("windows-1252") * 3)
    page.press("Yes, go on")
    assert not page.refusals and page.draft.step != "names"


def test_where_the_names_are_utf_8_and_lines_are_not_one_click_reads_them(page: Page) -> None:
    page.upload("näme,town,age\n".encode() + "Müller,Köln,42\n".encode("windows-1252") * 3)
    assert "cannot be read as utf-8" in page.refusals[0]
    page.press("Read such lines as Western European (Windows-1252)")
    assert not page.refusals and page.draft.step != "names"
    assert page.draft.dialect.encoding == "utf-8 or windows-1252"
