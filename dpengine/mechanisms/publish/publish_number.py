"""A numeric column, published: every row with noise of its own, on the declared grid.

Guarantee   (ε, δ)-DP under replace-one for the whole published table (`of_rows`).
Theorem     thesis, Ex. 4.9, with the least scale that the discrete law admits in place of its diam/(ε − ln(1−δ)).
Draw        d + Z, Pr[Z=z] ∝ e^(−|z|/t) on the grid, t by `row_noise.least_scale`. Values leave the declared range on
            both sides; cutting them off would be free, and bias every mean.
Accuracy    E|Z| for a cell, at least (1−δ)·diam/(1+e^ε) in the worst case for anybody (`row_noise`); the mean of n
            rows within O(t/√n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpengine.declared.schema import Category, Number
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.publish.of_rows import OfRows, card


@dataclass(frozen=True, kw_only=True)
class PublishNumber(OfRows):
    card: ClassVar[Card] = card("publish_number", ("range", "empty"))
    kinds: ClassVar[tuple[type[Number] | type[Category], ...]] = (Number,)
