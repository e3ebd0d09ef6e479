"""Which of several conditions do the most people meet, or which of several columns has the highest average?

Guarantee   ε-DP, and with the usual draw ε-bounded range.
Theorem     exponential mechanism: McSherry and Talwar 2007, Thm 6; utility Thm 7; bounded range, and so ρ = ε²/8: Cesar
            and Rogers 2021. Or permute-and-flip: McKenna and Sheldon 2020, Thm 2; never farther from the best, but we
            claim no better Rényi loss than that of any ε-DP mechanism.
Statistic   T counts, one per condition, each changing by at most Δ = m. A person may meet any number of them.
            Of averages: of each number column the sum of its places above its lowest value, in units in which every
            range is L steps long (L the least common multiple of the numbers of steps), over people who have a value in
            all of them: the same people for every column, so the largest sum is the highest average. Each changes by at
            most Δ = L·m, and adding a row lowers none.
One way     under add/remove all scores move one way, so the factor 2 is saved: rate ε/Δ, else ε/(2Δ). Exponential: the
            weights change by factors between 1 and e^ε, and so does their sum. Permute-and-flip has the law of the
            largest of score + exponential noise of this rate (Ding et al. 2021). Given the others' noise, option i wins
            iff its own exceeds a threshold (best of the others − its score), which a neighbour moves by at most Δ, or
            by 2Δ where scores move both ways; and Pr[E > t + s] ≥ e^(−rate·s)·Pr[E > t].
Compared    averages as shares of their declared ranges: where ranges are the same, the averages themselves.
Draw        option i with probability ∝ exp(rate·score), exactly. Permute-and-flip: in a random order the first whose
            coin, with chance exp(−rate·(best − score)), comes up.
Accuracy    the chosen score is at most g = ⌈ln((T−1)(1−β)/β)/rate⌉ − 1 below the largest, with probability ≥ 1−β, and
            on the worst table no less; for permute-and-flip as exactly (noise/tails.py). Ten options, ε = 1, β = .05,
            replace-one: 10 and 8.
Cost        one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Loss
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Json, JsonObject
from dpengine.declared.conditions import Predicate, conditions, read_predicate
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import APART, LIKELY, state_of_first
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.noise import Choice, ExponentialChoice, PermuteAndFlip, chosen
from dpengine.mechanisms.promises import NearAverage, NearBest
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.trial import IN_A, NORTH, SOME, WEST, Example, Trial
from dpengine.messages import say
from dpengine.messages.language import stored
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite
from dpengine.noise.tails import least_choice_gap
from dpengine.statistics.counts import ConditionCounts, PlaceSums

MOST_OPTIONS = 50
MOST_UNITS = 2**24  # L; sums of 10^10 rows stay below 2^62


@dataclass(frozen=True, kw_only=True)
class NoisyArgmax(Query[tuple[int, ...], int]):
    card: ClassVar[Card] = Card(
        key="noisy_argmax",
        order=120,
        answer="label",
        states=(APART, LIKELY),
        caveats=("ties", "averages"),
        own=(Parameter("options", "options", required=True), WHERE),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two groups": {"options": [IN_A, [SOME]]},
            "of two averages": {"options": [{"mean": "x"}, {"mean": "z"}]},
            "of averages of some": {"options": [{"mean": "z"}, {"mean": "x"}], "where": IN_A},
            "of two groups, permute-and-flip": {"options": [IN_A, [SOME]], "noise": "permute_and_flip"},
            "of two averages, permute-and-flip": {
                "options": [{"mean": "x"}, {"mean": "z"}],
                "noise": "permute_and_flip",
            },
        },
        example=Example({"options": [WEST, NORTH]}, others="even"),
        broken_variants=("quarter",),
        covered="test_a_choice_keeps_its_promise",
    )

    accepts: ClassVar[tuple[type[Choice], ...]] = (ExponentialChoice, PermuteAndFlip)

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
        """The stored names of the options."""
        with stored():
            return self._conditions()

    def shown(self) -> dict[str, str]:
        return dict(zip(self.names(), self._conditions(), strict=True))

    def _conditions(self) -> list[str]:
        return list(self.averages) or [conditions(option) for option in self.options]

    @cached_property
    def steps(self) -> int:
        """L: the common number of steps of all columns' ranges; 1 for conditions, which a person meets or does not."""
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
            weights = (self.steps // (self.facts.schema.number(name).size - 1) for name in self.averages)
            return PlaceSums(self.averages, tuple(weights), self.where)
        return ConditionCounts(self.options, self.where)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return value

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("linf", self.facts.unit.at_most * self.steps)

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (self.facts.sides * self.sensitivity().bound)

    @property
    def choice(self) -> Choice:
        return chosen(self.accepts, self.noise)(self.rate)

    def loss(self) -> Loss:
        return self.choice.loss(self.epsilon)

    def gap(self, options: int) -> int:
        """Except with probability β, the chosen option is at most this far below the best of `options` options."""
        return self.choice.behind(options, self.beta)

    def promise(self) -> NearBest | NearAverage:
        options = len(self.options or self.averages)
        floor = least_choice_gap(self.epsilon, options, self.beta)
        gap = self.gap(options)
        if not self.averages:
            return NearBest(gap, self.beta, floor)
        known = self.facts.relation == "replace" and self.facts.unit.at_most == 1 and self.where.everyone
        whole = all(self.facts.schema.number(name).complete for name in self.averages)
        people = self.planned_size
        return NearAverage(Fraction(gap, self.steps * people), self.beta, floor / people, not (known and whole))

    def state(self, value: Json, interval: Json) -> str:
        behind = Fraction(self.gap(len(self.options or self.averages)), self.steps)
        return state_of_first(behind, self.facts.about, len(self.names()), self.where.everyone)

    def coarse(self) -> Fraction:
        return Fraction(1, 4) if self.averages else Fraction(self.planned_size, 4)

    def draw(self, value: tuple[int, ...], coins: Coins) -> int:
        scores = np.array(value, dtype=np.int64)
        gaps, people = scores.max() - scores, self.facts.people
        most = None if people is None else people * self.sensitivity().bound
        return self.choice.draw(gaps, np.ones_like(gaps), coins, most)[0]

    def law(self, value: tuple[int, ...]) -> Finite:
        return self.choice.law({place: max(value) - score for place, score in enumerate(value)})

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
