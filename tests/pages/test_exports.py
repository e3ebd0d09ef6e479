"""Files that a person takes away: what a spreadsheet needs to read them, and one column for each column."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
from pathlib import Path

import pandas as pd
import pyarrow.csv as pacsv
import pytest
from helpers_page import html_of, open_page

import dpengine as dp
from dpengine.asking.exports import ANSWER_COLUMNS
from ui.parts import exports


@pytest.fixture(name="table")
def small_table(home: dp.Workspace) -> dp.Table:
    frame = pd.DataFrame({"kraj": ["č × b", "č"] * 30, "spol": ["ž", "m", "m"] * 20, "pay": ["5"] * 60})
    schema = dp.Schema(
        {
            "kraj": dp.Category(["č × b", "č"]),
            "spol": dp.Category(["m", "ž"]),
            "pay": dp.Number(0, 9),
        }
    )
    terms = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("50", "1e-6")}
    return home.add_table("ljudje", frame, **terms)


def read(written: str) -> list[dict[str, str]]:
    """As a spreadsheet reads it: the mark belongs to the file and to no cell."""
    data = written.encode()
    assert data.startswith(codecs.BOM_UTF8)
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_combinations_have_a_column_for_each_column(table: dp.Table) -> None:
    answer = table.ask(table.query("crosstab", columns=["kraj", "spol"], epsilon="1"))
    rows = read(exports.answer_csv(answer))
    labels = table.schema.category("kraj").labels, table.schema.category("spol").labels
    assert [(row["kraj"], row["spol"]) for row in rows] == [(one, other) for one in labels[0] for other in labels[1]]
    assert [int(row["value"]) for row in rows] == list(answer.value.values()) and "label" not in rows[0]
    table.ask(table.query("mean", column="pay", by="spol", epsilon="1"))
    whole = read(exports.as_csv(ANSWER_COLUMNS, table.answer_rows()))
    assert {(row["label"], row["label_2"]) for row in whole[: len(rows)]} == {
        (row["kraj"], row["spol"]) for row in rows
    }
    assert {row["label"]: row["label_2"] for row in whole[len(rows) :]}.keys() >= {"m", "ž"}


@pytest.mark.long
def test_a_map_of_heights_has_a_column_for_each_column(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"x": ["1", "2"] * 50, "y": ["3", "4"] * 50})
    schema = dp.Schema({"x": dp.Number(0, 9), "y": dp.Number(0, 9)})
    terms = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("50", "1e-6")}
    other = home.add_table("xy", frame, **terms)
    rows = read(exports.answer_csv(other.ask(other.query("density", columns=["x", "y"], epsilon="5"))))
    assert len({row["x"] for row in rows}) * len({row["y"] for row in rows}) == len(rows)


def test_what_was_published_is_read_back_as_it_was(home: dp.Workspace, table: dp.Table, tmp_path: Path) -> None:
    """By Arrow and by this program, as another table; and the receipt still knows its file."""
    answer = table.ask(table.query("publish_table", columns=["kraj", "pay"], epsilon="2"))
    published = table.published(answer)
    written = exports.table_csv(published.table())
    assert written.startswith(codecs.BOM_UTF8)
    assert pacsv.read_csv(io.BytesIO(written)).column_names == ["kraj", "pay"]
    path = tmp_path / "published.csv"
    path.write_bytes(written)
    schema = dp.Schema({"kraj": dp.Category(["č × b", "č"]), "pay": dp.Number(-99, 99)})
    terms = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("5", "1e-6")}
    again = home.add_table("again", path, **terms)
    assert again.facts.header == ("kraj", "pay")
    file = home.published_file(answer.request_id)
    told = answer.receipt["answer"]["value"]["sha256"]
    assert hashlib.sha256(file.read_bytes()).hexdigest() == answer.value["sha256"] == told


def test_every_csv_of_the_ledger_page_has_the_mark(table: dp.Table) -> None:
    """By what its buttons write."""
    from ui.ledger import ledger_view

    table.ask(table.query("count", where=[["spol", "in", ["ž"]]], epsilon="1"))
    assert "ljudje" in html_of(open_page("answers", view="ledger", table="ljudje"))
    taken = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger_view, "_buttons", taken.extend)
        ledger_view.downloads(table)
    assert {file for _, file, _ in taken if file.endswith(".csv")} == {"ledger-ljudje.csv", "answers-ljudje.csv"}
    assert all(write().startswith(exports.MARK) == file.endswith(".csv") for _, file, write in taken)
