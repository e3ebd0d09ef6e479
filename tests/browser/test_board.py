"""A first look is taken of a practice table, a bar is clicked, the address opens the same board, also on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browser.journeys import download, kind, meter, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot

FORM = '/board?table=town&against=["has_car"]&epsilon=0.2'


def told(page: Any) -> dict[str, str]:
    return {name: value[0] for name, value in parse_qs(urlsplit(page.url).query).items()}


def bars(page: Any, place: int) -> Any:
    return page.locator(f".st-key-card-board-{place} .drawn a")


@pytest.mark.long
def test_a_first_look_is_taken_and_a_bar_is_clicked(page: Any, phone: Any, server: Any) -> None:
    go(page, FORM)
    page.get_by_text("all at once, 95 times in 100").wait_for()
    kind(page)
    shot(page, "board-form")
    page.get_by_role("button", name="Take the first look — takes").click()
    page.get_by_text("everything here is now free").wait_for()
    settled(page)
    table, left = table_of(page, server), meter(page)
    [answer] = table.first_looks()
    place = answer.value.place("has_car")
    assert told(page)["look"] == answer.request_id
    bars(page, place).first.wait_for()
    shot(page, "board")
    bars(page, place).first.click(force=True)
    page.get_by_text("Only where has_car is “yes”").wait_for()
    settled(page)
    assert (told(page)["by"], told(page)["group"]) == ("has_car", "yes")
    assert meter(page) == left and len(table.history()) == 1, "looking costs"
    kind(page)
    shot(page, "board-group")

    phone.context.add_cookies(page.context.cookies())
    go(phone, page.url + "&lang=sl")
    phone.get_by_text("Samo tisti, pri katerih velja ima avto = da").wait_for()
    no_sideways_scrolling(phone)
    shot(phone, "board-phone")


@pytest.mark.long
def test_what_was_not_bought_is_priced_and_figures_are_taken_away(page: Any, server: Any, tmp_path: Path) -> None:
    go(page, FORM)
    page.get_by_role("button", name="Take the first look — takes").click()
    page.get_by_text("everything here is now free").wait_for()
    settled(page)
    page.get_by_text("Print or download").click()
    download(page, page.get_by_role("button", name="CSV")).save_as(tmp_path / "look.csv")
    text = (tmp_path / "look.csv").read_text(encoding="utf-8-sig")
    assert text.startswith("column,label,second column") and "has_car" in text
    go(page, page.url + "&by=district")
    page.get_by_text("Pairs with district were not bought. These pictures are estimated").wait_for()
    page.get_by_role("link", name="Buy all pairs with district").click()
    page.get_by_role("button", name="Take the first look — takes").wait_for()
    settled(page)
    assert told(page)["against"] == '["district"]' and len(table_of(page, server).history()) == 1
    shot(page, "board-pairs")
