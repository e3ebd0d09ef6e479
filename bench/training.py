"""Training: excess loss against people and ε, beside diffprivlib on a census-like table, and memory on a large one.

    python -m bench.training rates             slopes of the excess loss where the best weights are known; RG/√T
    python -m bench.training beside            both tools at the same (ε, δ), 50 runs each; its parts: `ours`, `peer`
    python -m bench.training large 10000000    one training of that many rows on disk: seconds and peak memory

With `--write` a part puts what it printed into bench/results-training.md.

Data are made here from a public seed. `rates` and `beside` train with the real question, but read gradients from arrays
in place of the engine (`Arrays`, checked against the need's own meaning before each run) and draw noise as `Quick`.
diffprivlib's models keep (ε, 0) by objective perturbation and by noisy moments; ours keeps (ε, δ), δ = 10^-6, with
the whole of a fresh allowance spent on it. Rows are scaled alike for both, into the unit ball by the public bounds.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.census import LISTS, MOST_PAY, NUMBERS, Columns, accuracy, census, error, vectors
from bench.measure import peak_mb
from bench.tasks import BUILD, ROOT, SEED

PEERS = ROOT / "build" / "bench-venv" / "bin" / "python"
RESULTS = ROOT / "bench" / "results-training.md"
DELTA = "1e-6"
EPSILONS = (0.5, 1.0, 3.0)
RUNS = 50
PEOPLE, TESTED = 10_000, 10_000
SETS = {"3 numbers, 5 lists": (*NUMBERS, *LISTS), "3 numbers": tuple(NUMBERS)}


# Ours


class Arrays:
    """Computes `gradient.GradientSum` over arrays of codes: whole numbers below 2^53, so floats hold them exactly."""

    def __init__(self, layout: Any, codes: Columns) -> None:
        from dpengine.statistics.features import ROW_BITS, SHIFT, multiplier

        def centred(code: Any, size: int, most: int) -> Any:
            value = (2 * code - (size - 1)) * multiplier(most, size)
            return np.sign(value) * (np.abs(value) >> SHIFT)

        self.layout, self.unit = layout, 2.0**ROW_BITS
        parts = [np.full(len(codes[layout.target]), layout.most)[:, None]]
        self.numbers = []  # coordinates that are not K or 0
        for name, column, start in zip(layout.names, layout.columns, layout.starts, strict=True):
            if hasattr(column, "labels"):
                parts.append((codes[name][:, None] == np.arange(column.size)) * layout.most)
            else:
                parts.append(centred(codes[name], column.size, layout.most)[:, None])
                self.numbers.append(start)
        self.rows = np.hstack(parts).astype(float)
        self.held = self.rows / layout.most
        if layout.kind == "linear":
            self.target = centred(codes[layout.target], layout.goal.size, 1 << ROW_BITS).astype(float)
        else:
            self.target = (codes[layout.target] == layout.yes[0]).astype(float)

    def __call__(self, need: Any) -> tuple[int, ...]:
        from dpengine.statistics.features import MARGIN_UNITS, WEIGHT_BITS
        from dpengine.statistics.model_needs import ONE, ErrorSums, SecondMoments

        if isinstance(need, ErrorSums):  # with one prediction for all
            away = self.target * 2.0**WEIGHT_BITS - np.clip(need.weights[0] * self.layout.most, -ONE, ONE)
            off = np.minimum(np.floor((np.abs(away) + 2.0 ** (need.shift - 1)) / 2.0**need.shift), need.most)
            off, above = np.where(away >= 0, off, -off), int(need.weights[0] >= need.edges[0])
            bins = [0, 0, 0, 0]
            bins[2 * above : 2 * above + 2] = len(off), int(off.sum())
            return int((off * off).sum()), *bins
        if isinstance(need, SecondMoments):
            cut = self.unit**2 / 2.0**need.bits
            return tuple(int(np.trunc(self.rows[:, i] * self.rows[:, j] / cut).sum()) for i, j in need.pairs)
        margin, finest = self.rows @ np.array(need.weights, dtype=float), 2.0**need.bits
        if self.layout.kind == "linear":
            off = np.trunc((margin - self.target * 2.0**WEIGHT_BITS) * (finest / MARGIN_UNITS))
        else:
            off = np.floor(1 / (1 + np.exp(-np.clip(margin / MARGIN_UNITS, -40, 40))) * finest) - self.target * finest
        off = np.clip(off, -need.clip, need.clip)
        sums = np.trunc(off * self.layout.most / self.unit) @ self.held
        for place in self.numbers:
            sums[place] = np.trunc(off * self.rows[:, place] / self.unit).sum()
        return tuple(int(one) for one in sums)


class Quick:
    """Gaussian noise of the asked variance, rounded, by numpy: on a lattice this fine its law differs from the exact
    one by far less than 50 runs can see, and it is drawn a hundred times as fast. For made-up people alone."""

    rng = np.random.default_rng()

    def gaussian(self, values: Any, variance: Any) -> list[int]:
        noise = self.rng.normal(0, math.sqrt(variance), len(values))
        return [value + round(float(one)) for value, one in zip(values, noise, strict=True)]


def schema() -> Any:
    from dpengine.declared.schema import Category, Number, Schema

    columns: dict[str, Any] = {name: Number(low, high, missing=low) for name, (low, high) in NUMBERS.items()}
    for name, size in LISTS.items():
        labels = [str(one) for one in range(size)]
        columns[name] = Category(labels, unknown=labels[-1], missing=labels[-1])
    columns["pay"] = Number(0, MOST_PAY, missing=0)
    columns["owner"] = Category(["yes", "no"], unknown="no", missing="no")
    return Schema(columns)


def coded(table: Columns) -> Columns:
    return {name: column - NUMBERS[name][0] if name in NUMBERS else column for name, column in table.items()}


def question(key: str, names: tuple[str, ...], people: int, epsilon: float, **given: Any) -> Any:
    """The training with default settings that spends a whole fresh allowance of (ε, δ)."""
    from fractions import Fraction

    from dpengine.accountant.filter import Rule, Totals
    from dpengine.declared.facts import Facts
    from dpengine.declared.unit import Unit
    from dpengine.mechanisms import catalogue
    from dpengine.planning.training import trained

    facts = Facts("census", schema(), Unit.rows(), "replace", people)
    asked = {"target": "pay" if key == "train_linear" else "owner", "features": list(names)} | given
    rule = Rule.make(Fraction(str(epsilon)), Fraction(DELTA))

    def make(name: str, **rest: Any) -> Any:
        return catalogue[name].build(facts, rest)

    return trained(make, key, asked, Fraction(1), rule, Totals.NOTHING)


def checked(query: Any, codes: Columns) -> Arrays:
    """The arrays' gradients (and moments) are the need's own, on a few rows and at weights that are not 0."""
    few = {name: column[:50] for name, column in codes.items()}
    rows = [dict(zip(few, map(int, row), strict=True)) for row in zip(*few.values(), strict=True)]
    need = query.need_at(tuple((-1) ** place * 3_000_000 for place in range(query.width)))
    needs = [need, query.moments] if query.follows else [need]
    if query.nearer and not query.follows:
        needs += [query.look_at(centre, most) for centre, most in ((0.0, 2**15), (-0.3, 900))]
    if any(Arrays(query.layout, few)(one) != one.of(rows) for one in needs):
        raise AssertionError("the arrays do not compute the gradient")
    return Arrays(query.layout, codes)


def weights_of(query: Any, read: Callable[[Any], Any]) -> Any:
    from dpengine.statistics.features import WEIGHT_BITS

    path = query.descend(read, Quick(), lambda *_: None, lambda: False)
    return np.array(path.weights) / 2**WEIGHT_BITS


def ours(runs: int) -> list[dict[str, Any]]:
    table, other = census(PEOPLE, SEED), census(TESTED, SEED + 1)
    codes, found = coded(table), []
    for name, names in SETS.items():
        x = vectors(other, names)
        for key, told in (("train_logistic", accuracy), ("train_linear", error)):
            for epsilon in EPSILONS:
                query = question(key, names, PEOPLE, epsilon)
                read = checked(query, codes)
                results = [told(x @ weights_of(query, read), other) for _ in range(runs)]
                found.append(_line(key, name, epsilon, results) | {"steps": query.steps, "rate": float(query.rate)})
                print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return found


# The other tool


def peer(runs: int) -> list[dict[str, Any]]:
    from diffprivlib.models import LinearRegression, LogisticRegression

    warnings.simplefilter("ignore")
    table, other = census(PEOPLE, SEED), census(TESTED, SEED + 1)
    found = []
    for name, names in SETS.items():
        x, there = vectors(table, names), vectors(other, names)
        edge = 1 / math.sqrt(len(names) + 1)
        low = np.array([-edge if place and place <= len(NUMBERS) else 0 for place in range(x.shape[1])])
        high = np.full(x.shape[1], edge)
        own, pay = (table["owner"] == 0).astype(int), table["pay"] * 2 / MOST_PAY - 1
        for epsilon in EPSILONS:
            results = []
            for _ in range(runs):
                model = LogisticRegression(epsilon=epsilon, data_norm=1.0, fit_intercept=False, max_iter=1000)
                results.append(accuracy(there @ model.fit(x, own).coef_.ravel(), other))
            found.append(_line("train_logistic", name, epsilon, results))
            results = []
            for _ in range(runs):
                # Without the constant column: it has an intercept of its own, and pays for it.
                line = LinearRegression(epsilon=epsilon, bounds_X=(low[1:], high[1:]), bounds_y=(-1.0, 1.0))
                results.append(error(line.fit(x[:, 1:], pay).predict(there[:, 1:]), other))
            found.append(_line("train_linear", name, epsilon, results))
    return found


def bare() -> list[dict[str, Any]]:
    """Without privacy: least squares, and logistic regression by many plain steps; and with no model at all."""
    table, other = census(PEOPLE, SEED), census(TESTED, SEED + 1)
    found = []
    for name, names in SETS.items():
        x, there = vectors(table, names), vectors(other, names)
        own, pay = (table["owner"] == 0).astype(float), table["pay"] * 2 / MOST_PAY - 1
        fitted = np.linalg.lstsq(x, pay, rcond=None)[0]
        w = np.zeros(x.shape[1])
        for _ in range(60):  # Newton
            chance = 1 / (1 + np.exp(-(x @ w)))
            hessian = (x * (chance * (1 - chance))[:, None]).T @ x + 1e-6 * np.eye(len(w))
            w -= np.linalg.solve(hessian, x.T @ (chance - own))
        blank = accuracy(np.full(TESTED, own.mean() - 0.5), other), error(np.full(TESTED, pay.mean()), other)
        found.append({"key": "train_logistic", "set": name, "mean": accuracy(there @ w, other), "blank": blank[0]})
        found.append({"key": "train_linear", "set": name, "mean": error(there @ fitted, other), "blank": blank[1]})
    return found


def _line(key: str, name: str, epsilon: float, results: list[float]) -> dict[str, Any]:
    return {
        "key": key,
        "set": name,
        "epsilon": epsilon,
        "mean": float(np.mean(results)),
        "worst": float(np.min(results) if key == "train_logistic" else np.max(results)),
        "error": float(np.std(results) / math.sqrt(len(results))),
        "runs": len(results),
    }


def beside(runs: int) -> None:
    mine, theirs = ours(runs), []
    if PEERS.exists():
        command = [str(PEERS), "-m", "bench.training", "peer", str(runs)]
        theirs = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout)
    tell(mine, theirs, runs)


def tell(mine: list[dict[str, Any]], theirs: list[dict[str, Any]], runs: int) -> None:
    plain = bare()
    print(f"{PEOPLE:,} people, judged on {TESTED:,} others; mean of {runs} runs ± standard error; δ = {DELTA} (ours)\n")
    print("| what | columns | ε | Allowance | diffprivlib | without privacy | no model |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for one in mine:
        other = next((line for line in theirs if _same(line, one) and line["epsilon"] == one["epsilon"]), None)
        clear = next(line for line in plain if _same(line, one))
        what, digits = ("accuracy", 4) if one["key"] == "train_logistic" else ("error of pay", 0)
        cells = [f"{line['mean']:.{digits}f} ± {line['error']:.1g}" if line else "" for line in (one, other)]
        ends = [f"{clear[name]:.{digits}f}" for name in ("mean", "blank")]
        print(f"| {what} | {one['set']} | {one['epsilon']:g} | {' | '.join([*cells, *ends])} |", flush=True)


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["key"] == other["key"] and one["set"] == other["set"])


# Rates


def rates() -> None:
    """Excess loss over known weights, against n and against ε; the bound's slopes are −1 in both while noise rules."""
    from dataclasses import replace

    from dpengine.mechanisms.models import excess
    from dpengine.statistics.features import WEIGHT_BITS

    names = ("age", "hours", "years")
    truth = np.array([0.2, 0.9, -0.6, 0.4])

    def synthetic(people: int, seed: int) -> Columns:
        rng = np.random.default_rng(seed)
        table = {name: rng.integers(low, high + 1, people) for name, (low, high) in NUMBERS.items()}
        noise = rng.uniform(-0.2, 0.2, people)
        pay = np.clip(vectors(table, names) @ truth + noise, -1, 1)
        return table | {"pay": ((pay + 1) * MOST_PAY / 2).round().astype(np.int64)}

    def loss(weights: Any, x: Any, y: Any, clip: float) -> float:
        off = np.abs(x @ weights - y)
        return float(np.mean(np.where(off <= clip, off**2 / 2, clip * (off - clip / 2))))

    def excess_of(people: int, epsilon: float, runs: int) -> tuple[float, float]:
        table = synthetic(people, SEED)
        query = question("train_linear", names, people, epsilon, radius="2", clip="0.5")
        read = checked(query, coded(table))
        x, y = vectors(table, names), table["pay"] * 2 / MOST_PAY - 1
        best = np.linalg.lstsq(x, y, rcond=None)[0]  # no residual is clipped there
        least = loss(best, x, y, 0.5)
        found = [loss(weights_of(query, read), x, y, 0.5) - least for _ in range(runs)]
        print(
            f"  n {people:>8,}  ε {epsilon:<5g} T {query.steps:<4} excess {np.mean(found):.6f}"
            f"  bound {float(query.promise().risk):.4f}",
            flush=True,
        )
        return float(np.mean(found)), float(query.promise().risk)

    print("against n, at ε = 1")
    sizes = [300, 1_000, 3_000, 10_000]
    _slope(sizes, [excess_of(size, 1.0, 30) for size in sizes])
    print("against ε, for 1,000 people")
    amounts = [0.3, 1.0, 3.0, 10.0]
    _slope(amounts, [excess_of(1_000, one, 30) for one in amounts])
    print("without noise, T steps: excess loss of the average, the lecture's RG/√T, the smooth bound")
    table = synthetic(3_000, SEED)
    x, y = vectors(table, names), table["pay"] * 2 / MOST_PAY - 1
    least = loss(np.linalg.lstsq(x, y, rcond=None)[0], x, y, 0.5)
    for steps in (10, 40, 160, 640):
        query = question(
            "train_linear",
            names,
            3_000,
            1.0,
            radius="2",
            clip="0.5",
            iterate="average",
            steps=steps,
            rate=f"{2 / (0.5 * math.sqrt(steps)):.6f}",
        )
        read, walk = checked(query, coded(table)), [(0,) * query.width]
        for _ in range(steps):
            walk.append(query.moved(walk[-1], read(query.need_at(walk[-1]))))
        found = loss(np.array(query.path(walk).weights) / 2**WEIGHT_BITS, x, y, 0.5) - least
        one = replace(query.setting, epsilon=math.inf)
        print(f"  T {steps:<4} excess {found:.6f}  RG/√T {excess.limit(one):.4f}  smooth {excess.plain(one):.4f}")


