"""Two questions answer with the same curve: which one is expected to be more accurate, by their promises in people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree
from dpengine.mechanisms.query import AnyQuery


@dataclass(frozen=True)
class Rival:
    """The other question, and the error of each in people, at all points at once, 95 times in 100."""

    query: Cdf | CdfTree
    own: Fraction
    its: Fraction

    @property
    def loses_values(self) -> bool:
        """Does the question give a synthetic column, which the other does not?"""
        return isinstance(self.query, CdfTree)


def rival(query: AnyQuery) -> Rival | None:
    """The other question for the same column, people, condition and ε, each with its default noise; from public
    facts."""
    if not isinstance(query, Cdf | CdfTree):
        return None
    query = query.with_noise("")
    given = {name: value for name, value in query.parameters().items() if name != "points"}
    kind: type[Cdf] | type[CdfTree] = CdfTree if isinstance(query, Cdf) else Cdf
    other = kind.build(query.facts, given)
    everybody = Fraction(query.facts.about)  # no error is larger
    return Rival(other, *(min(option.people_off, everybody) for option in (query, other)))
