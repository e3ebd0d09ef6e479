"""Three people who talk, each with a grant of their own, against one budget: the best they can do stays below δ."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, fits
from dpengine.accountant.loss import Pure
from dpengine.audit import games, report
from dpengine.audit.games import PEOPLE_RULE, PEOPLE_SIZES, PlayedTogether, apart, game_of_people, in_memory


@pytest.mark.long  # the audit plays it too
def test_three_people_who_talk_stay_below_delta() -> None:
    with in_memory() as folder:
        found = game_of_people(Path(folder))
    assert found.worth <= float(PEOPLE_RULE.delta)
    assert found.admitted > 20 and found.refused_by_cap > 0 and found.refused_by_grant > 0, found


def test_the_report_has_their_line_and_says_if_it_is_above_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "exact_game", lambda: (0.0, 1))
    for worth, above in ((1e-9, False), (2e-6, True)):
        monkeypatch.setattr(games, "game_of_people", lambda folder, w=worth: PlayedTogether(w, 7, 1, 1))
        section, told = report.ledger_section(0)
        [row] = [row for row in section.rows if row[0].startswith("3 people who talk")]
        assert "7 sets of questions" in row[0] and row[2] == f"δ = {worth:.2e}" and bool(told) == above


def test_three_tallies_would_be_worth_more_than_delta() -> None:
    """The same three people, each of whom a tally of their own lets ask as much as the whole cap."""

    def most(place: int) -> int:
        return fits(PEOPLE_RULE, Totals.NOTHING, cost(Pure(PEOPLE_SIZES[place]), PEOPLE_RULE.alpha))

    assert apart(most) > 1000 * float(PEOPLE_RULE.delta)
