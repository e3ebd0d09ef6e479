"""Sessions: charged once and whole, each step burned before its draw, found again after anything, never drawn twice."""

from __future__ import annotations

import gc
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from battery import POSSIBLE_ROWS, allowed_failures, facts

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import checked_parts, cost
from dpengine.accountant.history import History
from dpengine.accountant.loss import Gaussian, Pure, Repeated, Together
from dpengine.asking.answers import claim_of
from dpengine.asking.jobs import Jobs
from dpengine.asking.receipts import check, read_receipts
from dpengine.asking.sessions import Session, bears
from dpengine.declared.facts import Facts
from dpengine.ledger import exports
from dpengine.ledger.chain import hash_of, verify
from dpengine.ledger.ledger import Ledger
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession, State
from dpengine.mechanisms.session.asks import Average, Share
from dpengine.noise.coins import SystemCoins
from dpengine.population import people_needed
from dpengine.population.session_validity import noise_of, outward
from dpengine.workspace import Workspace
from tests.helpers_ledger import end_child, raises, start_child

PEOPLE = 400
TX = {"share": [["town", "in", ["A"]]]}
BOTH = {"share": [["town", "in", ["A"]], ["x", ">=", 3]]}
X = {"average": "x"}
LARGEST = {"largest": [[["town", "in", ["A"]]], [["x", ">=", 3]]]}


