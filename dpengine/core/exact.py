"""Exact numbers: reading them, rounding them to the safe side, and logarithms bounded from a stated side.

Amounts of privacy are Fractions or integer multiples of 10^-12 (PICO). Floats never decide whether a question is
admitted.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from dpengine.core.errors import AllowanceError
from dpengine.messages.language import stored
from dpengine.messages.numbers import english, marks

if TYPE_CHECKING:
    from dpengine.core.types import Json  # with numpy, which the first screen is without

PICO = 10**12
_DIGITS = 60
_CONTEXT = Context(prec=_DIGITS)
_SMALLEST = Context(prec=_DIGITS, Emin=-5000)  # exp(-10^6) is 0 here, not a Fraction with half a million digits
_GUARD = Fraction(1, 10**40)  # far above the rounding of a few 60-digit operations, far below a pico
LONGEST_NUMBER = 40
_BETWEEN = re.compile(r"(?<=\d)[\s\u00a0\u2009\u202f'’](?=\d{3}(?!\d))")  # between thousands, in any language
_WRITTEN = re.compile(r"([+-]?)(\d[\d.,]*|[.,]\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)


class Unread(str):
    """Typed text that is not a number. It is passed on as typed; `read_number` refuses it later."""

    def __str__(self) -> str:
        return self


def read_number(value: Json, name: str) -> Fraction:
    """A finite decimal number from a URL or a stored row; anything else is refused. A float counts as the decimal that
    Python prints for that float."""
    if isinstance(value, Unread):
        with stored():
            return read_typed(value, name)
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal, Fraction)):
        raise AllowanceError("number.unreadable", name=name)
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    text = str(value).strip()
    if len(text) > LONGEST_NUMBER:
        raise AllowanceError("number.unreadable", name=name)
    try:
        number = Decimal(text)
    except ArithmeticError:
        raise AllowanceError("number.unreadable", name=name) from None
    if not number.is_finite() or abs(number.adjusted()) > LONGEST_NUMBER:
        raise AllowanceError("number.unreadable", name=name)
    return Fraction(number)


def read_whole(value: Json, name: str, most: int, code: str, least: int = 1) -> int:
    """A whole number from `least` to `most`; any other value is refused with the message code `code`."""
    number = read_number(value, name)
    if number.denominator != 1 or not least <= number <= most:
        raise AllowanceError(code, most=most)
    return int(number)


def read_typed(text: str, name: str, unit: str = "") -> Fraction:
    """A number as a person types it, in the notation of the reader's language: twenty-five thousand is 25,000 in
    English and 25.000 in Slovene. The other language's notation is accepted where it has only one meaning: 0,5 and
    1.234,5 in English, 0.5 and 1,234.5 in Slovene. What could mean two numbers is refused.
    """
    bare = _BETWEEN.sub("", _plain(text, unit)).replace("−", "-")
    match = _WRITTEN.fullmatch(bare)
    if match is None or len(bare) > LONGEST_NUMBER:
        raise AllowanceError("number.unreadable", name=name)
    sign, digits, power = match[1], match[2], match[3] or ""
    decimal = _decimal_mark(digits, name)
    grouped = "," if decimal == "." else "."
    return read_number(sign + digits.replace(grouped, "").replace(decimal, ".") + power, name)


def _decimal_mark(digits: str, name: str) -> str:
    """Which of "." and "," is the decimal mark in these digits. The other one, if it occurs, separates thousands.
    Digits that can be read as two numbers, or as none, are refused."""
    thousands, decimal = marks()[0], marks()[1]
    for grouped, point in ((thousands, decimal), (decimal, thousands)):  # the reader's language first
        groups, _, rest = digits.partition(point)
        good = grouped not in groups or re.fullmatch(rf"[1-9]\d{{0,2}}(\{grouped}\d{{3}})+", groups)
        if good and point == thousands and re.match(r"0\d", groups):
            break  # 012,345 has leading zeros, but its mark still separates thousands
        if good and (rest.isdecimal() or not rest):
            if point == decimal and re.fullmatch(rf"[1-9]\d{{0,2}}\{decimal}\d\d0", digits):
                whole, part = int(digits.replace(decimal, "")), Fraction(digits.replace(decimal, "."))
                raise AllowanceError("number.ambiguous", name=name, one=whole, other=part)
            return point
    raise AllowanceError("number.unreadable", name=name)


def as_typed(text: str, unit: str = "") -> str:
    """Typed text in the notation of URLs: 25.000, typed in Slovene, becomes 25000. Text that is not a number becomes
    `Unread`."""
    if not text.strip():
        return ""
    try:
        return text_of(read_typed(text, "", unit))
    except AllowanceError:
        bare = english(_plain(text, unit))  # a cut text ends in …: its beginning alone could be another number
        return Unread(bare if len(bare) <= LONGEST_NUMBER else bare[:LONGEST_NUMBER] + "…")


def _plain(text: str, unit: str) -> str:
    """The text without its unit, with digits of any script written as 0 to 9."""
    return re.sub(r"\d", lambda digit: str(int(digit[0])), text.strip().removesuffix(unit).strip())


def decimal_of(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def decade(value: Fraction) -> Fraction:
    """The largest power of ten that is at most this positive number."""
    return Fraction(10) ** decimal_of(value).adjusted()


def one_two_five(low: Fraction, high: Fraction) -> list[Fraction]:
    """The numbers 1, 2 and 5 times a power of ten that lie from `low` to `high`, rising."""
    powers = range(decimal_of(low).adjusted(), decimal_of(high).adjusted() + 1)
    figures = (digit * Fraction(10) ** power for power in powers for digit in (1, 2, 5))
    return [figure for figure in figures if low <= figure <= high]


def text_of(value: Fraction) -> str:
    """The number as exact text: a decimal if it has finitely many digits, else p/q."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    near = decimal_of(value)
    if rest != 1 or Fraction(near) != value:  # no finite decimal, or one with more digits than the context holds
        return f"{value.numerator}/{value.denominator}"
    text = f"{near:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def up(value: Fraction, grain: int = PICO) -> Fraction:
    """The least multiple of 1/grain that is at least `value`."""
    return Fraction(-((-value.numerator * grain) // value.denominator), grain)


def down(value: Fraction, grain: int = PICO) -> Fraction:
    return Fraction((value.numerator * grain) // value.denominator, grain)


def ln_above(value: Fraction | Decimal) -> Fraction:
    """An upper bound on ln(value), too large by less than 10^-39."""
    return _ln(value) + _GUARD


def ln_below(value: Fraction | Decimal) -> Fraction:
    return _ln(value) - _GUARD


def _ln(value: Fraction | Decimal) -> Fraction:
    return Fraction(_CONTEXT.ln(value if isinstance(value, Decimal) else decimal_of(value)))


def exp_decimal(value: Fraction) -> Decimal:
    """exp(value), relative error at most (|value| + 1)·10^-59; 0 below 10^-5000, an overflow above 10^999999."""
    return _SMALLEST.exp(decimal_of(value))


def ceiling(value: Fraction | Decimal) -> int:
    if isinstance(value, Fraction):
        return -((-value.numerator) // value.denominator)
    return int(value.to_integral_value(rounding=ROUND_CEILING))


def floor(value: Fraction | Decimal) -> int:
    if isinstance(value, Fraction):
        return value.numerator // value.denominator
    return int(value.to_integral_value(rounding=ROUND_FLOOR))


def float_above(value: Fraction) -> float:
    """The least float that is at least `value`."""
    near = value.numerator / value.denominator
    while Fraction(near) < value:
        near = math.nextafter(near, math.inf)
    return near


def halved(holds: Callable[[float], bool], near: float, far: float, times: int) -> tuple[float, float]:
    """Halve the interval from `near` to `far` that many times. `holds` must be true at `near` and false at `far`.
    Returns the two ends of the last interval: `holds` is true at the first and false at the second."""
    for _ in range(times):
        middle = (near + far) / 2
        near, far = (middle, far) if holds(middle) else (near, middle)
    return near, far


def first_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least number from `low` on for which `holds` is true, by bisection; `high` if there is none below `high`. If
    `holds` is true for a number, it must be true for every larger one."""
    return low + bisect_left(range(low, high), True, key=holds)
