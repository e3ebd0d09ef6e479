"""Least squares over a tree, against a slow solver of the normal equations, in fractions throughout."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpengine.mechanisms.curves import count_tree
from dpengine.mechanisms.curves.count_tree import TreeShape, balanced, from_left
from dpengine.noise import tails
from dpengine.noise.coins import SystemCoins
from dpengine.noise.tails import weighted_reaches

Matrix = list[list[Fraction]]


def tree_weights(shape: TreeShape, known: bool, root: Fraction) -> list[count_tree.Weights[Fraction]]:
    """The weights of every cell's sum; `known`: the number of all rows is public."""
    tree = count_tree._tree(shape)
    return [count_tree._weights_of(tree, cells, known, root) for cells in range(1, shape.leaves + 1)]


def nodes(shape: TreeShape) -> list[list[int]]:
    """Which cells each node holds, from the nodes of single cells."""
    cells = range(shape.leaves)
    single = [count_tree.nodes_of([int(cell == one) for cell in cells], shape) for one in cells]
    return [list(row) for row in zip(*single, strict=True)]


def solved(matrix: Matrix) -> list[list[Fraction]]:
    """[A | B] → A⁻¹B, by elimination."""
    size = len(matrix)
    for place in range(size):
        pivot = next(row for row in range(place, size) if matrix[row][place])
        matrix[place], matrix[pivot] = matrix[pivot], matrix[place]
        first = matrix[place][place]
        matrix[place] = [one / first for one in matrix[place]]
        for row in range(size):
            if row != place and matrix[row][place]:
                times = matrix[row][place]
                matrix[row] = [a - times * b for a, b in zip(matrix[row], matrix[place], strict=True)]
    return [row[size:] for row in matrix]


def by_hand(shape: TreeShape, known: bool) -> tuple[Matrix, list[Fraction]]:
    """For every cell its weights of all nodes, and of the number of all rows (Lagrange's multiplier, where known)."""
    held, leaves = nodes(shape), shape.leaves
    size = leaves + known
    matrix: Matrix = []
    for one in range(size):
        if one < leaves:
            left = [Fraction(sum(row[one] * row[other] for row in held)) for other in range(leaves)]
            right = [Fraction(row[one]) for row in held] + [Fraction(0)]
            matrix.append(left + [Fraction(1)] * known + right)
        else:
            matrix.append([Fraction(1)] * leaves + [Fraction(0)] + [Fraction(0)] * len(held) + [Fraction(1)])
    cells = solved(matrix)[:leaves]
    sums = [[sum(column, Fraction(0)) for column in zip(*cells[: cell + 1], strict=True)] for cell in range(leaves)]
    return [row[:-1] for row in sums], [row[-1] for row in sums]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shape", [*map(balanced, (1, 2, 3, 5, 11, 17, 26)), *(TreeShape(11, b) for b in (2, 3, 4, 8))])
def test_it_equals_a_solver_of_the_normal_equations(shape: TreeShape, known: bool) -> None:
    """Values and weights alike, to the last digit; also where the last block is not full."""
    leaves = shape.leaves
    by_node, by_all = by_hand(shape, known)
    drawn = tuple(np.random.default_rng().integers(-50, 99, len(by_node[0])).tolist())
    fit = count_tree.fitted_tree(drawn, shape, 321 if known else None)
    for told, row, all_of in zip(fit, by_node, by_all, strict=True):
        assert told == sum(w * y for w, y in zip(row, drawn, strict=True)) + all_of * 321
    for row, kept in zip(by_node, tree_weights(shape, known, Fraction(0)), strict=True):
        assert sorted(abs(w) for w in row if w) == sorted(size for size, times in kept.items() for _ in range(times))
    if known:
        assert fit[-1] == 321
    counts = np.random.default_rng().integers(0, 9, leaves)
    whole = tuple(count_tree.nodes_of(counts.tolist(), shape))
    assert (
        list(count_tree.fitted_tree(whole, shape, int(counts.sum()) if known else None)) == np.cumsum(counts).tolist()
    )


@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(9, 10)])
def test_less_a_share_of_all_rows(share: Fraction) -> None:
    """The weights of what lies at or below a cell less α times all rows, where their number is not public."""
    by_node, _ = by_hand(balanced(13), False)
    for row, kept in zip(by_node, tree_weights(balanced(13), False, share), strict=True):
        less = [w - share * whole for w, whole in zip(row, by_node[-1], strict=True)]
        assert sorted(abs(w) for w in less if w) == sorted(size for size, times in kept.items() for _ in range(times))


