"""The records of a text file: one row each, whatever the cells hold, and nobody's cells concern anybody else's."""

from __future__ import annotations

import csv
import re
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers_load import BREAKS, COMMA, LINES, put, quoted, read, written
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dpengine.core.errors import AllowanceError
from dpengine.declared import dialect as dialect_module
from dpengine.declared.dialect import EITHER, ENCODINGS, LONGEST_RECORD, Dialect
from dpengine.intake import csv_records
from dpengine.intake import load as load_module


def test_damaged_records_become_empty_rows(tmp_path: Path) -> None:
    data = b'a,b\n1,2\n3\n4,5,6\n"7"x,8\n\xff,9\n\n10,"1\n1"\n12,1\r3\n14,"1\r5"\n1,"6'
    found, rows = read(tmp_path, data, bad_records="empty")
    none = (None, None)
    assert rows == [("1", "2"), *[none] * 8, ("14", "1\r5"), none]
    assert found.rows == 11


@pytest.mark.every(9)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_too_long_is_damaged_to_its_end(end: str, tmp_path: Path) -> None:
    most = LONGEST_RECORD - 2 - len(end)
    for size, last in [(most, "x" * most), (most + 1, None), (3 * LONGEST_RECORD, None)]:
        for tail in ("3,4" + end, "3,4", end, ""):
            data = f"a,b{end}1,2{end}1,{'x' * size}{end}{tail}"
            rows = read(tmp_path, data, bad_records="empty")[1]
            assert rows == [("1", "2"), (last and "1", last), *[("3", "4")] * (tail[:1] == "3")]


@pytest.mark.every(9)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(end: str, last: bool, tmp_path: Path) -> None:
    data = end.join(["a,b", "1,2", '"x\ny\r\nz\r",', ' 3 ,""""']) + (end if last else "")
    assert read(tmp_path, data, BREAKS)[1] == [("1", "2"), ("x\ny\r\nz\r", None), (" 3 ", '"')]
    other = "\n" if end == "\r" else "\r"  # no line end in this file, so it may stand in a quoted cell
    data = end.join(["a,b", "1,2", f'"x{other}y",', ' 3 ,""""']) + (end if last else "")
    assert read(tmp_path, data)[1] == [("1", "2"), (f"x{other}y", None), (" 3 ", '"')]
    if last:
        assert read(tmp_path, data + 3 * end)[0].rows == 3  # blank lines at the end are no records …
    one = end.join(["a", "1", "", '""', "2", ""]) + (end if last else "")
    assert len(read(tmp_path, one)[1]) == 4 + last  # … but in a table of one column each is a missing cell


