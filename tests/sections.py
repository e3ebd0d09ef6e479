"""What a suite found, for the report of `make audit`: one file of rows under build/audit."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "audit"


def add_rows(section: str, title: str, columns: list[str], rows: list[list[object]]) -> None:
    """Rows of the same name are replaced: the file holds what the last run of each part found. Several test processes
    write at once."""
    target = FOLDER / f"{section}.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            held = json.loads(target.read_text(encoding="utf-8"))["rows"]
        except (OSError, ValueError, LookupError):
            held = []
        merged = {row[0]: row for row in [*held, *rows]}
        told = {"title": title, "columns": columns, "rows": [merged[name] for name in sorted(merged)]}
        target.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
