"""Percentiles: the mean rank error of several in one question, and of one median; and the ranges that come with them.

Paper       JointExp (Gillenwater, Joseph, Kulesza 2021), in floats, drawn by its dynamic programme on the public grid;
            and the same with every grid step cut into eight, which shares out the rows of one value.
OpenDP      `make_private_quantile` over the grid; for several, each at its part of ε. With many rows or a long grid a
            call takes long, so there the same law is drawn in floats (`flipped`), which `python -m
            bench.utility.percentiles` holds against OpenDP's own draws.
Measure     how many rows an answer is away from its place, the mean over the percentiles; 0 where it is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from opendp import measurements as m
from opendp.domains import atom_domain, vector_domain
from opendp.measures import max_divergence
from opendp.metrics import symmetric_distance

from bench.accuracy import ADD_REMOVE, LESS, MORE, REPLACE, line
from bench.utility.columns import PEOPLE, Made, every
from bench.utility.frame import BEFORE, COINS, OURS, ask, best, pure
from dpengine.core.types import Floats, Integers

FIVE = ("0.1", "0.25", "0.5", "0.75", "0.9")
LARGEST_GRID = 1_000  # that the paper's programme, of a square of the grid, is run on
MOST_ROWS = 1_000  # that OpenDP reads at every draw
SLOWER = 8  # on a long grid, where a draw of several takes a second: a part of the draws, as the note says
CUT = 8
SPENDS = (("0.1", REPLACE), ("0.5", REPLACE), ("0.5", ADD_REMOVE))


class Ranks:
    """How far codes are from their places."""

    def __init__(self, table: Made) -> None:
        counts = np.bincount(table.codes, minlength=table.column.size)
        self.upto = np.cumsum(counts)
        self.below = self.upto - counts
        self.rows = table.rows

    def off(self, code: int, share: Fraction) -> float:
        place = share * self.rows
        return float(max(Fraction(0), int(self.below[code]) - place, place - int(self.upto[code])))

    def holds(self, ends: list[int], share: Fraction) -> bool:
        """Is a true percentile between the two?"""
        place = share * self.rows
        return int(self.below[ends[0]]) <= place <= int(self.upto[ends[1]])

    def mean(self, codes: Any, shares: list[Fraction]) -> float:
        return sum(self.off(int(code), share) for code, share in zip(codes, shares, strict=True)) / len(shares)


def joint_exp(table: Made, shares: list[Fraction], epsilon: float, moves: float, cut: int, draws: int) -> Integers:
    """The paper's mechanism: rising cuts with chance ∝ exp(−ε·Σ|rows in a gap − wished|/(2Δ))."""
    counts = np.bincount(table.codes, minlength=table.column.size)
    fine = np.repeat(counts / cut, cut)
    below = np.cumsum(fine) - fine
    rate, n = epsilon / (2 * moves), table.rows
    wished = [float((high - low) * n) for low, high in pairwise([Fraction(0), *shares, Fraction(1)])]
    apart = below[None, :] - below[:, None]
    step = {wish: np.triu(np.exp(-rate * np.abs(apart - wish))) for wish in set(wished[1:-1])}
    steps = [step[wish] for wish in wished[1:-1]]
    reached: list[Floats] = [_level(-rate * np.abs(below - wished[0]))]
    for one in steps:
        reached.append(_level(np.log(np.maximum(reached[-1] @ one, 1e-300))))
    random = np.random.default_rng()
    cuts = [_pick(random, np.tile(reached[-1] * np.exp(-rate * np.abs(n - below - wished[-1])), (draws, 1)))]
    for place in range(len(steps) - 1, -1, -1):
        cuts.insert(0, _pick(random, reached[place] * steps[place][:, cuts[0]].T))
    return np.stack(cuts, axis=1) // cut


def _level(logarithms: Floats) -> Floats:
    weights: Floats = np.exp(logarithms - logarithms.max())
    return weights


def _pick(random: np.random.Generator, weights: Floats) -> Integers:
    sums = np.cumsum(weights, axis=1)
    picked: Integers = (random.random(len(sums))[:, None] * sums[:, -1:] > sums).sum(axis=1)
    return picked


def opendp(table: Made, share: Fraction, relation: str, epsilon: float) -> Any:
    """OpenDP's quantile; replace-one is two of its symmetric distance. Its loss is 2·max(α, 1−α)/scale for a row."""
    integers = vector_domain(atom_domain(T="i64"))
    rows = 2 if relation == REPLACE else 1
    grid, scale = list(range(table.column.size)), 2 * rows * float(max(share, 1 - share)) / epsilon
    made = m.make_private_quantile(integers, symmetric_distance(), max_divergence(), grid, float(share), scale)
    assert abs(made.map(rows) - epsilon) < 1e-9  # type: ignore[no-untyped-call]
    return made


def flipped(ranks: Ranks, share: Fraction, relation: str, epsilon: float) -> int:
    """What OpenDP draws, in floats: of all grid points the largest of −|α·(rows above) − (1−α)·(rows below)| plus
    exponential noise, which is permute-and-flip; one row more moves a score by max(α, 1−α), and all of them one way or
    the other."""
    alpha, moves = float(share), (2 if relation == REPLACE else 1) * float(max(share, 1 - share))
    scores = -np.abs(alpha * (ranks.rows - ranks.upto) - (1 - alpha) * ranks.below)
    return int(np.argmax(scores + np.random.default_rng().exponential(2 * moves / epsilon, len(scores))))


def _short(table: Made) -> bool:
    return table.column.size <= LARGEST_GRID and table.rows <= MOST_ROWS


