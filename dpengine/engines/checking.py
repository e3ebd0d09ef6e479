"""A model's check as one aggregate: every row's margin, its bin, and how far off it is, in exact integers."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.engines import descent
from dpengine.features import WEIGHT_BITS
from dpengine.modelneeds import ONE, Graded, OfModel

Integers = npt.NDArray[np.int64]


def asked(need: OfModel, rows: Any, names: dict[str, str]) -> dict[str, Any]:
    """Rows grouped by bin (and side), and the sums to be taken of each group."""
    import ibis

    layout = need.layout
    kept = descent.counted(descent.beside_weights(rows, layout), names, layout)
    kept = kept.mutate(margin=descent.margin(kept, names, layout), target=descent.target(kept, names, layout))
    kept = kept.mutate(bin=_bin(kept.margin, need.edges))
    if isinstance(need, Graded):
        return {"rows": kept.group_by(kept.bin, miss=1 - kept.target), "sums": {"rows": kept.count()}}
    away = kept.target * 2**WEIGHT_BITS - kept.margin.clip(-ONE, ONE)
    steps = (away.abs() + 2 ** (need.shift - 1)) >> ibis.literal(need.shift, "int64")
    kept = kept.mutate(off=steps.clip(0, need.most) * away.sign())
    sums = {"s0": kept.count(), "s1": kept.off.sum(), "s2": (kept.off * kept.off).sum()}
    return {"rows": kept.group_by(kept.bin), "sums": sums}


def _bin(margin: Any, edges: tuple[int, ...]) -> Any:
    """How many edges lie at the margin or below it."""
    return reduce(add, [(margin >= edge).ifelse(1, 0).cast("int64") for edge in edges])


def shaped(need: OfModel, found: dict[str, Integers]) -> tuple[int, ...]:
    """Every bin, the empty ones too."""
    bins = len(need.edges) + 1
    if isinstance(need, Graded):
        counts = np.zeros(2 * bins, dtype=np.int64)
        counts[2 * found["bin"] + found["miss"]] = found["rows"]
        return tuple(counts.tolist())
    sums = np.zeros((bins, 2), dtype=np.int64)
    sums[found["bin"], 0], sums[found["bin"], 1] = found["s0"], found["s1"]
    return (int(found["s2"].sum()), *sums.ravel().tolist())
