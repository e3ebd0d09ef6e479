"""Find the ranges and lists of raw columns, for an owner who does not know them. The columns need not be declared.

Guarantee   ρ-zCDP up to δ under both relations, ρ = ε²/2 shared out over the columns (Bun and Steinke 2016, Def. 8.1):
            Together(Gaussian, Exponential twice a range, Approximate(0, δ)). With Laplace noise ε is shared out, and
            the guarantee is (ε, δ)-DP, ε-DP for ranges alone. δ is paid where there are lists, since what the data
            hold decides which values can appear; all lists share one δ.
Theorem     discrete Gaussian: Canonne, Kamath, Steinke 2020, Thm 14; exponential mechanism: McSherry, Talwar 2007, and
            its Rényi curve as bounded range: Dong, Durfee, Rogers 2020; stability-based histogram: Korolova,
            Kenthapadi, Mishra, Ntoulas 2009, Thm 1; Bun, Nissim, Stemmer 2016.
Statistic   a list: rows per value that is present, capitals and outer spaces aside. A range: rows per public band
            (powers of two, or years), and how many rows hold a number (or a day) at all. A person holds at most m rows.

List        every present value's count + Z; those of at least T are released, with their noisy count. Gaussian: σ² =
            am²/(2ρ_j), a = 2 sides under replace-one and 1 under add/remove. Laplace: scale s = am/ε_j.
  Gaussian  D and D′ differ in one person. Call *new* a value that only one of them holds: its count there is the
            person's, k_v, Σk_v ≤ m, at most m of them. Let E: D shows none of its new values, E′: D′ none of its own.
            Pr[¬E] ≤ m·Pr[Z ≥ T−m] ≤ δ_j, by the choice of T, and so for E′. Given E and E′ both laws are one function
            of the noisy counts of the values that both hold, which differ by at most am² in squared L2: their Rényi
            divergence is at most αρ_j. Both events can be thinned by a coin to chance 1−δ_j exactly without a change
            of the conditioned laws, so the pair is a mixture with weights 1−δ_j of a ρ_j-zCDP pair and δ_j of anything:
            what Together(Gaussian(ρ_j), Approximate(0, δ_j)) states. Over the lists the δ_j add up to δ. ∎
  Laplace   Let D′ be D with one person more, and η the chance that D′ releases one of its new values. On the values
            both hold the two laws differ by a factor of at most e^(m/s) = e^(ε_j) at each outcome. An outcome S of D′
            either shows a new value, which has chance η, or lies among the common ones: P′(S) ≤ e^(ε_j)·P(S) + η. The
            other way, P(S) ≤ e^x·P′(S)/(1−η) with x ≤ ε_j, so P(S) − e^(ε_j)·P′(S) ≤ P(S)·(1 − e^(ε_j−x)(1−η)) ≤ η.
            η ≤ Σ Pr[Z ≥ T−k_v] over new values, and Pr[Z ≥ i] = r^i/(1+r) for i ≥ 0, r = e^(−1/s), is convex in k_v:
            for i new values the sum is largest with i−1 of them at 1 and one at m−i+1, where it is again convex in i.
            So η ≤ max(r^(T−m), m·r^(T−1))/(1+r), and T is the least integer for which this is at most δ_j.
            Replace-one: one person's values go, another's come. The common part changes by at most 2m in L1, so s =
            2m/ε_j; with η for the values that come and η′ for those that go the two steps give P′(S) − e^(ε_j)·P(S) ≤
            η + η′; so T is taken for δ_j/2. Hence (ε_j, δ_j)-DP. ∎
            σ², s and T are those of the sampler, whose scale is the least float with no less noise. Keeping the largest
            MOST_FOUND and hiding unprintable values are post-processing, and a rule on a value.
Range       b_i rows lie below band i. The lower end is the start of a band, by the exponential mechanism with the gap
            max(0, b_i − r, r − b_(i+1)): 0 for the band in which the r-th row from below lies, and one person moves it
            by m at most. The upper end is the same from above. With ε′ for each end the rate is ε′/(2m). The number of
            rows with a number gets noise too, for a tenth of ρ_j or of ε_j: one person changes it by at most m. If it
            is too small, no range is released.
Accuracy    except with probability β, for all columns at once: every value that at least T + t′ rows hold is found (at
            most n/T of them), and released counts are within t; if a range is released, at most 2r − 1 rows lie below
            its lower end, and as many above its upper end, r = t″ + 1, t″ a bound on the gap of the choice. Laplace
            noise has a far higher T, about s·ln(1/δ), since its tails are heavier; it keeps a finite ε.
Else        n − Σ released counts rows hold other values, n public. Values of at least T + t rows are surely shown; b of
            those shown may be others. The sum over the former has f noises at most, and each of the others is within
            t: ± (reach of f together + b·t).
Cost        one pass over each raw column; one draw for each present value, two choices for each range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, cast

import numpy as np

from dpengine.accountant.loss import Approximate, Exponential, Gaussian, Loss, Pure, Repeated, Together
from dpengine.core.amounts import read_delta
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, exp_decimal, first_true, ln_above, text_of
from dpengine.core.printed import chance
from dpengine.core.types import Ends, Integers, Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.answer_state import FOUND
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.noise import Added, GaussianNoise, LaplaceNoise, chosen
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import plain, say
from dpengine.messages.numbers import day
from dpengine.noise.coins import Coins, gaussian_scale, laplace_scale
from dpengine.noise.laws import Independent, weighted
from dpengine.noise.tails import choice_gap
from dpengine.statistics.raw_cells import BANDS, EDGES, FIRST_YEAR, YEARS
from dpengine.statistics.raw_needs import Bands, OfOne, Several, Values, Years

# The answer: as one flat answer, part by part, and column by column.
#
# A part has the name “column: part”. Found values are in small letters, so none of them is one of the four capitalised
# parts. No column of a purchase has the name of another one followed by a colon.

FROM, TO, HOLD, ELSE = "From", "To", "Hold", "Else"
_ORDER = {FROM: 0, TO: 1, HOLD: 2, ELSE: 2}  # the values of a list have 1
_SHOWN = 12  # values in a line


@dataclass(frozen=True)
class Drafted:
    """The draft of a column's declaration: a range, or a list with the rows of each value, or neither."""

    column: str
    kind: str  # number, date or list
    ends: Ends | None = None
    values: tuple[tuple[str, int], ...] = ()
    other: tuple[int, Ends] | None = None  # rows with other values, if known

    @property
    def usable(self) -> bool:
        """Is it a declaration? A list needs at least two values."""
        return self.ends is not None or len(self.values) > 1

    def words(self) -> str:
        if self.ends is not None:
            return say(f"found.line.{self.kind}", column=self.column, low=_end(self.ends[0]), high=_end(self.ends[1]))
        if not self.values:
            return say("found.line.nothing", column=self.column)
        named = ", ".join(value for value, _ in self.values[:_SHOWN]) + (", …" if len(self.values) > _SHOWN else "")
        line = say("found.line.list", column=self.column, values=len(self.values), named=named)
        if self.other is None:
            return line
        most = max(self.other[1][1], 0)
        return f"{line} {say('found.line.other', about=max(self.other[0], 0), most=most)}"


