"""How long the server works on a change of page: `python -m bench.pages`.

A visitor with a table of 30,000 people and a few answers goes from page to page, without a browser. Each change is one
run of the whole script, the frame with it; of several the best is told, since other work on the machine only adds.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from typing import Any

from bench.measure import drawn
from bench.tasks import ROOT

TIMES = 5
LIMIT = 0.5  # seconds
PEOPLE = 30_000
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("median", {"column": "age", "epsilon": "0.05"}),
    ("mean", {"column": "hours", "epsilon": "0.05"}),
    ("histogram", {"column": "schooling", "epsilon": "0.05"}),
    ("count", {"where": [["age", ">=", 65]], "epsilon": "0.05"}),
    ("overview", {"against": ["schooling"], "epsilon": "0.1"}),  # the page of first looks shows its board
)


def main() -> int:
    """One line for each page; 1 where any took longer than it may."""
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ALLOWANCE_HOME"] = folder
        sys.path.insert(0, str(ROOT))
        _declare(folder)
        found = measure(names)
    for name, best in found.items():
        print(f"{name:12} {best * 1000:6.0f} ms{'   too long' if best > LIMIT else ''}")
    return int(any(best > LIMIT for best in found.values()))


def measure(names: list[str]) -> dict[str, float]:
    """By page: the shortest of several changes to it, in seconds."""
    from streamlit.testing.v1 import AppTest

    from ui.shell import nav, speed

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=300)
    app.query_params["table"] = "census"
    app.run()
    speed.settle(again=True)
    found = {}
    for name in names or nav.NAMES:
        times = []
        for _ in range(TIMES):
            _open(app, "thesis" if name != "thesis" else "lessons")
            gc.collect()
            began = time.perf_counter()
            _open(app, name)
            times.append(time.perf_counter() - began)
        found[name] = min(times)
    return found


def _open(app: Any, name: str) -> None:
    for key in list(app.query_params):
        del app.query_params[key]
    if name not in ("start", "lessons", "thesis"):
        app.query_params["table"] = "census"
    app.switch_page(str(ROOT / "pages" / f"{name}.py")).run()
    drawn(app, name)


def _declare(folder: str) -> None:
    """A census-like table, and what was asked of it."""
    import numpy as np
    import pandas as pd

    import dpengine as dp

    draw = np.random.default_rng(1)  # made-up people: nothing here is private
    levels = ["primary", "secondary", "vocational", "bachelor", "master", "doctor"]
    numbers = {f"amount_{place}": draw.integers(0, 1000, PEOPLE) for place in range(12)}
    rows = {"age": draw.integers(17, 90, PEOPLE), "hours": draw.integers(0, 80, PEOPLE), **numbers}
    rows["schooling"] = draw.choice(levels, PEOPLE)
    columns: dict[str, Any] = {name: dp.Number(0, 1000, step=1) for name in numbers}
    columns |= {"age": dp.Number(0, 100, step=1), "hours": dp.Number(0, 100, step=1)}
    columns["schooling"] = dp.Category(levels, unknown="primary", missing="primary")
    table = dp.open_workspace(folder).add_table(
        "census", pd.DataFrame(rows), schema=dp.Schema(columns), unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6")
    )
    for key, parameters in ASKED:
        table.ask(table.query(key, **parameters))


if __name__ == "__main__":
    sys.exit(main())
