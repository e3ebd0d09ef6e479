"""SPSS, Stata and SAS files: the same rows as their CSV, and a code book; every trap is one sentence."""

from __future__ import annotations

import gzip
import struct
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.intake import file_kinds, file_process, foreign
from dpengine.intake.inspect import names_of, survey
from dpengine.intake.load import load
from dpengine.messages import known

PLAIN = Dialect()
ROWS = pd.DataFrame(
    {
        "q1": [1.0, 2.0, 99.0, None, 1.0],
        "income": [1000.5, 97.0, 98.0, -5.0, 2000.0],
        "name": ["Ana", "b; c", "", "Žiga", "d"],
        "rate": [1.5, 2.5, 1.5, 2.5, None],
    }
)
LABELS = {"q1": "How satisfied are you?", "name": "How satisfied are you?", "rate": "Rate"}
VALUES = {"q1": {1: "Good", 2: "Bad", 99: "Refused"}, "rate": {1.5: "low", 2.5: "high"}}


def spss(path: Path, **more: Any) -> Path:
    given: dict[str, Any] = {"column_labels": LABELS, "variable_value_labels": VALUES}
    given |= {"missing_ranges": {"q1": [99], "income": [{"lo": 97, "hi": 99}]}}
    given |= {"variable_measure": {"q1": "nominal", "income": "scale", "rate": "ordinal"}}
    pyreadstat.write_sav(ROWS, path, **(given | more))
    return path


def cells(path: Path, dialect: Dialect = PLAIN) -> dict[str, list[str | None]]:
    names, batches = foreign.read_foreign(path, dialect)
    found: dict[str, list[str | None]] = {name: [] for name in names}
    for columns, _ in batches:
        for name, column in zip(names, columns, strict=True):
            found[name] += column.to_pylist()
    return found


def code_of(work: Callable[[], Any]) -> str:
    with pytest.raises(AllowanceError) as refusal:
        work()
    assert known(refusal.value.code) and "\n" not in str(refusal.value)
    return refusal.value.code


@pytest.mark.parametrize("packed", [False, True])
def test_codes_stay_in_the_cells_and_ranges_of_missing_values_are_empty(packed: bool, tmp_path: Path) -> None:
    found = cells(spss(tmp_path / ("a.zsav" if packed else "a.sav"), compress=packed))
    assert found["q1"] == ["1", "2", "99", None, "1"]  # one missing value is a code of the declaration
    assert found["income"] == ["1000.5", None, None, "-5", "2000"]  # a range of them is empty
    assert found["rate"] == ["1.5", "2.5", "1.5", "2.5", None] and found["name"][3] == "Žiga"


def test_the_code_book_holds_the_files_own_words(tmp_path: Path) -> None:
    book = foreign.describe(spss(tmp_path / "a.sav"), PLAIN).book
    assert book["q1"].values == (("1", "Good"), ("2", "Bad"), ("99", "Refused")) and book["q1"].missing == ("99",)
    assert book["income"].ranges and book["income"].scale and not book["income"].values
    assert book["rate"].values == (("1.5", "low"), ("2.5", "high"))  # labelled doubles
    assert book["q1"].label == LABELS["q1"] and book["income"].label == ""


def test_letters_for_kinds_of_missing_are_empty_cells_and_no_values(tmp_path: Path) -> None:
    rows = pd.DataFrame({"income": [1.5, "a", None], "moved": [1.0, 0.0, "b"], "x": ["p", "q", "r"]})
    labels: dict[str, Any] = {"income": {"a": "Refused"}, "moved": {0: "no", 1: "yes", "b": "Refused"}}
    given: dict[str, Any] = {"missing_user_values": {"income": ["a"], "moved": ["b"]}}
    pyreadstat.write_dta(rows, tmp_path / "a.dta", variable_value_labels=labels, **given)
    book = foreign.describe(tmp_path / "a.dta", PLAIN).book
    assert book["income"].values == () and book["moved"].values == (("0", "no"), ("1", "yes"))
    found = cells(tmp_path / "a.dta")
    assert found["income"] == ["1.5", None, None] and found["moved"] == ["1", "0", None]


def test_labels_are_the_names_people_read(tmp_path: Path) -> None:
    names = names_of(spss(tmp_path / "a.sav"), Dialect(labels=True))
    assert names == ["How satisfied are you? (q1)", "income", "How satisfied are you? (name)", "Rate"]
    assert Dialect.from_json(Dialect(labels=True).as_json()).labels and "labels" not in PLAIN.as_json()


