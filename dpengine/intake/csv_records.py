"""The records of a text file as columns of text, one row per record whatever the cells hold.

The reference is Python's csv module in strict mode, record by record (`_careful`). Each line is a record and is read
alone; the first line decides which characters end lines. A line with too many or too few cells, undecodable bytes, an
open or misplaced quote, or more characters than the limit is damaged. Either the file is refused, or that line becomes
a row of missing cells; it is never dropped, and no other line is read differently because of it. A blank line is a
missing cell in a table of one column; in a wider one it is a damaged record, or nothing if only blank lines follow. A
line of separators alone, with or without spaces and quotes, is nobody's row: it is skipped everywhere.

Only if a person declares that cells hold line breaks may a quoted cell run on. There a misplaced quote, or a cell that
is never closed or too long, hides where records end: the file is refused. Odd quotes that still fit together look like
intended ones, so one person's cell can then change how others' lines are read.

That costs about 4 µs for a row of six cells. Blocks with bytes that *prove* that every reader must agree (`_proven`:
quotes only around whole cells or doubled, line ends LF or CRLF and outside quotes unless line breaks were declared, no
blank line, none too long) are parsed four times faster by Arrow, and its row count is checked against the number of
line ends. Threads parse the next of them meanwhile. From the first block in doubt on, the csv module reads.

DuckDB's CSV reader is not used for this. With `ignore_errors`, text after a closing quote made it drop all later rows;
with `store_rejects`, it reports an unclosed quote like a fault of one line; it skips blank lines silently; and a single
line end of another kind fails the file. Rows here must not depend on each other.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Arrow, Integers
from dpengine.declared.dialect import LONGEST_RECORD, Dialect, Lines, Utf8, first_record, readable, reader_of

BLOCK = 4 << 20  # bytes parsed at once
AHEAD = 2  # blocks that are parsed before they are asked for, by as many threads
SHORT = 16  # bytes of a cell that is read as one or two numbers
AGAIN = 16  # blocks until a column of mostly different texts is looked at again
FEW = 2_000  # rows held as Python lists
_NOTHING = " \t\"'"
HOPELESS = ("load.broken", "load.unclosed")  # faults that hide where records end

Batches = Iterator[tuple[list[Arrow], float]]  # text columns, and the share of the source read so far


def blank_row(row: list[str], dialect: Dialect) -> bool:
    """Is this a row without content in a table of several columns? Such rows are nobody's, and are skipped."""
    return len(row) > 1 and not any(cell.strip(_NOTHING + dialect.separator) for cell in row)


def without_blanks(columns: list[Arrow], signs: str = "") -> list[Arrow]:
    """The columns without the rows that `blank_row` finds."""
    import pyarrow.compute as pc  # slow to import

    if len(columns) < 2 or not len(columns[0]):
        return columns
    rows = pa.array(np.ones(len(columns[0]), dtype=bool))
    for cells in columns:  # the first column mostly decides: few rows are empty there
        if not pc.any(rows).as_py():
            return columns
        coded = pa.types.is_dictionary(cells.type)
        nothing = pc.equal(pc.ascii_trim(cells.dictionary if coded else cells, _NOTHING + signs), "")
        rows = pc.and_(rows, pc.fill_null(nothing.take(cells.indices) if coded else nothing, True))
    if not pc.any(rows).as_py():
        return columns
    return [cells.filter(pc.invert(rows)) for cells in columns]


def read_csv(path: Path, dialect: Dialect, bad_records: str, distinct: bool = False) -> tuple[list[str], Batches]:
    """The column names, and the rows below them. `bad_records`: "refuse" the file if a record is damaged, or make the
    record "empty". `distinct`: a column may be returned as its distinct texts and each cell's place among them."""
    names, newline = first_record(path, dialect)

    def batches() -> Batches:
        with Utf8(path, dialect.encoding) as stream:
            header = 1
            for columns in chain(
                _swift(stream, len(names), dialect) if newline == "\n" else (),
                _careful(stream, len(names), dialect, newline, bad_records),
            ):
                yield [cells[header:] if distinct else every_text(cells[header:]) for cells in columns], stream.share
                header = 0

    return names, batches()


