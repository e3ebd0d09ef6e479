"""How many people meet a condition.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace (geometric) mechanism: Ghosh, Roughgarden, Sundararajan 2009, Thm 1.1; Dwork et al. 2006.
Statistic   c = #{rows that meet the condition}; one person holds at most m rows, so |c − c′| ≤ m under both relations.
Draw        c + Z, Pr[Z=z] ∝ exp(−ε|z|/m).
Accuracy    |Z| ≤ t except with probability 2e^(−ε(t+1)/m)/(1+e^(−ε/m)).
Cost        one scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpengine import needs
from dpengine.bounds import laplace_reach, least_count_error
from dpengine.coins import Coins
from dpengine.contract import Card, Facts, Parameter, Query, Released, Sensitivity, Within
from dpengine.errors import AllowanceError
from dpengine.laws import Laplace
from dpengine.loss import Loss, Pure
from dpengine.messages import say
from dpengine.wording import who


@dataclass(frozen=True, kw_only=True)
class Count(Query):
    card: ClassVar[Card] = Card(
        key="count",
        version=1,
        picture="number",
        parameters=(Parameter("where", "where"), Parameter("epsilon", "epsilon", required=True)),
    )

    def __post_init__(self) -> None:
        if self.where.everyone and self.facts.people is not None:
            raise AllowanceError("count.public", people=self.facts.people)

    @classmethod
    def read(cls, facts: Facts, given: dict[str, Any]) -> dict[str, Any]:
        return {}

    def own_json(self) -> dict[str, Any]:
        return {}

    def sentence(self) -> str:
        return say("sentence.count", who=who(self.where))

    def need(self) -> needs.Count:
        return needs.Count(self.where)

    def measured(self, value: int) -> tuple[int, ...]:
        return (value,)

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("l1", self.facts.unit.at_most)

    @property
    def scale(self) -> Fraction:
        return self.sensitivity().bound / self.epsilon

    def loss(self) -> Loss:
        return Pure(self.epsilon)

    def promise(self) -> Within:
        floor = least_count_error(self.epsilon, self.beta)
        return Within(laplace_reach(self.scale, self.beta), 1, self.beta, floor)

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 4)

    def draw(self, value: int, coins: Coins) -> int:
        return coins.laplace([value], self.scale)[0]

    def law(self, value: int) -> Laplace:
        return Laplace(value, self.scale)

    def finish(self, raw: int) -> Released:
        reach = self.promise().alpha
        return Released(raw, (raw - reach, raw + reach))
