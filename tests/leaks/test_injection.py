"""Names that are HTML, scripts, SQL, formulas or Markdown are shown as text on every page and in every file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from helpers_declare import Page
from leaks import exits, hostile, tally, walk
from leaks.hostile import HTML, LINK, SIGNS

import dpengine as dp
from dpengine.messages import plain
from ui.ask.preview import preview_link
from ui.parts import exports

CONTROL = "a\x1b[2Jb\u202ec\nd\x00e\x85f"


@pytest.fixture(name="table")
def hostile_table(home: dp.Workspace) -> dp.Table:
    budget = dp.Budget("50", "1e-5")
    return home.add_table(hostile.TABLE, hostile.frame(), schema=hostile.schema(), unit=dp.Unit.rows(), budget=budget)


def asked(table: dp.Table) -> list[dp.Answer]:
    lists = table.schema.of_kind(dp.Category)
    questions: list[tuple[str, dict[str, Any]]] = [
        ("histogram", {"column": lists[1]}),
        ("median", {"column": LINK}),
        ("count", {"by": lists[0]}),
        ("top_item", {"column": lists[0]}),
        ("histogram", {"column": f"sets {SIGNS}"}),
        ("mean", {"column": HTML, "by": lists[0]}),
        ("median", {"column": f"day {LINK}"}),
        ("crosstab", {"columns": lists}),
        ("find_declarations", {"lists": [f"free {HTML}"], "delta": "1e-7"}),
        ("find_declarations", {"numbers": [SIGNS]}),
        ("sum", {"column": SIGNS}),
        ("fit_check", {"column": SIGNS}),
        ("noisy_argmax", {"options": [[[lists[0], "in", [HTML]]], [[LINK, ">", 5]]]}),
        ("proportion", {"of": [[lists[1], "in", [LINK]]]}),
        ("histogram", {"column": HTML, "bins": 3}),
    ]
    return [table.ask(table.query(key, epsilon="1", **given)) for key, given in questions]


def faults(app: Any) -> list[str]:
    return [fault for proto in exits.protos(app) for fault in hostile.faults(proto)]


def test_names_stay_text_where_a_question_is_asked(table: dp.Table) -> None:
    answer = table.ask(table.query("histogram", column=table.schema.of_kind(dp.Category)[1], epsilon="1"))
    assert not faults(walk.opened("ask", preview_link(table, answer.query)))
    app = walk.opened("answers", {"view": "ledger", "table": table.name})
    assert not faults(app)
    assert hostile.MARK in str(list(exits.protos(app)))


@pytest.mark.long
def test_names_stay_text_on_every_page(table: dp.Table) -> None:
    found: dict[str, str] = {}
    pages = 0
    answers = asked(table)
    session = table.open_session(table.query("adaptive_session", questions=3, epsilon="2"), "s")
    session.ask({"average": LINK}, "a")
    session.ask({"share": [[table.schema.of_kind(dp.Category)[0], "in", [HTML]]]}, "b")
    plan = json.dumps([[one.query.card.key, one.query.parameters(), "5", 0] for one in answers[:8]])
    name = {"table": table.name}
    addresses: list[tuple[str, dict[str, str]]] = [
        ("data", name),
        ("data", name | {"change": "1"}),
        ("data", {}),
        ("answers", name | {"view": "ledger"}),
        ("answers", name),
        ("several", name | {"view": "after"}),
        ("start", {}),
        ("several", name | {"session": "s"}),
        ("several", name | {"session": "s", "step": "a"}),
        ("several", name | {"plan": plan}),
        ("whatif", name | {"from": "table", "q": "mean", "column": SIGNS}),
    ]
    for answer in answers:
        link = preview_link(table, answer.query)
        addresses += [("ask", link), ("ask", link | {"answer": answer.request_id})]
        addresses.append(("data", name | {"answer": answer.request_id}))
    for page, address in addresses:
        app = walk.opened(page, address)
        pages += 1
        found |= dict.fromkeys(faults(app), page)
    tally.add([["hostile names: pages on which they are text", pages, "", len(hostile.NAMES), len(found)]])
    assert not found


@pytest.mark.long
def test_a_page_that_does_not_escape_is_caught() -> None:
    """Power: each way in which a name could be more than text."""
    from streamlit.testing.v1 import AppTest

    for body in (
        "st.html(NAME)",
        "st.markdown(NAME)",
        "st.button(NAME)",
        "st.expander(NAME).write(1)",
        "st.radio('x', [NAME])",
        "st.caption(NAME)",
        "st.text_input(NAME)",
        "st.checkbox('x', help=NAME)",
        "st.page_link('https://a.example', label=NAME)",
    ):
        name = HTML if "html" in body else f"{LINK} {SIGNS}"
        app = AppTest.from_string(f"import streamlit as st\nNAME = {name!r}\n{body}").run()
        assert faults(app), body


def test_exports_hold_no_formula(table: dp.Table) -> None:
    """However a spreadsheet splits a line, no cell begins as a formula, numbers aside."""
    answers = asked(table)[:6]
    table.sharing()
    for name, written in walk.downloads(table, dp.open_workspace(table._workspace.folder), answers):
        if "CSV" in name:
            for separator in (",", ";", "\t"):
                for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator):
                    assert not [cell for cell in row if formula(cell)], (name, separator)
        if name == "report":
            assert not hostile.elements(written)


def formula(cell: str) -> bool:
    if not cell.lstrip().startswith(("=", "+", "-", "@")):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def test_an_export_that_does_not_escape_is_caught() -> None:
    """Power, and the way around quotes: a program that splits at semicolons does not see them."""
    for split in (hostile.SPLIT, hostile.QUOTED):
        plainly = io.StringIO()
        csv.writer(plainly).writerows([["x", split], [hostile.FORMULA, "y"]])
        for written, wrong in ((plainly.getvalue(), True), (exports.as_csv(["h"], [["x", split]]), False)):
            rows = list(csv.reader(io.StringIO(written, newline=""), delimiter=";"))
            assert any(formula(cell) for row in rows[:2] for cell in row) == wrong


def test_sql_in_names_is_only_a_name(table: dp.Table) -> None:
    workspace = table._workspace
    by = table.schema.of_kind(dp.Category)[0]
    table.ask(table.query("mean", column=hostile.SQL, epsilon="1", by=by), hostile.SQL)
    assert workspace.verify_ledger().ok and [one.name for one in workspace.tables()] == [hostile.TABLE]
    assert workspace.job(hostile.SQL).answer is not None
    with pytest.raises(dp.AllowanceError):
        workspace.table('x" OR 1=1 --')


def test_signs_that_steer_are_neither_printed_nor_declared(table: dp.Table, tmp_path: Path) -> None:
    """One line stays one line, in a log and on a terminal; and what is seen is what is there."""
    shown = plain(CONTROL)
    assert shown.isprintable() and "\n" not in shown and "\u202e" not in shown
    assert plain("\u2066ε = 1\u2069 ✓") == "\u2066ε = 1\u2069 ✓"  # whole pairs, as our own sentences have them
    assert "\u2066" not in plain("\u2066ε") + plain("\u2069a\u2066")
    assert plain("čšž 😀 مرحبا — ok") == "čšž 😀 مرحبا — ok"
    for name, column in (
        ("x\u202e", dp.Number(0, 1)),
        ("x", dp.Category(["a\u2066b", "c"])),
        ("x", dp.ItemSet(["a\x1b", "c"])),
    ):
        with pytest.raises(dp.AllowanceError) as caught:
            table.revise(dp.Schema({name: column}))
        assert str(caught.value).isprintable()


NAMES = (
    "../../evil.csv",
    "/etc/cron.d/evil",
    "..\\..\\evil.csv",
    "nul",
    "con.csv",
    "a\0b.csv",
    ".htaccess",
    "~/evil",
    "x" * 5000,
    "",
    ".",
    "..",
    "evil\n.csv",
    "\u202evsc.live",
    "<img src=x onerror=alert(1)>.csv",
    "$(touch evil)",
)


@pytest.mark.long
def test_file_names_do_not_leave_the_workspace(shared: dp.Workspace) -> None:
    home = shared.folder
    before = {path for path in home.parent.rglob("*") if home not in path.parents}
    for name in NAMES:
        page = Page().upload("age\n33\n", name)
        assert page.draft.step == "names" and not faults(page.app)
        assert page.draft.path is not None and page.draft.path.parent == home / "tmp"
        assert page.draft.file.isprintable() and len(page.draft.file) < 200
        page.press("Start over")
    assert {path for path in home.parent.rglob("*") if home not in path.parents} == before
    assert not list((home / "tmp").glob("upload-*"))
