"""Which share of the people meets a condition, for everyone or by group.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1.
Statistic   hits H and misses M of each group. One row is in one cell: L1 change 1 under add/remove, 2 under
            replace-one, with or without groups; m times that for at most m rows a person. Where the number of people
            is public and nobody is filtered out, M = n − H needs no draw, and H changes by 1.
Draw        every cell + Laplace(Δ/ε), or Gaussian noise: a person's change has two sides under replace-one where misses
            are drawn too, else one, each of length at most m. The loss has as many parts, as for counts (`noised`).
Answer      H/(H+M), or H/n. Its range is every share p that a test at 9β/10 does not reject: (1−p)H − pM has no error
            but its noise. The rest of β is for the number of rows.
Accuracy    the noise of (1−p)H − pM reaches farthest where p is 0 or 1.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figures, Floats, Json, JsonObject
from dpengine.declared.conditions import Predicate, Row, conditions, read_predicate
from dpengine.declared.facts import Facts
from dpengine.declared.schema import ItemSet
from dpengine.mechanisms import sampling
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import BY, WHERE, Card, Parameter
from dpengine.mechanisms.query import Bounds, Fields, Released, Sensitivity
from dpengine.mechanisms.quotients import mean_reaches, ratio, ratio_range, tested_range
from dpengine.mechanisms.ratios import Estimate, OfRatio, Point
from dpengine.mechanisms.trial import IN_A, SOME, WEST, Example, Trial
from dpengine.messages import say
from dpengine.statistics.counts import HitCounts

NOBODY, ALL = Fraction(0), Fraction(100)


@dataclass(frozen=True, kw_only=True)
class Proportion(OfRatio[tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="proportion",
        order=40,
        answer="share",
        states=(FEW, APART),
        own=(Parameter("of", "of", required=True), BY, WHERE),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of everybody": {"of": IN_A},
            "of some": {"of": [SOME], "where": IN_A},
            "by group": {"of": [SOME], "by": "c"},
            "by numbers in steps": {"of": IN_A, "by": {"column": "x", "step": 2}},
            "of everybody, Gaussian": {"of": IN_A, "noise": "gaussian"},
            "of some, Gaussian": {"of": [SOME], "where": IN_A, "noise": "gaussian"},
            "by group, Gaussian": {"of": [SOME], "by": "c", "noise": "gaussian"},
        },
        example=Example({"of": WEST}),
        broken_variants=("half", "small"),
    )

    of: Predicate
    parts_apart = True
    placed = False
    promise_unit = "percent"

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        of = read_predicate(given["of"], facts.schema)
        if of.everyone:
            raise AllowanceError("query.missing", name=say("param.of.label"))
        return {"of": of}

    def counted_empty(self) -> list[str]:
        columns = {name: self.facts.schema[name] for name in sorted(self.of.columns())}
        return [name for name, column in columns.items() if not isinstance(column, ItemSet) and not column.complete]

    def sentence(self) -> str:
        if self.where.everyone and self.by is None and not self.counts_rows:
            return say("sentence.proportion_everyone", of=conditions(self.of))
        code = "sentence.proportion_rows" if self.counts_rows else "sentence.proportion"
        return say(code, of=conditions(self.of), of_who=self.whom(of=True))

    @property
    def known(self) -> int | None:
        return self.facts.countable(self.where) if self.by is None else None

    def need(self) -> HitCounts:
        return HitCounts(self.of, self.by, self.groups, self.where)

    def noised(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """Hits and misses of each group; hits alone if the number of people is public."""
        return value if self.known is None else value[:1]

    @property
    def weights(self) -> tuple[int, ...]:
        return (1, 1) if self.known is None else (1,)

    @property
    def loss_parts(self) -> int:
        """One part for each side of a person's change; one in all if the number of people is public."""
        return self.facts.sides if self.known is None else 1

    def sensitivity(self) -> Sensitivity:
        return self.of_rows(self.loss_parts, self.loss_parts)

    def limits(self, part: str = "") -> Ends | None:
        return NOBODY, ALL

    def sure(self, part: str = "") -> Ends:
        return NOBODY, ALL

    def least(self) -> Fraction:
        if self.known is None:
            return NOBODY
        return min(100 * self.noise_kind.least_error(self.epsilon, self.beta) / self.known, ALL)

    def row_bounds(self, raw: Figures) -> Bounds | None:
        """Bounds from hits and misses together, which are all rows that meet the condition."""
        if self.by is not None or self.known is not None:
            return None
        (off,), total = self.noise_kind.line_reaches(self.added, np.ones((1, 2)), 1, self.beta / 10), sum(raw)
        return max(ceil(total - off), 0), None if self.conditional else max(floor(total + off), 0)

    def coarse(self) -> Fraction:
        return ALL / 8

    def truth(self, rows: Sequence[Row]) -> float:
        return 100 * sum(self.of.holds(row) for row in rows) / len(rows)

    def supposed(self, people: Fraction) -> Point:
        reach = self.reaches()[0] if self.known is not None else Fraction(float(self._tests(1)[0]))
        return min(100 * reach / people, ALL)

    def _tests(self, draws: int) -> Floats:
        return mean_reaches(*self.added, 1, True, draws, self.beta / self.groups * 9 / 10)

    def estimate(self, numbers: Figures, draws: int = 1) -> Estimate:
        if self.known is not None:
            people, hits = numbers
            ends = ratio_range(100 * hits, 100 * self.reaches(draws)[0], people, 0, NOBODY, ALL)
            return ratio(100 * hits, people, NOBODY, ALL), ends
        hits, misses = numbers
        low, high = tested_range(float(hits - misses) / 2, float(hits + misses) / 2, self._tests(draws))
        least, most = 50 + 50 * low, 50 + 50 * high
        rows = max(hits, 0) + max(misses, 0)
        share = float(Fraction(100 * max(hits, 0), rows)) if rows > 0 else (least + most) / 2
        return min(max(share, least), most), (least, most)

    @property
    def speaks_of_all(self) -> bool:
        return self.facts.unit.at_most == 1

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        if not self.speaks_of_all:
            return None
        numbers, each = [int(number) for number in raw], beta / self.groups
        if self.known is not None:
            return sampling.as_answer(
                [], [sampling.percent(sampling.share(numbers[0], self.known, self.added[0], each, moved))]
            )
        if moved and (self.conditional or self.by is not None):
            return None  # it would take everybody's number, and be far too wide
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        first, last = self.added
        ranges = [sampling.part(hits, misses, first, last, each, moved) for hits, misses in pairs]
        return sampling.as_answer(self.labels(), [sampling.percent(ends) for ends in ranges])

    def supposed_draw(self) -> tuple[int, ...] | None:
        half = self.facts.about // (2 * self.groups)
        return (half,) if self.known is not None else (half, half) * self.groups
