"""The tables of the thesis, on a look-alike of its 1,000 people: what is exact to the printed digits, what is random
within ranges.

The people are data/residents.csv, made up, with the thesis's counts: 114 in TX, 102 in CA, 63 in NY; salaries from 1504
to 4500. The thesis took the diameter 2996 off its data; here it is *declared*, because a bound read off the data
tells of the data. The list of states is closed at 48, as there: a value for “other” would change Table 7.

    python -m demos.thesis

Random columns are drawn anew with the coins that releases use. Each comes with a range, computed from the exact law,
that holds it except with chance BETA; the thesis's own draw is shown beside it and must lie in the range as well.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpengine.core import places
from dpengine.core.exact import halved
from dpengine.core.types import Integers
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.row_noise import Swap, farthest, least_scale, thesis_scale
from dpengine.noise.tails import total_reach

PEOPLE = places.SAMPLES / "residents.csv"
LOW, HIGH = 1504, 4500
BETA = Fraction(1, 10_000)
NUMERIC = ((Fraction(1, 10), Fraction(1, 10)), (Fraction(2), Fraction(1, 2)), (Fraction(11), Fraction(7, 10)))
LISTED = ((Fraction(1, 10), Fraction(1, 10)), (Fraction(2), Fraction(1, 2)), (Fraction(7), Fraction(6, 10)))


@dataclass(frozen=True)
class Cell:
    """One figure: as printed in the thesis, as computed or drawn here, and for a drawn one its range."""

    printed: float | str
    here: float | str
    low: float | None = None
    high: float | None = None

    @property
    def random(self) -> bool:
        return self.low is not None


@dataclass(frozen=True)
class Printed:
    """One table: its number, its column names, its rows; each row begins with its own name."""

    number: int
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@lru_cache(maxsize=1)
def residents() -> tuple[Integers, tuple[str, ...]]:
    with PEOPLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return np.array([int(row["salary"]) for row in rows], dtype=np.int64), tuple(row["state"] for row in rows)


def name_of(epsilon: Fraction, delta: Fraction) -> str:
    return f"({float(epsilon):g}, {float(delta):g})"


def thesis_floor(steps: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Thm 5.3 as the thesis states it, (1−δ)·D/(2(1+e^ε))."""
    return farthest(Fraction(steps), epsilon, delta) / 2


def tables(coins: Coins | None = None) -> tuple[Printed, ...]:
    """Tables 2 to 7, and the case of two values that section 7.2 describes without a table (number 0)."""
    drawn = coins or SystemCoins()
    return (*_numbers(drawn), *_states(drawn), two_values(drawn))


# --- salaries: Tables 2 to 4


def _numbers(coins: Coins) -> tuple[Printed, Printed, Printed]:
    salaries, _ = residents()
    n, steps = len(salaries), HIGH - LOW
    printed_two = ((14589, 14935), (1112, 1075), (245, 249))
    printed_three = ((3402, -111499, 109729), (2999, -6110, 11411), (2990, 765, 5360))
    printed_four = ((640, 110600), (89, 7203), (0.0075, 1803))
    two, three, four = [], [], []
    plain = (float(salaries.mean()), float(salaries.min()), float(salaries.max()))
    # These are not the thesis's 1,000 people: their mean is that of even draws between the ends.
    middle, reach = (LOW + HIGH) / 2, steps / math.sqrt(12 * n) * math.sqrt(2 * math.log(2 / BETA))
    mean = Cell(2995, plain[0], middle - reach, middle + reach)
    three.append(("original", (mean, Cell(1504, plain[1]), Cell(4500, plain[2]))))
    for place, (epsilon, delta) in enumerate(NUMERIC):
        scale, name = thesis_scale(steps, epsilon, delta), name_of(epsilon, delta)
        shown = coins.many_laplace(salaries - LOW, scale) + LOW
        off = np.abs(shown - salaries)
        b = float(scale)
        width, (printed, printed_off) = _mean_width(n), printed_two[place]
        mean_off = Cell(printed_off, float(off.mean()), b * (1 - width), b * (1 + width))
        two.append((name, (Cell(printed, b), mean_off, Cell("", float(least_scale(steps, epsilon, delta))))))
        reach = total_reach(scale, n, BETA) / n
        average, least, most = printed_three[place]
        low, high = _extreme(salaries, b)
        average_cell = Cell(average, float(shown.mean()), plain[0] - reach, plain[0] + reach)
        least_cell = Cell(least, float(shown.min()), -high[1] + LOW + HIGH, -high[0] + LOW + HIGH)
        three.append((name, (average_cell, least_cell, Cell(most, float(shown.max()), *low))))
        floor, largest = printed_four[place]
        largest_cell = Cell(largest, float(off.max()), *_largest(n, b))
        four.append((name, (Cell(floor, float(thesis_floor(steps, epsilon, delta))), largest_cell)))
    return (
        Printed(2, ("b", "mean_off", "least_b"), tuple(two)),
        Printed(3, ("mean", "min", "max"), tuple(three)),
        Printed(4, ("floor", "largest_off"), tuple(four)),
    )


