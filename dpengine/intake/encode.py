"""The raw table becomes the coded one: a Number its grid index, a Category its place in the declared list, an ItemSet
the sorted places of its items.

One public rule codes every cell. It depends only on that cell and the schema, and no content can make it fail. Values
are compared exactly as `spelling.normal` compares them in a declared list. (DuckDB's `lower` differs from Python's
on some letters: two different listed values could become one there, and a row match twice.)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Arrow, Bits, Floats, Integers
from dpengine.declared.cell_kinds import FITS, numbered
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import MISSING, Category, Code, Column, ItemSet, Number, Schema
from dpengine.declared.spelling import normal
from dpengine.intake.load import parquet, written
from dpengine.intake.rows_per_person import PERSON
from dpengine.statistics.kept import keepable
from dpengine.statistics.need import Aggregated
from dpengine.statistics.raw_cells import kind_of, number_reader, stands_for_none
from dpengine.statistics.view import WEIGHT

FAULT = "fault"  # 1 if any declared cell of the row does not fit; f0, f1, … hold the kind of each cell
REMEMBERED = 2**18  # texts of all columns whose codes are remembered from one group of rows to the next
COUNTED = 2**22  # codes of all columns whose rows are counted meanwhile: 8 bytes each
_KINDS = 256  # of cells: they are stored in 8 bits
_SURE_DIGITS = 15  # at most, on each side of the decimal sign
_WORDS = ("nan", "inf", "-inf")

Coder = Callable[[list[str]], Integers]
KeptColumns = dict[int, Aggregated]  # by the places of columns


def encode(
    raw: Path,
    schema: Schema,
    dialect: Dialect,
    coded: Path,
    names: Sequence[str] | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> KeptColumns:
    """Write the codes of all rows, as columns c0, c1, … in the schema's order. With `names`, the raw file has columns
    c0, c1, … for these names, and a column `person` that is copied. Returns the counts of columns that may be kept, by
    place: here they cost nothing, later each would be a scan."""
    with refusing("engine.unreadable", pa.ArrowException, OSError):
        columns = list(names or pq.read_schema(raw, memory_map=False).names)
        absent = [name for name in schema.columns if name not in columns]
        if absent:
            raise AllowanceError("column.absent", column=absent[0], columns=columns)
        sources = [f"c{columns.index(name)}" if names else name for name in schema.columns]
        with pq.ParquetFile(raw, memory_map=False, read_dictionary=sources) as file:
            return _encode(file, schema, dialect, coded, sources, [PERSON] if names else [], report)


def _encode(
    file: Arrow,
    schema: Schema,
    dialect: Dialect,
    coded: Path,
    sources: list[str],
    kept: list[str],
    report: Callable[[float], None],
) -> KeptColumns:
    names = dict(zip(schema.columns, sources, strict=True))
    share, counted = REMEMBERED // max(len(names), 1), _counted(schema)
    columns = enumerate(schema.columns.items())
    coders = [_cells(name, column, dialect, share, counted.get(place)) for place, (name, column) in columns]
    kinds_of = [(f"c{place}", _kind(column)) for place, column in enumerate(schema.columns.values())]
    kinds_of += [(f"f{place}", pa.int8()) for place in range(len(coders))] + [(FAULT, pa.int8())]
    # Columns that say that no cell is absent are read and written faster.
    fields = [pa.field(name, kind, nullable=pa.types.is_list(kind)) for name, kind in kinds_of]
    target = pa.schema([*fields, *(pa.field(name, pa.int64()) for name in kept)])

    def rows_of(group: int) -> Arrow:
        table = file.read_row_group(group, columns=[*dict.fromkeys(sources), *kept])
        cells = [_distinct(table.column(table.schema.get_field_index(name))) for name in names.values()]
        found = [coder(column) for column, coder in zip(cells, coders, strict=True)]
        kinds = [kind for _, kind in found]
        fault = (reduce(np.minimum, kinds) < FITS).astype(np.int8)
        codes = [code for code, _ in found] + [pa.array(each) for each in [*kinds, fault]]
        codes += [table.column(name).combine_chunks().cast(pa.int64()) for name in kept]
        return pa.record_batch(codes, schema=target)

    with written(coded) as part, parquet(part, target) as store, ThreadPoolExecutor(1) as worker:
        for group, rows in enumerate(_one_ahead(worker, rows_of, file.num_row_groups)):
            store(rows)
            report((group + 1) / file.num_row_groups)
    return {place: rows.table(place) for place, rows in counted.items()}


def _one_ahead(worker: ThreadPoolExecutor, rows_of: Callable[[int], Arrow], groups: int) -> Iterator[Arrow]:
    """The coded rows of each group. While one group is being written, a thread codes the next."""
    waiting = [worker.submit(rows_of, 0)] if groups else []
    for group in range(groups):
        rows = waiting.pop().result()
        if group + 1 < groups:
            waiting.append(worker.submit(rows_of, group + 1))
        yield rows


class _RowsOfCodes:
    """Adds up, while a column is coded, how many rows have each code and kind."""

    def __init__(self, size: int) -> None:
        self._fitting = np.zeros(size + 1, dtype=np.int64)  # from MISSING on
        self._others = Counter[int]()  # few: all texts outside a range have the same code

    def add(self, codes: Integers, kinds: Integers, rows: Integers) -> None:
        """Add rows: for each distinct text its code, its kind and its number of rows."""
        fits = kinds == FITS
        np.add.at(self._fitting, codes[fits] - MISSING, rows[fits])
        rest = np.flatnonzero(~fits & (rows > 0))
        if len(rest):
            found, place = np.unique(codes[rest].astype(np.int64) * _KINDS + kinds[rest], return_inverse=True)
            sums = np.zeros(len(found), dtype=np.int64)
            np.add.at(sums, place, rows[rest])
            self._others.update(dict(zip(found.tolist(), sums.tolist(), strict=True)))

    def table(self, place: int) -> Aggregated:
        fitting = np.flatnonzero(self._fitting)
        others = np.array(sorted(self._others.items()), dtype=np.int64).reshape(-1, 2)
        kinds = (others[:, 0] + _KINDS // 2) % _KINDS - _KINDS // 2
        return {
            f"c{place}": np.concatenate([fitting + MISSING, (others[:, 0] - kinds) // _KINDS]),
            f"f{place}": np.concatenate([np.full(len(fitting), FITS), kinds]),
            WEIGHT: np.concatenate([self._fitting[fitting], others[:, 1]]),
        }


def _counted(schema: Schema) -> dict[int, _RowsOfCodes]:
    """Empty counts for the columns that may be kept, as many as fit into the memory for them."""
    counted, room = dict[int, _RowsOfCodes](), COUNTED
    for place, column in enumerate(schema.columns.values()):
        if keepable({f"c{place}"}, schema) and column.size <= room:
            counted[place], room = _RowsOfCodes(column.size), room - column.size
    return counted


def _distinct(cells: Arrow) -> Arrow:
    """The distinct texts, and each cell's place among them."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    return cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()


