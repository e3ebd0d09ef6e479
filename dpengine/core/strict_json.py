"""Strict JSON, for what comes from outside."""

from __future__ import annotations

import json
import math

from dpengine.core.json_types import Json, JsonObject


def read_strict(text: str) -> Json:
    """A repeated name could show a reader one value and a program another; NaN is no JSON, and 1e400 is no number.
    Raises ValueError, or RecursionError for what is nested too deeply."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_never, parse_float=_finite)


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
