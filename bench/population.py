"""`python -m bench.population` measures how wide a range for all such people is, beside adding two ranges.

A share of about 30 % of a random sample, n public. *Here*: the table's own range, for the noise alone. *All*: the range
of `mechanisms/sampling.share_of_all`. *Added*: half of β for the noise, half for Clopper and Pearson's range without
noise, the usual way. *Without noise*: Clopper and Pearson alone; no price buys less. Widths in percentage points, means
over drawn noise. `--write` keeps the table in bench/results-population.md."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
from scipy.stats import beta as beta_law

from bench.measure import must
from bench.tasks import ROOT
from dpengine.core.amounts import BETA
from dpengine.mechanisms import sampling
from dpengine.mechanisms.noise import LaplaceNoise
from dpengine.noise.coins import SystemCoins

RESULTS = ROOT / "bench" / "results-population.md"
TIMES = 200
SHARE = 0.3


def exact(hits: int, n: int, beta: float) -> tuple[float, float]:
    """Clopper and Pearson 1934."""
    low = 0.0 if hits == 0 else float(beta_law.ppf(beta / 2, hits, n - hits + 1))
    return low, 1.0 if hits == n else float(beta_law.ppf(1 - beta / 2, hits + 1, n - hits))


def widths(n: int, epsilon: Fraction) -> list[float]:
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


def table() -> str:
    lines = ["| people | ε | here | all | added | without noise |", "|---|---|---|---|---|---|"]
    for n in (50, 1_000, 30_000):
        for epsilon in (Fraction(1, 20), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2)):
            row = widths(n, epsilon)
            must(row[1] < row[2], "Adding two ranges was narrower.")
            lines.append(f"| {n:,} | {float(epsilon):g} | " + " | ".join(f"{width:.2f}" for width in row) + " |")
    return "\n".join(lines)


def main() -> None:
    found = table()
    print(found)
    if "--write" in sys.argv:
        about = " ".join((__doc__ or "").split("\n\n", 1)[1].rsplit("`--write`", 1)[0].split())
        head = f"# Ranges for all such people\n\nWritten by `python -m bench.population --write`. {about}\n"
        RESULTS.write_text(f"{head}\n{found}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
