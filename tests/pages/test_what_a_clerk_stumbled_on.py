"""Small things on the pages that misled a careful reader: each stays mended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
import pytest
from helpers_declare import Page
from helpers_page import html_of, open_page, plain, until

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian, Pure
from dpengine.core.printed import percents
from dpengine.declared.facts import Facts
from dpengine.mechanisms.edges import near_end
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.noise.coins import SystemCoins
from dpengine.planning.opening import STEPS, cheapest, price_now
from ui.ask import spend
from ui.parts import answer_notes
from ui.words.markup import unmarked

MANY = dp.Budget("50", "1e-6")


@pytest.fixture(name="still")
def without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """These are about the page: noise alone finds cells that do not fit in one check of a hundred."""
    for noise in ("laplace", "gaussian"):
        monkeypatch.setattr(SystemCoins, noise, lambda self, values, scale: [int(value) for value in values])


def labelled(app: Any, key: str) -> list[str]:
    return [one.label for one in app.button if str(one.key).startswith(key)]


# --- prices


def test_a_price_on_a_slider_has_two_digits_and_steps_that_read_alike_are_one() -> None:
    shares = [Fraction(20721418, 10**14), Fraction(20721419, 10**14), Fraction(3, 10**6)]
    assert percents(shares) == ["0.000021 %", "0.000021 %", "0.0003 %"]
    labels = {"0.1": "0.1 %", "0.2": "0.1 %", "0.3": "0.2 %"}
    options = ["0.1", "0.2", "0.3", "0.5", "0.7"]
    assert spend.steps_of(labels, options, "0.1") == ["0.1", "0.3"]
    assert spend.steps_of(labels, options, "0.3") == ["0.2", "0.3"]
    assert spend.steps_of({"0.1": "0.1 %"}, options, "0.1") == ["0.1", "0.2"], "a slider has two ends"
    assert spend.steps_of({"0.1": "0.1 %"}, options, "0.7") == ["0.1", "0.7"]


VISITS = dp.Schema(
    {
        "sex": dp.Category(["M", "Ž", "X", "?"]),
        "ward": dp.Category([f"ward {place}" for place in range(12)]),
        "paid": dp.Number(0, 100, "0.01"),
    }
)
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("mean", {"column": "paid"}),
    ("mean", {"column": "paid", "by": "sex"}),
    ("variance", {"column": "paid"}),
    ("sum", {"column": "paid", "by": "ward"}),
    ("histogram", {"column": "ward"}),
    ("top_item", {"column": "ward"}),
    ("median", {"column": "paid"}),
]


@dataclass(frozen=True)
class Standing:
    """As much of a table as a slider reads."""

    rule: Rule
    totals: Totals

    def prices(self, queries: list[dp.Query], checked: bool) -> list[Fraction | None]:
        return [price_now(query, self.rule, self.totals) for query in queries]

    def meter(self) -> SimpleNamespace:
        return SimpleNamespace(used=filter.used(self.rule, self.totals))


def spent_some(rule: Rule, gaussian: bool, part: Fraction) -> Totals:
    """Sums after equal questions that took about this part of an allowance."""
    totals = Totals.NOTHING
    while filter.used(rule, totals) < part:
        one = Gaussian((rule.epsilon / 30) ** 2) if gaussian else Pure(rule.epsilon * 3 / 100)
        totals = totals.plus(cost(one, rule.alpha))
    return totals


@pytest.mark.parametrize("at_most", [1, 10])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)], ids=["no delta", "delta"])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "10"])
def test_each_step_of_a_slider_costs_more_and_promises_no_less(epsilon: str, delta: Fraction, at_most: int) -> None:
    """A patient table with little left: the last step was an average "to within ±100 €" for 0.00001 %, pure noise."""
    rule = Rule.make(Fraction(epsilon), delta)
    for gaussian, part, people in product([False, True][: 1 + bool(delta)], ["0.1", "0.625", "0.92"], [300, 20_000]):
        totals = spent_some(rule, gaussian, Fraction(part))
        unit = dp.Unit.rows() if at_most == 1 else dp.Unit.column("patient", at_most)
        table = Standing(rule, totals)
        for key, given in ASKED:
            facts = Facts("t", VISITS, unit, "add_remove", people)

            def make(step: str, key: str = key, given: dict[str, Any] = given, facts: Facts = facts) -> dp.Query:
                return dp.catalogue[key].build(facts, {"epsilon": step} | given)

            options = [step for step in STEPS if Fraction(step) <= rule.epsilon]
            labels = spend.labels_of(table, make, options)  # type: ignore[arg-type]
            steps = [make(step) for step in spend.steps_of(labels, options, next(iter(labels), "")) if step in labels]
            bought = [cheapest(step, rule, totals) for step in steps]
            prices = [filter.share(rule, totals, query.cost(rule.alpha)) for query in bought]
            assert all(one < next_one for one, next_one in pairwise(prices)), (key, gaussian, part, people, prices)
            assert all(price <= 1 - filter.used(rule, totals) for price in prices)
            errors = [query.promise().amount for query in bought]
            assert errors == sorted(errors, reverse=True), (key, gaussian, part, people, errors)


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_where_almost_nothing_is_left_the_form_says_so_in_place_of_the_slider(home: dp.Workspace, lang: str) -> None:
    frame, schema = pd.DataFrame({"age": [30, 40] * 500}), dp.Schema({"age": dp.Number(0, 120)})
    table = home.add_table("spent", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    with speaking(lang):
        told = say("spend.almost_nothing")
        app = open_page("ask", table="spent", q="mean", column="age", lang=lang)
        assert told not in plain(html_of(app)) and app.select_slider
        table.ask(table.query("mean", column="age", epsilon="0.9999"))
        app = open_page("ask", table="spent", q="mean", column="age", lang=lang)
        assert plain(html_of(app)).count(told) == 1 and not app.select_slider


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_the_check_of_all_columns_has_one_price_wherever_it_is_offered() -> None:
    page = Page().upload("age,sex,weight_kg\n" + "37,m,70\n44,f,80\n" * 1_500)
    table = page.finish("one price")
    (first,) = labelled(page.app, "done-fit-")
    (offered,) = labelled(open_page("data", table=table.name), "buy-fit-")
    assert first == offered and first.startswith("Check 3 columns")
    taken = table.preview(table.query("mean", column="age", epsilon="0.1"), checked=True).check_share
    assert first == say("data.fit.all_button", columns=3, share=spend.prices.takes(table, taken))


# --- what is protected


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("lang", "one", "all_rows"),
    [
        ("en", "one person’s row", "all rows of (one|any one) person .up to 3."),
        ("sl", "vrstic[oa] (ene|katerekoli) osebe", "vse vrstice (ene|katerekoli) osebe .do 3."),
    ],
)
def test_with_several_rows_a_person_an_answer_protects_all_of_them(
    home: dp.Workspace, lang: str, one: str, all_rows: str
) -> None:
    frame = pd.DataFrame({"who": [f"p{n // 3}" for n in range(900)], "age": [30, 41, 52] * 300})
    schema = dp.Schema({"age": dp.Number(0, 120)})
    for name, unit in (("several", dp.Unit.column("who", 3)), ("rows", dp.Unit.rows())):
        frame = frame.assign(age=frame.age + 1)
        table = home.add_table(name, frame, schema=schema, unit=unit, budget=MANY)
        answer = table.ask(table.query("mean", column="age", epsilon="1"))
        told = " ".join(plain(html_of(open_page("ask", table=name, answer=answer.request_id, lang=lang))).split())
        several = name == "several"
        assert len(re.findall(all_rows, told)) == (2 if several else 0), told
        assert bool(re.search(one, told)) != several


def test_an_error_that_is_planned_for_one_row_a_person_says_so_where_there_may_be_more() -> None:
    facts = Facts("visits", dp.Schema({"age": dp.Number(0, 120)}), dp.Unit.column("who", 3), "replace", 900)
    told = say("ask.each_row_planned", each=1)
    for key, given, falls in (
        ("mean", {"column": "age"}, True),
        ("median", {"column": "age"}, True),
        ("sum", {"column": "age"}, False),
        ("count", {"where": [["age", ">=", 18]]}, False),
    ):
        query = dp.catalogue[key].build(facts, {"epsilon": "0.5"} | given)
        assert (told in answer_notes.several_rows(query)) == falls, key


# --- checks


@pytest.mark.long
def test_a_check_does_not_call_its_own_columns_other_ones(home: dp.Workspace) -> None:
    """All cells lie outside the range; the noise hides that with a chance below 1e-9."""
    frame = pd.DataFrame({"age": [300] * 2_000, "sex": ["m", "f"] * 1_000})
    schema = dp.Schema({"age": dp.Number(0, 120), "sex": dp.Category(["m", "f"])})
    table = home.add_table("doubted", frame, schema=schema, unit=dp.Unit.rows(), budget=MANY)
    check = table.ask(table.query("fit_checks", columns=["age"], epsilon="5"))
    other = table.ask(table.query("histogram", column="sex", epsilon="1"))
    for lang in ("en", "sl"):
        with speaking(lang):
            told = say("fit.others", columns=["age"])
            assert told not in plain(html_of(open_page("ask", table="doubted", answer=check.request_id, lang=lang)))
            assert told in plain(html_of(open_page("ask", table="doubted", answer=other.request_id, lang=lang)))


def test_an_answer_near_an_end_of_its_range_is_warned_of_only_where_it_says_something() -> None:
    schema = dp.Schema({"wait": dp.Number(40, 240), "debt": dp.Number(-500, 0)})
    facts = Facts("clinic", schema, dp.Unit.rows(), "replace", 5_000)
    mean = dp.catalogue["mean"].build(facts, {"epsilon": "0.1", "column": "wait"})
    assert near_end(mean, 235, (230, 240)) == "upper" and near_end(mean, 45, (40, 50)) == "lower"
    assert near_end(mean, 235, (60, 240)) == near_end(mean, 45, (40, 200)) == near_end(mean, 140, (130, 150)) == ""
    debt = dp.catalogue["mean"].build(facts, {"epsilon": "0.1", "column": "debt"})
    assert near_end(debt, -3, (-10, 0)) == "" and near_end(debt, -490, (-500, -480)) == "lower"


@pytest.mark.long
@pytest.mark.usefixtures("still")
def test_the_warning_at_an_end_goes_where_a_check_found_the_cells_beyond_the_other_end(home: dp.Workspace) -> None:
    frame, schema = pd.DataFrame({"hours": [24] * 1_840 + [5] * 160}), dp.Schema({"hours": dp.Number(10, 24)})
    table = home.add_table("below", frame, schema=schema, unit=dp.Unit.rows(), budget=MANY)
    answer = table.ask(table.query("mean", column="hours", epsilon="5"))
    told = say("edge.near.upper", column="hours", end="24")
    assert told in plain(html_of(open_page("ask", table="below", answer=answer.request_id)))
    table.ask(table.query("fit_checks", columns=["hours"], epsilon="5"))
    shown = plain(html_of(open_page("ask", table="below", answer=answer.request_id)))
    assert told not in shown and "most lie below 10" in shown


# --- declaring


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_columns_that_no_name_explains_are_not_called_guessed_and_nothing_is_red_before_a_click() -> None:
    page = Page().upload("xq,zw\n" + "1,2\n3,4\n" * 40).to("cards")
    assert say("data.cards.lead") not in page.text and say("data.cards.choose") in page.text
    assert 'class="refused"' not in html_of(page.app)
    page.click("declare-next-cards")
    assert say("data.cards.none") in page.text and 'class="refused' in html_of(page.app)
    assert say("data.cards.choose") not in page.text
    assert say("data.cards.lead") in Page().upload("age,zw\n" + "1,2\n3,4\n" * 41).to("cards").text


def test_a_range_that_was_checked_is_not_called_too_wide_where_it_is_changed(home: dp.Workspace) -> None:
    frame, schema = pd.DataFrame({"amount_eur": [30, 60] * 200}), dp.Schema({"amount_eur": dp.Number(0, 10_000, 10)})
    table = home.add_table("sums", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    assert say("data.short.wide") in plain(html_of(open_page("data", table="sums", change="1")))
    table.ask(table.query("fit_checks", columns=["amount_eur"], epsilon="0.5"))
    assert say("data.short.wide") not in plain(html_of(open_page("data", table="sums", change="1")))


# --- a question comes back


@pytest.mark.long
def test_after_a_list_is_completed_the_question_is_back_with_its_price(home: dp.Workspace) -> None:
    """A third of the cells is not in the list; the noise hides that with a chance below 1e-9."""
    frame = pd.DataFrame({"colour": ["red", "blue", "green"] * 1_000})
    schema = dp.Schema({"colour": dp.Category(["red", "blue"])})
    table = home.add_table("list", frame, schema=schema, unit=dp.Unit.rows(), budget=MANY)
    table.ask(table.query("fit_checks", columns=["colour"], epsilon="5"))
    app = open_page("ask", table="list", q="proportion", of='[["colour", "in", ["red"]]]')
    label = unmarked(say("fit.way.list", column="colour"))
    (way,) = [one.proto for one in app.get("page_link") if one.proto.label == label]
    assert say("fit.means.declared") in plain(html_of(app))
    address = {name: one for name, (one,) in parse_qs(way.query_string).items()}
    asked = table.query("proportion", of=[["colour", "in", ["red"]]], epsilon="1").sentence()
    app = open_page("data", **address)
    assert say("data.change.then", question=asked) in plain(html_of(app))
    (listed,) = [one for one in app.text_area if str(one.key).endswith("-listed")]
    listed.set_value("red\nblue\ngreen").run()
    next(one for one in app.button if one.key == "declare-save").click().run()
    until(app, lambda: say("data.change.done") in plain(html_of(app)))
    told = plain(html_of(app))
    assert asked in told and "%, included): if a tenth does not fit" in told
    (go,) = [one for one in app.button if str(one.key).startswith("ask-go")]
    assert go.label.endswith("%") and home.table("list").schema.category("colour").values == ("red", "blue", "green")


@pytest.mark.every(3)
@pytest.mark.parametrize("then", ["", "[]", "{", '{"q": 3}', '{"q": "no such"}', '{"q": "mean", "column": "none"}'])
def test_an_address_that_names_no_question_to_come_back_to_changes_nothing(home: dp.Workspace, then: str) -> None:
    frame, schema = pd.DataFrame({"age": [30, 40] * 50}), dp.Schema({"age": dp.Number(0, 120)})
    home.add_table("then", frame, schema=schema, unit=dp.Unit.rows(), budget=MANY)
    app = open_page("data", table="then", change="1", then=then)
    assert say("data.change.then", question="").split(":")[0] not in plain(html_of(app))


@pytest.mark.long
@pytest.mark.usefixtures("still")
def test_a_code_that_a_check_found_in_part_is_named_with_one_click_below_the_answer(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"age": [30, 41, 52, 35] * 2_350 + [99] * 600})
    schema = dp.Schema({"age": dp.Number(0, 120)})
    table = home.add_table("part", frame, schema=schema, unit=dp.Unit.rows(), budget=MANY)
    answer = table.ask(table.query("mean", column="age", epsilon="1"))
    label = say("fit.way.code", column="age", code="99")
    assert label not in [one.label for one in open_page("ask", table="part", answer=answer.request_id).button]
    table.ask(table.query("fit_checks", columns=["age"], epsilon="2"))
    app = open_page("ask", table="part", answer=answer.request_id)
    assert "takes" in plain(html_of(app)).split(say("fit.in_part.ways"))[1]
    next(one for one in app.button if one.label == label).click().run()
    until(app, lambda: len(home.table("part").answers(5)) == 3)
    last = home.table("part").answers(5)[-1]
    assert last.query.card.key == "mean" and last.interval[0] <= 39.5 <= last.interval[1]
    assert home.table("part").schema.number("age").codes == (99,)
    app = open_page("ask", table="part", answer=last.request_id)
    assert label not in [one.label for one in app.button]
    narrower = [one.proto for one in app.get("page_link") if "narrow the range" in one.proto.label]
    assert len(narrower) == 1 and "open=age" in narrower[0].query_string and "then=" in narrower[0].query_string
