"""All one- and two-way marginals of one made-up table by other tools: `python -m bench.marginals_peers opendp` in the
app's environment, `… smartnoise` in the peers'; prints JSON.

Guarantee       ρ-zCDP, ρ = ½, for all 36 marginals together, each with the same part of it.
OpenDP          its counts by category and its discrete Gaussian noise; its own maps say what scale is needed. A
                replaced row is a symmetric distance of 2 to it, which may move a count by 2, so that its noise is √2
                times what one row for another needs.
smartnoise-sql  a statement for each marginal, asked with ε = 1/6, Laplace noise: ε²/2-zCDP each, and so ρ = ½ together.
                It states add/remove.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from bench.accuracy import ADD_REMOVE, REPLACE

SIZES, PEOPLE, RHO = (9, 16, 7, 15, 6, 5, 2, 2), 32_000, 0.5
PARTS: list[tuple[int, ...]] = [*((at,) for at in range(len(SIZES))), *combinations(range(len(SIZES)), 2)]
DRAWS = {"opendp": 400, "smartnoise": 20}


def people() -> list[Any]:
    """Each column depends on the one before. No cell is nearly empty."""
    draw = np.random.default_rng(20)
    columns = [draw.integers(0, SIZES[0], PEOPLE)]
    for size in SIZES[1:]:
        own = draw.integers(0, size, PEOPLE)
        columns.append(np.where(draw.random(PEOPLE) < 0.5, columns[-1] % size, own))
    return columns


def cells_of(columns: list[Any], part: tuple[int, ...]) -> Any:
    """The cell of every row among all combinations, the last column fastest."""
    codes = np.zeros(PEOPLE, dtype=np.int64)
    for place in part:
        codes = codes * SIZES[place] + columns[place]
    return codes


def truths(columns: list[Any]) -> list[Any]:
    return [np.bincount(cells_of(columns, part), minlength=math.prod(SIZES[at] for at in part)) for part in PARTS]


def line(who: str, relation: str, note: str, draws: int, draw: Callable[[], list[Any]], truth: list[Any]) -> Any:
    """The mean and the largest error of a cell, each with its standard error over the draws."""
    means, largest = [], []
    for _ in range(draws):
        off = np.concatenate(
            [np.abs(np.asarray(found) - counts) for found, counts in zip(draw(), truth, strict=True)], axis=None
        )
        means.append(float(off.mean()))
        largest.append(float(off.max()))
    told = {"who": who, "relation": relation, "note": note, "draws": draws}
    for name, found in (("mean", means), ("largest", largest)):
        told[name] = float(np.mean(found))
        told[f"{name}_error"] = float(np.std(found, ddof=1) / math.sqrt(draws))
    return told


def opendp() -> list[Any]:
    from opendp import measurements as m
    from opendp import transformations as t
    from opendp.domains import atom_domain, vector_domain
    from opendp.metrics import symmetric_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    columns, domain = people(), vector_domain(atom_domain(T="i64"))
    codes = [cells_of(columns, part) for part in PARTS]
    truth, found = truths(columns), []
    for relation, distance in ((ADD_REMOVE, 1), (REPLACE, 2)):
        scale = distance * math.sqrt(len(PARTS) / (2 * RHO))
        made = []
        for counts in truth:
            counted = t.make_count_by_categories(
                domain, symmetric_distance(), list(range(len(counts))), null_category=False, MO="L2Distance<f64>",
                TOA="i64",
            )  # fmt: skip
            made.append(counted >> m.then_gaussian(scale))
        lost = sum(one.map(distance) for one in made)
        if not math.isclose(lost, RHO, rel_tol=1e-6):
            raise ValueError(f"the maps give {lost}, not {RHO}")

        def draw(made: list[Any] = made) -> list[Any]:
            return [one(some) for one, some in zip(made, codes, strict=True)]

        note = "" if relation == ADD_REMOVE else "asked for a symmetric distance of 2"
        found.append(line("OpenDP", relation, note, DRAWS["opendp"], draw, truth))
    return found


def smartnoise() -> list[Any]:
    import pandas as pd
    from snsql import Privacy, from_df

    columns = people()
    names = [f"c{at}" for at in range(len(SIZES))]
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
    listed: dict[str, Any] = {name: {"type": "int"} for name in names}
    known = {"row_privacy": True, "rows": PEOPLE, "censor_dims": False} | listed  # its cells are public
    epsilon = math.sqrt(2 * RHO / len(PARTS))
    metadata = {"": {"bench": {"people": known}}}
    private = from_df(frame, privacy=Privacy(epsilon=epsilon, delta=1e-9), metadata=metadata)

    def draw() -> list[Any]:
        found = []
        for part in PARTS:
            by = ", ".join(names[at] for at in part)
            counts = np.zeros([SIZES[at] for at in part])
            for row in private.execute(f"SELECT {by}, COUNT(*) AS n FROM bench.people GROUP BY {by}")[1:]:
                counts[tuple(int(code) for code in row[:-1])] = row[-1]
            found.append(counts.ravel())
        return found

    note = f"each marginal asked with ε = {epsilon:.3g}"
    return [line("smartnoise-sql", ADD_REMOVE, note, DRAWS["smartnoise"], draw, truths(columns))]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        lines = {"opendp": opendp, "smartnoise": smartnoise}[sys.argv[1]]()
    print(json.dumps(lines))
