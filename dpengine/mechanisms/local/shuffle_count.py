"""How many people meet a condition, if people trust only a shuffler.

Guarantee   (ε, δ)-DP under replace-one for the permuted messages, if everybody is honest (`shuffle_model`).
Theorem     lecture 8: send the bit and a coin of probability p; Cheu, Smith, Ullman, Zeber, Zhilyaev 2019 for the
            model. Here p is the least that keeps (ε, δ) exactly (`binomial`), at most ½; refused if ½ does not keep it.
            The lecture's own p = 48·ln(2/δ)/(ε²n) is refused if it does not keep (ε, δ): near 1 its noise vanishes.
Statistic   everybody's bit. One person changes the sum by 1.
Draw        the number of ones among the 2n permuted messages: the true number plus Bin(n, p).
Accuracy    minus np it has no bias; its range is that of the binomial's exact tails, whatever n: like the central
            model.
Cost        2n messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dpengine.accountant.loss import Approximate, Loss
from dpengine.core.amounts import LEAST_DELTA, read_row_delta
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling
from dpengine.core.types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.local.of_people import (
    OfBits,
    check_people,
    least_coin,
    lecture_coin,
    read_calibration,
    sums_of_coins,
)
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Released
from dpengine.mechanisms.trial import IN_A, WEST, Example, Trial
from dpengine.messages import say
from dpengine.noise import binomial, shuffle_model
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite

CALIBRATIONS = ("tight", "lecture")


@dataclass(frozen=True, kw_only=True)
class ShuffleCount(OfBits):
    card: ClassVar[Card] = Card(
        key="shuffle_count",
        asked_on=("ask",),
        behind="count",
        order=510,
        answer="count",
        states=(FEW,),
        trust="shuffle",
        relations=("replace",),
        several=False,
        caveats=("honest", "shuffler"),
        own=(
            Parameter("where", "where", required=True),
            Parameter("calibration", "calibration", default="tight"),
            Parameter("delta", "delta", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={"of some": {"where": IN_A, "delta": "0.5"}},
        example=Example({"where": WEST, "delta": "0.35"}),
        broken_variants=("shared",),
        covered="test_counts_have_no_bias_and_ranges_that_hold",
    )

    delta: Fraction
    calibration: str = "tight"

    def __post_init__(self) -> None:
        check_people(self)
        self.chance  # noqa: B018 - refuses if no p will do

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return {"delta": read_shuffle_delta(given.get("delta")), "calibration": read_calibration(given, CALIBRATIONS)}

    def sentence(self) -> str:
        return say("sentence.shuffle_count", of_who=self.whom(of=True))

    @cached_property
    def chance(self) -> Fraction:
        """p: the probability that a person's coin is 1."""
        coin = lecture_coin if self.calibration == "lecture" else least_coin
        return coin(self.facts.about, self.epsilon, self.delta)

    @property
    def theorem(self) -> str:
        return say("shuffle.theorem.lecture") if self.calibration == "lecture" else super().theorem

    def loss(self) -> Loss:
        return Approximate(self.epsilon, self.delta)

    def reach(self) -> tuple[int, int]:
        return binomial.reach(self.facts.about, self.chance, self.beta)

    def promise(self) -> Within:
        low, high = self.reach()
        middle = self.facts.about * self.chance
        return Within(Fraction(ceiling(max(middle - low, high - middle))), 1, self.beta, Fraction(0))

    def draw(self, value: int, coins: Coins) -> int:
        sent = shuffle_model.randomise(shuffle_model.holders(value, self.facts.about), self.chance, coins)
        return shuffle_model.count_ones(shuffle_model.shuffled(sent, coins))

    def law(self, value: int) -> Finite | None:
        noise = sums_of_coins(self.facts.about, self.chance)
        return None if noise is None else Finite({value + ones: chance for ones, chance in enumerate(noise)})

    def finish(self, raw: int) -> Released:
        low, high = self.reach()
        return Released(float(raw - self.facts.about * self.chance), (raw - high, raw - low))


def read_shuffle_delta(value: Json) -> Fraction:
    delta = read_row_delta(value)
    if delta < LEAST_DELTA:
        raise AllowanceError("shuffle.delta", least="1e-30")
    return delta
