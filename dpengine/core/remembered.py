"""Caches for work that depends on public facts and the ledger's sums alone.

Pages compute the same prices and promises on every click. Everything cached here follows from public facts, so neither
a result nor its speed says anything about a table's rows.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def remembered(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that caches the newest `most` results. Calls with arguments that cannot be hashed are not cached."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept = lru_cache(maxsize=most, typed=True)(function)

        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            try:
                return kept(*args, **named)  # type: ignore[arg-type]
            except TypeError:
                if _hashable(args, named):
                    raise  # by the function itself
            return function(*args, **named)

        return call

    return decorate


def _hashable(args: tuple[object, ...], named: dict[str, object]) -> bool:
    try:
        hash((args, tuple(named.items())))
    except TypeError:
        return False
    return True


class Lately:
    """A cache of the newest results under keys that the caller gives. Use it where arguments are too large to compare;
    the key must name all that the result depends on. What cannot be hashed is no key: its result is not cached."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[Hashable, object] = OrderedDict()

    def __call__(self, name: Hashable, work: Callable[[], R]) -> R:
        try:
            with self._lock:
                if name in self._kept:
                    self._kept.move_to_end(name)
                    return cast(R, self._kept[name])
        except TypeError:  # it cannot be hashed
            return work()
        found = work()
        with self._lock:
            self._kept[name] = found
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found


def guessed(measure: Callable[[int], float | None], wanted: float, start: int, low: int, high: int) -> int:
    """About where `measure`, which grows like a power, has the value `wanted`: found by a few secant steps between
    logarithms."""
    place, power = start, 1.5
    value = measure(place)
    for _ in range(4):
        if not value or wanted <= 0:
            break
        ahead = max(min(math.log(wanted / value) / power, 30), -30)
        following = min(max(round(place * math.exp(ahead)), low), high)
        if abs(following - place) <= 1:
            return following
        later = measure(following)
        if later and later != value:
            power = max(math.log(later / value) / math.log(following / place), 0.5)
        place, value = following, later
    return place


_MOST = 4096
_ended: OrderedDict[Hashable, float] = OrderedDict()


def largest(
    allowed: Callable[[int], bool],
    low: int,
    high: int,
    name: Hashable = None,
    scale: Fraction = Fraction(1),
    near: Callable[[], int] | None = None,
) -> int:
    """The largest allowed number up to `high`. `low` must be allowed, and below an allowed number every number must be.
    Pages repeat a search whenever the meter has moved a little, and the search's result then moves little. So a search
    with a `name` begins where the last search of that name ended. If the result grows in proportion to some amount,
    pass that amount as `scale`. A caller who can guess the result passes the guess as `near`."""
    known = _ended.get(name)
    if known is not None:
        low, high = _around(allowed, low, high, round(known * float(scale)))
    elif near is not None:
        low, high = _around(allowed, low, high, near())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if allowed(middle) else (low, middle - 1)
    if name is None:
        return low
    _ended[name] = low / float(scale)
    while len(_ended) > _MOST:
        _ended.popitem(last=False)
    return low


def _around(allowed: Callable[[int], bool], low: int, high: int, near: int) -> tuple[int, int]:
    """Two ends, closer than `low` and `high`, between which the search ends; found by growing steps away from
    `near`."""
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
