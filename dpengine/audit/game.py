"""Every strategy against an admission rule, by dynamic programming. Nothing here is drawn at random.

Randomized response is the worst ε-DP release (Kairouz, Oh, Viswanath 2015), so the game is: on table D a question at ε
moves the loss by +ε with probability p = e^ε/(1+e^ε), else by −ε. The chooser sees the loss, picks the next admitted ε
or stops, and is worth E[(1 − e^(reading − loss))₊] at the end: the true δ at the ε that was promised. Floats, exact to
about twelve digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpengine.core.arrays import Floats

Counts = tuple[int, ...]  # how many questions of each size were asked


class Game:
    """All reachable (questions asked, loss) under an admission test. Losses are whole multiples of the smallest ε."""

    def __init__(self, sizes: tuple[Fraction, ...], admitted: Callable[[Counts], bool]) -> None:
        self.sizes = sizes
        self.moves = [int(size / sizes[0]) for size in sizes]
        assert all(move * sizes[0] == size for move, size in zip(self.moves, sizes, strict=True))
        self.up = [1 / (1 + math.exp(-size)) for size in sizes]
        self.layers = self._layers(admitted)
        self.reach = max(sum(n * m for n, m in zip(c, self.moves, strict=True)) for layer in self.layers for c in layer)
        self.losses: Floats = np.arange(-self.reach, self.reach + 1, dtype=np.float64) * float(sizes[0])

    def _layers(self, admitted: Callable[[Counts], bool]) -> list[list[Counts]]:
        """The admitted multisets by number of questions; one more question is admitted by the sums alone."""
        layers = [[(0,) * len(self.sizes)]]
        while layers[-1]:
            following = {more for counts in layers[-1] for more in self.one_more(counts) if admitted(more)}
            layers.append(sorted(following))
        return layers[:-1]

    def one_more(self, counts: Counts) -> list[Counts]:
        return [(*counts[:i], counts[i] + 1, *counts[i + 1 :]) for i in range(len(counts))]

    def worth(self, reading: Callable[[Counts], float]) -> float:
        """The largest E[(1 − e^(reading − loss))₊] over all strategies, stopping whenever they like."""
        later: dict[Counts, Floats] = {}
        for layer in reversed(self.layers):
            now: dict[Counts, Floats] = {}
            for counts in layer:
                best = np.maximum(0.0, -np.expm1(reading(counts) - self.losses))
                for move, p, more in zip(self.moves, self.up, self.one_more(counts), strict=True):
                    if more in later:
                        next_worth = p * shifted(later[more], move) + (1 - p) * shifted(later[more], -move)
                        best = np.maximum(best, next_worth)
                now[counts] = best
            later = now
        return float(later[(0,) * len(self.sizes)][self.reach])


def shifted(values: Floats, move: int) -> Floats:
    """values[s + move] at s; losses no history can reach are 0, and never read from the start."""
    moved = np.zeros_like(values)
    if move > 0:
        moved[:-move] = values[move:]
    else:
        moved[-move:] = values[:move]
    return moved
