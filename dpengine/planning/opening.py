"""The price and the noise of a question, from public facts and the ledger's sums alone: so they reveal nothing.

**Opening price**, one rule for every question and every page. A question opens at the least usual ε with a clear answer
(`CLEAR`; more exact where that takes little, `EXACT`), but never for more than a twentieth of the remaining allowance
(`PART`). If a twentieth does not buy a clear answer, it opens at exactly what a twentieth buys; the page then says what
would help, and offers the least step that is clear, else useful, for at most a quarter (`OFFERED`). A question with a
higher least price (noise that closes the pure clause, on an allowance spent in few large pieces) opens at the least
that can be asked, and the page says so.

**Noise.** The same question can be answered with different noise, and a budget's two sums price noise differently. In
Σε permute-and-flip costs the same as the exponential mechanism and is more accurate; in Σr it costs up to four times as
much. Gaussian noise has lighter tails at the same Rényi cost, but no finite ε: after the first one only Σr counts.
`cheapest` changes the noise only where the meter moves no further and as many such questions still fit afterwards; and
where the default noise no longer fits but another one with the same accuracy does. It may change ε with the noise.
`nearest` is the same rule for somebody who named ε, as in a program: ε stays, and the pure clause stays open.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import partial

from dpengine.accountant import filter
from dpengine.accountant.costs import Cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decimal_of
from dpengine.core.remembered import guessed, largest, remembered
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.query import AnyQuery

GRAIN = 10**6  # ε is tried in millionths
PART = Fraction(1, 20)  # of the remaining allowance: no form opens above it
OFFERED = Fraction(1, 4)  # of the remaining allowance: for at most this, a page offers a useful step
CLEAR = 2  # times more exact than mostly noise
EXACT = ((16, Fraction(1, 100)), (8, Fraction(2, 100)), (4, Fraction(5, 100)))  # this many times, for this share
STEPS = tuple("0.005 0.01 0.02 0.03 0.05 0.07 0.1 0.15 0.2 0.3 0.5 0.7 1 1.5 2 3".split())  # of a slider
LEAST = Fraction("0.02")  # the least usual ε
SHARES = tuple("1 2 3 5 10 20 30 40 50 60 75 100".split())  # of the remaining allowance, in percent
AT_MOST = "5"
TINY = Fraction(1, 10**12)
Make = Callable[[Fraction], AnyQuery]
Room = Callable[[AnyQuery], Fraction]  # how many times more exact than mostly noise


@remembered(2048)
def cheapest(query: AnyQuery, rule: Rule, totals: Totals) -> AnyQuery:
    """The question with its most accurate noise that costs no more now than the default noise and can be asked as
    often. Most accurate: by the promised error, or by a better estimate if the question has one. If the rule does not
    admit the default noise, the cheapest equally accurate noise. A promise that the least ε keeps as well says nothing
    (an average "to within the whole range"): then no other noise stands in, or pure noise would."""
    usual = query.with_noise("")
    no_more = filter.no_more(rule, totals, usual.cost(rule.alpha))
    if no_more is None:
        others = [usual.with_noise(noise) for noise in usual.noises]
        found = _least(others, usual.promise().amount, rule, totals)
        return usual if found is None or found.epsilon == LEAST_EPSILON else found
    options = [usual, *_others(usual, rule, totals, no_more)]
    # `min` takes the first of equals, which is the default noise.
    return min(options, key=lambda option: option.expected())


@remembered(2048)
def nearest(query: AnyQuery, rule: Rule, totals: Totals) -> AnyQuery:
    """The question at its own ε, with its most accurate noise that costs no more now, can be asked as often, and has a
    finite ε if the default noise has one."""
    usual = query.with_noise("")
    no_more = filter.no_more(rule, totals, usual.cost(rule.alpha))
    if no_more is None:
        return usual
    paid = [(other, other.cost(rule.alpha)) for other in _with_others(usual)[1:]]
    finite = usual.cost(rule.alpha).epsilon is not None
    others = [other for other, now in paid if no_more(now) and not (finite and now.epsilon is None)]
    return min([usual, *others], key=lambda option: option.expected())


def _with_others(usual: AnyQuery) -> tuple[AnyQuery, ...]:
    """The question with its default noise, then with each other one that it can have."""
    return _each(usual, _words(usual))


# A page looks for the same prices whenever the meter has moved. The questions that it compares stay the same, and keep
# their promises and costs. What facts leave out when they are compared changes a question's words.


def _words(query: AnyQuery) -> tuple[bool, str]:
    return query.facts.repeated, query.facts.whose


@remembered(4096)
def _each(usual: AnyQuery, words: tuple[bool, str]) -> tuple[AnyQuery, ...]:
    return usual, *(other for noise in usual.noises if (other := usual.with_noise(noise)).noise)


@remembered(8192)
def _at(query: AnyQuery, place: int, words: tuple[bool, str]) -> AnyQuery:
    return query.at(Fraction(place, GRAIN))


@remembered(4096)
def _asked_at(query: AnyQuery, words: tuple[bool, str], epsilon: Fraction) -> AnyQuery:
    return query.asked_at(epsilon)


@remembered(4096)
def price_now(query: AnyQuery, rule: Rule, totals: Totals) -> Fraction | None:
    """The price of a question now, with the noise that a page would choose; None if the rule admits no equally accurate
    noise."""
    price = query.cost(rule.alpha)
    if not filter.admits(rule, totals.plus(price)):
        price = cheapest(query, rule, totals).cost(rule.alpha)
    return filter.share(rule, totals, price) if filter.admits(rule, totals.plus(price)) else None


@remembered(512)
def least_priced(query: AnyQuery, wish: Fraction, rule: Rule, totals: Totals) -> AnyQuery | None:
    """The question with the cheapest noise and ε that are as accurate as `wish`; None if the rule admits none of
    them."""
    return _least(_with_others(query.with_noise("")), wish, rule, totals)


def _least(options: Sequence[AnyQuery], wish: Fraction, rule: Rule, totals: Totals) -> AnyQuery | None:
    fitting = []
    for option in options:
        least = least_epsilon(option, wish, near=option.epsilon)
        if least is not None:
            paid = option.at(least).cost(rule.alpha)
            if filter.fits(rule, totals, paid):
                fitting.append((filter.share(rule, totals, paid), option.at(least)))
    return min(fitting, key=lambda priced: priced[0])[1] if fitting else None


@remembered(512)
def at_share(query: AnyQuery, share: Fraction, rule: Rule, totals: Totals) -> AnyQuery | None:
    """The question at the largest ε that the rule admits and that takes at most this share now; None if there is
    none."""

    words = _words(query)

    def allowed(place: int) -> bool:
        paid = _at(query, place, words).cost(rule.alpha)
        now = _share(rule, totals, paid)
        return now is not None and now <= share and filter.fits(rule, totals, paid) > 0

    low, high = int(LEAST_EPSILON * GRAIN), int(MOST_EPSILON * GRAIN)
    if not allowed(low):
        return None
    start = min(max(int(rule.epsilon * GRAIN / 10), low), high)
    near = partial(_near, query, rule, totals, share, start, low, high)
    return _at(query, largest(allowed, low, high, ("share", query, share, rule.alpha), near=near), words)


def _near(query: AnyQuery, rule: Rule, totals: Totals, share: Fraction, start: int, low: int, high: int) -> int:
    """Where a search for an ε begins: about the ε at which the question takes this share, as a multiple of 1/GRAIN
    between `low` and `high`."""

    def taken(place: int) -> float | None:
        now = _share(rule, totals, _at(query, place, _words(query)).cost(rule.alpha))
        return None if now is None else float(now)

    return guessed(taken, float(share), start, low, high)


def _others(usual: AnyQuery, rule: Rule, totals: Totals, allowed: Callable[[Cost], bool]) -> list[AnyQuery]:
    """The same question once with each other noise, at the largest ε for which its cost is `allowed` (up to twice the
    default's ε). A noise that is allowed at no ε is left out."""
    others, words = [], _words(usual)
    price = partial(filter.share, rule, totals, usual.cost(rule.alpha))
    for other in _with_others(usual)[1:]:
        low = int(LEAST_EPSILON * GRAIN)
        high = int(min(2 * usual.epsilon, MOST_EPSILON) * GRAIN)
        if allowed(other.cost(rule.alpha)):  # most often the same ε is allowed
            low = max(low, int(usual.epsilon * GRAIN))
        elif not allowed(_at(other, low, words).cost(rule.alpha)):
            continue

        def fine(place: int, other: AnyQuery = other) -> bool:
            return allowed(_at(other, place, words).cost(rule.alpha))

        def near(other: AnyQuery = other, low: int = low, high: int = high) -> int:
            start = min(max(int(usual.epsilon * GRAIN), low), high)
            return _near(other, rule, totals, price(), start, low, high)

        others.append(_at(other, largest(fine, low, high, ("noise", other, rule.alpha), near=near), words))
    return others


def _share(rule: Rule, totals: Totals, paid: Cost) -> Fraction | None:
    """How far a charge of this cost would move the meter; None if all charges would then have no finite ε, on a budget
    that counts only ε."""
    if rule.c is None and (paid.epsilon is None or totals.epsilon is None):
        return None
    return filter.share(rule, totals, paid)


@dataclass(frozen=True)
class Opening:
    """A question at its opening price. `query` is as the form has it, `asked` the same with the noise that it would get
    now."""

    query: AnyQuery
    asked: AnyQuery
    share: Fraction  # its price
    dear: bool  # it costs more than PART of the remaining allowance
    useful: Fraction | None  # the price of the least usual step that is more than noise; None: more than is left
    clear: Fraction | None  # the price of the least clear step
    better: AnyQuery | None = None  # where `query` is mostly noise: a useful step for at most OFFERED of what is left


def room(query: AnyQuery) -> Fraction:
    return query.coarse() / max(Fraction(query.promise().amount), TINY)


@remembered(1024)
def opening(query: AnyQuery, rule: Rule, totals: Totals, left: Fraction, check: Fraction) -> Opening | None:
    """The opening price of a question that can be built at any ε. `left` is the share of the allowance that may still
    be spent, `check` the price of the question's check. None if `left` pays for nothing."""
    usual = query.with_noise("")
    return opened(partial(_asked_at, usual, _words(usual)), rule, totals, left, check)


def opened(
    make: Make, rule: Rule, totals: Totals, left: Fraction, check: Fraction = Fraction(0), room: Room = room
) -> Opening | None:
    """The opening price of a question that `make` builds anew at each ε; None if `left` pays for nothing. `room`
    measures how much more than noise an answer is."""
    most = max(left * PART - check, Fraction(0))
    left -= check

    refused: list[Fraction] = []  # at a larger ε the rule admits no noise either

    def at(epsilon: Fraction) -> tuple[AnyQuery, Fraction] | None:
        try:
            query = make(epsilon)
        except AllowanceError:
            return None
        if refused and epsilon >= refused[0]:
            return None
        share = price_now(query, rule, totals)
        if share is None:
            refused[:] = [epsilon]
        return None if share is None or share > left else (query, share)

    def best(option: tuple[AnyQuery, Fraction]) -> Fraction:
        return room(cheapest(option[0], rule, totals))

    steps = [step for text in STEPS if (step := Fraction(text)) <= rule.epsilon] or [rule.epsilon]
    paid = [option for step in steps if (option := at(step)) is not None]
    usual = [option for option in paid if option[0].epsilon >= LEAST]

    def first(times: int, share: Fraction) -> tuple[AnyQuery, Fraction] | None:
        fits = [option for option in usual if option[1] <= share]
        place = bisect_left(fits, Fraction(times), key=best)
        return fits[place] if place < len(fits) else None

    wanted = [(times, min(share, most)) for times, share in EXACT] + [(CLEAR, most)]
    chosen = next((option for times, share in wanted if (option := first(times, share)) is not None), None)
    least = paid[0] if paid else at(LEAST_EPSILON)
    if chosen is None and least is not None:
        chosen = _bought(at_share(least[0], most, rule, totals), at, most) or least
    if chosen is None:
        return None
    useful, clear = (option and option[1] for option in (first(1, left), first(CLEAR, left)))
    asked = cheapest(chosen[0], rule, totals)
    share = price_now(asked, rule, totals) or chosen[1]
    offered = None if room(asked) >= 1 else first(CLEAR, left * OFFERED) or first(1, left * OFFERED)
    return Opening(chosen[0], asked, share, share > most, useful, clear, offered and offered[0])


def _bought(
    found: AnyQuery | None, at: Callable[[Fraction], tuple[AnyQuery, Fraction] | None], most: Fraction
) -> tuple[AnyQuery, Fraction] | None:
    """The question and its price at an ε of three digits that people can read, for at most the share `most`; None if
    `found` is None or that share buys nothing. `at` builds both."""
    epsilon = None if found is None else three_figures(found.epsilon)
    while epsilon is not None and epsilon >= LEAST_EPSILON:
        option = at(epsilon)
        if option is not None and option[1] <= most:
            return option
        epsilon = three_figures(epsilon * Fraction(9, 10))  # built anew at that ε, it takes a little more
    return None


def three_figures(epsilon: Fraction) -> Fraction:
    exact = decimal_of(epsilon)
    return Fraction(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding=ROUND_FLOOR))


def opening_share(
    offer: Callable[[str], AnyQuery], clear: Callable[[AnyQuery], bool], check: Callable[[AnyQuery], Fraction]
) -> str:
    """The opening price as one of SHARES of the remaining allowance: the least share whose question is `clear`, else a
    twentieth, else the least share that buys anything. `offer` builds what a share buys; `check` gives the price of the
    question's check, as a share of the remaining allowance."""
    best = ""
    for share in SHARES:
        if best and Fraction(share) > 100 * PART:
            break
        try:
            query = offer(share)
        except AllowanceError:  # it buys nothing
            continue
        if best and Fraction(int(share), 100) + check(query) > PART:
            break
        best = share
        if clear(query):
            break
    return best or AT_MOST
