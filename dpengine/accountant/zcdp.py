"""Concentrated composition (Bun and Steinke 2016): the ρ add up, and turn into (ε, δ) once, at the end.

**Theorem.** Releases that are ρ_i-zCDP up to δ_i, *fixed in advance*, are together ρ-zCDP up to Σδ_i with ρ = Σρ_i, and
so (ε, δ)-DP with ε = min over α > 1 of [ρα + c(α)], c the toll at δ − Σδ_i.

Pure ε counts as ρ = ε·tanh(ε/2), the exponential mechanism as ε²/8, the discrete Gaussian as its own ρ, Laplace
noise on a vector as the smaller of its own ρ and that of its ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpengine.accountant import renyi
from dpengine.accountant.history import History, history_of
from dpengine.accountant.loss import Loss
from dpengine.core.exact import up


def epsilon_of(entries: History | Sequence[Loss], delta: Fraction) -> Fraction | None:
    """ε of the whole history at `delta`, rounded up; None where its own δ leave nothing of `delta` to convert with."""
    history = history_of(entries)
    slack = delta - history.delta
    if history.rho == 0:
        return Fraction(0) if slack >= 0 else None
    if slack <= 0:
        return None
    alpha = renyi.order_for_sum(history.rho, slack)  # a float search: any order is valid, this one is about the best
    return up(history.rho * alpha) + renyi.toll(alpha, slack)
