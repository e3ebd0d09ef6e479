"""The exact ε and δ of publishing one declared column, from its declaration alone: no cell is read, nothing is drawn.

Every row is published by itself, so tables of one row decide (thesis, Thm 4.7). A table of one row is one cell: |D|
different cells make |D|(|D|−1)/2 pairs. For each the exact divergences of the two laws are computed (`exact`).

Some pairs have the same laws up to a shift or another name, and one of them stands for all:
    numbers, days   two cells s steps apart: s = 1, …, D. Up to MOST_LISTED steps each s is computed; beyond, only the
                    farthest, since a smaller shift loses no more (`row_noise`), by the closed form.
    a list          any two different values.
    a set           as one of all sets, any two different sets; item by item, two sets that differ in k items:
                    each k = 1, …, h is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpengine.audit.exact import hockey_stick
from dpengine.core.exact import decimal_of
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.noise.laws import Finite, Independent, Law, max_divergence
from dpengine.noise.row_noise import AsOne, Blur, ItemByItem, Mixing, RowNoise, excess

MOST_LISTED = 300
_SLACK = Decimal("1e-18")  # rounding of decimals compared with a claim


@dataclass(frozen=True)
class ColumnAudit:
    """The largest loss of one-row tables. `epsilon` is infinite if no ε holds without δ."""

    cells: int  # |D|
    kinds: int  # of pairs with compared laws
    epsilon: Decimal
    delta: Decimal  # at the claimed ε
    claimed_epsilon: Fraction
    claimed_delta: Fraction

    @property
    def pairs(self) -> int:
        """The number of pairs of different one-row tables."""
        return self.cells * (self.cells - 1) // 2

    @property
    def kept(self) -> bool:
        """Is it as private as claimed? Without δ only ε counts."""
        if self.claimed_delta:
            return self.delta <= decimal_of(self.claimed_delta) + _SLACK
        return self.epsilon <= decimal_of(self.claimed_epsilon) + _SLACK


def audited_column(query: OfRows, name: str) -> ColumnAudit:
    """The audit of a column of a published table, at its share of ε and δ."""
    many = len(query.columns)
    return audited_row(query.row(name), query.steps(name) + 1, query.epsilon / many, query.delta / many)


def audited_row(row: RowNoise, cells: int, epsilon: Fraction, delta: Fraction) -> ColumnAudit:
    """The audit of any row mechanism that claims (ε, δ)."""
    if isinstance(row, Blur) and row.steps > MOST_LISTED:
        lost = decimal_of(row.steps / row.scale), excess(row.steps, row.scale, epsilon)
        return ColumnAudit(cells, 1, *lost, epsilon, delta)
    most, worst, kinds = Decimal(0), Decimal(0), 0
    for law, other in _laws(row):
        for first, second in ((law, other), (other, law)):
            most = max(most, max_divergence(first, second))
            worst = max(worst, hockey_stick(first, second, epsilon).high)
        kinds += 1
    return ColumnAudit(cells, kinds, most, worst, epsilon, delta)


def _laws(row: RowNoise) -> Iterator[tuple[Law, Law]]:
    """Two laws for each kind of pair."""
    if isinstance(row, Blur):
        yield from ((row.law(0), row.law(shift)) for shift in range(1, row.steps + 1))
    elif isinstance(row, ItemByItem):
        held, absent = _of_two(row.each, 1), _of_two(row.each, 0)
        for apart in range(1, row.items + 1):
            yield Independent((absent,) * apart), Independent((held,) * apart)
    elif isinstance(row, AsOne):
        yield _of_two(row.swap, 0), _of_two(row.swap, 1)
    else:
        assert isinstance(row, Mixing)
        yield _of_two(row, 0), _of_two(row, 1)


def _of_two(row: Mixing, truth: int) -> Finite:
    """The law of the output on one of two compared rows. The other values are one outcome, equally likely on both."""
    chances = {place: decimal_of(row.truth if place == truth else row.chance) for place in (0, 1)}
    rest = decimal_of((row.size - 2) * row.chance)
    return Finite(chances | ({2: rest} if rest else {}))
