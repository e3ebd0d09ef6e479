"""Lesson 5, why the median needs another mechanism.

Seven people who say 0 or 1: one of them changes, and the median goes from one end of the range to the other. Its global
sensitivity is the whole range, so noise added to it must be that large. The exponential mechanism chooses a value by
its rank, which one person moves by one place. Both are run at the same ε on the same made-up people.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.choices.median import Median
from dpengine.planning.whatif import two_medians

BEFORE = (0, 0, 0, 1, 1, 1, 1)
AFTER = (0, 0, 0, 0, 1, 1, 1)
LOW, HIGH = 0, 6000
SHAPES = ("even", "bell", "skewed")
ANSWERS = 50


@dataclass(frozen=True)
class Settings:
    epsilon: Fraction = Fraction(1, 2)
    people: int = 1000
    shape: str = "skewed"


@dataclass(frozen=True)
class Compared:
    settings: Settings
    truth: float
    noisy: tuple[float, ...]
    chosen: tuple[float, ...]

    def near(self, answers: tuple[float, ...]) -> int:
        """The number of answers within a twentieth of the range from the truth."""
        return sum(abs(value - self.truth) <= (HIGH - LOW) / 20 for value in answers)


def run(settings: Settings) -> Compared:
    truth, noisy, chosen = two_medians(question(settings), settings.shape, ANSWERS)
    return Compared(settings, truth, tuple(noisy), tuple(chosen))


def question(settings: Settings) -> Median:
    schema = Schema({"pay": Number(LOW, HIGH, step=10, missing=LOW)})
    facts = Facts("", schema, Unit.rows(), "replace", settings.people)
    return Median.build(facts, {"column": "pay", "epsilon": settings.epsilon, "with_range": False})


def medians() -> tuple[int, int]:
    """The medians of the seven people before and after one person changes."""
    return int(median(BEFORE)), int(median(AFTER))


def changed() -> int:
    """The index of the person who changes, among the seven."""
    (place,) = (place for place, (before, after) in enumerate(zip(BEFORE, AFTER, strict=True)) if before != after)
    return place
