"""How far off a model of a number is: its typical error, its bias, and the bias in each part of the range.

Guarantee   ε-DP under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on the vector of the sums below: Dwork et al. 2006, Prop. 1.
Statistic   r is a row's error, actual less predicted, in steps of a public bound: the prediction is kept within the
            declared range, r is rounded and cut at ±s. Q = Σr² over all rows; for each of k public bins of the
            prediction N = rows and R = Σr. Weighted as (Q, s·R, s²·N) one row adds at most s² to each: L1 change 3s²
            under add/remove. One row for another, in another bin: r² − r′² + s(|r| + |r′|) + 2s², largest for |r| = s
            and |r′| = s/2, where it is 4s² + ⌊s/2⌋·⌈s/2⌉. At most m rows a person: m times.
Draw        every sum + Laplace, each with its weight.
Loss        add/remove: three parts of ε/3. Replace-one: ε.
Answer      the root of Q/N in the target's unit, ΣR/N, and R/N of each bin; N of all bins where n is not public. Ranges
            are every ratio the noisy ranges allow, and half a step to each side for rounding (by Minkowski for the
            root). A sixth of β for each of Q, ΣR and ΣN, half for the curve.
Accuracy    before the draw: of the typical error alone, for a table of the declared size whose typical error is a
            quarter of the bound.
Cost        one scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import sqrt

from dpengine.accountant.loss import Loss, Pure, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number, text_of
from dpengine.core.json_types import Ends, Figure, Figures, Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.cuts import Cut, cut
from dpengine.mechanisms.models.of_models import OfModel, of_sums
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Released, Sensitivity
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Laplace
from dpengine.noise.ratio_intervals import ratio, ratio_range
from dpengine.noise.tails import mean_reach, total_reach
from dpengine.statistics.model_checks import ONE, ErrorSums

USUAL_STEPS = 256
MOST_STEPS = 1024
MOST_HALVED = 16  # how often the range may be halved for the bound
Told = tuple[float, tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class CheckErrors(OfModel):
    halved: int = 1  # the largest error that counts is the declared range, halved so often
    steps: int = USUAL_STEPS

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        fields = super().read(facts, given)
        width = facts.schema.number(fields["model"].layout.target).diameter
        own = {"halved": _halved(given.get("most_error"), width), "steps": _steps(given.get("error_steps"))}
        return fields | own

    def own_json(self) -> JsonObject:
        return super().own_json() | {"most_error": text_of(self.bound), "error_steps": self.steps}

    @property
    def bound(self) -> Fraction:
        """The largest error that counts, in the target's unit."""
        return self.facts.schema.number(self.model.layout.target).diameter / (1 << self.halved)

    def cuts(self) -> tuple[Cut, ...]:
        return *super().cuts(), cut("errors", column=self.model.layout.target, value=text_of(self.bound))

    def limits(self, part: str = "") -> Ends | None:
        """The first figure, the typical error, is never negative."""
        return (Fraction(0) if part == self.labels()[0] else -self.bound), self.bound

    @property
    def said(self) -> Ends:
        column = self.facts.schema.number(self.model.layout.target)
        return column.lower, column.upper

    def spans(self) -> list[str]:
        column = self.facts.schema.number(self.model.layout.target)
        ends = [column.lower + column.diameter * place / self.parts for place in range(self.parts + 1)]
        bins = [say("check_model.values", low=a, high=b) for a, b in pairwise(ends)]
        return [say("check_model.typical"), say("check_model.mean"), *bins]

    def need(self) -> ErrorSums:
        edges = tuple(2 * ONE * place // self.parts - ONE for place in range(1, self.parts))
        shift = (2 * ONE // 2**self.halved // self.steps).bit_length() - 1  # all are powers of two
        layout, weights = self.model.layout, self.model.weights
        return ErrorSums(layout, weights, edges, shift, self.steps, self.where)

    @property
    def weights(self) -> tuple[int, ...]:
        """The weights of Q, and of N and R in every bin; with them one row moves each by the same amount."""
        return 1, *(self.steps**2, self.steps) * self.parts

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(weight * part for weight, part in zip(self.weights, value, strict=True))

    def sensitivity(self) -> Sensitivity:
        s = self.steps
        bound = 3 * s * s if self.facts.relation == "add_remove" else 4 * s * s + s // 2 * (s - s // 2)
        return Sensitivity("l1", bound * self.facts.unit.at_most)

    @property
    def scales(self) -> tuple[Fraction, ...]:
        scale = self.sensitivity().bound / self.epsilon
        return tuple(scale / weight for weight in self.weights)

    def loss(self) -> Loss:
        if self.facts.relation == "replace":
            return Pure(self.epsilon)
        return Together((Pure(self.epsilon / 3),) * 3)

    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        squares, counts, sums = self.scales[:3]
        drawn = coins.laplace([value[0]], squares)
        for n, r in zip(coins.laplace(list(value[1::2]), counts), coins.laplace(list(value[2::2]), sums), strict=True):
            drawn += [n, r]
        return tuple(drawn)

    def law(self, value: tuple[int, ...]) -> Independent:
        return Independent(tuple(Laplace(part, scale) for part, scale in zip(value, self.scales, strict=True)))

    def promise(self) -> Within:
        beta, (squares, counts) = self.beta / 6, self.scales[:2]
        people = Fraction(self.facts.about)
        wide = 0 if self.known is not None else total_reach(counts, self.parts, beta)
        typical = self._typical(people * self.steps**2 / 16, mean_reach(squares, 1, beta), people, wide)
        alpha = Fraction(max(typical[1][1] - typical[0], typical[0] - typical[1][0])).limit_denominator(10**9)
        return Within(min(alpha, self.bound), 1, self.beta, Fraction(0), self.model.layout.target, nominal=True)

    def coarse(self) -> Fraction:
        return self.bound / 8

    def around(self, raw: Figures, looks: int) -> Released:
        """For several draws, the sums are averaged, not their ratios."""
        squares, counts, sums = self.scales[:3]
        third, cell = self.beta / 6, self.beta / (4 * self.parts)
        bins, draws = list(zip(raw[1::2], raw[2::2], strict=True)), self.parts * looks
        people: Figure = self.known if self.known is not None else sum(n for n, _ in bins)
        wide = 0 if self.known is not None else Fraction(of_sums(counts, draws, third), looks)
        leaning = Fraction(of_sums(sums, draws, third), looks)
        reach_n, reach_r = (Fraction(of_sums(scale, looks, cell), looks) for scale in (counts, sums))
        return self.by_label(
            [
                self._typical(raw[0], Fraction(of_sums(squares, looks, third), looks), people, wide),
                self._mean(sum(r for _, r in bins), leaning, people, wide),
                *(self._mean(r, reach_r, n, reach_n) for n, r in bins),
            ]
        )

    def _typical(self, squares: Figure, reach: Figure, people: Figure, wide: Figure) -> Told:
        most, unit = Fraction(self.steps**2), float(self.bound) / self.steps
        low, high = ratio_range(squares, reach, people, wide, Fraction(0), most)
        middle = sqrt(ratio(squares, people, Fraction(0), most))
        ends = max(sqrt(low) - 0.5, 0.0), min(sqrt(high) + 0.5, float(self.steps))
        return unit * middle, (unit * ends[0], unit * ends[1])

    def _mean(self, errors: Figure, reach: Figure, people: Figure, wide: Figure) -> Told:
        most, unit = Fraction(self.steps), self.bound / self.steps
        low, high = ratio_range(errors, reach, people, wide, -most, most)
        ends = max(low - Fraction(1, 2), -most), min(high + Fraction(1, 2), most)
        return float(unit * ratio(errors, people, -most, most)), (float(unit * ends[0]), float(unit * ends[1]))


def _halved(given: Json, width: Fraction) -> int:
    """How often the range is halved for a bound that is at least as large as the one given."""
    if given in (None, ""):
        return 1
    wanted = read_number(given, say("param.most_error.label"))
    if not 0 < wanted <= width:
        raise AllowanceError("check_model.most_error", most=width)
    return next(times for times in range(MOST_HALVED, -1, -1) if width / 2**times >= wanted)


def _steps(given: Json) -> int:
    wanted = read_number(USUAL_STEPS if given in (None, "") else given, say("param.error_steps.label"))
    if wanted not in [2**power for power in range(1, MOST_STEPS.bit_length())]:
        raise AllowanceError("check_model.error_steps", most=MOST_STEPS)
    return int(wanted)