def _slope(xs: list[Any], ys: list[tuple[float, float]]) -> None:
    found, bound = (np.polyfit(np.log(xs), np.log([pair[place] for pair in ys]), 1)[0] for place in (0, 1))
    print(f"  slope {found:.2f}, of the bound {bound:.2f}; the lecture's is −1")


def large(rows: int) -> None:
    """A training of a file on disk from end to end, by the engine."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from dpengine.noise.coins import SystemCoins
    from dpengine.statistics.engines.duck import DuckEngine

    home = BUILD / "training"
    home.mkdir(parents=True, exist_ok=True)
    path, names = home / f"coded-{rows}.parquet", SETS["3 numbers, 5 lists"]
    query = question("train_logistic", names, rows, 1.0, steps=10)
    kinds = {name: pa.int16() if name == "pay" else pa.int8() for name in query.facts.schema.columns}
    if not path.exists():
        fields = pa.schema([(f"c{place}", kind) for place, kind in enumerate(kinds.values())])
        with pq.ParquetWriter(path, fields) as file:
            for start in range(0, rows, 10**6):
                codes = coded(census(min(10**6, rows - start), SEED + start))
                file.write_table(pa.table([pa.array(codes[name], kind) for name, kind in kinds.items()], schema=fields))
    before, began, engine = peak_mb(), time.perf_counter(), DuckEngine(lambda: home / "spill")
    path_taken = query.descend(
        lambda need: engine.read(need, path, query.facts.schema), SystemCoins(), lambda *_: None, lambda: False
    )
    took = time.perf_counter() - began
    print(
        json.dumps(
            {
                "rows": rows,
                "steps": path_taken.steps,
                "seconds": round(took, 1),
                "before_mb": round(before),
                "peak_mb": round(peak_mb()),
            }
        )
    )


def main(arguments: list[str]) -> None:
    kept = "--write" in arguments
    what, many = (*(one for one in arguments if one != "--write"), "", "")[:2]
    runs = int(many or 0)
    if what in ("ours", "peer"):
        print(json.dumps({"ours": ours, "peer": peer}[what](runs or RUNS)))
        return
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        if what == "rates":
            rates()
        elif what == "large":
            large(runs or 10**7)
        else:
            beside(runs or RUNS)
    print(told.getvalue())
    if kept:
        keep(what or "beside", told.getvalue())


def keep(what: str, told: str) -> None:
    """Put what a part printed between its marks."""
    text = RESULTS.read_text(encoding="utf-8")
    before, _, rest = text.partition(f"<!-- {what} -->\n")
    _, _, after = rest.partition("<!-- end -->\n")
    fenced = told if what == "beside" else f"```\n{told.rstrip()}\n```\n"
    RESULTS.write_text(f"{before}<!-- {what} -->\n{fenced}<!-- end -->\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
