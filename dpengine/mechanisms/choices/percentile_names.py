"""Which percentiles are asked for, in which order they are told, and what they are called; by group, every one of each
group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number
from dpengine.core.json_types import Json
from dpengine.messages import plain

FINEST_SHARE = 1_000
MOST_SHARES = 20


def read_shares(given: Json) -> tuple[Fraction, ...]:
    """One share or several, rising; each with at most three decimals."""
    listed = given if isinstance(given, (list, tuple)) else [given]
    shares = tuple(read_number(share, "share") for share in listed)
    if not 1 <= len(shares) <= MOST_SHARES or any(not 0 < share < 1 for share in shares):
        raise AllowanceError("share.range")
    if any((share * FINEST_SHARE).denominator != 1 for share in shares) or sorted(set(shares)) != list(shares):
        raise AllowanceError("share.range")
    return shares


def in_order(told: Sequence[tuple[int, ...]], several: int) -> Iterator[tuple[int, ...]]:
    """Points, lower and upper ends of each group's percentiles, each of the three sorted. All that held still does: the
    j-th smallest is at most the largest of the first j and at least the smallest from the j-th on; true percentiles and
    what is within a distance of them rise; so a lower end is still at most its percentile, an upper end at least."""
    for first in range(0, len(told), several):
        yield from zip(*map(sorted, zip(*told[first : first + several], strict=True)), strict=True)


def percents(shares: Sequence[Fraction]) -> list[str]:
    return [f"{plain(share * 100)} %" for share in shares]


def of_groups(groups: list[str], names: list[str]) -> list[str]:
    """What every percentile of every group is called on a page; no line breaks before the percent sign."""
    kept = [name.replace(" ", "\N{NO-BREAK SPACE}") for name in names]
    return [f"{group}, {name}" for group in groups for name in kept]


def near_middle(parts: list[str], share_of: Mapping[str, Fraction]) -> list[str]:
    """Of percentiles of groups those of one share, so that groups stand side by side: the one nearest the median."""
    middle = min((share_of[part] for part in parts), key=lambda share: abs(share - Fraction(1, 2)), default=None)
    return [part for part in parts if share_of[part] == middle]
