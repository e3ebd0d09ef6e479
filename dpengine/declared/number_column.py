"""A column of numbers: a public grid, and public numbers that stand for no value.

**Numbers that mean “unknown”** (`codes`): up to ten, such as 999, inside the range or outside it. A person declares
them; they are never derived from cells. A cell that equals one exactly, however it is written (999, 999.0, 9.99e2),
counts as an empty cell everywhere. What a cell becomes is a function of that cell and the public declaration alone. So
two neighbouring tables are still neighbours once they are coded, and no sensitivity and no loss changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number, text_of
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.item_set import Code
from dpengine.declared.spelling import visible

MOST_STEPS = 10**7
MOST_CODES = 10
LONGEST_MEASURE = 20


@dataclass(frozen=True)
class Number:
    """A number on the public grid lower, lower+step, …, upper. A cell that equals one of the `codes` counts in every
    way as an empty one; they may lie inside the range or outside it."""

    lower: Fraction
    upper: Fraction
    step: Fraction
    shape: str  # a public guess for previews: "even", "bell" or "skewed"
    missing: Fraction | None  # the value that stands in for a missing one; None: the row is left out
    measure: str  # the unit of measurement: €, kg, min; public, and shown in answers
    codes: tuple[Fraction, ...]  # numbers that stand for no value, such as 999 for “unknown”: public, and in order
    words: bool  # do the usual words for “unknown” (?, n/a, neznano) count as empty cells, and so fit?

    def __init__(
        self,
        lower: object,
        upper: object,
        step: object = 1,
        shape: str = "bell",
        missing: object = None,
        measure: str = "",
        codes: Json = (),
        words: bool = False,
    ) -> None:
        low, high = read_number(lower, "lower"), read_number(upper, "upper")
        grain = read_number(step, "step")
        if not low < high:
            raise AllowanceError("number.reversed")
        if grain <= 0 or ((high - low) / grain).denominator != 1:
            raise AllowanceError("number.step", suggestion=text_of(round_step(high - low)))
        if (high - low) / grain >= MOST_STEPS:
            raise AllowanceError("number.grid", most=MOST_STEPS)
        if shape not in ("even", "bell", "skewed") or not isinstance(words, bool):
            raise AllowanceError("schema.unreadable")
        filled = None if missing is None else read_number(missing, "missing")
        if filled is not None and not low <= filled <= high:
            raise AllowanceError("number.missing_outside")
        if not isinstance(measure, str) or len(measure.strip()) > LONGEST_MEASURE or not visible(measure):
            raise AllowanceError("number.measure", most=LONGEST_MEASURE)
        parts = {"lower": low, "upper": high, "step": grain, "shape": shape, "missing": filled}
        parts |= {"measure": " ".join(measure.split()), "codes": _codes(codes), "words": words}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    @cached_property
    def size(self) -> int:
        """The number of grid points."""
        return int((self.upper - self.lower) / self.step) + 1

    @property
    def complete(self) -> bool:
        """Does every row have a value, by declaration?"""
        return self.missing is not None

    @property
    def years(self) -> bool:
        """Does the range look like years? They are written without a comma."""
        whole = self.step.denominator == 1 and self.lower.denominator == 1
        return whole and self.lower >= 1000 and self.upper < 3000

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return self.lower, self.upper

    @property
    def diameter(self) -> Fraction:
        return self.upper - self.lower

    @property
    def kappa(self) -> Fraction:
        """κ: the smallest distance between two different values. What nobody can beat when rows are published, and the
        grid they are published on, rest on it (`noise.floors`, `mechanisms.publish`)."""
        return self.step

    @property
    def points(self) -> int:
        """|D|: how many different values a cell can have."""
        return self.size

    def value(self, code: Code) -> int | float:
        exact = self.lower + code * self.step
        return int(exact) if exact.denominator == 1 else float(exact)

    def code(self, value: Json) -> Code:
        """The nearest grid point, clamped into the range; for public values typed into a form."""
        return min(max(round(self.place(value)), 0), self.size - 1)

    def place(self, value: Json, name: str = "value") -> Fraction:
        """The position of a public number in steps from the lower bound; it may lie outside the range."""
        return (read_number(value, name) - self.lower) / self.step

    def text(self, code: Code) -> str:
        return text_of(self.lower + code * self.step)

    def as_json(self) -> JsonObject:
        data: JsonObject = {
            "kind": "number",
            "lower": text_of(self.lower),
            "upper": text_of(self.upper),
            "step": text_of(self.step),
            "shape": self.shape,
        }
        data |= {} if self.missing is None else {"missing": text_of(self.missing)}
        data |= {"measure": self.measure} if self.measure else {}
        data |= {"codes": [text_of(code) for code in self.codes]} if self.codes else {}
        return data | ({"words": True} if self.words else {})


def _codes(given: Json) -> tuple[Fraction, ...]:
    """Each once, in order. What cannot be written as a decimal is in no cell, and is refused."""
    if not isinstance(given, (list, tuple, set, frozenset)):
        raise AllowanceError("schema.unreadable")
    if len(given) > MOST_CODES:
        raise AllowanceError("number.codes", most=MOST_CODES)
    read = (read_number(text_of(read_number(code, "codes")), "codes") for code in given)
    return tuple(sorted({*read}))


def round_step(width: Fraction) -> Fraction:
    """A default step that divides the width: the largest power of ten up to a hundredth of it, else a thousandth."""
    step = Fraction(10) ** 12
    while step > width / 100 or (width / step).denominator != 1:
        step /= 10
        if step < Fraction(1, 10**6):
            return width / 1000
    return step
