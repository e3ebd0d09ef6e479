"""Marks that identify the same content when it is loaded again: keyed hashes of a file's bytes, and of a table's rows
in any notation.

The mark of a table's rows depends neither on the order of rows, nor on the order or names of columns, nor on the file's
dialect, nor on whether the rows came as text, as Parquet or as a data frame. A row is the multiset of its cells, a
table the multiset of its rows. A cell is trimmed, composed, in lower case and without quotes, which a wrong dialect
leaves in it. Every white space inside counts as one space, every dash as a hyphen, and invisible characters do not
count. True and yes are 1, false and no are 0. Empty cells and those that tools read as empty (NA, null, …) do not
count, nor do rows without any other cell.

A number is its sign and its digits, without zeros at either end and to twelve places: 1.5, "1,50", 0015 and 1500 are
the same. A time has no zone, no seconds or fraction of zero, and no midnight. So some different tables get the same
mark. That is the safe side, because they then share an allowance. The secret key prevents testing guesses of rows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError
from dpengine.declared.spelling import SPACES
from dpengine.intake.file_kinds import PACKED, unpack
from dpengine.intake.inspect import files_of
from dpengine.statistics.engines.duck import connect

PLACES = 12  # digits of a number: tools read the last of a float's seventeen differently
MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none", "<na>", "#n/a", "#n/a n/a", "#na", "-nan", "nat")
TRUE_WORDS, FALSE_WORDS = ("true", "t", "yes", "y"), ("false", "f", "no", "n")
_HIDDEN = "\u00ad\u180e\u200b\u200c\u200d\u2060\ufeff"
_DASHES = "\u2010\u2011\u2012\u2013\u2014"
_QUOTES = "\"'‘’‚‛“”„‟«»‹›"
_INNER = "".join(letter for letter in SPACES if letter not in _HIDDEN + " ")
# For SQL's `translate`: white space becomes a space and a dash a hyphen; a character without counterpart is removed.
ALIKE = _INNER + _DASHES + _QUOTES + _HIDDEN, " " * len(_INNER) + "-" * len(_DASHES)
_PLAIN = r"[!#-&(-~]+( [!#-&(-~]+)*"  # cells that need no trimming, composing or replacing
_NUMBER = r"[+\-−]?[0-9.,''’ \x{a0}\x{2009}\x{202f}]*[0-9][.,]?(e[+\-]?[0-9]+)?"
_SIGNS = ".,''’ \u00a0\u2009\u202f+-−"  # as SQL writes them
TIMES = (  # the notations of one moment: 2024-01-05T10:30Z, 2024-01-05 10:30:00.000, 2024-01-05 10:30:00+00:00
    (r"([0-9])t([0-9])", r"\1 \2"),
    (r"(:[0-9]{2}([.][0-9]+)?) ?(z|utc|[+\-][0-9]{2}:?([0-9]{2})?)$", r"\1"),
    (r"(:[0-9]{2})[.]0+$", r"\1"),
    (r"(:[0-9]{2}[.][0-9]*[1-9])0+$", r"\1"),
    (r"(:[0-9]{2}):00$", r"\1"),
    (r" 00:00$", ""),
)
_LANES = [f"sum(('0x' || substr(hash, {at}, 16))::UBIGINT)" for at in (1, 17, 33, 49)]
_BLOCK = 1 << 20
TOGETHER = 500  # files of a folder that are marked in one pass
NARROW, MANY = 60, 500_000  # at most this many columns are hashed in parallel, if there are at least this many rows


@contextmanager
def own_copy(
    source: Path, beside: Path, secret: bytes, report: Callable[[float], None]
) -> Iterator[tuple[Path, list[str]]]:
    """Reads a file or folder once: makes a private copy that nobody else can replace, and marks every file in it."""
    files = files_of(source)
    try:
        inside = Path(tempfile.mkdtemp(prefix=".", dir=beside))  # 0700
    except OSError:
        raise AllowanceError("load.unwritable") from None
    try:
        marks = []
        for done, file in enumerate(files):
            copy = inside / file.name
            marks.append(_copied(file, copy, secret))
            if file.suffix.lower().lstrip(".") in PACKED:
                unpack(copy, inside, f"{done:06} {copy.stem}")
                copy.unlink()
            report((done + 1) / len(files))
        (first, *_) = (entry for entry in inside.iterdir())
        yield (inside if source.is_dir() else first), marks
    finally:
        shutil.rmtree(inside, ignore_errors=True)


def _copied(file: Path, to: Path, secret: bytes) -> str:
    mark = hmac.new(secret, b"allowance: file", hashlib.sha256)
    try:
        given = open(file, "rb")  # noqa: SIM115 - closed below
    except OSError:
        raise AllowanceError("load.unreadable") from None
    with given:
        try:
            taken = open(to, "xb")  # noqa: SIM115 - closed below
        except OSError:
            raise AllowanceError("load.unwritable") from None
        with taken:
            while block := _block(given):
                mark.update(block)
                try:
                    taken.write(block)
                    taken.flush()
                except OSError:
                    raise AllowanceError("load.unwritable") from None
    return mark.hexdigest()


def _block(file: object) -> bytes:
    try:
        return bytes(file.read(_BLOCK))  # type: ignore[attr-defined]
    except OSError:
        raise AllowanceError("load.unreadable") from None


def address_mark(place: Sequence[str], secret: bytes) -> str:
    """The mark of a table's place in a database: a newer state of the same table has the same."""
    return hmac.new(secret, b"allowance: address" + json.dumps(list(place)).encode("ascii"), hashlib.sha256).hexdigest()


