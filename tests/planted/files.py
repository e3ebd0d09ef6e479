"""Wrong twins of the loader: one person's line changes how others are read, is dropped, quoted, or can be guessed."""

from __future__ import annotations

import csv
import hashlib
import tempfile
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers_load import CANARY, COMMA, LINES, SECRET, put, rows_of

from dpengine.core.errors import AllowanceError
from dpengine.declared import dialect as dialect_module
from dpengine.declared.dialect import Dialect
from dpengine.declared.unit import Unit
from dpengine.intake import csv_records
from dpengine.intake.load import load
from dpengine.intake.rows_per_person import PERSON, keep_rows
from tests.planted.registry import Planted

ReadRows = Callable[[bytes], list[Any]]

PLAIN = [b"id,age,note", *(b"%d,%d,x" % (number, 20 + number) for number in range(1, 8))]
ONE_PERSONS_LINE = [
    b"3,51,say hi",
    b"3,abc,x",
    b"3,50.5,x",
    b"3,,",
    b"3,1e999,x",
    b"3,2020-01-01,x",
    b"3,true,x",
    b"3,50,a;b;c;d;e;f;g;h",
    b"3;50;a;b;c|d|e",
    b";;;\t\t||",
    b"3|50|x",
    b"3,'50','x, y'",
    b"3,50",
    b"3,50,x,y",
    b"",
    b'3,"50,x',
    b'3,"5',
    b'"oops',
    b'3,5" pipe,x',
    b'3,"a"x,y',
    b"\\",
    b'3,"\\",x',
    b"\xff\xfe,1,2",
    b"3,\0,x",
    b"NA,NA,NA",
    b"3,50," + b";'a';" * 40,
    b"3,50," + b'|"a"|' * 40,  # a sniffer counts quoted pieces
]


def check_a_line_concerns_its_own_row(read: ReadRows) -> None:
    """Whatever stands in one person's line: as many rows, and every other row as before. In files with quotes and
    without."""
    place = 3
    for file in (PLAIN, LINES):
        before = read(b"\n".join(file) + b"\n")
        for line in ONE_PERSONS_LINE:
            after = read(b"\n".join([*file[:place], line, *file[place + 1 :]]) + b"\n")
            assert len(before) == len(after) == len(file) - 1, "one person's line changes how many rows there are"
            others = before[: place - 1] == after[: place - 1] and before[place:] == after[place:]
            assert others, "one person's line changes the rows of others"


@contextmanager
def _file(data: bytes) -> Any:
    with tempfile.TemporaryDirectory() as name:
        yield put(Path(name), data)


def as_declared(data: bytes) -> list[Any]:
    """Damaged records are empty rows."""
    with _file(data) as path:
        _, batches = csv_records.read_csv(path, COMMA, "empty")
        return [row for columns, _ in batches for row in zip(*(cells.to_pylist() for cells in columns), strict=True)]


def _texts(data: bytes) -> str:
    return data.decode("latin-1").replace("\0", "")


def sniffed(data: bytes) -> list[Any]:
    """Separator and quote as the csv module guesses them from the file."""
    text = _texts(data)
    try:
        found: Any = csv.Sniffer().sniff(text)
    except csv.Error:
        found = csv.excel
    rows = [next(csv.reader([line], found)) if line else [] for line in text.splitlines()[1:]]
    return [tuple(row) for row in rows]


def typed_by_guess(data: bytes) -> list[Any]:
    """Each column is numbers where all its cells are, else text, as tools do that read a file without a declaration."""
    rows = [[*line.replace('"', "").split(","), "", "", ""][:3] for line in _texts(data).split("\n")[1:-1]]
    columns = [pd.to_numeric(pd.Series(cells), errors="coerce") for cells in zip(*rows, strict=True)]
    found = [
        numbers.tolist() if numbers.notna().sum() == sum(map(bool, cells)) else list(cells)
        for cells, numbers in zip(zip(*rows, strict=True), columns, strict=True)
    ]
    return [tuple(str(cell) for cell in row) for row in zip(*found, strict=True)]


