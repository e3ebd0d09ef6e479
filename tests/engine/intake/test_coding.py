"""Cells become codes by one public, total rule: against a slow reference, and against everything a cell can hold."""

from __future__ import annotations

import stat
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import MISSING, Category, Column, Number, Schema, yes_no
from dpengine.intake import load
from dpengine.intake.encode import coder_of, encode
from dpengine.statistics.raw_cells import kind_of

COMMA = Dialect()
CZECH = Dialect(separator=";", decimal=",", thousands=" ", encoding="windows-1250")


def code(cells: list[str | None], *columns: Column, dialect: Dialect = COMMA) -> list[list[int]]:
    """Codes of the same cells under each column."""
    schema = Schema({f"name {place}": column for place, column in enumerate(columns)})
    with tempfile.TemporaryDirectory() as name:
        raw, coded = Path(name) / "raw.parquet", Path(name) / "coded.parquet"
        pq.write_table(pa.table({key: pa.array(cells, pa.string()) for key in schema.columns}), raw)
        encode(raw, schema, dialect, coded)
        table = pq.read_table(coded)
        flags = [*(f"f{place}" for place in range(len(columns))), "fault"]
        assert table.column_names == [*(f"c{place}" for place in range(len(columns))), *flags]
        assert table.num_rows == len(cells) and stat.S_IMODE(coded.stat().st_mode) == 0o600
        assert len(list(Path(name).iterdir())) == 2
        return [column.to_pylist() for column in table.columns[: len(columns)]]


def slow_number(cell: str | None, column: Number, dialect: Dialect) -> int:
    """The rule again, digit by digit and in exact arithmetic."""
    text = (cell or "").strip()
    if not text or len(text) > 400:
        return MISSING
    sign = -1 if text[0] in "-−" else 1
    text = text[1:] if text[0] in "-−+" else text
    if text.lower() in ("inf", "infinity", "∞"):
        return column.size - 1 if sign > 0 else 0
    mantissa, e, power = text.lower().partition("e")
    shift = power[1:] if power[:1] in ("+", "-") else power
    if e and not (shift.isascii() and shift.isdigit() and len(shift) <= 3):
        return MISSING
    whole, _, rest = mantissa.partition(dialect.decimal)
    marks = {"": "", " ": " \u00a0\u2009\u202f", "'": "'’"}.get(dialect.thousands, dialect.thousands)
    groups = [""]
    for letter in whole:
        if letter in marks:
            groups.append("")
        else:
            groups[-1] += letter
    if len(groups) > 1:
        fits = 1 <= len(groups[0]) <= 3 and all(2 <= len(group) <= 3 for group in groups[1:]) and len(groups[-1]) == 3
        if not fits:
            return MISSING
    digits = "".join(groups) + rest
    if not (digits.isascii() and digits.isdigit()):
        return MISSING
    value = sign * Fraction(int(digits), 10 ** len(rest)) * Fraction(10) ** int(power or 0)
    place = (value - column.lower) / column.step
    return min(max(round(place), 0), column.size - 1)


GRIDS = [
    Number(0, 100),
    Number(-5, 5, "0.1"),
    Number(1500, 4500, 5),
    Number(0, 1, "0.0000002"),
    Number(0, 1, Fraction(1, 3)),
    Number(10**12, 10**12 + 1, "0.000001"),
    Number(-(10**30), 10**30, 10**28),
    Number(0, 10**400, 10**399),
    Number("1e-30", "2e-30", "1e-33"),
]
NASTY: list[str | None] = [
    None,
    "",
    " ",
    "NA",
    "n/a",
    "null",
    "-",
    "+",
    ".",
    ",",
    "e5",
    "1e",
    "1e5",
    "1E-2",
    "1e999",
    "-1e999",
    "1e-999",
    "1e1000",
    "inf",
    "-INF",
    "+Infinity",
    "∞",
    "-∞",
    "nan",
    "-nan",
    "NaN",
    "1_000",
    "0x10",
    "١٢",
    "½",
    "1 2",
    "1,5",
    "1.5",
    "1.2.3",
    "1,234",
    "12,34,567",
    "1,23",
    "1 234,5",
    "1\u00a0234,5",
    "1\u202f234",
    "1'234",
    "1’234",
    "1.234,5",
    "$5",
    "5 €",
    "50%",
    "(5)",
    "−3",
    "--3",
    "+3",
    "\u00a07\u2003",
    "\t8\n",
    "007",
    ".5",
    "5.",
    "-.5",
    "0.05",
    "0.15",
    "0.25",
    "-0.05",
    "2.5",
    "3.5",
    "99.5",
    "1000000000000.0000005",
    "1000000000000.9999995",
    "9" * 400,
    "9" * 401,
    "0." + "0" * 398,
    "\0",
    "5\0",
    "😀",
    "x" * 70_000,
    "1e400",
    "5e398",
    "1.5e-30",
    "1.0005e-30",
    "true",
    "2020-01-01",
    "4502.5",
    "1502.5",
    "1507.5",
]
DIALECTS = [
    COMMA,
    CZECH,
    Dialect(decimal=","),
    Dialect(thousands=","),
    Dialect(decimal=",", thousands="."),
    Dialect(thousands="'"),
]


