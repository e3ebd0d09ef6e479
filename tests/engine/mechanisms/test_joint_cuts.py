"""Several percentiles in one draw: its costs, its sums, its law, what it promises, and when it is taken."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from battery import FALSE_ALARM, allowed_failures

from dpengine.accountant.filter import Rule, Totals
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.choices import quantile
from dpengine.mechanisms.choices.quantile import Quantile
from dpengine.noise import joint_choice
from dpengine.noise.coins import SystemCoins
from dpengine.planning.opening import cheapest
from dpengine.statistics.need import Spread

RNG = random.Random()
COINS = SystemCoins()
NO_DELTA = Rule.make(Fraction(1), Fraction(0))
USUAL = Rule.make(Fraction(1), Fraction(1, 10**6))
FIVE = ["0.1", "0.25", "0.5", "0.75", "0.9"]


def ask(people: int = 1_000, relation: str = "replace", epsilon: str = "1", grid: int = 121, **given: Any) -> Quantile:
    schema = Schema({"x": Number(0, grid - 1, missing=0), "c": Category(["a", "b"], unknown="a", missing="a")})
    facts = Facts("t", schema, Unit.rows(), relation, people)  # type: ignore[arg-type]
    made = catalogue["quantile"].build(facts, {"column": "x", "epsilon": epsilon} | given)
    assert isinstance(made, Quantile)
    return made


Table = tuple[joint_choice.Ordered, list[tuple[int, int]], int]


def table(points: int, most_rows: int = 6) -> Table:
    """Points of a small grid, some with rows: as blocks, and each with the places in its rows."""
    held = sorted(RNG.sample(range(points), RNG.randint(0, min(points, 4))))
    rows = {code: RNG.randint(1, most_rows) for code in held}
    edges = [-1, *held, points]
    runs = [after - before - 1 for before, after in pairwise(edges)]
    spare = [0] * RNG.choice([0, 2])  # blocks that are not there
    blocks = (runs + spare, [1] * len(held) + spare, [*rows.values(), *spare])
    ordered = joint_choice.Ordered(*(np.array(one, dtype=np.int64) for one in blocks))
    places, below = [], 0
    for code in range(points):
        places.append((below, below + rows.get(code, 0)))
        below += rows.get(code, 0)
    return ordered, places, below


def wishes(cuts: int, total: int) -> list[int]:
    return sorted(RNG.randint(0, total) for _ in range(cuts))


def test_a_cost_is_the_least_over_all_ways_to_share_rows_out() -> None:
    """Against all places of the cuts inside their rows, whole ones: with whole wishes the least is at one of them."""
    for _ in range(60):
        _, places, total = table(5, most_rows=4)
        wished = wishes(3, total)
        for cuts, cost in joint_choice.listed(places, wished).items():
            stands = [range(places[point][0], places[point][1] + 1) for point in cuts]
            ends = [0, *wished, total]
            least = min(
                sum(
                    abs((xs[j + 1] - xs[j]) - (ends[j + 1] - ends[j]))
                    for xs in [(0, *place, total)]
                    for j in range(len(ends) - 1)
                )
                for place in product(*stands)
            )
            deep = min(
                min(wish - places[point][0], places[point][1] - wish) for point, wish in zip(cuts, wished, strict=True)
            )
            assert cost == (least if deep < 0 else -2 * deep)
            off = [
                max(0, places[point][0] - wish, wish - places[point][1])
                for point, wish in zip(cuts, wished, strict=True)
            ]
            assert 2 * max(off) <= max(cost, 0), "a rank is off by half of the cost at most"


def test_floats_sum_up_what_can_be_listed() -> None:
    for _ in range(60):
        ordered, places, total = table(6)
        wished, rate = wishes(RNG.randint(1, 4), total), Fraction(RNG.randint(1, 9), RNG.choice([2, 5, 20]))
        listed = joint_choice.listed(places, wished)
        sum_of_all = math.fsum(math.exp(-float(rate) * max(cost, 0)) for cost in listed.values())
        layout = joint_choice._Layout(ordered, wished, rate)
        assert abs(layout.start - math.log(sum_of_all)) <= layout._room(total)


def test_what_is_proposed_is_nearly_what_is_wished_and_never_too_rare() -> None:
    """The chance to keep a proposal is at most 1, as exactness needs, and hardly less, so that little is drawn twice;
    also where there are many rows, values and points."""
    codes = np.unique(np.random.default_rng().integers(0, 10**6, 2_000))
    counts = np.random.default_rng().integers(1, 40, len(codes))
    edges = np.concatenate(([-1], codes, [10**6]))
    ordered = joint_choice.Ordered(np.diff(edges) - 1, np.ones(len(codes), dtype=np.int64), counts)
    total = int(counts.sum())
    for rate in (Fraction(1, 4), Fraction(1, 4_000)):
        layout = joint_choice._Layout(ordered, [total // 10, total // 4, total // 2, total // 2, total], rate)
        for _ in range(20):
            proposed = layout.propose(COINS)
            cost, ways = layout.weigh(proposed.blocks)
            kept = math.log(ways) - float(rate) * cost + math.log(proposed.of) - math.log(proposed.weight)
            kept -= math.log(layout.most)
            assert -1e-3 <= kept <= 1e-9  # the last: of this line's own floats


def drawn(ordered: joint_choice.Ordered, wished: list[int], rate: Fraction, many: int) -> list[tuple[int, ...]]:
    starts = np.concatenate(([0], np.cumsum(ordered.sizes)))
    return [
        tuple(int(starts[block]) + place for block, place in joint_choice.draw(ordered, wished, rate, COINS))
        for _ in range(many)
    ]


def follows(draws: list[tuple[int, ...]], weights: dict[tuple[int, ...], float]) -> bool:
    """Draws against chances, by a Chernoff bound on every sequence; false alarm 1e-6."""
    total, seen = math.fsum(weights.values()), Counter(draws)
    assert set(seen) <= set(weights)
    for cuts, weight in weights.items():
        share, chance = seen[cuts] / len(draws), weight / total
        apart = sum(a * math.log(a / b) for a, b in ((share, chance), (1 - share, 1 - chance)) if a > 0)
        if 2 * math.exp(-len(draws) * apart) * len(weights) < FALSE_ALARM:
            return False
    return True


def test_draws_follow_the_law_and_a_wrong_law_is_told_apart() -> None:
    """Runs of several points, several cuts in one run, and cuts that stay on a level. Equal chances, the nearest of the
    wrong laws, would pass with chance 1e-6."""
    ordered = joint_choice.Ordered(*(np.array(one, dtype=np.int64) for one in ([2, 0, 3], [1, 1], [3, 5])))
    places = [(0, 0), (0, 0), (0, 3), (3, 8), (8, 8), (8, 8), (8, 8)]
    wished, rate = [2, 4, 5], Fraction(1, 5)
    weights = {cuts: math.exp(-float(rate) * cost) for cuts, cost in joint_choice.listed(places, wished).items()}
    draws = drawn(ordered, wished, rate, 700)
    assert follows(draws, weights)
    assert not follows(draws, {cuts: weight**3 for cuts, weight in weights.items()})
    assert not follows(draws, dict.fromkeys(weights, 1.0))


@pytest.mark.every(3)
@pytest.mark.parametrize("rate", [Fraction(1, 5), Fraction(1, 50), Fraction(3)])  # the first tells a wrong law apart
def test_the_right_cuts_come_as_often_as_their_depth_says(rate: Fraction) -> None:
    """Places inside the rows of two values, at depths 3 and 4 of them: −6. Without the depth the law is another,
    which would pass with chance 1e-11."""
    ordered = joint_choice.Ordered(*(np.array(one, dtype=np.int64) for one in ([2, 0, 1], [1, 1], [9, 8])))
    places, wished = [(0, 0), (0, 0), (0, 9), (9, 17), (17, 17)], [3, 5, 13]
    costs = joint_choice.listed(places, wished)
    assert min(costs, key=lambda cuts: costs[cuts]) == (2, 2, 3) and costs[2, 2, 3] == -6
    weights = {cuts: math.exp(-float(rate) * (cost + 6)) for cuts, cost in costs.items()}
    draws = drawn(ordered, wished, rate, 500)
    assert follows(draws, weights)
    if rate == Fraction(1, 5):
        assert not follows(draws, {cuts: math.exp(-float(rate) * max(cost, 0)) for cuts, cost in costs.items()})


def test_a_very_deep_place_is_always_found() -> None:
    counts = np.array([10**7], dtype=np.int64)
    ordered = joint_choice.Ordered(np.array([50, 49]), np.array([1]), counts)
    assert all(joint_choice.draw(ordered, [5 * 10**6], Fraction(1), COINS) == [(1, 0)] for _ in range(5))


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("noise", "ranged"), [("joint", False), ("joint", True), ("tree", True), ("gaussian_root", True)]
)
def test_several_keep_their_promise_at_once_and_their_ranges_hold(relation: str, noise: str, ranged: bool) -> None:
    """β = 0.2, 150 draws of three percentiles on heaped numbers of 40 to 400 people; false alarm 1e-6 by the exact
    binomial tail."""
    people, draws, shares = RNG.choice([40, 400]), 150, ["0.2", "0.5", "0.95"]
    query = ask(people, relation, "0.8", grid=30, share=shares, with_range=ranged, noise=noise, beta="0.2")
    held = np.random.default_rng().integers(0, 30, people) // 3 * 3
    value = Spread(*(one.astype(np.int64) for one in np.unique(held, return_counts=True)))
    below = [int((held < code).sum()) for code in range(30)]
    upto = [int((held <= code).sum()) for code in range(30)]
    far = missed = 0
    for _ in range(draws):
        told = query.release(value, COINS)
        off = missing = False
        for share, code in zip(shares, told.value.values(), strict=True):
            place = Fraction(share) * people
            off |= max(below[code] - place, place - upto[code]) >= query.promise().rows + 1
            if ranged:
                low, high = list(told.interval.values())[shares.index(share)]
                missing |= not any(below[c] <= place <= upto[c] for c in range(low, high + 1))
        far, missed = far + off, missed + missing
    assert far <= allowed_failures(draws, 0.2) and missed <= allowed_failures(draws, 0.2)


class Capped(Quantile):
    """The lecture's score: all points whose rows hold the place are equal."""

    def blocks(self, value: Spread, share: Fraction, side: int = 0) -> quantile.Blocks:
        deep = super().blocks(value, share, side)
        return quantile.Blocks(deep.firsts, deep.sizes, np.maximum(deep.gaps, 0))


