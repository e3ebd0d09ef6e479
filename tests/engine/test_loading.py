"""A file becomes a raw table: what is kept, what is refused, and that one person's cells concern nobody else."""

from __future__ import annotations

import csv
import io
import math
import stat
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpengine import dialect as dialect_module
from dpengine import records
from dpengine.dialect import ENCODINGS, LONGEST_RECORD, PRESETS, Dialect, read_header, suggest
from dpengine.errors import AllowanceError
from dpengine.loading import Loaded, load

SECRET = b"k" * 32
COMMA = Dialect()
CANARY = "zebra7421"


def put(folder: Path, data: bytes | str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def read(folder: Path, data: bytes | str, dialect: Dialect = COMMA, bad_records: str = "refuse") -> tuple[Loaded, list[Any]]:
    found = load(put(folder, data), dialect, folder / "raw.parquet", SECRET, bad_records=bad_records)
    return found, rows_of(folder / "raw.parquet")


def rows_of(raw: Path) -> list[Any]:
    return list(zip(*(column.to_pylist() for column in pq.read_table(raw).columns), strict=True))


def written(rows: list[list[str]], **how: Any) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", **how).writerows(rows)
    return out.getvalue()


def quoted(rows: list[list[str]]) -> str:
    return written(rows, quoting=csv.QUOTE_ALL)


# --- the dialect


@pytest.mark.parametrize(
    "wrong",
    [
        {"separator": ""}, {"separator": ",,"}, {"separator": "a"}, {"separator": "\n"}, {"separator": '"'},
        {"separator": "é"}, {"quote": "q"}, {"decimal": ";"}, {"thousands": "."}, {"thousands": "x"},
        {"encoding": "latin"}, {"separator": 1}, {"decimal": None},
    ],
)
def test_a_dialect_is_checked_at_birth(wrong: dict[str, Any]) -> None:
    with pytest.raises(AllowanceError) as refusal:
        Dialect(**wrong)
    assert refusal.value.code.startswith("dialect.")
    assert len(str(refusal.value)) > 20


def test_a_dialect_survives_json() -> None:
    for dialect in [*PRESETS.values(), Dialect(thousands=" ", decimal=",", encoding="utf-16")]:
        assert Dialect.from_json(dialect.as_json()) == dialect
    for wrong in [{"strange": "x"}, 3, None, ["a"]]:
        with pytest.raises(AllowanceError):
            Dialect.from_json(wrong)


def test_a_suggestion_reads_the_first_line_only(tmp_path: Path) -> None:
    rest = "1;2;3;4\t5\t6\t7|8|9|10|11\n" * 3
    for line, separator, decimal in [
        ("a,b,c", ",", "."), ("a;b;c", ";", ","), ("a\tb", "\t", "."), ("a|b", "|", "."), ("alone", ",", "."),
        ('"x;y;z",b', ",", "."),
    ]:
        found = suggest(put(tmp_path, f"{line}\n{rest}"))
        assert found == Dialect(separator=separator, decimal=decimal)
    assert suggest(put(tmp_path, b"\xef\xbb\xbfa;b\n")).encoding == "utf-8"
    assert suggest(put(tmp_path, "a;b\n1;ž\n".encode("utf-16"))) == Dialect(separator=";", decimal=",", encoding="utf-16")
    assert suggest(put(tmp_path, "věk;b\n".encode("windows-1250"))).encoding == "windows-1252"
    assert suggest(put(tmp_path, b"a;b\n\xff\xfe\x81;\n")).encoding == "utf-8"
    for wrong in (b"", b"PK\x03\x04xx"):
        with pytest.raises(AllowanceError):
            suggest(put(tmp_path, wrong))
    with pytest.raises(AllowanceError):
        suggest(tmp_path / "nowhere.csv")


def test_the_header_is_the_first_record(tmp_path: Path) -> None:
    assert read_header(put(tmp_path, '"two\nlines",b\r\n1,2\n'), COMMA) == ["two\nlines", "b"]
    assert read_header(put(tmp_path, b"\xef\xbb\xbfa,b\n\xff\xff"), COMMA) == ["a", "b"]
    assert read_header(put(tmp_path, b"a,b\rc,d\r"), COMMA) == ["a", "b"]
    assert read_header(put(tmp_path, "a,b"), COMMA) == ["a", "b"]


# --- refusals: one code each, a sentence that says what to do, nothing left behind, no cell quoted


REFUSED = {
    "load.empty": [b"", b"\xef\xbb\xbf"],
    "load.no_rows": [b"a,b", b"a,b\n", b"a,b\n\n\n", b"a\n"],
    "load.no_header": [b"\n1,2\n", b",\n1,2\n", b"  \nx\n"],
    "load.name_blank": [b"a,,c\n1,2,3\n", b"a,b,\n1,2,3\n"],
    "load.name_twice": [b"a,b,a\n1,2,3\n", b"a, a\n1,2\n"],
    "column.name_long": [b"x" * 201 + b",b\n1,2\n"],
    "load.many_columns": [b",".join(b"c%d" % i for i in range(1001)) + b"\n"],
    "load.not_text": [b"PK\x03\x04rest", b"\x1f\x8b\x08x", b"%PDF-1.7\n", b"\xd0\xcf\x11\xe0\xa1", b"SQLite format 3\0x"],
    "load.is_parquet": [b"PAR1abc"],
    "load.header_encoding": [b"a\0b,c\n1,2\n", b"a\xff,b\n1,2\n", "a,b\n1,2\n".encode("utf-16"), b"a\0,\0b\0\n\0"],
    "load.encoding": [b"a,b\n1,2\nzebra7421,\xe9\n3,4\n"],
    "load.ragged": [b"a,b\n1,2\nzebra7421\n", b"a,b\n1,2,zebra7421\n", b"a,b\nzebra7421,1\n\n3,4\n", b"a\nzebra7421,2\n"],
    "load.quoting": [b'a,b\n"1"zebra7421,2\n3,4\n', b"a,b\n1,zebra7421\rx\n3,4\n"],
    "load.unclosed": [b'a,b\n1,2\n3,"zebra7421\n5,6\n', b'"a,b\n1,2\n', b'a\n"'],
    "load.long": [b"a,b\n1," + b"zebra7421" * 120_000 + b"\n", b'a,b\n1,"' + b"zebra7421\n" * 110_000, b"a" * 1_100_000],
}


@pytest.mark.parametrize("code", REFUSED)
def test_refusals(code: str, tmp_path: Path) -> None:
    for data in REFUSED[code]:
        source = put(tmp_path, data)
        with pytest.raises(AllowanceError) as refusal:
            load(source, COMMA, tmp_path / "raw.parquet", SECRET)
        assert refusal.value.code == code, data[:40]
        check_silence(refusal.value)
        assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def check_silence(error: BaseException) -> None:
    told = f"{error} {error!r} {error.args} {getattr(error, 'facts', '')}"
    assert CANARY not in told and "duckdb" not in told.lower() and len(str(error)) > 20
    assert error.__cause__ is None and error.__context__ is None


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    for source, code in [
        (tmp_path / "none.csv", "load.absent"), (tmp_path / "none.parquet", "load.absent"), (tmp_path, "load.unreadable"),
        (put(tmp_path, "a,b\n", "x.parquet"), "load.not_parquet"), (put(tmp_path, b"PAR1zebra7421", "y.parquet"), "load.unreadable"),
        (tmp_path / "a\0b.csv", "load.unreadable"), (None, "load.unreadable"), (3, "load.unreadable"),
    ]:
        with pytest.raises(AllowanceError) as refusal:
            load(source, COMMA, tmp_path / "raw.parquet", SECRET)  # type: ignore[arg-type]
        assert refusal.value.code == code
        check_silence(refusal.value)
    with pytest.raises(AllowanceError, match="stored"):
        load(put(tmp_path, "a\n1\n"), COMMA, tmp_path / "nowhere" / "raw.parquet", SECRET)
    with pytest.raises(AllowanceError, match="refuse"):
        load(put(tmp_path, "a\n1\n"), COMMA, tmp_path / "raw.parquet", SECRET, bad_records="drop")


def test_a_failed_load_leaves_the_old_table(tmp_path: Path) -> None:
    read(tmp_path, "a,b\n1,2\n")
    before = (tmp_path / "raw.parquet").read_bytes()
    with pytest.raises(AllowanceError):
        read(tmp_path, "a,b\n1\n")

    def cancel(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(put(tmp_path, "a,b\n1,2\n3,4\n"), COMMA, tmp_path / "raw.parquet", SECRET, progress=cancel)
    assert (tmp_path / "raw.parquet").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "raw.parquet"]


# --- records


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


NAMES = ['q"uote', "it's", "x; DROP TABLE t; --", "two\nlines", "čeština", "😀", "=1+1", "A", "a", "a.b", "c0", "%s {x}", " s "]


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
    for encoding, bad in [("windows-1250", b"\x81"), ("utf-16", b"\x00\xd8"), ("utf-8", b"\xed\xb3\xbf")]:
        a, b, c = ("a,b\n1,2\n".encode(encoding), ",3\n", "é,5\n")
        rest = (c if encoding != "utf-16" else c).encode(encoding.replace("utf-16", "utf-16-le"))
        data = a + bad + b.encode(encoding.replace("utf-16", "utf-16-le")) + rest
        dialect = Dialect(encoding=encoding)
        assert read(tmp_path, data, dialect, "empty")[1] == [("1", "2"), (None, None), ("é", "5")]
        with pytest.raises(AllowanceError) as refusal:
            read(tmp_path, data, dialect)
        assert refusal.value.code == "load.encoding"


# --- the quick path is the careful one


PIECES = ["a", "é", ",", ",", "\n", "\n", "\r\n", "\r", '"', '""', '","', '"\n"', '",\n', " ", "\ufeff", "\0", ";"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(1, 9), st.booleans(), st.sampled_from(["a,b\n", "a\n"]))
def test_both_paths_read_alike(pieces: list[str], chunk: int, broken: bool, header: str) -> None:
    data = (header + "".join(pieces)).encode() + (b"\xff" if broken else b"")
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
        "", " ", "NA", "null", "\\N", "1e999", "-inf", "nan", "\0", '"', '""', "'", ",", ";", "\n", "\r", "\r\n", "\n\n", "=cmd()",
        "\ufeff", "\\", '\\"', "2020-01-01", "{}", "#", "--", "%", "x" * 70_000, "😀" * 9, "\u202e", "0x1F", "true",
    ]),
).filter(lambda text: not any("\ud800" <= sign <= "\udfff" for sign in text))
BASE = [["id", "age", "note"], ["1", "30", "x"], ["2", "", "y"], ["3", "50", "z"]]


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, min_size=3, max_size=3), st.integers(1, 3), st.sampled_from(["refuse", "empty"]))
def test_one_persons_cells_change_only_that_row(cells: list[str], place: int, mode: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        table = [row if at != place else cells for at, row in enumerate(BASE)]
        found, rows = read(Path(name), quoted(table), bad_records=mode)
        assert found.rows == 3 and found.columns == ("id", "age", "note")
        assert rows == [tuple(cell or None for cell in row) for row in table[1:]]


# --- the fingerprint


def test_the_fingerprint_is_of_the_rows_as_a_set(tmp_path: Path) -> None:
    def mark(rows: list[list[str]], secret: bytes = SECRET, dialect: Dialect = COMMA) -> str:
        text = written(rows, delimiter=dialect.separator)
        return load(put(tmp_path, text), dialect, tmp_path / "raw.parquet", secret).fingerprint

    first = mark(BASE)
    assert len(first) == 64 and mark([BASE[0], BASE[3], BASE[1], BASE[2]]) == first
    assert mark(BASE, dialect=PRESETS["semicolon"]) == first  # the same cells, written otherwise
    others = [mark(BASE, b"other" * 8), mark([*BASE, BASE[1]]), mark(BASE[:-1]), mark([["ID", "age", "note"], *BASE[1:]])]
    for row in range(1, 4):
        for column in range(3):
            changed = [list(line) for line in BASE]
            changed[row][column] += "'"
            others.append(mark(changed))
    others.append(mark([["age", "id", "note"], *([b, a, c] for a, b, c in BASE[1:])]))
    others.append(mark([BASE[0], ["13", "0", "x"], *BASE[2:]]))  # a digit moved to the next cell
    others.append(mark([BASE[0], ["1", "2:30", "x"], *BASE[2:]]))
    others.append(mark([BASE[0], ["1", "50", "x"], BASE[2], ["3", "30", "z"]]))  # two people exchange a cell
    assert len({first, *others}) == 1 + len(others)


# --- typed sources


def test_frames(tmp_path: Path) -> None:
    frame = pd.DataFrame({
        "whole": [1, 2, 3], "part": [1.0, np.nan, 2.5], "text": ["a", None, ""], "mixed": [1, "x", None],
        "kind": pd.Categorical(["u", "v", None]), "flag": [True, False, True],
        "day": pd.to_datetime(["2020-01-02", None, "2021-03-04"]), "odd": [[1], float("inf"), "\udcff"],
    })
    frame[7] = pd.array([1, None, 2], dtype="Int64")
    found = load(frame, COMMA, tmp_path / "raw.parquet", SECRET)
    assert found.columns == (*"whole part text mixed kind flag day odd".split(), "7") and found.rows == 3
    whole, part, text, mixed, kind, flag, day, odd, seven = zip(*rows_of(tmp_path / "raw.parquet"), strict=True)
    assert (whole, part, text) == (("1", "2", "3"), ("1", None, "2.5"), ("a", None, None))
    assert (mixed, kind, flag) == (("1", "x", None), ("u", "v", None), ("true", "false", "true"))
    assert (odd, seven, day[1]) == (("[1]", "inf", "?"), ("1", None, "2"), None) and day[0].startswith("2020-01-02")
    load(frame[["part"]], PRESETS["semicolon"], tmp_path / "raw.parquet", SECRET)
    assert rows_of(tmp_path / "raw.parquet") == [("1",), (None,), ("2,5",)]
    for wrong, code in [(frame.iloc[:0], "load.no_rows"), (pd.DataFrame(), "load.no_header"), (frame[["day", "day"]], "load.name_twice")]:
        with pytest.raises(AllowanceError) as refusal:
            load(wrong, COMMA, tmp_path / "x.parquet", SECRET)
        assert refusal.value.code == code


def test_the_same_table_from_frame_file_and_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2, None], "b": ["x", None, "z"]})
    frame.to_parquet(tmp_path / "p.parquet")
    marks = {
        load(source, COMMA, tmp_path / "raw.parquet", SECRET).fingerprint
        for source in (frame, tmp_path / "p.parquet", put(tmp_path, "a,b\n1,x\n2,\n,z\n"))
    }
    assert len(marks) == 1


