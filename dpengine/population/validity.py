"""How far k adaptive answers may lie from the *population* the people were drawn from, except with probability β.

**Assumptions of every bound here.** The n people are drawn independently from one population, and a row is a person;
each query takes a row to [0, 1]; the answers are those of `noise_for_k.py` (integer noise on the sum, kept within
[0, 1]); the analyst may pick each query after seeing earlier answers. About these people the analyst has seen these
answers and what `Past` counts, nothing else: no range or list read off the file, either. *information*, *rogers*,
*jung*, *description* and *split* hold only where nothing was released before; *history* and *counted* count what was.
The guarantee is under replace-one.

**information** (claimed; proved here). Let A be all answers and I the mutual information of table and answers. (1) *I ≤
nk·i.* People are independent, so I ≤ Σ_p I(person p; A | the others), and by the chain rule that is a sum over answers.
Given the others and earlier answers, an answer is X + const + Z with X the person's value, 0 ≤ X ≤ s. Its information
about X is at most E_X KL(law at X ‖ any one law). Gaussian Z of variance v, against the same law centred at c = E[X]:
KL = (X−c)²/(2v) + ln N(c)/N(0) with N(c) = Σ_z e^(−(z−c)²/(2v)), and N(c) ≤ N(0) by Poisson summation; in the mean
Var(X)/(2v) ≤ s²/(8v) = i. Laplace Z of scale b, against the law centred at s/2: the log-ratio lies in an interval of
length s/b, so KL ≤ (s/b)²/8 = i by Hoeffding's lemma. (2) Let a monitor who knows the population pick from A the query
j with the worst answer, and let E be |q_j(table) − q_j(population)| > t. Were the table fresh, Pr[E] ≤ 2·e^(−2nt²) = e
(Hoeffding). By data processing kl(Pr[E] ‖ e) ≤ I, so Pr[E] ≤ b wherever b·ln(1/e) − h(b) ≥ I, h the binary entropy: t²
= ((I + h(b))/b + ln 2)/(2n). (3) The worst answer is within α of the table but for β − b. Width α + t. ∎

**rogers** (claimed; Gaussian noise). Rogers, Roth, Smith, Srebro, Thakkar and Woodworth 2020, Thm 2.1, with (1) above:
E[(q_j(table) − q_j(population))²] ≤ min over λ in (0,1) of (2I − ln(1−λ))/(4nλ) (Donsker and Varadhan for the
subgaussian mean), so Chebyshev gives t; β is halved, and α = √(2v·ln(4k/β))/(ns).

**jung** (claimed). Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi and Shenfeld 2020: (ε, δ)-DP answers in [0, 1] that are
(α, β′)-accurate on the table are within α + (e^ε − 1) + c + 2d of the population, but for β′/c + δ/d, any c, d > 0.
Noise has a whole curve of (ε, δ): the best point is searched, and ε is what zCDP proves for *discrete* noise. (The
curve of continuous Gaussian noise would give widths about 7 % smaller, and is not ours to claim.)

**description** (claimed; Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015; proved here). n is public, and all that
is stored or shown of an answer is one of T values: its rounding to T cells of [0, 1], or that it was lost. Fix the
analyst's own coins. Before the table is drawn, question j is one of at most T^(j−1) fixed queries, one for each run of
earlier answers; each of these is off by more than t from the population with probability ≤ 2·e^(−2nt²) (Hoeffding). So
but for b, at once for all j ≤ k, every question is within t_j = √(((j−1)·ln T + ln(2k/b))/(2n)). Its answer is within
α + 1/(2·cells) of the table but for β − b. Width α + 1/(2·cells) + t_j. It needs that before question j *nothing else*
that depends on the table was seen: no other release from these rows, no exact figure. ∎

**lecture** (not claimed). Its theorem 9: within α + 10ε, but for β′ + kδ/ε, if n = Ω(ln(1/δ)/ε²). It does not say which
constant the Ω hides, and none was traced that goes with 10ε; it is shown with the constant 1, for comparison only.

**split** (claimed). Question j asks its own n/k people, exactly: Hoeffding for values in [0, 1], and for yes/no
questions the binomial tail, bounded in `_binomial_tail`. No noise, and no privacy.

**shift** (proved here): by how much can past releases move a mean? Let h be everything released so far, H its law, and
D the population. For person i put Y = (x_1, …, x_(i−1), h): as rows are independent, Y is as private about x_i as h is.
Let TV_i be the total variation between the law of x_i given Y and D. Given h, the q(x_i) less their means given Y are
martingale differences in intervals of length 1, so (Azuma, Hoeffding) for any q that h and the analyst's coins fix

    |q(table) − q(population)| ≤ (1/n)·Σ TV_i + √(ln(2/b)/(2n))      but for b.

*Pure*, Σε = e along h, chosen adaptively or not: given Y, the likelihoods of the values of x_i lie within a factor e^e.
A set A of chance a gets chance a + t only if its odds rise by (a+t)(1−a)/(a(1−a−t)) ≥ ((1+t)/(1−t))², and they rise by
at most e^e: so TV_i ≤ tanh(e/4), always. *Otherwise*: let ε′ be a function of h such that for each two rows the mass
beyond it is at most δ′: ∫(p_x − e^ε′·p_x′)₊ ≤ δ′. With τ = tanh(ε′/4) and A the best set for Y, of chance a,

    (TV_i − τ)·p(Y) = ∫_A ∫_(not A) [(1 − τ/(1−a))·p_x − (1 + τ/a)·p_x′] ≤ ∫∫ (p_x − e^ε′·p_x′)₊,

the quotient of the two factors being the odds above, at least e^ε′. So E(TV_i − τ)₊ ≤ δ′, and by Markov the mean of the
TV_i exceeds τ by d with chance at most δ′/d: for all q at once. As ε′ serve, for several orders α fixed in advance,
α·Σρ + c(α, δ) and Σε of what is pure + α·Σρ of the rest + c(α, δ), sums as realised (the supermartingale of
accountant/filter.py): δ for each, and the δ of (ε, δ) charges, at most the budget's reserve. Orders in advance replace
levels of Σρ in advance, and lose less between them. From add/remove: 2Σε and 4Σρ, replacing being two steps. ∎

**history** (claimed). After what was released before a session: *description* given h, plus the shift by it, which is
one for all T^(j−1) questions. **counted** (claimed). The shift by everything, the session's own answers included, plus
√(ln(2k/b)/(2n)): every question is a function of the transcript. It needs no rounding, and holds for releases between
the questions too. With Gaussian parts and releases in between, δ′/d is taken for each of the k questions.

**flattery** (claimed). A share of right answers is a mean of n values in [0, 1]. For a model chosen by all that was
released, zCDP of Σρ, it is on average over tables and releases at most √(Σρ/2) above the share in the population, where
the amounts were fixed in advance (Xu and Raginsky 2017, Thm 1): by (1) all of it reveals at most nΣρ about the table,
as given the others a person's row moves its law by KL ≤ Σρ from the law with the row replaced, or with it left out (so
add/remove gives Σρ too, not 4Σρ). Where all of it is pure, the shift tanh(Σε/4), from add/remove tanh(Σε/2), bounds it
as well, for amounts chosen along the way.

A parameter may be picked by any search, since every choice is valid; what is stated is then evaluated in exact
arithmetic, or in floats with a part in 10^9 to spare, and rounded up to 10^-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from dpengine.accountant import renyi
from dpengine.accountant.history import Past
from dpengine.accountant.loss import Gaussian
from dpengine.core.amounts import BETA
from dpengine.core.exact import exp_decimal, halved, ln_below, up
from dpengine.declared.unit import Relation
from dpengine.population.noise_for_k import GAUSSIAN, LAPLACE, Calibration, check

CELLS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)  # round numbers to choose from
GRAIN = 10**6  # widths are rounded up to this
ORDERS = tuple(Fraction(rho, 10**5) for rho in (6, 24, 96, 384, 1536))  # Σρ for which an order α is the best
SHIFT_SHARE = Fraction(3, 5)  # of β, for the shift by what was released before
_SPARE = 1 + 1e-9
_HALVINGS = 60  # as far as floats go
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Width:
    """A bound: with probability ≥ 1−β every answer is within `width` of the population's value. A width of 1 says
    nothing."""

    theorem: str  # "information", "rogers", "jung", "description", "history", "counted", "lecture" or "split"
    width: Fraction
    claimed: bool
    beta: Fraction
    noise: Calibration | None = None  # None: no noise (split)
    terms: Mapping[str, Fraction] = field(default_factory=dict, hash=False)  # the chosen parameters, for checking


# The bounds, for given noise


def information(noise: Calibration, beta: Fraction = BETA) -> Width:
    """The least α + t over all splits of β between the noise (α) and the table (t)."""
    check(noise.people, noise.answers, beta)
    nats = _information_of(noise)
    known = float(nats)

    def near(share: float) -> float:
        b = float(beta) * share
        return _alpha_near(noise, float(beta) - b) + _leap(known, b, noise.people)

    share = exactly(golden(near, 0.01, 0.999))
    b = beta * share
    alpha, leap = noise.alpha_at(beta - b), _safe(_leap(known * _SPARE, float(b), noise.people))
    return _width("information", alpha + leap, True, beta, noise, information=nats, table_share=share, alpha=alpha)


def rogers(noise: Calibration, beta: Fraction = BETA) -> Width | None:
    """The bound *rogers* as published, with β split in halves; None for noise other than Gaussian."""
    check(noise.people, noise.answers, beta)
    if noise.kind != GAUSSIAN:
        return None
    nats = _information_of(noise)
    known, b = float(nats) * _SPARE, float(beta) / 2
    weight = golden(lambda x: (2 * known - math.log1p(-x)) / x, 1e-6, 1 - 1e-12)
    square = (2 * known - math.log1p(-weight)) / (4 * noise.people * weight)
    reach = math.sqrt(2 * float(noise.amount) * math.log(4 * noise.answers / float(beta)))
    width = _safe(reach / (noise.people * noise.steps) + math.sqrt(square / b))
    return _width("rogers", width, True, beta, noise, information=nats)


def jung(noise: Calibration, beta: Fraction = BETA) -> Width:
    """The least α + (e^ε−1) + c + 2d over δ, β′, c and d with β′/c + δ/d = β."""
    check(noise.people, noise.answers, beta)
    best = _jung_at(noise, beta, None)
    if noise.kind == LAPLACE:  # basic composition needs no δ
        best = min(best, _jung_at(noise, beta, Fraction(0)), key=lambda bound: bound.width)
    return best


def _jung_at(noise: Calibration, beta: Fraction, fixed: Fraction | None) -> Width:
    """The bound *jung* at the δ `fixed`, or at the best δ. c : d follows from the rest by one derivative: c + 2d = (√β′
    + √(2δ))²/β."""
    goal, rho = float(beta), float(_rho_of(noise))
    basic = float(noise.answers * noise.steps / noise.amount) if noise.kind == LAPLACE else 0.0

    def near(ln_missed: float, ln_delta: float) -> float:
        epsilon = basic if fixed is not None else _zcdp_near(rho, ln_delta)
        missed, delta = math.exp(ln_missed), 0.0 if fixed is not None else math.exp(ln_delta)
        extra = (math.sqrt(missed) + math.sqrt(2 * delta)) ** 2 / goal
        return _alpha_near(noise, missed) + math.expm1(min(epsilon, 50.0)) + extra

    ln_missed, ln_delta = math.log(goal * 1e-4), math.log(goal * 1e-3)
    for _ in range(5 if fixed is None else 1):
        ln_missed = golden(lambda x: near(x, ln_delta), math.log(goal) - 30, math.log(goal) - 0.1)  # noqa: B023
        if fixed is None:
            ln_delta = golden(lambda x: near(ln_missed, x), math.log(goal) - 35, math.log(goal) - 0.1)  # noqa: B023
    missed = exactly(math.exp(ln_missed))
    delta = fixed if fixed is not None else exactly(math.exp(ln_delta))
    root = math.sqrt(missed) + math.sqrt(2 * delta)
    if delta == 0:
        c, d = missed / beta, Fraction(0)
    else:
        c = max(exactly(math.sqrt(missed) * root / goal), missed / beta * Fraction(1001, 1000))
        d = delta / (beta - missed / c)
    epsilon = _zcdp_above(noise, delta) if fixed is None else noise.answers * noise.steps / noise.amount
    width = noise.alpha_at(missed) + _exp_above(min(epsilon, Fraction(50))) - 1 + c + 2 * d
    return _width("jung", width, True, beta, noise, epsilon=epsilon, delta=delta, missed=missed, c=c, d=d)


def description(
    noise: Calibration, cells: int, beta: Fraction = BETA, question: int | None = None, outcomes: int | None = None
) -> Width:
    """The bound *description* for answers rounded to this many cells: for the question with this number, or for the
    last one, whose bound is widest. `outcomes`: the number of outcomes of a question, if that is more than a cell or
    being lost."""
    last = noise.answers if question is None else question
    return rounded(noise, cells, beta, (last - 1) * math.log(max(cells + 1, outcomes or 0)))


def rounded(
    noise: Calibration,
    cells: int,
    beta: Fraction,
    known: float,
    past: Past = Past.NOTHING,
    reserve: Fraction = Fraction(0),
) -> Width:
    """The bound for an answer rounded to this many cells (*description*, or *history* after the `past` releases), when
    the session's earlier answers had e^known outcomes. `reserve`: the most δ that the budget ever spends on its
    charges."""
    if past == Past.NOTHING:
        return _sampled("description", noise, Fraction(1, 2 * cells), beta, known, cells=Fraction(cells))
    moved = shift(past, beta * SHIFT_SHARE, reserve)
    rest, added = beta * (1 - SHIFT_SHARE), moved + Fraction(1, 2 * cells)
    width = _sampled("history", noise, added, rest, known, cells=Fraction(cells), shift=moved)
    return replace(width, beta=beta)


def counted(noise: Calibration, past: Past, reserve: Fraction, beta: Fraction = BETA, times: int = 1) -> Width:
    """The bound *counted*. `past` holds everything released before the question, the session's own answers included.
    `times`: the bound holds at once for this many questions, each with its own `past`."""
    moved = shift(past, beta * SHIFT_SHARE / times, reserve)
    width = _sampled("counted", noise, moved, beta * (1 - SHIFT_SHARE), 0.0, shift=moved)
    return replace(width, beta=beta)


def _sampled(
    theorem: str, noise: Calibration, added: Fraction, beta: Fraction, known: float, **terms: Fraction
) -> Width:
    """The bound that is the sum of α (noise), a square root (sampling) and `added`. β is split so that this sum is
    least."""
    check(noise.people, noise.answers, beta)

    def leap(b: float) -> float:
        return math.sqrt((known + math.log(2 * noise.answers / b)) / (2 * noise.people))

    def near(share: float) -> float:
        return _alpha_near(noise, float(beta) * (1 - share)) + leap(float(beta) * share)

    share = exactly(golden(near, 0.01, 0.99))
    b = beta * share
    width = noise.alpha_at(beta - b) + added + _safe(leap(float(b)))
    return _width(theorem, width, True, beta, noise, table_share=share, **terms)


def shift(past: Past, beta: Fraction, reserve: Fraction = Fraction(0), relation: Relation = "replace") -> Fraction:
    """An upper bound on the mean of the TV_i, except with probability β, after the `past` releases."""
    if past == Past.NOTHING:
        return Fraction(0)
    steps = 1 if relation == "replace" else 2
    pure, bell, rho = past.pure * steps, past.bell * steps**2, past.rho * steps**2
    bounds = [Fraction(1)]
    if not past.bell and not past.delta:
        bounds.append(_tanh_above(pure / 4))
    if steps == 1 or not past.delta:  # (ε, δ) charges under add/remove: nothing is claimed
        for order in ORDERS:
            alpha, toll, delta = _order(order, beta / len(ORDERS))
            epsilon = min(pure + alpha * bell, alpha * rho) + toll
            bounds.append(_tanh_above(epsilon / 4) + (delta + reserve) * len(ORDERS) / beta)
    return min(bounds)


@lru_cache(maxsize=256)
def _order(rho: Fraction, beta: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """The α, its toll and the δ that suit a sum of ρ best where δ is divided by β, from public numbers alone. Each of
    the two sums that may be converted at α has half of this δ."""
    near = float(rho)

    def at(ln_delta: float) -> float:
        return math.tanh(_zcdp_near(near, ln_delta - math.log(2)) / 4) + math.exp(ln_delta) / float(beta)

    middle = math.log(float(beta) * math.sqrt(near))
    delta = exactly(math.exp(golden(at, middle - 12, middle + 1)))
    alpha = renyi.order_for_sum(rho, delta / 2)
    return alpha, renyi.toll(alpha, delta / 2), delta


def cells_for(noise: Calibration, beta: Fraction = BETA) -> int:
    """The number of values to round answers to: the one with the least width for the last question."""
    return min(CELLS, key=lambda cells: description(noise, cells, beta).terms["uncut"])


def lecture(noise: Calibration, beta: Fraction = BETA) -> Width:
    """The lecture's bound: the least α + 10ε over δ with β′ + kδ/ε = β and n ≥ ln(1/δ)/ε², whose constant is not
    known."""
    check(noise.people, noise.answers, beta)
    goal, rho = float(beta), float(_rho_of(noise))

    def near(ln_delta: float) -> float:
        epsilon, delta = _zcdp_near(rho, ln_delta), math.exp(ln_delta)
        missed = goal - noise.answers * delta / epsilon
        if missed <= 0 or noise.people * epsilon**2 < -ln_delta:
            return 100 - ln_delta  # this δ is not allowed
        return _alpha_near(noise, missed) + 10 * epsilon

    delta = exactly(math.exp(golden(near, -80, -1)))
    epsilon = _zcdp_above(noise, delta)
    missed = beta - noise.answers * delta / epsilon
    allowed = missed > 0 and noise.people * epsilon**2 >= -ln_below(delta)
    width = noise.alpha_at(missed) + 10 * epsilon if allowed else Fraction(1)
    return _width("lecture", width, False, beta, noise, epsilon=epsilon, delta=delta)


def split(people: int, answers: int, beta: Fraction = BETA, yes_no: bool = False) -> Width:
    """The bound without noise where each question asks its own n/k people, and fails with probability β/k."""
    check(people, answers, beta)
    part = people // answers
    if part == 0:
        return _width("split", Fraction(1), True, beta, None)
    ln_each = math.log(2 * answers / float(beta)) * _SPARE
    width = math.sqrt(ln_each / (2 * part))
    if yes_no:
        width, _ = halved(lambda w: _binomial_tail(part, w, ln_each) <= -ln_each, min(width, 1.0), 0.0, _HALVINGS)
    return _width("split", _safe(width), True, beta, None, people=Fraction(part))


def widths(noise: Calibration, beta: Fraction = BETA) -> tuple[Width, ...]:
    bounds = (information(noise, beta), rogers(noise, beta), jung(noise, beta), lecture(noise, beta))
    return tuple(bound for bound in bounds if bound is not None)


def stated(noise: Calibration, beta: Fraction = BETA) -> Width:
    """The narrowest of the bounds that may be stated (`Width.claimed`)."""
    return min((bound for bound in widths(noise, beta) if bound.claimed), key=lambda bound: bound.width)


def flattery(past: Past, relation: Relation) -> Fraction:
    """By how much the share of right answers is too high, on average, on the rows that a model was trained on. `past`
    holds the training and everything released before the model was picked."""
    if past.delta:
        return Fraction(1)  # nothing is claimed where some of the loss has no ρ
    bounds = [Fraction(1), _safe(math.sqrt(float(past.rho) / 2))]
    if not past.bell:
        bounds.append(_tanh_above(past.pure / (4 if relation == "replace" else 2)))
    return up(min(bounds), GRAIN)


# Parts of the bounds


def _information_of(noise: Calibration) -> Fraction:
    """nk·i, in nats: s²/(8v) for Gaussian noise, (s/b)²/8 for Laplace."""
    square = noise.amount if noise.kind == GAUSSIAN else noise.amount**2
    return noise.people * noise.answers * noise.steps**2 / (8 * square)


def _leap(known: float, b: float, people: int) -> float:
    """t of the *information* bound."""
    entropy = -b * math.log(b) - (1 - b) * math.log1p(-b)
    return math.sqrt(((known + entropy) / b + math.log(2)) / (2 * people))


def _rho_of(noise: Calibration) -> Fraction:
    """The ρ of all answers together, as zCDP."""
    loss = noise.each
    return noise.answers * (loss.rho if isinstance(loss, Gaussian) else renyi.zcdp_of_pure(loss.epsilon))


def _zcdp_above(noise: Calibration, delta: Fraction) -> Fraction:
    rho = up(_rho_of(noise), 10**24)
    alpha = renyi.order_for_sum(rho, delta)
    return up(rho * alpha) + renyi.toll(alpha, delta)


def _zcdp_near(rho: float, ln_delta: float) -> float:
    def at(ln_x: float) -> float:
        x = math.exp(ln_x)
        return rho * (1 + x) + max(0.0, -math.log1p(1 / x) - (ln_delta + math.log1p(x)) / x)

    middle = 0.5 * math.log(max(-ln_delta, 1e-3) / rho)
    return at(golden(at, middle - 3, middle + 3, 24))


def _alpha_near(noise: Calibration, missed: float) -> float:
    missed_each = missed / noise.answers
    if noise.kind == LAPLACE:
        return float(noise.amount) * -math.log(missed_each) / (noise.people * noise.steps)
    return -_NORMAL.inv_cdf(missed_each / 2) * math.sqrt(float(noise.amount)) / (noise.people * noise.steps)


def _binomial_tail(people: int, w: float, wanted: float) -> float:
    """ln of a bound on Pr[X/m − p > w], for every p at once, X binomial over m people; `wanted` is what to get below.

    The worst p for a least count a = mx is x − w, as the tail grows with p. There the terms fall at least as fast as a
    geometric series of ratio (1−x)p/(x(1−p)), and Stirling bounds the first, so the tail is at most

        e^(−m·kl(x‖x−w)) · [√(x(1−x)) + w·√(x/(1−x))] / (w·√(2πm)),

    and by Chernoff at most e^(−m·kl). kl(x‖x−w) is convex in x, so it is enough beyond some edge; below the edge the
    square bracket is at most ½ + w·√(x/(1−x)) there, and kl at least its minimum.
    """
    if not 0 < w < 1:
        return 0.0 if w <= 0 else -math.inf

    def kl(x: float) -> float:
        p = x - w
        return (x * math.log1p(w / p) + (1 - x) * math.log1p(-w / (1 - p))) * (1 - 1e-9)

    last = 1 - (1 - w) * 1e-9
    flattest = golden(kl, w + (1 - w) * 1e-9, last)
    chernoff = -people * kl(flattest)
    if people * kl(last) < wanted:
        return chernoff
    edge, _ = halved(lambda x: people * kl(x) >= wanted, last, flattest, _HALVINGS)
    first = math.log((0.5 + w * math.sqrt(edge / (1 - edge))) / (w * math.sqrt(2 * math.pi * people)))
    return chernoff + min(0.0, first + 1e-9)


def _width(
    theorem: str, width: Fraction, claimed: bool, beta: Fraction, noise: Calibration | None, **terms: Fraction
) -> Width:
    cut = min(Fraction(1), up(width, GRAIN))  # values and answers lie in [0, 1]
    return Width(theorem, cut, claimed, beta, noise, terms | {"uncut": width})


def _tanh_above(value: Fraction) -> Fraction:
    return min(Fraction(1), _safe(math.tanh(float(value) * _SPARE)))


def _safe(value: float) -> Fraction:
    return Fraction(value * _SPARE)


def exactly(value: float) -> Fraction:
    """A float that a search found, as a Fraction with few digits. It need not be exact: any choice near the best is
    valid."""
    return Fraction(f"{value:.6g}")


@lru_cache(maxsize=256)
def _exp_above(value: Fraction) -> Fraction:
    return Fraction(exp_decimal(value)) * (1 + Fraction(1, 10**40))


def golden(loss: Callable[[float], float], low: float, high: float, steps: int = 40) -> float:
    """Approximately where `loss` is least, for a function that falls and then rises."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = loss(left), loss(right)
    for _ in range(steps):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = loss(right)
    return left if at_left < at_right else right
