"""One question stays the same at any ε and with any noise, and is another under other bounds."""

from __future__ import annotations

import dpengine as dp
from dpengine.asking.answers import claim_of, identity, same_question
from dpengine.declared.facts import Facts
from dpengine.mechanisms.query import AnyQuery


def asked(key: str, top: int = 100, **given: object) -> AnyQuery:
    schema = dp.Schema({"age": dp.Number(0, top), "sex": dp.Category(["f", "m"])})
    facts = Facts("people", schema, dp.Unit.rows(), "replace", 1_000)
    return dp.catalogue[key].build(facts, {"epsilon": "0.1"} | given)


def test_the_same_however_exact_and_with_whatever_noise() -> None:
    one = asked("histogram", column="sex")
    others = [asked("histogram", column="sex", epsilon="0.7"), asked("histogram", column="sex", noise="gaussian")]
    assert all(same_question(one, other) for other in others)
    assert {identity(claim_of(other)) for other in (one, *others)} == {identity(claim_of(one))}


def test_another_question_column_condition_or_range_is_another() -> None:
    one = asked("mean", column="age")
    where = [["sex", "in", ["f"]]]
    for other in (
        asked("median", column="age"),
        asked("mean", column="age", where=where),
        asked("mean", 90, column="age"),
    ):
        assert not same_question(one, other)
