"""How good a model of yes and no is: how often it is right, and whether its predicted chances are calibrated.

Guarantee   ε-DP under replace-one and under add/remove; ρ-zCDP with Gaussian noise.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1; discrete Gaussian: Canonne,
            Kamath, Steinke 2020, Thm 14.
Statistic   k public bins of the predicted chance, each a bin of the exact margin: chance ≥ i/k where the margin is at
            least ln(i/(k−i)), rounded up to the lattice; of a model read off a first look the margin is the chance. A
            model that gives a score and no chance (hinge loss) has k bins of the score, equal between −1 and 1, and the
            first and the last reach beyond. Of each bin, how many rows are yes and how many are no. One row is in one
            cell: L1 change 1 under add/remove, 2 under replace-one; m times for at most m rows a person.
Draw        every cell + noise: `of_counts`.
Answer      *right*: rows on the side the model finds likelier, yes in the upper half of the bins and no in the lower.
            With n public, (C + n − W)/2 for the right cells C and the wrong ones W, in which the noise of all 2k cells
            is halved. The curve: of each bin, the share that is yes. Every range is every ratio the noisy ranges allow,
            half of β for the first and half for all cells of the curve.
Beside it   from the same noisy cells: how often always guessing the more frequent side is right, and whether the model
            is right more often than both ways of always guessing the same. Over always *no* it gains the rows that it
            finds yes and that are, less those that are not: k cells, the upper bins; over always *yes* those of the
            lower ones. A quarter of β for each gain, and half for the range of the baseline.
            Also how many of those that are yes it finds, and how many of those that it names are: shares of the noisy
            sums of yes above, of no above and of yes below, half of the k bins each, all within reach but for β/3 each.
Accuracy    before the draw: of *right* alone, for a table of the declared size where n is not public.
Cost        one scan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, ln_above
from dpengine.core.json_types import Ends, Figures, JsonObject
from dpengine.core.printed import chance
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category
from dpengine.mechanisms.counts.of_counts import OfCounts
from dpengine.mechanisms.models.of_models import OfModel, of_sums
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Released
from dpengine.messages import called, say
from dpengine.noise.ratio_intervals import ratio, ratio_range, share_told
from dpengine.noise.tails import gaussian_mean_reach, total_reach
from dpengine.statistics.features import SHAPES
from dpengine.statistics.model_checks import ONE, HitsByMargin

ALL = Fraction(100)
NAMED = 2  # values of a side that are told by name
WIDE_SHARE = 40  # points between the ends of a share: wider ones say too little to be told


@dataclass(frozen=True, kw_only=True)
class CheckChances(OfModel, OfCounts):
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
        """The first has no lower end and the last no upper one."""
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
        return (2 if self.facts.relation == "replace" else 1), self.facts.unit.at_most

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
        """The shares of β: for each sum of cells, of which there are one or two, and for one cell of the curve."""
        return self.beta / (2 if self.known is not None else 4), self.beta / (2 * self.numbers)

    def _sum_reach(self, draws: int, beta: Fraction, exact: bool = True) -> int | Fraction:
        if self.noise:
            return draws * gaussian_mean_reach(self.variance, draws, beta)
        return of_sums(self.scale, draws, beta) if exact else total_reach(self.scale, draws, beta)

    def around(self, raw: Figures, looks: int) -> Released:
        """For several draws, the cells are averaged, not their ratios."""
        cells = list(zip(raw[0::2], raw[1::2], strict=True))
        reach = _each(self, looks)
        return self.by_label([self._right(cells, looks), *(share_told(yes, no, reach) for yes, no in cells)])

    def _right(self, cells: list[Ends], looks: int) -> tuple[float, tuple[float, float]]:
        half = self.parts // 2
        right = sum(no for _, no in cells[:half]) + sum(yes for yes, _ in cells[half:])
        wrong = sum(yes for yes, _ in cells[:half]) + sum(no for _, no in cells[half:])
        beta = self._shares[0]
        if self.known is None:
            return share_told(right, wrong, Fraction(self._sum_reach(self.parts * looks, beta)) / looks)
        reach = Fraction(self._sum_reach(self.numbers * looks, beta)) / (2 * looks)
        top = Fraction(right + self.known - wrong) / 2
        low, high = ratio_range(100 * top, 100 * reach, self.known, 0, Fraction(0), ALL)
        return float(ratio(100 * top, self.known, Fraction(0), ALL)), (float(low), float(high))

    def beside(self, raw: Figures) -> str:
        cells, half = list(zip(raw[0::2], raw[1::2], strict=True)), self.parts // 2
        over_no = sum(one - other for one, other in cells[half:])
        over_yes = sum(other - one for one, other in cells[:half])
        gain, reach = min(over_no, over_yes), Fraction(self._sum_reach(self.parts, self.beta / 4))
        verdict = "beats" if gain > reach else "beaten" if gain < -reach else "unsure"
        told = say("check_model.baseline", chance=chance(self.beta), **self._always(raw))
        return f"{told} {say(f'check_model.{verdict}')}"

    def guessing(self, raw: Figures) -> str:
        return say("check_model.against", **self._always(raw))

    def _always(self, raw: Figures) -> dict[str, object]:
        """The more frequent side, and how often always guessing it is right."""
        yes, no = sum(raw[0::2]), sum(raw[1::2])
        low, high = self._frequent(max(yes, no), min(yes, no))
        guess = self._called(self.model.layout.yes if yes > no else self.model.layout.no)
        if yes <= no and len(guess) > NAMED:
            guess = [say("check_model.not", yes=self._called(self.model.layout.yes))]
        return {"guess": guess, "low": math.floor(low), "high": math.ceil(high)}

    def finds(self, raw: Figures) -> str:
        cells, half = list(zip(raw[0::2], raw[1::2], strict=True)), self.parts // 2
        named, wrong = (sum(one[side] for one in cells[half:]) for side in (0, 1))
        missed = sum(yes for yes, _ in cells[:half])
        reach = Fraction(self._sum_reach(half, self.beta / 3))
        (found, ends), (right, both) = share_told(named, missed, reach), share_told(named, wrong, reach)
        if ends[1] - ends[0] > WIDE_SHARE or both[1] - both[0] > WIDE_SHARE:
            return ""
        facts: dict[str, object] = {"found": round(found), "right": round(right), "chance": chance(self.beta)}
        facts |= {"low": math.floor(ends[0]), "high": math.ceil(ends[1])}
        facts |= {"least": math.floor(both[0]), "most": math.ceil(both[1])}
        return say("check_model.finds", yes=self._called(self.model.layout.yes), **facts)

    def _frequent(self, many: int | Fraction, few: int | Fraction) -> Ends:
        """Between which shares the more frequent side lies, if it is the one with more noisy rows."""
        if self.known is None:
            return share_told(many, few, Fraction(self._sum_reach(self.parts, self.beta / 4)))[1]
        reach = Fraction(self._sum_reach(self.numbers, self.beta / 2)) / 2
        top = Fraction(many + self.known - few) / 2
        low, high = ratio_range(100 * top, 100 * reach, self.known, 0, Fraction(0), ALL)
        return Fraction(low), Fraction(high)

    def _called(self, codes: tuple[int, ...]) -> list[str]:
        goal = self.model.layout.goal
        return [called(goal.labels[code]) for code in codes] if isinstance(goal, Category) else []


def _each(query: CheckChances, looks: int) -> int | Fraction:
    """How far the mean of one cell can be off, all of them at once."""
    beta = query._shares[1]
    if query.noise:
        return gaussian_mean_reach(query.variance, looks, beta)
    return Fraction(of_sums(query.scale, looks, beta), looks)
