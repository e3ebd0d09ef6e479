"""The error of Allowance and of OpenDP: `python -m bench.accuracy_ours` prints JSON.

Allowance  is asked with the relation in question; its ε is for that relation.
OpenDP     speaks of the symmetric distance: add/remove is 1 of it, replace-one 2. Each scale below is chosen so that
           the measurement's own map gives ε (or ρ), and that is checked. Its noisy max under ε adds exponential
           noise, which is permute-and-flip and beats the exponential mechanism; under ρ-zCDP both are the exponential
           mechanism.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from math import isclose
from typing import Any

import numpy as np
from opendp import measurements as m
from opendp.domains import atom_domain, vector_domain
from opendp.measures import max_divergence, zero_concentrated_divergence
from opendp.metrics import l1_distance, linf_distance, symmetric_distance
from opendp.mod import enable_features

import dpengine as dp
from bench.accuracy import (
    ADD_REMOVE,
    CUT,
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
from dpengine.declared.facts import Facts
from dpengine.mechanisms.query import Query
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.need import Spread

COINS = SystemCoins()
PURE, RHO = f"ε = {EPSILON}", f"ρ-zCDP, ρ = {EPSILON**2 / 8:g}"
NAMES = {REPLACE: "replace", ADD_REMOVE: "add_remove"}
TIMES, TIMES_TOP, TIMES_LARGE = 2_000, 10_000, 1_000


def query(relation: str, rows: int, column: Any, key: str, **parameters: Any) -> Query:
    facts = Facts("bench", dp.Schema({"x": column}), dp.Unit.rows(), NAMES[relation], rows)  # type: ignore[arg-type]
    return dp.catalogue[key].build(facts, {"column": "x", "epsilon": str(EPSILON)} | parameters)


def closed(size: int) -> dp.Category:
    values = [str(place) for place in range(size)]
    return dp.Category(values, unknown=values[0], missing=values[0])


def stated(measurement: Any, distance: int, loss: float) -> Any:
    """The measurement, if its own map promises just what the comparison needs."""
    if not isclose(measurement.map(distance), loss, rel_tol=1e-9):
        raise ValueError(f"the map gives {measurement.map(distance)}, not {loss}")
    return measurement


def medians() -> Iterator[dict[str, Any]]:
    integers = vector_domain(atom_domain(T="i64"))
    for name, values in median_tables().items():
        error, case = rank_error(values), f"median rank error: {name}"
        spread = Spread(*(part.astype(np.int64) for part in np.unique(values, return_counts=True)))
        times = TIMES if len(values) <= 10_000 else TIMES_LARGE
        for relation in RELATIONS:
            column = dp.Number(0, GRID - 1, missing=0)
            alone = query(relation, len(values), column, "median", with_range=False)
            ranged = query(relation, len(values), column, "median")

            def ours(asked: Query, spread: Spread = spread, error: Any = error) -> float:
                return error(asked.release(spread, COINS).value)

            note = "the point and a range; no peer gives a range"
            flip = alone.with_noise("permute_and_flip")  # what the app takes where ε binds
            yield line(case, relation, PURE, "Allowance", again(times, lambda q=flip: ours(q)))
            yield line(case, relation, PURE, "Allowance, exponential", again(times, lambda q=alone: ours(q)))
            yield line(case, relation, PURE, "Allowance, with range", again(times, lambda q=ranged: ours(q)), note=note)
            rows = 2 if relation == REPLACE else 1
            made = m.make_private_quantile(
                integers, symmetric_distance(), max_divergence(), list(range(GRID)), 0.5, rows / EPSILON
            )
            their = stated(made, rows, EPSILON)
            yield line(case, relation, PURE, "OpenDP", again(times, lambda t=their, v=values, e=error: e(t(v))))


def tops() -> Iterator[dict[str, Any]]:
    integers = vector_domain(atom_domain(T="i64"))
    for name, counts in top_tables().items():
        case = f"chance of the true top item: {name}"
        for relation in RELATIONS:
            moves = 2 if relation == REPLACE else 1
            near = linf_distance(T="i64", monotonic=relation == ADD_REMOVE)
            asked = query(relation, int(counts.sum()), closed(len(counts)), "top_item")
            told = tuple(counts.tolist())

            def ours(asked: Query, told: tuple[int, ...] = told) -> float:
                return float(asked.release(told, COINS).value == "0")

            # The app picks by the clause that binds: under ε permute-and-flip; the exponential mechanism, which as
            # ε-bounded range is also ε²/8-zCDP, where Rényi loss counts.
            flip = asked.with_noise("permute_and_flip")
            yield line(case, relation, PURE, "Allowance", again(TIMES_TOP, lambda q=flip: ours(q)), MORE)
            drawn = list(again(TIMES_TOP, lambda q=asked: ours(q)))
            note = "one exponential mechanism holds both guarantees"
            yield line(case, relation, PURE, "Allowance, exponential", drawn, MORE, note=note)
            yield line(case, relation, RHO, "Allowance", drawn, MORE)
            scale = moves / EPSILON
            for measure, guarantee, loss in (
                (max_divergence(), PURE, EPSILON),
                (zero_concentrated_divergence(), RHO, EPSILON**2 / 8),
            ):
                their = stated(m.make_noisy_max(integers, near, measure, scale), 1, loss)
                draws = again(TIMES_TOP, lambda t=their, c=counts: float(t(c) == 0))
                yield line(case, relation, guarantee, "OpenDP", draws, MORE)


def histograms() -> Iterator[dict[str, Any]]:
    integers = vector_domain(atom_domain(T="i64"))
    for name, values in histogram_tables().items():
        case, bars = f"histogram mean absolute error: {name}", bars_of(name)
        truth = np.bincount(values, minlength=bars)
        error = mean_error(truth)
        for relation in RELATIONS:
            asked = query(relation, len(values), closed(bars), "histogram")
            changed = asked.sensitivity().bound
            drawn = [list(asked.draw(tuple(truth.tolist()), COINS)) for _ in range(TIMES)]
            yield line(case, relation, PURE, "Allowance", map(error, drawn))
            note = "free post-processing; the app shows the unbiased counts"
            cut = [np.maximum(one, 0) for one in drawn]
            yield line(case, relation, PURE, f"Allowance, {CUT}", map(error, cut), note=note)
            made = m.make_laplace(integers, l1_distance(T="i64"), float(Fraction(changed) / Fraction(str(EPSILON))))
            their = stated(made, changed, EPSILON)
            yield line(case, relation, PURE, "OpenDP", again(TIMES, lambda t=their, e=error, c=truth: e(t(c))))


if __name__ == "__main__":
    enable_features("contrib")
    print(json.dumps([*medians(), *tops(), *histograms()]))
