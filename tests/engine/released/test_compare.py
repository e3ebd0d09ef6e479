"""Figures of paid answers beside each other: one claim for all that could have been picked, in exact arithmetic."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

import dpengine as dp
from dpengine.core.amounts import BETA
from dpengine.noise.laws import Laplace, Normal, chance
from dpengine.released import compare
from dpengine.released.compare import Stated, change, difference, ratio, share_of, total
from dpengine.workspace import Workspace
from tests.helpers_compare import check_a_comparison_holds_whatever_was_picked, count_at

# The claim


def test_the_shares_of_all_answers_add_up_to_beta() -> None:
    far = 1_000
    parts = [share_of(BETA, place) for place in range(1, far + 1)]
    assert sum(parts) == BETA * (1 - Fraction(10, far + 10)) < BETA
    assert [BETA / part for part in (parts[0], parts[9])] == [11, 38]
    assert parts == sorted(parts, reverse=True)


@pytest.mark.parametrize("noise", ["", "gaussian"])
@pytest.mark.parametrize("place", [1, 10, 400])
def test_a_range_of_the_claim_fails_with_its_own_share_at_most(noise: str, place: int) -> None:
    """By the exact law of the noise, not by draws."""
    query = count_at("0.5").with_noise(noise)
    told = query.finish((1_000,))
    [one] = compare.figures(query, told.value, told.interval, (1_000,), place, "r", "people")
    reach = int(one.stated.high - one.stated.value)
    law = Normal(0, query.variance) if noise else Laplace(0, query.scale)
    inside = sum((chance(law, z) for z in range(-reach, reach + 1)), Decimal(0))
    least = 1 - Decimal(share_of(BETA, place).numerator) / Decimal(share_of(BETA, place).denominator)
    assert inside >= least
    assert inside - chance(law, reach) * 2 < least + Decimal("0.02") * (1 - least) or noise  # and by hardly more
    assert one.stated.high > told.interval[1]  # wider than the answer's own


@pytest.mark.long
def test_a_comparison_holds_whatever_was_picked() -> None:
    check_a_comparison_holds_whatever_was_picked(compare.share_of)


@pytest.mark.long
def test_the_check_sees_ranges_that_hold_one_by_one() -> None:
    with pytest.raises(AssertionError, match="too often"):
        check_a_comparison_holds_whatever_was_picked(lambda beta, place: beta)


# The arithmetic


def test_interval_arithmetic_holds_every_pair_of_true_figures() -> None:
    first, second = Stated(Fraction(10), Fraction(7), Fraction(12)), Stated(Fraction(4), Fraction(2), Fraction(5))
    apart, times, percent = difference(first, second), ratio(first, second), change(first, second)
    assert times is not None and percent is not None
    both = total([first, second])
    grid = [[one.low + (one.high - one.low) * step / 10 for step in range(11)] for one in (first, second)]
    for a, b in product(*grid):
        assert apart.low <= a - b <= apart.high and both.low <= a + b <= both.high
        assert times.low <= a / b <= times.high and percent.low <= 100 * (a - b) / b <= percent.high
    assert (apart.low, apart.high, times.low, times.high) == (2, 10, Fraction(7, 5), 6)
    assert (both.value, percent.value) == (14, 150)


def test_nothing_is_divided_by_what_may_be_nothing() -> None:
    one, near = Stated(Fraction(5), Fraction(4), Fraction(6)), Stated(Fraction(1), Fraction(0), Fraction(2))
    below = Stated(Fraction(-2), Fraction(-3), Fraction(-1))
    assert ratio(one, near) is None and change(one, near) is None
    assert ratio(one, below) == Stated(Fraction(-5, 2), Fraction(-6), Fraction(-4, 3)) and change(one, below) is None


# Of a table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Table]:
    folder = tmp_path_factory.mktemp("compared")
    rows = pd.DataFrame({"wait": [10, 20, 30, 40] * 500, "clinic": ["eyes", "heart", "eyes", "skin"] * 500})
    schema = dp.Schema({"wait": dp.Number(0, 60), "clinic": dp.Category(["eyes", "heart", "skin"])})
    workspace = Workspace(folder)
    yield workspace.add_table(
        "waits", rows, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget(epsilon="50", delta="1e-6")
    )
    workspace.close()
    shutil.rmtree(Path(folder), ignore_errors=True)


def figures(table: dp.Table, key: str, **parameters: object) -> list[compare.Comparable]:
    table.ask(table.query(key, **parameters))
    return table.figures(table.history(1)[0])


def drawn(table: dp.Table, raw: tuple[int, ...], key: str, **parameters: object) -> list[compare.Comparable]:
    """The figures of an answer that would have drawn this."""
    query = table.query(key, **parameters)
    told = query.finish(raw)
    return compare.figures(query, told.value, told.interval, raw, 1, "r", table.name)


def test_bars_of_one_answer_are_compared(table: dp.Table) -> None:
    eyes, heart, skin, *_ = drawn(table, (1_000, 500, 501, 0, 0), "histogram", column="clinic", epsilon="2")
    told = compare.compare([eyes, heart])
    [pair] = told.pairs
    assert pair.different and told.largest is eyes and not told.alone and told.beta == BETA
    assert (pair.difference.value, pair.ratio and pair.ratio.value, pair.change and pair.change.value) == (500, 2, 100)
    assert told.total is not None and told.total.value == 1_500
    reach = eyes.stated.high - 1_000
    assert (pair.difference.low, pair.difference.high) == (500 - 2 * reach, 500 + 2 * reach) and reach > 0
    again = compare.compare([heart, skin])
    assert not again.pairs[0].different and again.largest is None
    parts = [one.part for one in figures(table, "histogram", column="clinic", epsilon="2")]
    assert parts[:3] == ["eyes", "heart", "skin"]


def test_a_later_answer_changes_no_range(table: dp.Table) -> None:
    first = figures(table, "count", where=[["clinic", "in", ["eyes"]]], epsilon="1")
    entry = table.history(1)[0]
    second = figures(table, "count", where=[["clinic", "in", ["skin"]]], epsilon="1")
    assert table.figures(entry) == first
    assert second[0].stated.high - second[0].stated.low >= first[0].stated.high - first[0].stated.low
    assert compare.compare([*first, *second]).total is not None


def test_what_cannot_be_compared_is_refused_in_one_sentence(table: dp.Table) -> None:
    bars = figures(table, "histogram", column="clinic", epsilon="1")
    mean = figures(table, "mean", column="wait", epsilon="1")
    few = drawn(table, (900, 500, 600, 0, 0), "histogram", column="clinic", epsilon="0.001")
    median = figures(table, "median", column="wait", by="clinic", epsilon="5")
    wide = replace(bars[0], table="another")
    for picks, code in (
        ([bars[0]], "compare.number"),
        ([bars[0], bars[0]], "compare.number"),
        ([bars[0], mean[0]], "compare.units"),
        ([mean[0], replace(mean[0], request="other", unit=("column", "age", "mean"))], "compare.columns"),
        ([bars[0], few[1]], "compare.few_part"),
        ([bars[1], wide], "compare.tables"),
        ([replace(median[0], request=str(place)) for place in range(10)], "compare.bought"),
    ):
        with pytest.raises(dp.AllowanceError) as refusal:
            compare.compare(picks)
        assert refusal.value.code == code and str(refusal.value).count("\n") == 0


def test_bought_ranges_are_compared_inside_their_answer_alone(table: dp.Table) -> None:
    median = figures(table, "median", column="wait", by="clinic", epsilon="20")
    told = compare.compare(median[:2])
    entry = table.history(1)[0]
    assert told.alone and told.total is None and entry.outcome is not None
    low, high = entry.outcome.body["interval"]["eyes"]
    assert (median[0].stated.low, median[0].stated.high) == (low, high)  # as it was bought


def test_bought_ranges_of_several_answers_hold_together_but_for_the_sum_of_their_chances(table: dp.Table) -> None:
    """They were once refused with ranges that did not even overlap."""
    of = [
        figures(table, "median", column="wait", where=[["clinic", "in", [one]]], epsilon="5")
        for one in ("eyes", "skin")
    ]
    eyes, heart = (found[0] for found in of)
    low = replace(eyes, stated=compare.Stated(Fraction(10), Fraction(9), Fraction(12)))
    high = replace(heart, stated=compare.Stated(Fraction(15), Fraction(13), Fraction(16)))
    told = compare.compare([high, low])
    assert told.alone and told.beta == 2 * BETA and told.largest is high and told.pairs[0].different
    assert (told.pairs[0].difference.low, told.pairs[0].difference.high) == (1, 7)
    by_group = figures(table, "median", column="wait", by="clinic", epsilon="5")
    assert compare.compare([*by_group[:2], low]).beta == 2 * BETA  # two answers, one of them with two picks
    [mean] = figures(table, "mean", column="wait", epsilon="1")
    other = replace(mean, request="other")
    assert compare.compare([mean, other, low]).beta == 2 * BETA  # all averages are in one claim, whichever they are
    assert not compare.compare([mean, other]).alone


def test_names_and_curves_are_no_figures(table: dp.Table) -> None:
    assert figures(table, "top_item", column="clinic", epsilon="1") == []
    assert figures(table, "cdf_tree", column="wait", epsilon="1") == []


def test_shares_are_cut_to_what_is_possible_and_held_by_exact_ends(table: dp.Table) -> None:
    [share] = drawn(table, (1_990,), "proportion", of=[["clinic", "in", ["eyes"]]], epsilon="0.5")
    assert (share.stated.value, share.stated.high, share.unit[0]) == (Fraction("99.5"), 100, "percent")
    exact = Fraction(199, 2) - (share.stated.value - share.stated.low)
    reach = (Fraction(199, 2) - exact) * 20  # in people: a float was put one step further out, so a hair more
    assert 0 < reach - round(reach) < Fraction(1, 10**9)
