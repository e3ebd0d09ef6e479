"""Cumulative counts over the cells of a grid, from noisy counts: as sums of nodes of a tree, by least squares over the
tree, or by a root of the matrix of sums.

Tree        B branches at each node, L levels; the cells are the first level, the root is left out. A row is in one node
            of each level.
Digits      the number at or below a cell is a sum of nodes, some of them subtracted (“negative digits”, as in
            arXiv:2408.07021). Inside its own block we either add the nodes up to the cell to the whole blocks before
            it, or subtract the nodes after it from those blocks and its own, whichever are fewer; at the last level
            too, if the number of all rows is public. So a sum has about half as many nodes, none twice. Noise is
            symmetric: a node that is subtracted is as noisy as one that is added.

Least squares, in exact fractions

Problem     every node is the number of rows below it plus independent noise of one law. The counts of cells nearest to
            all nodes together (least sum of squares) have, of all unbiased linear estimates, the least variance in
            every sum of cells (Gauss and Markov), so also in the number at or below a cell. This is post-processing,
            and uses every noise. If the number of all rows is public, the cells must add up to it; if not, nothing is
            known of the root.
Up          z, the best estimate of a node from the nodes below it, with variance s (of one noise): a cell has z = y,
            s = 1; a node whose children add up to u, with variance C in all, has z = (C·y + u)/(C + 1), s = C/(C + 1).
Down        x, the best estimate from everything: a child has x = z + (s/C)·(x of its parent − u). (Hay, Rastogi,
            Miklau, Suciu 2010, Thm 3, here for trees whose last blocks are not full.)
Weights     the number at or below a cell is Σ w·y over all nodes, by the same two steps the other way round. Let m be
            the part of a node's x in the sum. In a block with parent V, the children before the cell have 1, the one
            that holds it has its own m, those after have 0; so V has m_V = Σ (part)·s/C, and every child's z has
            (part) − m_V. A child that holds the cell hands its z on to the block below it. At the root, m_V multiplies
            the number of all rows; if that is not public, the root has `root` instead: 0 for the number at or below,
            α for that number less α times all rows. Few of the weights differ, so we keep each size with its
            multiplicity. Signs do not matter, since noise is symmetric.

The root of the matrix of sums

Root        P, the lower triangle of ones, has the square root M, a lower triangle with c_j = C(2j, j)/4^j on its j-th
            diagonal: 1/(1−q) = (Σ_j c_j·q^j)². Gaussian noise on M·x, multiplied by M, is nearly as small as any
            factorisation allows (Fichtenberger, Henzinger, Upadhyay 2023; Matoušek, Nikolov, Talwar 2020).
Table       c_j is irrational as a scale of noise, so we round it to integers r_j near 2^16·c_j: public, and the same
            for everyone. We draw R·x + Z, R with r_j on its diagonals, all of it integers.
Sensitivity from that very table: a row more changes R·x by a column of R, a row moved by the difference of two columns.
            We compute the largest squared length of either over all columns. A person of at most m rows: m² times that
            (the length of a sum is at most the sum of lengths).
Sums        P·x = L·(R·x) for L = P·R⁻¹, a lower triangle again; its diagonals are the quotients of the series Σ q^j by
            Σ r_j·q^j. This is post-processing, in floats: their rounding is far below the thousandth of a row that we
            add to every reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from math import comb
from typing import Generic, TypeVar

import numpy as np

from dpengine.core.types import Floats, Integers


@dataclass(frozen=True)
class NodeRange:
    """Nodes from `first` up to before `end`, added (1) or subtracted (−1)."""

    first: int
    end: int
    sign: int


NodeRanges = tuple[NodeRange, ...]


@dataclass(frozen=True)
class TreeShape:
    """A tree of this many cells, `branches` (B) at each node."""

    leaves: int
    branches: int

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The number of nodes of each level, cells first."""
        widths = [self.leaves]
        while widths[-1] > self.branches:
            widths.append(-(-widths[-1] // self.branches))
        return tuple(widths)

    @property
    def levels(self) -> int:
        return len(self.widths)


@lru_cache(maxsize=64)
def balanced(leaves: int) -> TreeShape:
    """For the least noise in a sum of about L(B−1) nodes of scale ∝ L."""
    shapes = (TreeShape(leaves, branches) for branches in range(2, max(leaves, 2) + 1))
    return min(shapes, key=lambda shape: (shape.levels**3 * (shape.branches - 1), shape.branches))


@lru_cache(maxsize=64)
def from_left(leaves: int) -> TreeShape:
    """Where the number of all rows is not public: the W nodes of the last level are added up from the left, W/2 on
    average. In a block of B children both ends are known, so a sum of i has the variance i(B−i)/B, B/6 on average. The
    least L²·(W/2 + (L−1)·B/6); so W is smaller than in `balanced`, and B larger."""
    shapes = (TreeShape(leaves, branches) for branches in range(2, max(leaves, 2) + 1))
    return min(
        shapes,
        key=lambda shape: (
            shape.levels**2 * (3 * shape.widths[-1] + (shape.levels - 1) * shape.branches),
            shape.branches,
        ),
    )


def nodes_of(cells: list[int], shape: TreeShape) -> list[int]:
    """Every node's count, the cells first."""
    nodes: list[int] = []
    for _ in range(shape.levels):
        nodes += cells
        cells = [sum(cells[place : place + shape.branches]) for place in range(0, len(cells), shape.branches)]
    return nodes


@lru_cache(maxsize=64)
def sums(shape: TreeShape, from_all: bool) -> tuple[tuple[NodeRanges, bool], ...]:
    """For every cell the nodes that add up to the number at or below it, and whether the number of all rows is
    added."""
    branches, levels, widths = shape.branches, shape.levels, shape.widths
    begins = [0, *accumulate(widths)]
    listed = []
    for cells in range(1, shape.leaves + 1):
        parts: list[NodeRange] = []
        place, whole = cells, False
        for level in range(levels):
            begin, last = begins[level], level == levels - 1
            start = 0 if last else place // branches * branches
            end = widths[level] if last else min(start + branches, widths[level])
            back = end - place < place - start and (from_all or not last)
            first, stop = (place, end) if back else (start, place)
            if stop > first:
                parts.append(NodeRange(begin + first, begin + stop, -1 if back else 1))
            place = place // branches + back
            whole = back and last
        listed.append((tuple(parts), whole))
    return tuple(listed)


@lru_cache(maxsize=64)
def lengths(shape: TreeShape, from_all: bool) -> tuple[int, ...]:
    """The number of nodes in the sum for each cell."""
    return tuple(sum(part.end - part.first for part in parts) for parts, _ in sums(shape, from_all))


def sums_of(drawn: Sequence[int | Fraction], shape: TreeShape, everyone: int | None) -> list[int | Fraction]:
    """The number at or below every cell, as a sum of nodes; `everyone`: the number of all rows, if it is public."""
    below = []
    for parts, from_all in sums(shape, everyone is not None):
        count = sum(part.sign * sum(drawn[part.first : part.end]) for part in parts)
        below.append(count + (everyone or 0) if from_all else count)
    return below


# --- Least squares ----------------------------------------------------------------------------------------------------

Number = TypeVar("Number", Fraction, float)
Weights = dict[Number, int]  # a size, and the number of nodes with it


@dataclass(frozen=True)
class _Tree(Generic[Number]):
    """The widths of the levels, and for each node s, the variance of its best estimate from below. `number` converts a
    fraction to the tree's kind of number."""

    branches: int
    widths: tuple[int, ...]
    variances: tuple[tuple[Number, ...], ...]
    number: Callable[[Fraction | int], Number]

    def block(self, level: int, parent: int) -> range:
        """The children of a node, in the level below it; at the last level all are the root's."""
        if level == len(self.widths) - 1:
            return range(self.widths[level])
        first = parent * self.branches
        return range(min(first, self.widths[level]), min(first + self.branches, self.widths[level]))


@lru_cache(maxsize=64)
def _tree(shape: TreeShape) -> _Tree[Fraction]:
    branches, variances = shape.branches, [(Fraction(1),) * shape.leaves]
    for _ in range(shape.levels - 1):
        below = variances[-1]
        totals = [sum(below[place : place + branches], Fraction(0)) for place in range(0, len(below), branches)]
        variances.append(tuple(total / (total + 1) for total in totals))
    return _Tree(branches, shape.widths, tuple(variances), Fraction)


@lru_cache(maxsize=64)
def _rough(shape: TreeShape) -> _Tree[float]:
    """The tree in floats. Their errors are far below what `tree_arrays` rounds up."""
    exact = _tree(shape)
    levels = tuple(tuple(map(float, level)) for level in exact.variances)
    return _Tree(exact.branches, exact.widths, levels, float)


@lru_cache(maxsize=64)
def fitted_tree(drawn: tuple[int | Fraction, ...], shape: TreeShape, everyone: int | None) -> tuple[Fraction, ...]:
    """The number at or below every cell, by least squares over all nodes."""
    tree = _tree(shape)
    up: list[list[Fraction]] = []
    begin = 0
    for level, width in enumerate(tree.widths):
        noisy = [Fraction(count) for count in drawn[begin : begin + width]]
        if level:
            for node, own in enumerate(noisy):
                part = tree.variances[level][node]  # C/(C + 1)
                below = sum((up[-1][child] for child in tree.block(level - 1, node)), Fraction(0))
                noisy[node] = part * own + (1 - part) * below
        up.append(noisy)
        begin += width
    parents = [sum(up[-1], Fraction(0)) if everyone is None else Fraction(everyone)]
    for level in reversed(range(len(tree.widths))):
        children: list[Fraction] = []
        for node, parent in enumerate(parents):
            block = tree.block(level, node)
            total = sum((tree.variances[level][child] for child in block), Fraction(0))
            missing = parent - sum((up[level][child] for child in block), Fraction(0))
            children += [up[level][child] + tree.variances[level][child] / total * missing for child in block]
        parents = children
    sums: list[Fraction] = []
    for cell in parents:
        sums.append(cell + (sums[-1] if sums else 0))
    return tuple(sums)


def _weights_of(tree: _Tree[Number], cells: int, known: bool, root: Fraction) -> Weights[Number]:
    """The sizes of all nodes' weights in the sum of the first `cells` cells, with how often each occurs. `known`: is
    the number of all rows public? If not, the root has the weight `root`."""
    number, none = tree.number, tree.number(0)
    top = len(tree.widths) - 1
    places = [cells // tree.branches**level for level in range(top + 1)]  # whole nodes before the end of the sum
    taken: list[Number] = []  # m of the parent of each level's block
    held = none  # of the node that holds the end
    for level in range(top + 1):
        block, own = tree.block(level, places[level] // tree.branches), tree.variances[level]
        before = sum((own[child] for child in block if child < places[level]), none)
        if places[level] in block:
            before += held * own[places[level]]
        held = before / sum((own[child] for child in block), none) if block else none
        taken.append(held)
    if not known:
        taken[top] = number(root)
    weights: Counter[Number] = Counter()
    handed = none  # from the node above to each child
    for level in reversed(range(top + 1)):
        less, place = handed - taken[level], places[level]
        handed = none
        whole: Counter[tuple[bool, int]] = Counter()  # children that do not hold the end: before it, how wide
        for child in tree.block(level, place // tree.branches):
            if child == place and level:
                weight, part = taken[level - 1] + less, tree.variances[level][child]
                weights[abs(weight * part)] += 1
                handed = weight * (1 - part)
            else:
                whole[child < place, _held(tree, level, child)] += 1
        for (before_it, wide), many in whole.items():
            weight = abs(less + number(before_it))
            for size, times in _below(tree.branches, level, wide):
                weights[weight * number(size)] += times * many
    return {size: times for size, times in weights.items() if size}


def _held(tree: _Tree[Number], level: int, node: int) -> int:
    """The number of cells below a node."""
    wide: int = tree.branches**level
    return min(wide, tree.widths[0] - node * wide)


@lru_cache(maxsize=256)
def _below(branches: int, level: int, cells: int) -> tuple[tuple[Fraction, int], ...]:
    """The weights in z of a node with this many cells: of the node itself and of those below it."""
    if not level:
        return ((Fraction(1), 1),)
    wide = branches ** (level - 1)
    children = [min(wide, cells - first) for first in range(0, cells, wide)]
    total = sum((_variance(branches, level - 1, held) for held in children), Fraction(0))
    weights: Counter[Fraction] = Counter({total / (total + 1): 1})
    for held in children:
        for size, times in _below(branches, level - 1, held):
            weights[size / (total + 1)] += times
    return tuple(weights.items())


@lru_cache(maxsize=256)
def _variance(branches: int, level: int, cells: int) -> Fraction:
    if not level:
        return Fraction(1)
    wide = branches ** (level - 1)
    total = sum((_variance(branches, level - 1, min(wide, cells - at)) for at in range(0, cells, wide)), Fraction(0))
    return total / (total + 1)


@lru_cache(maxsize=64)
def tree_arrays(shape: TreeShape, known: bool, root: Fraction) -> tuple[Floats, Floats]:
    """The sizes of `_weights_of`, rounded up, and how often each occurs: a row for each cell, padded with 0."""
    rows = [_weights_of(_rough(shape), cells, known, root) for cells in range(1, shape.leaves + 1)]
    most = max(1, *(len(row) for row in rows))
    sizes, times = np.zeros((len(rows), most)), np.zeros((len(rows), most))
    for place, row in enumerate(rows):
        sizes[place, : len(row)] = list(row)
        times[place, : len(row)] = list(row.values())
    return sizes * (1 + 1e-12), times


# --- The root of the matrix of sums -----------------------------------------------------------------------------------

BITS = 16
ROUNDED = 1e-3  # rows


@lru_cache(maxsize=64)
def table(cells: int) -> Integers:
    """r_0, r_1, …: 2^BITS·c_j, rounded down."""
    return np.array([round(comb(2 * j, j) << BITS >> 2 * j) for j in range(cells)], dtype=np.int64)


def rooted(cells: list[int]) -> list[int]:
    """R·x for these cells x."""
    return [int(node) for node in np.convolve(table(len(cells)), np.array(cells, dtype=np.int64))[: len(cells)]]


@lru_cache(maxsize=64)
def moved(cells: int, replaced: bool) -> int:
    """The largest squared length by which one row, added or (`replaced`) moved to another cell, changes R·x."""
    r = table(cells)
    # Column b begins at row b: its product with column a = b − lag is Σ_k r_k·r_(k+lag) over its cells − b entries.
    own = np.cumsum(r * r)  # own[k−1]: squared length of the column with k entries
    most = int(own[-1])
    if replaced:
        for lag in range(1, cells):
            both = np.cumsum(r[: cells - lag] * r[lag:])  # by the entries of the later column, 1 … cells − lag
            most = max(most, int((own[lag:] + own[: cells - lag] - 2 * both).max()))
    return most


@lru_cache(maxsize=64)
def inverse(cells: int) -> Floats:
    """L, as the values on its diagonals."""
    r = table(cells).astype(np.float64)
    first = np.zeros(cells)
    for j in range(cells):
        first[j] = (1.0 - float(r[1 : j + 1] @ first[:j][::-1])) / r[0]
    return first


def prefix_sums(drawn: list[float]) -> Floats:
    """The number at or below each cell, from R·x + Z."""
    return np.convolve(inverse(len(drawn)), np.array(drawn, dtype=np.float64))[: len(drawn)]


@lru_cache(maxsize=64)
def prefix_lengths(cells: int) -> tuple[Floats, Floats]:
    """The length of each cell's row of L, and the sum of its sizes: they decide how noisy the cell's sum is."""
    rows = np.abs(inverse(cells))
    return np.sqrt(np.cumsum(rows * rows)), np.cumsum(rows)
