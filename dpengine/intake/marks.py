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

Every canonical cell t has LANES numbers modulo p = PRIME: the first words of SHA-256 of the secret key and t, so that
each distinct text is hashed once, however many rows hold it. A row's numbers are the products of its cells' numbers, a
table's are the sums of its rows' products, and its mark is an HMAC of these sums and the number of rows.

Claim. Take two tables that do not depend on the key, whose canonical rows are different multisets, and no row of which
occurs p times or more. Then their marks agree with a chance of at most (k/2^30)^LANES, k the number of columns: 2^-154
for 20 columns, 2^-120 for 1,000 (besides what breaks SHA-256 as a keyed function). Proof. For one lane, write X_t for
the number of cell t. A row is a monomial of degree at most k, and different multisets of cells are different monomials.
So the difference of both sums is a polynomial in the X_t, and not zero modulo p: its coefficients are the differences
of how often each row occurs, all between -p and p. The X_t are independent, and none takes a value with a chance above
3/2^32 (a word of 32 bits modulo p). By the lemma of Schwartz and Zippel the difference is 0 modulo p with a chance of
at most k·3/2^32 < k/2^30. Equal sums need that in all LANES, which are independent. ∎ (Sums of cells in place of
products would not do: rows ab, cd would have the sum of rows ac, bd.)
"""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import string
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Event

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.files import create
from dpengine.core.types import Arrow, Bits, Integers
from dpengine.declared.spelling import SPACES
from dpengine.intake.file_kinds import PACKED, unpack
from dpengine.intake.inspect import files_of
from dpengine.statistics.engines.duck import SETTINGS, THREADS

Numbers = NDArray[np.uint64]
OfColumn = tuple[Integers, Numbers, Bits]
# By a column's place: texts, with their numbers and whether they count; None if most texts are new.
Known = dict[int, tuple[Arrow, Numbers, Bits] | None]

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
PRIME = 2**31 - 1
LANES = 6  # numbers of each cell, from one hash
AT_ONCE = 8_192  # rows: they fit a processor's cache
FEW = 1_000  # texts of all columns
MOST_KNOWN = 2**18  # texts of all columns whose numbers are remembered: 60 bytes each, and the text
_HEX = 64  # letters of a hash
_SPECIAL = [*MISSING_WORDS, *TRUE_WORDS, *FALSE_WORDS]
_LONGEST_SPECIAL = max(map(len, _SPECIAL))
_BLOCK = 1 << 20
WAITING = 2  # batches of rows that wait to be hashed
_DIGIT, _LETTER, _OTHER, _ODD = 1, 2, 4, 8  # kinds of characters: _LETTER without e, _ODD what needs a closer look
_KINDS = np.full(256, _ODD, dtype=np.uint8)
_KINDS[[ord(sign) for sign in string.punctuation if sign not in "\"':"]] = _OTHER
_KINDS[[ord(letter) for letter in string.ascii_letters]] = _LETTER
_KINDS[[ord(letter) for letter in "eE"]] = _OTHER
_KINDS[[ord(digit) for digit in string.digits]] = _DIGIT


@contextmanager
def own_copy(
    source: Path, beside: Path, secret: bytes, report: Callable[[float], None]
) -> Iterator[tuple[Path, Callable[[], list[str]]]]:
    """A context with the path of a private copy, read once, and a function that returns the marks of its files. A
    thread computes the marks while the copy is loaded; the function waits for it."""
    files = files_of(source)
    with refusing("load.unwritable", OSError):
        inside = Path(tempfile.mkdtemp(prefix=".", dir=beside))  # 0700
    over, marks = Event(), list[Future[str]]()
    try:
        with ThreadPoolExecutor(1) as worker:
            try:
                for done, file in enumerate(files):
                    copy = inside / file.name
                    _copied(file, copy)
                    marks.append(worker.submit(_file_mark, copy, secret, over))
                    if file.suffix.lower().lstrip(".") in PACKED:
                        unpack(copy, inside, f"{done:06} {copy.stem}")
                        marks[-1].result()
                        copy.unlink()
                    report((done + 1) / len(files))
                (first, *_) = (entry for entry in inside.iterdir())
                yield (inside if source.is_dir() else first), lambda: [mark.result() for mark in marks]
            finally:
                over.set()
    finally:
        shutil.rmtree(inside, ignore_errors=True)


def _copied(file: Path, to: Path) -> None:
    with refusing("load.unreadable", OSError):
        given = open(file, "rb")  # noqa: SIM115 - closed below
    with given:
        with refusing("load.unwritable", OSError):
            taken = create(to)
        with taken:
            while block := _block(given):
                with refusing("load.unwritable", OSError):
                    taken.write(block)
                    taken.flush()


def _file_mark(file: Path, secret: bytes, over: Event) -> str:
    """The mark of a file's bytes. It gives up once the context is `over`, since nobody waits for it then."""
    mark = hmac.new(secret, b"allowance: file", hashlib.sha256)
    with refusing("load.unreadable", OSError):
        given = open(file, "rb")  # noqa: SIM115 - closed below
    with given:
        while not over.is_set() and (block := _block(given)):
            mark.update(block)
    return mark.hexdigest()


