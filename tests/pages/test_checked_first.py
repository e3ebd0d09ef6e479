"""The first question of a new table: one click has its columns checked and then asks it, unless the check doubts a
column of it. Nothing is asked that nobody clicked, and a question that was not asked took nothing."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, quote, urlparse

import pandas as pd
import pytest
from helpers_coins import NoNoise
from helpers_declare import Page
from helpers_page import html_of, open_page, plain, until

import dpengine as dp
from dpengine.core.printed import percent_taken
from dpengine.messages import say
from ui.words import prices
from ui.words.markup import unmarked


def people(age: int) -> str:
    """Other rows than any other test's: the same ones would share an allowance."""
    return "age,sex\n" + f"{age},m\n44,f\n" * 2_000


def offered(page: Page, kind: str) -> list[Any]:
    return [one for one in page.app.button if str(one.key).startswith(f"done-{kind}-")]


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_right_after_a_table_was_added_its_columns_can_be_checked_with_one_click() -> None:
    page = Page().upload(people(31))
    table = page.finish("to be checked")
    (button,) = offered(page, "fit")
    assert button.label.startswith("Check 2 columns") and "%" in button.label
    assert not table.meter().charges, "nothing is bought without a click"


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_one_click_checks_the_columns_and_asks_the_first_question_of_a_kind_for_the_price_it_names() -> None:
    page = Page().upload(people(32))
    table = page.finish("asked at once")
    asked = offered(page, "question")
    assert [one.key.split("-")[2] for one in asked] == ["0", "1"] and not table.meter().charges
    told = plain(page.text)
    assert "The mean of age for everyone" in told and "The number of people by sex, for everyone" in told
    assert "First, the columns are checked (" in told and "included" in told
    label = asked[0].label
    asked[0].click()
    until(page.run(), lambda: len(table.answers(5)) == 2)
    check, answer = table.answers(5)
    assert answer.query.parameters()["column"] == "age" and check.query.parameters()["columns"] == ["age", "sex"]
    assert table.meter().charges == 2
    assert label == say("ask.button", share=percent_taken(1, table.meter().used)), "both are in the price"
    for _ in range(3):
        page.run()
    assert table.meter().charges == 2, "drawn again it asks nothing"
    told = plain(html_of(open_page("data", table=table.name, answer=check.request_id)))
    assert say("data.fit.all_title") in told and table.meter().charges == 2, "the address of the check asks nothing"


@pytest.mark.usefixtures("shared")
def test_a_question_of_one_s_own_is_typed_right_after_a_table_was_added_and_one_click_asks_it() -> None:
    page = Page().upload(people(37))
    table = page.finish("own first")
    assert offered(page, "question")
    page.app.text_input(key="box-field").set_value("average age by sex").run()
    told = plain(page.text)
    assert "The mean of age for everyone, by sex" in told and "within ±" in told and not offered(page, "question")
    assert "checked (" in told and not table.meter().charges, "what is checked first"
    (own,) = [one for one in page.app.button if str(one.key).startswith("own-go-")]
    label = own.label
    own.click()
    until(page.run(), lambda: len(table.answers(5)) == 2)
    answer = next(one for one in table.answers(5) if one.query.card.key == "mean")
    assert answer.query.parameters()["by"] == "sex" and answer.query.parameters()["column"] == "age"
    assert label == say("ask.button", share=percent_taken(1, table.meter().used)), "both are in the price"
    read = plain(html_of(open_page("ask", table="own first", answer=answer.request_id)))
    assert "age above" in read, "what the declaration cuts stands beside the answer"


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_the_same_question_of_other_columns_is_one_click_too_with_its_error_and_price() -> None:
    page = Page().upload("age,weight_kg,wait_min,sex\n" + "33,70,20,m\n44,80,30,f\n" * 5_000)
    table = page.finish("asked of others")
    page.app.session_state["done-others"] = True  # opened
    page.run()
    others = offered(page, "alike")
    names = [unmarked("weight_kg"), unmarked("wait_min")]
    assert len(others) == 2 and all(one.label.startswith(name) for one, name in zip(others, names, strict=True))
    assert all("±" in one.label and one.label.endswith("%") for one in others) and not table.meter().charges
    assert "Or ask about one column" not in plain(page.text), "each is offered already"
    others[1].click()
    until(page.run(), lambda: len(table.answers(5)) == 2)
    assert table.answers(5)[-1].query.parameters()["column"] == "wait_min" and table.meter().charges == 2


