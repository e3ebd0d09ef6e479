"""The overfitting demonstration: exact answers fool the analyst, private ones do not, and the lesson says so."""

from __future__ import annotations

import math
import re
from fractions import Fraction as F
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from demos import overfitting as demo
from demos.overfitting import Settings
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals
from dpengine.core.errors import AllowanceError
from dpengine.population.noise_for_k import rule_of
from ui.learn.lesson import View
from ui.learn.lesson_overfitting import LESSON

pytestmark = pytest.mark.usefixtures("shared")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
def test_exact_answers_fool_and_private_ones_do_not() -> None:
    """With any seed, at a false-alarm rate far below 10^-6.

    5,000 people: the reported share is about Φ(√(2·2500/(π·5000))) = 0.714 with a spread below 0.01, a share of new
    people has a spread of 0.0071, and a private answer one of 0.045 around a share that is at most a few points up.
    """
    settings = Settings(5000, 2500, F(1), int(np.random.default_rng().integers(demo.MOST_SEED)))
    found = demo.run(settings)
    expected = NormalDist().cdf(math.sqrt(2 * 2500 / (math.pi * 5000)))
    assert found.exact[-1] == pytest.approx(expected, abs=0.05)
    for shares in (found.fresh, found.private_fresh):
        assert max(abs(share - 0.5) for share in shares) < 6 * 0.0071
    assert found.gap > 0.13
    assert all(abs(share - 0.5) <= float(found.width.width) for share in found.private)  # the truth is ½ exactly
    assert found.width.claimed and float(found.width.width) < 0.5
    sigma = math.sqrt(float(found.noise.amount)) / 5000
    assert abs(found.private[-1] - 0.5) < 0.08 + 6 * sigma  # and far nearer than what is proved


def test_the_private_analyst_is_charged_for_every_question() -> None:
    settings = Settings(1000, 500)
    noise, _ = demo.promised(settings)
    rule = rule_of(F(1), F(1, 10**6))
    assert noise.answers == settings.questions == 500 + len(settings.votes)
    assert filter.admits(rule, Totals.NOTHING.plus(cost(noise.whole, rule.alpha)))


def test_a_vote_is_counted_as_it_says() -> None:
    settings = Settings(200, 7, seed=3)
    table = demo._table(settings, np.random.default_rng(3))
    order, against = np.array([4, 2, 0, 1, 6, 5, 3]), np.array([1, 0, 1, 0, 0, 1, 0], dtype=bool)
    slow = []
    for count in settings.votes:
        told = [[bool(table[f, p]) != bool(against[f]) for f in order[:count]] for p in range(200)]
        slow.append(sum(2 * sum(votes) > count for votes in told))
    assert demo._right(settings, table, order, against) == slow
    assert settings.votes[-1] == 7 and all(votes % 2 for votes in settings.votes)


def test_the_seed_repeats_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--people", "400", "--features", "200", "--seed", "5"]
    said = []
    for _ in range(2):
        assert demo.main(arguments) == 0
        said.append(re.findall(r"Exact answers: .*", capsys.readouterr().out))
    assert said[0] == said[1] and "percentage points above the truth" in said[0][0]


def test_the_printed_run_and_the_tour_say_what_private_answers_are_off_by(capsys: pytest.CaptureFixture[str]) -> None:
    """The reports stand beside the truth on new people, and how many are as near as they say is counted."""
    found = demo.run(Settings())
    told = [abs(told - fresh) for told, fresh in zip(found.private, found.private_fresh, strict=True)]
    assert found.inside == sum(off <= found.noise.alpha for off in told)
    assert demo.main([]) == 0
    said = capsys.readouterr().out
    assert "on new people (private)" in said and re.search(r"\d+ of 11 reports are within the 40.0 points", said)
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    assert "but not with private" not in tour and "Private answers are off as well, by noise" in tour


def test_the_docs_name_no_lecture_for_what_no_lecture_has() -> None:
    told = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    assert "from lectures" not in told


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"people": "10"}, "number of people"),
        ({"people": "many"}, "people"),
        ({"features": "2.5"}, "features"),
        ({"people": "20000", "features": "10000"}, "People times features"),
        ({"epsilon": "0"}, "allowance"),
        ({"seed": "-1"}, "number of the table"),
    ],
)
def test_refusals(given: dict[str, str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AllowanceError, match=words):
        demo.read({"people": "1000", "features": "500", "epsilon": "1", "seed": "1"} | given)
    with pytest.raises(SystemExit):
        demo.main([part for name, value in given.items() for part in (f"--{name}={value}",)])
    assert words in capsys.readouterr().err


# --- the lesson -------------------------------------------------------------------------------------------------------


def view(**given: str) -> View:
    return LESSON.view(LESSON.clean(given))


@pytest.mark.long
def test_the_lesson_says_what_was_found() -> None:
    told = view(people="1000", features="500", epsilon="3", seed="7")
    found = demo.run(Settings(1000, 500, F(3), 7))
    shares = [int(share) for share in re.findall(r"(\d+) %", told.one)]
    assert shares == [round(100 * found.exact[-1]), round(100 * found.fresh[-1])]
    assert "table 7" in told.theorem and "ε = 3" in told.theorem
    assert told.data.settings == found.settings and told.data.exact == found.exact


@pytest.mark.long
def test_a_loose_allowance_is_told_as_it_is() -> None:
    """At ε = 10 there is so little noise that the analyst is fooled again, and the lesson does not say otherwise."""
    said = view(people="2000", features="1000", epsilon="10").two
    assert "can fool" in said and "nothing is claimed" not in said  # 0.67 ± 0.01, against a margin up to 0.537


def test_every_answer_of_the_private_analyst_is_drawn_with_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that the private analyst sees is exact: every question's sum passes the calibrated noise."""
    settings, drawn = Settings(200, 7, seed=3), []
    right = demo.Calibration.draw
    monkeypatch.setattr(
        demo.Calibration, "draw", lambda self, coins, sums: drawn.extend(sums) or right(self, coins, sums)
    )
    demo.run(settings)
    assert len(drawn) == settings.questions
