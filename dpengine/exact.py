"""Exact numbers: reading them, rounding them the safe way, and logarithms with a stated side.

Amounts of privacy are Fractions or integers of PICO (10^-12). Floats never decide an admission.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from dpengine.errors import AllowanceError

PICO = 10**12
_DIGITS = 60
_CONTEXT = Context(prec=_DIGITS)
_SMALLEST = Context(prec=_DIGITS, Emin=-5000)  # exp(-10^6) is 0 here, not a Fraction with half a million digits
_GUARD = Fraction(1, 10**40)  # far above the rounding of a few 60-digit operations, far below a pico
LONGEST_NUMBER = 40


def read_number(value: Any, name: str) -> Fraction:
    """A finite decimal number as typed by a person; floats mean the decimal they print as."""
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


def decimal_of(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def text_of(value: Fraction) -> str:
    """The shortest exact writing: a decimal where there is one, else p/q."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    near = decimal_of(value)
    if Fraction(near) != value:  # more digits than the context holds: only p/q is exact
        return f"{value.numerator}/{value.denominator}"
    text = f"{near:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def up(value: Fraction, grain: int = PICO) -> Fraction:
    """The least multiple of 1/grain that is at least `value`."""
    return Fraction(-((-value.numerator * grain) // value.denominator), grain)


def down(value: Fraction, grain: int = PICO) -> Fraction:
    return Fraction((value.numerator * grain) // value.denominator, grain)


def ln_above(value: Fraction) -> Fraction:
    """A number at least ln(value), above it by less than 10^-39."""
    return Fraction(_CONTEXT.ln(decimal_of(value))) + _GUARD


def ln_below(value: Fraction) -> Fraction:
    return Fraction(_CONTEXT.ln(decimal_of(value))) - _GUARD


def exp_decimal(value: Fraction) -> Decimal:
    """exp(value) to a relative error of (|value| + 1)·10^-59; below 10^-5000 it is 0, above 10^999999 it overflows."""
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
    import math

    near = value.numerator / value.denominator
    while Fraction(near) < value:
        near = math.nextafter(near, math.inf)
    return near
