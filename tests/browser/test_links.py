"""An old answer is opened from a table of the app: by going there, not by loading the page anew."""

from __future__ import annotations

from typing import Any

import pytest
from browser.journeys import ask, ask_link, table_of
from browser.steps import go, settled


def link_in_row(page: Any, entry: Any) -> Any:
    """On the Ledger it is the receipt, on Ask the question itself."""
    return page.locator("table.rows tr", has_text=entry.charge.claim["sentence"]).get_by_role("link")


def opened(page: Any, entry: Any) -> None:
    """By its row, on the page that stands; its question and its address are there afterwards."""
    link_in_row(page, entry).click()
    page.wait_for_url(f"**/ask?*answer={entry.charge.request}*")
    page.locator("p.question").first.filter(has_text=entry.charge.claim["sentence"]).wait_for()
    settled(page)
    assert page.evaluate("window.standing") == "here"


@pytest.mark.long
def test_an_old_answer_opens_without_loading_the_page_anew(page: Any, server: Any) -> None:
    sockets: list[Any] = []
    for age in (30, 50):
        ask(page, ask_link("town", "count", where=[["age", ">=", age]], epsilon="0.02"))
    newer, older = table_of(page, server).history()
    page.on("websocket", lambda socket: sockets.append(socket))
    go(page, "/answers?view=ledger&table=town")
    page.evaluate("window.standing = 'here'")
    before = len(sockets)
    opened(page, older)  # from the Ledger
    opened(page, newer)  # from the history on Ask
    page.go_back()
    page.locator("p.question").first.filter(has_text=older.charge.claim["sentence"]).wait_for()
    settled(page)
    assert len(sockets) == before and page.evaluate("window.standing") == "here"
    assert table_of(page, server).meter().charges == 2
    with page.context.expect_page() as other:  # a person who wants another tab still gets one
        link_in_row(page, newer).click(modifiers=["ControlOrMeta"])
    other.value.close()
