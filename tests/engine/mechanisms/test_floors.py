"""What nobody can beat when a row is published, against the best of all mechanisms (`helpers_floors`)."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from math import exp, prod

import pytest
from helpers_floors import CLOSE, all_rows, apart, check_floors, least_worst

from dpengine.asking.answers import promise_as_json
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.promises import Blurred
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.publish.publish_table import PublishTable
from dpengine.noise.row_noise import Blur, Swap


def published(epsilon: str, delta: str = "0", **columns: Category | Number) -> OfRows:
    facts = Facts("t", Schema(columns), Unit.rows(), "replace", 100)
    return PublishTable.build(facts, {"columns": list(columns), "epsilon": epsilon, "delta": delta})


def lists(*sizes: int) -> dict[str, Category]:
    labels = "abcdefgh"
    return {f"c{place}": Category(list(labels[:size]), unknown="a", missing="a") for place, size in enumerate(sizes)}


@pytest.mark.parametrize(
    ("sizes", "epsilon", "delta"),
    [
        ((2,), "1", "0"),
        ((3,), "0.5", "0.1"),
        ((2, 2), "1", "0"),
        ((2, 2), "1", "0.05"),
        ((2, 3), "0.3", "0"),
        ((2, 2, 2), "2", "0"),
    ],
)
def test_lists(sizes: tuple[int, ...], epsilon: str, delta: str) -> None:
    check_floors(published(epsilon, delta, **lists(*sizes)))


def test_a_floor_at_a_share_of_the_spend_is_no_floor() -> None:
    """Two columns of yes and no at ε = 1: each at ε/2 is untrue with chance 37.8 %, but one of the four pairs for
    another (thesis, Ex. 4.10) leaves each untrue with 34.98 %, and one column may get all."""
    promise = published("1", **lists(2, 2)).promise()
    pairs = Swap(4, Fraction(1), Fraction(0))
    assert round(float(promise.errors[0]), 4) == 0.3775
    assert round(float(2 * pairs.chance), 4) == 0.3498 < promise.errors[0]
    assert max(map(float, promise.floors)) < float(2 * pairs.chance)
    assert float(promise.untrue_floor) == pytest.approx(float(pairs.error), abs=CLOSE)


class ErrorsAsFloors(PublishTable):
    def promise(self) -> Blurred:
        told = super().promise()
        return Blurred(**vars(told) | {"floors": told.errors})


class OfAShare(PublishTable):
    """Each column's own theorem, at the share of the spend that it gets."""

    def promise(self) -> Blurred:
        return Blurred(**vars(super().promise()) | {"floors": tuple(self.row(name).floor for name in self.columns)})


class RowErrorAsFloor(PublishTable):
    def promise(self) -> Blurred:
        told = super().promise()
        return Blurred(**vars(told) | {"untrue_floor": told.untrue})


@pytest.mark.parametrize("planted", [ErrorsAsFloors, OfAShare, RowErrorAsFloor])
@pytest.mark.parametrize("sizes", [(2, 2), (2, 3)])
def test_an_error_in_place_of_a_floor_is_caught(planted: type[PublishTable], sizes: tuple[int, ...]) -> None:
    query = published("1", **lists(*sizes))
    with pytest.raises(AssertionError, match="somebody does better"):
        check_floors(planted(**{one.name: getattr(query, one.name) for one in fields(query)}))


@pytest.mark.parametrize("delta", ["0", "0.1"])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_numbers(steps: int, epsilon: str, delta: str) -> None:
    """A grid of D+1 points, told on a grid twice as fine. The floor is at least both theorems', at most the best."""
    rows = [(2 * place,) for place in range(steps + 1)]
    told = [(place,) for place in range(2 * steps + 1)]
    e, d = float(epsilon), float(delta)
    best = least_worst(rows, told, apart, e, d) / 2
    row = Blur(steps, Fraction(epsilon), Fraction(delta))
    assert float(row.floor) <= best + CLOSE <= float(row.error) + 2 * CLOSE
    assert float(row.floor) >= (1 - d) * steps / (2 * (1 + exp(e))) - CLOSE, "Thm 5.3"
    assert float(row.floor) >= (1 - d) * steps / (steps + exp(e)) - CLOSE, "Thm 5.5 with κ = step"
    if steps == 1:
        assert float(row.floor) == pytest.approx(best, abs=CLOSE), "met: two points are a list"
    assert float(row.error) > best + CLOSE, "so an error in its place would be caught"


def test_the_figure_for_two_points() -> None:
    promise = published("1", n=Number(0, 1)).promise()
    assert round(float(promise.floors[0]), 3) == 0.269
    beside = published("1", n=Number(0, 1), m=Number(0, 10)).promise()
    assert beside.floors[0] == promise.floors[0]
    assert float(beside.floors[1]) == pytest.approx(10 * float(promise.floors[0]))
    assert (promise.untrue, promise.untrue_floor) == (0, 0)


def test_what_is_told_of_numbers_beside_each_other() -> None:
    """No mechanism of both beats the floor of either: all pairs of two small grids."""
    rows = all_rows(2, 3)
    query = published("1", n=Number(0, 1), m=Number(0, 2))
    for place, floor in enumerate(query.promise().floors):
        best = least_worst(rows, rows, lambda row, told, at=place: float(abs(row[at] - told[at])), 1.0)
        assert float(floor) <= best + CLOSE


def test_receipts_hold_amounts_that_are_short() -> None:
    many = published("1", **lists(2, 3, 4, 5, 6))
    told = promise_as_json(many.promise())
    assert len(told["untrue"]) < 25 and len(told["untrue_floor"]) < 25
    assert prod(many.facts.schema[name].size for name in many.columns) == 720
