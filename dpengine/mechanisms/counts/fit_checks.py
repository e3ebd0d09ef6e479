"""The check of declared columns: how many cells fit, are empty, lie outside the range or the list, cannot be read, or
are exactly a usual code for “unknown”. All columns in one draw.

Guarantee   ε-DP, or ρ-zCDP with Gaussian noise, under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1; discrete Gaussian: Canonne,
            Kamath, Steinke 2020, Thm 14.
Statistic   one histogram per column over disjoint bars (`declared/cell_kinds.py`): a cell is in exactly one, by a rule
            that looks at this cell and the declaration. A row added or removed changes one bar of each column by one; a
            row replaced changes two. A person has at most m rows. So k columns have k sides of L1 norm m under
            add/remove and 2k under replace-one, however many bars there are.
            If one row is one person, it may also count the *different* values of some columns of the file (`ids`): a
            row added, removed or replaced changes each such number by at most one. A check of ids alone also counts
            the rows if their number is not public: one more such number.
            If a person may have several rows and M of them count, the id may be named too. Then the check counts the
            people with more than M rows in the file, and all people if their number is not public. All rows of a
            person added, removed or replaced change each of these by at most one.
Draw        every count + Z: `noised`. Gaussian noise grows with √k where Laplace noise grows with k. The numbers of
            different values, and of rows, get noise `WIDE` times as wide: they are compared roughly. With a sides of
            m, i such numbers and w = WIDE, Laplace noise of scale b loses am/b + i/(wb); Gaussian noise of parameter σ²
            loses ρ = (am² + i/w²)/(2σ²).
Accuracy    F figures of a column have ranges: its bars of cells that do not fit, their sum, its codes and zeros. All
            hold at once except with β, by a union bound, column by column. A lower end decides whether a question is
            asked, so lower ends get 3β/4, in parts by `_weight`: a rare code, and the sum (a single kind of misfit is
            clearer in its own bar), get a quarter of what the others get, so looking for rare codes costs the others
            next to nothing. Upper ends get β/(4F) each. Where the number of rows is not public, a twentieth of β goes
            to it: the bars of a column add up to it, in each of the k columns.
Shares      A share t = C/R of the R rows. Where R is public, or bounded by a public number of people, the ends of C are
            divided by those of R. Else, with Gaussian noise, the test of each t is inverted (Fieller 1954): c noisy
            bars out of N in k columns add up to C̃, all bars of all columns to kR̃, and C̃ − t·R̃ has mean 0 and N
            independent noises, c with factor 1 − t/k and N − c with factor t/k. t is kept if this is within its reach
            r(t). r is convex in t, so the t below the range are those before the one zero of C̃ − t·R̃ − r(t) (none, if
            it starts below 0), and the t above it those after the one zero of C̃ − t·R̃ + r(t) (none, if it ends above
            0). At the gate, t = 1/10, the others add only (N − c)/100 variances of one bar. Dividing by an upper bound
            on R instead would add √N/10 standard deviations for each one by which that bound is safe.
            An upper end on the share among these cells and those that fit or are empty bounds t too, with few noises:
            each of the two tests gets half of the chance, and the lower of the two ends counts.
Verdict     `ColumnFound.state`, a public rule on what was released: see there.
Cost        one scan of k small columns, written when the table was coded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, floor, sqrt
from typing import ClassVar

from dpengine.accountant.loss import Loss, Pure
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import first_true, text_of
from dpengine.core.printed import percent
from dpengine.core.types import Ends, Figures, Json, JsonObject
from dpengine.declared.cell_kinds import EMPTY, FITS, Bar, bars
from dpengine.declared.conditions import Row, kind_name
from dpengine.declared.facts import Facts
from dpengine.declared.unit import Unit
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.noise import Added
from dpengine.mechanisms.noised import OfMisfits
from dpengine.mechanisms.promises import Within
from dpengine.mechanisms.query import Bounds, Fields, Released, Sensitivity
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent
from dpengine.noise.tails import gaussian_sum_reach, gaussian_sums
from dpengine.statistics.counts import KindCounts, RowCount
from dpengine.statistics.raw_needs import Beside, Crowded, Different

GOOD, MOSTLY_NOT, SOME_NOT, UNSURE = "fits", "mostly_not", "some_not", "unsure"
GATE = Fraction(1, 10)  # of the cells: if surely more misfits or codes than this, questions are refused
QUIET = Fraction(1, 50)  # if surely fewer, there is nothing to report
VAGUE = Fraction(1, 2)  # if this many may be misfits, the check says nothing
SPIKE = Fraction(5, 2)  # a code is this many times as common as a number beside it
MOST_COLUMNS = 60  # of up to 25 bars: engines take some 1,600 figures at once
_NAMED = 3  # columns in a question's sentence
_LISTED = 6  # columns in a headline
_LOWER, _UPPER = Fraction(3, 4), Fraction(1, 4)  # of β: for lower ends and for upper ends
_MAIN, _MINOR = 4, 1  # parts of _LOWER for a figure; the minor ones are rare codes and the sum
_GRID = 2_000  # ends of a share are found on this grid, rounded outwards
_NEVER = Fraction(2)  # no share is as large
_FOR_ROWS = Fraction(1, 20)  # of β, for the number of rows if it is not public
WIDE = 3  # factor of the noise of a number of different values
_RARELY = Fraction(1, 10)  # of β: how often people seem to have too many rows although none has
_SEEN = Fraction(1, 20)  # the chance to miss a share of `ColumnFound.sees`


@dataclass(frozen=True)
class CellShare:
    """A number of cells with its range, as shares of all cells of the column."""

    value: Fraction
    low: Fraction
    high: Fraction

    def from_zero(self) -> CellShare:
        """The same share with a lower end of 0."""
        return CellShare(self.value, Fraction(0), self.high)

    def span(self) -> str:
        """The range in whole percent, rounded outwards: “10–25 %”."""
        low, high = floor(self.low * 100), ceil(self.high * 100)
        return f"{low}–{high} %" if low < high else f"{high} %"


@dataclass(frozen=True)
class ColumnFound:
    """The result of a check for one column."""

    column: str
    misfit: CellShare
    parts: dict[str, CellShare]  # the bars of cells that do not fit, by name
    codes: dict[Fraction, CellShare]  # usual codes that stand out from the numbers beside them
    zeros: CellShare | None  # cells that are exactly 0, where 0 may be real
    empty: Fraction  # the approximate share of empty cells
    sees: Fraction  # the check notices this share of cells of one kind 95 times in 100
    gate: Fraction  # if surely this share of the cells does not fit, or holds a code, questions are refused

    @property
    def state(self) -> str:
        """MOSTLY_NOT or SOME_NOT if surely half, or a share of `gate`, does not fit; UNSURE if half may not; else
        GOOD."""
        if self.misfit.low >= max(VAGUE, self.gate):
            return MOSTLY_NOT
        if self.misfit.low >= self.gate:
            return SOME_NOT
        return UNSURE if self.misfit.high >= VAGUE else GOOD

    @property
    def doubted_codes(self) -> tuple[Fraction, ...]:
        """Codes that surely a share of `gate` of the cells holds."""
        return tuple(code for code, share in self.codes.items() if share.low >= self.gate)

    @property
    def doubted(self) -> bool:
        return self.misfit.low >= self.gate or bool(self.doubted_codes)

    @property
    def quiet(self) -> bool:
        """Are misfits and codes surely so few (QUIET) that there is nothing to report?"""
        return self.misfit.high < QUIET and all(share.high < QUIET for share in self.codes.values())


@dataclass(frozen=True, kw_only=True)
class FitChecks(OfMisfits):
    card: ClassVar[Card] = Card(
        key="fit_checks",
        asked_on=("data",),
        order=165,
        answer="count",
        states=(FEW,),
        caveats=("empty", "codes"),
        own=(Parameter("columns", "columns"), Parameter("ids", "columns.file")),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two columns": {"columns": ["x", "c"]},
            "of two columns, Gaussian": {"columns": ["x", "c"], "noise": "gaussian"},
            "with a code": {"columns": ["z"]},
            "with an id": {"columns": ["x"], "ids": ["raw text"]},
            "of an id alone": {"ids": ["raw text"]},
            "with an id, Gaussian": {"columns": ["x"], "ids": ["raw text"], "noise": "gaussian"},
        },
        example=Example({"columns": ["visits"]}),
        broken_variants=("half",),
    )

    columns: tuple[str, ...]
    ids: tuple[str, ...] = ()
    none_hoped = True

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names, ids = given.get("columns"), given.get("ids") or []
        one_row = facts.unit == Unit.rows()  # else the unit's id column already identifies people
        if names in (None, "", []):
            alone = ids and (one_row or facts.unit.id_column in ids)
            names = [] if alone else list(facts.schema.columns)[:MOST_COLUMNS]
        for listed in (names, ids):
            if not isinstance(listed, (list, tuple)) or len(set(map(str, listed))) != len(listed):
                raise AllowanceError("fit_checks.columns", most=MOST_COLUMNS)
        if len(names) > MOST_COLUMNS:
            raise AllowanceError("fit_checks.columns", most=MOST_COLUMNS)
        for name in names:
            facts.schema[str(name)]  # refuses one that is not declared
        own = tuple(facts.in_file(name) for name in ids if one_row or name == facts.unit.id_column)
        if not names and not own:
            raise AllowanceError("fit_checks.columns", most=MOST_COLUMNS)
        return {"columns": tuple(str(name) for name in names), "ids": own}

    def used(self) -> set[str]:
        return set(self.columns)

    def sentence(self) -> str:
        if not self.columns and self.facts.unit != Unit.rows():
            return say("sentence.fit_checks_rows", most=self.facts.unit.at_most)
        if not self.columns:
            return say("sentence.fit_checks_ids", columns=say("who.and").join(self.ids))
        if len(self.columns) > _NAMED:
            return say("sentence.fit_checks_many", columns=len(self.columns))
        code = "sentence.fit_checks_one" if len(self.columns) == 1 else "sentence.fit_checks"
        return say(code, columns=say("who.and").join(self.columns))

    def labels(self) -> list[str]:
        return list(self.columns)

    # The statistic and its noise

    def bars_of(self, column: str) -> tuple[Bar, ...]:
        return bars(column, self.facts.schema[column])

    def number_names(self) -> list[tuple[str, str]]:
        """For each drawn number its column, and the kind of cell that it counts."""
        names = [
            (name, say(f"fit.bar.{bar.name}", number="" if bar.number is None else text_of(bar.number)))
            for name in self.columns
            for bar in self.bars_of(name)
        ]
        names += [("", say("fit.bar.rows"))] * self._rows_too
        kinds = {Different: "different", Crowded: "crowded"}
        return names + [
            (need.column, say(f"fit.bar.{kinds[type(need)]}", column=need.column, most=self.facts.unit.at_most))
            for need in self._raw
        ]

    def need(self) -> KindCounts | Beside:
        kinds = tuple((name, tuple(bar.kind for bar in self.bars_of(name))) for name in self.columns)
        counts = KindCounts(kinds)
        if not self.ids:
            return counts
        return Beside(RowCount() if self._rows_too else counts, self._raw)

    @property
    def _raw(self) -> tuple[Different | Crowded, ...]:
        """What is counted in id columns: different ids, and people with too many rows."""
        if not self.ids or self.facts.unit == Unit.rows():
            return tuple(Different(name) for name in self.ids)
        (name,) = self.ids
        crowded = Crowded(name, self.facts.unit.at_most)
        return (crowded,) if self.facts.people is not None else (Different(name), crowded)

    def truth(self, rows: Sequence[Row]) -> dict[str, int]:
        return {name: sum(row[kind_name(name)] < FITS for row in rows) for name in self.columns}

    @property
    def moves(self) -> tuple[int, int]:
        return self.facts.sides * len(self.columns), self.facts.unit.at_most

    @property
    def _rows_too(self) -> bool:
        """Does a check of ids alone also count the rows?"""
        return not self.columns and self._public_rows is None and self.facts.unit == Unit.rows()

    @property
    def _wide_numbers(self) -> int:
        """How many numbers get wider noise."""
        return len(self._raw) + self._rows_too

    def sensitivity(self) -> Sensitivity:
        """The bound. With an id it is not attained: in the small world the id depends on the other cells of its row."""
        a, b = self.moves
        return Sensitivity("l1", a * b + self._wide_numbers, attained=not self.ids)

    @property
    def rho(self) -> Fraction:
        return self.epsilon**2 / (2 * max(self.moves[0], 1))

    @cached_property
    def scale(self) -> Fraction:
        a, b = self.moves
        return (a * b + Fraction(self._wide_numbers, WIDE)) / self.epsilon

    @cached_property
    def variance(self) -> Fraction:
        a, b = self.moves
        return (a * b * b + Fraction(self._wide_numbers, WIDE**2)) / (2 * self.rho)

    def loss(self) -> Loss:
        return Pure(self.epsilon) if self.ids and not self.noise else super().loss()

    @property
    def _wider(self) -> Added:
        """The noise, `WIDE` times as wide, of the numbers of different ids, of crowded people and of rows."""
        return self.added[0].thinner(Fraction(1, WIDE))

    def _split(self, counts: Sequence[int]) -> tuple[list[int], list[int]]:
        """The bars, and the numbers with wider noise."""
        bars_in_all = self.numbers - self._wide_numbers
        return list(counts[:bars_in_all]), list(counts[bars_in_all:])

    def draw(self, value: int | tuple[int, ...], coins: Coins) -> tuple[int, ...]:
        plain, wide = self._split(self.measured(value))
        return (*self.added[0].draw(plain, coins), *(self._wider.draw(wide, coins) if wide else ()))

    def law(self, value: int | tuple[int, ...]) -> Independent:
        plain, wide = self._split(self.measured(value))
        return Independent((*map(self.added[0].law, plain), *map(self._wider.law, wide)))

    @property
    def numbers(self) -> int:
        return sum(len(self.bars_of(name)) for name in self.columns) + self._wide_numbers

    # What was drawn

    def _parts(self, raw: Figures) -> Iterator[tuple[str, dict[Bar, int | Fraction]]]:
        """The noisy count of each bar, column by column."""
        at = 0
        for name in self.columns:
            own = self.bars_of(name)
            yield name, dict(zip(own, raw[at : at + len(own)], strict=True))
            at += len(own)

    @cached_property
    def _ranged(self) -> dict[str, list[Bar]]:
        """The bars of each column that get a range: misfits, codes and zeros."""
        named = ("code", "zero")
        return {name: [bar for bar in self.bars_of(name) if bar.misfit or bar.name in named] for name in self.columns}

    @cached_property
    def _whole_weight(self) -> dict[str, int]:
        return {name: _MINOR + sum(_weight(bar) for bar in bars) for name, bars in self._ranged.items()}

    def _lower_chance(self, column: str, bar: Bar | None) -> Fraction:
        """How often the lower end of this bar, or with None of the sum of all misfits, may fail."""
        return self._beta * _LOWER * _weight(bar) / self._whole_weight[column]

    def _upper_chance(self, column: str) -> Fraction:
        return self._beta * _UPPER / (len(self._ranged[column]) + 1)

    @cached_property
    def _beta(self) -> Fraction:
        return self.beta * (1 - _FOR_ROWS if self._public_rows is None else 1)

    @property
    def _public_rows(self) -> int | None:
        return self.facts.people if self.facts.unit == Unit.rows() else None

    def _sum_of(self, counts: int, draws: int, chance: Fraction) -> Fraction:
        """How far a sum of `counts` means of `draws` draws may be off to one side, except with this chance."""
        if counts == 1:
            return Fraction(self.added[0].reach(2 * chance, draws))
        if self.noise:
            reach = gaussian_sum_reach(self.variance, sqrt(counts / draws), counts, 2 * chance)
            return Fraction(ceil(reach * draws), draws)
        return Fraction(counts * self.added[0].reach(2 * chance, counts * draws))

    def _reaches(self, column: str, bar: Bar | None, counts: int = 1, draws: int = 1) -> tuple[Fraction, Fraction]:
        """How far below and above a figure of a column the truth may lie."""
        key = column, bar, counts, draws
        if key not in self._reached:
            chances = self._lower_chance(column, bar), self._upper_chance(column)
            lower, upper = (self._sum_of(counts, draws, chance) for chance in chances)
            self._reached[key] = lower, upper
        return self._reached[key]

    @cached_property
    def _reached(self) -> dict[tuple[str, Bar | None, int, int], tuple[Fraction, Fraction]]:
        """The cache of `_reaches`: every draw needs the same ones."""
        return {}

    @cached_property
    def _summed(self) -> dict[tuple[str, Bar | None], list[Callable[[float, float], float]]]:
        """The cache of `_sums`."""
        return {}

    def _sums(self, column: str, bar: Bar | None) -> list[Callable[[float, float], float]]:
        if (column, bar) not in self._summed:
            chances = self._lower_chance(column, bar), self._upper_chance(column) / 2
            self._summed[column, bar] = [gaussian_sums(self.variance, 2 * chance) for chance in chances]
        return self._summed[column, bar]

    def reach(self, draws: int = 1) -> int | Fraction:
        """How far one bar of misfits may be off, on the wider side; without columns, a number of different ids."""
        if not self.columns:
            return self._wide_reach(self._beta)
        return self._sum_of(1, draws, _least_chance(self.at(Fraction(1))))

    def promise(self) -> Within:
        return Within(Fraction(self.reach()), 1, self.beta, Fraction(0))

    def _range(self, counted: dict[Bar, int | Fraction], column: str, draws: int) -> tuple[int | Fraction, Ends]:
        """The number of misfits in a column, and its range."""
        parts = []
        for bar, count in counted.items():
            if bar.misfit:
                lower, upper = self._reaches(column, bar, 1, draws)
                parts.append((count, count - lower, count + upper))
        whole, (below, above) = sum(count for count, *_ in parts), self._reaches(column, None, len(parts), draws)
        value, low, high = _together(parts, (whole, whole - below, whole + above))
        return value if draws > 1 else round(value), (low, high)  # whole: as one draw and its reaches are

    def from_mean(self, raw: Figures, draws: int) -> Released:
        ranges = {name: self._range(counted, name, draws) for name, counted in self._parts(raw)}
        ends = {name: (floor(low), ceil(high)) for name, (_, (low, high)) in ranges.items()}
        return Released({name: value for name, (value, _) in ranges.items()}, ends)

    def row_bounds(self, raw: Figures) -> Bounds | None:
        if self._public_rows is not None or not (self.columns or self._rows_too):
            return None
        if self._rows_too:
            reach = self._wide_reach(self.beta * _FOR_ROWS)
            return max(int(raw[0]) - reach, 0), max(int(raw[0]) + reach, 0)
        bars_in_all, columns = self.numbers - self._wide_numbers, len(self.columns)
        off = self._sum_of(bars_in_all, 1, self.beta * _FOR_ROWS / 2) / columns
        middle = Fraction(sum(raw[:bars_in_all]), columns)
        return max(ceil(middle - off), 0), max(floor(middle + off), 0)

    def rows(self, raw: Figures) -> tuple[int, int]:
        """Bounds on the number of rows: public, or from the sum of the bars. If the number of people is public, each
        has at least one row and at most as many as count."""
        public = self._public_rows
        low, high = (public, public) if public is not None else self.row_bounds(raw) or (0, None)
        if self.facts.people is not None:
            low, high = max(low, self.facts.people), min(high or self.most, self.most)
        return max(low, 1), max(high or 1, low, 1)

    def found(self, raw: Figures) -> dict[str, ColumnFound]:
        """The result for each column, as shares of its cells."""
        rows = (*self.rows(raw), self._about_rows(raw))
        return {name: self._shares(name, counted, rows, raw) for name, counted in self._parts(raw)}

    def _about_rows(self, raw: Figures) -> int:
        """About how many rows there are: the mean over all columns of the sum of their bars, cut to `rows`."""
        least, most = self.rows(raw)
        if not self.columns:
            return (least + most) // 2
        return min(max(round(Fraction(sum(raw[: self.numbers - self._wide_numbers]), len(self.columns))), least), most)

    def _shares(
        self, name: str, counted: dict[Bar, int | Fraction], rows: tuple[int, int, int], raw: Figures
    ) -> ColumnFound:
        counts = {bar: self._share(name, bar, counted, rows, raw) for bar in self._ranged[name]}
        parts = {bar: share for bar, share in counts.items() if bar.misfit}
        whole = self._share(name, None, counted, rows, raw)
        together = _together([_ends(share) for share in parts.values()], _ends(whole))
        misfit = CellShare(*(_part(end, 1) for end in together))
        lower = {bar: self._reaches(name, bar)[0] for bar in counts}
        by_number = {bar.number: count for bar, count in counted.items()}
        standing = {
            bar.number: share
            if share.low >= GATE or _clearly(bar, counted[bar], lower, by_number)
            else share.from_zero()
            for bar, share in counts.items()
            if bar.name == "code" and bar.number is not None and _stands_out(bar, counted[bar], by_number)
        }
        zeros = next((share for bar, share in counts.items() if bar.number == 0 and 0 not in standing), None)
        empty = next((count for bar, count in counted.items() if bar.kind == EMPTY), 0)
        further = self._sum_of(1, 1, _SEEN)
        seen = {bar: lower[bar] + further for bar in counts}
        about = rows[2]
        return ColumnFound(
            name,
            misfit,
            {bar.name: share for bar, share in parts.items()},
            standing,
            zeros,
            _part(empty, about),
            _part(max(seen.values()), about),
            _gate(seen[next(iter(parts))] / self._mostly(counted, rows)),
        )

    def _mostly(self, counted: dict[Bar, int | Fraction], rows: tuple[int, int, int]) -> int | Fraction:
        """About how many cells fit, are empty or have the commonest other kind. With few bars it has less noise than
        the number of rows, and is about that number in a column that fits."""
        if self.facts.people is not None:
            return rows[2]
        plain = sum(count for bar, count in counted.items() if bar.kind in (FITS, EMPTY))
        return max(plain + max(count for bar, count in counted.items() if bar.kind not in (FITS, EMPTY)), 1)

    def _share(
        self, name: str, bar: Bar | None, counted: dict[Bar, int | Fraction], rows: tuple[int, int, int], raw: Figures
    ) -> CellShare:
        """A bar, or the sum of misfits, as a share of all rows: see Shares above."""
        least, most, about = rows
        own = [count for one, count in counted.items() if (one.misfit if bar is None else one == bar)]
        count, counts = sum(own), len(own)
        value = _part(count, about)
        if self.facts.people is not None or not self.noise:
            lower, upper = self._reaches(name, bar, counts)
            return CellShare(value, _part(count - lower, most), _part(count + upper, least))
        bars_in_all, columns = self.numbers - self._wide_numbers, len(self.columns)
        all_rows = sum(raw[:bars_in_all]) / columns
        plain = [count for one, count in counted.items() if one.kind in (FITS, EMPTY)]
        in_plain = sum(plain)

        def off(own: float, others: int, other: float, reach: Callable[[float, float], float]) -> float:
            """How far a sum may be off to one side, with `own` as the factor of `counts` bars, `other` of `others`."""
            return reach(sqrt(counts * own**2 + others * other**2), counts * own + others * other)

        def of_all(share: float, reach: Callable[[float, float], float]) -> float:
            return off(1 - share / columns, bars_in_all - counts, share / columns, reach)

        below, above = self._sums(name, bar)
        low = _last(lambda share: count - share * all_rows > of_all(share, below))
        high = min(
            _last(lambda share: count - share * all_rows >= -of_all(share, above)),
            _last(lambda t: count * (1 - t) - t * in_plain >= -off(1 - t, len(plain), t, above)),
        )
        high = min(high + Fraction(1, _GRID), Fraction(1))
        return CellShare(min(max(value, low), high), low, high)

    def _wide_reach(self, chance: Fraction) -> int:
        """How far a number with wider noise may be off, on both sides."""
        return int(self._wider.reach(chance))

    def different(self, raw: Figures) -> dict[str, tuple[int, int, int]]:
        """For each id the approximate number of different values, with bounds; each fails with probability β."""
        return {need.column: figure for need, figure in self._counted(raw) if isinstance(need, Different)}

    def _counted(self, raw: Figures) -> list[tuple[Different | Crowded, tuple[int, int, int]]]:
        off, drawn = self._wide_reach(self._beta), raw[self.numbers - len(self._raw) :]
        counts = [max(int(count), 0) for count in drawn]
        below = self._wide_reach(self._beta * _RARELY)  # a lower end decides whether questions are refused
        lows = [max(int(count) - below, 0) for count in drawn]
        highs = [max(int(count) + off, 0) for count in drawn]
        return list(zip(self._raw, zip(counts, lows, highs, strict=True), strict=True))

    def crowded(self, raw: Figures) -> CellShare | None:
        """The share of people with more rows than count per person; None if this was not asked."""
        counted = [figure for need, figure in self._counted(raw) if isinstance(need, Crowded)]
        if not counted:
            return None
        (count, low, high), people = counted[0], self.facts.people
        about, least, most = next(iter(self.different(raw).values())) if people is None else (people, people, people)
        return CellShare(_part(count, about), _part(low, most), _part(high, least))

    def repeated(self, raw: Figures) -> dict[str, tuple[int, int, int]]:
        """Id columns with surely a tenth fewer ids than rows: bounds on the different ids, and about the rows."""
        if self.facts.unit != Unit.rows():
            return {}
        rows, fewest = self._about_rows(raw), (1 - GATE) * self.rows(raw)[0]
        return {
            name: (max(low, 1), high, rows) for name, (_, low, high) in self.different(raw).items() if high <= fewest
        }

    # Words

    def finding_of(self, value: Json, interval: Json, raw: Figures | None) -> str:
        if raw is None or len(raw) != self.numbers:  # the list of usual codes was another then
            return ""
        fits = self.found(tuple(raw))
        if repeated := self.repeated(tuple(raw)):
            name, (low, high, rows) = next(iter(repeated.items()))
            return say("fit.headline.repeated", column=name, low=low, high=high, rows=rows)
        if (crowded := self.crowded(tuple(raw))) is not None and (crowded.low > 0 or not fits):
            kind = "crowded" if crowded.low > 0 else "not_crowded"
            share = crowded.span() if crowded.low > 0 else percent_above(crowded.high)
            return say(f"fit.headline.{kind}", most=self.facts.unit.at_most, share=share)
        if not fits:
            return say("fit.headline.no_repeats", columns=list(self.ids))
        wrong = [name for name, fit in fits.items() if fit.state == MOSTLY_NOT]
        if wrong:
            return say("fit.headline.mostly_not", wrong=len(wrong), columns=len(fits), names=_some(wrong))
        if some := [name for name, fit in fits.items() if fit.state == SOME_NOT]:
            return say("fit.headline.some_not", names=_some(some))
        if coded := [name for name, fit in fits.items() if fit.doubted_codes]:
            return say("fit.headline.codes", names=_some(coded))
        unsure = sum(fit.state == UNSURE for fit in fits.values())
        if unsure == len(fits):
            return say("fit.headline.too_rough")
        part = [name for name, fit in fits.items() if fit.misfit.low > 0]
        coded = [_coded(name, code) for name, fit in fits.items() for code, share in fit.codes.items() if share.low > 0]
        if part or coded:
            return say("fit.headline.fits_part" if part else "fit.headline.codes_part", names=_some([*part, *coded]))
        if not unsure and not all(fit.quiet for fit in fits.values()):
            most = max(max(fit.misfit.high, fit.sees) for fit in fits.values())
            return say("fit.headline.fits_rough", share=percent_above(most))
        return say("fit.headline.unsure" if unsure else "fit.headline.fits", columns=len(fits), fit=len(fits) - unsure)

    def coarse(self) -> Fraction:
        """A quarter of the people: still enough to distinguish a column that fits from one that does not."""
        return Fraction(self.facts.about, 4)


def _weight(bar: Bar | None) -> int:
    """How many parts of `_LOWER` the lower end of a bar gets, or with None that of the sum of misfits."""
    return _MINOR if bar is None or bar.rare else _MAIN


def _gate(sees: Fraction) -> Fraction:
    """The share of misfits from which a column is refused: a tenth; a half, if the check may miss half of the cells in
    its main bars; never, if it may miss all. So noise refuses a column that fits in less than one check in a hundred:
    a tenth, or half, is at least about 0.8 standard deviations beyond the lower end, and lower ends fail at 3β/4."""
    return GATE if sees <= VAGUE else VAGUE if sees <= 1 else _NEVER


def _clearly(
    bar: Bar, count: int | Fraction, lower: Mapping[Bar, Fraction], by_number: dict[Fraction | None, int | Fraction]
) -> bool:
    """Is a code surely more common than the mean of the numbers beside it? It must be if its cells are too few to
    refuse a question, since they may be real: some people are 9. Noise is symmetric, so the difference of a count and
    of a mean of k others goes about √(1 + 1/k) times as far as the count alone."""
    if not bar.beside:
        return True
    many, beside = len(bar.beside), sum(by_number[number] for number in bar.beside)
    return float(count - Fraction(beside, many)) > float(lower[bar]) * sqrt(1 + 1 / many)


def _stands_out(bar: Bar, count: int | Fraction, by_number: dict[Fraction | None, int | Fraction]) -> bool:
    """Is a code far more common than the mean of the numbers beside it? (It has less noise than the larger one.)"""
    beside = sum(by_number[number] for number in bar.beside)
    return count * len(bar.beside) >= SPIKE * max(beside, 0)


Figure = tuple[int | Fraction, int | Fraction, int | Fraction]  # a number, and its lower and upper end


def _together(parts: Sequence[Figure], whole: Figure) -> Figure:
    """The number of all misfits of a column, with its range. The range of the sum of its bars and the sum of their
    ranges hold at once, and no bar is below 0. If some bar is surely above 0, bars below 0 are noise: the number is
    then the sum of the others, cut to the range."""
    if len(parts) == 1:
        return parts[0]
    zero = Fraction(0)
    least, most = (sum((max(part[end], zero) for part in parts), zero) for end in (1, 2))
    if least <= 0:
        return whole[0], whole[1], max(min(whole[2], most), whole[0])
    low = max(whole[1], least)
    high = max(min(whole[2], most), low)
    return min(max(sum(max(part[0], 0) for part in parts), low), high), low, high


def _ends(share: CellShare) -> Figure:
    return share.value, share.low, share.high


def _last(holds: Callable[[float], bool]) -> Fraction:
    """The largest share on the grid for which `holds`, which is monotone, is true; 0 if there is none."""
    if not holds(0):
        return Fraction(0)
    if holds(1):
        return Fraction(1)
    return Fraction(first_true(lambda place: not holds(place / _GRID), 1, _GRID) - 1, _GRID)


def _some(names: list[str]) -> list[str]:
    return names if len(names) <= _LISTED else [*names[:_LISTED], "…"]


def _coded(name: str, code: Fraction) -> str:
    return say("fit.headline.named_code", column=name, code=text_of(code))


def _part(count: int | Fraction, rows: int) -> Fraction:
    return min(max(Fraction(count) / max(rows, 1), Fraction(0)), Fraction(1))


def percent_above(share: Fraction) -> str:
    return percent(Fraction(ceil(share * 100), 100))


@lru_cache(maxsize=256)
def _least_chance(query: FitChecks) -> Fraction:
    """The least chance to fail of all ends of all bars of misfits. That end reaches farthest, at every ε."""
    chances = [(query._lower_chance(name, query._ranged[name][0]), query._upper_chance(name)) for name in query.columns]
    return min(min(pair) for pair in chances)
