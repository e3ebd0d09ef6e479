"""Wrong twins of a training: gradients that are larger than they claim, noise for less than is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, floor
from typing import Any

from battery import POSSIBLE_ROWS, check_law_against_loss, check_sensitivity, facts, neighbours

from dpengine.accountant.loss import Gaussian, Pure, Repeated
from dpengine.mechanisms.models.of_averages import FIRST, LOOK_BITS, LOOKS, OfAverages, Seen
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.mechanisms.models.train_hinge import TrainHinge
from dpengine.mechanisms.models.train_linear import TrainLinear
from dpengine.mechanisms.models.train_logistic import TrainLogistic
from dpengine.mechanisms.query import Query
from dpengine.mechanisms.stepwise import Reader
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.statistics.features import ROW_BITS, WEIGHT_BITS, Weights
from dpengine.statistics.model_needs import ErrorSums, GradientSum
from tests.planted.checks import check_samples_follow_the_law
from tests.planted.registry import Planted

COARSE: dict[str, Any] = {"target": "z", "features": ["x"], "steps": 1, "clip": "0.5", "lattice": 3}
YES: dict[str, Any] = COARSE | {"target": "c"}
AROUND: dict[str, Any] = {"target": "x", "features": ["c"], "steps": 3, "clip": 1, "lattice": 24, "region": "around"}
SHAPED: dict[str, Any] = {"target": "c", "steps": 3, "clip": 1, "lattice": 24, "region": "margins"}


def made(kind: type[Query], **given: Any) -> Any:
    return kind.build(facts("replace"), {"epsilon": "1"} | COARSE | given)


def change_at(query: OfGradients, weights: Weights) -> int:
    """No neighbour moves the sum of gradients by more than Δ₂, nor a coordinate by more than Δ∞; the most, squared."""
    need = query.need_at(weights)
    known: dict[Any, tuple[int, ...]] = {}
    side, worst = query.sides * (query.units * query.layout.most >> ROW_BITS), 0
    for pair in neighbours(query.facts.relation, query.facts.unit):
        sums = []
        for rows in pair:
            key = tuple(sorted((row["x"], row["c"], row["z"]) for row in rows))  # the other columns move with these
            if key not in known:
                known[key] = need.of(rows)
            sums.append(known[key])
        moves = [a - b for a, b in zip(*sums, strict=True)]
        worst = max(worst, sum(move * move for move in moves))
        assert max(map(abs, moves)) <= side, "a coordinate moves further than is claimed"
    assert worst <= query.change**2, "the sum moves further than is claimed"
    return worst


def check_gradients_at_weights(query: OfGradients) -> None:
    """At 0, and at the edges of the region."""
    edge = int(query.radius * 2**WEIGHT_BITS)
    for weights in ((0, 0), (edge, 0), (0, -edge), (edge * 7 // 10, edge * 7 // 10)):
        change_at(query, weights)


def check_all_steps_are_paid_for(query: OfGradients) -> None:
    """ρ of all steps together, from the noise that is drawn and what one person changes."""
    scale = query.amount if query.calibration == "gaussian" else query.amount**2
    rho = query.steps * Fraction(query.change**2) / (2 * scale)
    loss = query.loss()
    if isinstance(loss, Repeated):
        assert isinstance(loss.part, Pure)
        side = query.sides * (query.units * query.layout.most >> ROW_BITS)
        assert loss.times == query.steps * query.width, "fewer steps are paid for than are drawn"
        assert side / query.amount <= loss.part.epsilon, "a step is paid for as less than it is"
    else:
        assert isinstance(loss, Gaussian) and rho <= loss.rho, "fewer steps are paid for than are drawn"


class Scripted(SystemCoins):
    """Draws what it drew before, whatever the data; what it did not draw before, once and for all."""

    def __init__(self, first: Sequence[list[int]] = ()) -> None:
        super().__init__()
        self.drawn = list(first)
        self.place = 0

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        if self.place == len(self.drawn):
            self.drawn.append(SystemCoins().gaussian(list(values), sigma_squared))
        self.place += 1
        return list(self.drawn[self.place - 1])


def check_steps_follow_the_draws_alone(query: OfGradients) -> None:
    """On a neighbour that draws the same, every step looks at the same place: the data reach it through draws alone."""
    for first in (looks(query, True), looks(query, False)) if isinstance(query, OfAverages) else ([],):
        walks = []
        coins = Scripted(first)
        for rows in _far_apart():
            coins.place = 0
            walks.append(query.descend(lambda need, rows=rows: need.of(rows), coins, lambda *_: None, lambda: False))  # type: ignore[misc]
        assert walks[0] == walks[1], "a step depends on more than what was drawn"


def check_moments_are_paid_for(query: TrainLogistic) -> None:
    """ρ of the moments and of all steps, from the noise that is drawn and what one person can change."""
    one, other = (query.moments.of(rows) for rows in _far_apart())
    moved = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
    rho = Fraction(moved) / (2 * query.moments_variance) + query.steps * Fraction(query.change**2) / (2 * query.amount)
    loss = query.loss()
    assert isinstance(loss, Gaussian) and rho <= loss.rho, "moments are paid for as less than they are"


def looks(query: OfAverages, clear: bool) -> list[list[int]]:
    """Draws of the first looks after which steps follow, or a last look."""
    whole = query.people << 2 * LOOK_BITS
    return [[whole, 0, whole << 20 if clear else 0] for _ in range(LOOKS)]


def check_looks_and_steps_are_paid_for(query: OfAverages) -> None:
    """Also if a last look follows in place of steps."""
    for clear in (True, False):
        _check_is_paid_for(query, clear)


def _check_is_paid_for(query: OfAverages, clear: bool) -> None:
    """ρ of all that one training reads, from the noise that it draws and the most that a neighbour moves, by brute
    force."""
    asked: list[Any] = []
    noises: list[Fraction] = []

    class Noting(Scripted):
        def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
            noises.append(Fraction(sigma_squared))
            return super().gaussian(values, sigma_squared)

    def read(need: Any) -> Any:
        asked.append(need)
        return need.of(_far_apart()[0])

    query.descend(read, Noting(looks(query, clear)), lambda *_: None, lambda: False)
    assert len(asked) == LOOKS + (query.steps if clear else 1)
    rho = sum(Fraction(_most_moved(query, need)) / (2 * noise) for need, noise in zip(asked, noises, strict=True))
    loss = query.loss()
    assert isinstance(loss, Gaussian) and rho <= loss.rho, "looks and steps are paid for as less"


def _most_moved(query: OfAverages, need: Any) -> int:
    worst, known = 0, dict[Any, tuple[int, ...]]()
    for pair in neighbours(query.facts.relation, query.facts.unit):
        sums = []
        for rows in pair:
            key = tuple(sorted((row["x"], row["c"]) for row in rows))
            if key not in known:
                found = need.of(rows)
                known[key] = query.looked(found, need.most) if isinstance(need, ErrorSums) else found
            sums.append(known[key])
        worst = max(worst, sum((a - b) ** 2 for a, b in zip(*sums, strict=True)))
    return worst


def _far_apart() -> tuple[list[Any], list[Any]]:
    """Two tables of ten rows that differ in one, at the two ends of x."""
    low, high = ({**row, "x": x, "c": 0} for row, x in ((POSSIBLE_ROWS[0], 0), (POSSIBLE_ROWS[0], 3)))
    return [low] * 5 + [high] * 5, [low] * 4 + [high] * 6


@dataclass(frozen=True)
class Nearest(GradientSum):
    """Rounds to the nearest point of the lattice, which can make a vector longer."""

    def of(self, rows: Any) -> tuple[int, ...]:
        sums = [0] * self.layout.width
        for row in rows:
            found, target = self.layout.row(row), self.layout.target_of(row)
            if found is not None and target is not None:
                residual = self.residual(sum(self.weights[place] * value for place, value in found), target)
                for place, value in found:
                    sums[place] += round(Fraction(residual * value, 1 << ROW_BITS))
        return tuple(sums)


@dataclass(frozen=True)
class Unclipped(GradientSum):
    def residual(self, margin: int, target: int) -> int:
        return GradientSum(self.layout, self.weights, 1 << 40, self.bits).residual(margin, target)


@dataclass(frozen=True)
class Outward(GradientSum):
    """Rounds away from zero."""

    def of(self, rows: Any) -> tuple[int, ...]:
        sums = [0] * self.layout.width
        for row in rows:
            found, target = self.layout.row(row), self.layout.target_of(row)
            if found is not None and target is not None:
                residual = self.residual(sum(self.weights[place] * value for place, value in found), target)
                for place, value in found:
                    pull = Fraction(residual * value, 1 << ROW_BITS)
                    sums[place] += ceil(pull) if pull > 0 else floor(pull)
        return tuple(sums)


class HingeOutward(TrainHinge):
    def need_at(self, weights: Weights) -> GradientSum:
        return Outward(self.layout, weights, self.units, self.lattice)


class HingeNeverClips(TrainHinge):
    """The subgradient itself, of length 1, where half of it was promised."""

    def need_at(self, weights: Weights) -> GradientSum:
        return Unclipped(self.layout, weights, self.units, self.lattice)


class RoundsToNearest(TrainLinear):
    def need_at(self, weights: Weights) -> GradientSum:
        return Nearest(self.layout, weights, self.units, self.lattice)


class NeverClips(TrainLinear):
    def need_at(self, weights: Weights) -> GradientSum:
        return Unclipped(self.layout, weights, self.units, self.lattice)


class NotDoubled(TrainLogistic):
    """Under replace-one a row leaves and another comes."""

    @property
    def sides(self) -> int:
        return self.facts.unit.at_most


class BareMoments(TrainLogistic):
    """Divides its steps by the moments of the table itself."""

    def mover(self, read: Reader, coins: Coins) -> Callable[[Weights, tuple[int, ...]], Weights]:
        return partial(self.moved_in, self.shape_of(list(read(self.moments))))


class CheapMoments(TrainLogistic):
    """All of ρ for the steps, and the moments beside it."""

    @cached_property
    def amount(self) -> Fraction:
        return Fraction(self.change**2 * self.steps) / self.epsilon**2


class CheapLooks(TrainLinear):
    """Looks with a tenth of the noise."""

    def look_variance(self, most: int, *part: Fraction) -> Fraction:
        return super().look_variance(most, *part) / 100


class DearLastLook(TrainLinear):
    """The last look spends all of ρ, though two looks were drawn before it."""

    def look_variance(self, most: int, part: Fraction = FIRST / LOOKS) -> Fraction:
        return super().look_variance(most, Fraction(1) if part > FIRST else part)


class WideSteps(TrainLinear):
    """Residuals are clipped where the declared clip says, noise is made for where the looks say."""

    def variance_for(self, units: int) -> Fraction:
        return super().variance_for(max(units // 4, 1))


class BareAverage(TrainLinear):
    """Starts at the average of the table itself."""

    def descend(self, read: Reader, *given: Any) -> Any:
        _, *bins = read(self.look_at(0.0, 1 << LOOK_BITS))
        object.__setattr__(self, "bare", sum(bins[1::2]) / sum(bins[::2]) / 2**LOOK_BITS)
        return super().descend(read, *given)

    def start(self, seen: Seen) -> Weights:
        return super().start(replace(seen, centre=self.bare))  # type: ignore[attr-defined]


class BareConstant(TrainLinear):
    def draw(self, value: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return value[0], *super().draw(value, coins)[1:]


class OneStepPaid(TrainLinear):
    @cached_property
    def amount(self) -> Fraction:
        return Fraction(self.change**2) / self.epsilon**2


class LectureConstant(TrainLinear):
    """Laplace noise by the Euclidean norm of a third of the scale that its loss is proved for."""

    @cached_property
    def amount(self) -> Fraction:
        return Fraction(super().amount) / 3


PLANTED = [
    Planted(
        "gradients rounded to the nearest",
        "Rounding to the nearest point makes a gradient longer.",
        check_gradients_at_weights,
        "moves further",
        made(TrainLinear),
        made(RoundsToNearest),
    ),
    Planted(
        "gradients that are not clipped",
        "A row far off pulls harder than its noise is for.",
        check_gradients_at_weights,
        "moves further",
        made(TrainLinear),
        made(NeverClips),
    ),
    Planted(
        "subgradients rounded away from zero",
        "A support vector machine's pulls are rounded outward, which makes them longer.",
        check_gradients_at_weights,
        "moves further",
        made(TrainHinge, **YES),
        made(HingeOutward, **YES),
        also=((check_sensitivity, "moves it by"),),
    ),
    Planted(
        "subgradients that are not clipped",
        "A row inside the margin pulls with all its length, whatever was promised.",
        check_gradients_at_weights,
        "moves further",
        made(TrainHinge, **YES),
        made(HingeNeverClips, **YES),
        also=((check_sensitivity, "moves it by"),),
    ),
    Planted(
        "a replaced row counted once",
        "A training under replace-one claims what holds under add/remove.",
        check_sensitivity,
        "moves it by",
        made(TrainLogistic, **YES),
        made(NotDoubled, **YES),
        also=((check_gradients_at_weights, "moves further"),),
    ),
    Planted(
        "a preconditioner from un-noised moments",
        "Every gradient has its noise, but the steps are divided by the second moments of the table itself.",
        check_steps_follow_the_draws_alone,
        "more than what was drawn",
        made(TrainLogistic, **SHAPED),
        made(BareMoments, **SHAPED),
    ),
    Planted(
        "moments beside the price",
        "The steps take all that was charged, and the moments are drawn beside them.",
        check_moments_are_paid_for,
        "paid for as less",
        made(TrainLogistic, **SHAPED),
        made(CheapMoments, **SHAPED),
    ),
    Planted(
        "looks beside the price",
        "The looks at the average have a tenth of the noise that an eighth of the price pays for.",
        check_looks_and_steps_are_paid_for,
        "paid for as less",
        made(TrainLinear, **AROUND),
        made(CheapLooks, **AROUND),
        also=((check_law_against_loss, "Rényi"),),
    ),
    Planted(
        "a last look for the whole price",
        "Where no steps follow, a third look has the noise of a single one.",
        check_looks_and_steps_are_paid_for,
        "paid for as less",
        made(TrainLinear, **AROUND),
        made(DearLastLook, **AROUND),
    ),
    Planted(
        "noise for a narrower clip",
        "Rows pull four times as hard as the noise of the steps is made for.",
        check_looks_and_steps_are_paid_for,
        "paid for as less",
        made(TrainLinear, **AROUND),
        made(WideSteps, **AROUND),
    ),
    Planted(
        "steps from the bare average",
        "Looks and steps have their noise, but the steps begin at the average of the table itself.",
        check_steps_follow_the_draws_alone,
        "more than what was drawn",
        made(TrainLinear, **AROUND),
        made(BareAverage, **AROUND),
    ),
    Planted(
        "a coordinate without noise",
        "The constant's gradient is released bare.",
        check_samples_follow_the_law,
        "law",
        made(TrainLinear),
        made(BareConstant),
    ),
    Planted(
        "one step paid for all",
        "Every step of a training has noise for one step alone.",
        check_all_steps_are_paid_for,
        "fewer steps",
        made(TrainLinear, steps=5),
        made(OneStepPaid, steps=5),
    ),
    Planted(
        "a sketch's constant",
        "Laplace noise by the Euclidean norm is a third of what its loss is proved for.",
        check_law_against_loss,
        "Rényi",
        made(TrainLinear, calibration="l2_laplace", epsilon="0.1"),
        made(LectureConstant, calibration="l2_laplace", epsilon="0.1"),
    ),
]
