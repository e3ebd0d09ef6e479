"""How many people hold each item of a column of sets, released together with the marginals of a first look: what one
person changes, and which noise each column gets. Everything here follows from public facts.

Statistic   for each column of sets with H items, how many people hold each. Of a person's set at most k items count, k
            as it is declared (`ItemSet.at_most`), chosen from the set alone; without a declared k all of them may, so
            k = H. A person with several rows holds what any of the rows holds, of *all* rows: their number does not
            matter. Where the number of people is secret it is one more number, for shares.
Change      one person in or out moves at most min(k, H) of the H numbers, by one each; one replaced by another moves
            those whose items are in one set and not in the other, at most min(2k, H). So the squared length is at most
            κ = min(k, H), or κ = min(2k, H). The number of people moves by one, or not at all.
Loss        the numbers + independent discrete Gaussian noise of σ² each: ρ = κ/(2σ²) (Canonne, Kamath, Steinke 2020,
            Theorem 14). Which items somebody holds is free of the cells that somebody is in, and of the items of other
            columns, so the worst of all parts happens at once, and the loss of the whole is the sum of theirs, exactly.
Noise       a part with the weighted variance V_j at ρ = 1 has V_j/ρ_j at ρ_j. With Σρ_j = ρ the least maximum of all
            is at ρ_j ∝ V_j (`level`: all figures are about equally exact), the least sum at ρ_j ∝ √V_j.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.exact import up
from dpengine.declared.facts import Facts
from dpengine.declared.schema import ItemSet
from dpengine.statistics.counts import ItemCounts, RowCount
from dpengine.statistics.need import AnyNeed

FEW_ITEMS = 12  # so many may all be held at once, where no size of a set is declared
_GRAIN = 10**6


def countable(column: ItemSet) -> bool:
    """Whether it is known how many items of one person count, or there are few of them."""
    return column.at_most is not None or column.size <= FEW_ITEMS


@dataclass(frozen=True)
class Held:
    """A vector of counts of people: of the items of one column, or of everyone where `column` is empty."""

    column: str
    size: int
    moves: int  # κ: of these numbers one person changes so many, by one each
    weight: Fraction = Fraction(1)

    def noise(self, rho: Fraction) -> Fraction:
        """σ² of each number, at this loss."""
        return up(Fraction(self.moves) / (2 * rho), _GRAIN)


def held_of(facts: Facts, names: Sequence[str], weights: dict[str, Fraction]) -> tuple[Held, ...]:
    """The number of people first, where it is secret; nothing where no column holds sets."""
    sides = 2 if facts.relation == "replace" else 1
    found = [] if facts.people is not None or not names else [Held("", 1, 1)]
    for name in names:
        column = set_of(facts, name)
        most = column.size if column.at_most is None else column.at_most
        found.append(Held(name, column.size, min(sides * most, column.size), weights.get(name, Fraction(1))))
    return tuple(found)


def set_of(facts: Facts, name: str) -> ItemSet:
    column = facts.schema[name]
    assert isinstance(column, ItemSet)
    return column


def need_of(facts: Facts, held: Held) -> AnyNeed:
    several = facts.unit.id_column is not None
    if not held.column:
        return RowCount(people=several)
    cut = set_of(facts, held.column).at_most is not None
    return ItemCounts(held.column, held.size, people=several, cut=cut)


def split(rho: Fraction, variances: Sequence[float], level: bool) -> list[Fraction]:
    """ρ for each part, from its weighted variance at ρ = 1; exactly ρ in all, and something for each."""
    matters = [variance if level else math.sqrt(variance) for variance in variances]
    free = _GRAIN - len(matters)
    units = [1 + math.floor(free * one / sum(matters)) for one in matters]
    units[0] += _GRAIN - sum(units)
    return [rho * Fraction(unit, _GRAIN) for unit in units]