def _block(file: object) -> bytes:
    with refusing("load.unreadable", OSError):
        return bytes(file.read(_BLOCK))  # type: ignore[attr-defined]


def address_mark(place: Sequence[str], secret: bytes) -> str:
    """The mark of a table's place in a database: the same for every state of the table."""
    return hmac.new(secret, b"allowance: address" + json.dumps(list(place)).encode("ascii"), hashlib.sha256).hexdigest()


@cache
def _calculator() -> duckdb.DuckDBPyConnection:
    """A DuckDB for hashing. Opening one takes longer than hashing a small table, so it stays; it keeps no rows, and
    spills none: by default it would, into the working directory."""
    return duckdb.connect(config=SETTINGS | {"threads": 1, "preserve_insertion_order": True, "temp_directory": ""})


class RowMarks(AbstractContextManager["RowMarks"]):
    """Adds up the products of rows while they are loaded, a batch at a time and in any order: a sum for each part of
    the table (a file of a folder), and for all. Other threads hash while this one reads."""

    def __init__(self, parts: int, secret: bytes) -> None:
        self._key = row_key(secret)
        self._secret = secret
        self._sums = [[0] * (1 + LANES) for _ in range(parts)]
        self._known: Known = {}
        self._worker = ThreadPoolExecutor(THREADS)
        self._waiting: deque[tuple[int, Future[list[int]]]] = deque()

    def __exit__(self, *_: object) -> None:
        self._worker.shutdown(wait=True, cancel_futures=True)

    def add(self, part: int, cells: Sequence[Arrow]) -> None:
        """Add rows of a part. `cells`: for each column one text for each cell, or the distinct texts with each cell's
        place; NULL is an empty cell."""
        while len(self._waiting) >= WAITING:
            self._take()
        self._waiting.append((part, self._worker.submit(self._hashed, list(cells))))

    def _take(self) -> None:
        part, sums = self._waiting.popleft()
        self._sums[part] = [before + more for before, more in zip(self._sums[part], sums.result(), strict=True)]

    def marks(self) -> list[str]:
        """The mark of all rows; if there are several parts, then the mark of each."""
        while self._waiting:
            self._take()
        total = [sum(lane) for lane in zip(*self._sums, strict=True)]
        several = self._sums if len(self._sums) > 1 else []
        return list(dict.fromkeys(mark_of(sums, self._secret) for sums in (total, *several) if sums[0]))

    def _hashed(self, cells: Sequence[Arrow]) -> list[int]:
        """The number of rows that are not empty, and the sums of their products."""
        database = _calculator().cursor()
        try:
            numbers = numbers_of([_texts(column) for column in cells], self._key, database, self._known)
        finally:
            database.close()
        return summed([(_places(column), *found) for column, found in zip(cells, numbers, strict=True)], len(cells[0]))


