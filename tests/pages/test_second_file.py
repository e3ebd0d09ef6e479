"""People and their visits: two files become one table, in both languages, and no cell is shown."""

from __future__ import annotations

import os
from typing import Any

import pytest
from helpers_declare import CANARY, Page

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import speaking

VISITS = "patient,cost,note\n" + "".join(f"p{number % 9},{number % 50},{CANARY}\n" for number in range(60))
PEOPLE = "patient,age,secret\n" + "".join(f"p{number},{20 + number},{CANARY}\n" for number in range(12))


@pytest.mark.every(3)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_two_files_become_one_table(lang: str, shared: dp.Workspace) -> None:
    page = Page(lang=lang).upload(VISITS.replace("\np", f"\n{lang}"), "visits.csv").to("unit")
    page.set("declare-unit", "more").set("declare-who", "patient").set("declare-each", 8)
    at = next(one for one in page.app.file_uploader if (one.key or "").startswith("declare-second"))
    at.set_value(("people.csv", PEOPLE.replace("\np", f"\n{lang}").encode(), "text/csv"))
    page.run()
    assert page.draft.second is not None and page.draft.second.who == "patient"
    with speaking(lang):
        facts = {"events": "visits.csv", "people": "people.csv", "who": "patient", "id": "patient"}
        assert say("data.join.words", **facts) in page.text
        unlikely = say("data.join.unlikely", id="age", likely="patient")
        assert unlikely not in page.text and unlikely in page.set("declare-second-who", "age").text
        assert unlikely not in page.set("declare-second-who", "patient").text
    assert page.draft.names == ["patient", "cost", "note", "age", "secret"]
    page.set("declare-relation", "replace").click("declare-next-unit")
    page.agree()
    while page.draft.step != "done":
        now = page.draft.step
        key = "declare-add-now" if any(one.key == "declare-add-now" for one in page.app.button) else ""
        page.click(key or f"declare-next-{now}")
        assert page.draft.step != now or key, page.refusals
    table = dp.open_workspace(os.environ["ALLOWANCE_HOME"]).table(str(page.draft.added.name))  # type: ignore[union-attr]
    assert table.facts.people == 12 and {"cost", "age"} <= {*table.schema.columns}
    assert table.facts.unit == dp.Unit.column("patient", 8)
    assert not [path for path in (shared.folder / "tmp").iterdir() if path.name.startswith("upload-")]


def test_without_the_second_file_again(shared: dp.Workspace) -> None:
    page = Page().upload(VISITS, "visits.csv").to("unit").set("declare-unit", "more").set("declare-who", "patient")
    at = next(one for one in page.app.file_uploader if (one.key or "").startswith("declare-second"))
    at.set_value(("people.csv", PEOPLE.encode(), "text/csv"))
    page.run()
    page.click("declare-second-remove")
    assert page.draft.second is None and page.draft.names == ["patient", "cost", "note"]


@pytest.mark.every(3)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_two_allowances_become_one_once_their_owner_agrees(lang: str, shared: dp.Workspace) -> None:
    """The people file was asked before: the page says what is spent already, and adds the table only after a yes."""
    mine = PEOPLE.replace("\np", f"\n{lang}x")
    path = shared.folder / "tmp" / f"{lang}.csv"
    path.write_text(mine, encoding="utf-8")
    terms: dict[str, Any] = {"relation": "add_remove", "about_rows": 12, "budget": dp.Budget("2", "1e-6")}
    known = f"people {lang}"
    people = shared.add_table(known, path, schema=dp.Schema({"age": dp.Number(0, 99)}), unit=dp.Unit.rows(), **terms)
    people.ask(people.query("count", epsilon="0.1"))
    page = Page(lang=lang).upload(VISITS.replace("\np", f"\n{lang}x"), f"v{lang}.csv").to("unit")
    page.set("declare-unit", "more").set("declare-who", "patient").set("declare-each", 8)
    at = next(one for one in page.app.file_uploader if (one.key or "").startswith("declare-second"))
    at.set_value(("people.csv", mine.encode(), "text/csv"))
    page.run()
    page.set("declare-relation", "add_remove").set("declare-about", 12).click("declare-next-unit")
    page.agree()
    for _ in range(8):
        if any(one.key == "declare-add-up" for one in page.app.checkbox):
            break
        now = any(one.key == "declare-add-now" for one in page.app.button)
        page.click("declare-add-now" if now else f"declare-next-{page.draft.step}")
    assert page.draft.step == "care" and known in page.refusals[0] and "%" in page.refusals[0]
    assert shared.ledger.standing(people.budget.id).charges == 1 and known not in shared.closed()
    page.set("declare-add-up", True).click("declare-next-care")
    assert page.draft.step == "done", page.refusals
    table = shared.table(str(page.draft.added.name))  # type: ignore[union-attr]
    assert shared.ledger.standing(table.budget.id).charges == 1 and shared.closed()[known] == "joined"
    assert shared.verify_ledger().ok
