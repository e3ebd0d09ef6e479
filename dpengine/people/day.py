"""The day by which grants end: that of the ledger's own times."""

from __future__ import annotations

from datetime import UTC, datetime


def today() -> str:
    return datetime.now(UTC).date().isoformat()