def _cells(
    name: str, column: Column, dialect: Dialect, most: int, counted: _RowsOfCodes | None
) -> Callable[[Arrow], tuple[Arrow, Arrow]]:
    """A function that codes cells: the code and the kind of each; an absent cell is empty. Up to `most` texts are
    remembered from one group of rows to the next, except plain numbers, which are read many at once. It also adds the
    rows to `counted`."""
    code_of, kind_of_text = coder_of(column, dialect), kind_of(name, column, dialect)
    nothing, empty = code_of(pa.nulls(1, pa.string())).to_pylist(), kind_of_text("")
    plain = _plain_numbers(name, column, dialect) if isinstance(column, Number) else None
    known: dict[str, tuple[Code | list[Code], int]] = {}

    def each(texts: list[str]) -> tuple[list[Code | list[Code]], list[int]]:
        return code_of(pa.array(texts, pa.string())).to_pylist(), [kind_of_text(text) for text in texts]

    def remembered(texts: list[str]) -> tuple[list[Code | list[Code]], list[int]]:
        fresh = [text for text in texts if text not in known]
        if len(fresh) > most:
            return each(texts)
        if len(known) + len(fresh) > most:
            known.clear()
            fresh = texts
        known.update(zip(fresh, zip(*each(fresh), strict=True), strict=True))
        both = [known[text] for text in texts]
        return [code for code, _ in both], [kind for _, kind in both]

    def of_texts(texts: Arrow) -> tuple[Arrow, Arrow]:
        if plain is None:
            codes, kinds = remembered(texts.to_pylist())
            return pa.array(codes + nothing, _kind(column)), np.array([*kinds, empty], np.int8)
        indices, sure = plain(texts)
        every, kinds_of = np.append(indices, nothing), np.append(np.full(len(texts), FITS, np.int8), np.int8(empty))
        others = np.flatnonzero(~sure)
        if len(others):
            every[others], kinds_of[others] = remembered(texts.take(pa.array(others)).to_pylist())
        return pa.array(every, _kind(column)), kinds_of

    def cells(found: Arrow) -> tuple[Arrow, Arrow]:
        codes, kinds = of_texts(found.dictionary)
        places = _places(found)
        if counted is not None:
            counted.add(codes.to_numpy(zero_copy_only=False), kinds, np.bincount(places, minlength=len(kinds)))
        return codes.take(pa.array(places)), kinds[places]

    return cells


