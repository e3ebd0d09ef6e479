"""Grants: a second, plain limit on how far a person moves the table's meter, exact, in the same transaction as the
table's."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import used
from dpengine.accountant.loss import Gaussian, Pure
from dpengine.asking.plan import Wish
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.core.exact import PICO, up
from dpengine.ledger.chain import hash_of, verify
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import COLUMNS, Charge, Standing
from tests.helpers_ledger import PATIENCE, ask, raises
from tests.helpers_people import HALF, MINE, OTHER, Office, count, office


def reserve(here: Office, name: str, request: str, epsilon: str = "0.1", **more: object) -> object:
    record = here.workspace.record(MINE)
    told = {"budget": record.budget, "table": MINE, "actor": here.person(name)}
    return here.workspace.ledger.reserve(**ask(request, epsilon, **(told | more)))


def own(here: Office, name: str) -> Fraction:
    budget = here.workspace.ledger.budget(here.workspace.record(MINE).budget)
    with here.workspace.ledger.people() as book:
        return book.held(budget, here.person(name)).moved


def test_a_grant_is_spent_exactly_and_colleagues_do_not_move_it(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        rule = here.workspace.ledger.budget(here.workspace.record(MINE).budget).rule
        before = Standing.NOTHING.totals.plus(cost(Pure(Fraction("0.3")), rule.alpha))
        price = cost(Pure(Fraction("0.1")), rule.alpha)
        share = used(rule, before.plus(price).plus(price)) - used(rule, before)  # two of them, to the last digit
        here.give(MINE, "analyst", share)
        reserve(here, "owner", "colleague", "0.3")
        reserve(here, "analyst", "one")
        reserve(here, "analyst", "two")
        assert own(here, "analyst") == share
        head = here.workspace.ledger.head()
        with raises("people.exceeded", BudgetExceeded) as refused:
            reserve(here, "analyst", "three", "0.001")
        assert refused.value.facts["left"] == 0 and here.workspace.ledger.head() == head
        here.give(MINE, "analyst", share - Fraction(1, 10**12))  # less than was used: what was used stays used
        assert own(here, "analyst") == share
        reserve(here, "owner", "more", "0.1")
        assert here.workspace.verify_ledger().ok


def test_what_a_person_moved_is_the_sum_over_their_rows(tmp_path: Path) -> None:
    """With every kind of loss, and a cap that is raised: everybody's part falls in the proportion of the table's."""
    with office(tmp_path) as here:
        for place, name in enumerate(["analyst", "owner", "analyst", "owner"]):
            reserve(here, name, f"r{place}", loss=Gaussian(Fraction(1, 1000)) if place == 2 else Pure(Fraction("0.05")))
        ledger, budget = here.workspace.ledger, here.workspace.record(MINE).budget
        rule = ledger.budget(budget).rule
        summed = Fraction(0)
        for entry in ledger.walk(budget):
            if entry.charge.actor == here.person("analyst"):
                summed += used(rule, entry.charge.totals_after) - used(rule, ledger.before(entry.charge))
        assert own(here, "analyst") == summed
        whole = ledger.standing(budget).totals
        assert summed + own(here, "owner") == used(rule, whole)
        before = own(here, "analyst"), here.face("analyst").meter(MINE)
        here.face("owner").raise_cap(MINE, "2")
        after = own(here, "analyst"), here.face("analyst").meter(MINE)
        falls = used(replace(rule, epsilon=Fraction(2)), whole) / used(rule, whole)
        assert after[0] == up(summed * falls, PICO**2) < before[0]
        assert [one.used < two.used for one, two in zip(after[1], before[1], strict=True)] == [True, True]
        assert after[1][0].used == after[0] / Fraction(1, 2) and after[1][0].charges == 2 and after[1][1].charges == 4
        assert ledger.verify().ok


def test_two_meters_and_the_tighter_limit_is_named(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.give(MINE, "analyst", Fraction(1, 10))
        table, face = here.face("analyst").table(MINE), here.face("analyst")
        mine, tables = face.meter(MINE)
        assert (mine.used, tables.used, mine.share, tables.share) == (0, 0, Fraction(1, 10), 1)
        seen = table.preview(count(table, "0.5"))
        assert not seen.admissible and seen.tighter == "own" and seen.own_left == Fraction(1, 10)
        assert here.face("owner").table(MINE).preview(count(table, "0.5")).admissible
        assert table.prices([count(table, "0.5")]) == [None]
        with raises("people.exceeded"):
            table.ask(count(table, "0.5"))
        small = count(table, "0.01")
        fits = table.preview(small)
        assert fits.admissible and fits.more_like_this >= 1 and fits.own_share == fits.share
        table.ask(small)
        mine, tables = face.meter(MINE)
        assert mine.used == tables.used * 10 and tables.used == fits.share
        here.give(MINE, "analyst", Fraction(1))
        reserve(here, "owner", "most", "0.9")
        assert table.preview(count(table, "0.5")).tighter == "table"
        with raises("budget.exceeded"):
            table.ask(count(table, "0.5"))


def test_so_many_more_like_this_fit_and_not_one_more(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.give(MINE, "analyst", Fraction(1, 5))
        table = here.face("analyst").table(MINE)
        many = table.preview(count(table, "0.05")).more_like_this
        assert many > 1
        for place in range(many):
            reserve(here, "analyst", f"r{place}", "0.05")
        with raises("people.exceeded"):
            reserve(here, "analyst", "one more", "0.05")


def test_which_questions_and_until_when(tmp_path: Path) -> None:
    day = datetime.now(UTC).date()
    with office(tmp_path) as here:
        here.give(MINE, "analyst", questions=["*", "!publish_*", "!mean"])
        reserve(here, "analyst", "one", "0.01")
        table = here.face("analyst").table(MINE)
        with raises("people.question_not_granted"):
            table.ask(table.query("mean", column="x", epsilon="0.01"))
        assert not table.preview(table.query("mean", column="x", epsilon="0.01")).admissible
        here.give(MINE, "analyst", until=day.isoformat())
        reserve(here, "analyst", "two", "0.01")
        here.give(MINE, "analyst", until=(day - timedelta(days=1)).isoformat())
        with raises("people.no_grant"):
            reserve(here, "analyst", "three", "0.01")
        assert not here.face("analyst").may("ask", MINE)
        for wrong in ({"until": "tomorrow"}, {"questions": []}):
            with raises("people.grant_form"):
                here.give(MINE, "analyst", **wrong)  # type: ignore[arg-type]
        assert here.workspace.verify_ledger().ok


def test_a_group_shares_one_limit(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        team = [here.person(name) for name in ("ana", "bor")]
        here.face("administrator").name_group("g-team", team)
        here.face("owner").grant(MINE, "g-team", "0.25")
        reserve(here, "ana", "one", "0.1")
        used_by_ana = own_of_group(here)
        reserve(here, "bor", "two", "0.1")
        assert own_of_group(here) > used_by_ana > 0
        with raises("people.exceeded"):
            for place in range(50):
                reserve(here, ("ana", "bor")[place % 2], f"more {place}", "0.1")
        assert own_of_group(here) <= Fraction(1, 4)
        here.give(MINE, "ana", Fraction(1, 2))  # a share of their own is used first, and is another one
        reserve(here, "ana", "own", "0.1")
        here.face("administrator").name_group("g-team", team[:1])
        with raises("people.no_grant"):
            reserve(here, "bor", "three", "0.001")
        assert here.workspace.verify_ledger().ok


def own_of_group(here: Office) -> Fraction:
    return next(held.used for held in here.face("owner").grants(MINE) if held.grant.to == "g-team")


def test_nobody_gives_to_themselves(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.give(MINE, "owner", Fraction(1, 4))  # less, they may
        with raises("people.own_grant"):
            here.give(MINE, "owner", Fraction(1, 2))
        here.face("administrator").name_group("g-us", [here.person("owner")])
        with raises("people.own_grant"):
            here.face("owner").grant(MINE, "g-us", "0.5")
        with raises("people.no_right"):
            here.workspace.ledger.grant(
                here.workspace.record(MINE).budget, MINE, here.person("eva"), Fraction(1), here.person("analyst")
            )
        with raises("table.unknown"):
            here.face("owner of another").grant(MINE, here.person("eva"), "0.5")
        assert here.workspace.verify_ledger().ok


def test_a_plan_is_within_the_grant_or_not_at_all(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.give(MINE, "analyst", Fraction(1, 10))
        table, face = here.face("analyst").table(MINE), here.face("analyst")
        table.submit_plan([count(table, "0.1"), count(table, "0.2"), count(table, "0.3")], "plan")
        face.jobs.wait("plan", PATIENCE)
        run = table.run("plan")
        assert run.rows == () and isinstance(run.error, AllowanceError) and run.error.code == "people.exceeded"
        table.submit_plan([count(table, "0.01"), count(table, "0.02")], "small")
        face.jobs.wait("small", PATIENCE)
        assert table.run("small").done == 2 and here.workspace.verify_ledger().ok


def test_what_is_planned_fits_into_both_limits(tmp_path: Path) -> None:
    """Whatever is offered, suggested or fitted is not refused for the person's own share when it is asked."""
    with office(tmp_path, epsilon="40") as here:
        here.give(MINE, "analyst", Fraction(1, 20))
        reserve(here, "analyst", "before", "0.5")
        table, whole = here.face("analyst").table(MINE), here.workspace.table(MINE)
        query = count(table, "1")
        wishes = [Wish.of(count(table, epsilon)) for epsilon in ("0.5", "1", "2")]
        assert whole.planner().price(wishes).fits and not table.planner().price(wishes).fits
        fitted = table.planner().redistributed(wishes)
        assert fitted is not None and table.planner().price(fitted).fits
        at = table.at_share(query, HALF)
        offered = [*table.suggestions(), *([at] if at else []), *table.planner().price(fitted).queries]
        assert offered and all(table.preview(one).admissible for one in offered)
        own, all_of_it = table.opening(query), whole.opening(query)
        assert own is not None and all_of_it is not None and own.share < all_of_it.share  # of what is left for each
        table.submit_plan(table.planner().price(fitted).queries, "plan")
        here.face("analyst").jobs.wait("plan", PATIENCE)
        assert table.run("plan").done == 3
        here.give(MINE, "analyst", Fraction(1, 10**6))
        assert table.suggestions() == [] and table.at_share(query, HALF) is None
        assert not table.planner().price([Wish.of(query)]).fits