@pytest.mark.every(3)
@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_nasty_numbers_against_the_slow_rule(dialect: Dialect) -> None:
    for column, codes in zip(GRIDS, code(NASTY, *GRIDS, dialect=dialect), strict=True):
        assert dict(zip(NASTY, codes, strict=True)) == {cell: slow_number(cell, column, dialect) for cell in NASTY}


@pytest.mark.parametrize("dialect", [COMMA, Dialect(decimal=",")], ids=repr)
def test_the_kind_of_a_cell_is_that_of_its_text_alone(tmp_path: Path, dialect: Dialect) -> None:
    """However numbers are read: at the ends of the range, beside them, and those that have a meaning of their own."""
    columns = {
        "a": Number(-5, 99),
        "b": Number(0, 1, Fraction(1, 3)),
        "c": Number(0, 98, codes=[99, "0.5"], words=True),
    }
    exact = ["-5", "-5.0000000000000001", "99", "98", "98.0000000000000001", "99.0", "097", "0.5", "1", "-0", "9" * 16]
    cells = [cell for cell in (*NASTY, *exact, *(text.replace(".", ",") for text in exact)) if cell]
    pq.write_table(pa.table(dict.fromkeys(columns, pa.array(cells))), tmp_path / "raw")
    encode(tmp_path / "raw", Schema(columns), dialect, tmp_path / "coded")
    coded = pq.read_table(tmp_path / "coded")
    for at, (name, column) in enumerate(columns.items()):
        kind = kind_of(name, column, dialect)
        assert coded.column(f"f{at}").to_pylist() == [kind(cell) for cell in cells]
        assert coded.column(f"c{at}").to_pylist() == coder_of(column, dialect)(pa.array(cells)).to_pylist()


def test_numbers_by_hand() -> None:
    cells: list[str | None] = ["30", " 30 ", "-4", "120.4", "121", "1e9", "inf", "-inf"]
    cells += ["nan", "", None, "n/a", "30 years", "0.5", "1.5"]
    assert code(cells, Number(0, 120)) == [[30, 30, 0, 120, 120, 120, 120, 0, -1, -1, -1, -1, -1, 0, 2]]
    assert code(["1 234,5", "1234,5", "1.234,5"], Number(0, 2000, "0.5"), dialect=CZECH) == [[2469, 2469, -1]]


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.floats().map(repr),
            st.integers(-200, 200).map(str),
            st.decimals(-10, 110, places=2).map(str),
            st.text("0123456789.,-+eE ' ", max_size=8),
            st.text(max_size=6).filter(lambda t: t.isprintable()),
        ),
        max_size=40,
    ),
    st.sampled_from(DIALECTS),
)
@example(["1.797693134862316e+306", "-1e308"], COMMA)  # infinite in units of the step; a warning would tell of it
def test_any_text_against_the_slow_rule(cells: list[str | None], dialect: Dialect) -> None:
    columns = [Number(0, 100), Number(-5, 5, "0.01")]
    for column, codes in zip(columns, code(cells, *columns, dialect=dialect), strict=True):
        assert codes == [slow_number(cell, column, dialect) for cell in cells]


# --- lists


def test_lists_by_hand() -> None:
    cells: list[str | None] = ["TX", " tx ", "Ca", "NY", "", "  ", None, "other", "No Answer", "NA", "null", "-", "T X"]
    state = Category(["TX", "CA"])  # labels: TX, CA, other, no answer
    closed = Category(["TX", "CA"], unknown="CA", missing="TX")
    assert code(cells, state, closed) == [
        [0, 0, 1, 2, 3, 3, 3, 2, 3, 2, 2, 2, 2],
        [0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1],
    ]
    assert code(["Y", "1", "no", "F", "maybe", "", "YES"], yes_no()) == [[0, 0, 1, 1, 2, 3, 0]]


