"""The public integer table of a density: what each person's value adds to the released coefficients.

One axis. The range is [0, 1], the kernel φ(x, v) = exp(−(x−v)²/(2h²)), and x₁ … x_G are the grid points. With the
eigen-decomposition K = QΛQᵀ of K_ij = φ(x_i, x_j) and a small τ,

    whitening    A = (Λ+τ)^(−1/2)·Qᵀ        and back    B = Q·(Λ+τ)^(1/2),  B·A = 1,  B·Bᵀ = K + τ.
    table        U_v = rint(2^b·A·φ(·, v)) for V public knots v. Coefficients that are 0 at every knot are left out.

A value between two knots counts as a mixture of them: as M−t of the lower and t of the upper one, M public, so that a
person adds M·U_v at a knot and a sum of such whole vectors in between (linear binning: Wand 1994). Two axes: U_(v,w) =
U_v ⊗ U_w, weights multiply, and nothing larger than a factor is ever formed.

**Sensitivity.** What a row adds lies in the convex hull of {M·U_v}. ‖x − y‖² and ‖x‖² are convex, so their maxima over
the hull are taken at knots: `farthest` and `longest` are computed from the integers and are exact. We use no property
of A: whatever floats did to it, we sum the same table whose distances we compute.

For two axes ‖a⊗b − c⊗d‖² = |a|²|b|² + |c|²|d|² − 2(a·c)(b·d). With few knots `farthest_of` is its maximum. Otherwise it
is the largest of three bounds: with p = max|U_v|² of each axis and g the least product a·c,
    (a·c)(b·d) ≥ 0      at most 2pp' − 2·max(g, 0)·max(g', 0);
    a·c < 0 < b·d       at most |a|²|b|² + |c|²|d|² − (a·c)(|b|² + |d|²) ≤ p'·(|a|² + |c|² − 2a·c) ≤ p'·`farthest`;
    a·c > 0 > b·d       the same with the axes exchanged.
The first is the distance of two corners, and the others are no larger, up to rounding (below).

**Size.** In exact arithmetic |A·φ(·,v)| ≤ 1, as A·φ is a projection in the kernel's Hilbert space, shortened by τ; and
|A·(φ(·,v) − φ(·,w))| ≤ D = √(2 − 2φ(0,1)). Rounding moves each of G coefficients by ½. So `longest` ≤ (2^b + √G/2)² and
`farthest` ≤ (2^b·D + √G)², up to float error, far below the part in 10^4 of `SLACK`; `table` refuses one that breaks
these bounds. Promises use the bounds and not the table, so that they are the same on every machine.

**Bias** of one value at one grid point, for a kernel of height 1 (`bias`): rounding ≤ 2^(−b)·|B_j|₁/2 ≤ 2^(−b)·√G/2;
mixing two knots that lie w apart ≤ w²/8·max|φ''| = w²/(8h²); moving a value to the nearest of the (V−1)M+1 places it
may have ≤ w/(2M)·max|φ'| = w/(2M)·e^(−1/2)/h. The last two are 0 where every value of the column is a knot.

Arithmetic is exact: integers are multiplied in float64 only where every partial sum is below 2^53.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpengine.core.types import Floats, Integers

Wholes = npt.NDArray[np.object_]  # Python integers

MOST_KNOTS = 1_001
MOST_BITS = 24
JITTER = 1e-9  # τ
SLACK = 1e-4
FEW = 256  # with up to this many knots of two axes together, every pair is compared
_LIMB = 16


@dataclass(frozen=True)
class Axis:
    """The public numbers of an axis: h as a part of the range, G, the number of values of the column, b and M."""

    width: Fraction
    points: int
    size: int
    bits: int
    parts: int

    @property
    def knots(self) -> int:
        return min(self.size, MOST_KNOTS)

    @property
    def whole(self) -> bool:
        """Is every value of the column a knot?"""
        return self.size <= MOST_KNOTS

    @property
    def scale(self) -> int:
        """M if values are mixed from two knots; 1 if every value is a knot."""
        return 1 if self.whole else self.parts

    @property
    def bias(self) -> float:
        rounding = 2.0**-self.bits * math.sqrt(self.points) / 2
        if self.whole:
            return rounding * (1 + SLACK)
        apart = 1 / (self.knots - 1) / float(self.width)
        return (rounding + apart**2 / 8 + apart / (2 * self.scale) * math.exp(-0.5)) * (1 + SLACK)

    @property
    def most_long(self) -> float:
        """A bound on |U_v|/2^b."""
        return (1 + 2.0**-self.bits * math.sqrt(self.points) / 2) * (1 + SLACK)

    @property
    def most_far(self) -> float:
        """A bound on |U_v − U_w|/2^b."""
        ends = math.sqrt(-2 * math.expm1(-0.5 / float(self.width) ** 2))
        return (ends + 2.0**-self.bits * math.sqrt(self.points)) * (1 + SLACK)


@dataclass(frozen=True, eq=False)
class DensityTable:
    """U as integers in floats (knots × coefficients), B (grid points × coefficients), and U·Uᵀ."""

    axis: Axis
    units: Floats
    back: Floats
    products: Integers

    @property
    def longest(self) -> int:
        """max |U_v|²."""
        return int(self.products.diagonal().max())

    @property
    def farthest(self) -> int:
        """max |U_v − U_w|²."""
        own = self.products.diagonal()
        return int((own[:, None] + own[None, :] - 2 * self.products).max())

    def places(self, codes: Integers) -> tuple[Integers, Integers]:
        """For each code, the knot at or below it, and t: how many of `scale` parts belong to the next knot."""
        if self.axis.whole:
            return codes, np.zeros_like(codes)
        steps, last = (self.axis.knots - 1) * self.axis.scale, self.axis.size - 1
        fine = (2 * codes * steps + last) // (2 * last)
        return fine // self.axis.scale, fine % self.axis.scale


@lru_cache(maxsize=32)
def table(axis: Axis) -> DensityTable:
    """The table of an axis. The table is public, so it may be cached."""
    grid, knots = np.linspace(0, 1, axis.points), np.linspace(0, 1, axis.knots)
    h = float(axis.width)
    roots, vectors = np.linalg.eigh(np.exp(-((grid[:, None] - grid[None, :]) ** 2) / (2 * h * h)))
    weights = np.sqrt(np.maximum(roots, 0) + JITTER)
    seen = np.exp(-((grid[:, None] - knots[None, :]) ** 2) / (2 * h * h))
    units = np.rint(2.0**axis.bits * (vectors.T @ seen) / weights[:, None]).T
    nonzero = np.flatnonzero(np.abs(units).max(axis=0))
    units = np.ascontiguousarray(units[:, nonzero])
    if axis.bits > MOST_BITS or np.abs(units).max() > 2.0 ** (axis.bits + 1):
        raise ValueError("a table whose products are not exact")
    result = DensityTable(
        axis, units, (vectors * weights)[:, nonzero] * 2.0**-axis.bits, (units @ units.T).astype(np.int64)
    )
    off = np.abs(seen - result.back @ units.T).max()
    size = 2.0**axis.bits
    longest, farthest = (size * axis.most_long) ** 2, (size * axis.most_far) ** 2
    if off > axis.bias or result.longest > longest or result.farthest > farthest:
        raise ValueError("a table that is not what its statement says")
    return result


def longest_of(axes: tuple[DensityTable, ...]) -> int:
    """max |U_v ⊗ U_w|²."""
    return math.prod(axis.longest for axis in axes)


def farthest_of(axes: tuple[DensityTable, ...]) -> int:
    """max |U_v ⊗ U_w − U_v' ⊗ U_w'|², or slightly more by rounding."""
    if len(axes) == 1:
        return axes[0].farthest
    first, second = axes[0].products, axes[1].products
    if len(first) * len(second) <= FEW:
        both = np.kron(first.astype(object), second.astype(object))
        own = both.diagonal()
        return int((own[:, None] + own[None, :] - 2 * both).max())
    least = [int(products.min()) for products in (first, second)]
    bounds = [2 * longest_of(axes) - 2 * max(least[0], 0) * max(least[1], 0)]
    bounds += [axes[0].farthest * axes[1].longest] if least[0] < 0 else []
    bounds += [axes[0].longest * axes[1].farthest] if least[1] < 0 else []
    return max(bounds)


def binned(axes: tuple[DensityTable, ...], codes: tuple[Integers, ...], counts: Integers) -> Integers:
    """The weight of the rows at each knot or pair of knots; a row weighs the product of the axes' `scale`. Exact below
    a total of 2^53."""
    shape = tuple(axis_table.axis.knots for axis_table in axes)
    weights = np.zeros(math.prod(shape))
    corners: list[tuple[Integers, Integers]] = [(np.zeros_like(counts), counts)]
    for axis_table, axis_codes in zip(axes, codes, strict=True):
        low, t = axis_table.places(axis_codes)
        knots, scale = axis_table.axis.knots, axis_table.axis.scale
        ends = ((low, scale - t), (np.minimum(low + 1, knots - 1), t)) if scale > 1 else ((low, np.int64(1)),)
        corners = [(place * knots + end, share * part) for place, share in corners for end, part in ends]
    for place, share in corners:
        weights += np.bincount(place, weights=share, minlength=len(weights))
    return weights.astype(np.int64).reshape(shape)


def coefficients(axes: tuple[DensityTable, ...], weights: Integers) -> tuple[int, ...]:
    """Σ weight·U, exactly."""
    total: Wholes = _whole(0, axes)
    for place, limb in enumerate(_limbs(weights.reshape(axes[0].axis.knots, -1), 64)):
        part = axes[0].units.T @ limb  # below 2^(16 + 10 + 25)
        if len(axes) == 1:
            total = total + (part.astype(np.int64).astype(object) << (_LIMB * place))
            continue
        for lower, piece in enumerate(_limbs(part.astype(np.int64), 53)):
            inner = (piece @ axes[1].units).astype(np.int64)
            total = total + (inner.astype(object) << (_LIMB * (place + lower)))
    return tuple(int(coefficient) for coefficient in total.ravel())


def _whole(value: int, axes: tuple[DensityTable, ...]) -> Wholes:
    return np.full((axes[0].units.shape[1], axes[1].units.shape[1] if len(axes) == 2 else 1), value, dtype=object)


def _limbs(values: Integers, bits: int) -> list[Floats]:
    """`values` in parts of 16 bits, the sign in the last: sums of 1,001 products with 25-bit numbers stay below
    2^53."""
    last = (bits - 1) // _LIMB
    parts = [(values >> (_LIMB * place)) & (2**_LIMB - 1) for place in range(last)]
    return [part.astype(np.float64) for part in (*parts, values >> (_LIMB * last))]


def curve(axes: tuple[DensityTable, ...], raw: tuple[int, ...]) -> Floats:
    """The sum of kernels of height 1 over all rows, at every grid point or pair of grid points."""
    values = np.array([float(coefficient) for coefficient in raw]).reshape(axes[0].units.shape[1], -1)
    heights: Floats = axes[0].back @ values
    if len(axes) == 2:
        heights = heights @ axes[1].back.T
    return heights / math.prod(axis_table.axis.scale for axis_table in axes)
