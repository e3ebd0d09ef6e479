"""A table of made-up people from released marginals: the points of its fit, and whole rows. Free post-processing; the
table is not read.

Fit         of maximum entropy, soft where there is noise (`soft_fit`: the objective and the method), to everything
            released: a pair counts beside a triple that holds it, because it was measured more exactly. Each is
            followed as closely as it deserves: a pair of the tree by its distance from independence, another pair by
            its distance from the tree, a triple by its distance from its pairs, and then, after some sweeps, from all
            pairs and the other triples, beyond noise. Pairs that were chosen because they are far from the expectation
            are all followed as closely, within a fixed number of standard deviations of their noise. Single columns are
            followed most closely, and last, a few more times: a pair has many cells, and that none may be below 0 moves
            their sums.
Points      all combinations if they are few (`MOST_POINTS`), else a sample. They start from a tree of the most
            dependent released pairs: a tree is itself the fit of maximum entropy to its pairs, so with many points the
            result is that to all, and noise of other pairs does not fit what pairs of the tree explain.
Rows        every point becomes as many whole rows as its weight, rounded along the points in order; then rows are
            changed in one column at a time as long as that brings pairs and threes closer to the fit.
Why our own The library for this, mbi, brings JAX, and its fit had not converged on 8 columns in 25 minutes on two
            processors. Over points nothing grows with the dependence of columns: a sweep is one pass over the points
            for each marginal, whatever the cliques.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dpengine.core.types import Floats, Integers
from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.mechanisms.synthetic.soft_fit import (
    HARDEST_THREE,
    OFF_TREE,
    SWEEPS,
    Points,
    Progress,
    Target,
    by_others,
    followed,
    given_first,
    nearest,
    of_pair,
    of_pairs,
    quiet,
    raked,
    tree,
    trusted,
)


class PublicMix:
    """Pseudorandom numbers from a public seed: for work on released numbers, never for noise. NumPy's Philox, read as
    raw words, gives the same numbers for a seed on every machine and in every version, so lost rows can be rebuilt."""

    def __init__(self, seed: int) -> None:
        self._words = np.random.Philox(key=seed % 2**64)

    def shares(self, many: int) -> Floats:
        return np.asarray((self._words.random_raw(many) >> np.uint64(11)) / 2.0**53, dtype=np.float64)

    def order(self, many: int) -> Integers:
        """The numbers from 0 on, mixed."""
        return np.asarray(np.argsort(self.shares(many), kind="stable"), dtype=np.int64)

    def below(self, bound: int) -> int:
        return int(self.shares(1)[0] * bound)


MOST_POINTS = 2**21  # combinations that are all listed
SAMPLED = 2**20  # points of a sample, where there are more
MOST_PLACES = 2**27  # points times marginals: half a gigabyte
CLOSELY, MOST_CLOSELY = 2.0, 0.3  # standard deviations: for chosen pairs and triples; for single columns
LAST = 5  # sweeps over single columns, at the end
MENDING, _STILL = 200, 5  # sweeps in which rows are changed; in which none was, before we stop
_LOOKED_AT, _FIRST_SHARE = 1_000, 0.03  # rows at a time; how many of these are moved, at first
_IN_THREE: tuple[Columns, ...] = ((0, 1), (0, 2), (1, 2))
_TRIED, _BEFORE = 12, 8  # sweeps of a triple to its pairs; of a fit after which triples are judged again
Possible = Callable[[Sequence[Integers]], npt.NDArray[np.bool_] | None]  # which combinations can be; None: all


def anything(codes: Sequence[Integers]) -> None:
    """A rule that excludes no combination: it returns None."""


def fitted(
    sizes: Sequence[int],
    targets: Sequence[Target],
    rows: float,
    seed: int,
    progress: Progress = quiet,
    alike: bool = False,
    points: int = SAMPLED,
    most: int = MOST_POINTS,
    sweeps: int = SWEEPS,
    possible: Possible = anything,
) -> Points:
    """The points of the fit to all targets. With `alike`, every marginal is followed as closely, no matter how far it
    is from the expectation."""
    points = max(min(points, MOST_PLACES // len(targets)), 2**14)
    few = math.prod(sizes) <= most
    alone = [followed(target, MOST_CLOSELY) for target in targets if target.cells.ndim == 1]
    several = (target for target in targets if target.cells.ndim > 1)
    joint = [followed(target, CLOSELY) for target in several] if alike else [*_apart(sizes, targets, rows).values()]
    start = [*alone, *joint]
    first = listed(sizes, start, rows) if few else sampled(sizes, start, rows, seed, points)
    fine = possible(first.codes)
    if fine is not None and fine.any():
        first = Points(first.codes, first.weights * fine)
    if not alike:
        joint = judged(sizes, targets, rows, start, first)
        joint = judged_again(sizes, targets, rows, first, joint, alone)
    close = raked(first, sizes, [*joint, *alone], sweeps, progress)
    return raked(close, sizes, alone, LAST)


def _apart(sizes: Sequence[int], targets: Sequence[Target], rows: float) -> dict[Columns, Target]:
    """Every measured pair as a target. The fit follows a pair the more closely, the further its counts are from
    independence."""
    shares = shares_of(sizes, targets)
    return {
        target.columns: trusted(target, rows * np.outer(*(shares[place] for place in target.columns)), rows)
        for target in targets
        if target.cells.ndim == 2
    }


def judged(
    sizes: Sequence[int], targets: Sequence[Target], rows: float, start: Sequence[Target], first: Points
) -> list[Target]:
    """Pairs and triples, each with as much trust as its own cells justify (`soft_fit.trusted`) beyond `first`, the
    points of the fit to `start`, which follow the tree of pairs."""
    joint, shares = _apart(sizes, targets, rows), shares_of(sizes, targets)
    steps = tree(len(sizes), pair_tables(start, rows, shares))
    followed_first = {(min(parent, child), max(parent, child)) for parent, child in steps if parent is not None}
    scale = rows / first.weights.sum()
    for target in targets:
        if target.cells.ndim == 2 and target.columns not in followed_first:
            joint[target.columns] = trusted(target, scale * first.marginal(target.columns, sizes), rows, OFF_TREE)
    for target in targets:
        if target.cells.ndim == 3:
            named = {at: (target.columns[at[0]], target.columns[at[1]]) for at in _IN_THREE}
            held = {at: joint[pair] for at, pair in named.items() if pair in joint}
            pairs = [Target(at, of.cells, of.variance) for at, of in held.items()]
            own = [shares[place] for place in target.columns]
            expected = of_pairs(target.cells.shape, rows, own, pairs, _TRIED)
            joint[target.columns] = trusted(target, expected, rows, OFF_TREE, HARDEST_THREE)
    return list(joint.values())


def judged_again(
    sizes: Sequence[int],
    targets: Sequence[Target],
    rows: float,
    first: Points,
    joint: Sequence[Target],
    alone: Sequence[Target],
) -> list[Target]:
    """Pairs and triples, the triples with as much trust as they justify beyond a short fit to everything else
    (`soft_fit.by_others`)."""
    if all(target.cells.ndim < 3 for target in joint):
        return [*joint]
    expected = by_others(first, sizes, [*joint, *alone], _BEFORE)
    measured = {target.columns: target for target in targets}
    scale = rows / first.weights.sum()
    return [
        trusted(measured[target.columns], scale * expected[target.columns], rows, OFF_TREE, HARDEST_THREE)
        if target.columns in expected
        else target
        for target in joint
    ]


def listed(sizes: Sequence[int], targets: Sequence[Target], rows: float) -> Points:
    """All combinations with their expected rows, by the tree of the most dependent pairs."""
    shares, weights = shares_of(sizes, targets), np.full(tuple(sizes), rows)
    pairs = pair_tables(targets, rows, shares)
    for parent, child in tree(len(sizes), pairs):
        likely, held = shares[child], {child}
        if parent is not None:
            joint = pairs[(parent, child)] if parent < child else pairs[(child, parent)].T
            given = given_first(joint, likely)
            likely, held = (given if parent < child else given.T), {parent, child}
        weights *= np.expand_dims(likely, tuple(place for place in range(len(sizes)) if place not in held))
    grid = np.unravel_index(np.arange(math.prod(sizes)), tuple(sizes))
    return Points(tuple(code.astype(np.int64) for code in grid), weights.ravel())


def shares_of(sizes: Sequence[int], targets: Sequence[Target]) -> list[Floats]:
    """The probability of each cell of every column, by the smallest marginal with this column."""
    shares: list[Floats] = []
    for place, size in enumerate(sizes):
        held = [target for target in targets if place in target.columns]
        if not held:
            shares.append(np.full(size, 1 / size))
            continue
        smallest = min(held, key=lambda target: target.cells.size)
        axes = tuple(axis for axis, other in enumerate(smallest.columns) if other != place)
        shares.append(nearest(smallest.cells.sum(axis=axes)))
    return shares


def pair_tables(targets: Sequence[Target], rows: float, shares: Sequence[Floats]) -> dict[Columns, Floats]:
    """Every pair inside a released marginal, fitted by itself, as shares."""
    tables: dict[Columns, Floats] = {}
    for measured in sorted(targets, key=lambda target: len(target.columns)):
        for pair in combinations(measured.columns, 2):
            if pair not in tables:
                axes = tuple(axis for axis, place in enumerate(measured.columns) if place not in pair)
                summed = math.prod(measured.cells.shape[axis] for axis in axes)
                cells = measured.cells.sum(axis=axes)
                tables[pair] = of_pair(cells, measured.variance * summed, shares[pair[0]], shares[pair[1]], rows)
    return tables


def sampled(sizes: Sequence[int], targets: Sequence[Target], rows: float, seed: int, points: int) -> Points:
    """Points drawn from the tree of the most dependent pairs, each with the same weight."""
    rng = PublicMix(seed)
    shares = shares_of(sizes, targets)
    pairs = pair_tables(targets, rows, shares)
    codes: dict[int, Integers] = {}
    for parent, child in tree(len(sizes), pairs):
        if parent is None:
            codes[child] = _dealt(shares[child], points)[rng.order(points)]
            continue
        joint = pairs[(parent, child)] if parent < child else pairs[(child, parent)].T
        own: Integers = np.zeros(points, dtype=np.int64)
        order = np.argsort(codes[parent], kind="stable")
        starts = np.searchsorted(codes[parent][order], np.arange(sizes[parent] + 1))
        for cell in range(sizes[parent]):
            group = order[starts[cell] : starts[cell + 1]]
            given = joint[cell] / joint[cell].sum() if joint[cell].sum() > 0 else shares[child]
            own[group] = _dealt(given, len(group))[rng.order(len(group))]
        codes[child] = own
    return Points(tuple(codes[place] for place in range(len(sizes))), np.full(points, rows / points))


def _dealt(shares: Floats, many: int) -> Integers:
    """`many` codes in rising order, each about as often as its share says."""
    edges = np.rint(np.cumsum(shares) * many).astype(np.int64)
    return np.searchsorted(edges, np.arange(many), side="right").clip(0, len(shares) - 1).astype(np.int64)


def whole_rows(
    points: Points, sizes: Sequence[int], rows: int, parts: Sequence[Columns], seed: int, possible: Possible = anything
) -> list[Integers]:
    """Round the fit to `rows` whole rows, a code for each column; then change rows until the marginals `parts` fit."""
    order = np.lexsort([*reversed(points.codes)])
    edges = np.floor(np.cumsum(points.weights[order]) * (rows / points.weights.sum()) + 0.5).astype(np.int64)
    edges[-1] = rows
    many = np.diff(edges, prepend=0)
    codes = [np.repeat(code[order], many) for code in points.codes]
    scale = rows / points.weights.sum()
    wanted: dict[Columns, Floats] = {part: scale * points.marginal(part, sizes) for part in parts}
    return mended(codes, sizes, wanted, PublicMix(seed), possible=possible)


def mended(
    codes: Sequence[Integers],
    sizes: Sequence[int],
    wanted: Mapping[Columns, Floats],
    rng: PublicMix,
    sweeps: int = MENDING,
    possible: Possible = anything,
) -> list[Integers]:
    """Rows, a code for each column, changed until their counts are near `wanted`. A row that moves from a cell with D_a
    rows missing to one with D_v lowers Σ(D²) by 2·(D_v − D_a − 1), summed over the parts of the column. In each step we
    look at a few rows, and those that gain most take their best other value. Rows that move together may raise Σ(D²):
    then none of them moves, and fewer do the next time. Few at a time, and often: what a row gains is out of date as
    soon as others moved."""
    codes, left = [code.astype(np.int64) for code in codes], _Missing(codes, sizes, wanted)
    share, still = [_FIRST_SHARE] * len(codes), 0
    for _ in range(sweeps):
        moves = 0
        for column in rng.order(len(codes)).tolist():
            if not left.held[column]:
                continue
            looked = rng.order(len(codes[column]))[:_LOOKED_AT]
            mine = [code[looked] for code in codes]
            best, gain = left.best(column, mine)
            able = np.flatnonzero(gain > 0)
            some = able[np.argsort(-gain[able], kind="stable")[: max(int(share[column] * len(looked)), 1)]]
            then = [code[some] for code in mine]
            then[column] = best[some]
            if (fine := possible(then)) is not None:
                some, then = some[fine], [code[fine] for code in then]
            if not len(some):
                continue
            nearer = left.moved(column, [code[some] for code in mine], then[column])
            share[column] *= 1.2 if nearer else 0.5
            if nearer:
                codes[column][looked[some]] = then[column]
                moves += len(some)
        still = 0 if moves else still + 1
        if still == _STILL:
            break
    return codes


class _Missing:
    """The rows that are missing in each cell of every part, below 0 where there are too many; all parts in one list."""

    def __init__(self, codes: Sequence[Integers], sizes: Sequence[int], wanted: Mapping[Columns, Floats]) -> None:
        self.sizes, self.parts = sizes, [*wanted]
        self._ends = np.cumsum([cells.size for cells in wanted.values()], dtype=np.int64).tolist()
        self._starts = [0, *self._ends[:-1]]
        self.held = [[at for at, part in enumerate(self.parts) if column in part] for column in range(len(sizes))]
        off = [cells.ravel() - self._counted(codes, part) for part, cells in wanted.items()]
        self._cells = np.concatenate(off).astype(np.float32) if off else np.zeros(0, dtype=np.float32)

    def _counted(self, codes: Sequence[Integers], part: Columns) -> Floats:
        shape = tuple(self.sizes[column] for column in part)
        place = np.ravel_multi_index(tuple(codes[column].astype(np.int64) for column in part), shape)
        return np.bincount(place, minlength=math.prod(shape)).astype(np.float64)

    def best(self, column: int, rows: Sequence[Integers]) -> tuple[Integers, npt.NDArray[np.float32]]:
        """For each of these rows, the value of the column that lowers Σ(D²) most, and half of how much it lowers
        Σ(D²)."""
        gains = np.zeros((len(rows[column]), self.sizes[column]), dtype=np.float32)
        for at in self.held[column]:
            part = self.parts[at]
            block = self._cells[self._starts[at] : self._ends[at]].reshape([self.sizes[one] for one in part])
            away = np.ascontiguousarray(np.moveaxis(block, part.index(column), -1)).reshape(-1, self.sizes[column])
            gains += away.take(self._place([one for one in part if one != column], rows), axis=0)
        gains -= np.take_along_axis(gains, rows[column][:, None], axis=1) + len(self.held[column])
        best = gains.argmax(axis=1).astype(np.int64)
        return best, np.take_along_axis(gains, best[:, None], axis=1)[:, 0]

    def _place(self, columns: Sequence[int], rows: Sequence[Integers]) -> Integers:
        place = np.zeros(len(rows[0]), dtype=np.int64)
        for column in columns:
            place = place * self.sizes[column] + rows[column]
        return place

    def moved(self, column: int, rows: Sequence[Integers], values: Integers) -> bool:
        """Move these rows to these values if that lowers Σ(D²); True if they moved."""
        after = [values if place == column else code for place, code in enumerate(rows)]
        left, come = (
            np.concatenate([self._starts[at] + self._place(self.parts[at], one) for at in self.held[column]])
            for one in (rows, after)
        )
        cells, where = np.unique(np.concatenate([left, come]), return_inverse=True)
        more = np.bincount(where[: len(left)], minlength=len(cells)) - np.bincount(
            where[len(left) :], minlength=len(cells)
        )
        nearer = bool((more * (2 * self._cells[cells].astype(np.float64) + more)).sum() < 0)
        if nearer:
            self._cells[cells] += more.astype(np.float32)
        return nearer
