"""A published average beside an asked one at the same ε (thesis, Remark 7.1), from public facts, before anything is
spent.

Published, every row hides its person by itself: its noise is made for the whole diameter, and the mean of n rows has
noise of the order diam/(ε√n). Asked, only the sum must hide one person: the same diameter over n, diam/(εn). So an
asked mean is nearer by about √n; what a published table has instead is that anything may be asked of it, any number of
times. Of k columns published together each is compared with a question at ε/k, so that both sides spend ε in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.declared.schema import Category, Number
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.query import AnyQuery


@dataclass(frozen=True)
class Instead:
    """The question that could be asked instead, and how near both come, relative to the column's range."""

    query: AnyQuery
    published: Fraction
    asked: Fraction

    @property
    def times(self) -> Fraction:
        """How many times wider the published one is."""
        return self.published / self.asked


def asked_instead(query: OfRows, name: str) -> Instead | None:
    """Of a number its mean, of a list how many rows hold each value; nothing of other columns."""
    column, facts = query.facts.schema[name], query.facts
    about, spend = {"column": name, "epsilon": "1"}, query.epsilon / len(query.columns)
    if isinstance(column, Number):
        mean = catalogue["mean"].build(facts, about).at(spend)
        return Instead(mean, query.reach(name), mean.promise().amount / column.diameter)
    if isinstance(column, Category):
        counts = catalogue["histogram"].build(facts, about).at(spend)
        return Instead(counts, query.reach(name), counts.promise().amount / facts.about)
    return None
