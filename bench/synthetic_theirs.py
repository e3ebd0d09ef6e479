"""AIM and MST by other tools' own code, run by `bench.synthetic_tables` in an environment of each:

    python -m bench.synthetic_theirs smartnoise|opendp FILE.npz AIM|MST EPSILON DELTA RHO SEED OUT.npz

The file has the codes of the people, a row each, and how many values each column has: both know the domain, so nothing
is found on the data. AIM is given all threes of columns, as ours is judged on them; other settings are the packages'.
Neighbours differ in one row more or less. OUT gets as many synthetic rows as there were people, and the processor's
seconds.

smartnoise  smartnoise-synth with mbi: (ε, δ), which it turns into ρ itself. Its noise is numpy's.
opendp      `opendp.extras.mbi`, ρ-zCDP. It adds an empty value to every column; rows with one go to the first value.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

DEGREE = 3


def main(tool: str, path: str, way: str, epsilon: str, delta: str, rho: str, seed: str, out: str) -> None:
    np.random.seed(int(seed))
    kept, began = np.load(path), time.process_time()
    names = [f"c{place}" for place in range(kept["codes"].shape[1])]
    if tool == "opendp":
        rows = opendp(kept["codes"], kept["sizes"].tolist(), names, way, float(rho))
    else:
        rows = smartnoise(kept["codes"], kept["sizes"].tolist(), names, way, float(epsilon), float(delta))
    np.savez(out, rows=rows, seconds=time.process_time() - began)


def smartnoise(codes: Any, sizes: list[int], names: list[str], way: str, epsilon: float, delta: float) -> Any:
    import pandas as pd
    from mbi import Dataset, Domain
    from snsynth.aim import AIMSynthesizer
    from snsynth.mst import MSTSynthesizer
    from snsynth.utils import cdp_rho

    data = Dataset(pd.DataFrame(codes, columns=names).values, Domain(names, sizes))
    if way == "AIM":
        aim = AIMSynthesizer(epsilon=epsilon, delta=delta, degree=DEGREE)
        aim.rho = cdp_rho(epsilon, delta)
        aim.AIM(data, aim.get_workload(data, degree=DEGREE, max_cells=aim.max_cells))
        rows = aim.synthesizer.synthetic_data(rows=len(codes))
    else:
        mst = MSTSynthesizer(epsilon=epsilon, delta=delta)
        mst.MST(data, epsilon, delta)
        rows = mst.undo_compress_fn(mst.synthesizer.synthetic_data(rows=len(codes)))
    return np.stack([np.asarray(rows.df[name], dtype=np.int64) for name in names], axis=1)


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
