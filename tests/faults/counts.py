"""How often each fault was played and what it did, for the report of `make audit`: build/audit/faults.json."""

from __future__ import annotations

from sections import add_rows

COLUMNS = ["fault", "times", "uncharged releases", "lost answers", "double draws", "budget freed"]


def note(fault: str, times: int, uncharged: int = 0, lost: int = 0, double: int = 0, freed: int = 0) -> None:
    add_rows("faults", "Faults", COLUMNS, [[fault, times, uncharged, lost, double, freed]])
