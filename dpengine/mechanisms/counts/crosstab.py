"""How many people in each combination of two or three declared columns.

Guarantee   ε-DP. Every combination of declared values is in the answer, on every table.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1.
Statistic   one count per combination: L1 change m under add/remove, 2m under replace-one.
Draw        every count + Laplace(Δ/ε); under replace-one two cells change, so the loss is two parts of ε/2. Or
            Gaussian noise, as for a histogram.
Accuracy    all cells at once, by a union bound.
Cost        one scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.types import JsonObject
from dpengine.declared.conditions import combined
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref
from dpengine.declared.read_group import coarser, read_ref
from dpengine.declared.schema import Category, extra_labels
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.marginals.wanted import readable
from dpengine.mechanisms.noised import too_many
from dpengine.mechanisms.query import Fields, given_json
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import called, say
from dpengine.messages.language import stored
from dpengine.statistics.counts import CellCounts

MOST_CELLS = 10_000


@dataclass(frozen=True, kw_only=True)
class Crosstab(Histogram):
    """A histogram over all combinations of the columns' values, with a histogram's noise, loss and promise."""

    card: ClassVar[Card] = Card(
        key="crosstab",
        order=110,
        answer="count",
        states=(FEW, APART),
        caveats=("bins",),
        own=(Parameter("columns", "columns", required=True), WHERE),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two lists": {"columns": ["c", "d"]},
            "of two lists, Gaussian": {"columns": ["c", "d"], "noise": "gaussian"},
            "of a list and numbers in steps": {"columns": ["c", {"column": "x", "step": 2}]},
        },
        example=Example({"columns": ["town", "member"]}),
        broken_variants=("nonempty", "half", "relation", "small", "bare"),
    )

    columns: tuple[Ref, ...]

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names = given["columns"]
        if not isinstance(names, (list, tuple)) or not 2 <= len(names) <= 3:
            raise AllowanceError("crosstab.columns")
        names = [readable(read_ref(name, facts.schema), facts.schema) for name in names]
        if len(set(names)) != len(names):
            raise AllowanceError("crosstab.columns")
        sizes = [facts.schema.category(name).size for name in names]
        if prod(sizes) > MOST_CELLS:
            raise too_many("crosstab.cells", [facts.schema.category(name) for name in names], MOST_CELLS)
        return {"columns": tuple(names), "column": names[0], "starts": tuple(range(prod(sizes)))}

    def holds_rows(self) -> bool | None:
        return all(isinstance(self.facts.schema.category(name), Category) for name in self.columns)

    def named_by(self) -> object:
        return None

    def leftovers(self) -> list[str]:
        extra = [set(extra_labels(self.facts.schema.category(name))) for name in self.columns]
        cells = zip(self.labels(), product(*(self._labels(name) for name in self.columns)), strict=True)
        return [label for label, cell in cells if any(value in rest for value, rest in zip(cell, extra, strict=True))]

    def fewer(self) -> list[tuple[str, JsonObject]]:
        """The same question without one of the columns, or with a column in coarser groups."""
        given, names = self.parameters(), given_json(self.columns)
        questions: list[tuple[str, JsonObject]] = []
        for place, name in enumerate(self.columns):
            steps = coarser(name, self.facts.schema) if isinstance(name, Grouped) else []
            for step in steps:
                questions.append((self.card.key, given | {"columns": [*names[:place], step, *names[place + 1 :]]}))
            rest = [*names[:place], *names[place + 1 :]]
            if len(rest) > 1:
                questions.append((self.card.key, given | {"columns": rest}))
            else:
                alone = {part: value for part, value in given.items() if part != "columns"}
                questions.append((Histogram.card.key, alone | {"column": rest[0]}))
        return questions

    def own_json(self) -> JsonObject:
        return {"columns": given_json(self.columns)}

    def sentence(self) -> str:
        code = "sentence.crosstab_rows" if self.counts_rows else "sentence.crosstab"
        names = [called(column) if isinstance(column, str) else str(column) for column in self.columns]
        return say(code, columns=say("who.and").join(names), who=self.whom())

    def shown(self) -> dict[str, str]:
        return self.shown_together(self.columns)

    def crossed(self) -> list[tuple[str, dict[str, str]]]:
        return [(str(name), {label: label for label in self._labels(name)} | self.named(name)) for name in self.columns]

    def _labels(self, name: Ref) -> tuple[str, ...]:
        return self.facts.schema.category(name).labels

    def labels(self) -> list[str]:
        return combined([self._labels(name) for name in self.columns])

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        with stored():
            names = tuple(map(str, self.columns))
        return names, list(product(*(self._labels(name) for name in self.columns)))

    def need(self) -> CellCounts:
        sizes = tuple(self.facts.schema.category(name).size for name in self.columns)
        return CellCounts(self.columns, sizes, self.where)
