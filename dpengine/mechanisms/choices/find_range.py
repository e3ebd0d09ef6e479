"""In which range the numbers of a raw column lie, for an owner who does not know it. The column need not be declared.

Guarantee   ε-DP.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1. The range is post-processing.
Statistic   rows per band of a public grid: 0, ±2^−10, …, ±2^40 (numbers beyond count in the last band; cells without a
            number in none). A person holds at most m rows: L1 change m under add/remove, 2m under replace-one.
Draw        every count + Z, Pr[Z=z] ∝ exp(−ε|z|/Δ), independent. Under replace-one with one row per person two counts
            change, by one each: two independent parts of ε/2.
Range       all K noises stay within t at once, except with probability β. Bands whose noisy count exceeds t then surely
            hold somebody. The answer covers the largest of them, and outwards every other that lies at most NEAR bands
            beyond the last one covered, or whose noisy count exceeds T; none: no range stands out. T is what all K
            noises stay within but for LONE: an empty band far out, which alone would stretch the range a million
            times, does so once in 100,000 finds, not once in 60.
Accuracy    except with probability β, every band that is left out holds at most t + T rows.
Cost        one pass over one raw column.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

from dpengine.accountant.loss import Loss, Pure, Together
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.telling import FOUND
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Laplace
from dpengine.noise.tails import laplace_reach, least_count_error
from dpengine.statistics.raw_cells import BANDS, EDGES
from dpengine.statistics.raw_needs import Bands

NEAR = 4  # bands: sixteen times as far from zero
LONE = Fraction(1, 100_000)  # the chance that any empty band far out stands


@dataclass(frozen=True, kw_only=True)
class FindRange(Query[tuple[int, ...], tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="find_range",
        asked_on=("data",),
        order=200,
        version=1,
        answer="range",
        states=(FOUND,),
        caveats=("bands", "nothing"),
        parameters=(
            Parameter("column", "column.file", required=True),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    declares: ClassVar[str] = "range"
    gated: ClassVar[bool] = False
    of_people: ClassVar[bool] = False
    trial: ClassVar[Trial] = Trial(
        cases={"of a column": {"column": "raw number"}},
        example=Example({"column": "spent"}),
        twins=("half", "relation"),
        covered="test_the_range_keeps_its_promise",
    )

    column: str

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return {"column": facts.in_file(given["column"])}

    def own_json(self) -> JsonObject:
        return {"column": self.column}

    def valued(self) -> set[str]:
        """None: no declared bound is used."""
        return set()

    def sentence(self) -> str:
        return say("sentence.find_range", column=self.column)

    def labels(self) -> list[str]:
        return ["lower", "upper"]

    def shown(self) -> dict[str, str]:
        return {label: say(f"answer.end.{label}") for label in self.labels()}

    def need(self) -> Bands:
        return Bands(self.column)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return value

    def sensitivity(self) -> Sensitivity:
        rows = self.facts.unit.at_most
        return Sensitivity("l1", 2 * rows if self.facts.relation == "replace" else rows)

    @property
    def scale(self) -> Fraction:
        return self.sensitivity().bound / self.epsilon

    def loss(self) -> Loss:
        if self.facts.relation == "replace" and self.facts.unit.at_most == 1:
            return Together((Pure(self.epsilon / 2), Pure(self.epsilon / 2)))
        return Pure(self.epsilon)

    @property
    def reach(self) -> int:
        """t: all noise terms stay within it at once, except with probability β."""
        return laplace_reach(self.scale, self.beta / BANDS)

    @property
    def far(self) -> int:
        """T: what a band must exceed that lies far from the others."""
        return max(self.reach, laplace_reach(self.scale, LONE / BANDS))

    def promise(self) -> Within:
        amount = Fraction(self.reach + self.far)
        return Within(amount, BANDS, self.beta, least_count_error(self.epsilon, self.beta))

    def state(self, value: Json, interval: Json) -> str:
        return FOUND if value["lower"] is None else ""

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 20)

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return tuple(coins.laplace(list(value), self.scale))

    def law(self, value: tuple[int, ...]) -> Independent:
        return Independent(tuple(Laplace(count, self.scale) for count in value))

    def finish(self, raw: tuple[int, ...]) -> Released:
        reach, far = self.reach, self.far
        largest = max(range(len(raw)), key=raw.__getitem__)
        if raw[largest] <= reach:
            return Released({"lower": None, "upper": None})
        low = high = largest
        for place in range(largest + 1, len(raw)):
            if raw[place] > far or (raw[place] > reach and place - high <= NEAR):
                high = place
        for place in range(largest - 1, -1, -1):
            if raw[place] > far or (raw[place] > reach and low - place <= NEAR):
                low = place
        return Released({"lower": number_at(EDGES[low]), "upper": number_at(EDGES[high + 1])})


def number_at(edge: Decimal) -> int | float:
    """Exact either way: edges are powers of two."""
    return int(edge) if edge == int(edge) else float(edge)
