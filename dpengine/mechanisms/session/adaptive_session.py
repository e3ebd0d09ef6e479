"""A session: k statistical queries reserved at once, then asked one after the other, each chosen after the last answer.

Guarantee   whatever the questions and however they depend on earlier answers, the k answers together lose no more than
            was charged before the first: under replace-one and under add/remove.
Theorem     adaptive composition inside the budget's filter (accountant/filter.py), which also allows other questions in
            between. Each answer alone is the discrete Laplace mechanism (Dwork et al. 2006, Prop. 1) or the discrete
            Gaussian one (Canonne, Kamath, Steinke 2020, Thm 14).
Largest     “which is largest” is one answer's worth of choosing (noisy_argmax.py): permute-and-flip at ε₀ where an
            answer's loss is pure ε₀; where it is ρ = ε₀²/2, the exponential mechanism at 2ε₀, of bounded range and so
            of ρ = (2ε₀)²/8 (Cesar and Rogers 2021).
Statistic   one integer per question, asks.py: of it one person changes at most Δ.
Calibration laplace    each answer ε/k: noise Δk/ε on the integer. Loss: k pure parts of ε/k.
            lecture    γ = ε/√(8k·ln(1/δ)), noise Δ/γ (lecture 6, corollary 5), only where ε ≤ 2·ln(1/δ). Loss: k pure
                       parts of γ, which is what was lost; the filter prices it itself.
            gaussian   variance (Δk/ε)², so ρ = (ε/k)²/2 for each. Loss: Gaussian(kρ), which closes the pure clause.
Accuracy    with probability ≥ 1−β all k answers at once are within α of the table's own averages: a union over the k.
            Discrete Laplace noise of scale b: Pr[|Z| > t] = 2e^(−(t+1)/b)/(1+e^(−1/b)) ≤ e^(−t/b) for whole t, so
            t = ⌈b·ln(k/β)⌉ does for every kind of question.
Rounding    if `rounded` is T, we round a share or average to the middle of one of T equal cells of [0, 1], and its
            range is that middle ± (the noise's reach + 1/(2T)): all that is stored or shown is a function of the cell.
            Clamping moves no answer away from the truth, and rounding moves it by at most 1/(2T). The purpose:
            population/validity.py, `description`.
Cost        opening reads nothing; a step is one scan.

Stepwise: `open() -> state`, `step(state, ask, read, coins) -> (state, part)`. A state is public and JSON. Before a step
is drawn, the ledger records its number as used (sessions.py), so a step that was cut short is lost, never drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

from dpengine.accountant import compositions
from dpengine.accountant.loss import Gaussian, Loss, Pure, Repeated
from dpengine.core.amounts import read_delta
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, ln_above, read_number, read_whole, text_of
from dpengine.core.types import Ends, Json, JsonObject
from dpengine.declared.conditions import Predicate
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Schema
from dpengine.mechanisms.answer_state import APART, FEW, NEARLY
from dpengine.mechanisms.card import AnswerKind, Card, Parameter
from dpengine.mechanisms.choices.noisy_argmax import NoisyArgmax
from dpengine.mechanisms.noise import Added, GaussianNoise, LaplaceNoise, PermuteAndFlip
from dpengine.mechanisms.promises import NearAverage, NearBest, Within
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.session.asks import Ask, Average, Largest, Share, read_ask
from dpengine.mechanisms.trial import IN_A, SOME, WEST, Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Independent, Law
from dpengine.statistics.need import AnyNeed, NoData

CALIBRATIONS = ("laplace", "gaussian", "lecture")
MOST_QUESTIONS = 10_000
MOST_CELLS = 100_000
ALL = Fraction(100)


@dataclass(frozen=True)
class State:
    """The number of steps done. It is public: it does not depend on the data."""

    questions: int
    asked: int = 0

    @property
    def left(self) -> int:
        return self.questions - self.asked


@dataclass(frozen=True)
class Part:
    """One answer of a session."""

    index: int
    query: AdaptiveSession  # with its ask
    released: Released


@dataclass(frozen=True, kw_only=True)
class AdaptiveSession(Query[Any, Any]):
    """The whole session; with an `ask`, one answer of it."""

    keeps_empty: ClassVar[bool] = True  # as the middle of the range
    card: ClassVar[Card] = Card(
        key="adaptive_session",
        asked_on=("several", "whatif"),
        order=300,
        answer="session",
        states=(FEW, APART),
        caveats=("kept", "adaptive"),
        own=(
            Parameter("questions", "number", default=20, required=True),
            Parameter("calibration", "calibration", default="laplace"),
            Parameter("delta", "delta"),
            Parameter("rounded", "number"),
            Parameter("ask", "ask"),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of three": {"questions": 3},
            "a share": {"questions": 2, "ask": {"share": [SOME, ["c", "in", ["b"]]]}},
            "an average": {"questions": 2, "ask": {"average": "x"}},
            "the largest": {"questions": 1, "ask": {"largest": [IN_A, [SOME]]}},
            "the largest, Gaussian": {"calibration": "gaussian", "questions": 1, "ask": {"largest": [IN_A, [SOME]]}},
            "a share, rounded": {"questions": 2, "rounded": 10, "ask": {"share": [SOME]}},
            "an average, Gaussian": {"calibration": "gaussian", "questions": 2, "ask": {"average": "z"}},
            "a share, the lecture's way": {
                "calibration": "lecture",
                "delta": "1e-12",
                "questions": 2,
                "ask": {"share": [SOME]},
            },
        },
        example=Example({"questions": 2, "ask": {"share": WEST}}),
        covered="test_an_adaptive_analyst_gets_answers_within_alpha",
    )

    questions: int
    calibration: str = "laplace"
    delta: Fraction | None = None  # of the lecture's corollary
    rounded: int | None = None  # to this many values; None: not at all
    ask: Ask | None = None

    def __post_init__(self) -> None:
        if self.calibration == "lecture":
            _ = self.each  # raises if the corollary does not hold

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        calibration = given.get("calibration") or "laplace"
        if calibration not in CALIBRATIONS:
            raise AllowanceError("session.calibration", calibrations=list(CALIBRATIONS))
        delta = given.get("delta")
        if calibration != "lecture" and delta not in (None, ""):
            raise AllowanceError("session.delta_unused")
        ask, cells = given.get("ask"), given.get("rounded")
        return {
            "questions": read_questions(given["questions"]),
            "calibration": calibration,
            "delta": read_delta(delta) if calibration == "lecture" else None,
            "rounded": None if cells in (None, "") else read_whole(cells, "rounded", MOST_CELLS, "session.rounded", 2),
            "ask": None if ask is None else read_ask(ask, facts),
        }

    def own_json(self) -> JsonObject:
        data: JsonObject = {"questions": self.questions, "calibration": self.calibration}
        if self.delta is not None:
            data["delta"] = text_of(self.delta)
        if self.rounded is not None:
            data["rounded"] = self.rounded
        return data if self.ask is None else data | {"ask": self.ask.as_json()}

    @property
    def answer_kind(self) -> AnswerKind:
        if self.ask is None:
            return self.card.answer
        return "label" if isinstance(self.ask, Largest) else "share" if isinstance(self.ask, Share) else "place"

    def to_check(self) -> set[str]:
        """All columns before it is opened: nobody knows its questions yet."""
        return set(self.facts.schema.columns) if self.ask is None else self.about()

    def valued(self) -> set[str]:
        return {self.ask.column} if isinstance(self.ask, Average) else set()

    def conditions(self) -> tuple[Predicate, ...]:
        if isinstance(self.ask, Largest):
            return self.ask.options
        return (self.ask.of,) if isinstance(self.ask, Share) else ()

    def sentence(self) -> str:
        return say("sentence.adaptive_session", questions=self.questions) if self.ask is None else self.ask.words()

    @property
    def theorem(self) -> str:
        return say(f"session.theorem.{self.calibration}")

    # The steps

    def open(self) -> State:
        return State(self.questions)

    def asking(self, ask: Json) -> Self:
        """One answer of this session, from the form's JSON; refused in one sentence."""
        return replace(self, ask=read_ask(ask, self.facts))

    def again(self, claim: JsonObject) -> Self:
        """One answer as it was asked: with the bounds of its claim, even if the declaration changed since."""
        schema = Schema.from_json({"columns": list(claim["bounds"].items())})
        return replace(self, facts=replace(self.facts, schema=schema)).asking(claim["ask"])

    def step(self, state: State, ask: Json, read: Callable[[AnyNeed], Any], coins: Coins) -> tuple[State, Part]:
        """Draws the next answer. The caller has already recorded its step as used."""
        if state.asked >= self.questions or state.questions != self.questions:
            raise AllowanceError("session.over", questions=self.questions)
        query = self.asking(ask)
        released = query.release(read(query.need()), coins)
        return replace(state, asked=state.asked + 1), Part(state.asked + 1, query, released)

    # Noise and loss

    @property
    def each(self) -> Fraction:
        """ε of one answer; for Gaussian noise the ε with ρ = ε²/2."""
        if self.calibration == "lecture":
            assert self.delta is not None
            return _gamma(self.epsilon, self.delta, self.questions)
        return self.epsilon / self.questions

    def loss(self) -> Loss:
        if self.calibration == "gaussian":
            rho = self.each**2 / 2
            return Gaussian(rho * self.questions if self.ask is None else rho)
        return Repeated(Pure(self.each), self.questions) if self.ask is None else Pure(self.each)

    @property
    def people(self) -> int:
        """The divisor of sums: the number of people if it is public, else the declared one."""
        return self.facts.about

    @property
    def nominal(self) -> bool:
        return self.facts.people is None

    def _reach(self, change: int) -> int:
        """No answer's noise exceeds this, except with probability β over the whole session."""
        return int(self._added(change).reach(self.beta / self.questions))

    def _added(self, change: int) -> Added:
        """The noise of one answer with this sensitivity."""
        scale = change / self.each
        return (GaussianNoise if self.calibration == "gaussian" else LaplaceNoise).of(scale, scale**2)

    @property
    def alpha(self) -> Fraction:
        """Every answer is within this of the table's own average on [0, 1], except with probability β in all."""
        if self.calibration == "gaussian":
            reach = self._reach(1)
        else:
            reach = ceiling(ln_above(self.questions / self.beta) / self.each)
        return min(Fraction(reach, self.people) + self.half_cell, Fraction(1))

    @property
    def half_cell(self) -> Fraction:
        """What rounding adds to the error of an answer on [0, 1]."""
        return Fraction(0) if self.rounded is None else Fraction(1, 2 * self.rounded)

    def promise(self) -> Within | NearBest | NearAverage:
        if self.ask is None:
            return Within(self.alpha * ALL, self.questions, self.beta, Fraction(0), "percent", self.nominal)
        if isinstance(self.ask, Largest):
            return self._choice.promise()
        reach = Fraction(self._reach(self.ask.change(self.facts.relation)), self.ask.grain * self.people)
        width = min(reach + self.half_cell, Fraction(1)) * self.ask.width
        return Within(width, self.questions, self.beta, Fraction(0), self.ask.unit, self.nominal)

    def limits(self, part: str = "") -> Ends | None:
        if self.ask is None or isinstance(self.ask, Largest):
            return None
        return self.ask.low, self.ask.low + self.ask.width

    def state(self, value: Json, interval: Json) -> str:
        if self.ask is None:
            return FEW if 2 * self.alpha >= NEARLY else ""
        return self._choice.state(value, interval) if isinstance(self.ask, Largest) else super().state(value, interval)

    def coarse(self) -> Fraction:
        if isinstance(self.ask, Largest):
            return self._choice.coarse()
        return (ALL if self.ask is None else self.ask.width) / 8

    # One answer

    @property
    def _choice(self) -> NoisyArgmax:
        """“Which is largest” at the privacy loss of one answer."""
        assert isinstance(self.ask, Largest)
        gaussian = self.calibration == "gaussian"
        return NoisyArgmax(
            facts=self.facts,
            epsilon=2 * self.each if gaussian else self.each,
            options=self.ask.options,
            beta=self.beta / self.questions,
            noise="" if gaussian else PermuteAndFlip.name,
        )

    @property
    def _sum(self) -> Share | Average:
        assert isinstance(self.ask, Share | Average)
        return self.ask

    def need(self) -> AnyNeed:
        if self.ask is None:
            return NoData()
        return self._choice.need() if isinstance(self.ask, Largest) else self.ask.need()

    def measured(self, value: Any) -> tuple[int, ...]:
        if self.ask is None:
            return ()
        return self._choice.measured(value) if isinstance(self.ask, Largest) else (self.ask.total(value),)

    def sensitivity(self) -> Sensitivity:
        if self.ask is None:
            return Sensitivity("l1", 0)
        if isinstance(self.ask, Largest):
            return self._choice.sensitivity()
        return Sensitivity("l1", self.ask.change(self.facts.relation))

    def draw(self, value: Any, coins: Coins) -> Any:
        if self.ask is None:
            return self.questions
        if isinstance(self.ask, Largest):
            return self._choice.draw(value, coins)
        return tuple(self._added(self.sensitivity().bound).draw(self.measured(value), coins))

    def law(self, value: Any) -> Law:
        if self.ask is None:
            return Finite({self.questions: Decimal(1)})
        if isinstance(self.ask, Largest):
            return self._choice.law(value)
        [total] = self.measured(value)
        return Independent((self._added(self.sensitivity().bound).law(total),))

    def shown(self) -> dict[str, str]:
        return self._choice.shown() if isinstance(self.ask, Largest) else {}

    def finish(self, raw: Any) -> Released:
        if self.ask is None:
            return Released(raw)
        if isinstance(self.ask, Largest):
            return self._choice.finish(raw)
        reach = self._reach(self.sensitivity().bound)
        away = Fraction(reach, self._sum.grain * self.people)
        share = self._share(raw[0])
        if self.rounded is not None:
            cell = min(max(math.floor(share * self.rounded), 0), self.rounded - 1)
            share, away = Fraction(2 * cell + 1, 2 * self.rounded), away + self.half_cell
        low, value, high = (self._in_unit(end) for end in (share - away, share, share + away))
        return Released(value, (low, high))

    def _share(self, total: int) -> Fraction:
        return self._sum.start + Fraction(total, self._sum.grain * self.people)

    def _in_unit(self, share: Fraction) -> float:
        """A share, clamped to [0, 1], in the question's own unit."""
        return float(self._sum.low + self._sum.width * min(max(share, Fraction(0)), Fraction(1)))


@lru_cache(maxsize=256)
def _gamma(epsilon: Fraction, delta: Fraction, questions: int) -> Fraction:
    return compositions.advanced_each(epsilon, delta, questions)


def read_questions(value: Json) -> int:
    try:
        wanted = read_number(value, "k")
    except AllowanceError:
        wanted = Fraction(0)
    if wanted.denominator != 1 or not 1 <= wanted <= MOST_QUESTIONS:
        raise AllowanceError("session.questions", most=MOST_QUESTIONS)
    return int(wanted)
