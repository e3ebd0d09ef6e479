"""diffprivlib's logistic regression, run by `bench.utility.models` in the peers' own environment: it and numpy.

    python -m bench.utility.models_peer FILE.npz RUNS EPSILON ...

The file has the scaled rows and answers of the people and of others. Prints, for every ε and every C (its strength of
regularisation, of which the best is no secret here), the share of the others that each run guesses right.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np

STRENGTHS = (1.0, 10.0, 100.0)


def main(path: str, runs: str, *epsilons: str) -> None:
    from diffprivlib.models import LogisticRegression

    warnings.simplefilter("ignore")
    kept = np.load(path)
    rows, own, there, owns = (kept[name] for name in ("rows", "own", "there", "owns"))
    found: dict[str, list[float]] = {}
    for epsilon in epsilons:
        for strength in STRENGTHS:
            rights = []
            for _ in range(int(runs)):
                given = {"epsilon": float(epsilon), "data_norm": 1.0, "C": strength, "max_iter": 1000}
                model = LogisticRegression(fit_intercept=False, **given).fit(rows, own)
                rights.append(float(((there @ model.coef_.ravel() > 0) == owns).mean()))
            found[f"{epsilon} {strength:g}"] = rights
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
