"""The means of several number columns at once, in one draw.

Guarantee   under replace-one and under add/remove, a person with up to m rows: ε-DP coordinate by coordinate; ε-DP and
            ρ-zCDP by the norm; ρ-zCDP with Gaussian noise.
Theorem     lecture 10, its section on noise by the ℓ2 norm, with the right constants, and the thesis's Theorem 6.2 with
            M = diag(h²) and discrete noise; both are proved at `OfVector`. (The lecture's Theorem 3 is a sketch: its
            own formula gives √2·ε + 2ε²/ln(1/δ) where it says ε. The thesis proves its own for ε ≤ 1 only.)
Statistic   y_j = 2·code − h_j is a value from the middle of its column's grid, h_j = size − 1: v_j = y_j/h_j ∈ [−1, 1].
            A row counts if it has a value in every column. S_j = Σy_j and N rows (`CentredSums`): exact integers. A
            row's norm ‖v‖ is at most √d, or s√d by a public s < 1: longer rows are cut to it, toward zero on a lattice
            of 1/q, so that no rounding makes one longer. What one person changes: `OfVector.moved`.
Draw        S_j + noise of scale b·q·h_j, independent, and N + noise of scale b/w; b = ℓ1/ε. Where the number of people
            is public, nobody can lack a value and nobody is filtered out, N is known and not drawn.
Ways        coordinate ("")  Laplace, d uses of ε/d: ordinary composition, error ∝ d for one ε, which is also what the
                             pure ℓ1 mechanism in one draw amounts to; the accountant adds the same uses by Rényi too
                             (strong composition, ∝ √d for one price there).
            l2_laplace       Laplace by the norm: ∝ s√d at one ρ, and ε = ℓ1/b ∝ sd besides.
            gaussian         √2 better at one ρ, with lighter tails and no finite ε.
Answer      middle + step·S_j/(2qN) for each column. Its range is every ratio the noisy ranges allow, each at β/(d+1):
            all of them hold at once, except with probability β.
Accuracy    before the draw: for a table of the declared size, with values spread evenly if N is drawn, as for a mean:
            then S_j is about 0, and the error of N adds nothing. The same share of every range.
Cost        one scan.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import hypot, isqrt, lcm, sqrt
from statistics import fmean
from typing import ClassVar, Self

from dpengine.accountant.loss import Bounded, Gaussian, Loss, Pure, Repeated, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, first_true, floor, read_number, read_whole, text_of
from dpengine.core.types import Ends, Figure, Figures, Json, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Number, Schema
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.cuts import Cut, cut
from dpengine.mechanisms.noise import Added, GaussianNoise, LaplaceNoise, chosen
from dpengine.mechanisms.noised import Noised
from dpengine.mechanisms.promises import WithinEach
from dpengine.mechanisms.query import Fields, Released, Sensitivity
from dpengine.mechanisms.quotients import ratio, ratio_range
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say
from dpengine.statistics.counts import MOST_WIDE, UNITS, CentredSums

_GRAIN = 1000  # c and w are kept in thousandths


@dataclass(frozen=True)
class Person:
    """What one person can change, from public facts alone."""

    width: int  # d
    share: Fraction  # s
    rows: int  # m
    replaced: bool  # the relation
    counted: bool  # is N drawn?

    @property
    def square(self) -> Fraction:
        """C²: the largest squared length of a row."""
        return self.share**2 * self.width

    @property
    def largest(self) -> Fraction:
        """c: the largest coordinate of a row, rounded up."""
        return min(Fraction(1), _root_above(self.square))


@dataclass(frozen=True)
class Moved:
    """The sensitivity to one person of the sums and of w·N, in two norms; `weight` is w, or 0 if N is not drawn."""

    first: Fraction  # ℓ1
    second: Fraction  # ℓ2²
    weight: Fraction

    def rho(self, epsilon: Fraction) -> Fraction:
        """ρ of noise of scale ℓ1/ε."""
        return epsilon**2 * self.second / (2 * self.first**2)


class OfVector(Added):
    """How far one person moves the sums of a vector of columns, and the loss of noise scaled to that (lecture 10, its
    section on the ℓ2 norm; the thesis, Theorem 6.2).

    A row is v ∈ [−1, 1]^d, cut to ‖v‖ ≤ C = s√d, s ≤ 1 public; so each coordinate is at most c = min(1, C), the sum of
    all at most √d·C = sd. Noise on coordinate j of the sum has scale b, on the number of rows N scale b/w: N counts as
    one more coordinate of weight w. A person has at most m rows. In a neighbour k rows leave and l come, 0 ≤ k, l ≤ m,
    and under add/remove none comes (or none leaves); where n is public k = l = 1 and N is not drawn.

    coordinate  each coordinate is its own release, and all are composed. Add/remove: a coordinate moves by mc and N by
                m, so they are d parts of mc/b and one of mw/b, ε = m(dc + w)/b in all. Replace-one: d parts of 2mc/b, ε
                = 2mdc/b. That is also enough where N is drawn, with c ≤ w ≤ c√d: let x = 2mc/b, p = (k+l)/2m ≤ 1 and t
                = |k−l|/2m ≤ min(p, 1−p); the coordinates lose r(px) each and N r(twx/c), r the pure Rényi curve, for
                which r(y) + r(z) ≤ r(y+z) and r(ay) ≤ a²r(y) for a ≥ 1 (noised, mean). For p ≥ ½ all together lose
                at most d·r(px) + (w/c)²·r((1−p)x) ≤ d·r(x), and for p ≤ ½ at most 2d·r(px) ≤ 2d·r(x/2) ≤ d·r(x). In ε:
                dpx + twx/c ≤ dx, because t ≤ 1−p and w/c ≤ d.
    norm        one draw, set by the length of what changes. Add/remove: ℓ1 m(sd + w), ℓ2² m²(C² + w²). Replace-one: the
                coordinates move by at most (k+l)C in ℓ2 and N by |k−l|; C²(k+l)² + w²(k−l)² is convex, so largest at a
                corner: 4m²C² with both m, m²(C² + w²) with one 0: no more as long as w² ≤ 3C². In ℓ1 likewise 2msd
                against m(sd + w): no more as long as w ≤ sd.
                  Laplace   scale b: ε = ℓ1/b (Dwork et al. 2006), and each coordinate that moves by x is (x/b)-DP,
                            hence (x²/2b²)-zCDP (Bun, Steinke 2016, Prop. 1.4): ρ = ℓ2²/(2b²) over all, no factor d.
                            With s = 1 this is the same noise as coordinate by coordinate: a row's length is then √d.
                  Gaussian  variance b²: ρ = ℓ2²/(2b²) (Canonne, Kamath, Steinke 2020, Thm 14), no finite ε. √2 less
                            noise than Laplace of the same ρ.

    w is free: it divides the noise between the sums and N. Their ratio is worst at an end of the range, off by b(1 +
    1/w)/N; under add/remove that is least at w³ = C² for a given ρ. Under replace-one w is as large as costs nothing.

    Noise of one scale on all coordinates of a vector.
    """

    @classmethod
    def moved(cls, person: Person) -> Moved:
        """The sensitivity for one draw that is set by the length of the whole change (“norm” above)."""
        weight = _weight(person) if person.counted else Fraction(0)
        return cls.in_all(person, person.width * person.share, person.square, weight)

    @staticmethod
    def in_all(person: Person, total: Fraction, square: Fraction, weight: Fraction) -> Moved:
        m = person.rows
        if person.replaced:
            return Moved(2 * m * total, 4 * m**2 * square, weight)
        return Moved(m * (total + weight), m**2 * (square + weight**2), weight)

    @classmethod
    @abstractmethod
    def loss_of(cls, person: Person, epsilon: Fraction) -> Loss: ...


class ByCoordinate(LaplaceNoise, OfVector):
    @classmethod
    def moved(cls, person: Person) -> Moved:
        each, d = person.largest, person.width
        weight = each * _root_below(Fraction(d)) if person.counted else Fraction(0)
        return cls.in_all(person, d * each, d * each**2, weight)

    @classmethod
    def loss_of(cls, person: Person, epsilon: Fraction) -> Loss:
        change = cls.moved(person)
        scale, sides = change.first / epsilon, 2 if person.replaced else 1
        part = Pure(sides * person.rows * person.largest / scale)
        sums: Loss = Repeated(part, person.width) if person.width > 1 else part
        return sums if person.replaced else Together((sums, Pure(person.rows * change.weight / scale)))


class ByNorm(LaplaceNoise, OfVector):
    name = "l2_laplace"
    norm = "l2sq"

    @classmethod
    def loss_of(cls, person: Person, epsilon: Fraction) -> Loss:
        return Bounded(epsilon, cls.moved(person).rho(epsilon))


class GaussianByNorm(GaussianNoise, OfVector):
    @classmethod
    def loss_of(cls, person: Person, epsilon: Fraction) -> Loss:
        return Gaussian(cls.moved(person).rho(epsilon))


WAYS: tuple[type[OfVector], ...] = (ByCoordinate, ByNorm, GaussianByNorm)


def _weight(person: Person) -> Fraction:
    """w of a draw by the norm: under replace-one the largest that costs nothing."""
    if person.replaced:
        return _root_below(min(3, person.width) * person.square)
    above = first_true(lambda root: Fraction(root, _GRAIN) ** 3 > person.square, 2, 10 * _GRAIN + 1)
    return Fraction(above - 1, _GRAIN)  # the cube root of C², rounded down


def _root_below(value: Fraction) -> Fraction:
    return max(Fraction(isqrt(floor(value * _GRAIN**2)), _GRAIN), Fraction(1, _GRAIN))


def _root_above(value: Fraction) -> Fraction:
    wanted = ceiling(value * _GRAIN**2)
    root = isqrt(wanted)
    return Fraction(root if root * root == wanted else root + 1, _GRAIN)


MOST_COLUMNS = 20
LEAST_NORM = Fraction(1, 20)
LATTICE = 8  # q = 2^8 where rows are cut: a 512th of a step of the column
_LOOSE = 4  # parts in s·UNITS by which a cut row may be too short (`CentredSums`), besides a lattice step


@dataclass(frozen=True, kw_only=True)
class VectorMean(Noised[tuple[int, ...]]):
    several_ways: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        key="vector_mean",
        order=22,
        answer="place",
        states=(FEW,),
        caveats=("bounds", "complete", "norm"),
        own=(
            Parameter("columns", "columns.number", required=True),
            Parameter("norm", "norm", default="1"),
            Parameter("lattice", "lattice", default=LATTICE),
            WHERE,
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "with empty cells": {"columns": ["x", "z"]},
            "of everybody": {"columns": ["z"]},
            "by the norm": {"columns": ["x", "z"], "noise": "l2_laplace"},
            "of some, cut": {"columns": ["z", "x"], "norm": "0.7", "lattice": 1, "where": IN_A, "noise": "l2_laplace"},
            "Gaussian": {"columns": ["x", "z"], "noise": "gaussian"},
            "of everybody, cut, Gaussian": {"columns": ["z"], "norm": "0.6", "lattice": 1, "noise": "gaussian"},
        },
        example=Example({"columns": ["visits"]}),
        with_noise={"vector_length": Example({"columns": ["visits"], "noise": "l2_laplace"})},
        broken_variants=("half", "bare"),
    )
    accepts: ClassVar[tuple[type[OfVector], ...]] = WAYS

    columns: tuple[str, ...]
    norm: Fraction = Fraction(1)  # s
    lattice: int = LATTICE
    own_scales = True

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names = given["columns"]
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
            raise AllowanceError("vector.columns")
        if len(set(names)) < len(names):
            raise AllowanceError("vector.twice", column=next(name for name in names if names.count(name) > 1))
        if len(names) > MOST_COLUMNS:
            raise AllowanceError("vector.many", columns=len(names), most=MOST_COLUMNS)
        for name in names:
            if not isinstance(facts.schema[name], Number):
                raise AllowanceError("vector.kind", column=name)
        bits = LATTICE if given.get("lattice") in (None, "") else given["lattice"]
        lattice = read_whole(bits, say("param.lattice.label"), LATTICE, "vector.lattice", least=0)
        return {"columns": tuple(names), "norm": _norm(given.get("norm")), "lattice": lattice}

    def sentence(self) -> str:
        facts = {"columns": list(self.columns), "who": self.whom()}
        if self.norm == 1:
            return say("sentence.vector_mean", **facts)
        return say("sentence.vector_mean_cut", percent=self.norm * 100, **facts)

    @property
    def theorem(self) -> str:
        return say(f"vector.theorem.{self.noise}") if self.noise else self.card.theorem

    @property
    def noise_kind(self) -> type[OfVector]:
        return chosen(self.accepts, self.noise)

    # Public facts -----------------------------------------------------------------------------------------------------

    @property
    def declared(self) -> tuple[Number, ...]:
        return tuple(self.facts.schema.number(name) for name in self.columns)

    @property
    def halves(self) -> tuple[int, ...]:
        """h of each column: how far a doubled code can be from the middle of the grid."""
        return tuple(column.size - 1 for column in self.declared)

    @property
    def parts(self) -> int:
        """q: rows are cut on a lattice of 1/q; 1 if they are not cut."""
        return 1 if self.norm == 1 else min(2**self.lattice, MOST_WIDE // max(self.halves))

    @property
    def known(self) -> int | None:
        """The number of rows if it is public, so that we may divide by it; else None."""
        return self.facts.countable(self.where, *self.columns)

    @cached_property
    def person(self) -> Person:
        replaced = self.facts.relation == "replace"
        return Person(len(self.columns), self.norm, self.facts.unit.at_most, replaced, self.known is None)

    @cached_property
    def moved(self) -> Moved:
        return self.noise_kind.moved(self.person)

    def of_width(self, many: int) -> Self:
        """The same question for this many columns, all like its finest one: only their grids matter."""
        complete = all(column.complete for column in self.declared)
        alike = max((own for own in self.declared if own.complete == complete), key=lambda own: own.size)
        names = tuple(str(place) for place in range(many))
        return replace(
            self, columns=names, facts=replace(self.facts, schema=Schema(dict.fromkeys(names, alike)), header=())
        )

    # Privacy ----------------------------------------------------------------------------------------------------------

    def need(self) -> CentredSums:
        limit = None if self.norm == 1 else floor(self.person.square * UNITS**2)
        return CentredSums(self.columns, tuple(column.size for column in self.declared), self.parts, limit, self.where)

    @property
    def _unit(self) -> int:
        """The integer that stands for v = 1 in `measured`, where every coordinate and w·N are integers."""
        return lcm(*self.halves) * self.parts * self.moved.weight.denominator

    def measured(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """(S, w·N) on one scale; S alone if N is known."""
        sums = tuple(s * (self._unit // (self.parts * h)) for s, h in zip(value[1:], self.halves, strict=True))
        return sums if self.known is not None else (*sums, int(self.moved.weight * self._unit) * value[0])

    def sensitivity(self) -> Sensitivity:
        attained = self.norm == 1
        bounds = {"l1": self.moved.first * self._unit, "l2sq": self.moved.second * self._unit**2}
        return Sensitivity(self.noise_kind.norm, floor(bounds[self.noise_kind.norm]), attained)

    @property
    def scale(self) -> Fraction:
        """b: the scale of the noise."""
        return self.moved.first / self.epsilon

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """The noise scales of the sums, and of N if it is drawn: in the order of a draw."""
        sums = tuple(self.scale * self.parts * half for half in self.halves)
        return sums if self.known is not None else (*sums, self.scale / self.moved.weight)

    @property
    def added(self) -> tuple[Added, ...]:
        return tuple(self.noise_kind.of(scale, scale**2) for scale in self.scales)

    def loss(self) -> Loss:
        return self.noise_kind.loss_of(self.person, self.epsilon)

    def noised(self, value: tuple[int, ...]) -> tuple[int, ...]:
        return value[1:] if self.known is not None else (*value[1:], value[0])

    # Accuracy ---------------------------------------------------------------------------------------------------------

    def _reaches(self, draws: int = 1) -> tuple[tuple[Figure, ...], Figure]:
        """How far each sum and N may be off, all at once, except with probability β."""
        reaches = self.reaches(draws)
        return reaches[: len(self.columns)], 0 if self.known is not None else reaches[-1]

    @property
    def _rounded(self) -> tuple[Fraction, ...]:
        """How far cutting rows on the lattice moves a mean, in units of S/N."""
        if self.norm == 1:
            return (Fraction(0),) * len(self.columns)
        return tuple(1 + Fraction(_LOOSE * half * self.parts, UNITS) / self.norm for half in self.halves)

    @cached_property
    def _promised(self) -> WithinEach:
        reaches, reach_n = self._reaches()
        people = max(self.planned_size - reach_n, Fraction(1))
        wide = [half * self.parts for half in self.halves]
        shares = [
            min(Fraction(reach) / people / (2 * edge) + rounded / (2 * edge), Fraction(1))
            for reach, edge, rounded in zip(reaches, wide, self._rounded, strict=True)
        ]
        alphas = tuple(share * column.diameter for share, column in zip(shares, self.declared, strict=True))
        drawn = self.known is None
        return WithinEach(max(shares), self.columns, alphas, self.beta, nominal=drawn, spread=drawn)

    def promise(self) -> WithinEach:
        return self._promised

    def coarse(self) -> Fraction:
        return Fraction(1, 8)

    # The answer -------------------------------------------------------------------------------------------------------

    def labels(self) -> list[str]:
        return list(self.columns)

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return ("column",), [(name,) for name in self.columns]

    def column_of(self, part: str = "") -> str:
        return part

    def about(self, part: str = "") -> set[str]:
        return (
            {part}.union(*(where.columns() for where in self.conditions())) if part in self.columns else super().about()
        )

    @property
    def comparable(self) -> bool:
        """False if rows are cut: such averages differ from others by the cut alone."""
        return super().comparable and self.norm == 1

    def limits(self, part: str = "") -> Ends | None:
        return self.facts.schema.number(part).ends if part else None

    def cuts(self) -> tuple[Cut, ...]:
        cuts = list(super().cuts())
        if len(self.columns) > 1 and not all(column.complete for column in self.declared):
            cuts.append(cut("complete", columns=list(self.columns)))
        if self.norm != 1:
            percent, most = self.norm * 100, 100 - self.norm * 100  # |v_j|·(1 − C/‖v‖) ≤ 1 − s, as ‖v‖ ≤ √d
            cuts.append(cut("norm", columns=list(self.columns), percent=text_of(percent), most=text_of(most)))
        return tuple(cuts)

    def left_out(self) -> list[str]:
        """Empty for several columns, because `cuts` names them."""
        return super().left_out() if len(self.columns) == 1 else []

    def truth(self, rows: Sequence[Row]) -> dict[str, Json]:
        vectors = []
        for row in rows:
            if all(row[name] != MISSING for name in self.columns):
                ends = [column.ends for column in self.declared]
                codes = [row[name] for name in self.columns]
                values = [float(column.value(code)) for column, code in zip(self.declared, codes, strict=True)]
                vector = [
                    (2 * value - float(low + high)) / float(high - low)
                    for value, (low, high) in zip(values, ends, strict=True)
                ]
                most = float(self.norm) * sqrt(len(vector))
                vectors.append([part * min(1.0, most / (hypot(*vector) or 1.0)) for part in vector])
        means = [fmean(vector[place] for vector in vectors) for place in range(len(self.columns))]
        columns = zip(self.columns, self.declared, means, strict=True)
        return {
            name: float(column.ends[0] + column.ends[1]) / 2 + mean * float(column.diameter) / 2
            for name, column, mean in columns
        }

    def from_mean(self, raw: Figures, draws: int) -> Released:
        """Averages N and the sums of several draws and divides once; ratios are not averaged."""
        reaches, reach_n = self._reaches(draws)
        many = raw[-1] if self.known is None else self.known
        answers = []
        parts = zip(self.declared, self.halves, raw, reaches, self._rounded, strict=False)
        for column, half, s, reach, rounded in parts:
            edge = Fraction(half * self.parts)
            middle, step = sum(column.ends) / 2, column.step / (2 * self.parts)
            low, high = ratio_range(s, reach, many, reach_n, -edge, edge)
            low, high = max(low - rounded, -edge), min(high + rounded, edge)
            at, first, last = (float(middle + step * y) for y in (ratio(s, many, -edge, edge), low, high))
            answers.append((at, (first, last)))
        return self.by_label(answers)


def _norm(asked: Json) -> Fraction:
    if asked in (None, ""):
        return Fraction(1)
    share = read_number(asked, say("param.norm.label"))
    if not LEAST_NORM <= share <= 1 or (share * 1000).denominator != 1:
        raise AllowanceError("vector.norm", least=LEAST_NORM * 100)
    return share
