"""Shares of released counts: the range holds for every table whose counts lie in their ranges, and is no wider."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from dpengine.released.compare import Stated, shares

ROWS = [
    ((3, 5, 1), ((1, 4), (4, 6), (-2, 3))),
    ((0, 2), ((-1, 1), (1, 3))),
    ((7,), ((5, 9),)),
    ((-2, 9), ((-5, -1), (6, 12))),
]


def check_ranges(found: Callable[..., list[Stated] | None], counts: tuple, ranges: tuple) -> None:
    """Over every whole table that the ranges allow."""
    told = found(counts, ranges)
    assert told is not None
    held = [[] for _ in counts]
    for truth in product(*(range(max(low, 0), max(high, 0) + 1) for low, high in ranges)):
        for place, one in enumerate(truth):
            held[place].append(Fraction(100 * one, sum(truth)))
    for one, values in zip(told, held, strict=True):
        assert one.low <= min(values), "a share below its range is possible"
        assert max(values) <= one.high, "a share above its range is possible"
        assert (one.low, one.high) == (min(values), max(values)), "wider than it need be"
        assert one.low <= one.value <= one.high


@pytest.mark.parametrize(("counts", "ranges"), ROWS)
def test_every_possible_share_is_in_its_range(counts: tuple, ranges: tuple) -> None:
    check_ranges(shares, counts, ranges)


def test_where_there_may_be_nobody_nothing_is_told() -> None:
    assert shares((1, 2), ((-3, 5), (0, 4))) is None
    assert shares((0, 0), ((-3, -1), (-2, 0))) is None


def test_shares_of_the_figures_alone_are_caught() -> None:
    """A twin that divides the ends by the released total, as people do."""

    def wrong(counts: tuple, ranges: tuple) -> list[Stated]:
        whole = sum(counts)
        return [
            Stated(Fraction(100 * one, whole), Fraction(100 * low, whole), Fraction(100 * high, whole))
            for one, (low, high) in zip(counts, ranges, strict=True)
        ]

    with pytest.raises(AssertionError, match="is possible"):
        check_ranges(wrong, *ROWS[0])
