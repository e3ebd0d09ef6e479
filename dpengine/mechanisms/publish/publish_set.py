"""Publishes a column of sets: every row shows a set of the listed items, the true one or another.

Guarantee   (ε, δ)-DP under replace-one for the whole published table (`of_rows`).
Theorem     thesis, Exx. 3.1 and 4.10: D = 2^H, randomised response over all sets; or item by item at (ε/h, δ/h), by
            composition. Whichever has the smaller expected distance, by formula (`row_noise.of_sets`).
Draw        `row_noise.AsOne` or `row_noise.ItemByItem`, for every row separately.
Accuracy    the expected number of wrong items in a set, hf; no mechanism's worst is below both (1−δ)h/(1+e^ε) and
            (1−δ)m/(m+e^ε), m = 2^h−1 (`floors`). (c − nf)/(1 − 2f) estimates the number of rows with an item without
            bias, within O(√n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpengine.declared.schema import Column, ItemSet
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.publish.of_rows import card
from dpengine.mechanisms.publish.write_file import PublishedRows
from dpengine.mechanisms.trial import Example, Trial


@dataclass(frozen=True, kw_only=True)
class PublishSet(PublishedRows):
    card: ClassVar[Card] = card("publish_set", ("lies",), 415)
    trial: ClassVar[Trial] = Trial(
        cases={
            "item by item": {"columns": ["s"]},
            "as one value, with δ": {"columns": ["s"], "delta": "0.2"},
        },
        example=Example({"columns": ["sports"]}),
        covered="test_what_is_read_off_sets_and_rows_holds_the_truth",
    )
    kinds: ClassVar[tuple[type[Column], ...]] = (ItemSet,)
