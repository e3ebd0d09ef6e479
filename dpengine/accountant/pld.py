"""A plan fixed in advance, priced by its numerical privacy loss distribution. For planning only: never for a charge.

**Theorem** (Kairouz, Oh, Viswanath 2015; Zhu, Dong, Wang 2022). Every (ε, δ)-DP release is dominated by one pair of
laws: randomised response, p = e^ε/(1+e^ε), except that with probability δ it reveals all. The composition of a *fixed*
list of releases is dominated by the product of their pairs; its privacy loss is a sum of independent losses.

That sum's distribution is computed by Google's dp-accounting on a grid of losses, rounded to the pessimistic side; what
its FFT cuts off is added to δ. It is a float computation without a proof of its last digits, so it decides nothing.

The parts of a `Together` must be independent draws (`Query.parts_apart`). Four parts of 1/4 bound the Rényi curve of
one part of 1/2, but not its pair: at e^0 theirs is 0.186 and Laplace noise of 1/2 has 0.221.

It is no filter: when each ε may be picked after seeing earlier answers it does not hold
(`tests/engine/accountant/test_filter_adaptive.py` has the counter-example). Hence *only if nothing changes*.

| event | pair |
|---|---|
| Pure(ε), Exponential(ε), Bounded(ε, ρ) | randomised response of ε (for the last two a dearer pair than need be) |
| Approximate(ε, δ) | the same, revealing all with probability δ |
| Gaussian(ρ) | none: no sound pair for discrete noise is implemented, so the plan is not priced |
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from dpengine.accountant.costs import checked_parts, delta_of_part, epsilon_of_part
from dpengine.accountant.loss import Loss
from dpengine.core.exact import float_above, up

_FINEST, _COARSEST = 1e-6, 1e-3  # of the grid of losses
_STEPS = 50_000  # about how many grid points the whole plan may span
_SHOWN = 10**4


def epsilon_of(losses: Iterable[Loss], delta: Fraction) -> Fraction | None:
    """The ε of the whole list at `delta`, rounded up to 10^-4; None if it cannot be computed."""
    pairs: Counter[tuple[Fraction, Fraction]] = Counter()
    for loss in losses:
        for part in checked_parts(loss):
            epsilon = epsilon_of_part(part)
            if epsilon is None:
                return None
            pairs[epsilon, delta_of_part(part)] += 1
    total = sum((epsilon * times for (epsilon, _), times in pairs.items()), Fraction(0))
    slips = sum((slip * times for (_, slip), times in pairs.items()), Fraction(0))
    if slips > delta:
        return None
    if delta == slips or not pairs:  # nothing to trade: the losses add up
        return up(total, _SHOWN)
    numerical = _numerical(pairs, float(total), float(delta))
    return min(up(total, _SHOWN), up(Fraction(numerical), _SHOWN)) if math.isfinite(numerical) else None


def _numerical(pairs: Counter[tuple[Fraction, Fraction]], total: float, delta: float) -> float:
    # Imported here because it takes seconds.
    from dp_accounting.pld import privacy_loss_distribution as distributions

    grain = min(max(total / _STEPS, _FINEST), _COARSEST)
    composed = distributions.identity(grain)
    for (epsilon, slip), times in pairs.items():
        composed = composed.compose(_pair(float_above(epsilon), float_above(slip), grain).self_compose(times))
    return float(composed.get_epsilon_for_delta(delta))


def _pair(epsilon: float, slip: float, grain: float) -> Any:
    """The dominating pair of (ε, δ), on the grid. The pair's hockey-stick curve h(x) is linear in e^x from −ε to ε, so
    joining the grid points on either side of both ends (“connect the dots”, Doroshenko et al. 2022) stays above the
    curve and very near it."""
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld import privacy_loss_distribution as distributions

    places = sorted({side(sign * epsilon / grain) for side in (math.floor, math.ceil) for sign in (-1, 1)})

    def h(x: float) -> float:
        if x >= epsilon:
            return 0.0
        if x <= -epsilon:
            return -math.expm1(x)
        return math.exp(x - epsilon) * math.expm1(epsilon - x) / (1 + math.exp(-epsilon))  # (e^ε − e^x)/(1 + e^ε)

    curve = [min(1.0, slip + (1 - slip) * h(place * grain)) for place in places]
    return distributions.PrivacyLossDistribution(pld_pmf.create_pmf_pessimistic_connect_dots(grain, places, curve))
