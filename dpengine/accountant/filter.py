"""The budget rule: a privacy filter, because a person picks each question and each ε after seeing earlier answers.

**Rule.** A budget (ε, δ) splits δ = δ_slack + δ_reserve and freezes an order α > 1 when it is made. An event with cost
(ε_i, r_i, δ_i) is admitted iff, with it counted in,

    (Σε_i ≤ ε  or  Σr_i + c ≤ ε)  and  Σδ_i ≤ δ_reserve,      c = ln((α−1)/α) − (ln δ_slack + ln α)/(α−1).

**Theorem.** Whatever strategy picks the events, everything ever released under the rule is (ε, δ)-DP.

*Assumptions.* (a) For every pair of neighbouring tables and every history, the i-th release is what its event says:
ε_i-DP, of Rényi divergence at most r_i at α, or the like up to δ_i. (b) The event is charged *before* its draw, as a
function of public facts and earlier answers. (c) Costs are never negative and never refunded. Which neighbouring
relation is meant does not enter: the proof fixes one pair of neighbours, and uses only (a) for that pair.

*Proof.* Let P, Q be the laws of the whole transcript on the two tables, L = ln(P/Q) the loss along it, and first let
every δ_i = 0. Given the history the i-th loss has E_P[e^((α−1)L_i)] ≤ e^((α−1)r_i), so M = exp((α−1)(L − Σr_i)) is a
non-negative supermartingale under P started at 1: E_P[M] ≤ 1 at the end, however the end was chosen (with Fatou for
endless play). This is the Rényi filter of Feldman and Zrnic 2021, of Lécuyer 2021, and in the martingale form
of Whitehouse, Ramdas, Rogers and Wu 2023. Now look at the end of each transcript. Where Σε_i ≤ ε, L ≤ ε pointwise, so
(1 − e^(ε−L))₊ = 0. Elsewhere Σr_i + c ≤ ε, and since (1 − e^(−z))₊ ≤ e^((α−1)z)·(α−1)^(α−1)/α^α for every z,

    (1 − e^(ε−L))₊ ≤ (1 − e^(Σr_i + c − L))₊ ≤ M · e^(−(α−1)c)·(α−1)^(α−1)/α^α ≤ M·δ_slack.

Hence E_P[(1 − e^(ε−L))₊] ≤ δ_slack, which is (ε, δ_slack)-DP. The union of the two clauses costs nothing extra: one
of them contributes 0, and M is bounded by 1 in mean over *all* transcripts, not only over those of its own clause.
With δ_i > 0 write each release as its good part with probability 1−δ_i; that some bad part is ever drawn has
probability at most E[Σδ_i] ≤ δ_reserve, and the rest is as above. ∎

A release that is itself a conversation (a session reserved whole, then answered step by step between other questions)
is covered too: filters for pure and Rényi losses of fixed order carry over to interleaving (Haney et al. 2023).

**If you stop now.** spent = min(Σε_i, Σr_i + c). The proof never used that ε is a constant: with spent in its place it
says that the reading is true, at δ_slack + E[Σδ_i] ≤ δ, at any moment, even one chosen by the answers. This needs α
*frozen*: a reading that picks the best α afresh at each moment is no longer bounded by one supermartingale, and is
false.

**Meter.** used = min(Σε_i/ε, Σr_i/(ε−c)), the first part alone where ε ≤ c or δ_slack = 0. This is the part of what can
ever be asked that is used up, not a claim about ε. It starts at 0, never falls while the cap stays, and is at most 1
exactly while the ε-condition of the rule holds; a spent δ reserve is shown apart. It never exceeds spent/ε while the
condition holds, since Σr/(ε−c) ≤ (Σr+c)/ε whenever Σr ≤ ε−c. What a question takes is after minus before. That lies
between its two shares and depends on what came before, so a price is valid only at the moment it is shown.

**Raising the cap.** An owner may raise ε, never α, c or δ: from then on the rule compares with the larger cap. At every
moment spent ≤ the cap in force, and the meter's reading is true at any moment chosen by the answers, so

    E_P[(1 − e^(cap − L))₊] ≤ E_P[(1 − e^(spent − L))₊] ≤ δ_slack      with cap the one in force at the end,

when and how far it was raised being decided by the answers too. Hence: if ε' bounds every cap that would ever have been
set, everything is (ε', δ)-DP; without such a bound the claim is the line above, for the cap that was reached, and no
statement about a smaller constant. What raising needs is assumption (b) again: it is decided from public facts and
answers, never from the table. Recomputing α and c for the new cap would admit more and is unsound: it is a
reading that picks its order afresh. The price of keeping them is that a raised budget holds less than one born large.

**Several people.** The proof allows every question to depend on every earlier answer, and does not ask who posed it.
So k people who share what they see are one analyst, and one budget covers them; a tally per person would not. People
who keep their answers apart have a budget each, with one α and one c for all. Their sums Σε_i, Σr_i and Σδ_i add up, so
min(Σε_i, Σr_i + c) over all of them is true of all answers together. It may exceed the cap of each.

**Several tables about the same people.** Let one budget pay for several tables. Neighbours are tuples of tables in
which one person's rows differ in all tables at once, in each by at most the rows that it counts of a person, and by its
own relation. A release about one table depends on that table alone, so for such a pair it is what its event says,
whatever the other tables hold. Assumption (a) holds for the tuple, and the theorem covers all answers about all the
tables: a person in several of them is protected by (ε, δ) once. Without a shared budget the losses add up.

Comparisons are between exact Fractions; r_i and c were rounded up, so no tolerance is needed or given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import ClassVar

from dpengine.accountant import renyi
from dpengine.accountant.costs import Cost
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.exact import decade, read_number
from dpengine.core.types import Json, JsonObject

_KIND = "pure-or-renyi"


@dataclass(frozen=True)
class Rule:
    """A budget's terms: all but ε are frozen, and ε only grows. Where δ_slack = 0 only the pure clause exists, and
    `alpha` and `c` are None."""

    epsilon: Fraction
    delta: Fraction
    delta_slack: Fraction
    delta_reserve: Fraction
    alpha: Fraction | None
    c: Fraction | None

    def __hash__(self) -> int:
        """A quick hash of a few integers: a page looks up prices under one rule again and again."""
        return hash((self.epsilon.numerator, self.epsilon.denominator, self.delta.denominator))

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise AllowanceError("budget.epsilon_range", most=100)
        if not 0 <= self.delta < 1:
            raise AllowanceError("budget.delta_range")
        if self.delta_slack < 0 or self.delta_reserve < 0 or self.delta_slack + self.delta_reserve != self.delta:
            raise AllowanceError("budget.share_range")
        if self.delta_slack == 0:
            sound = self.alpha is None and self.c is None
        elif self.alpha is None or self.c is None:
            sound = False
        else:
            sound = self.alpha > 1 and self.c >= renyi.toll(self.alpha, self.delta_slack)
        if not sound:
            raise AllowanceError("budget.rule_unknown")

    @staticmethod
    def make(epsilon: Fraction, delta: Fraction, slack_share: Fraction = Fraction(9, 10)) -> Rule:
        """The rule of a new budget: α is the order at which the cap holds the most zCDP."""
        if not 0 <= slack_share <= 1:
            raise AllowanceError("budget.share_range")
        slack = delta * slack_share
        if epsilon <= 0 or not 0 < slack < 1:
            return Rule(epsilon, delta, slack, delta - slack, None, None)
        alpha = renyi.order_for_cap(epsilon, slack)
        return Rule(epsilon, delta, slack, delta - slack, alpha, renyi.toll(alpha, slack))

    def as_json(self) -> JsonObject:
        amounts = {name: None if value is None else str(value) for name, value in vars(self).items()}
        return {"kind": _KIND} | amounts

    @staticmethod
    def from_json(data: JsonObject) -> Rule:
        if data.get("kind") != _KIND:
            raise AllowanceError("budget.rule_unknown")
        alpha, c = (None if data[name] is None else Fraction(data[name]) for name in ("alpha", "c"))
        epsilon, delta, slack, reserve = (
            Fraction(data[name]) for name in ("epsilon", "delta", "delta_slack", "delta_reserve")
        )
        return Rule(epsilon, delta, slack, reserve, alpha, c)


@dataclass(frozen=True)
class Totals:
    """Running sums of all charges: enough to decide whether the next charge is admitted."""

    epsilon: Fraction | None  # None once a Gaussian was admitted: the pure clause is closed
    renyi: Fraction
    delta: Fraction

    NOTHING: ClassVar[Totals]

    def __hash__(self) -> int:
        return hash((self.renyi.numerator, self.delta.numerator, self.epsilon and self.epsilon.numerator))

    def plus(self, cost: Cost) -> Totals:
        epsilon = None if self.epsilon is None or cost.epsilon is None else self.epsilon + cost.epsilon
        return Totals(epsilon, self.renyi + cost.renyi, self.delta + cost.delta)

    def as_json(self) -> JsonObject:
        return {name: None if value is None else str(value) for name, value in vars(self).items()}

    @staticmethod
    def from_json(data: JsonObject) -> Totals:
        epsilon = data["epsilon"]
        return Totals(None if epsilon is None else Fraction(epsilon), Fraction(data["renyi"]), Fraction(data["delta"]))


Totals.NOTHING = Totals(Fraction(0), Fraction(0), Fraction(0))


def admits(rule: Rule, totals_after: Totals) -> bool:
    """Does the rule hold for these sums, which already include the charge to be decided?"""
    pure = totals_after.epsilon is not None and totals_after.epsilon <= rule.epsilon
    renyi_holds = rule.c is not None and totals_after.renyi + rule.c <= rule.epsilon
    return (pure or renyi_holds) and totals_after.delta <= rule.delta_reserve


def spent(rule: Rule, totals: Totals) -> Fraction:
    """The ε that holds if nothing more is asked: from 0 upwards, at most ε while the rule's ε-condition holds."""
    return _least(totals.epsilon, None if rule.c is None else totals.renyi + rule.c)