def _mean_width(n: int) -> float:
    """The x with Pr[|mean of n exponentials − 1| > x] ≤ BETA, by Chernoff: exp(−n(x − ln(1+x))) on the wider side.
    Discrete noise of these scales is within a part in 10^4 of exponentials."""
    wanted = math.log(2 / BETA) / n
    return halved(lambda x: x - math.log1p(x) < wanted, 0.0, 10.0, 100)[1] * (1 + 1e-3)


def _largest(n: int, b: float) -> tuple[float, float]:
    """The range of the largest of n errors: Pr[|Z| > t] = e^(−t/b)."""
    side = float(BETA) / 2
    low, high = (-b * math.log(-math.expm1(math.log(chance) / n)) for chance in (side, 1 - side))
    return low, high


def _extreme(salaries: Integers, b: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges of the largest published salary and of the smallest. The latter is mirrored in the middle of the
    range."""

    def chance(values: npt.NDArray[np.float64], at: float) -> float:
        away = (at - values) / b
        below = np.where(away < 0, 0.5 * np.exp(np.minimum(away, 0)), 1 - 0.5 * np.exp(-np.maximum(away, 0)))
        return float(np.exp(np.log(below).sum()))

    def quantile(values: npt.NDArray[np.float64], wanted: float) -> float:
        return halved(lambda at: chance(values, at) < wanted, LOW - 60 * b, HIGH + 60 * b, 200)[1]

    side = float(BETA) / 2
    turned = (LOW + HIGH - salaries).astype(np.float64)
    values = salaries.astype(np.float64)
    ends = (side, 1 - side)
    most, least = ((quantile(sample, ends[0]), quantile(sample, ends[1])) for sample in (values, turned))
    return most, least


# --- states: Tables 5 to 7


def _states(coins: Coins) -> tuple[Printed, Printed, Printed]:
    _, states = residents()
    held = Counter(states)
    labels = sorted(held)
    codes = np.array([labels.index(state) for state in states], dtype=np.int64)
    n = len(states)
    printed_five = (0.12, 0.57, 0.98)
    printed_six = (
        ("TX (35)", "OH (31)", "CA (30)"),
        ("TX (68)", "CA (62)", "FL (45)"),
        ("TX (113)", "CA (102)", "NY (62)"),
    )
    printed_seven = ((0.879, 0.880), (0.432, 0.437), (0.016, 0.018))
    five, six, seven = [], [], []
    first = zip(("TX (114)", "CA (102)", "NY (63)"), held.most_common(3), strict=True)
    six.append(("original", tuple(Cell(printed, f"{state} ({many})") for printed, (state, many) in first)))
    for place, (epsilon, delta) in enumerate(LISTED):
        row, name = Swap(len(labels), epsilon, delta), name_of(epsilon, delta)
        shown = row.perturb(codes, coins)
        top = Counter(labels[code] for code in shown.tolist()).most_common(3)
        five.append((name, (Cell(printed_five[place], float(row.truth)),)))
        drawn = zip(printed_six[place], top, _top_counts(row, [held[label] for label in labels]), strict=True)
        six.append((name, tuple(Cell(printed, f"{state} ({many})", *ends) for printed, (state, many), ends in drawn)))
        floor, off = printed_seven[place]
        wrong = Cell(off, float((shown != codes).mean()), *_share(n, float(row.error)))
        seven.append((name, (Cell(floor, float(row.floor)), wrong)))
    return (
        Printed(5, ("truth",), tuple(five)),
        Printed(6, ("first", "second", "third"), tuple(six)),
        Printed(7, ("floor", "wrong"), tuple(seven)),
    )


def two_values(coins: Coins) -> Printed:
    """The table of women and men. There are two values, so the mechanism is a Bernoulli variable: the other value comes
    with chance p = (1−δ)/(1+e^ε), which is both the mechanism's error and the least possible error (Theorem 5.5 with m
    = 1)."""
    with PEOPLE.open(encoding="utf-8", newline="") as file:
        codes = np.array([int(row["gender"] == "F") for row in csv.DictReader(file)], dtype=np.int64)
    rows = []
    for epsilon, delta in LISTED:
        row = Swap(2, epsilon, delta)
        shown = row.perturb(codes, coins)
        wrong, women = float((shown != codes).mean()), float(codes.sum())
        mean = women * float(row.truth) + (len(codes) - women) * float(row.error)
        reach = math.sqrt(len(codes) * math.log(2 / BETA) / 2)  # Hoeffding
        cells = (
            Cell("", float(row.least_chance)),
            Cell("", float(row.floor)),
            Cell("", wrong, *_share(len(codes), float(row.error))),
            Cell("", float(shown.sum()), mean - reach, mean + reach),
        )
        rows.append((name_of(epsilon, delta), cells))
    return Printed(0, ("chance", "floor", "wrong", "women"), tuple(rows))


def _share(n: int, p: float) -> tuple[float, float]:
    """The range of the share of wrong answers among n, by Chernoff's bound, when each is wrong with chance p."""
    wanted = math.log(2 / BETA) / n

    def divergence(q: float) -> float:
        return sum(a * math.log(a / b) for a, b in ((q, p), (1 - q, 1 - p)) if a > 0)

    low, high = (halved(lambda q: divergence(q) < wanted, p, end, 100)[1] for end in (0.0, 1.0))
    return low, high