def content_marks(raw: Path, width: int, parts: Sequence[int], secret: bytes) -> list[str]:
    """The mark of all rows of a raw table. If it came in several files, with `parts` rows each, also the mark of each
    file. The table is read once for every TOGETHER files."""
    several = len(parts) > 1
    ends = [0, *accumulate(parts)] if several else [0, pq.read_metadata(raw).num_rows]
    sums: list[list[int]] = []
    for first in range(0, len(ends) - 1, TOGETHER):
        sums += _row_sums(raw, width, secret, ends[first : first + TOGETHER + 1])
    total = [sum(lane) for lane in zip(*sums, strict=True)]
    marks = [mark_of(counts, secret) for counts in (total, *(sums if several else ())) if counts[0]]
    return list(dict.fromkeys(marks))


def mark_of(sums: list[int], secret: bytes) -> str:
    return hmac.new(secret, b"allowance: content" + json.dumps(sums).encode("ascii"), hashlib.sha256).hexdigest()


def row_key(secret: bytes) -> str:
    return hmac.new(secret, b"allowance: rows in any order", hashlib.sha256).hexdigest()


def _row_sums(raw: Path, width: int, secret: bytes, ends: Sequence[int]) -> list[list[int]]:
    """For the rows between consecutive `ends`: the number of non-empty rows, and the sums of their hashes."""
    key = row_key(secret)
    columns = [f"c{place}" for place in range(width)]
    table = f"read_parquet(?, file_row_number = true) AS t({', '.join(columns)}, place)"
    which, within = _part(ends, 0, len(ends) - 1), f"place >= {ends[0]} AND place < {ends[-1]}"
    rows = f"SELECT *, {which} AS part FROM {table} WHERE {within}"
    listed = f"[{', '.join(columns)}]"
    side_by_side = width <= NARROW and pq.read_metadata(raw).num_rows >= MANY
    if not side_by_side:  # slower for many rows, but a thousand columns take no more memory than one
        rows = f"SELECT part, {listed} AS cells FROM ({rows})"
    for step in (_tidy, _kinds, _rounded, _sized):  # each in its own query: DuckDB plans nested ones twice as long
        if side_by_side:
            rows = f"SELECT part, {', '.join(f'{step(c)} AS {c}' for c in columns)} FROM ({rows})"
        else:
            rows = f"SELECT part, list_transform(cells, lambda cell: {step('cell')}) AS cells FROM ({rows})"
    cells = listed if side_by_side else "cells"
    row_texts = f"SELECT part, array_to_string(list_sort({cells}), '') AS row_text FROM ({rows})"
    hashes = f"SELECT part, sha256(concat(?, row_text)) AS hash FROM ({row_texts}) WHERE row_text <> ''"
    query = f"SELECT part, count(*), {', '.join(_LANES)} FROM ({hashes}) GROUP BY part"
    sums_of = {part: sums for part, *sums in _summed(raw, query, [key, str(raw)])}
    return [sums_of.get(part, [0] * (1 + len(_LANES))) for part in range(len(ends) - 1)]


