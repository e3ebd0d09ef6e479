"""What the scan looked at, for `make audit`: build/audit/leaks.json, one row per exit."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

from leaks.canaries import Scan

TARGET = Path(__file__).resolve().parents[2] / "build" / "audit" / "leaks.json"
COLUMNS = ["what was searched", "pieces", "bytes", "canaries", "found"]


def tell(scan: Scan, of: str) -> None:
    """One row for each exit of this part of the scan."""
    told = scan.exits.items()
    add([[f"{of}: {exit}", one.pieces, one.size, len(scan.canaries), len(one.found)] for exit, one in told])


def add(rows: list[list[object]]) -> None:
    """Rows of the same name are replaced: the file holds what the last run of each part found."""
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    with TARGET.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            held = json.loads(TARGET.read_text(encoding="utf-8"))["rows"]
        except (OSError, ValueError, KeyError):
            held = []
        merged = {row[0]: row for row in [*held, *rows]}
        told = {"title": "Leak scan", "columns": COLUMNS, "rows": [merged[name] for name in sorted(merged)]}
        TARGET.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
