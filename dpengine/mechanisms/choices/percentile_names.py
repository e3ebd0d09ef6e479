"""Which percentiles are asked for, and what they are called; by group, every one of each group."""

from __future__ import annotations

from collections.abc import Sequence
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


def percents(shares: Sequence[Fraction]) -> list[str]:
    return [f"{plain(share * 100)} %" for share in shares]
