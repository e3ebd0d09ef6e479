"""Several programs on one workspace: together they spend what one would have, and each question is drawn once."""

from __future__ import annotations

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, fits
from dpengine.accountant.loss import Pure
from dpengine.core.errors import BudgetExceeded
from dpengine.ledger.ledger import Ledger, Standing
from tests.faults.counts import note
from tests.faults.stage import Stage
from tests.helpers_ledger import USUAL, ask, end_child, opened, start_child

EPSILON = "0.015"


def allowed() -> int:
    return fits(USUAL, Totals.NOTHING, cost(Pure(Fraction(EPSILON)), USUAL.alpha))


class Remembering(Ledger):
    """The planted mistake: the sums are read once and then kept in this process."""

    _kept: Standing | None = None

    def _standing(self, db: Any, budget: str) -> Standing:
        self._kept = self._kept or super()._standing(db, budget)
        return self._kept

    def reserve(self, **told: Any) -> Any:
        charge = super().reserve(**told)
        self._kept = charge.standing
        return charge


def crowd(place: Path, writers: int, kind: type[Ledger]) -> list[int]:
    """How many charges each of so many processes was given, all of them at once."""

    def spend(name: int) -> int:
        with closing(kind(place / "ledger.sqlite", wait=300)) as ledger:
            ledger.create_budget("b", USUAL, "private", "owner", "people")
            for number in range(allowed() + 1):
                try:
                    ledger.reserve(**ask(f"{name}-{number}", EPSILON))
                except BudgetExceeded:
                    return number
        return -1

    children = [start_child(partial(spend, name)) for name in range(writers)]
    return [int(end_child(*child)) for child in children]


@pytest.mark.long
def test_sixty_four_writers_spend_exactly_the_cap(place: Path) -> None:
    counts = crowd(place, 64, Ledger)
    assert min(counts) >= 0 and sum(counts) == allowed(), counts
    with opened(place) as ledger:
        assert ledger.standing("b").charges == allowed() and ledger.verify().ok
    note("64 writers at once", 64, freed=int(sum(counts) != allowed()))


def test_sums_kept_in_memory_are_seen(place: Path) -> None:
    """The power of the test above: two writers that remember spend more, and `verify` names the row."""
    with closing(Remembering(place / "ledger.sqlite")) as one, closing(Remembering(place / "ledger.sqlite")) as two:
        one.create_budget("b", USUAL, "private", "owner", "people")
        for ledger, name in ((one, "a"), (two, "b"), (one, "c")):
            ledger.reserve(**ask(name, "0.4"))  # 1.2 of 1
        assert one.verify().why == "chain.totals"


@pytest.mark.long
def test_two_programs_draw_each_question_once(place: Path) -> None:
    """The same request ids, handed to both at the same time; the budget holds them all."""
    one, two = Stage(), Stage()
    try:
        one.play("make", place / "made")
        draws: Counter[str] = Counter()
        for turn in range(5):
            home = Path(shutil.copytree(place / "made", place / f"var{turn}"))
            with ThreadPoolExecutor(2) as both:
                runs = [both.submit(stage.play, "crowd", home) for stage in (one, two)]
                told = [run.result()[0] for run in runs]
            first, second = ({line[1]: line[2] for line in lines if line[0] == "shown"} for lines in told)
            assert first == second and len(first) == 12  # both show the same answers
            draws["all"] += sum(line[0] == "draw" for lines in told for line in lines)
            after = one.check("ask", home)
            assert after["verified"] and {name: after["answers"][name] for name in first} == first
        assert draws["all"] == 5 * 12
        note("two programs, the same 12 requests to both", 5, double=draws["all"] - 60)
    finally:
        one.close()
        two.close()
