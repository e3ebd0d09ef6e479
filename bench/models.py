"""What was tried for models, and mostly lost: `python -m bench.models [weights] [numbers] [rounds] [fresh] [--runs 10]
[--write]`.

weights   a first look for a model of yes or no, by how much more exact the counts against the target are made.
numbers   a number to predict: read off a first look in which it is told in groups, beside `train_linear`.
rounds    yes or no by rounds over bins, in the manner of boosting (DP-EBM) but with all columns in each round: tables
          of two columns for a share of ρ, then in every round one noisy histogram of residuals for each column; a
          residual is at most 1, so one person replaced moves all histograms of p columns by at most √(2p) in length.
          Steps divide by the tables as `released.shapes_fit` does.
fresh     the models that are offered, on a table on which nothing was tuned (`bench.utility.stays`).

Made-up people, judged on 10,000 others, a whole fresh allowance (ε, 10⁻⁶), as in `bench.utility.models`, where ours
stands beside the others' tools. With `--write` every part is put into bench/results-models.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import dpengine as dp
from bench.census import accuracy, error
from bench.measure import must
from bench.tasks import ROOT, SEED
from bench.training import checked, coded, weights_of
from bench.utility.models import (
    CENSUS,
    NAMES,
    SPENDS,
    TESTED,
    Sort,
    before,
    bought,
    looks,
    ours,
    peers,
    people_like,
    predicted,
    rule_of,
    stored,
    without,
)
from bench.utility.stays import LISTS as STAYED
from bench.utility.stays import NUMBERS as LASTED
from bench.utility.stays import stays
from dpengine.accountant.filter import Totals
from dpengine.planning.training import trained
from dpengine.released.shapes import RIDGE, Shapes
from dpengine.statistics.features import ROW_BITS

RESULTS = ROOT / "bench" / "results-models.md"
PEOPLE = (3_000, 30_000)
WEIGHTS = (1, 10, 30, 100)
_LEAD = """# Models: what was tried