def summed(columns: Sequence[OfColumn], rows: int) -> list[int]:
    """The number of rows with a cell that counts, and the sums of their products. `columns`: for each column, each
    cell's place among its texts, each text's numbers, and whether the text counts."""
    columns = _together(columns)
    lanes = columns[0][1].shape[1]
    found = [0] * (1 + lanes)
    work = np.empty((3, AT_ONCE, lanes), dtype=np.uint64)
    for start in range(0, rows, AT_ONCE):
        some = slice(start, min(start + AT_ONCE, rows))
        product, factor, upper = work[:, : some.stop - start]
        counted = np.zeros(len(product), dtype=bool)
        for at, (places, numbers, counts) in enumerate(columns):
            numbers.take(places[some], axis=0, out=factor if at else product, mode="clip")  # faster than checking
            if at:
                product *= factor
                _fold(product, upper)
                if at % 2 == 0:
                    _fold(product, upper)
            if not counted.all():
                counted |= counts.take(places[some])
        _fold(product, upper)
        np.minimum(product, np.subtract(product, np.uint64(PRIME), out=upper), out=product)  # below 0 wraps to the top
        product = product if counted.all() else product[counted]
        more = [len(product), *product.sum(axis=0).tolist()]
        found = [before + here for before, here in zip(found, more, strict=True)]
    return found


def _together(columns: Sequence[OfColumn]) -> list[OfColumn]:
    """Columns with few texts joined to one: each pair of texts is multiplied once, not in every row."""
    held = list[OfColumn]()
    for places, numbers, counts in sorted(columns, key=lambda column: len(column[1])):
        if held and len(held[-1][1]) * len(numbers) <= AT_ONCE:
            before, others, counted = held.pop()
            places = before * np.int32(len(numbers)) + places
            numbers = (others[:, None] * numbers % PRIME).reshape(-1, numbers.shape[1])
            counts = (counted[:, None] | counts).ravel()
        held.append((places, numbers, counts))
    return held


def _fold(numbers: Numbers, upper: Numbers) -> None:
    """The numbers modulo p = 2^31 - 1, not fully reduced, and without a division: 2^31 is 1, so the upper bits are
    added to the lower. A product of a factor below c·2^31 and one below 2^31 becomes less than (c + 1)·2^31, and fits
    64 bits up to c = 4. Less than 2^34 becomes less than 2^31 + 8, so c is hardly above 1 after every second column,
    and 3 at most; after a last time less than p + 8 is left. `upper` is room to work in."""
    np.right_shift(numbers, np.uint64(PRIME.bit_length()), out=upper)
    numbers &= np.uint64(PRIME)
    numbers += upper


def _texts(column: Arrow) -> Arrow:
    return column.dictionary if pa.types.is_dictionary(column.type) else column.fill_null("")


def _places(column: Arrow) -> Integers:
    """Each cell's place among the column's texts; for an empty cell, the place after the last."""
    if not pa.types.is_dictionary(column.type):
        return np.arange(len(column), dtype=np.int32)
    places: Integers = column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False)
    return places


def numbers_of(
    columns: Sequence[Arrow], key: str, database: duckdb.DuckDBPyConnection, known: Known | None = None
) -> list[tuple[Numbers, Bits]]:
    """The numbers of each column's texts. They are kept in `known`, by the column's place, because a query takes
    milliseconds. For the same reason columns with few texts are hashed together first."""
    many = sum(map(len, columns)) > FEW
    if known is not None and (many or known):
        room = MOST_KNOWN // len(columns)
        return [_known_numbers(place, texts, key, database, known, room) for place, texts in enumerate(columns)]
    if many:
        return [cell_numbers(texts, key, database) for texts in columns]
    numbers, counts = cell_numbers(pa.concat_arrays(columns), key, database)
    ends = list(accumulate(map(len, columns), initial=0))
    parts = [[*range(start, end), -1] for start, end in pairwise(ends)]  # last, those of an empty cell
    found = [(numbers[part], counts[part]) for part in parts]
    if known is not None:
        for place, (texts, (own, count)) in enumerate(zip(columns, found, strict=True)):
            known[place] = texts, own[:-1], count[:-1]
    return found


