"""The Ledger in a browser: empty, after two questions, verified, taken away."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from browser.journeys import ask, ask_link, kind, meter, read_text, table_of
from browser.steps import go, settled, shot

import dpengine as dp

MEDIAN = ask_link("town", "median", column="monthly_income", epsilon="0.1")
BARS = ask_link("town", "histogram", column="district", epsilon="0.05")


def taken(page: Any, label: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=label).click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        return file.read()


def test_the_ledger_tells_where_the_allowance_went(page: Any, server: Any) -> None:
    go(page, "/ledger")
    kind(page)
    assert "Nothing has been asked of town yet" in read_text(page)
    assert "ask?table=town" in page.get_by_role("link", name="Ask a first question").get_attribute("href")
    ask(page, MEDIAN)
    ask(page, BARS)

    go(page, "/ledger?table=town")
    kind(page)
    shot(page, "ledger")
    entries = table_of(page, server).history()
    rows = page.locator("table.rows tbody tr")
    assert rows.count() == len(entries) == 2
    for place, entry in enumerate(entries):
        told = rows.nth(place).inner_text()
        assert entry.charge.claim["sentence"] in told and entry.charge.hash[:8] in told
        assert ("12 answers" if place == 0 else "About ") in told and ("5 %" if place == 0 else "10 %") in told
    text = read_text(page)
    assert "when (UTC)" in text and "85 %" in meter(page)
    assert "if all had been fixed in advance" in text and "If you stop now" in text
    assert page.locator(".st-key-card-burn .js-plotly-plot").is_visible()
    row, head = dp.open_workspace(server.home).ledger.head()
    assert page.locator("[data-testid='stCode']").inner_text().strip() == head

    page.get_by_role("button", name="Verify the chain").click()
    page.get_by_text("Chain verified").wait_for()
    assert f"Chain verified, {row} rows, head {head[:8]}…" in read_text(page)

    table = list(csv.DictReader(io.StringIO(taken(page, "Ledger rows (CSV)"), newline="")))
    assert [one["kind"] for one in table] == ["budget", "charge", "answer", "charge", "answer"]
    assert [one["running_total"] for one in table if one["kind"] == "charge"] == ["0.1", "0.15"]
    assert table[-1]["hash"] == head and table[3]["sentence"] == entries[0].charge.claim["sentence"]
    figures = list(csv.DictReader(io.StringIO(taken(page, "All answers (CSV)"), newline="")))
    assert len(figures) == 1 + 12
    lines = [json.loads(line) for line in taken(page, "All answers (JSON lines)").splitlines()]
    assert [line["request"] for line in lines] == [entry.charge.request for entry in reversed(entries)]

    page.get_by_role("link", name=entries[1].charge.hash[:8]).click()
    page.locator(".headline").wait_for()
    settled(page)
    assert entries[1].charge.claim["sentence"] in page.locator("p.question").first.inner_text()
    assert table_of(page, server).meter().charges == 2
