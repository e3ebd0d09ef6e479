"""Shuffled and local messages: exact calibration, the stages apart, no bias, ranges that hold."""

from __future__ import annotations

import inspect
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest

from demos.lessons import channel
from dpengine.audit.exact import hockey_stick
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decimal_of, exp_decimal
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.noise import binomial, shuffle_model
from dpengine.noise.binomial import excess, excess_of_two, least_chance, least_people, lecture_chance, lecture_holds
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import max_divergence
from tests.battery import allowed_failures
from tests.planted.honesty import check_one_pile_keeps_nobody_together
from tests.planted.trusts import check_the_second_solution_s_ranges, of_values, one_value_errs

DELTA = Fraction(1, 10**6)
ONE, TENTH = Fraction(1), Fraction(1, 10)
STEP = Fraction(1, 2**binomial.BITS)


def deviation(n: int, p: Fraction) -> float:
    return sqrt(n * p * (1 - p))


# --- the exact loss


def plain(n: int, p: Fraction, x: int) -> Fraction:
    return comb(n, x) * p**x * (1 - p) ** (n - x) if 0 <= x <= n else Fraction(0)


@pytest.mark.parametrize("n", [1, 3, 8, 21])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 3), Fraction(1, 16)], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(2)], ids=str)
def test_the_loss_by_brute_force(n: int, p: Fraction, epsilon: Fraction) -> None:
    factor, places = Fraction(exp_decimal(epsilon)), range(n + 2)

    def left(one: Fraction, other: Fraction) -> Fraction:
        return max(one - factor * other, Fraction(0))

    here = [plain(n, p, x) for x in range(-1, n + 2)]  # here[x + 1] = P(x)
    one = max(sum(left(here[x + 1], here[x]) for x in places), sum(left(here[x], here[x + 1]) for x in places))
    two = sum(left(here[a] * here[b + 1], here[a + 1] * here[b]) for a in places for b in places)
    for found, exact in ((excess(n, p, epsilon), one), (excess_of_two(n, p, epsilon), two)):
        assert 0 <= found - decimal_of(exact) < Decimal("1e-35")


@pytest.mark.parametrize(
    ("epsilon", "n", "tight", "lecture"),
    [(ONE, 10**6, "5.84", "26.4"), (TENTH, 10**6, "37.5", "254.5")],
    ids=["one", "tenth"],
)
def test_the_least_coin_against_the_lecture(epsilon: Fraction, n: int, tight: str, lecture: str) -> None:
    p = least_chance(n, epsilon, DELTA)
    assert p is not None
    assert f"{deviation(n, p):.3g}" == tight
    told = lecture_chance(n, epsilon, DELTA)
    assert f"{deviation(n, told):.{len(lecture) - 1}g}" == lecture and lecture_holds(n, epsilon, DELTA)
    assert excess(n, p, epsilon) <= decimal_of(DELTA) < excess(n, p - STEP, epsilon), "just below it fails"


def test_small_tables_are_served_where_the_lecture_cannot() -> None:
    assert round(float(lecture_chance(10**4, TENTH, DELTA)), 2) == 6.96
    assert least_chance(10**4, TENTH, DELTA) is not None and not lecture_holds(10**4, TENTH, DELTA)
    assert (least_people(ONE, DELTA), least_people(TENTH, DELTA)) == (80, 5279)
    assert least_chance(79, ONE, DELTA) is None and least_chance(80, ONE, DELTA) is not None


@pytest.mark.parametrize(("n", "left"), [(697, 0.557), (711, 5e-4)])
def test_a_coin_below_one_may_still_hide_nothing(n: int, left: float) -> None:
    p = lecture_chance(n, ONE, DELTA)
    assert p < 1 and float(excess(n, p, ONE)) == pytest.approx(left, rel=0.1)
    assert not lecture_holds(n, ONE, DELTA)


def test_joint_calibration_of_two_sums() -> None:
    n = 10**5
    joint, halved = least_chance(n, ONE, DELTA, 2), least_chance(n, ONE / 2, DELTA / 2)
    assert joint is not None and halved is not None
    assert (f"{deviation(n, joint):.2f}", f"{deviation(n, halved):.2f}") == ("6.53", "9.83")
    assert excess_of_two(n, joint, ONE) <= decimal_of(DELTA) < excess_of_two(n, joint - STEP, ONE)
    assert excess_of_two(n, halved, ONE) < decimal_of(DELTA), "halving is safe"
    beta = Fraction(1, 20)
    assert (binomial.rare(n, joint, beta) - 1, binomial.rare(n, halved, beta) - 1) == (54, 113)


