"""What is asked instead of published: nearer by about the square root of the people, at the same ε (Remark 7.1)."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.noise.coins import SystemCoins
from dpengine.planning.alternatives import asked_instead

SCHEMA = dp.Schema(
    {
        "pay": dp.Number(0, 100, missing=0),
        "state": dp.Category(["TX", "CA", "NY"], "NY", "NY"),
        "likes": dp.ItemSet(["a", "b"]),
        "born": dp.Date("1990-01-01", "1990-12-31"),
    }
)


def published(people: int, *columns: str, epsilon: str = "1", key: str = "publish_table") -> OfRows:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), "replace", people)
    found = catalogue[key].build(facts, {"columns": list(columns), "epsilon": epsilon})
    assert isinstance(found, OfRows)
    return found


@pytest.mark.parametrize("people", [100, 10_000, 1_000_000])
@pytest.mark.parametrize("name", ["pay", "state"])
def test_published_is_wider_by_the_root_of_the_people(people: int, name: str) -> None:
    found = asked_instead(published(people, name), name)
    assert found is not None
    assert sqrt(people) / 4 < found.times < 4 * sqrt(people)


def test_both_sides_spend_the_same() -> None:
    """Two columns at ε = 2 are two questions at ε = 1; a mean asked with the whole would be another comparison."""
    both, alone = published(1_000, "pay", "state", epsilon="2"), published(1_000, "pay", epsilon="1")
    for query in (both, published(1_000, "pay", "state", epsilon="2", key="publish_row")):
        found, one = asked_instead(query, "pay"), asked_instead(alone, "pay")
        assert found is not None and one is not None
        assert found.query.epsilon == 1 and found.asked == one.asked and found.published == query.reach("pay")


def test_a_third_of_the_spend_is_no_decimal() -> None:
    found = asked_instead(published(1_000, "pay", "state", "born"), "pay")
    assert found is not None and found.query.epsilon == Fraction(1, 3)


def test_there_is_a_question_for_numbers_and_lists_alone() -> None:
    query = published(1_000, "likes", "born")
    assert asked_instead(query, "likes") is None and asked_instead(query, "born") is None


@pytest.mark.long
def test_it_is_as_said_in_draws() -> None:
    """The spread of 400 published means beside that of 400 asked ones, each true to 6 % in a deviation. The formulas
    compare 95 % ranges, which differ from spreads by a factor of 1.3; a factor of 2 is then more than six deviations
    away, a chance far below 1e-6."""
    people, draws = 400, 400
    query = published(people, "pay")
    found = asked_instead(query, "pay")
    assert found is not None
    codes, coins = np.arange(people) % 101, SystemCoins()
    rows = [float(query.perturbed((codes,), coins)[0].mean()) for _ in range(draws)]
    moments = found.query.need().of([{"pay": int(code)} for code in codes])
    asked: list[Any] = [found.query.release(moments, coins).value for _ in range(draws)]
    times = np.std(rows) / np.std(asked)
    assert float(found.times) / 2 < times < 2 * float(found.times)
    assert found.times == Fraction(found.published) / Fraction(found.asked)
