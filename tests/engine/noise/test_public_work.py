"""Selections do the same work on every table: what they call, how large their arrays are and how many bits they draw,
counted and not timed. Where two tables are compared they have as many different values: reading those is no draw."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import Query
from dpengine.noise import place_choice
from dpengine.noise.coins import SystemCoins, Words
from dpengine.statistics.need import Spread

GRID, ROWS = 300, 5_000


class Counting(SystemCoins):
    def __init__(self) -> None:
        self.drawn: Counter[Any] = Counter()

    def bits(self, count: int) -> int:
        self.drawn["bits", count] += 1
        return super().bits(count)

    def words(self, count: int) -> Words:
        self.drawn["words", count] += 1
        return super().words(count)


def work(query: Query, value: Any) -> Counter[Any]:
    """The calls of the engine's functions and of C functions, the sizes of arrays when the former end, and the bits."""
    seen: Counter[Any] = Counter()

    def look(frame: Any, event: str, what: Any) -> None:
        code = frame.f_code
        if event == "c_call":
            seen["called", what.__qualname__] += 1
        elif "dpengine" in code.co_filename and event == "call":
            seen["called", code.co_name] += 1
        elif "dpengine" in code.co_filename and event == "return":
            for name, held in frame.f_locals.items():
                if isinstance(held, np.ndarray):
                    seen["size", code.co_name, name] += held.size

    coins = Counting()
    query.draw(value, coins)  # what is public and cached is there after this
    coins.drawn.clear()
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        query.draw(value, coins)
    finally:
        sys.setprofile(before)
    return seen + coins.drawn


def asked(key: str, **given: Any) -> Query:
    column = Number(0, GRID - 1, missing=0)
    facts = Facts("t", Schema({"x": column}), Unit.rows(), "replace", ROWS)
    return catalogue[key].build(facts, {"epsilon": "1"} | given)


def tables() -> list[Spread]:
    """Far apart in everything but the numbers of rows and of different values; the first two are neighbours."""
    rng = np.random.default_rng()
    spread = np.sort(rng.choice(GRID - 1, 20, replace=False))
    even = np.full(20, ROWS // 20)
    moved = np.append(spread[:-1], GRID - 1)
    pile = np.append(np.ones(19, dtype=np.int64), ROWS - 19)
    neighbour = even - np.eye(20, dtype=np.int64)[3] + np.eye(20, dtype=np.int64)[19]
    codes = [spread, spread, moved, np.arange(20), np.arange(20) * 15, spread]
    counts = [even, neighbour, even, even, pile, pile[::-1].copy()]
    return [Spread(*both) for both in zip(codes, counts, strict=True)]


CASES: list[tuple[str, dict[str, Any]]] = [
    ("cdf", {}),
    ("cdf", {"points": 12, "epsilon": "0.1"}),
    ("cdf", {"epsilon": "9"}),
    ("quantile", {"share": "0.9"}),
    ("quantile", {"share": "0.25", "with_range": False}),
    ("quantile", {"share": ["0.25", "0.5", "0.75"], "noise": "joint"}),
    ("median", {"noise": "joint"}),
    ("iqr", {}),
    ("quantile", {"share": "0.9", "with_range": False, "noise": "permute_and_flip"}),
]


def without_comparisons(seen: Counter[Any]) -> Counter[Any]:
    """A joint draw ends with an exact comparison. Its fractions depend on the rows, so its arithmetic does."""
    names = "_above floor ceiling isinstance max gcd gt object.__new__ _abc_instancecheck int.bit_length"
    left_out = set(f"{names} Context.divide Context.exp Decimal.as_integer_ratio".split())
    return Counter({what: many for what, many in seen.items() if what[0] != "called" or what[1] not in left_out})


@pytest.mark.every(3)
@pytest.mark.parametrize(("key", "given"), CASES)
def test_a_selection_does_the_same_work_on_every_table(key: str, given: dict[str, Any]) -> None:
    query = asked(key, column="x", **given)
    first, *others = (work(query, table) for table in tables())
    assert any(what[0] == "size" for what in first) and any(what[0] in ("bits", "words") for what in first)
    for other in others:
        if given.get("noise") == "joint":
            first, other = without_comparisons(first), without_comparisons(other)
        assert first == other


# Several values at once in one draw are not among them: which values are named is then worked out from the drawn place.
LISTED: list[tuple[str, dict[str, Any]]] = [
    ("top_item", {}),
    ("top_item", {"noise": "permute_and_flip"}),
    ("top_item", {"how_many": 3}),
    ("top_item", {"how_many": 3, "noise": "permute_and_flip"}),
    ("noisy_argmax", {"options": [[["x", "<", 10 * at]] for at in range(1, 31)]}),
    ("noisy_argmax", {"options": [[["x", "<", 10 * at]] for at in range(1, 31)], "noise": "permute_and_flip"}),
]


@pytest.mark.parametrize(("key", "given"), LISTED)
def test_a_choice_from_a_list_does_the_same_work_on_every_table(key: str, given: dict[str, Any]) -> None:
    own = {"column": {"column": "x", "step": 10}} if key == "top_item" else {}
    query, even = asked(key, **own, **given), np.full(30, ROWS // 40, dtype=np.int64)
    ahead = even + 500 * np.eye(30, dtype=np.int64)[4]
    first, *others = (work(query, tuple(counts.tolist())) for counts in (even, ahead, np.arange(30), ahead[::-1]))
    for other in others:
        assert first == other


def test_a_synthetic_column_takes_as_much_of_few_values_as_of_many() -> None:
    """Only the arrays that read the values differ."""
    query = asked("cdf", column="x")
    every = Spread(np.arange(GRID), np.full(GRID, 17))
    one, many, none = (work(query, value) for value in (Spread(np.array([7]), np.array([ROWS])), every, EMPTY))
    apart = {what for what in one | many | none if not one[what] == many[what] == none[what]}
    assert {what[:2] for what in apart} == {("size", "of")}


EMPTY = Spread(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def test_turns_that_end_when_one_is_kept_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One turn at a time: a draw then takes the first turn with chance between a tenth and two thirds, so that sixty
    draws take equally many by chance of less than 10⁻⁹."""
    monkeypatch.setattr(place_choice, "TURNS", 1)
    query, table = asked("cdf", column="x", points=3, epsilon="0.01"), tables()[0]
    taken = [work(query, table)["called", "_first_kept"] for _ in range(60)]
    assert len(set(taken)) > 1
