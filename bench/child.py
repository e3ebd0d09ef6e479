"""One contender at one size, in a process of its own: `python -m bench.child ours 100000 [questions to leave out]`.

Prints one line of JSON. A question that a contender does not offer or that fails is told with its reason.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import time
import warnings
from typing import Any

from bench.measure import peak_mb, timed
from bench.tasks import BUILD, TASKS


def main(key: str, rows: int, left_out: set[str]) -> dict[str, Any]:
    contender = importlib.import_module(f"bench.contenders.{key}")
    began = time.perf_counter()
    offered = contender.questions(BUILD / str(rows), rows)
    report: dict[str, Any] = {"load": time.perf_counter() - began, "tasks": {}, "versions": contender.versions()}
    for task in TASKS:
        if task in left_out or task not in offered:
            continue
        try:
            report["tasks"][task] = timed(offered[task])
        except Exception as error:
            report["tasks"][task] = {"failed": f"{type(error).__name__}: {str(error).strip()[:200]}"}
    return report | {"peak_mb": peak_mb()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        told = main(sys.argv[1], int(sys.argv[2]), set(sys.argv[3:]))
    print(json.dumps(told))