def _known_numbers(
    place: int, texts: Arrow, key: str, database: duckdb.DuckDBPyConnection, known: Known, room: int
) -> tuple[Numbers, Bits]:
    """The numbers of texts. Those hashed before are looked up, which takes at most a fifth of the time. Up to `room`
    texts are kept, and none of a column where most are new. Threads that run at once may drop each other's."""
    import pyarrow.compute as pc  # slow to import

    nothing = pa.array([], pa.string()), np.zeros((0, LANES), np.uint64), np.zeros(0, np.bool_)
    held = known.get(place, nothing)
    if held is None:
        return cell_numbers(texts, key, database)
    before, numbers, counts = held
    found = pc.index_in(texts, value_set=before)
    strange = found.is_null().to_numpy(zero_copy_only=False)
    fresh = texts.filter(pa.array(strange))
    more, counted = cell_numbers(fresh, key, database)
    every, counting = np.concatenate([numbers, more]), np.concatenate([counts, counted])
    at = np.append(found.fill_null(0).to_numpy(zero_copy_only=False), len(every) - 1)  # last, an empty cell
    at[:-1][strange] = len(before) + np.arange(len(fresh))
    if len(before) and 2 * len(fresh) > len(texts):
        known[place] = None
    elif len(before) < room and len(fresh):
        own = pa.concat_arrays([before, fresh])[:room]
        known[place] = own, every[: len(own)], counting[: len(own)]
    return every.take(at, axis=0), counting.take(at)


def cell_numbers(texts: Arrow, key: str, database: duckdb.DuckDBPyConnection) -> tuple[Numbers, Bits]:
    """Each text's numbers, and whether it counts. At the end those of an empty cell, which leave a product as it is."""
    numbers = np.ones((len(texts) + 1, LANES), dtype=np.uint64)
    counts = np.zeros(len(texts) + 1, dtype=bool)
    for prefix, forms, places in canonical(texts, database):
        numbers[places] = _numbers(_hashes(forms, key + prefix, database))
        counts[places] = True
    return numbers, counts


def _hashes(texts: Arrow, key: str, database: duckdb.DuckDBPyConnection) -> Arrow:
    """Each text's keyed hash in hexadecimal. A few texts are hashed here, since a query would take longer."""
    if len(texts) <= FEW:
        return pa.array([hashlib.sha256((key + text).encode()).hexdigest() for text in texts.to_pylist()], pa.string())
    return _asked("SELECT sha256(concat(?, text)) FROM texts", texts, database, [key])


def _asked(query: str, texts: Arrow, database: duckdb.DuckDBPyConnection, given: list[str]) -> Arrow:
    """What a query returns for each text, in their order."""
    try:
        database.register("texts", pa.table({"text": texts}))
        found: Arrow = database.sql(query, params=given).to_arrow_table()
    except duckdb.Error:
        raise AllowanceError("load.unreadable") from None
    finally:
        database.unregister("texts")
    return found.column(0).combine_chunks().cast(pa.string())


