"""Synthetic tables of a census-like table beside other ways, at the same ρ:

    python -m bench.synthetic_tables [--table census hospital] [--columns 6 14] [--epsilon 1] [--runs 3]
                                     [--only ours …] [--more] [--write]

48,842 made-up people of two tables (`bench.synthetic_people`: the one on which constants were found, and a fresh one),
6 and 14 columns (8 on wish), (ε, 10⁻⁶) for the whole of it, both relations; five runs of 6 columns, one of 14.
Told are the mean and the largest total-variation error over all one-way, all two-way and 200 three-way marginals: the
share of people in other cells than the true ones. ρ is the largest with δ ≤ 10⁻⁶ at ε (Canonne, Kamath, Steinke 2020,
Proposition 12), the same for all.

ours    the question as it is sold, with the plan that it chooses; its released numbers fitted, and the whole rows that
        somebody downloads. Noise from the real samplers
others  `bench.synthetic_peers`: own short readings of the papers, fitted by maximum entropy to all that they measured;
        and `bench.synthetic_theirs`: what smartnoise-synth's and OpenDP's own code gives, for a row added or
        removed, which is their relation: one run of 6 columns. The latter need `python3 -m venv
        build/smartnoise-venv && build/smartnoise-venv/bin/pip install -r bench/requirements-smartnoise.in`, and the
        same with `opendp` for `smartnoise`

With `--write` bench/results-synthetic.md is written anew from what was measured; with `--more` beside what earlier runs
on this machine kept (build/bench/synthetic.json).
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bench.synthetic_peers import WAYS, Marginal, World, shares
from bench.synthetic_people import PEOPLE, TABLES, codes_and_sizes
from bench.tasks import BUILD, ROOT
from dpengine.mechanisms.synthetic.soft_fit import Points, Target

DELTA, PATIENCE, TRIPLES = 1e-6, 1_800, 200
KEPT, RESULTS = BUILD / "synthetic.json", ROOT / "bench" / "results-synthetic.md"
OURS = "ours"
THEIRS = {
    f"{way}, {title}": (tool, way)
    for tool, title in (("smartnoise", "smartnoise-synth"), ("opendp", "OpenDP"))
    for way in ("MST", "AIM")
}
NAMES = (OURS, "ours, as rows", *WAYS, *THEIRS)
RUNS = {6: 5, 8: 1, 14: 1}  # by columns
SMALL = 6  # columns that others' own code is given: of more it takes hours
RELATIONS = {"add_remove": "a row added or removed", "replace": "a row replaced"}


def rho_of(epsilon: float) -> float:
    orders = np.geomspace(1.001, 1e5, 20_000)

    def delta(rho: float) -> float:
        told = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
        return float(np.exp(min(told.min(), 0.0)))

    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) <= DELTA else (low, middle)
    return low


def errors(world: World, told: Marginal) -> dict[str, list[float]]:
    """By how many columns: the mean and the largest."""
    columns, found = range(len(world.sizes)), {}
    triples = list(combinations(columns, 3))
    some = np.random.default_rng(1).permutation(len(triples))[:TRIPLES]
    sets = {"1": [(one,) for one in columns], "2": list(combinations(columns, 2)), "3": [triples[at] for at in some]}
    for many, parts in sets.items():
        try:
            off = [float(np.abs(world.truth(part) / world.people - told(part)).sum()) / 2 for part in parts]
        except KeyError:  # not told at all
            continue
        found[many] = [statistics.mean(off), max(off)]
    return found


def facts_of(world: World, relation: str) -> Any:
    import dpengine as dp
    from dpengine.declared.facts import Facts

    lists = {
        f"c{at}": dp.Category([f"v{one}" for one in range(size)], "v0", "v0") for at, size in enumerate(world.sizes)
    }
    return Facts("bench", dp.Schema(lists), dp.Unit.rows(), relation, world.people)  # type: ignore[arg-type]


def ours(world: World, relation: str, epsilon: float) -> Iterator[tuple[str, dict[str, Any]]]:
    import dpengine as dp
    from dpengine.core.exact import text_of
    from dpengine.mechanisms.synthetic.plans import CHOSEN
    from dpengine.noise.coins import SystemCoins
    from dpengine.released.synthetic import MOST_THREES
    from dpengine.released.synthetic_fit import fitted, whole_rows

    spent = text_of(Fraction(math.floor(1e6 * math.sqrt(2 * rho_of(epsilon))), 10**6))  # ε of the form: ρ = ε²/2
    facts, began = facts_of(world, relation), time.process_time()
    query: Any = dp.catalogue["synthetic_table"].build(facts, {"columns": list(facts.schema.columns), "epsilon": spent})
    value = [world.truth(part).astype(np.int64).ravel().tolist() for part in query.largest]
    raw = query.draw(value, SystemCoins())
    told, noise = query.marginals(raw), query.noise_in(raw)
    targets = [Target(part, cells, float(query.layout.variance(part, noise))) for part, cells in told.items()]
    rows = world.people if query.layout.known else max(round(float(told[(0,)].sum())), 1)
    points = fitted(world.sizes, targets, float(rows), 1, alike=query.plan == CHOSEN)
    total, took = points.weights.sum(), time.process_time() - began
    found = errors(world, lambda part: points.marginal(part, world.sizes) / total)
    yield OURS, {"errors": found, "seconds": took, "plan": query.plan}
    began = time.process_time()
    threes = list(combinations(range(len(world.sizes)), 3))
    if len(threes) > MOST_THREES:
        threes = [target.columns for target in targets if target.cells.ndim == 3][:MOST_THREES]
    codes = whole_rows(points, world.sizes, rows, [*combinations(range(len(world.sizes)), 2), *threes], 1)
    took += time.process_time() - began
    whole = Points(tuple(codes), np.ones(rows))
    found = errors(world, lambda part: whole.marginal(part, world.sizes) / rows)
    yield "ours, as rows", {"errors": found, "seconds": took, "plan": query.plan}


def one(name: str, table: str, columns: int, epsilon: float, relation: str, run: int, out: Any) -> None:
    codes, sizes = codes_and_sizes(table, columns)
    world = World(codes, sizes, relation == "replace", run)
    if name == OURS:
        out.put(dict(ours(world, relation, epsilon)))
    elif name in THEIRS:
        out.put({name: theirs(world, *THEIRS[name], epsilon, run)})
    else:
        began = time.process_time()
        told = WAYS[name](world, rho_of(epsilon))
        took = time.process_time() - began
        out.put({name: {"errors": errors(world, told), "seconds": took}})


def theirs(world: World, tool: str, way: str, epsilon: float, run: int) -> dict[str, Any]:
    python = ROOT / "build" / f"{tool}-venv" / "bin" / "python"
    if not python.exists():
        return {"failed": "not installed"}
    with tempfile.TemporaryDirectory() as folder:
        people, found = Path(folder, "people.npz"), Path(folder, "found.npz")
        np.savez(people, codes=np.stack(world.codes, axis=1), sizes=np.array(world.sizes))
        given = (tool, str(people), way, str(epsilon), str(DELTA), str(rho_of(epsilon)), str(run), str(found))
        alone = os.environ | {"OMP_NUM_THREADS": "1"}
        command = [str(python), "-m", "bench.synthetic_theirs", *given]
        done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=PATIENCE - 60)
        if done.returncode:
            return {"failed": f"did not run: {done.stderr.strip().splitlines()[-1][:80]}"}
        kept = np.load(found)
        if "rows" in kept:
            told = shares(world, Points(tuple(kept["rows"].T), np.ones(len(kept["rows"]))))
        else:
            told = {
                tuple(map(int, name.split())): kept[name] / kept[name].sum() for name in kept if name[0].isdigit()
            }.get
        return {"errors": errors(world, told), "seconds": float(kept["seconds"])}


def timed(*given: Any) -> dict[str, Any]:
    """In a process of its own, for half an hour at most."""
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    child = context.Process(target=one, args=(*given, out))
    child.start()
    try:
        found: dict[str, Any] = out.get(timeout=PATIENCE)
    except Exception:  # nothing came
        found = {given[0]: {"failed": "did not finish"}}
    child.join(5)
    if child.is_alive():
        child.kill()
    return found


def measure(table: str, columns: int, epsilon: float, runs: int, only: list[str], kept: dict[str, Any]) -> None:
    """Two at once: their seconds are those of one processor."""
    jobs = [
        (name, relation, run)
        for relation in RELATIONS
        for name in (OURS, *WAYS, *(THEIRS if relation == "add_remove" and columns == SMALL else ()))
        for run in range(1 if name in THEIRS else runs)
        if not only or name in only
    ]
    found: dict[str, Any] = {}
    with ThreadPoolExecutor(2) as pool:
        told = pool.map(lambda job: timed(job[0], table, columns, epsilon, *job[1:]), jobs)
        for (name, relation, run), ways in zip(jobs, told, strict=True):
            for way, one in ways.items():
                found.setdefault(f"{table} {columns} {epsilon:g} {relation} {way}", []).append(one)
            print(f"{table}, {columns} columns, ε {epsilon:g}, {relation}, {name}, {run}", file=sys.stderr, flush=True)
    kept |= found
    BUILD.mkdir(parents=True, exist_ok=True)
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False))


LEAD = f"""# Synthetic tables