def every_text(cells: Arrow) -> Arrow:
    """One text for each cell, whether or not the column is stored as distinct texts."""
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def _swift(stream: Utf8, width: int, dialect: Dialect) -> Iterator[list[Arrow]]:
    """Read the blocks that `_proven` accepts. At the first one in doubt, put it back and stop."""
    names = [f"c{place}" for place in range(width)]
    import pyarrow.csv as arrow_csv

    parse = arrow_csv.ParseOptions(
        delimiter=dialect.separator,
        quote_char=dialect.quote or False,
        newlines_in_values=True,
        ignore_empty_lines=False,
    )
    once = pa.dictionary(pa.int32(), pa.string())  # each distinct text once
    texts = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, once), strings_can_be_null=False)
    different = [0] * width

    def columns_of(records: bytes, rows: int | None) -> list[Arrow] | None:
        columns = _bare_cells(records, width, dialect, different)
        if columns is None:
            if rows is None:
                size, rows = _proven(records, width, dialect, last=False)
                if size < len(records):
                    return None
            reading = arrow_csv.ReadOptions(column_names=names, block_size=len(records) + 1)
            try:
                given = pa.BufferReader(records)
                table = arrow_csv.read_csv(given, read_options=reading, parse_options=parse, convert_options=texts)
            except pa.ArrowException:
                return None
            if table.num_rows != rows:
                return None
            columns = [cells.combine_chunks() for cells in table.columns]
        return without_blanks(columns, dialect.separator)

    rest, certain = b"", True
    waiting: deque[tuple[bytes, Future[list[Arrow] | None]]] = deque()
    with ThreadPoolExecutor(AHEAD) as workers:
        while True:
            while certain and len(waiting) <= AHEAD:
                fresh = stream.take(BLOCK)
                rest += fresh
                size, rows = rest.rfind(b"\n") + 1, None  # without a quote, whoever parses the block proves it
                if dialect.quote and dialect.quote.encode() in rest:
                    size, rows = _proven(rest, width, dialect, last=len(fresh) < BLOCK)
                if certain := size > 0:
                    records, rest = rest[:size], rest[size:]
                    waiting.append((records, workers.submit(columns_of, records, rows)))
            if not waiting:
                break
            columns = waiting[0][1].result()
            if columns is None:
                break
            yield columns
            waiting.popleft()
    stream.put_back(b"".join([*(records for records, _ in waiting), rest]))


def _bare_cells(block: bytes, width: int, dialect: Dialect, different: list[int]) -> list[Arrow] | None:
    """The columns of a block of ASCII without quotes: what Arrow would read, as surely, in half the time. None unless
    every row has `width` cells and is not too long, and every CR stands before an LF. A column where most texts are
    `different` is returned as one text for each cell, for that many further blocks; others as distinct texts."""
    quoted = dialect.quote and dialect.quote.encode() in block
    if quoted or b"\0" in block or not block.isascii() or not block.endswith(b"\n"):
        return None
    signs = np.frombuffer(block, dtype=np.uint8)
    lines = signs == ord("\n")
    rows = int(np.count_nonzero(lines))
    found = np.flatnonzero(lines | (signs == ord(dialect.separator)))
    if len(found) != rows * width:
        return None
    ends = np.ascontiguousarray(found.reshape(rows, width).T)  # column by column in memory
    if not lines[ends[-1]].all():  # then no other cell ends a line, and no line is blank
        return None
    starts = [np.append(0, ends[-1, :-1] + 1), *(ends[:-1] + 1)]
    if (ends[-1] - starts[0]).max() >= LONGEST_RECORD:
        return None
    if b"\r" in block:
        if block.count(b"\r") != block.count(b"\r\n"):
            return None
        ends[-1] -= signs[ends[-1] - 1] == ord("\r")  # of an empty line too: no cell is before it
    padded = block + bytes(SHORT)
    words = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    columns = []
    for place, (first, end) in enumerate(zip(starts, ends, strict=True)):
        lengths, blocks = end - first, different[place]  # read once: other threads count on
        if blocks:
            different[place] = blocks - 1
            columns.append(_cut(block, first, end))
            continue
        short = lengths.max() <= SHORT
        cells = _texts_of(words, first, lengths) if short else _cut(block, first, end).dictionary_encode()
        different[place] = AGAIN * (2 * len(cells.dictionary) > len(cells))
        columns.append(cells)
    return columns


def _cut(block: bytes, starts: Integers, ends: Integers) -> Arrow:
    """One text for each cell: the block is split where cells start and end, so every second piece is a cell."""
    cuts = np.stack([starts, ends], axis=1).ravel().astype(np.int32)
    pieces = pa.StringArray.from_buffers(len(cuts) - 1, pa.py_buffer(cuts), pa.py_buffer(block))
    return pieces.take(pa.array(np.arange(0, len(cuts), 2)))


_BYTES_OF = np.array([2 ** (8 * size) - 1 for size in range(9)], dtype=np.uint64)  # the first bytes of a word


