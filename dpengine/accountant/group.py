"""Group privacy: the loss for a person with several rows, from the loss for one row. Every event counts as if its
sensitivity were M times as large.

**Theorem.** A release is what its event says for every two tables that differ in one row. Then for every two tables
that differ in at most M rows of one person it is what `for_group` says, under the same relation:

| event, for a row | for a person with at most M rows |
|---|---|
| Pure(ε) | Pure(Mε) |
| Exponential(ε) | Exponential(Mε) |
| Gaussian(ρ) | Gaussian(M²ρ) |
| Bounded(ε, ρ) | Bounded(Mε, M²ρ) |
| Approximate(ε, δ) | Approximate(Mε, δ·(1 + e^ε + … + e^((M−1)ε))) |
| Together, Repeated | each part for itself, where no part has a δ |
| Together with a δ | one claim about the whole: see below |

*Assumptions.* Nobody has more than M rows: whoever declares it vouches for it. *Replace-one*: the person's rows are
replaced by as many others, so it is their content that is protected and not how many they are. *Add/remove*: all rows
of the person are there or not.

*Proof.* Let T_0, …, T_k with k ≤ M be the tables on the way from one to the other, each a neighbour of the next, and
P_0, …, P_k the laws of the release. ln(P_0/P_k) is the sum of the k log-ratios of the links. Each lies in [−ε, ε], or
in an interval of length ε: the sum lies in [−Mε, Mε], or in an interval of length Mε. For ρ-zCDP it is Proposition 1.9
of Bun and Steinke 2016. For (ε, δ), P_0(S) ≤ e^ε·P_1(S) + δ ≤ e^(2ε)·P_2(S) + δ(1 + e^ε) ≤ …, which sums to
δ·(e^(Mε) − 1)/(e^ε − 1).
*Together* without a δ: a part is one draw, or a row touches only a few of many independent draws (two bars of a
histogram). If k_j of the links touch draw j, then k_j ≤ M, and Σk_j is at most M times the number of parts. What a part
costs, f(k) at k times its size, has f(k)/k non-decreasing (ε itself, ε², ρ, and each Rényi curve of renyi.py; the tests
compute it), so Σf(k_j) ≤ Σ(k_j/M)·f(M), at most f(M) for each part. ∎

*Together with a δ* may mean that a release is ρ-zCDP *but for* δ, as where noisy counts above a threshold name values
that only one row has. Such a value can be in M rows of one person, and then passes the threshold far more often than M
times. So the parts are not taken one by one: all of them are one (ε₁, δ₁) claim with δ₁ = Σδ where each ε is finite,
and with δ₁ = 2Σδ and ε₁ by the zCDP of all parts at Σδ where one is Gaussian; then the line for (ε, δ) holds. The
Gaussian part stays beside it, M times as large, so that no sum of a budget ever falls.

**The rule after the row `protect`.** Every earlier charge on the budget counts as `for_group` says, and the row is
admitted only while the re-priced sums fit the cap. *Theorem.* For every set S of transcripts that contain the row,
P(S) ≤ e^ε·Q(S) + δ, for every two tables that differ in one person's rows, with ε the cap in force at the end.
*Proof.* Fix such a pair of tables. Given any history, the earlier releases are what their re-priced events say for this
pair, and the later ones what they state. So the supermartingale of filter.py, with the re-priced r, is one for this
pair too. In a transcript with the row, the re-priced sums and all later ones were admitted under the cap, and the
proof of filter.py applies. A transcript without the row claims nothing about people. ∎
Only the guarantee for a row is used, so joint draws, synthesis, caps and conditions are covered. A charge that was
already for an id keeps its event: rows beyond m did not count, so it holds for a person with more rows too. Whoever has
more than M rows is protected by later answers, and less by earlier ones. Under replace-one the number of people becomes
public. Rows without an id stay protected as rows. Raising the cap first is a claim of its own (filter.py).

**The rule after a row `protect` with `joined`.** A budget takes over another whose people are the same: two files were
joined by an id, and one person's records in both may change. All charges of the other budget count, those for a row as
for a person with at most M rows of its file, and it is never charged again. *Theorem* and *proof* as above, with the
releases of both budgets as one sequence: given any history, each is what its event says for this pair of tables, also
if the two budgets were charged in turn, so their r add up. Both must state their events under one relation.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from dpengine.accountant import compositions
from dpengine.accountant.costs import counted_parts, delta_of_part, epsilon_of_part
from dpengine.accountant.history import History
from dpengine.accountant.loss import Approximate, Bounded, Exponential, Gaussian, Loss, Pure, Repeated, Simple, Together
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import PICO, exp_decimal, up

_OVER = 1 + Fraction(1, 10**40)  # far above the relative error of exp_decimal
_MOST_EXPONENT = 5000  # beyond it every δ that can be charged becomes 1


@lru_cache(maxsize=4096)
def for_group(loss: Loss, size: int) -> Loss:
    """The loss for a person with at most `size` rows, from the loss for one row."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise AllowanceError("loss.range")
    parts = counted_parts(loss)  # checked before anything is computed
    if size == 1:
        return loss
    several = isinstance(loss, Together) and len(parts) > 1
    if several and any(isinstance(part, Approximate) and part.delta for part, _ in parts):
        return _as_one(parts, size)
    if isinstance(loss, Together):
        return Together(tuple(for_group(part, size) for part in loss.parts))
    if isinstance(loss, Repeated):
        return Repeated(for_group(loss.part, size), loss.times)
    return _simple(loss, size)


def _simple(part: Simple, size: int) -> Simple:
    match part:
        case Pure():
            return Pure(size * part.epsilon)
        case Exponential():
            return Exponential(size * part.epsilon)
        case Gaussian():
            return Gaussian(size**2 * part.rho)
        case Bounded():
            return Bounded(size * part.epsilon, size**2 * part.rho)
        case Approximate():
            return Approximate(size * part.epsilon, _delta(part.epsilon, part.delta, size))
    assert_never(part)


def _as_one(parts: tuple[tuple[Simple, int], ...], size: int) -> Loss:
    delta = sum((delta_of_part(part) * times for part, times in parts), Fraction(0))
    known = [(epsilon, times) for part, times in parts if (epsilon := epsilon_of_part(part)) is not None]
    if len(known) == len(parts):
        epsilon = sum((own * times for own, times in known), Fraction(0))
        return Approximate(size * epsilon, _delta(epsilon, delta, size))
    rho = Fraction(0)
    rest: list[Loss] = []
    for part, times in parts:
        if isinstance(part, Gaussian):
            rho += part.rho * times
        bare: Simple = Pure(part.epsilon) if isinstance(part, Approximate) else part
        rest.append(Repeated(bare, times))
    converted = compositions.zcdp_epsilon(History.of([Together(tuple(rest))]), delta)
    assert converted is not None  # δ > 0, and `rest` has none of its own
    return Together((Gaussian(size**2 * rho), Approximate(size * converted, _delta(converted, 2 * delta, size))))


def _delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    """δ·Σ_{j<M} e^(jε), rounded up to 10^-36 and cut at 1."""
    if not delta:
        return Fraction(0)
    if epsilon * (size - 1) > _MOST_EXPONENT:
        return Fraction(1)
    terms = sum((Fraction(exp_decimal(place * epsilon)) for place in range(size)), Fraction(0))
    return min(up(delta * terms * _OVER, PICO**3), Fraction(1))
