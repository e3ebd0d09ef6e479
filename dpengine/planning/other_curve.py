"""Two questions about the same curve, and which of them is expected to be nearer, by their own promises in people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.mechanisms.query import AnyQuery


@dataclass(frozen=True)
class Rival:
    """The other question, and within how many people each is right at every point, 95 times in 100."""

    query: Cdf | CdfTree
    own: Fraction
    its: Fraction

    @property
    def loses_values(self) -> bool:
        """Was a column of values asked for, which the other does not give?"""
        return isinstance(self.query, CdfTree)


def rival(query: AnyQuery) -> Rival | None:
    """For the same column, people, condition and ε, each with its usual noise; from public facts alone."""
    if not isinstance(query, Cdf | CdfTree):
        return None
    query = query.with_noise("")
    given = {name: value for name, value in query.parameters().items() if name != "points"}
    kind: type[Cdf] | type[CdfTree] = CdfTree if isinstance(query, Cdf) else Cdf
    other = kind.build(query.facts, given)
    everybody = Fraction(query.facts.about)  # nothing is off by more
    return Rival(other, *(min(one.people_off, everybody) for one in (query, other)))
