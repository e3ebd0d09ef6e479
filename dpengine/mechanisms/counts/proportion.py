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
from math import ceil, floor
from typing import ClassVar

from dpengine.accountant.loss import Gaussian, Loss, Pure, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Figures, JsonObject
from dpengine.declared.condition_words import conditions
from dpengine.declared.conditions import Predicate, Row, read_predicate
from dpengine.declared.facts import Facts
from dpengine.declared.schema import ItemSet
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Averaged, Bounds, Fields, Released, Sensitivity
from dpengine.mechanisms.trial import IN_A, SOME, WEST, Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Laplace, Normal
from dpengine.noise.ratio_intervals import ratio, ratio_range, share_and_range
from dpengine.noise.tails import gaussian_mean_reach, least_count_error, mean_reach
from dpengine.statistics.counts import HitCounts

NOBODY, ALL = Fraction(0), Fraction(100)


@dataclass(frozen=True, kw_only=True)
class Proportion(Averaged[tuple[int, ...]]):
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

    noises: ClassVar[tuple[str, ...]] = ("gaussian",)

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

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return value if self.known is None else value[:1]

    @property
    def sides(self) -> int:
        return 2 if self.known is None and self.facts.relation == "replace" else 1

    def sensitivity(self) -> Sensitivity:
        if self.noise:
            return Sensitivity("l2sq", self.sides * self.facts.unit.at_most**2)
        return Sensitivity("l1", self.sides * self.facts.unit.at_most)

    @property
    def rho(self) -> Fraction:
        return self.epsilon**2 / (2 * self.sides)

    @property
    def variance(self) -> Fraction:
        """σ² of Gaussian noise."""
        return self.sensitivity().bound / (2 * self.rho)

    @property
    def scale(self) -> Fraction:
        return self.sensitivity().bound / self.epsilon

    def loss(self) -> Loss:
        if self.noise:
            return Gaussian(self.rho)
        if self.sides == 2:
            return Together((Pure(self.epsilon / 2), Pure(self.epsilon / 2)))
        return Pure(self.epsilon)

    def _reach(self, draws: int = 1) -> int | Fraction:
        cells = 1 if self.known is not None else 2 * self.groups
        beta = self.beta / cells
        return gaussian_mean_reach(self.variance, draws, beta) if self.noise else mean_reach(self.scale, draws, beta)

    def promise(self) -> Within:
        people = Fraction(self.facts.about, self.groups)
        reach = self._reach()
        alpha = min(100 * reach / max(people if self.known is not None else people - 2 * reach, Fraction(1)), ALL)
        least = NOBODY
        if self.known is not None and not self.noise:  # Gaussian noise has no finite ε, so no lower bound is known
            least = min(100 * least_count_error(self.epsilon, self.beta) / people, ALL)
        return Within(alpha, self.groups, self.beta, least, "percent", nominal=self.known is None)

    def rows_told(self, raw: Figures) -> Bounds | None:
        if self.by is not None or self.known is not None:
            return None
        hits, misses = raw
        off = 2 * self._reach()
        most = None if self.conditional else max(floor(hits + misses + off), 0)
        return max(ceil(hits + misses - off), 0), most

    def coarse(self) -> Fraction:
        return ALL / 8

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        counts = list(self.measured(value))
        return tuple(coins.gaussian(counts, self.variance) if self.noise else coins.laplace(counts, self.scale))

    def law(self, value: tuple[int, ...]) -> Independent:
        if self.noise:
            return Independent(tuple(Normal(count, self.variance) for count in self.measured(value)))
        return Independent(tuple(Laplace(count, self.scale) for count in self.measured(value)))

    def truth(self, rows: Sequence[Row]) -> float:
        return 100 * sum(self.of.holds(row) for row in rows) / len(rows)

    def from_mean(self, raw: Figures, draws: int) -> Released:
        """For several draws, hits and misses are averaged, not their ratios."""
        if self.known is not None:
            low, high = ratio_range(100 * raw[0], 100 * self._reach(draws), self.known, 0, NOBODY, ALL)
            return Released(float(ratio(100 * raw[0], self.known, NOBODY, ALL)), (float(low), float(high)))
        reach = self._reach(draws)
        return self.released([share_and_range(h, m, reach) for h, m in zip(raw[0::2], raw[1::2], strict=True)])