def test_the_same_rows_have_the_mark_of_their_csv(tmp_path: Path) -> None:
    spss(tmp_path / "a.sav", missing_ranges=None)
    pyreadstat.write_dta(ROWS, tmp_path / "a.dta")
    pyreadstat.write_xport(ROWS, tmp_path / "a.xpt")
    ROWS.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.write(tmp_path / "a.sav", "survey/a.sav")
        archive.writestr("__MACOSX/._a.sav", b"x")
    files = ("a.csv", "a.sav", "a.dta", "a.xpt", "a.csv.gz", "b.zip")
    marks = {load(tmp_path / name, PLAIN, tmp_path / "raw", b"k" * 32).fingerprint for name in files}
    assert len(marks) == 1
    for name in files:
        assert names_of(tmp_path / name, PLAIN) == list(ROWS)
        survey(tmp_path / name, PLAIN)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]  # nothing unpacked stays


def test_days_from_three_beginnings(tmp_path: Path) -> None:
    """Seconds from 1582 (SPSS), days and milliseconds from 1960 (Stata), days and seconds from 1960 (SAS)."""
    day, at = date(2024, 2, 29), datetime(1999, 12, 31, 23, 59, 58)
    table = pd.DataFrame({"day": [day, date(1850, 1, 2), None], "at": [at, datetime(2001, 1, 1), None]})
    table["x"] = ["a", "b", "c"]
    pyreadstat.write_sav(table, tmp_path / "a.sav")
    pyreadstat.write_dta(table, tmp_path / "a.dta")
    pyreadstat.write_xport(table, tmp_path / "a.xpt")
    for name in ("a.sav", "a.dta", "a.xpt"):
        found = cells(tmp_path / name)
        assert found["day"] == ["2024-02-29", "1850-01-02", None], name
        assert found["at"] == ["1999-12-31 23:59:58", "2001-01-01", None], name


def test_a_day_beyond_the_calendar_empties_its_own_cell_alone(tmp_path: Path) -> None:
    far = pd.DataFrame({"day": [1e30, 13_927_000_000.0, -1e15], "x": [1.0, 2.0, 3.0]})
    pyreadstat.write_sav(far, tmp_path / "a.sav", variable_format={"day": "DATE11"})
    found = cells(tmp_path / "a.sav")
    assert found["x"] == ["1", "2", "3"] and found["day"][0] is found["day"][2] is None and found["day"][1] is not None
    months = pd.DataFrame({"month": [0.0, 13.0], "quarter": [-1.0, 2.0]})
    pyreadstat.write_dta(months, tmp_path / "b.dta", variable_format={"month": "%tm", "quarter": "%tq"})
    assert cells(tmp_path / "b.dta") == {"month": ["1960-01-01", "1961-02-01"], "quarter": ["1959-10-01", "1960-07-01"]}


def many_columns(path: Path) -> Path:
    pyreadstat.write_sav(pd.DataFrame({f"v{place}": [1.0] for place in range(2_000)}), path)
    return path


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def archive(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, "a,b\n1,2\n")
    return path


def no_rows(path: Path) -> Path:
    pyreadstat.write_sav(ROWS.iloc[:0], path)
    return path


def swollen(path: Path) -> Path:
    return put(path, gzip.compress(b"a,b\n" + b"1,2\n" * 10**6))


TRAPS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "2,000 columns": ("load.many_columns", lambda f: many_columns(f / "a.sav")),
    "no rows": ("load.no_rows", lambda f: no_rows(f / "a.sav")),
    "nothing": ("load.empty", lambda f: put(f / "a.dta", b"")),
    "a password": (
        "load.statistics_locked",
        lambda f: put(f / "a.sav", b"\x1c" + bytes(7) + b"ENCRYPTEDSAV" + bytes(99)),
    ),
    "noise": ("load.statistics_unreadable", lambda f: put(f / "a.sav", b"$FL2" + bytes(range(256)) * 20)),
    "half a file": ("load.statistics_unreadable", lambda f: put(f / "b.sav", spss(f / "a.sav").read_bytes()[:300])),
    "SAS in name alone": ("load.statistics_unreadable", lambda f: put(f / "a.sas7bdat", b"a,b\n1,2\n")),
    "two files": ("load.packed_many", lambda f: archive(f / "a.zip", "a.csv", "b.csv")),
    "an archive in an archive": (
        "load.packed_twice",
        lambda f: put(f / "a.csv.gz", gzip.compress(gzip.compress(b"a\n"))),
    ),
    "a damaged archive": ("load.packed_unreadable", lambda f: put(f / "a.csv.gz", gzip.compress(b"a,b\n" * 99)[:-9])),
    "more than it may unpack to": ("load.swollen", lambda f: swollen(f / "a.csv.gz")),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("trap", sorted(TRAPS))
