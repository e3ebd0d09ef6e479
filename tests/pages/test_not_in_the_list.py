"""Where “other” comes first, an answer says what that means: the list does not have what most cells hold."""

from __future__ import annotations

from typing import Any

import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import REST
from dpengine.messages.language import speaking
from ui.words.wording import headline, in_short, range_words

SCHEMA = dp.Schema(
    {
        "sex": dp.Category(["ženska", "moški"]),
        "job": dp.Category(["clerk", "cook"], unknown="no answer", missing="no answer"),
        "age": dp.Number(0, 100),
    }
)


def answered(key: str, value: Any, interval: Any = None, **given: Any) -> dp.Answer:
    query = dp.catalogue[key].build(
        Facts("people", SCHEMA, dp.Unit.rows(), "replace", 30_000), {"epsilon": "1"} | given
    )
    return dp.Answer(value, interval, query.promise(), {}, query, "request", "now")


def test_a_catch_all_that_wins_says_so() -> None:
    other = answered("top_item", "other", column="sex")
    assert other.query.state("other", None) == REST and REST in other.query.card.states
    assert headline(other) == in_short(other) == "Something outside your list of sex"
    told = range_words(other)
    assert "The answer is “other”. The true winner leads it by at most " in told
    assert told.endswith("correct the list under Tables, then ask again.")
    fine = answered("top_item", "moški", column="sex")
    assert headline(fine) == "“moški”" and "list" not in range_words(fine) and not fine.query.state("moški", None)
    several = answered("top_item", {"other": 1, "moški": 2}, column="sex", how_many=2)
    assert several.query.state(several.value, None) == REST and "correct the list" in range_words(several)
    second = answered("top_item", {"moški": 1, "other": 2}, column="sex", how_many=2)
    assert not second.query.state(second.value, None) and headline(second) == "“moški”, “other”"
    with speaking("sl"):
        assert headline(other) == "Nekaj zunaj vašega seznama za stolpec sex"
        assert "popravite ga" in range_words(other)


def test_where_the_first_is_not_certain_it_is_still_said_what_was_drawn() -> None:
    unsure = answered("top_item", "other", column="sex", where=[["age", ">=", 50]])
    assert headline(unsure) == "Perhaps a value outside your list (“other”)" and "correct the list" in range_words(
        unsure
    )
    with speaking("sl"):
        assert headline(unsure) == "Morda nekaj zunaj vašega seznama (»drugo«)"


@pytest.mark.parametrize(
    ("first", "told"),
    [("other", "correct the list under Tables"), ("no answer", "means empty cells of sex"), ("ženska", "")],
)
def test_a_first_bar_that_is_no_value_says_so(first: str, told: str) -> None:
    names = ["ženska", "moški", "other", "no answer"]
    ends = {name: (20_000, 20_100) if name == first else (100, 200) for name in names}
    bars = answered("histogram", {name: sum(pair) // 2 for name, pair in ends.items()}, ends, column="sex")
    assert ("outside your list" in headline(bars)) == (first == "other")
    assert (told in range_words(bars)) and (told or "outranks" not in range_words(bars))


def test_one_label_may_stand_for_both() -> None:
    ends = {"clerk": (100, 200), "cook": (100, 200), "no answer": (20_000, 20_100)}
    bars = answered("histogram", dict.fromkeys(ends, 150), ends, column="job")
    assert "empty cells of job and everything outside your list" in range_words(bars)
    alike = dict.fromkeys(ends, (0, 300))
    level = answered("histogram", dict.fromkeys(ends, 150), alike, column="job")
    assert "outranks" not in range_words(level), "which comes first is not known"
