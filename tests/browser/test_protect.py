"""A slip in declaring is corrected: at a desk by bringing the same file again, on a phone on the table's own page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser.journeys import no_sideways_scrolling
from browser.steps import go, settled, shot
from browser.test_data import Bringing

import dpengine as dp

EACH = 7


def _file(folder: Path, pupils: int, column: str = "Pupil no.") -> Path:
    rows = [f"P{p},{20 + (p + m) % 50}" for p in range(pupils) for m in range(EACH)]
    path = folder / f"marks-{pupils}.csv"
    path.write_text("\n".join([f"{column},age", *rows]) + "\n")
    return path


def _added(server: Any, name: str, file: Path) -> dp.Workspace:
    """As it was added with one row each, and a question about it."""
    home = dp.open_workspace(server.home)
    unit, budget = dp.Unit.rows(), dp.Budget("1", "1e-6")
    schema = dp.Schema({"age": dp.Number(0, 120)})
    table = home.add_table(name, file, schema=schema, unit=unit, relation="replace", budget=budget)
    for epsilon in ("0.02", "0.03"):
        table.ask(table.query("mean", column="age", epsilon=epsilon))
    return home


@pytest.mark.long
def test_the_same_file_brought_again_is_no_dead_end(page: Any, server: Any, tmp_path: Path) -> None:
    file = _file(tmp_path, 320)
    home = _added(server, "marks of 2025", file)
    brought = Bringing(page, "protect")
    brought.upload(file, "Are these the columns?", "names").press("Yes, go on", "Can one person", "unit")
    brought.pick("Yes, or not sure")
    page.locator(".st-key-declare-who input").click()
    page.get_by_role("option", name="Pupil no.").click()
    settled(page)
    brought.fill("Another number", str(EACH)).pick("only the details")
    brought.press("Go on", "What can be in the columns?", "cards").press("Go on", "How careful?", "care").pick("Usual")
    page.get_by_role("button", name="Add the table", exact=True).click()
    page.get_by_role("heading", name="You added this file before").wait_for()
    settled(page)
    no_sideways_scrolling(page)
    shot(page, "protect-offered")
    assert "of the allowance will be left" in page.content()
    page.get_by_role("button", name=f"Protect people with up to {EACH} rows").click()
    page.locator("p[role=status]", has_text="are protected").wait_for()
    settled(page)
    shot(page, "protect-done")
    after = home.table("marks of 2025")
    assert after.facts.unit == dp.Unit.column("Pupil no.", EACH) and after.facts.about == 320
    assert home.verify_ledger().ok


@pytest.mark.long
def test_on_a_phone_in_slovene_the_tables_own_page_corrects_it(phone: Any, server: Any, tmp_path: Path) -> None:
    home = _added(server, "ocene", _file(tmp_path, 300, "Št. učenca"))
    go(phone, "/data?table=ocene&lang=sl")
    phone.locator("summary", has_text="Ena oseba ima lahko več vrstic").click()
    settled(phone)
    phone.locator('[class*="st-key-protect-each"] input[type="number"]').fill(str(EACH))
    phone.keyboard.press("Tab")
    settled(phone)
    if not phone.locator('[class*="st-key-protect-do"]').count():
        phone.locator('[class*="st-key-protect-who"] input').click()
        phone.get_by_role("option", name="Št. učenca").click()
        settled(phone)
    no_sideways_scrolling(phone)
    shot(phone, "protect-phone")
    phone.locator('[class*="st-key-protect-do"] button').click()
    phone.locator("p[role=status]", has_text="Zaščitene so osebe").wait_for()
    settled(phone)
    shot(phone, "protect-phone-done")
    assert home.table("ocene").facts.unit == dp.Unit.column("Št. učenca", EACH) and home.verify_ledger().ok
