"""A first look: how many rows there are in each cell of many columns, and of columns against one or two others, bought
together.

Guarantee   ρ-zCDP with ρ = ε²/2, for every ε; no finite ε at δ = 0. Every cell is in the answer, on every table.
Theorem     discrete Gaussian noise on the residuals of the marginals (`residuals`: statement and proof).
Statistic   a column's cells are its listed values, or public groups of its range, and where such rows can be, one for
            rows without a value and one for cells that do not fit the declaration: every row is in exactly one. Wanted
            are all columns by themselves, every column against each column of interest (or all pairs), and with `three`
            against both. Counted are the largest sets, in one scan; what stands below them are sums.
Draw        every residual, one integer at a time, + Z of its own variance, spread so that cells are about equally exact
            (`LEVEL`; with a weight w, 1/w of the variance). Nothing is released without noise, except the number of
            rows where that is public.
Accuracy    a cell of the marginal A has subgaussian noise of variance V_A, known beforehand: within √(2·V_A·ln(2N/β′))
            for all N cells at once but for β′ = β/2. The other half is for what else is read off them: averages,
            percentiles, shares, differences of two cells (`released.look_ranges`). A bar is told rounded to a whole
            number, and is one, so that rounding moves its error from at most r to at most ⌈r⌉.
Cost        one scan; as many integers to draw as there are cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Gaussian
from dpengine.core.arrays import Floats, Integers
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import floor, ln_above, read_number, text_of
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref, base, ref_json
from dpengine.declared.read_group import MOST_GROUPS, read_ref
from dpengine.declared.schema import Category, ItemSet
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.cuts import Cut, of_question
from dpengine.mechanisms.marginals.bins import readable
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout, rebuilt, residual
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.telling import FEW, NEARLY
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import called, say
from dpengine.messages.language import stored
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Normal
from dpengine.statistics.marginals import CellAxis, Marginals

MOST_COLUMNS = 60
MOST_CELLS = 10_000  # of one marginal
MOST_NUMBERS = 200_000  # to draw
MOST_AGAINST = 2
EVERY_PAIR = "all"  # instead of columns of interest
LEVEL = "level"  # noise is spread so that the widest range of a cell is as narrow as the loss allows
NO_ANSWER, DOES_NOT_FIT = "no answer", "does not fit"  # as they are stored


@dataclass(frozen=True, kw_only=True)
class Overview(Query[tuple[tuple[int, ...], ...], tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="overview",
        asked_on=("board",),
        order=45,
        version=1,
        answer="board",
        states=(FEW,),
        caveats=("bins", "estimated"),
        parameters=(
            Parameter("columns", "columns"),
            Parameter("against", "columns"),
            Parameter("three", "flag"),
            Parameter("weights", "weights"),
            Parameter("spread", "spread"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two lists": {"columns": ["c", "d"]},
            "of two lists against each other": {"columns": ["c", "d"], "against": "all"},
            "of numbers in steps": {"columns": [{"column": "x", "step": 2}, "c"], "against": ["c"]},
            "of three against two": {"columns": ["c", "d", "t"], "against": ["c", "d"], "three": True},
            "with a weight": {"columns": ["c", "t"], "against": ["c"], "weights": {"t": "3"}, "spread": LEVEL},
        },
        example=Example({"columns": ["town", "member"], "against": ["town"]}),
        twins=("half", "relation", "bare"),
        covered="test_every_stated_range_covers",
    )

    columns: tuple[Ref, ...]
    against: tuple[str, ...] = ()
    every: bool = False  # all pairs of columns
    three: bool = False
    weights: tuple[tuple[str, Fraction], ...] = ()
    spread: str = ""  # how noise is spread over the marginals: LEVEL, or as in rows that earlier versions stored

    @classmethod
    def asked_now(cls, given: JsonObject) -> JsonObject:
        return {"spread": LEVEL} | given

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names = given.get("columns") or [name for name, column in facts.schema.columns.items() if tellable(column)]
        if not isinstance(names, (list, tuple)) or not 1 <= len(names) <= MOST_COLUMNS:
            raise AllowanceError("overview.columns", most=MOST_COLUMNS)
        refs = tuple(readable(read_ref(name, facts.schema), facts.schema) for name in names)
        plain = [base(ref) for ref in refs]
        if len(set(plain)) != len(plain):
            raise AllowanceError("overview.columns", most=MOST_COLUMNS)
        asked = given.get("against") or ()
        every = asked == EVERY_PAIR
        against = tuple(map(str, asked)) if isinstance(asked, (list, tuple)) else () if every else (str(asked),)
        if len(against) > MOST_AGAINST or len(set(against)) != len(against) or not set(against) <= set(plain):
            raise AllowanceError("overview.against", most=MOST_AGAINST)
        made = {
            "columns": refs,
            "against": against,
            "every": every,
            "three": given.get("three") in (True, "true", "1") and len(against) == MOST_AGAINST,
            "weights": _read_weights(given.get("weights"), plain),
            "spread": LEVEL if given.get("spread") == LEVEL else "",
        }
        _refuse_large(facts, made)
        return made

    def own_json(self) -> JsonObject:
        given: JsonObject = {"columns": [ref_json(ref) for ref in self.columns]}
        if self.against or self.every:
            given["against"] = EVERY_PAIR if self.every else list(self.against)
        if self.three:
            given["three"] = True
        if self.weights:
            given["weights"] = {name: text_of(weight) for name, weight in self.weights}
        if self.spread:
            given["spread"] = self.spread
        return given

    def sentence(self) -> str:
        if self.every:
            return say("sentence.overview_every", columns=len(self.columns))
        code = "sentence.overview_against" if self.against else "sentence.overview"
        return say(code, columns=len(self.columns), against=list(self.against))

    def valued(self) -> set[str]:
        return {base(ref) for ref in self.columns}

    def cuts(self) -> tuple[Cut, ...]:
        """Numbers and days outside the range are bars of their own: only lists change what a cell says."""
        lists = {name for name in self.valued() if isinstance(self.facts.schema[name], Category)}
        return of_question(self.facts, self.need(), lists, self.conditions())

    # What is wanted

    @cached_property
    def axes(self) -> tuple[CellAxis, ...]:
        return tuple(axis_of(ref, self.facts) for ref in self.columns)

    @cached_property
    def layout(self) -> ResidualLayout:
        """One row is one person, and their number public, only under replace-one without an id column."""
        rows = self.facts.unit.id_column is None
        weight = dict(self.weights)
        names = [base(ref) for ref in self.columns]
        wanted = tuple(
            (part, math.prod((weight.get(names[place], Fraction(1)) for place in part), start=Fraction(1)))
            for part in self.sets
        )
        replaced = self.facts.relation == "replace"
        sizes = tuple(axis.size for axis in self.axes)
        level = self.spread == LEVEL
        return ResidualLayout(sizes, wanted, replaced and rows, replaced, self.facts.unit.at_most, level)

    @cached_property
    def sets(self) -> tuple[Columns, ...]:
        """All wanted marginals: columns by themselves, then pairs, then triples."""
        return wanted_sets([base(ref) for ref in self.columns], self.against, self.three, self.every)

    @cached_property
    def largest(self) -> tuple[Columns, ...]:
        """Those that are part of no other."""
        return tuple(one for one in self.sets if not any(set(one) < set(other) for other in self.sets))

    def need(self) -> Marginals:
        return Marginals(self.axes, self.largest)

    def measured(self, value: Sequence[Sequence[int]]) -> tuple[int, ...]:
        return tuple(int(number) for _, cells in self._residuals(value) for number in cells.ravel())

    def _residuals(self, value: Sequence[Sequence[int]]) -> Iterator[tuple[Columns, Integers]]:
        for part in self.layout.bases:
            place = next(place for place, columns in enumerate(self.largest) if set(part) <= set(columns))
            columns = self.largest[place]
            cells = np.array(value[place], dtype=np.int64).reshape([self.axes[column].size for column in columns])
            rest = tuple(axis for axis, column in enumerate(columns) if column not in part)
            yield part, residual(cells.sum(axis=rest))

    # Noise and loss

    @property
    def rho(self) -> Fraction:
        return self.epsilon**2 / 2

    @cached_property
    def noise_of(self) -> dict[Columns, Fraction]:
        """σ_B² of every residual."""
        return self.layout.best(self.rho)

    def _variances(self) -> Iterator[tuple[Fraction, int]]:
        """Of the noise that is drawn for each residual, and for how many numbers."""
        for part in self.layout.bases:
            cells = self.layout.cells(part)
            yield self.noise_of[part] * cells**2, cells

    def loss(self) -> Gaussian:
        return Gaussian(self.rho)

    def sensitivity(self) -> Sensitivity:
        """Of the residuals as they are, whatever noise each gets; a whole number, so what floats add is cut off."""
        return Sensitivity("l2sq", self.layout.rows**2 * floor(self.layout.moved()), attained=not self.layout.bounded)

    def draw(self, value: Sequence[Sequence[int]], coins: Coins) -> tuple[int, ...]:
        drawn: list[int] = []
        for (_, cells), (variance, _) in zip(self._residuals(value), self._variances(), strict=True):
            drawn += coins.gaussian([int(number) for number in cells.ravel()], variance)
        return tuple(drawn)

    def law(self, value: Sequence[Sequence[int]]) -> Independent:
        return Independent(
            tuple(
                Normal(int(number), variance)
                for (_, cells), (variance, _) in zip(self._residuals(value), self._variances(), strict=True)
                for number in cells.ravel()
            )
        )

    # Accuracy

    @cached_property
    def told_cells(self) -> int:
        """How many cells all wanted marginals have together."""
        return sum(self.layout.cells(part) for part in self.sets)

    def variance(self, part: Columns) -> Fraction:
        return self.layout.variance(part, self.noise_of)

    def reach(self, part: Columns) -> float:
        """Every cell of every wanted marginal is within its reach, all at once, except with probability β/2."""
        return _reach(float(self.variance(part)), self.told_cells, self.beta / 2)

    def promise(self) -> Within:
        widest = max(self.reach((place,)) for place in range(len(self.axes)))
        bars = sum(axis.size for axis in self.axes)
        return Within(Fraction(math.ceil(widest)), bars, self.beta, Fraction(0))

    def state(self, value: Json, interval: Json) -> str:
        return FEW if 2 * self.promise().amount >= NEARLY * self.most else ""

    def coarse(self) -> Fraction:
        sizes = sorted(axis.size for axis in self.axes)
        return Fraction(self.most, sizes[len(sizes) // 2]) / 4

    # The answer

    def marginals(self, raw: Sequence[int]) -> dict[Columns, Floats]:
        """Every wanted marginal, from what was drawn: post-processing."""
        released: dict[Columns, Floats | Integers] = {}
        start = 0
        for part in self.layout.bases:
            cells = self.layout.cells(part)
            shape = [self.axes[place].size for place in part]
            released[part] = np.array(raw[start : start + cells], dtype=np.float64).reshape(shape)
            start += cells
        if self.layout.known:
            released[()] = np.array(self.facts.people, dtype=np.float64)
        return {part: rebuilt(self.layout, part, released) for part in self.sets}

    def labels(self) -> list[str]:
        """The bars of all columns by themselves."""
        with stored():
            return [
                f"{ref}: {label}"
                for ref, labels in zip(self.columns, self.cell_labels, strict=True)
                for label in labels
            ]

    @cached_property
    def cell_labels(self) -> list[list[str]]:
        """Of each column, as they are stored."""
        return [labels_of(axis, self.facts) for axis in self.axes]

    def cell_names(self, place: int) -> list[str]:
        """The same of one column, in the reader's words."""
        ref = self.columns[place]
        words = ref.shown() if isinstance(ref, Grouped) else {}
        absent = {NO_ANSWER: say("value.no_answer"), DOES_NOT_FIT: say("overview.misfit")} if words else {}
        return [words.get(label) or absent.get(label) or called(label) for label in self.cell_labels[place]]

    def shown(self) -> dict[str, str]:
        names = [f"{ref}: {name}" for place, ref in enumerate(self.columns) for name in self.cell_names(place)]
        return {label: name for label, name in zip(self.labels(), names, strict=True) if name != label}

    def finish(self, raw: Sequence[int]) -> Released:
        told = self.marginals(raw)
        pairs = []
        for place in range(len(self.axes)):
            reach = math.ceil(self.reach((place,)))
            bars = [round(float(cell)) for cell in told[(place,)]]
            pairs += [(bar, (bar - reach, bar + reach)) for bar in bars]
        return self.by_label(pairs)

    def stored(self, raw: tuple[int, ...]) -> JsonObject:
        """The draw itself was paid for by the charge, so it may be stored too: everything is read off it."""
        return super().stored(raw) | {"raw": list(raw)}

    def truth(self, rows: Sequence[Row]) -> dict[str, int]:
        places = [[axis.of(row) for axis in self.axes] for row in rows if self.where.holds(row)]
        counts = [
            sum(codes[place] == cell for codes in places)
            for place, axis in enumerate(self.axes)
            for cell in range(axis.size)
        ]
        return dict(zip(self.labels(), counts, strict=True))


