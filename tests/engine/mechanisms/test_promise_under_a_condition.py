"""What is promised under a condition cannot be read as a promise for those who meet it: how many they are is private.
The sentence says for whom it holds and what it becomes if fewer meet it; the few words on cards say it too."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import dpengine as dp
from dpengine.audit.world import CASES, build
from dpengine.declared.conditions import EVERYONE
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue
from dpengine.messages.language import speaking

PEOPLE = 100_000
WHERE = [["c", "in", ["a"]]]
NOMINAL = ("within", "within_each", "rank", "near_average", "band")  # a model says it in a line of its own
SCHEMA = dp.Schema({"age": dp.Number(0, 100), "pay": dp.Number(0, 5_000, step=10), "c": dp.Category(["a", "b"])})


def under_a_condition() -> list[tuple[str, dict[str, Any], dp.Relation]]:
    """Every kind of question that takes a condition, each of its variants, under both relations."""
    found = []
    for key, given in CASES:
        card = catalogue[key].card
        if any(parameter.name == "where" for parameter in card.parameters):
            found += [(key, given | {"where": given.get("where") or WHERE}, relation) for relation in card.relations]
    return found


def asked(key: str, relation: dp.Relation = "replace", people: int = PEOPLE, **given: Any) -> Any:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), relation, people)
    return catalogue[key].build(facts, {"epsilon": "0.1"} | given)


def test_every_promise_that_supposes_a_size_says_what_it_is_for() -> None:
    seen = set()
    for key, given, relation in under_a_condition():
        query = build(key, given, relation, "2", PEOPLE)
        promise = query.promise()
        if promise.kind not in NOMINAL or not promise.supposes(query):
            continue
        seen.add(key)
        words, short = promise.words(query), promise.short(query)
        assert " met the condition" in words and " if a third " in words and " if a tenth did" in words, (key, words)
        assert short.startswith("at best ") or "met the condition" in short, (key, short)
        assert "met the condition" in promise.at(promise.amount * 2).words(query), "a wish too"
        assert "met the condition" in promise.wished(query)[0]
        everyone = replace(query, where=EVERYONE)
        assert "met the condition" not in everyone.promise().words(everyone)
        with speaking("sl"):
            assert "če bi pogoj izpolnjevale" in promise.words(query)
            short = promise.short(query)
            assert "v najboljšem primeru" in short or "če bi pogoj" in short
    assert {"mean", "median", "quantile", "iqr", "proportion", "variance", "vector_mean", "cdf", "density"} <= seen
    assert {"small_database", "noisy_argmax"} <= seen


def test_the_figures_are_what_the_question_promises_of_so_many_people() -> None:
    """Told of everyone: ±x. A table of a third of the people would be promised what is told of a third."""
    for key, given in (("mean", {"column": "age"}), ("proportion", {"of": [["age", ">=", 50]]})):
        query = asked(key, where=WHERE, **given)
        words = query.promise().words(query)
        for part in (3, 10):
            fewer = asked(key, people=PEOPLE // part, where=WHERE, **given)
            assert f"{fewer.promise().size_for(fewer)} if a {'third' if part == 3 else 'tenth'} did" in words
            assert fewer.promise().amount > query.promise().amount
    query = asked("mean", where=WHERE, column="age", epsilon="0.001")
    assert "no useful answer if a tenth did" in query.promise().words(query)


def test_what_a_method_chose_for_the_declared_size_stays_as_it_is() -> None:
    """Points and rows are chosen for the declared size: a smaller group does not get better ones."""
    cdf = asked("cdf", column="age", where=WHERE)
    fewer = asked("cdf", people=PEOPLE // 10, column="age", where=WHERE)
    assert cdf.promise_of(PEOPLE // 10).amount > fewer.promise().amount and cdf.points > fewer.points
    made = build("small_database", {"columns": ["c", "d"], "where": WHERE}, "replace", "1", PEOPLE)
    small = made.of_size(PEOPLE // 100)
    assert made.promise_of(PEOPLE // 100).amount >= small.promise().amount
    assert made.promise_of(PEOPLE) == made.promise()


def test_by_group_the_few_words_say_that_groups_are_supposed_equal() -> None:
    for key, given in (("mean", {"column": "age"}), ("median", {"column": "age"}), ("iqr", {"column": "age"})):
        if not any(parameter.name == "by" for parameter in catalogue[key].card.parameters):
            continue
        query = asked(key, by="c", **given)
        assert query.promise().short(query).endswith(" if the groups are the same size")
        assert " — if all groups are the same size" in query.promise().words(query)
        both = asked(key, by="c", where=[["pay", ">=", 100]], **given)
        assert "met the condition and the groups were the same size" in both.promise().short(both)
        assert "met the condition and all groups were the same size" in both.promise().words(both)


def test_an_answer_without_a_range_says_it_as_well() -> None:
    bare = asked("median", column="age", with_range=False, where=WHERE)
    assert " met the condition; " in bare.promise().drawn(bare)
    first = asked("noisy_argmax", options=[{"mean": "age"}, {"mean": "pay"}], where=WHERE)
    assert " met the condition; " in first.promise().drawn(first) and first.promise().drawn(first).endswith(".")


def test_a_medians_promise_links_people_and_values() -> None:
    """Before: a share of people. After: values. One sentence has both."""
    told = asked("median", column="age")
    words = told.promise().words(told)
    assert words.startswith("at most ") and "away from the middle, 95 times in 100" in words
    assert words.endswith("; the answer says between which values")
    assert told.promise().short(told).endswith("away from the middle")
    nine = asked("quantile", column="age", share="0.9")
    assert nine.promise().words(nine).partition(", 95 times")[0].endswith("away from place 900")
    bare = asked("median", column="age", with_range=False)
    assert "; without a range, the values are not given" in bare.promise().words(bare)
    schema = dp.Schema({"pay": dp.Number(0, 5_000, step=10, measure="€")})
    euros = catalogue["median"].build(
        Facts("t", schema, dp.Unit.rows(), "replace", PEOPLE), {"column": "pay", "epsilon": "1"}
    )
    assert euros.promise().words(euros).endswith("; the answer says how far that is in €")
    assert euros.promise().share <= Fraction(1, 100)


@pytest.mark.parametrize("lang", ["en", "sl"])
def test_a_share_of_people_never_rounds_down(lang: str) -> None:
    with speaking(lang):
        query = asked("median", column="age")
        told = query.promise().size().removeprefix("±").removesuffix(" %").replace(",", ".")
        assert Fraction(told) >= 100 * query.promise().share
