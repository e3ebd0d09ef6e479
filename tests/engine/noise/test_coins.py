"""The coins keep their laws: by enumeration of bits, by exact brackets, and by samples.

A statistical test here compares every cell count with its exact binomial law, both sides, by a union bound: a right
sampler is rejected with probability at most FALSE_ALARM. Each comes with a planted wrong sampler that must be rejected.
"""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Callable, Hashable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers_laws import rejected, with_rest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpengine.noise import coins as door
from dpengine.noise.coins import Coins, SystemCoins
from tests.helpers_coins import ScriptedCoins, ScriptEnded, SeededCoins
from tests.planted.checks import Recorded

FIRST_WIDTH = 62 + 1 + 64  # bits that place the point; the place in the block takes 64 more than the total needs


Array = np.ndarray[Any, Any]
Outcome = tuple[int, int]


def ints(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


def exp_minus(exponent: Fraction, digits: int = 150) -> Fraction:
    with localcontext() as context:
        context.prec = digits
        return Fraction((-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


# --- uniform integers


@pytest.mark.parametrize("width", [1, 3, 6])
def test_every_bound_is_uniform_over_all_bits(width: int) -> None:
    for bound in range(1, (1 << width) + 1):
        counts: Counter[int] = Counter()
        redrawn = 0
        for value in range(1 << width):
            try:
                counts[ScriptedCoins([value])._below(bound, width)] += 1
            except ScriptEnded:
                redrawn += 1
        assert set(counts) == set(range(bound))
        assert set(counts.values()) == {(1 << width) // bound}
        assert redrawn == (1 << width) % bound


@pytest.mark.parametrize("bound", [0, -1, 17])
def test_a_bound_that_bits_cannot_serve_is_refused(bound: int) -> None:
    with pytest.raises(ValueError):
        SystemCoins()._below(bound, 4)


def test_below_and_bits_stay_in_range() -> None:
    coins = SystemCoins()
    assert coins.below(1) == 0 and coins.bits(0) == 0
    assert all(0 <= coins.below(10**30) < 10**30 and 0 <= coins.bits(200) < 1 << 200 for _ in range(100))


def test_system_bits_are_fair() -> None:
    coins = SystemCoins()
    law = with_rest(dict.fromkeys(range(8), 1 / 8))
    assert not rejected((coins.bits(3) for _ in range(10_000)), law)
    assert rejected((coins.bits(3) | coins.bits(3) for _ in range(10_000)), law)


# --- selection: the envelope brackets the exact weights


rates = st.one_of(
    st.fractions(min_value=Fraction(1, 20_000), max_value=3),
    st.sampled_from([Fraction(1, 10**12), Fraction(1, 20_000), Fraction(1, 3), Fraction(40), Fraction(720)]),
)
blocks = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 60), st.integers(0, 10**6), st.integers(0, 2**62)),
        st.one_of(st.integers(0, 3), st.integers(0, 2**55)),
    ),
    min_size=1,
    max_size=12,
).filter(lambda pairs: any(size for _, size in pairs))


def bracket(gaps: Array, sizes: Array, rate: Fraction) -> tuple[list[int], list[int], list[Fraction]]:
    """Per block: the height that is surely below the weight, the height of the envelope, and the exact weight."""
    gaps = gaps - gaps[sizes > 0].min()
    levels, tables = door._layout(rate, int(sizes.sum()), None)
    steps, weights, shift = door._envelope(gaps, sizes, levels, tables)
    assert 2**61 <= sum(steps.tolist()) < 2**63
    surely = [int(weight * (1 - door._MARGIN)) for weight in weights.tolist()]
    reach = 4 * 10**4 / rate  # further than any float, and still within what exp_minus takes
    exact = [
        size * Fraction(2) ** shift * exp_minus(rate * min(gap, reach)) if size else Fraction(0)
        for gap, size in zip(gaps.tolist(), sizes.tolist(), strict=True)
    ]
    return surely, steps.tolist(), exact


