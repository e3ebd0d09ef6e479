"""What the ledger does when nothing goes wrong: charge once, add exactly, remember, stay small."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, admits, fits, price, spent
from dpengine.accountant.loss import Approximate, Exponential, Gaussian, Loss, Pure, Together
from dpengine.core.errors import BudgetExceeded
from dpengine.ledger import ledger as reader_module
from dpengine.ledger.chain import START, hash_of
from dpengine.ledger.ledger import Standing
from dpengine.ledger.rows import Charge, is_request
from dpengine.messages import known
from dpengine.messages.en.ledger import SENTENCES
from tests.helpers_ledger import MILLIONTH, USUAL, WIDE, ask, opened, raises

# Budgets


def test_a_budget_is_created_once_and_its_first_cap_stays(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        first = ledger.budget("b")
        assert (first.id, first.name, first.kind, first.rule) == ("b", "people", "private", USUAL)
        assert ledger.create_budget("b", WIDE, "practice", "eve", "other") == first == ledger.budget("b")
        assert ledger.head()[0] == 1
        with raises("budget.unknown"):
            ledger.budget("c")
        with raises("budget.unknown"):
            ledger.reserve(**ask("r", budget="c"))
        assert ledger.standing("c") == Standing.NOTHING


def test_the_files_are_their_users_alone(tmp_path: Path) -> None:
    with opened(tmp_path):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    names = ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.head", "ledger.head.lock")
    assert modes == dict.fromkeys(names, 0o600)


def test_every_commit_reaches_the_disk(tmp_path: Path) -> None:
    with opened(tmp_path, wait=5.0) as ledger, ledger._store.reading() as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert db.execute("PRAGMA busy_timeout").fetchone()[0] == 5000


# Charging


@pytest.mark.parametrize(("epsilon", "number"), [("0.05", 22), ("0.1", 10)])
def test_exactly_as_many_questions_as_the_rule_says(tmp_path: Path, epsilon: str, number: int) -> None:
    with opened(tmp_path) as ledger:
        for i in range(number):
            assert ledger.reserve(**ask(f"r{i}", epsilon)).fresh
        head = ledger.head()
        with raises("budget.exceeded", BudgetExceeded) as refused:
            ledger.reserve(**ask("one more", epsilon))
        assert ledger.head() == head and ledger.find("one more") is None
        assert refused.value.facts["price"] > refused.value.facts["left"] >= 0
        assert "Nothing was spent" in str(refused.value)
        assert (
            ledger.standing("b").charges
            == number
            == fits(USUAL, Totals.NOTHING, cost(Pure(Fraction(epsilon)), USUAL.alpha))
        )
        assert ledger.verify().ok


def test_sums_and_price_are_exact(tmp_path: Path) -> None:
    losses: list[Loss] = [
        Pure(Fraction("0.1")),
        Exponential(Fraction("0.2")),
        Approximate(Fraction("0.05"), Fraction(1, 10**8)),
        Together((Pure(Fraction("0.01")), Exponential(Fraction(1, 3)))),
        Gaussian(Fraction(1, 1000)),
        Pure(Fraction("0.01")),
    ]
    rule = Rule.make(Fraction(3), MILLIONTH)
    totals = Totals.NOTHING
    with opened(tmp_path, rule) as ledger:
        for i, loss in enumerate(losses):
            charge = ledger.reserve(**ask(f"r{i}", loss=loss))
            paid = cost(loss, rule.alpha)
            assert charge.loss == loss and ledger.before(charge) == totals
            assert charge.price == price(rule, totals, paid)
            totals = totals.plus(paid)
            assert charge.totals_after == totals and admits(rule, totals)
            entry = ledger.find(f"r{i}")
            assert entry is not None and entry.charge == Charge(**vars(charge) | {"fresh": False})
        assert ledger.standing("b").totals == totals
        assert sum(entry.charge.price for entry in ledger.charges()) == spent(rule, totals)
        assert ledger.verify().ok


def test_a_question_can_be_refused_for_its_delta_alone(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        loss = Approximate(Fraction("0.01"), USUAL.delta_reserve * 2 / 3)
        ledger.reserve(**ask("r1", loss=loss))
        with raises("budget.exceeded_delta", BudgetExceeded):
            ledger.reserve(**ask("r2", loss=loss))
        ledger.reserve(**ask("r3"))


def test_gaussian_noise_needs_a_budget_with_delta(tmp_path: Path) -> None:
    with opened(tmp_path, Rule.make(Fraction(1), Fraction(0))) as ledger:
        with raises("budget.needs_delta", BudgetExceeded):
            ledger.reserve(**ask("r1", loss=Gaussian(Fraction(1, 1000))))
        ledger.reserve(**ask("r2"))
        assert ledger.standing("b").charges == 1 and ledger.verify().ok


def test_two_budgets_do_not_touch(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.create_budget("c", USUAL, "practice", "owner", "other")
        for i in range(10):
            ledger.reserve(**ask(f"b{i}"))
        ledger.reserve(**ask("c0", budget="c"))
        assert ledger.standing("b").charges == 10 and ledger.standing("c").charges == 1
        assert ledger.verify().ok


# Requests


def test_the_same_request_twice_is_one_charge(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        first = ledger.reserve(**ask("r"))
        again = ledger.reserve(**ask("r", worker="cd34"))  # the same question from another window's process
        assert first.fresh and not again.fresh
        assert again == Charge(**vars(first) | {"fresh": False})
        assert ledger.standing("b").charges == 1


@pytest.mark.parametrize("other", [{"table": "pets"}, {"actor": "bob"}, {"budget": "c"}, {"claim": {"key": "median"}}])
def test_a_request_belongs_to_one_question(tmp_path: Path, other: dict[str, Any]) -> None:
    with opened(tmp_path) as ledger:
        ledger.create_budget("c", USUAL, "private", "owner", "pets")
        ledger.reserve(**ask("r"))
        head = ledger.head()
        with raises("request.reused"):
            ledger.reserve(**ask("r", **other))
        assert ledger.head() == head


@pytest.mark.parametrize("request_id", ["", "x" * 101, "a\nb", "a\x00b", "\ud800", None, 7])
def test_odd_request_ids_are_refused_in_one_sentence(tmp_path: Path, request_id: object) -> None:
    with opened(tmp_path) as ledger:
        with raises("request.id"):
            ledger.reserve(**ask(request_id))  # type: ignore[arg-type]
        assert ledger.find(request_id) is None  # type: ignore[arg-type]
        assert ledger.standing("b").charges == 0


@settings(max_examples=20, deadline=None)
@given(st.text(min_size=1, max_size=100).filter(is_request))
def test_any_printable_request_id_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, request_id: str
) -> None:
    with opened(tmp_path_factory.mktemp("ledger")) as ledger:
        ledger.reserve(**ask(request_id))
        entry = ledger.find(request_id)
        assert entry is not None and entry.charge.request == request_id and ledger.verify().ok


# Outcomes


def test_a_request_ends_once(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        for ending in ("answered", "failed"):
            ledger.reserve(**ask(ending))
        entry = ledger.find("answered")
        assert entry is not None and entry.outcome is None
        ledger.answer("answered", {"value": 7, "interval": [5, 9]})
        ledger.fail("failed", "release.failed")
        before, head = ledger.standing("b"), ledger.head()
        for ending in ("answered", "failed"):
            with raises("request.settled"):
                ledger.answer(ending, {"value": 8})
            ledger.fail(ending, "release.failed")
        assert ledger.head() == head and ledger.standing("b") == before
        answered, failed = ledger.find("answered"), ledger.find("failed")
        assert (
            answered is not None and answered.outcome is not None and failed is not None and failed.outcome is not None
        )
        assert (answered.outcome.kind, answered.outcome.body) == ("answer", {"value": 7, "interval": [5, 9]})
        assert (failed.outcome.kind, failed.outcome.body) == ("failed", {"code": "release.failed"})
        assert answered.outcome.seq > answered.charge.seq
        assert ledger.verify().ok


def test_nothing_is_answered_without_a_charge(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        with raises("request.unknown"):
            ledger.answer("r", {"value": 1})
        with raises("request.unknown"):
            ledger.fail("r", "release.failed")


def test_an_answer_that_is_not_plain_json_is_not_stored(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.reserve(**ask("r"))
        with pytest.raises(ValueError):
            ledger.answer("r", {"value": float("nan")})
        entry = ledger.find("r")
        assert entry is not None and entry.outcome is None


# Reading


def test_lists_are_newest_first_and_recall_finds_paid_answers(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.create_budget("c", USUAL, "private", "owner", "other")
        for name, epsilon in (("r0", "0.1"), ("r1", "0.1"), ("r2", "0.05"), ("r3", "0.1"), ("r4", "0.1")):
            ledger.reserve(**ask(name, epsilon, table="pets" if name == "r3" else "people"))
        ledger.reserve(**ask("c0", budget="c"))
        for name in ("r0", "r1", "r2", "r3", "c0"):
            ledger.answer(name, {"value": name})
        names = [entry.charge.request for entry in ledger.charges()]
        assert names == ["c0", "r4", "r3", "r2", "r1", "r0"]
        assert [entry.charge.request for entry in ledger.charges(budget="b", limit=2)] == ["r4", "r3"]
        assert [entry.charge.request for entry in ledger.charges(table="pets")] == ["r3"]
        found = ledger.answers_to("b", "people", ask("", "0.1")["claim"])
        assert [entry.outcome.body["value"] for entry in found if entry.outcome] == ["r0", "r1"]
        assert ledger.answers_to("b", "people", ask("", "0.2")["claim"]) == []


def test_exported_rows_are_enough_to_recompute_every_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "_PAGE", 3)  # several pages
    with opened(tmp_path) as ledger:
        for i in range(5):
            ledger.reserve(**ask(f"r{i}", "0.01"))
            ledger.answer(f"r{i}", {"value": i})
        rows = []
        for row in ledger.export_rows("b"):
            rows.append(row)
            if row["kind"] == "charge":  # a reader that stops to write does not trip over its own reading
                ledger.reserve(**ask(f"later-{row['seq']}", "0.01")) if row["seq"] < 12 else None
        assert [row["seq"] for row in rows] == list(range(1, ledger.head()[0] + 1))
        assert all(hash_of(row) == row["hash"] for row in rows)
        assert [row["prev"] for row in rows] == [START, *(row["hash"] for row in rows[:-1])]
        assert all(isinstance(json.loads(row["body"]), dict) for row in rows)


def test_clocks_that_jump_back_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    years = iter(range(2040, 2000, -1))
    monkeypatch.setattr("dpengine.ledger.ledger._now", lambda: datetime(next(years), 1, 1, tzinfo=UTC).isoformat())
    with opened(tmp_path) as ledger:
        for i in range(10):
            ledger.reserve(**ask(f"r{i}"))
            ledger.answer(f"r{i}", {"value": i})
        with raises("budget.exceeded", BudgetExceeded):
            ledger.reserve(**ask("r10"))
        assert [entry.charge.request for entry in ledger.charges(limit=2)] == ["r9", "r8"]
        assert ledger.charges(limit=1)[0].charge.at < ledger.charges()[-1].charge.at
        assert ledger.verify().ok


def test_a_question_has_one_time_and_it_does_not_say_how_long_the_draw_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    years = iter(range(2000, 2040))
    monkeypatch.setattr("dpengine.ledger.ledger._now", lambda: datetime(next(years), 1, 1, tzinfo=UTC).isoformat())
    claim = {"digest": "d", "key": "adaptive_session", "parameters": {"questions": 2}}
    with opened(tmp_path) as ledger:
        for request in ("answered", "failed"):
            ledger.reserve(**ask(request))
        ledger.answer("answered", {"value": 1})
        ledger.fail("failed", "release.failed")
        ledger.reserve(**ask("session") | {"claim": claim})
        for kind, body in (("part", {"value": 1}), ("lost", {"code": "session.step_lost"})):
            burned = ledger.burn("session", kind, "ana", {"sentence": kind}, "ab12")
            ledger.settle_step("session", burned.index, kind, body)
        rows = list(ledger.export_rows())
        by_request = [[row["at"] for row in rows if row["request"] == request] for request in ("answered", "failed")]
        assert [len(times) == 2 and len(set(times)) for times in by_request] == [1, 1]
        steps = [row for row in rows if row["kind"] in ("step", "part", "lost")]
        assert [row["kind"] for row in steps] == ["step", "part", "step", "lost"]
        assert [row["at"] for row in steps[::2]] == [row["at"] for row in steps[1::2]]
        assert len({row["at"] for row in rows}) == len(rows) - 4


def test_every_sentence_says_something_and_fits_its_facts() -> None:
    facts = {"price": 1, "left": 2, "most": 3, "rows": 4, "row": 5, "name": 6, "least": 7}
    for code, sentence in SENTENCES.items():
        assert known(code) and sentence.format(**facts).endswith((".", "…")), code