def test_every_trap_is_one_sentence(trap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_kinds, "MOST_UNPACKED", 10**6)
    code, make = TRAPS[trap]
    path = make(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert code_of(lambda: (names_of(path, PLAIN), survey(path, PLAIN))) == code
    assert sorted(tmp_path.iterdir()) == before


def test_a_reader_that_crashes_ends_its_own_process_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = spss(tmp_path / "a.sav")
    monkeypatch.setattr(file_process, "_START", "import os; os.abort()")
    assert code_of(lambda: cells(path)) == "load.heavy"
    monkeypatch.setattr(file_process, "_START", "import time; time.sleep(60)")
    monkeypatch.setattr(file_process, "MOST_SECONDS", 0.5)
    assert code_of(lambda: cells(path)) == "load.heavy"


def test_memory_is_bounded_where_the_system_can(tmp_path: Path) -> None:
    """A sheet's own statement of a cell far away, which the reader would fill the memory up to."""
    hungry = file_process._START.replace("main()", "import resource; main()").replace(
        "import main;", "import _limit, main; _limit(); held = bytearray(6 << 30);"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_process, "_START", hungry)
        assert code_of(lambda: file_process.run("list_sheets", {"path": str(tmp_path)})) == "load.heavy"


def test_a_survey_is_declared_from_its_code_book(tmp_path: Path) -> None:
    with_codes = dp.Category(["Good", "Bad"], aliases={"1": "Good", "2": "Bad"})
    schema = dp.Schema({"q1": with_codes, "income": dp.Number(0, 5_000, codes=[-5])})
    workspace = dp.open_workspace(tmp_path / "home")
    given: dict[str, Any] = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("100", "1e-6")}
    table = workspace.add_table("survey", spss(tmp_path / "a.sav"), **given)
    assert table.facts.people == 5
    assert not [path for path in (tmp_path / "home" / "tables").rglob(".*") if path.is_dir()]


def test_names_below_titles(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Visits of 2024"], [], ["person", "visit", None], [None, "day", "cost"], ["a", "x", 3], ["b", "y", 4]):
        sheet.append(row)
    sheet.merge_cells("B3:C3")
    book.save(tmp_path / "a.xlsx")
    titled = Dialect(names_row=3, names_rows=2)
    assert names_of(tmp_path / "a.xlsx", titled) == ["person", "visit day", "visit cost"]
    assert cells(tmp_path / "a.xlsx", titled)["visit cost"] == ["3", "4"]
    assert code_of(lambda: names_of(tmp_path / "a.xlsx", Dialect(names_row=2))) == "load.names_row_empty"
    assert code_of(lambda: names_of(tmp_path / "a.xlsx", Dialect(names_row=5))) == "load.no_names"  # somebody's row
    assert code_of(lambda: names_of(tmp_path / "a.xlsx", Dialect(names_row=9))) == "load.names_row_empty"
    sheet.delete_rows(1)  # the file now begins with an empty row: it is not empty
    book.save(tmp_path / "b.xlsx")
    assert code_of(lambda: names_of(tmp_path / "b.xlsx", PLAIN)) == "load.names_row_empty"
    assert code_of(lambda: Dialect(names_row=0)) == "dialect.names_row"


def test_old_and_open_spreadsheets(tmp_path: Path) -> None:
    content = (
        '<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
        'office:version="1.2"><office:body><office:spreadsheet><table:table table:name="one">{}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    row = "<table:table-row>{}</table:table-row>"
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    number = '<table:table-cell office:value-type="float" office:value="{}"><text:p>{}</text:p></table:table-cell>'
    rows = row.format(cell.format("far") + cell.format("note"))
    rows += row.format(number.format("1.5", "1.5") + cell.format("x"))
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        parts.writestr("content.xml", content.format(rows))
        parts.writestr("META-INF/manifest.xml", "<manifest/>")
    assert cells(tmp_path / "a.ods") == {"far": ["1.5"], "note": ["x"]}
    locked = put(tmp_path / "b.xls", b"\xd0\xcf\x11\xe0" + bytes(508) + "EncryptedPackage".encode("utf-16-le"))
    assert code_of(lambda: names_of(locked, PLAIN)) == "load.sheet_locked"
    assert code_of(lambda: names_of(put(tmp_path / "c.xls", b"\xd0\xcf\x11\xe0" + bytes(600)), PLAIN)) == (
        "load.sheet_unreadable"
    )
    biff = b"".join(  # an old workbook without its container: one sheet, two texts, one number
        struct.pack("<HH", kind, len(data)) + data
        for kind, data in ((0x0809, struct.pack("<HH", 0x0600, 0x0010)), (0x000A, b""))
    )
    assert code_of(lambda: names_of(put(tmp_path / "d.xls", biff), PLAIN)) == "load.sheet_unreadable"