def test_tails_are_those_of_the_binomial() -> None:
    n, p, beta = 30, Fraction(1, 4), Fraction(1, 10)
    low, high = binomial.reach(n, p, beta)
    below, over = (sum(plain(n, p, x) for x in places) for places in (range(low), range(high + 1, n + 1)))
    assert below <= beta / 2 < below + plain(n, p, low)
    assert over <= beta / 2 < over + plain(n, p, high)
    u = binomial.rare(n, p, beta)
    assert sum(plain(n, p, x) for x in range(u, n + 1)) <= beta < sum(plain(n, p, x) for x in range(u - 1, n + 1))


# --- the stages


def test_the_analyser_takes_messages_and_nothing_else() -> None:
    assert list(inspect.signature(shuffle_model.count_ones).parameters) == ["messages"]
    assert "people" not in inspect.signature(shuffle_model.shuffled).parameters


def test_messages_are_the_bit_and_a_coin() -> None:
    truth = shuffle_model.holders(3, 10)
    sent = shuffle_model.randomise(truth, Fraction(1, 2), SystemCoins())
    assert sent.shape == (10, 2) and (sent[:, 0] == truth).all()
    turned = shuffle_model.randomise(truth, Fraction(1, 2), SystemCoins(), inverted=True)
    assert (turned[:, 0] == ~truth).all()


def test_after_the_shuffle_nobody_can_be_found() -> None:
    """Where the one true bit of four people stands among the eight messages: anywhere, alike."""
    coins, truth = SystemCoins(), shuffle_model.holders(1, 4)
    draws = 4_000
    places = np.zeros(8)
    for _ in range(draws):
        sent = shuffle_model.randomise(truth, Fraction(0), coins)
        places += shuffle_model.shuffled(sent, coins)
    spread = 6 * sqrt(draws / 8 * 7 / 8)  # six deviations: 2e-9 each
    assert (abs(places - draws / 8) < spread).all()
    unshuffled = shuffle_model.randomise(truth, Fraction(0), coins).reshape(-1) * draws
    assert (abs(unshuffled - draws / 8) > spread).any(), "without the shuffle it would be seen"


def test_one_tagged_pile_shows_what_separate_shuffles_show() -> None:
    """Two people, two protocols, every coin listed: the pile's contents and the separate sums determine each other."""
    bits = [np.array([True, False]), np.array([False, False])]
    law: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for tossed in product((False, True), repeat=4):
        sent = [
            np.stack([truth, np.array(tossed[at : at + 2])], axis=1) for truth, at in zip(bits, (0, 2), strict=True)
        ]
        pile = shuffle_model.shuffled(channel.tagged(sent), SystemCoins())
        apart = tuple(shuffle_model.count_ones(shuffle_model.shuffled(one, SystemCoins())) for one in sent)
        assert channel.ones_of(pile, 2) == apart and len(pile) == 8
        law.setdefault(apart, set()).add(tuple(sorted(pile.tolist())))
    assert all(len(contents) == 1 for contents in law.values()), "the pile's contents follow from the sums"
    assert len({next(iter(contents)) for contents in law.values()}) == len(law), "and the sums from its contents"


def test_one_pile_for_many_protocols_keeps_nobody_together() -> None:
    check_one_pile_keeps_nobody_together(shuffle_model.shuffled)


def test_what_an_observer_learns_from_each_channel() -> None:
    seen = channel.play()
    assert channel.counted_apart(seen.apart) == channel.counted_tagged(seen.tagged), "the same figures"
    assert len(seen.tagged) == 72 and len(seen.bundles) == 12
    assert list(inspect.signature(channel.read_off).parameters) == ["bundles"]
    certain = [channel.read_off(channel.play().bundles) for _ in range(60)]
    assert sum(certain) > 60 * 4, "two in three of 720 people: fewer than a third has chance below 10⁻⁵⁰"
    for bundle, way in (
        (((1, 1), (0, 0), (0, 1)), 0),
        (((0, 1), (0, 0), (0, 0)), 0),
        (((0, 1), (0, 1), (0, 0)), None),
    ):
        assert channel._certain(bundle) == way


# --- the questions


def facts(people: int, relation: str = "replace", unit: Unit | None = None) -> Facts:
    schema = Schema({"c": Category(["a", "b", "d", "e"], unknown="e", missing="e")})
    return Facts("t", schema, unit or Unit.rows(), relation, people)  # type: ignore[arg-type]


def build(key: str, people: int, **parameters: Any) -> Any:
    return catalogue[key].build(facts(people), {"epsilon": "1"} | parameters)


