"""Which pairs and triples of columns a synthetic table measures where all of them are too many: chosen one after the
other, by how far each is from what was released before (as in MST and AIM: McKenna, Miklau, Sheldon 2021; 2022).

How ρ is divided, what a choice costs and what noise a chosen marginal gets is stated in `synthetic_table`.

Which       a pair may be chosen once; a triple once all its pairs are measured, so that its residual is all that is
            missing of it. One of its pairs may be missing too (not in versions 1 and 2): then both are measured, and
            that is two turns of T.
Expected    what is known of a marginal before it is measured, in whole rows. Of a pair: the pairs measured so far, each
            fitted by itself, form a forest of those that hang together most; along its path two columns are as likely
            together as the steps between them say, and without a path they are independent. Of a triple: the fit of
            maximum entropy to its three pairs, to what is expected of the one that is missing. All of it follows
            from released numbers.
Score       Σ|counts − expected| − c, c what the noise of its measurement would come to, √(2/π)·cells·sd, times ½ for a
            pair, of which a fit takes much away again, and 1 or 1½ for a triple: what would be mostly noise when it is
            measured is not worth it. What takes two turns has half the score, rounded down, where that is above 0: a
            person moves it by no more.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise, product
from math import isqrt

import numpy as np

from dpengine.core.arrays import Floats, Integers
from dpengine.core.exact import floor, up
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout
from dpengine.mechanisms.synthetic.soft_fit import Target, nearest, of_pair, of_pairs, tree

FOR_CHOICES, BEFORE = Fraction(1, 25), Fraction(1, 8)  # of ρ; in versions 1 and 2
OF_PAIR, OF_TRIPLE, DEAR = 0.5, 1.0, 1.5  # times its noise; DEAR where all pairs are measured, or were (1 and 2)
SWEEPS = 15  # of the fit of a triple to its pairs
_GRAIN = 10**6


@dataclass(frozen=True)
class Choosing:
    """Public facts of all choices: what may be chosen, how many are, and what each may lose."""

    layout: ResidualLayout  # of what is measured whatever is chosen
    parts: tuple[Columns, ...]
    turns: int
    rho: Fraction  # of everything
    first: Fraction  # the part of it for what is measured whatever is chosen
    chosen: Fraction = FOR_CHOICES  # the part of it for choices
    triple: float = DEAR
    missing: int = 0  # so many pairs of a triple may be missing when it is chosen

    @property
    def for_first(self) -> Fraction:
        return self.rho * self.first

    @cached_property
    def epsilon(self) -> Fraction:
        """ε′ of a choice, rounded down: T·ε′²/8 is at most its part of ρ."""
        if not self.turns:
            return Fraction(0)
        return Fraction(isqrt(floor(8 * self.rho * self.chosen / self.turns * _GRAIN**2)), _GRAIN)

    @property
    def for_measuring(self) -> Fraction:
        """Of each chosen marginal."""
        return self.rho * (1 - self.first - self.chosen) / self.turns

    @property
    def moved(self) -> int:
        """By how much one person moves a score, at most."""
        return self.layout.rows * (2 if self.layout.replaced else 1)

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (2 * self.moved)

    def apart(self, part: Columns) -> Fraction:
        """The most that one row moves the residual of a marginal by, over the number of its cells, squared."""
        shares = [Fraction(1, self.layout.sizes[place]) for place in part]
        kept = math.prod((1 - share for share in shares), start=Fraction(1))
        if not self.layout.replaced:
            return kept
        most = kept
        for agrees in product((False, True), repeat=len(part)):  # in which columns the two rows agree
            if not all(agrees):
                ends = (1 - share if same else -share for share, same in zip(shares, agrees, strict=True))
                most = max(most, 2 * (kept - math.prod(ends, start=Fraction(1))))
        return most

    @cached_property
    def noise(self) -> dict[Columns, Fraction]:
        """σ² of every residual that may be chosen, were it chosen."""
        rows = self.layout.rows**2
        return {part: up(rows * self.apart(part) / (2 * self.for_measuring), _GRAIN) for part in self.parts}

    def worth(self, variances: Mapping[Columns, float]) -> dict[Columns, int]:
        """c of everything that may be chosen."""
        wide = {part: math.sqrt(2 / math.pi * variances[part]) * self.layout.cells(part) for part in self.parts}
        return {part: round((self.triple if len(part) == 3 else OF_PAIR) * off) for part, off in wide.items()}

    def needed(self, part: Columns, told: Collection[Columns]) -> list[Columns]:
        """What is measured when this is chosen: those of its pairs that were not, and then itself."""
        pairs = combinations(part, 2) if len(part) == 3 else ()
        return [*(pair for pair in pairs if pair not in told), part]

    def scores(
        self,
        cells: Mapping[Columns, Integers],
        expected: Mapping[Columns, Integers],
        worth: Mapping[Columns, int],
        told: Collection[Columns] | None = None,
    ) -> Integers:
        """Of what has something expected of it; 0 for the others, which cannot be chosen now. `told`: what was
        measured, where that makes a difference."""
        scores = np.zeros(len(self.parts), dtype=np.int64)
        for place, part in enumerate(self.parts):
            if part in expected:
                score = int(np.abs(cells[part] - expected[part]).sum()) - worth[part]
                turns = 1 if told is None else len(self.needed(part, told))
                scores[place] = score // turns if score > 0 else score
        return scores

    def expected(
        self,
        rows: float,
        told: Mapping[Columns, tuple[Floats, float]],
        known: Mapping[Columns, Integers],
        left: int = 1,
    ) -> dict[Columns, Integers]:
        """Of what may be chosen now, with so many turns left, from what was measured so far, with variances. What is
        `known` of triples by an earlier turn stays."""
        shares = [nearest(told[(place,)][0]) for place in range(len(self.layout.sizes))]
        pairs = {part: one for part, one in told.items() if one[0].ndim == 2}
        fitted = {
            part: of_pair(cells, variance, shares[part[0]], shares[part[1]], rows)
            for part, (cells, variance) in pairs.items()
        }
        wanted = [part for part in self.parts if len(part) == 2 and part not in told]
        given = _given(shares, fitted, wanted)
        found: dict[Columns, Integers] = {}
        for part in self.parts:
            if part in told:
                continue
            if len(part) == 2:
                found[part] = np.rint(rows * shares[part[0]][:, None] * given[part]).astype(np.int64)
                continue
            needed = self.needed(part, told)
            if len(needed) - 1 <= min(self.missing, left - 1) and all(pair in found for pair in needed[:-1]):
                usual = float(np.mean([variance for _, variance in pairs.values()])) if pairs else 1.0
                guessed = {pair: (found[pair].astype(np.float64), usual) for pair in needed[:-1]}
                found[part] = known[part] if part in known else self._of_triple(part, rows, shares, pairs | guessed)
        return found

    def settled(self, expected: Mapping[Columns, Integers], told: Collection[Columns]) -> dict[Columns, Integers]:
        """What is expected of triples whose pairs were all measured: no later turn changes it."""
        return {part: one for part, one in expected.items() if len(part) == 3 and self.needed(part, told) == [part]}

    def read(
        self, raw: Sequence[int | Fraction], start: int, told: Collection[Columns]
    ) -> Iterator[tuple[Columns, Floats]]:
        """The residuals of what was chosen, from its place among all on, after those of what was measured before."""
        seen = set(told)
        while start < len(raw):
            needed = self.needed(self.parts[int(raw[start])], seen)
            start += 1
            for part in needed:
                end = start + self.layout.cells(part)
                shape = [self.layout.sizes[place] for place in part]
                yield part, np.array(raw[start:end], dtype=np.float64).reshape(shape)
                start = end
            seen.update(needed)

    def _of_triple(
        self,
        part: Columns,
        rows: float,
        shares: Sequence[Floats],
        pairs: Mapping[Columns, tuple[Floats, float]],
    ) -> Integers:
        sizes = [self.layout.sizes[place] for place in part]
        targets = [Target(places, *pairs[(part[places[0]], part[places[1]])]) for places in combinations(range(3), 2)]
        joint = of_pairs(sizes, rows, [shares[place] for place in part], targets, SWEEPS)
        return np.rint(joint).astype(np.int64)


def _given(
    shares: Sequence[Floats], known: Mapping[Columns, Floats], wanted: Sequence[Columns]
) -> dict[Columns, Floats]:
    """For these pairs of columns, how likely each cell of the second is given that of the first. Between two long lists
    that are no such pair nothing is worked out: it would not fit into memory."""
    steps: dict[int, dict[int, Floats]] = {place: {} for place in range(len(shares))}
    for parent, child in tree(len(shares), known):
        if parent is not None:
            joint = known[(parent, child)] if parent < child else known[(child, parent)].T
            steps[parent][child] = _rows(joint, shares[child])
            steps[child][parent] = _rows(joint.T, shares[parent])
    found = {}
    for start in {one for one, _ in wanted}:
        paths = {start: [start]}
        waiting = [start]
        while waiting:
            now = waiting.pop()
            for after in steps[now].keys() - paths.keys():
                paths[after] = [*paths[now], after]
                waiting.append(after)
        for part in (part for part in wanted if part[0] == start):
            likely = [steps[one][other] for one, other in pairwise(paths.get(part[1], []))]
            alone = np.broadcast_to(shares[part[1]], (len(shares[start]), len(shares[part[1]])))
            found[part] = alone if not likely else likely[0] if len(likely) == 1 else np.linalg.multi_dot(likely)
    return found


def _rows(joint: Floats, other: Floats) -> Floats:
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), other)
