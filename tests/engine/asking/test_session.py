"""Sessions: charged once and whole, each step burned before its draw, found again after anything, never drawn twice."""

from __future__ import annotations

import gc
import json
import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from helpers_session import BOTH, LARGEST, PEOPLE, TX, X, add, query

import dpengine as dp
from dpengine.accountant.loss import Pure, Repeated
from dpengine.asking.answers import claim_of
from dpengine.asking.jobs import Jobs
from dpengine.asking.receipts import check, read_receipts
from dpengine.asking.sessions import Session
from dpengine.ledger import exports
from dpengine.ledger.chain import hash_of, verify
from dpengine.ledger.ledger import Ledger
from dpengine.mechanisms.session.adaptive_session import State
from dpengine.mechanisms.session.asks import Average
from dpengine.noise.coins import SystemCoins
from dpengine.workspace import Workspace
from tests.helpers_ledger import end_child, raises, start_child


class Quiet(SystemCoins):
    def laplace(self, values: Any, scale: Any) -> Any:
        return list(values)


def in_a_child(session: Session, coins: SystemCoins) -> Session:
    """As a forked process has it: its own ledger and worker, and none of the libraries whose threads die in a fork."""
    gc.disable()  # collecting what they left behind would crash
    ledger = Ledger(session.ledger.path)
    return replace(session, ledger=ledger, jobs=Jobs(ledger.path.parent, ledger), read=lambda _: 200, coins=coins)


# The whole way


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_session_is_charged_once_and_answers_what_was_paid_for(home: Workspace, relation: str) -> None:
    table = add(home, relation=relation, about_rows=PEOPLE)
    asked = query(table, 4, "2")
    price = table.preview(asked).cost
    session = table.open_session(asked, "s1")
    assert table.meter().charges == 1 and table.meter().spent_epsilon == price
    assert session.entry.charge.loss == Repeated(Pure(Fraction(1, 2)), 4)
    for number, ask in enumerate((TX, BOTH, X, LARGEST), 1):
        taken = session.ask(ask, f"step {number}")
        assert (taken.index, taken.state) == (number, "done")
        assert session.ask(ask, f"step {number}") == taken, "the same id is the same answer"
    state, ended, steps = session.look()
    assert state == State(4, 4) and not ended
    assert [one.value for one in steps][3] in ("town is A", "x is at least 3")
    low, high = steps[2].interval
    assert 0 <= low <= steps[2].value <= high <= 10 and steps[0].query.promise().nominal == (relation != "replace")
    with raises("session.over"):
        session.ask(TX, "one more")
    assert table.meter().charges == 1 and table.meter().spent_epsilon == price, "steps cost nothing more"
    assert home.verify_ledger().ok

    lines = "".join(table.answer_lines()).encode()
    receipts = read_receipts(lines, "answers.jsonl")
    found = [one.code for one in check(receipts, home.ledger.export_rows())]
    assert found == ["verify.fine"] + 4 * ["verify.fine_step"]
    with exports.opened(home.ledger.path) as rows:
        assert all(one.ok for one in check(receipts, rows))
    for path in (["part", "value"], ["step", "claim", "sentence"], ["step", "index"], ["step", "hash"]):
        wrong = json.loads(json.dumps(receipts[1]))
        inner = wrong
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = 2 if path[-1] == "index" else "other"
        assert not check([wrong], home.ledger.export_rows())[0].ok, path
    told = [row[3] for row in table.answer_rows()]
    assert told[0] == asked.sentence() and told[1:] == [one.sentence for one in steps]
    kinds = Counter(row[2] for row in table.ledger_rows())
    assert kinds == {"budget": 1, "charge": 1, "answer": 1, "step": 4, "part": 4}


def test_a_step_is_in_the_ledger_before_anything_is_read_or_drawn(home: Workspace) -> None:
    table = add(home)
    session = table.open_session(query(table), "s")
    seen: list[Any] = []

    class Watching(SystemCoins):
        def laplace(self, values: Any, scale: Any) -> Any:
            with exports.opened(home.ledger.path) as rows:  # as another program would see the file now
                seen.append([row["kind"] for row in rows][-1])
            return super().laplace(values, scale)

    home.coins = Watching()
    table.session("s").ask(TX, "a")
    assert seen == ["step"]
    assert session.look()[0] == State(3, 1)


