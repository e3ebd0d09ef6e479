"""How many people fall into each declared bin.

Guarantee   ε-DP, or ρ-zCDP with Gaussian noise. Every declared bin is in the answer, on every table.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1; discrete Gaussian: Canonne,
            Kamath, Steinke 2020, Thm 14.
Statistic   one count per bin. A person holds at most m rows: L1 change m under add/remove, 2m under replace-one.
Draw        every count + Z, Pr[Z=z] ∝ exp(−ε|z|/Δ), independent. Under replace-one with one row per person exactly
            two bins change, by one each, so the loss is two independent parts of ε/2 (cheaper than one of ε).
Sets        of a person's set at most k items count, chosen by `itemsets` from the set alone: one bar per item; at most
            Δ = min(k, items) bars change under add/remove and min(2k, items) under replace-one (those in one set and
            not in the other), by one each whatever the number of rows: Δ independent parts of ε/Δ.
Gaussian    every count + Z, Pr[Z=z] ∝ exp(−z²/(2σ²)), σ² = Δ₂²/(2ρ). Δ₂² is m² under add/remove (all rows in one bin),
            2m² under replace-one, and Δ for sets. ρ = ε²/2 over the parts above: about the Rényi price that Laplace
            noise has at ε, for lighter tails; but no finite ε, so it closes the pure clause of a budget.
Accuracy    all k bars at once within t, by a union bound: each except with probability β/k.
Cost        one scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from dpengine import needs
from dpengine.bounds import gaussian_mean_reach, gaussian_reach, laplace_reach, least_count_error, mean_reach
from dpengine.coins import Coins
from dpengine.contract import Card, Facts, Parameter, Query, Released, Sensitivity, Within
from dpengine.errors import AllowanceError
from dpengine.exact import floor, read_number
from dpengine.laws import Independent, Laplace, Normal
from dpengine.loss import Gaussian, Loss, Pure, Together
from dpengine.messages import plain, say
from dpengine.schema import Category, ItemSet, Ordered
from dpengine.wording import who

USUAL_BINS = 10
MOST_BINS = 1_000
MOST_PARTS = 100  # of one loss in the ledger; beyond it, one part of ε, which is dearer and as true


@dataclass(frozen=True, kw_only=True)
class Histogram(Query):
    card: ClassVar[Card] = Card(
        key="histogram",
        version=1,
        picture="bars",
        caveats=("bins",),
        parameters=(
            Parameter("column", "column.any", required=True),
            Parameter("bins", "bins", default=USUAL_BINS),
            Parameter("where", "where"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )

    noises: ClassVar[tuple[str, ...]] = ("gaussian",)

    column: str
    starts: tuple[int, ...]

    @classmethod
    def read(cls, facts: Facts, given: dict[str, Any]) -> dict[str, Any]:
        name = str(given["column"])
        column = facts.schema[name]
        bins = given.get("bins")
        if isinstance(column, ItemSet) and column.at_most is None:
            raise AllowanceError("items.size_needed", column=name)
        if isinstance(column, Category | ItemSet):
            if bins not in (None, USUAL_BINS):
                raise AllowanceError("bins.category", column=name)
            return {"column": name, "starts": tuple(range(column.size))}
        return {"column": name, "starts": read_bins(column, USUAL_BINS if bins in (None, "") else bins)}

    def own_json(self) -> dict[str, Any]:
        column = self.facts.schema[self.column]
        if isinstance(column, Category | ItemSet):
            return {"column": self.column}
        return {"column": self.column, "bins": [column.value(start) for start in self.starts]}

    def sentence(self) -> str:
        return say("sentence.histogram", column=self.column, who=who(self.where))

    def labels(self) -> list[str]:
        """The public names of the bars."""
        column = self.facts.schema[self.column]
        if isinstance(column, Category | ItemSet):
            return list(column.labels)
        ends = [*self.starts[1:], column.size]
        pairs = list(zip(self.starts, ends, strict=True))
        rounded = [_span(plain(column.value(a)), plain(column.value(b - 1))) for a, b in pairs]
        if len(set(rounded)) == len(rounded):
            return rounded
        values = [[column.text(code) for code in (a, b - 1)] for a, b in pairs]
        return [_span(low, high) for low, high in values]

    @property
    def set_size(self) -> int | None:
        """How many items of one person count; None where a row holds one value."""
        column = self.facts.schema[self.column]
        return column.at_most if isinstance(column, ItemSet) else None

    def need(self) -> needs.Histogram | needs.ItemCounts:
        if self.set_size is not None:
            several = self.facts.unit.id_column is not None
            return needs.ItemCounts(self.column, len(self.starts), self.where, several, cut=True)
        return needs.Histogram(self.column, self.starts, self.facts.schema[self.column].size, self.where)

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return value

    def sensitivity(self) -> Sensitivity:
        moves = 2 if self.facts.relation == "replace" else 1
        if self.set_size is not None:
            return Sensitivity("l1", min(moves * self.set_size, len(self.starts)))
        return Sensitivity("l1", moves * self.facts.unit.at_most)

    @property
    def scale(self) -> Fraction:
        return self.sensitivity().bound / self.epsilon

    @property
    def parts(self) -> int:
        """How many bars one person can change, each by one; 1 where a bar can change by more."""
        if self.set_size is not None:
            return self.sensitivity().bound
        return 2 if self.facts.relation == "replace" and self.facts.unit.at_most == 1 else 1

    @property
    def rho(self) -> Fraction:
        return self.epsilon**2 / (2 * self.parts)

    @property
    def variance(self) -> Fraction:
        """σ² of Gaussian noise."""
        moves = 2 if self.facts.relation == "replace" else 1
        squared = self.parts if self.set_size is not None else moves * self.facts.unit.at_most**2
        return squared / (2 * self.rho)

    def loss(self) -> Loss:
        if self.noise:
            return Gaussian(self.rho)
        each = Pure(self.epsilon / self.parts)
        return Together((each,) * self.parts) if 1 < self.parts <= MOST_PARTS else Pure(self.epsilon)

    def promise(self) -> Within:
        bars = len(self.starts)
        each = self.beta / bars
        if self.noise:  # no ε, so no bound from below is known
            return Within(Fraction(gaussian_reach(self.variance, each)), bars, self.beta, Fraction(0))
        least = least_count_error(self.epsilon, self.beta)
        return Within(Fraction(laplace_reach(self.scale, each)), bars, self.beta, least)

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, len(self.starts)) / 4

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        if self.noise:
            return tuple(coins.gaussian(list(value), self.variance))
        return tuple(coins.laplace(list(value), self.scale))

    def law(self, value: tuple[int, ...]) -> Independent:
        if self.noise:
            return Independent(tuple(Normal(count, self.variance) for count in value))
        return Independent(tuple(Laplace(count, self.scale) for count in value))

    averages = True

    def finish(self, raw: tuple[int, ...]) -> Released:
        return self.around(raw, 1)

    def around(self, raw: tuple[Any, ...], looks: int) -> Released:
        each = self.beta / len(self.starts)
        usual = not self.noise
        reach = mean_reach(self.scale, looks, each) if usual else gaussian_mean_reach(self.variance, looks, each)
        bars = dict(zip(self.labels(), raw, strict=True))
        return Released(bars, {label: (count - reach, count + reach) for label, count in bars.items()})


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"


def read_bins(column: Ordered, bins: Any) -> tuple[int, ...]:
    """Where each bin starts on the grid: from a number of equal bins or a list of rising edges."""
    if isinstance(bins, (list, tuple)):
        codes = [column.place(edge, "bins") for edge in bins]
        if not codes or any(b <= a for a, b in pairwise(codes)):
            raise AllowanceError("bins.rising")
        if codes[0] < 0 or codes[-1] >= column.size:
            raise AllowanceError("bins.outside", lower=column.value(0), upper=column.value(column.size - 1))
        starts = sorted({0} | {-floor(-code) for code in codes})
    else:
        wanted = read_number(bins, "bins")
        if wanted.denominator != 1 or not 1 <= wanted <= MOST_BINS:
            raise AllowanceError("bins.many", most=MOST_BINS)
        count = min(int(wanted), column.size)
        starts = sorted({column.size * place // count for place in range(count)})
    if len(starts) > MOST_BINS:
        raise AllowanceError("bins.many", most=MOST_BINS)
    return tuple(starts)
