"""`python -m bench.population` measures how wide a range for all such people is, beside adding two ranges.

A random sample; widths in percentage points, or in percent of the declared range of a column; means over drawn samples
and noise, β .05. *Here*: the table's own range, for the noise alone. *All*: the range for all such people. *Added*:
half of β for the noise, half for the sample, the usual way: with Clopper and Pearson's range (shares) or Maurer and
Pontil's (means, with a spread drawn for half of the noise's part). *Without noise*: no price buys less. `--write` keeps
the tables in bench/results-population.md."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import beta as beta_law
from scipy.stats import binom, norm

import dpengine as dp
from bench.measure import must
from bench.tasks import ROOT
from dpengine.accountant.history import Past
from dpengine.asking import beyond
from dpengine.core.amounts import BETA
from dpengine.core.exact import halved
from dpengine.core.types import Floats
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue, sampling
from dpengine.mechanisms.marginals import sampled_cells
from dpengine.mechanisms.noise import LaplaceNoise
from dpengine.noise.coins import SystemCoins
from dpengine.released.look import Look
from dpengine.statistics.need import Spread

RESULTS = ROOT / "bench" / "results-population.md"
TIMES, SOME = 200, 12
SHARE = 0.3
PEOPLE = (50, 1_000, 30_000)
TOP = 100  # of the column
SCHEMA = dp.Schema({"town": dp.Category(["a", "b", "c"], complete=True), "x": dp.Number(0, TOP, missing=0)})
TOWNS = (0.5, 0.3, 0.2)
SPREADS: dict[str, Callable[[int], Floats]] = {
    "at both ends (.5)": lambda n: TOP * np.random.default_rng().integers(0, 2, n).astype(np.float64),
    "even (.29)": lambda n: np.random.default_rng().integers(0, TOP + 1, n).astype(np.float64),
    "close together (.1)": lambda n: np.clip(np.rint(np.random.default_rng().normal(0.4, 0.1, n) * TOP), 0, TOP),
}


def exact(hits: int, n: int, beta: float) -> tuple[float, float]:
    """Clopper and Pearson 1934."""
    low = 0.0 if hits == 0 else float(beta_law.ppf(beta / 2, hits, n - hits + 1))
    return low, 1.0 if hits == n else float(beta_law.ppf(1 - beta / 2, hits + 1, n - hits))


def of_share(n: int, epsilon: Fraction) -> list[float]:
    noise, coins, random = LaplaceNoise(1 / epsilon), SystemCoins(), np.random.default_rng()
    here = 2 * float(noise.reach(BETA)) / n
    half = BETA / 2
    found = []
    for _ in range(TIMES):
        hits = int(random.binomial(n, SHARE))
        drawn = noise.draw([hits], coins)[0]
        low, high = sampling.share_of_all(drawn, n, noise, BETA)
        reach = int(noise.reach(half))
        ends = [min(max(drawn + side * reach, 0), n) for side in (-1, 1)]
        added = exact(ends[1], n, float(half))[1] - exact(ends[0], n, float(half))[0]
        alone = exact(hits, n, float(BETA))
        found.append((here, high - low, added, alone[1] - alone[0]))
    return [100 * float(width) for width in np.mean(found, axis=0)]


def asked(key: str, n: int, epsilon: Fraction, relation: str = "replace", **given: Any) -> Any:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), relation, n, sample=True)  # type: ignore[arg-type]
    return catalogue[key].build(facts, {"epsilon": str(float(epsilon))} | given)


def both(query: Any, statistic: Any, whole: float) -> tuple[float, float]:
    """The widths of both ranges, in percent of `whole`; of several parts the mean."""
    raw = query.draw(statistic, SystemCoins())
    answer = query.finish(raw)
    found = query.population(answer, raw, BETA)
    own, wider = ([*ends.values()] if isinstance(ends, dict) else [ends] for ends in (answer.interval, found))
    return tuple(100 / whole * float(np.mean([high - low for low, high in ranges])) for ranges in (own, wider))  # type: ignore[return-value]


def maurer_pontil(values: Floats, n: int, epsilon: Fraction, beta: float) -> float:
    """With noise added: of the sum, and, in the spread, of squares (scales 1/ε and 1/ε for values in [0, 1])."""
    each, share = beta / 2, math.log(4 / (beta / 2))
    noise = math.log(1 / (each / 2)) / float(epsilon)
    spread = min(float(np.var(values / TOP)) + noise / n, 0.25)
    return 2 * (math.sqrt(2 * spread * share / n) + 7 * share / (3 * (n - 1)) + noise / n)


def of_mean(kind: str, n: int, epsilon: Fraction, relation: str) -> list[float]:
    query = asked("mean", n, epsilon, relation, column="x", **({} if relation == "replace" else {"noise": "shared"}))
    plain = replace(query, facts=replace(query.facts, sample=False))
    found = []
    for _ in range(SOME):
        values = SPREADS[kind](n)
        y = (2 * values - TOP).astype(np.int64)
        moments = n, int(y.sum()), int((y**2).sum())
        here, wider = both(query, moments if query.draws_squares else moments[:2], TOP)
        _, without = both(plain, moments[:2], TOP)
        added = 100 * min(maurer_pontil(values, n, epsilon, float(BETA)), 1.0)
        quiet = 100 * min(2 * 1.96 * float(np.std(values / TOP)) / math.sqrt(n), 1.0)
        found.append((here, wider, without, added, quiet))
    return [float(width) for width in np.mean(found, axis=0)]


def _spread(values: Floats) -> Spread:
    codes, counts = np.unique(values.astype(np.int64), return_counts=True)
    return Spread(codes, counts)


def others(n: int, epsilon: Fraction) -> list[tuple[str, float, float, float | None]]:
    """Kinds beside shares and means: both widths, and that of the same range without noise."""
    random, rows = np.random.default_rng(), []
    towns, high = random.multinomial(n, TOWNS), Fraction(50)

    def group(size: int) -> tuple[int, int]:
        hits = int(random.binomial(size, SHARE))
        return hits, size - hits

    values = [SPREADS["even (.29)"](n) for _ in range(SOME)]
    y = [(2 * one - TOP).astype(np.int64) for one in values]
    statistics: dict[str, tuple[str, dict[str, Any], Sequence[Any], float]] = {
        "bars, three": ("histogram", {"column": "town"}, [tuple(map(int, towns))], 0),
        "share by group": (
            "proportion",
            {"of": [["x", ">", 70]], "by": "town"},
            [sum((group(int(size)) for size in towns), ()) for _ in range(3)],
            100,
        ),
        "median": ("median", {"column": "x"}, [_spread(one) for one in values], TOP),
        "quartiles' distance": ("iqr", {"column": "x"}, [_spread(one) for one in values], TOP),
        "spread": ("variance", {"column": "x"}, [(n, int(one.sum()), int((one**2).sum())) for one in y[:3]], TOP),
    }
    for name, (key, given, drawn, whole) in statistics.items():
        widths = [
            np.mean([_of_kind(asked(key, n, each, **given), one, n, whole) for one in drawn], axis=0)
            for each in (epsilon, high)
        ]
        rows.append((name, float(widths[0][0]), float(widths[0][1]), float(widths[1][1])))
    return rows


def _of_kind(query: Any, statistic: Any, n: int, whole: float) -> tuple[float, float]:
    """Counts are in people here and in percent beyond."""
    if whole:
        return both(query, statistic, whole)
    raw = query.draw(statistic, SystemCoins())
    answer = query.finish(raw)
    found, _ = beyond.claimed(query, answer, raw, Past.NOTHING, Fraction(0))
    own = float(np.mean([high - low for low, high in answer.interval.values()]))
    wide = 100.0 if found is None else float(np.mean([high - low for low, high in found.values()]))
    return 100 * own / n, wide


def of_group(n: int, epsilon: Fraction) -> list[float]:
    """A third of the half of all people who are in the first town; all figures of the first look hold at once."""
    columns = ["town", {"column": "x", "step": 51}]
    query = asked("overview", n, epsilon, columns=columns, against=["town"])
    quiet = asked("overview", n, Fraction(50), columns=columns, against=["town"])
    cells, found = np.outer(TOWNS, (1 / 3, 2 / 3, 0.0)), []
    for _ in range(SOME):
        statistic = [np.random.default_rng().multinomial(n, cells.ravel()).tolist()]
        row = []
        for each in (query, quiet):
            raw = each.draw(statistic, SystemCoins())
            answer = each.finish(raw)
            everybody, _ = beyond.claimed(each, answer, raw, Past.NOTHING, Fraction(0))
            look = Look(each, raw, answer.value, everybody or {}, True)
            low, high = must_have(look.among_all("x", {"town": "a"}))[0]
            own = look.share({"x": [look.query.cell_labels[1][0]]}, {"town": ["a"]})
            row += [must_have(own.high) - must_have(own.low), (high - low) / 100]
            if each is query:
                row.append(exact_of_group(look, n))
        found.append((row[0], row[1], row[2], row[4]))
    return [100 * float(width) for width in np.mean(found, axis=0)]


def must_have(value: Any) -> Any:
    must(value is not None, "No range.")
    return value


def exact_of_group(look: Look, n: int) -> float:
    """The share tested with all sums carried out, normal noise, and for thirteen numbers of people within reach."""
    cells, each = look.marginals[0, 1][0], BETA / 2 / look.query._shown(False)
    one, group = np.zeros((3, 3)), np.zeros((3, 3))
    one[0, 0], group[0, :] = 1, 1
    noise, ends = sampled_cells.Off.of_cells(look.noise, (0, 1), one, group), []
    t, wanted = cells.sum(), float(each) * 9 / 20
    for hits, off in ((cells[0], noise), (t - cells[0], noise.of_misses())):
        reach = norm.isf(float(each) / 20) * off.people**0.5
        people = np.unique(np.rint(np.clip(np.linspace(t - reach, t + reach, 13), 0, n))).astype(np.int64)[:, None]

        def out(p: float, hits: float = hits, off: Any = off, people: Any = people) -> bool:
            middle, wide = people * p, 9 * np.sqrt(people * p * (1 - p)) + 30
            k = np.floor(np.clip(middle + wide * np.linspace(-1, 1, 4_001), 0, people))
            variance = off.hits - 2 * p * off.both + p * p * off.people
            chances = -np.diff(binom.sf(k - 1, people, p), axis=1, append=0.0)
            tails = (chances * norm.sf((hits - p * t - k + middle) / variance**0.5)).sum(axis=1)
            return bool(tails.max() <= wanted)

        ends.append(halved(out, 0.0, 1.0, 16)[0])
    return float(1 - ends[1] - ends[0])


def line(*cells: object) -> str:
    shown = [f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells]
    return f"| {' | '.join(shown)} |"


def head(*names: str) -> list[str]:
    return [line(*names), "|" + "---|" * len(names)]


def table() -> str:
    lines = ["## A share of 30 %, n public", "", *head("people", "ε", "here", "all", "added", "without noise")]
    for n in PEOPLE:
        for epsilon in (Fraction(1, 20), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2)):
            row = of_share(n, epsilon)
            must(row[1] < row[2], "Adding two ranges was narrower.")
            lines.append(line(f"{n:,}", f"{float(epsilon):g}", *row))
    lines += [
        "",
        "## A mean",
        "",
        "*Mean alone*: the range for all such people of draws without squares. Both are valid; which is used is"
        " fixed before the draw. *Without noise*: 1.96 standard errors, which no proof supports for few people.",
        "",
        *head("relation", "values (sd)", "people", "ε", "here", "all", "mean alone", "added", "without noise"),
    ]
    for relation in ("replace", "add_remove"):
        for kind in SPREADS:
            for n in PEOPLE:
                for epsilon in (Fraction(1, 20), Fraction(1, 2), Fraction(2)):
                    row = of_mean(kind, n, epsilon, relation)
                    must(row[1] <= 1.2 * row[2], f"The mean alone was narrower: {row}, {n}, {epsilon}.")
                    must(row[1] <= 1.01 * row[3], f"Adding two ranges was narrower: {row}, {n}, {epsilon}.")
                    lines.append(line(relation, kind, f"{n:,}", f"{float(epsilon):g}", *row))
    lines += [
        "",
        "## A share of a group, in a first look at two columns together, n public",
        "",
        "A third of the half of all people. *Exact*: the same test, every sum carried out. *Without noise*: at ε 50.",
        "",
        *head("people", "ε", "here", "all", "exact", "without noise"),
    ]
    for n in PEOPLE:
        for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(2)):
            row = of_group(n, epsilon)
            must(row[1] <= 1.15 * row[2], f"Much wider than exact inversion: {row}, {n}, {epsilon}.")
            lines.append(line(f"{n:,}", f"{float(epsilon):g}", *row))
    names = head("kind", "people", "ε", "here", "all", "without noise")
    lines += ["", "## Other kinds, replace-one; without noise: at ε 50", "", *names]
    for n in PEOPLE:
        for epsilon in (Fraction(1, 10), Fraction(1)):
            for name, here, wider, quiet in others(n, epsilon):
                lines.append(line(name, f"{n:,}", f"{float(epsilon):g}", here, wider, quiet or 0.0))
    return "\n".join(lines)


def main() -> None:
    found = table()
    print(found)
    if "--write" in sys.argv:
        about = " ".join((__doc__ or "").split("\n\n", 1)[1].rsplit("`--write`", 1)[0].split())
        title = f"# Ranges for all such people\n\nWritten by `python -m bench.population --write`. {about}\n"
        RESULTS.write_text(f"{title}\n{found}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
