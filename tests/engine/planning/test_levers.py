"""At “mostly noise”: what would help, each lever with the promise of the changed question, the strongest first."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import Query
from dpengine.planning.suggestions import Lever, levers, without_codes

SCHEMA = dp.Schema(
    {
        "cost": dp.Number(0, 2000),
        "debt": dp.Number(-2000, 0),
        "day": dp.Date("2024-01-01", "2025-12-31"),
        "town": dp.Category([f"t{place}" for place in range(30)]),
    }
)


def built(key: str, epsilon: str = "0.01", people: int = 1000, **given: object) -> Query:
    return catalogue[key].build(Facts("t", SCHEMA, Unit.rows(), "replace", people), {"epsilon": epsilon} | given)


def found(query: Query, most: Fraction = Fraction(100)) -> list[Lever]:
    return levers(query, lambda one: one.epsilon if one.epsilon <= most else None)


def test_a_narrower_range_is_told_with_its_promise() -> None:
    query = built("sum", column="cost")
    (lever,) = [one for one in found(query) if one.kind == "range"]
    assert lever.ends is not None and (lever.ends[1].lower, lever.ends[1].upper) == (0, 400)
    assert lever.query.promise().amount * 5 == pytest.approx(float(query.promise().amount), rel=0.02)
    (debt,) = [one for one in found(built("sum", column="debt")) if one.kind == "range"]
    assert debt.ends is not None and (debt.ends[1].lower, debt.ends[1].upper) == (-400, 0)


@pytest.mark.parametrize(
    ("column", "after"),
    [
        (dp.Number(1, 5, "0.1"), None),  # marks
        (dp.Number(0, 120), None),  # ages
        (dp.Number(0, 100), None),
        (dp.Number(1900, 2899), None),  # years
        (dp.Number(990, 1989, measure="hPa"), None),  # no round end
        (dp.Number(-4900, 5000), None),
        (dp.Number(0, 300, "0.1"), (0, 150)),
        (dp.Number(40, 1000), (40, 500)),
        (dp.Number(0, 1_000_000, 100), (0, 200_000)),
        (dp.Number(0, 2000, words=True, codes=[9999], measure="€"), (0, 400)),
    ],
)
def test_only_a_wide_range_is_narrowed_and_only_to_round_ends(column: dp.Number, after: tuple[int, int] | None) -> None:
    facts = Facts("t", dp.Schema({"x": column}), Unit.rows(), "replace", 1000)
    told = [one for one in found(catalogue["sum"].build(facts, {"epsilon": "0.01", "column": "x"})) if one.ends]
    assert [one.ends and one.ends[1].ends for one in told] == ([] if after is None else [after])
    for one in told:
        assert one.ends is not None
        narrow = one.ends[1]
        assert (narrow.words, narrow.codes, narrow.measure) == (column.words, column.codes, column.measure)


def test_no_range_is_offered_that_leaves_out_where_paid_answers_lie() -> None:
    query = built("sum", column="cost")
    for known, offered in (((300, 390), True), ((300, 410), False), ((0, 5), True)):
        ends = Fraction(known[0]), Fraction(known[1])
        told = [one for one in levers(query, lambda one: None, known=ends) if one.kind == "range"]
        assert bool(told) == offered


@pytest.mark.parametrize(
    ("column", "helps"),
    [
        (dp.Number(0, 99, codes=[99]), True),
        (dp.Number(0, 120, codes=[99]), True),
        (dp.Number(0, 120, codes=[999]), False),  # outside the range
        (dp.Number(0, 120, codes=[0]), False),
        (dp.Number(0, 120), False),
    ],
)
def test_a_code_near_the_upper_end_may_be_why_a_range_is_wide(column: dp.Number, helps: bool) -> None:
    facts = Facts("t", dp.Schema({"x": column}), Unit.rows(), "replace", 1000)
    query = catalogue["mean"].build(facts, {"epsilon": "0.1", "column": "x"})
    narrower = without_codes(query)
    assert (narrower is not None) == helps
    if narrower is not None:
        assert narrower.promise().amount < query.promise().amount
    assert without_codes(catalogue["count"].build(facts, {"epsilon": "0.1", "where": [["x", ">=", 3]]})) is None


def test_fewer_groups_are_coarser_ones_or_none() -> None:
    by = {"column": "day", "by": "month"}
    for key, more in (("count", {"by": by}), ("histogram", {"column": by}), ("crosstab", {"columns": ["town", by]})):
        query = built(key, "0.05", **more)
        (lever,) = [one for one in found(query) if one.kind == "groups"]
        fewer, many = lever.query.labels(), query.labels()
        assert len(fewer) < len(many)
        assert lever.noise == lever.query.promise().amount / lever.query.coarse()


def test_more_of_the_allowance_is_told_only_where_it_fits() -> None:
    query = built("count", where=[["town", "in", ["t1"]]], people=200)
    (lever,) = [one for one in found(query) if one.kind == "spend"]
    assert lever.noise <= 1 and lever.query.epsilon > query.epsilon
    (poorer,) = [one for one in found(query, lever.query.epsilon * 3 / 4) if one.kind == "spend"]
    assert poorer.query.epsilon < lever.query.epsilon and poorer.noise > 1
    assert not [one for one in found(query, query.epsilon) if one.kind == "spend"]


@pytest.mark.parametrize("key", ["sum", "mean"])
def test_the_strongest_comes_first_and_every_one_helps(key: str) -> None:
    query = built(key, "0.2", people=2000, by="town", column="cost")
    told = found(query)
    assert {one.kind for one in told} == {"range", "groups", "spend"}
    assert [one.noise for one in told] == sorted(one.noise for one in told)
    assert all(one.noise < query.promise().amount / query.coarse() for one in told)


def same_price(query: Query, share: Fraction) -> Query:
    """Where ε alone is the price."""
    return query.at(share)


def test_the_first_five_can_be_read_off_the_bars_for_the_same_price() -> None:
    """Five names cost five draws; bars of all values cost one, and each is within the promise."""
    query = built("top_item", "0.2", column="town", how_many=5)
    (lever,) = [one for one in levers(query, lambda one: one.epsilon, same_price) if one.kind == "bars"]
    assert lever.query.card.key == "histogram" and lever.query.epsilon == query.epsilon
    assert lever.noise == 2 * lever.query.promise().amount / query.coarse() < query.promise().amount / query.coarse()


def test_of_bars_that_are_mostly_noise_the_most_common_value_can_be_had() -> None:
    query = built("histogram", "0.05", column="town", where=[["cost", ">=", 10]])
    (lever,) = [one for one in levers(query, lambda one: one.epsilon, same_price) if one.kind == "top"]
    assert lever.query.card.key == "top_item" and lever.query.where == query.where
    assert not [
        one
        for one in levers(built("histogram", column="cost"), lambda one: one.epsilon, same_price)
        if one.kind == "top"
    ]


def test_a_narrower_range_is_not_advised_once_cells_lie_outside() -> None:
    query = built("sum", column="cost")
    assert [one for one in levers(query, lambda one: None) if one.kind == "range"]
    assert not [one for one in levers(query, lambda one: None, narrow=False) if one.kind == "range"]
