"""Which marginals a synthetic table measures: the names of the plans, what each spends on what, and from which noise on
another one is taken. Public facts decide (`SyntheticTable.best_plan`).

The numbers were found on made-up tables: random ones, and the first of those that `python -m bench.synthetic_tables`
compares with other ways. The second was made when they were there. Other numbers would be as private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

import numpy as np

from dpengine.core.types import Integers, Json, JsonObject
from dpengine.declared.grouped import ref_json
from dpengine.declared.public_rules import rules_on
from dpengine.declared.schema import Schema
from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.mechanisms.marginals.wanted import MOST_CELLS, zero_apart

Kind = TypeVar("Kind")
PAIRS, TRIPLES, MIXED, CHOSEN = PLANS = ("pairs", "triples", "mixed", "chosen")
IN_TURNS, EVERY = (MIXED, CHOSEN), (PAIRS, TRIPLES, MIXED)
FIRST = Fraction(5, 12)  # of ρ, for what is measured whatever is chosen
# The same of a mixed plan, how many triples it chooses for each column, and how much more columns by themselves weigh,
# up to how far noise would put all triples off: the less that is, the more are worth choosing.
Mix = tuple[Fraction, Fraction, int]
MIXES: tuple[tuple[float, Mix], ...] = (
    (0.03, (Fraction(3, 5), Fraction(3, 2), 8)),
    (0.065, (Fraction(7, 10), Fraction(1), 32)),
    (math.inf, (Fraction(17, 20), Fraction(1, 2), 12)),
)
SOME_TRIPLES = 0.065  # so far off, all are measured where a mixed plan would choose them all
FOR_KEPT = Fraction(1, 2)  # of ρ, for what is measured whatever is chosen, where all pairs with a column are among it
MOST_ROWS = 2_000_000  # made up
MOST_IN_THREES = 24  # columns of which triples may be chosen
MOST_COUNTED = 1_000_000  # cells of everything that may be chosen
KEPT_BETTER = 4  # so many times less variance have the marginals of a column that somebody wants kept
# The share of rows in other cells, on average, up to which all are measured; of pairs, over the number of columns.
GOOD_TRIPLES, GOOD_PAIRS = 0.01, 0.14
TURNS = 3  # for each column but one


def up_to(rows: Sequence[tuple[float, Kind]], off: Callable[[], float]) -> Kind:
    """Of the first row that reaches so far; noise is worked out only where there are several."""
    reached = off() if len(rows) > 1 else 0.0
    return next(value for most, value in rows if reached <= most)


def candidates(plan: str, columns: int) -> list[Columns]:
    """Everything that may be chosen, however large: pairs where not all are measured, and triples of few columns."""
    pairs: list[Columns] = [] if plan == MIXED else list(combinations(range(columns), 2))
    return [*pairs, *(combinations(range(columns), 3) if columns <= MOST_IN_THREES else ())]


def countable(plan: str, sizes: Sequence[int], always: set[Columns]) -> tuple[Columns, ...]:
    """The candidates but for what is measured in any case; the smallest, where all are too many to count."""
    many = {part: math.prod(sizes[place] for place in part) for part in candidates(plan, len(sizes))}
    kept, counted = list[Columns](), 0
    for part in sorted(many.keys() - always, key=lambda part: (len(part), many[part], part)):
        counted += many[part]
        if many[part] <= MOST_CELLS and counted <= MOST_COUNTED:
            kept.append(part)
    return tuple(sorted(kept, key=lambda part: (len(part), part)))


def summed(value: Sequence[Sequence[int]], largest: Sequence[Columns], sizes: Sequence[int], part: Columns) -> Integers:
    """The counts of a marginal, from those of the largest sets that were counted."""
    place = next(place for place, held in enumerate(largest) if set(part) <= set(held))
    cells = np.array(value[place], dtype=np.int64).reshape([sizes[column] for column in largest[place]])
    marginal: Integers = cells.sum(axis=tuple(axis for axis, column in enumerate(largest[place]) if column not in part))
    return marginal


def with_known(given: JsonObject, schema: Schema, usual: Sequence[str]) -> JsonObject:
    """What somebody asked for, with amounts of 0 apart, and with the rules that were declared with the table, of the
    columns that it will have."""
    wanted, never = given.get("columns") or list(usual), given.get("never") or []
    if not isinstance(wanted, (list, tuple)) or not isinstance(never, (list, tuple)):
        return given
    columns: list[Json] = [
        ref_json(zero_apart(ref, schema)) if isinstance(ref, str) and ref in usual else ref for ref in wanted
    ]
    names = [ref["column"] if isinstance(ref, dict) and "column" in ref else ref for ref in columns]
    own = rules_on(schema, [name for name in names if isinstance(name, str)]) if schema.never else []
    rules = [*own, *(rule for rule in never if rule not in own)]
    return given | {"columns": columns} | ({"never": rules} if rules else {})
