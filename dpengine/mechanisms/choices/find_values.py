"""Which values of a raw text column enough people hold, for an owner who does not know its list.

Guarantee   (ε, δ)-DP under both relations. What the data hold decides which values can appear: that is what δ pays for.
Theorem     stability-based histogram: Korolova, Kenthapadi, Mishra, Ntoulas 2009, Thm 1; Bun, Nissim, Stemmer 2016.
Statistic   rows per value that is present, capitals and outer spaces aside. A person holds at most m rows.
Draw        every present value's count + Z, Pr[Z=z] ∝ exp(−|z|/s); those of at least T are released, with their noisy
            count. s = m/ε under add/remove, 2m/ε under replace-one.

Proof       Let D′ be D with one person more, who has k_v rows of value v, Σk_v ≤ m. Call *new* the values only D′
            holds, and let η be the chance that D′ releases one of them. On the values both hold, noise of scale s makes
            the two laws differ by a factor of at most e^(m/s) = e^ε at each outcome. An outcome S of D′ either shows a
            new value, which has chance η, or lies among the common ones: P′(S) ≤ e^ε·P(S) + η. The other way, P(S) ≤
            e^(ε₀)·P′(S)/(1−η) with ε₀ ≤ ε, so P(S) − e^ε·P′(S) ≤ P(S)·(1 − e^(ε−ε₀)(1−η)) ≤ η. Hence (ε, η)-DP.
            η ≤ Σ Pr[Z ≥ T−k_v] over new values, and Pr[Z ≥ i] = r^i/(1+r) for i ≥ 0, r = e^(−1/s), is convex in k_v:
            for j new values the sum is largest with j−1 of them at 1 and one at m−j+1, where it is again convex in j.
            So
                η ≤ max(r^(T−m), m·r^(T−1)) / (1+r),
            and T is the least integer for which this is at most δ.
            Replace-one: one person's values go, another's come. The common part changes by at most 2m in L1, so s =
            2m/ε; with η₁ for the values that come and η₂ for those that go the two steps above give P′(S) − e^ε·P(S) ≤
            η₁ + η₂; so T is taken for δ/2.
            s and T are for the scale of the sampler, the least float at least m/ε. Keeping the largest MOST_FOUND and
            hiding long or unprintable values are post-processing, and a rule on a value by itself.
Accuracy    except with probability β every value is right within T + t′: a released count is within t, and a value that
            does not appear (counted as 0) is held by fewer than T + t′ rows. t bounds the noise of as many values as
            there are rows, except with 4β/5. At most n/T values are held by T rows or more, and only noise below −t′
            hides one of them: t′ is a one-sided bound for this many, except with β/5.
            Most of it is T, which δ decides: about s·ln(1/δ). Gaussian noise of the same price has a far lower T, since
            its tails are lighter; it has no finite ε. `find_declarations` draws it, for one column too.
Cost        one pass over one raw column; one draw for each present value.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from dpengine.accountant.loss import Approximate, Loss
from dpengine.core.amounts import read_delta
from dpengine.core.exact import ceiling, exp_decimal, ln_above, text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import FOUND
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins, laplace_scale
from dpengine.noise.tails import laplace_reach
from dpengine.statistics.raw_needs import Values

MOST_FOUND = 1_000
MISSING = Fraction(1, 5)  # of β, for values that are not found
_GUARD = 1 + Fraction(1, 10**20)  # far above the rounding of a few 28-digit operations

ValueCounts = tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class FindValues(Query[ValueCounts, ValueCounts]):
    card: ClassVar[Card] = Card(
        key="find_values",
        asked_on=("data",),
        order=210,
        version=1,
        answer="count",
        states=(FOUND,),
        caveats=("rare", "delta", "spelling"),
        parameters=(
            Parameter("column", "column.file", required=True),
            Parameter("delta", "delta", required=True),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    declares: ClassVar[str] = "list"
    gated: ClassVar[bool] = False
    of_people: ClassVar[bool] = False
    trial: ClassVar[Trial] = Trial(
        cases={"of a column": {"column": "raw text", "delta": "1e-6"}},
        example=Example({"column": "street", "delta": "0.01"}),
        broken_variants=("threshold",),
        covered="test_the_promise_holds_for_released_and_for_missing_values",
        data_support="tests/engine/mechanisms/test_find_values.py",
    )

    column: str
    delta: Fraction

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return {"column": facts.in_file(given["column"]), "delta": read_delta(given["delta"])}

    def own_json(self) -> JsonObject:
        return {"column": self.column, "delta": text_of(self.delta)}

    def valued(self) -> set[str]:
        """None: no declared bound is used."""
        return set()

    def sentence(self) -> str:
        return say("sentence.find_values_rows" if self.counts_rows else "sentence.find_values", column=self.column)

    def listed(self, value: JsonObject) -> list[str]:
        return sorted(value, key=lambda name: (-value[name], name))

    def need(self) -> Values:
        return Values(self.column)

    def measured(self, value: ValueCounts) -> tuple[int, ...]:
        """The counts of the values that occur; which ones occur is private."""
        return tuple(count for _, count in value)

    def sensitivity(self) -> Sensitivity:
        rows = self.facts.unit.at_most
        return Sensitivity("l1", 2 * rows if self.facts.relation == "replace" else rows)

    @property
    def scale(self) -> Fraction:
        return Fraction(laplace_scale(self.sensitivity().bound / self.epsilon))

    @property
    def threshold(self) -> int:
        """T: the least noisy count that is released."""
        sides = 2 if self.facts.relation == "replace" else 1
        return least_threshold(self.scale, self.facts.unit.at_most, self.delta / sides)

    def loss(self) -> Loss:
        return Approximate(self.epsilon, self.delta)

    @property
    def reach(self) -> int:
        """t: the noise of all values stays within it at once, even if every row held a different value."""
        return laplace_reach(self.scale, (1 - MISSING) * self.beta / self._most)

    @property
    def least_held(self) -> int:
        """T + t′: a value that this many rows hold is found."""
        many, one_sided = self._most // self.threshold + 1, 2
        hidden = laplace_reach(self.scale, min(one_sided * MISSING * self.beta / many, Fraction(1)))
        return self.threshold + min(hidden, self.reach)

    @property
    def _most(self) -> int:
        return self.facts.about * self.facts.unit.at_most

    def promise(self) -> Within:
        guess = self.facts.people is None
        alpha = Fraction(max(self.least_held, self.reach))
        return Within(alpha, self._most, self.beta, Fraction(0), nominal=guess)

    def off(self) -> Fraction:
        """The error of the figures shown; for a value that is not shown it may be larger."""
        return Fraction(self.reach)

    def unseen(self) -> Fraction | None:
        return self.promise().alpha

    @property
    def compared(self) -> bool:
        return True

    def state(self, value: Json, interval: Json) -> str:
        """Every value found is held by somebody."""
        return "" if value else FOUND

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 20)

    def draw(self, value: ValueCounts, coins: Coins) -> ValueCounts:
        noisy = coins.laplace([count for _, count in value], self.scale) if value else []
        least = self.threshold
        released = [(name, count) for (name, _), count in zip(value, noisy, strict=True) if count >= least]
        return tuple(sorted(released, key=lambda named: (-named[1], named[0]))[:MOST_FOUND])

    def law(self, value: ValueCounts) -> None:
        """Its support depends on the data; `tests/engine/mechanisms/test_find_values.py` computes it exactly and checks
        (ε, δ)."""
        return None

    def finish(self, raw: ValueCounts) -> Released:
        reach = self.reach
        return Released(dict(raw), {name: (count - reach, count + reach) for name, count in raw})


@lru_cache(maxsize=1024)
def least_threshold(scale: Fraction, rows: int, delta: Fraction) -> int:
    """The least T for which one person's new values appear with probability at most δ."""
    # r^(T−rows)/(1+r) ≤ worst ≤ rows·r^(T−rows): the answer lies between these two.
    low, high = rows, rows + ceiling(scale * ln_above(rows / delta)) + 1
    while low < high:
        middle = (low + high) // 2
        if Fraction(chance_of_new(scale, rows, middle)) * _GUARD <= delta:
            high = middle
        else:
            low = middle + 1
    return low


def chance_of_new(scale: Fraction, rows: int, threshold: int) -> Decimal:
    """The largest Σ Pr[Z ≥ T − k_v] over Σk_v ≤ rows, k_v ≥ 1."""
    together, apart = (exp_decimal(-(threshold - held) / scale) for held in (rows, 1))
    return max(together, rows * apart) / (1 + exp_decimal(-1 / scale))
