"""More protection declared later, as the ledger writes and checks it: every earlier charge is counted anew."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, admits
from dpengine.accountant.group import for_group
from dpengine.accountant.history import History
from dpengine.accountant.loss import Approximate, Bounded, Exponential, Gaussian, Loss, Pure, Repeated, Together
from dpengine.core.strict_json import canonical
from dpengine.declared.unit import Unit
from dpengine.ledger.chain import hash_of, verify
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import Standing
from tests.helpers_ledger import USUAL, ask, code_of

BY_ID = {"kind": "column", "column": "who", "at_most": 7}
SEVEN = Unit.column("who", 7)


@contextmanager
def opened(folder: Path, rule: Rule = USUAL, unit: Unit | None = None) -> Iterator[Ledger]:
    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        ledger.create_budget("b", rule, "private", "owner", "people", (unit or Unit.rows()).as_json(), "replace")
        yield ledger


def charge(ledger: Ledger, request: str, loss: Loss, unit: dict[str, Any] | None = None, **more: Any) -> None:
    told = ask(request, loss=loss, **more)
    ledger.reserve(**told | {"claim": told["claim"] | {"unit": unit or Unit.rows().as_json()}})


def counted(losses: list[Loss], rule: Rule) -> Standing:
    totals, history = Totals.NOTHING, History.NOTHING
    for loss in losses:
        totals, history = totals.plus(cost(loss, rule.alpha)), history.plus(loss)
    return Standing(totals, history)


def any_loss(chosen: random.Random) -> Loss:
    epsilon, rho = Fraction(chosen.randint(1, 40), 10**4), Fraction(chosen.randint(1, 40), 10**7)
    delta = Fraction(chosen.randint(1, 9), 10**13)
    simple: list[Loss] = [
        Pure(epsilon),
        Exponential(epsilon),
        Gaussian(rho),
        Bounded(epsilon, rho),
        Approximate(epsilon, delta),
    ]
    more: list[Loss] = [
        Repeated(chosen.choice(simple[:4]), chosen.randint(2, 5)),
        Together(tuple(chosen.sample(simple[:4], 2))),
        Together((Gaussian(rho / 100), Exponential(epsilon / 10), Approximate(Fraction(0), delta / 10))),
    ]
    return chosen.choice(simple + more)


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(12))
def test_whatever_was_charged_the_meter_is_what_a_recount_says(tmp_path: Path, seed: int) -> None:
    """Random charges of all kinds, then more protection, charges for people, and more again. By exact sums: there is
    nothing to be unlucky with."""
    chosen = random.Random(seed)
    rule = Rule.make(Fraction(chosen.choice([2, 5, 20])), Fraction(1, 10 ** chosen.randint(4, 7)))
    with opened(tmp_path, rule) as ledger:
        rows, people = ([any_loss(chosen) for _ in range(chosen.randint(0, 12))] for _ in range(2))
        for place, loss in enumerate(rows):
            charge(ledger, f"row {place}", loss)
        first, second = sorted(chosen.sample(range(2, 9), 2))
        for size, later in ((first, people), (second, [])):
            expected = counted([*(for_group(loss, size) for loss in rows), *(people if size == second else [])], rule)
            unit, before = Unit.column("who", size), ledger.standing("b")
            assert ledger.protection_of("b", unit) == (before, expected)
            if not admits(rule, expected.totals):
                assert code_of(lambda unit=unit: ledger.protect("b", "people", unit, "owner")).startswith("protect.")
                assert ledger.standing("b") == before and ledger.verify().ok
                return
            act = ledger.protect("b", "people", unit, "owner")
            assert ledger.standing("b") == expected == act.standing and act.unit == unit
            assert ledger.budget("b").unit == unit.as_json() and ledger.protected_since("b") == act.seq
            for place, loss in enumerate(later):
                charge(ledger, f"person {place}", loss, unit.as_json())
                assert ledger.before(ledger.find(f"person {place}").charge) == expected.totals  # type: ignore[union-attr]
                expected = Standing(expected.totals.plus(cost(loss, rule.alpha)), expected.history.plus(loss))
                assert ledger.standing("b") == expected
        assert ledger.verify().ok


def test_protection_only_grows(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        charge(ledger, "r", Pure(Fraction(1, 100)))
        head = ledger.head()
        refused = {
            "protect.less": Unit.rows(),
            "protect.fewer": Unit.column("who", 1),
        }
        for code, unit in refused.items():
            assert code_of(lambda unit=unit: ledger.protect("b", "people", unit, "owner")) == code
        assert ledger.head() == head
        first = ledger.protect("b", "people", SEVEN, "owner")
        assert ledger.protect("b", "people", SEVEN, "owner") == first  # a second time: the first row counts
        for code, unit in (
            ("protect.less", Unit.rows()),
            ("protect.fewer", Unit.column("who", 6)),
            ("protect.other_id", Unit.column("other", 9)),
        ):
            assert code_of(lambda unit=unit: ledger.protect("b", "people", unit, "owner")) == code
        assert ledger.verify().ok


def test_what_does_not_fit_any_more_says_how_large_the_allowance_would_have_to_be(tmp_path: Path) -> None:
    with opened(tmp_path, Rule.make(Fraction(1), Fraction(0))) as ledger:
        charge(ledger, "r", Pure(Fraction(1, 5)))
        with pytest.raises(Exception, match=r"ε = 1\.4;") as refused:
            ledger.protect("b", "people", SEVEN, "owner")
        assert refused.value.code == "protect.exceeded"  # type: ignore[attr-defined]
        ledger.raise_cap("b", "people", Fraction("1.4"), "owner")  # another claim, which its owner makes first
        act = ledger.protect("b", "people", SEVEN, "owner")
        assert act.standing is not None and act.standing.totals.epsilon == Fraction(7, 5)
        assert code_of(lambda: charge(ledger, "s", Pure(Fraction(1, 10**6)), BY_ID)) == "budget.exceeded"
        assert ledger.verify().ok


def test_a_delta_beyond_the_reserve_is_never_allowed(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        charge(ledger, "r", Approximate(Fraction(1, 100), USUAL.delta_reserve / 2))
        assert code_of(lambda: ledger.protect("b", "people", SEVEN, "owner")) == "protect.never"


def test_a_question_prepared_for_rows_is_not_charged_once_people_are_protected(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        charge(ledger, "r", Pure(Fraction(1, 100)))
        ledger.protect("b", "people", SEVEN, "owner")
        before = ledger.standing("b")
        assert code_of(lambda: charge(ledger, "late", Pure(Fraction(1, 100)))) == "table.revised"
        assert code_of(lambda: ledger.reserve(**ask("older"))) == "table.revised"  # it names no unit at all
        assert ledger.standing("b") == before
        charge(ledger, "person", Pure(Fraction(1, 100)), BY_ID)
        assert ledger.standing("b").totals.epsilon == Fraction(8, 100) and ledger.verify().ok
        ledger.answer("r", {"value": 1, "interval": None})  # what was charged before is still answered
        assert ledger.verify().ok


def test_a_session_that_was_paid_for_rows_ends(tmp_path: Path) -> None:
    session = {"key": "adaptive_session", "parameters": {"questions": 3}, "unit": Unit.rows().as_json()}
    with opened(tmp_path) as ledger:
        ledger.reserve(**ask("s", claim=session, loss=Repeated(Pure(Fraction(1, 100)), 3)))
        ledger.burn("s", "one", "ana", {"ask": {}}, "ab12")
        assert ledger.progress("s") == (1, False, False)
        ledger.protect("b", "people", SEVEN, "owner")
        assert ledger.standing("b").totals.epsilon == Fraction(21, 100)  # all of its questions, asked or not
        assert code_of(lambda: ledger.burn("s", "two", "ana", {"ask": {}}, "ab12")) == "session.protected"
        assert ledger.progress("s") == (1, True, False)
        ledger.settle_step("s", 1, "part", {"value": 1, "interval": None})  # what was used before is still told
        assert ledger.verify().ok
        after = dict(ask("t", claim=session | {"unit": BY_ID}, loss=Repeated(Pure(Fraction(1, 100)), 3)))
        ledger.reserve(**after)
        ledger.burn("t", "one", "ana", {"ask": {}}, "ab12")
        assert ledger.verify().ok


def test_answers_to_rows_and_to_people_are_not_read_as_one_question(tmp_path: Path) -> None:
    claim = ask("x")["claim"]
    with opened(tmp_path) as ledger:
        charge(ledger, "r", Pure(Fraction(1, 100)))
        ledger.answer("r", {"value": 1, "interval": None})
        ledger.protect("b", "people", SEVEN, "owner")
        assert ledger.all_answers_to("b", "people", claim).count == 0 and ledger.answers_to("b", "people", claim) == []
        assert ledger.newest_to("b", "people", claim["digest"]) is None
        charge(ledger, "p", Pure(Fraction(1, 100)), BY_ID)
        ledger.answer("p", {"value": 2, "interval": None})
        looked = ledger.all_answers_to("b", "people", claim)
        assert looked.count == 1 and [entry.charge.request for entry in looked.newest] == ["p"]
        assert ledger.newest_to("b", "people", claim["digest"]).charge.request == "p"  # type: ignore[union-attr]
        assert ledger.verify().ok


# What `verify` notices


def _rewritten(folder: Path, changed: Any) -> str | None:
    """Change the row of the protection and chain everything after it anew; what the check of the whole says."""
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as rows:
        rows.row_factory = sqlite3.Row
        for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            rows.execute(f"DROP TRIGGER {name}")
        prev: str | None = None
        for row in map(dict, rows.execute("SELECT * FROM entries ORDER BY seq").fetchall()):
            if row["kind"] == "protect":
                row = changed(row)
            row["prev"] = row["prev"] if prev is None else prev
            row["hash"] = prev = hash_of({name: value for name, value in row.items() if name != "hash"})
            rows.execute(
                "UPDATE entries SET kind = :kind, body = :body, totals = :totals, actor = :actor, prev = :prev,"
                " hash = :hash WHERE seq = :seq",
                row,
            )
        rows.commit()
        return verify(map(dict, rows.execute("SELECT * FROM entries ORDER BY seq"))).why


def _told(row: dict[str, Any], part: str, change: Any) -> dict[str, Any]:
    told = json.loads(row[part])
    change(told)
    return row | {part: canonical(told)}


def _smaller(told: dict[str, Any]) -> None:
    told["after"]["epsilon"] = "1/100"


def _less_delta(told: dict[str, Any]) -> None:
    told["after"]["delta"] = told["before"]["delta"]


def _fewer(told: dict[str, Any]) -> None:
    told["unit"]["at_most"] = 2


def _as_rows(told: dict[str, Any]) -> None:
    told["unit"] = {"kind": "rows"}


@pytest.mark.parametrize(
    ("part", "change", "why"),
    [
        ("totals", lambda told: None, None),
        ("totals", _smaller, "chain.totals"),
        ("totals", _less_delta, "chain.totals"),
        ("body", _fewer, "chain.totals"),
        ("body", _as_rows, "chain.protect"),
        ("body", lambda told: told.update(own={}), "chain.totals"),
        ("body", lambda told: told.pop("unit"), "chain.form"),
    ],
)
def test_an_edited_protection_is_noticed_though_chained_well(tmp_path: Path, part: str, change: Any, why: Any) -> None:
    with opened(tmp_path, Rule.make(Fraction(5), Fraction(1, 10**6))) as ledger:
        charge(ledger, "r", Approximate(Fraction(1, 100), Fraction(1, 10**12)))
        charge(ledger, "s", Pure(Fraction(1, 100)))
        ledger.protect("b", "people", SEVEN, "owner")
        assert ledger.verify().ok
    assert _rewritten(tmp_path, lambda row: _told(row, part, change)) == why


def test_a_protection_that_was_taken_out_of_the_ledger_is_noticed(tmp_path: Path) -> None:
    """Turned into a kind nobody knows, it changes no sums: then the next charge does not begin where it should."""
    with opened(tmp_path) as ledger:
        charge(ledger, "r", Pure(Fraction(1, 100)))
        ledger.protect("b", "people", SEVEN, "owner")
        charge(ledger, "p", Pure(Fraction(1, 100)), BY_ID)
    assert _rewritten(tmp_path, lambda row: row | {"kind": "nothing"}) == "chain.totals"


def test_the_file_itself_refuses_what_would_get_past(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        charge(ledger, "r", Pure(Fraction(1, 100)))
        ledger.protect("b", "people", SEVEN, "owner")
        (seq, prev) = ledger.head()
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as rows, pytest.raises(sqlite3.IntegrityError) as said:
        body = canonical({"table": "people", "claim": {"unit": {"kind": "rows"}}})
        row = (seq + 1, "2026", "charge", "b", "late", "ana", body, "", prev, "0")
        rows.execute(f"INSERT INTO entries VALUES ({', '.join('?' * 10)})", row)
    assert "people are protected" in str(said.value)
