"""The largest of several: what is promised on its worst table, and what rows of the version before mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from battery import check_law_against_loss, check_samples_against_law
from helpers_session import LARGEST, TX, add, query

import dpengine as dp
from dpengine.accountant.loss import Exponential, Gaussian, Pure
from dpengine.asking.receipts import check
from dpengine.audit.world import build, named
from dpengine.noise.laws import flipped, weighted
from dpengine.noise.tails import choice_behind, choice_gap, flip_behind, flip_gap, laplace_reach
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


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("case", ["of two groups", "of two averages"])
def test_what_version_1_drew_keeps_its_loss(case: str, relation: str) -> None:
    """Sessions that it opened still draw like this."""
    before = replace(build(*named(f"noisy_argmax: {case}"), relation), older=1)
    assert before.loss() == Pure(before.epsilon) and "noisy max" in before.theorem
    check_law_against_loss(before)
    check_samples_against_law(before, (3, 2), 2_000)


def test_an_answer_of_version_1_is_read_as_it_was_and_found_again(home: Workspace) -> None:
    table = add(home)
    now = table.query("noisy_argmax", options=OPTIONS, epsilon="1")
    before = replace(now, older=1)
    old, new = table.ask(before), table.ask(now)
    assert [one.receipt["claim"]["version"] for one in (old, new)] == [1, 2]
    assert old.promise.amount == 2 * laplace_reach(Fraction(2), Fraction(1, 40)) > new.promise.amount
    assert "noise" not in old.receipt["claim"]["parameters"] and "noisy max" in old.receipt["claim"]["theorem"]
    assert [one.code for one in check([old.receipt, new.receipt], home.ledger.export_rows())] == ["verify.fine"] * 2
    assert [one.query.older for one in table.recall(now)] == [1, 0], "the same question"
    charges = [home.ledger.find(one.request_id).charge.loss for one in (old, new)]  # type: ignore[union-attr]
    assert charges == [Pure(Fraction(1)), Exponential(Fraction(1))]


def test_a_session_of_version_1_goes_on_as_it_was_opened(home: Workspace) -> None:
    table = add(home)
    old = table.open_session(replace(query(table), older=1), "old")
    new = table.open_session(query(table), "new")
    for session, drawn in ((old, 1), (new, 0)):
        taken = session.ask(LARGEST, "first")
        assert taken.query._choice.older == drawn
        assert session.ask(TX, "second").state == "done"
        [finding, _] = check([one.receipt for one in session.look()[2]], home.ledger.export_rows())
        assert finding.code == "verify.fine_step"
    wide, near = (session.look()[2][0].query.promise().amount for session in (old, new))
    assert wide > 2 * near


def test_the_largest_may_be_asked_among_gaussian_answers(home: Workspace) -> None:
    """Of bounded range 2ε₀: as much Rényi loss as an answer, and no more is charged."""
    table = add(home)
    session = table.open_session(query(table, 3, "0.6", calibration="gaussian"), "one")
    taken = session.ask(LARGEST, "first")
    assert taken.state == "done" and taken.query.loss() == Gaussian(taken.query.each**2 / 2)
    assert taken.query._choice.loss() == Exponential(2 * taken.query.each)
    assert dp.catalogue["adaptive_session"].card.version == 2