def test_mixed_line_ends(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n1,2\r\n3,4\n5,6")[1] == [("1", "2"), ("3", "4"), ("5", "6")]


def test_a_quote_inside_a_bare_cell_is_text(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n5" pipe,2\n')[1] == [('5" pipe', "2")]
    assert read(tmp_path, 'a,b\n"5,2\n', Dialect(quote=""))[1] == [('"5', "2")]
    assert read(tmp_path, "a,b\n'1,5',2\n", Dialect(quote="'"))[1] == [("1,5", "2")]


NAMES = [
    'q"uote',
    "it's",
    "x; DROP TABLE t; --",
    "two\nlines",
    "čeština",
    "😀",
    "=1+1",
    "A",
    "a",
    "a.b",
    "c0",
    "%s {x}",
    "s s",
]


def test_any_name_is_kept(tmp_path: Path) -> None:
    found, rows = read(tmp_path, quoted([NAMES, [str(i) for i in range(len(NAMES))]]), BREAKS)
    assert list(found.columns) == NAMES == pq.read_schema(tmp_path / "raw.parquet").names
    assert rows == [tuple(str(i) for i in range(len(NAMES)))]


@pytest.mark.long
def test_a_thousand_columns(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(1000)]
    found, rows = read(tmp_path, written([names, *[["1"] * 1000] * 5]))
    assert (found.rows, len(found.columns), rows[4][999]) == (5, 1000, "1")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(encoding: str, tmp_path: Path) -> None:
    written_in = EITHER.get(encoding, encoding)
    word = "žluť" if written_in != "windows-1252" and written_in != "iso-8859-1" else "Zürich"
    data = f"{word};plat\n{word};1 234,5\n" * 3
    dialect = Dialect(separator=";", decimal=",", encoding=encoding)
    found, rows = read(tmp_path, data.encode(written_in), dialect)
    assert found.columns == (word, "plat") and rows[0] == (word, "1 234,5") and found.rows == 5
    if encoding in ("utf-8", *EITHER):
        assert read(tmp_path, b"\xef\xbb\xbf" + data.encode(), dialect)[0] == found
    if encoding == "utf-16":
        assert read(tmp_path, data.encode("utf-16-be").join([b"\xfe\xff", b""]), dialect)[1] == rows


def test_undecodable_bytes_concern_their_record_alone(tmp_path: Path) -> None:
    for encoding, plain, bad in [
        ("windows-1250", "windows-1250", b"\x81"),
        ("utf-16", "utf-16-le", b"\x00\xd8"),
        ("utf-8", "utf-8", b"\xed\xb3\xbf"),
    ]:
        data = "a,b\n1,2\n".encode(encoding) + bad + ",3\né,5\n".encode(plain)
        dialect = Dialect(encoding=encoding)
        assert read(tmp_path, data, dialect, "empty")[1] == [("1", "2"), (None, None), ("é", "5")]
        with pytest.raises(AllowanceError) as refusal:
            read(tmp_path, data, dialect)
        assert refusal.value.code == "load.encoding"


# --- the quick path is the careful one


PIECES = ["a", "é", ",", ",", "\n", "\n", "\r\n", "\r", '"', '""', '","', '"\n"', '",\n', " ", "\ufeff", "\0", "\udcff"]
HEADERS = ["a,b\n", "a\n", "a,b\r\n", "a,b\r", "a\r"]
SIZES = st.sampled_from([1, 2, 3, 4, 5, 7, 9, 1000])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), SIZES, st.sampled_from(HEADERS))
@example('1,"2\n",4\n5,6\n', 9, "a,b\n")
@example('"hi,1\n5",2\n5,6\n', 9, "a,b\n")
@example('1,"2\r"\n"3\r",4\n', 9, "a,b\n")
@example('1,"2\r\n"\r\n3,4\r\n', 9, "a,b\r\n")
@example('1,"2\n"\r3,4\r', 9, "a,b\r")
@example('1\n2",\r\n', 9, "a,b\r")
@example("1\r\r\n2\n", 9, "a\n")
@example("1,2\r3,4\n", 9, "a,b\n")
@example('1,2\n"x"y,4\n', 9, "a,b\n")
@example('1,x"y\n3","z\n', 9, "a,b\n")
@example('1,x"\n2",y\n', 9, "a,b\n")
@example('x"y,"\nq"\n', 9, "a,b\n")
@example("1,2\n\n3,4\n", 9, "a,b\n")
@example("1,2\n3,4\n\r\n", 9, "a,b\n")
@example("1\n\n\n", 2, "a\n")
@example("1,2\n\ufeff3,4\n", 4, "a,b\n")  # at the start of a block
@example("1,2\n3,\udcff4\n", 9, "a,b\n")
@example('1,"2\n3,4\n', 3, "a,b\n")
def test_both_paths_read_alike(text: str, chunk: int, header: str) -> None:
    data = (header + text).encode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(dialect_module, "CHUNK", chunk)
        patch.setattr(csv_records, "BLOCK", chunk * 2)
        path = put(Path(folder), data)
        for mode, dialect in [(mode, dialect) for mode in ("refuse", "empty") for dialect in (COMMA, BREAKS)]:
            both = outcome(path, mode, dialect)
            with pytest.MonkeyPatch.context() as slow:
                slow.setattr(csv_records, "_swift", lambda *_: iter(()))
                assert outcome(path, mode, dialect) == both
            if (mode, dialect) == ("empty", COMMA):
                assert both == alone(header + text)