def test_a_receipt_holds_where_people_sign_in(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        table = here.face("analyst").table(MINE)
        receipt = table.ask(count(table, "0.01")).receipt
        [finding] = here.face("owner").check_receipts(json.dumps(receipt).encode(), "r.json")
        assert finding.ok and receipt["actor"] == here.person("analyst")


def test_a_session_is_charged_within_the_grant_and_ends_with_it(tmp_path: Path) -> None:
    with office(tmp_path, epsilon="40") as here:
        table = here.face("analyst").table(MINE)
        session = table.open_session(table.query("adaptive_session", questions=3, epsilon="6"), "session")
        ask_it = {"share": [["town", "in", ["a"]]]}
        assert session.ask(ask_it, "one").value is not None
        here.give(MINE, "analyst", Fraction(0))
        with raises("table.unknown"):
            session.ask(ask_it, "two")
        with raises("people.no_grant"):  # nor by any other door
            here.workspace.ledger.burn("session", "two", here.person("analyst"), {"ask": {}}, "w")
        here.give(MINE, "analyst")
        assert session.ask(ask_it, "two").value is not None
        assert here.workspace.verify_ledger().ok


def test_a_right_that_is_withdrawn_between_check_and_charge_refuses(tmp_path: Path) -> None:
    """The page had checked, the job was queued, the statistic was not read: and then the grant was taken back."""
    with office(tmp_path) as here:
        table = here.face("analyst").table(MINE)
        carry = here.face("analyst").table(MINE).ask
        query, read = count(table, "0.01"), []
        take_back, reserve_all = here.give, Ledger.reserve_all

        def late(self: Ledger, *given: object, **named: object) -> object:
            take_back(MINE, "analyst", Fraction(0))
            return reserve_all(self, *given, **named)  # type: ignore[arg-type]

        here.workspace.engine.duck.read = lambda *given: read.append(given)  # type: ignore[method-assign, assignment]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ledger, "reserve_all", late)
            with raises("people.no_grant"):
                carry(query)
        assert read == [] and here.workspace.ledger.standing(here.workspace.record(MINE).budget).charges == 0


# The file itself, and the check of every row


def insert(here: Office, row: dict[str, object]) -> None:
    """As a program that knows nothing of rights would write."""
    with closing(sqlite3.connect(here.workspace.ledger.path)) as db, db:
        marks = ", ".join("?" for _ in COLUMNS)
        db.execute(f"INSERT INTO entries VALUES ({marks})", [row[name] for name in COLUMNS])


def next_row(here: Office, like: dict[str, object], **changes: object) -> dict[str, object]:
    seq, prev = here.workspace.ledger.head()
    row = like | {"seq": seq + 1, "prev": prev} | changes
    return row | {"hash": hash_of(row)}


def test_the_file_refuses_a_charge_without_a_grant(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        reserve(here, "analyst", "one", "0.01")
        like = dict(list(here.workspace.ledger.export_rows())[-1])
        body = json.loads(str(like["body"]))
        other = body | {"under": here.person("owner")}
        for change in (
            {"actor": "owner"},
            {"actor": here.person("nobody")},
            {"actor": here.person("withdrawn")},
            {"body": json.dumps(other)},
            {"body": json.dumps({key: one for key, one in body.items() if key != "under"})},
        ):
            with pytest.raises(sqlite3.IntegrityError, match="without a grant"):
                insert(here, next_row(here, like, request="r", **change))
        seal = {"kind": "seal", "request": "", "totals": "", "body": json.dumps({"table": MINE})}
        with pytest.raises(sqlite3.IntegrityError, match="only an owner"):
            insert(here, next_row(here, like, **seal))


def rewritten(here: Office, change: dict[int, dict[str, object]]) -> list[dict[str, object]]:
    """The rows with some changed, every hash computed anew: what only `verify` can find."""
    rows, prev = [], "0" * 64
    for row in here.workspace.ledger.export_rows():
        row = dict(row) | change.get(row["seq"], {}) | {"prev": prev}
        row["hash"] = prev = hash_of(row)
        rows.append(row)
    return rows


def edited(row: dict[str, object], **body: object) -> dict[str, object]:
    return {"body": json.dumps(json.loads(str(row["body"])) | body, sort_keys=True, separators=(",", ":"))}


def test_verify_recomputes_grants(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        reserve(here, "analyst", "one", "0.1")
        reserve(here, "owner", "two", "0.1")
        reserve(here, "analyst", "three", "0.1")
        rows = {row["seq"]: dict(row) for row in here.workspace.ledger.export_rows()}
        charges = [row for row in rows.values() if row["kind"] == "charge"]
        grants = [row for row in rows.values() if row["kind"] == "grant"]
        mine = next(row for row in grants if json.loads(row["body"])["to"] == here.person("analyst"))
        last = charges[-1]
        assert Charge.from_row(last).sums is not None and verify(rewritten(here, {})).ok
        wrong: list[tuple[int, dict[str, object]]] = [
            (mine["seq"], edited(mine, share="1/1000")),  # the charge does not fit
            (mine["seq"], edited(mine, until="2001-01-01")),
            (mine["seq"], edited(mine, questions=["mean"])),
            (mine["seq"], {"actor": here.person("analyst")}),  # given by somebody who owns nothing
            (mine["seq"], edited(mine, table=OTHER)),
            (last["seq"], edited(last, takes="1/1000")),
            (last["seq"], edited(last, moved="1/1000")),
            (last["seq"], edited(last, own=json.loads(charges[0]["body"])["own"])),  # sums that forget a row
            (last["seq"], edited(last, of_table=json.loads(charges[0]["body"])["of_table"])),
            (last["seq"], edited(last, under=here.person("owner"))),
            (last["seq"], {"actor": here.person("nobody")}),
        ]
        for seq, change in wrong:
            verdict = verify(rewritten(here, {seq: change}))
            assert not verdict.ok and verdict.why == "chain.people", (seq, change, verdict)


@pytest.mark.long
def test_a_charge_takes_as_much_work_after_a_hundred_of_theirs_as_after_ten(tmp_path: Path) -> None:
    """Steps of SQLite's machine, not seconds."""
    with office(tmp_path, epsilon="40") as here:
        work = []
        for rounds in (10, 100):
            for place in range(rounds):
                reserve(here, "analyst", f"{rounds}.{place}", "0.001")
            with here.workspace.ledger._store.reading() as db:
                steps = [0]

                def count_step(steps: list[int] = steps) -> int:
                    steps[0] += 1
                    return 0

                db.conn.set_progress_handler(count_step, 1)
                reserve(here, "analyst", f"after {rounds}", "0.001")
                db.conn.set_progress_handler(None, 0)
                work.append(steps[0])
        assert work[1] <= work[0] * 1.1, work


def test_a_served_ledger_is_recovered_as_it_was(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        reserve(here, "analyst", "one", "0.1")
        rows = list(here.workspace.ledger.export_rows())
    with closing(Ledger(tmp_path / "new.sqlite")) as other:
        other.adopt(rows)
        assert other.verify().ok and other.served
