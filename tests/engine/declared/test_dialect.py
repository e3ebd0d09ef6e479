"""How a file writes its table is declared; a suggestion looks at the first line and no further."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers_load import BREAKS, COMMA, SECRET, put, quoted

from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import PRESETS, Dialect, read_header, suggest
from dpengine.intake.inspect import names_of
from dpengine.intake.load import load


@pytest.mark.parametrize(
    "wrong",
    [
        {"separator": ""},
        {"separator": ",,"},
        {"separator": "a"},
        {"separator": "\n"},
        {"separator": '"'},
        {"separator": "é"},
        {"quote": "q"},
        {"decimal": ";"},
        {"thousands": "."},
        {"thousands": "x"},
        {"encoding": "latin"},
        {"separator": 1},
        {"decimal": None},
        {"line_breaks": 1},
        {"line_breaks": "yes"},
        {"line_breaks": None},
    ],
)
def test_a_dialect_is_checked_at_birth(wrong: dict[str, Any]) -> None:
    with pytest.raises(AllowanceError) as refusal:
        Dialect(**wrong)
    assert refusal.value.code.startswith("dialect.")
    assert len(str(refusal.value)) > 20


def test_a_dialect_survives_json() -> None:
    for dialect in [*PRESETS.values(), Dialect(thousands=" ", decimal=",", encoding="utf-16"), BREAKS]:
        assert Dialect.from_json(json.loads(json.dumps(dialect.as_json()))) == dialect
    old = {"separator": ";", "quote": '"', "decimal": ",", "thousands": "", "encoding": "utf-8"}
    assert Dialect.from_json(old) == PRESETS["semicolon"] and not Dialect.from_json(old).line_breaks
    for wrong in [{"strange": "x"}, 3, None, ["a"], {"line_breaks": "False"}]:
        with pytest.raises(AllowanceError):
            Dialect.from_json(wrong)


def test_a_suggestion_reads_the_first_line_only(tmp_path: Path) -> None:
    rest = "1;2;3;4\t5\t6\t7|8|9|10|11\n" * 3
    for line, separator, decimal in [
        ("a,b,c", ",", "."),
        ("a;b;c", ";", ","),
        ("a\tb", "\t", "."),
        ("a|b", "|", "."),
        ("alone", ",", "."),
        ('"x;y;z",b', ",", "."),
    ]:
        found = suggest(put(tmp_path, f"{line}\n{rest}"))
        assert found == Dialect(separator=separator, decimal=decimal, encoding="utf-8 or windows-1252")
    assert suggest(put(tmp_path, b"\xef\xbb\xbfa;b\n")).encoding == "utf-8"
    wide = put(tmp_path, "a;b\n1;ž\n".encode("utf-16"))
    assert suggest(wide) == Dialect(separator=";", decimal=",", encoding="utf-16")
    assert suggest(put(tmp_path, "věk;b\n".encode("windows-1250"))).encoding == "windows-1252"
    assert suggest(put(tmp_path, b"a;b\n\xff\xfe\x81;\n")).encoding == "utf-8 or windows-1252"
    for wrong in (b"", b"PK\x03\x04xx"):
        with pytest.raises(AllowanceError):
            suggest(put(tmp_path, wrong))
    with pytest.raises(AllowanceError):
        suggest(tmp_path / "nowhere.csv")


def test_the_header_is_the_first_record(tmp_path: Path) -> None:
    two = put(tmp_path, '"two\nlines",b\r\n1,2\n')
    assert read_header(two, BREAKS) == ["two\nlines", "b"]
    with pytest.raises(AllowanceError) as refusal:
        read_header(two, COMMA)
    assert refusal.value.code == "load.header_quoting"
    assert read_header(put(tmp_path, '"a ""1""",b\n"c,d'), COMMA) == ['a "1"', "b"]
    assert read_header(put(tmp_path, b"\xef\xbb\xbfa,b\n\xff\xff"), COMMA) == ["a", "b"]
    assert read_header(put(tmp_path, b"a,b\rc,d\r"), COMMA) == ["a", "b"]
    assert read_header(put(tmp_path, "a,b"), COMMA) == ["a", "b"]


