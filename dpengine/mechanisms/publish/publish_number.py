"""Publishes a column of numbers or days: adds random noise to every row separately, on the declared grid.

Guarantee   (ε, δ)-DP under replace-one for the whole published table (`of_rows`).
Theorem     thesis, Ex. 4.9, with the least scale that the discrete law admits in place of its diam/(ε − ln(1−δ)).
Draw        d + Z, Pr[Z=z] ∝ e^(−|z|/t) on the grid, t by `row_noise.least_scale`. Values leave the declared range on
            both sides; clamping them would cost no privacy, but bias every mean.
Accuracy    E|Z| for a cell; no mechanism is below (1−δ)·diam/(1+e^ε) in the worst case, nor below Thm 5.5 with κ the
            step (`floors`); the mean of n rows within O(t/√n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpengine.declared.date_column import Date
from dpengine.declared.schema import Column, Number
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.publish.of_rows import card
from dpengine.mechanisms.publish.write_file import PublishedRows
from dpengine.mechanisms.trial import Example, Trial


@dataclass(frozen=True, kw_only=True)
class PublishNumber(PublishedRows):
    card: ClassVar[Card] = card("publish_number", ("range", "empty"), 400)
    trial: ClassVar[Trial] = Trial(
        cases={
            "a column": {"columns": ["z"]},
            "two columns on a coarser grid": {"columns": ["x", "z"], "grid": 2},
            "a column with δ": {"columns": ["x"], "delta": "0.1"},
            "a day": {"columns": ["b"]},
        },
        example=Example({"columns": ["visits"]}),
        covered="test_what_is_read_off_has_no_bias_and_holds_the_truth",
    )
    kinds: ClassVar[tuple[type[Column], ...]] = (Number, Date)