def _part(ends: Sequence[int], first: int, last: int) -> str:
    """SQL for the part of a row number, by bisection."""
    if last - first == 1:
        return str(first)
    middle = (first + last) // 2
    return f"CASE WHEN place < {ends[middle]} THEN {_part(ends, first, middle)} ELSE {_part(ends, middle, last)} END"


def _tidy(cell: str) -> str:
    signs, same = (text.replace("'", "''") for text in ALIKE)
    bare = f"translate(nfc_normalize(replace({cell}, chr(0), '')), '{signs}', '{same}')"
    bare = f"trim(regexp_replace({bare}, ' +', ' ', 'g'))"
    return f"lower(CASE WHEN regexp_full_match({cell}, '{_PLAIN}') THEN {cell} ELSE {bare} END)"


def _kinds(cell: str) -> str:
    """SQL for a cell's canonical text: # (or - if negative) and the digits of a number without leading zeros; for
    anything else, = and the text."""
    digits = f"translate(split_part({cell}, 'e', 1), '{_SIGNS}', '')"
    time = cell
    for written, same in TIMES:
        time = f"regexp_replace({time}, '{written}', '{same}')"
    usual = f"replace({cell}, '.', '')"  # faster, for the usual notation of numbers
    missing, true, false = (
        ", ".join(f"'{text}'" for text in words) for words in (MISSING_WORDS, TRUE_WORDS, FALSE_WORDS)
    )
    return (
        f"CASE WHEN {cell} IN ({missing}) THEN NULL "
        f"WHEN {cell} IN ({true}) THEN '#1' WHEN {cell} IN ({false}) THEN '#' "
        f"WHEN regexp_full_match({cell}, '[0-9]+([.][0-9]+)?') THEN '#' || ltrim({usual}, '0') "
        f"WHEN regexp_full_match({cell}, '{_NUMBER}') "
        f"THEN (CASE WHEN left({cell}, 1) IN ('-', '−') THEN '-' ELSE '#' END) || ltrim({digits}, '0') "
        f"WHEN contains({cell}, ':') THEN '=' || {time} "
        f"ELSE '=' || {cell} END"
    )


def _rounded(cell: str) -> str:
    long = f"left({cell}, 1) || ((substr({cell}, 2, {PLACES + 1})::BIGINT + 5) // 10)::VARCHAR"
    short = f"CASE WHEN strlen({cell}) > {PLACES + 1} THEN {long} ELSE {cell} END"
    return f"CASE WHEN left({cell}, 1) = '=' THEN {cell} WHEN {cell} = '-' THEN '#' ELSE rtrim({short}, '0') END"


def _sized(cell: str) -> str:
    return f"strlen({cell}) || ':' || {cell}"


def _summed(raw: Path, query: str, values: list[str]) -> list[list[int]]:
    try:
        with connect(raw.parent) as connection:
            rows = connection.execute(query, values).fetchall()
    except duckdb.Error:
        raise AllowanceError("load.unreadable") from None
    return [[int(value or 0) for value in row] for row in rows]