def alone(text: str) -> list[Any]:
    """Every line by a reader of its own: the rule once more, in the fewest words."""
    head, *lines = text.split("\r" if re.match(r"[^\r\n]*\r(?!\n)", text) else "\n")
    width = head.count(",") + 1
    rows: list[Any] = []
    for line in lines if lines[-1] else lines[:-1]:
        try:
            row = next(csv.reader([line], strict=True))
        except csv.Error:
            row = ["damaged"] * 9
        good = len(row) == width and all(map(dialect_module.readable, row))
        if good and width > 1 and not any(cell.strip(" \t\"',") for cell in row):
            continue  # nobody's row
        rows.append(tuple(row) if good else ("",) * width if row or width == 1 else None)
    while rows and rows[-1] is None:
        rows.pop()
    return [row or ("",) * width for row in rows]


def outcome(path: Path, mode: str, dialect: Dialect) -> Any:
    try:
        _, batches = csv_records.read_csv(path, dialect, mode)
        return [row for columns, _ in batches for row in zip(*(c.to_pylist() for c in columns), strict=True)]
    except AllowanceError as refusal:
        return refusal.code


def test_the_quick_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_records, "_careful", lambda *_: iter(()))
    for break_, dialect in (("", COMMA), ("\r", COMMA), ("\n", BREAKS)):
        data = quoted([["a", "b"], [f"x{break_},y", 'say "hi"'], ["", "é"]])
        assert read(tmp_path, data, dialect)[0].rows == 2
        assert read(tmp_path, data.replace("\n", "\r\n"), dialect)[0].rows == 2


CELL = st.text("01aé\0\r ", max_size=3) | st.integers(0, 2 * csv_records.SHORT + 1).map(
    lambda size: "x1y"[size % 3] * size
)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.sampled_from(["\n", "\r\n"]), st.data())
def test_bare_cells_are_read_as_arrow_reads_them(width: int, end: str, data: st.DataObject) -> None:
    row = st.lists(CELL.map(lambda cell: cell.replace("\r", "")), min_size=width, max_size=width)
    rows = data.draw(st.lists(row.filter(lambda row: width > 1 or row[0]), min_size=1, max_size=30))
    block = "".join(",".join(row) + end for row in rows).encode()
    different = data.draw(st.lists(st.integers(0, 2), min_size=width, max_size=width))
    each = [times > 0 for times in different]
    found = csv_records._bare_cells(block, width, COMMA, different)
    assert (found is None) == (not block.isascii() or b"\0" in block)
    if found is not None:
        assert [list(row) for row in zip(*(cells.to_pylist() for cells in found), strict=True)] == rows
        assert [pa.types.is_string(cells.type) for cells in found] == each


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 3), st.text("a,,\r\n\n", max_size=12), st.sampled_from([4, 99]))
def test_bare_cells_are_read_of_proven_blocks_alone(width: int, text: str, longest: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_records, "LONGEST_RECORD", longest)
        for block in (text, "aaaa\n", "a,b\n\n", "a,b\r\n\r\n", "a\r,b\n", "a,b\n1,2"):
            found = csv_records._bare_cells(block.encode(), width, COMMA, [0] * width)
            certain = csv_records._proven(block.encode(), width, COMMA, last=False)
            assert found is None or certain == (len(block), len(found[0]))


class _Moving(list[int]):
    """Another thread changes it between any two reads."""

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        super().__setitem__(place, int(not found))
        return found


@pytest.mark.parametrize("before", [0, 1])
def test_blocks_that_threads_read_at_once_are_read_alike(before: int) -> None:
    block = "".join(f"{row},{row % 3}\n" for row in range(50)).encode()
    found = csv_records._bare_cells(block, 2, COMMA, _Moving([before, before]))
    assert found is not None
    assert [cells.to_pylist() for cells in found] == [
        [str(row) for row in range(50)],
        [str(row % 3) for row in range(50)],
    ]