@settings(max_examples=40, deadline=None)
@given(blocks, rates)
def test_the_envelope_brackets_the_exact_weights(pairs: list[tuple[int, int]], rate: Fraction) -> None:
    gaps, sizes = (ints(*column) for column in zip(*pairs, strict=True))
    surely, steps, exact = bracket(gaps, sizes, rate)
    for low, high, weight, size in zip(surely, steps, exact, sizes.tolist(), strict=True):
        assert low <= weight <= high
        assert (high == 0) == (size == 0)  # no step at all for an empty block
        assert high - low <= 2 + 2**-45 * float(weight)  # and the undecided part is small


def test_the_bracket_would_notice_a_gap_off_by_one() -> None:
    gaps, sizes = ints(0, 3, 9), ints(5, 4, 1)
    surely, steps, _ = bracket(gaps, sizes, Fraction(1, 1000))
    _, _, exact = bracket(gaps + ints(0, 1, 0), sizes, Fraction(1, 1000))
    assert not surely[1] <= exact[1] <= steps[1]


@settings(max_examples=120, deadline=None)
@given(st.integers(1, 2**62), st.fractions(0, 400), st.integers(-62, 400))
def test_weight_bounds_hold_the_weight(size: int, exponent: Fraction, shift: int) -> None:
    least, greatest = door._weight_bounds(size, exponent, shift)
    exact = size * Fraction(2) ** shift * exp_minus(exponent, 500)
    assert least <= exact <= greatest
    assert 0 <= greatest - least <= 1 or exact == least


def test_weight_bounds_stay_open_where_rounding_would_decide() -> None:
    with localcontext() as context:
        context.prec = 150
        half = Fraction(Decimal(2).ln())
    for nudge in (Fraction(1, 10**90), -Fraction(1, 10**90)):  # 2*exp(-exponent) is 1 in 40 digits, and not in 100
        least, greatest = door._weight_bounds(1, half + nudge, 1)
        assert least <= 2 * exp_minus(half + nudge) <= greatest


# --- selection: the law, by enumeration of bits


def enumerate_law(
    gaps: Array, sizes: Array, rate: Fraction, first: int, depth: int
) -> tuple[dict[Outcome, Fraction], Fraction]:
    """The probability of every outcome of one round of `choose` within `depth` bits, and of no decision by then.

    A second request of `first` bits starts the round anew, so what one round gives is the law up to a factor.
    """
    mass: dict[Outcome, Fraction] = {}
    undecided = Fraction(0)
    open_scripts: list[tuple[tuple[int, ...], int]] = [((), 0)]
    while open_scripts:
        script, used = open_scripts.pop()
        coins = ScriptedCoins(script)
        try:
            drawn = coins.choose(gaps, sizes, rate)
            mass[drawn] = mass.get(drawn, Fraction(0)) + Fraction(1, 1 << used)
        except ScriptEnded as ended:
            if script and ended.count == first:
                continue
            if used + ended.count > depth:
                undecided += Fraction(1, 1 << used)
            else:
                open_scripts += [((*script, value), used + ended.count) for value in range(1 << ended.count)]
    return mass, undecided


def agrees(mass: dict[Outcome, Fraction], undecided: Fraction, law: dict[Outcome, Fraction]) -> bool:
    decided = sum(mass.values(), Fraction(0))
    inside = all(
        mass.get(cell, 0) <= p * (decided + undecided) and mass.get(cell, 0) + undecided >= p * decided
        for cell, p in law.items()
    )
    return inside and set(mass) <= set(law)


def candidate_law(gaps: Array, sizes: Array, rate: Fraction) -> dict[Outcome, Fraction]:
    least = int(gaps[sizes > 0].min())
    weight = [
        exp_minus(rate * (gap - least)) if size else Fraction(0) for gap, size in zip(gaps, sizes.tolist(), strict=True)
    ]
    total = sum(w * size for w, size in zip(weight, sizes.tolist(), strict=True))
    return {(i, place): w / total for i, w in enumerate(weight) for place in range(int(sizes[i]))}


