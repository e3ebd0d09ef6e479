"""The kind of a cell in a declared column: it fits, it is empty, or something is wrong with it.

Every cell has exactly one kind, by a public rule on this cell and the declaration alone. A check counts the kinds
(`mechanisms/counts/fit_checks.py`); the coded rows store them, one small number per cell. Kinds below 0 do not fit the
declaration.

**Usual codes.** People write 99 or 999 for “unknown”. Such a number inside the declared range fits, and moves every
answer. So the usual codes inside the range have kinds of their own, and so have the whole numbers beside them: a real
value is seldom many times as common as its neighbours, a code is. In a column with decimals, 99.9 may be one.
0 is a code where the name says a size or an age. Elsewhere it is often real: its bar, “zero”, is only reported, and so
is a 0 that is no more common than its neighbours.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from dpengine.declared import spelling
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Column, Number
from dpengine.declared.spelling import normal

FITS, EMPTY = 0, 1
BELOW, ABOVE, UNREADABLE, WORD = -1, -2, -3, -4  # UNREADABLE: no number, no day; in a list: not one of its values
_FIRST_CODE = 2
USUAL_CODES = (99, 999, 9999, 99999, -1, -9, -99, -999)
_COMMON = {*USUAL_CODES, 0, 9, 88, 98}
# A code is larger than the real values. So these count as codes only in a range that ends below ten times the code …
_NEAR_THE_END = (77, 88, 96, 97, 98, 777, 888, 997, 998, 7777, 8888, 9997, 9998, 77777, 88888, -88, -888, -9999)
_ONE_DIGIT = (7, 8, -7, -8)  # … these only in a range of single digits …
_NINE = 100  # … and 9 only in a range that ends here at the latest: an age of 9 is real.
_MOST_PLACES = 3  # after the point: with one, 99.9 and 999.9 are codes near the end of a range
# Quantities that are never 0: there a 0 stands for “unknown”.
_NEVER_NONE = (
    "age ages aged starost star starosti let alter edad eta weight weights teza masa gewicht peso height heights visina"
    " hohe groesse grosse altezza length dolzina width sirina size velikost bmi temperature temperatura pulse utrip"
    " pressure tlak bp systolic diastolic sistolicni diastolicni glucose sugar sladkor sladkorja cholesterol holesterol"
    " holesterola hemoglobin haemoglobin saturation nasicenost"
).split()


@dataclass(frozen=True)
class Bar:
    """One bar of a check. `number` is set for a usual code, or a number beside one."""

    kind: int
    name: str  # fits, empty, below, above, unreadable, unlisted, word, code, zero or beside
    number: Fraction | None = None
    beside: tuple[Fraction, ...] = ()  # the numbers that a code is compared with
    rare: bool = False  # a code that few files use

    def __hash__(self) -> int:
        return hash(self.kind)  # no two bars of a column have the same

    @property
    def misfit(self) -> bool:
        return self.kind < 0


def bars(name: str, column: Column) -> tuple[Bar, ...]:
    """The bars of a column's check, from its name and declaration. Every cell counts in exactly one."""
    if isinstance(column, Number):
        return _of_numbers(name, column)
    if isinstance(column, Date):
        bad = (Bar(BELOW, "below"), Bar(ABOVE, "above"), Bar(UNREADABLE, "unreadable"))
        return Bar(FITS, "fits"), Bar(EMPTY, "empty"), *bad, *_words(column.words)
    unlisted = Bar(UNREADABLE, "unlisted")
    if isinstance(column, Category):
        return Bar(FITS, "fits"), Bar(EMPTY, "empty"), unlisted, Bar(WORD, "word")
    return Bar(FITS, "fits"), unlisted


def _words(count_as_empty: bool) -> tuple[Bar, ...]:
    return () if count_as_empty else (Bar(WORD, "word"),)


@cache
def _of_numbers(name: str, column: Number) -> tuple[Bar, ...]:
    bad = (Bar(BELOW, "below"), Bar(ABOVE, "above"), Bar(UNREADABLE, "unreadable"), *_words(column.words))
    codes = [code for code in _codes(name, column) if code not in column.codes]
    beside = {code: _neighbours(code, codes, column) for code in codes}
    zero = Fraction(0)
    has_zero = column.lower <= zero <= column.upper and zero not in (*codes, *column.codes)
    others = sorted({number for numbers in beside.values() for number in numbers} - ({zero} if has_zero else set()))
    kinds = {number: place for place, number in enumerate([*codes, *others, *[zero] * has_zero], _FIRST_CODE)}
    return (
        Bar(FITS, "fits"),
        Bar(EMPTY, "empty"),
        *bad,
        *(Bar(kinds[code], "code", code, beside[code], code not in _COMMON) for code in codes),
        *(Bar(kinds[number], "beside", number) for number in others),
        *([Bar(kinds[zero], "zero", zero)] if has_zero else []),
    )


def _codes(name: str, column: Number) -> list[Fraction]:
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name.lower()) if not unicodedata.combining(sign))
    never_none = any(word in _NEVER_NONE for word in re.findall("[a-z]+", plain))
    codes: set[int | Fraction] = {*USUAL_CODES, *([0] if never_none else [])}
    codes |= {code for code in _NEAR_THE_END if (column.upper if code > 0 else -column.lower) < 10 * abs(code)}
    codes |= {code for code in _ONE_DIGIT if (column.upper if code > 0 else -column.lower) < 10}
    codes |= {9} if column.upper <= _NINE else set()
    codes |= {code for code in _nines(column) if column.upper < 10 * code}
    return [Fraction(code) for code in sorted(codes) if column.lower <= code <= column.upper]


def _nines(column: Number) -> set[Fraction]:
    """99.9, 999.9 and 9999.9, with as many places after the point as the column's step; none for whole numbers."""
    places = next((many for many in range(1, _MOST_PLACES + 1) if 10**many % column.step.denominator == 0), 0)
    if column.step.denominator == 1 or not places:
        return set()
    return {10**many - Fraction(1, 10**places) for many in (2, 3, 4)}


def _neighbours(code: Fraction, codes: list[Fraction], column: Number) -> tuple[Fraction, ...]:
    """The whole numbers nearest to a code on both sides that are in the range and are no codes."""
    neighbours = []
    for step in (-1, 1):
        number = code + step
        while number in codes or number in column.codes:
            number += step
        if column.lower <= number <= column.upper:
            neighbours.append(number)
    return tuple(neighbours)


def numbered(name: str, column: Number) -> dict[Fraction, int]:
    """The kinds of those numbers in the range that have a kind of their own."""
    return {bar.number: bar.kind for bar in _of_numbers(name, column) if bar.number is not None}


@cache
def unknown_words() -> frozenset[str]:
    """Usual words for “unknown”, as `normal` writes them: “?”, “n/a”, “unknown”, “neznano”."""
    return frozenset(normal(word) for line in spelling.spelling_lines(spelling.MISSING) for word in line if word)


def listed_kinds(column: Category) -> dict[str, int]:
    """The kind of each text that a list accepts and of each usual word for “unknown”; all others are UNREADABLE."""
    fits, places = column.fitting(), column.spelled()
    own_missing = column.missing not in column.values and not column.complete
    none = column.labels.index(column.missing)
    kinds = dict.fromkeys(unknown_words(), WORD)
    kinds |= {text: EMPTY if own_missing and places.get(text, none) == none else FITS for text in fits}
    return kinds | {"": EMPTY if "" in fits else UNREADABLE}
