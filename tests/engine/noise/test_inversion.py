"""Noise in bulk keeps its law: by enumeration of words, at the words that are not decided, and by samples.

A statistical test rejects a right sampler with probability at most FALSE_ALARM (`rejected`), and a planted wrong one is
rejected by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from helpers_laws import laplace_law, rejected

from dpengine.noise import coins
from dpengine.noise.coins import BASE, WORD, Digit, SystemCoins, Words, dyadic_above, geometric, tables
from tests.helpers_coins import ScriptedCoins, SeededCoins

SCALES = [Fraction(1, 7), Fraction(1), Fraction(37, 10), Fraction(4), Fraction(900), Fraction(10**8 + 1, 3)]


def power(exponent: Fraction, digits: int = 120) -> Fraction:
    with localcontext() as context:
        context.prec = digits
        return Fraction((-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


def chance_of(digit: Digit, d: int) -> Fraction:
    """Pr[d], written down apart from the code under test."""
    ratio = power(1 / digit.scale)
    whole = 1 if digit.top else 1 - power(BASE / digit.scale)
    return (1 - ratio) * power(d / digit.scale) / whole


@pytest.mark.every(3)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_over_all_words_every_digit_has_its_chance(scale: Fraction) -> None:
    """The words that are decided for a digit weigh at most its chance; with the undecided ones, at least."""
    for table in tables(scale):
        cuts = [int(cut) for cut in table.cuts]
        assert cuts == sorted(cuts)
        last = len(cuts) if not table.digit.top else len(cuts) - 1
        for d in range(last + 1):
            before = cuts[d - 1] + 1 if d else 0
            after = cuts[d] if d < len(cuts) else 2**WORD
            undecided = sum(1 for cut in {cuts[place] for place in (d - 1, d) if 0 <= place < len(cuts)})
            surely = Fraction(max(after - before, 0), 2**WORD)
            assert surely <= chance_of(table.digit, d) <= surely + Fraction(undecided, 2**WORD), (d, len(cuts))
        beyond = Fraction(2**WORD - 1 - cuts[-1], 2**WORD) if table.digit.top else Fraction(0)
        assert beyond == 0, "the top digit's last words are settled one by one"


def test_the_enumeration_would_notice_a_rounded_table(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = coins._cut
    monkeypatch.setattr(coins, "_cut", lambda digit, d: exact(digit, d) & ~0xFFF)  # as good as 52 bits
    coins.tables.cache_clear()
    try:
        with pytest.raises(AssertionError):
            test_over_all_words_every_digit_has_its_chance(Fraction(37, 10))
    finally:
        coins.tables.cache_clear()


@pytest.mark.parametrize("scale", SCALES[3:], ids=str)
def test_digits_make_up_the_geometric_law(scale: Fraction) -> None:
    for g in (0, 1, BASE - 1, BASE, 5 * BASE + 17, int(scale), int(4 * scale)):
        product, rest, found = Fraction(1), g, tables(scale)
        for table in found[:-1]:
            rest, d = divmod(rest, BASE)
            product *= chance_of(table.digit, d)
        product *= chance_of(found[-1].digit, rest)
        exact = (1 - power(1 / scale)) * power(g / scale)
        assert abs(product / exact - 1) < Fraction(1, 10**80)


def drawn_from(script: Iterator[int], scale: Fraction) -> int:
    (one,) = geometric(scale, 1, lambda count: np.array([next(script) for _ in range(count)], "<u8")).tolist()
    return int(one)


@pytest.mark.parametrize("d", [0, 3, 200])
def test_a_word_on_a_cut_is_settled_by_more_bits(d: int) -> None:
    scale = Fraction(900)
    low, high = tables(scale)[0].digit.below(d, 80)
    bits = int((low + high) / 2 * 2**192)  # the true F_d in 192 bits
    first, second, third = bits >> 128, bits >> 64 & (2**64 - 1), bits & (2**64 - 1)
    assert first == int(tables(scale)[0].cuts[d])
    tails = ([second - 1], d), ([second + 1], d + 1), ([second, third - 1], d), ([second, third + 1], d + 1)
    for tail, wanted in tails:
        script = iter([first, *tail, 0])  # the second digit is 0
        assert drawn_from(script, scale) == wanted
        assert next(script, None) is None, "not all bits were asked for"


def test_beyond_the_table_of_the_top_digit() -> None:
    """The last word of all: the digit lies where its distribution function says, however far."""
    scale = Fraction(1)
    for tail in (0, 2**63, 2**64 - 1):
        script = iter([2**64 - 1, tail, *([0] * 8)])
        drawn = drawn_from(script, scale)
        point = Fraction((2**64 - 1 << 64) + tail, 2**128)
        assert 1 - power(drawn / scale) <= point < 1 - power((drawn + 1) / scale) + Fraction(1, 2**127)
        assert drawn >= 44


def bulk(scale: Fraction, n: int) -> list[int]:
    return SystemCoins().many_laplace(np.zeros(n, dtype=np.int64), scale).tolist()


@pytest.mark.every(3)
@pytest.mark.parametrize("scale", [Fraction(10, 3), Fraction(1, 2)], ids=str)
def test_bulk_noise_follows_the_law_and_opendp(scale: Fraction) -> None:
    law = laplace_law(float(scale), 12)
    assert not rejected(bulk(scale, 200_000), law)
    assert not rejected(SystemCoins().laplace([0] * 20_000, scale), law), "OpenDP's sampler has the same law"
    assert rejected(bulk(scale * Fraction(11, 10), 200_000), law), "a scale one tenth off is seen"


def test_large_scales_follow_the_law_in_steps() -> None:
    scale, n = Fraction(10**6), 200_000
    edges = [-2.0, -1.0, -0.2, 0.2, 1.0, 2.0]
    cumulative = [0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x) for x in edges]
    shares = np.diff([0, *cumulative, 1]).tolist()
    places = np.searchsorted(np.array(edges) * float(scale), np.array(bulk(scale, n)), side="right").tolist()
    assert not rejected(places, dict(enumerate(shares)))  # a part in a million off the continuous law
    wider = np.searchsorted(np.array(edges) * float(scale), np.array(bulk(scale * Fraction(21, 20), n)), side="right")
    assert rejected(wider.tolist(), dict(enumerate(shares)))


def test_flips_are_exact_over_all_words() -> None:
    for chance in (Fraction(0), Fraction(1, 2**64), Fraction(3, 8), Fraction(2**64 - 1, 2**64), Fraction(1)):
        edge = int(chance * 2**64)
        for word in {0, max(edge - 1, 0), min(edge, 2**64 - 1), 2**64 - 1}:
            assert ScriptedCoins([word]).many_flips(chance, 1).tolist() == [word < edge]
    for wrong in (Fraction(-1), Fraction(2), Fraction(1, 3)):
        with pytest.raises(ValueError, match="64 bits"):
            SystemCoins().many_flips(wrong, 1)
    assert dyadic_above(Fraction(1, 3)) > Fraction(1, 3) >= dyadic_above(Fraction(1, 3)) - Fraction(1, 2**62)


def test_bulk_integers_are_uniform_and_redrawn() -> None:
    last = 2**64 - 1 - 2**64 % 3
    assert ScriptedCoins([last]).many_below(3, 1).tolist() == [last % 3]
    assert ScriptedCoins([last + 1, 7]).many_below(3, 1).tolist() == [1], "a word that would favour 0 is drawn again"
    assert not rejected(SystemCoins().many_below(5, 50_000).tolist(), dict.fromkeys(range(5), 0.2))
    for wrong in (0, -1, 2**32):
        with pytest.raises(ValueError, match="bound"):
            SystemCoins().many_below(wrong, 1)


def test_an_order_is_uniform_and_drawn_again_where_words_are_alike() -> None:
    coins = SystemCoins()
    seen = [tuple(coins.order(3).tolist()) for _ in range(6_000)]
    orders = {(a, b, 3 - a - b) for a in range(3) for b in range(3) if a != b}
    assert not rejected(seen, dict.fromkeys(orders, 1 / 6))
    alike, apart = (5 << 64) + 5, (9 << 64) + 2  # two words each, the lower first
    assert ScriptedCoins([alike, apart]).order(2).tolist() == [0, 1]


def test_the_words_asked_for_do_not_depend_on_the_values() -> None:
    asked: list[list[int]] = []
    for values in ([0] * 50, [10**6] * 50):
        coins = SeededCoins(1)
        counts: list[int] = []
        plain = coins.words

        def noted(count: int, counts: list[int] = counts, plain: object = plain) -> Words:
            counts.append(count)
            return plain(count)  # type: ignore[operator]

        coins.words = noted  # type: ignore[method-assign]
        coins.many_laplace(np.array(values, dtype=np.int64), Fraction(5000))
        asked.append(counts)
    assert asked[0] == asked[1] == [50] * 6
