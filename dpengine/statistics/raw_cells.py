"""Read one raw cell in the declared dialect: as a number, as a public power-of-two band, as fitting its declaration or
not. Every rule accepts any text, and depends on that cell and the declaration only."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from dpengine.declared.cell_kinds import (
    ABOVE,
    BELOW,
    EMPTY,
    FITS,
    UNREADABLE,
    WORD,
    listed_kinds,
    numbered,
    unknown_words,
)
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Column, Number
from dpengine.declared.spelling import normal

LONGEST_NUMBER = 400  # characters; longer cells are no numbers
LEAST_POWER, MOST_POWER = -10, 40
_SPACES = " \u00a0\u2009\u202f"  # plain, no-break, thin, narrow no-break
_ENDLESS = re.compile(r"([+-]?)(?:inf|infinity|∞)", re.IGNORECASE)

_POSITIVE = [Decimal(2) ** power for power in range(LEAST_POWER, MOST_POWER + 1)]
EDGES: tuple[Decimal, ...] = (*(-edge for edge in reversed(_POSITIVE)), Decimal(0), *_POSITIVE)
BANDS = len(EDGES) - 1

FIRST_YEAR, LAST_YEAR = 1850, 2100
YEARS = LAST_YEAR - FIRST_YEAR + 1
_EITHER = tuple(Date("1850-01-01", "2100-12-31", order) for order in ("dmy", "mdy"))


def year_of(cell: str) -> int | None:
    """The year of a cell that holds a day, with day and month in either order. None if it holds no day."""
    for reader in _EITHER:
        if (day := reader.day(cell)) is not None:
            return (reader.first + timedelta(days=day)).year
    return None


def band(number: str) -> int | None:
    """The place i of a number's band, EDGES[i] ≤ x < EDGES[i+1]; numbers beyond the ends are in the first or last band.
    None for "nan", which `number_reader` returns for other text."""
    if number == "nan":
        return None
    return min(max(bisect_right(EDGES, Decimal(number)) - 1, 0), BANDS - 1)


def stands_for_none(column: Number) -> Callable[[str], bool]:
    """A function: does this number (as `number_reader` returns it) equal one that is declared to mean no value?"""
    codes, rough = frozenset(column.codes), frozenset(map(float, column.codes))
    # Equal numbers are equal floats, so few need an exact comparison.
    return lambda number: float(number) in rough and Fraction(Decimal(number)) in codes


def kind_of(name: str, column: Column, dialect: Dialect) -> Callable[[str], int]:
    """A function that returns the kind of a column's cell (`declared/cell_kinds.py`); kinds below 0 do not fit the
    declaration. A number declared to mean “unknown” makes the cell empty."""
    if isinstance(column, Category):
        kinds = listed_kinds(column)
        return lambda cell: kinds.get(normal(cell), UNREADABLE)
    if isinstance(column, Number):
        return _kind_of_number(name, column, dialect)
    if isinstance(column, Date):
        return _kind_of_day(column)
    items, between = {"", *map(normal, column.values)}, column.separator

    def kind(cell: str) -> int:
        parts = cell.split(between) if between else [cell]
        return UNREADABLE if any(normal(item) not in items for item in parts) else FITS

    return kind


def _without_value(cell: str, words_fit: bool) -> int:
    """The kind of a cell that holds neither a number nor a day. `words_fit`: words for “unknown” count as empty."""
    if not cell.strip():
        return EMPTY
    if normal(cell) in unknown_words():
        return EMPTY if words_fit else WORD
    return UNREADABLE


def _kind_of_number(name: str, column: Number, dialect: Dialect) -> Callable[[str], int]:
    plain, none, own = number_reader(dialect), stands_for_none(column), numbered(name, column)
    low, high, rough = _float(column.lower), _float(column.upper), frozenset(map(float, own))

    def kind(cell: str) -> int:
        number = plain(cell)
        if number == "nan":
            return _without_value(cell, column.words)
        if number in ("inf", "-inf"):
            return ABOVE if number == "inf" else BELOW
        if none(number):
            return EMPTY
        near = float(number)
        if low < near < high and near not in rough:  # rounding keeps order, so this is exact
            return FITS
        exact = Fraction(Decimal(number))
        return BELOW if exact < column.lower else ABOVE if exact > column.upper else own.get(exact, FITS)

    return kind


def _kind_of_day(column: Date) -> Callable[[str], int]:
    def kind(cell: str) -> int:
        day = column.day(cell)
        if day is None:
            return _without_value(cell, column.words)
        return BELOW if day < 0 else ABOVE if day >= column.size else FITS

    return kind


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _group_signs(thousands: str) -> str:
    return _SPACES if thousands == " " else "'’" if thousands == "'" else thousands


def number_reader(dialect: Dialect) -> Callable[[str], str]:
    """A function that returns a cell's number as Python writes it, or "nan". It accepts 1500, 1500.5, .5, 1.5e3 and inf
    with the declared signs, thousands signs only between groups of digits, and no currency or percent sign."""
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