def _reach(variance: float, numbers: int, beta: Fraction) -> float:
    """Subgaussian noise: Pr[|Z| > t] ≤ 2·e^(−t²/(2V)), for all numbers by a union."""
    return math.sqrt(2 * variance * float(ln_above(2 * numbers / beta))) * (1 + 1e-9)


def wanted_sets(
    names: Sequence[str], against: Sequence[str], three: bool = False, every: bool = False
) -> tuple[Columns, ...]:
    hubs = [names.index(name) for name in against]
    singles = [(place,) for place in range(len(names))]
    pairs = {tuple(sorted((hub, place))) for hub in hubs for place in range(len(names)) if place != hub}
    pairs |= set(combinations(range(len(names)), 2)) if every else set()
    triples = {tuple(sorted((*hubs, place))) for place in range(len(names)) if place not in hubs} if three else set()
    return (*singles, *sorted(pairs), *sorted(triples))


def axis_of(ref: Ref, facts: Facts) -> CellAxis:
    column = facts.schema[base(ref)]
    listed = facts.schema.category(ref).size
    if isinstance(ref, Grouped) and not isinstance(column, Category):
        return CellAxis(ref, listed, absent=not getattr(column, "complete", False), misfit=True)
    return CellAxis(ref, listed, absent=False, misfit=False)


