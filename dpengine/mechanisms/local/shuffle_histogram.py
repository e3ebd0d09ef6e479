"""How many people hold each listed value, if people trust only a shuffler: one bit sum for each value.

Guarantee   (ε, δ)-DP under replace-one for all permuted messages, if everybody is honest (`shuffle_model`).
Theorem     lecture 8, first and second solution. A person leaves one value and enters another: two sums change.
            *joint*: p is the least that keeps (ε, δ) for both changes together, exactly (`binomial.excess_of_two`).
            *halved*: each sum by itself at (ε/2, δ/2), as in the lecture. *lecture*: halved, and with the lecture's p.
Statistic   the number of people with each value.
Draw        for each value: everybody's messages, shuffled, and the number of ones among them.
            first   the bit and a coin: true number + Bin(n, p); reported minus np, without bias.
            second  the opposite bit and a coin. A sum of n or more is reported as 0: a value that nobody holds is
                    reported 0 with certainty. That biases rare values; a reported 0 comes with [0, u]. Otherwise
                    n + np − sum is reported. (The source has the sign reversed.) The messages of both solutions are the
                    same up to reflection, so one proof covers both.
Accuracy    exact binomial tails, all values at once by a union bound over the values that can err, m of them.
            first   m = |D|.
            second  m = min(|D|, n), so the promise does not grow with |D| beyond n. Let Z ~ Bin(n, p) be the noise of a
                    value that f people hold, Pr[Z < low] ≤ β/(2m) and Pr[Z > u] ≤ β/(2m). It is reported as 0 exactly
                    where Z ≥ f, with range [0, u], and else with range [f − Z + low, f − Z + u].
                    f = 0: Z ≥ f always, and 0 lies in [0, u]: such a value never errs.
                    0 < f ≤ u: a 0 is right, and else Z < f ≤ u, so only Z < low errs.
                    f > u: only Z < low and Z > u err, whether 0 is reported (Z ≥ f > u) or not.
                    So a value that somebody holds errs with chance at most β/m, and at most min(|D|, n) values are
                    held: n people hold one each at most. The same cases bound the error itself by max(u, np − low).
Cost        2n messages for each value, value by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from dpengine.accountant.loss import Approximate, Loss
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling
from dpengine.core.types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref
from dpengine.declared.read_group import read_ref
from dpengine.mechanisms.answer_state import APART, FEW
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.local.of_people import check_people, least_coin, lecture_coin, read_calibration, sums_of_coins
from dpengine.mechanisms.local.shuffle_count import read_shuffle_delta
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise import binomial, shuffle_model
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Independent
from dpengine.statistics.counts import BinCounts, CellCounts

CALIBRATIONS = ("joint", "halved", "lecture")
SOLUTIONS = ("first", "second")
MOST_MESSAGES = 400_000_000


@dataclass(frozen=True, kw_only=True)
class ShuffleHistogram(Query[tuple[int, ...], tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="shuffle_histogram",
        asked_on=("ask",),
        behind="histogram",
        order=520,
        answer="count",
        states=(FEW, APART),
        trust="shuffle",
        relations=("replace",),
        several=False,
        caveats=("honest", "shuffler", "zero"),
        own=(
            Parameter("column", "column.category", required=True),
            Parameter("solution", "solution", default="first"),
            Parameter("calibration", "calibration", default="joint"),
            WHERE,
            Parameter("delta", "delta", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of a list": {"column": "t", "delta": "0.7"},
            "the second solution": {"column": "t", "delta": "0.7", "solution": "second"},
            "of numbers in steps": {"column": {"column": "x", "step": 2}, "delta": "0.7"},
            "halved": {"column": "c", "delta": "0.8", "calibration": "halved"},
        },
        example=Example({"column": "town", "delta": "0.5"}),
        broken_variants=("shared",),
        covered="test_bars_and_what_a_zero_may_hide",
    )

    column: Ref
    delta: Fraction
    solution: str = "first"
    calibration: str = "joint"
    compared = True

    def __post_init__(self) -> None:
        check_people(self)
        if 2 * self.facts.about * self.size > MOST_MESSAGES:
            raise AllowanceError("shuffle.messages", values=self.size, most=MOST_MESSAGES)
        self.chance  # noqa: B018 - refuses if no p will do

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        name = read_ref(given["column"], facts.schema)
        facts.schema.category(name)
        solution = str(given.get("solution") or "first")
        if solution not in SOLUTIONS:
            raise AllowanceError("shuffle.solution", solutions=list(SOLUTIONS))
        delta, calibration = read_shuffle_delta(given.get("delta")), read_calibration(given, CALIBRATIONS)
        return {"column": name, "delta": delta, "solution": solution, "calibration": calibration}

    def sentence(self) -> str:
        return say("sentence.shuffle_histogram", column=self.column, who=self.whom())

    @property
    def size(self) -> int:
        return self.facts.schema.category(self.column).size

    @cached_property
    def chance(self) -> Fraction:
        n, half, part = self.facts.about, self.epsilon / 2, self.delta / 2
        if self.calibration == "lecture":
            return lecture_coin(n, half, part)
        return least_coin(n, half, part) if self.calibration == "halved" else least_coin(n, self.epsilon, self.delta, 2)

    @property
    def theorem(self) -> str:
        return say("shuffle.theorem.lecture") if self.calibration == "lecture" else super().theorem

    def need(self) -> BinCounts | CellCounts:
        if isinstance(self.column, Grouped):
            return CellCounts((self.column,), (self.size,), self.where)
        return BinCounts(self.column, tuple(range(self.size)), self.size, self.where)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return value

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("l1", 2)

    def loss(self) -> Loss:
        return Approximate(self.epsilon, self.delta)

    def reach(self) -> tuple[int, int]:
        return binomial.reach(self.facts.about, self.chance, self.beta / self.erring)

    @property
    def erring(self) -> int:
        """m: the number of values that can err. In the second solution a value that nobody holds cannot."""
        return min(self.size, self.facts.about) if self.solution == "second" else self.size

    @property
    def rare(self) -> int:
        """u: a value held by more people is reported as 0 with chance at most β/(2m)."""
        return binomial.rare(self.facts.about, self.chance, self.beta / (2 * self.erring)) - 1

    def promise(self) -> Within:
        low, high = self.reach()
        middle = self.facts.about * self.chance
        off = Fraction(ceiling(max(middle - low, high - middle)))
        off = max(off, Fraction(self.rare)) if self.solution == "second" else off
        return Within(off, self.size, self.beta, Fraction(0))

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 4 * self.size)

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        people, turned = self.facts.about, self.solution == "second"
        sums = []
        for count in value:
            sent = shuffle_model.randomise(shuffle_model.holders(count, people), self.chance, coins, inverted=turned)
            sums.append(shuffle_model.count_ones(shuffle_model.shuffled(sent, coins)))
        return tuple(sums)

    def law(self, value: tuple[int, ...]) -> Independent | None:
        noise = sums_of_coins(self.facts.about, self.chance)
        if noise is None:
            return None
        centres = [self.facts.about - count if self.solution == "second" else count for count in value]
        return Independent(
            tuple(Finite({centre + ones: chance for ones, chance in enumerate(noise)}) for centre in centres)
        )

    def labels(self) -> list[str]:
        return list(self.facts.schema.category(self.column).labels)

    def shown(self) -> dict[str, str]:
        return self.named(self.column)

    def finish(self, raw: tuple[int, ...]) -> Released:
        return self.by_label(self._bar(ones) for ones in raw)

    def _bar(self, ones: int) -> tuple[float, tuple[int, int]]:
        n, (low, high) = self.facts.about, self.reach()
        if self.solution == "first":
            return float(ones - n * self.chance), (ones - high, ones - low)
        if ones >= n:
            return 0.0, (0, self.rare)
        return float(n + n * self.chance - ones), (n - ones + low, n - ones + high)
