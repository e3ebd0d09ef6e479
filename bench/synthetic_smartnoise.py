"""AIM and MST by the code of smartnoise-synth and mbi, run by `bench.synthetic_tables` in an environment of their own:

    python -m bench.synthetic_smartnoise FILE.npz AIM|MST EPSILON DELTA SEED OUT.npz

The file has the codes of the people, a row each, and how many values each column has: both know the domain, so nothing
is found on the data. AIM is given all threes of columns, as ours is judged on them; its other settings are the
package's. Neighbours differ in one row more or less. OUT gets as many synthetic rows as there were people, and the
processor's seconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd

DEGREE = 3


def main(path: str, way: str, epsilon: str, delta: str, seed: str, out: str) -> None:
    from mbi import Dataset, Domain
    from snsynth.aim import AIMSynthesizer
    from snsynth.mst import MSTSynthesizer
    from snsynth.utils import cdp_rho

    np.random.seed(int(seed))
    kept, began = np.load(path), time.process_time()
    names = [f"c{place}" for place in range(kept["codes"].shape[1])]
    data = Dataset(pd.DataFrame(kept["codes"], columns=names).values, Domain(names, kept["sizes"].tolist()))
    people = len(kept["codes"])
    if way == "AIM":
        aim = AIMSynthesizer(epsilon=float(epsilon), delta=float(delta), degree=DEGREE)
        aim.rho = cdp_rho(float(epsilon), float(delta))
        aim.AIM(data, aim.get_workload(data, degree=DEGREE, max_cells=aim.max_cells))
        rows = aim.synthesizer.synthetic_data(rows=people)
    else:
        mst = MSTSynthesizer(epsilon=float(epsilon), delta=float(delta))
        mst.MST(data, float(epsilon), float(delta))
        rows = mst.undo_compress_fn(mst.synthesizer.synthetic_data(rows=people))
    table = np.stack([np.asarray(rows.df[name], dtype=np.int64) for name in names], axis=1)
    np.savez(out, rows=table, seconds=time.process_time() - began)


if __name__ == "__main__":
    main(*sys.argv[1:])
