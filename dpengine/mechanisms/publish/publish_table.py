"""Several columns of both kinds, published together: a row's cells stay beside each other.

Guarantee   (ε, δ)-DP under replace-one: k columns at (ε/k, δ/k) each (`of_rows`).
Theorem     thesis, Exx. 4.9 and 4.10, and basic composition; the budget rule then charges the parts as its own.
Why         tables published apart are shuffled apart, so their rows cannot be put side by side again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpengine.mechanisms.card import Card
from dpengine.mechanisms.publish.of_rows import OfRows, card


@dataclass(frozen=True, kw_only=True)
class PublishTable(OfRows):
    card: ClassVar[Card] = card("publish_table", ("range", "empty", "lies"))