def test_a_doubt_in_a_later_block_loses_and_doubles_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are parsed ahead: what was read after the one in doubt is read again, by the csv module."""
    monkeypatch.setattr(csv_records, "BLOCK", 64)
    monkeypatch.setattr(dialect_module, "CHUNK", 64)
    good = [f"{number},x{number}" for number in range(60)]
    for place in (0, 7, 30, 59):
        lines = [*good[:place], '"a"b,1', *good[place:]]
        path = put(tmp_path, "\n".join(["n,t", *lines]) + "\n")
        rows = [tuple(line.split(",")) for line in good]
        assert outcome(path, "empty", COMMA) == [*rows[:place], ("", ""), *rows[place:]]


def test_texts_that_become_different_or_alike_later_are_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_records, "BLOCK", 400)
    monkeypatch.setattr(dialect_module, "CHUNK", 400)
    monkeypatch.setattr(load_module, "LIGHT", 500)
    alike, unlike = [f"a,{n % 7}" for n in range(900)], [f"{n},{n % 5}" for n in range(900)]
    marks = set()
    for lines in ([*alike, *unlike], [*unlike, *alike], [*unlike[::-1], *alike[::-1]]):
        loaded, raw = read(tmp_path, "\n".join(["n,t", *lines]) + "\n")
        assert raw == [tuple(line.split(",")) for line in lines]
        marks.add(loaded.fingerprint)
    assert len(marks) == 1


@pytest.mark.parametrize("size", [LONGEST_RECORD - 4, LONGEST_RECORD - 3, LONGEST_RECORD - 2, LONGEST_RECORD - 1])
def test_both_paths_draw_the_same_limit(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, f"a,b\n1,{'x' * size}\n")
    both = [outcome(path, "refuse", dialect) for dialect in (COMMA, BREAKS)]
    monkeypatch.setattr(csv_records, "_swift", lambda *_: iter(()))
    assert both == [outcome(path, "refuse", dialect) for dialect in (COMMA, BREAKS)]


# --- one person's cells


CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "",
            " ",
            "NA",
            "null",
            "\\N",
            "1e999",
            "-inf",
            "nan",
            "\0",
            '"',
            '""',
            "'",
            ",",
            ";",
            "\n",
            "\r",
            "\r\n",
            "\n\n",
            "=cmd()",
            "\ufeff",
            "\\",
            '\\"',
            "2020-01-01",
            "{}",
            "#",
            "--",
            "%",
            "x" * 70_000,
            "😀" * 9,
            "\u202e",
            "0x1F",
            "true",
        ]
    ),
).filter(lambda text: not any("\ud800" <= sign <= "\udfff" for sign in text))
BASE = [["id", "age", "note"], ["1", "30", "x"], ["2", "", "y"], ["3", "50", "z"]]


@settings(max_examples=8, deadline=None)
@given(st.lists(CELLS, min_size=3, max_size=3), st.integers(1, 3), st.sampled_from(["refuse", "empty"]))
def test_one_persons_cells_change_only_that_row(cells: list[str], place: int, mode: str) -> None:
    assume(any(cell.strip(" \t\"',") for cell in cells))  # else it is nobody's row, below
    with tempfile.TemporaryDirectory() as name:
        table = [row if at != place else cells for at, row in enumerate(BASE)]
        for dialect in (BREAKS, COMMA) if "\n" not in "".join(cells) else (BREAKS,):
            found, rows = read(Path(name), quoted(table), dialect, mode)
            assert found.rows == 3 and found.columns == ("id", "age", "note")
            assert rows == [tuple(cell or None for cell in row) for row in table[1:]]


# --- one person's line


NASTY = [
    b'"oops',
    b'1,"oops',
    b'1,"oops,x',
    b'1,2,"oops',
    b'"',
    b'""',
    b'"""',
    b'""""',
    b'"a""',
    b'"a"",1,2',
    b'","',
    b',"',
    b'"a"x,1,2',
    b'1,"a" ,2',
    b'x"',
    b'1,x",2',
    b'" ""',
    b"'",
    b"'a,1,2",
    b"\\",
    b'\\",1,2',
    b'1,"\\",2',
    b"",
    b" ",
    b",",
    b",,",
    b",,,,,,,",
    b";;;\t\t||",
    b"1,2",
    b"1,2,3,4",
    b"\0",
    b"1,\0,3",
    b'"\0',
    b"\x1a",
    b"\x1a,1,2",
    b"\x0b,\x0c,\x1c",
    "\x85,\u2028,\u2029".encode(),
    b"\xff\xfe,1,2",
    b"\xc3",
    b"1,2,\xc3",
    b"1,2,\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80,1,2",
    b'"\xff',
    b"\xef\xbb\xbf1,2,3",
    "😀,👩‍👩‍👧,🇨🇿".encode(),
    "\u202e,\u0000,\ufeff".encode(),
    b"\r",
    b"\r\r",
    b"1,2\r3,4",
    b'1,"2\r3",4',
    b'"\r',
    b'1,2,"\r',
    b"x" * (LONGEST_RECORD + 5),
    b'"' + b"x" * LONGEST_RECORD * 2,
    b'1,"' + b'x",' * LONGEST_RECORD,
    b"," * 70_000,
]


