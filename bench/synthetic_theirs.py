"""AIM and MST by other tools' own code, run by `bench.synthetic_tables` in an environment of each:

    python -m bench.synthetic_theirs smartnoise|opendp FILE.npz AIM|MST EPSILON DELTA RHO SEED OUT.npz

The file has the codes of the people, a row each, and how many values each column has: both know the domain, so nothing
is found on the data. AIM is given all threes of columns, as ours is judged on them; other settings are the packages'.
Neighbours differ in one row more or less. OUT gets what is told, and the processor's seconds.

smartnoise  smartnoise-synth with mbi: (ε, δ), which it turns into ρ itself. Its noise is numpy's, and its MST fits to
            the true number of rows without paying for it: hence its smaller error in single columns. Told are the
            marginals of its fitted model, as ours are. Not its rows: mbi 1.1 draws columns that share a parent in step
            with each other (github.com/ryan112358/mbi/pull/145), which makes two-way errors of MST more than ten times
            those of its model, and smartnoise-synth 1.0.8 wants an mbi below 2. Where MST merges rare values, they
            share their cell evenly; 1.0.8 shrinks what was measured of that cell and fits as if it had not, so there
            its own code may be worse than its paper.
opendp      `opendp.extras.mbi`, ρ-zCDP: as many rows as there were people. It adds an empty value to every column; rows
            with one go to the first value.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations
from typing import Any

import numpy as np

DEGREE = 3


def main(tool: str, path: str, way: str, epsilon: str, delta: str, rho: str, seed: str, out: str) -> None:
    np.random.seed(int(seed))
    kept, began = np.load(path), time.process_time()
    names = [f"c{place}" for place in range(kept["codes"].shape[1])]
    if tool == "opendp":
        told = {"rows": opendp(kept["codes"], kept["sizes"].tolist(), names, way, float(rho))}
    else:
        told = smartnoise(kept["codes"], kept["sizes"].tolist(), names, way, float(epsilon), float(delta))
    np.savez(out, **told, seconds=np.array(time.process_time() - began))


def smartnoise(codes: Any, sizes: list[int], names: list[str], way: str, epsilon: float, delta: float) -> Any:
    """By the places of up to three columns, their marginal."""
    from mbi import Dataset, Domain
    from snsynth.aim import AIMSynthesizer
    from snsynth.mst import MSTSynthesizer
    from snsynth.utils import cdp_rho

    kept: dict[str, Any] = {}

    class Mst(MSTSynthesizer):
        def transform_data(self, data: Any, supports: Any) -> Any:
            kept.update(supports)
            return super().transform_data(data, supports)

    data = Dataset(codes, Domain(names, sizes))
    if way == "AIM":
        tool = AIMSynthesizer(epsilon=epsilon, delta=delta, degree=DEGREE)
        tool.rho = cdp_rho(epsilon, delta)
        tool.AIM(data, tool.get_workload(data, degree=DEGREE, max_cells=tool.max_cells))
    else:
        tool = Mst(epsilon=epsilon, delta=delta)
        tool.MST(data, epsilon, delta)
    told = {}
    for many in (1, 2, 3):
        for part in combinations(range(len(names)), many):
            own = [names[place] for place in part]
            cells = np.asarray(tool.synthesizer.project(own).datavector(flatten=False), dtype=float)
            for axis, name in enumerate(own):
                cells = parted(cells, axis, kept[name]) if name in kept else cells
            told[" ".join(map(str, part))] = cells
    return told


def parted(cells: Any, axis: int, held: Any) -> Any:
    """The cells of all values, from those of the values that were held and one, the last, of all others."""
    wide = np.zeros((len(held), cells.shape[axis]))
    wide[np.flatnonzero(held), np.arange(held.sum())] = 1
    if not held.all():
        wide[~held, -1] = 1 / (~held).sum()
    return np.moveaxis(np.tensordot(wide, cells, (1, axis)), 0, axis)


def opendp(codes: Any, sizes: list[int], names: list[str], way: str, rho: float) -> Any:
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    frame = pl.LazyFrame({name: codes[:, place].astype(np.int64) for place, name in enumerate(names)})
    unit, loss = dp.unit_of(contributions=1), dp.loss_of(rho=rho)
    context = dp.Context.compositor(data=frame, privacy_unit=unit, privacy_loss=loss)
    keys = {name: list(range(size)) for name, size in zip(names, sizes, strict=True)}
    asked = context.query(rho=rho).select(*names)
    table = asked.contingency_table(keys=keys, algorithm=getattr(dp.mbi, way)()).release()
    rows = table.synthesize()
    told = np.stack([rows[name].fill_null(0).to_numpy().astype(np.int64) for name in names], axis=1)
    places = np.random.default_rng().integers(0, len(told), len(codes))
    return told if len(told) == len(codes) else told[places]


if __name__ == "__main__":
    main(*sys.argv[1:])
