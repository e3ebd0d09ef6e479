"""What a question knows about its answer, and how accurate it will be, stated before it is drawn. A promise knows its
unit and its sentences.

A person can choose the error, `amount`, in the promise's own unit: `written` turns an amount into the text of a field,
`amount_of` turns typed text back, and `at` is the same promise for a chosen amount.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, log, sqrt
from typing import ClassVar, Self

from dpengine.core.amounts import BETA
from dpengine.core.exact import text_of
from dpengine.core.printed import chance, measured, percent_up, two_figures
from dpengine.core.types import Ends, Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Ref, base
from dpengine.declared.schema import ItemSet, Number
from dpengine.mechanisms.answer_state import APART, FEW, NEARLY, NOISE, alike, fills
from dpengine.mechanisms.card import ALL, CURVES, FIGURES, ON_COLUMN, AnswerKind, Card
from dpengine.messages import known, plain, say
from dpengine.messages.numbers import local, to_figures

# What a question knows about its answer: its kind, unit and limits, and when it is too noisy to say anything. Public
# facts, the promise and the released answer decide all of it.

Runs = tuple[str, tuple[int, ...], tuple[float, ...], float]  # a column, the first code of each run, counts, error


@dataclass(frozen=True, kw_only=True)
class Answered(ABC):
    card: ClassVar[Card]
    makes_rows: ClassVar[str] = ""  # a synthetic table: "drawn" as rows, or "fitted" to what was drawn
    keeps_empty: ClassVar[bool] = False  # does a row count although its number or day is missing?
    own_scales: ClassVar[bool] = False  # has every part a column of its own, so that they cannot share an axis?
    plans_people: ClassVar[bool] = False  # is the promise worked out for the people, although rows count?
    none_hoped: ClassVar[bool] = False  # is zero the best value of every part? All that may be zero are one finding

    facts: Facts
    by: Ref | None = None  # a list or a grouped column: one answer for each of its values
    beta: Fraction = BETA

    @abstractmethod
    def promise(self) -> Promise: ...

    @abstractmethod
    def promise_of(self, people: int) -> Promise:
        """The promise of this same question if only this many people count."""

    @property
    def planned_size(self) -> int:
        """About how many people or rows a plan supposes to count: a guess, if their number is not public."""
        rows = self.counts_rows and not self.plans_people
        return self.facts.about * (self.facts.unit.usual_rows if rows else 1)

    @abstractmethod
    def coarse(self) -> Fraction:
        """Errors above this are called coarse: usually a quarter of the answer's possible range. From public facts."""

    @property
    def conditional(self) -> bool:
        """Does a condition decide who counts? Then the number who count is never public."""
        return False

    @property
    def answer_kind(self) -> AnswerKind:
        return self.card.answer

    @property
    def answer_column(self) -> str:
        """The column of the answer's values or unit; "" if there is none."""
        return str(base(getattr(self, "column", "")))

    @abstractmethod
    def valued(self) -> set[str]:
        """The declared columns whose values enter the answer, the groups' column included."""

    def left_out(self) -> list[str]:
        """Number and date columns in which an empty cell excludes the row from the answer."""
        columns = {} if self.keeps_empty else {name: self.facts.schema[name] for name in sorted(self.valued())}
        return [name for name, column in columns.items() if isinstance(column, Number | Date) and not column.complete]

    def counted_empty(self) -> list[str]:
        """Columns in which an empty cell still counts in the total of a share."""
        return []

    def column_of(self, part: str = "") -> str:
        """The column in whose unit this part of the answer is given."""
        return self.answer_column

    @property
    def counts_rows(self) -> bool:
        """Does the question count rows rather than people? Yes if a person may or does have several rows, unless the
        question decides otherwise. Sets count the people who hold an item."""
        return self.rows_in_form(self.facts, {"column": self.answer_column, "people": getattr(self, "people", False)})

    @classmethod
    def rows_in_form(cls, facts: Facts, given: JsonObject) -> bool:
        """`counts_rows` for a form that is not complete yet."""
        sets = isinstance(facts.schema.columns.get(str(given.get("column"))), ItemSet)
        return facts.said_rows is not None and not sets and not given.get("people")

    @property
    def counted(self) -> str:
        """“rows” or “people”."""
        return "rows" if self.counts_rows else "people"

    @property
    def unit(self) -> str:
        """The unit of the figures: "people", "rows", "percent", "column" (its own), or the promise's kind."""
        return "column" if self.answer_kind in ON_COLUMN else self.promise().unit_for(self)

    @property
    def measure(self) -> str:
        """The declared unit of the answer's column, such as €; "" if there is none or the figures are not in it."""
        return self.measure_of()

    def measure_of(self, part: str = "") -> str:
        """`measure` for one part of the answer."""
        measure = getattr(self.facts.schema.columns.get(self.column_of(part)), "measure", "")
        return measure if measure and self.unit == "column" else ""

    @property
    def wanted_places(self) -> tuple[Fraction, ...]:
        """The ranks asked for, as shares of people (½ for a median)."""
        return ()

    @property
    def chooses(self) -> bool:
        """Does it measure only some figures, chosen with noise, and promise nothing about the others?"""
        return False

    @property
    def names_ordered(self) -> bool:
        """Does an answer of several names also give their order?"""
        return True

    @property
    def names_ranks(self) -> bool:
        """Does the promise compare each name with the true holder of its rank, rather than with the best one left?"""
        return False

    def has_range(self) -> bool:
        """Does the answer come with a range of values?"""
        return True

    @property
    def goal(self) -> Goal | None:
        """What the model predicts; None if the answer is not a model."""
        return None

    @property
    def predicts(self) -> str:
        """The column predicted by a model that is computed from the answer's figures."""
        return ""

    def limits(self, part: str = "") -> Ends | None:
        """The possible range of the answer, or of a part, from the declaration (with the declared number of people if
        the true one is secret). None if the answer is not a number."""
        match self.answer_kind:
            case "count":
                return 0, self.most
            case "share":
                return Fraction(0), ALL
            case "place":
                return self.facts.schema.ordered(self.answer_column).ends
            case "distance":
                return Fraction(0), self.facts.schema[self.answer_column].diameter
        return None

    @property
    def most(self) -> int:
        """The largest possible count; approximate if the number of people is not public."""
        return self.facts.about * self.facts.unit.at_most

    def sure(self, part: str = "") -> Ends:
        """Bounds on the true answer that hold on every table; None for a bound that is not known."""
        least, most = self.limits(part) or (None, None)
        return least, None if self.answer_kind == "count" and self.facts.people is None else most

    def mute(self, interval: Json, part: str = "") -> bool:
        """Is this range so wide that the figure says nothing?"""
        limits = self.limits(part)
        return limits is not None and interval is not None and fills(interval[0], interval[1], *limits)

    def maybe_none(self, interval: Json, part: str = "") -> bool:
        """Is this a count that may be zero, because its range holds 0?"""
        return self.answer_kind == "count" and interval is not None and bool(interval[0] <= 0)

    def verdict(self, interval: Json) -> str:
        """How well cells fit the declaration, judged by this range: a word of `data.fit`; "" if nobody asked that."""
        return ""

    def finding(self, value: Json, interval: Json) -> str:
        """The answer in a few words; "" if the usual words for its kind of answer will do."""
        return ""

    def finding_of(self, value: Json, interval: Json, raw: tuple[int, ...] | None) -> str:
        """`finding` from the drawn numbers `raw`, which may say more than the answer."""
        return self.finding(value, interval)

    def spreads(self, value: Json) -> Iterator[Runs]:
        """The distribution of each ordered column that the answer shows for everybody, as counts of runs of codes."""
        return iter(())

    def holds_none(self, interval: Json) -> bool:
        """May a count of something unwanted, such as misfits, be 0?"""
        return False

    @property
    def compared(self) -> bool:
        """Are the parts figures of the same kind, so that one of them can be the largest?"""
        return self.by is not None

    def headline_parts(self, parts: list[str]) -> list[str]:
        """The parts in order of importance, for a headline that cannot name them all."""
        return parts

    @property
    def comparable(self) -> bool:
        """Can its figures be compared with those of other answers?"""
        return self.answer_kind in FIGURES

    def state(self, value: Json, interval: Json) -> str:
        """Why the answer says nothing: one of the card's `states`, or "" if it does say something."""
        if not isinstance(interval, dict):
            return FEW if self.mute(interval) else ""
        narrow = [ends for part, ends in interval.items() if not self.mute(ends, part)]
        if interval and not narrow:
            return FEW
        return APART if self.compared and len(narrow) > 1 and alike(narrow) else ""

    def mostly_noise(self, value: Json, interval: Json) -> bool:
        """Is a released answer mostly noise, by its own ranges? Before the release, the promise decides."""
        if self.state(value, interval) in (FEW, NOISE):
            return True
        ranges = interval if isinstance(interval, dict) else {"": interval}
        figures = value if isinstance(interval, dict) else {"": value}
        known = {part: ends for part, ends in ranges.items() if ends is not None and not isinstance(ends[0], str)}
        if not known or any(self.limits(part) is None for part in known):
            return False
        good = [part for part, ends in known.items() if not self._wide(figures.get(part) or 0, ends, part)]
        if 2 * len(good) >= len(known):
            return False
        counted = sum(max(figures.get(part) or 0, 0) for part in known) if self.answer_kind == "count" else 0
        return not counted or 2 * sum(max(figures.get(part) or 0, 0) for part in good) < counted

    def _wide(self, figure: Json, ends: Ends, part: str) -> bool:
        """Does the range `ends` say too little about the figure? A count's, if half its width exceeds both `coarse` and
        a quarter of the figure; any other, if it is wider than a quarter of all possible values."""
        half = (ends[1] - ends[0]) / 2
        if self.answer_kind == "count":
            return bool(half > max(self.coarse(), abs(figure) / 4))
        least, most = self.limits(part) or (0, 0)
        return bool(half > (most - least) / 8)