def _least(pure: Fraction | None, converted: Fraction | None) -> Fraction:
    """The smaller of two readings of the sums; None stands for a reading that does not exist. Refused if both are
    None."""
    readings = [reading for reading in (pure, converted) if reading is not None]
    if not readings:  # Gaussian noise under a budget without δ: no finite number is true
        raise BudgetExceeded("budget.needs_delta")
    return min(readings)


def alone(rule: Rule, cost: Cost) -> tuple[Fraction, Fraction]:
    """(ε, δ) of one event by itself: its own ε if that is finite, else the one converted at the rule's order and
    slack."""
    if cost.epsilon is not None:
        return cost.epsilon, cost.delta
    return spent(rule, Totals.NOTHING.plus(cost)), rule.delta_slack + cost.delta


def together(rule: Rule, costs: Iterable[Cost]) -> tuple[Fraction, Fraction]:
    """(ε, δ) of some events, had nothing else been admitted. Here c counts once; `alone` adds it to each converted
    ε."""
    totals = reduce(Totals.plus, costs, Totals.NOTHING)
    return spent(rule, totals), rule.delta_slack + totals.delta


def used(rule: Rule, totals: Totals) -> Fraction:
    """The meter: the share of the allowance that is used up."""
    converted = None if rule.c is None or rule.c >= rule.epsilon else totals.renyi / (rule.epsilon - rule.c)
    return _least(None if totals.epsilon is None else totals.epsilon / rule.epsilon, converted)