@pytest.mark.parametrize(
    ("gaps", "sizes", "rate"),
    [
        (ints(0, 1, 3), ints(1, 2, 1), Fraction(1, 2)),
        (ints(7, 2, 0, 2), ints(1, 1, 0, 1), Fraction(1, 3)),
        (ints(5, 5), ints(1, 3), Fraction(2)),
        (ints(0, 500, 1), ints(1, 1, 1), Fraction(1)),
    ],
)
def test_the_law_of_choose_over_all_bits(
    monkeypatch: pytest.MonkeyPatch, gaps: Array, sizes: Array, rate: Fraction
) -> None:
    """With words of a few bits instead of 62 and 64 the exact path decides often and all bits can be tried."""
    monkeypatch.setattr(door, "_ROOM", 4)
    monkeypatch.setattr(door, "_SPARE", 1)
    monkeypatch.setattr(door, "_CHUNK", 1)
    mass, undecided = enumerate_law(gaps, sizes, rate, first=6, depth=14)
    assert undecided < Fraction(1, 100)
    assert agrees(mass, undecided, candidate_law(gaps, sizes, rate))


@pytest.mark.long
def test_enumeration_would_notice_a_wrong_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_ROOM", 4)
    monkeypatch.setattr(door, "_SPARE", 1)
    monkeypatch.setattr(door, "_CHUNK", 1)
    gaps, sizes, rate = ints(0, 1, 3), ints(1, 2, 1), Fraction(1, 2)
    mass, undecided = enumerate_law(gaps, sizes, rate, first=6, depth=14)
    assert not agrees(mass, undecided, candidate_law(gaps, sizes, rate * Fraction(11, 10)))
    assert not agrees(mass, undecided, candidate_law(gaps + ints(0, 1, 0), sizes, rate))
    monkeypatch.setattr(Coins, "_under", lambda *_: True)  # keeps the whole envelope: a rounded approximation
    mass, undecided = enumerate_law(gaps, sizes, rate, first=6, depth=14)
    assert not agrees(mass, undecided, candidate_law(gaps, sizes, rate))


# --- selection: forced paths at full width


def landing(point: int, bound: int, width: int) -> int:
    """Bits that make a uniform draw below `bound` come out as `point`."""
    return ((2 * point + 1) << width) // (2 * bound)


def test_a_point_on_the_boundary_is_settled_exactly() -> None:
    gaps, sizes, rate = ints(0, 4, 1), ints(2, 3, 1), Fraction(1, 7)
    surely, steps, exact = bracket(gaps, sizes, rate)
    whole, part = divmod(exact[1], 1)
    assert surely[1] <= whole < steps[1]
    aimed = landing(steps[0] + int(whole), sum(steps), FIRST_WIDTH)
    same = math.floor(part * 2**64)  # the first 64 bits of U agree with the weight's: more are needed
    after = math.floor(part * 2**128) % 2**64
    place = landing(2, 3, 3 + 64)
    for last, kept in [(after - 1, True), (after + 1, False)]:
        again = landing(0, sum(steps), FIRST_WIDTH)
        coins = ScriptedCoins([aimed, same, last, place] if kept else [aimed, same, last, again, landing(1, 2, 67)])
        assert coins.choose(gaps, sizes, rate) == ((1, 2) if kept else (0, 1))
        assert coins.asked == [FIRST_WIDTH, 64, 64] + ([67] if kept else [FIRST_WIDTH, 67])


def test_a_whole_weight_is_settled_at_once() -> None:
    gaps, sizes, rate = ints(3, 3), ints(1, 1), Fraction(1)  # weights 2^60 exactly, after the least gap is taken off
    _, steps, exact = bracket(gaps, sizes, rate)
    assert exact == [2**60, 2**60]
    inside = landing(2**60 - 1, sum(steps), FIRST_WIDTH)
    outside = landing(2**60, sum(steps), FIRST_WIDTH)
    second = landing(steps[0], sum(steps), FIRST_WIDTH)
    assert ScriptedCoins([inside, 2**64 - 1, 0]).choose(gaps, sizes, rate) == (0, 0)
    assert ScriptedCoins([outside, 0, second, 0]).choose(gaps, sizes, rate) == (1, 0)