@pytest.mark.parametrize(
    "cell",
    [
        "1",
        "-1",
        "+1.5",
        "−2",
        ".5",
        "5.",
        "1,234.56",
        "1.234,56",
        "1 234",
        "1\u00a0234,5",
        "1'234",
        "1e5",
        "2E-3",
        "2019",
        " 42 ",
        "\u00a042",
        '" 42 "',
        '"7"',
        "007",
        "15%",
        "31.12.1999",
        "1. 2. 1999",
        "1999-12-31",
        "12/31/1999",
        "3.4.99",
        "1999-12-31 10:30",
        "1999-12-31T10:30:00Z",
        "٣",
        "1" * 300,
    ],
)
def test_a_first_line_of_data_is_refused_and_not_shown(cell: str, tmp_path: Path) -> None:
    for others in (["zebra"], ["zebra", "zebra"], ["", "zebra"], ["zebra" * 99]):
        for dialect in (COMMA, BREAKS, Dialect(separator=";"), Dialect(quote="'"), Dialect(quote="")):
            mark = dialect.separator
            path = put(tmp_path, mark.join([*others, f'"{cell}"' if mark in cell else cell, "zebra"]) + "\nx,y\n")
            if dialect.quote != '"' and mark in cell:
                continue
            with pytest.raises(AllowanceError) as refusal:
                read_header(path, dialect)
            assert refusal.value.code == "load.no_names" and not refusal.value.facts
            told = str(refusal.value).replace("y2019", "")
            assert "zebra" not in told and not any(sign.isdigit() for sign in told)


def test_data_do_not_pass_for_names_under_a_wrong_separator(tmp_path: Path) -> None:
    for line in ("34;zebra;1200,5", "zebra\t1999-12-31", "zebra|no|3", "zebra;1.1.2020\r"):
        with pytest.raises(AllowanceError) as refusal:
            read_header(put(tmp_path, line + "\n"), COMMA)
        assert refusal.value.code == "load.no_names"


@pytest.mark.parametrize(
    "names",
    [
        ["age", "y2019", "q1", "1st", "x1.5", "1a", "e5", "-", ".", "%", "no. 1", "24/7", "18-24", "10:30"],
        ["nan", "inf", "Income, 2019", "2019 income", "2019/20", "1.2.3.4", "a-1", "=1+1", "€"],
        ["id; 7", "b"],
        ["a\n1,2;3;4", "b"],
    ],
)
def test_names_with_digits_are_names(names: list[str], tmp_path: Path) -> None:
    assert read_header(put(tmp_path, quoted([names])), BREAKS) == names


def test_names_of_typed_sources_are_names(tmp_path: Path) -> None:
    frame = pd.DataFrame({"2019": [1, 2], "1999-12-31": ["a", "b"]})
    frame.to_parquet(tmp_path / "p.parquet")
    for source in (frame, tmp_path / "p.parquet"):
        assert load(source, COMMA, tmp_path / "raw.parquet", SECRET).columns == ("2019", "1999-12-31")
    assert names_of(tmp_path / "p.parquet", COMMA) == ["2019", "1999-12-31"]


def test_a_file_declared_utf16_without_its_mark_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """It was an error of Python's own: without a byte order mark nobody knows which byte of a letter comes first."""
    for data in ("a,b\nzebra,1\n".encode("utf-16-le"), b"\0\xff\xfea\0\n\0", b"a,b\n1,2\n", b"x"):
        path = tmp_path / "t.csv"
        path.write_bytes(data)
        for read in (read_header, lambda path, dialect: load(path, dialect, tmp_path / "raw.parquet", SECRET)):
            with pytest.raises(AllowanceError) as refusal:
                read(path, Dialect(encoding="utf-16"))
            assert refusal.value.code == "load.header_encoding"
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    assert read_header(path, Dialect(encoding="utf-16")) == ["a", "b"]