def labels_of(axis: CellAxis, facts: Facts) -> list[str]:
    own = list(facts.schema.category(axis.ref).labels)
    return own + [NO_ANSWER] * axis.absent + [DOES_NOT_FIT] * axis.misfit


def tellable(column: object) -> bool:
    """Whether a column has cells that rows can be counted in: no sets, no list and no range of years that is too
    long."""
    if isinstance(column, Date):
        return column.last.year - column.first.year < MOST_GROUPS
    return not isinstance(column, ItemSet) and not (isinstance(column, Category) and column.size > MOST_CELLS)


def _read_weights(given: Json, names: Sequence[str]) -> tuple[tuple[str, Fraction], ...]:
    if given in (None, "", {}):
        return ()
    if not isinstance(given, Mapping) or not set(given) <= set(names):
        raise AllowanceError("overview.weights")
    found = {name: read_number(weight, name) for name, weight in given.items()}
    if any(not 0 < weight <= 1000 for weight in found.values()):
        raise AllowanceError("overview.weights")
    return tuple(sorted((name, weight) for name, weight in found.items() if weight != 1))


def _refuse_large(facts: Facts, made: Fields) -> None:
    """What would be too many combinations says which."""
    names = [base(ref) for ref in made["columns"]]
    sizes = [axis_of(ref, facts).size for ref in made["columns"]]
    total = 0
    for part in wanted_sets(names, made["against"], made["three"], made["every"]):
        cells = math.prod(sizes[place] for place in part)
        total += cells
        if cells > MOST_CELLS:
            told = [names[place] for place in part]
            raise AllowanceError("overview.cells", columns=told, cells=cells, most=MOST_CELLS)
    if total > MOST_NUMBERS:
        raise AllowanceError("overview.numbers", cells=total, most=MOST_NUMBERS)
