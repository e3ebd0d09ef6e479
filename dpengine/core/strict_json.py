"""Strict JSON, for what comes from outside: an address, a request, a file."""

from __future__ import annotations

import json
import math

from dpengine.core.types import Json, JsonObject

# Canonical JSON, so that equal data have equal hashes.


def canonical(data: Json) -> str:
    """Sorted keys, no spaces, plain Unicode."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


MOST_DEEP = 64  # far more than anything that is meant, far less than makes a reader fail


def read_strict(text: str, deepest: int = MOST_DEEP, largest: int | None = None) -> Json:
    """A repeated name could show a reader one value and a program another; NaN is no JSON, 1e400 is no number, half a
    character cannot be written, and what is nested too deeply makes whoever reads it fail. Whole numbers stay below
    `largest`, where one is given. Raises ValueError."""
    try:
        parsed = json.loads(text, object_pairs_hook=_once, parse_constant=_never, parse_float=_finite)
    except RecursionError:
        raise ValueError from None
    if not _readable(parsed, deepest, largest):
        raise ValueError
    return parsed


def _readable(parsed: Json, deepest: int, largest: int | None) -> bool:
    level: list[Json] = [parsed]
    for _ in range(deepest):
        inner: list[Json] = []
        for one in level:
            if isinstance(one, dict):
                inner += [*one.keys(), *one.values()]
            elif isinstance(one, list):
                inner += one
            elif (isinstance(one, str) and any("\ud800" <= sign <= "\udfff" for sign in one)) or (
                isinstance(one, int) and largest is not None and abs(one) >= largest
            ):
                return False
        if not (level := inner):
            return True
    return False


def _once(pairs: list[tuple[str, Json]]) -> JsonObject:
    parsed = dict(pairs)
    if len(parsed) != len(pairs):
        raise ValueError
    return parsed


def _never(word: str) -> Json:
    raise ValueError


def _finite(digits: str) -> float:
    parsed = float(digits)
    if not math.isfinite(parsed):
        raise ValueError
    return parsed
