"""The What-if page without a browser: what it states, what it refuses, what its address holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import helpers_page
import pytest
from helpers_page import html_of, open_page
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.planning import whatif
from ui.whatif.whatif import USUAL

pytestmark = pytest.mark.usefixtures("shared")

ROOT = Path(__file__).resolve().parents[2]


def opened(**address: str) -> AppTest:
    return open_page("whatif", **address)


def plain(part: str) -> str:
    return helpers_page.plain(part, "").strip()


def statement(page: AppTest) -> str:
    (found,) = re.findall(r'<p class="statement"[^>]*>(.*?)</p>', html_of(page))
    return plain(found)


def hints(page: AppTest) -> list[str]:
    return [plain(found) for found in re.findall(r'<p class="warn"[^>]*>(.*?)</p>', html_of(page))]


def field(page: AppTest, name: str) -> str:
    """What stands in a field of the four."""
    (found,) = [one for one in page.text_input if str(one.key).startswith(f"whatif-{name}-")]
    return str(found.value)


def test_it_opens_with_a_true_statement() -> None:
    page = opened()
    assert statement(page) == (
        "With 1,000 people and an allowance of ε = 1 you can ask one such question, the answer within ±3 people, "
        "95 times in 100."
    )
    told = html_of(page)
    assert "can be at most 23.2 % sure" in told and "not about whether the person is in the table" in told
    assert not hints(page)
    secret = html_of(opened(relation="add_remove"))  # e²·0.1/(0.9 + e²·0.1) = 45.1 %: a value is two steps away
    assert "% sure that a person is in the table can be at most 23.2 %" in secret and "at most 45.1 % sure" in secret


def test_an_address_brings_back_the_whole_page() -> None:
    told = {"q": "mean", "find": "people", "x": "25", "high": "500", "relation": "add_remove", "see": "ways", "k": "4"}
    page = opened(**told, a=json.dumps({"e": "3", "n": "77"}))
    found = whatif.solve(whatif.read(USUAL | told))
    assert f"With {found.people:,} people and an allowance of ε = 1 you can ask 4 such questions" in statement(page)
    assert field(page, "high") == "500" and field(page, "k") == "4"
    assert "counted in four ways" in html_of(page) and "Two settings side by side" in html_of(page)
    kept = dict(page.query_params)
    assert {name: kept[name][0] if isinstance(kept[name], list) else kept[name] for name in told} == told
    assert "77" in str(kept["a"])


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ({"d": "1"}, "δ must be at least 0 and below 1; a usual choice is 0.000001."),
        ({"beta": "1.5"}, "The chance of being wrong must lie between 0 and 1; the usual one is 0.05."),
        ({"e": "lots"}, "Allowance (ε) must be a plain number, such as 12 or 0.5."),
        ({"n": "-3"}, "People must be a whole number from 1 to 1,000,000,000,000."),
        ({"q": "mean", "low": "9", "high": "1"}, "The lowest value must be below the highest; swap them or widen"),
        ({"q": "mean", "find": "questions", "x": "0.01"}, "you would need about"),
        ({"q": "count", "find": "people", "x": "1"}, "More people do not help here"),
    ],
)
def test_bad_input_gets_one_sentence(address: dict[str, str], sentence: str) -> None:
    page = opened(**address)
    (told,) = hints(page)
    assert sentence in told and "\n" not in told
    assert 'class="statement"' not in html_of(page) and not page.get("plotly_chart")
    assert len(page.text_input) >= 5  # everything typed is still there


def test_where_no_number_of_people_helps_it_says_what_would() -> None:
    page = opened(find="people", x="10", k="10", e="1")
    (told,) = hints(page)
    needed, fit = re.search(r"allowance of ε = ([\d.]+), or no more than (\d+) such questions", told).groups()  # type: ignore[union-attr]
    wish = USUAL | {"find": "promise", "k": "10", "e": needed}
    assert whatif.solve(whatif.read(wish)).promise.amount <= 10
    assert whatif.solve(whatif.read(wish | {"k": fit, "e": "1"})).promise.amount <= 10
    assert "can be at most 23.2 % sure" in html_of(page)  # what ε means is told all the same
    any_size = opened(find="people", x="40", k="10", n="1,000")
    assert "any number" in html_of(any_size) and any_size.session_state["whatif"]["given"]["n"] == "1,000"


def test_what_a_careful_adviser_would_add() -> None:
    assert [told[:10] for told in hints(opened(d="0"))] == ["δ is 0: ev"]
    (large,) = hints(opened(d="0.01"))
    assert "more than one in 1,000 people" in large
    assert "mostly noise" in hints(opened(n="50", k="10"))[0]


def test_typing_changes_what_is_found_and_a_setting_can_be_kept(shared: dp.Workspace) -> None:
    page = opened(k="10")
    (people,) = [one for one in page.text_input if str(one.key).startswith("whatif-n-")]
    people.set_value("200").run()
    assert "With 200 people" in statement(page)
    page.button(key="whatif-care-loose").click().run()
    assert "ε = 3" in statement(page) and "±10 people" in statement(page)
    page.button(key="whatif-pin").click().run()
    page.button(key="whatif-care-usual").click().run()
    assert "A is 3 times as exact." in html_of(page)
    assert not page.exception and shared.ledger.head()[0] == 0


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("address", "sentences"),
    [
        (
            {"q": "train_logistic", "x": "20", "features": "4"},
            ["of the model: at most 20 % worse than the best model", "The lecture’s theorem on noisy descent"],
        ),
        (
            {"q": "small_database", "x": "20"},
            ["each of 120 answers within", "It answers 120 questions at once", "ln(|D|^m/β)"],
        ),
        (
            {"q": "adaptive_session", "x": "2", "asks": "3"},
            ["each of 3 answers within", "To be as near to the population"],
        ),
        ({"q": "noisy_argmax", "x": "1 %", "options": "8"}, ["people fewer than the largest"]),
        ({"q": "cdf", "x": "5"}, ["percentage points at every point, all 6,001 at once"]),
        ({"q": "density", "x": "5"}, ["within ±5.0 % of the height"]),
    ],
)
def test_it_says_how_many_people_a_model_a_table_a_session_or_a_curve_takes(
    address: dict[str, str], sentences: list[str]
) -> None:
    page = opened(find="people", **address)
    people = whatif.solve(whatif.read(USUAL | address | {"find": "people"})).people
    assert statement(page).startswith(f"With {people:,} people and an allowance of ε = 1 you can ask one such question")
    told = helpers_page.plain(html_of(page), "")
    assert all(sentence in told for sentence in sentences) and len(page.get("plotly_chart")) == 2
    assert not page.exception


def test_a_wish_that_no_number_of_people_keeps_is_refused_with_what_can_be_had() -> None:
    (told,) = hints(opened(find="people", q="train_hinge", x="5"))
    assert "This program reaches that with no number of people" in told and re.search(r"stays at [\d.]+ %", told)
    everyone = helpers_page.plain(html_of(opened()), "")
    assert dp.catalogue["publish_table"].card.title in everyone and "Each row gets its own noise" in everyone


def test_the_people_of_a_table_may_be_asked_about_a_model_described_by_its_size() -> None:
    page = opened(**{"table": "town", "from": "table", "q": "train_linear", "features": "3"})
    assert statement(page).startswith("With 40,000 people") and "Use in Ask" not in html_of(page)
    assert not page.exception and field(page, "high") == "6,000"


def test_an_open_table_lends_its_public_facts_and_numbers_are_those_of_ask(shared: dp.Workspace) -> None:
    page = opened(**{"table": "town", "from": "table", "q": "mean", "column": "monthly_income", "n": "40000", "k": "5"})
    table = shared.table("town", visitor="local")
    told = USUAL | {"q": "mean", "column": "monthly_income", "n": "40000", "k": "5"}
    found = whatif.solve(whatif.read(told, table.facts))
    asked = table.query("mean", column="monthly_income", epsilon=found.query.epsilon)
    assert table.preview(asked).promise == found.promise and table.preview(asked).more_like_this == 5
    assert "monthly_income" in statement(page)
    lent = opened(**{"table": "town", "from": "table"})  # what an address does not say, the table does
    assert "With 40,000 people" in statement(lent) and "n" not in lent.query_params


def test_choosing_one_of_many_is_drawn_against_asking_for_all() -> None:
    page = opened(see="choose")
    text = html_of(page)
    assert "Choosing is cheaper than asking for all" in text and "With 1,000 groups the one chosen in private" in text
    assert any(element.key == "whatif-choose" for element in page.get("plotly_chart"))