def add(home: Workspace, name: str = "people", **terms: Any) -> dp.Table:
    """Different content under each name, so that each has its own allowance."""
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * (PEOPLE // 4), "town": ["A", "B"] * (PEOPLE // 2), "note": name})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1), "town": dp.Category(["A", "B"])})
    told: dict[str, Any] = {"unit": dp.Unit.rows(), "budget": dp.Budget("3", "1e-6")}
    return home.add_table(name, frame, schema=schema, **(told | terms))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


class Quiet(SystemCoins):
    def laplace(self, values: Any, scale: Any) -> Any:
        return list(values)


def in_a_child(session: Session, coins: SystemCoins) -> Session:
    """As a forked process has it: its own ledger and worker, and none of the libraries whose threads die in a fork."""
    gc.disable()  # collecting what they left behind would crash
    ledger = Ledger(session.ledger.path)
    return replace(session, ledger=ledger, jobs=Jobs(ledger.path.parent, ledger), read=lambda _: 200, coins=coins)


def query(table: dp.Table, questions: Any = 3, epsilon: str = "1.5", **more: Any) -> dp.Query:
    return table.query("adaptive_session", questions=questions, epsilon=epsilon, **more)


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
    assert state == State(4, 4) == State.from_json(json.loads(json.dumps(state.as_json()))) and not ended
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


# What is refused, before anything is burned


@pytest.mark.parametrize("wrong", [0, -1, "many", 2.5, True, 10_001, None, [], "1e9"], ids=repr)
def test_a_number_of_questions_that_cannot_be(home: Workspace, wrong: Any) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        AdaptiveSession.build(facts("replace"), {"questions": wrong, "epsilon": "1"})
    assert str(refused.value).endswith(".") and refused.value.code in ("session.questions", "query.missing")


NO_QUERY = [
    None,
    {},
    {"sum": "x"},
    {"share": []},
    {"share": [["x", ">", 99]], "average": "x"},
    {"average": "town"},
    {"average": "nobody"},
    {"average": ["x"]},
    {"largest": [[["x", ">", 1]]]},
    {"share": "x"},
    "share",
    {"average": {"column": "x", "times": 2}},
    {"largest": [[["x", ">", 1]], []]},
]


def test_what_is_no_query_into_the_unit_interval_is_refused_and_burns_nothing(home: Workspace) -> None:
    table = add(home)
    session = table.open_session(query(table), "s")
    for wrong in NO_QUERY:
        with pytest.raises(dp.AllowanceError) as refused:
            session.ask(wrong, "a")
        assert str(refused.value).endswith(".") and "\n" not in str(refused.value)
    assert session.look()[0].asked == 0


def test_more_questions_than_the_spend_bears_names_the_most(home: Workspace) -> None:
    table = add(home)
    with raises("session.too_many") as refused:
        table.open_session(query(table, 5000, "1"))
    most = refused.value.facts["most"]
    assert table.meter().charges == 0 and 1 <= most < 5000
    table.open_session(query(table, most, "1"))
    with raises("session.too_many"):
        table.open_session(query(table, most + 1, "1"))
    with raises("session.too_small"):
        table.open_session(query(table, 1, "0.0001"))
    with raises("budget.exceeded", dp.BudgetExceeded):
        table.open_session(query(table, 2, "50"))


def test_gaussian_and_lecture_say_where_they_do_not_hold(home: Workspace) -> None:
    table = add(home)
    with raises("session.largest_gaussian"):
        query(table, calibration="gaussian", ask=LARGEST)
    with raises("lecture.epsilon_range"):
        query(table, 3, "10", calibration="lecture", delta="0.01")  # 10 > 2·ln(100)
    with raises("delta.missing"):
        query(table, calibration="lecture")
    with raises("session.delta_unused"):
        query(table, delta="1e-6")
    with raises("session.calibration"):
        query(table, calibration="loose")
    pure = add(home, "pure", budget=dp.Budget("3", "0"))
    for calibration in ("gaussian", "lecture"):
        with raises("session.no_delta"):
            pure.session_for(3, Fraction(1), calibration)
    opened = table.open_session(query(table, 4, "1", calibration="gaussian"), "g")
    assert opened.entry.charge.loss == Gaussian(Fraction(1, 8)) and table.meter().pure_closed
    assert opened.ask(X, "a").state == "done"


# What it costs


def test_many_equal_parts_cost_what_they_cost_together_and_stay_short(home: Workspace) -> None:
    alpha = Fraction(22)
    for part in (Pure(Fraction(1, 700)), Gaussian(Fraction(1, 10**6)), Together((Pure(Fraction(1, 30)),) * 2)):
        many, one_by_one = Repeated(part, 50), Together((part,) * 50)
        assert cost(many, alpha) == cost(one_by_one, alpha)
        assert History.NOTHING.plus(many) == History.NOTHING.plus(one_by_one)
        assert checked_parts(many) == checked_parts(one_by_one)
    for wrong in (0, -1, True, Fraction(3)):
        with raises("loss.range"):
            cost(Repeated(Pure(Fraction(1)), wrong), alpha)  # type: ignore[arg-type]
    table = add(home, budget=dp.Budget("40", "1e-6"))
    asked = query(table, 10_000, "30")
    assert len(json.dumps(claim_of(asked))) < 2000 and cost(asked.loss(), alpha).epsilon == 30


@pytest.mark.parametrize("calibration", ["laplace", "gaussian"])
def test_the_tight_session_spends_what_was_chosen_and_no_more(home: Workspace, calibration: str) -> None:
    table = add(home)
    table.ask(table.query("count", where=TX["share"], epsilon="0.3"))
    rule, spend = table.budget.rule, Fraction(1, 2)
    found = table.session_for(200, spend, calibration)
    assert table.preview(found).share <= spend and table.preview(found).admissible
    more = found.at(found.epsilon + Fraction(1, 10**6))
    assert table.preview(more).share > spend or not table.preview(more).admissible
    assert found.each > spend * rule.epsilon / 200, "better than dividing by the number of questions"
    wide = table.session_for(200, spend, "lecture")
    assert wide.delta == rule.delta_slack and wide.each < found.each and wide.alpha >= found.alpha
    assert wide.loss() == Repeated(Pure(wide.each), 200)
    assert filter.share(rule, home.ledger.standing(table.budget.id).totals, cost(wide.loss(), rule.alpha)) <= spend
    most = bears(lambda k: table.session_for(k, spend, calibration), Fraction(1, 4))
    assert table.session_for(most, spend, calibration).alpha <= Fraction(1, 4)
    assert table.session_for(most + 1, spend, calibration).alpha > Fraction(1, 4)
    with raises("session.no_room"):
        table.session_for(10, Fraction(1, 10**6), calibration)


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
        with raises("ledger.damaged"), home.ledger._file.writing() as db:
            home.ledger._append(db, "step", table.budget.id, "s", table.actor, json.dumps(wrong), "", "now")
    assert home.verify_ledger().ok


# An analyst who tries: sample errors stay within α


def attack(asked: AdaptiveSession, rows: list[Any]) -> bool:
    """Each question depends on the last answer; was one farther than α, or the truth outside its range?"""
    state, far, coins = asked.open(), False, SystemCoins()
    ask: dict[str, Any] = {"share": [["x", ">", 0]]}
    while state.left:
        state, part = asked.step(state, ask, lambda need: need.of(rows), coins)
        query = part.query
        assert query.ask is not None and not hasattr(query.ask, "options")
        truth = query._told(query.measured(query.need().of(rows))[0])
        error = abs(part.released.value - truth) / float(query.ask.width)  # type: ignore[union-attr]
        low, high = part.released.interval
        far = far or error > float(asked.alpha) + 1e-12 or not low - 1e-9 <= truth <= high + 1e-9
        high = part.released.value > truth
        ask = {"average": "x"} if high else {"share": [["x", ">", 0], ["c", "in", ["a" if high else "b"]]]}
    return far


@pytest.mark.parametrize("calibration", ["laplace", "gaussian"])
def test_an_adaptive_analyst_gets_answers_within_alpha(calibration: str) -> None:
    """β = 0.2, 150 sessions of four questions; false alarm ≤ 1e-6 by the exact binomial tail. With three times the
    noise the promise fails nearly always: the check has power."""
    rows = [POSSIBLE_ROWS[place % len(POSSIBLE_ROWS)] for place in range(1, 161)]
    about: Facts = facts("replace", about=len(rows))
    given = {"questions": 4, "calibration": calibration, "epsilon": "1", "beta": "0.2"}
    asked = AdaptiveSession.build(about, given)
    sessions = 150
    assert sum(attack(asked, rows) for _ in range(sessions)) <= allowed_failures(sessions, 0.2)

    class Loud(AdaptiveSession):
        @property
        def alpha(self) -> Fraction:
            return super().alpha / 3

    loud = Loud.build(about, given)
    assert sum(attack(loud, rows) for _ in range(sessions)) > allowed_failures(sessions, 0.2)


# The population


def about(people: int, relation: str, **given: Any) -> AdaptiveSession:
    return AdaptiveSession.build(facts(relation, about=people), {"epsilon": "1", "questions": 50} | given)


@pytest.mark.parametrize("calibration", ["laplace", "gaussian"])
def test_bounds_on_the_population_count_add_remove_twice_and_a_choice_as_what_it_is(calibration: str) -> None:
    asked = about(100_000, "replace", calibration=calibration)
    first, *others = outward(asked)
    assert first.claimed and first.width == min(one.width for one in (first, *others[:-1]) if one.claimed)
    assert others[-1].theorem == "split" and first.width > asked.alpha
    assert noise_of(asked).each.epsilon == asked.each if calibration == "laplace" else True  # type: ignore[union-attr]
    secret = about(100_000, "add_remove", calibration=calibration)
    assert outward(secret)[0].width > first.width + secret.alpha / 2
    chosen = [one for one in outward(asked, choice=True)[:-1] if one.claimed]
    assert [one.theorem for one in chosen] == ["jung"]
    for ask in ({"average": "x"}, {"share": [["x", ">", 0]]}):  # α of every kind of question is covered
        step = asked.asking(ask)
        assert isinstance(step.ask, Average | Share)
        assert step.promise().amount / step.ask.width <= asked.alpha


def test_too_few_people_for_a_population_names_how_many_would_do() -> None:
    few = about(200, "replace", epsilon="5")
    assert outward(few)[0].width >= Fraction(1, 2)
    enough = people_needed.least_people(50, Fraction(1, 10))
    assert enough is not None and enough > 200
    assert people_needed.best(enough, 50).width <= Fraction(1, 10) < people_needed.best(enough - 1, 50).width
