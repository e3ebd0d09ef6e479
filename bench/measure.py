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


def must(did: object, sentence: str) -> None:
    """A bench that did not do what it times ends with a sentence and not with figures."""
    if not did:
        raise SystemExit(sentence)


def drawn(app: Any, what: object) -> str:
    """All that a page says that was really drawn: the app puts one sentence in the place of a page that fails."""
    from html import escape

    from dpengine.messages import CATALOGUES

    told = "\n".join(element.proto.body for element in app.get("html"))
    must(not app.exception, f"{what}: {app.exception}")
    failed = any(escape(catalogue["page.failed"]) in told for catalogue in CATALOGUES.values())
    must(not failed and 'class="meter"' in told, f"{what}: the page could not be drawn, so nothing of it was timed.")
    return told


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
