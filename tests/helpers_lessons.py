"""One screen of a lesson, and coins without noise."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

from dpengine.noise.coins import Coins
from ui.learn import lessons
from ui.learn.lesson import View


def view(number: int, **given: str) -> View:
    lesson = lessons.lesson(number)
    return lesson.view(lesson.clean(given))


class Quiet(Coins):
    """No noise, and a note of the scales that were asked for."""

    def __init__(self) -> None:
        self.scales: list[F] = []

    def bits(self, count: int) -> int:
        return 0

    def laplace(self, values: Any, scale: F) -> list[int]:
        self.scales.append(scale)
        return list(values)

    def gaussian(self, values: Any, sigma_squared: F) -> list[int]:
        raise AssertionError("a count has Laplace noise")
