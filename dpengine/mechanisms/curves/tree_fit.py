"""The nearest counts to all noisy nodes of a tree at once: least squares, in exact fractions.

Problem     every node of `count_tree` is the number of rows below it plus independent noise of one law. The counts of
            the cells that are nearest to all nodes together (least sum of squares) have, of all unbiased linear
            estimates, the least variance in every sum of cells (Gauss and Markov), so also in what lies at or below a
            cell. It is a function of what was drawn: it costs nothing, and no noise is left out. Where the number of
            all rows is public the cells are made to add up to it; where it is not, nothing is known of the root.
Up          z, the best estimate of a node from what is below it, with variance s (of one noise): a cell has z = y, s =
            1; a node whose children add up to u, with variance C in all, has z = (C·y + u)/(C + 1), s = C/(C + 1).
Down        x, the best estimate from everything: a child has x = z + (s/C)·(x of its parent − u). (Hay, Rastogi,
            Miklau, Suciu 2010, Thm 3, here for trees whose last blocks are not full.)
Weights     what is at or below a cell is Σ w·y over all nodes, by the same two steps the other way round. Let m be how
            much of a node's x the sum takes: in a block with parent V, the children before the cell by 1, the one that
            holds it by its own m, those after by 0; so V is taken by m_V = Σ (taken)·s/C, and every child's z by
            (taken) − m_V. A child that holds the cell hands its z on to the block below it. At the root m_V is what is
            multiplied with the number of all rows; if that is not public, the root is taken by `root` instead: 0 for
            what lies at or below, α for the same less α times all rows.
            Few of the weights differ, so they are kept as sizes with how often each occurs; signs do not matter, since
            noise is symmetric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from dpengine.core.arrays import Floats
from dpengine.mechanisms.curves.count_tree import shape

Number = TypeVar("Number", Fraction, float)
Weights = dict[Number, int]  # a size, and how many nodes have it


@dataclass(frozen=True)
class _Tree(Generic[Number]):
    """The nodes' places, and their variances from below, level by level; `number` makes one of a fraction."""

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
def _tree(leaves: int) -> _Tree[Fraction]:
    branches, levels = shape(leaves)
    widths, variances = [leaves], [(Fraction(1),) * leaves]
    for _ in range(levels - 1):
        below = variances[-1]
        totals = [sum(below[place : place + branches], Fraction(0)) for place in range(0, len(below), branches)]
        variances.append(tuple(total / (total + 1) for total in totals))
        widths.append(len(totals))
    return _Tree(branches, tuple(widths), tuple(variances), Fraction)


@lru_cache(maxsize=64)
def _rough(leaves: int) -> _Tree[float]:
    """The same in floats, which are off by far less than `arrays` rounds up."""
    exact = _tree(leaves)
    levels = tuple(tuple(map(float, level)) for level in exact.variances)
    return _Tree(exact.branches, exact.widths, levels, float)


@lru_cache(maxsize=64)
def fitted(drawn: tuple[int | Fraction, ...], leaves: int, everyone: int | None) -> tuple[Fraction, ...]:
    """What lies at or below every cell, by least squares over all nodes."""
    tree = _tree(leaves)
    up: list[list[Fraction]] = []
    begin = 0
    for level, width in enumerate(tree.widths):
        noisy = [Fraction(one) for one in drawn[begin : begin + width]]
        if level:
            for node, own in enumerate(noisy):
                part = tree.variances[level][node]  # C/(C + 1)
                below = sum((up[-1][child] for child in tree.block(level - 1, node)), Fraction(0))
                noisy[node] = part * own + (1 - part) * below
        up.append(noisy)
        begin += width
    parents = [sum(up[-1], Fraction(0)) if everyone is None else Fraction(everyone)]
    for level in reversed(range(len(tree.widths))):
        found: list[Fraction] = []
        for node, parent in enumerate(parents):
            block = tree.block(level, node)
            total = sum((tree.variances[level][child] for child in block), Fraction(0))
            missing = parent - sum((up[level][child] for child in block), Fraction(0))
            found += [up[level][child] + tree.variances[level][child] / total * missing for child in block]
        parents = found
    sums: list[Fraction] = []
    for cell in parents:
        sums.append(cell + (sums[-1] if sums else 0))
    return tuple(sums)


@lru_cache(maxsize=64)
def weights(leaves: int, known: bool, root: Fraction) -> tuple[Weights[Fraction], ...]:
    """For every cell how its sum is made up; `known`: the number of all rows is public."""
    return tuple(_weights_of(_tree(leaves), cells, known, root) for cells in range(1, leaves + 1))


def _weights_of(tree: _Tree[Number], cells: int, known: bool, root: Fraction) -> Weights[Number]:
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
    found: Counter[Number] = Counter()
    handed = none  # what the node above hands on to each child
    for level in reversed(range(top + 1)):
        less, place = handed - taken[level], places[level]
        handed = none
        whole: Counter[tuple[bool, int]] = Counter()  # children that do not hold the end: before it, how wide
        for child in tree.block(level, place // tree.branches):
            if child == place and level:
                weight, part = taken[level - 1] + less, tree.variances[level][child]
                found[abs(weight * part)] += 1
                handed = weight * (1 - part)
            else:
                whole[child < place, _held(tree, level, child)] += 1
        for (before_it, wide), many in whole.items():
            weight = abs(less + number(before_it))
            for size, times in _below(tree.branches, level, wide):
                found[weight * number(size)] += times * many
    return {size: times for size, times in found.items() if size}


def _held(tree: _Tree[Number], level: int, node: int) -> int:
    """How many cells are below a node."""
    wide: int = tree.branches**level
    return min(wide, tree.widths[0] - node * wide)


@lru_cache(maxsize=256)
def _below(branches: int, level: int, cells: int) -> tuple[tuple[Fraction, int], ...]:
    """z of a node that holds so many cells, as weights of the nodes below it and itself."""
    if not level:
        return ((Fraction(1), 1),)
    wide = branches ** (level - 1)
    children = [min(wide, cells - first) for first in range(0, cells, wide)]
    total = sum((_variance(branches, level - 1, held) for held in children), Fraction(0))
    found: Counter[Fraction] = Counter({total / (total + 1): 1})
    for held in children:
        for size, times in _below(branches, level - 1, held):
            found[size / (total + 1)] += times
    return tuple(found.items())


@lru_cache(maxsize=256)
def _variance(branches: int, level: int, cells: int) -> Fraction:
    if not level:
        return Fraction(1)
    wide = branches ** (level - 1)
    total = sum((_variance(branches, level - 1, min(wide, cells - at)) for at in range(0, cells, wide)), Fraction(0))
    return total / (total + 1)


@lru_cache(maxsize=64)
def arrays(leaves: int, known: bool, root: Fraction) -> tuple[Floats, Floats]:
    """The weights as sizes and how often each occurs, a row for each cell, filled up with 0. Sizes are rounded up."""
    rows = [_weights_of(_rough(leaves), cells, known, root) for cells in range(1, leaves + 1)]
    most = max(1, *(len(row) for row in rows))
    sizes, times = np.zeros((leaves, most)), np.zeros((leaves, most))
    for place, row in enumerate(rows):
        sizes[place, : len(row)] = list(row)
        times[place, : len(row)] = list(row.values())
    return sizes * (1 + 1e-12), times