def _plain_numbers(name: str, column: Number, dialect: Dialect) -> Callable[[Arrow], tuple[Integers, Bits]]:
    """A function that reads many texts of digits at once, each with at most a minus and a decimal sign: their codes,
    and which of them are certain. A text is certain if it is such a number, strictly within the range, not near the
    middle of two codes, and without a meaning of its own. There floats give the same code as exact numbers."""
    import pyarrow.compute as pc  # slow to import

    form = f"^-?[0-9]{{1,{_SURE_DIGITS}}}([{dialect.decimal}][0-9]{{1,{_SURE_DIGITS}}})?$"
    own = np.array([float(number) for number in (*column.codes, *numbered(name, column))])
    safe, lower, upper, step = _floats_decide(column), *map(_float, (column.lower, column.upper, column.step))

    def numbers(texts: Arrow) -> Arrow:
        whole = pc.and_(pc.ascii_is_decimal(texts), pc.less_equal(pc.binary_length(texts), _SURE_DIGITS))
        return whole if pc.all(whole).as_py() else pc.match_substring_regex(texts, form)  # takes ten times as long

    def read(texts: Arrow) -> tuple[Integers, Bits]:
        matched = numbers(texts) if safe else pa.array(np.zeros(len(texts), bool))
        digits = pc.if_else(matched, texts, "0")
        if dialect.decimal != ".":
            digits = pc.replace_substring(digits, dialect.decimal, ".")
        values = pc.cast(digits, pa.float64()).to_numpy(zero_copy_only=False)
        within = matched.to_numpy(zero_copy_only=False) & (lower < values) & (values < upper) & ~np.isin(values, own)
        places = (np.where(within, values, lower) - lower) / step if safe else np.zeros(len(texts))
        sure = within & ~_near_middle(places)
        return np.clip(np.rint(places), 0, column.size - 1).astype(np.int64), sure

    return read


def _floats_decide(column: Number) -> bool:
    """Do floats suffice for this grid? Up to 2^40 steps from zero a position is wrong by less than a thousandth."""
    steps = max(abs(column.lower), abs(column.upper)) / column.step
    return steps < 2**40 and Fraction(1, 10**200) < column.step < 10**200


def _near_middle(places: Floats) -> Bits:
    near: Bits = np.abs(places - np.floor(places) - 0.5) < 0.002
    return near


def _float(value: Fraction) -> float:
    return float(value) if abs(value) < 10**300 else math.inf if value > 0 else -math.inf


