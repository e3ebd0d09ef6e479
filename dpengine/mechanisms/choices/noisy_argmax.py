"""Which of several conditions do the most people meet, or which of several columns has the highest average?

Guarantee   ε-DP.
Theorem     report noisy max: Dwork and Roth 2014, Claim 3.9. With discrete noise and a fixed
            order for ties the proof is the same: given the others' noise, condition i wins iff its own is at least
            some threshold, a neighbour moves that threshold by at most 2Δ (Δ where all counts move one way), and
            Pr[Z ≥ k+1] ≥ e^(−1/b)·Pr[Z ≥ k] for discrete Laplace noise of scale b.
Statistic   T counts, one per condition, each changing by at most m. A person may meet any number of them.
            Of averages: of each number column the sum of its places above its lowest value, in units in which every
            range is L steps long (L the least common multiple of the numbers of steps), over people who have a value in
            all of them: the same people for every column, so the largest sum is the highest average. Each changes by at
            most L·m, and adding a row lowers none.
Compared    averages as shares of their declared ranges: where ranges are the same, the averages themselves.
Draw        argmax of count + Laplace(b), b = 2m/ε under replace-one, m/ε under add/remove (all counts move one way);
            of averages L times that.
Accuracy    the chosen count is at most 2t below the largest, t what all T noises stay within with probability 1−β.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import ClassVar

from dpengine.accountant.loss import Loss, Pure
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.condition_words import conditions
from dpengine.declared.conditions import Predicate, read_predicate
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import NearAverage, NearBest
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.telling import APART, first_is_certain
from dpengine.mechanisms.trial import IN_A, NORTH, SOME, WEST, Example, Trial
from dpengine.messages import say
from dpengine.messages.language import stored
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Laplace, above
from dpengine.noise.tails import laplace_reach, least_choice_gap
from dpengine.statistics.counts import ConditionCounts, PlaceSums

MOST_OPTIONS = 50
MOST_UNITS = 2**24  # L; sums of 10^10 rows stay below 2^62


@dataclass(frozen=True, kw_only=True)
class NoisyArgmax(Query[tuple[int, ...], int]):
    card: ClassVar[Card] = Card(
        key="noisy_argmax",
        asked_on=("ask", "whatif"),
        order=120,
        version=1,
        answer="label",
        states=(APART,),
        caveats=("ties", "averages"),
        parameters=(
            Parameter("options", "options", required=True),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two groups": {"options": [IN_A, [SOME]]},
            "of two averages": {"options": [{"mean": "x"}, {"mean": "z"}]},
            "of averages of some": {"options": [{"mean": "z"}, {"mean": "x"}], "where": IN_A},
        },
        example=Example({"options": [WEST, NORTH]}, others="even"),
        twins=("quarter",),
        covered="test_a_choice_keeps_its_promise",
    )

    options: tuple[Predicate, ...]
    averages: tuple[str, ...] = ()  # number columns, in place of conditions

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        listed = given["options"]
        if not isinstance(listed, (list, tuple)) or not 2 <= len(listed) <= MOST_OPTIONS:
            raise AllowanceError("options.many", most=MOST_OPTIONS)
        if any(isinstance(option, dict) for option in listed):
            return {"options": (), "averages": _read_averages(listed, facts)}
        options = tuple(read_predicate(option, facts.schema) for option in listed)
        names = {conditions(option) for option in options}
        if any(option.everyone for option in options) or len(names) < len(options):
            raise AllowanceError("options.different")
        return {"options": options}

    def own_json(self) -> JsonObject:
        averages: list[Json] = [{"mean": name} for name in self.averages]
        return {"options": averages or [option.as_json() for option in self.options]}

    def valued(self) -> set[str]:
        return super().valued() | set(self.averages)

    def conditions(self) -> tuple[Predicate, ...]:
        return *super().conditions(), *self.options

    def names(self) -> list[str]:
        """The names of the options as they are stored."""
        with stored():
            return self._conditions()

    def shown(self) -> dict[str, str]:
        return dict(zip(self.names(), self._conditions(), strict=True))

    def _conditions(self) -> list[str]:
        return list(self.averages) or [conditions(option) for option in self.options]

    @cached_property
    def steps(self) -> int:
        """L: how long every range is; 1 for conditions, which a person meets or not."""
        return lcm(*(self.facts.schema.number(name).size - 1 for name in self.averages))

    def _ranges(self) -> list[str]:
        columns = [(name, self.facts.schema.number(name)) for name in self.averages]
        return [
            say("options.range", column=name, low=column.value(0), high=column.value(column.size - 1))
            for name, column in columns
        ]

    def sentence(self) -> str:
        if self.averages:
            code = "sentence.noisy_argmax.averages_rows" if self.counts_rows else "sentence.noisy_argmax.averages"
            return say(code, columns="; ".join(self._ranges()), who=self.whom())
        return say("sentence.noisy_argmax", options="; ".join(self._conditions()), who=self.whom())

    def need(self) -> ConditionCounts | PlaceSums:
        if self.averages:
            sizes = tuple(self.facts.schema.number(name).size for name in self.averages)
            weights = tuple(self.steps // (size - 1) for size in sizes)
            return PlaceSums(self.averages, weights, sizes, self.where)
        return ConditionCounts(self.options, self.where)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return value

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.facts.unit.at_most * self.steps)

    @property
    def scale(self) -> Fraction:
        moves = 2 if self.facts.relation == "replace" else 1
        return moves * self.sensitivity().bound / self.epsilon

    def loss(self) -> Loss:
        return Pure(self.epsilon)

    def promise(self) -> NearBest | NearAverage:
        options = len(self.options or self.averages)
        floor = least_choice_gap(self.epsilon, options, self.beta)
        gap = 2 * laplace_reach(self.scale, self.beta / options)
        if not self.averages:
            return NearBest(gap, self.beta, floor)
        known = self.facts.relation == "replace" and self.facts.unit.at_most == 1 and self.where.everyone
        whole = all(self.facts.schema.number(name).complete for name in self.averages)
        people = self.facts.about
        return NearAverage(Fraction(gap, self.steps * people), self.beta, floor / people, not (known and whole))

    def state(self, value: Json, interval: Json) -> str:
        promise = self.promise()
        behind = promise.gap if isinstance(promise, NearBest) else promise.of_people(self.facts.about)
        certain = first_is_certain(behind, self.facts.about, len(self.names()), self.where.everyone)
        return "" if certain else APART

    def coarse(self) -> Fraction:
        return Fraction(1, 4) if self.averages else Fraction(self.facts.about, 4)

    def draw(self, value: tuple[int, ...], coins: Coins) -> int:
        return coins.noisy_max(value, self.scale)

    def law(self, value: tuple[int, ...]) -> Finite:
        """Pr[i wins] = Σ_z Pr[c_i + Z = z]·Π_{j<i} Pr[c_j + Z < z]·Π_{j>i} Pr[c_j + Z ≤ z]; the rest is e^-70."""
        laws = [Laplace(count, self.scale) for count in value]
        reach = int(self.scale * 70) + 2
        chances: dict[int, Decimal] = {}
        for i, own in enumerate(laws):
            total = Decimal(0)
            for z in range(min(value) - reach, max(value) + reach + 1):
                part = above(own, z - 1) - above(own, z)
                for j, other in enumerate(laws):
                    if j != i:
                        part *= 1 - above(other, z if j > i else z - 1)
                total += part
            chances[i] = total
        return Finite(chances)

    def finish(self, raw: int) -> Released:
        return Released(self.names()[raw])


def _read_averages(listed: Sequence[Json], facts: Facts) -> tuple[str, ...]:
    """Options such as {"mean": "age"}: number columns, each once."""
    if not all(isinstance(option, dict) and set(option) == {"mean"} for option in listed):
        raise AllowanceError("options.mixed")
    names = tuple(str(option["mean"]) for option in listed)
    if len(set(names)) < len(names):
        raise AllowanceError("options.twice")
    if lcm(*(facts.schema.number(name).size - 1 for name in names)) > MOST_UNITS:
        raise AllowanceError("options.steps")
    return names
