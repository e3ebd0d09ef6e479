"""Training by noisy projected gradient descent: the base of linear and logistic regression and the support vector
machine (lecture 10).

Guarantee   all T noisy gradients together, hence every iterate and the model, lose no more than was charged before the
            first: under replace-one and under add/remove, a person with up to m rows.
Theorem     adaptive composition of T releases whose loss was fixed beforehand (accountant/filter.py). Where a step
            starts depends on earlier draws alone, so its sensitivity is bounded for *every* weight vector.
Statistic   a step's sum of gradients r·x over rows (GradientSum): integers in units of 2^-lattice. ‖x‖ ≤ 1 by
            public scaling (features.py), |r| ≤ G by clipping, everything cut toward zero: a row adds a vector of norm
            at most G. One person changes the sum by Δ₂ = mG under add/remove, 2mG under replace-one (a row leaves,
            another comes), and no coordinate by more than Δ∞ = Δ₂·κ, κ = 1/√(p+1) the largest coordinate of a row.
Calibration with ρ = ε²/2 for all T steps of d coordinates:
            gaussian    discrete Gaussian noise of variance Δ₂²T/ε² on every coordinate: ρ-zCDP (Canonne, Kamath,
                        Steinke 2020, Thm 14). Loss Gaussian(ρ).
            l2_laplace  discrete Laplace noise of scale b ≥ Δ₂√T/ε: a coordinate that moves by s is (s/b)-DP, hence
                        (s²/2b²)-zCDP (Bun, Steinke 2016, Prop. 1.4), and over coordinates Σs² ≤ Δ₂²: no factor d. Loss
                        Gaussian(ρ). (The lecture's theorem 3, with its right constant.)
            coordinate  discrete Laplace noise of scale Δ∞/ε₀, ε₀ ≤ ε/√(Td): Td pure uses by strong composition, the
                        lecture's first way. Loss: Td times Pure(ε₀). The only one with a finite ε.
Draw        integers; then w ← Π(w − η·(noisy sum)/(n·2^lattice)), cut to the public lattice of weights: that is
            post-processing; n is the number of rows if that is public, else the declared one (it only scales η).
Interval    against the same training without noise, for all coefficients at once (below); none if the loss has a
            corner, since two descents can part there.
Accuracy    excess.py.
Cost        T scans of the table, one aggregate each, constant memory.

How far the noise carries a training (`farthest`)

Let w_t be the iterates and w'_t those of the same descent without noise and without rounding, D_t = w_t − w'_t. L is
convex with Hessian between 0 and β, so ∇L(w) − ∇L(w') = H(w − w') with 0 ≼ H ≼ β (the mean of the Hessian on the
segment), and ‖I − ηH‖ ≤ 1 where ηβ ≤ 2. Projection is nonexpansive: Π(a) − Π(b) = P(a − b), ‖P‖ ≤ 1. So

    D_{t+1} = P_t(A_t D_t − ηZ_t/n) + e_t,     ‖A_t‖, ‖P_t‖ ≤ 1,   A_t known before Z_t is drawn,   ‖e_t‖ ≤ e,

e_t from rounding. Let D° follow this without the e_t: ‖D_T − D°_T‖ ≤ Te. Gaussian: with s = ησ/n the noise is
s²-subgaussian in every direction, so for 0 < 2λs² < 1 (write e^(λ‖v‖²) as a mean of e^(√(2λ)⟨g,v⟩) over standard
normal g)

    E[e^(λ‖D°_{t+1}‖²) | past] ≤ E[e^(λ‖A_tD°_t − ηZ_t/n‖²) | past] ≤ (1 − 2λs²)^(−d/2) · e^(λ'‖D°_t‖²),
    1/λ' = 1/λ − 2s²;

T times: E[e^(λ‖D°_T‖²)] ≤ (1 − 2λs²T)^(−d/2), the bound of a χ² law with d degrees, times s²T. Hence ‖D°_T‖² ≤ s²T·q
except with chance (q/d)^(d/2)·e^((d−q)/2) = β. Averages of iterates obey it too, as e^(λ‖·‖²) is convex. Laplace noise
has no such moment: there E‖D°_T‖² ≤ T·d·variance·η²/n² and Markov's inequality. A coefficient is a linear form c of the
weights: |c·D| ≤ ‖c‖·‖D‖, for all of them at once. No assumption about the data, the region or clipping; only ηβ ≤ 2
and that n is at least the number of rows, which is public under replace-one. The bound is about the noise: it says
nothing about people who are not in the table. ∎
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import ClassVar, Self

from dpengine.accountant.loss import Gaussian, Loss, Pure, Repeated
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, floor, halved, read_number, read_whole, text_of, up
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number
from dpengine.mechanisms.answer_state import NOISE
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.excess import CALIBRATIONS, COORDINATE, GAUSSIAN, ITERATES, LAST, TAIL, TrainingSetting
from dpengine.mechanisms.models.of_models import BALL, BOX, REGIONS, projected, read_features, read_labels
from dpengine.mechanisms.noise import Added, GaussianNoise, LaplaceNoise
from dpengine.mechanisms.promises import Excess, Goal
from dpengine.mechanisms.query import Fields, Progress, Released, Sensitivity
from dpengine.mechanisms.stepwise import Path, Reader, Stepwise
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent
from dpengine.statistics.features import CONSTANT, MOST_WIDE, ROW_BITS, WEIGHT_BITS, Layout, Model, Weights
from dpengine.statistics.model_needs import GradientSum
from dpengine.statistics.need import AnyNeed

MOST_STEPS = 1_000
MOST_RADIUS = MOST_CLIP = 64  # sums of 2^31 rows stay below 2^62
MOST_RATE = 1_000
MOST_LATTICE = 24
GRAIN = 10**6


def read_settings(given: JsonObject, regions: tuple[str, ...]) -> Fields:
    """The advanced settings in a form; those left empty get defaults from public facts."""
    filled = {name: part for name, part in given.items() if part not in (None, "")}
    fields: Fields = {}
    for name, known in (("calibration", CALIBRATIONS), ("region", regions), ("iterate", ITERATES)):
        if name in filled:
            if filled[name] not in known:
                raise AllowanceError(f"train.{name}", known=list(known))
            fields[name] = filled[name]
    for name, most in (("steps", MOST_STEPS), ("lattice", MOST_LATTICE)):
        if name in filled:
            fields[name] = read_whole(filled[name], name, most, f"train.{name}")
    for name, highest in (("rate", MOST_RATE), ("radius", MOST_RADIUS), ("clip", MOST_CLIP)):
        if name in filled:
            amount = read_number(filled[name], name)
            if not Fraction(1, GRAIN) <= amount <= highest or (amount * GRAIN).denominator != 1:
                raise AllowanceError(f"train.{name}", most=highest)
            fields[name] = amount
    return fields


def farthest(noise: float, rate: float, people: int, width: int, rows: int, steps: int) -> float:
    """The bound on ‖D_T‖, in units of the weights' lattice, as `rate` is; `noise` is that of a step, squared."""
    # Cutting a residual and a coordinate takes less than two units from each row; cutting a weight less than one.
    rounding = math.sqrt(width) * (rate * 2 * rows + 2)
    return math.sqrt(noise * (rate / people) ** 2 * steps) * (1 + 1e-9) + steps * rounding


