"""Plans: exact arithmetic before, one transaction at the charge, what happens after; and the price of a fixed list."""

from __future__ import annotations

import ast
import math
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.accountant import filter, pld
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals, spent
from dpengine.accountant.loss import Approximate, Exponential, Gaussian, Loss, Pure, Together
from dpengine.asking.jobs import Jobs
from dpengine.asking.plan import MOST_ROWS, Planner, Wish, round_up_amount
from dpengine.asking.release import Release, charge_and_draw_all
from dpengine.ledger.ledger import Ledger
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.workspace import Workspace
from tests.helpers_ledger import MILLIONTH, ask, code_of, end_child, opened, raises, start_child, until, value

SCHEMA = dp.Schema({"salary": dp.Number(0, 1000), "state": dp.Category(["TX", "CA", "NY"])})


@pytest.fixture
def table(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[dp.Table]:
    workspace, relation = Workspace(tmp_path / "var"), getattr(request, "param", "replace")
    rows = pd.DataFrame({"salary": [i % 1001 for i in range(900)], "state": ["TX", "CA", "NY"] * 300})
    yield workspace.add_table(
        "people",
        rows,
        schema=SCHEMA,
        unit=dp.Unit.rows(),
        relation=relation,
        about_rows=None if relation == "replace" else 900,
        budget=dp.Budget(epsilon="1", delta="1e-6"),
    )
    workspace.close()


def three(table: dp.Table, mean: str = "20", count: str = "30", lock_mean: bool = False) -> list[Wish]:
    return [
        Wish(table.query("mean", column="salary", epsilon="0.1"), Fraction(mean), lock_mean),
        Wish(table.query("count", where=[["state", "in", ["TX"]]], epsilon="0.1"), Fraction(count)),
        Wish(table.query("histogram", column="state", epsilon="0.1"), Fraction(40)),
    ]


# Pricing


def test_each_question_is_taken_at_the_least_spend_that_keeps_its_promise(table: dp.Table) -> None:
    priced = table.planner().price(three(table, count="29"))
    for line in priced.lines:
        assert line.query is not None
        assert line.query.epsilon == least_epsilon(line.wish.query.with_noise(line.query.noise), line.wish.amount)
        assert line.promise.amount <= line.wish.amount
        assert line.query.at(line.query.epsilon - MILLIONTH).promise().amount > line.wish.amount
    assert priced.fits and priced.share == sum(line.share for line in priced.lines) and priced.over == 0


def test_the_price_of_a_plan_is_what_asking_it_takes(table: dp.Table) -> None:
    priced = table.planner().price(three(table))
    for line in priced.lines:
        assert line.query is not None
        before = table.meter().used
        table.ask(line.query)
        assert table.meter().used - before == line.share
    assert table.meter().used == priced.share
    assert table.planner().price(three(table)).used == priced.share


def test_what_is_to_be_kept_counts_exactly(table: dp.Table) -> None:
    total = table.planner().price(three(table)).share
    just = table.planner(keep=1 - total).price(three(table))
    assert just.fits and just.over == 0
    more = table.planner(keep=1 - total + Fraction(1, 10**12)).price(three(table))
    assert not more.fits and more.over == Fraction(1, 10**12) and more.admitted


def test_a_promise_out_of_reach_does_not_fit(table: dp.Table) -> None:
    wish = Wish(table.query("mean", column="salary", epsilon="0.1"), Fraction(0))
    priced = table.planner().price([wish])
    assert priced.lines[0].query is None and not priced.reachable and not priced.fits


@pytest.mark.every(9)
@pytest.mark.parametrize("keep", [Fraction(0), Fraction(1, 4)])
@pytest.mark.parametrize("locked", [False, True])
def test_redistribution_uses_what_is_left_and_keeps_locks_and_the_part_to_keep(
    table: dp.Table, keep: Fraction, locked: bool
) -> None:
    planner, wishes = table.planner(keep), three(table, mean="20", count="2", lock_mean=locked)
    assert not planner.price(wishes).fits
    found = planner.redistributed(wishes)
    assert found is not None
    priced = planner.price(found)
    assert priced.fits and priced.used + priced.share <= 1 - keep
    assert (found[0].amount == 20) == locked
    ratios = [new.amount / old.amount for new, old in zip(found, wishes, strict=True) if not new.locked]
    assert max(ratios) / min(ratios) < Fraction(102, 100)  # one factor, up to the rounding to three figures
    tighter = [Wish(one.query, one.amount if one.locked else one.amount * 97 / 100, one.locked) for one in found]
    assert not planner.price(tighter).fits  # it just fits


@pytest.mark.long
@pytest.mark.every(3)
def test_a_plan_with_room_is_made_better(table: dp.Table) -> None:
    wishes = three(table, mean="200", count="200")
    found = table.planner().redistributed(wishes)
    assert found is not None and all(new.amount < old.amount for new, old in zip(found, wishes, strict=True))


def test_reliefs_say_what_would_be_enough(table: dp.Table) -> None:
    planner, wishes = table.planner(), three(table, count="2")
    (relief,) = planner.reliefs(wishes)
    assert relief.place == 1 and relief.without and relief.amount is not None
    assert planner.price([wishes[0], Wish(wishes[1].query, relief.amount), wishes[2]]).fits
    locked = [Wish(one.query, one.amount, True) for one in wishes]
    assert planner.redistributed(locked) is None
    assert [(one.place, one.amount, one.without) for one in planner.reliefs(locked)] == [(1, None, True)]


def test_plans_of_no_and_of_too_many_rows(table: dp.Table) -> None:
    assert table.planner().price([]).fits
    assert code_of(lambda: table.planner().price(three(table) * MOST_ROWS)) == "plan.long"
    assert code_of(lambda: table.submit_plan([], "run")) == "plan.empty"
    assert code_of(lambda: Planner(table.budget.rule, table._standing().totals, Fraction(1))) == "plan.keep_range"


def test_a_plan_takes_the_noise_that_is_cheapest_for_all_of_it(table: dp.Table) -> None:
    """Against every assignment of noise, one by one: none leaves the meter lower."""
    rule = table.budget.rule
    for amount in (4, 8, 20, 60):
        wishes = [Wish(table.query("histogram", column="state", epsilon="0.1"), Fraction(amount))] * 3
        wishes.append(Wish(table.query("count", where=[["state", "in", ["TX"]]], epsilon="0.1"), Fraction(amount)))
        priced = table.planner().price(wishes)
        readings = []
        for noises in product(*[("", *wish.query.noises) for wish in wishes]):
            totals = Totals.NOTHING
            for wish, noise in zip(wishes, noises, strict=True):
                query = wish.query.with_noise(noise)
                least = least_epsilon(query, wish.amount)
                assert least is not None
                totals = totals.plus(cost(query.at(least).loss(), rule.alpha))
            readings.append(filter.used(rule, totals))
        assert priced.share == min(readings)
    assert any(line.query is not None and line.query.noise == "gaussian" for line in priced.lines)


@pytest.mark.parametrize(("amount", "told"), [("0.012345", "0.0124"), ("26", "26"), ("2345", "2350"), ("999.5", "1e3")])
def test_a_promise_is_tidied_to_the_loose_side(amount: str, told: str) -> None:
    assert round_up_amount(Fraction(amount)) == Fraction(told) and round_up_amount(Fraction(told)) == Fraction(told)


# Running


def test_a_plan_is_charged_in_one_go_and_answered_row_by_row(table: dp.Table) -> None:
    wishes = three(table, mean="40")
    queries = table.planner().price([*wishes, wishes[0]]).queries  # the same question twice is fine
    table.submit_plan(queries, "run")
    until(lambda: table.run("run").over)
    run = table.run("run")
    assert [state for _, state in run.rows] == ["done"] * 4 and run.done == 4
    numbers = [entry.charge.seq for entry, _ in run.rows]
    assert numbers == list(range(numbers[0], numbers[0] + 4))  # nothing came in between
    assert [entry.charge.claim["key"] for entry, _ in run.rows] == ["mean", "count", "histogram", "mean"]
    assert table._workspace.verify_ledger().ok
    table.submit_plan(queries, "run")  # the same run again: the same charges
    until(lambda: table.run("run").over)
    assert table.meter().charges == 4


def test_a_plan_that_does_not_fit_charges_nothing(table: dp.Table) -> None:
    queries = table.planner().price(three(table)).queries
    before = table._workspace.ledger.head()
    for run, keep, asked in (("dear", Fraction(0), queries * 9), ("kept", Fraction(9, 10), queries)):
        table.submit_plan(asked, run, keep)
        until(lambda run=run: table.run(run).over)  # type: ignore[misc]
        found = table.run(run)
        assert found.rows == () and isinstance(found.error, dp.BudgetExceeded) and found.error.code == "plan.exceeded"
    assert table._workspace.ledger.head() == before and table.run("never").error is None


def test_a_sealed_table_takes_no_plan(table: dp.Table) -> None:
    queries = table.planner().price(three(table)).queries
    table._workspace.ledger.close_table("seal", table.budget.id, table.name, "owner")
    table.submit_plan(queries, "late")
    until(lambda: table.run("late").over)
    assert table.run("late").rows == () and table.run("late").error is not None


def _steps(jobs: Jobs, run: str, read: Callable[[], int], epsilon: str = "0.1") -> list[Release]:
    rows = [ask(f"{run}.{number}", epsilon, worker=jobs.worker) for number in (1, 2, 3)]
    return [Release(row, read, value) for row in rows]


def _carry_until_told(folder: Path) -> str:
    """The first draw goes through, the second waits for ever."""
    draws: list[int] = []

    def read() -> int:
        draws.append(1)
        if len(draws) > 1:
            until((folder / "never").exists)
        return 7

    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        jobs = Jobs(folder, ledger)  # holds the lock that says this process lives
        charge_and_draw_all(ledger, _steps(jobs, "p", read), Fraction(0))
        jobs.close()
    return "carried"


def test_a_process_killed_in_the_middle_leaves_the_rest_charged_and_never_drawn(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        jobs = Jobs(tmp_path, ledger)
        pid, pipe = start_child(lambda: _carry_until_told(tmp_path))
        until(lambda: (entry := ledger.find("p.1")) is not None and entry.outcome is not None)
        assert [jobs.state(f"p.{n}").state for n in (1, 2, 3)] == ["done", "running", "running"]
        os.kill(pid, signal.SIGKILL)
        assert end_child(pid, pipe) == ""
        assert [jobs.state(f"p.{n}").state for n in (1, 2, 3)] == ["done", "interrupted", "interrupted"]
        drawn: list[int] = []
        charge_and_draw_all(ledger, _steps(jobs, "p", lambda: drawn.append(1) or 8), Fraction(0))  # type: ignore[func-returns-value]
        assert not drawn and ledger.standing("b").charges == 3 and ledger.verify().ok
        jobs.close()


def test_one_failed_draw_does_not_stop_the_others(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        jobs = Jobs(tmp_path, ledger)
        turns = iter((7, None, 9))

        def read() -> int:
            turn = next(turns)
            if turn is None:
                raise ValueError("a value of the data")
            return turn

        charge_and_draw_all(ledger, _steps(jobs, "p", read), Fraction(0))
        assert [jobs.state(f"p.{n}").state for n in (1, 2, 3)] == ["done", "failed", "done"]
        jobs.close()


def _spend(folder: Path, name: str) -> int:
    """Plans of three until one is refused; how many were carried."""
    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        jobs, carried = Jobs(folder, ledger), 0
        try:
            while True:
                charge_and_draw_all(ledger, _steps(jobs, f"{name}{carried}", lambda: 7, "0.03"), Fraction(0))
                carried += 1
        except dp.BudgetExceeded:
            return carried
        finally:
            jobs.close()


def test_two_processes_cannot_overspend_together(tmp_path: Path) -> None:
    rule = Rule.make(Fraction(1), Fraction(0))
    with opened(tmp_path, rule) as ledger:
        children = [start_child(lambda name=name: _spend(tmp_path, name)) for name in "xy"]  # type: ignore[misc]
        carried = [int(end_child(*child)) for child in children]
        totals = ledger.standing("b").totals
        assert sum(carried) == 11 and spent(rule, totals) == Fraction("0.99") <= rule.epsilon  # a twelfth would be 1.08
        assert ledger.verify().ok


def test_a_reservation_is_whole_or_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.reserve(**ask("one"))
        with raises("request.reused"):  # one of two was charged on its own
            ledger.reserve_all([ask("one"), ask("two")])
        with raises("request.reused"):
            ledger.reserve_all([ask("two"), ask("two")])
        with raises("plan.exceeded", dp.BudgetExceeded):
            ledger.reserve_all([ask("two", "0.5"), ask("three", "0.5")])
        assert ledger.standing("b").charges == 1 and ledger.find("two") is None


# A fixed list, numerically


@pytest.mark.every(3)
@pytest.mark.parametrize(("epsilon", "most"), [("0.1", 10), ("0.05", 26), ("0.01", 562)])
def test_the_optimum_for_a_fixed_list_is_the_known_one(epsilon: str, most: int) -> None:
    found = [pld.epsilon_of([Pure(Fraction(epsilon))] * times, MILLIONTH) for times in (most, most + 1)]
    assert found[0] is not None and found[1] is not None and found[0] <= 1 < found[1]


def test_a_list_costs_never_more_than_its_sum_and_slips_come_on_top() -> None:
    tenth = Fraction(1, 10)
    mixed: list[Loss] = [Together((Pure(tenth), Pure(tenth / 2))), Exponential(tenth), *[Pure(tenth / 10)] * 50]
    found = pld.epsilon_of(mixed, MILLIONTH)
    assert found is not None and Fraction(2, 10) < found < Fraction(75, 100)
    slipping: list[Loss] = [Approximate(tenth, MILLIONTH / 4)] * 4
    assert pld.epsilon_of(slipping, MILLIONTH) == 4 * tenth and pld.epsilon_of(slipping, MILLIONTH / 2) is None
    assert pld.epsilon_of([Pure(tenth)] * 3, Fraction(0)) == 3 * tenth and pld.epsilon_of([], MILLIONTH) == 0
    assert pld.epsilon_of([Gaussian(tenth)], MILLIONTH) is None


def test_a_pair_is_never_below_the_truth() -> None:
    """One release of ε: δ(x) = (e^ε − e^x)/(1 + e^ε) exactly; the grid may only be above it."""
    epsilon = Fraction(1, 3)
    for x in (0.05, 0.2, 0.33):
        exact = (math.exp(1 / 3) - math.exp(x)) / (1 + math.exp(1 / 3))
        found = pld.epsilon_of([Pure(epsilon)], Fraction(exact))
        assert found is not None and x - 1e-9 <= found <= x + 2e-4


@pytest.mark.parametrize(("table", "priced"), [("replace", False), ("add_remove", True)], indirect=["table"])
def test_a_list_whose_parts_are_no_draws_of_their_own_is_not_priced(table: dp.Table, priced: bool) -> None:
    """Under replace-one a person may change a mean of one group by as much as two of the four parts. Their pair is
    below Laplace noise of 1/2, whose δ at ε = 0 is 1 − e^(−1/4)."""
    four = pld.epsilon_of([Together((Pure(Fraction(1, 4)),) * 4)], Fraction(1, 5))
    assert four == 0 and 1 - math.exp(-1 / 4) > 1 / 5
    wishes = [Wish.of(table.query("mean", column="salary", by="state", epsilon="0.1"))] * 3
    assert (table.planner().fixed_price(wishes) is not None) == priced


def test_the_numerical_library_is_loaded_only_when_a_plan_is_priced() -> None:
    """Its import takes seconds, so it stands inside the functions that need it."""
    top = ast.parse(Path(pld.__file__).read_text(encoding="utf-8")).body
    assert not any("dp_accounting" in ast.unparse(one) for one in top if isinstance(one, (ast.Import, ast.ImportFrom)))


def test_the_fixed_price_is_below_the_charge_where_many_are_asked(table: dp.Table) -> None:
    many: list[Any] = [Wish.of(table.query("count", where=[["state", "in", ["TX"]]], epsilon="0.04"))] * 20
    fixed, pure = table.planner().fixed_price(many), table.planner().price_of([wish.query for wish in many])
    assert fixed is not None and fixed < pure.cost
