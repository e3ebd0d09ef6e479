"""How many people meet a condition, if each person trusts nobody else.

Guarantee   ε-DP under replace-one, for all messages together: each person's own message is ε-DP (Warner 1965).
Theorem     randomised response: thesis, Ex. 4.10 with two values; Kasiviswanathan et al. 2011, Thm 3.14, for the model.
Statistic   everybody's bit. One person changes one of them.
Draw        each bit is turned with probability p = 1/(1+e^ε), rounded up to a multiple of 2^−62. Released: the number
            of ones.
Accuracy    (c − np)/(1−2p) has no bias; its error is of the order √n/ε (Bernstein's bound), against 1/ε in the central
            model: the price of trusting nobody. No protocol has a smaller order (Beimel, Nissim, Omri 2008).
Cost        one bit of randomness for each person.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dpengine.accountant.loss import Loss, Pure
from dpengine.core.exact import ceiling
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.local.of_people import OfBits, check_people, sums_of_coins
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Released
from dpengine.mechanisms.trial import IN_A, WEST, Example, Trial
from dpengine.messages import say
from dpengine.noise import shuffle_model
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite
from dpengine.noise.row_noise import Swap
from dpengine.noise.tails import swap_reach


@dataclass(frozen=True, kw_only=True)
class LocalCount(OfBits):
    card: ClassVar[Card] = Card(
        key="local_count",
        asked_on=("ask",),
        behind="count",
        order=500,
        answer="count",
        states=(FEW,),
        trust="local",
        relations=("replace",),
        several=False,
        caveats=("honest",),
        own=(Parameter("where", "where", required=True),),
    )
    trial: ClassVar[Trial] = Trial(
        cases={"of some": {"where": IN_A}},
        example=Example({"where": WEST}),
        covered="test_counts_have_no_bias_and_ranges_that_hold",
    )

    def __post_init__(self) -> None:
        check_people(self)

    def sentence(self) -> str:
        return say("sentence.local_count", of_who=self.whom(of=True))

    @cached_property
    def row(self) -> Swap:
        return Swap(2, self.epsilon, Fraction(0))

    def loss(self) -> Loss:
        return Pure(self.epsilon)

    def reach(self) -> Fraction:
        return swap_reach(self.row.mixed, 2, self.facts.about, self.beta)

    def promise(self) -> Within:
        return Within(Fraction(ceiling(self.reach())), 1, self.beta, Fraction(0))

    def draw(self, value: int, coins: Coins) -> int:
        bits = shuffle_model.holders(value, self.facts.about)
        return shuffle_model.count_ones(coins.toggle(bits, self.row.chance))

    def law(self, value: int) -> Finite | None:
        """The sum of two independent binomials: one for people with bit 1, one for the others."""
        ones = sums_of_coins(value, self.row.truth)
        zeros = sums_of_coins(self.facts.about - value, self.row.chance)
        if ones is None or zeros is None:
            return None
        chances = [Decimal(0)] * (len(ones) + len(zeros) - 1)
        for a, p in enumerate(ones):
            for b, q in enumerate(zeros):
                chances[a + b] += p * q
        return Finite(dict(enumerate(chances)))

    def finish(self, raw: int) -> Released:
        value = (raw - self.facts.about * self.row.chance) / (1 - self.row.mixed)
        reach = self.reach()
        return Released(float(value), (float(value - reach), float(value + reach)))
