"""Lower bounds on the worst expected error of *any* mechanism that is (ε, δ)-DP for a row.

A row is an element of a finite metric space D of m+1 points, with the public diameter diam and the least distance κ of
two of them. The mechanism may publish anything; its error is ρ(Y, d) if the truth is d.

Theorem     (thesis, Thm 5.5)   γ ≥ (1−δ)·κ·m/(m+e^ε). Randomised response meets it where all distances are 1 (Ex. 5.6).
            (thesis, Thm 5.3)   γ ≥ (1−δ)·diam/(2(1+e^ε)); and here twice that, (1−δ)·diam/(1+e^ε). Proof: let d, d′ be
            diam apart and P, P′ the laws of their outputs. Then
                E ρ(Y, d) + E′ ρ(Y, d′) ≥ Σ_y min(P, P′)(y)·(ρ(y, d) + ρ(y, d′)) ≥ diam·Σ min(P, P′),
            and Σ min(P, P′) = 1 − TV ≥ 2(1−δ)/(1+e^ε): from P(S) ≤ e^ε·P′(S) + δ for S = {P > P′} and the same the
            other way for its complement, TV·(1+e^ε) ≤ e^ε − 1 + 2δ. ∎
Which       the larger of the two. On a grid of numbers or days κ is its step and diam = mκ, so the second is never
            less; in a list κ = diam = 1, so the first is never less; among sets of h items κ = 1, diam = h and m+1 =
            2^h: the second is the larger one while ε is small, the first once e^ε is beyond 2^h or so.
A whole row is one element of the product D₁×…×D_k. The chance of an untrue row has the first bound with all distances 1
            and m+1 = |D₁|·…·|D_k|. And since a mechanism that publishes a row publishes each of its cells, the bound of
            every column at the *whole* ε holds whatever else is published.

Rounded down, so that they stay lower bounds.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dpengine.core.exact import down, exp_decimal

_GUARD = Decimal(10) ** -40  # far above the rounding of a few 60-digit operations
_GRAIN = 10**9


def least_error(points: int, diameter: Fraction, kappa: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """No mechanism's worst expected error is below this, in the unit of the two distances."""
    return kappa * max(nearest(points, epsilon, delta), farthest(diameter / kappa, epsilon, delta))


def nearest(points: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Thm 5.5 in units of κ: from the number of points."""
    m = points - 1
    return down((1 - delta) * m / (m + _power(epsilon)), _GRAIN)


def farthest(diameter: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Twice Thm 5.3: from the two points farthest apart."""
    return down((1 - delta) * diameter / (1 + _power(epsilon)), _GRAIN)


def _power(epsilon: Fraction) -> Fraction:
    """e^ε, rounded up."""
    return Fraction(exp_decimal(epsilon) + _GUARD)
