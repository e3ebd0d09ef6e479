"""What-if in a browser: three numbers give the fourth as one types, a link brings it all back, and Ask agrees."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browser.journeys import download, kind, no_sideways_scrolling, place, table_of
from browser.steps import go, settled, shot

from dpengine.planning import whatif
from ui.whatif.whatif import USUAL

STATEMENT = "p.statement"


def says(page: Any, *parts: str) -> None:
    """The statement, once it holds these words."""
    for part in parts:
        page.locator(STATEMENT, has_text=part).wait_for()


def box(page: Any, name: str) -> Any:
    return page.locator(f"[class*='st-key-whatif-{name}-'] input").first


def type_in(page: Any, name: str, text: str) -> None:
    box(page, name).fill(text)
    box(page, name).press("Enter")
    settled(page)


def find(page: Any, what: str) -> None:
    page.get_by_role("radio", name=what, exact=True).click()
    settled(page)


@pytest.mark.long
def test_three_numbers_give_the_fourth(page: Any, open_page: Callable[..., Any], server: Any) -> None:
    go(page, "/whatif")
    kind(page)
    says(page, "With 1,000 people", "one such question", "within ±3 people, 95 times in 100")
    shot(page, "whatif")

    box(page, "k").fill("50")  # no key confirms it
    found = whatif.solve(whatif.read(USUAL | {"k": "50"}))
    says(page, "50 such questions", f"±{found.promise.amount} people")
    settled(page)

    find(page, "how many questions")  # the error found is now what is typed
    says(page, "50 such questions", f"±{found.promise.amount} people")
    type_in(page, "x", "60")
    found = whatif.solve(whatif.read(USUAL | {"find": "questions", "x": "60"}))
    says(page, f"{found.questions} such questions", "±60 people")

    find(page, "the allowance")
    type_in(page, "k", "5")
    found = whatif.solve(whatif.read(USUAL | {"find": "epsilon", "x": "60", "k": "5"}))
    says(page, f"ε = {float(found.budget.epsilon):.3g}", "5 such questions")

    find(page, "how many people")
    page.locator(".st-key-sentence input").first.click()
    page.get_by_role("option", name="mean").click()
    settled(page)
    type_in(page, "x", "100")
    says(page, "each answer within ±100,")
    told = {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}
    found = whatif.solve(whatif.read(USUAL | {name: told[name] for name in told if name != "table"}))
    says(page, f"With {found.people:,} people")
    page.get_by_role("button", name="Keep as A and compare").click()
    page.get_by_text("Both promise the same.").wait_for()
    settled(page)
    page.get_by_role("button", name="loose 3").click()
    says(page, "ε = 3")
    settled(page)
    shot(page, "whatif-compared")
    said = page.locator(STATEMENT).inner_text()
    rows = page.locator(".st-key-card-compare table").inner_text()

    cold = open_page(color_scheme="dark")
    cold.goto(page.url)
    settled(cold)
    assert cold.locator(STATEMENT).inner_text() == said
    assert cold.locator(".st-key-card-compare table").inner_text() == rows
    assert cold.locator("[class*='st-key-whatif-e-'] input").input_value() == "3"
    shot(cold, "dark-whatif")
    came = download(cold, cold.get_by_role("button", name="Curves (CSV)"))
    with open(came.path(), encoding="utf-8-sig", newline="") as file:
        curves = list(csv.DictReader(io.StringIO(file.read(), newline="")))
    assert len({row["curve"] for row in curves}) == 4 and all(float(row["error"]) >= 0 for row in curves)
    assert not table_of(page, server).history()


@pytest.mark.long
def test_an_open_table_lends_its_facts_and_ask_agrees(page: Any, server: Any) -> None:
    go(page, "/whatif?q=median&k=5")
    page.locator("[class*='st-key-whatif-from-'] input").click()
    page.get_by_role("option", name="the people of town").click()
    says(page, "With 40,000 people", "5 such questions")
    settled(page)
    promised = page.locator("p.statement b").last.inner_text()
    table = table_of(page, server)
    page.get_by_role("link", name="Use in Ask").click()
    page.locator(".st-key-ask-go button").wait_for()
    settled(page)
    figures = promised.split(";")[0]  # Ask says between the two that it is for a table of this size
    assert "95 times in 100" in figures and figures in page.locator(".st-key-card-spend").inner_text()
    spent = parse_qs(urlsplit(page.url).query)["epsilon"][0]
    assert table.preview(table.query("median", column="monthly_income", epsilon=spent)).more_like_this == 5
    place(page, "Learn").click()
    place(page, "What-if", "Learn").click()
    says(page, "With 40,000 people", "5 such questions")  # as it was left


@pytest.mark.long
def test_on_a_phone_it_is_one_column(phone: Any) -> None:
    go(phone, "/whatif?q=mean&find=questions&x=100&see=many")
    kind(phone)
    no_sideways_scrolling(phone)
    shot(phone, "phone-whatif")
    phone.get_by_role("radio", name="Two medians").click()
    phone.get_by_text("Simulated, made-up people").wait_for()
    settled(phone)
    no_sideways_scrolling(phone)
    assert "see=median" in phone.url