def _texts_of(words: Integers, starts: Integers, lengths: Integers) -> Arrow:
    """The distinct texts of a column, and each cell's place among them. No cell is longer than SHORT bytes, so each is
    one or two numbers, which are compared faster than texts. `words`: the eight bytes from each place on, as a
    number."""
    first = words[starts] & _BYTES_OF[np.minimum(lengths, 8)]
    found = pa.array(first).dictionary_encode()
    if lengths.max() <= 8:
        parts = [found.dictionary.to_numpy()]
    else:
        second = words[starts + 8] & _BYTES_OF[np.maximum(lengths - 8, 0)]
        ends = pa.array(second).dictionary_encode()
        places = found.indices.to_numpy().astype(np.int64) * len(ends.dictionary) + ends.indices.to_numpy()
        head, tail = found.dictionary.to_numpy(), ends.dictionary.to_numpy()
        found = pa.array(places).dictionary_encode()
        pairs = found.dictionary.to_numpy()
        parts = [head[pairs // len(tail)], tail[pairs % len(tail)]]
    letters = np.stack(parts, axis=1).astype("<u8").view(np.uint8).reshape(len(found.dictionary), -1)
    ends_of = np.concatenate([[0], np.cumsum((letters != 0).sum(axis=1))]).astype(np.int32)
    data = pa.py_buffer(letters[letters != 0].tobytes())
    texts = pa.StringArray.from_buffers(len(letters), pa.py_buffer(ends_of.tobytes()), data)
    return pa.DictionaryArray.from_arrays(found.indices, texts)


def _proven(block: bytes, width: int, dialect: Dialect, last: bool) -> tuple[int, int]:
    """How many leading bytes of the block, and records in them, every CSV reader would read alike; zeros if none."""
    nothing = 0, 0
    if block.startswith(b"\xef\xbb\xbf"):  # Arrow would take it for a byte order mark
        return nothing
    signs = np.frombuffer(block + b"\n", dtype=np.uint8)  # the end of the file ends a record
    quoted = bool(dialect.quote) and dialect.quote.encode() in block
    quotes = np.flatnonzero(signs == ord(dialect.quote)) if quoted else np.zeros(0, dtype=np.int64)
    ends = np.flatnonzero(signs == ord("\n"))
    if not last or block.endswith(b"\n"):
        ends = ends[:-1]
    if quoted:
        outside = np.searchsorted(quotes, ends) % 2 == 0
        if not dialect.line_breaks and not outside.all():
            return nothing
        ends = ends[outside]
    if not ends.size:
        return nothing
    end = int(ends[-1])
    if quoted:
        quotes = quotes[: np.searchsorted(quotes, end)]
        opening, closing = quotes[::2], quotes[1::2]
        marks = [ord(dialect.separator), ord("\n"), ord(dialect.quote or "\n")]
        before, after = signs[opening[opening > 0] - 1], signs[closing + 1]
        if not np.isin(before, marks).all() or not np.isin(after, [*marks, ord("\r")]).all():
            return nothing
    if b"\r" in block:
        returns = np.flatnonzero(signs[:end] == ord("\r"))
        returns = returns[np.searchsorted(quotes, returns) % 2 == 0]
        if (signs[returns + 1] != ord("\n")).any():
            return nothing
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    if lengths.max() >= LONGEST_RECORD:
        return nothing
    if width > 1 and ((lengths == 0) | ((lengths == 1) & (signs[starts] == ord("\r")))).any():
        return nothing
    return min(end + 1, len(block)), len(ends)


class _SingleLine:
    """Lets the csv module read just one line, even if the line ends inside a quoted cell."""

    line: str | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, self.line = self.line, None
        if line is None:
            raise StopIteration
        return line


def _alone(lines: Lines, dialect: Dialect) -> Iterator[list[str] | str]:
    """For each line its cells, or the code of its fault."""
    single = _SingleLine()
    reader = reader_of(single, dialect)
    for line in lines.alone():
        if line is None:
            yield "load.long_line"
            continue
        single.line = line
        try:
            yield next(reader)
        except csv.Error:
            yield "load.quoting" if dialect.quote and dialect.quote in line else "load.line_end"


def _joined(lines: Lines, dialect: Dialect) -> Iterator[list[str] | str]:
    """The cells of each record, which may span lines. Ends after a fault: nobody knows where the next record starts."""
    try:
        for row in reader_of(lines, dialect):
            lines.since = lines.given
            yield row
    except csv.Error:
        yield "load.unclosed" if lines.ended else "load.broken"


def _careful(stream: Utf8, width: int, dialect: Dialect, newline: str, bad_records: str) -> Iterator[list[Arrow]]:
    """The reference reader: the csv module reads one record at a time from here to the end of the stream."""
    lines = Lines(stream, newline)
    missing = [""] * width
    rows: list[list[str]] = []
    flushed = blank = 0

    def damaged(code: str) -> list[str]:
        if bad_records == "empty" and code not in HOPELESS:
            return missing
        # Of several faults the first in the file is reported: rows held back may contain undecoded bytes.
        if bad_records == "refuse" and not all(readable(cell) for row in rows for cell in row):
            code = "load.encoding"
        raise AllowanceError(code, encoding=dialect.encoding, most=LONGEST_RECORD) from None

    def columns() -> list[Arrow]:
        nonlocal rows
        now, rows = rows, []
        try:
            return [pa.array(cells, pa.string()) for cells in zip(*now, strict=True)]
        except UnicodeEncodeError:
            now = [row if all(map(readable, row)) else damaged("load.encoding") for row in now]
            return [pa.array(cells, pa.string()) for cells in zip(*now, strict=True)]

    for row in (_joined if dialect.line_breaks else _alone)(lines, dialect):
        if not row and width > 1:
            blank += 1  # damaged if anything follows
            continue
        if not isinstance(row, str) and len(row) == width and blank_row(row, dialect):
            continue
        while blank:
            rows.append(damaged("load.ragged"))
            blank -= 1
        if isinstance(row, str):
            rows.append(damaged(row))
        else:
            rows.append(row if len(row) == width else damaged("load.ragged") if row else missing)
        if len(rows) >= FEW or lines.given - flushed > BLOCK:
            flushed = lines.given
            yield columns()
    if rows:
        yield columns()