def check_other_lines(line: bytes, place: int, end: bytes = b"\n", last: bool = True) -> None:
    """Whatever stands in one line: as many rows, and every other row as before."""
    if (end == b"\r" and b"\r" in line) or (place == len(LINES) - 1 and not line.strip(b"\r")):
        return  # these are two lines, and none
    if not line.strip(b" \t\"',\r"):
        return  # separators alone are nobody's row
    with tempfile.TemporaryDirectory() as name:
        before, after = (
            outcome(put(Path(name), end.join(lines) + end * last), "empty", COMMA)
            for lines in (LINES, [*LINES[:place], line, *LINES[place + 1 :]])
        )
    assert len(before) == len(after) == len(LINES) - 1
    assert before[: place - 1] == after[: place - 1] and before[place:] == after[place:]


@pytest.mark.every(9)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_any_line_leaves_the_others_alone(end: bytes) -> None:
    for line in NASTY:
        for place, last in ((1, True), (3, True), (len(LINES) - 1, False)):
            check_other_lines(line, place, end, last)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [b'"', b'"', b'""', b",", b",", b"\r", b"x", b" ", b"\0", b"\xff", b"\xe2", b"\xef\xbb\xbf"]
            ),
            st.binary(max_size=3),
            st.text(st.characters(codec="utf-8"), max_size=3).map(str.encode),
        ),
        max_size=12,
    )
    .map(b"".join)
    .filter(lambda line: b"\n" not in line),
    st.integers(1, len(LINES) - 1),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.booleans(),
    SIZES,
)
def test_any_bytes_leave_the_other_lines_alone(line: bytes, place: int, end: bytes, last: bool, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dialect_module, "CHUNK", chunk)
        patch.setattr(csv_records, "BLOCK", chunk * 2)
        check_other_lines(line, place, end, last)


@pytest.mark.every(9)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_other_lines_in_every_encoding(encoding: str, tmp_path: Path) -> None:
    for line in ['"oops', '1,"oops', '"a"x,1', "\0", "", "1,2,3", '1,"é', "\ud800" if encoding == "utf-16" else "é"]:
        text = f'a,b\n1,2\n{line}\n3,"4"\n5",é\n'
        data = text.encode(EITHER.get(encoding, encoding), "surrogatepass" if encoding == "utf-16" else "strict")
        rows = read(tmp_path, data, Dialect(encoding=encoding), "empty")[1]
        assert (len(rows), rows[0], *rows[2:]) == (4, ("1", "2"), ("3", "4"), ('5"', "é"))


def test_one_open_quote_among_a_thousand_lines(tmp_path: Path) -> None:
    lines = [f"{i},{i % 90},x" if i != 999 else f'{i},1,"x"' for i in range(1, 1001)]
    lines[100] = '101,11,"oops'
    found, rows = read(tmp_path, "\n".join(["id,age,note", *lines]), bad_records="empty")
    assert found.rows == 1000 and [at for at, row in enumerate(rows) if row[0] != str(at + 1)] == [100]
    assert rows[100] == (None, None, None)
    with pytest.raises(AllowanceError, match="open or misplaced quote"):
        read(tmp_path, "\n".join(["id,age,note", *lines]))
