"""How careful: chosen already, told in good answers for the number of people, and never a table of two unnoticed."""

from __future__ import annotations

from typing import Any

import pytest
from helpers_declare import Page

from dpengine.messages import say
from ui.data import declare_care as care
from ui.data.declare_draft import CARE

pytestmark = pytest.mark.usefixtures("shared")
VISITS = "who,age,minutes\na,33,20\na,34,15\nb,44,30\n"


def at_care(each: int, about: int) -> Page:
    page = Page().upload(VISITS, "visits.csv").to("unit").set("declare-unit", "more").set("declare-who", "who")
    page.set("declare-each", each).set("declare-relation", "add_remove").set("declare-about", about).press("Go on")
    return page.to("care")


def captions(page: Page) -> list[str]:
    shown: Any = next(radio for radio in page.app.radio if radio.key == "declare-care")
    return list(shown.proto.captions)


def warned(page: Page) -> str:
    return "".join(part.proto.body for part in page.app.get("html") if 'class="warn"' in part.proto.body)


def test_one_choice_is_made_already_and_says_what_it_holds() -> None:
    page = at_care(1, 50_000)
    assert page.draft.care == "usual" and not warned(page)
    assert all("good answers for about 50,000 people" in told for told in captions(page))
    page.press("Add the table")
    assert page.draft.step == "done", page.refusals


def test_a_table_that_holds_few_answers_says_so_and_what_helps() -> None:
    page = at_care(6, 2_000).set("declare-care", "careful")
    told = warned(page)
    many = care.price.good_questions(care.drafts.budget(page.draft), care._typical(page.draft))
    assert 0 < many < care.ENOUGH and f"About {many} good answers" in told
    assert "instead of 6" in told and say("data.care.usual_label") in told and say("data.care.loose_label") in told
    page.set("declare-care", "loose")
    assert not warned(page)


def test_fewer_rows_of_a_person_are_named_where_they_leave_enough() -> None:
    page = at_care(6, 4_000).set("declare-care", "careful")
    fewer = next(each for each in (5, 3, 2, 1) if f"With {each} " in warned(page))
    again = at_care(fewer, 4_000).set("declare-care", "careful")
    many = care.price.good_questions(care.drafts.budget(again.draft), care._typical(again.draft))
    assert many >= care.ENOUGH and not warned(again) and f"about {many};" in warned(page)


def test_without_a_number_of_people_it_says_for_how_many_it_was_worked_out() -> None:
    page = Page().upload("age\n33\n44\n").to("care")
    assert say("data.care.usual_people", people=1_000) in page.text and not warned(page)
    assert len(captions(page)) == len(CARE)
