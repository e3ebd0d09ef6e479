"""Wrong twins of what questions stand on: selection, noise, statistics and the coding of cells."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.declared.conditions import Row
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import MISSING, Number, Schema
from dpengine.intake.encode import _number
from dpengine.noise.coins import Coins, SystemCoins, laplace_scale
from dpengine.statistics.counts import Moments, RowCount
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.need import Need
from tests.planted.checks import (
    check_no_cell_moves_a_sum_too_far,
    check_no_scale_is_below_what_was_asked,
    check_noise_keeps_large_numbers,
    check_selection_takes_the_same_draws,
    check_statistics_are_exact,
    check_the_order_of_rows_does_not_matter,
)
from tests.planted.registry import Planted

SYSTEM = SystemCoins()

# Selection and noise


def choose(coins: Coins, gaps: Any, rate: Fraction) -> Any:
    return coins.choose(gaps, np.ones_like(gaps), rate)


def flip(coins: Coins, gaps: Any, rate: Fraction) -> Any:
    return coins.flip(gaps, rate)


def one_after_the_other(coins: Coins, gaps: Any, rate: Fraction) -> Any:
    """Permute-and-flip as it is told: the worse the scores, the more flips."""
    order = [int(gap) - int(gaps.min()) for gap in gaps]
    while True:
        gap = order.pop(coins.below(len(order)))
        if coins.below(10**9) < 10**9 * float(np.exp(-float(rate) * gap)):
            return gap


class Narrow(SystemCoins):
    """Noise in 32 bits."""

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        return super().laplace(np.array(values).astype(np.int32).tolist(), scale)


# Statistics

_ENGINE = DuckEngine()


def by_the_engine(need: Need, rows: list[Row], schema: Schema) -> Any:
    arrays = [pa.array([row[name] for row in rows], pa.int32()) for name in schema.columns]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coded.parquet"
        pq.write_table(pa.table(arrays, names=[f"c{place}" for place in range(len(arrays))]), path)
        return _ENGINE.read(need, path, schema)


def _added_in(kind: Any) -> Any:
    """Sums whose every step is rounded, or wraps, as this kind of number does."""

    def read(need: Need, rows: list[Row], schema: Schema) -> Any:
        if not isinstance(need, Moments):
            assert isinstance(need, RowCount)
            return len(rows)
        codes = np.array([row[need.column] for row in rows if row[need.column] != MISSING], dtype=np.int64)
        y = (2 * codes - (need.size - 1)).astype(kind)
        return tuple(int(np.add.accumulate(y**power, dtype=kind)[-1]) for power in range(need.degree + 1))

    return read


# Cells


def clipped(column: Number) -> Any:
    return _number(column, Dialect())


def unclipped(column: Number) -> Any:
    """A cell beyond the declared bounds keeps its value."""

    def codes(texts: list[str]) -> list[int]:
        found = []
        for text in texts:
            try:
                found.append(round((Fraction(text) - column.lower) / column.step))
            except ValueError:
                found.append(MISSING)
        return found

    return codes


PLANTED = [
    Planted(
        "a selection whose draws depend on the scores",
        "Flips go on until one comes up, so time tells the scores.",
        check_selection_takes_the_same_draws,
        "depends on the scores",
        flip,
        one_after_the_other,
    ),
    Planted(
        "32-bit overflow",
        "A sum wraps at 32 bits, so one person can move it by four billion.",
        check_statistics_are_exact,
        "not what it means",
        by_the_engine,
        _added_in(np.int32),
    ),
    Planted(
        "a noise scale rounded down",
        "The scale is rounded to the nearest float, which may lie below it.",
        check_no_scale_is_below_what_was_asked,
        "below",
        laplace_scale,
        float,
    ),
    Planted(
        "32-bit noise",
        "The number is cut to 32 bits before its noise is added.",
        check_noise_keeps_large_numbers,
        "another one",
        SYSTEM,
        Narrow(),
    ),
    Planted(
        "a sum with rounding errors",
        "A sum in floats changes with the order of the rows.",
        check_the_order_of_rows_does_not_matter,
        "order of the rows",
        by_the_engine,
        _added_in(np.float32),
        also=((check_statistics_are_exact, "not what it means"),),
    ),
    Planted(
        "un-clipped sums",
        "A cell beyond the declared bounds enters the sum as it is.",
        check_no_cell_moves_a_sum_too_far,
        "moves the sum",
        clipped,
        unclipped,
    ),
]