def spread(degrees: int, beta: float) -> float:
    """The least q ≥ d with (q/d)^(d/2)·e^((d−q)/2) ≤ β, from above."""
    high = 2.0  # q/d

    def over(ratio: float) -> bool:
        return degrees / 2 * (math.log(ratio) + 1 - ratio) > math.log(beta)

    while over(high):
        high *= 2
    return halved(over, 1.0, high, 60)[1] * degrees


USUAL_STEPS = 600  # no default is larger
LATTICE = 24
MOST_POINTS = 60  # iterates that the ledger keeps

SHARED = (
    Parameter("calibration", "descent.calibration", default=GAUSSIAN),
    Parameter("steps", "number"),
    Parameter("rate", "number"),
    Parameter("region", "region"),
    Parameter("radius", "number"),
    Parameter("clip", "number"),
    Parameter("iterate", "iterate"),
    Parameter("lattice", "number"),
)


@dataclass(frozen=True, kw_only=True)
class OfGradients(Stepwise[Json, tuple[int, ...]]):
    takes_long: ClassVar[bool] = True
    smooth: ClassVar[Fraction | None]  # β: the largest second derivative of a row's loss in the margin; None: a corner
    usual_iterate: ClassVar[str] = TAIL
    regions: ClassVar[tuple[str, ...]] = REGIONS
    usual_region: ClassVar[str] = BALL
    usual_clip: ClassVar[Fraction]
    usual_reach: ClassVar[int]
    blank: ClassVar[Fraction]  # an upper bound on the loss of the model with all weights 0

    target: str
    features: tuple[str, ...]
    calibration: str = GAUSSIAN
    steps: int = 0  # 0, here and below: a default from public facts
    rate: Fraction = Fraction(0)
    region: str = ""
    radius: Fraction = Fraction(0)
    clip: Fraction = Fraction(0)
    iterate: str = ""
    lattice: int = LATTICE

    def __post_init__(self) -> None:
        layout = self.layout
        if layout.width > MOST_WIDE:
            raise AllowanceError("train.wide", width=layout.width, most=MOST_WIDE)
        if layout.width > self.facts.about:
            raise AllowanceError("train.few", width=layout.width, people=self.facts.about)
        if len(set(layout.labels)) < layout.width:
            raise AllowanceError("train.names")
        for name, usual in (
            ("region", self._usual_region),
            ("radius", self._usual_radius),
            ("clip", self._usual_clip),
            ("iterate", lambda: self.usual_iterate),
            ("steps", self._usual_steps),
            ("rate", self._usual_rate),
        ):
            if not getattr(self, name):
                object.__setattr__(self, name, usual())
            if name == "clip" and not self.units * layout.most >> ROW_BITS:  # all would be truncated to 0
                raise AllowanceError("train.coarse")

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        fields: JsonObject = {"target": str(given["target"]), "features": read_features(facts, given)}
        if fields["target"] in fields["features"]:
            raise AllowanceError("train.target_feature", column=fields["target"])
        return fields | read_settings(given, cls.regions)

    def own_json(self) -> JsonObject:
        data: JsonObject = {"target": self.target, "features": list(self.features)}
        data |= {name: getattr(self, name) for name in ("calibration", "steps", "region", "iterate", "lattice")}
        return data | {name: text_of(getattr(self, name)) for name in ("rate", "radius", "clip")}

    def valued(self) -> set[str]:
        return {self.target, *self.features}

    def sentence(self) -> str:
        return say(f"sentence.{self.card.key}", target=self.target, columns=list(self.features))

    @property
    def theorem(self) -> str:
        return say(f"train.theorem.{self.calibration}")

    @cached_property
    @abstractmethod
    def layout(self) -> Layout: ...

    @property
    def _columns(self) -> tuple[Number | Date | Category, ...]:
        return tuple(self.facts.schema[name] for name in self.features)  # type: ignore[misc]

    # Public numbers

    @property
    def people(self) -> int:
        """The divisor of sums: the number of people if it is public, else the declared one."""
        return self.facts.about

    @property
    def nominal(self) -> bool:
        """Is the number of rows that count not public?"""
        return self.facts.countable(self.where, *self.features, self.target) is None

    @property
    def width(self) -> int:
        return self.layout.width

    @property
    def sides(self) -> int:
        """How many rows one person changes: those that leave and those that come."""
        return self.facts.sides * self.facts.unit.at_most

    @property
    def units(self) -> int:
        """G in units of the lattice."""
        return floor(self.clip * 2**self.lattice)

    @property
    def reach(self) -> float:
        """R in the Euclidean norm; for a box, the distance of its corners from 0."""
        return float(self.radius) * (math.sqrt(self.width) if self.region == BOX else 1)

    @property
    def setting(self) -> TrainingSetting:
        return TrainingSetting(
            self.people,
            self.width,
            self.reach,
            float(self.clip),
            math.inf if self.smooth is None else float(self.smooth),
            self.sides,
            self.layout.most / 2**ROW_BITS,
            float(self.epsilon),
            self.steps,
            self.calibration,
            self.iterate,
        )

    def asked_at(self, epsilon: Fraction) -> Self:
        return self._anew(epsilon=epsilon)

    def of_size(self, people: int) -> Self:
        return self._anew(facts=replace(self.facts, about=people))

    def _anew(self, **changed: Json) -> Self:
        """Compute steps and rate again if a formula chose them."""
        for name, unset in (("steps", {"steps": 0, "rate": Fraction(0)}), ("rate", {"rate": Fraction(0)})):
            if getattr(replace(self, **unset), name) == getattr(self, name):
                changed[name] = unset[name]
        return replace(self, **changed)

    def _usual_region(self) -> str:
        return self.usual_region

    def _usual_radius(self) -> Fraction:
        """√(p+1) times `usual_reach`: a coordinate of a row is at most 1/√(p+1), so each column may add that much."""
        return round(self.usual_reach * Fraction(math.sqrt(len(self.features) + 1)), 2)

    def _usual_clip(self) -> Fraction:
        return self.usual_clip

    def _usual_steps(self) -> int:
        """Enough steps for the noise, not their number, to limit the accuracy."""
        object.__setattr__(self, "steps", 1)
        return max(min(excess.enough_steps(self.setting), USUAL_STEPS), 1)

    def _usual_rate(self) -> Fraction:
        """The best rate, rounded to one that a form accepts: a stored question is read by the same rules."""
        best = Fraction(math.floor(excess.best_rate(self.setting) * GRAIN), GRAIN)  # above, a bound may not hold
        return min(max(best, Fraction(1, GRAIN)), Fraction(MOST_RATE))

    @property
    def follows(self) -> bool:
        """Do the steps follow the shape of the data (of_margins.py)? Then the region excludes hardly any model."""
        return False

    @property
    def nearer(self) -> bool:
        """Does it come nearer to the truth than trainings in a ball, whatever their bounds say?"""
        return self.follows

    @property
    def diverges(self) -> bool:
        """May the steps overshoot? Every iterate is still projected into the region."""
        return self.smooth is not None and self.rate * self.smooth * self.facts.unit.at_most > 2

    # Noise and loss

    @property
    def change(self) -> int:
        """Δ₂: the most that one person changes a sum of gradients, in ℓ2 on the lattice."""
        return self.sides * self.units

    def sensitivity(self) -> Sensitivity:
        if self.calibration == COORDINATE:
            return Sensitivity("linf", self.sides * (self.units * self.layout.most >> ROW_BITS))
        return Sensitivity("l2sq", self.change**2, attained=False)

    @cached_property
    def each(self) -> Fraction:
        """ε₀ of one coordinate of one step."""
        times = self.steps * self.width
        return Fraction(isqrt(floor(self.epsilon**2 * GRAIN**4 / times)), GRAIN**2)

    @cached_property
    def amount(self) -> Fraction:
        """The noise on a coordinate: the variance of a Gaussian or the scale of a Laplace law."""
        if self.calibration == GAUSSIAN:
            return self.change**2 * self.steps / self.epsilon**2
        if self.calibration == COORDINATE:
            return self.sensitivity().bound / self.each
        square = self.change**2 * self.steps / self.epsilon**2
        return Fraction(isqrt(ceiling(square * GRAIN**2)) + 1, GRAIN)

    def loss(self) -> Loss:
        if self.calibration == COORDINATE:
            return Repeated(Pure(self.each), self.steps * self.width)
        return Gaussian(self.epsilon**2 / 2)

    def promise(self) -> Excess:
        setting = self.setting
        bounds = excess.risk(setting, float(self.rate)), excess.plain(setting), excess.limit(setting)
        risk, plain, limit = (up(Fraction(bound), 10**9) for bound in bounds)
        return Excess(risk, plain, limit, self.beta, Fraction(0), self.nominal)

    @property
    @abstractmethod
    def goal(self) -> Goal: ...

    def coarse(self) -> Fraction:
        """Half of the bound on the loss of the model with all weights 0."""
        return self.blank / 2

    @property
    def clearly(self) -> int:
        """A good bound is this many times smaller than a coarse one."""
        return 4

    def state(self, value: Json, interval: Json) -> str:
        return NOISE if self.promise().risk >= self.blank else ""

    # One step

    def need(self) -> AnyNeed:
        return self.need_at((0,) * self.width)

    def need_at(self, weights: Weights) -> GradientSum:
        return GradientSum(self.layout, weights, self.units, self.lattice)

    def measured(self, value: Json) -> tuple[int, ...]:
        return tuple(value)

    @property
    def added(self) -> Added:
        """The noise on a coordinate."""
        return (GaussianNoise if self.calibration == GAUSSIAN else LaplaceNoise)(self.amount)

    def noisy(self, slope: tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        return tuple(self.added.draw(list(slope), coins))

    def draw(self, value: Json, coins: Coins) -> tuple[int, ...]:
        return self.noisy(value, coins)

    def law(self, value: Json) -> Independent:
        return Independent(tuple(self.added.law(coordinate) for coordinate in value))

    def moved(self, weights: Weights, noisy: tuple[int, ...]) -> Weights:
        """One step against the noisy gradient, projected into the region: post-processing, on the public lattice."""
        factor = float(self.rate) * 2.0 ** (WEIGHT_BITS - self.lattice) / self.people
        there = [weight - factor * slope for weight, slope in zip(weights, noisy, strict=True)]
        return projected(there, floor(self.radius * 2**WEIGHT_BITS), self.region)

    # All steps

    def mover(self, read: Reader, coins: Coins) -> Callable[[Weights, tuple[int, ...]], Weights]:
        """The function from the weights and a noisy gradient to the next weights."""
        return self.moved

    def descend(self, read: Reader, coins: Coins, progress: Progress, stopped: Callable[[], bool]) -> Path:
        move, walk = self.mover(read, coins), [(0,) * self.width]
        for step in range(1, self.steps + 1):
            walk.append(move(walk[-1], self.noisy(read(self.need_at(walk[-1])), coins)))
            progress(step, self.steps)
            if stopped():
                break
        return self.path(walk)

    def path(self, walk: list[Weights]) -> Path:
        """The model of these iterates (the first is 0), and the iterates to store."""
        done = len(walk) - 1
        first = {LAST: done, TAIL: done // 2 + 1}.get(self.iterate, 1)
        averaged = walk[first:]
        sums = [sum(coordinate) for coordinate in zip(*averaged, strict=True)]
        weights = tuple(total // len(averaged) if total >= 0 else -(-total // len(averaged)) for total in sums)
        last = min(MOST_POINTS - 1, done)
        places = [round(place * done / last) for place in range(last + 1)]
        return Path(done, self.steps, weights, tuple((place, walk[place]) for place in places))

    def finish(self, raw: tuple[int, ...]) -> Released:
        """The answer of a training with one step."""
        start = (0,) * self.width
        return self.ended(self.path([start, self.moved(start, raw)]))

    def ended(self, path: Path) -> Released:
        model = self.model(path.weights)
        value = model.coefficients()
        away = self.away(path.steps)
        if away is None:
            return Released(value)
        reach = {label: math.hypot(*line) * away for label, (_, line) in model.slopes()}
        return Released(value, {label: (at - reach[label], at + reach[label]) for label, at in value.items()})

    def model(self, weights: Weights) -> Model:
        return Model(self.layout, weights)

    def labels(self) -> list[str]:
        return list(self.layout.labels)

    def shown(self) -> dict[str, str]:
        return {CONSTANT: say("train.constant")} | self.layout.shown()

    # How far the noise carries

    def interval_reason(self) -> str | None:
        """Why there is no interval, from public facts; None if there is one."""
        if self.facts.people is None:
            return "train.interval.nominal"
        if self.smooth is None:
            return "train.interval.corner"
        return "train.interval.rate" if self.diverges else None

    def away(self, steps: int) -> float | None:
        """How far noise may have moved any iterate up to this one, or an average of them, except with probability β:
        the distance from the same training without noise, in units of the weights' lattice."""
        if self.interval_reason() is not None:
            return None
        if self.calibration == GAUSSIAN:
            noise = float(self.amount) * spread(self.width, float(self.beta))
        else:
            noise = 2 * float(self.amount) ** 2 * self.width / float(self.beta)  # its variance is below 2b²
        units = 2.0 ** (WEIGHT_BITS - self.lattice)
        return farthest(noise, float(self.rate) * units, self.people, self.width, self.facts.unit.at_most, steps)


def card(key: str, caveat: str, order: int, parameters: tuple[Parameter, ...]) -> Card:
    on, caveats = ("train", "whatif"), (caveat, "bounds")
    return Card(key, asked_on=on, order=order, own=parameters, answer="model", states=(NOISE,), caveats=caveats)


# The base of trainings that predict yes or no: which labels are on which side.

OF_SIDES = (
    Parameter("target", "column.target.category", required=True),
    Parameter("positive", "labels"),
    Parameter("negative", "labels"),
    Parameter("features", "columns.features", required=True),
    *SHARED,
)


@dataclass(frozen=True, kw_only=True)
class OfSides(OfGradients):
    sharp: ClassVar[bool] = False
    toss: ClassVar[float] = Goal.toss  # the loss of a coin toss

    positive: tuple[str, ...]
    negative: tuple[str, ...]

    @property
    def goal(self) -> Goal:
        return Goal(self.target, None, self.blank, self.toss)

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        fields = super().read(facts, given)
        goal = facts.schema.category(fields["target"])
        if len(goal.values) < 2:
            raise AllowanceError("train.target_one", column=fields["target"])
        positive = read_labels(goal, given.get("positive"))
        if not positive:
            positive = ("yes",) if "yes" in goal.values else goal.values[:1]
        negative = read_labels(goal, given.get("negative"))
        if not negative:
            negative = tuple(value for value in goal.values if value not in positive)
        if not negative or set(positive) & set(negative):
            raise AllowanceError("train.sides")
        return fields | {"positive": positive, "negative": negative}

    def own_json(self) -> JsonObject:
        return super().own_json() | {"positive": list(self.positive), "negative": list(self.negative)}

    def sentence(self) -> str:
        words = {"target": self.target, "positive": list(self.positive), "columns": list(self.features)}
        return say(f"sentence.{self.card.key}", **words)

    @property
    def nominal(self) -> bool:
        """True also if a row may be on neither side: such rows do not count, and their number is private."""
        return super().nominal or len({*self.layout.yes, *self.layout.no}) < self.layout.goal.size

    @cached_property
    def layout(self) -> Layout:
        goal = self.facts.schema.category(self.target)
        yes, no = (tuple(goal.code(label) for label in side) for side in (self.positive, self.negative))
        return Layout(self.features, self._columns, self.target, goal, yes, no, self.sharp)
