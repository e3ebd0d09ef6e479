"""Which two tables are compared: every two neighbours of the small world, or fewer where a theorem says they decide.

**One row decides** (thesis, Thm 4.7). A mechanism of the form Y_d = (Y_{d₁}, …, Y_{d_n}) with independent Y_{d_i} is
(ε, δ)-DP on tables of n rows if Y is on tables of one; and what is computed from it is then too (Thm 4.3). So where
every row is released by itself, the |D|(|D|−1) ordered pairs of one-row tables decide what n·C(|D|, 2)·|D|^(n−1) pairs
of tables would (Ex. 4.8): 56 instead of 2,520 here. That a question *has* this form is not believed but looked at: on
every table of two and of three rows its law must be made of the laws of its rows (`made_of_rows`); else all pairs are
listed.

**Events** (Thm 4.1) need no list at all: of a finite law the sum of positive parts is the worst event's excess
(`exact`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement

from dpengine.audit.world import POSSIBLE_ROWS, neighbouring_statistics
from dpengine.core.json_types import Json
from dpengine.declared.unit import Unit
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.mechanisms.choices.find_values import FindValues, Found
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.laws import Independent

Pair = tuple[Json, Json]  # statistics of two neighbouring tables


def pairs(query: AnyQuery, whole: bool = False) -> Iterator[Pair]:
    """Every two different statistics of two neighbouring tables of the small world, in both directions; of tables of
    one row where those decide, unless the `whole` world is wished."""
    facts = query.facts
    alone = not whole and facts.relation == "replace" and facts.unit == Unit.rows() and made_of_rows(query)
    for first, second in neighbouring_statistics(query.need().of, facts.relation, facts.unit, 1 if alone else None):
        yield first, second
        if isinstance(query, FindValues):
            yield from (_lifted(first, second, more) for more in (query.threshold - 1, query.threshold + 2))
        if isinstance(query, FindDeclarations):
            yield from _lifted_columns(query, first, second)


def made_of_rows(query: AnyQuery) -> bool:
    """Does a question that says so release every row by itself? The law on every small table is that of independent
    rows, each as on a table of its own."""
    if not query.row_wise:
        return False
    read = query.need().of
    alone = [_parts(query, read((row,))) for row in POSSIBLE_ROWS]
    for many in (2, 3):
        for places in combinations_with_replacement(range(len(POSSIBLE_ROWS)), many):
            rows = tuple(POSSIBLE_ROWS[place] for place in places)
            if _parts(query, read(rows)) != sum((alone[place] for place in places), Counter[str]()):
                return False
    return True


def _parts(query: AnyQuery, value: Json) -> Counter[str]:
    law = query.law(value)
    return Counter(map(repr, law.parts if isinstance(law, Independent) else (law,)))


def _lifted(first: Found, second: Found, more: int) -> tuple[Found, Found]:
    """The same two tables with `more` further people for each value that occurs, so that counts are near the
    threshold."""
    names = sorted({name for name, _ in (*first, *second)})
    before, after = dict(first), dict(second)
    return tuple((name, before.get(name, 0) + more) for name in names), tuple(
        (name, after.get(name, 0) + more) for name in names
    )


def _lifted_columns(query: FindDeclarations, one: Json, other: Json) -> Iterator[Pair]:
    """The same with other people more: near the threshold of a list, and beyond the rank that an end is sought at."""
    kinds = [kind for _, kind in query.asked]
    for more in (query.threshold - 1, query.threshold + 2) if query.lists else (1,):
        lifted = [
            _lifted(a, b, more) if kind == "list" else (_many(a, query.slack(kind)), _many(b, query.slack(kind)))
            for kind, a, b in zip(kinds, one, other, strict=True)
        ]
        yield tuple(a for a, _ in lifted), tuple(b for _, b in lifted)


def _many(bands: tuple[int, ...], more: int) -> tuple[int, ...]:
    middle = len(bands) // 2
    return (*bands[:middle], bands[middle] + more, *bands[middle + 1 :])
