"""The Ledger in a browser: empty, after two questions, verified, taken away."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pandas as pd
import pytest
from browser.journeys import ask, ask_link, download, kind, meter, read_text, table_of
from browser.steps import go, settled, shot

import dpengine as dp
from dpengine.core.printed import percent

MEDIAN = ask_link("town", "median", column="monthly_income", epsilon="0.1")


def taken(page: Any, label: str) -> str:
    with download(page, page.get_by_role("button", name=label)).path().open(encoding="utf-8-sig", newline="") as file:
        return file.read()


@pytest.mark.long
def test_the_ledger_tells_where_the_allowance_went(page: Any, server: Any) -> None:
    go(page, "/answers?view=ledger&table=town")
    kind(page)
    assert "Nothing has been asked of “town” yet" in read_text(page)
    assert "ask?table=town" in page.get_by_role("link", name="Ask a first question").get_attribute("href")
    table = table_of(page, server)
    for key, given in (
        ("median", {"column": "monthly_income", "epsilon": "0.1"}),
        ("histogram", {"column": "district", "epsilon": "0.05"}),
    ):
        table.ask(table.query(key, **given))

    go(page, "/answers?view=ledger&table=town")
    kind(page)
    shot(page, "ledger")
    for fold in page.get_by_text("For specialists", exact=True).all():
        fold.click()
    entries = table_of(page, server).history()
    rows = page.locator("table.rows tbody tr")
    assert rows.count() == len(entries) == 2
    for place, entry in enumerate(entries):
        told = rows.nth(place).inner_text()
        assert entry.charge.claim["sentence"] in told and entry.charge.hash[:8] in told
        assert ("Most: " if place == 0 else " – ") in told and "%" in told
    text = read_text(page)
    assert "when (UTC)" in text and "95.8 %" in meter(page)
    assert "had all been fixed in advance" in text and "If you stop now" in text
    assert page.locator(".st-key-card-burn .steps i").last.is_visible()
    row, head = dp.open_workspace(server.home).ledger.head()
    assert page.locator("code.copied").inner_text().strip() == head

    page.get_by_role("button", name="Check every row").click()
    page.get_by_text("The ledger is intact").wait_for()
    settled(page)  # a file that is written when clicked belongs to the run that drew its button
    assert f"The ledger is intact: {row} rows checked, the last is {head[:8]}…" in read_text(page)

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


PEOPLE = "own people"


def own_table(server: Any, name: str) -> dp.Table:
    """A private table, brought by a notebook into the same workspace."""
    frame = pd.DataFrame({"age": [20, 30, 40, 50] * 100, "town": [name, "elsewhere"] * 200})
    schema = dp.Schema({"age": dp.Number(0, 100, step=1)})
    home = dp.open_workspace(server.home)
    return home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))


@pytest.mark.long
def test_a_receipt_is_verified_and_a_forged_one_is_not(page: Any, server: Any) -> None:
    ask(page, MEDIAN)
    page.get_by_text("What is this? Details and downloads").click()
    receipt = json.loads(taken(page, "Receipt (JSON)"))
    forged = receipt | {"answer": receipt["answer"] | {"value": receipt["answer"]["value"] + 10}}
    go(page, "/answers?view=ledger&table=town")
    upload = page.locator(".st-key-receipt-file input[type=file]")
    finding = page.locator(".st-key-card-receipt [role=status], .st-key-card-receipt [role=alert]").first

    def take_away() -> None:
        page.get_by_test_id("stFileChipDeleteBtn").get_by_role("button").click()
        finding.wait_for(state="hidden")  # else the next file would be met by what was found in this one
        settled(page)

    def bring(name: str, content: str) -> str:
        upload.set_input_files({"name": name, "mimeType": "application/json", "buffer": content.encode()})
        finding.wait_for()
        settled(page)
        return str(page.locator(".st-key-card-receipt").inner_text())

    told = bring("receipt.json", json.dumps(receipt))
    assert f"Receipt {receipt['charge']['hash'][:8]} is verified" in told
    assert "Genuine. The median of monthly_income for everyone, in “town”: " in told
    shot(page, "receipt-genuine")
    take_away()
    told = bring("forged.json", json.dumps(forged))
    assert "is not verified" in told and "answer.value: the receipt says" in told
    shot(page, "receipt-forged")
    take_away()
    assert "it is not JSON" in bring("letter.txt", "Dear all,")

    report = taken(page, "Report to read (HTML)")
    assert receipt["charge"]["hash"] in report and "<svg" in report and "<script" not in report
    page.get_by_text("For specialists", exact=True).last.click()
    whole = taken(page, "Whole ledger (JSON lines)").splitlines()
    assert json.loads(whole[0])["rows"] == len(whole) - 1


@pytest.mark.long
def test_an_owner_raises_seals_and_forgets(page: Any, server: Any) -> None:
    table = own_table(server, PEOPLE)
    answer = table.ask(table.query("median", column="age", epsilon="0.5"), request_id="kept")
    go(page, f"/answers?view=ledger&table={PEOPLE}")
    page.get_by_role("link", name="For the owner: raise the allowance").click()
    page.get_by_text(f"For the owner of “{PEOPLE}”").click()

    page.get_by_label("New allowance (ε)").fill("2")
    page.get_by_label("New allowance (ε)").press("Enter")
    settled(page)
    page.get_by_role("button", name="Raise it").click()
    page.get_by_text("First tick the box above the button.").wait_for()
    page.get_by_text("I understand: this protects the people").click()
    page.get_by_role("button", name="Raise it").click()
    page.get_by_text("The allowance is now ε = 2.").wait_for()
    settled(page)
    assert percent(1 - table.meter().used) in meter(page) and table.meter().epsilon == 2
    shot(page, "owner-raised")

    page.get_by_text("I understand: nobody can ask").click()
    page.get_by_role("button", name="Seal it").click()
    page.get_by_text(f"“{PEOPLE}” is sealed.").wait_for()
    settled(page)
    go(page, ask_link(PEOPLE, "median", column="age", epsilon="0.1"))
    kind(page)
    assert "This table is sealed" in read_text(page) and not page.locator(".st-key-ask-go").count()

    page.get_by_role("link", name="See the earlier answers").click()
    page.get_by_text("The owner raised the allowance from ε = 1 to ε = 2.").wait_for()
    page.get_by_text(f"The owner sealed “{PEOPLE}”: no more questions.").wait_for()
    page.get_by_role("link", name="For the owner: raise the allowance").click()
    page.get_by_text(f"For the owner of “{PEOPLE}”").click()
    page.get_by_label("Type the table’s name").fill("something else")
    page.get_by_label("Type the table’s name").press("Enter")
    page.get_by_role("button", name="Delete its rows").click()
    page.get_by_text("type it exactly").wait_for()
    settled(page)
    page.get_by_label("Type the table’s name").fill(PEOPLE)
    page.get_by_label("Type the table’s name").press("Enter")
    settled(page)
    page.get_by_role("button", name="Delete its rows").click()
    page.get_by_text("its rows are deleted.").wait_for()
    settled(page)
    shot(page, "owner-forgotten")
    go(page, f"/answers?view=ledger&table={PEOPLE}")
    assert page.get_by_role("combobox").first.input_value() == f"{PEOPLE} (forgotten)"
    assert table.closed == "forget" and [act.kind for act in table.acts()] == ["forget", "seal", "raise"]
    page.get_by_role("link", name=answer.receipt["charge"]["hash"][:8]).click()
    page.locator(".headline").wait_for()
    settled(page)
    assert "This table is forgotten" in read_text(page)
    assert dp.open_workspace(server.home).verify_ledger().ok
