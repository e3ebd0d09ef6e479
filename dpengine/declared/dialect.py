"""The dialect of a text file: separator, quote, decimal sign, encoding, line breaks. Declared, with presets.

Nothing here reads past the first record. A sniffer guesses the dialect from the rows, so one person's cell could
change how everyone else's are parsed; the first record holds column names, which are public. A first line that holds
numbers or dates is a row and not a header: the file is refused, and the line is never shown.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Json, JsonObject
from dpengine.declared.schema import LONGEST_NAME
from dpengine.declared.spelling import trimmed, visible
from dpengine.messages import say

EITHER = {f"utf-8 or {other}": other for other in ("windows-1250", "windows-1252")}  # decoded line by line
ENCODINGS = ("utf-8", *EITHER, "windows-1250", "windows-1252", "iso-8859-1", "utf-16")
SEPARATORS = (",", ";", "\t", "|")  # what `suggest` tries; others can be declared
MOST_COLUMNS = 1_000
LONGEST_RECORD = 1_000_000
LONGEST_SIGN = 4  # bytes of UTF-8
MOST_TITLES, MOST_NAME_ROWS = 30, 3  # the row of a spreadsheet that names the columns, and how many rows the names take
CHUNK = 1 << 20
csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD + 1))  # `Lines` holds the real bound

_MAGIC = {
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "gzip",
    b"7z\xbc\xaf": "gzip",
    b"\xd0\xcf\x11\xe0": "sheet",
    b"%PDF": "pdf",
    b"SQLite format 3\0": "database",
}
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class Dialect:
    """How a text file is written. A space as the `thousands` sign means every kind of space, and ' also means ’.
    Without `line_breaks` each line of the file is a record, whatever quotes it holds. With it a quoted cell may go over
    several lines; then an unpaired quote in one cell can merge lines of other people."""

    separator: str = ","
    quote: str = '"'
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"
    line_breaks: bool = False
    sheet: str = ""  # of a spreadsheet; "": the first
    names_row: int = 1  # of a spreadsheet: the row with the column names, below any titles …
    names_rows: int = 1  # … and the number of rows they take
    labels: bool = False  # of a statistics file: are columns called by their labels?

    def __post_init__(self) -> None:
        if type(self.line_breaks) is not bool:
            raise AllowanceError("dialect.line_breaks")
        if not all(isinstance(value, str) for part, value in asdict(self).items() if part not in _NO_TEXT):
            raise AllowanceError("dialect.unreadable")
        if type(self.labels) is not bool:
            raise AllowanceError("dialect.unreadable")
        for part, most in (("names_row", MOST_TITLES), ("names_rows", MOST_NAME_ROWS)):
            if type(getattr(self, part)) is not int or not 1 <= getattr(self, part) <= most:
                raise AllowanceError("dialect.names_row", most=MOST_TITLES, rows=MOST_NAME_ROWS)
        if self.quote not in ('"', "'", ""):
            raise AllowanceError("dialect.quote")
        mark = self.separator
        if mark != "\t" and not (len(mark) == 1 and mark.isascii() and mark.isprintable() and not mark.isalnum()):
            raise AllowanceError("dialect.separator")
        if mark in ('"', "'", "-", "+"):
            raise AllowanceError("dialect.separator")
        if self.decimal not in (".", ","):
            raise AllowanceError("dialect.decimal")
        if self.thousands not in ("", ".", ",", "'", " ") or self.thousands == self.decimal:
            raise AllowanceError("dialect.thousands")
        if self.encoding not in ENCODINGS:
            raise AllowanceError("dialect.encoding", encodings=ENCODINGS)

    def as_json(self) -> JsonObject:
        """The dialect as JSON. Parts that only some files need are left out if they are not set."""
        return {part: value for part, value in asdict(self).items() if part not in _RARE or value != _RARE[part]}

    @staticmethod
    def from_json(data: Json) -> Dialect:
        with refusing("dialect.unreadable", TypeError):
            return Dialect(**data)


_NO_TEXT = ("line_breaks", "names_row", "names_rows", "labels")
_RARE: JsonObject = {"sheet": "", "names_row": 1, "names_rows": 1, "labels": False}

PRESETS: dict[str, Dialect] = {
    "comma": Dialect(),
    "semicolon": Dialect(separator=";", decimal=","),
    "tab": Dialect(separator="\t"),
}


def _mark(error: UnicodeError) -> tuple[str, int]:
    """The replacement for undecodable bytes: a lone surrogate, which decodable text never holds."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\udcff", error.end


codecs.register_error("dpengine.mark", _mark)


