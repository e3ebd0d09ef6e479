"""Residuals of marginals: their loss against every pair of rows, their rebuilding, and their noise against others'."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import dpengine as dp
from dpengine.core.types import Floats
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals import residuals
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout, rebuilt, residual
from dpengine.mechanisms.marginals.wanted import EVEN

SIZES = {"two lists": (2, 3), "three lists": (2, 3, 2), "one list": (4,), "four lists": (2, 2, 3, 2)}
CENSUS = (9, 16, 7, 15, 6, 5, 2, 2)


def pairs_of(columns: int) -> list[Columns]:
    return list(combinations(range(columns), 2))


def layout(sizes: tuple[int, ...], sets: list[Columns], known: bool, replaced: bool, rows: int = 1) -> ResidualLayout:
    wanted = [*((place,) for place in range(len(sizes))), *sets]
    return ResidualLayout(sizes, tuple((part, Fraction(1)) for part in wanted), known, replaced, rows)


def row(made: ResidualLayout, part: Columns, cells: tuple[int, ...]) -> Floats:
    """What one row adds to a residual, by its definition."""
    marginal = np.zeros([made.sizes[place] for place in part], dtype=np.int64)
    marginal[tuple(cells[place] for place in part)] = 1
    return residual(marginal)


def brute(made: ResidualLayout, noise: dict[Columns, Fraction]) -> Fraction:
    """½·Σ‖change‖²/variance over every row, or every pair of rows."""
    rows = list(product(*map(range, made.sizes)))
    moves = {part: {cells: row(made, part, cells) for cells in rows} for part in made.bases}

    def lost(one: tuple[int, ...], other: tuple[int, ...] | None) -> Fraction:
        total = Fraction(0)
        for part in made.bases:
            change = moves[part][one] - (0 if other is None else moves[part][other])
            total += Fraction(int((change**2).sum())) / (noise[part] * made.cells(part) ** 2)
        return total / 2

    worst = max(lost(one, other) for one in rows for other in rows) if made.replaced else Fraction(0)
    return worst if made.replaced and made.known else max(worst, max(lost(one, None) for one in rows))


@pytest.mark.every(9)
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(("known", "replaced"), [(False, False), (True, True), (False, True)])
def test_the_loss_is_the_worst_of_every_pair_of_rows(name: str, known: bool, replaced: bool) -> None:
    sizes = SIZES[name]
    for sets in ([], pairs_of(len(sizes))[:1], pairs_of(len(sizes))):
        made = layout(sizes, sets, known, replaced)
        for spread in (made, replace(made, level=True)):
            noise = spread.best(Fraction(1, 2))
            assert float(spread.rho(noise)) == pytest.approx(float(brute(spread, noise)), rel=1e-6)
            assert brute(spread, noise) <= spread.rho(noise) <= Fraction(1, 2)
        several = layout(sizes, sets, False, replaced, rows=3)
        assert several.rho(noise | dict.fromkeys([()], Fraction(5))) == pytest.approx(
            9 * float(layout(sizes, sets, False, replaced).rho(noise | dict.fromkeys([()], Fraction(5)))), rel=1e-9
        )


def test_too_many_columns_that_hang_together_are_taken_at_their_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    made = layout((2, 3, 2, 3), pairs_of(4), True, True)
    noise = made.best(Fraction(1, 2))
    exact = made.rho(noise)
    monkeypatch.setattr(residuals, "MOST_TOGETHER", 2)
    assert exact < made.rho(noise) < 2 * exact


@pytest.mark.parametrize("known", [True, False])
def test_marginals_come_back_from_their_residuals(known: bool) -> None:
    made = layout((3, 2, 4), [(0, 1), (1, 2)], known, True)
    table = np.random.default_rng(3).integers(0, 50, size=made.sizes)  # any table: nothing is random in the check

    def of(part: Columns) -> Floats:
        return table.sum(axis=tuple(axis for axis in range(3) if axis not in part))

    released = {part: residual(of(part)) for part in [(), *made.bases]}
    for part, _ in made.wanted:
        assert np.allclose(rebuilt(made, part, released), of(part))


def test_the_variance_of_a_cell_is_the_stated_one() -> None:
    """By the matrix of the rebuilding itself: the sum of squares of what each drawn number adds to a cell."""
    made = layout((3, 2), [(0, 1)], False, True)
    noise = {part: Fraction(2 + place) for place, part in enumerate(made.bases)}
    for wanted in ((0,), (1,), (0, 1)):
        found = np.zeros([made.sizes[place] for place in wanted])
        for part in made.bases:
            if not set(part) <= set(wanted):
                continue
            for cell in np.ndindex(*[made.sizes[place] for place in part]):
                released = {other: np.zeros([made.sizes[place] for place in other]) for other in made.bases}
                released[part][cell] = 1.0
                found += rebuilt(made, wanted, released) ** 2 * float(noise[part]) * made.cells(part) ** 2
        assert np.allclose(found, float(made.variance(wanted, noise)))


@pytest.mark.parametrize(("known", "replaced", "plain"), [(False, False, 36), (True, True, 72)])
def test_all_pairs_of_a_census_like_table_have_half_of_the_variance_of_plain_noise(
    known: bool, replaced: bool, plain: int
) -> None:
    """At ρ = ½: 8 columns and 28 pairs, each with its own noise, have a variance of 36 a cell, and 72 if a row moves
    two cells of each."""
    made = layout(CENSUS, pairs_of(8), known, replaced)
    noise = made.best(Fraction(1, 2))
    mean = sum(made.variance(part, noise) for part, _ in made.wanted) / len(made.wanted)
    assert float(mean) == pytest.approx(18.2 if not replaced else 35.6, abs=0.1) and mean < Fraction(51, 100) * plain


def test_no_worse_than_plain_noise_and_near_the_least() -> None:
    """Over layouts of every kind; and shifting noise from one residual to another does not help."""
    for sizes in ((2, 2), (2, 3, 4), (5, 2, 2, 3)):
        for sets in ([], pairs_of(len(sizes))[:1], pairs_of(len(sizes))):
            for known, replaced in ((False, False), (True, True)):
                made = layout(sizes, sets, known, replaced)
                noise = made.best(Fraction(1, 2))
                told = sum(made.variance(part, noise) for part, _ in made.wanted)
                plain = len(made.wanted) ** 2 * (2 if replaced else 1)
                assert told <= plain * Fraction(1001, 1000)
                for part in made.bases:
                    other = noise | {part: noise[part] * 2}
                    scale = made.rho(other) / made.rho(noise)
                    moved = sum(made.variance(wanted, other) for wanted, _ in made.wanted) * scale
                    assert moved >= told * Fraction(97, 100)


@pytest.mark.parametrize(("known", "replaced", "plain"), [(False, False, 36), (True, True, 72)])
def test_level_noise_has_every_cell_at_most_three_quarters_as_far_off_as_plain_noise(
    known: bool, replaced: bool, plain: int
) -> None:
    """The same table: the largest standard deviation of a cell, and so the mean, is 0.72 times that of plain noise."""
    made = replace(layout(CENSUS, pairs_of(8), known, replaced), level=True)
    noise = made.best(Fraction(1, 2))
    off = [made.variance(part, noise) / plain for part, _ in made.wanted]
    assert made.rho(noise) <= Fraction(1, 2)
    assert 0.70**2 < float(max(off)) < 0.72**2


def test_level_noise_is_level_and_its_maximum_near_the_least() -> None:
    """No layout has a larger maximum than with noise for the least sum, and shifting noise does not help."""
    for sizes, sets in (((2, 3, 4), pairs_of(3)), ((5, 2, 2, 3), pairs_of(4)[:3]), ((2, 9, 30), [])):
        for known, replaced in ((False, False), (True, True), (False, True)):
            made = layout(sizes, sets, known, replaced)
            level = replace(made, level=True)

            def most(noise: dict[Columns, Fraction], made: ResidualLayout = made) -> Fraction:
                return max(made.variance(part, noise) for part, _ in made.wanted) * made.rho(noise)

            noise = level.best(Fraction(1, 2))
            assert most(noise) <= most(made.best(Fraction(1, 2))) * Fraction(1001, 1000)
            for part in made.bases:
                for times in (Fraction(4, 5), Fraction(5, 4)):
                    assert most(noise | {part: noise[part] * times}) >= most(noise) * Fraction(97, 100)


def test_a_weight_makes_a_marginal_as_much_more_exact() -> None:
    made = ResidualLayout((4, 5), (((0,), Fraction(4)), ((1,), Fraction(1))), False, False, level=True)
    noise = made.best(Fraction(1, 2))
    assert float(made.variance((1,), noise) / made.variance((0,), noise)) == pytest.approx(4, rel=0.01)


def test_first_looks_are_level_unless_they_say_so() -> None:
    lists = {f"c{size}": dp.Category([f"v{at}" for at in range(size)], "v0", "v0") for size in (2, 5, 9)}
    facts = Facts("t", dp.Schema(lists), dp.Unit.rows(), "replace", 1000)
    given = {"columns": list(lists), "against": ["c2"], "epsilon": "1"}
    level, even = (dp.catalogue["overview"].build(facts, given | more) for more in ({}, {"spread": EVEN}))
    assert isinstance(level, Overview) and isinstance(even, Overview)
    assert level.own_json().keys() == {"columns", "against"} and even.own_json()["spread"] == EVEN
    assert all(dp.catalogue["overview"].build(facts, one.parameters()) == one for one in (level, even))
    found = {part: float(even.variance(part)) for part in even.sets}
    expected = {(0,): 4.8824, (1,): 5.6666, (2,): 5.9731, (0, 1): 4.0656, (0, 2): 4.4984}
    assert found == pytest.approx(expected, abs=1e-4)
    assert level.promise().amount <= even.promise().amount
    assert max(map(level.variance, level.sets)) < max(map(even.variance, even.sets))
