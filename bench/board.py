"""How long the server works on the board of a first look at 60 columns: `python -m bench.board` prints seconds as JSON.

A visitor opens it, clicks bars and turns pages, without a browser. Each is one run of the whole script, the frame with
it, which waits for nothing: told are the seconds of the processor, of TURNS the fewest, since other work on the machine
only adds. Nothing is looked at twice, but where it is said, so that nothing was worked out before: first looks are
opened for the first time, groups were not shown before.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from bench.measure import drawn, must
from bench.tasks import ROOT

TURNS, COLUMNS, PEOPLE = 3, 60, 30_000
LABELS = [f"value {place}" for place in range(8)]
AGAINST = ["list_0", "list_1"]


def reactions() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """What a person does, with addresses that differ from turn to turn."""
    turns = range(TURNS)
    yield "opened for the first time", [{"look": f"look {turn}"} for turn in turns]
    shown = {"look": "look 0"}
    yield "opened again", [shown] * TURNS
    yield "a bar clicked, its pairs bought", [shown | {"by": "list_0", "group": LABELS[turn]} for turn in turns]
    estimated = [{"look": f"look {turn}", "by": f"list_{5 + turn}", "group": LABELS[0]} for turn in turns]
    yield "a bar clicked, its pairs estimated", estimated
    yield "as people", [{"look": f"look {turn}", "as": "people"} for turn in turns]
    yield "another page", [shown | {"page": str(2 + turn)} for turn in turns]
    yield "a column in full", [shown | {"of": f"list_{turn}"} for turn in turns]
    yield "the form of another first look", [{"new": "1"}] * TURNS


def measure() -> dict[str, Any]:
    from streamlit.testing.v1 import AppTest

    from ui.shell import speed

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=300)
    app.query_params["table"] = "wide"
    app.run()
    speed.settle(again=True)
    _open(app, "thesis", {})
    found = {}
    for name, addresses in reactions():
        times = []
        for address in addresses:
            gc.collect()
            began = time.process_time()
            _open(app, "board", address)
            times.append(time.process_time() - began)
        found[name] = min(times)
    return {"columns": COLUMNS, "turns": TURNS, "times": found}


def _open(app: Any, page: str, address: dict[str, str]) -> None:
    for key in list(app.query_params):
        del app.query_params[key]
    for key, value in ({"table": "wide"} | address).items():
        app.query_params[key] = value
    app.switch_page(str(ROOT / "pages" / f"{page}.py")).run()
    shown = drawn(app, address)
    must("look" not in address or LABELS[0] in shown, f"{address}: the board of that first look was not drawn.")


def declare(folder: str) -> None:
    """40 numbers and 20 lists; nobody is described."""
    import numpy as np
    import pandas as pd

    import dpengine as dp

    draw, numbers = np.random.default_rng(1), COLUMNS - 20
    rows: dict[str, Any] = {f"amount_{at}": draw.integers(0, 1000, PEOPLE) for at in range(numbers)}
    columns: dict[str, Any] = {name: dp.Number(0, 1000, step=1) for name in rows}
    for at in range(20):
        rows[f"list_{at}"] = draw.choice(LABELS, PEOPLE)
        columns[f"list_{at}"] = dp.Category(LABELS, unknown=LABELS[0], missing=LABELS[0])
    table = dp.open_workspace(folder).add_table(
        "wide", pd.DataFrame(rows), schema=dp.Schema(columns), unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6")
    )
    for turn in range(TURNS):
        table.ask(table.query("overview", against=AGAINST, epsilon=f"0.0{4 + turn}"), f"look {turn}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        os.environ["ALLOWANCE_HOME"] = made
        sys.path.insert(0, str(ROOT))
        declare(made)
        print(json.dumps(measure()))