def price(rule: Rule, totals: Totals, cost: Cost) -> Fraction:
    """By how much this cost would raise `spent`."""
    return spent(rule, totals.plus(cost)) - spent(rule, totals)


def share(rule: Rule, totals: Totals, cost: Cost) -> Fraction:
    """By how much a charge of this cost would move the meter."""
    return used(rule, totals.plus(cost)) - used(rule, totals)


def affords(rule: Rule, totals: Totals, cost: Cost, most: Fraction) -> bool:
    """Does the rule admit a charge of this cost, and does that charge move the meter by at most `most`?"""
    after = totals.plus(cost)
    return admits(rule, after) and used(rule, after) - used(rule, totals) <= most


def fits(rule: Rule, totals: Totals, cost: Cost, most: int = 10**6) -> int:
    """How many more events of this cost the rule admits, at most `most`.

    Sums only grow, so each clause admits a first run of events and then none. The longer run counts, cut to what the δ
    reserve allows.
    """
    runs = [0]
    if totals.epsilon is not None and cost.epsilon is not None:
        runs.append(_run(rule.epsilon - totals.epsilon, cost.epsilon, most))
    if rule.c is not None:
        runs.append(_run(rule.epsilon - rule.c - totals.renyi, cost.renyi, most))
    return min(max(runs), _run(rule.delta_reserve - totals.delta, cost.delta, most))


