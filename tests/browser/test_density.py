"""A smooth curve from its pickers to its picture, cut off and sampled from; a map; in light, dark and on a phone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from browser.journeys import download
from browser.steps import go, settled, shot

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}


def address(columns: list[str], **more: str) -> str:
    return f"/ask?{urlencode({'table': 'town', 'q': 'density', 'columns': json.dumps(columns)} | more)}"


@pytest.mark.long
def test_a_curve_is_asked_cut_off_and_sampled(page: Any) -> None:
    go(page, address(["monthly_income"], epsilon="0.1"))
    shot(page, "density-ask")
    page.locator(".st-key-ask-go button").click()
    page.locator(".headline", has_text="Highest near").wait_for()
    settled(page)
    shot(page, "density-curve")
    assert "band" in page.locator(".lead").first.inner_text()
    page.locator("[class*=st-key-clip-] label").click()
    page.get_by_text("Shown without its band").wait_for()
    page.get_by_text("Made-up values from the curve").click()
    taken = download(page, page.locator("[class*=st-key-sample-get] button"))
    lines = taken.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "monthly_income" and len(lines) == 1_001 and all(float(one) >= 0 for one in lines[1:])
    shot(page, "density-cut")


@pytest.mark.long
@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_a_map(open_page: Callable[..., Any], look: str) -> None:
    page = open_page(**({"color_scheme": "dark"} if look == "dark" else PHONE if look == "phone" else {}))
    for name, columns in (("map", ["age", "monthly_income"]), ("line", ["age"])):
        go(page, address(columns, epsilon="0.02"))
        page.locator(".st-key-ask-go button").click()
        page.locator(".headline").wait_for()
        settled(page)
        shot(page, f"density-{name}-{look}")
        assert page.locator(".refused").count() == 0 and page.locator(".drawn").count() == 1
