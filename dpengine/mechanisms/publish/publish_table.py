"""Publishes several columns of any kinds together: the cells of a row stay together.

Guarantee   (ε, δ)-DP under replace-one: k columns at (ε/k, δ/k) each (`of_rows`).
Theorem     thesis, Exx. 4.9 and 4.10, and basic composition; the budget rule then charges the parts as its own.
Why         tables published separately are shuffled separately, so their rows cannot be matched again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpengine.mechanisms.card import Card
from dpengine.mechanisms.publish.of_rows import card
from dpengine.mechanisms.publish.write_file import PublishedRows
from dpengine.mechanisms.trial import Example, Trial


@dataclass(frozen=True, kw_only=True)
class PublishTable(PublishedRows):
    card: ClassVar[Card] = card("publish_table", ("range", "empty", "lies"), 420)
    trial: ClassVar[Trial] = Trial(
        cases={
            "a number and a list": {"columns": ["x", "c"]},
            "a set and a list": {"columns": ["s", "c"]},
        },
        example=Example({"columns": ["town", "visits"]}),
        covered="test_what_is_read_off_has_no_bias_and_holds_the_truth",
    )