def test_a_kill_between_burn_and_answer_loses_the_step_and_nobody_draws_it_again(home: Workspace) -> None:
    table = add(home)
    session = table.open_session(query(table), "s")

    class Killing(SystemCoins):
        def laplace(self, values: Any, scale: Any) -> Any:
            os._exit(9)

    pid, pipe = start_child(lambda: in_a_child(session, Killing()).ask(TX, "a"))
    assert end_child(pid, pipe) == "", "killed in mid-draw"
    session = table.session("s")
    state, _, steps = session.look()
    assert state == State(3, 1) and [one.state for one in steps] == ["lost"] and steps[0].value is None
    with raises("session.step_lost"):
        session.ask(TX, "a")
    assert session.job("a").state == "lost" and session.look()[0].asked == 1
    assert session.ask(TX, "b").index == 2
    assert home.verify_ledger().ok
    receipt = session.look()[2][0].receipt
    assert check([receipt], home.ledger.export_rows())[0].code == "verify.step_unanswered"


def test_a_failed_draw_is_told_and_stays_lost(home: Workspace) -> None:
    table = add(home)
    table.open_session(query(table), "s")

    class Failing(SystemCoins):
        def laplace(self, values: Any, scale: Any) -> Any:
            raise RuntimeError("secret 17")

    home.coins = Failing()
    with raises("session.step_lost"):
        table.session("s").ask(TX, "a")
    home.coins = SystemCoins()
    with raises("session.step_lost"):
        table.session("s").ask(TX, "a")
    kinds = [row["kind"] for row in home.ledger.export_rows()]
    assert kinds[-2:] == ["step", "lost"] and home.verify_ledger().ok
    assert not any("17" in row["body"] for row in list(home.ledger.export_rows())[-1:])


