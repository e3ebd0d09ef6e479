"""Sorting a question's possible answers into a few cells with their exact chances on two tables.

An answer of one number or one name is sorted by itself, one of several numbers by its evidence ln(P/Q). Sorting is
post-processing: it can hide loss, never add to it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpengine.noise.laws import Finite, Laplace, Law, Normal, above, chance

MOST_RUNS = 40  # cells of a picture along a line
MOST_LEVELS = 11  # cells of a picture by evidence
WIDE = 4  # noise scales to both sides; the rest is one cell
_WIDE = 10**4  # a variance above which Gaussian chances equal continuous ones to a part in 10^5
_SAME = 9  # digits to which two evidences count as equal
_NEAR = 1e-7  # well above rounding errors of their sums, well below their distances


@dataclass(frozen=True)
class Cell:
    """Some of the answers: their name, their chances on the two tables, if known, and on a line the first and last of
    them."""

    label: str
    one: float | None
    other: float | None
    evidence: float  # ln(one/other); with unknown chances any number in the same order
    first: int | None = None
    last: int | None = None

    @property
    def known(self) -> bool:
        return self.one is not None


@dataclass(frozen=True)
class Claim:
    """The stated loss of a question: no answer is more than e^ε times likelier on one neighbour, except with δ."""

    epsilon: Fraction
    delta: Fraction

    @property
    def times(self) -> float:
        return math.exp(self.epsilon)


@dataclass(frozen=True)
class View:
    kind: str  # the kind of cells: an answer's own number, a bar's, a number behind it; names; evidence; digits
    cells: tuple[Cell, ...]
    place: Callable[[Any], int]  # the cell of a draw
    bar: str = ""  # the bar that the number belongs to

    @property
    def known(self) -> bool:
        return all(cell.known for cell in self.cells)

    def _excess(self, epsilon: float, way: int) -> float:
        """The sum of all positive P − e^ε·Q over the cells; a `way` of −1 exchanges P and Q."""
        pairs = [(cell.one or 0.0, cell.other or 0.0)[::way] for cell in self.cells]
        return math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in pairs)

    def excess(self, epsilon: float) -> float:
        """The smallest δ with which this pair of tables keeps (ε, δ)."""
        return max(self._excess(epsilon, 1), self._excess(epsilon, -1))

    def loss(self, delta: Fraction) -> float | None:
        """The smallest ε that this pair of tables keeps at δ; None if the chances are not known."""
        if not self.known:
            return None
        if not delta:
            return max(abs(cell.evidence) for cell in self.cells)
        low, high = 0.0, 60.0
        if self.excess(high) > delta:
            return math.inf
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if self.excess(middle) > delta else (low, middle)
        return high

    def worst(self, claim: Claim) -> tuple[bool, tuple[int, ...]]:
        """Where the privacy is spent: whether the first table is likelier there, and the indices of the cells. If the
        exact loss exceeds the stated one, these are the cells beyond the stated ε; else those of the strongest
        evidence, or with a δ those beyond the exact loss."""
        weights = [cell.evidence for cell in self.cells]
        loss, limit = self.loss(claim.delta), float(claim.epsilon)
        broken = loss is not None and loss > limit + 1e-9
        first = self._excess(limit, 1) >= self._excess(limit, -1) if broken else max(weights) >= -min(weights) - 1e-9
        turned = weights if first else [-weight for weight in weights]
        edge = max(turned)
        if broken:
            edge = limit
        elif claim.delta and loss is not None and not math.isinf(edge):
            edge = min(edge, loss)
        return first, tuple(at for at, weight in enumerate(turned) if weight >= edge - 1e-9)

    def ranks(self) -> tuple[int, ...]:
        """The rank of each cell by its evidence, equal for equal evidence: the best events have the form “at least this
        rank”."""
        rounded = [round(cell.evidence, _SAME) for cell in self.cells]
        order = {level: rank for rank, level in enumerate(sorted(set(rounded)))}
        return tuple(order[level] for level in rounded)


def of_bells(pairs: Mapping[int, tuple[Any, Any]]) -> View:
    """The view of several numbers with wide noise. All their evidence is in one weighted sum, each number times its
    shift over its variance, which is Gaussian again. With several variances the weights are rounded to integers."""
    variances = {p.variance for p, _ in pairs.values()}
    scale = max(variances) * (1 if len(variances) == 1 else 1000)
    weights = {at: round((p.center - q.center) * scale / p.variance) for at, (p, q) in pairs.items()}
    wide = sum((weight**2 * pairs[at][0].variance for at, weight in weights.items()), Fraction(0))
    one, other = (Normal(sum(weights[at] * pair[side].center for at, pair in pairs.items()), wide) for side in (0, 1))
    view = along_a_line(
        one, other, lambda raw: sum(weight * raw[at] for at, weight in weights.items()), runs=MOST_LEVELS
    )
    return View("evidence", view.cells, view.place)


def along_a_line(
    p: Laplace | Normal,
    q: Laplace | Normal,
    pick: Callable[[Any], int],
    kind: str = "number",
    bar: str = "",
    runs: int = MOST_RUNS,
) -> View:
    """The view of one noisy integer: cells for runs of integers around both centres, and for the two tails."""
    low, high = sorted((p.center, q.center))
    scale = p.scale if isinstance(p, Laplace) else math.sqrt(p.variance)
    reach = max(math.ceil(WIDE * scale), 2)
    width = -(-(high - low + 2 * reach) // runs)
    first = high - width * -(-(high - low + reach) // width)  # a run starts at the higher centre
    starts = list(range(first, high + reach + 1, width))
    ends = [(None, first - 1), *((start, start + width - 1) for start in starts), (starts[-1] + width, None)]
    cells = tuple(_run(p, q, a, b) for a, b in ends)
    return View(kind, cells, lambda raw: min(max((pick(raw) - first) // width, -1), len(starts)) + 1, bar)


def _run(p: Laplace | Normal, q: Laplace | Normal, first: int | None, last: int | None) -> Cell:
    one, other = between(p, first, last), between(q, first, last)
    if first is None:
        label = f"≤ {_signed(last)}"
    elif last is None:
        label = f"≥ {_signed(first)}"
    else:
        label = _signed(first) if first == last else f"{_signed(first)} … {_signed(last)}"
    return Cell(label, float(one), float(other), _ratio(one, other), first, last)


def _signed(number: int | None) -> str:
    return f"{number:,}".replace("-", "−")


def between(law: Laplace | Normal, first: int | None, last: int | None) -> Decimal:
    """The chance that an outcome is at least `first` and at most `last`; None leaves that side open."""
    if isinstance(law, Laplace):
        if first is not None and (last is None or first > law.center):  # the side without cancellation
            return above(law, first - 1) - (Decimal(0) if last is None else above(law, last))
        mirrored = Laplace(-law.center, law.scale)
        assert last is not None
        return above(mirrored, -last - 1) - (Decimal(0) if first is None else above(mirrored, -first))
    if law.variance > _WIDE:
        scale = math.sqrt(2 * law.variance)
        low_end = -math.inf if first is None else (first - 0.5 - law.center) / scale
        high_end = math.inf if last is None else (last + 0.5 - law.center) / scale
        if high_end < 0:  # the side without cancellation
            low_end, high_end = -high_end, -low_end
        return Decimal((math.erfc(low_end) - math.erfc(high_end)) / 2)
    far = 14 * (math.isqrt(math.ceil(law.variance)) + 1)  # the tail beyond is below e^-90
    low = law.center - far if first is None else first
    high = law.center + far if last is None else last
    return sum((chance(law, place) for place in range(low, high + 1)), Decimal(0))


def _ratio(one: Decimal, other: Decimal) -> float:
    if not one or not other:
        return math.inf if one else -math.inf
    return float((one / other).ln())


def by_name(p: Finite, q: Finite, pick: Callable[[Any], Any], name: Callable[[Any], str]) -> View:
    """The view of a choice, with a cell for each outcome."""
    outcomes = sorted(p.chances.keys() | q.chances.keys())
    places = {outcome: at for at, outcome in enumerate(outcomes)}
    pairs = [(p.chances.get(one, Decimal(0)), q.chances.get(one, Decimal(0))) for one in outcomes]
    cells = tuple(
        Cell(name(outcome), float(a), float(b), _ratio(a, b)) for outcome, (a, b) in zip(outcomes, pairs, strict=True)
    )
    return View("names", cells, lambda raw: places[pick(raw)])


def by_evidence(pairs: Mapping[int, tuple[Law, Law]], parts: Callable[[Any], tuple[Any, ...]]) -> View:
    """The view of several numbers together. They are independent, so their evidence adds up."""
    levels: dict[float, tuple[Decimal, Decimal]] = {0.0: (Decimal(1), Decimal(1))}
    for p, q in pairs.values():
        longer: dict[float, tuple[Decimal, Decimal]] = {}
        for level, (one, other) in levels.items():
            for more, (a, b) in _steps(p, q).items():
                if one * a or other * b:
                    total = round(level + more, _SAME)
                    before = longer.get(total, (Decimal(0), Decimal(0)))
                    longer[total] = (before[0] + one * a, before[1] + other * b)
        levels = longer
    known = sorted(levels)
    groups = _grouped(known)
    where = [at for at, group in enumerate(groups) for _ in group]
    cells = []
    for group in groups:
        one, other = (sum((levels[level][side] for level in group), Decimal(0)) for side in (0, 1))
        cells.append(Cell("", float(one), float(other), _ratio(one, other)))

    @lru_cache(maxsize=4096)
    def cell_of(outcome: tuple[Any, ...]) -> int:
        total = sum(_evidence(p, q, part) for (p, q), part in zip(pairs.values(), outcome, strict=True))
        return where[bisect_left(known, total - _NEAR)]

    def place(raw: Any) -> int:
        outcome = parts(raw)
        return cell_of(tuple(outcome[at] for at in pairs))

    return View("evidence", tuple(cells), place)


def _grouped(levels: list[float]) -> list[list[float]]:
    """The evidence levels, each by itself; of many, the two extremes by themselves and the rest in equal steps."""
    if len(levels) <= MOST_LEVELS:
        return [[level] for level in levels]
    inner = levels[1:-1]
    width = (inner[-1] - inner[0]) / (MOST_LEVELS - 2) or 1.0
    groups: dict[int, list[float]] = {}
    for level in inner:
        groups.setdefault(min(int((level - inner[0]) / width), MOST_LEVELS - 3), []).append(level)
    return [[levels[0]], *(groups[at] for at in sorted(groups)), [levels[-1]]]


def _steps(p: Law, q: Law) -> dict[float, tuple[Decimal, Decimal]]:
    """The evidence that the outcomes of one number give; for each, the chances on both tables."""
    steps: dict[float, tuple[Decimal, Decimal]] = {}

    def add(evidence: float, a: Decimal, b: Decimal) -> None:
        before = steps.get(round(evidence, _SAME), (Decimal(0), Decimal(0)))
        steps[round(evidence, _SAME)] = (before[0] + a, before[1] + b)

    if isinstance(p, Laplace) and isinstance(q, Laplace):
        low, high = sorted((p.center, q.center))
        for first, last in [(None, low), *((at, at) for at in range(low + 1, high)), (high, None)]:
            at = low if first is None else first
            add(_evidence(p, q, at), between(p, first, last), between(q, first, last))
    elif isinstance(p, Finite) and isinstance(q, Finite):
        for outcome in p.chances.keys() | q.chances.keys():
            add(_evidence(p, q, outcome), chance(p, outcome), chance(q, outcome))
    else:  # noise on one table, an exact outcome on the other: no answer fits both
        add(math.inf, Decimal(1), Decimal(0))
        add(-math.inf, Decimal(0), Decimal(1))
    return steps


def _evidence(p: Law, q: Law, outcome: Any) -> float:
    if isinstance(p, Laplace) and isinstance(q, Laplace):
        return float((abs(outcome - q.center) - abs(outcome - p.center)) / p.scale)
    if isinstance(p, Finite) and isinstance(q, Finite):
        return _ratio(chance(p, outcome), chance(q, outcome))
    bare = p if isinstance(p, Finite) else q
    assert isinstance(bare, Finite)
    return math.inf if (outcome in bare.chances) == (bare is p) else -math.inf
