"""What nobody can beat when a row is published, against the best of all mechanisms (`helpers_floors`)."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from math import exp, prod

import pytest
from helpers_floors import CLOSE, all_rows, apart, check_floors, in_items, least_worst, set_floor

from dpengine.asking.answers import promise_as_json
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Column, ItemSet, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.promises import Blurred
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.publish.publish_row import PublishRow
from dpengine.mechanisms.publish.publish_table import PublishTable
from dpengine.noise.row_noise import Blur, Swap, farthest, nearest, of_sets


def published(epsilon: str, delta: str = "0", /, way: type[OfRows] = PublishTable, **columns: Column) -> OfRows:
    facts = Facts("t", Schema(columns), Unit.rows(), "replace", 100)
    return way.build(facts, {"columns": list(columns), "epsilon": epsilon, "delta": delta})


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


MIXED: list[dict[str, Column]] = [
    {"n": Number(0, 20, step=10), "c": Category(["a", "b"], unknown="a", missing="a")},
    {"s": ItemSet(["p", "q"]), "c": Category(["a", "b"], unknown="a", missing="a")},
    {"d": Date("1990-01-01", "1990-01-03"), "s": ItemSet(["p", "q"])},
]


@pytest.mark.every(9)
@pytest.mark.parametrize("way", [PublishTable, PublishRow])
@pytest.mark.parametrize("columns", MIXED, ids=lambda columns: "-".join(columns))
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_rows_of_every_kind(way: type[OfRows], columns: dict[str, Column], epsilon: str) -> None:
    """Numbers, days, sets and lists beside each other, at the whole ε, in both ways of publishing them."""
    check_floors(published(epsilon, way=way, **columns))


@pytest.mark.parametrize("delta", ["0", "0.1"])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "3", "6"])
@pytest.mark.parametrize("items", [1, 2, 3])
def test_sets(items: int, epsilon: str, delta: str) -> None:
    """All sets of a few items: the floor is at least both theorems', at most the best of all mechanisms."""
    if items == 3 and delta != "0":
        items = 2
    sets, e, d = all_rows(2**items), float(epsilon), float(delta)
    best = least_worst(sets, sets, in_items, e, d)
    floor = float(set_floor(items, Fraction(epsilon), Fraction(delta)))
    row = of_sets(items, Fraction(epsilon), Fraction(delta))
    assert floor <= best + CLOSE <= float(row.error) + 2 * CLOSE
    assert floor >= (1 - d) * items / (2 * (1 + exp(e))) - CLOSE, "Thm 5.3"
    assert floor >= (1 - d) * (2**items - 1) / (2**items - 1 + exp(e)) - CLOSE, "Thm 5.5 with κ = 1"
    if items == 1:
        assert floor == pytest.approx(best, abs=CLOSE), "met: one item is a list of two"
    else:
        assert floor < float(row.error) - CLOSE, "so an error in its place would be caught"


def test_each_theorem_is_the_larger_one_somewhere() -> None:
    """Of three items: the two farthest sets decide at ε = 1, how many sets there are at ε = 4."""
    small, large = (Fraction(e) for e in ("1", "4"))
    none = Fraction(0)
    assert farthest(Fraction(3), small, none) > nearest(8, small, none)
    assert farthest(Fraction(3), large, none) < nearest(8, large, none)
    assert set_floor(3, large, none) == nearest(8, large, none)


def test_kappa_of_the_published_grid_is_in_the_floor() -> None:
    """A coarser grid has a larger κ; on two points both theorems say the same, the range times what a list has."""
    facts = Facts("t", Schema({"n": Number(0, 100)}), Unit.rows(), "replace", 100)
    fine, coarse = (PublishTable.build(facts, {"columns": ["n"], "epsilon": "1"} | grid) for grid in ({}, {"grid": 1}))
    assert fine.grain("n") == facts.schema["n"].kappa == 1 and coarse.grain("n") == 100
    assert float(coarse.floor("n")) == pytest.approx(100 * float(Swap(2, Fraction(1), Fraction(0)).floor))
    assert coarse.floor("n") == pytest.approx(fine.floor("n"), abs=1e-5)


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
        own = replace(self, epsilon=self.epsilon / len(self.columns))
        return Blurred(**vars(super().promise()) | {"floors": tuple(map(own.floor, self.columns))})


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
    assert float(promise.untrue_floor) == pytest.approx(float(promise.floors[0])), "two points are a list of two"


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


@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_every_kind_of_column_has_its_own_distances(epsilon: str) -> None:
    """Days are a grid of step 1; of h items κ = 1 and the diameter is h."""
    told = published(epsilon, d=Date("1990-01-01", "1990-01-08"), n=Number(0, 7), s=ItemSet(["p", "q", "r"]))
    days, numbers, sets = told.promise().floors
    assert days == numbers and told.grain("d") == told.grain("s") == 1
    assert sets == set_floor(3, Fraction(epsilon), Fraction(0))
