"""What holds where people share a workspace, whatever happens: colluding processes, and a tail that is cut."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from dpengine.__main__ import main
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, fits, used
from dpengine.accountant.loss import Pure
from dpengine.core.errors import AllowanceError
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.sqlite_file import SCHEMA
from dpengine.workspace import Workspace
from tests.helpers_ledger import ask, end_child, start_child
from tests.helpers_people import MINE, office

EPSILON = Fraction("0.02")


@pytest.mark.parametrize(
    ("people", "processes"), [(3, 4), pytest.param(8, 64, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_colluding_analysts_are_refused_exactly_at_the_cap(tmp_path: Path, people: int, processes: int) -> None:
    """Their shares add up to more than the cap; they ask as fast as they can, from many processes at once."""
    share = Fraction(1, 2)
    assert people * share > 1
    with office(tmp_path) as here:
        team = [here.person(f"analyst {place}") for place in range(people)]
        for place in range(people):
            here.give(MINE, f"analyst {place}", share)
        budget, path = here.workspace.record(MINE).budget, here.workspace.ledger.path
        rule = here.workspace.ledger.budget(budget).rule

        def ask_on(process: int) -> str:
            """Every analyst in turn, until nobody gets any further; what each was refused with last."""
            told: dict[str, str] = {}
            with closing(Ledger(path, wait=120)) as ledger:
                number = 0
                while len(told) < people:
                    person = team[(process + number) % people]
                    number += 1
                    if person not in told:
                        request = f"{process}.{number}"
                        try:
                            given = ask(request, budget=budget, table=MINE, actor=person, loss=Pure(EPSILON))
                            ledger.reserve(**given)
                        except AllowanceError as refused:
                            told[person] = refused.code
            return " ".join(sorted(set(told.values())))

        children = [start_child(lambda process=process: ask_on(process)) for process in range(processes)]  # type: ignore[misc]
        said = {end_child(*child) for child in children}
        assert {word for told in said for word in told.split()} <= {"budget.exceeded", "people.exceeded"}, said
        ledger = here.workspace.ledger
        price = cost(Pure(EPSILON), rule.alpha)
        most = fits(rule, Totals.NOTHING, price)
        assert ledger.standing(budget).charges == most  # neither one more nor one less
        with ledger.people() as book:
            own = [book.held(ledger.budget(budget), person).moved for person in team]
        assert all(one <= share for one in own) and sum(own) == used(rule, ledger.standing(budget).totals)
        assert ledger.verify().ok


def test_a_table_is_its_bringers_also_after_a_kill(tmp_path: Path) -> None:
    """Killed between the table's coming and its owner's row: who brought it has it when the workspace opens again."""
    with office(tmp_path) as here, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "hand_over", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            here.bring("owner", "killed", start=800)
        assert not here.face("owner").may("table", "killed")
        owner, folder = here.person("owner"), here.workspace.folder
    with closing(Workspace(folder)) as again:
        assert again.as_person(owner).may("ask", "killed") and again.verify_ledger().ok
        head = again.ledger.head()
    with closing(Workspace(folder)) as once_more:
        assert once_more.ledger.head() == head


def cut(home: Path, rows: int) -> None:
    """As somebody who can write to the whole folder would: the last rows gone, and the note beside the ledger too."""
    with closing(sqlite3.connect(home / "ledger.sqlite", isolation_level=None)) as db:
        db.execute("DROP TRIGGER no_delete")
        db.execute("DELETE FROM entries WHERE seq > (SELECT max(seq) FROM entries) - ?", [rows])
        db.execute(next(sql for sql in SCHEMA if sql.startswith("CREATE TRIGGER no_delete ")))
    (home / "ledger.head").unlink()


def test_a_cut_tail_is_seen_by_the_heads_kept_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "heads"
    with office(tmp_path) as here:
        home = here.workspace.folder
        command = ["head", "--home", str(home)]
        assert main([*command, "--write", str(kept)]) == 0
        here.give(MINE, "eva")
        here.give(MINE, "ana")
        assert main([*command, "--write", str(kept)]) == 0 == main([*command, "--check", str(kept)])
        assert len(kept.read_text().splitlines()) == 2 and os.stat(kept).st_mode & 0o777 == 0o600
    cut(home, 1)
    with closing(Ledger(home / "ledger.sqlite")) as ledger:
        assert ledger.verify().ok  # the chain itself cannot tell
    capsys.readouterr()
    assert main([*command, "--check", str(kept)]) == 1
    assert "cut off" in capsys.readouterr().out
    (tmp_path / "wrong").write_text("what is this\n")
    assert main([*command, "--check", str(tmp_path / "wrong")]) == 2
    assert main([*command, "--write", str(tmp_path / "gone" / "heads")]) == 2
    assert main([*command, "--what"]) == 2
