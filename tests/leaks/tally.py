"""What the scan looked at, for `make audit`: build/audit/leaks.json, one row per exit."""

from __future__ import annotations

from leaks.canaries import Scan
from sections import add_rows

COLUMNS = ["what was searched", "pieces", "bytes", "canaries", "found"]


def tell(scan: Scan, of: str) -> None:
    """One row for each exit of this part of the scan."""
    told = scan.exits.items()
    add([[f"{of}: {exit}", one.pieces, one.size, len(scan.canaries), len(one.found)] for exit, one in told])


def add(rows: list[list[object]]) -> None:
    add_rows("leaks", "Leak scan", COLUMNS, rows)