@pytest.mark.usefixtures("shared")
def test_a_question_about_a_column_that_does_not_fit_is_not_asked_and_takes_nothing() -> None:
    """All 4,000 cells are grams where kilograms were declared; the noise hides that with a chance below 1e-9."""
    page = Page().upload("weight_kg,sex\n" + "70000,m\n80000,f\n" * 2_000)
    table = page.finish("in grams")
    offered(page, "question")[0].click()
    until(page.run(), lambda: table.meter().charges == 1 and "not asked" in plain(page.text))
    (check,) = table.answers(5)
    assert check.query.card.key == "fit_checks" and table.meter().charges == 1
    told = plain(page.text)
    assert "most lie above" in told and unmarked(say("fit.way.widen", column="weight_kg")) in links(page)
    page.run()
    assert table.meter().charges == 1, "drawn again it asks nothing"
    asked = table.ask(table.query("histogram", column="sex", epsilon="0.5"))
    beside = plain(html_of(open_page("ask", table="in grams", answer=asked.request_id)))
    assert say("fit.others", columns=["weight_kg"]) in beside, "told also beside answers about other columns"
    form = open_page("ask", table="in grams", q="mean", column="weight_kg")
    assert not [one for one in form.button if str(one.key).startswith("ask-go")], "it is not offered either"
    assert "not asked" in plain(html_of(form))


def links(page: Page) -> str:
    return " ".join(one.proto.label for one in page.app.get("page_link"))


