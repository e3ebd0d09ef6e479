"""The question box in a browser: what is offered while a person types is what `table.completions` gives."""

from __future__ import annotations

from typing import Any

import pytest
from browser.steps import go, settled, shot

from dpengine.reading.reader import completions
from dpengine.storage.samples import SAMPLES

_OFFERED = "() => [...document.querySelectorAll('#box-list option')].map((option) => option.value)"


@pytest.mark.long
def test_words_are_completed_while_a_person_types_and_the_form_is_filled(page: Any) -> None:
    go(page, "/ask?table=town")
    field = page.locator(".st-key-box-field input")
    field.click()
    for typed in ("a", "average inc", "average monthly income by d", "average monthly income in m", "zzz", "median "):
        field.fill(typed)
        assert page.evaluate(_OFFERED) == completions(typed, SAMPLES["town"].schema), typed
    field.fill("average income of people over 65 by district")
    field.press("Enter")
    page.wait_for_url("**q=mean**")
    settled(page)
    shot(page, "box-filled")
    assert "box-field" not in page.url and "people+over" not in page.url
    assert page.locator("[class*=st-key-ask-kind] input").input_value() == "average (mean)"
    assert "100" in page.locator(".meter").first.inner_text()
