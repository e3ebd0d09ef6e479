"""A promise says itself: its size as a person types it, its unit, and the amount that a wish stands for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from battery import case_name

from dpengine.audit.world import CASES, build
from dpengine.core.exact import read_typed
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
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