@pytest.mark.long
def test_ask_brings_the_check_along_and_a_code_is_named_with_one_click(home: dp.Workspace) -> None:
    """1,900 of 10,000 cells are 99; the noise hides that with a chance below 1e-9."""
    frame = pd.DataFrame({"age": [30, 41, 52] * 2_700 + [99] * 1_900, "sex": ["m", "f"] * 5_000})
    schema = dp.Schema({"age": dp.Number(0, 120), "sex": dp.Category(["m", "f"])})
    table = home.add_table("coded", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    app = open_page("ask", table="coded", q="mean", column="age")
    assert "%, included): if a tenth does not fit" in plain(html_of(app))
    (go,) = [one for one in app.button if str(one.key).startswith("ask-go")]
    go.click().run()
    until(app, lambda: "not asked" in plain(html_of(app)))
    told = plain(html_of(app))
    assert "are exactly 99" in told and table.meter().charges == 1
    labels = {one.label: one for one in app.button}
    assert {say("fit.way.code", column="age", code="99"), say("fit.way.real", code="99"), say("fit.way.fitting")} <= {
        *labels
    }
    labels[say("fit.way.code", column="age", code="99")].click().run()
    until(app, lambda: len(home.table("coded").answers(2)) == 2)
    answer = home.table("coded").answers(2)[-1]
    assert answer.query.card.key == "mean" and 37 < answer.value < 45, "within 16 scales of the noise"
    assert home.table("coded").schema.number("age").codes == (99,)


@pytest.mark.long
def test_of_the_cells_that_fit_the_headline_says_of_which_part_it_is(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"mark": [1, 2, 3, 4, 9, 10] * 1_000})
    table = home.add_table(
        "marks",
        frame,
        schema=dp.Schema({"mark": dp.Number(0, 5)}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("50", "1e-6"),
    )
    answer = table.ask(table.query("mean", column="mark", epsilon="2"), checked=True, anyway=True)
    told = plain(html_of(open_page("ask", table="marks", answer=answer.request_id)))
    share = re.search(r"Of the (\d+)–(\d+) % of cells that fit 0–5: about 2\.[45]", told)
    assert (
        share and 50 < int(share[1]) < int(share[2]) < 83
    )  # two thirds; noise of about 1.5 is beyond that with a chance below 1e-9


@pytest.mark.long
def test_the_way_from_an_average_to_the_median_keeps_that_only_cells_that_fit_count(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"mark": [1, 2, 3, 4, 9, 10] * 1_000, "town": ["Mill", "Hill", "Dale"] * 2_000})
    schema = dp.Schema({"mark": dp.Number(0, 5), "town": dp.Category(["Mill", "Hill"])})
    table = home.add_table("marks2", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    where = [["town", "fits", []]]
    answer = table.ask(table.query("mean", column="mark", where=where, epsilon="2"), checked=True, anyway=True)
    assert answer.query.where.fitting().keys() == {"mark", "town"}
    page = open_page("ask", table="marks2", answer=answer.request_id)
    (link,) = [one.proto for one in page.get("page_link") if one.proto.label.startswith("Set up the ")]
    given = {name: value[0] for name, value in parse_qs(urlparse(f"?{link.query_string}").query).items()}
    median = open_page("ask", **given)
    told = plain(html_of(median))
    picked = [one.value for one in median.selectbox if str(one.key).startswith("where-op-")]
    assert picked == ["fits", "fits"] and say("form.where_all", column=["mark"]) not in told
    assert [one for one in median.button if str(one.key).startswith("ask-go")], "it is asked, and not refused again"


def test_after_a_rough_check_a_finer_one_stands_there_with_its_price(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"mark": [1, 2, 3, 4] * 500})
    schema = dp.Schema({"mark": dp.Number(0, 5)})
    home.coins = NoNoise()  # else the rough check may happen to show nearly everything
    table = home.add_table("rough", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    answer = table.ask(table.query("mean", column="mark", epsilon="0.5"))
    table.ask(table.query("fit_checks", columns=["mark"], epsilon="0.1", noise="gaussian"))
    fit = table.fit_of("mark")
    assert fit.rough
    finer = table.finer_check(["mark"])
    assert finer is not None
    shown = html_of(open_page("ask", table="rough", answer=answer.request_id))
    share = prices.takes(table, table.preview(finer).share)
    assert say("fit.finer", share=share) in plain(shown) and plain(shown).count(fit.note()) == 1
    assert f"<p>{fit.note()}</p>" in shown, "no warning: in the usual size"
    assert "check=" + quote('["mark"]') in unescape(shown)
    named, budget = dp.Schema({"mark": dp.Number(0, 5), "other": dp.Number(0, 5)}), dp.Budget("50", "1e-6")
    two = home.add_table("two", frame.assign(other=1), schema=named, unit=dp.Unit.rows(), budget=budget)
    two.ask(two.query("fit_checks", columns=["mark", "other"], epsilon="0.1", noise="gaussian"))
    for check, columns in (('["other"]', ["other"]), ("1", ["mark", "other"]), ('["gone"]', ["mark", "other"])):
        offered = plain(html_of(open_page("data", table="two", check=check)))
        finer_two = two.finer_check(columns)
        assert finer_two is not None
        told = say("data.fit.stronger", alpha=finer_two.promise().amount, columns=columns)
        assert told in offered, check
    page = open_page("data", table="rough")
    assert [one for one in page.button if str(one.key).startswith("fit-again-exact-")]
    table.ask(table.query("fit_checks", columns=["mark"], epsilon="20"))
    assert not table.fit_of("mark").rough
    assert not [one for one in open_page("data", table="rough").button if "fit-again-exact" in str(one.key)]


@pytest.mark.long
def test_a_condition_that_says_below_is_drawn_as_it_is(home: dp.Workspace) -> None:
    schema = dp.Schema({"wait": dp.Number(0, 240), "sex": dp.Category(["m", "f"])})
    frame = pd.DataFrame({"wait": [30] * 500, "sex": ["m"] * 500})
    home.add_table("below", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("5", "1e-6"))
    for op, words in (("<", "wait is below 240"), (">", "wait is above 5"), ("=", "wait is 7")):
        value = words.split()[-1]
        page = open_page("ask", table="below", q="mean", column="wait", where=f'[["wait", "{op}", {value}]]')
        (picked,) = [one for one in page.selectbox if str(one.key).startswith("where-op-wait")]
        assert picked.value == op and words in plain(html_of(page))
