"""How a number is spread over its range: a smooth curve, or for two numbers a map of heights.

Guarantee   ρ-zCDP with ρ = ε²/2 under add/remove and ρ = ε²/4 under replace-one, for every ε; no finite ε at δ = 0.
Theorem     the Gaussian mechanism on the coefficients of the curve in the kernel's Hilbert space (Hall, Rinaldo,
            Wasserman 2013; the thesis, Thm 6.1 and Cor. 6.10, which is proved for ε ≤ 1 only), with discrete Gaussian
            noise: Canonne, Kamath, Steinke 2020, Thm 14.
Curve       f(x) = Σ φ_h(x − v_i), φ_h the normal density of bandwidth h, at G public grid points over the declared
            range; of two columns, products of two such kernels at G × G points. Divided by n where n is public;
            elsewhere it counts people per unit and n stays private.
Statistic   Σ of what each row adds to a public table's integer coefficients (`density_table`): exact integers, computed
            without a float that could round. One person with at most m rows moves it, in squared ℓ2 norm, by at most
                add/remove    m²·max|U_v|²
                replace-one   m²·max|U_v − U_w|², and where a row may not count (a filter, a missing value, fewer rows
                              than m) no less than m²·max|U_v|²
            both computed from that table, times the square of its mixing parts.
Draw        every coefficient + Z, Pr[Z=z] ∝ exp(−z²/(2σ²)), σ² = Δ²/(2ρ). A coefficient is noised or it is not
            released.
Answer      back to the grid is post-processing of the draw. B·Bᵀ = K + τ, so each grid point, the first one too, gets
            noise of variance σ²(1 + τ) in units of the kernel's height (less what belongs to coefficients that are 0 in
            every table). The curve itself is kept, because another machine may find other eigenvectors.
Accuracy    at a point, noise |Σ B_ji·Z_i| ≤ t except with β (`tails.gaussian_mix_reach`), at all points by a union
            bound; and n times the bias of one row (`density_table.Axis.bias`). n is at most people × m; under
            add/remove the declared number of people stands for it. Nothing of it is read off the table of the data.
Cost        one scan; G ≤ 200 or 100 × 100 coefficients to draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np

from dpengine.accountant.loss import Gaussian
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, float_above, read_number, read_whole, text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.conditions import who
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number
from dpengine.mechanisms.answer_state import SHAPE
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.promises import Band
from dpengine.mechanisms.query import Fields, Query, Released, Sensitivity, read_names
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say
from dpengine.noise import density_table
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Independent, Normal
from dpengine.noise.tails import gaussian_mix_reach
from dpengine.statistics.counts import Distribution, PairDistribution
from dpengine.statistics.need import Spread

USUAL_POINTS = 100
MOST_POINTS = {1: 200, 2: 100}
USUAL_WIDTH = 20  # bandwidths in the range, by default
_PARTS = {1: 2**8, 2: 2**6}  # M
_CLOSE = 5  # bits beyond those of the number of rows: then rounding is far below the noise
_ROOM = 57  # bits of σ: a sampler's integers have 63


@dataclass(frozen=True, kw_only=True)
class Density(Query[Spread, tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="density",
        order=130,
        answer="density",
        states=(SHAPE,),
        caveats=("bandwidth", "ends", "delta"),
        own=(
            Parameter("columns", "columns.curve", required=True),
            Parameter("bandwidth", "bandwidth"),
            Parameter("resolution", "resolution", default=USUAL_POINTS),
            WHERE,
        ),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "of a column": {"columns": ["x"], "resolution": 2, "bandwidth": 2},
            "of everybody": {"columns": ["z"], "resolution": 4, "bandwidth": "2.5"},
            "of two columns": {"columns": ["x", "z"], "resolution": 2, "bandwidth": ["1.8", 4], "where": IN_A},
        },
        example=Example({"columns": ["visits"], "resolution": 2, "bandwidth": 3}),
        covered="test_the_band_holds_the_whole_curve",
        large={"columns": ["z"], "resolution": 8},
    )

    columns: tuple[str, ...]
    widths: tuple[Fraction, ...]  # h of each column, in its unit
    points: int

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        names = read_names(given["columns"])
        if names is None or not 1 <= len(names) <= 2:
            raise AllowanceError("density.columns")
        columns = [facts.schema.number(name) for name in names]
        wanted = USUAL_POINTS if given.get("resolution") in (None, "") else given["resolution"]
        most = MOST_POINTS[len(names)]
        points = read_whole(wanted, say("param.resolution.label"), most, "density.points", least=2)
        asked = given.get("bandwidth")
        bandwidths = list(asked) if isinstance(asked, (list, tuple)) else [asked] * len(names)
        if len(bandwidths) != len(names):
            raise AllowanceError("density.bandwidths", columns=list(names))
        widths = tuple(_width(*given_width, points) for given_width in zip(names, columns, bandwidths, strict=True))
        return {"columns": names, "widths": widths, "points": points}

    def own_json(self) -> JsonObject:
        widths = [text_of(width) for width in self.widths]
        return {
            "columns": list(self.columns),
            "resolution": self.points,
            "bandwidth": widths if len(widths) > 1 else widths[0],
        }

    def sentence(self) -> str:
        rows = self.facts.said_rows
        words = {"columns": say("who.and").join(self.columns), "who": who(self.where, rows=rows)}
        return say("sentence.density_two" if len(self.columns) > 1 else "sentence.density", **words)

    # Public facts -----------------------------------------------------------------------------------------------------

    @property
    def declared(self) -> tuple[Number, ...]:
        return tuple(self.facts.schema.number(name) for name in self.columns)

    @property
    def column(self) -> str:
        """The column along the horizontal axis."""
        return self.columns[0]

    @property
    def rows(self) -> int:
        """The most rows that can count; approximate under add/remove."""
        return self.facts.about * self.facts.unit.at_most

    @property
    def planned_size(self) -> int:
        return self.rows

    @property
    def people(self) -> int | None:
        """n, if it is public: then the curve is a share per unit."""
        return self.facts.countable(self.where, *self.columns)

    @property
    def area(self) -> Fraction:
        return prod((column.diameter for column in self.declared), start=Fraction(1))

    def grids(self) -> tuple[tuple[Fraction, ...], ...]:
        """The grid points of each column, in its unit."""
        last = self.points - 1
        return tuple(
            tuple(column.lower + column.diameter * place / last for place in range(self.points))
            for column in self.declared
        )

    @cached_property
    def axes(self) -> tuple[density_table.Axis, ...]:
        many, parts = len(self.columns), _PARTS[len(self.columns)]
        mixing = many * (parts.bit_length() - 1)
        spare = _ROOM - mixing - 1 - ceiling(self.facts.unit.at_most / self.epsilon).bit_length()
        bits = min(density_table.MOST_BITS if many == 1 else 20, self.rows.bit_length() + _CLOSE, spare // many)
        return tuple(
            density_table.Axis(width / column.diameter, self.points, column.size, bits, parts)
            for width, column in zip(self.widths, self.declared, strict=True)
        )

    @cached_property
    def tables(self) -> tuple[density_table.DensityTable, ...]:
        """Computed once per question, so that the sums, the sensitivity and the noise all use the same table."""
        return tuple(density_table.table(axis) for axis in self.axes)

    @property
    def scale(self) -> int:
        """The product of M over all axes: what a row at a knot counts."""
        return prod(axis.scale for axis in self.axes)

    @property
    def height(self) -> float:
        """The height of a kernel, (2πh²)^(−d/2)."""
        return prod(1 / (math.sqrt(2 * math.pi) * float(width)) for width in self.widths)

    # Privacy ----------------------------------------------------------------------------------------------------------

    def need(self) -> Distribution | PairDistribution:
        sizes = [column.size for column in self.declared]
        if len(self.columns) == 1:
            return Distribution(self.columns[0], sizes[0], self.where)
        return PairDistribution((self.columns[0], self.columns[1]), (sizes[0], sizes[1]), self.where)

    def measured(self, value: Spread) -> tuple[int, ...]:
        codes = (value.codes,) if len(self.columns) == 1 else np.divmod(value.codes, self.declared[1].size)
        return density_table.coefficients(self.tables, density_table.binned(self.tables, tuple(codes), value.counts))

    def sensitivity(self) -> Sensitivity:
        longest = density_table.longest_of(self.tables)
        if self.facts.relation == "replace":
            apart = density_table.farthest_of(self.tables)
            longest = apart if self.people is not None else max(apart, longest)
        return Sensitivity("l2sq", longest * (self.facts.unit.at_most * self.scale) ** 2)

    @property
    def rho(self) -> Fraction:
        return self.epsilon**2 / (2 * self.facts.sides)

    @cached_property
    def variance(self) -> Fraction:
        return self.sensitivity().bound / (2 * self.rho)

    def loss(self) -> Gaussian:
        return Gaussian(self.rho)

    def draw(self, value: Spread, coins: Coins) -> tuple[int, ...]:
        return tuple(coins.wide_gaussian(self.measured(value), self.variance))

    def law(self, value: Spread) -> Independent:
        return Independent(tuple(Normal(coefficient, self.variance) for coefficient in self.measured(value)))

    # Accuracy ---------------------------------------------------------------------------------------------------------

    @property
    def _most_move(self) -> float:
        """A bound on how far one row moves the curve, from `density_table.Axis`, for kernels of height 1."""
        longest, several = prod(axis.most_long for axis in self.axes), len(self.axes) > 1
        if self.facts.relation == "add_remove":
            return longest
        moves = [axis.most_far * longest / axis.most_long for axis in self.axes]
        moves += [math.sqrt(2) * longest] if several else [longest] if self.people is None else []
        return max(moves)

    def _reach(self, beta: Fraction) -> Fraction:
        """How far a point can be off, except with chance β: in the curve's unit, from public facts alone."""
        steps = 2.0 ** sum(axis.bits for axis in self.axes) * self.scale  # of the table's integers: one row
        variance = Fraction((self._most_move * self.facts.unit.at_most * steps) ** 2) / (2 * self.rho)
        total = math.sqrt(self.points ** len(self.axes))
        some = 1 + density_table.SLACK
        noise = gaussian_mix_reach(variance, some, total * some, beta) / steps
        bias = prod(1 + axis.bias for axis in self.axes) - 1
        rows = self.people or self.rows
        off = self.height * (noise + rows * bias) / (self.people or 1)
        return _rounded_up(off * 1.001)  # includes the rounding of the released figures

    def promise(self) -> Band:
        return Band(
            alpha=self._reach(self.beta / self.points ** len(self.columns)),
            pointwise=self._reach(self.beta),
            of=self.points ** len(self.columns),
            even=Fraction(1 if self.people is not None else self.rows) / self.area,
            beta=self.beta,
            nominal=self.facts.relation == "add_remove",
        )

    def state(self, value: Json, interval: Json) -> str:
        """SHAPE if a flat curve fits the band, else ""."""
        return SHAPE if max(value.values()) - min(value.values()) <= 2 * self.promise().alpha else ""

    def coarse(self) -> Fraction:
        return Fraction(1, 4)

    # The answer -------------------------------------------------------------------------------------------------------

    def labels(self) -> list[str]:
        texts = [_texts(grid) for grid in self.grids()]
        return texts[0] if len(texts) == 1 else [f"{x} × {y}" for x in texts[0] for y in texts[1]]

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return self.columns, list(product(*(_texts(grid) for grid in self.grids())))

    def finish(self, raw: tuple[int, ...]) -> Released:
        reach = float(self.promise().alpha)
        places = 3 - math.floor(math.log10(reach))
        heights = density_table.curve(self.tables, raw).ravel() * (self.height / (self.people or 1))
        rounded = [round(float(height), places) for height in heights]
        return self.by_label((at, (round(at - reach, places), round(at + reach, places))) for at in rounded)


def _width(name: str, column: Number, asked: Json, points: int) -> Fraction:
    least = column.diameter / (2 * (points - 1))
    narrowest = min(_rounded_up(float_above(least)), column.diameter)  # a decimal, as it is kept and read again
    if asked in (None, ""):
        return max(column.diameter / USUAL_WIDTH, narrowest)
    width = read_number(asked, say("param.bandwidth.label"))
    if not 0 < width <= column.diameter:
        raise AllowanceError("density.bandwidth", column=name, most=column.diameter)
    if width < least:
        raise AllowanceError("density.narrow", least=narrowest)
    return width


def _rounded_up(value: float) -> Fraction:
    """`value` rounded up to four digits, so that machines with slightly different floats agree."""
    grain = Fraction(10) ** (3 - math.floor(math.log10(value)))
    return ceiling(Fraction(value) * grain) / grain


def _texts(grid: tuple[Fraction, ...]) -> list[str]:
    """Grid points as text, with one digit more than is needed to make them different."""
    places = max(0, 2 - math.floor(math.log10(float_above(grid[1] - grid[0]))))
    return [f"{float(point):.{places}f}" for point in grid]