def test_parquet_of_lists_is_refused(tmp_path: Path) -> None:
    for cells in ([[CANARY]], [CANARY.encode()], [{"x": CANARY}]):
        pq.write_table(pa.table({"ok": ["1"], "c": cells}), tmp_path / "p.parquet")
        with pytest.raises(AllowanceError) as refusal:
            load(tmp_path / "p.parquet", COMMA, tmp_path / "raw.parquet", SECRET)
        assert refusal.value.code == "load.column_kind"
        check_silence(refusal.value)


# --- size


def test_two_hundred_thousand_rows(tmp_path: Path) -> None:
    rows = [[str(i), str(i % 97), 'a "quoted", cell\nof two lines' if i % 50 == 0 else "x"] for i in range(200_000)]
    heard: list[float] = []
    source = put(tmp_path, written([["id", "n", "note"], *rows]))
    found = load(source, COMMA, tmp_path / "raw.parquet", SECRET, progress=heard.append)
    assert found.rows == 200_000 and rows_of(tmp_path / "raw.parquet") == [tuple(row) for row in rows]
    assert heard == sorted(heard) and heard[-1] == 1.0 and not any(math.isnan(share) for share in heard)
    assert stat.S_IMODE((tmp_path / "raw.parquet").stat().st_mode) == 0o600
    damaged = put(tmp_path, source.read_bytes() + b"only one cell\n" + b"1,2,3\n" * 5000)
    assert load(damaged, COMMA, tmp_path / "raw.parquet", SECRET, bad_records="empty").rows == 205_001