class Centred(Quantile):
    """A score by the distance of the place to the middle of a point's rows, as sensitive."""

    def blocks(self, value: Spread, share: Fraction, side: int = 0) -> quantile.Blocks:
        deep = super().blocks(value, share, side)
        rows = dict(zip(value.codes.tolist(), value.counts.tolist(), strict=True))
        halves = [self.points(share) * rows.get(int(first), 0) // 2 for first in deep.firsts]
        return quantile.Blocks(deep.firsts, deep.sizes, deep.gaps + np.array(halves))


@pytest.mark.every(3)
@pytest.mark.parametrize("relation", RELATIONS)
def test_depth_makes_no_wrong_answer_more_likely(relation: str) -> None:
    """On every table, by exact laws; a score by the middle of a point's rows does not keep this."""
    less = worse = 0
    for _ in range(60):
        counts = np.array([RNG.choice([0, 1, 2, 9]) for _ in range(6)])
        held = np.flatnonzero(counts)
        value, share = Spread(held, counts[held]), RNG.choice(["0.5", "0.9", "0.25"])
        if not len(held):
            continue
        query = ask(int(counts.sum()), relation, "1", grid=6, share=share, with_range=False)
        deep, capped, centred = (
            kind(**{each.name: getattr(query, each.name) for each in fields(query)}).law(value)
            for kind in (Quantile, Capped, Centred)
        )
        assert deep and capped and centred
        place, below = Fraction(share) * int(counts.sum()), np.cumsum(counts) - counts
        for code in range(6):
            if not below[code] <= place <= below[code] + counts[code]:
                before, now = capped.parts[0].chances[code], deep.parts[0].chances[code]
                assert now <= before * (1 + Decimal("1e-20"))
                less += now < before * Decimal("0.99")
                worse += centred.parts[0].chances[code] > before * Decimal("1.01")
    assert less and worse


def test_it_promises_more_than_one_by_one_at_the_same_epsilon() -> None:
    for relation in RELATIONS:
        for given in ({"share": FIVE, "with_range": False}, {"share": FIVE}, {"share": "0.9"}):
            usual = ask(relation=relation, **given)
            joint = usual.with_noise("joint")
            assert joint.noise == "joint" and joint.promise().rows < usual.promise().rows * Fraction(3, 4)
            if usual.with_range:
                assert all(joint.shift(share) < usual.shift(share) * Fraction(9, 10) for share in usual.shares)
        alone = ask(relation=relation, share="0.5", with_range=False)
        assert alone.with_noise("permute_and_flip").promise().rows < alone.promise().rows
        assert alone.with_noise("joint") == alone, "one point alone needs no joint draw"


@pytest.mark.long
def test_ranges_from_a_tree_hold_about_as_often_as_is_promised() -> None:
    """Its noise is the same on every table, so what is promised is not far from what happens: of two shares, ranges
    promised for 80 times in 100 fail at least 6 times in 1,000. 1,000 draws; were the true chance 0.03 or more, this
    would fail with chance below 1e-6 (the chance is about 0.036)."""
    query = ask(1_000, epsilon="1", grid=60, share=["0.25", "0.75"], noise="tree", beta="0.2")
    value = Spread(np.arange(60), np.array([17] * 40 + [16] * 20))
    upto = np.cumsum(value.counts)
    true = [int(np.searchsorted(upto, place)) for place in (250, 750)]
    missed = 0
    for _ in range(1_000):
        ends = query.release(value, COINS).interval.values()
        missed += any(not low <= code <= high for code, (low, high) in zip(true, ends, strict=True))
    assert 6 <= missed <= allowed_failures(1_000, 0.2)


def test_the_way_is_chosen_from_prices_and_promises_alone() -> None:
    for given, way in (
        ({"share": FIVE, "with_range": False}, "joint"),
        ({"share": FIVE}, "tree"),
        ({"share": FIVE, "grid": 5_000}, "joint"),
        ({"share": "0.5"}, "joint"),
        ({"share": "0.5", "with_range": False}, "permute_and_flip"),
        ({"share": "0.5", "by": "c"}, "joint"),
        ({"share": FIVE, "by": "c"}, "tree"),
        ({"share": FIVE, "by": "c", "with_range": False}, "joint"),
    ):
        assert cheapest(ask(**given), NO_DELTA, Totals.NOTHING).noise == way
    # Where δ pays, bell-shaped noise for all ranges at once promises three times as much for the same share.
    five = ask(share=FIVE, epsilon="0.1")
    found = cheapest(five, USUAL, Totals.NOTHING)
    assert found.noise == "gaussian_root" and found.promise().amount < five.promise().amount * Fraction(35, 100)
    # Many small draws cost less Rényi loss than one large one: where that sum decides, they may promise a little more.
    usual = ask(share=FIVE, with_range=False, epsilon="0.02")
    found = cheapest(usual, USUAL, Totals.NOTHING)
    assert found.noise == "joint" and found.promise().amount < usual.promise().amount * Fraction(11, 10)


@pytest.mark.long
@pytest.mark.parametrize("people", [1_000, 30_000])
def test_what_is_expected_to_come_nearer_does(people: int) -> None:
    """At the price of ε = 0.1 where δ pays, on ages of a bell, 150 draws of each: the joint draw is no farther off, but
    for six standard errors, so a false alarm is below 1e-6."""
    usual = ask(people, epsilon="0.1", share=FIVE, with_range=False)
    joint = cheapest(usual, USUAL, Totals.NOTHING)
    assert joint.noise == "joint" and joint.expected() < usual.expected()
    ages = np.clip(np.rint(np.random.default_rng().normal(45, 15, people)), 0, 120).astype(np.int64)
    value = Spread(*(one.astype(np.int64) for one in np.unique(ages, return_counts=True)))
    below, upto = (np.array([(ages < code).sum() for code in range(121)]), np.bincount(ages, minlength=121).cumsum())

    def off(query: Quantile) -> list[float]:
        told = [list(query.release(value, COINS).value.values()) for _ in range(150)]
        places = np.array([float(Fraction(share)) * people for share in FIVE])
        return [float(np.maximum(0, np.maximum(below[one] - places, places - upto[one])).mean()) for one in told]

    apart, together = off(usual), off(joint)
    room = 6 * math.sqrt((np.var(apart) + np.var(together)) / 150)
    assert np.mean(together) < np.mean(apart) + room


def test_too_much_work_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"0.{place}" for place in range(10, 29)]
    assert ask(10**7, grid=10**6, share=many, with_range=False).ways == ()
    assert ask(10**7, grid=10**6, share="0.5", with_range=False).ways == ()
    monkeypatch.setattr(quantile, "MOST_FLIPPED", 10)
    assert ask(share="0.5", with_range=False).with_noise("permute_and_flip").noise == ""