SOME = [["c", "in", ["a"]]]
COUNTS = [
    ("local_count", {"where": SOME}),
    ("shuffle_count", {"where": SOME, "delta": "1e-6"}),
    ("shuffle_count", {"where": SOME, "delta": "1e-6", "calibration": "lecture"}),
]


@pytest.mark.parametrize(("key", "parameters"), COUNTS, ids=["local", "shuffle", "lecture"])
def test_counts_have_no_bias_and_ranges_that_hold(key: str, parameters: dict[str, Any]) -> None:
    people, true, draws, coins = 2_000, 700, 400, SystemCoins()
    query = build(key, people, **parameters)
    told = [query.release(true, coins) for _ in range(draws)]
    missed = sum(not one.interval[0] <= true <= one.interval[1] for one in told)
    assert missed <= allowed_failures(draws, 0.05)
    off = query.promise().alpha
    assert abs(sum(one.value for one in told) / draws - true) < 6 * float(off) / sqrt(draws)
    if key == "shuffle_count":  # a wrong centre is seen: the power of the check above
        assert abs(sum(one.value for one in told) / draws + float(query.chance * people) - true) > float(off) / 2


@pytest.mark.every(9)
@pytest.mark.parametrize("solution", ["first", "second"])
@pytest.mark.parametrize("calibration", ["joint", "halved"])
def test_bars_and_what_a_zero_may_hide(solution: str, calibration: str) -> None:
    people, draws, coins = 2_000, 200, SystemCoins()
    query = build("shuffle_histogram", people, column="c", delta="1e-6", solution=solution, calibration=calibration)
    value = (1_500, 480, 20, 0)
    told = [query.release(value, coins) for _ in range(draws)]
    missed = 0
    for one in told:
        ranges = [one.interval[label] for label in "abde"]
        missed += any(not low <= true <= high for (low, high), true in zip(ranges, value, strict=True))
    assert missed <= allowed_failures(draws, 0.05)
    if solution == "second":
        assert all(one.value["e"] == 0 for one in told), "what nobody holds is told as 0 with certainty"
        zeros = [one for one in told if one.value["d"] == 0]
        assert zeros and all(one.interval["d"] == (0, query.rare) for one in zeros)
    else:
        assert any(one.value["e"] != 0 for one in told)


def wide(people: int, values: int, **parameters: Any) -> Any:
    labels = [f"v{number}" for number in range(values)]
    about = replace(facts(people), schema=Schema({"c": Category(labels, unknown=labels[0], missing=labels[0])}))
    given = {"epsilon": "1", "delta": "1e-6", "column": "c", "solution": "second"}
    return catalogue["shuffle_histogram"].build(about, given | parameters)


@pytest.mark.long
def test_the_second_solution_s_promise_does_not_grow_beyond_the_people() -> None:
    """500 people, ε = 1, δ = 10⁻⁶: 72 whether there are 500 values or 390,000; the first solution's grows."""
    told = [wide(500, values).promise().alpha for values in (500, 1_000, 10_000, 390_000)]
    assert told == [72, 72, 72, 72]
    assert wide(500, 10).promise().alpha == 64, "fewer values than people: only so many can err"
    assert wide(500, 10_000, solution="first").promise().alpha > wide(500, 500, solution="first").promise().alpha


def test_the_second_solution_s_ranges_by_brute_force() -> None:
    """For every way in which nine people can hold twelve values, and three: exactly at most β."""
    check_the_second_solution_s_ranges(of_values)
    with pytest.raises(AssertionError):
        check_the_second_solution_s_ranges(one_value_errs)


@pytest.mark.long
def test_ranges_hold_where_there_are_more_values_than_people() -> None:
    """Everybody holds a value of their own: as many as can err."""
    people, values, draws, coins = 200, 300, 25, SystemCoins()
    query = wide(people, values)
    held = (1,) * people + (0,) * (values - people)
    missed = 0
    for _ in range(draws):
        one = query.release(held, coins)
        ranges = [one.interval[label] for label in query.labels()]
        missed += any(not low <= true <= high for (low, high), true in zip(ranges, held, strict=True))
        assert all(one.value[label] == 0 for label in query.labels()[people:])
    assert missed <= allowed_failures(draws, 0.05)


def test_the_reversed_sign_of_the_source_would_be_seen() -> None:
    query = build("shuffle_histogram", 2_000, column="c", delta="1e-6", solution="second")
    value, interval = query._bar(2_000 - 1_500 + int(2_000 * query.chance))
    assert abs(value - 1_500) < 1 and interval[0] <= 1_500 <= interval[1]


# --- the auditor's own arithmetic


