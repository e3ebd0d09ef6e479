"""A synthetic table is made, taken away, asked of for free, and found again; then on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from browser.journeys import download, kind, meter, no_sideways_scrolling, table_of
from browser.steps import go, settled, shot

WANTED = "/synthetic?table=town&columns=%5B%22has_car%22%2C%20%22way_to_work%22%5D&epsilon=0.1"


@pytest.mark.long
def test_a_synthetic_table_is_made_and_asked_of(page: Any, phone: Any, server: Any, tmp_path: Path) -> None:
    go(page, WANTED)
    page.get_by_role("heading", name="Make a synthetic table").wait_for()
    page.get_by_text("Counted with noise: each column").wait_for()
    kind(page)
    shot(page, "synthetic")
    page.get_by_role("button", name="Make it — takes").click()
    page.get_by_role("heading", name="Download").wait_for()
    settled(page)
    table = table_of(page, server)
    [answer] = table.syntheses()
    left = meter(page)
    assert "made=" in page.url
    download(page, page.get_by_role("button", name="Download Parquet")).save_as(tmp_path / "made.parquet")
    assert pq.read_table(tmp_path / "made.parquet").num_rows == table.synthetic(answer).rows
    page.get_by_role("heading", name="What it does not keep").wait_for()
    page.locator(".drawn").first.wait_for()
    kind(page)
    shot(page, "synthetic-made")
    assert meter(page) == left and len(table.history()) == 1, "asking of a synthetic table costs"

    phone.context.add_cookies(page.context.cookies())
    go(phone, page.url)
    phone.get_by_role("heading", name="What was measured").wait_for()
    no_sideways_scrolling(phone)
    shot(phone, "synthetic-made-phone")
