"""Publishes a column of listed values: every row shows the true value or, at random, another one.

Guarantee   (ε, δ)-DP under replace-one for the whole published table (`of_rows`), iff p ≥ (1−δ)/(m+e^ε).
Theorem     thesis, Ex. 4.10; Warner 1965, Kairouz, Oh, Viswanath 2016 for k-ary randomised response.
Draw        the truth with probability 1−pm, each of the m other values with p (`row_noise.Swap`).
Accuracy    a cell is untrue with probability pm, the least possible with one column (Thm 5.5). A value's count is
            estimated without bias by (c − np)/(1 − p(m+1)), within O(√n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpengine.declared.schema import Category, Column
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.publish.of_rows import card
from dpengine.mechanisms.publish.write_file import PublishedRows
from dpengine.mechanisms.trial import Example, Trial


@dataclass(frozen=True, kw_only=True)
class PublishCategory(PublishedRows):
    card: ClassVar[Card] = card("publish_category", ("lies",), 410)
    trial: ClassVar[Trial] = Trial(
        cases={
            "two lists": {"columns": ["t", "c"]},
            "a list with δ": {"columns": ["t"], "delta": "0.2"},
        },
        example=Example({"columns": ["town"]}),
        covered="test_what_is_read_off_has_no_bias_and_holds_the_truth",
    )
    kinds: ClassVar[tuple[type[Column], ...]] = (Category,)
