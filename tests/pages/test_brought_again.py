"""A table that is brought a second time: what is told before, and what stands in the way at the end."""

from __future__ import annotations

from typing import Any

import pytest
from helpers_declare import Page
from helpers_page import html_of, open_page

from dpengine.messages import say


def links(app: Any) -> list[str]:
    return [one.proto.label for one in app.get("page_link")]


@pytest.fixture
def page(shared: object) -> Page:
    return Page()


@pytest.mark.long
def test_a_table_with_the_same_columns_is_named_before_anything_is_said_whatever_the_rows_are(page: Page) -> None:
    """By the public names alone: whether the rows are the same, too, is told of no file before it is added."""
    visits = "whose,age,stay\nana,33,1\nana,37,2\nbor,41,1\n"
    page.upload(visits, "visits.csv").to("unit")
    assert "has the same columns" not in page.text
    page.set("declare-unit", "more").set("declare-who", "whose").set("declare-each", 3)
    page.set("declare-relation", "add_remove").set("declare-about", 900).press("Go on").finish("brought twice")
    told = say("data.unit.before", table="brought twice", rows=say("data.so_far.more", each=3))
    for rows in (visits, visits.replace("41", "42")):
        again = Page().upload(rows, "again.csv").to("unit")
        assert told in again.text and again.draft.many is None


@pytest.mark.long
def test_what_stands_in_the_way_at_the_very_end_is_brought_into_sight(page: Page) -> None:
    """The work in the background refuses it, and the screen it is told on is another one."""
    visits = "who,age\neva,23\neva,24\niva,54\n"
    page.upload(visits, "visits.csv").to("unit").set("declare-unit", "more").set("declare-who", "who")
    page.set("declare-each", 3).set("declare-relation", "replace").press("Go on").finish("brought otherwise")
    again = Page().upload(visits, "again.csv").to("unit").set("declare-unit", "more").set("declare-who", "who")
    again.set("declare-each", 2).set("declare-relation", "replace").press("Go on")
    again.to("care").press("Add the table")
    terms = ["at most 3 rows each", "a person is a value of who", "membership is no secret"]
    told = say("data.unit.known", table="brought otherwise", terms=", ".join(terms))
    assert again.draft.step == "unit" and told in again.refusals[0]
    assert 'class="refused arrived"' in again.text and 'data-turn="' in again.text
    assert say("data.unit.known_open", table="brought otherwise") in links(again.app)


@pytest.mark.long
def test_a_copy_with_a_row_less_says_that_the_other_table_has_several_rows_a_person(page: Page) -> None:
    """Its rows are others, so nothing refuses it; headers and declarations are public."""
    visits = "whom,age\nada,31\nada,32\nida,61\n"
    page.upload(visits, "visits.csv").to("unit").set("declare-unit", "more").set("declare-who", "whom")
    page.set("declare-each", 3).set("declare-relation", "replace").press("Go on").finish("visits whole")
    Page().upload(visits[:-7], "copy.csv").to("unit").set("declare-unit", "one").set(
        "declare-relation", "replace"
    ).press("Go on").finish("visits copied")
    told = say("data.twin", table="visits whole")
    shown = open_page("data", table="visits copied")
    assert told in html_of(shown) and say("data.twin.mend") in links(shown)
    assert told not in html_of(open_page("data", table="visits whole"))
