"""The raw table becomes the coded one: a Number its grid index, a Category its place in the declared list.

One public, total rule for each cell, which looks at that cell and the schema only; nothing a cell holds can make it
fail. Values are compared exactly as `schema.normal` compares them when the list is declared. (DuckDB's `lower` differs
from Python's on some letters, so two different listed values could become one there and a row match twice.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.dialect import Dialect
from dpengine.errors import AllowanceError
from dpengine.loading import parquet, written
from dpengine.needs import Integers
from dpengine.persons import PERSON
from dpengine.schema import MISSING, Category, Code, Column, Number, Schema, normal

LONGEST_NUMBER = 400  # characters; longer cells are no numbers
_SPACES = " \u00a0\u2009\u202f"  # plain, no-break, thin, narrow no-break
_ENDLESS = re.compile(r"([+-]?)(?:inf|infinity|∞)", re.IGNORECASE)
_WORDS = ("nan", "inf", "-inf")

Coder = Callable[[list[str]], Integers]


def encode(
    raw: Path, schema: Schema, dialect: Dialect, coded: Path, names: Sequence[str] | None = None
) -> None:  # fmt: skip
    """Write columns c0, c1, … in the schema's order, row for row. With `names`, the raw columns are c0, c1, … in their
    order, and its column `person` comes along."""
    try:
        with pq.ParquetFile(raw, memory_map=False) as file:
            found = list(names or file.schema_arrow.names)
            absent = [name for name in schema.columns if name not in found]
            if absent:
                raise AllowanceError("column.absent", column=absent[0], columns=found)
            sources = [f"c{found.index(name)}" if names else name for name in schema.columns]
            _encode(file, schema, dialect, coded, sources, [PERSON] if names else [])
    except (pa.ArrowException, OSError):
        raise AllowanceError("engine.unreadable") from None


def _encode(file: Any, schema: Schema, dialect: Dialect, coded: Path, sources: list[str], kept: list[str]) -> None:
    coders = [_coder(column, dialect) for column in schema.columns.values()]
    kinds = [_kind(column) for column in schema.columns.values()]
    fields = [(f"c{place}", pa.from_numpy_dtype(kind)) for place, kind in enumerate(kinds)]
    target = pa.schema(fields + [(name, pa.int64()) for name in kept])
    with written(coded) as part, parquet(part, target) as store:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=[*dict.fromkeys(sources), *kept])
            codes = [
                _codes(table.column(table.schema.get_field_index(name)), *coder, kind)
                for name, coder, kind in zip(sources, coders, kinds, strict=True)
            ]
            codes += [table.column(name).combine_chunks().cast(pa.int64()) for name in kept]
            store(pa.record_batch(codes, schema=target))


def _codes(cells: Any, coder: Coder, missing: Code, kind: Any) -> Any:
    """Each different text is coded once."""
    distinct = cells.combine_chunks().dictionary_encode()
    codes = np.append(coder(distinct.dictionary.to_pylist()), missing).astype(kind)
    places = distinct.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)
    return pa.array(codes[places])


def _kind(column: Column) -> Any:
    return next(kind for kind in (np.int8, np.int16, np.int32) if column.size - 1 <= np.iinfo(kind).max)


def _coder(column: Column, dialect: Dialect) -> tuple[Coder, Code]:
    """How texts are coded, and the code of an absent cell."""
    if isinstance(column, Category):
        return _category(column), column.labels.index(column.missing)
    return _number(column, dialect), _absent(column)


def _absent(column: Number) -> Code:
    """The code of a cell without a number: none, or that of the declared stand-in."""
    return MISSING if column.missing is None else column.code(column.missing)


def _category(column: Category) -> Coder:
    """Empty cells are missing; then the listed values, then their other spellings; all else is unknown."""
    places = {normal(label): place for place, label in enumerate(column.labels)}
    for other, label in column.aliases:
        places.setdefault(other, column.labels.index(label))
    places[""] = column.labels.index(column.missing)
    unknown = column.labels.index(column.unknown)

    def codes(texts: list[str]) -> Integers:
        return np.array([places.get(normal(text), unknown) for text in texts], dtype=np.int64)

    return codes


def _number(column: Number, dialect: Dialect) -> Coder:
    """The nearest grid index, halves to the even one, clamped into the range; what is no number is missing."""
    plain = _reader(dialect)
    last, absent = column.size - 1, _absent(column)
    # Floats decide where they cannot err: below 2^40 steps from zero a position is off by less than a thousandth.
    steps = max(abs(column.lower), abs(column.upper)) / column.step
    sure = steps < 2**40 and Fraction(1, 10**200) < column.step < 10**200

    def exact(number: str) -> Code:
        if number in _WORDS:
            return {"nan": absent, "inf": last, "-inf": 0}[number]
        place = round((Fraction(Decimal(number)) - column.lower) / column.step)
        return min(max(place, 0), last)

    def codes(texts: list[str]) -> Integers:
        numbers = [plain(text) for text in texts]
        if not sure:
            return np.array([exact(number) for number in numbers], dtype=np.int64)
        places = (np.array([float(number) for number in numbers]) - float(column.lower)) / float(column.step)
        places = np.clip(places, -1, last + 1)
        found = np.where(np.isnan(places), absent, np.clip(np.rint(places), 0, last)).astype(np.int64)
        for at in np.flatnonzero(np.abs(places - np.floor(places) - 0.5) < 0.002):
            found[at] = exact(numbers[at])
        return found

    return codes


def _group_signs(thousands: str) -> str:
    return _SPACES if thousands == " " else "'’" if thousands == "'" else thousands


def _reader(dialect: Dialect) -> Callable[[str], str]:
    """A cell as Python writes numbers, "nan" where it is none: 1500, 1500.5, .5, 1.5e3 in the declared signs, with a
    thousands sign only where groups of digits can meet, and inf. Nothing else is stripped: no currency, no percent."""
    point = re.escape(dialect.decimal)
    whole = r"\d+"
    if dialect.thousands:
        sign = f"[{re.escape(_group_signs(dialect.thousands))}]"
        whole = rf"(?:\d{{1,3}}(?:{sign}\d{{2,3}})*{sign}\d{{3}}|\d+)"  # 1,234,567 and 12,34,567
    grammar = re.compile(rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d{{1,3}})?", re.ASCII)
    dropped = str.maketrans("", "", _group_signs(dialect.thousands))

    def plain(text: str) -> str:
        text = text.strip()
        if len(text) > LONGEST_NUMBER:
            return "nan"
        digits = text.replace(dialect.decimal, "", 1)
        if digits.isdecimal() and digits.isascii():
            return text.replace(dialect.decimal, ".")
        text = text.replace("−", "-")
        if grammar.fullmatch(text):
            return text.translate(dropped).replace(dialect.decimal, ".")
        endless = _ENDLESS.fullmatch(text)
        return "nan" if endless is None else "-inf" if endless[1] == "-" else "inf"

    return plain
