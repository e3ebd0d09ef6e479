"""Files whose names do not tell how their letters are written: each line may be UTF-8 or of an older program."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_load import read

from dpengine.declared import dialect as dialect_module
from dpengine.declared.dialect import Dialect, suggest


@pytest.mark.every(3)
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_line_may_be_written_in_either(
    chunk: int, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines of two programs in one file: how one is written changes nothing for the others."""
    monkeypatch.setattr(dialect_module, "CHUNK", chunk)
    lines = [("a,b", "ascii"), ("Rücken,1", "windows-1252"), ("Rücken,2", "utf-8"), ("x,3", "ascii"), ("é,4", "utf-8")]
    data = b"".join((text + end).encode(code) for text, code in lines)
    wanted = [("Rücken", "1"), ("Rücken", "2"), ("x", "3"), ("é", "4")]
    dialect = Dialect(encoding="utf-8 or windows-1252")
    assert read(tmp_path, data, dialect)[1] == wanted
    assert read(tmp_path, data + b"\x81,5" + end.encode(), dialect, "empty")[1] == [*wanted, (None, None)]


def test_names_of_plain_letters_do_not_tell_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    for names, regional, wanted in [
        (b"a;b", "windows-1250", "utf-8 or windows-1250"),
        (b"a;b", "windows-1252", "utf-8 or windows-1252"),
        ("a;č".encode(), "windows-1250", "utf-8"),
        ("a;č".encode("windows-1250"), "windows-1250", "windows-1250"),
        (b"\xef\xbb\xbfa;b", "windows-1250", "utf-8"),
    ]:
        path.write_bytes(names + b"\n\xe8;1\n")
        assert suggest(path, regional).encoding == wanted