def test_the_tail_is_reachable_and_exact() -> None:
    gaps, sizes, rate = ints(0, 200), ints(1, 1), Fraction(1)
    _, steps, exact = bracket(gaps, sizes, rate)
    assert steps[1] == 1 and 0 < exact[1] < Fraction(1, 2**192)
    last = landing(steps[0], sum(steps), FIRST_WIDTH)
    assert ScriptedCoins([last, 0, 0, 0, 0, 0]).choose(gaps, sizes, rate) == (1, 0)
    first, weight = landing(0, sum(steps), FIRST_WIDTH), math.floor(exact[1] * 2**256)
    under = ScriptedCoins([last, 0, 0, 0, weight - 1, 0])
    over = ScriptedCoins([last, 0, 0, 0, weight + 1, first, 0])
    assert under.choose(gaps, sizes, rate) == (1, 0)
    assert over.choose(gaps, sizes, rate) == (0, 0)


def test_far_gaps_are_taken_from_the_least_one() -> None:
    gaps, sizes, rate = ints(2**62, 2**62 + 1, 0, 2**63 - 1), ints(1, 1, 0, 5), Fraction(1, 2)
    seen = {SystemCoins().choose(gaps, sizes, rate)[0] for _ in range(400)}
    assert seen == {0, 1}  # each has probability above 0.37: missing one in 400 draws has probability below 1e-80


def test_empty_blocks_are_never_chosen() -> None:
    gaps, sizes, rate = ints(0, 3, 0, 3, 0), ints(0, 1, 0, 1, 0), Fraction(1)
    surely, steps, _ = bracket(gaps, sizes, rate)
    for point in (0, surely[1] - 1, steps[1], steps[1] + surely[3] - 1):  # where each block begins, and almost ends
        drawn = ScriptedCoins([landing(point, sum(steps), FIRST_WIDTH), 0]).choose(gaps, sizes, rate)
        assert drawn == ((1 if point < steps[1] else 3), 0)
    enough = [SystemCoins().choose(gaps, sizes, rate)[0] for _ in range(300)]
    assert set(enough) <= {1, 3}


def test_the_bits_asked_for_do_not_depend_on_the_scores() -> None:
    """Neighbours, and any winner, ask for the same bits; otherwise with probability below 2^-40 per draw."""
    here, there = ints(0, 1, 2, 5, 9), ints(1, 0, 2, 4, 900)
    sizes, moved = ints(1, 1, 2, 1, 4), ints(4, 1, 1, 2, 1)
    asked, winners = set(), set()
    for _ in range(100):
        for gaps, counts in [(here, sizes), (there, sizes), (here, moved), (here + 10**9, sizes)]:
            coins = Recorded()
            winners.add(coins.choose(gaps, counts, Fraction(1, 3))[0])
            asked.add(tuple(coins.asked))
    assert asked == {(FIRST_WIDTH, 4 + 64)}
    assert len(winners) > 1


@pytest.mark.parametrize("most", [9, 10**12, None])
def test_a_public_bound_does_not_change_the_draw(most: int | None) -> None:
    gaps, sizes, rate = ints(0, 4, 9), ints(2, 3, 1), Fraction(1, 7)
    script = [secrets.randbits(FIRST_WIDTH), secrets.randbits(67)]
    # Differs, by needing a third request, with probability below 2^-40.
    assert ScriptedCoins(script).choose(gaps, sizes, rate, most) == ScriptedCoins(script).choose(gaps, sizes, rate)


def test_a_gap_beyond_the_bound_is_refused_without_naming_it() -> None:
    with pytest.raises(ValueError) as told:
        SystemCoins().choose(ints(0, 4711), ints(1, 1), Fraction(1), most=4710)
    assert "471" not in str(told.value)
    assert SystemCoins().choose(ints(0, 4711), ints(1, 0), Fraction(1), most=4710) == (0, 0)  # nobody is there
    assert SystemCoins().choose(ints(0), ints(1), Fraction(1), most=0) == (0, 0)


