"""In each of several declared columns, how many rows hold a cell that does not fit the declaration; all in one draw.

Guarantee   ε-DP, or ρ-zCDP with Gaussian noise, under replace-one and under add/remove.
Theorem     discrete Laplace mechanism on a vector of counts: Dwork et al. 2006, Prop. 1; discrete Gaussian: Canonne,
            Kamath, Steinke 2020, Thm 14.
Statistic   k counts, c_j = #{rows flagged in column j}. A flag looks at its own row and at the declaration; an empty
            cell is no misfit, except in a complete list. One person holds at most m rows, so |c_j − c_j′| ≤ m for every
            j, under both relations: k sides of m each, at most km in L1 and km² in squared L2.
            Under add/remove the rows that fit are counted too, f_j = n − c_j, for nothing: a row added or removed moves
            either c_j or f_j by one, and not both, so the side (c_j, f_j) still has an L1 norm of at most m and hence
            a squared L2 norm of at most m². Under replace-one a row may move from one to the other, twice as much;
            there the number of people is public, and misfits alone are counted.
Draw        every count + Z: `of_counts`. Gaussian noise grows with √k where Laplace noise grows with k, so for many
            columns it is far cheaper.
Rows        c_j + f_j = n for every j, so the mean over the columns is n with the noise of 2k draws over k.
Accuracy    all k counts of misfits at once within t, by a union bound: each except with probability β/k. Where rows are
            counted too, each except with 19β/(20k), and n except with β/20: all of it at once but for β.
Verdict     from a column's range and the declared number of people alone. It fits where surely at most a fifth of the
            people have a misfit, or where none may have one and surely at most half do; it mostly does not fit where
            surely half of all rows that can count hold one.
Cost        one scan of k small columns, written when the table was coded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Ends, Figures, Json, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import Card, Parameter
from dpengine.mechanisms.counts.of_counts import OfCounts
from dpengine.mechanisms.query import Bounds, Fields, Released
from dpengine.mechanisms.telling import FAR, FEW
from dpengine.mechanisms.trial import Example, Trial
from dpengine.messages import say
from dpengine.statistics.counts import MisfitCounts

FITS, MOSTLY_NOT, SOME_NOT, UNSURE = "fits", "mostly_not", "some_not", "unsure"
_NAMED = 3  # columns in a sentence
_TOLD = 6  # that do not fit
_FOR_MISFITS = Fraction(19, 20)  # of β, where rows are counted too


@dataclass(frozen=True, kw_only=True)
class FitChecks(OfCounts):
    card: ClassVar[Card] = Card(
        key="fit_checks",
        asked_on=("data",),
        order=165,
        version=2,
        answer="count",
        states=(FEW,),
        caveats=("empty", "below"),
        parameters=(
            Parameter("columns", "columns"),
            Parameter("epsilon", "epsilon", required=True),
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of two columns": {"columns": ["x", "c"]},
            "of two columns, Gaussian": {"columns": ["x", "c"], "noise": "gaussian"},
        },
        example=Example({"columns": ["visits"]}),
        twins=("half",),
    )

    reads: ClassVar[tuple[int, ...]] = (1,)  # misfits alone, under both relations

    columns: tuple[str, ...]

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names = given.get("columns")
        if names in (None, "", []):
            names = list(facts.schema.columns)
        if not isinstance(names, (list, tuple)) or len(set(map(str, names))) != len(names):
            raise AllowanceError("fit_checks.columns")
        for name in names:
            facts.schema[str(name)]  # refuses one that is not declared
        return {"columns": tuple(str(name) for name in names)}

    def own_json(self) -> JsonObject:
        return {"columns": list(self.columns)}

    def used(self) -> set[str]:
        return set(self.columns)

    def valued(self) -> set[str]:
        """A misfit is told from the cell as it stands in the file."""
        return set()

    def sentence(self) -> str:
        if len(self.columns) > _NAMED:
            return say("sentence.fit_checks_many", columns=len(self.columns))
        return say("sentence.fit_checks", columns=say("who.and").join(self.columns))

    @property
    def counts_rows(self) -> bool:
        return True

    def labels(self) -> list[str]:
        return list(self.columns)

    @property
    def none_hoped(self) -> bool:
        return True

    def about(self, part: str = "") -> set[str]:
        return set()  # it is the check

    def verdict_of(self, interval: Ends) -> str:
        return verdict(interval, self.facts.about, self.most)

    def counted_in(self, raw: Figures | None) -> tuple[int, int]:
        """How many rows there are at least and at most: as declared, or as what was drawn tells where that shows that
        the declared number is far off. A share of a wrong number would say little of the cells."""
        low, high = (None if raw is None else self.rows_told(raw)) or (0, None)
        if high is not None and (low > (1 + FAR) * self.most or high < (1 - FAR) * self.facts.about):
            return max(low, 1), max(high, 1)
        return self.facts.about, self.most

    def finding(self, value: Json, interval: Json) -> str:
        return self.finding_of(value, interval, None)

    def finding_of(self, value: Json, interval: Json, raw: Figures | None) -> str:
        least, most = self.counted_in(raw)
        told = {name: verdict(interval[name], least, most) for name in value}
        wrong = [name for name, one in told.items() if one == MOSTLY_NOT]
        if wrong:
            return say("fit.headline.mostly_not", wrong=len(wrong), columns=len(told), names=_some(wrong))
        some = [name for name, one in told.items() if one == SOME_NOT]
        if some:
            return say("fit.headline.some_not", names=_some(some))
        unsure = sum(one == UNSURE for one in told.values())
        if not unsure and any(rough(interval[name], self.facts.about) for name in value):
            reach = max(-(-(high - low) // 2) for low, high in interval.values())
            each = self.facts.unit.at_most
            return say("fit.headline.fits_rough", reach=reach, about=self.facts.about, each=each)
        if unsure == len(told):
            return say("fit.headline.too_rough")
        if not unsure and (part := [name for name in value if in_part(value[name], interval[name], least)]):
            return say("fit.headline.fits_part", names=_some(part))
        return say("fit.headline.unsure" if unsure else "fit.headline.fits", columns=len(told), fit=len(told) - unsure)

    def truth(self, rows: Sequence[Row]) -> dict[str, int]:
        return {name: sum(row[f"fault {name}"] for row in rows) for name in self.columns}

    def need(self) -> MisfitCounts:
        return MisfitCounts(self.columns, fitting=self.counts_fitting)

    @property
    def counts_fitting(self) -> bool:
        """Are the rows that fit counted too, and so how many there are?"""
        return self.facts.relation == "add_remove" and not self.older

    def reach(self, looks: int = 1) -> int | Fraction:
        part = self.beta * _FOR_MISFITS if self.counts_fitting else self.beta
        return self.mean_of(looks, part / len(self.columns))

    def around(self, raw: Figures, looks: int) -> Released:
        return super().around(raw[: len(self.columns)], looks)

    def rows_told(self, raw: Figures) -> Bounds | None:
        columns = len(self.columns)
        if not self.counts_fitting or len(raw) != 2 * columns:
            return None
        off = 2 * self.mean_of(2 * columns, self.beta * (1 - _FOR_MISFITS))
        middle = Fraction(sum(raw), columns)
        return max(ceil(middle - off), 0), max(floor(middle + off), 0)

    @property
    def moves(self) -> tuple[int, int]:
        return len(self.columns), self.facts.unit.at_most

    @property
    def numbers(self) -> int:
        return len(self.columns)

    def holds_none(self, interval: Json) -> bool:
        return bool(interval[0] <= 0 <= interval[1])

    def coarse(self) -> Fraction:
        """A quarter of the people: then a column that fits and one that does not are still told apart."""
        return Fraction(self.facts.about, 4)

    def told(self, each: list[Ends]) -> Released:
        found = dict(zip(self.columns, each, strict=True))
        return Released({name: one[0] for name, one in found.items()}, {name: one[1] for name, one in found.items()})


def _some(names: list[str]) -> list[str]:
    """All of them, or of many the first, and that there are more."""
    return names if len(names) <= _TOLD else [*names[:_TOLD], "…"]


def rough(interval: Ends, about: int) -> bool:
    """Is it known only within more than a tenth of the people? Then what fits is told as roughly as it is known."""
    low, high = interval
    return bool(5 * (high - low) > about)


def in_part(value: Json, interval: Ends, about: int) -> bool:
    """Do some cells of a column that fits surely not fit, and about one in twenty or more? Each counts as something
    else than it is, so answers move."""
    return bool(interval[0] > 0 and 20 * value >= about)


def verdict(interval: Ends, about: int, most: int) -> str:
    """Of one column: so many people, and so many rows that can count at most. Everybody has one row for certain. A
    column fits where most of its cells surely do; a twentieth that surely does not is told."""
    low, high = interval
    if 2 * low >= most:
        return MOSTLY_NOT
    if 20 * low >= most:
        return SOME_NOT
    return FITS if 5 * high <= about or (low <= 0 and 2 * high <= about) else UNSURE
