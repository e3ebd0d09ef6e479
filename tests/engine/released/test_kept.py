"""What a synthetic table does not keep is told from what was released: every pair is either measured or named."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from helpers_synthetic import facts

import dpengine as dp
from dpengine.noise.coins import SystemCoins
from dpengine.released.look import Look
from dpengine.released.synthetic import KeptTogether

SIZES = (3, 4, 5, 3, 4, 6)


def kept(plan: str, epsilon: str = "0.2") -> KeptTogether:
    query: Any = dp.catalogue["synthetic_table"].build(
        facts(SIZES, 2_000), {"columns": [f"c{at}" for at in range(len(SIZES))], "plan": plan, "epsilon": epsilon}
    )
    value = [[0] * query.layout.cells(part) for part in query.largest]
    for cells in value:
        cells[0] = 2_000
    return KeptTogether(Look(query, query.draw(value, SystemCoins())))


@pytest.mark.parametrize("plan", ["pairs", "triples", "mixed", "chosen"])
def test_every_pair_was_measured_or_is_named(plan: str) -> None:
    found = kept(plan)
    pairs = set(combinations(found.names, 2))
    measured = {pair for part in found.measured for pair in combinations([found.names[at] for at in part], 2)}
    assert set(found.apart) == pairs - measured and found.pairs == len(measured)
    assert found.pairs + len(found.apart) == found.all_pairs == 15
    assert bool(found.apart) == (plan == "chosen") and (found.threes == found.all_threes) == (plan == "triples")
    by_column = found.apart_by_column()
    assert {tuple(sorted((one, other))) for one, others in by_column.items() for other in others} == set(found.apart)
    assert sum(map(len, by_column.values())) == 2 * len(found.apart)


def test_ranges_are_those_of_what_was_measured() -> None:
    found = kept("chosen")
    for part in found.measured:
        assert found.look.reach(part) <= found.reach(len(part)) <= found.widest
    assert found.uneven == [], "lists have no averages"
