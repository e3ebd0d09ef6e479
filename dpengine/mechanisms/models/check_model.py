"""How good a trained model is on this table: one question for models of a number (`CheckErrors`) and of yes and no
(`CheckChances`). Each class states its guarantee and proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import ClassVar, Self, cast

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, ln_above, read_number, text_of
from dpengine.core.printed import chance
from dpengine.core.types import Ends, Figure, Figures, Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category
from dpengine.mechanisms.cuts import Cut, cut
from dpengine.mechanisms.models.of_models import EXACT_DRAWS, OfModel, read_model
from dpengine.mechanisms.noise import Added, LaplaceNoise
from dpengine.mechanisms.noised import Noised, OfCounts
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Released, Sensitivity
from dpengine.mechanisms.quotients import ratio, ratio_range, share_and_range
from dpengine.mechanisms.trial import CLUB, HALF, WORLD, Example, Trial, model, shapes
from dpengine.messages import called, say
from dpengine.statistics.features import SHAPES
from dpengine.statistics.model_needs import ONE, ErrorSums, HitsByMargin

USUAL_STEPS = 256
MOST_STEPS = 1024
MOST_HALVED = 16  # the range may be halved this often for the bound
ALL = Fraction(100)
NAMED = 2  # values of a side that a sentence names
WIDE_SHARE = 40  # percentage points between the ends of a share: a wider one says too little
Estimate = tuple[float, tuple[float, float]]  # a figure and its range


@dataclass(frozen=True, kw_only=True)
class CheckErrors(OfModel, Noised[tuple[int, ...]]):
    """How far off a model of a number is: its typical error, its bias, and the bias in each part of the range.

    Guarantee   ε-DP under replace-one and under add/remove.
    Theorem     discrete Laplace mechanism on the vector of the sums below: Dwork et al. 2006, Prop. 1.
    Statistic   r is a row's error, actual less predicted, in steps of a public bound: the prediction is clamped to the
                declared range, r is rounded and cut at ±s. Q = Σr² over all rows; for each of k public bins of the
                prediction N = rows and R = Σr. Weighted as (Q, s·R, s²·N) one row adds at most s² to each: L1 change
                3s² under add/remove. One row for another, in another bin: r² − r′² + s(|r| + |r′|) + 2s², largest for
                |r| = s and |r′| = s/2, where it is 4s² + ⌊s/2⌋·⌈s/2⌉. At most m rows a person: m times.
    Draw        every sum + Laplace, each with its weight.
    Loss        add/remove: three parts of ε/3. Replace-one: ε.
    Answer      the root of Q/N in the target's unit, ΣR/N, and R/N of each bin; N of all bins if n is not public.
                Ranges are every ratio the noisy ranges allow, and half a step to each side for rounding (by Minkowski
                for the root). A sixth of β for each of Q, ΣR and ΣN, half for the curve.
    Accuracy    before the draw: of the typical error alone, for a table of the declared size with a typical error of a
                quarter of the bound.
    Cost        one scan.
    """

    accepts: ClassVar[tuple[type[Added], ...]] = (LaplaceNoise,)

    halved: int = 1  # the largest error that counts is the declared range, halved this often
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
        """The weights of Q, and of N and R in every bin, so that one row moves each by the same amount."""
        return 1, *(self.steps**2, self.steps) * self.parts

    def noised(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return value

    def sensitivity(self) -> Sensitivity:
        s = self.steps
        bound = 3 * s * s if self.facts.relation == "add_remove" else 4 * s * s + s // 2 * (s - s // 2)
        return Sensitivity("l1", bound * self.facts.unit.at_most)

    @property
    def loss_parts(self) -> int:
        return 3 if self.facts.relation == "add_remove" else 1

    def promise(self) -> Within:
        beta, (squares, counts) = self.beta / 6, self.added[:2]
        people = Fraction(self.facts.about)
        wide = 0 if self.known is not None else counts.sum_reach(self.parts, beta, 0)
        typical = self._typical(people * self.steps**2 / 16, squares.reach(beta), people, wide)
        alpha = Fraction(max(typical[1][1] - typical[0], typical[0] - typical[1][0])).limit_denominator(10**9)
        return Within(min(alpha, self.bound), 1, self.beta, Fraction(0), self.model.layout.target, nominal=True)

    def coarse(self) -> Fraction:
        return self.bound / 8

    def from_mean(self, raw: Figures, draws: int) -> Released:
        """Averages the sums of several draws and divides once; ratios are not averaged."""
        squares, counts, sums = self.added[:3]
        third, cell = self.beta / 6, self.beta / (4 * self.parts)
        bins, noises = list(zip(raw[1::2], raw[2::2], strict=True)), self.parts * draws
        people: Figure = self.known if self.known is not None else sum(n for n, _ in bins)
        wide = 0 if self.known is not None else Fraction(counts.sum_reach(noises, third, EXACT_DRAWS), draws)
        leaning = Fraction(sums.sum_reach(noises, third, EXACT_DRAWS), draws)
        reach_n, reach_r = (Fraction(scale.sum_reach(draws, cell, EXACT_DRAWS), draws) for scale in (counts, sums))
        return self.by_label(
            [
                self._typical(raw[0], Fraction(squares.sum_reach(draws, third, EXACT_DRAWS), draws), people, wide),
                self._mean(sum(r for _, r in bins), leaning, people, wide),
                *(self._mean(r, reach_r, n, reach_n) for n, r in bins),
            ]
        )

    def _typical(self, squares: Figure, reach: Figure, people: Figure, wide: Figure) -> Estimate:
        most, unit = Fraction(self.steps**2), float(self.bound) / self.steps
        low, high = ratio_range(squares, reach, people, wide, Fraction(0), most)
        middle = sqrt(ratio(squares, people, Fraction(0), most))
        ends = max(sqrt(low) - 0.5, 0.0), min(sqrt(high) + 0.5, float(self.steps))
        return unit * middle, (unit * ends[0], unit * ends[1])

    def _mean(self, errors: Figure, reach: Figure, people: Figure, wide: Figure) -> Estimate:
        most, unit = Fraction(self.steps), self.bound / self.steps
        low, high = ratio_range(errors, reach, people, wide, -most, most)
        ends = max(low - Fraction(1, 2), -most), min(high + Fraction(1, 2), most)
        return float(unit * ratio(errors, people, -most, most)), (float(unit * ends[0]), float(unit * ends[1]))


def _halved(given: Json, width: Fraction) -> int:
    """How often to halve the range for a bound that is at least the given one."""
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


@dataclass(frozen=True, kw_only=True)
class CheckChances(OfModel, OfCounts):
    """How good a model of yes and no is: how often it is right, and whether its predicted chances are calibrated.

    Guarantee   ε-DP under replace-one and under add/remove; ρ-zCDP with Gaussian noise.
    Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1; discrete Gaussian:
                Canonne, Kamath, Steinke 2020, Thm 14.
    Statistic   k public bins of the predicted chance, each a bin of the exact margin: chance ≥ i/k if the margin is at
                least ln(i/(k−i)), rounded up to the lattice; in a model read off a first look the margin is the chance.
                A model with a score and no chance (hinge loss) has k bins of the score, equal between −1 and 1; the
                first and the last reach beyond. In each bin we count the rows that are yes and those that are no. One
                row is in one cell: L1 change 1 under add/remove, 2 under replace-one; m times for at most m rows a
                person.
    Draw        every cell + noise: `noised`.
    Answer      *right*: rows on the side that the model predicts, yes in the upper half of the bins and no in the
                lower. With n public, (C + n − W)/2 for the right cells C and the wrong ones W, which halves the noise
                of all 2k cells. The curve: the share of yes in each bin. Every range is every ratio the noisy ranges
                allow, half of β for the first figure and half for all cells of the curve.
    Beside it   from the same noisy cells: how often always guessing the more frequent side is right, and whether the
                model is right more often than both constant guesses. Over always *no* it gains the rows that it rightly
                predicts as yes, less those that it wrongly does: k cells, the upper bins; over always *yes* those of
                the lower ones. A quarter of β for each gain, and half for the range of the baseline.
                Also its recall and its precision: shares of the noisy sums of yes above, of no above and of yes below,
                half of the k bins each, all within reach except with β/3 each.
    Accuracy    before the draw: of *right* alone, for a table of the declared size if n is not public.
    Cost        one scan.
    """

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        if any(given.get(name) not in (None, "") for name in ("most_error", "error_steps")):
            raise AllowanceError("check_model.linear_only")
        return super().read(facts, given)

    def limits(self, part: str = "") -> Ends | None:
        return Fraction(0), ALL

    def sure(self, part: str = "") -> Ends:
        return Fraction(0), ALL

    @property
    def said(self) -> Ends:
        return (Fraction(0), ALL) if self.calibrated else (Fraction(-1), Fraction(1))

    @property
    def calibrated(self) -> bool:
        return not self.model.layout.sharp

    def spans(self) -> list[str]:
        return [say("check_model.accuracy"), *(self._chances() if self.calibrated else self._scores())]

    def _scores(self) -> list[str]:
        """The names of the bins of the score; the first has no lower end and the last no upper one."""
        inner = [Fraction(2 * place - self.parts, self.parts) for place in range(1, self.parts)]
        between = [say("check_model.scores", low=a, high=b) for a, b in pairwise(inner)]
        return [say("check_model.score_below", high=inner[0]), *between, say("check_model.score_above", low=inner[-1])]

    def _chances(self) -> list[str]:
        ends = [Fraction(100 * place, self.parts) for place in range(self.parts + 1)]
        return [say("check_model.chances", low=a, high=b) for a, b in pairwise(ends)]

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The least margin of each bin but the first."""
        if not self.calibrated:
            return tuple((2 * place - self.parts) * ONE // self.parts for place in range(1, self.parts))
        if self.model.kind == SHAPES:
            return tuple(-(-place * ONE // self.parts) for place in range(1, self.parts))
        odds = [Fraction(place, self.parts - place) for place in range(1, self.parts)]
        return tuple(0 if odd == 1 else ceiling(ln_above(odd) * ONE) for odd in odds)

    def need(self) -> HitsByMargin:
        return HitsByMargin(self.model.layout, self.model.weights, self.edges, self.where)

    @property
    def moves(self) -> tuple[int, int]:
        return self.facts.sides, self.facts.unit.at_most

    @property
    def numbers(self) -> int:
        return 2 * self.parts

    def promise(self) -> Within:
        draws = 2 * self.parts if self.known is not None else self.parts
        reach = self._sum_reach(draws, self._shares[0], exact=False)
        people = Fraction(self.facts.about)
        if self.known is not None:
            alpha = 100 * Fraction(reach) / 2 / people
        else:
            alpha = 100 * Fraction(reach) / max(people - 2 * reach, Fraction(1))
        return Within(min(alpha, ALL), 1, self.beta, Fraction(0), "percent", nominal=self.known is None)

    def coarse(self) -> Fraction:
        return ALL / 8

    @property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """The shares of β: for each of the one or two sums of cells, and for one cell of the curve."""
        return self.beta / (2 if self.known is not None else 4), self.beta / (2 * self.numbers)

    def _sum_reach(self, draws: int, beta: Fraction, exact: bool = True) -> int | Fraction:
        return self.added[0].sum_reach(draws, beta, EXACT_DRAWS if exact else 0)

    def from_mean(self, raw: Figures, draws: int) -> Released:
        """Averages the cells of several draws and divides once; ratios are not averaged."""
        cells = list(zip(raw[0::2], raw[1::2], strict=True))
        reach = Fraction(self.added[0].sum_reach(draws, self._shares[1], EXACT_DRAWS), draws)
        return self.by_label([self._right(cells, draws), *(share_and_range(yes, no, reach) for yes, no in cells)])

    def _right(self, cells: list[Ends], draws: int) -> Estimate:
        half = self.parts // 2
        right = sum(no for _, no in cells[:half]) + sum(yes for yes, _ in cells[half:])
        wrong = sum(yes for yes, _ in cells[:half]) + sum(no for _, no in cells[half:])
        share, (low, high) = self._share_of_all(right, wrong, draws)
        return float(share), (float(low), float(high))

    def _share_of_all(self, hits: Figure, misses: Figure, draws: int = 1) -> tuple[float | Fraction, Ends]:
        """Hits as a share of all rows (`misses` are all other rows), with its range."""
        beta = self._shares[0]
        if self.known is None:
            return share_and_range(hits, misses, Fraction(self._sum_reach(self.parts * draws, beta)) / draws)
        reach = Fraction(self._sum_reach(self.numbers * draws, beta)) / (2 * draws)
        top = Fraction(hits + self.known - misses) / 2
        ends = ratio_range(100 * top, 100 * reach, self.known, 0, Fraction(0), ALL)
        return ratio(100 * top, self.known, Fraction(0), ALL), ends

    def beside(self, raw: Figures) -> str:
        cells, half = list(zip(raw[0::2], raw[1::2], strict=True)), self.parts // 2
        over_no = sum(yes - no for yes, no in cells[half:])
        over_yes = sum(no - yes for yes, no in cells[:half])
        gain, reach = min(over_no, over_yes), Fraction(self._sum_reach(self.parts, self.beta / 4))
        verdict = "beats" if gain > reach else "beaten" if gain < -reach else "unsure"
        baseline = say("check_model.baseline", chance=chance(self.beta), **self._always(raw))
        return f"{baseline} {say(f'check_model.{verdict}')}"

    def guessing(self, raw: Figures) -> str:
        return say("check_model.against", **self._always(raw))

    def _always(self, raw: Figures) -> dict[str, object]:
        """The more frequent side, and how often always guessing it is right."""
        yes, no = sum(raw[0::2]), sum(raw[1::2])
        _, (low, high) = self._share_of_all(max(yes, no), min(yes, no))
        guess = self._called(self.model.layout.yes if yes > no else self.model.layout.no)
        if yes <= no and len(guess) > NAMED:
            guess = [say("check_model.not", yes=self._called(self.model.layout.yes))]
        return {"guess": guess, "low": math.floor(low), "high": math.ceil(high)}

    def finds(self, raw: Figures) -> str:
        cells, half = list(zip(raw[0::2], raw[1::2], strict=True)), self.parts // 2
        named, wrong = (sum(cell[side] for cell in cells[half:]) for side in (0, 1))
        missed = sum(yes for yes, _ in cells[:half])
        reach = Fraction(self._sum_reach(half, self.beta / 3))
        (recall, ends), (right, both) = share_and_range(named, missed, reach), share_and_range(named, wrong, reach)
        if ends[1] - ends[0] > WIDE_SHARE or both[1] - both[0] > WIDE_SHARE:
            return ""
        facts: dict[str, object] = {"found": round(recall), "right": round(right), "chance": chance(self.beta)}
        facts |= {"low": math.floor(ends[0]), "high": math.ceil(ends[1])}
        facts |= {"least": math.floor(both[0]), "most": math.ceil(both[1])}
        return say("check_model.finds", yes=self._called(self.model.layout.yes), **facts)

    def _called(self, codes: tuple[int, ...]) -> list[str]:
        goal = self.model.layout.goal
        return [called(goal.labels[code]) for code in codes] if isinstance(goal, Category) else []


class CheckModel(OfModel):
    """The entry in the catalogue; `build` returns one of the two kinds."""

    trial: ClassVar[Trial] = Trial(
        cases={
            "of yes and no": {"parts": 2, "model": model(WORLD, "c", "x", (0,), (1,), 0, HALF)},
            "of yes and no, by a score": {
                "parts": 2,
                "model": model(WORLD, "c", "z", (0,), (1,), 0, -HALF) | {"kind": "hinge"},
            },
            "of yes and no, Gaussian": {
                "parts": 2,
                "model": model(WORLD, "d", "z", (0,), (1,), 0, HALF),
                "noise": "gaussian",
            },
            "of yes and no, by cells": {"parts": 2, "model": shapes(WORLD, "c", "d", (0,), (1,), 0, 2**24, 2**22)},
            "of yes and no, by groups": {
                "parts": 2,
                "model": shapes(WORLD, "c", {"column": "x", "step": 2}, (0,), (1,), 2**22, 2**23, 0, -(2**22), 2**23),
            },
            "of a number, by cells": {
                "parts": 2,
                "error_steps": 2,
                "model": shapes(WORLD, "z", "d", (), (), 0, -(2**23), 2**23),
            },
            "of a number": {"parts": 2, "error_steps": 2, "model": model(WORLD, "z", "c", (), (), 0, -HALF, HALF)},
        },
        example=Example({"parts": 2, "model": model(CLUB, "member", "visits", (0,), (1,), 0, 2**24)}),
        broken_variants=("half", "small"),
        covered="test_a_first_figure_keeps_its_promise",
    )
    accepts = CheckChances.accepts

    @classmethod
    def build(cls, facts: Facts, parameters: JsonObject) -> Self:
        kind = CheckChances if read_model(parameters.get("model"), facts).layout.listed else CheckErrors
        return cast(Self, kind.build(facts, parameters))
