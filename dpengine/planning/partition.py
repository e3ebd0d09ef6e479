"""Parallel composition in a plan: several questions about disjoint groups of people, asked as one question by group.

Statement   disjoint conditions partition the rows. Asked together they are one question by group: a row added or
            removed changes one group, so it costs as much as the dearest of them alone; a row replaced leaves one group
            and enters another, so it costs two of them, for any number of groups. A person with several rows may touch
            several groups, but changes no more in total (L1, or squared L2) than with all rows in one group, as every
            question by group states it for itself.
Disjoint    decided by declarations alone: the conditions are the same but for one column, and there each takes a run
            of a number's grid, or one value of a list. Two runs without a common point have no common row, whatever the
            table holds; a row without a number meets none of them. Then every condition is exactly one group, between
            edges or by value, and the other groups come for free.
Price       that of the question by group at the same noise: at twice the ε of each under replace-one, at the same under
            add/remove; for counts, at the least ε that meets the closest wish for all groups at once. It is offered
            where the whole plan then takes a tenth less. All groups then hold at once, which separate questions need
            not: under replace-one it takes several counts to gain by it.
Paid        earlier charges stay: nothing of an earlier answer is merged or given back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpengine.asking.plan import Planner, Wish, round_up_amount
from dpengine.core.exact import text_of
from dpengine.core.strict_json import canonical
from dpengine.core.types import Json, JsonObject
from dpengine.declared.conditions import OneOf, Range, parts_of
from dpengine.declared.schema import Category, Number
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery

OWN = ("where", "epsilon", "beta", "noise")
ENOUGH = Fraction(9, 10)  # of what the plan takes otherwise


@dataclass(frozen=True)
class TakenCodes:
    """The codes that a condition takes of one column: from `low` to `high`, or those in `listed`."""

    low: int
    high: int
    listed: frozenset[int] | None = None

    def apart(self, other: TakenCodes) -> bool:
        if self.listed is not None and other.listed is not None:
            return not self.listed & other.listed
        return self.high < other.low or other.high < self.low


@dataclass(frozen=True)
class PutTogether:
    """Rows of a plan that one question could ask, and the price of the whole plan before and after."""

    places: tuple[int, ...]
    wish: Wish
    before: Fraction
    after: Fraction

    def applied(self, wishes: Sequence[Wish]) -> list[Wish]:
        """The plan in which the merged question replaces the first of these rows, and the other rows are gone."""
        kept = [(place, wish) for place, wish in enumerate(wishes) if place not in self.places[1:]]
        return [self.wish if place == self.places[0] else wish for place, wish in kept]


def merged_offer(planner: Planner, wishes: Sequence[Wish]) -> PutTogether | None:
    """The best merger of rows; None unless the plan then costs clearly less. From public facts alone; free."""
    before = planner.price(wishes)
    offers = []
    for places, query in candidates(wishes):
        lines = [before.lines[place] for place in places]
        if any(line.query is None for line in lines):
            continue
        amount = _wanted(query, [wishes[place] for place in places], [line.query for line in lines if line.query])
        wish = Wish(query, amount, any(wishes[place].locked for place in places))
        offer = PutTogether(places, wish, before.share, before.share)
        after = planner.price(offer.applied(wishes))
        if after.reachable and after.share <= ENOUGH * before.share:
            offers.append(PutTogether(places, wish, before.share, after.share))
    return min(offers, key=lambda offer: offer.after, default=None)


def _wanted(query: AnyQuery, wishes: Sequence[Wish], asked: Sequence[AnyQuery]) -> Fraction:
    """How accurate every group of the merged question must be. Where a promise depends on the number of people, groups
    and conditions expect different numbers; then the noise stays the same."""
    if not query.promise().supposes(query):
        return min(wish.amount for wish in wishes)
    closest = max(single.epsilon for single in asked)
    return round_up_amount(query.at(closest * query.facts.sides).promise().amount)


def candidates(wishes: Sequence[Wish]) -> list[tuple[tuple[int, ...], AnyQuery]]:
    """All mergers: the places in the plan of wishes that ask the same question under disjoint conditions, and the one
    question by group that can replace these wishes."""
    alike: dict[tuple[str, str, str, str], list[tuple[int, TakenCodes]]] = {}
    for place, wish in enumerate(wishes):
        query = wish.query
        if query.by is not None or "by" not in {parameter.name for parameter in query.card.parameters}:
            continue
        rest = canonical({name: part for name, part in query.parameters().items() if name not in OWN})
        for column in sorted(query.where.columns()):
            taken = taken_of(query, column)
            if taken is not None:
                others = canonical([row for row in query.where.as_json() if row[0] != column])
                alike.setdefault((query.card.key, rest, column, others), []).append((place, taken))
    grouped_rows = []
    for (_, _, column, _), rows in alike.items():
        places = disjoint(rows)
        if len(places) > 1 and (grouped := _grouped(wishes[places[0]].query, column, rows, places)) is not None:
            grouped_rows.append((places, grouped))
    return grouped_rows


def taken_of(query: AnyQuery, column: str) -> TakenCodes | None:
    """The codes that the question's conditions take of a column: a run of a number, or one value of a list. None for
    any other condition, if the column also stands in an “or”, or if nobody can meet the conditions."""
    declared = query.facts.schema[column]
    clauses = [clause for clause in query.where.clauses if column in {part.column for part in parts_of(clause)}]
    if isinstance(declared, Number) and all(isinstance(clause, Range) for clause in clauses):
        low = max(clause.low for clause in clauses if isinstance(clause, Range))
        high = min(clause.high for clause in clauses if isinstance(clause, Range))
        return TakenCodes(low, high) if low <= high else None
    if isinstance(declared, Category) and len(clauses) == 1 and isinstance(clauses[0], OneOf):
        codes = clauses[0].codes
        return TakenCodes(codes[0], codes[0], frozenset(codes)) if len(codes) == 1 else None
    return None


def disjoint(rows: Sequence[tuple[int, TakenCodes]]) -> tuple[int, ...]:
    """The places of some of the rows, in order: each row that is disjoint from all rows chosen before it."""
    kept: list[tuple[int, TakenCodes]] = []
    for place, codes in rows:
        if all(codes.apart(other) for _, other in kept):
            kept.append((place, codes))
    return tuple(place for place, _ in kept)


def _grouped(
    query: AnyQuery, column: str, rows: Sequence[tuple[int, TakenCodes]], places: tuple[int, ...]
) -> AnyQuery | None:
    declared = query.facts.schema[column]
    by: Json = column
    if isinstance(declared, Number):
        taken = [codes for place, codes in rows if place in places]
        starts = {code for codes in taken for code in (codes.low, codes.high + 1) if 0 < code < declared.size}
        by = {"column": column, "edges": [text_of(declared.lower + code * declared.step) for code in sorted(starts)]}
    given: JsonObject = {name: part for name, part in query.parameters().items() if name not in ("where", "noise")}
    where = [row for row in query.where.as_json() if row[0] != column]
    # None for too many groups, or for a question that public facts answer
    return catalogue[query.card.key].built(query.facts, given | {"by": by} | ({"where": where} if where else {}))
