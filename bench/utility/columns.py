"""Columns made like those of a census, from a public seed. They describe nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dpengine as dp
from bench.tasks import SEED
from dpengine.core.types import Integers
from dpengine.statistics.need import Spread

PEOPLE = (1_000, 30_000)


@dataclass(frozen=True)
class Made:
    """A declared column, and the codes of its rows."""

    name: str
    column: dp.Number
    codes: Integers

    @property
    def rows(self) -> int:
        return len(self.codes)

    @property
    def spread(self) -> Spread:
        codes, counts = np.unique(self.codes, return_counts=True)
        return Spread(codes.astype(np.int64), counts.astype(np.int64))

    def codes_of(self, values: Sequence[Any]) -> list[int]:
        return [int(self.column.place(value)) for value in values]

    @property
    def title(self) -> str:
        return f"{self.name}, {self.rows:,} people"


def ages(random: np.random.Generator, people: int) -> Integers:
    """17 to 90; one in seven says a round age."""
    years = np.clip(17 + random.gamma(2.6, 8.6, people), 17, 90)
    heaped = random.random(people) < 1 / 7
    return np.where(heaped, np.clip(np.rint(years / 5) * 5, 17, 90), years).astype(np.int64)


def hours(random: np.random.Generator, people: int) -> Integers:
    """Hours a week: nearly half work 40, others round numbers or something near."""
    near = np.clip(random.normal(38, 13, people), 1, 99).astype(np.int64)
    kind = random.random(people)
    round_ = random.choice([20, 30, 35, 45, 50, 60], people)
    return np.where(kind < 0.47, 40, np.where(kind < 0.62, round_, near)) - 1


def gains(random: np.random.Generator, people: int) -> Integers:
    """92 of 100 have none; the others one of about a hundred amounts."""
    amounts = np.unique(np.clip(np.exp(random.normal(8.5, 1.0, 118)), 1, 99_999).astype(np.int64))
    return np.where(random.random(people) < 0.92, 0, random.choice(amounts, people))


MAKERS: dict[str, tuple[dp.Number, Callable[[np.random.Generator, int], Integers]]] = {
    "age": (dp.Number(0, 120, missing=0), ages),
    "hours": (dp.Number(1, 99, missing=1), hours),
    "gain": (dp.Number(0, 99_999, missing=0), gains),
}


def made(name: str, people: int) -> Made:
    column, make = MAKERS[name]
    return Made(name, column, make(np.random.default_rng(SEED), people))


def every() -> list[Made]:
    return [made(name, people) for name in MAKERS for people in PEOPLE]
