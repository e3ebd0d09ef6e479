"""A curve and its rival: asked one after the other, smoothed for nothing, and a synthetic column taken along."""

from __future__ import annotations

import csv
import io
from typing import Any
from urllib.parse import urlencode

import pytest
from browser.journeys import download, pay
from browser.steps import go, settled, shot


@pytest.mark.long
def test_a_curve_then_the_synthetic_column_beside_it(page: Any) -> None:
    go(page, f"/ask?{urlencode({'table': 'town', 'q': 'cdf_tree', 'column': 'age', 'epsilon': '0.2'})}")
    assert "within" in page.locator('[role="note"]').inner_text()
    pay(page)
    page.locator(".headline", has_text="Half are at or below").wait_for()
    page.locator("[class*=st-key-smooth-answer] label").click()
    settled(page)
    assert page.locator("[class*=st-key-smooth-answer] input").is_checked()
    shot(page, "curve-tree")
    page.get_by_role("link", name="Ask that instead").click()
    page.wait_for_url("**q=cdf&**")
    settled(page)
    pay(page)  # by now it takes a large part of what is left
    page.locator(".headline", has_text="made-up values").wait_for()
    settled(page)
    shot(page, "curve-column")
    taken = download(page, page.locator("[class*=st-key-column-answer] button"))
    rows = list(csv.reader(io.StringIO(taken.path().read_text("utf-8-sig"))))
    ages = [int(cell) for (cell,) in rows[1:]]
    assert rows[0] == ["age"] and ages == sorted(ages)
    assert page.locator(".headline").inner_text() == f"{len(ages)} made-up values"
