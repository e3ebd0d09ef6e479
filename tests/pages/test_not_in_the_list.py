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
    assert headline(other) == in_short(other) == "Something that is not in your list of sex"
    told = range_words(other)
    assert "The answer is “other”. None is ahead of it by more than " in told
    assert told.endswith("mend the list under Tables, then ask again.")
    fine = answered("top_item", "moški", column="sex")
    assert headline(fine) == "“moški”" and "list" not in range_words(fine) and not fine.query.state("moški", None)
    several = answered("top_item", {"other": 1, "moški": 2}, column="sex", how_many=2)
    assert several.query.state(several.value, None) == REST and "mend the list" in range_words(several)
    second = answered("top_item", {"moški": 1, "other": 2}, column="sex", how_many=2)
    assert not second.query.state(second.value, None) and headline(second) == "“moški”, “other”"
    with speaking("sl"):
        assert headline(other) == "Nekaj, česar ni na vašem seznamu za stolpec sex"
        assert "popravite seznam" in range_words(other)


def test_where_the_first_is_not_certain_it_is_still_said_what_was_drawn() -> None:
    unsure = answered("top_item", "other", column="sex", where=[["age", ">=", 50]])
    assert headline(unsure) == "Perhaps a value that is not in your list (“other”)" and "mend the list" in range_words(
        unsure
    )
    with speaking("sl"):
        assert headline(unsure) == "Morda nekaj, česar ni na vašem seznamu (»drugo«)"


@pytest.mark.parametrize(
    ("first", "told"),
    [("other", "mend the list under Tables"), ("no answer", "stands for empty cells of sex"), ("ženska", "")],
)
def test_a_first_bar_that_is_no_value_says_so(first: str, told: str) -> None:
    names = ["ženska", "moški", "other", "no answer"]
    ends = {name: (20_000, 20_100) if name == first else (100, 200) for name in names}
    bars = answered("histogram", {name: sum(pair) // 2 for name, pair in ends.items()}, ends, column="sex")
    assert ("not in your list" in headline(bars)) == (first == "other")
    assert (told in range_words(bars)) and (told or "stands for" not in range_words(bars))


def test_one_label_may_stand_for_both() -> None:
    ends = {"clerk": (100, 200), "cook": (100, 200), "no answer": (20_000, 20_100)}
    bars = answered("histogram", dict.fromkeys(ends, 150), ends, column="job")
    assert "empty cells of job and for everything that is not in your list" in range_words(bars)
    alike = dict.fromkeys(ends, (0, 300))
    level = answered("histogram", dict.fromkeys(ends, 150), alike, column="job")
    assert "stands for" not in range_words(level), "which comes first is not known"
