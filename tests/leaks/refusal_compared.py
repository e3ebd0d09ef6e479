"""Figures that cannot be compared, of answers that a table full of canaries gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from leaks.refusal_bench import Bench

from dpengine.released.compare import Comparable, compare


def asked(bench: Bench, key: str, **given: Any) -> list[Comparable]:
    bench.table.ask(bench.ask(key, **given))
    return bench.table.figures(bench.table.history(1)[0])


def silent(found: list[Comparable]) -> list[Comparable]:
    """As if nothing could be said of them: which answers those are is a matter of chance."""
    return [replace(one, tells=False) for one in found]


def two(bench: Bench, tells: bool = True) -> list[Comparable]:
    found = [*asked(bench, "count", where=[["far", "<=", 3]]), *asked(bench, "count", where=[["far", ">", 3]])]
    return found if tells else silent(found)


CAUSES: dict[str, Callable[[Bench], Any]] = {
    "compare.number": lambda b: compare(two(b)[:1]),
    "compare.tables": lambda b: compare([replace(one, table=str(place)) for place, one in enumerate(two(b))]),
    "compare.units": lambda b: compare([*two(b)[:1], *asked(b, "mean", column="far")]),
    "compare.columns": lambda b: compare(
        [replace(one, unit=("column", str(place), "mean")) for place, one in enumerate(two(b))]
    ),
    "compare.measures": lambda b: compare([replace(one, measure="€k"[place]) for place, one in enumerate(two(b))]),
    "compare.bought": lambda b: compare(
        [*asked(b, "median", column="far", beta="0.3"), *asked(b, "median", column="far", beta="0.3")]
    ),
    "compare.few": lambda b: compare(two(b, tells=False)),
    "compare.few_part": lambda b: compare(silent(asked(b, "histogram", column="home"))),
}
