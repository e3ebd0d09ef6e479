"""A search that begins where the last one ended finds what any search finds, and asks only between its ends."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from dpengine.core.remembered import largest


def test_it_finds_the_largest_from_every_start() -> None:
    for low, size, last in product((0, 3), range(9), range(-2, 14)):
        for end in range(low, low + size + 1):
            high = low + size
            assert _search(0, 100, max(min(last, 100), 0), ("every", last)) == max(min(last, 100), 0)
            assert _search(low, high, end, ("every", last)) == end


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 1000), st.integers(1, 1000))
def test_it_finds_the_largest_where_it_grows_with_something(first: int, second: int, before: int, now: int) -> None:
    assert _search(0, 10**6, first, "grows", Fraction(before, 100)) == first
    assert _search(0, 10**6, second, "grows", Fraction(now, 100)) == second


def test_what_lies_near_the_last_one_is_found_in_a_few_steps() -> None:
    _search(0, 10**6, 654_321, "near")
    asked: list[int] = []
    assert _search(0, 10**6, 654_323, "near", asked=asked) == 654_323
    assert len(asked) <= 5
    asked.clear()
    assert _search(0, 10**6, 123, "elsewhere", asked=asked) == 123
    assert len(asked) >= 15  # else the line above shows nothing


def _search(
    low: int, high: int, end: int, name: object, scale: Fraction = Fraction(1), asked: list[int] | None = None
) -> int:
    def allowed(place: int) -> bool:
        assert low <= place <= high
        if asked is not None:
            asked.append(place)
        return place <= end

    return largest(allowed, low, high, name, scale)