def spread_of(shape: TreeShape) -> float:
    """L times the mean of all sums' standard deviations by least squares, where the number of all rows is private."""
    sizes, times = count_tree.tree_arrays(shape, False, Fraction(0))
    return float(shape.levels * np.sqrt((sizes**2 * times).sum(axis=1)).mean())


@pytest.mark.parametrize("leaves", [2, 10, 31, 52, 99, 121])
def test_branches_that_are_added_up_from_the_left_are_within_a_twentieth_of_the_best(leaves: int) -> None:
    best = min(spread_of(TreeShape(leaves, branches)) for branches in range(2, leaves + 1))
    assert spread_of(from_left(leaves)) <= 1.05 * best
    if leaves > 50:
        assert spread_of(from_left(leaves)) < 0.97 * spread_of(balanced(leaves))


WEIGHED = [([1], [1]), ([1], [4]), ([2, 1], [2, 5]), ([1], [40]), ([7, 4, 1], [1, 6, 30])]  # in halves


def exact_reach(scale: Fraction, halves: list[int], times: list[int], beta: float) -> float:
    """The least t with Pr[|Σ a·Z| > t] ≤ β, by convolution of the laws."""
    law = np.ones(1)
    for half, many in zip(halves, times, strict=True):
        places = np.arange(-int(25 * scale), int(25 * scale) + 1)
        one = np.zeros(half * (len(places) - 1) + 1)
        one[::half] = np.exp(-np.abs(places) / float(scale))
        for _ in range(many):
            law = np.convolve(law, one / one.sum())
    beyond = 2 * np.cumsum(law[::-1])[: len(law) // 2]  # Pr[|S| ≥ t] from the farthest t to the nearest but 0
    return (len(law) // 2 - int((beyond <= beta).sum())) / 2


def check_a_bound_on_weighted_noise(scale: Fraction, halves: list[int], times: list[int]) -> float:
    """By how much it is above the exact law."""
    sizes, many = np.array([halves]) / 2, np.array([times], dtype=float)
    bound, exact = weighted_reaches(scale, sizes, many, BETA)[0], exact_reach(scale, halves, times, float(BETA))
    assert exact <= bound
    return float(bound / max(exact, 1))


BETA = Fraction(1, 1000)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(6), Fraction(30)])
def test_a_bound_on_weighted_noise_is_above_the_exact_law_and_near_it(scale: Fraction) -> None:
    near = {Fraction(1, 2): 1.7, Fraction(6): 1.12, Fraction(30): 1.09}[scale]
    for halves, times in WEIGHED[: 3 if scale > 6 else None]:
        assert check_a_bound_on_weighted_noise(scale, halves, times) < near
    assert weighted_reaches(scale, np.zeros((1, 2)), np.zeros((1, 2)), BETA)[0] == 0
    assert weighted_reaches(Fraction(6, 1000), np.array([[1.0, 0.3]]), np.array([[2.0, 5.0]]), BETA)[0] < 3


def test_a_tail_of_one_side_alone_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = tails._of_sums
    monkeypatch.setattr(tails, "_of_sums", lambda sizes, times, rows, beta: right(sizes, times, rows, 2 * beta))
    with pytest.raises(AssertionError):
        for halves, times in WEIGHED[:3]:
            check_a_bound_on_weighted_noise(Fraction(30), halves, times)


def test_few_of_many_draws_are_beyond_the_bound_on_weighted_noise() -> None:
    """At most β of 4,000, but for 1e-6."""
    scale, beta = Fraction(6), Fraction(1, 100)
    sizes, times = np.array([[1.0, 0.3, 0.01]]), np.array([[2.0, 5.0, 90.0]])
    bound = weighted_reaches(scale, sizes, times, beta)[0]
    noise = SystemCoins().many_laplace(np.zeros(4_000 * 97, dtype=np.int64), scale).reshape(4_000, 97)
    beyond = int((np.abs(noise @ np.repeat(sizes[0], times[0].astype(int))) > bound).sum())
    assert beyond <= 79  # Pr[Bin(4000, 1/100) > 79] < 1e-6
