"""Promises about figures, ranks in a column, and chosen names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar, Self

from dpengine.core.printed import chance, measured, percent_up, two_figures
from dpengine.core.types import JsonObject
from dpengine.mechanisms.answer_state import NEARLY
from dpengine.mechanisms.card import CURVES, ON_COLUMN
from dpengine.mechanisms.promises.promise import Asked, OfShare, Promise
from dpengine.messages import plain, say
from dpengine.messages.numbers import to_figures

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

    @property
    def amount(self) -> Fraction:
        return self.alpha

    def at(self, wish: Fraction) -> Self:
        return replace(self, alpha=wish)

    @property
    def empty(self) -> bool:
        """Is a promise in percent so wide that nearly any share is within it?"""
        return self.unit == "percent" and 2 * self.alpha >= 100 * NEARLY

    def words(self, asked: Asked | None = None) -> str:
        words = {"alpha": self.alpha_words(asked), "of": self.of, "chance": chance(self.beta)}
        code = "curve" if asked is not None and asked.answer_kind in CURVES else self.code
        code = "within_measured" if asked is not None and asked.chooses else code
        return say(f"promise.{code}", **words) + self.guess(asked)

    def short(self, asked: Asked | None = None) -> str:
        alpha, planned = self.alpha_words(asked), False
        if asked is not None:
            if self.unit_for(asked) == "column":  # the question beside it names it
                alpha = measured(self._rounded(asked), asked.measure)
            supposes = self.supposes(asked) or self.spread
            planned = supposes and not asked.conditional and not self.equal_groups(asked)
        return self.at_best(say(f"promise.short.{'planned' if planned else 'within'}", alpha=alpha), asked)

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        if asked is None or asked.answer_kind not in CURVES:
            return self.words(asked)
        words = {"alpha": self.alpha_words(asked), "chance": chance(self.beta)}
        return say("answer.curve_nominal" if self.nominal else "answer.curve_within", rows=asked.facts.about, **words)

    def each(self, asked: Asked, of: int) -> str:
        if self.nominal or self.spread:
            return super().each(asked, of)
        code = "answer.within_one" if of == 1 else "answer.within_all"
        return say(code, alpha=self.alpha_words(asked), of=of, chance=chance(self.beta))

    def guess(self, asked: Asked | None = None) -> str:
        supposed = super().guess(asked)
        return supposed + say("promise.spread" if supposed else "promise.spread_alone") if self.spread else supposed

    def alpha_words(self, asked: Asked | None = None) -> str:
        """“60 people”, “1.2 percentage points”, or a figure in the column's own unit; to two figures, rounded up."""
        unit, figure = self.unit_for(asked), self._rounded(asked)
        if unit == "column" and asked is not None and asked.measure:
            return measured(figure, asked.measure)
        return say(f"amount.{unit}", alpha=figure, column=self.unit) if unit else figure

    def size(self) -> str:
        return f"±{self.alpha_words()}"

    def size_for(self, asked: Asked) -> str:
        return f"±{self.alpha_words(asked)}"

    def ends(self, asked: Asked) -> tuple[str, str] | None:
        figure = self._rounded(asked)
        if self.unit == "percent":
            figure = f"{figure} %"
        elif self.unit_for(asked) == "column":
            figure = measured(figure, asked.measure)
        return f"−{figure}", f"+{figure}"

    def narrows(self, half: Fraction) -> bool:
        return self.alpha < half

    def _rounded(self, asked: Asked | None) -> str:
        return plain(self.alpha) if self.unit_for(asked) in ("people", "rows") else two_figures(self.alpha)

    def unit_for(self, asked: Asked | None = None) -> str:
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
        return "within" if self.of == 1 else "within_all"

    def field(self, asked: Asked) -> tuple[str, str]:
        label = say(f"spend.wish.{self.unit_for(asked) or 'within'}", column=self.unit)
        return label, self._rounded(asked)

    def floor_words(self, people: int) -> str:
        return _floor_words(self.kind, self.floor)

    def equal_groups(self, asked: Asked | None = None) -> bool:
        return self.of > 1 and self.unit != "people" and (asked is None or asked.by is not None)

    def unnamed(self, column: str) -> Promise:
        return replace(self, nominal=False, unit="" if self.unit == column else self.unit)