def several(table: Made, relation: str, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    shares, ranks = [Fraction(share) for share in FIVE], Ranks(table)
    case = f"10th, 25th, 50th, 75th, 90th percentile: {table.title}"
    usual = ask(relation, table, "quantile", epsilon, share=list(FIVE), with_range=False)
    spread, long = table.spread, table.column.size > LARGEST_GRID
    draws = -(-draws // SLOWER) if long else draws
    for who, query in ((OURS, best(usual)), (BEFORE, usual)):
        told = (list(query.release(spread, COINS).value.values()) for _ in range(draws))
        drawn = (ranks.mean(table.codes_of(values), shares) for values in told)
        note = f"{query.noise}, {draws} draws" if long and who == OURS else query.noise
        yield line(case, relation, pure(epsilon), who, drawn, note=note)
    if table.column.size <= LARGEST_GRID:
        gaps = [high - low for low, high in zip([Fraction(0), *shares], [*shares, Fraction(1)], strict=True)]
        moves = 2.0 if relation == REPLACE else float(2 * (1 - min(gaps)))
        for cut, who in ((1, "JointExp"), (CUT, "JointExp, steps in eight")):
            joint = joint_exp(table, shares, float(epsilon), moves, cut, draws)
            yield line(case, relation, pure(epsilon), who, (ranks.mean(codes, shares) for codes in joint))
    spend = float(epsilon) / len(shares)
    if _short(table):
        made = [opendp(table, share, relation, spend) for share in shares]
        theirs = ([each(table.codes) for each in made] for _ in range(draws))
    else:
        theirs = ([flipped(ranks, share, relation, spend) for share in shares] for _ in range(draws))
    yield line(case, relation, pure(epsilon), "OpenDP", (ranks.mean(one, shares) for one in theirs))


def alone(table: Made, relation: str, epsilon: str, draws: int, name: str, share: Fraction) -> Iterator[dict[str, Any]]:
    ranks, spread = Ranks(table), table.spread
    case = f"{name} alone: {table.title}"
    usual = ask(relation, table, "quantile", epsilon, share=str(float(share)), with_range=False)
    for who, query in ((OURS, best(usual)), (BEFORE, usual)):
        told = (table.codes_of([query.release(spread, COINS).value])[0] for _ in range(draws))
        yield line(case, relation, pure(epsilon), who, (ranks.off(code, share) for code in told), note=query.noise)
    spend = float(epsilon)
    if _short(table):
        their = opendp(table, share, relation, spend)
        found = (ranks.off(their(table.codes), share) for _ in range(draws))
    else:
        found = (ranks.off(flipped(ranks, share, relation, spend), share) for _ in range(draws))
    yield line(case, relation, pure(epsilon), "OpenDP", found)


def ranged(table: Made, relation: str, epsilon: str, draws: int) -> Iterator[dict[str, Any]]:
    """A median with its range, and five percentiles with theirs: how far off the points are, how wide the ranges, and
    how many hold. A fourth of the draws."""
    draws = -(-draws // 4)
    ranks, spread = Ranks(table), table.spread
    for name, key, given in (("median", "median", {}), ("five percentiles", "quantile", {"share": list(FIVE)})):
        if key == "quantile" and table.column.size > LARGEST_GRID:
            continue
        usual = ask(relation, table, key, epsilon, **given)
        shares = [Fraction(1, 2)] if key == "median" else [Fraction(share) for share in FIVE]
        for who, query in ((OURS, best(usual)), (BEFORE, usual)):
            off, wide, held = [], [], []
            for _ in range(draws):
                told = query.release(spread, COINS)
                points = [told.value] if key == "median" else list(told.value.values())
                ends = [told.interval] if key == "median" else list(told.interval.values())
                off.append(ranks.mean(table.codes_of(points), shares))
                wide.append(float(np.mean([high - low for low, high in ends])))
                pairs = [table.codes_of(pair) for pair in ends]
                held.append(float(all(map(ranks.holds, pairs, shares))))
            case = f"{name} with range: {{}}: {table.title}"
            for measure, found in (("rank error", off), ("width", wide), ("chance that all hold", held)):
                better = MORE if found is held else LESS
                yield line(case.format(measure), relation, pure(epsilon), who, found, better, note=query.noise)


def rows(draws: int) -> Iterator[dict[str, Any]]:
    for table in every():
        yield from of_table(table, draws)


def of_table(table: Made, draws: int) -> Iterator[dict[str, Any]]:
    for epsilon, relation in SPENDS[:2] if table.column.size > LARGEST_GRID else SPENDS:
        yield from several(table, relation, epsilon, draws)
        yield from alone(table, relation, epsilon, draws, "median", Fraction(1, 2))
        yield from alone(table, relation, epsilon, draws, "90th percentile", Fraction(9, 10))
        yield from ranged(table, relation, epsilon, draws)


if __name__ == "__main__":
    from opendp.mod import enable_features

    from bench.utility.columns import made as make

    enable_features("contrib")
    ages = make("age", PEOPLE[0])
    ranks_ = Ranks(ages)
    for relation_ in (REPLACE, ADD_REMOVE):
        for share_ in (Fraction(1, 2), Fraction(9, 10)):
            their_ = opendp(ages, share_, relation_, 0.1)
            found_ = {
                "OpenDP": [their_(ages.codes) for _ in range(4_000)],
                "floats": [flipped(ranks_, share_, relation_, 0.1) for _ in range(4_000)],
            }
            for who_, drawn_ in found_.items():
                errors = np.array([ranks_.off(one, share_) for one in drawn_])
                print(relation_, share_, who_, f"{errors.mean():.2f} ± {errors.std() / len(errors) ** 0.5:.2f}")
