"""The error of diffprivlib and smartnoise-sql, in the peers' environment: `python -m bench.accuracy_peers` prints JSON.

diffprivlib     median: its exponential mechanism scores an interval by its rank with sensitivity 1, right for
                replace-one. Under add/remove a score moves by at most 1/2, so it promises ε for twice its parameter.
                Its answers are rounded to the public grid, which costs nothing and never adds to the rank error.
                top item: `monotonic` under add/remove, where all counts move one way.
                histogram: sensitivity 1, right for add/remove; under replace-one two bins change: half its parameter.
                It cuts counts at 0.
smartnoise-sql  states add/remove, and is compared there. It has neither a median nor a selection: the top item is the
                largest of its noisy counts, which all together cost ε.
"""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.accuracy import (
    ADD_REMOVE,
    CUT_TOO,
    MORE,
    RELATIONS,
    REPLACE,
    again,
    bars_of,
    histogram_tables,
    line,
    mean_error,
    median_tables,
    rank_error,
    top_tables,
)
from bench.tasks import EPSILON, GRID

PURE = f"ε = {EPSILON}"
TIMES, TIMES_TOP, TIMES_SMALL, TIMES_LARGE, TIMES_SQL = 500, 10_000, 600, 100, 150


def medians() -> Iterator[dict[str, Any]]:
    from diffprivlib import tools

    for name, values in median_tables().items():
        error, case = rank_error(values), f"median rank error: {name}"
        times = TIMES_SMALL if len(values) <= 10_000 else TIMES_LARGE
        for relation in RELATIONS:
            epsilon = EPSILON if relation == REPLACE else 2 * EPSILON

            def draw(values: Any = values, error: Any = error, epsilon: float = epsilon) -> float:
                return error(round(float(tools.median(values, epsilon=epsilon, bounds=(0, GRID - 1)))))

            yield line(case, relation, PURE, "diffprivlib", again(times, draw), note=f"asked with {epsilon:g}")


def tops() -> Iterator[dict[str, Any]]:
    from diffprivlib.mechanisms import Exponential

    for name, counts in top_tables().items():
        case, utility = f"chance of the true top item: {name}", counts.tolist()
        for relation in RELATIONS:
            mechanism = Exponential(epsilon=EPSILON, sensitivity=1, utility=utility, monotonic=relation == ADD_REMOVE)
            draws = again(TIMES_TOP, lambda chosen=mechanism: float(chosen.randomise() == 0))
            yield line(case, relation, PURE, "diffprivlib", draws, MORE)


def histograms() -> Iterator[dict[str, Any]]:
    from diffprivlib import tools

    for name, values in histogram_tables().items():
        case, bars = f"histogram mean absolute error: {name}", bars_of(name)
        error = mean_error(np.bincount(values, minlength=bars))
        for relation in RELATIONS:
            epsilon = EPSILON if relation == ADD_REMOVE else EPSILON / 2

            def draw(values: Any = values, bars: int = bars, error: Any = error, epsilon: float = epsilon) -> float:
                return error(tools.histogram(values, epsilon=epsilon, bins=bars, range=(-0.5, bars - 0.5))[0])

            note = f"asked with {epsilon:g}; {CUT_TOO}"
            yield line(case, relation, PURE, "diffprivlib", again(TIMES, draw), note=note)


def smartnoise() -> Iterator[dict[str, Any]]:
    import pandas as pd

    from bench.contenders.smartnoise_peer import reader

    def asker(values: Any, bars: int) -> Any:
        private = reader(pd.DataFrame({"amount": values, "state": values}))

        def counts() -> np.ndarray:
            found = np.zeros(bars)
            for code, count in private.execute("SELECT state, COUNT(*) AS n FROM bench.people GROUP BY state")[1:]:
                found[int(code)] = count
            return found

        return counts

    for name, values in histogram_tables().items():
        truth = np.bincount(values, minlength=bars_of(name))
        counts, there = asker(values, len(truth)), truth > 0
        error = mean_error(truth[there])
        case = f"histogram mean absolute error: {name}"
        note = "over the bars that occur: it leaves out the others, which ε does not cover"
        draws = again(TIMES_SQL, lambda c=counts, e=error, t=there: e(c()[t]))
        yield line(case, ADD_REMOVE, PURE, "smartnoise-sql", draws, note=note)
    for name, table in top_tables().items():
        counts = asker(np.repeat(np.arange(len(table)), table), len(table))
        draws = again(TIMES_SQL, lambda c=counts: float(int(c().argmax()) == 0))
        case = f"chance of the true top item: {name}"
        yield line(case, ADD_REMOVE, PURE, "smartnoise-sql", draws, MORE, note="largest noisy count")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    lines: list[dict[str, Any]] = []
    with contextlib.redirect_stdout(sys.stderr):
        for part in (medians, tops, histograms, smartnoise):
            try:
                lines += list(part())
            except ImportError as error:
                print(f"{part.__name__}: {error}")
    print(json.dumps(lines))
