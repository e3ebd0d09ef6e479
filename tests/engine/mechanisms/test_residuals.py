"""Residuals of marginals: their loss against every pair of rows, their rebuilding, and their noise against others'."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from dpengine.core.arrays import Floats
from dpengine.mechanisms.marginals import residuals
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout, rebuilt, residual

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


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(("known", "replaced"), [(False, False), (True, True), (False, True)])
def test_the_loss_is_the_worst_of_every_pair_of_rows(name: str, known: bool, replaced: bool) -> None:
    sizes = SIZES[name]
    for sets in ([], pairs_of(len(sizes))[:1], pairs_of(len(sizes))):
        made = layout(sizes, sets, known, replaced)
        noise = made.best(Fraction(1, 2))
        assert float(made.rho(noise)) == pytest.approx(float(brute(made, noise)), rel=1e-6)
        assert brute(made, noise) <= made.rho(noise) <= Fraction(1, 2)
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