def _end(end: Json) -> str:
    return day(end) if isinstance(end, str) else plain(end)


def number_at(edge: Decimal) -> int | float:
    """The edge as a number; an integer if it is one. Exact, because edges are powers of two."""
    return int(edge) if edge == int(edge) else float(edge)


MOST_COLUMNS = 40
LIST_WEIGHT, RANGE_WEIGHT = 3, 2  # of ρ: a threshold far out in a tail needs more than a rank
COUNT_PART = Fraction(1, 10)  # of a range's ρ, for the number of rows with a number
MOST_FOUND = 1_000  # the longest drafted list
CAP = 50  # larger gaps count as this many times the bound on a choice's gap: public, and far beyond any choice
_NAMED = 3  # columns in a sentence
_GUARD = 1 + Fraction(1, 10**20)  # far above the rounding of a few 28-digit operations

ValueCounts = tuple[tuple[str, int], ...]

Drawn = tuple[int, int, int] | ValueCounts  # of a range: two bands, and the rows with a number; of a list: its values


@dataclass(frozen=True, kw_only=True)
class FindDeclarations(Query[tuple[OfOne, ...], tuple[Drawn, ...]]):
    card: ClassVar[Card] = Card(
        key="find_declarations",
        asked_on=("data",),
        order=220,
        answer="declarations",
        states=(FOUND,),
        caveats=("rare", "ends", "delta", "spelling"),
        own=(
            Parameter("numbers", "columns"),
            Parameter("dates", "columns"),
            Parameter("lists", "columns"),
            Parameter("delta", "delta"),
        ),
    )
    declares: ClassVar[bool] = True
    of_people: ClassVar[bool] = False
    trial: ClassVar[Trial] = Trial(
        cases={
            "of a number": {"numbers": ["raw number"]},
            "of a list": {"lists": ["raw text"], "delta": "1e-6"},
            "of a number, Laplace": {"numbers": ["raw number"], "noise": "laplace"},
            "of a list, Laplace": {"lists": ["raw text"], "delta": "1e-6", "noise": "laplace"},
        },
        example=Example({"lists": ["street"], "delta": "0.01"}),
        broken_variants=("threshold",),
        covered="test_the_promises_of_ranges_and_lists_hold",
        data_support="tests/engine/mechanisms/test_find_declarations.py",
        with_noise={"finds_laplace": Example({"lists": ["street"], "delta": "0.01", "noise": "laplace"})},
    )

    accepts: ClassVar[tuple[type[Added], ...]] = (GaussianNoise, LaplaceNoise)

    numbers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    delta: Fraction = Fraction(0)

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        fields: Fields = {}
        for kind in ("numbers", "dates", "lists"):
            names = given.get(kind) or []
            if not isinstance(names, (list, tuple)):
                raise AllowanceError("find_declarations.columns", most=MOST_COLUMNS)
            fields[kind] = tuple(facts.in_file(name) for name in names)
        every = [*fields["numbers"], *fields["dates"], *fields["lists"]]
        alike = any(own != other and own.startswith(f"{other}: ") for own in every for other in every)
        if not 1 <= len(every) <= MOST_COLUMNS or len(set(every)) != len(every) or alike:
            raise AllowanceError("find_declarations.columns", most=MOST_COLUMNS)
        fields["delta"] = read_delta(given.get("delta")) if fields["lists"] else Fraction(0)
        return fields

    def own_json(self) -> JsonObject:
        given: JsonObject = {
            kind: list(names) for kind in ("numbers", "dates", "lists") if (names := getattr(self, kind))
        }
        return given | ({"delta": text_of(self.delta)} if self.lists else {})

    def valued(self) -> set[str]:
        """Empty: the question uses no declared bound of a column."""
        return set()

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """Each column with its kind: number, date or list."""
        kinds = {"number": self.numbers, "date": self.dates, "list": self.lists}
        return tuple((name, kind) for kind, names in kinds.items() for name in names)

    def sentence(self) -> str:
        names = [name for name, _ in self.asked]
        if len(names) > _NAMED:
            return say("sentence.find_declarations_many", columns=len(names))
        return say("sentence.find_declarations", columns=say("who.and").join(names), many=len(names))

    def need(self) -> Several:
        kinds: dict[str, type[Bands | Years | Values]] = {"number": Bands, "date": Years, "list": Values}
        return Several(tuple(kinds[kind](name) for name, kind in self.asked))

    def measured(self, value: tuple[OfOne, ...]) -> tuple[int, ...]:
        """The counts of bands and of present values; which values are present is private."""
        return tuple(part if isinstance(part, int) else part[1] for column in value for part in column)

    def sensitivity(self) -> Sensitivity:
        return Sensitivity("l1", self.facts.sides * self.rows * len(self.asked))

    # Noise and loss

    @property
    def rows(self) -> int:
        return self.facts.unit.at_most

    @property
    def ranges(self) -> int:
        return len(self.numbers) + len(self.dates)

    def share_of(self, kind: str) -> Fraction:
        """The part of ρ (or of ε) that one column of this kind gets."""
        weights = LIST_WEIGHT * len(self.lists) + RANGE_WEIGHT * self.ranges
        return Fraction(LIST_WEIGHT if kind == "list" else RANGE_WEIGHT, weights)

    def rho_of(self, kind: str) -> Fraction:
        return self.epsilon**2 / 2 * self.share_of(kind)

    def epsilon_of(self, kind: str) -> Fraction:
        return self.epsilon * self.share_of(kind)

    @property
    def of_values(self) -> Added:
        """The noise on the count of a list's value. Its scale is the sampler's."""
        return self._noise_for(self.facts.sides, self.share_of("list"))

    @property
    def of_holders(self) -> Added:
        """The noise on the number of rows that hold a number or a day."""
        return self._noise_for(1, COUNT_PART * self.share_of("number"))

    def _noise_for(self, sides: int, share: Fraction) -> Added:
        scale = Fraction(laplace_scale(sides * self.rows / (self.epsilon * share)))
        return chosen(self.accepts, self.noise).of(scale, _sampled(sides * self.rows**2 / (self.epsilon**2 * share)))

    @property
    def end_epsilon(self) -> Fraction:
        """ε′ of one end of a range. A tenth of the range's ε (or ρ) pays for the number of rows; each end gets half of
        the rest (of ρ: ε′²/8 is at most half)."""
        if self.noise:
            return (1 - COUNT_PART) * self.epsilon_of("number") / 2
        return _root_below(4 * (1 - COUNT_PART) * self.rho_of("number"))

    @property
    def rate(self) -> Fraction:
        return self.end_epsilon / (2 * self.rows)

    @property
    def threshold(self) -> int:
        """T: values with a noisy count of at least T are released. Noise is symmetric: half of |Z| > t is above t."""
        each = self.delta / len(self.lists)
        if self.noise:
            return least_threshold(self.of_values.size, self.rows, each / self.facts.sides)
        return int(self.of_values.reach(min(2 * each / self.rows, Fraction(1)))) + 1 + self.rows

    def loss(self) -> Loss:
        ends = [Repeated(Exponential(self.end_epsilon), 2 * self.ranges)] if self.ranges else []
        if self.noise:
            each = self.delta / max(len(self.lists), 1)
            lists = [Approximate(self.epsilon_of("list"), each)] * len(self.lists)
            holds = [Pure(COUNT_PART * self.epsilon_of("number"))] * self.ranges
            return Together((*lists, *holds, *ends))
        rho = self.rho_of("list") * len(self.lists) + COUNT_PART * self.rho_of("number") * self.ranges
        lists = [Approximate(Fraction(0), self.delta)] if self.lists else []
        return Together((Gaussian(rho), *ends, *lists))

    # Accuracy

    @property
    def each_beta(self) -> Fraction:
        return self.beta / len(self.asked)

    @property
    def rows_at_most(self) -> int:
        return self.facts.about * self.rows

    @property
    def shown_reach(self) -> int:
        """t: the noise of all values at once stays within it, even if every row holds another value."""
        return int(self.of_values.reach(self.each_beta / 2 / self.rows_at_most))

    @property
    def least_held(self) -> int:
        """A value that this many rows hold is found: at most n/T values are this frequent, and noise is symmetric."""
        many = self.rows_at_most // self.threshold + 1
        return self.threshold + int(self.of_values.reach(min(self.each_beta / many, Fraction(1))))

    def slack(self, kind: str) -> int:
        """t″: a bound on the gap of the choice of a range's end."""
        return choice_gap(self.rate, YEARS if kind == "date" else BANDS, self.each_beta / 3)

    def outside(self, kind: str) -> int:
        """At most this many rows lie below a released range, and as many above."""
        return 2 * self.slack(kind) + 1

    def promise(self) -> Within:
        kinds = {kind for _, kind in self.asked}
        amounts = [self.least_held if kind == "list" else self.outside(kind) for kind in kinds]
        guess = self.facts.people is None
        return Within(Fraction(max(amounts)), max(self.rows_at_most, 1), self.beta, Fraction(0), nominal=guess)

    def state(self, value: Json, interval: Json) -> str:
        return "" if any(draft.ends or draft.values for draft in self.drafts(value, interval)) else FOUND

    def coarse(self) -> Fraction:
        return Fraction(self.facts.about, 20)

    # The draw and the answer

    def draw(self, value: tuple[OfOne, ...], coins: Coins) -> tuple[Drawn, ...]:
        return tuple(
            self._frequent(statistic, coins) if kind == "list" else self._ends(statistic, kind, coins)  # type: ignore[arg-type]
            for (_, kind), statistic in zip(self.asked, value, strict=True)
        )

    def _frequent(self, value: ValueCounts, coins: Coins) -> ValueCounts:
        noisy = self.of_values.draw([count for _, count in value], coins) if value else []
        least = self.threshold
        kept = [(name, count) for (name, _), count in zip(value, noisy, strict=True) if count >= least]
        return tuple(sorted(kept, key=lambda pair: (-pair[1], pair[0]))[:MOST_FOUND])

    def _ends(self, value: tuple[int, ...], kind: str, coins: Coins) -> tuple[int, int, int]:
        gaps, cap = self.gaps(value, kind), CAP * (self.slack(kind) + 1)
        low, high = (coins.choose(scores, np.ones_like(scores), self.rate, cap)[0] for scores in gaps)
        (hold,) = self.of_holders.draw([sum(value)], coins)
        return low, high, hold

    def gaps(self, value: tuple[int, ...], kind: str) -> tuple[Integers, Integers]:
        """How many ranks each band is away from the wanted rank, counted from below and counted from above."""
        rank, cap = self.slack(kind) + 1, CAP * (self.slack(kind) + 1)
        counts = np.array(value, dtype=np.int64)

        def away(until: Integers, before: Integers) -> Integers:
            return np.clip(np.maximum(before - rank, rank - until), 0, cap)

        up = np.cumsum(counts)
        down = np.cumsum(counts[::-1])[::-1]
        return away(up, up - counts), away(down, down - counts)

    def law(self, value: tuple[OfOne, ...]) -> Independent | None:
        """The law of all ends. None if there is a list: its possible outcomes depend on the data (`audit.exact`)."""
        if self.lists:
            return None
        return Independent(
            tuple(
                part
                for (_, kind), statistic in zip(self.asked, value, strict=True)
                for part in self.ends_law(statistic, kind)  # type: ignore[arg-type]
            )
        )

    def ends_law(self, value: tuple[int, ...], kind: str) -> tuple[Any, ...]:
        ends = [weighted(dict(enumerate(scores.tolist())), self.rate) for scores in self.gaps(value, kind)]
        return *ends, self.of_holders.law(sum(value))

    def finish(self, raw: tuple[Drawn, ...]) -> Released:
        value: JsonObject = {}
        interval: JsonObject = {}
        for (name, kind), drawn in zip(self.asked, raw, strict=True):
            for part, (figure, ends) in self._parts(kind, drawn):
                value[f"{name}: {part}"], interval[f"{name}: {part}"] = figure, ends
        return Released(value, interval)

    def _parts(self, kind: str, drawn: Drawn) -> Iterator[tuple[str, tuple[Json, Ends]]]:
        if kind == "list":
            named: ValueCounts = drawn  # type: ignore[assignment]
            t = self.shown_reach
            yield from ((name, (count, (count - t, count + t))) for name, count in named)
            if self.facts.people is not None and self.rows == 1:
                yield ELSE, self._something_else(named)
            return
        low, high, hold = cast(tuple[int, int, int], drawn)
        reach = int(self.of_holders.reach(self.each_beta / 3))
        if low <= high and hold - reach >= 2 * (self.slack(kind) + 1):
            for part, end in zip((FROM, TO), _span(kind, low, high), strict=True):
                yield part, (end, (end, end))
        yield HOLD, (hold, (hold - reach, hold + reach))

    def _something_else(self, named: ValueCounts) -> tuple[int, Ends]:
        t, least, many = self.shown_reach, self.threshold, max(len(named), 1)
        doubtful = sum(count < least + 2 * t for _, count in named)
        off = math.ceil(self.of_values.reach(self.each_beta / 2, many) * many) + doubtful * t
        rest = self.facts.about - sum(count for _, count in named)
        return rest, (rest - off, rest + off)

    def shown(self) -> dict[str, str]:
        words = {part: say(f"found.{part.lower()}") for part in (FROM, TO, HOLD, ELSE)}
        return {f"{name}: {part}": f"{name}: {word}" for name, _ in self.asked for part, word in words.items()}

    def listed(self, value: JsonObject) -> list[str]:
        """The parts column by column: a range's ends and its rows, or a list's values by size and then the rest."""

        def rank(label: str) -> tuple[int, int, float, str]:
            at, part = self._parted(label)
            return at, _ORDER.get(part, 1), 0 if part in _ORDER else -value[label], part

        return sorted(value, key=rank)

    def drafts(self, value: JsonObject, interval: JsonObject) -> list[Drafted]:
        """The draft of each column's declaration."""
        parts: list[dict[str, str]] = [{} for _ in self.asked]
        for label in self.listed(value):
            at, part = self._parted(label)
            parts[at][part] = label
        columns = []
        for (name, kind), own in zip(self.asked, parts, strict=True):
            ends = (value[own[FROM]], value[own[TO]]) if FROM in own else None
            values = tuple((part, value[label]) for part, label in own.items() if part not in _ORDER)
            low, high = interval[own[ELSE]] if ELSE in own else (0, 0)
            other = (value[own[ELSE]], (low, high)) if ELSE in own else None
            columns.append(Drafted(name, kind, ends, values, other))
        return columns

    def _parted(self, label: str) -> tuple[int, str]:
        """The index of a part's column, and the part's name without the column."""
        at = next(at for at, (name, _) in enumerate(self.asked) if label.startswith(f"{name}: "))
        return at, label.removeprefix(f"{self.asked[at][0]}: ")

    def worth(self) -> str:
        """The promise in words, before and after the purchase."""
        sentences = []
        if self.lists:
            sentences.append(say("found.worth.lists", held=self.least_held))
        if self.ranges:
            kinds = ["number"] * bool(self.numbers) + ["date"] * bool(self.dates)
            sentences.append(say("found.worth.ranges", outside=max(self.outside(kind) for kind in kinds)))
        return " ".join([*sentences, say("found.worth.chance", chance=chance(self.beta))])

    def finding(self, value: Json, interval: Json) -> str:
        drafts = self.drafts(value, interval)
        ranges, lists = sum(draft.ends is not None for draft in drafts), sum(bool(draft.values) for draft in drafts)
        if not ranges and not lists:
            return ""
        if len(drafts) == 1:
            return say("found.headline.one")
        return say("found.headline", found=ranges + lists, columns=len(drafts))


