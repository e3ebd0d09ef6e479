"""ε, δ and β as a person writes them: read exactly, and refused in one sentence outside their bounds."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import down, read_number
from dpengine.core.types import Json

LEAST_EPSILON = Fraction(1, 10_000)
MOST_EPSILON = Fraction(50)
LEAST_DELTA, MOST_DELTA = Fraction(1, 10**30), Fraction(1, 100)
BETA = Fraction(1, 20)  # “95 times in 100”
FINEST_EPSILON = 10**9  # the ledger keeps nine decimals of an ε
_FAR = 40  # most places before or after the decimal point
_BEYOND = re.compile(r"(\d*[.,]\d{20})\d+")  # digits that no rounding to nine decimals depends on


def cut_decimals(text: str) -> str:
    """An ε as typed, without the decimals that are too small to matter."""
    match = _BEYOND.fullmatch(text.strip())
    return text if match is None else match[1]


def read_epsilon(value: Json) -> Fraction:
    """The ε that is charged and that sets the noise: the typed number, rounded down so that it is never exceeded."""
    if value is None or value == "":
        raise AllowanceError("epsilon.missing")
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < _FAR:
        value = f"{value:f}"
    if type(value) is str:  # not `Unread`, which has its own error
        value = cut_decimals(value)
    epsilon = read_number(value, "ε")
    if epsilon <= 0:
        raise AllowanceError("epsilon.positive")
    if epsilon < LEAST_EPSILON:
        raise AllowanceError("epsilon.tiny", least=LEAST_EPSILON)
    if epsilon > MOST_EPSILON:
        raise AllowanceError("epsilon.huge", most=MOST_EPSILON)
    return down(epsilon, FINEST_EPSILON)


def read_delta(value: Json) -> Fraction:
    """The δ of one question, as typed. The ledger decides later whether the δ reserve has room for it."""
    if value is None or value == "":
        raise AllowanceError("delta.missing")
    delta = read_number(value, "δ")
    if not LEAST_DELTA <= delta <= MOST_DELTA:
        raise AllowanceError("delta.range", least=LEAST_DELTA, most=MOST_DELTA)
    return delta


def read_row_delta(value: Json) -> Fraction:
    """The δ of a mechanism that adds noise to each row separately; 0 or empty means δ = 0."""
    delta = Fraction(0) if value in (None, "") else read_number(value, "δ")
    if not 0 <= delta < 1:
        raise AllowanceError("delta.row")
    return delta


def read_beta(value: Json) -> Fraction:
    if value is None or value == "":
        return BETA
    beta = read_number(value, "β")
    if not 0 < beta < 1:
        raise AllowanceError("beta.range")
    return beta
