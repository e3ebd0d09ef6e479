"""A lower bound on the divergence of a release: from draws on two neighbouring tables, with a witness trained on half.

As in DP-Auditorium (Kong, Muñoz Medina, Ribero, Syed 2023), a function is fitted to some of the draws, and evaluated on
the others. `empirical` bounds ε; here are the two other quantities in which claims are made.

**Hockey-stick.** For every event S, δ(ε) ≥ Pr_P[S] − e^ε·Pr_Q[S]. With S chosen on the first halves, the second halves
give p₋ − e^ε·q₊ by Clopper and Pearson, as in `empirical`.

**Rényi.** For every bounded g and α > 1 (Birrell, Dupuis, Katsoulakis, Rey-Bellet, Wang 2021):

    D_α(P‖Q) ≥ α/(α−1) · ln E_P[e^((α−1)g)] − ln E_Q[e^(αg)].

Proof: E_P[e^((α−1)g)] = E_Q[(P/Q)·e^((α−1)g)] ≤ E_Q[(P/Q)^α]^(1/α) · E_Q[e^(αg)]^((α−1)/α) by Hölder's inequality; take
logarithms and multiply by α/(α−1). With g = ln(P/Q) both sides are equal. ∎
Here g is an estimated log-likelihood ratio, shrunk and cut at ±c; which of them, how much and which way round is
decided on the first halves. On the second the exponentials of the draws are independent and lie between known ends, so
their means obey the bound of Chernoff and Hoeffding (1963, Thm 1): Pr[mean ≥ x] ≤ e^(−n·KL(x‖μ)) for values in [0, 1].
Each of the two means is given half of `failure`. It is a lower bound: a small one says that nothing was found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dpengine.audit.empirical import FAILURE, Counts, lower_chance, search_by, upper_chance
from dpengine.audit.events import EventReading, plain, readings_of, values_of
from dpengine.core.arrays import Floats

CUTS = (0.5, 1.0, 2.0, 4.0)  # where a log-likelihood ratio is cut off
SHRUNK = (0.5, 0.75, 1.0)  # factors, because an estimated ratio is too large
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Witnessed:
    """The divergence is at least this, except with probability `failure`."""

    amount: float
    at: float  # the order of a Rényi divergence, or the ε of a hockey-stick
    failure: float
    swapped: bool  # True: of the second table from the first


@dataclass(frozen=True)
class Witness:
    """g: a log-likelihood ratio as it was fitted, shrunk and cut."""

    reading: EventReading
    shrunk: float
    cut: float

    def of(self, outcomes: Sequence[object]) -> Floats:
        return _cut(_ratios(self.reading, outcomes), self.shrunk, self.cut)


def hockey_stick(
    one: Sequence[object], other: Sequence[object], epsilon: Fraction, failure: float = FAILURE
) -> Witnessed:
    """A lower bound on the δ at this ε of a release that drew `one` on a table and `other` on a neighbouring one."""
    first, second = _halved(one), _halved(other)

    def bound(more: Counts, many: int, less: Counts, others: int) -> Floats:
        low, high = lower_chance(more, many, failure / 2), upper_chance(less, others, failure / 2)
        return np.asarray(low - math.exp(epsilon) * high)

    event, swapped = search_by(first[0], second[0], bound)
    more, less = (second[1], first[1]) if swapped else (first[1], second[1])
    hits = [np.array([event.hits(outcomes)]) for outcomes in (more, less)]
    [delta] = bound(hits[0], len(more), hits[1], len(less))
    return Witnessed(max(0.0, float(delta)), float(epsilon), failure, swapped)


def renyi(one: Sequence[object], other: Sequence[object], order: Fraction, failure: float = FAILURE) -> Witnessed:
    """A lower bound on the Rényi divergence of this order, the greater of the two ways round."""
    first, second = _halved(one), _halved(other)
    chosen = train(first[0], second[0], float(order), failure)
    if chosen is None:
        return Witnessed(0.0, float(order), failure, False)
    witness, swapped = chosen
    tables = (second[1], first[1]) if swapped else (first[1], second[1])
    values = [witness.of(outcomes) for outcomes in tables]
    bound = variational(values[0], values[1], witness.cut, float(order), failure)
    return Witnessed(max(0.0, bound), float(order), failure, swapped)


def train(one: Sequence[object], other: Sequence[object], order: float, failure: float) -> tuple[Witness, bool] | None:
    """The witness and the direction that would give the best bound, judged by the half of these draws that it was not
    fitted to."""
    middle, centre = (len(one) + 1) // 2, (len(other) + 1) // 2
    tried = one[middle:] or one, other[centre:] or other
    best: tuple[float, Witness, bool] | None = None
    for swapped in (False, True):
        fitted = (other[:centre], one[:middle]) if swapped else (one[:middle], other[:centre])
        tables = tried[::-1] if swapped else tried
        for reading in readings_of(*fitted)["likelihood"]:
            more, less = (_ratios(reading, outcomes) for outcomes in tables)
            for shrunk, cut in product(SHRUNK, CUTS):
                cuts = _cut(more, shrunk, cut), _cut(less, shrunk, cut)
                bound = variational(*cuts, cut, order, failure, 2)  # as many draws again will be tested
                if best is None or bound > best[0]:
                    best = bound, Witness(reading, shrunk, cut), swapped
    return None if best is None else best[1:]


def variational(one: Floats, other: Floats, cut: float, order: float, failure: float, times: int = 1) -> float:
    """α/(α−1)·ln(lower end of E_P) − ln(upper end of E_Q); as if there were `times` as many draws."""
    low = _mean_above(np.exp((order - 1) * one), math.exp((order - 1) * cut), failure / 2, times)
    high = _mean_below(np.exp(order * other), math.exp(order * cut), failure / 2, times)
    return -math.inf if low <= 0 else order / (order - 1) * math.log(low) - math.log(high)


def _ratios(reading: EventReading, outcomes: Sequence[object]) -> Floats:
    """The log-likelihood ratios of the outcomes; 0 for an outcome that the reading does not cover."""
    return np.nan_to_num(values_of(reading, outcomes), nan=0.0)


def _cut(ratios: Floats, shrunk: float, cut: float) -> Floats:
    return np.clip(shrunk * ratios, -cut, cut)


def _halved(outcomes: Sequence[object]) -> tuple[list[Any], list[Any]]:
    hashable = plain(outcomes)
    if len(hashable) < 4:
        raise ValueError("four draws of each table are needed")
    return hashable[: len(hashable) // 2], hashable[len(hashable) // 2 :]


def _mean_above(values: Floats, top: float, failure: float, times: int) -> float:
    """The true mean of values in [0, top] is at least this."""
    return top * _end(float(values.mean()) / top, len(values) * times, failure, up=False)


def _mean_below(values: Floats, top: float, failure: float, times: int) -> float:
    """The true mean of values in [0, top] is at most this."""
    return top * _end(float(values.mean()) / top, len(values) * times, failure, up=True)


def _end(seen: float, draws: int, failure: float, up: bool) -> float:
    """The farthest mean μ, above or below, at which draws·KL(seen‖μ) is still ln(1/failure): by bisection, outwards."""
    allowed = -math.log(failure) / draws
    near, far = min(max(seen, 0.0), 1.0), 1.0 if up else 0.0
    for _ in range(200):
        middle = (near + far) / 2
        near, far = (middle, far) if _kl(seen, middle) <= allowed else (near, middle)
    return min(1.0, far * (1 + _ROUNDING)) if up else far * (1 - _ROUNDING)


def _kl(seen: float, mean: float) -> float:
    """The KL divergence of two coins."""
    if not 0 < mean < 1:
        return 0.0 if seen == mean else math.inf
    of_ones = seen * math.log(seen / mean) if seen > 0 else 0.0
    of_zeros = (1 - seen) * math.log((1 - seen) / (1 - mean)) if seen < 1 else 0.0
    return of_ones + of_zeros
