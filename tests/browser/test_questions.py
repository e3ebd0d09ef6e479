"""Questions beyond the first: by group, in combinations, the largest of several; each asked once and answered."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from browser.journeys import ask
from browser.steps import go, settled, shot

INCOME = {"q": "mean", "column": "monthly_income", "by": "district", "epsilon": "0.2"}
GROUPS = [[["age", ">=", 65]], [["age", "<=", 40]]]
AVERAGES = [{"mean": "age"}, {"mean": "monthly_income"}]
QUESTIONS: list[tuple[str, str, dict[str, Any], str]] = [
    ("by-group-mean", "town", INCOME, ""),
    ("crosstab", "town", {"q": "crosstab", "columns": ["way_to_work", "has_car"], "epsilon": "0.1"}, "Most: "),
    ("share", "town", {"q": "proportion", "of": [["has_car", "in", ["yes"]]], "epsilon": "0.05"}, "About"),
    ("several-top", "town", {"q": "top_item", "column": "district", "how_many": 3, "epsilon": "0.5"}, "Station"),
    ("largest", "town", {"q": "noisy_argmax", "options": GROUPS, "epsilon": "0.05"}, "age is at most 40"),
    ("highest", "town", {"q": "noisy_argmax", "options": AVERAGES, "epsilon": "0.05"}, "age"),
    ("several-means", "town", {"q": "vector_mean", "columns": ["age", "monthly_income"], "epsilon": "0.2"}, ""),
    ("films", "films", {"q": "top_item", "column": "films", "epsilon": "0.2"}, ""),
    ("visits", "visits", {"q": "count", "people": True, "where": [["cost", ">=", 100]], "epsilon": "0.3"}, "About"),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "table", "asked", "expected"), QUESTIONS, ids=[asked[0] for asked in QUESTIONS])
def test_a_question_from_its_link_to_its_answer(
    page: Any, name: str, table: str, asked: dict[str, Any], expected: str
) -> None:
    told = {key: value if isinstance(value, str) else json.dumps(value) for key, value in asked.items()}
    ask(page, f"/ask?{urlencode({'table': table} | told)}")
    shot(page, f"question-{name}")
    assert expected in page.locator(".headline").inner_text()
    assert "100" not in page.locator(".meter").inner_text()
    assert page.locator(".refused").count() == 0


@pytest.mark.long
def test_a_suggested_question_fills_the_sentence(page: Any) -> None:
    go(page, "/ask?table=town")
    cards = page.locator(".st-key-suggest a")
    assert 3 <= cards.count() <= 5
    page.get_by_role("link", name="The share of those where has_car is yes").click()
    page.wait_for_url("**q=proportion**")
    settled(page)
    assert page.locator("[class*=st-key-ask-kind] input").input_value().startswith("share")
    page.locator(".st-key-ask-go button").click()
    page.locator(".headline", has_text="%").wait_for()
    shot(page, "question-suggested")


# Of what says how exact an answer will be, is any part under the row with the button?
_COVERED = """() => {
    const strip = document.querySelector('.st-key-ask-go').parentElement.parentElement;
    const row = strip.getBoundingClientRect();
    return [...document.querySelectorAll('.st-key-card-spend p')]
        .filter(p => !strip.contains(p) && p.matches('.warn, :has(> b)'))
        .filter(p => {
            const at = p.getBoundingClientRect();
            return at.bottom > row.top && at.top < row.bottom && at.right > row.left && at.left < row.right;
        })
        .map(p => p.innerText);
}"""
SOME = [["district", "in", ["Bridge"]]]


@pytest.mark.long
@pytest.mark.parametrize("size", [(1280, 800), (1280, 700), (390, 844)], ids=str)
def test_the_row_with_the_button_hides_nothing_that_says_how_exact_the_answer_will_be(
    open_page: Any, size: tuple[int, int]
) -> None:
    page = open_page(viewport={"width": size[0], "height": size[1]})
    for place, asked in enumerate(
        (
            {"q": "histogram", "column": "district", "epsilon": "0.005"},
            {"q": "mean", "column": "monthly_income", "where": json.dumps(SOME), "epsilon": "0.1"},
        )
    ):
        go(page, f"/ask?{urlencode({'table': 'town'} | asked)}")
        page.locator(".asked", has_text="within").wait_for(state="attached")
        shot(page, f"ask-{size[0]}-{size[1]}-{place}")
        assert (page.locator(".warn").count() > 0) == (place == 0)
        if size[0] > 640 or place == 0:  # on a phone the row lies on the page, and says itself how exact it will be
            assert page.evaluate(_COVERED) == []
