"""Allowance beside plain DuckDB, taking turns in one process: `python -m bench.beside 10000000` prints JSON.

Whatever else the machine does meets all of them alike, so their ratios can be trusted where separate runs cannot.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
from typing import Any

from bench.measure import once
from bench.tasks import BUILD, TASKS

SIDES = ("ours", "own_duckdb", "bare_duckdb")
TURNS = 25


def main(rows: int) -> dict[str, dict[str, float]]:
    """By side and question: the median of TURNS times, after one that does not count."""
    modules = {side: importlib.import_module(f"bench.contenders.{side}") for side in SIDES}
    offered: dict[str, Any] = {side: one.questions(BUILD / str(rows), rows) for side, one in modules.items()}
    found: dict[str, dict[str, float]] = {side: {} for side in SIDES}
    for task in TASKS:
        rounds = [[once(offered[side][task]) for side in SIDES] for _ in range(TURNS + 1)]
        for side, *times in zip(SIDES, *rounds[1:], strict=True):
            found[side][task] = statistics.median(times)
    return found


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
