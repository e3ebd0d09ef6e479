"""Two columns are published, taken away as files, asked of for free, and found again; then on a phone."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from browser.journeys import download, kind, meter, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot

WANTED = "/publish?table=town&columns=%5B%22monthly_income%22%2C%20%22way_to_work%22%5D&epsilon=0.7"


def taken(page: Any, button: str, folder: Path) -> Path:
    came = download(page, page.get_by_role("button", name=button))
    target = folder / came.suggested_filename
    came.save_as(target)
    return target


@pytest.mark.long
def test_a_table_is_published_taken_away_and_asked_of(page: Any, phone: Any, server: Any, tmp_path: Path) -> None:
    go(page, WANTED)
    page.get_by_role("heading", name="Publish a table").wait_for()
    page.get_by_text("Made-up rows, before and after").wait_for()
    kind(page)
    shot(page, "publish")
    page.get_by_role("button", name="Publish — takes").click()
    page.get_by_role("heading", name="Download").wait_for()
    settled(page)
    table = table_of(page, server)
    [answer] = table.publications()
    left = meter(page)
    assert "published=" in page.url

    parquet, written = (taken(page, name, tmp_path) for name in ("Download Parquet", "Download CSV"))
    assert hashlib.sha256(parquet.read_bytes()).hexdigest() == answer.value["sha256"]
    assert pacsv.read_csv(written).to_pydict() == pq.read_table(parquet).to_pydict()
    settled(page)
    page.locator(".st-key-publish-of input").click()
    page.keyboard.type("way_to")
    page.get_by_role("option", name="way_to_work").wait_for()
    page.keyboard.press("Enter")
    settled(page)
    page.locator(".drawn").first.wait_for()
    assert meter(page) == left and len(table.history()) == 1, "asking of a published table costs"
    kind(page)
    shot(page, "published")

    visitor = page.context.cookies()
    phone.context.add_cookies(visitor)
    go(phone, page.url)
    phone.get_by_role("heading", name="Ask it for free").wait_for()
    no_sideways_scrolling(phone)
    shot(phone, "published-phone")


@pytest.mark.long
def test_the_pages_stand_in_the_dark_on_a_phone_and_for_the_thesis(open_page: Any, phone: Any) -> None:
    dark = open_page(color_scheme="dark")
    go(dark, WANTED)
    dark.get_by_text("Made-up rows, before and after").wait_for()
    kind(dark)
    shot(dark, "dark-publish")
    dark.get_by_role("link", name="From the thesis").last.click()
    dark.get_by_role("heading", name="The tables of the thesis, reproduced").wait_for()
    settled(dark)
    kind(dark)
    shot(dark, "dark-thesis")
    go(phone, "/thesis")
    no_sideways_scrolling(phone)
    shot(phone, "thesis-phone")
    go(phone, WANTED.replace("monthly_income%22%2C%20%22", ""))
    phone.get_by_text("Made-up rows, before and after").wait_for()
    no_sideways_scrolling(phone)
    shot(phone, "publish-phone")