@pytest.mark.parametrize(
    ("gaps", "sizes", "rate", "most"),
    [
        (ints(), ints(), Fraction(1), None),
        (ints(0), ints(0), Fraction(1), None),
        (ints(0, 1), ints(1), Fraction(1), None),
        (ints(-1), ints(1), Fraction(1), None),
        (ints(0, 0), ints(1, -1), Fraction(1), None),
        (ints(0), ints(1), Fraction(0), None),
        (ints(0), ints(1), Fraction(1), -1),
        (ints(0, 0), ints(2**61, 2**61), Fraction(1), None),
        (ints(0, 0, 0), ints(2**62, 2**62, 2**62), Fraction(1), None),
        (np.array([0.5]), ints(1), Fraction(1), None),
        (np.zeros((1, 1), dtype=np.int64), np.ones((1, 1), dtype=np.int64), Fraction(1), None),
    ],
)
def test_programming_errors_are_refused(gaps: Array, sizes: Array, rate: Fraction, most: int | None) -> None:
    with pytest.raises(ValueError):
        SystemCoins().choose(gaps, sizes, rate, most)


def test_the_arrays_are_left_as_they_were() -> None:
    gaps, sizes = ints(3, 5, 4), ints(1, 0, 2)
    for array in (gaps, sizes):
        array.setflags(write=False)
    SystemCoins().choose(gaps, sizes, Fraction(1, 9))
    assert gaps.tolist() == [3, 5, 4] and sizes.tolist() == [1, 0, 2]


# --- selection: samples against the law


def chosen(gaps: Array, sizes: Array, rate: Fraction, make: Callable[[], Coins], n: int = 3000) -> list[Outcome]:
    coins = make()
    return [coins.choose(gaps, sizes, rate) for _ in range(n)]


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("make", [SystemCoins, lambda: SeededCoins(secrets.randbits(64))], ids=["system", "seeded"])
def test_choices_follow_the_law(make: Callable[[], Coins]) -> None:
    gaps, sizes, rate = ints(4, 1, 0, 2, 7, 3), ints(3, 1, 0, 2, 5, 1), Fraction(2, 5)
    law = with_rest({cell: float(p) for cell, p in candidate_law(gaps, sizes, rate).items()})
    assert not rejected(chosen(gaps, sizes, rate, make), law)
    assert rejected(chosen(gaps, sizes, 2 * rate, make, 2000), law)
    assert rejected(chosen(gaps + ints(0, 1, 0, 0, 0, 0), sizes, rate, make), law)


@pytest.mark.long
def test_large_blocks_and_small_rates_follow_the_law() -> None:
    gaps, sizes, rate = ints(30_000, 0, 2**40, 12_000), ints(2**60, 2**59, 2**60, 7), Fraction(1, 20_000)
    weights = [size * math.exp(-float(rate) * gap) for gap, size in zip(gaps.tolist(), sizes.tolist(), strict=True)]
    law = with_rest({(i, half): w / sum(weights) / 2 for i, w in enumerate(weights[:2]) for half in (0, 1)})

    def halves(rate: Fraction, n: int) -> list[Hashable]:
        return [(i, 2 * place // int(sizes[i])) for i, place in chosen(gaps, sizes, rate, SystemCoins, n)]

    assert not rejected(halves(rate, 3000), law)
    assert rejected(halves(2 * rate, 1000), law)


def test_seeded_coins_repeat_themselves() -> None:
    def draw(coins: Coins) -> list[object]:
        return [
            coins.laplace([5, 6], Fraction(9)),
            coins.gaussian([5, 6], Fraction(90)),
            coins.choose(ints(0, 1, 2), ints(5, 6, 7), Fraction(1, 9)),
            coins.bits(128),
        ]

    assert draw(SeededCoins(7)) == draw(SeededCoins(7)) != draw(SeededCoins(8))
