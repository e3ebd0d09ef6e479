"""A promise says itself: its size as a person types it, its unit, and the amount that a wish stands for."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from battery import case_name

from dpengine.audit.world import CASES, build
from dpengine.core.exact import read_typed
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.messages.language import LANGUAGES, speaking

PEOPLE = 2_000


@pytest.mark.every(9)
@pytest.mark.parametrize("lang", [lang for lang in LANGUAGES if lang != "he"])
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_a_wish_is_read_in_the_unit_it_is_written_in(case: tuple[str, dict[str, Any]], lang: str) -> None:
    key, given = case
    query = build(key, given, catalogue[key].card.relations[0], "2", PEOPLE)
    promise = query.promise()
    with speaking(lang):
        for amount in (Fraction("0.25"), Fraction(2), Fraction(12)):
            typed = read_typed(promise.written(amount, query), "x", "%")
            assert promise.amount_of(typed, query) == pytest.approx(amount, rel=0.01)
        label, now = promise.field(query)
        assert label and promise.amount_of(read_typed(now, "x", "%"), query) >= promise.amount * Fraction(99, 100)
        assert promise.at(Fraction(12)).amount == 12
        if promise.kind in ("within", "near_best", "band"):  # others are told as “all” or “nothing” from some size on
            assert promise.at(Fraction(12)).short(query) != promise.at(Fraction(13)).short(query)
        assert promise.words(query) and promise.words() and promise.size()


@pytest.mark.parametrize("name", ["people", "percent", "rows"])
def test_a_column_may_be_called_like_a_unit(name: str) -> None:
    """An average of a column “percent” is in that column, not in percentage points."""
    facts = Facts("t", Schema({name: Number(0, 1_000)}), Unit.rows(), "replace", PEOPLE)
    query = catalogue["mean"].build(facts, {"column": name, "epsilon": "1"})
    assert query.unit == "column" and query.promise().words(query).startswith("within ±")
    assert f"in {name}, 95 times in 100" in query.promise().words(query)
    assert query.promise().field(query)[0] == f"I accept ± … in {name}"


@pytest.mark.parametrize("key", ["median", "count"])
def test_a_lower_bound_is_never_said_to_be_higher_than_it_is(key: str) -> None:
    facts = Facts("t", Schema({"x": Number(0, 100)}), Unit.rows(), "replace", 40_000)
    said = 0
    for thousandths in range(1, 200, 3):
        epsilon = {"epsilon": f"0.{thousandths:03}"}
        given = {"column": "x"} if key == "median" else {"where": [["x", ">", 50]]}
        query = catalogue[key].build(facts, epsilon | given)
        promise: Any = query.promise()
        words = promise.floor_words(query)
        if words:
            least = Fraction(re.findall(r"[\d.]+(?= %| people)", words.replace(",", ""))[-1])
            assert least <= (100 * promise.floor / 40_000 if key == "median" else promise.floor) and least > 0, words
            said += 1
    assert said > 10


def test_what_a_promise_supposes_is_the_number_that_it_was_worked_out_for() -> None:
    schema = Schema({"c": Category(["a", "b"])})
    facts = Facts("t", schema, Unit.column("who", 30), "add_remove", 40_000)
    query = catalogue["small_database"].build(facts, {"columns": ["c"], "epsilon": "1", "size": 2})
    assert "400,000" not in query.promise().words(query)
