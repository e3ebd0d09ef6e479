"""How often each fault was played and what it did, for the report of `make audit`: build/audit/faults.json."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

PLACE = Path(__file__).resolve().parent.parent.parent / "build" / "audit" / "faults.json"
COLUMNS = ["fault", "times", "uncharged releases", "lost answers", "double draws", "budget freed"]


def note(fault: str, times: int, uncharged: int = 0, lost: int = 0, double: int = 0, freed: int = 0) -> None:
    """A fault that was played again replaces its row; several test processes write at once."""
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    with PLACE.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            rows = json.loads(PLACE.read_text(encoding="utf-8"))["rows"]
        except (OSError, ValueError, LookupError):
            rows = []
        rows = sorted([row for row in rows if row[0] != fault] + [[fault, times, uncharged, lost, double, freed]])
        told = {"title": "Faults", "columns": COLUMNS, "rows": rows}
        PLACE.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