def _numbers(hashes: Arrow) -> Numbers:
    """The first LANES 32-bit numbers of each hash, modulo p. Eight hexadecimal letters are one number of 64 bits, so
    all are read at once: a digit is a letter's last four bits, plus 9 from a on; then neighbours are joined."""
    letters = np.frombuffer(hashes.buffers()[2], dtype=np.uint8)[_HEX * hashes.offset :][: _HEX * len(hashes)]
    words, found = letters.view("<u8").reshape(-1, _HEX // 8), np.empty((len(hashes), LANES), dtype=np.uint64)
    for start in range(0, len(words), AT_ONCE):
        numbers = words[start : start + AT_ONCE, :LANES].astype(np.uint64)
        more = (numbers >> np.uint64(6) & np.uint64(0x0101010101010101)) * np.uint64(9)
        numbers &= np.uint64(0x0F0F0F0F0F0F0F0F)
        numbers += more
        for bits, kept in ((4, 0x00FF00FF00FF00FF), (8, 0x0000FFFF0000FFFF), (16, 0xFFFFFFFF)):
            np.right_shift(numbers, np.uint64(2 * bits), out=more)
            numbers <<= np.uint64(bits)
            numbers |= more
            numbers &= np.uint64(kept)
        _fold(numbers, more)
        np.minimum(numbers, np.subtract(numbers, np.uint64(PRIME), out=more), out=found[start : start + AT_ONCE])
    return found


def canonical(texts: Arrow, database: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, Arrow, Integers | slice]]:
    """The canonical forms of the texts that count: how each begins, what follows, and the places of these texts. The
    SQL below defines the forms. Two simple kinds of cells are read faster, with the same result: whole numbers of at
    most PLACES digits, and ASCII words with a letter other than e, without space, quote or colon."""
    import pyarrow.compute as pc  # slow to import

    bits, lengths = _signs(texts), pc.binary_length(texts).to_numpy(zero_copy_only=False)
    digits = (bits == _DIGIT) & (lengths <= PLACES)
    words = ((bits & _LETTER) != 0) & ((bits & _ODD) == 0)
    short = np.flatnonzero(words & (lengths <= _LONGEST_SPECIAL))
    if len(short):
        some = pc.ascii_lower(texts.take(pa.array(short)))
        special = pc.is_in(some, value_set=pa.array(_SPECIAL)).to_numpy(zero_copy_only=False)
        words[short[special]] = False
    for prefix, chosen, simple in (("#", digits, lambda some: pc.ascii_trim(some, "0")), ("=", words, pc.ascii_lower)):
        if chosen.all() and len(texts):
            yield prefix, simple(texts), slice(len(texts))
        elif len(at := np.flatnonzero(chosen)):
            yield prefix, simple(texts.take(pa.array(at))), at
    rest = np.flatnonzero(~(digits | words))
    if len(rest):
        forms = _canonical(texts.take(pa.array(rest)), database)
        yield "", forms.drop_null(), rest[forms.is_valid().to_numpy(zero_copy_only=False)]


def _signs(texts: Arrow) -> NDArray[np.uint8]:
    """The kinds of characters in each text, as bits."""
    data, ends = texts.buffers()[2], np.frombuffer(texts.buffers()[1], dtype=np.int32)
    ends = ends[texts.offset :][: len(texts) + 1]
    bits = np.full(len(texts), _ODD, dtype=np.uint8)
    if data is None or not len(texts) or ends[-1] == ends[0]:
        return bits
    kinds = np.frombuffer(bytes(memoryview(data)[: ends[-1]]).translate(_KINDS.tobytes()), dtype=np.uint8)
    some = ends[1:] > ends[:-1]
    bits[some] = np.bitwise_or.reduceat(kinds, ends[:-1][some])
    return bits


def _canonical(texts: Arrow, database: duckdb.DuckDBPyConnection) -> Arrow:
    rows = "SELECT text FROM texts"
    for step in (_tidy, _kinds, _rounded):  # each in its own query: DuckDB plans nested ones twice as long
        rows = f"SELECT {step('text')} AS text FROM ({rows})"
    return _asked(rows, texts, database, [])


def mark_of(sums: list[int], secret: bytes) -> str:
    return hmac.new(secret, b"allowance: content" + json.dumps(sums).encode("ascii"), hashlib.sha256).hexdigest()


def row_key(secret: bytes) -> str:
    """A key of 128 bits for hashing cells: with it most cells fit one block of the hash."""
    return hmac.new(secret, b"allowance: rows in any order", hashlib.sha256).hexdigest()[:32]


def _tidy(cell: str) -> str:
    signs, same = (text.replace("'", "''") for text in ALIKE)
    bare = f"translate(nfc_normalize(replace({cell}, chr(0), '')), '{signs}', '{same}')"
    bare = f"trim(regexp_replace({bare}, ' +', ' ', 'g'))"
    return f"lower(CASE WHEN regexp_full_match({cell}, '{_PLAIN}') THEN {cell} ELSE {bare} END)"


def _kinds(cell: str) -> str:
    """SQL for a cell's canonical text: # (or - if negative) and a number's digits without leading zeros; for any other
    text = and the text itself."""
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
