"""Publishes whole rows, each as one value: the true row or, at random, another row of all that are possible.

Guarantee   (ε, δ)-DP under replace-one for the whole published table (`of_rows`), iff p ≥ (1−δ)/(m+e^ε).
Theorem     thesis, Ex. 3.3: a row of several columns is one element of one D = D₁×…×D_k; Ex. 4.10 for randomised
            response over its m+1 = |D₁|·…·|D_k| elements. Nothing is composed: the whole ε is spent once.
Draw        `row_noise.Swap` over the product: with probability λ = (m+1)p a row with uniform cells, else
            the true one. Numbers and days are rounded to the published grid first and never leave it.
Accuracy    a row is untrue with probability pm, the least possible (Thm 5.5). A column by itself is true, or with
            probability λ any of its values (`row_noise.Marginal`): counts are estimated without bias by
            (c − nλw)/(1−λ), w the share of its values that count, and means by (ȳ − λ·middle)/(1−λ).
Against     the same columns one by one at ε/k (`publish_table`): better where the product is small, worse where it is
            large, since λ nears 1 as m outgrows e^ε. `of_rows.best_way` compares the two from public facts.
Cost        one word for every row; a product of 2^32 rows or more is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Approximate, Loss, Pure
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Integers
from dpengine.declared.schema import ItemSet
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.publish.of_rows import card
from dpengine.mechanisms.publish.write_file import PublishedRows
from dpengine.mechanisms.trial import Example, Trial
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent
from dpengine.noise.row_noise import MOST_AT_ONCE, Marginal, RowNoise, SetMarginal, Swap


@dataclass(frozen=True, kw_only=True)
class PublishRow(PublishedRows):
    card: ClassVar[Card] = card("publish_row", ("empty", "lies"), 430)
    trial: ClassVar[Trial] = Trial(
        cases={
            "a number and a list": {"columns": ["x", "c"]},
            "two lists, with δ": {"columns": ["t", "c"], "delta": "0.2"},
            "a coarse day and a list": {"columns": ["b", "c"], "grid": 1},
            "a set and a list": {"columns": ["s", "c"]},
        },
        example=Example({"columns": ["town", "visits"]}),
        covered="test_what_is_read_off_sets_and_rows_holds_the_truth",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.combinations > MOST_AT_ONCE:
            raise AllowanceError("publish.product", cells=self.combinations, most=MOST_AT_ONCE)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.steps(name) + 1 for name in self.columns)

    @property
    def combinations(self) -> int:
        """|D|: the number of possible rows."""
        return prod(self.sizes)

    @cached_property
    def whole(self) -> Swap:
        """The noise of a whole row."""
        return Swap(self.combinations, self.epsilon, self.delta)

    def row(self, name: str) -> RowNoise:
        column = self.facts.schema[name]
        if isinstance(column, ItemSet):
            return SetMarginal(column.size, self.whole)
        return Marginal(self.steps(name) + 1, self.whole)

    def true_row(self) -> Fraction:
        return self.whole.truth

    def loss(self) -> Loss:
        return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)

    def draw(self, value: tuple[Integers, ...], coins: Coins) -> tuple[int, ...]:
        """The published code of every row, in the order given."""
        return tuple(self.whole.perturb(self.joined(value), coins).tolist())

    def law(self, value: tuple[Integers, ...]) -> Independent:
        return Independent(tuple(self.whole.law(code) for code in self.joined(value).tolist()))

    def perturbed(self, value: tuple[Sequence[int] | Integers, ...], coins: Coins) -> tuple[Integers, ...]:
        drawn = self.whole.perturb(self.joined(value), coins)
        return tuple(np.asarray(codes, dtype=np.int64) for codes in np.unravel_index(drawn, self.sizes))

    def joined(self, value: tuple[Sequence[int] | Integers, ...]) -> Integers:
        """The cells of each row as one integer below |D|."""
        cells = [self.coarsened(name, codes) for name, codes in zip(self.columns, value, strict=True)]
        return np.asarray(np.ravel_multi_index(tuple(cells), self.sizes), dtype=np.int64)
