"""Until a table is added the Data page tells nothing that was counted: on neighbouring tables it is the same, byte for
byte, whichever column is named as the one that says who is who, and whether or not the content is here already."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from helpers_declare import Page

import dpengine as dp
from dpengine.messages.language import speaking
from ui.data.source import guess

ROWS = ["a,flu,30", "b,flu,40", "b,cold,45", "c,{},50"]
ONE_PERSON = ("cold", "gout")  # changes how many diagnoses there are


def walked(text: str, columns: tuple[str, ...], relation: str) -> list[str]:
    """All that is on the page from the names to the last step, for each column as id column."""
    page, seen = Page("town"), []  # else the places lead to the newest table, by its name
    page.upload(text, "clinic.csv")
    for column in columns:
        page.press("Yes, go on").set("declare-unit", "more").set("declare-who", column).set("declare-each", 3)
        page.set("declare-relation", relation)
        if relation == "add_remove":
            page.set("declare-about", 50)
        seen.append(page.everything)
        page.press("Go on")
        seen.append(page.everything)
        for name, kind in (("diagnosis", "list"), ("age", "number")):
            if name != column:
                page.set(f"declare-{page.draft.names.index(name)}-kind", kind)
        if column != "diagnosis":
            page.set("declare-1-listed", "flu, cold")
        if column != "age":
            page.set("declare-2-upper", "110")
        seen += [page.everything, page.press("Go on").everything]
        assert page.draft.step == "care"
        while page.draft.step != "names":
            page.press("Back")
    return seen


@pytest.mark.parametrize(
    ("relation", "columns"),
    [
        ("replace", ("who",)),
        pytest.param("add_remove", ("diagnosis",), marks=pytest.mark.long),
        pytest.param("replace", ("diagnosis", "age"), marks=pytest.mark.long),
    ],
)
def test_every_column_as_the_one_that_says_who(shared: dp.Workspace, relation: str, columns: tuple[str, ...]) -> None:
    texts = ["who,diagnosis,age\n" + "\n".join(ROWS).format(one) + "\n" for one in ONE_PERSON]
    schema = dp.Schema({"age": dp.Number(0, 120)})
    terms = {"unit": dp.Unit.column("who", 3), "budget": dp.Budget("1", "1e-6")}
    space, source = dp.open_workspace(os.environ["ALLOWANCE_HOME"]), shared.folder / "known.csv"
    source.write_text("who,diagnosis,age\nx,y,44\n")
    space.add_table(f"another, {relation}, {columns[0]}", source, schema=schema, **terms)
    told = [walked(text, columns, relation) for text in texts]
    assert told[0] == told[1]
    if columns == ("who",):
        source.write_text(texts[0])
        assert space.add_table("here already", source, schema=schema, **terms).facts.people == 3
        here, new = (walked(text, columns[:1], relation) for text in texts)  # the tables of theirs are named in both
        assert here == new


def test_an_old_encoding_is_guessed_by_the_language(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("starost,višina\n1,2\n".encode("windows-1250"))
    for lang, encoding in (("sl", "windows-1250"), ("en", "windows-1252")):
        with speaking(lang):
            assert guess(path).encoding == encoding
    path.write_text("starost,višina\n1,2\n", encoding="utf-8")
    with speaking("sl"):
        assert guess(path).encoding == "utf-8"
