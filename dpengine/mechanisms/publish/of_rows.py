"""The base of published tables: noise is added to every row separately, and the rows are shuffled.

Guarantee   (ε, δ)-DP under replace-one, for the published table and for everything computed from it: that is
            post-processing (thesis, Thm 4.3). Refused under add/remove, where the number of rows would reveal who is in
            it. One row is one person: with an id column, a person's number of rows would be revealed.
Loss        k columns, each at (ε/k, δ/k): a person's row passes k independent row mechanisms.
Statistic   the codes of all rows. One person changes one row, a cell by at most its column's D.
Draw        `row_noise.Blur` for a number or a day, `row_noise.Swap` for a listed value, `row_noise.of_sets` for a set
            of items. Numbers and days may first be rounded to a coarser public grid of G steps: each row by itself, so
            nothing changes but D = G. A row without one counts as one in the middle of the range: an empty cell must
            not be recognisable.
Order       the order of a file may reveal what its rows hold (it may be sorted), so the changed rows are put in a
            uniformly random order, in which they are published. It depends on no value: the law of the published
            table is a function of the *multiset* of rows, and for any one order of them the row mechanisms' (ε, δ)
            holds.
Accuracy    of a cell: its expected error, beside the lower bound for any mechanism that is (ε, δ)-DP for the whole row
            (`floors`; thesis, Thms 5.3 and 5.5), and the same for the row as one value. Of an average over all n rows:
            Chernoff's bound on the sum of n independent errors (`published.py`).
Cost        one pass; the codes are held in memory, so rows × columns are bounded.

Several columns can be published in two ways: every column by itself at ε/k, or the whole row as one value at ε. Both
are (ε, δ)-DP for the row. `best_way` takes the one with the better promise for averages and shares over all rows in the
worst column (`Blurred.share`), or the columns by themselves if the promises are equal. The declaration, the spend and
the public number of people decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Approximate, Loss, Pure, Together
from dpengine.core.amounts import read_row_delta
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_whole, up
from dpengine.core.types import Integers, Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, MOST_STEPS, Category, Column, ItemSet, Number, Schema
from dpengine.mechanisms.answer_state import NOISE
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Blurred
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity, read_names
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent
from dpengine.noise.row_noise import (
    MOST_ITEMS,
    Blur,
    Marginal,
    OfItems,
    RowNoise,
    SetMarginal,
    SetNoise,
    Swap,
    least_error,
    nearest,
    of_sets,
)
from dpengine.noise.tails import mixed_mean_reach, swap_reach, total_reach
from dpengine.statistics.need import CodedRows

MOST_COLUMNS = 20
MOST_CELLS = 50_000_000
GRAIN = 10**9  # chances are reported as multiples of 1/GRAIN
MOST_PLACES = 2**49  # steps from zero: a file's numbers have 53 bits, and must distinguish neighbouring grid points

PARAMETERS = (
    Parameter("columns", "columns.rows", required=True),
    Parameter("grid", "grid"),
    Parameter("delta", "delta.row", default="0"),
)


@dataclass(frozen=True, kw_only=True)
class OfRows(Query[tuple[Integers, ...], JsonObject | tuple[int, ...]]):
    kinds: ClassVar[tuple[type[Column], ...]] = (Number, Date, Category, ItemSet)
    takes_long: ClassVar[bool] = True
    keeps_empty: ClassVar[bool] = True  # as the middle of the range
    row_wise: ClassVar[bool] = True  # thesis, Thm 4.7

    columns: tuple[str, ...]
    grid: int | None = None  # the number of steps on which numbers are published; None: the declared steps
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.where.rows or self.by is not None:
            raise AllowanceError("publish.everyone")
        columns = [self.facts.schema[name] for name in self.columns]
        answers = sum(column.size if isinstance(column, ItemSet) else 1 for column in columns)
        if self.facts.about * answers > MOST_CELLS:
            raise AllowanceError("publish.large", most=MOST_CELLS // self.facts.about or 1, cells=MOST_CELLS)

        for name, column in zip(self.columns, columns, strict=True):
            if isinstance(column, ItemSet) and column.size > MOST_ITEMS:
                raise AllowanceError("publish.items", column=name, most=MOST_ITEMS)
            far = isinstance(column, Number) and max(abs(column.lower), abs(column.upper)) / self.grain(name)
            if far >= MOST_PLACES:
                raise AllowanceError("publish.digits", column=name)

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names = read_names(given["columns"])
        if names is None or not 0 < len(names) <= MOST_COLUMNS:
            raise AllowanceError("publish.columns", most=MOST_COLUMNS)
        for name in names:
            if not isinstance(facts.schema[name], cls.kinds):
                raise AllowanceError("publish.kind", column=name)
        steps = None
        if given.get("grid") not in (None, ""):
            steps = read_whole(given["grid"], say("param.grid.label"), MOST_STEPS, "publish.grid")
        return {"columns": names, "grid": steps, "delta": read_row_delta(given.get("delta"))}

    def sentence(self) -> str:
        return say("sentence.publish", columns=list(self.columns))

    def row(self, name: str) -> RowNoise:
        """The noise of one cell of this column."""
        return self._row(name, len(self.columns))

    def alone(self, name: str) -> RowNoise:
        """The noise of a cell if its column were published alone, with the whole ε. Its lower bound on the error also
        holds beside other columns: a mechanism that publishes the whole row also publishes this cell."""
        return self._row(name, 1)

    def _row(self, name: str, many: int) -> RowNoise:
        column, epsilon, delta = self.facts.schema[name], self.epsilon / many, self.delta / many
        if isinstance(column, Number | Date):
            return Blur(self.steps(name), epsilon, delta)
        if isinstance(column, ItemSet):
            return of_sets(column.size, epsilon, delta)
        return Swap(column.size, epsilon, delta)

    def steps(self, name: str) -> int:
        """D: the published grid of a number has D+1 points; for a list or a set, the largest distance of two codes."""
        column = self.facts.schema[name]
        coarse = isinstance(column, Number | Date) and self.grid is not None
        return min(self.grid or 0, column.points - 1) if coarse else column.points - 1

    def coarsened(self, name: str, codes: Sequence[int] | Integers) -> Integers:
        """Each code on the published grid: the nearest point, halves upwards; a missing value in the middle."""
        given, column = np.asarray(codes, dtype=np.int64), self.facts.schema[name]
        steps, declared = self.steps(name), column.points - 1
        if isinstance(column, Number | Date):
            given = np.where(given == MISSING, declared // 2, given)
        return given if steps == declared else (2 * given * steps + declared) // (2 * declared)

    def need(self) -> CodedRows:
        return CodedRows(self.columns)

    def measured(self, value: tuple[Integers, ...]) -> tuple[int, ...]:
        columns = zip(self.columns, value, strict=True)
        return tuple(code for name, codes in columns for code in self.coarsened(name, codes).tolist())

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("l1", sum(self.steps(name) for name in self.columns))

    def loss(self) -> Loss:
        many = len(self.columns)
        epsilon, delta = self.epsilon / many, self.delta / many
        part: Loss = Approximate(epsilon, delta) if delta else Pure(epsilon)
        return Together((part,) * many) if many > 1 else part

    def promise(self) -> Blurred:
        return Blurred(
            self.columns,
            tuple(map(self.error, self.columns)),
            tuple(map(self.floor, self.columns)),
            up(1 - self.true_row(), GRAIN),
            nearest(prod(self.steps(name) + 1 for name in self.columns), self.epsilon, self.delta),
            max(self.reach(name) for name in self.columns),
            self.beta,
        )

    def error(self, name: str) -> Fraction:
        """The largest expected error of a cell: in the column's unit, in items, or the chance of an untrue value."""
        row = self.row(name)
        ordered = isinstance(self.facts.schema[name], Number | Date)
        return (row.off if isinstance(row, Marginal) and ordered else row.error) * self.grain(name)

    def floor(self, name: str) -> Fraction:
        """The lower bound on any mechanism's error at the whole ε (`floors`), from |D|, its diameter and κ: public."""
        column = self.facts.schema[name]
        return least_error(self.steps(name) + 1, column.diameter, self.grain(name), self.epsilon, self.delta)

    def true_row(self) -> Fraction:
        """The chance that a whole row is published unchanged."""
        return prod((self.row(name).truth for name in self.columns), start=Fraction(1))

    def grain(self, name: str) -> Fraction:
        """κ of the published grid: the least distance of two different cells, in the column's unit."""
        column, steps = self.facts.schema[name], self.steps(name)
        return column.kappa if steps == column.points - 1 else column.diameter / steps

    def start(self, name: str) -> Fraction:
        """The first point of the published grid; for days, in days from the first one."""
        column = self.facts.schema[name]
        return column.lower if isinstance(column, Number) else Fraction(0)

    def reach(self, name: str) -> Fraction:
        """How far a mean of numbers or days, or the share of any value or item, can be off, as a share of the range."""
        row, people = self.row(name), self.facts.about
        if isinstance(row, Blur):
            return Fraction(total_reach(row.scale, people, self.beta), people * row.steps)
        if isinstance(row, OfItems):
            return swap_reach(2 * row.flip, 2, people, self.beta / row.items) / people
        if isinstance(self.facts.schema[name], Number | Date):
            return mixed_mean_reach(row.mixed, row.size - 1, people, self.beta) / (people * (row.size - 1))
        return swap_reach(row.mixed, row.size, people, self.beta / row.size) / people

    def coarse(self) -> Fraction:
        return Fraction(1, 10)

    def state(self, value: tuple[Integers, ...], interval: Json) -> str:
        """Mostly noise, if even an average over all rows may be off by nearly the whole range."""
        return NOISE if self.promise().empty else ""

    def draw(self, value: tuple[Integers, ...], coins: Coins) -> tuple[int, ...]:
        """Adds noise to every cell separately, in the order given; the rows are shuffled afterwards (write_file.py)."""
        return tuple(code for column in self.perturbed(value, coins) for code in column.tolist())

    def perturbed(self, value: tuple[Sequence[int] | Integers, ...], coins: Coins) -> tuple[Integers, ...]:
        return tuple(
            self.cell(name).perturb(self.coarsened(name, codes), coins)
            for name, codes in zip(self.columns, value, strict=True)
        )

    def cell(self, name: str) -> Blur | Swap | SetNoise:
        """`row`, for a column whose cells are drawn by themselves."""
        row = self.row(name)
        assert not isinstance(row, Marginal | SetMarginal)
        return row

    def law(self, value: tuple[Integers, ...]) -> Independent:
        columns = zip(self.columns, value, strict=True)
        cells = ((self.cell(name), code) for name, codes in columns for code in self.coarsened(name, codes).tolist())
        return Independent(tuple(row.law(code) for row, code in cells))

    def finish(self, raw: JsonObject | tuple[int, ...]) -> Released:
        """A file: its name, its SHA-256 and its number of rows."""
        return Released(raw)