def test_two_who_ask_at_once_get_different_numbers(home: Workspace) -> None:
    """Threads of this process and a second process, nine askers for six questions."""
    table = add(home)
    session = table.open_session(query(table, 6, "2"), "s")
    won: list[int] = []
    refused: list[str] = []

    def ask(session: Any, step: str) -> None:
        try:
            won.append(session.ask(TX, step).index)
        except dp.AllowanceError as error:
            refused.append(error.code)

    def other() -> str:
        there = in_a_child(session, Quiet())
        for number in range(3):
            ask(there, f"other {number}")
        return json.dumps([won, refused])

    pid, pipe = start_child(other)
    threads = [threading.Thread(target=ask, args=(session, f"own {number}")) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    theirs = json.loads(end_child(pid, pipe))
    assert sorted(won + theirs[0]) == [1, 2, 3, 4, 5, 6]
    assert refused + theirs[1] == ["session.over"] * 3
    assert home.verify_ledger().ok


def test_a_session_goes_on_after_a_restart(tmp_path: Path) -> None:
    first = Workspace(tmp_path / "var")
    table = add(first)
    before = table.open_session(query(table, 3, "1.2"), "s")
    answer = before.ask(TX, "a")
    first.close()
    again = Workspace(tmp_path / "var")
    session = again.table("people").session("s")
    state, ended, steps = session.look()
    assert state == State(3, 1) and not ended and steps == [answer]
    assert session.query.each == before.query.each == Fraction(2, 5) and session.query.alpha == before.query.alpha
    session.submit(BOTH, "b")
    while not session.job("b").over:
        pass
    assert session.job("b").state == "done" and session.look()[2][1].index == 2
    again.close()


def test_a_session_killed_while_it_was_opened_is_there_and_paid(home: Workspace) -> None:
    table = add(home)
    asked = query(table)
    home.ledger.reserve(
        budget=table.budget.id,
        table="people",
        actor=table.actor,
        request="s",
        worker="dead",
        claim=claim_of(asked),
        loss=asked.loss(),
    )
    assert home.job("s").state == "interrupted"
    assert table.session("s").ask(TX, "a").index == 1
    assert home.job("s").state == "done" and table.meter().charges == 1 and home.verify_ledger().ok


def test_ending_early_keeps_the_charge_and_says_so(home: Workspace) -> None:
    table = add(home)
    session = table.open_session(query(table, 5), "s")
    session.ask(TX, "a")
    spent = table.meter().spent_epsilon
    session.end()
    session.end()
    assert session.look()[1] and table.meter().spent_epsilon == spent > 0
    with raises("session.ended"):
        session.ask(TX, "b")
    assert session.ask(TX, "a").index == 1, "what was told is free to see again"
    last = list(table.ledger_rows())[-1]
    assert last[2] == "ended" and "charge stays" in last[6] and home.verify_ledger().ok


@pytest.mark.parametrize("kind", ["seal", "forget"])
def test_a_closed_table_answers_no_further_step(home: Workspace, kind: str) -> None:
    table = add(home)
    session = table.open_session(query(table), "s")
    first = session.ask(TX, "a")
    getattr(home, kind)("people")
    with raises("table.sealed" if kind == "seal" else "table.forgotten"):
        session.ask(TX, "b")
    assert home.table("people").session("s").look()[2] == [first] and home.verify_ledger().ok


def test_another_schema_another_table_and_another_step(home: Workspace) -> None:
    table = add(home)
    session = table.open_session(query(table), "s")
    first = session.ask(X, "a")
    with raises("session.step_reused"):
        session.ask(TX, "a")
    with raises("request.id"):
        session.ask(TX, "")
    with raises("session.unknown"):
        add(home, "others").session("s")
    for other in ("none", "x" * 500, "\n"):
        with raises("session.unknown"):
            table.session(other)
    table.ask(table.query("count", where=TX["share"], epsilon="0.1"), "count")
    with raises("session.unknown"):
        table.session("count")
    with raises("session.step_alone"):
        table.ask(query(table, ask=TX))
    wider = table.revise(dp.Schema({"x": dp.Number(0, 20, step=1)}))
    with raises("table.revised"):
        session.ask(X, "b")
    going_on = wider.session("s")
    assert going_on.look()[2] == [first], "an answer keeps the bounds it was given under"
    second = going_on.ask(X, "b")
    assert second.index == 2 and isinstance(second.query.ask, Average) and second.query.ask.width == 20
    receipts = read_receipts("".join(wider.answer_lines()).encode(), "a.jsonl")
    assert all(one.ok for one in check(receipts, home.ledger.export_rows()))


# The ledger's own guards


def rewritten(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows numbered and hashed anew, as somebody who rewrites the whole file would."""
    prev, made = "0" * 64, []
    for seq, row in enumerate(rows, 1):
        one = row | {"seq": seq, "prev": prev}
        one["hash"] = prev = hash_of(one)
        made.append(one)
    return made


def test_the_walk_over_the_chain_knows_the_order_of_a_session(home: Workspace) -> None:
    table = add(home)
    session = table.open_session(query(table, 2), "s")
    session.ask(TX, "a")
    session.ask(TX, "b")
    session.end()
    rows = [dict(row) for row in home.ledger.export_rows()]
    budget, charge, answer, one, told, two, told_two, end = rows
    assert [row["kind"] for row in rows[3:]] == ["step", "part", "step", "part", "ended"]

    def edited(row: dict[str, Any], **body: Any) -> dict[str, Any]:
        return row | {"body": json.dumps(json.loads(row["body"]) | body)}

    assert verify(rewritten(rows)).ok
    third = edited(two, index=3, step="c")
    planted: list[tuple[Callable[[], list[dict[str, Any]]], str]] = [
        (lambda: [budget, charge, answer, two], "chain.session"),  # out of order
        (lambda: [budget, charge, answer, one, told, two, told_two, third], "chain.session"),  # never paid for
        (lambda: [budget, charge, answer, one, told, told], "chain.session"),  # told twice
        (lambda: [budget, charge, answer, told], "chain.session"),  # told before it was burned
        (lambda: [budget, charge, answer, edited(end, asked=0), one], "chain.session"),  # after the end
        (lambda: [budget, charge, answer, end], "chain.session"),  # ended with another count
        (lambda: [budget, charge, answer, one, told, edited(two, step="a")], "chain.session"),  # an id twice
        (lambda: [budget, charge, answer, one | {"actor": "eve"}], "chain.session"),
        (lambda: [budget, one], "chain.orphan"),
    ]
    for wrong, why in planted:
        assert verify(rewritten(wrong())).why == why


def test_the_file_itself_refuses_a_step_that_was_not_paid_for(home: Workspace) -> None:
    table = add(home)
    table.open_session(query(table, 1), "s").ask(TX, "a")
    body = {"table": "people", "index": 2, "step": "b", "worker": "w", "claim": {}}
    for wrong in (body, body | {"index": 1}, body | {"index": 7}):
        with raises("ledger.damaged"), home.ledger._store.writing() as db:
            home.ledger._append(db, "step", table.budget.id, "s", table.actor, json.dumps(wrong), "", "now")
    assert home.verify_ledger().ok
