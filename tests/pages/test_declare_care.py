"""How careful: chosen already, told in averages or charts, and never a table of two unnoticed."""

from __future__ import annotations

from typing import Any

import pytest
from helpers_declare import Page

import dpengine as dp
from dpengine.messages import say
from ui.data import people as care
from ui.data.draft import CARE

pytestmark = pytest.mark.usefixtures("shared")
VISITS = "who,age,minutes\na,33,20\na,34,15\nb,44,30\n"


def at_care(each: int, about: int, text: str = VISITS) -> Page:
    page = Page().upload(text, "visits.csv").to("unit").set("declare-unit", "more").set("declare-who", "who")
    page.set("declare-each", each).set("declare-relation", "add_remove").set("declare-about", about).press("Go on")
    return page.to("care")


def back(page: Page) -> Page:
    """To the step about people."""
    return page.click("declare-back-care").click("declare-back-cards")


def captions(page: Page) -> list[str]:
    shown: Any = next(radio for radio in page.app.radio if radio.key == "declare-care")
    return list(shown.proto.captions)


def warned(page: Page) -> str:
    return "".join(part.proto.body for part in page.app.get("html") if 'class="warn"' in part.proto.body)


@pytest.mark.long
def test_one_choice_is_made_already_and_says_what_it_holds() -> None:
    page = at_care(1, 50_000)
    assert page.draft.care == "careful" and not warned(page) and say("data.care.secret") in page.text
    assert all("averages or charts." in told for told in captions(page))
    page.press("Add the table")
    assert page.draft.step == "done", page.refusals


@pytest.mark.long
def test_a_table_that_holds_few_answers_says_so_and_what_helps() -> None:
    page = at_care(6, 2_000).set("declare-care", "careful")
    told = warned(page)
    many = care._good(page.draft, care.drafts.budget(page.draft))
    assert 0 < many < care.ENOUGH and say("data.care.scarce") in told
    assert "instead of 6" in told and "counts come out too low and averages shift" in told
    assert say("data.care.usual_label") in told and say("data.care.loose_label") in told
    page.set("declare-care", "loose")
    assert not warned(page)


@pytest.mark.long
def test_fewer_rows_of_a_person_are_named_where_they_leave_enough() -> None:
    page = at_care(6, 2_000).set("declare-care", "careful")
    fewer = next(each for each in (5, 3, 2, 1) if f"With {each} " in warned(page))
    again = at_care(fewer, 2_000).set("declare-care", "careful")
    many = care._good(again.draft, care.drafts.budget(again.draft))
    assert many >= care.ENOUGH and not warned(again) and f"about {many} averages or charts, but" in warned(page)


@pytest.mark.long
def test_without_a_number_of_people_it_says_for_how_many_it_was_worked_out() -> None:
    page = Page().upload("age\n33\n44\n").to("care")
    assert say("data.care.usual_people") in page.text and not warned(page)
    assert len(captions(page)) == len(CARE) and page.draft.care == "usual"
    for told in captions(page):
        assert "Averages or charts: " in told  # what is counted
        assert " for 1,000 people, " in told and " for 10,000 people." in told


@pytest.mark.long
def test_once_the_people_are_counted_it_says_how_much_can_be_asked_of_them() -> None:
    page = Page().upload("age\n" + "33\n44\n" * 1_000).to("care").press("Add the table")
    assert page.draft.step == "done", page.refusals
    many = care._good(page.draft, care.drafts.budget(page.draft), 2_000)
    assert 0 < many <= care.MOST_GOOD and say("data.done.enough", many=many, people=2_000) in page.text


@pytest.mark.long
def test_careful_is_chosen_for_a_secret_until_somebody_chooses() -> None:
    page = at_care(1, 50_000)
    assert page.draft.care == "careful"
    back(page).set("declare-relation", "replace").to("care")
    assert page.draft.care == "usual" and say("data.care.secret") not in page.text
    back(page.set("declare-care", "loose")).set("declare-relation", "add_remove")
    assert page.to("care").draft.care == "loose", "what a person chose stays"


@pytest.mark.long
def test_at_the_price_that_ask_opens_with_at_least_as_many_good_answers_fit_as_were_told(shared: Any) -> None:
    """Asked again and again at the price that the first question has on Ask: each clear, and no fewer than were told
    before."""
    page = at_care(3, 8_000, VISITS + "c,51,9\n")
    many = care._good(page.draft, care.drafts.budget(page.draft))
    page.press("Add the table")
    table = shared.table(page.draft.added.name)
    offered = [table.suggested("mean", column=name) for name in table.schema.columns]
    most = max(table.preview(query).share for query in offered if query is not None)
    assert many > 1 and most * many < 1.15
    assert all(one.promise().amount <= one.coarse() for one in offered if one is not None), "more than noise"


@pytest.mark.long
def test_a_name_that_is_taken_says_why_it_got_a_number(shared: Any) -> None:
    first = Page().upload("age\n33\n44\n", "ward.csv").to("care").press("Add the table")
    assert first.draft.added.name == "ward"
    again = Page().upload("age\n35\n46\n", "ward.csv").to("care")
    assert say("data.name.taken", taken="ward", name="ward 2") in again.text
    again.set("declare-name", "ward of May")
    assert "is here already" not in again.text


@pytest.mark.long
def test_how_many_people_can_be_said_where_the_answers_are_counted() -> None:
    """For prices alone: once the table is added the number is the counted one, and what was said is gone."""
    page = Page().upload("age\n" + "33\n44\n" * 20).to("care")
    shown = next(one for one in page.app.number_input if one.key == "declare-about")
    assert shown.label == say("data.relation.about_replace") and say("data.care.about_means") in page.text
    page.set("declare-about", 30_000)
    assert all("Enough for" in told for told in captions(page)), captions(page)
    page.click("declare-back-care")
    assert "prices for about 30,000 people" in page.text, "it stays on the way"
    table = page.finish("said")
    assert table.facts.people == 40 and page.draft.about is None


@pytest.mark.long
def test_where_being_in_it_is_secret_it_is_said_once() -> None:
    page = at_care(1, 50_000)
    assert not [one for one in page.app.number_input if one.key == "declare-about"]


@pytest.mark.long
def test_a_table_about_the_same_people_is_asked_on_the_other_one_s_allowance(shared: dp.Workspace) -> None:
    """Patients and their visits: how many rows count differs, who is protected does not."""
    patients = at_care(1, 50_000, "who,age,minutes\nc,61,10\nd,62,25\n")
    name = patients.draft.name
    patients.press("Add the table")
    visits = at_care(3, 50_000, "who,age,minutes\nc,61,7\nc,61,8\nd,62,9\n")
    assert (
        say("data.shared.lead") in visits.text
        and say("data.shared.chosen", table=name, left="100 %") not in visits.text
    )
    visits.set("declare-shares", name)
    assert "questions are charged to the allowance of" in visits.text
    other = visits.draft.name
    visits.press("Add the table")
    assert visits.draft.step == "done", visits.refusals
    both = shared.table(name), shared.table(other)
    assert both[0].budget.id == both[1].budget.id and [one.facts.unit.at_most for one in both] == [1, 3]
