"""A table published row by row: how long, and how much memory; beside peers that draw the same noise for an array.

`python -m bench.publishing ours 1000000` prints JSON. Allowance publishes two columns from end to end: the charge, the
coded file, exact noise, random order, a Parquet file and its SHA-256. The peers add discrete Laplace noise of the same
scale to one column of integers in memory, and nothing else: OpenDP to the whole vector, diffprivlib row by row.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.data import read
from bench.measure import must, peak_mb
from bench.tasks import BUILD, GRID

EPSILON = 1
ROWS = 10**6
WHO = {"ours": ("Allowance", False), "opendp": ("OpenDP", False), "diffprivlib": ("diffprivlib", True)}


def ours(rows: int) -> Callable[[], Any]:
    import dpengine as dp

    table = dp.open_workspace(BUILD / str(rows) / "var").table("bench")
    query = table.query("publish_table", columns=["amount", "state"], epsilon=str(2 * EPSILON))
    return lambda: table.ask(query)


def opendp(rows: int) -> Callable[[], Any]:
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    amounts = read(BUILD / str(rows) / "rows.parquet")["amount"]
    noise = make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=(GRID - 1) / EPSILON)
    return lambda: noise(amounts)


def diffprivlib(rows: int) -> Callable[[], Any]:
    from diffprivlib.mechanisms import Geometric

    amounts = read(BUILD / str(rows) / "rows.parquet")["amount"].tolist()
    noise = Geometric(epsilon=EPSILON, sensitivity=GRID - 1)
    return lambda: [noise.randomise(amount) for amount in amounts]


def measure(who: str, rows: int) -> dict[str, Any]:
    work = {"ours": ours, "opendp": opendp, "diffprivlib": diffprivlib}[who](rows)
    before, began = peak_mb(), time.perf_counter()
    made = work()
    seconds = time.perf_counter() - began
    many = made.value["rows"] if who == "ours" else len(made)
    must(many == rows, f"{who}: {many:,} rows were published of {rows:,}.")
    return {"rows": rows, "seconds": seconds, "before_mb": before, "peak_mb": peak_mb()}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
