"""Other tools' private models, run by `bench.utility.models` in their own environment: they and numpy.

    python -m bench.utility.models_peer FILE.npz ENDS RUNS EPSILON ...

The file has the rows of the people and of others, scaled and as they are, and their answers; ENDS the public ranges of
the columns as they are, null for a list. Prints, for every ε and tool, what each run guesses right, and its area.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np

from bench.utility.roc import area

Told = dict[str, list[float]]
STRENGTHS = (1.0, 10.0, 100.0)
DELTA = 1e-6


def main(path: str, ends: str, runs: str, *epsilons: str) -> None:
    warnings.simplefilter("ignore")
    kept, found = np.load(path), {}
    for epsilon in epsilons:
        for strength in STRENGTHS:
            found[f"{epsilon} diffprivlib, C = {strength:g}"] = _logistic(kept, float(epsilon), strength, int(runs))
        found[f"{epsilon} DP-EBM"] = _boosted(kept, json.loads(ends), float(epsilon), int(runs))
    print(json.dumps(found))


def _logistic(kept: Any, epsilon: float, strength: float, runs: int) -> Told:
    from diffprivlib.models import LogisticRegression  # type: ignore[import-not-found]

    told = []
    for _ in range(runs):
        given = {"epsilon": epsilon, "data_norm": 1.0, "C": strength, "max_iter": 1000}
        model = LogisticRegression(fit_intercept=False, **given).fit(kept["rows"], kept["own"])
        told.append(kept["there"] @ model.coef_.ravel())
    return _judged(told, kept["owns"])


def _boosted(kept: Any, ends: list[Any], epsilon: float, runs: int) -> Told:
    from interpret.privacy import DPExplainableBoostingClassifier  # type: ignore[import-not-found]

    kinds = ["nominal" if one is None else "continuous" for one in ends]
    bounds = {place: tuple(one) for place, one in enumerate(ends) if one is not None}
    told = []
    for _ in range(runs):
        model = DPExplainableBoostingClassifier(
            feature_types=kinds, epsilon=epsilon, delta=DELTA, privacy_bounds=bounds, n_jobs=1
        )
        model.fit(kept["bare"], kept["own"])
        told.append(model.predict_proba(kept["others"])[:, 1] - 0.5)
    return _judged(told, kept["owns"])


def _judged(told: list[Any], owns: Any) -> Told:
    yes = owns == 1
    return {
        "right": [float(((said > 0) == yes).mean()) for said in told],
        "area": [area(said, yes) for said in told],
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
