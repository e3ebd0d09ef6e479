"""How one raw cell is read under the declared dialect: as a number, as a public power-of-two band, as fitting its
declaration or not.

Every rule covers any text, and depends on that one cell and the declaration only.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Column, Number, normal

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
    """The year of a cell that holds a day, whichever of day and month comes first; None where it holds none."""
    for reader in _EITHER:
        if (day := reader.day(cell)) is not None:
            return (reader.first + timedelta(days=day)).year
    return None


def band(number: str) -> int | None:
    """The i with EDGES[i] ≤ x < EDGES[i+1], for a number as `number_reader` writes it. Numbers beyond the ends count in
    the first or last band; a cell that is no number has no band."""
    if number == "nan":
        return None
    return min(max(bisect_right(EDGES, Decimal(number)) - 1, 0), BANDS - 1)


def stands_for_none(column: Number) -> Callable[[str], bool]:
    """A test for numbers, as `number_reader` writes them, that stand for no value by declaration: equal, not near."""
    codes, rough = frozenset(column.codes), frozenset(map(float, column.codes))
    # Equal numbers are equal floats, so few are read exactly.
    return lambda number: float(number) in rough and Fraction(Decimal(number)) in codes


def misfit(column: Column, dialect: Dialect) -> Callable[[str], bool]:
    """A test for cells that do not fit their declaration: out of range, unlisted, unreadable. An empty cell fits,
    except in a list that is said to be complete; and so does a number that stands for none."""
    if isinstance(column, Category):
        listed = column.fitting()
        return lambda cell: normal(cell) not in listed
    if isinstance(column, Number):
        plain, none = number_reader(dialect), stands_for_none(column)
        low, high = _float(column.lower), _float(column.upper)

        def outside(cell: str) -> bool:
            number = plain(cell)
            if number in ("nan", "inf", "-inf"):
                return bool(cell.strip())
            if low < float(number) < high:  # rounding keeps order, so this is exact
                return False
            return not (column.lower <= Fraction(Decimal(number)) <= column.upper or none(number))

        return outside
    if isinstance(column, Date):
        return lambda cell: bool(cell.strip()) and not 0 <= _or(column.day(cell), -1) < column.size
    items, between = {"", *map(normal, column.values)}, column.separator
    return lambda cell: any(normal(item) not in items for item in (cell.split(between) if between else [cell]))


def _or(day: int | None, other: int) -> int:
    return other if day is None else day


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _group_signs(thousands: str) -> str:
    return _SPACES if thousands == " " else "'’" if thousands == "'" else thousands


def number_reader(dialect: Dialect) -> Callable[[str], str]:
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