def coder_of(column: Column, dialect: Dialect) -> Callable[[Arrow], Arrow]:
    """A function that codes a column of texts; each distinct text is coded once."""
    if isinstance(column, ItemSet):
        return lambda cells: _sets(_distinct(cells), column)
    coder, missing = _coder(column, dialect)

    def codes(cells: Arrow) -> Arrow:
        distinct = _distinct(cells)
        code_of = np.append(coder(distinct.dictionary.to_pylist()), missing)
        return pa.array(code_of[_places(distinct)], _kind(column))

    return codes


def _sets(distinct: Arrow, column: ItemSet) -> Arrow:
    """Lists of codes for distinct texts; an absent cell is the empty set."""
    sets = [column.codes(text) for text in distinct.dictionary.to_pylist()]
    return pa.array([*sets, []], _kind(column)).take(pa.array(_places(distinct)))


def _places(distinct: Arrow) -> Arrow:
    """Each cell's place among the distinct texts; for an absent cell, the place after the last."""
    return distinct.indices.fill_null(len(distinct.dictionary)).to_numpy(zero_copy_only=False)


def _kind(column: Column) -> Arrow:
    kinds = (np.int8, np.int16, np.int32)
    kind = pa.from_numpy_dtype(next(kind for kind in kinds if column.size - 1 <= np.iinfo(kind).max))
    return pa.list_(kind) if isinstance(column, ItemSet) else kind


def _coder(column: Number | Date | Category, dialect: Dialect) -> tuple[Coder, Code]:
    """A function from a text to its code, and the code of an absent cell."""
    if isinstance(column, Category):
        return _category(column), column.labels.index(column.missing)
    if isinstance(column, Date):
        return _date(column), MISSING
    return _number(column, dialect), _absent(column)


def _absent(column: Number) -> Code:
    """The code of a cell without a number: MISSING, or that of the declared value to use instead."""
    return MISSING if column.missing is None else column.code(column.missing)


def _category(column: Category) -> Coder:
    """The code of a text: listed values and their other spellings have theirs; empty is missing, all else unknown."""
    places = column.spelled()
    places[""] = column.labels.index(column.missing)
    unknown = column.labels.index(column.unknown)

    def codes(texts: list[str]) -> Integers:
        return np.array([places.get(normal(text), unknown) for text in texts], dtype=np.int64)

    return codes


def _date(column: Date) -> Coder:
    """The code of a date: days from the first, clamped into the range. MISSING if the text is no date."""

    def codes(texts: list[str]) -> Integers:
        days = [column.day(text) for text in texts]
        clamped = [MISSING if day is None else min(max(day, 0), column.size - 1) for day in days]
        return np.array(clamped, dtype=np.int64)

    return codes


def _number(column: Number, dialect: Dialect) -> Coder:
    """The code of a number: the nearest grid index, halves to even, clamped into the range. Missing if the text is no
    number, or a number declared to mean no value."""
    plain, none = number_reader(dialect), stands_for_none(column)
    rough = [float(code) for code in column.codes]
    last, absent = column.size - 1, _absent(column)
    sure = _floats_decide(column)

    def exact(number: str) -> Code:
        if number in _WORDS:
            return {"nan": absent, "inf": last, "-inf": 0}[number]
        if none(number):
            return absent
        place = round((Fraction(Decimal(number)) - column.lower) / column.step)
        return min(max(place, 0), last)

    def codes(texts: list[str]) -> Integers:
        numbers = [plain(text) for text in texts]
        if not sure:
            return np.array([exact(number) for number in numbers], dtype=np.int64)
        with np.errstate(over="ignore"):  # a huge number becomes infinite and is clamped; a warning would reveal it
            values = np.array([float(number) for number in numbers])
            places = (values - float(column.lower)) / float(column.step)
        places = np.clip(places, -1, last + 1)
        rounded = np.where(np.isnan(places), absent, np.clip(np.rint(places), 0, last)).astype(np.int64)
        for at in np.flatnonzero(_near_middle(places) | np.isin(values, rough)):
            rounded[at] = exact(numbers[at])
        return rounded

    return codes