def no_more(rule: Rule, totals: Totals, paid: Cost) -> Callable[[Cost], bool] | None:
    """A test of costs: does a cost move the meter no further than `paid` does now, and fit as often? None if `paid`
    itself does not fit.

    The test compares with bounds that are computed once. The meter is the least of its readings, so one of ε and r must
    be at most what brings its reading to the meter after `paid`. As many of it fit if that many times ε, or that many
    times r, stay within their clause's room, and that many times δ within the reserve.
    """
    many = fits(rule, totals, paid)
    if not many:
        return None
    after = used(rule, totals.plus(paid))
    epsilons, renyis = list[Fraction](), list[Fraction]()
    if totals.epsilon is not None:
        epsilons = [after * rule.epsilon - totals.epsilon, (rule.epsilon - totals.epsilon) / many]
    if rule.c is not None:
        room = rule.epsilon - rule.c
        renyis = [after * room - totals.renyi if room > 0 else Fraction(-1), (room - totals.renyi) / many]
    delta = (rule.delta_reserve - totals.delta) / many

    def holds(place: int, cost: Cost) -> bool:
        pure = bool(epsilons) and cost.epsilon is not None and cost.epsilon <= epsilons[place]
        return pure or (bool(renyis) and cost.renyi <= renyis[place])

    return lambda cost: cost.delta <= delta and holds(0, cost) and holds(1, cost)


def _run(room: Fraction, amount: Fraction, most: int) -> int:
    """The largest n ≤ most with n·amount ≤ room; 0 if `room` is negative."""
    if room < 0:
        return 0
    return most if amount == 0 else min(most, room // amount)


# A budget as a person declares it: a total ε and δ for everything ever released about the people in a table.

MOST_EPSILON = Fraction(100)


@dataclass(frozen=True)
class Budget:
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Json = "1", delta: Json = "1e-6") -> None:
        object.__setattr__(self, "epsilon", read_number(epsilon, "ε"))
        object.__setattr__(self, "delta", read_number(delta, "δ"))
        if not 0 < self.epsilon <= MOST_EPSILON:
            raise AllowanceError("budget.epsilon_range", most=MOST_EPSILON)
        if not 0 <= self.delta < 1:
            raise AllowanceError("budget.delta_range")

    def rule(self) -> Rule:
        return Rule.make(self.epsilon, self.delta)


def usual_delta(people: int) -> Fraction:
    """The default δ: a power of ten, at most one in a million and at most 1/(10·people)."""
    return min(Fraction(1, 10**6), decade(Fraction(1, 10 * max(people, 1))))