def refuse_unreadable(path: Path) -> None:
    """Refuse anything but a file or a folder: reading a pipe could wait forever, reading a device could never end."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise AllowanceError("load.absent") from None
    except (OSError, ValueError):
        raise AllowanceError("load.unreadable") from None
    if kind not in (stat.S_IFREG, stat.S_IFDIR):
        raise AllowanceError("load.unreadable")


class _ByLine:
    """Decodes each line by itself, as UTF-8 or, if that fails, in another encoding. So one person's cell does not
    change how others' lines are read."""

    def __init__(self, other: str) -> None:
        self._other, self._rest = other, b""

    def decode(self, data: bytes, final: bool) -> str:
        block = self._rest + data
        end = max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
        if final or (not end and len(block) > LONGEST_RECORD * LONGEST_SIGN):  # too long for a line that is read
            end = len(block)
        whole, self._rest = block[:end], block[end:]
        try:
            return whole.decode()
        except UnicodeDecodeError:
            return "".join(map(self._line, whole.splitlines(keepends=True)))

    def _line(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            return line.decode(self._other, "dpengine.mark")


def _decoder(encoding: str) -> codecs.IncrementalDecoder | _ByLine | None:
    if encoding in EITHER:
        return _ByLine(EITHER[encoding])
    return None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("dpengine.mark")


class Utf8(io.RawIOBase):
    """A file's bytes in UTF-8, whatever its encoding. It is decoded while read, without a second copy. Undecodable
    bytes are kept in place, so only their record is damaged. A byte order mark is dropped. Blocks can be put back."""

    def __init__(self, path: Path, encoding: str) -> None:
        refuse_unreadable(path)
        with refusing("load.unreadable", OSError):
            self._file = open(path, "rb")  # noqa: SIM115 - closed with this object
        try:
            self._held = memoryview(b"")
            self._decoder = _decoder(encoding)
            self.size = max(path.stat().st_size, 1)
            self._look(encoding)
        except BaseException:
            self._file.close()
            raise

    def _look(self, encoding: str) -> None:
        head = self._read(16)
        if not head:
            raise AllowanceError("load.empty")
        if head.startswith(b"PAR1"):
            raise AllowanceError("load.is_parquet")
        for magic, kind in _MAGIC.items():
            if head.startswith(magic):
                raise AllowanceError("load.not_text", kind=say(f"load.kind.{kind}"))
        meant = next((meant for bom, meant in _BOMS.items() if head.startswith(bom)), None)
        named = "utf-8" if encoding in EITHER else encoding
        if meant not in (None, named) or (meant is None and encoding == "utf-16"):  # which needs a byte order mark
            raise AllowanceError("load.header_encoding", encoding=encoding)
        self._file.seek(len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0)

    def _read(self, size: int) -> bytes:
        with refusing("load.unreadable", OSError):
            return self._file.read(size)

    @property
    def share(self) -> float:
        """The share of the file that has been read."""
        return min(self._file.tell() / self.size, 1.0)

    def _more(self) -> bytes:
        while True:
            chunk = self._read(CHUNK)
            if self._decoder is None:
                return chunk
            data = self._decoder.decode(chunk, final=not chunk).encode("utf-8", "surrogatepass")
            if data or not chunk:
                return data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._held:
            self._held = memoryview(self._more())
        size = min(len(buffer), len(self._held))
        buffer[:size] = self._held[:size]
        self._held = self._held[size:]
        return size

    def take(self, least: int) -> bytes:
        """The next bytes, at least `least`; fewer only at the end of the file."""
        parts = [bytes(self._held)]
        self._held = memoryview(b"")
        size = len(parts[0])
        while size < least and (part := self._more()):
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def put_back(self, data: bytes) -> None:
        self._held = memoryview(data + bytes(self._held))

    def close(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()
        super().close()


class Lines:
    """The lines of a stream, as the csv module reads them, with a bound on a record's length."""

    def __init__(self, stream: Utf8, newline: str) -> None:
        self._text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", "surrogateescape", newline)
        self._newline = newline
        self.given = 0  # characters handed out
        self.since = 0  # … when the present record began
        self.last = ""
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        for line in iter(partial(self._text.readline, LONGEST_RECORD + 1), ""):
            self.given += len(line)
            if self.given - self.since > LONGEST_RECORD:
                raise AllowanceError("load.long", most=LONGEST_RECORD)
            self.last = line
            yield line
        self.ended = True

    def alone(self) -> Iterator[str | None]:
        """One line at a time; None for a line that is too long, which is skipped."""
        for line in iter(partial(self._text.readline, LONGEST_RECORD + 1), ""):
            self.given += len(line)
            if len(line) <= LONGEST_RECORD:
                yield line
                continue
            while line and not line.endswith(self._newline):
                line = self._text.readline(LONGEST_RECORD)
                self.given += len(line)
            yield None


def reader_of(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    if not dialect.quote:
        return csv.reader(lines, strict=True, delimiter=dialect.separator, quotechar=None, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, strict=True, delimiter=dialect.separator, quotechar=dialect.quote)


def readable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


_DIGITS = r"\d+(?:[.,'’ \u00a0\u2009\u202f]\d{2,3})*"
_NUMBER = rf"[+\-−]?(?:{_DIGITS}(?:[.,]\d*)?|[.,]\d+)(?:e[+\-−]?\d+)?\s?%?"
_DAY = r"\d{1,2}([./-])\s?\d{1,2}\1\s?(?:\d{4}|\d{2})\.?|\d{4}([./-])\d{1,2}\2\d{1,2}"
_DATUM = re.compile(rf"{_NUMBER}|(?:{_DAY})(?:[ T]+\d{{1,2}}:\d{{2}}\S*)?", re.IGNORECASE)


def has_data(cells: Iterable[str]) -> bool:
    """Does any cell hold a number or a date, in any notation?"""
    return any(_DATUM.fullmatch(cell.strip().strip("\"'").strip()) for cell in cells)


def _refuse_data(names: Sequence[str], line: str, separator: str) -> None:
    """Refuse a first line that holds data, before it is shown anywhere. It is split at other separators too: with a
    wrong separator, a row of data could look like names."""
    others = (next(csv.reader([line], delimiter=mark), []) for mark in SEPARATORS if mark != separator)
    if any(has_data(cells) for cells in (names, *(cells for cells in others if len(cells) > len(names)))):
        raise AllowanceError("load.no_names")


def check_names(given: Sequence[str]) -> list[str]:
    """The column names, trimmed. They may be shown: they are public and the same in every neighbouring table."""
    names = [trimmed(name) for name in given]
    if len(names) > MOST_COLUMNS:
        raise AllowanceError("load.many_columns", most=MOST_COLUMNS)
    if not any(names):
        raise AllowanceError("load.no_header")
    seen: set[str] = set()
    for name in names:
        if not name:
            raise AllowanceError("load.name_blank")
        if len(name) > LONGEST_NAME:
            raise AllowanceError("column.name_long", most=LONGEST_NAME)
        if not visible(name):
            raise AllowanceError("column.name_signs", column=name)
        if name in seen:
            raise AllowanceError("load.name_twice", column=name)
        seen.add(name)
    return names


def first_record(path: Path, dialect: Dialect) -> tuple[list[str], str]:
    """The file's own names, and the sign that ends a record: "\\r" in very old files, else "\\n"."""
    with Utf8(path, dialect.encoding) as stream:
        lines = Lines(stream, "")
        try:
            names = next(reader_of(lines if dialect.line_breaks else islice(lines, 1), dialect), None)
        except csv.Error:
            broken = "load.unclosed" if lines.ended else "load.broken"
            raise AllowanceError(broken if dialect.line_breaks else "load.header_quoting") from None
        newline = "\r" if lines.last.endswith("\r") else "\n"
    if names is None:
        raise AllowanceError("load.empty")
    if not all(readable(name) and "\0" not in name for name in names):
        raise AllowanceError("load.header_encoding", encoding=dialect.encoding)
    _refuse_data(names, lines.last if lines.given == len(lines.last) else "", dialect.separator)
    check_names(names)
    return names, newline


def read_header(path: Path, dialect: Dialect) -> list[str]:
    return check_names(first_record(Path(path), dialect)[0])


def suggest(path: Path, regional: str = "windows-1252") -> Dialect:
    """A guess at the dialect from the first line alone. Separator: the one that splits it into most parts. Encoding:
    that of the byte order mark; without one UTF-8 if the names prove it, or the usual one of the person's region if
    they are not valid UTF-8. Plain letters prove neither, so then each line may be in either."""
    refuse_unreadable(path)
    marked = "utf-8"  # the encoding of the byte order mark
    with suppress(OSError):  # the next step reports it
        with open(path, "rb") as file:
            head = file.read(3)
        marked = next((meant for bom, meant in _BOMS.items() if head.startswith(bom)), "")
    encoding = marked or "utf-8"
    with Utf8(Path(path), encoding) as stream:
        line = next(iter(Lines(stream, "")), "")
    if not readable(line):
        encoding = regional
    elif not marked and line.isascii() and (either := f"utf-8 or {regional}") in EITHER:
        encoding = either
    cells = {mark: len(next(csv.reader([line], delimiter=mark), [])) for mark in SEPARATORS}
    separator = max(SEPARATORS, key=lambda mark: cells[mark])
    return Dialect(separator=separator, decimal="," if separator == ";" else ".", encoding=encoding)
