"""The records of a text file: one row each, whatever the cells hold, and nobody's cells concern anybody else's."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from helpers_load import COMMA, put, quoted, read, written
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpengine import dialect as dialect_module
from dpengine import records
from dpengine.dialect import ENCODINGS, LONGEST_RECORD, Dialect
from dpengine.errors import AllowanceError


def test_damaged_records_become_empty_rows(tmp_path: Path) -> None:
    data = b'a,b\n1,2\n3\n4,5,6\n"7"x,8\n\xff,9\n\n10,"1\n1"\n12,1\r3\n14,15'
    found, rows = read(tmp_path, data, bad_records="empty")
    none = (None, None)
    assert rows == [("1", "2"), none, none, none, none, none, ("10", "1\n1"), none, ("14", "15")]
    assert found.rows == 9
    for data in (b'a,b\n1,"2\n', b"a,b\n1," + b"x" * (LONGEST_RECORD + 1)):
        with pytest.raises(AllowanceError):
            read(tmp_path, data, bad_records="empty")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(end: str, last: bool, tmp_path: Path) -> None:
    data = end.join(["a,b", "1,2", '"x\ny\r\nz\r",', ' 3 ,""""']) + (end if last else "")
    assert read(tmp_path, data)[1] == [("1", "2"), ("x\ny\r\nz\r", None), (" 3 ", '"')]
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
    'q"uote', "it's", "x; DROP TABLE t; --", "two\nlines", "čeština", "😀", "=1+1", "A", "a", "a.b", "c0",
    "%s {x}", " s ",
]


def test_any_name_is_kept(tmp_path: Path) -> None:
    found, rows = read(tmp_path, quoted([NAMES, [str(i) for i in range(len(NAMES))]]))
    assert list(found.columns) == NAMES == pq.read_schema(tmp_path / "raw.parquet").names
    assert rows == [tuple(str(i) for i in range(len(NAMES)))]


def test_a_thousand_columns(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(1000)]
    found, rows = read(tmp_path, written([names, *[["1"] * 1000] * 5]))
    assert (found.rows, len(found.columns), rows[4][999]) == (5, 1000, "1")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(encoding: str, tmp_path: Path) -> None:
    word = "žluť" if encoding != "windows-1252" and encoding != "iso-8859-1" else "Zürich"
    data = f"{word};plat\n{word};1 234,5\n" * 3
    dialect = Dialect(separator=";", decimal=",", encoding=encoding)
    found, rows = read(tmp_path, data.encode(encoding), dialect)
    assert found.columns == (word, "plat") and rows[0] == (word, "1 234,5") and found.rows == 5
    if encoding == "utf-8":
        assert read(tmp_path, b"\xef\xbb\xbf" + data.encode(), dialect)[0] == found
    if encoding == "utf-16":
        assert read(tmp_path, data.encode("utf-16-be").join([b"\xfe\xff", b""]), dialect)[1] == rows


def test_undecodable_bytes_concern_their_record_alone(tmp_path: Path) -> None:
    for encoding, plain, bad in [
        ("windows-1250", "windows-1250", b"\x81"), ("utf-16", "utf-16-le", b"\x00\xd8"),
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
HEADERS = ["a,b\n", "a\n"]
SIZES = st.sampled_from([1, 2, 3, 4, 5, 7, 9, 1000])


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), SIZES, st.sampled_from(HEADERS))
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
        patch.setattr(records, "BLOCK", chunk * 2)
        path = put(Path(folder), data)
        for mode in ("refuse", "empty"):
            both = outcome(path, mode)
            with pytest.MonkeyPatch.context() as slow:
                slow.setattr(records, "_swift", lambda *_: iter(()))
                assert outcome(path, mode) == both


def outcome(path: Path, mode: str) -> Any:
    try:
        _, batches = records.read_csv(path, COMMA, mode)
        return [row for columns, _ in batches for row in zip(*(c.to_pylist() for c in columns), strict=True)]
    except AllowanceError as refusal:
        return refusal.code


def test_the_quick_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_careful", lambda *_: iter(()))
    data = quoted([["a", "b"], ["x\n,y", 'say "hi"'], ["", "é"]])
    assert read(tmp_path, data)[0].rows == 2
    assert read(tmp_path, data.replace("\n", "\r\n"))[0].rows == 2


# --- one person's cells


CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([
        "", " ", "NA", "null", "\\N", "1e999", "-inf", "nan", "\0", '"', '""', "'", ",", ";", "\n", "\r",
        "\r\n", "\n\n", "=cmd()", "\ufeff", "\\", '\\"', "2020-01-01", "{}", "#", "--", "%", "x" * 70_000,
        "😀" * 9, "\u202e", "0x1F", "true",
    ]),
).filter(lambda text: not any("\ud800" <= sign <= "\udfff" for sign in text))
BASE = [["id", "age", "note"], ["1", "30", "x"], ["2", "", "y"], ["3", "50", "z"]]


@settings(max_examples=40, deadline=None)
@given(st.lists(CELLS, min_size=3, max_size=3), st.integers(1, 3), st.sampled_from(["refuse", "empty"]))
def test_one_persons_cells_change_only_that_row(cells: list[str], place: int, mode: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        table = [row if at != place else cells for at, row in enumerate(BASE)]
        found, rows = read(Path(name), quoted(table), bad_records=mode)
        assert found.rows == 3 and found.columns == ("id", "age", "note")
        assert rows == [tuple(cell or None for cell in row) for row in table[1:]]
