"""Strict JSON for input from outside (an address, a request, a file), and canonical JSON for hashes."""

from __future__ import annotations

import json
import math

from dpengine.core.types import Json, JsonObject

MOST_DEEP = 64  # far more than any real input, far less than makes a reader fail


def canonical(data: Json) -> str:
    """JSON with sorted keys, without spaces, in plain Unicode, so that equal data have equal hashes."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def read_strict(text: str, deepest: int = MOST_DEEP, largest: int | None = None) -> Json:
    """The parsed text. ValueError for a name that occurs twice in an object (two readers could see different values),
    NaN, numbers such as 1e400, lone surrogates, deep nesting, and whole numbers from `largest` on."""
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
        for value in level:
            if isinstance(value, dict):
                inner += [*value.keys(), *value.values()]
            elif isinstance(value, list):
                inner += value
            elif (isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value)) or (
                isinstance(value, int) and largest is not None and abs(value) >= largest
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
