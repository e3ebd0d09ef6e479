"""Numbers that mean “unknown” in a column, such as 999: as a person types them on its card, and back.

They are typed by a person and public; nothing here has seen a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number, read_typed, text_of
from dpengine.declared.dialect import Dialect
from dpengine.messages import say
from dpengine.messages.language import stored
from dpengine.messages.numbers import local
from dpengine.statistics.raw_cells import number_reader
from ui.data.presets import RANGES

LONGEST = 200  # characters of the field
WIDENED = 3  # times a usual range
ABOVE = (99_999, 9_999, 999, 99)  # what files write for “unknown”, beyond what can be
BELOW = (-99, -9, -1)
_AMBIGUOUS = re.compile(r"\d[,\s]+\d")


def read(text: str, dialect: Dialect) -> list[Fraction]:
    """As the file writes numbers, with semicolons between them, or commas. What could be one number or several is
    refused; a semicolon settles it."""
    name, text = say("data.card.codes"), text.strip()
    if ";" in text:
        parts = text.split(";")
    else:
        parts = text.split(",")
        if _AMBIGUOUS.search(re.sub(r",\s", ";", text)) and _is_one(text, dialect):
            several = re.sub(r"[,\s]+", "; ", text)
            raise AllowanceError("number.ambiguous", name=name, one=several, other=f"{text};")
    return [_one(part, dialect, name) for part in parts if part.strip()]


def _one(part: str, dialect: Dialect, name: str) -> Fraction:
    """As a cell is read; else as somebody types a number, where that has only one meaning."""
    number = number_reader(dialect)(part)
    if number != "nan":
        return read_number(number, name)
    with stored():
        return read_typed(part, name)


def _is_one(text: str, dialect: Dialect) -> bool:
    try:
        _one(text, dialect, "")
    except AllowanceError as refusal:
        return refusal.code == "number.ambiguous"
    return True


def written(codes: Iterable[Fraction], dialect: Dialect) -> str:
    """As `read` takes them."""
    texts = [text_of(code).replace(".", dialect.decimal) for code in codes]
    return "; ".join(texts) + (";" if len(texts) == 1 and "," in texts[0] else "")


def words(told: str, codes: Iterable[Fraction], code: str) -> str:
    """What is told of a column, with its numbers for “unknown” after it; without a sign between thousands, as files
    have them."""
    texts = [local(text_of(one)) for one in codes]
    return say(code, told=told, codes=texts, many=len(texts)) if texts else told


def reached(lower: str, upper: str, codes: str, usual: str | None) -> int | None:
    """The number for “unknown” that the range was probably widened for: it is far wider than is usual, and reaches one
    that files often hold. From what was typed and from the name alone."""
    if usual not in RANGES:
        return None
    try:
        low, high = read_number(lower, ""), read_number(upper, "")
        least, most = (read_number(end, "") for end in (RANGES[usual].lower, RANGES[usual].upper))
    except AllowanceError:
        return None
    if high - low < WIDENED * (most - least):
        return None
    found = [one for one in ABOVE if most < one <= high] + [one for one in BELOW if low <= one < least]
    return next((one for one in found if not re.search(rf"(?<![\d-]){one}(?!\d)", codes)), None)
