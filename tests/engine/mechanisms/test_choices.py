"""The largest of several: what is promised on its worst table, and what rows of the version before mean."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from helpers_session import LARGEST, add, query

from dpengine.accountant.loss import Exponential, Gaussian
from dpengine.noise.laws import flipped, weighted
from dpengine.noise.tails import choice_behind, choice_gap, flip_behind, flip_gap
from dpengine.workspace import Workspace

OPTIONS = LARGEST["largest"]
WAYS = {"exponential": (choice_behind, weighted, choice_gap), "flip": (flip_behind, flipped, flip_gap)}


@pytest.fixture()
def home(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("many", [2, 10, 40])
@pytest.mark.parametrize("beta", [Fraction(1, 20), Fraction(1, 1000)])
def test_what_is_promised_is_kept_on_the_worst_table_and_no_less_is(way: str, many: int, beta: Fraction) -> None:
    """One best, all others at one gap: beyond the promise they are chosen with chance β at most, at it with more."""
    behind, law_of, union = WAYS[way]
    for rate in (Fraction(1, 2), Fraction(1, 7)):
        promised = behind(rate, many, beta)
        assert promised <= union(rate, many, beta)
        for gap, kept in ((promised + 1, True), (promised, False)):
            law = law_of({0: 0} | dict.fromkeys(range(1, many), gap), rate)
            assert (1 - law.chances[0] <= Decimal(beta.numerator) / beta.denominator) is kept


@pytest.mark.parametrize("way", WAYS)
def test_a_choice_of_one_or_at_any_chance_is_nothing_behind(way: str) -> None:
    behind = WAYS[way][0]
    assert behind(Fraction(1, 100), 1, Fraction(1, 20)) == 0
    assert behind(Fraction(1, 100), 2, Fraction(1, 2)) == 0 < behind(Fraction(1, 100), 2, Fraction(2, 5))


def test_the_largest_may_be_asked_among_gaussian_answers(home: Workspace) -> None:
    """Of bounded range 2ε₀: as much Rényi loss as an answer, and no more is charged."""
    table = add(home)
    session = table.open_session(query(table, 3, "0.6", calibration="gaussian"), "one")
    taken = session.ask(LARGEST, "first")
    assert taken.state == "done" and taken.query.loss() == Gaussian(taken.query.each**2 / 2)
    assert taken.query._choice.loss() == Exponential(2 * taken.query.each)
