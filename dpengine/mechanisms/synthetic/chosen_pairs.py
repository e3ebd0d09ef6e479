"""Choose which pairs and triples of columns a synthetic table measures if all of them are too many: one after the
other, by the distance from what was released before (as in MST and AIM: McKenna, Miklau, Sheldon 2021; 2022).

`synthetic_table` states how ρ is divided, what a choice costs and what noise a chosen marginal gets.

Which       a pair, with 1, 2, 4 or 8 turns of T, and again later with more turns in all; a triple only once, after all
            its pairs are measured, so that only its residual is missing. One of its pairs may be missing too: then both
            are measured.
Expected    the best guess of a marginal before it is measured, in whole rows. For a pair: the pairs measured so far,
            each fitted by itself, form a forest of the strongest dependences. Two columns depend on each other through
            the steps of the path between them; without a path they are independent. For a measured pair: its
            measurement. For a triple: the fit of maximum entropy to its three pairs, or to the guess of a missing one.
            All of it follows from released numbers.
Score       the gain: Σ|counts − expected| − c, where c is the expected noise of the measurement, √(2/π)·cells·sd, times
            ½ for a pair, because a fit removes much of it, and ⅝ for a triple (`TERMS`): a marginal that is mostly
            noise is not worth it. For a measured pair: Σ·(1 − sd after/sd now). A positive gain that takes k turns
            counts 1/√k, so that a marginal that needs many turns also has a chance. Factors are thousandths, and
            products are rounded down: a person moves them by no more.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise, product
from math import isqrt

import numpy as np

from dpengine.core.exact import floor, up
from dpengine.core.types import Floats, Integers
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout
from dpengine.mechanisms.synthetic.soft_fit import Target, given_first, nearest, of_pair, of_pairs, tree

OF_PAIR = 0.5  # c of a pair, as a multiple of its expected noise
LEVELS = (1, 2, 4, 8)  # turns that a marginal may take
_THOUSAND = 1000
# The part of ρ for choices, the factor of a triple's noise, how many of its pairs may be missing, and the levels.
Terms = tuple[Fraction, float, int, tuple[int, ...]]
TERMS: dict[bool, Terms] = {  # by whether all pairs are measured in any case
    False: (Fraction(1, 20), 0.625, 1, LEVELS),
    True: (Fraction(1, 25), 1.0, 0, (1,)),
}
SWEEPS = 15  # of the fit of a triple to its pairs
_GRAIN = 10**6


@dataclass(frozen=True)
class Offer:
    """A marginal that the next choice may take, with the turns that it needs."""

    place: int  # among all candidates with all levels
    part: Columns
    needed: tuple[tuple[Columns, int], ...]  # the marginals measured if it is chosen, each with its turns
    worth: int  # c
    gained: int  # the share of the current distance that is gained, in thousandths
    valued: int  # the factor of the gain for the turns it takes, in thousandths

    @property
    def turns(self) -> int:
        return sum(many for _, many in self.needed)


@dataclass(frozen=True)
class Choosing:
    """Public facts of all choices: the candidates, the number of turns, and the loss of each."""

    layout: ResidualLayout  # of the marginals measured in any case
    parts: tuple[Columns, ...]
    turns: int
    rho: Fraction  # of everything
    first: Fraction  # the part of ρ for the marginals measured in any case
    chosen: Fraction  # the part of ρ for choices
    triple: float  # c of a triple, over its noise
    missing: int  # this many pairs of a triple may be missing when it is chosen
    levels: tuple[int, ...] = (1,)

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
        """ρ of one turn, for measuring what is chosen."""
        return self.rho * (1 - self.first - self.chosen) / self.turns

    @property
    def moved(self) -> int:
        """The sensitivity of a score."""
        return self.layout.rows * (2 if self.layout.replaced else 1)

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (2 * self.moved)

    def apart(self, part: Columns) -> Fraction:
        """d_A: the square of the most that one row moves the residual of a marginal, divided by its number of cells."""
        shares = [Fraction(1, self.layout.sizes[place]) for place in part]
        kept = math.prod((1 - share for share in shares), start=Fraction(1))
        if not self.layout.replaced:
            return kept
        most = kept
        for agrees in product((False, True), repeat=len(part)):  # do the two rows agree in each column?
            if not all(agrees):
                ends = (1 - share if same else -share for share, same in zip(shares, agrees, strict=True))
                most = max(most, 2 * (kept - math.prod(ends, start=Fraction(1))))
        return most

    @cached_property
    def noise(self) -> dict[Columns, Fraction]:
        """σ² of every candidate's residual, if it is measured in one turn."""
        rows = self.layout.rows**2
        return {part: up(rows * self.apart(part) / (2 * self.for_measuring), _GRAIN) for part in self.parts}

    def needed(self, part: Columns, measured: Collection[Columns]) -> list[Columns]:
        """The marginals measured if this one is chosen: its missing pairs, and itself."""
        pairs = combinations(part, 2) if len(part) == 3 else ()
        return [*(pair for pair in pairs if pair not in measured), part]

    def offers(
        self, held: Mapping[Columns, int], left: int, always: Collection[Columns], noise: Mapping[Columns, Fraction]
    ) -> list[Offer]:
        """The candidates of the next choice, with `left` turns left and those in `held` taken. Earlier choices alone
        decide."""
        offers, measured = list[Offer](), held.keys() | set(always)
        now = dict(noise) | {part: noise[part] / many for part, many in held.items()}
        for place, (total, part) in enumerate(product(self.levels, self.parts)):
            before = held.get(part, 0)
            needed = [(need, total - held.get(need, 0)) for need in self.needed(part, measured)]
            turns = sum(many for _, many in needed)
            if before >= total or (before and len(part) > 2) or len(needed) - 1 > self.missing or turns > left:
                continue
            wide = float(self.layout.variance(part, now | {need: noise[need] / total for need, _ in needed}))
            off = math.sqrt(2 / math.pi * wide) * self.layout.cells(part)
            worth = 0 if before else round((self.triple if len(part) == 3 else OF_PAIR) * off)
            rest = math.sqrt(wide / float(self.layout.variance(part, now))) if before else 0.0
            valued = _THOUSAND / (math.sqrt(turns) if len(self.levels) > 1 else turns)
            offers.append(Offer(place, part, tuple(needed), worth, round(_THOUSAND * (1 - rest)), math.floor(valued)))
        return offers

    def scores(
        self, cells: Mapping[Columns, Integers], expected: Mapping[Columns, Integers], offers: Sequence[Offer]
    ) -> tuple[Integers, Integers]:
        """By place: the score of each offer whose marginal is in `expected`, and 1 there; 0 everywhere else."""
        scores = np.zeros(len(self.parts) * len(self.levels), dtype=np.int64)
        able = np.zeros_like(scores)
        off = {part: int(np.abs(cells[part] - guess).sum()) for part, guess in expected.items()}
        for offer in offers:
            if offer.part in off:
                score = off[offer.part] * offer.gained // _THOUSAND - offer.worth
                scores[offer.place] = score * offer.valued // _THOUSAND if score > 0 else score
                able[offer.place] = 1
        return scores, able

    def expected(
        self,
        rows: float,
        measured: Mapping[Columns, tuple[Floats, float]],
        known: Mapping[Columns, Integers],
        wanted: Sequence[Columns],
    ) -> dict[Columns, Integers]:
        """The expected counts of the wanted marginals, from the counts `measured` so far and the variances of their
        noise. Guesses of triples `known` from an earlier turn stay."""
        shares = [nearest(measured[(place,)][0]) for place in range(len(self.layout.sizes))]
        pairs = {part: marginal for part, marginal in measured.items() if marginal[0].ndim == 2}
        fitted = {
            part: of_pair(cells, variance, shares[part[0]], shares[part[1]], rows)
            for part, (cells, variance) in pairs.items()
        }
        given = _given(shares, fitted, [part for part in self.parts if len(part) == 2 and part not in measured])
        guesses: dict[Columns, Integers] = {}
        for part in given:
            guesses[part] = np.rint(rows * shares[part[0]][:, None] * given[part]).astype(np.int64)
        usual = float(np.mean([variance for _, variance in pairs.values()])) if pairs else 1.0
        for part in dict.fromkeys(wanted):
            if part in pairs:
                guesses[part] = np.rint(rows * fitted[part]).astype(np.int64)
            missing = self.needed(part, measured)[:-1]
            if len(part) == 3 and all(pair in guesses for pair in missing):
                guessed = {pair: (guesses[pair].astype(np.float64), usual) for pair in missing}
                guesses[part] = known[part] if part in known else self._of_triple(part, rows, shares, pairs | guessed)
        return guesses

    def settled(
        self, expected: Mapping[Columns, Integers], measured: Collection[Columns], offer: Offer
    ) -> dict[Columns, Integers]:
        """The expected counts that stay as they are: of triples with all pairs measured, none of them by this offer."""
        new = {part for part, _ in offer.needed}

        def stands(part: Columns) -> bool:
            return all(pair in measured and pair not in new for pair in combinations(part, 2))

        return {part: cells for part, cells in expected.items() if len(part) == 3 and stands(part)}

    def read(
        self, raw: Sequence[int | Fraction], start: int, measured: Collection[Columns]
    ) -> dict[Columns, tuple[Floats, int]]:
        """The residuals of the chosen marginals in `raw`, from `start` on, and the turns of each. A marginal measured
        again is the mean over all its turns."""
        averages = dict[Columns, tuple[Floats, int]]()
        seen = set(measured)
        while start < len(raw):
            level, at = divmod(int(raw[start]), len(self.parts))
            needed = self.needed(self.parts[at], seen)
            start += 1
            for part in needed:
                end = start + self.layout.cells(part)
                shape = [self.layout.sizes[place] for place in part]
                cells = np.array(raw[start:end], dtype=np.float64).reshape(shape)
                before, many = averages.get(part, (cells, 0))
                total = self.levels[level]
                averages[part] = (before * many + cells * (total - many)) / total, total
                start = end
            seen.update(needed)
        return averages

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
    """For each wanted pair of columns, the distribution of the second given the first. We compute no other pairs: those
    of two long lists would not fit into memory."""
    steps: dict[int, dict[int, Floats]] = {place: {} for place in range(len(shares))}
    for parent, child in tree(len(shares), known):
        if parent is not None:
            joint = known[(parent, child)] if parent < child else known[(child, parent)].T
            steps[parent][child] = given_first(joint, shares[child])
            steps[child][parent] = given_first(joint.T, shares[parent])
    conditionals = {}
    for start in {column for column, _ in wanted}:
        paths = {start: [start]}
        waiting = [start]
        while waiting:
            now = waiting.pop()
            for after in steps[now].keys() - paths.keys():
                paths[after] = [*paths[now], after]
                waiting.append(after)
        for part in (part for part in wanted if part[0] == start):
            likely = [steps[column][other] for column, other in pairwise(paths.get(part[1], []))]
            alone = np.broadcast_to(shares[part[1]], (len(shares[start]), len(shares[part[1]])))
            conditionals[part] = alone if not likely else likely[0] if len(likely) == 1 else np.linalg.multi_dot(likely)
    return conditionals
