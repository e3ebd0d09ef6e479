"""How long one step of a training takes, beside the estimate of `dpengine/planning/training.py`.

python -m bench.step_time
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.declared.schema import Category, Number, Schema
from dpengine.planning.training import step_seconds
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.features import Layout
from dpengine.statistics.model_needs import GradientSum

NAMES = ("a", "b", "list")
TIMES = 5


def measured(rows: int, labels: int) -> tuple[int, float]:
    """The weights of such a model, and the seconds of a step; the first, which compiles the statement, does not
    count."""
    rng = np.random.default_rng(1)
    names = [str(place) for place in range(labels)]
    schema = Schema(
        {
            "a": Number(0, 1000),
            "b": Number(0, 1000),
            "list": Category(names, unknown=names[0], missing=names[0]),
            "goal": Category(["yes", "no"], unknown="no", missing="no"),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coded.parquet"
        codes = [pa.array(rng.integers(0, column.size, rows).astype("int16")) for column in schema.columns.values()]
        pq.write_table(pa.table({f"c{place}": column for place, column in enumerate(codes)}), path)
        columns = (schema.number("a"), schema.number("b"), schema.category("list"))
        layout = Layout(NAMES, columns, "goal", schema.category("goal"), (0,), (1,))
        engine, took = DuckEngine(), 0.0
        for place in range(TIMES + 1):
            weights = tuple(rng.integers(-(2**24), 2**24, layout.width).tolist())
            began = time.perf_counter()
            engine.read(GradientSum(layout, weights, 2**24, 24), path, schema)
            took += time.perf_counter() - began if place else 0.0
    return layout.width, took / TIMES


def main() -> None:
    print("rows        weights  seconds a step  estimated")
    for rows in (1_000, 100_000, 1_000_000):
        for labels in (5, 40):
            width, took = measured(rows, labels)
            print(f"{rows:<11,} {width:<8} {took:<15.3f} {step_seconds(rows, width):.3f}")


if __name__ == "__main__":
    main()