@dataclass(frozen=True)
class WithinEach(OfShare):
    """Each figure is within the same share of its own column's declared range, its alpha, of the truth; all at once
    except with chance beta."""

    share: Fraction  # of the range, in the worst column
    columns: tuple[str, ...]
    alphas: tuple[Fraction, ...]  # in each column's own unit
    beta: Fraction
    floor: Fraction = Fraction(0)  # no lower bound is known
    nominal: bool = False  # True: for a table of about the declared size; the interval of the answer itself is exact
    spread: bool = False  # True: for values spread evenly over the declared ranges
    kind: ClassVar[str] = "within_each"

    def at(self, wish: Fraction) -> Self:
        return replace(self, share=wish, alphas=tuple(alpha * wish / self.share for alpha in self.alphas))

    @property
    def empty(self) -> bool:
        return 2 * self.share >= NEARLY

    def words(self, asked: Asked | None = None) -> str:
        words = {"of": len(self.columns), "chance": chance(self.beta)}
        if self.empty:
            return say("promise.within_each_nothing") + self.guess(asked)
        each = self._each(asked) if asked is not None else ""
        code = "promise.within_each_one" if len(self.columns) == 1 else "promise.within_each"
        return say(code, share=percent_up(self.share), each=each, **words) + self.guess(asked)

    def _each(self, asked: Asked) -> str:
        """“ (age ±1.2, salary ±310 €)”: the first columns; empty for made-up ones."""
        if not all(self.columns):
            return ""
        listed = []
        for name, alpha in list(zip(self.columns, self.alphas, strict=True))[:_NAMED]:
            measure = getattr(asked.facts.schema.columns.get(name), "measure", "")
            listed.append(f"{name} ±{measured(two_figures(alpha), measure)}")
        return f" ({', '.join(listed)}{', …' if len(self.columns) > _NAMED else ''})"

    def guess(self, asked: Asked | None = None) -> str:
        supposed = super().guess(asked)
        return supposed + say("promise.spread" if supposed else "promise.spread_alone") if self.spread else supposed

    def short(self, asked: Asked | None = None) -> str:
        return self.at_best(say("promise.short.within_each", share=percent_up(self.share)), asked)

    def size(self) -> str:
        return f"±{percent_up(self.share)}"

    def unnamed(self, column: str) -> Promise:
        return replace(self, nominal=False, columns=("",) * len(self.columns))


@dataclass(frozen=True)
class Rank(OfShare):
    """The answer's place in the ordering is within `rows` people, a `share` of them, of the wanted place."""

    rows: Fraction
    share: Fraction
    beta: Fraction
    floor: Fraction  # in rows
    nominal: bool = False  # True: `rows` holds; `share` is a guess, because the number of people is not public
    kind: ClassVar[str] = "rank"

    def words(self, asked: Asked | None = None) -> str:
        if self._places(asked) == {}:
            return say("promise.anywhere") + self.guess(asked)
        return say(f"promise.{self._code(asked)}", **self._facts(asked)) + self.guess(asked) + self._values(asked)

    def short(self, asked: Asked | None = None) -> str:
        return self.at_best(say(f"promise.short.{self._code(asked)}", **self._facts(asked)), asked)

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        around, unit = self._places(asked), counted_words(asked)
        sentence = say("answer.places", unit=unit, **around) if around else say("answer.rank", **self._facts(asked))
        return sentence.removesuffix(".") + self.guess(asked) + "."

    def size(self) -> str:
        return f"±{self._percent()}"

    def size_for(self, asked: Asked) -> str:
        return say("amount.of_all", share=self._percent(), unit=counted_words(asked))

    def _percent(self) -> str:
        return percent_up(min(self.share, Fraction(1)))

    def _code(self, asked: Asked | None) -> str:
        """A single wanted place has a name: the middle, or number 90 of 100."""
        if asked is None or not self._places(asked):
            return "rank"
        return "half" if asked.wanted_places[0] == Fraction(1, 2) else "below"

    def _facts(self, asked: Asked | None) -> JsonObject:
        wanted, places = () if asked is None else asked.wanted_places, self._places(asked)
        facts: JsonObject = {"share": self._percent(), "unit": counted_words(asked), "chance": chance(self.beta)}
        if places:  # sorted, the first is number 1
            facts |= places | {"low": max(places["low"], Fraction(1)), "place": plain(wanted[0] * places["per"])}
        return facts

    def _values(self, asked: Asked | None) -> str:
        """The error in values: before the draw it is a share of people, and its size in the column's unit depends on
        the data."""
        if asked is None:
            return ""
        code = "promise.in_values" if asked.has_range() else "promise.in_values_not"
        return say(f"{code}_unit", measure=asked.measure) if asked.measure else say(code)

    def _places(self, asked: Asked | None) -> JsonObject | None:
        """The range of the answer's rank among all people, rounded outwards; empty if it could be anywhere, None if the
        question asks for several ranks."""
        wanted = () if asked is None else asked.wanted_places
        if len(wanted) != 1:
            return None
        low, high = wanted[0] - self.share, wanted[0] + self.share
        if low <= 0 and high >= 1:
            return {}
        per = 100 if self.share >= Fraction(1, 100) else 1_000 if self.share >= Fraction(1, 1_000) else 100_000
        low, high = Fraction(floor(max(low, Fraction(0)) * per)), Fraction(ceil(min(high, Fraction(1)) * per))
        return {"low": low, "high": high, "per": per, "chance": chance(self.beta)}

    def floor_words(self, people: int) -> str:
        return say("floor.rank", share=f"{to_figures(float(self.floor / people) * 100, 2)} %") if self.floor else ""

    def unnamed(self, column: str) -> Promise:
        return replace(self, nominal=False)


