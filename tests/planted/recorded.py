"""Wrong twins for the recorder: the six kinds of error that its authors' own examples show, and more of our own.

The six (dp-recorder, `tests/`): a table's size used as if it were public, a domain taken from the data, a budget spent
twice, a cell that is no number, noise that is miscalibrated, and a sensitivity that holds for cleaned data while the
data are not. Each is played on two tables that the real loader brought in.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from recorded import made
from recorded.play import loaded, played

import dpengine as dp
from dpengine.accountant.loss import Loss, Pure
from dpengine.asking.release import charge_and_draw
from dpengine.intake import encode, rows_per_person
from dpengine.ledger.ledger import Ledger
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.query import Query, Released
from dpengine.mechanisms.sums.sum import Sum
from dpengine.noise.coins import Coins
from tests.planted.registry import Planted

SCHEMA = dp.Schema({"x": dp.Number(0, 9), "c": dp.Category(["a", "b"], unknown="b", missing="b")})
HEADER = ["who", "x", "c"]
SOME = {"where": [["c", "in", ["a"]]]}


def _table(*rows: str) -> list[list[str]]:
    return [row.split(",") for row in rows]


def _world(relation: str, one: list[list[str]], other: list[list[str]], at_most: int | None = None) -> made.World:
    unit = dp.Unit.rows() if at_most is None else dp.Unit.column("who", at_most)
    return made.World(SCHEMA, unit, relation, 4, HEADER, one, other)


REST = _table("p1,3,a", "p2,5,b", "p3,7,b")
REPLACED = _world("replace", [*REST, *_table("p4,9,a")], [*REST, *_table("p4,0,b")])
ADDED = _world("add_remove", REST, [*REST, *_table("p4,9,a")])
NOT_A_NUMBER = _world("replace", [*REST, *_table("p4,0,a")], [*REST, *_table("p4,nan,a")])
MANY_ROWS = _world("replace", [*REST, *_table("p4,0,b")], [*REST, *_table(*["p4,9,a"] * 6)], at_most=2)
LAST_ONE = _world("add_remove", _table("p1,3,b"), _table("p1,3,b", "p4,9,a"))


@dataclass(frozen=True, eq=False)
class Scene:
    """A question, two tables, and what is broken in between."""

    kind: type[Query]
    given: dict[str, Any]
    world: made.World
    broken: Callable[[], AbstractContextManager[Any]] = nullcontext

    def build(self, table: dp.Table) -> Query:
        return self.kind.build(table.facts, {"epsilon": "1"} | self.given)


def check_the_recorder_finds_nothing(scene: Scene) -> None:
    """Recorded on one table and replayed on its neighbour: nothing differs but what was noised, and that is paid."""
    with scene.broken(), loaded(scene.world) as sides:
        count, _ = played(sides, scene.build, "request")
        assert not count.found, "; ".join(count.found)
        assert count.releases, "the question was refused"


# The six


class DividedByTheTruth(Sum):
    """A noisy sum over the exact number of rows, though being in the table is secret."""

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return tuple(500 * (2 * total + 1) // max(value[0], 1) for total in super().draw(value, coins))


class BarsThatOccur(Histogram):
    """Noise only for the values that somebody holds."""

    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        counts = self.measured(value)
        noisy = iter(coins.laplace([count for count in counts if count], self.scale))
        return tuple(next(noisy) if count else 0 for count in counts)


class SpentTwice(Count):
    """Two draws at the whole ε, whose mean is told; one is paid for."""

    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        pairs = zip(super().draw(value, coins), super().draw(value, coins), strict=True)
        return tuple((one + other) // 2 for one, other in pairs)


def _not_numbers_pass() -> AbstractContextManager[Any]:
    """Clipping that a cell which is no number walks around."""
    right = encode._number

    def reader(column: Any, dialect: Any) -> Any:
        coder = right(column, dialect)

        def codes(texts: list[str]) -> Any:
            return np.array([100 if text == "nan" else code for text, code in zip(texts, coder(texts), strict=True)])

        return codes

    return patch.object(encode, "_number", reader)


class NoiseThatVanishes(Histogram):
    """A formula for the scale that is nought for two bars, and so nearly no noise."""

    @property
    def scale(self) -> Fraction:
        return super().scale * max(self.numbers - 2, Fraction(1, 100))


def _every_row_counts() -> AbstractContextManager[Any]:
    """The statistic is of all rows, the noise for those that should count."""
    right = rows_per_person.keep_rows

    def keep(raw: Any, names: Any, unit: dp.Unit, *rest: Any, **more: Any) -> int:
        return right(raw, names, replace(unit, at_most=1000), *rest, **more)

    return patch("dpengine.intake.bring_in.keep_rows", keep)


# And more


class NoiseByTheData(Sum):
    """A scale from the largest value that occurs."""

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return tuple(coins.laplace(list(self.measured(value)), self.added[0].size * (1 + abs(value[1]))))


class QuietWhereNobodyIs(Count):
    """No noise where the count is 0: “nothing to protect”."""

    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        return (0,) if value == 0 else super().draw(value, coins)


class PaidByHalf(Sum):
    def loss(self) -> Loss:
        return Pure(self.epsilon / 2)


class RangeFromTheTruth(Count):
    """The number is noisy, the range beside it is not."""

    def draw(self, value: Any, coins: Coins) -> Any:
        return (*super().draw(value, coins), int(value))

    def from_mean(self, raw: tuple[Any, ...], draws: int) -> Released:
        return Released(raw[0], (raw[-1] - 5, raw[-1] + 5))


def _drawn_before_its_charge() -> AbstractContextManager[Any]:
    def carry(ledger: Ledger, reserve: dict[str, Any], read: Any, draw: Any, patience: float = 1.0) -> Any:
        drawn = draw(read())
        return charge_and_draw(ledger, reserve, lambda: None, lambda _: drawn, patience)

    return patch("dpengine.asking.release.charge_and_draw", carry)


def _scenes(right: type[Query], wrong: type[Query], given: dict[str, Any], world: made.World) -> tuple[Scene, Scene]:
    return Scene(right, given, world), Scene(wrong, given, world)


def _planted(name: str, what: str, says: str, scenes: tuple[Scene, Scene]) -> Planted:
    return Planted(name, what, check_the_recorder_finds_nothing, says, *scenes)


def _broken(kind: type[Query], given: dict[str, Any], world: made.World, how: Any) -> tuple[Scene, Scene]:
    return Scene(kind, given, world), Scene(kind, given, world, how)


PLANTED = [
    _planted(
        "a table's size used as if it were public",
        "A noisy sum is divided by the exact number of rows.",
        "answer: value differs",
        _scenes(Sum, DividedByTheTruth, {"column": "x"}, ADDED),
    ),
    _planted(
        "a domain taken from the data",
        "Only values that somebody holds get noise.",
        "order: laplace",
        _scenes(Histogram, BarsThatOccur, {"column": "c"}, LAST_ONE),
    ),
    _planted(
        "one spend, two draws",
        "Two draws at the whole ε, whose mean is told.",
        "loss: ε = 2",
        _scenes(Count, SpentTwice, SOME, REPLACED),
    ),
    _planted(
        "a cell that is no number",
        "What is no number walks around the clipping.",
        "moved: ",
        _broken(Sum, {"column": "x"}, NOT_A_NUMBER, _not_numbers_pass),
    ),
    _planted(
        "noise that vanishes at a parameter",
        "The scale's formula is nearly nought for two bars.",
        "loss: ε",
        _scenes(Histogram, NoiseThatVanishes, {"column": "c"}, REPLACED),
    ),
    _planted(
        "rows beyond those that count",
        "The statistic is of all rows of a person, the noise for two of them.",
        "moved: ",
        _broken(Sum, {"column": "x"}, MANY_ROWS, _every_row_counts),
    ),
    _planted(
        "noise scaled by the data",
        "The scale follows the largest value that occurs.",
        "order: laplace",
        _scenes(Sum, NoiseByTheData, {"column": "x"}, REPLACED),
    ),
    _planted(
        "no noise where nobody is",
        "A count of 0 is told as it is.",
        "order: ",
        _scenes(Count, QuietWhereNobodyIs, SOME, LAST_ONE),
    ),
    _planted(
        "half a loss charged",
        "The charge is for half of what is drawn.",
        "loss: ε = 1",
        _scenes(Sum, PaidByHalf, {"column": "x"}, REPLACED),
    ),
    _planted(
        "a range around the truth",
        "The number is noisy and its range is not.",
        "answer: interval differs",
        _scenes(Count, RangeFromTheTruth, SOME, REPLACED),
    ),
    _planted(
        "drawn before its charge",
        "The answer is drawn, and then paid for.",
        "charge: ",
        _broken(Count, SOME, REPLACED, _drawn_before_its_charge),
    ),
]