@pytest.mark.every(3)
@pytest.mark.parametrize("people", [80, 120, 200])
def test_the_auditor_finds_the_claimed_delta(people: int) -> None:
    """Over ordered pairs of neighbouring counts, by the law of the shuffled sum: δ is met, and no more is left over
    than one step of p makes."""
    query = build("shuffle_count", people, where=SOME, delta="1e-6")
    told, slack = excess(people, query.chance, ONE), Decimal("1e-35")
    assert told <= decimal_of(DELTA)
    for one in (0, people // 2, people - 1):
        spans = [hockey_stick(query.law(one + way), query.law(one + 1 - way), ONE) for way in (0, 1)]
        assert max(span.low for span in spans) - slack <= told <= max(span.high for span in spans) + slack
    assert told > decimal_of(DELTA) * Decimal("0.999"), "tight"


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_local_messages_lose_what_is_claimed_and_no_less(epsilon: str) -> None:
    query = build("local_count", 40, where=SOME, epsilon=epsilon)
    claimed, slack = decimal_of(Fraction(epsilon)), Decimal("1e-15")  # p is a multiple of 2^-62
    worst = max(max_divergence(query.law(one), query.law(other)) for one, other in ((0, 1), (1, 0), (39, 40), (40, 39)))
    assert claimed - slack < worst <= claimed


LECTURE = {"where": SOME, "delta": "1e-6", "calibration": "lecture"}


@pytest.mark.long
def test_the_least_spend_for_a_wish() -> None:
    query = build("shuffle_count", 5_000, where=SOME, delta="1e-6")
    wish = query.at(Fraction(1, 2)).promise().amount
    found = least_epsilon(query, wish)
    assert found is not None and query.at(found).promise().amount <= wish
    assert query.at(found * Fraction(9, 10)).promise().amount > wish


REFUSED = [
    ("shuffle_count", 50, {"where": SOME, "delta": "1e-6"}, "shuffle.few"),
    ("shuffle_count", 697, LECTURE, "shuffle.lecture"),
    ("shuffle_count", 711, LECTURE, "shuffle.lecture"),
    ("shuffle_count", 10**6, LECTURE | {"epsilon": "2"}, "shuffle.lecture"),
    ("shuffle_count", 2_000, {"where": SOME, "delta": "1"}, "delta.row"),
    ("shuffle_count", 2_000, {"where": SOME, "delta": "0"}, "shuffle.delta"),
    ("shuffle_count", 2_000, {"where": [], "delta": "1e-6"}, "count.public"),
    ("shuffle_count", 10**8, {"where": SOME, "delta": "1e-6"}, "shuffle.large"),
    ("shuffle_histogram", 50, {"column": "c", "delta": "1e-6"}, "shuffle.few"),
    ("shuffle_histogram", 2_000, {"column": "c", "delta": "1e-6", "solution": "third"}, "shuffle.solution"),
    ("shuffle_histogram", 2_000, {"column": "c", "delta": "1e-6", "calibration": "x"}, "shuffle.calibration"),
    ("local_count", 2_000, {"where": []}, "count.public"),
]


@pytest.mark.parametrize(("key", "people", "parameters", "code"), REFUSED, ids=lambda one: str(one)[:40])
def test_what_cannot_be_done_is_one_sentence(key: str, people: int, parameters: dict[str, Any], code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        build(key, people, **parameters)
    assert refused.value.code == code and str(refused.value).endswith(".")
    if code == "shuffle.few":
        told = str(binomial.least_people(ONE, DELTA, 1 if key == "shuffle_count" else 2))
        assert told in str(refused.value), "the least number of people is said"


@pytest.mark.parametrize("key", ["local_count", "shuffle_count", "shuffle_histogram", "publish_category"])
def test_only_where_the_number_of_people_is_public(key: str) -> None:
    parameters = {"epsilon": "1", "delta": "1e-6", "where": SOME, "column": "c", "columns": ["c"]}
    known = {one.name for one in catalogue[key].card.parameters}
    given = {name: value for name, value in parameters.items() if name in known}
    for where in (facts(2_000, "add_remove"), facts(2_000, unit=Unit.column("who", at_most=2))):
        with pytest.raises(AllowanceError) as refused:
            catalogue[key].build(where, given)
        assert refused.value.code in ("query.relation", "query.several")


def test_a_sum_of_exactly_n_is_a_zero() -> None:
    """Nobody holds the value and no coin came up: n ones, told as 0 with its range; one fewer is a count."""
    query = build("shuffle_histogram", 2_000, column="c", delta="1e-6", solution="second")
    assert query._bar(2_000) == (0.0, (0, query.rare))
    low, high = query.reach()
    assert query._bar(1_999) == (pytest.approx(1 + 2_000 * float(query.chance)), (1 + low, 1 + high))
