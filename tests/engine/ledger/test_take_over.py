"""Two allowances that become one, as the ledger writes and checks it: every charge of both counts, for a person."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpengine.accountant.filter import Rule, admits
from dpengine.accountant.group import for_group
from dpengine.accountant.loss import Loss, Pure
from dpengine.core.strict_json import canonical
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import TakenOver
from tests.engine.ledger.test_protect import _rewritten, _told, any_loss, charge, counted
from tests.helpers_ledger import code_of

WHO = Unit.column("who", 3)
RULE = Rule.make(Fraction(5), Fraction(1, 10**6))


@contextmanager
def opened(folder: Path, **units: Unit) -> Iterator[Ledger]:
    """Budgets by name, each with its unit."""
    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        for name, unit in units.items():
            ledger.create_budget(name, RULE, "private", "owner", name, unit.as_json(), "add_remove")
        yield ledger


def paid(ledger: Ledger, budget: str, losses: list[Loss], unit: Unit, mark: str = "") -> None:
    for place, loss in enumerate(losses):
        charge(ledger, f"{budget} {mark}{place}", loss, unit.as_json(), budget=budget, table=budget)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(9))
def test_whatever_was_charged_the_sum_is_what_a_recount_says(tmp_path: Path, seed: int) -> None:
    """Random charges of all kinds on three budgets; one takes over another, which had taken over the third; then more
    charges and more protection. By exact sums: there is nothing to be unlucky with."""
    chosen = random.Random(seed)
    parts = {name: [any_loss(chosen) for _ in range(chosen.randint(0, 6))] for name in ("a", "b", "c", "later")}
    with opened(tmp_path, a=WHO, b=Unit.column("id", 2), c=Unit.rows()) as ledger:
        for name, unit in (("a", WHO), ("b", Unit.column("id", 2)), ("c", Unit.rows())):
            paid(ledger, name, parts[name], unit)
        each = chosen.randint(1, 3)
        everything = [for_group(loss, each) for loss in parts["c"]]
        taken = TakenOver("c", each)
        for pays in ("b", "a"):
            everything = [*parts[pays], *everything]
            expected = counted(everything, RULE)
            assert ledger.sum_of(pays, [taken], RULE) == expected
            if not admits(RULE, expected.totals):
                assert code_of(lambda pays=pays, taken=taken: ledger.take_over(pays, pays, taken, "owner")).startswith(
                    "joined."
                )
                assert ledger.verify().ok
                return
            act = ledger.take_over(pays, pays, taken, "owner")
            assert ledger.standing(pays) == expected == act.standing and act.taken == taken
            assert ledger.take_over(pays, pays, taken, "owner") == act  # a second time: the first row counts
            taken = TakenOver(pays, 1)
        assert ledger.taken_by() == {"c": "a", "b": "a"}
        assert (
            code_of(lambda: paid(ledger, "b", [Pure(Fraction(1, 100))], Unit.column("id", 2), "x")) == "budget.joined"
        )
        paid(ledger, "a", parts["later"], WHO, "later ")
        expected = counted([*everything, *parts["later"]], RULE)
        assert ledger.standing("a") == expected
        more = Unit.column("who", 7)
        assert ledger.protection_of("a", more) == (expected, expected)  # every charge is for a person already
        ledger.protect("a", "a", more, "owner")
        assert ledger.standing("a") == expected and ledger.verify().ok


def test_only_budgets_that_state_the_same_change_become_one(tmp_path: Path) -> None:
    with opened(tmp_path, a=WHO, rows=Unit.rows(), id=Unit.column("id", 2)) as ledger:
        ledger.create_budget("other", RULE, "private", "owner", "other", WHO.as_json(), "replace")
        head = ledger.head()
        for code, pays, taken in (
            ("budget.other_terms", "a", TakenOver("other", 1)),
            ("budget.other_terms", "a", TakenOver("a", 1)),
            ("budget.other_terms", "rows", TakenOver("id", 1)),  # a row is no person
            ("budget.other_terms", "a", TakenOver("id", 2)),  # its charges are for a person already
            ("budget.other_terms", "a", TakenOver("rows", 0)),
        ):
            assert code_of(lambda pays=pays, taken=taken: ledger.take_over(pays, pays, taken, "owner")) == code
        assert ledger.head() == head
        ledger.take_over("a", "a", TakenOver("id", 1), "owner")
        for pays in ("id", "other"):
            assert code_of(lambda pays=pays: ledger.take_over(pays, pays, TakenOver("a", 1), "owner"))
        assert code_of(lambda: ledger.take_over("a", "a", TakenOver("nobody", 1), "owner")) == "budget.unknown"
        assert ledger.verify().ok


def _fewer(told: dict[str, Any]) -> None:
    told["joined"]["rows"] = 1


def _another(told: dict[str, Any]) -> None:
    told["joined"]["budget"] = "nobody"


def _itself(told: dict[str, Any]) -> None:
    told["joined"]["budget"] = "a"


def _smaller(told: dict[str, Any]) -> None:
    told["after"]["epsilon"] = told["before"]["epsilon"]


@pytest.mark.parametrize(
    ("part", "change", "why"),
    [
        ("body", lambda told: None, None),
        ("totals", _smaller, "chain.totals"),
        ("body", _fewer, "chain.totals"),
        ("body", _another, "chain.orphan"),
        ("body", _itself, "chain.protect"),
        ("body", lambda told: told.pop("joined"), "chain.protect"),
    ],
)
def test_an_edited_row_is_noticed_though_chained_well(tmp_path: Path, part: str, change: Any, why: Any) -> None:
    with opened(tmp_path, a=WHO, b=Unit.rows()) as ledger:
        for budget, unit in (("a", WHO), ("b", Unit.rows())):
            paid(ledger, budget, [Pure(Fraction(1, 100))], unit)
        ledger.take_over("a", "a", TakenOver("b", 2), "owner")
        assert ledger.standing("a").totals.epsilon == Fraction(3, 100) and ledger.verify().ok
    assert _rewritten(tmp_path, lambda row: _told(row, part, change)) == why


def test_the_file_itself_refuses_a_charge_to_what_was_taken_over(tmp_path: Path) -> None:
    with opened(tmp_path, a=WHO, b=Unit.rows()) as ledger:
        ledger.take_over("a", "a", TakenOver("b", 2), "owner")
        (seq, prev) = ledger.head()
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as rows, pytest.raises(sqlite3.IntegrityError) as said:
        body = canonical({"table": "b", "claim": {"unit": {"kind": "rows"}}})
        row = (seq + 1, "2026", "charge", "b", "late", "ana", body, "", prev, "0")
        rows.execute(f"INSERT INTO entries VALUES ({', '.join('?' * 10)})", row)
    assert "the budget is closed" in str(said.value)