def card(key: str, caveats: tuple[str, ...], order: int) -> Card:
    return Card(
        key=key,
        answer="file",
        asked_on=("publish",),
        order=order,
        states=(NOISE,),
        trust="local",
        relations=("replace",),
        several=False,
        own=PARAMETERS,
        caveats=(*caveats, "row"),
    )


ROW = "publish_row"
_OF_ONE_KIND: tuple[tuple[tuple[type[Column], ...], str], ...] = (
    ((Number, Date), "publish_number"),
    ((Category,), "publish_category"),
    ((ItemSet,), "publish_set"),
)


@dataclass(frozen=True)
class Chosen:
    """The question with the better promise, and the other one, if there is one."""

    query: OfRows
    other: OfRows | None = None

    @property
    def as_row(self) -> bool:
        return self.query.card.key == ROW


def way_key(schema: Schema, columns: Sequence[str]) -> str:
    """The question that publishes these columns one by one."""
    kinds = [schema[name] for name in columns]
    fits = (key for of, key in _OF_ONE_KIND if all(isinstance(column, of) for column in kinds))
    return next(fits, "publish_table") if kinds else "publish_table"


def best_way(build: Callable[[str, JsonObject], OfRows], schema: Schema, given: JsonObject) -> Chosen:
    """Publishes columns one by one, or whole rows: the way with the smaller error comes first. `build` makes a
    question; if it refuses whole rows, there is only the other way."""
    apart = build(way_key(schema, given["columns"]), given)
    if len(apart.columns) < 2:
        return Chosen(apart)
    try:
        whole = build(ROW, given)
    except AllowanceError:  # too many possible rows to draw from: λ would be nearly 1
        return Chosen(apart)
    nearer = whole.promise().amount < apart.promise().amount
    return Chosen(whole, apart) if nearer else Chosen(apart, whole)