WIDER = 1.15  # times as wide as was promised: that is said
_PARTS = (3, 10)  # a promise under a condition also says what holds if a third or a tenth of the people meet it


@dataclass(frozen=True)
class Promise(ABC):
    kind: ClassVar[str]
    sized_by: ClassVar[str] = "share"  # the field with the amount
    in_percent: ClassVar[bool] = False  # is the amount a share, which people read and type in percent?

    @property
    def amount(self) -> Fraction:
        return Fraction(getattr(self, self.sized_by))

    def at(self, wish: Fraction) -> Self:
        """The same promise with this amount."""
        return replace(self, **{self.sized_by: wish})

    @abstractmethod
    def words(self, asked: Answered | None = None) -> str:
        """A sentence on how accurate the answer will be, before anything is paid; plainer if the question is given."""

    @abstractmethod
    def short(self, asked: Answered | None = None) -> str:
        """`words` in short, for a card or a table cell."""

    def drawn(self, asked: Answered | None = None, several: bool = False) -> str:
        """How accurate a drawn answer is; `several`: it names more than one item."""
        return self.words(asked)

    def each(self, asked: Answered, of: int) -> str:
        """A sentence on how far each of the answer's `of` figures may be off."""
        return say("answer.ranges_one" if of == 1 else "answer.ranges", of=of, chance=chance(asked.beta))

    def size(self) -> str:
        """The amount with its unit, as text."""
        return percent_up(self.amount)

    @property
    def unit(self) -> str:
        """The unit of the amount; amounts of the same kind and unit can be compared."""
        return self.kind

    def unit_for(self, asked: Answered | None = None) -> str:
        """The unit as it occurs in message codes."""
        return self.kind

    def typed_in(self, asked: Answered | None = None) -> str:
        """The unit in which an accepted error is typed, as it occurs in message codes."""
        return self.unit_for()

    @property
    def empty(self) -> bool:
        """Is it a share so wide that nearly any answer is within it?"""
        return self.in_percent and 2 * self.amount >= NEARLY

    @property
    def whole(self) -> bool:
        """Is it shown exactly, in whole people or rows, rather than rounded to a few digits?"""
        return False

    @property
    def grouped(self) -> bool:
        """Is it for several groups, assuming that all have the same size?"""
        return False

    @property
    def figure(self) -> Fraction:
        """The amount in the unit in which it is shown."""
        return self.amount * 100 if self.in_percent else self.amount

    def figure_for(self, asked: Answered) -> Fraction:
        """`figure` for a question: a model's promise is in the unit of the predicted column."""
        return self.figure

    def size_for(self, asked: Answered) -> str:
        """`size` for a question."""
        return self.size()

    def ends(self, asked: Answered) -> tuple[str, str] | None:
        """The labels at the ends of a figure's error bar; None if the promise is no range around a figure."""
        return None

    def narrows(self, half: Fraction) -> bool:
        """Would its range be narrower than a received one of this half-width? True if the promise is no range."""
        return True

    def amount_of(self, typed: Fraction, asked: Answered | None = None) -> Fraction:
        """The amount that a typed figure stands for."""
        return typed / 100 if self.in_percent else typed

    def written(self, amount: Fraction, asked: Answered | None = None) -> str:
        """An amount as it would be typed."""
        return local(text_of(Fraction(f"{float(amount) * 100:.3g}") if self.in_percent else amount))

    def field(self, asked: Answered) -> tuple[str, str]:
        """The label of the field for the accepted error, and the error promised now."""
        return say(f"spend.wish.{self.kind}"), self.written(self.amount, asked)

    def floor_words(self, asked: Answered) -> str:
        """A sentence with the smallest error that any method could promise, if known."""
        return ""

    def wider_words(self, low: float, high: float, asked: Answered) -> str:
        """A sentence if a released range is clearly wider than this promise, which supposed a number of people."""
        return ""

    def of_people(self, people: int) -> Fraction:
        """The amount as a number of people."""
        return self.amount * people if self.in_percent else self.amount

    def supposes(self, asked: Answered | None = None) -> bool:
        """Does the promise assume the declared number of people? It must where the true number is secret: under a
        condition, or if membership is secret."""
        return bool(getattr(self, "nominal", False))

    def equal_groups(self, asked: Answered | None = None) -> bool:
        """Does it assume that all groups have the same size?"""
        return asked is not None and asked.by is not None

    def guess(self, asked: Answered | None = None) -> str:
        """What the promise supposes, as the end of a sentence; empty if it supposes nothing. How many people meet a
        condition is not public. So under a condition the words also say what the promise would be if a third, or a
        tenth, of the declared people met it."""
        if not self.supposes(asked):
            return ""
        groups = "_groups" if self.equal_groups(asked) else ""
        if asked is None or not asked.conditional:
            if asked is not None and asked.planned_size > asked.facts.about and not groups:
                return say("promise.nominal_rows", rows=asked.planned_size)
            if groups or asked is None or asked.facts.people is None:
                return say("promise.nominal_groups" if groups else "promise.nominal_declared")
            return say("promise.nominal", unit=say(f"chart.{asked.counted}"))
        everyone = _everyone(asked)
        if asked.promise().amount != self.amount:  # a wish, for another spend
            return say("promise.if_met_less", who=everyone)
        third, tenth = (self._if_met(asked, part) for part in _PARTS)
        return say(f"promise.if_met{groups}", who=everyone, third=third, tenth=tenth)

    def _if_met(self, asked: Answered, part: int) -> str:
        """The promised size if one in `part` of the declared people meets the condition."""
        then = asked.promise_of(max(asked.facts.about // part, 1))
        return say("promise.if_met.nothing") if then.amount >= 4 * asked.coarse() else then.size_for(asked)

    def at_best(self, short: str, asked: Answered | None = None) -> str:
        """A short promise with what it supposes, for a card or a table cell."""
        if asked is None or not self.supposes(asked):
            return short
        groups = self.equal_groups(asked)
        if asked.conditional:
            code = "promise.short.if_met_groups" if groups else "promise.short.if_met"
            return say(code, promise=short, who=_everyone(asked))
        return say("promise.short.groups", promise=short) if groups else short

    def wished(self, asked: Answered) -> tuple[str, str]:
        """`field`; under a condition its label also says that the promise assumes that everyone meets it."""
        label, now = self.field(asked)
        if self.supposes(asked) and asked.conditional:
            label = say("spend.wish.if_met", label=label, who=_everyone(asked))
        return label, now

    def unnamed(self, column: str) -> Promise:
        """The promise without its column's name, for a made-up table of a stated number of people."""
        return self


def _everyone(asked: Answered) -> str:
    return say("promise.all_rows" if asked.counts_rows else "who.everyone")


@dataclass(frozen=True)
class Goal:
    """What a model predicts. We show an excess loss in its unit: a bound on the excess of the typical error, since
    √(a + b) ≤ √a + √b; for yes and no, in percent of the loss of a coin toss."""

    target: str
    width: Fraction | None  # of a range of numbers; None for yes and no
    blank: Fraction  # an upper bound on the loss of the model with all weights 0
    toss: float = log(2)  # of yes and no: the loss of a coin toss

    @property
    def code(self) -> str:
        return "list" if self.width is None else "number"

    def error(self, risk: float) -> float:
        return 100 * risk / self.toss if self.width is None else sqrt(2 * risk) * float(self.width) / 2

    def risk(self, error: Fraction) -> Fraction:
        if self.width is None:
            return error / 100 * Fraction(self.toss).limit_denominator(10**9)
        return (2 * error / self.width) ** 2 / 2

    def axis(self) -> str:
        return say(f"train_page.axis.excess_{self.code}", target=self.target)


# Promises about figures, ranks in a column, and chosen names.

_NAMED = 4  # the error of at most this many columns


@dataclass(frozen=True)
class Within(Promise):
    """Every number of the answer (all of them at once) is within ±alpha of the truth, except with chance beta."""

    alpha: Fraction
    of: int  # how many numbers at once
    beta: Fraction
    floor: Fraction  # no method can promise less; 0 if no such bound is known
    unit: str = "people"  # or "percent", or a column for that column's unit; "" for an unnamed column
    nominal: bool = False  # True: for a table of about the declared size; the interval of the answer itself is exact
    spread: bool = False  # True: for values spread over the declared range
    kind: ClassVar[str] = "within"
    sized_by: ClassVar[str] = "alpha"

    @property
    def empty(self) -> bool:
        """Is a promise in percent so wide that nearly any share is within it?"""
        return self.unit == "percent" and 2 * self.alpha >= 100 * NEARLY

    def words(self, asked: Answered | None = None) -> str:
        words = {"alpha": self.alpha_words(asked), "of": self.of, "chance": chance(self.beta)}
        code = "curve" if asked is not None and asked.answer_kind in CURVES else self.code
        code = "within_measured" if asked is not None and asked.chooses else code
        return say(f"promise.{code}", **words) + self.guess(asked)

    def short(self, asked: Answered | None = None) -> str:
        alpha, planned = self.alpha_words(asked), False
        if asked is not None:
            if self.unit_for(asked) == "column":  # the question beside it names it
                alpha = measured(self._rounded(asked), asked.measure)
            supposes = self.supposes(asked) or self.spread
            planned = supposes and not asked.conditional and not self.equal_groups(asked)
        return self.at_best(say(f"promise.short.{'planned' if planned else 'within'}", alpha=alpha), asked)

    def drawn(self, asked: Answered | None = None, several: bool = False) -> str:
        if asked is None or asked.answer_kind not in CURVES:
            return self.words(asked)
        words = {"alpha": self.alpha_words(asked), "chance": chance(self.beta)}
        return say("answer.curve_nominal" if self.nominal else "answer.curve_within", rows=asked.facts.about, **words)

    def each(self, asked: Answered, of: int) -> str:
        if self.nominal or self.spread:
            return super().each(asked, of)
        code = "answer.within_one" if of == 1 else "answer.within_all"
        return say(code, alpha=self.alpha_words(asked), of=of, chance=chance(self.beta))

    def guess(self, asked: Answered | None = None) -> str:
        supposed = super().guess(asked)
        return supposed + say("promise.spread" if supposed else "promise.spread_alone") if self.spread else supposed

    def alpha_words(self, asked: Answered | None = None) -> str:
        """“60 people”, “1.2 percentage points”, or a figure in the column's own unit; to two figures, rounded up."""
        unit, figure = self.unit_for(asked), self._rounded(asked)
        if unit == "column" and asked is not None and asked.measure:
            return measured(figure, asked.measure)
        return say(f"amount.{unit}", alpha=figure, column=self.unit) if unit else figure

    def size(self) -> str:
        return f"±{self.alpha_words()}"

    def size_for(self, asked: Answered) -> str:
        return f"±{self.alpha_words(asked)}"

    def ends(self, asked: Answered) -> tuple[str, str] | None:
        figure = self._rounded(asked)
        if self.unit == "percent":
            figure = f"{figure} %"
        elif self.unit_for(asked) == "column":
            figure = measured(figure, asked.measure)
        return f"−{figure}", f"+{figure}"

    def narrows(self, half: Fraction) -> bool:
        return self.alpha < half

    def _rounded(self, asked: Answered | None) -> str:
        return plain(self.alpha) if self.unit_for(asked) in ("people", "rows") else two_figures(self.alpha)

    def unit_for(self, asked: Answered | None = None) -> str:
        if self.unit and asked is not None and asked.answer_kind in ON_COLUMN:
            return "column"  # whichever column it is
        if self.unit == "people":
            return "people" if asked is None else asked.counted
        return self.unit if self.unit in ("", "percent") else "column"

    @property
    def whole(self) -> bool:
        return self.unit == "people"

    @property
    def grouped(self) -> bool:
        return self.of > 1 and self.nominal

    @property
    def code(self) -> str:
        """Which sentence words this promise: `promise.<code>` in the message catalogue."""
        return "within" if self.of == 1 else "within_all"

    def field(self, asked: Answered) -> tuple[str, str]:
        label = say(f"spend.wish.{self.unit_for(asked) or 'within'}", column=self.unit)
        return label, self._rounded(asked)

    def wider_words(self, low: float, high: float, asked: Answered) -> str:
        if not self.nominal or high - low <= 2 * WIDER * float(self.alpha):
            return ""
        unit = say(f"chart.{asked.counted}")
        code = "answer.wider_spread" if self.spread else "answer.wider"
        return say(code, alpha=self.alpha_words(asked), about=asked.planned_size, unit=unit)

    def floor_words(self, asked: Answered) -> str:
        least = replace(self, alpha=Fraction(floor(self.floor)))  # never more than any method must be off by
        return say("floor.within", amount=least.alpha_words(asked)) if least.alpha else ""

    def equal_groups(self, asked: Answered | None = None) -> bool:
        return self.of > 1 and self.unit != "people" and (asked is None or asked.by is not None)

    def unnamed(self, column: str) -> Promise:
        return replace(self, nominal=False, unit="" if self.unit == column else self.unit)


@dataclass(frozen=True)
class WithinEach(Promise):
    """Every figure is off by at most `share` of its own column's declared range, all at once except with chance beta.
    `alphas` are the same errors in the columns' units."""

    share: Fraction  # of the range, in the worst column
    columns: tuple[str, ...]
    alphas: tuple[Fraction, ...]  # in each column's own unit
    beta: Fraction
    floor: Fraction = Fraction(0)  # no lower bound is known
    nominal: bool = False  # True: for a table of about the declared size; the interval of the answer itself is exact
    spread: bool = False  # True: for values spread evenly over the declared ranges
    kind: ClassVar[str] = "within_each"
    in_percent: ClassVar[bool] = True

    def at(self, wish: Fraction) -> Self:
        return replace(self, share=wish, alphas=tuple(alpha * wish / self.share for alpha in self.alphas))

    def words(self, asked: Answered | None = None) -> str:
        words = {"of": len(self.columns), "chance": chance(self.beta)}
        if self.empty:
            return say("promise.within_each_nothing") + self.guess(asked)
        each = self._each(asked) if asked is not None else ""
        code = "promise.within_each_one" if len(self.columns) == 1 else "promise.within_each"
        return say(code, share=percent_up(self.share), each=each, **words) + self.guess(asked)

    def _each(self, asked: Answered) -> str:
        """“ (age ±1.2, salary ±310 €)”: the first columns; empty for made-up ones."""
        if not all(self.columns):
            return ""
        listed = []
        for name, alpha in list(zip(self.columns, self.alphas, strict=True))[:_NAMED]:
            measure = getattr(asked.facts.schema.columns.get(name), "measure", "")
            listed.append(f"{name} ±{measured(two_figures(alpha), measure)}")
        return f" ({', '.join(listed)}{', …' if len(self.columns) > _NAMED else ''})"

    def guess(self, asked: Answered | None = None) -> str:
        supposed = super().guess(asked)
        return supposed + say("promise.spread" if supposed else "promise.spread_alone") if self.spread else supposed

    def short(self, asked: Answered | None = None) -> str:
        return self.at_best(say("promise.short.within_each", share=percent_up(self.share)), asked)

    def size(self) -> str:
        return f"±{percent_up(self.share)}"

    def unnamed(self, column: str) -> Promise:
        return replace(self, nominal=False, columns=("",) * len(self.columns))


@dataclass(frozen=True)
class Rank(Promise):
    """The answer's rank is at most `rows` people, a `share` of all of them, away from the wanted rank."""

    rows: Fraction
    share: Fraction
    beta: Fraction
    floor: Fraction  # in rows
    nominal: bool = False  # True: `rows` holds; `share` is a guess, because the number of people is not public
    kind: ClassVar[str] = "rank"
    in_percent: ClassVar[bool] = True

    def words(self, asked: Answered | None = None) -> str:
        if self._places(asked) == {}:
            return say("promise.anywhere") + self.guess(asked)
        return say(f"promise.{self._code(asked)}", **self._facts(asked)) + self.guess(asked) + self._values(asked)

    def short(self, asked: Answered | None = None) -> str:
        if self._places(asked) == {}:
            return self.at_best(say("promise.anywhere"), asked)
        return self.at_best(say(f"promise.short.{self._code(asked)}", **self._facts(asked)), asked)

    def drawn(self, asked: Answered | None = None, several: bool = False) -> str:
        code = self._code(asked)
        sentence = say("answer.rank" if code == "rank" else f"answer.rank.{code}", **self._facts(asked))
        return sentence.removesuffix(".") + self.guess(asked) + "."

    def size(self) -> str:
        return f"±{self._percent()}"

    def size_for(self, asked: Answered) -> str:
        away = self._percent().removesuffix(" %")
        return say("amount.of_all", away=say(f"amount.{asked.counted}", alpha=away))

    def _percent(self) -> str:
        return percent_up(min(self.share, Fraction(1)))

    def _code(self, asked: Answered | None) -> str:
        """The sentence's code: `half` for the middle, `below` for another single place, else `rank`."""
        if asked is None or not self._places(asked):
            return "rank"
        return "half" if asked.wanted_places[0] == Fraction(1, 2) else "below"

    def _facts(self, asked: Answered | None) -> JsonObject:
        unit = say(f"chart.{'people' if asked is None else asked.counted}")
        facts: JsonObject = {"share": self._percent(), "unit": unit, "chance": chance(self.beta)}
        return facts | (self._places(asked) or {})

    def _values(self, asked: Answered | None) -> str:
        """What the promise means in values: that depends on the data, so before the draw it is about ranks alone."""
        if asked is None:
            return ""
        code = "promise.in_values" if asked.has_range() else "promise.in_values_not"
        return say(f"{code}_unit", measure=asked.measure) if asked.measure else say(code)

    def _places(self, asked: Answered | None) -> JsonObject | None:
        """How many people in 100 the answer is away from the wanted place, rounded up; empty if it could be anywhere,
        None if the question asks for several places."""
        wanted = () if asked is None else asked.wanted_places
        if asked is None or len(wanted) != 1:
            return None
        low, high = wanted[0] - self.share, wanted[0] + self.share
        if low <= 0 and high >= 1:
            return {}
        per = 100 if self.share >= Fraction(1, 100) else 1_000 if self.share >= Fraction(1, 1_000) else 100_000
        away = say(f"amount.{asked.counted}", alpha=ceil(self.share * per))
        return {"away": away, "per": per, "place": plain(wanted[0] * per)}

    def floor_words(self, asked: Answered) -> str:
        share = _two_down(100 * self.floor / asked.planned_size)
        return say("floor.rank", share=f"{share} %", unit=say(f"chart.{asked.counted}")) if self.floor else ""

    def unnamed(self, column: str) -> Promise:
        return replace(self, nominal=False)


@dataclass(frozen=True)
class NearBest(Promise):
    """The chosen item's count is at most `gap` below the best one's."""

    gap: int
    beta: Fraction
    floor: Fraction
    kind: ClassVar[str] = "near_best"
    sized_by: ClassVar[str] = "gap"
    whole = True

    def at(self, wish: Fraction) -> Self:
        return replace(self, gap=int(wish))

    def _facts(self, asked: Answered | None) -> JsonObject:
        unit = say(f"compare.unit.{'people' if asked is None else asked.counted}", value=plain(self.gap))
        return {"gap": self.gap, "unit": unit, "chance": chance(self.beta)}

    def words(self, asked: Answered | None = None) -> str:
        return say(f"promise.{self.about(asked)}", **self._facts(asked))

    def short(self, asked: Answered | None = None) -> str:
        return say(f"promise.short.{self.about(asked)}", **self._facts(asked))

    def about(self, asked: Answered | None) -> str:
        """What is promised: "left_out" (no unnamed value leads a named one by more than the gap), "ranks" (each has
        nearly the count of its rank) or "near_best" (nearly the largest count)."""
        if asked is not None and not asked.names_ordered:
            return "left_out"
        return "ranks" if asked is not None and asked.names_ranks else "near_best"

    def drawn(self, asked: Answered | None = None, several: bool = False) -> str:
        ahead = "none_ahead_several" if several else "none_ahead"
        codes = {"left_out": "none_left_out", "ranks": "near_ranks", "near_best": ahead}
        return say(f"answer.{codes[self.about(asked)]}", **self._facts(asked))

    def size(self) -> str:
        return plain(self.gap)

    def field(self, asked: Answered) -> tuple[str, str]:
        return say("spend.wish.near_best"), plain(self.gap)

    def floor_words(self, asked: Answered) -> str:
        least = floor(self.floor)
        return say("floor.near_best", amount=say(f"amount.{asked.counted}", alpha=least)) if least else ""


@dataclass(frozen=True)
class NearAverage(Promise):
    """The average of the named column is below the highest one by at most `share` of the range."""

    share: Fraction
    beta: Fraction
    floor: Fraction  # a share too
    nominal: bool = False  # True: `share` is a guess, because the number of people is not public
    kind: ClassVar[str] = "near_average"
    in_percent: ClassVar[bool] = True

    def words(self, asked: Answered | None = None) -> str:
        return say("promise.near_average", share=self.size(), chance=chance(self.beta)) + self.guess(asked)

    def short(self, asked: Answered | None = None) -> str:
        return self.at_best(say("promise.short.near_average", share=self.size()), asked)

    def drawn(self, asked: Answered | None = None, several: bool = False) -> str:
        sentence = say("answer.no_average_ahead", share=self.size(), chance=chance(self.beta))
        return sentence.removesuffix(".") + self.guess(asked) + "."

    def floor_words(self, asked: Answered) -> str:
        return say("floor.near_average", share=f"{_two_down(100 * self.floor)} %") if self.floor else ""


def _two_down(amount: Fraction) -> str:
    """To two figures, rounded down: a lower bound says no more than was proved."""
    grain = Fraction(1)
    while 0 < amount < 10 * grain:
        grain /= 10
    while amount >= 100 * grain:
        grain *= 10
    return to_figures(float(floor(amount / grain) * grain), 2)


# Promises about published rows, smooth curves and models.


@dataclass(frozen=True)
class Blurred(Promise):
    """How far a published cell is off on average; averages over all rows are far more accurate."""

    columns: tuple[str, ...]
    errors: tuple[Fraction, ...]  # of one cell: in the column's unit, or the chance that it is not the true value
    floors: tuple[Fraction, ...]  # lower bounds on the worst error of any mechanism that is (ε, δ)-DP for the row
    untrue: Fraction  # the chance that not all listed values of a row are true; 0 if no column is a list
    untrue_floor: Fraction  # the lower bound on it
    share: Fraction  # of the range: the error of the average of all rows in the worst column, except with chance β
    beta: Fraction
    kind: ClassVar[str] = "blurred"
    in_percent: ClassVar[bool] = True

    def words(self, asked: Answered | None = None) -> str:
        return self._say("promise.blurred")

    def short(self, asked: Answered | None = None) -> str:
        return self._say("promise.short.blurred")

    def drawn(self, asked: Answered | None = None, several: bool = False) -> str:
        return self._say("answer.blurred")

    def _say(self, code: str) -> str:
        """The sentence `code` with the accuracy of an average over all rows."""
        if self.empty:
            return say(f"{code}_nothing")
        return say(code, share=percent_up(self.share), chance=chance(self.beta))


@dataclass(frozen=True)
class Band(Promise):
    """The whole curve, at all its points at once, is within ±alpha of the true one, except with probability beta; at
    one point chosen in advance, within ±pointwise. Heights are per unit of the columns."""

    alpha: Fraction
    pointwise: Fraction
    of: int  # points
    even: Fraction  # the height of the curve if people were spread evenly over the declared range
    beta: Fraction
    floor: Fraction = Fraction(0)  # no lower bound is known
    nominal: bool = False  # True: for a table of about the declared size
    kind: ClassVar[str] = "band"
    in_percent: ClassVar[bool] = True

    @property
    def amount(self) -> Fraction:
        """Alpha relative to the height of an even spread, so that promises can be compared."""
        return self.alpha / self.even

    def at(self, wish: Fraction) -> Self:
        return replace(self, alpha=wish * self.even)

    def words(self, asked: Answered | None = None) -> str:
        return say("promise.band", share=percent_up(self.amount), chance=chance(self.beta)) + self.guess(asked)

    def short(self, asked: Answered | None = None) -> str:
        return self.at_best(say("promise.short.band", share=percent_up(self.amount)), asked)

    def supposes(self, asked: Answered | None = None) -> bool:
        """Also under a condition: `amount` is relative to an even spread, which is lower if fewer people count."""
        return self.nominal or (asked is not None and asked.conditional)

    def size(self) -> str:
        return f"±{percent_up(self.amount)}"


@dataclass(frozen=True)
class Excess(Promise):
    """The model's expected average loss on the table is at most `risk` above that of the best model in its region."""

    risk: Fraction
    plain: Fraction  # the bound without noise
    limit: Fraction  # the lecture's bound without noise, RG/√T
    beta: Fraction
    floor: Fraction
    nominal: bool = False  # True: for a table of about the declared size
    named: bool = True  # may the predicted column be named?
    kind: ClassVar[str] = "excess"
    sized_by: ClassVar[str] = "risk"

    def words(self, asked: Answered | None = None) -> str:
        return self.said("promise.excess", asked)

    def short(self, asked: Answered | None = None) -> str:
        return self.at_best(self.said("promise.short.excess", asked), asked)

    def drawn(self, asked: Answered | None = None, several: bool = False) -> str:
        return self.said("answer.excess", asked)

    def said(self, code: str, asked: Answered | None) -> str:
        """The promise in the unit of the predicted column; without the question, in units of the loss."""
        goal = None if asked is None else asked.goal
        if goal is None:
            return say(f"{code}_loss", error=two_figures(self.risk))
        if known(f"{code}_nothing") and self.risk >= goal.blank:
            return say(f"{code}_nothing")
        error = two_figures(Fraction(goal.error(float(self.risk))).limit_denominator(10**9))
        if not self.named and known(f"{code}_unnamed") and goal.code == "number":
            return say(f"{code}_unnamed", error=error)
        return say(f"{code}_{goal.code}", error=error, target=goal.target)

    def typed_in(self, asked: Answered | None = None) -> str:
        return self.kind if asked is None or asked.goal is None else f"{self.kind}_{asked.goal.code}"

    def figure_for(self, asked: Answered) -> Fraction:
        return self.risk if asked.goal is None else Fraction(asked.goal.error(float(self.risk)))

    def size_for(self, asked: Answered) -> str:
        return self.said("train_page.short", asked)

    def unnamed(self, column: str) -> Promise:
        return replace(self, nominal=False, named=False)

    def amount_of(self, typed: Fraction, asked: Answered | None = None) -> Fraction:
        return typed if asked is None or asked.goal is None else asked.goal.risk(typed)

    def written(self, amount: Fraction, asked: Answered | None = None) -> str:
        goal = None if asked is None else asked.goal
        return local(text_of(Fraction(f"{float(amount) if goal is None else goal.error(float(amount)):.3g}")))

    def field(self, asked: Answered) -> tuple[str, str]:
        unit = "" if asked.goal is None else asked.goal.axis()
        return say("spend.wish.excess", unit=unit), self.written(self.risk, asked)