Written by `python -m bench.synthetic_tables --write`; its docstring says what is compared, and `bench.synthetic_people`
how the tables are made. Errors are shares of {PEOPLE:,} made-up people in other cells than the true ones: mean of the
runs ± standard error, and the mean of the largest ± its own; without ± of one run. Seconds are those of one processor.
MST and AIM are our readings of their papers, or their own code in smartnoise-synth 1.0.8, where a line says so: of that
the marginals of the fitted model, for the rows that it draws are far from its own model (`bench.synthetic_theirs`).
"""
ABOUT = {
    "census": "Constants of ours were found on this table.",
    "hospital": "Made by another seed and in another way. No plan was tuned on it. When the fit was chosen, its 6 and\n"
    "8 columns were looked at beside those of the census.",
}


def report(kept: dict[str, Any]) -> str:
    """All that was measured, by table."""
    found = sorted({tuple(key.split(" ")[:4]) for key in kept}, key=lambda one: (int(one[1]), -float(one[2]), one[3]))
    told = [LEAD, f"Load average when it was written: {os.getloadavg()[0]:.1f}.\n"]
    for table in TABLES:
        own = [one for one in found if one[0] == table]
        told += [f"## {table}\n\n{ABOUT[table]}\n"] if own else []
        for _, columns, epsilon, relation in own:
            told.append(f"**{columns} columns, (ε, δ) = ({epsilon}, 10⁻⁶), {RELATIONS[relation]}**\n")
            told.append("\n".join(_lines(kept, f"{table} {columns} {epsilon} {relation}")) + "\n")
    return "\n".join(told)


def _lines(kept: dict[str, Any], setting: str) -> Iterator[str]:
    yield "| | one column | largest | two columns | largest | three columns | largest | seconds | runs |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name in NAMES:
        if (told := kept.get(f"{setting} {name}")) is not None:
            yield _line(name, told)


def _line(name: str, told: list[dict[str, Any]]) -> str:
    if "failed" in told[0]:
        return f"| {name} | {told[0]['failed']} | | | | | | | |"
    title = f"{name} ({told[0]['plan']})" if "plan" in told[0] else name
    cells = []
    for many in ("1", "2", "3"):
        found = [one["errors"][many] for one in told if many in one.get("errors", {})]
        if not found:
            cells += ["–", "–"]
            continue
        cells += [_mean([one[at] for one in found]) for at in (0, 1)]
    seconds = statistics.median(one["seconds"] for one in told if "seconds" in one)
    return f"| {title} | {' | '.join(cells)} | {seconds:.0f} | {len(told)} |"


def _mean(found: list[float]) -> str:
    error = f" ± {statistics.stdev(found) / math.sqrt(len(found)):.4f}" if len(found) > 1 else ""
    return f"{statistics.mean(found):.4f}{error}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.synthetic_tables", description="Synthetic tables beside other ways.")
    parser.add_argument("--table", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--columns", type=int, nargs="+", default=[6, 14], choices=list(RUNS))
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0])
    parser.add_argument("--runs", type=int, help="of each; five of 6 columns and one of more, if not given")
    parser.add_argument("--only", nargs="+", default=[], choices=[OURS, *WAYS, *THEIRS])
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if given.more and KEPT.exists() else {}
    for table in given.table:
        for columns in given.columns:
            for epsilon in given.epsilon:
                measure(table, columns, epsilon, given.runs or RUNS[columns], given.only, kept)
    told = report(kept)
    print(told)
    if given.write:
        RESULTS.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
