"""Which pairs and triples of columns a synthetic table measures where all of them are too many: chosen one after the
other, by how far each is from what was released before (as in MST and AIM: McKenna, Miklau, Sheldon 2021; 2022).

How ρ is divided, what a choice costs and what noise a chosen marginal gets is stated in `synthetic_table`.

Which       a pair, with 1, 2, 4 or 8 turns of T, and again later, to more in all; a triple once all its pairs are
            measured, so that its residual is all that is missing of it, and once. One of its pairs may be missing too:
            then both are measured.
Expected    what is known of a marginal before it is measured, in whole rows. Of a pair: the pairs measured so far, each
            fitted by itself, form a forest of those that hang together most; along its path two columns are as likely
            together as the steps between them say, and without a path they are independent. Of a pair that was
            measured: what was. Of a triple: the fit of maximum entropy to its three pairs, to what is expected of the
            one that is missing. All of it follows from released numbers.
Score       what would be gained: Σ|counts − expected| − c, c what the noise of its measurement would come to,
            √(2/π)·cells·sd, times ½ for a pair, of which a fit takes much away again, and ⅝ for a triple (`TERMS`):
            what would be mostly noise is not worth it. Of a pair that was measured: Σ·(1 − sd after/sd now). What takes
            k turns has 1/√k of it where that is above 0: one that only much exactness tells
            from noise comes in turn, too. Parts are whole thousandths, rounded down: a person moves them by no more.
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

OF_PAIR = 0.5  # times its noise
LEVELS = (1, 2, 4, 8)  # turns that a marginal may take
_THOUSAND = 1000
# The part of ρ for choices, what noise of a triple counts, how many of its pairs may be missing, and levels: by
# whether all pairs are measured in any case.
Terms = tuple[Fraction, float, int, tuple[int, ...]]
TERMS: dict[bool, Terms] = {
    False: (Fraction(1, 20), 0.625, 1, LEVELS),
    True: (Fraction(1, 25), 1.0, 0, (1,)),
}
SWEEPS = 15  # of the fit of a triple to its pairs
_GRAIN = 10**6


@dataclass(frozen=True)
class Offer:
    """Something that may be chosen now: a marginal, and with how many turns in all it would have been measured."""

    place: int  # among everything that may ever be chosen, with all levels
    part: Columns
    needed: tuple[tuple[Columns, int], ...]  # what is measured when it is chosen, each with its turns
    worth: int  # c
    gained: int  # thousandths of how far off it is now
    valued: int  # thousandths of what is gained, by the turns that it takes

    @property
    def turns(self) -> int:
        return sum(many for _, many in self.needed)


@dataclass(frozen=True)
class Choosing:
    """Public facts of all choices: what may be chosen, how many are, and what each may lose."""

    layout: ResidualLayout  # of what is measured whatever is chosen
    parts: tuple[Columns, ...]
    turns: int
    rho: Fraction  # of everything
    first: Fraction  # the part of it for what is measured whatever is chosen
    chosen: Fraction  # the part of it for choices
    triple: float  # c of a triple, over its noise
    missing: int  # so many pairs of a triple may be missing when it is chosen
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

    def needed(self, part: Columns, measured: Collection[Columns]) -> list[Columns]:
        """What is measured when this is chosen: those of its pairs that were not, and then itself."""
        pairs = combinations(part, 2) if len(part) == 3 else ()
        return [*(pair for pair in pairs if pair not in measured), part]

    def offers(
        self, held: Mapping[Columns, int], left: int, always: Collection[Columns], noise: Mapping[Columns, Fraction]
    ) -> list[Offer]:
        """What may be chosen with so many turns left, where these marginals have taken so many. Public, and from which
        were chosen before."""
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
        """Of what is offered and has something expected of it, and which these are."""
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
        """Of these, from what was measured so far, with variances. What is `known` of triples by an earlier turn
        stays."""
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
        """What is expected of triples whose pairs were all measured, and none of them just now: it stays."""
        new = {part for part, _ in offer.needed}
        return {
            part: cells
            for part, cells in expected.items()
            if len(part) == 3 and not any(pair in new or pair not in measured for pair in combinations(part, 2))
        }

    def read(
        self, raw: Sequence[int | Fraction], start: int, measured: Collection[Columns]
    ) -> dict[Columns, tuple[Floats, int]]:
        """The residuals of what was chosen, from its place among all on, after those of what was measured before, and
        how many turns each took: what was measured again counts with all of them."""
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
    """For these pairs of columns, how likely each cell of the second is given that of the first. Between two long lists
    that are no such pair nothing is worked out: it would not fit into memory."""
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