def test_a_listed_value_goes_before_another_spelling() -> None:
    column = Category(["1", "2"], aliases=[("1", "2"), ("one", "1"), ("one", "2"), ("", "2")])
    assert code(["1", "one", ""], column) == [[0, 0, 3]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.none() | st.text(max_size=5) | st.sampled_from(["İ", "i̇", "ΟΔΟΣ", "οδος", "straße", "K"])))
@example(["İ", "i̇", "i", "I", "ΟΔΟΣ", "οδος", "οδοσ", "K"])
def test_any_text_has_one_place(cells: list[str | None]) -> None:
    """Letters whose small form is a matter of opinion are compared as the schema compares them."""
    cells = [cell for cell in cells if cell is None or not any("\ud800" <= sign <= "\udfff" for sign in cell)]
    column = Category(["İ", "i", "ΟΔΟΣ", "οδοσ", "straße", "k"])

    def place(cell: str | None) -> int:
        if cell is None or not cell.strip():
            return column.code("no answer")
        try:
            return column.code(cell)
        except KeyError:
            return column.code("other")

    assert code(cells, column) == [[place(cell) for cell in cells]]


# --- the table


def test_the_smallest_whole_type(tmp_path: Path) -> None:
    kinds = {127: pa.int8(), 128: pa.int16(), 32767: pa.int16(), 32768: pa.int32(), 9_999_999: pa.int32()}
    schema = Schema({str(last): Number(0, last) for last in kinds})
    pq.write_table(pa.table({str(last): ["1e12", "", "3"] for last in kinds}), tmp_path / "raw")
    encode(tmp_path / "raw", schema, COMMA, tmp_path / "coded")
    found = pq.read_table(tmp_path / "coded")
    assert found.schema.types[: len(kinds)] == list(kinds.values())
    assert [column.to_pylist() for column in found.columns[: len(kinds)]] == [[last, -1, 3] for last in kinds]


def test_columns_are_found_by_their_exact_name(tmp_path: Path) -> None:
    names = ["a", "A", "a.b", 'q"', "x; --", "two\nlines", "😀", "c0"]
    pq.write_table(pa.table([[str(place)] for place in range(len(names))], names=names), tmp_path / "raw")
    wanted = list(reversed(names))
    encode(tmp_path / "raw", Schema({name: Number(0, 9) for name in wanted}), COMMA, tmp_path / "coded")
    assert [column[0].as_py() for column in pq.read_table(tmp_path / "coded").columns[:8]] == [7, 6, 5, 4, 3, 2, 1, 0]


def test_what_cannot_be_coded_is_said(tmp_path: Path) -> None:
    def refused(raw: str, name: str) -> AllowanceError:
        with pytest.raises(AllowanceError) as refusal:
            encode(tmp_path / raw, Schema({name: Number(0, 9)}), COMMA, tmp_path / "coded")
        assert not (tmp_path / "coded").exists()
        return refusal.value

    pq.write_table(pa.table({"a": ["1"]}), tmp_path / "raw")
    (tmp_path / "broken").write_bytes(b"PAR1zebra")
    assert refused("raw", "b").code == "column.absent"
    assert refused("broken", "a").code == "engine.unreadable"
    assert refused("none", "a").code == "engine.unreadable"


def test_order_and_number_of_rows_across_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "GROUP", 7)
    cells: list[Any] = [str(place % 50) if place % 9 else None for place in range(100)]
    pq.write_table(pa.table({"a": cells, "unused": cells}), tmp_path / "raw", row_group_size=3)
    encode(tmp_path / "raw", Schema({"a": Number(0, 49)}), COMMA, tmp_path / "coded")
    assert pq.read_table(tmp_path / "coded")["c0"].to_pylist() == [-1 if cell is None else int(cell) for cell in cells]


def test_from_a_czech_file_to_codes(tmp_path: Path) -> None:
    text = "jméno;plat;město\nŽaneta;1 234,5;Plzeň\nŘehoř;\u00a02000,25;PLZEŇ\n;;\nX;abc;Brno\n"
    (tmp_path / "lidé.csv").write_bytes(text.encode("windows-1250"))
    assert load.load(tmp_path / "lidé.csv", CZECH, tmp_path / "raw", b"s").rows == 3  # a line of separators is nobody's
    schema = Schema({"město": Category(["Plzeň", "Brno"]), "plat": Number(0, 3000, "0.5")})
    encode(tmp_path / "raw", schema, CZECH, tmp_path / "coded")
    town, pay = pq.read_table(tmp_path / "coded").columns[:2]
    assert (town.to_pylist(), pay.to_pylist()) == ([0, 0, 1], [2469, 4000, -1])