Written part by part by `python -m bench.models --write`; what each part does stands in `bench/models.py`. Ours beside
other tools: the sections Models and Lines of [results-utility.md](results-utility.md). Mean ± standard error.
"""


def weights(runs: int) -> Iterator[str]:
    yield "| people | ε | " + " | ".join(f"weight {one}" for one in WEIGHTS) + " |"
    yield "|--:|--:|" + "--:|" * len(WEIGHTS)
    other = people_like(TESTED, SEED + 1)
    for people in PEOPLE:
        table = people_like(people, SEED)
        for epsilon in SPENDS:
            found = [ours(table, other, epsilon, runs, weights={"owner": one})["right"] for one in WEIGHTS]
            yield f"| {people:,} | {epsilon:g} | " + " | ".join(map(_mean, found)) + " |"


def numbers(runs: int) -> Iterator[str]:
    steps = (500, 1_000, 2_000, 4_000)
    yield "| people | ε | in steps (`train_linear`) | " + " | ".join(f"groups of {one:,}" for one in steps) + " |"
    yield "|--:|--:|--:|" + "--:|" * len(steps)
    other = people_like(TESTED, SEED + 1)
    for people in PEOPLE:
        table = people_like(people, SEED)
        for epsilon in SPENDS:
            cells = [_mean(_linear(table, other, epsilon, min(runs, 5)), 0)]
            for one in steps:
                goal = {"column": "pay", "step": str(one)}
                query = bought(people, epsilon, "pay", columns=[*_bins(people), goal])
                found = []
                for look in looks(query, table, runs):
                    said = np.clip(predicted(Shapes(look, "pay"), other), 0, 12_000)
                    found.append(float(np.sqrt(np.mean((said - other["pay"]) ** 2))))
                cells.append(_mean(found, 0))
            yield f"| {people:,} | {epsilon:g} | " + " | ".join(cells) + " |"


def _bins(people: int) -> list[Any]:
    return [one.as_json() if not isinstance(one, str) else one for one in bought(people, 1.0).columns[:-1]]


def _linear(table: Any, other: Any, epsilon: float, runs: int) -> list[float]:
    facts, rule = CENSUS.facts(len(table["owner"])), rule_of(epsilon)

    def make(key: str, **rest: Any) -> Any:
        return dp.catalogue[key].build(facts, rest)

    given = {"target": "pay", "features": list(NAMES)}
    query = trained(make, "train_linear", given, Fraction(1), rule, Totals.NOTHING)
    read, there = checked(query, coded(table)), checked(query, coded(other)).rows / 2**ROW_BITS
    return [error(there @ weights_of(query, read), other) for _ in range(runs)]


def rounds(runs: int) -> Iterator[str]:
    tries = ((1, 0.2), (2, 0.2), (3, 0.2), (5, 0.2), (2, 0.5))
    names = [f"{many} {'round' if many == 1 else 'rounds'}, {share:.0%} for tables" for many, share in tries]
    yield "| people | ε | ours | " + " | ".join(names) + " |"
    yield "|--:|--:|--:|" + "--:|" * len(tries)
    other = people_like(TESTED, SEED + 1)
    for people in PEOPLE:
        table = people_like(people, SEED)
        for epsilon in SPENDS:
            cells = [_mean(ours(table, other, epsilon, runs)["right"])]
            cells += [_mean(_boosted(table, other, epsilon, many, share, runs)) for many, share in tries]
            yield f"| {people:,} | {epsilon:g} | " + " | ".join(cells) + " |"


def _boosted(table: Any, other: Any, epsilon: float, many: int, share: float, runs: int) -> list[float]:
    query = bought(len(table["owner"]), epsilon)
    rho = float(query.rho)
    pairs = query.at(query.epsilon * Fraction(math.isqrt(round(share * 10**12)), 10**6))
    x, there = (_indicators(query, one) for one in (table, other))
    own, columns, random = (table["owner"] == 0).astype(float), len(NAMES), np.random.default_rng()
    variance = 2 * columns * many / (2 * rho * (1 - share))
    found = []
    for look in looks(pairs, table, runs):
        moments = Shapes(look, "owner", ["yes"]).moments
        whole = moments.second + np.outer(moments.rows, moments.rows) / moments.total
        sizes, ways = np.linalg.eigh(whole * 0.2)
        kept = np.maximum(sizes, 0)
        divided = kept / np.maximum(kept**2 + RIDGE * (kept + variance / 0.2) / 5, 1e-12)
        w, base = np.zeros(x.shape[1]), float(np.log(own.mean() / (1 - own.mean())))
        for _ in range(many):
            residual = own - 1 / (1 + np.exp(-np.clip(x @ w + base, -40, 40)))
            noisy = x.T @ residual + random.normal(0, math.sqrt(variance), x.shape[1])
            w = w + ways @ (divided * (ways.T @ noisy))
        found.append(accuracy(there @ w + base, other))
    return found


def _indicators(query: Any, table: Any) -> Any:
    held, names = stored(table), {name: name for name in table}
    return np.hstack([axis.cells(held, names)[:, None] == np.arange(axis.size) for axis in query.axes[:-1]]).astype(
        float
    )


def fresh(runs: int) -> Iterator[str]:
    sort = Sort(stays, LASTED, STAYED)
    other = stays(TESTED, SEED + 1)
    for people in PEOPLE:
        table = stays(people, SEED)
        theirs = peers(table, other, sort)
        bare = without(table, other, sort)
        mine = {
            epsilon: [ours(table, other, epsilon, runs, sort), before(table, other, epsilon, sort)]
            for epsilon in SPENDS
        }
        for figure, title in (("right", "share guessed right"), ("area", "area under the ROC curve")):
            yield f"{title}, {people:,} people; {bare[figure]}"
            yield ""
            yield "| ε | read off a first look | in steps (`train_logistic`) | diffprivlib | DP-EBM |"
            yield "|--:|--:|--:|--:|--:|"
            for epsilon, told in mine.items():
                cells = [_mean(one[figure]) for one in told]
                for name in ("diffprivlib", "DP-EBM"):
                    found = [one[figure] for who, one in theirs.items() if who.startswith(f"{epsilon} {name}")]
                    cells.append(_mean(max(found, key=np.mean)) if found else "–")
                yield f"| {epsilon:g} | " + " | ".join(cells) + " |"
            yield ""


def _mean(found: list[float], digits: int = 4) -> str:
    return f"{np.mean(found):.{digits}f} ± {np.std(found) / math.sqrt(len(found)):.1g}"


PARTS: dict[str, tuple[str, Callable[[int], Iterator[str]]]] = {
    "weights": ("Share guessed right, by the weight of the target", weights),
    "numbers": ("Typical error of pay, 0 to 12,000", numbers),
    "rounds": ("Share guessed right, by rounds over bins", rounds),
    "fresh": ("On a fresh table: who comes back to a hospital", fresh),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.models", description="What was tried for models.")
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    for part in given.parts or PARTS:
        title, made = PARTS[part]
        lines = []
        for one in made(given.runs):
            print(one, file=sys.stderr, flush=True)
            lines.append(one)
        must(lines, f"bench.models {part}: nothing was trained.")
        section = (
            f"## {title}\n\n{given.runs} runs of each: `python -m bench.models {part}`.\n\n" + "\n".join(lines) + "\n"
        )
        print(section, flush=True)
        if given.write:
            keep(title, section)


def keep(title: str, section: str) -> None:
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    there = {one.partition("\n")[0]: f"## {one.rstrip()}\n" for one in text.split("\n## ")[1:]}
    there[title] = section
    kept = [there[name] for name, _ in PARTS.values() if name in there]
    RESULTS.write_text("\n".join([_LEAD, *kept]), encoding="utf-8")


if __name__ == "__main__":
    main()
