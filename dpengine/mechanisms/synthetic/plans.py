"""The plans of a synthetic table: which marginals each measures, how it spends ρ, and from which noise on another plan
is better. Public facts decide (`SyntheticTable.best_plan`).

We tuned the numbers on made-up tables: random ones, and the first of the tables that `python -m bench.synthetic_tables`
compares with other methods. The second table came later. Other numbers would be as private.
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
FIRST = Fraction(5, 12)  # of ρ, for the marginals measured in any case
# A mixed plan by the error that noise would give all triples: the smaller it is, the more triples are worth choosing.
# The part of ρ as in FIRST, the number of triples for each column, and the extra weight of single columns.
Mix = tuple[Fraction, Fraction, int]
MIXES: tuple[tuple[float, Mix], ...] = (
    (0.03, (Fraction(3, 5), Fraction(3, 2), 8)),
    (0.065, (Fraction(7, 10), Fraction(1), 32)),
    (math.inf, (Fraction(17, 20), Fraction(1, 2), 12)),
)
SOME_TRIPLES = 0.065  # up to this error, measure all triples if a mixed plan would choose them all
FOR_KEPT = Fraction(1, 2)  # of ρ, as FIRST, if all pairs with a kept column are measured in any case
MOST_ROWS = 2_000_000  # of a synthetic table
MOST_IN_THREES = 24  # columns, to choose among their triples
MOST_COUNTED = 1_000_000  # cells of all candidates
KEPT_BETTER = 4  # the marginals of a kept column have this many times less variance
# If noise moves at most this share of rows to other cells, on average, all triples or all pairs are measured. The share
# for pairs is divided by the number of columns.
GOOD_TRIPLES, GOOD_PAIRS = 0.01, 0.14
TURNS = 3  # for each column but one


def up_to(rows: Sequence[tuple[float, Kind]], off: Callable[[], float]) -> Kind:
    """The value of the first row whose limit is at least `off()`, which is computed only if there are several rows."""
    reached = off() if len(rows) > 1 else 0.0
    return next(value for most, value in rows if reached <= most)


def candidates(plan: str, columns: int) -> list[Columns]:
    """All candidates, however large: pairs if not all are measured, and triples of few columns."""
    pairs: list[Columns] = [] if plan == MIXED else list(combinations(range(columns), 2))
    return [*pairs, *(combinations(range(columns), 3) if columns <= MOST_IN_THREES else ())]


def countable(plan: str, sizes: Sequence[int], always: set[Columns]) -> tuple[Columns, ...]:
    """The candidates without the marginals measured in any case; only the smallest if all are too many to count."""
    many = {part: math.prod(sizes[place] for place in part) for part in candidates(plan, len(sizes))}
    kept, counted = list[Columns](), 0
    for part in sorted(many.keys() - always, key=lambda part: (len(part), many[part], part)):
        counted += many[part]
        if many[part] <= MOST_CELLS and counted <= MOST_COUNTED:
            kept.append(part)
    return tuple(sorted(kept, key=lambda part: (len(part), part)))


def summed(value: Sequence[Sequence[int]], largest: Sequence[Columns], sizes: Sequence[int], part: Columns) -> Integers:
    """The counts of a marginal, from those of the largest counted sets."""
    place = next(place for place, held in enumerate(largest) if set(part) <= set(held))
    cells = np.array(value[place], dtype=np.int64).reshape([sizes[column] for column in largest[place]])
    marginal: Integers = cells.sum(axis=tuple(axis for axis, column in enumerate(largest[place]) if column not in part))
    return marginal


def with_known(given: JsonObject, schema: Schema, usual: Sequence[str]) -> JsonObject:
    """The form, with a cell of its own for 0 in columns of amounts, and with the declared rules on its columns."""
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