def _span(kind: str, low: int, high: int) -> tuple[Json, Json]:
    if kind == "date":
        return f"{FIRST_YEAR + low}-01-01", f"{FIRST_YEAR + high}-12-31"
    return number_at(EDGES[low]), number_at(EDGES[high + 1])


def _sampled(variance: Fraction) -> Fraction:
    """The variance that the sampler really has: its scale is the least float with no less noise."""
    return Fraction(gaussian_scale(variance)) ** 2


def _root_below(square: Fraction) -> Fraction:
    """The square root, rounded down to 10^-12; the charge and the draw use the same root."""
    grain = 10**12
    return Fraction(math.isqrt(square.numerator * grain**2 // square.denominator), grain)


@lru_cache(maxsize=1024)
def least_threshold(scale: Fraction, rows: int, delta: Fraction) -> int:
    """The least T for which one person's new values appear with probability at most δ."""
    # r^(T−rows)/(1+r) ≤ worst ≤ rows·r^(T−rows): the answer lies between these two.
    most = rows + ceiling(scale * ln_above(rows / delta)) + 1
    return first_true(lambda threshold: Fraction(chance_of_new(scale, rows, threshold)) * _GUARD <= delta, rows, most)


def chance_of_new(scale: Fraction, rows: int, threshold: int) -> Decimal:
    """The largest Σ Pr[Z ≥ T − k_v] over Σk_v ≤ rows, k_v ≥ 1."""
    together, apart = (exp_decimal(-(threshold - held) / scale) for held in (rows, 1))
    return max(together, rows * apart) / (1 + exp_decimal(-1 / scale))
