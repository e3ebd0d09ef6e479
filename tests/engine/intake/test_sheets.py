"""Spreadsheets: the same rows as their CSV, known by the same mark; what cannot be read is one sentence."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from fractions import Fraction
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.intake.foreign import read_foreign, sheet_list
from dpengine.intake.inspect import names_of, survey
from dpengine.intake.load import load
from dpengine.messages import known
from dpengine.released.files import as_sheet
from dpengine.workspace import Workspace

PLAIN = Dialect()
ROWS: list[list[Any]] = [
    ["age", "pay", "day", "way", "member"],
    [33, 1500.5, date(2024, 1, 5), " bus", True],
    [44.0, None, datetime(2024, 2, 3, 10, 30), "Žiče; car", False],
    ["?", 0.1 + 0.2, date(2024, 3, 1), None, None],
    [None, None, None, None, None],
    [51, 12, date(2023, 12, 31), "tram", True],
]
AS_CSV = (
    "age,pay,day,way,member\n33,1500.5,2024-01-05, bus,TRUE\n44,,2024-02-03 10:30:00,Žiče; car,FALSE\n"
    "?,0.3,2024-03-01,,\n51,12,2023-12-31,tram,TRUE\n"
)
SCHEMA = dp.Schema({"age": dp.Number(0, 120), "way": dp.Category(["bus", "car", "tram"])})


def book(path: Path, rows: list[list[Any]] = ROWS, **more: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    for place, (name, table) in enumerate(({"people": rows} | more).items()):
        sheet = made.active if place == 0 else made.create_sheet()
        assert sheet is not None
        sheet.title = name
        for row in table:
            sheet.append(row)
    made.save(path)
    return path


def code_of(work: Callable[[], Any]) -> str:
    with pytest.raises(AllowanceError) as refusal:
        work()
    assert known(refusal.value.code) and "\n" not in str(refusal.value)
    return refusal.value.code


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def test_a_sheet_is_read_as_its_csv(tmp_path: Path) -> None:
    path = book(tmp_path / "people.xlsx")
    assert names_of(path, PLAIN) == ROWS[0]
    survey(path, PLAIN)
    (tmp_path / "people.csv").write_text(AS_CSV, encoding="utf-8")
    found = [load(tmp_path / name, PLAIN, tmp_path / "raw", b"k" * 32) for name in ("people.xlsx", "people.csv")]
    assert found[0].rows == found[1].rows == 4 and found[0].fingerprint == found[1].fingerprint


def test_the_same_rows_share_one_allowance(workspace: Workspace, tmp_path: Path) -> None:
    csv = tmp_path / "people.csv"
    csv.write_text(AS_CSV, encoding="utf-8")
    given: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "budget": dp.Budget("2", "1e-6")}
    first = workspace.add_table("as csv", csv, **given)
    second = workspace.add_table("as sheet", book(tmp_path / "people.xlsx"), **given)
    assert second.joined and second.budget.id == first.budget.id


def test_one_sheet_is_named_or_the_first_that_can_be_seen(workspace: Workspace, tmp_path: Path) -> None:
    path = book(tmp_path / "two.xlsx", [["note"], ["nothing"]], visits=ROWS)
    assert sheet_list(path) == ["people", "visits"] and names_of(path, PLAIN) == ["note"]
    chosen = Dialect(sheet="visits")
    assert names_of(path, chosen) == ROWS[0] and Dialect.from_json(chosen.as_json()) == chosen
    assert "sheet" not in PLAIN.as_json()
    given: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "budget": dp.Budget("2", "1e-6")}
    assert workspace.add_table("second sheet", path, dialect=chosen, **given).facts.people == 4
    assert code_of(lambda: names_of(path, Dialect(sheet="gone"))) == "load.sheet_absent"
    made = openpyxl.load_workbook(path)
    made["people"].sheet_state = "hidden"
    made.save(path)
    assert names_of(path, PLAIN) == ROWS[0]


def test_commas_for_points_where_the_file_is_said_to_have_them(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", [["pay"], [1.5], ["2,5"]])
    ((columns, _),) = read_foreign(path, Dialect(decimal=","))[1]
    assert columns[0].to_pylist() == ["1,5", "2,5"]
    times = book(tmp_path / "b.xlsx", [["at", "and"], [time(7, 5), "x"]])
    ((columns, _),) = read_foreign(times, PLAIN)[1]
    assert columns[0].to_pylist() == ["07:05:00"]


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([["a", "b"], [1, 2, 3]], "load.sheet_ragged"),
        ([["a", "a"], [1, 2]], "load.name_twice"),
        ([["a", None, "b"], [1, 2, 3]], "load.name_blank"),
        ([[1, 2], [3, 4]], "load.no_names"),
        ([["a", "b"]], "load.no_rows"),
        ([], "load.empty"),
        ([["a", "b"], [1, "=1+1"]], "load.sheet_formulas"),
        ([["a", "b"], ["x" * 32_000] * 2] * 1, None),
    ],
)
def test_faults_of_form(rows: list[list[Any]], code: str | None, tmp_path: Path) -> None:
    path = book(tmp_path / "people.xlsx", rows)
    if code is None:
        survey(path, PLAIN)
    else:
        assert code_of(lambda: (names_of(path, PLAIN), survey(path, PLAIN))) == code


EMPTY = (
    b'<c r="B4" t="n"><v>99</v></c>',
    b'<c r="B4" t="str"><f>IF(1,"")</f><v></v></c>',
)  # a result, and an empty one


def test_a_formula_counts_with_its_saved_result(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", [["a", "b"], [1, 41], [2, 3], [3, 99]])
    changed = tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        for part in old.namelist():
            data = old.read(part)
            new.writestr(part, data.replace(b"<v>41</v>", b"<f>A2+40</f><v>41</v>").replace(*EMPTY))
    ((columns, _),) = read_foreign(changed, PLAIN)[1]
    assert columns[1].to_pylist() == ["41", "3", ""]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"PK\x03\x04 no archive", "load.sheet_unreadable"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 encrypted", "load.sheet_locked"),
        (b"age\n33\n", "load.sheet_unreadable"),
        (b"", "load.sheet_unreadable"),
    ],
)
def test_what_is_no_spreadsheet(data: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "people.xlsx"
    path.write_bytes(data)
    assert code_of(lambda: names_of(path, PLAIN)) == code


def swollen(path: Path, part: str, size: int) -> Path:
    with zipfile.ZipFile(book(path), "a", zipfile.ZIP_DEFLATED) as parts:
        with parts.open(part, "w") as out:
            for _ in range(size >> 20):
                out.write(b" " * (1 << 20))
    return path


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path: Path) -> None:
    path = swollen(tmp_path / "bomb.xlsx", "xl/worksheets/sheet9.xml", 80 << 20)
    assert code_of(lambda: names_of(path, PLAIN)) == "load.swollen"
    with zipfile.ZipFile(book(tmp_path / "texts.xlsx"), "a") as parts:  # as large as it says
        parts.writestr("xl/more.xml", b" " * (65 << 20))
    assert code_of(lambda: names_of(tmp_path / "texts.xlsx", PLAIN)) == "load.sheet_large"


@pytest.mark.long
def test_a_row_far_below_takes_no_memory(tmp_path: Path) -> None:
    """A few bytes say that there are a thousand million rows."""
    path = book(tmp_path / "a.xlsx", [["a", "b"], [1, 2]])
    far = tmp_path / "far.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(far, "w") as new:
        for part in old.namelist():
            data = old.read(part)
            more = b'<row r="999999999"><c r="A999999999" t="n"><v>3</v></c></row></sheetData>'
            new.writestr(part, data.replace(b"</sheetData>", more))
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "from pathlib import Path\nfrom dpengine.declared.dialect import Dialect\n"
        "from dpengine.core.errors import AllowanceError\nfrom dpengine.intake.inspect import survey\n"
        "try:\n    survey(Path(sys.argv[1]), Dialect())\nexcept AllowanceError as refusal:\n    print(refusal.code)"
    )
    told = subprocess.run([sys.executable, "-c", limited, str(far)], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "load.swollen"


# --- out


def test_a_sheet_that_is_written_runs_nothing() -> None:
    cells = ['=HYPERLINK("http://x")', "+1", "-1", "@x", "plain", "tab\tnew\nline", "bell\x07"]
    data = as_sheet(["what", "=much"], [[cell, 1.5] for cell in cells] + [[None, Fraction(1, 2)]], "a/b: [x]")
    made = openpyxl.load_workbook(io.BytesIO(data))
    (sheet,) = made.worksheets
    assert sheet.title == "a b   x" and [cell.data_type for cell in sheet["A"]][:5] == ["s"] * 5
    assert [cell.value for cell in sheet["A"]][1:5] == cells[:4] and sheet["B1"].value == "=much"
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
    assert [cell.value for cell in sheet["B"]][1:] == [1.5] * len(cells) + [0.5]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    path.write_bytes(as_sheet(["way", "people"], [["=bus", 120], ["car", 7]]))
    ((columns, _),) = read_foreign(path, PLAIN)[1]
    assert [cells.to_pylist() for cells in columns] == [["=bus", "car"], ["120", "7"]]
