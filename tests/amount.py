"""How much of the long tests runs: all of it, or with `AUDIT=hour` (as in `make audit`) what two cores do in an hour.

Then a check that is repeated over many cases takes every k-th of them, so that about `CASES` are left, beginning at the
number of the day modulo k: after k days each was run. Planted errors are no such cases: each of them is planted.
A check that only tries more of the same at random tries less of it (`amount`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

HOUR = os.environ.get("AUDIT") == "hour"
CASES = 24
TODAY = datetime.now(UTC).date().toordinal()
_ALWAYS = ("tests/test_planted.py", "tests/planted/", "tests/faults/", "tests/leaks/")

Case = TypeVar("Case")


def amount(hour: int, whole: int) -> int:
    return hour if HOUR else whole


def in_turn(cases: Sequence[Case], day: int = TODAY) -> list[Case]:
    """Those of one check's cases whose turn it is."""
    apart = -(-len(cases) // CASES)
    return list(cases[day % apart :: apart]) if apart > 1 else list(cases)


def by_turns(check: str) -> bool:
    """May this check leave cases to other days?"""
    return not check.startswith(_ALWAYS)