@dataclass(frozen=True)
class NearBest(Promise):
    """The chosen item's count is at most `gap` below the best one's."""

    gap: int
    beta: Fraction
    floor: Fraction
    kind: ClassVar[str] = "near_best"

    @property
    def amount(self) -> Fraction:
        return Fraction(self.gap)

    def at(self, wish: Fraction) -> Self:
        return replace(self, gap=int(wish))

    def _facts(self, asked: Asked | None) -> JsonObject:
        return {"gap": self.gap, "unit": counted_words(asked), "chance": chance(self.beta)}

    def words(self, asked: Asked | None = None) -> str:
        return say("promise.left_out" if self._in_no_order(asked) else "promise.near_best", **self._facts(asked))

    def short(self, asked: Asked | None = None) -> str:
        code = "promise.short.left_out" if self._in_no_order(asked) else "promise.short.near_best"
        return say(code, **self._facts(asked))

    def _in_no_order(self, asked: Asked | None) -> bool:
        return asked is not None and not asked.names_ordered

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        if self._in_no_order(asked):
            return say("answer.none_left_out", **self._facts(asked))
        return say("answer.none_ahead_several" if several else "answer.none_ahead", **self._facts(asked))

    def size(self) -> str:
        return plain(self.gap)

    @property
    def whole(self) -> bool:
        return True

    def field(self, asked: Asked) -> tuple[str, str]:
        return say("spend.wish.near_best"), plain(self.gap)

    def floor_words(self, people: int) -> str:
        return _floor_words(self.kind, self.floor)


@dataclass(frozen=True)
class NearAverage(OfShare):
    """The named average is at most `share` of the range below the highest."""

    share: Fraction
    beta: Fraction
    floor: Fraction  # a share too
    nominal: bool = False  # True: `share` is a guess, because the number of people is not public
    kind: ClassVar[str] = "near_average"

    def words(self, asked: Asked | None = None) -> str:
        return say("promise.near_average", share=self.size(), chance=chance(self.beta)) + self.guess(asked)

    def short(self, asked: Asked | None = None) -> str:
        return self.at_best(say("promise.short.near_average", share=self.size()), asked)

    def drawn(self, asked: Asked | None = None, several: bool = False) -> str:
        sentence = say("answer.no_average_ahead", share=self.size(), chance=chance(self.beta))
        return sentence.removesuffix(".") + self.guess(asked) + "."

    def floor_words(self, people: int) -> str:
        return say("floor.near_average", share=f"{to_figures(float(self.floor) * 100, 2)} %") if self.floor else ""


def counted_words(asked: Asked | None) -> str:
    """“people”, or “rows” if the question counts rows."""
    return say(f"chart.{'people' if asked is None else asked.counted}")


def _floor_words(kind: str, least: Fraction) -> str:
    return say(f"floor.{kind}", amount=round(least)) if round(least) else ""
