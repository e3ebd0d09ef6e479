"""Does it fit, and what do unknown columns hold: bought on a table's page, told in its answers, in both languages."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from browser.journeys import MAIN, kind, meter, no_sideways_scrolling
from browser.steps import go, settled, shot

import dpengine as dp


def brought(server: Any, name: str, people: int) -> dp.Table:
    """The list is in another language than the cells; two columns are not declared."""
    rows = range(people)
    frame = pd.DataFrame(
        {
            "spol": ["Male" if row % 2 else "Female" for row in rows],
            "age": [20 + row % 60 for row in rows],
            "work": [("Private", "State", "Self", "None")[min(row % 9, 3)] for row in rows],
            "gain": [0 if row % 5 else 100 + row % 900 for row in rows],
        }
    )
    schema = dp.Schema({"spol": dp.Category(["ženska", "moški"]), "age": dp.Number(0, 120)})
    return dp.open_workspace(server.home).add_table(
        name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6")
    )


@pytest.mark.long
@pytest.mark.parametrize(("lang", "width"), [("en", 1280), ("sl", 390)], ids=["wide", "phone"])
def test_a_wrong_list_is_found_for_little_and_the_answers_say_so(
    open_page: Any, server: Any, lang: str, width: int
) -> None:
    table = brought(server, f"misread {lang}", 9_000 + width)
    page = open_page(viewport={"width": width, "height": 900}, locale="en-GB")
    go(page, f"/data?table={table.name}&lang={lang}")
    shot(page, f"fit-offer-{lang}")
    assert table.meter().charges == 0
    page.locator(".st-key-buy-fit button").click()
    page.locator(".headline").wait_for()
    settled(page)
    kind(page)
    no_sideways_scrolling(page)
    assert page.locator(".st-key-card-fit .warn", has_text="spol").count() == 1  # another may be uncertain
    # Its reach is a twentieth of the people at most, 2.2 standard deviations of the noise; a column fits up to a fifth
    # of them: 6.7 deviations, 10^-11.
    assert table.fit_of("age").state == "fits" and table.fit_of("spol").state == "mostly_not"
    assert table.meter().used < 0.02
    shot(page, f"fit-found-{lang}")
    answer = table.ask(
        table.query("proportion", of=[["spol", "in", ["ženska"]]], epsilon="0.05"), request_id=f"share-{lang}"
    )
    go(page, f"/ask?table={table.name}&answer={answer.request_id}&lang={lang}")
    assert "spol" in page.locator(".headline-note").first.inner_text()
    shot(page, f"fit-answer-{lang}")


@pytest.mark.long
@pytest.mark.parametrize(("lang", "width"), [("en", 1280), ("sl", 390)], ids=["wide", "phone"])
def test_unknown_columns_are_found_together(open_page: Any, server: Any, lang: str, width: int) -> None:
    table = brought(server, f"unknown {lang}", 12_000 + width)
    page = open_page(viewport={"width": width, "height": 900}, locale="en-GB")
    go(page, f"/data?table={table.name}&lang={lang}")
    box = page.locator(".st-key-found-columns input")
    for name in ("work", "gain"):
        box.scroll_into_view_if_needed()
        box.click()
        page.get_by_role("option", name=name, exact=True).click()
        settled(page)
        page.keyboard.press("Escape")
    page.locator(".st-key-found-kind-gain button").first.click()
    settled(page)
    shot(page, f"found-offer-{lang}")
    page.locator(".st-key-buy-found button").click()
    page.locator(".headline").wait_for()
    settled(page)
    kind(page)
    no_sideways_scrolling(page)
    told = page.locator(MAIN).inner_text()
    assert "private" in told and "work: " in told and "gain: " in told
    shot(page, f"found-answer-{lang}")
    page.locator(".st-key-found-use button").click()
    page.locator(".st-key-declare-save").wait_for()
    settled(page)
    shot(page, f"found-used-{lang}")
    assert "after" not in meter(page)