def _top_counts(row: Swap, held: list[int]) -> list[tuple[float, float]]:
    """The ranges of the largest, second and third published count: every state's count is within its own range
    (Chernoff's, all states at once), so the ranks of the low ends and of the high ends bound the ranks of the
    counts."""
    n, truth, other = sum(held), float(row.truth), float(row.chance)
    wanted = math.log(2 * len(held) / BETA)
    lows, highs = [], []
    for many in held:
        mean = many * truth + (n - many) * other
        spread = many * truth * (1 - truth) + (n - many) * other * (1 - other)
        reach = wanted / 3 + math.sqrt(wanted * wanted / 9 + 2 * spread * wanted)
        lows.append(max(mean - reach, 0.0))
        highs.append(mean + reach)
    return list(zip(sorted(lows, reverse=True)[:3], sorted(highs, reverse=True)[:3], strict=True))


def count_of(text: float | str) -> float:
    """The count in a text such as “TX (114)”."""
    return float(text.partition("(")[2].rstrip(")")) if isinstance(text, str) else text


def covers(cell: Cell, value: float | str) -> bool:
    return cell.low is None or cell.high is None or cell.low <= count_of(value) <= cell.high


def main() -> None:
    for table in tables():
        print(f"\nTable {table.number}" if table.number else "\nTwo values (section 7.2)")
        for name, cells in table.rows:
            lines = []
            for column, cell in zip(table.columns, cells, strict=True):
                here = cell.here if isinstance(cell.here, str) else f"{cell.here:.{4 if abs(cell.here) < 1 else 0}f}"
                within = "" if cell.low is None else f", within {cell.low:,.4g} … {cell.high:,.4g}"
                lines.append(f"{column} {here} (printed {cell.printed}{within})")
            print(f"  {name:>12}: " + "; ".join(lines))


if __name__ == "__main__":
    main()
