"""The base of small synthetic tables: a class C of counting queries over the combinations of a few lists.

Domain      the D combinations of the declared values of the chosen columns, all of them public.
Class       every single value of a column and every pair of values of two columns (one-way and two-way marginals), or a
            list of conditions on these columns. A query h is a set of s_h cells; c_h(x) rows of x are in them.
Statistic   x, the rows in each cell that meet the condition, n in all. n is public where everybody counts, each with
            one row, under replace-one; nowhere else.
Rounding    any distribution p on D cells is near one of whole rows, m in all: give cell i ⌊m·p_i⌋ rows and one more to
            those r cells with the largest remainders f. A set is off by no more than the cells rounded down lose, or
            those rounded up gain, S = Σ_down f = Σ_up (1−f), as both are equal. With a threshold t between the two
            kinds S ≤ min((D−r)·t, r·(1−t)) ≤ r(D−r)/D ≤ D/4. No cell is off by more than one row, nor is the rest of
            all cells off by more than the set itself: min(s_h, D−s_h, D/4) rows of m for every h at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import isqrt, prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, read_number
from dpengine.core.types import Floats, Integers, Json, JsonObject
from dpengine.declared.conditions import AnyOf, Clause, OneOf, Predicate, combined, read_predicate
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import NOISE
from dpengine.mechanisms.noised import too_many
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Query, read_names
from dpengine.messages import say
from dpengine.noise.tails import least_count_error
from dpengine.statistics.counts import CellCounts

MOST_COLUMNS = 8
MOST_CELLS = 10_000
MOST_CONDITIONS = 100
ALL = Fraction(100)
_GRAIN = 10**9


@dataclass(frozen=True)
class Block:
    """Queries without a common cell: `places` gives for each cell the query it belongs to, −1 for none."""

    names: tuple[str, ...]  # the columns of a marginal; none for a condition
    places: Integers
    many: int

    def sums(self, cells: npt.NDArray[Any]) -> Floats:
        """The sum of each query's cells; exact for whole numbers below 2^53."""
        held = self.places >= 0
        weights = cells[held].astype(np.float64)
        return np.asarray(np.bincount(self.places[held], weights, self.many), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class OfClass(Query[tuple[int, ...], tuple[int, ...]]):
    """Base of questions that ask for a synthetic table, close to the data on all queries of a class at once."""

    takes_long: ClassVar[bool] = True
    makes_rows: ClassVar[str] = "drawn"

    columns: tuple[str, ...]
    queries: tuple[Predicate, ...] = ()  # none: all one-way and two-way marginals

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names = read_names(given["columns"])
        if names is None or not 0 < len(names) <= MOST_COLUMNS:
            raise AllowanceError("synthetic.columns", most=MOST_COLUMNS)
        lists = [facts.schema.category(name) for name in names]
        if prod(column.size for column in lists) > MOST_CELLS:
            raise too_many("synthetic.cells", lists, MOST_CELLS)
        return {"columns": names, "queries": _conditions(facts, names, given.get("queries"))}

    def sentence(self) -> str:
        return say(f"sentence.{self.card.key}", columns=list(self.columns), who=self.whom())

    # The domain and the class

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.facts.schema.category(name).size for name in self.columns)

    @property
    def domain(self) -> int:
        return prod(self.sizes)

    @cached_property
    def codes(self) -> dict[str, Integers]:
        """For every cell, its code in each column; the last column varies fastest."""
        grid = np.unravel_index(np.arange(self.domain), self.sizes)
        return {name: np.asarray(codes, dtype=np.int64) for name, codes in zip(self.columns, grid, strict=True)}

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        if self.queries:
            return tuple(Block((), np.where(self.holds(query), 0, -1), 1) for query in self.queries)
        groups = [(name,) for name in self.columns] + list(combinations(self.columns, 2))
        return tuple(self.marginal(names) for names in groups)

    def marginal(self, names: Sequence[str]) -> Block:
        """Every combination of values of these columns."""
        sizes = [self.facts.schema.category(name).size for name in names]
        places = np.ravel_multi_index([self.codes[name] for name in names], sizes)
        return Block(tuple(names), np.asarray(places, dtype=np.int64), prod(sizes))

    def holds(self, condition: Predicate) -> npt.NDArray[np.bool_]:
        """The cells in which a condition holds."""
        met = np.ones(self.domain, dtype=np.bool_)
        for clause in condition.clauses:
            met &= self._met(clause)
        return met

    def _met(self, clause: Clause) -> npt.NDArray[np.bool_]:
        if isinstance(clause, AnyOf):
            return np.asarray(np.logical_or.reduce([self._met(part) for part in clause.parts]))
        assert isinstance(clause, OneOf)
        return np.isin(self.codes[clause.column], clause.codes)

    @cached_property
    def many(self) -> int:
        """|C|: the number of queries."""
        return sum(block.many for block in self.blocks)

    def sums(self, cells: npt.NDArray[Any]) -> Floats:
        """c_h of every query of the class."""
        return np.concatenate([block.sums(cells) for block in self.blocks])

    def cells_of(self, query: int) -> npt.NDArray[np.bool_]:
        """The cells of one query, given its index in `sums`."""
        for block in self.blocks:
            if query < block.many:
                return np.asarray(block.places == query)
            query -= block.many
        raise IndexError("no such query")

    @cached_property
    def widest(self) -> Fraction:
        """max_h min(s_h, D−s_h, D/4): how many rows rounding can move a query, see above."""
        sizes = self.sums(np.ones(self.domain)).astype(np.int64)
        return min(Fraction(int(np.minimum(sizes, self.domain - sizes).max())), Fraction(self.domain, 4))

    def need(self) -> CellCounts:
        return CellCounts(self.columns, self.sizes, self.where)

    @property
    def known(self) -> int | None:
        """n, if it is public."""
        return self.facts.countable(self.where, *self.columns)

    # The promise

    @abstractmethod
    def reach(self) -> Fraction:
        """How far the share of any query can be off, all at once, except with probability β."""

    def promise(self) -> Within:
        least = Fraction(0)
        if self.known is not None and self.widest:
            least = min(100 * least_count_error(self.epsilon, self.beta) / self.facts.about, ALL)
        alpha = min(100 * self.reach(), ALL)
        return Within(alpha, self.many, self.beta, least, "percent", nominal=self.known is None)

    def coarse(self) -> Fraction:
        return ALL / 8

    def state(self, value: Json, interval: Json) -> str:
        return NOISE if self.promise().empty else ""

    def labels(self) -> list[str]:
        return combined([self.facts.schema.category(name).labels for name in self.columns])

    def shown(self) -> dict[str, str]:
        return self.shown_together(self.columns)

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return self.columns, list(product(*(self.facts.schema.category(name).labels for name in self.columns)))

    def rows_by_label(self, rows: Sequence[int]) -> dict[str, int]:
        return dict(zip(self.labels(), (int(many) for many in rows), strict=True))


