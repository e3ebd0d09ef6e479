"""Canonical JSON, so that equal data have equal hashes."""

from __future__ import annotations

import json

from dpengine.core.json_types import Json


def canonical(data: Json) -> str:
    """Sorted keys, no spaces, plain Unicode."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
