"""How many people fall into each declared bin.

Guarantee   ε-DP, or ρ-zCDP with Gaussian noise. Every declared bin is in the answer, on every table.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1; discrete Gaussian: Canonne,
            Kamath, Steinke 2020, Thm 14.
Statistic   one count per bin. A person holds at most m rows: L1 change m under add/remove, 2m under replace-one.
Draw        every count + Z, Pr[Z=z] ∝ exp(−ε|z|/Δ), independent, or Gaussian noise: `noised`. Under replace-one
            one side leaves its bins and one enters: two parts of ε/2.
Sets        of a person's set at most k items count, chosen by `items_per_person` from the set alone: one bar per item;
            at most Δ = min(k, items) bars change under add/remove and min(2k, items) under replace-one (those in one
            set and not in the other), by one each whatever the number of rows: Δ independent parts of ε/Δ.
Accuracy    all k bars at once within t, by a union bound: each except with probability β/k.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import floor, read_whole
from dpengine.core.remembered import remembered
from dpengine.core.types import Ends, Json, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref, base, ref_json
from dpengine.declared.read_group import coarser, read_ref
from dpengine.declared.schema import Category, Column, ItemSet, Ordered, extra_labels
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.cuts import Cut, cut
from dpengine.mechanisms.noised import OfCounts
from dpengine.mechanisms.promises import Runs
from dpengine.mechanisms.query import Fields, Released
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import plain, say
from dpengine.messages.language import current, stored
from dpengine.statistics.counts import BinCounts, CellCounts, ItemCounts

USUAL_BINS = 10
MOST_BINS = 1_000
FEWER_BINS = (5, 3, 2)  # proposed if more would be mostly noise


@dataclass(frozen=True, kw_only=True)
class Histogram(OfCounts):
    card: ClassVar[Card] = Card(
        key="histogram",
        order=50,
        answer="count",
        states=(FEW, APART),
        caveats=("bins",),
        own=(Parameter("column", "column.any", required=True), Parameter("bins", "bins", default=USUAL_BINS), WHERE),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of a list": {"column": "c"},
            "of sets": {"column": "s"},
            "of sets of some": {"column": "s", "where": [["x", "=", 0]]},
            "of a number": {"column": "x", "bins": 4},
            "between given edges": {"column": "x", "bins": [0, 2], "where": IN_A},
            "of days": {"column": "b", "bins": ["1990-01-01", "1990-01-03"]},
            "of weekdays": {"column": {"column": "b", "by": "weekday"}},
            "of a list, Gaussian": {"column": "c", "noise": "gaussian"},
            "of sets, Gaussian": {"column": "s", "noise": "gaussian"},
        },
        example=Example({"column": "town"}),
        broken_variants=("nonempty", "half", "relation", "small", "bare"),
    )

    column: Ref
    starts: tuple[int, ...]
    compared = True

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = read_ref(given["column"], facts.schema)
        column = name if isinstance(name, Grouped) else facts.schema[name]
        bins = given.get("bins")
        if isinstance(column, ItemSet) and column.at_most is None:
            raise AllowanceError("items.size_needed", column=name)
        if isinstance(column, Category | ItemSet | Grouped):
            if bins not in (None, USUAL_BINS):
                raise AllowanceError("bins.category", column=name)
            return {"column": name, "starts": tuple(range(column.size))}
        return {"column": name, "starts": read_bins(column, USUAL_BINS if bins in (None, "") else bins)}

    def own_json(self) -> JsonObject:
        column = self.values
        if isinstance(column, Category | ItemSet | Grouped):
            return {"column": ref_json(self.column)}
        return {"column": self.column, "bins": list(_first_values(column, self.starts))}

    @property
    def values(self) -> Column | Grouped:
        return self.column if isinstance(self.column, Grouped) else self.facts.schema[self.column]

    def sentence(self) -> str:
        code = "sentence.histogram_rows" if self.counts_rows else "sentence.histogram"
        return say(code, column=self.column, who=self.whom())

    def labels(self) -> list[str]:
        with stored():
            return self._spans()

    def shown(self) -> dict[str, str]:
        if isinstance(self.values, Category | Grouped):
            return self.named(self.column)
        return dict(zip(self.labels(), self._spans(), strict=True))

    def _spans(self) -> list[str]:
        column = self.values
        if isinstance(column, Category | ItemSet | Grouped):
            return list(column.labels)
        return list(_spans_of(column, self.starts, current()))

    @property
    def set_size(self) -> int | None:
        """The limit on items per person; None if a row holds one value."""
        column = self.values
        return column.at_most if isinstance(column, ItemSet) else None

    def cuts(self) -> tuple[Cut, ...]:
        cuts, most = super().cuts(), self.set_size
        return cuts if most is None else (*cuts, cut("set", column=self.column, most=most))

    def truth(self, rows: Sequence[Row]) -> dict[str, int]:
        return dict(zip(self.labels(), self.need().of(rows), strict=True))

    def need(self) -> BinCounts | CellCounts | ItemCounts:
        if isinstance(self.column, Grouped):
            return CellCounts((self.column,), (self.column.size,), self.where)
        if self.set_size is not None:
            several = self.facts.unit.id_column is not None
            return ItemCounts(self.column, len(self.starts), self.where, several, cut=True)
        return BinCounts(self.column, self.starts, self.facts.schema[self.column].size, self.where)

    @property
    def moves(self) -> tuple[int, int]:
        if self.set_size is not None:
            return min(self.facts.sides * self.set_size, len(self.starts)), 1
        return self.facts.sides, self.facts.unit.at_most

    @property
    def numbers(self) -> int:
        return len(self.starts)

    def coarse(self) -> Fraction:
        return Fraction(self.planned_size, len(self.starts)) / 4

    def holds_rows(self) -> bool | None:
        column = self.values
        if isinstance(column, ItemSet):
            return None
        return isinstance(column, Category) or (not isinstance(column, Grouped) and column.complete)

    def named_by(self) -> object:
        return self.values

    def leftovers(self) -> list[str]:
        return extra_labels(self.values)

    def fewer(self) -> list[tuple[str, JsonObject]]:
        given = self.parameters()
        if isinstance(self.column, Grouped):
            steps = coarser(self.column, self.facts.schema)
            return [(self.card.key, given | {"column": step}) for step in steps]
        if "bins" not in given:  # a list is as long as it is declared
            return []
        return [(self.card.key, given | {"bins": bins}) for bins in FEWER_BINS if bins < len(self.starts)]

    def spreads(self, value: Json) -> Iterator[Runs]:
        group, name = self.column, base(self.column)
        ordered = isinstance(self.facts.schema[name], Ordered)
        runs = not isinstance(group, Grouped) or len(group.starts) == group.size
        if ordered and runs and self.where.everyone:
            starts = group.starts if isinstance(group, Grouped) else self.starts
            yield name, starts, tuple(float(value[label]) for label in self.labels()), float(self.promise().amount)

    def released(self, answers: list[Ends]) -> Released:
        return self.by_label(answers)


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"


@remembered(256)
def _first_values(column: Ordered, starts: tuple[int, ...]) -> tuple[Json, ...]:
    return tuple(column.value(start) for start in starts)


@remembered(256)
def _spans_of(column: Ordered, starts: tuple[int, ...], language: str) -> tuple[str, ...]:
    """The bins of a number or date column in the reader's words; `language` is the current one, for the cache."""
    pairs = list(zip(starts, [*starts[1:], column.size], strict=True))
    rounded = [_span(plain(column.value(a)), plain(column.value(b - 1))) for a, b in pairs]
    if len(set(rounded)) == len(rounded):
        return tuple(rounded)
    return tuple(_span(column.text(a), column.text(b - 1)) for a, b in pairs)


def read_bins(column: Ordered, bins: Json) -> tuple[int, ...]:
    """Where each bin starts on the grid: from a number of equal bins or a list of rising edges."""
    if isinstance(bins, (list, tuple)):
        starts = _starts_of(column, tuple(bins))
    else:
        count = min(read_whole(bins, "bins", MOST_BINS, "bins.many"), column.size)
        starts = sorted({column.size * place // count for place in range(count)})
    if len(starts) > MOST_BINS:
        raise AllowanceError("bins.many", most=MOST_BINS)
    return tuple(starts)


@remembered(256)
def _starts_of(column: Ordered, edges: tuple[Json, ...]) -> list[int]:
    codes = [column.place(edge, "bins") for edge in edges]
    if not codes or any(b <= a for a, b in pairwise(codes)):
        raise AllowanceError("bins.rising")
    if codes[0] < 0 or codes[-1] >= column.size:
        raise AllowanceError("bins.outside", lower=column.value(0), upper=column.value(column.size - 1))
    return sorted({0} | {-floor(-code) for code in codes})