def without_ragged_rows(data: bytes) -> list[Any]:
    """Lines with too few or too many cells are left out."""
    rows = (next(csv.reader([line]), []) for line in _texts(data).split("\n")[1:-1])
    return [tuple(row) for row in rows if len(row) == 3]


def _running_on(lines: Any, dialect: Dialect) -> Iterable[Any]:
    """The csv module over all lines, which begins anew after a fault."""
    reader = dialect_module.reader_of(lines, dialect)
    while not lines.ended:
        try:
            yield from reader
        except csv.Error:
            yield "load.quoting"


def over_line_ends(data: bytes) -> list[Any]:
    """An open quote runs on into the next person's line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_records, "_alone", _running_on)
        return as_declared(data)


_proven = csv_records._proven


def quickly_over_line_ends(data: bytes) -> list[Any]:
    """The same on the quick path, which takes blocks that it holds for proven."""

    def proven(block: bytes, width: int, dialect: Dialect, last: bool) -> tuple[int, int]:
        return _proven(block, width, replace(dialect, line_breaks=True), last)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_records, "_proven", proven)
        return as_declared(data)


# What is said of a file that cannot be read

DAMAGED = [
    f"a,b\n1,2\n{CANARY}\n",
    f"a,b\n1,2,{CANARY}\n",
    f'a,b\n1,2\n3,"{CANARY}\n5,6\n',
    f"{CANARY},34\n1,2\n",
    f"a,b\n1,{CANARY}\rx\n3,4\n",
]


def check_refusals_quote_nothing(read: ReadRows) -> None:
    """Neither the sentence nor its arguments nor the trace of errors below it holds a cell."""
    for text in DAMAGED:
        try:
            read(text.encode())
        except Exception as error:
            trace = "".join(traceback.format_exception(error)) if not isinstance(error, AllowanceError) else ""
            told = f"{error} {error!r} {error.args} {getattr(error, 'facts', '')} {trace}"
            below = [one for one in (error.__cause__, error.__context__) if one is not None]
            assert CANARY not in told and not any(CANARY in repr(one) for one in below), "an error quotes a cell"
        else:
            raise AssertionError("a damaged file was read")


def refusing(data: bytes) -> list[Any]:
    with _file(data) as path:
        load(path, COMMA, path.with_name("raw.parquet"), SECRET)
        return rows_of(path.with_name("raw.parquet"))


def quoting(data: bytes) -> list[Any]:
    for number, line in enumerate(_texts(data).splitlines(), 1):
        if len(line.split(",")) != 2 or '"' in line or CANARY in line:
            raise ValueError(f"line {number} cannot be read: {line}")
    return []


# Fingerprints

Mark = Callable[[bytes, bytes], Sequence[str]]


def check_a_guessed_row_is_not_confirmed(mark: Mark) -> None:
    """Somebody knows all rows but one and every value it can have, and sees the marks of the table; nothing fits."""
    known, last = b"name,salary\nana,1500\nbo,2500\n", [b"eve,%d\n" % salary for salary in (1500, 2000, 2500, 3000)]
    seen = set(mark(known + last[2], SECRET))
    guesses = {one for guess in last for one in mark(known + guess, b"a guessed key, no better than any")}
    assert not seen & guesses, "a guess of the last row is confirmed by the fingerprint"
    assert mark(known + last[2], SECRET) == mark(known + last[2], SECRET), "the fingerprint is not one"


def keyed(data: bytes, secret: bytes) -> Sequence[str]:
    with _file(data) as path:
        found = load(path, COMMA, path.with_name("raw.parquet"), secret)
    return found.fingerprint, *found.files


def plain_hash(data: bytes, secret: bytes) -> Sequence[str]:
    return [hashlib.sha256(b"\n".join(sorted(data.splitlines()))).hexdigest()]


# Which rows of a person count

Keep = Callable[[list[tuple[str, str]], bytes], dict[str, list[str]]]
VISITS = [(f"p{person}", f"{person}-{visit}") for person in range(30) for visit in range(5)]


def _by_person(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for who, what in rows:
        found.setdefault(who, []).append(what)
    return {who: sorted(held) for who, held in found.items()}


def check_rows_are_chosen_by_their_own_content(keep: Keep) -> None:
    """The order of the file and other people's rows do not matter; the secret does, so nobody can aim at it. (By
    chance two secrets choose alike for thirty people with probability 10^-30.)"""
    chosen = keep(VISITS, SECRET)
    assert all(len(held) == 2 for held in chosen.values())
    assert keep(VISITS[::-1], SECRET) == chosen, "the order of the file chose"
    others = keep([("new", "x"), *VISITS[7:], *VISITS[:7]], SECRET)
    assert {who: held for who, held in others.items() if who != "new"} == chosen, "the order of the file chose"
    assert keep(VISITS, b"another secret, of the same length") != chosen, "a person could aim at the choice"


def by_keyed_hash(rows: list[tuple[str, str]], secret: bytes) -> dict[str, list[str]]:
    with tempfile.TemporaryDirectory() as name:
        raw, kept = Path(name) / "raw.parquet", Path(name) / "kept.parquet"
        columns = [pa.array(cells, pa.string()) for cells in zip(*rows, strict=True)]
        pq.write_table(pa.table(columns, names=["who", "what"]), raw)
        keep_rows(raw, ["who", "what"], Unit.column("who", at_most=2), secret, kept)
        found = pq.read_table(kept).drop_columns([PERSON])
        return _by_person(zip(*(column.to_pylist() for column in found.columns), strict=True))


def first_in_the_file(rows: list[tuple[str, str]], secret: bytes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for who, what in rows:
        if len(found.setdefault(who, [])) < 2:
            found[who].append(what)
    return {who: sorted(held) for who, held in found.items()}


def by_plain_hash(rows: list[tuple[str, str]], secret: bytes) -> dict[str, list[str]]:
    return first_in_the_file(sorted(rows, key=lambda row: hashlib.sha256(row[1].encode()).digest()), secret)


lines = check_a_line_concerns_its_own_row

PLANTED = [
    Planted(
        "a sniffing loader",
        "The separator is guessed from the rows, so one cell changes how all are read.",
        lines,
        "rows of others",
        as_declared,
        sniffed,
    ),
    Planted(
        "a type-guessing loader",
        "A column is numbers or text as its cells are, so one cell changes the others.",
        lines,
        "rows of others",
        as_declared,
        typed_by_guess,
    ),
    Planted(
        "ragged rows dropped",
        "A line with a cell too many is left out, and the number of rows tells.",
        lines,
        "how many rows",
        as_declared,
        without_ragged_rows,
    ),
    Planted(
        "an open quote that runs on",
        "A quote in one person's line takes the next person's line with it.",
        lines,
        "how many rows",
        as_declared,
        over_line_ends,
    ),
    Planted(
        "an open quote that runs on, quick path",
        "The same where whole blocks are read at once.",
        lines,
        "how many rows",
        as_declared,
        quickly_over_line_ends,
    ),
    Planted(
        "error message with a value",
        "A refusal says which cell it could not read.",
        check_refusals_quote_nothing,
        "quotes a cell",
        refusing,
        quoting,
    ),
    Planted(
        "a plain-hash fingerprint",
        "Whoever knows all rows but one can test guesses for the last.",
        check_a_guessed_row_is_not_confirmed,
        "last row is confirmed",
        keyed,
        plain_hash,
    ),
    Planted(
        "file-order choice of a person's rows",
        "The first rows in the file count, which others can push back.",
        check_rows_are_chosen_by_their_own_content,
        "order of the file",
        by_keyed_hash,
        first_in_the_file,
    ),
    Planted(
        "a plain-hash choice of a person's rows",
        "A person can make rows that are sure to count.",
        check_rows_are_chosen_by_their_own_content,
        "aim at",
        by_keyed_hash,
        by_plain_hash,
    ),
]
