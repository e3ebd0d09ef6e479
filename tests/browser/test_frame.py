"""What holds on every page: the meter on top, also for who comes by a deep link, by phone, at night or by mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser.journeys import (
    MAIN,
    METER,
    ask,
    ask_link,
    first_answer,
    kind,
    meter,
    no_sideways_scrolling,
    picked,
    place,
    table_of,
)
from browser.steps import go, settled, shot

from dpengine.core.printed import percent_left
from dpengine.messages import called, of_practice, say
from dpengine.messages.language import speaking
from ui.shell import nav

GARBAGE = (  # tests/pages/test_addresses.py has more of it, without a browser
    "/ask?answer=no-such-answer",
    "/answers?view=ledger&table=%00%3Cscript%3E&page=minus",
    "/ask?table=no-such-table&q=DROP+TABLE&where=%5B%5B1%2C2&epsilon=lots",
)


@pytest.mark.long
def test_a_cold_deep_link_shows_the_meter(page: Any) -> None:
    go(page, "/answers?view=ledger&table=residents")
    kind(page)
    assert "Privacy allowance 100 % left" in meter(page)
    assert picked(page) == "residents"


@pytest.mark.long
def test_an_empty_budget_refuses_kindly_also_at_night(open_page: Callable[..., Any], server: Any) -> None:
    page = open_page(color_scheme="dark")
    go(page)
    shot(page, "dark-start")
    ask(page, ask_link("residents", "median", column="salary", epsilon="0.5"))
    table = table_of(page, server, "residents")
    assert 0 < table.meter().used < 1 and f"{percent_left(table.meter().unused)} left" in meter(page)
    rest = f"{float(table.meter().unused):.6f}"
    table.ask(table.query("histogram", column="gender", epsilon=rest))
    go(page, ask_link("residents", "histogram", column="gender", epsilon="0.5"))
    shot(page, "dark-answer")
    assert " 0 % left" in meter(page)
    spent = table.meter()
    assert spent.charges == 2 and spent.unused == 0

    go(page, ask_link("residents", "top_item", column="state", epsilon="0.1"))
    kind(page)
    shot(page, "dark-refused")
    assert page.locator(".st-key-ask-go button").is_disabled()
    (refusal,) = page.locator(".refused").all_inner_texts()
    assert "used up" in refusal and "\n" not in refusal and len(refusal) < 200
    assert table_of(page, server, "residents").meter() == spent
    go(page, "/answers?view=ledger&table=residents")
    shot(page, "dark-ledger")


@pytest.mark.long
def test_garbage_in_the_address_gives_a_kind_page(page: Any, server: Any) -> None:
    for path in GARBAGE:
        go(page, path)
        kind(page)
        if "answer=" in path:
            assert "not in this workspace" in page.get_by_role("alert").first.inner_text()
    assert not table_of(page, server).history()


@pytest.mark.long
def test_on_a_phone_nothing_scrolls_sideways(phone: Any) -> None:
    def fits(name: str) -> None:
        kind(phone)
        no_sideways_scrolling(phone)
        box = phone.locator(METER).bounding_box()
        assert box["x"] >= 0 and box["y"] + box["height"] <= 844, "the budget is not in sight"
        shot(phone, f"phone-{name}")

    go(phone)
    no_sideways_scrolling(phone)
    shot(phone, "phone-start")
    first_answer(phone)
    fits("answer")
    go(phone, "/tables")
    no_sideways_scrolling(phone)
    shot(phone, "phone-tables")
    go(phone, ask_link("town", "histogram", column="district", where=[["has_car", "in", ["yes"]]], epsilon="0.1"))
    fits("ask")
    go(phone, "/answers?view=ledger")
    fits("ledger")


LONG = pytest.mark.long  # the short way: two of the places


@pytest.mark.parametrize(
    ("lang", "most"), [("sl", 2), pytest.param("sl", None, marks=LONG), pytest.param("en", None, marks=LONG)]
)
def test_on_a_phone_every_place_is_one_tap_away_and_keeps_language_and_table(
    phone: Any, lang: str, most: int | None
) -> None:
    go(phone, f"/ask?table=residents&lang={lang}")
    phone.evaluate("window.standing = 'here'")
    with speaking(lang):
        for name in list(nav.places())[:most]:
            link = place(phone, say(f"place.{name}"), say("place.label"))
            assert link.is_visible() and link.bounding_box()["height"] >= 44 and link.bounding_box()["y"] > 700
            link.tap()
            phone.wait_for_url(f"**/{nav.PLACES[name][0]}?*lang={lang}*")
            phone.locator(".st-key-places a[aria-current]", has_text=say(f"place.{name}")).wait_for()
            settled(phone)
            no_sideways_scrolling(phone)
            shot(phone, f"phone-{lang}-{name}")
        place(phone, say("place.ask"), say("place.label")).tap()
        with of_practice("residents"):
            phone.locator(METER, has_text=called("residents")).wait_for()
    assert phone.evaluate("window.standing") == "here"  # nothing was loaded anew


@pytest.mark.long
def test_a_spend_that_cannot_be_typed_takes_nothing_off_the_page(page: Any) -> None:
    go(page, ask_link("town", "sum", column="monthly_income", epsilon="0.1"))
    page.get_by_text("Details and settings").click()
    spend, error = (page.get_by_role("textbox", name=name) for name in ("Spend (ε)", "I accept ±"))
    for typed in ("1000", "−1"):
        spend.fill(typed)
        spend.press("Enter")
        page.locator(".refused", has_text="It stays at ε = 0.1.").wait_for()
        settled(page)
        assert spend.input_value() == "0.1" and page.locator(".st-key-ask-go button").is_enabled()
    error.fill("500,000")
    error.press("Enter")
    page.locator(".refused").wait_for(state="detached")
    settled(page)
    assert error.input_value() == "500,000" and "within ±500,000" in page.locator(MAIN).inner_text()
