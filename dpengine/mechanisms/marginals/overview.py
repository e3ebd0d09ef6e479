"""A first look: the rows in each cell of many columns, and of columns against one or two others, in one draw.

Guarantee   ρ-zCDP with ρ = ε²/2, for every ε; no finite ε at δ = 0. Every cell is in the answer, on every table.
Theorem     discrete Gaussian noise on the residuals of the marginals (`residuals`: statement and proof).
Statistic   a column's cells are its listed values, or public groups of its range, and if there can be such rows, one
            for rows without a value and one for cells that do not fit the declaration: every row is in exactly one.
            Wanted are all columns by themselves, every column against each column of interest (or all pairs), and with
            `three` against both (or all triples). We count the largest sets, in one scan; smaller ones are their sums.
            For a column of sets we count the people who hold each item (`wanted.Held`: what a person changes there,
            for both relations).
Draw        every residual, one integer at a time, + Z of its own variance, and every number of people in the same way.
            The noise is spread so that figures are about equally exact (`LEVEL`; with a weight w, 1/w of the variance).
            Nothing is released without noise, except the number of rows if it is public.
Accuracy    a cell of the marginal A has subgaussian noise of variance V_A, known beforehand: within √(2·V_A·ln(2N/β′))
            for all N cells at once except with β′ = β/2. The other half is for what else is read off them: averages,
            percentiles, shares, differences of two cells (`released.look`). We round a bar to an integer; the truth is
            one, so rounding moves its error from at most r to at most ⌈r⌉.
Cost        one scan; as many integers to draw as there are cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Gaussian
from dpengine.core.exact import floor, text_of
from dpengine.core.types import Figures, Floats, Integers, Json, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref, base, ref_json
from dpengine.declared.schema import Category, ItemSet, Ordered, extra_labels
from dpengine.mechanisms import sampling
from dpengine.mechanisms.answer_state import FEW, NEARLY
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.cuts import Cut, cut, of_question
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout, parts_of, rebuilt, residual, union_reach
from dpengine.mechanisms.marginals.sampled_cells import Off, SumNoise, among, noise_of_sum, of_everybody
from dpengine.mechanisms.marginals.wanted import (
    DOES_NOT_FIT,
    EVEN,
    EVERY_PAIR,
    FOR_MODEL,
    LEVEL,
    NO_ANSWER,
    Held,
    held_of,
    labels_of,
    need_of,
    read_wanted,
    set_of,
    split,
    wanted_sets,
)
from dpengine.mechanisms.promises import Runs, Within
from dpengine.mechanisms.query import Bounds, Fields, Query, Released, Sensitivity
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import called, say
from dpengine.messages.language import stored
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Normal
from dpengine.statistics.marginals import CellAxis, Marginals, axis_in
from dpengine.statistics.need import Needs

TOGETHER: Json = {"column": "t", "merged": [["u or w", ["u", "w"]]]}
Statistic = Json  # the counts of each largest set; with columns of sets, these counts and then those of people


@dataclass(frozen=True, kw_only=True)
class Overview(Query[Statistic, tuple[int, ...]]):
    keeps_empty: ClassVar[bool] = True  # in a bar of their own
    card: ClassVar[Card] = Card(
        key="overview",
        asked_on=("board",),
        order=45,
        answer="board",
        states=(FEW,),
        caveats=("bins", "sets", "estimated"),
        own=(
            Parameter("columns", "columns"),
            Parameter("against", "columns"),
            Parameter("three", "flag"),
            Parameter("weights", "weights"),
            Parameter("spread", "spread"),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two lists": {"columns": ["c", "d"]},
            "of two lists against each other": {"columns": ["c", "d"], "against": "all", "spread": EVEN},
            "of numbers in steps": {"columns": [{"column": "x", "step": 2}, "c"], "against": ["c"], "spread": EVEN},
            "of every three": {"columns": ["c", "d", "t"], "against": "all", "three": True},
            "of a list with values together": {"columns": [TOGETHER, "c"], "against": "all"},
            "of three against two": {"columns": ["c", "d", "t"], "against": ["c", "d"], "three": True},
            "with a weight": {"columns": ["c", "t"], "against": ["c"], "weights": {"t": "3"}},
            "of sets by item": {"columns": ["c", "s"], "weights": {"s": "2"}},
            "of sets alone": {"columns": ["s"]},
        },
        example=Example({"columns": ["town", "member"], "against": ["town"]}),
        broken_variants=("half", "relation", "bare"),
        covered="test_every_stated_range_covers",
    )

    columns: tuple[Ref, ...]  # with cells of rows
    items: tuple[str, ...] = ()  # columns of sets
    against: tuple[str, ...] = ()
    every: bool = False  # all pairs of columns
    three: bool = False
    weights: tuple[tuple[str, Fraction], ...] = ()
    spread: str = LEVEL  # how noise is spread over the marginals

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return read_wanted(facts, given)

    def own_json(self) -> JsonObject:
        given: JsonObject = {"columns": [*(ref_json(ref) for ref in self.columns), *self.items]}
        if self.against or self.every:
            given["against"] = EVERY_PAIR if self.every else list(self.against)
        if self.three:
            given["three"] = True
        if self.weights:
            given["weights"] = {name: text_of(weight) for name, weight in self.weights}
        if self.spread == EVEN:
            given["spread"] = self.spread
        return given

    def sentence(self) -> str:
        names = self.names
        if self.predicts:
            return say("sentence.overview_model", columns=len(names) - 1, target=self.predicts)
        if self.every:
            return say("sentence.overview_every", columns=len(names))
        code = "sentence.overview_against" if self.against else "sentence.overview"
        return say(code, columns=len(names), against=list(self.against))

    @property
    def predicts(self) -> str:
        """The column to predict, if bought for a model (all pairs, this column with the weight FOR_MODEL); else ""."""
        weights = self.weights if self.every and self.spread == EVEN else ()
        return weights[0][0] if len(weights) == 1 and weights[0][1] == FOR_MODEL else ""

    @property
    def gated(self) -> bool:
        """Do doubts of one column refuse the whole? Only for a model; in a look each card shows its own column's."""
        return bool(self.predicts)

    @property
    def names(self) -> list[str]:
        """The names of all columns, those of sets last."""
        return [*(base(ref) for ref in self.columns), *self.items]

    def valued(self) -> set[str]:
        return set(self.names)

    def cuts(self) -> tuple[Cut, ...]:
        """Only lists change cells: numbers and days outside the range have their own bars."""
        lists = {name for name in self.valued() if isinstance(self.facts.schema[name], Category | ItemSet)}
        sets = [(name, set_of(self.facts, name).at_most) for name in self.items]
        cuts = of_question(self.facts, self.need(), lists, self.conditions())
        return *cuts, *(cut("set", column=name, most=most) for name, most in sets if most is not None)

    # What is wanted

    @cached_property
    def axes(self) -> tuple[CellAxis, ...]:
        return tuple(axis_in(ref, self.facts.schema) for ref in self.columns)

    @cached_property
    def layout(self) -> ResidualLayout:
        """The layout of the wanted marginals. Only under replace-one without an id column is one row one person, and
        the number of rows public."""
        rows = self.facts.unit.id_column is None
        weight, names = dict(self.weights), self.names
        each = [weight.get(names[place], Fraction(1)) for place in range(len(self.columns))]
        wanted = tuple((part, math.prod((each[place] for place in part), start=Fraction(1))) for part in self.sets)
        replaced = self.facts.relation == "replace"
        sizes = tuple(axis.size for axis in self.axes)
        level = self.spread == LEVEL
        return ResidualLayout(sizes, wanted, replaced and rows, replaced, self.facts.unit.at_most, level)

    @cached_property
    def sets(self) -> tuple[Columns, ...]:
        """All wanted marginals: columns by themselves, then pairs, then triples."""
        return wanted_sets(self.names[: len(self.columns)], self.against, self.three, self.every)

    @cached_property
    def largest(self) -> tuple[Columns, ...]:
        """The wanted marginals that are part of no other."""
        parts = {part for columns in self.sets for part in parts_of(columns) if part != columns}
        return tuple(columns for columns in self.sets if columns not in parts)

    @cached_property
    def held(self) -> tuple[Held, ...]:
        """The counts of people for each column of sets, after the count of everyone if that is secret."""
        return held_of(self.facts, self.items, dict(self.weights))

    def need(self) -> Marginals | Needs:
        cells = Marginals(self.axes, self.largest)
        return Needs((cells, *(need_of(self.facts, held) for held in self.held))) if self.held else cells

    def measured(self, value: Statistic) -> tuple[int, ...]:
        return tuple(number for numbers, _ in self._numbers(value) for number in numbers)

    def _numbers(self, value: Statistic) -> Iterator[tuple[list[int], Fraction]]:
        """The numbers that get noise, in groups, and the variance of each group's noise."""
        cells, *people = value if self.held else (value,)
        for part, values in self._residuals(cells):
            yield [int(number) for number in values.ravel()], self.noise_of[part] * self.layout.cells(part) ** 2
        for held, counts in zip(self.held, people, strict=True):
            yield list(counts) if held.column else [counts], self.noise_of_held[held]

    def _residuals(self, value: Sequence[Sequence[int]]) -> Iterator[tuple[Columns, Integers]]:
        holds: dict[Columns, int] = {}
        for place, columns in enumerate(self.largest):
            for part in parts_of(columns):
                holds.setdefault(part, place)
        for part in self.layout.bases:
            place = holds[part]
            columns = self.largest[place]
            cells = np.array(value[place], dtype=np.int64).reshape([self.axes[column].size for column in columns])
            rest = tuple(axis for axis, column in enumerate(columns) if column not in part)
            yield part, residual(cells.sum(axis=rest))

    # Noise and loss

    @property
    def rho(self) -> Fraction:
        return self.epsilon**2 / 2

    @cached_property
    def _rhos(self) -> list[Fraction]:
        """ρ of all residuals together, and of each vector of people."""
        if not self.held:
            return [self.rho]
        unit = self.layout.best(Fraction(1)) if self.layout.bases else {}
        each = [float(weight * self.layout.variance(part, unit)) for part, weight in self.layout.wanted]
        level = self.layout.level
        parts = [max(each) if level else sum(each)] if self.layout.bases else []
        shares = split(self.rho, parts + [float(held.weight * held.noise(Fraction(1))) for held in self.held], level)
        return shares if parts else [Fraction(0), *shares]

    @cached_property
    def noise_of(self) -> dict[Columns, Fraction]:
        """σ_B² of every residual."""
        return self.layout.best(self._rhos[0]) if self.layout.bases else {}

    @cached_property
    def noise_of_held(self) -> dict[Held, Fraction]:
        return {held: held.noise(rho) for held, rho in zip(self.held, self._rhos[1:], strict=True)}

    def loss(self) -> Gaussian:
        return Gaussian(self.rho)

    def sensitivity(self) -> Sensitivity:
        """The bound for all numbers, whatever their noise. It is an integer, so `floor` removes the error of floats."""
        people = sum(held.moves for held in self.held)
        cells = self.layout.rows**2 * floor(self.layout.moved()) if self.layout.bases else 0
        return Sensitivity("l2sq", cells + people, attained=not self.layout.bounded)

    def draw(self, value: Statistic, coins: Coins) -> tuple[int, ...]:
        return tuple(drawn for numbers, variance in self._numbers(value) for drawn in coins.gaussian(numbers, variance))

    def law(self, value: Statistic) -> Independent:
        laws = (Normal(number, variance) for numbers, variance in self._numbers(value) for number in numbers)
        return Independent(tuple(laws))

    # Accuracy

    @cached_property
    def cell_count(self) -> int:
        """The number of cells in all wanted marginals."""
        return sum(self.layout.cells(part) for part in self.sets) + sum(held.size for held in self.held)

    def variance(self, part: Columns) -> Fraction:
        return self.layout.variance(part, self.noise_of)

    def noise_in(self, raw: Sequence[int | Fraction]) -> dict[Columns, Fraction]:
        """σ_B² of every residual in this draw."""
        return self.noise_of

    def ways(self, part: Columns) -> int:
        """In how many ways the marginal may have been measured: one. Ranges hold for each of the ways."""
        return 1

    def reach(self, part: Columns, noise: Mapping[Columns, Fraction] | None = None) -> float:
        """How far a cell of this marginal can be off: all wanted cells at once, except with probability β/2."""
        if noise:
            return self._reach(part, noise)
        if part not in self._reaches:
            self._reaches[part] = self._reach(part, self.noise_of)
        return self._reaches[part]

    @cached_property
    def _reaches(self) -> dict[Columns, float]:
        return {}

    def _reach(self, part: Columns, noise: Mapping[Columns, Fraction]) -> float:
        variance = float(self.layout.variance(part, noise))
        return union_reach(variance, self.cell_count * self.ways(part), self.beta / 2)

    def reach_of_held(self, held: Held) -> float:
        """`reach` for the people who hold an item."""
        return union_reach(float(self.noise_of_held[held]), self.cell_count, self.beta / 2)

    def promise(self) -> Within:
        reaches = [self.reach((place,)) for place in range(len(self.axes))]
        widest = max(reaches + [self.reach_of_held(held) for held in self.held if held.column])
        bars = sum(axis.size for axis in self.axes) + sum(held.size for held in self.held if held.column)
        return Within(Fraction(math.ceil(widest)), bars, self.beta, Fraction(0))

    def state(self, value: Json, interval: Json) -> str:
        return FEW if 2 * self.promise().amount >= NEARLY * self.most else ""

    def coarse(self) -> Fraction:
        sizes = sorted([*(axis.size for axis in self.axes), *(held.size for held in self.held if held.column)])
        return Fraction(self.most, sizes[len(sizes) // 2]) / 4

    # The answer

    def marginals(self, raw: Sequence[int | Fraction]) -> dict[Columns, Floats]:
        """Every wanted marginal, from the draw: post-processing."""
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

    def held_counts(self, raw: Sequence[int]) -> dict[str, list[int]]:
        """The drawn counts of people who hold each item; "" is everyone, also if that number is public."""
        counts = {} if self.facts.people is None else {"": [self.facts.people]}
        start = len(raw) - sum(held.size for held in self.held)
        for held in self.held:
            counts[held.column] = list(raw[start : start + held.size])
            start += held.size
        return counts

    def item_labels(self, name: str) -> list[str]:
        return list(set_of(self.facts, name).labels)

    def row_bounds(self, raw: Figures) -> Bounds | None:
        """The cells of each column add up to the rows, so the column with the least total reach bounds them."""
        if self.layout.known or not self.axes:
            return None
        off = min(self.layout.cells((place,)) * self.reach((place,)) for place in range(len(self.axes)))
        total = float(self.marginals(raw)[(0,)].sum())
        return max(math.ceil(total - off), 0), max(math.floor(total + off), 0)

    def labels(self) -> list[str]:
        """The bars of all columns by themselves."""
        with stored():
            cells = zip(self.columns, self.cell_labels, strict=True)
            listed = [*cells, *((name, self.item_labels(name)) for name in self.items)]
            return [f"{ref}: {label}" for ref, labels in listed for label in labels]

    @cached_property
    def cell_labels(self) -> list[list[str]]:
        """The stored labels of each column's cells."""
        return [labels_of(axis, self.facts) for axis in self.axes]

    def cell_names(self, place: int) -> list[str]:
        """The labels of a column's cells in the reader's words."""
        ref = self.columns[place]
        words = ref.shown() if isinstance(ref, Grouped) else {}
        absent = {NO_ANSWER: say("value.no_answer"), DOES_NOT_FIT: say("overview.misfit")} if words else {}
        return [words.get(label) or absent.get(label) or called(label) for label in self.cell_labels[place]]

    def extra(self, place: int) -> list[str]:
        """The labels of a column for cells outside the list, and for empty ones."""
        return extra_labels(self.facts.schema[base(self.columns[place])])

    def shown(self) -> dict[str, str]:
        names = [f"{ref}: {name}" for place, ref in enumerate(self.columns) for name in self.cell_names(place)]
        names += [f"{name}: {label}" for name in self.items for label in self.item_labels(name)]
        return {label: name for label, name in zip(self.labels(), names, strict=True) if name != label}

    def finish(self, raw: Sequence[int]) -> Released:
        marginals = self.marginals(raw)
        pairs = []
        for place in range(len(self.axes)):
            reach = math.ceil(self.reach((place,)))
            bars = [round(float(cell)) for cell in marginals[(place,)]]
            pairs += [(bar, (bar - reach, bar + reach)) for bar in bars]
        people = self.held_counts(raw)
        for held in (held for held in self.held if held.column):
            reach = math.ceil(self.reach_of_held(held))
            pairs += [(bar, (bar - reach, bar + reach)) for bar in people[held.column]]
        return self.by_label(pairs)

    # Of a random sample: among all such people

    def _shown(self, alone: bool) -> int:
        """How many shares get a range. With `alone`, each cell of single columns as a share of everybody. Else each
        cell of several columns, three times: in pairs of everybody and of either group, in triples of each group by two
        columns."""
        if alone:
            held = sum(held.size for held in self.held if held.column)
            return sum(self.layout.cells(part) for part in self.sets if len(part) == 1) + held
        return sum(3 * self.layout.cells(part) for part in self.sets if len(part) > 1)

    @property
    def speaks_of_all(self) -> bool:
        return self.facts.unit.at_most == 1

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """The share of everybody in each bar, all at once, except with probability β; half of β, if columns together
        have ranges too (`shares_together`)."""
        people = self.facts.people
        if not self.speaks_of_all or (people is None and moved):
            return None
        beta = beta / (2 if self._shown(False) and not moved else 1) / self._shown(True)
        marginals, counts = self.marginals(raw), self.held_counts([int(number) for number in raw])
        found: list[sampling.Range] = []
        for place, axis in enumerate(self.axes):
            cells, part = marginals[(place,)], (place,)
            one, every = np.eye(1, axis.size)[0], np.ones(axis.size)
            if people is None:
                noise = Off.of_cells(self.noise_of, part, one, every)
                ends = among(cells, np.full(axis.size, cells.sum()), noise, beta, None)
                found += list(zip(*(side.tolist() for side in ends), strict=True))
            else:
                found += of_everybody(cells.tolist(), people, noise_of_sum(self.noise_of, part, one), beta, moved)
        for held in (held for held in self.held if held.column):
            own, drawn = float(self.noise_of_held[held]), counts[held.column]
            if people is None:
                whole = float(next(one for each, one in self.noise_of_held.items() if not each.column))
                noise = Off.of_two(own, whole)
                hits = np.array(drawn, dtype=np.float64)
                ends = among(hits, np.full(held.size, float(counts[""][0])), noise, beta, None)
                found += list(zip(*(side.tolist() for side in ends), strict=True))
            else:
                found += of_everybody(drawn, people, SumNoise.of_one(own), beta, moved)
        if people is not None:  # the bars' own ranges are for pairs too, and may reach farther: nobody should wonder
            for place, (least, most) in enumerate(answer.interval.values()):
                low, high = found[place]
                found[place] = min(low, least / people), max(high, most / people)
        return sampling.as_answer(self.labels(), [sampling.percent(ends) for ends in found])

    def shares_together(
        self, part: Columns, hits: Floats, people: Floats, noise: Mapping[Columns, Fraction], own: int | None = None
    ) -> list[tuple[float, float]]:
        """Cells of several columns as shares of everybody or, with `own`, of the people who agree on all columns but
        `own`. In percent, all at once and together with `population`, except with probability β."""
        shape = [self.axes[place].size for place in part]
        one, whole = np.zeros(shape), np.ones(shape)
        one[(0,) * len(shape)] = 1
        if own is not None:
            whole = np.zeros(shape)
            whole[tuple(slice(None) if place == own else 0 for place in part)] = 1
        known = own is None and self.layout.known
        both = Off.of_cells(noise, part, one, whole)
        if known:
            each = noise_of_sum(noise, part, one)
            both = Off(each.variance, 0.0, 0.0, each.off, 0.0, each.times)
        ends = among(hits, people, both, self.beta / 2 / self._shown(False), self.facts.people)
        pairs = (sampling.percent(pair) for pair in zip(*(side.tolist() for side in ends), strict=True))
        return [(float(low), float(high)) for low, high in pairs]

    def spreads(self, value: Json) -> Iterator[Runs]:
        first, labels = 0, self.labels()
        for place, ref in enumerate(self.columns):
            own, first = labels[first : first + self.axes[place].listed], first + self.axes[place].size
            ordered = isinstance(self.facts.schema[base(ref)], Ordered)
            if isinstance(ref, Grouped) and ordered and len(ref.starts) == ref.size:
                yield base(ref), ref.starts, tuple(float(value[label]) for label in own), self.reach((place,))

    def stored(self, raw: tuple[int, ...]) -> JsonObject:
        """The charge covers the drawn numbers themselves, so they are stored too; everything is computed from them."""
        return super().stored(raw) | {"raw": list(raw)}

    def truth(self, rows: Sequence[Row]) -> dict[str, int]:
        places = [[axis.of(row) for axis in self.axes] for row in rows if self.where.holds(row)]
        counts = [
            sum(codes[place] == cell for codes in places)
            for place, axis in enumerate(self.axes)
            for cell in range(axis.size)
        ]
        for held in (held for held in self.held if held.column):
            counts += need_of(self.facts, held).of(rows)
        return dict(zip(self.labels(), counts, strict=True))
