"""The first question of a new table: one click has its columns checked and then asks it, unless the check doubts a
column of it. Nothing is asked that nobody clicked, and a question that was not asked took nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from helpers_declare import Page
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.core.printed import percent_taken
from dpengine.messages import say
from ui.words.markup import unmarked


def people(age: int) -> str:
    """Other rows than any other test's: the same ones would share an allowance."""
    return "age,sex\n" + f"{age},m\n44,f\n" * 2_000


def offered(page: Page, kind: str) -> list[Any]:
    return [one for one in page.app.button if str(one.key).startswith(f"done-{kind}-")]


def until(page: Page, met: Callable[[], bool]) -> None:
    """It is asked in the background; each time the page is drawn it looks whether there is an answer."""
    page.run()
    for _ in range(600):
        if met():
            return
        time.sleep(0.1)
        page.run()
    raise AssertionError("no answer in a minute")


@pytest.mark.usefixtures("shared")
def test_right_after_a_table_was_added_its_columns_can_be_checked_with_one_click() -> None:
    page = Page().upload(people(31))
    table = page.finish("to be checked")
    (button,) = offered(page, "fit")
    assert button.label.startswith("Check 2 columns") and "%" in button.label
    assert say("data.first.only_check") in page.text
    assert not table.meter().charges, "nothing is bought without a click"


@pytest.mark.usefixtures("shared")
def test_one_click_checks_the_columns_and_asks_the_first_question_of_a_kind_for_the_price_it_names() -> None:
    page = Page().upload(people(32))
    table = page.finish("asked at once")
    asked = offered(page, "question")
    assert [one.key.split("-")[2] for one in asked] == ["0", "1"] and not table.meter().charges
    told = plain(page.text)
    assert "The mean of age for everyone" in told and "The number of people by sex, for everyone" in told
    assert "Before your first question the columns are checked against what you said" in told
    label = asked[0].label
    asked[0].click()
    until(page, lambda: len(table.answers(5)) == 2)
    check, answer = table.answers(5)
    assert answer.query.parameters()["column"] == "age" and check.query.parameters()["columns"] == ["age", "sex"]
    assert table.meter().charges == 2
    assert label == say("ask.button", share=percent_taken(1, table.meter().used)), "both are in the price"
    for _ in range(3):
        page.run()
    assert table.meter().charges == 2, "drawn again it asks nothing"
    page.app.query_params["answer"] = answer.request_id
    page.app.switch_page("../pages/ask.py").run()
    assert "All 2 columns were checked first: most cells are as you said." in plain(page.text)
    told = plain(html_of(open_page("data", table=table.name, answer=check.request_id)))
    assert "Most cells fit" in told and table.meter().charges == 2, "the address of the check asks nothing"


@pytest.mark.usefixtures("shared")
def test_the_same_question_of_other_columns_is_one_click_too_with_its_error_and_price() -> None:
    page = Page().upload("age,weight_kg,wait_min,sex\n" + "33,70,20,m\n44,80,30,f\n" * 5_000)
    table = page.finish("asked of others")
    others = offered(page, "alike")
    names = [unmarked("weight_kg"), unmarked("wait_min")]
    assert len(others) == 2 and all(one.label.startswith(name) for one, name in zip(others, names, strict=True))
    assert all("±" in one.label and one.label.endswith("%") for one in others) and not table.meter().charges
    assert "Or ask about one column" not in plain(page.text), "each is offered already"
    others[1].click()
    until(page, lambda: len(table.answers(5)) == 2)
    assert table.answers(5)[-1].query.parameters()["column"] == "wait_min" and table.meter().charges == 2


@pytest.mark.usefixtures("shared")
def test_a_question_about_a_column_that_does_not_fit_is_not_asked_and_takes_nothing() -> None:
    """All 4,000 cells are grams where kilograms were declared; the noise hides that with a chance below 1e-9."""
    page = Page().upload("weight_kg,sex\n" + "70000,m\n80000,f\n" * 2_000)
    table = page.finish("in grams")
    weight = offered(page, "question")[0]
    assert "weight_kg" in plain(page.text)
    weight.click()
    until(page, lambda: say("data.fit.all_title") in page.text)
    (check,) = table.answers(5)
    assert table.meter().charges == 1 and check.query.parameters()["columns"] == ["weight_kg", "sex"]
    told = plain(page.text)
    share = percent_taken(1, table.meter().used)
    assert say("data.first.not_asked", columns=["weight_kg"], share=share) in told
    assert told.index("was not asked") < told.index("Is the range too narrow or in other units")
    page.run()
    assert "was not asked" in plain(page.text), "also when drawn again"
    assert table.meter().charges == 1
    asked = table.ask(table.query("histogram", column="sex", epsilon="0.5"))
    beside = plain(html_of(open_page("ask", table="in grams", answer=asked.request_id)))
    assert say("fit.others", columns=["weight_kg"]) in beside, "told also beside answers about other columns"


@pytest.mark.usefixtures("shared")
def test_where_numbers_such_as_999_are_found_the_same_question_without_them_is_one_click() -> None:
    """800 of 10,000 cells are 999; that the noise hides them has a chance below 1e-9, and so has one that is not told
    from none."""
    page = Page().upload("wait_min,sex\n" + "30,m\n31,f\n" * 4_600 + "999,f\n" * 800)
    table = page.finish("coded")
    offered(page, "question")[0].click()
    until(page, lambda: say("data.fit.all_title") in page.text)
    assert table.meter().charges == 1 and say("data.first.instead") in plain(page.text)
    (other,) = offered(page, "question-instead")
    other.click()
    until(page, lambda: len(table.answers(5)) == 2)
    asked = table.answers(5)[-1]
    assert asked.query.parameters()["where"] == [["wait_min", "<", 240]]
    low, high = (float(end) for end in asked.interval)
    assert low - 4 * (high - low) <= 30.5 <= high + 4 * (high - low)


def test_a_condition_that_says_below_is_drawn_as_it_is(home: dp.Workspace) -> None:
    schema = dp.Schema({"wait": dp.Number(0, 240), "sex": dp.Category(["m", "f"])})
    frame = pd.DataFrame({"wait": [30] * 500, "sex": ["m"] * 500})
    home.add_table("below", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("5", "1e-6"))
    for op, words in (("<", "wait is below 240"), (">", "wait is above 5"), ("=", "wait is 7")):
        value = words.split()[-1]
        page = open_page("ask", table="below", q="mean", column="wait", where=f'[["wait", "{op}", {value}]]')
        (picked,) = [one for one in page.selectbox if str(one.key).startswith("where-op-wait")]
        assert picked.value == op and words in plain(html_of(page))