def _conditions(facts: Facts, names: tuple[str, ...], given: Json) -> tuple[Predicate, ...]:
    if given in (None, "", [], ()):
        return ()
    if not isinstance(given, (list, tuple)) or len(given) > MOST_CONDITIONS:
        raise AllowanceError("synthetic.queries", most=MOST_CONDITIONS)
    queries = tuple(read_predicate(query, facts.schema) for query in given)
    for query in queries:
        if query.everyone:
            raise AllowanceError("synthetic.queries", most=MOST_CONDITIONS)
        if strange := sorted(query.columns() - set(names)):
            raise AllowanceError("synthetic.condition", column=strange[0])
    return queries


def root_above(square: Fraction) -> Fraction:
    """An upper bound on √square, too large by at most 2·10^-9."""
    return Fraction(isqrt(ceiling(square * _GRAIN * _GRAIN)) + 1, _GRAIN) if square else Fraction(0)


def whole(given: JsonObject, name: str, most: int) -> int | None:
    """An integer from 1 to `most`; None if nothing is given."""
    wanted = given.get(name)
    if wanted in (None, ""):
        return None
    label = say(f"param.{name}.label")
    number = read_number(wanted, label)
    if number.denominator != 1 or not 1 <= number <= most:
        raise AllowanceError("synthetic.whole", name=label, most=most)
    return int(number)
