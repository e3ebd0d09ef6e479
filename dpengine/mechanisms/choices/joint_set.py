"""The k most common values as a set, in one draw: what `top_item` draws as “joint_set” where no order is asked for.

Guarantee   ε-DP, and ε-bounded range.
Theorem     exponential mechanism (McSherry and Talwar 2007, Thm 6) over all sets of k candidates. (A joint draw over
            sequences, Gillenwater, Joseph, Muñoz Medina, Ribero 2022, promises that the i-th named comes near the i-th
            largest; one that it leaves out may still be ahead of one that it names by k times as much: counts that fall
            by g from one to the next, of which all but the largest are named, have every rank off by g. For five of ten
            that is 4.3 times what choosing one after the other promises at the same ε: `bench.utility several`.)
Statistic   the score of a set is the least count in it less the largest count outside it: how far the set is ahead of
            what it leaves out. Under add/remove all counts move one way, by at most m, and so do both ends: Δ = m.
            Under replace-one the least in it may fall by m while the largest outside rises by m: Δ = 2m.
Draw        a set with chance ∝ exp(ε·score/(2Δ)), exactly.
Blocks      let c_1 ≥ … ≥ c_d be the counts in order. A set other than the first k leaves out a first place u ≤ k and
            has a last place l > k: it holds all places before u, none after l, and k−u of the l−u−1 between them, so
            there are C(l−u−1, k−u) such sets, all of score c_l − c_u. How many is public, whatever the counts are.
Accuracy    the best set has a score of 0 at least, so with probability ≥ 1−β none that is left out is ahead of one that
            is named by more than g = ⌈(2Δ/ε)·ln((N−1)(1−β)/β)⌉ − 1, N = C(d, k) the number of sets.
Cost        k·(d−k) + 1 blocks; taken where N is below 2^62.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from dpengine.core.arrays import Integers
from dpengine.core.exact import exp_decimal
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite

MOST_SETS = 2**61
MOST_BLOCKS = 10**6


def countable(candidates: int, named: int) -> bool:
    return named * (candidates - named) < MOST_BLOCKS and comb(candidates, named) < MOST_SETS


@lru_cache(maxsize=16)
def blocks(candidates: int, named: int) -> tuple[Integers, Integers, Integers]:
    """First place left out, last place named (counted from 0), and how many sets; the first block is the first k."""
    pairs = [(named, named - 1, 1)]
    pairs += [(u, last, comb(last - u - 1, named - u - 1)) for u in range(named) for last in range(named, candidates)]
    firsts, lasts, sizes = (np.array(one, dtype=np.int64) for one in zip(*pairs, strict=True))
    return firsts, lasts, sizes


def draw(counts: Integers, named: int, rate: Fraction, coins: Coins, most: int | None) -> tuple[int, ...]:
    """The places of the chosen ones among the candidates, rising; `most` bounds the counts."""
    order = np.argsort(-counts, kind="stable")
    held = counts[order]
    firsts, lasts, sizes = blocks(len(counts), named)
    gaps = (held[named - 1] - held[named]) - (held[lasts] - held[firsts])
    block, place = coins.choose(gaps, sizes, rate, None if most is None else 2 * most)
    u, last = int(firsts[block]), int(lasts[block])
    if block == 0:
        chosen = list(range(named))
    else:
        chosen = [*range(u), *(u + 1 + one for one in unranked(last - u - 1, named - u - 1, place)), last]
    return tuple(sorted(int(order[one]) for one in chosen))


def unranked(of: int, many: int, place: int) -> list[int]:
    """The combination of so many of 0, 1, … that has this place among all, in the order of `combinations`."""
    found: list[int] = []
    for one in range(of):
        if len(found) == many:
            break
        starting = comb(of - one - 1, many - len(found) - 1)
        if place < starting:
            found.append(one)
        else:
            place -= starting
    return found


def scores(counts: tuple[int, ...], named: int) -> dict[tuple[int, ...], int]:
    """Of every set, by the definition; only for short lists."""
    places = range(len(counts))
    return {
        chosen: min(counts[one] for one in chosen) - max(counts[one] for one in places if one not in chosen)
        for chosen in combinations(places, named)
    }


def law(counts: tuple[int, ...], named: int, rate: Fraction) -> Finite:
    found = scores(counts, named)
    best = max(found.values())
    weights = {chosen: exp_decimal(-rate * (best - score)) for chosen, score in found.items()}
    total = sum(weights.values(), Decimal(0))
    return Finite({chosen: weight / total for chosen, weight in weights.items()})
