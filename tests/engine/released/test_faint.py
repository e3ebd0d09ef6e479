"""Cells that a declaration makes by itself get no made-up rows where they cannot be told from none; listed values keep
theirs, and those that may be noise are named."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers_synthetic import facts as of_sizes

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.released import synthetic
from dpengine.released.look import Look

PEOPLE = 20_000
SCHEMA = dp.Schema(
    {
        "town": dp.Category(["a", "b", "nobody"], "other", "no answer"),
        "age": dp.Number(0, 99),
        "car": dp.Category(["yes", "no"], "other", "no answer"),
    }
)


def look(town: list[int], age: list[int], car: list[int], noise: dict[int, list[float]] | None = None) -> Look:
    """What was released without any noise but for a few numbers: counts of single columns, all else in proportion."""
    given = {"columns": [*SCHEMA.columns], "plan": "pairs", "epsilon": "1"}
    query: Any = dp.catalogue["synthetic_table"].build(Facts("t", SCHEMA, dp.Unit.rows(), "replace", PEOPLE), given)
    found = Look(query, [])
    single = [np.array(one, dtype=np.float64) for one in (town, age, car)]
    marginals = {(place,): one + np.array((noise or {}).get(place, 0.0)) for place, one in enumerate(single)}
    for one, other in ((0, 1), (0, 2), (1, 2)):
        marginals[one, other] = np.outer(single[one], single[other]) / PEOPLE
    found.marginals = marginals
    return found


def shapes() -> tuple[list[int], list[int], list[int]]:
    groups = look([0] * 5, [0] * 12, [0] * 4).query.axes[1]
    age = [PEOPLE // groups.listed] * groups.listed + [0] * (groups.size - groups.listed)
    return [12_000, 8_000, 0, 0, 0], age, [9_000, 11_000 - 900, 0, 900]


def test_cells_outside_lists_that_may_be_none_get_no_rows() -> None:
    town, age, car = shapes()
    found = look(town, age, car, {0: [0, 0, 6, 6, -9], 2: [0, 0, 3, 0]})
    out = synthetic.left_out(found)
    assert out[0].tolist() == [False, False, False, True, True], "a listed value keeps its rows"
    assert out[2].tolist() == [False, False, True, False], "so many without an answer are no noise"
    listed = found.query.axes[1].listed
    assert not out[1][:listed].any() and out[1][listed:].all()
    codes = [np.array([0, 3, 0, 4, 2]), np.zeros(5, dtype=np.int64), np.array([0, 0, 2, 3, 3])]
    assert synthetic.kept(out, codes).tolist() == [True, False, False, False, True]


def test_listed_values_that_may_be_noise_are_named_and_only_those_with_rows() -> None:
    town, age, car = shapes()
    found = look(town, age, car, {0: [0, 0, 6, 6, 0]})
    assert synthetic.perhaps_none(found, 0, np.array([12_000, 7_994, 6, 0, 0])) == ["nobody"]
    assert synthetic.perhaps_none(found, 0, np.array([12_000, 8_000, 0, 0, 0])) == []
    assert synthetic.perhaps_none(found, 2, np.array(car)) == []


def test_where_a_column_has_nothing_but_such_cells_they_keep_their_rows() -> None:
    assert not any(out.any() for out in synthetic.left_out(_lists()))


def _lists() -> Look:
    """Lists that are complete have no cells of their own making."""
    query: Any = dp.catalogue["synthetic_table"].build(
        of_sizes((3, 2), 100), {"columns": ["c0", "c1"], "plan": "pairs", "epsilon": "1"}
    )
    found = Look(query, [])
    found.marginals = {(0,): np.zeros(3), (1,): np.zeros(2), (0, 1): np.zeros((3, 2))}
    return found
