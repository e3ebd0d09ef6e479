"""How a time is taken: a warm-up, repetitions, their median. And how much memory this process ever held."""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

SECONDS = 2.0  # per question
MOST, LEAST = 25, 3
_SLOW = 5.0  # a run this long needs no warm-up


def timed(work: Callable[[], Any]) -> dict[str, Any]:
    """Seconds: the median of the repetitions, how many there were, and the very first run apart."""
    first = once(work)
    times = [first] if first > _SLOW else []
    began = time.perf_counter()
    while len(times) < LEAST or (len(times) < MOST and time.perf_counter() - began < SECONDS):
        times.append(once(work))
        if first > _SLOW and time.perf_counter() - began > 2 * _SLOW:
            break
    return {"median": statistics.median(times), "times": len(times), "first": first, "least": min(times)}


def once(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def peak_mb() -> float:
    """The most memory this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
