"""How far one person moves the sums of a vector of columns, and the loss of noise scaled to that (lecture 10, its
section on the ℓ2 norm; the thesis, Theorem 6.2).

A row is v ∈ [−1, 1]^d, cut to ‖v‖ ≤ C = s√d, s ≤ 1 public; so each coordinate is at most c = min(1, C), the sum of all
at most √d·C = sd. Noise on coordinate j of the sum has scale b, on the number of rows N scale b/w: N counts as one more
coordinate of weight w. A person has at most m rows. In a neighbour k rows leave and l come, 0 ≤ k, l ≤ m, and under
add/remove none comes (or none leaves); where n is public k = l = 1 and N is not drawn.

coordinate  each coordinate is its own release, and all are composed. Add/remove: a coordinate moves by mc and N by m,
            so they are d parts of mc/b and one of mw/b, ε = m(dc + w)/b in all. Replace-one: d parts of 2mc/b,
            ε = 2mdc/b. That is also enough where N is drawn, with c ≤ w ≤ c√d: let x = 2mc/b, p = (k+l)/2m ≤ 1 and
            t = |k−l|/2m ≤ min(p, 1−p); the coordinates lose r(px) each and N r(twx/c), r the pure Rényi curve, for
            which r(y) + r(z) ≤ r(y+z) and r(ay) ≤ a²r(y) for a ≥ 1 (of_counts, mean). For p ≥ ½ all together lose at
            most d·r(px) + (w/c)²·r((1−p)x) ≤ d·r(x), and for p ≤ ½ at most 2d·r(px) ≤ 2d·r(x/2) ≤ d·r(x). In ε:
            dpx + twx/c ≤ dx, because t ≤ 1−p and w/c ≤ d.
norm        one draw, set by the length of what changes. Add/remove: ℓ1 m(sd + w), ℓ2² m²(C² + w²). Replace-one: the
            coordinates move by at most (k+l)C in ℓ2 and N by |k−l|; C²(k+l)² + w²(k−l)² is convex, so largest at a
            corner: 4m²C² with both m, m²(C² + w²) with one 0: no more as long as w² ≤ 3C². In ℓ1 likewise 2msd
            against m(sd + w): no more as long as w ≤ sd.
              Laplace   scale b: ε = ℓ1/b (Dwork et al. 2006), and each coordinate that moves by x is (x/b)-DP, hence
                        (x²/2b²)-zCDP (Bun, Steinke 2016, Prop. 1.4): ρ = ℓ2²/(2b²) over all, no factor d. With
                        s = 1 this is the same noise as coordinate by coordinate: a row's length is then √d.
              Gaussian  variance b²: ρ = ℓ2²/(2b²) (Canonne, Kamath, Steinke 2020, Thm 14), no finite ε. √2 less noise
                        than Laplace of the same ρ.

w is free: it divides the noise between the sums and N. Their ratio is worst at an end of the range, off by
b(1 + 1/w)/N; under add/remove that is least at w³ = C² for a given ρ. Under replace-one w is as large as costs nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from dpengine.accountant.loss import Bounded, Gaussian, Loss, Pure, Repeated, Together
from dpengine.core.exact import ceiling, first_true, floor
from dpengine.mechanisms.noise import Added, GaussianNoise, LaplaceNoise

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
        """C²."""
        return self.share**2 * self.width

    @property
    def largest(self) -> Fraction:
        """c, rounded up."""
        return min(Fraction(1), _root_above(self.square))


@dataclass(frozen=True)
class Moved:
    """How far one person moves all of it, for one kind of noise; `weight` is w, 0 if N is not drawn."""

    first: Fraction  # ℓ1
    second: Fraction  # ℓ2²
    weight: Fraction

    def rho(self, epsilon: Fraction) -> Fraction:
        """ρ of noise of scale ℓ1/ε."""
        return epsilon**2 * self.second / (2 * self.first**2)


class OfVector(Added):
    """Noise of one scale on all coordinates of a vector."""

    @classmethod
    def moved(cls, person: Person) -> Moved:
        """By the norm."""
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
