"""Which share of the people meets a condition, for everyone or by group.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1.
Statistic   hits H and misses M of each group. One row is in one cell: L1 change 1 under add/remove, 2 under
            replace-one, with or without groups; m times that for at most m rows a person. Where the number of people
            is public and nobody is filtered out, M = n − H needs no draw, and H changes by 1.
Draw        every cell + Laplace(Δ/ε). Or Gaussian noise, as for counts (of_counts.py): a person's change has two sides
            under replace-one where misses are drawn too, else one, each of L1 norm at most m.
Answer      H/(H+M), or H/n. Its range is every ratio the noisy ranges allow.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Figures, JsonObject
from dpengine.declared.condition_words import conditions
from dpengine.declared.conditions import Predicate, Row, read_predicate
from dpengine.declared.facts import Facts
from dpengine.declared.schema import ItemSet
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.counts.of_counts import OfCounts
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Released, Sensitivity
from dpengine.mechanisms.trial import IN_A, SOME, WEST, Example, Trial
from dpengine.messages import say
from dpengine.noise.ratio_intervals import ratio, ratio_range, share_and_range
from dpengine.noise.tails import least_count_error
from dpengine.statistics.counts import HitCounts

NOBODY, ALL = Fraction(0), Fraction(100)


@dataclass(frozen=True, kw_only=True)
class Proportion(OfCounts):
    card: ClassVar[Card] = Card(
        key="proportion",
        asked_on=("ask", "whatif"),
        order=40,
        version=1,
        answer="share",
        states=(FEW, APART),
        parameters=(
            Parameter("of", "of", required=True),
            Parameter("by", "by"),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
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

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        of = read_predicate(given["of"], facts.schema)
        if of.everyone:
            raise AllowanceError("query.missing", name=say("param.of.label"))
        return {"of": of}

    def own_json(self) -> JsonObject:
        return {"of": self.of.as_json()}

    def counted_empty(self) -> list[str]:
        columns = {name: self.facts.schema[name] for name in sorted(self.of.columns())}
        return [name for name, column in columns.items() if not isinstance(column, ItemSet) and not column.complete]

    def sentence(self) -> str:
        code = "sentence.proportion_rows" if self.counts_rows else "sentence.proportion"
        return say(code, of=conditions(self.of), who=self.whom())

    @property
    def known(self) -> int | None:
        return self.facts.countable(self.where) if self.by is None else None

    def need(self) -> HitCounts:
        return HitCounts(self.of, self.by, self.groups, self.where)

    def measured(self, value: int | tuple[int, ...]) -> tuple[int, ...]:
        cells = super().measured(value)
        return cells if self.known is None else cells[:1]

    @property
    def numbers(self) -> int:
        return 1 if self.known is not None else 2 * self.groups

    @property
    def moves(self) -> tuple[int, int]:
        return 2 if self.known is None and self.facts.relation == "replace" else 1, self.facts.unit.at_most

    def sensitivity(self) -> Sensitivity:
        sides, rows = self.moves
        return Sensitivity("l2sq", sides * rows**2) if self.noise else super().sensitivity()

    def limits(self, part: str = "") -> Ends | None:
        return NOBODY, ALL

    def sure(self, part: str = "") -> Ends:
        return NOBODY, ALL

    def promise(self) -> Within:
        people = Fraction(self.facts.about, self.groups)
        reach = self.reach()
        alpha = min(100 * reach / max(people if self.known is not None else people - 2 * reach, Fraction(1)), ALL)
        least = NOBODY
        if self.known is not None and not self.noise:  # Gaussian noise has no finite ε, so no lower bound is known
            least = min(100 * least_count_error(self.epsilon, self.beta) / people, ALL)
        return Within(alpha, self.groups, self.beta, least, "percent", nominal=self.known is None)

    def holds_rows(self) -> bool | None:
        return True if self.by is None and self.known is None else None

    def coarse(self) -> Fraction:
        return ALL / 8

    def truth(self, rows: Sequence[Row]) -> float:
        return 100 * sum(self.of.holds(row) for row in rows) / len(rows)

    def from_mean(self, raw: Figures, draws: int) -> Released:
        """For several draws, hits and misses are averaged, not their ratios."""
        if self.known is not None:
            low, high = ratio_range(100 * raw[0], 100 * self.reach(draws), self.known, 0, NOBODY, ALL)
            return Released(float(ratio(100 * raw[0], self.known, NOBODY, ALL)), (float(low), float(high)))
        reach = self.reach(draws)
        return self.released([share_and_range(h, m, reach) for h, m in zip(raw[0::2], raw[1::2], strict=True)])
