"""What a function gave for equal arguments, kept: for work that depends on public facts and the ledger's sums alone.

Pages work out the same prices and promises again on every click. What is kept here was worked out from what anybody may
know, so neither what comes back nor how fast it does says anything about a table's rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from fractions import Fraction
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


# The largest whole number that is allowed, where with any number every smaller one is allowed too.
#
# Pages search for the same thing again whenever the meter has moved a little, and it then lies about where it lay
# before. So a search begins where the last one for the same thing ended: it finds the same, in a few steps instead of
# twenty. What is searched for depends on public facts and the ledger's sums alone, and so does how long it takes.

_MOST = 4096
_ended: OrderedDict[Hashable, float] = OrderedDict()


def largest(allowed: Callable[[int], bool], low: int, high: int, name: Hashable, scale: Fraction = Fraction(1)) -> int:
    """From `low`, which is allowed, to `high`. `name` says what is searched for; where it grows with something, that is
    its `scale`."""
    known = _ended.get(name)
    if known is not None:
        low, high = _around(allowed, low, high, round(known * float(scale)))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if allowed(middle) else (low, middle - 1)
    _ended[name] = low / float(scale)
    while len(_ended) > _MOST:
        _ended.popitem(last=False)
    return low


def _around(allowed: Callable[[int], bool], low: int, high: int, near: int) -> tuple[int, int]:
    """The same with closer ends, found in growing steps from a place that should be near."""
    near, step = min(max(near, low), high), 1
    if near == low or allowed(near):
        low = near
        while low < high and allowed(min(low + step, high)):
            low, step = min(low + step, high), 2 * step
        return low, min(low + step - 1, high)
    high = near - 1
    while high > low and not allowed(max(high - step, low)):
        high, step = max(high - step, low) - 1, 2 * step
    return max(high - step, low), max(high, low)
