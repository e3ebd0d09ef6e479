"""How a file writes its table is declared; a suggestion looks at the first line and no further."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers_load import COMMA, put

from dpengine.dialect import PRESETS, Dialect, read_header, suggest
from dpengine.errors import AllowanceError


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
    wide = put(tmp_path, "a;b\n1;ž\n".encode("utf-16"))
    assert suggest(wide) == Dialect(separator=";", decimal=",", encoding="utf-16")
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
