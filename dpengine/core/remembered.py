"""What a function gave for equal arguments, kept: for work that depends on public facts and the ledger's sums alone.

Pages work out the same prices and promises again on every click. What is kept here was worked out from what anybody may
know, so neither what comes back nor how fast it does says anything about a table's rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def remembered(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keeps the newest `most` results. Where an argument cannot be compared by hash, the function is just called."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept = lru_cache(maxsize=most, typed=True)(function)

        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            try:
                hash((args, tuple(named.items())))
            except TypeError:
                return function(*args, **named)
            return kept(*args, **named)  # type: ignore[arg-type]

        return call

    return decorate
