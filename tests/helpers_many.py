"""Run by itself, under a limit of memory: every page over a table with a list of very many values.

`python tests/helpers_many.py FOLDER VALUES MEGABYTES [PAGES]` prints one JSON line for each page: its name, its
address, the bytes it sends and the most bars or ranges in one of its pictures.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ROWS = 600
PLAN = json.dumps(
    [
        ["histogram", {"column": "C", "epsilon": "0.1"}, "20", 0],
        ["mean", {"column": "pay", "by": "C", "epsilon": "0.1"}, "20", 0],
    ]
)
OF = json.dumps([["pay", ">", 3]])
WHERE = json.dumps([["C", "in", ["v 0001"]]])
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("ask", {"q": "histogram", "column": "C"}),
    ("ask", {"q": "mean", "column": "pay", "by": "C"}),
    ("ask", {"answer": "bars"}),
    ("ask", {"answer": "means"}),
    ("answers", {"view": "ledger"}),
    ("answers", {}),
    ("tables", {}),
    ("data", {}),
    ("ask", {"q": "histogram", "column": "S"}),
    ("ask", {"q": "count", "by": "C"}),
    ("ask", {"answer": "sets"}),
    ("ask", {"q": "median", "column": "pay", "by": "C"}),
    ("ask", {"q": "sum", "column": "pay", "by": "C"}),
    ("ask", {"q": "proportion", "by": "C", "of": OF}),
    ("ask", {"q": "top_item", "column": "C"}),
    ("ask", {"q": "top_item", "column": "S"}),
    ("ask", {"q": "count", "where": WHERE}),
    ("ask", {"q": "noisy_argmax"}),
    ("ask", {"q": "crosstab", "columns": '["C", "two"]'}),
    ("ask", {"q": "find_declarations", "lists": "C"}),
    ("ask", {"q": "shuffle_histogram", "column": "C"}),
    ("ask", {"q": "local_count", "of": WHERE}),
    ("data", {"change": "1"}),
    ("data", {"table": ""}),
    ("start", {}),
    ("several", {"view": "after"}),
    ("several", {}),
    ("several", {"plan": PLAN}),
    ("whatif", {"from": "table", "q": "histogram", "column": "C"}),
    ("whatif", {"from": "table", "q": "mean", "column": "pay", "by": "C"}),
    ("audit", {}),
    ("publish", {"columns": '["C", "pay"]', "epsilon": "1"}),
    ("publish", {"published": "rows", "of": "C"}),
    ("synthetic", {"columns": '["C", "two"]', "epsilon": "1"}),
    ("synthetic", {"columns": '["two", "pay"]', "epsilon": "1"}),
    ("train", {"target": "pay", "features": '["C"]', "share": "50"}),
    ("train", {"target": "C", "features": '["pay"]', "share": "50"}),
    ("lessons", {}),
    ("thesis", {}),
)


def table_of(folder: Path, many: int) -> Any:
    import pandas as pd

    import dpengine as dp

    values = [f"v {place:04}" for place in range(many)]
    frame = pd.DataFrame(
        {
            "C": [values[place] for place in range(ROWS)],
            "pay": [str(place % 101) for place in range(ROWS)],
            "S": [f"{values[place]}|{values[-place]}" for place in range(ROWS)],
            "two": ["a", "b"] * (ROWS // 2),
        }
    )
    schema = dp.Schema(
        {
            "C": dp.Category(values),
            "pay": dp.Number(0, 100),
            "S": dp.ItemSet(values, "|", 2),
            "two": dp.Category(["a", "b"]),
        }
    )
    terms = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("50", "1e-6")}
    return dp.open_workspace(folder).add_table("T", frame, **terms)


def pictures(proto: Any) -> Iterator[int]:
    """How many bars, bands and lines each picture of a page has."""
    for drawn in str(getattr(proto, "body", "")).split('<div class="drawn')[1:]:
        image = b64decode(drawn.partition("data:image/svg+xml;base64,")[2].partition('"')[0]).decode()
        yield image.count("<rect ") + drawn.count('<i style="')


def main(folder: str, many: int, pages: int) -> None:
    from leaks import exits, walk

    table = table_of(Path(folder), many)
    asked = {
        "bars": ("histogram", {"column": "C"}),
        "means": ("mean", {"column": "pay", "by": "C"}),
        "sets": ("histogram", {"column": "S"}),
        "rows": ("publish_table", {"columns": ["C"]}),
    }
    for request, (key, given) in list(asked.items())[: 2 if pages < len(PAGES) else None]:
        query = table.query(key, epsilon="1", **given)
        for again in ("", " again"):
            table.ask(query, request + again)
    for name, given in PAGES[:pages]:
        protos = list(exits.protos(walk.opened(name, {"table": "T"} | given)))
        marks = max((marks for proto in protos for marks in pictures(proto)), default=0)
        print(json.dumps([name, given, sum(proto.ByteSize() for proto in protos), marks]), flush=True)


if __name__ == "__main__":
    limit = int(sys.argv[3]) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    logging.disable(logging.WARNING)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    os.environ["ALLOWANCE_HOME"] = sys.argv[1]
    import ui.shell.state

    ui.shell.state.visitor = lambda: "local"
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[4]) if len(sys.argv) > 4 else len(PAGES))
