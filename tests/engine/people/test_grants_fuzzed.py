"""Grants × noise kinds × order: what each holder moves on the table's meter, and of the δ reserve, stays within the
grant, and what is told before is what the ledger then decides."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, used
from dpengine.accountant.group import for_group
from dpengine.accountant.loss import Gaussian, Pure
from dpengine.asking.answers import claim_of
from dpengine.core.errors import BudgetExceeded
from dpengine.core.exact import PICO
from dpengine.core.strict_json import canonical
from dpengine.ledger.chain import hash_of, verify
from dpengine.ledger.people_rules import Grant, HolderPart
from dpengine.ledger.rows import Entry
from tests.helpers_ledger import ask, raises
from tests.helpers_people import MINE, Office, office

HOLDERS, TEAM = ("owner", "ana", "bor", "cene"), "g-team"
NOISES: tuple[dict[str, Any], ...] = (
    {"key": "count", "where": [["town", "in", ["a"]]]},
    {"key": "count", "where": [["town", "in", ["a"]]], "noise": "gaussian"},
    {"key": "histogram", "column": "town"},
    {"key": "histogram", "column": "town", "noise": "gaussian"},
    {"key": "mean", "column": "x"},
    {"key": "median", "column": "x"},
    {"key": "median", "column": "x", "noise": "joint"},
    {"key": "find_declarations", "lists": ["n"]},
    {"key": "find_declarations", "lists": ["n"], "noise": "laplace"},
)
SIZES = ("0.001", "0.005", "0.01", "0.03", "0.1", "0.3")
LEAST = Fraction(1, PICO**2)  # what is rounded up at a raise


def question(table: dp.Table, coin: random.Random) -> dp.Query:
    given = dict(coin.choice(NOISES)) | {"epsilon": coin.choice(SIZES)}
    if given["key"] == "find_declarations" and coin.random() < 0.7:
        given["delta"] = coin.choice(["1e-9", "1e-8", "3e-8", "1e-7"])
    return table.query(given.pop("key"), **given)


def charge(here: Office, name: str, query: dp.Query, request: str) -> None:
    told = {"budget": here.workspace.record(MINE).budget, "table": MINE, "actor": here.person(name)}
    here.workspace.ledger.reserve(**ask(request, **told, claim=claim_of(query), loss=query.loss()))


def parts(here: Office, cap: Fraction = Fraction(1)) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """By holder, from the ledger's charges and raises alone: how far each moved the meter, and their δ. Where more
    protection was declared, what was charged for a row counts for as many as a person has by now."""
    ledger, budget = here.workspace.ledger, here.workspace.record(MINE).budget
    protections = [act for act in ledger.acts(budget) if act.kind == "protect"]
    each = protections[0].unit.at_most if protections and protections[0].unit else 1
    by_row_before = protections[-1].seq if protections else 0
    raises_of = [act for act in ledger.acts(budget) if act.kind == "raise"]
    rows: list[Any] = sorted([*ledger.walk(budget), *raises_of], key=lambda one: getattr(one, "charge", one).seq)
    rule = ledger.budget(budget).rule
    rule = replace(rule, epsilon=cap)
    moved: dict[str, Fraction] = defaultdict(Fraction)
    deltas: dict[str, Fraction] = defaultdict(Fraction)
    meter, totals = Fraction(0), Totals.NOTHING
    for row in rows:
        if isinstance(row, Entry):
            last, before = row.charge, totals
            paid = cost(for_group(last.loss, each if last.seq < by_row_before else 1), rule.alpha)
            totals = before.plus(paid)
            after = used(rule, totals)
            assert last.sums is not None and (protections or totals == last.totals_after)
            moved[last.sums.under] += after - meter
            deltas[last.sums.under] += totals.delta - before.delta
        else:
            rule = replace(rule, epsilon=row.after)
            after = used(rule, totals)
            if meter:
                moved = defaultdict(Fraction, {holder: part * after / meter for holder, part in moved.items()})
        meter = after
    return moved, deltas


@pytest.mark.every(7)
@pytest.mark.parametrize("place", range(6))
def test_whatever_is_asked_in_whatever_order_a_grant_bounds_it(tmp_path: Path, place: int) -> None:
    coin = random.Random()  # fresh each time: this must hold for every seed, and none has a chance to fail
    with office(tmp_path) as here:
        people = {name: here.person(name) for name in HOLDERS}
        here.face("administrator").name_group(TEAM, [people["cene"], people["bor"]])
        shares: dict[str, Fraction] = {people["owner"]: Fraction(1)}

        def give(to: str) -> None:
            wanted, paid = Fraction(coin.choice([1, 2, 5, 10, 30, 60]), 100), ledger.budget(budget)
            with ledger.people() as book:
                held = book.held(paid, to)
            # less than was used would bound the next question alone
            shares[to] = max(wanted, held.moved, held.delta / paid.rule.delta_reserve)
            here.face("owner").grant(MINE, to, shares[to])

        ledger, budget = here.workspace.ledger, here.workspace.record(MINE).budget
        for to in (people["ana"], people["bor"], TEAM):
            give(to)
        tables = {name: here.face(name).table(MINE) for name in HOLDERS}
        for turn in range(45):
            if turn % 12 == 11:
                cap = ledger.budget(budget).rule.epsilon * Fraction(coin.choice([11, 15, 30]), 10)
                here.face("owner").raise_cap(MINE, cap)
            if turn % 9 == 8:
                give(coin.choice([people["ana"], people["bor"], TEAM]))
            name = coin.choice(HOLDERS)
            query = question(tables[name], coin)
            told = tables[name].preview(query)
            planned = tables[name].planner().price_of([query])
            rule, head = ledger.budget(budget).rule, ledger.head()
            try:
                charge(here, name, query, f"r{turn}")
                went = True
            except BudgetExceeded:
                went = False
                assert ledger.head() == head
            what = f"{turn}: {name} asks {query.digest()} {query.loss()}"
            assert told.admissible == went, f"{what}: told {told.admissible}, decided {went}"
            assert planned.fits == went or (went and name == "bor"), what  # the plan looks at one of bor's two grants
            moved, deltas = parts(here)
            for holder, share in shares.items():
                with ledger.people() as book:
                    held = book.held(ledger.budget(budget), holder)
                assert 0 <= held.moved - moved[holder] <= 20 * LEAST and held.delta == deltas[holder], what
                assert held.moved <= share and held.delta <= share * rule.delta_reserve, what
            assert sum(moved.values()) == used(rule, ledger.standing(budget).totals)
        assert ledger.verify().ok, ledger.verify()


@pytest.mark.long
@pytest.mark.every(5)
@pytest.mark.parametrize("place", range(4))
def test_more_protection_counts_every_part_anew(tmp_path: Path, place: int) -> None:
    """Charges, raises, more protection, and all of it again: every holder's part is what a recount of the whole account
    says, the parts add up to the meter, and who is over the grant by it asks nothing more."""
    coin, cap = random.Random(), Fraction(40)  # by exact sums: no seed has a chance to fail
    with office(tmp_path, epsilon="40") as here:
        people = {name: here.person(name) for name in HOLDERS}
        here.face("administrator").name_group(TEAM, [people["cene"]])
        ledger, budget, owner = here.workspace.ledger, here.workspace.record(MINE).budget, here.face("owner")
        for to, share in ((people["ana"], "0.02"), (people["bor"], "0.1"), (TEAM, "0.3")):
            owner.grant(MINE, to, share)
        shares = {to: grant.share for to in (*people.values(), TEAM) if (grant := _grant(here, to)) is not None}
        turns = ["charge"] * 24 + ["raise"] * 2
        coin.shuffle(turns)
        turns[coin.randint(4, 12)], turns[coin.randint(14, 22)] = "protect 2", "protect 4"
        for turn, what in enumerate(turns):
            if what == "raise":
                owner.raise_cap(MINE, ledger.budget(budget).rule.epsilon * Fraction(coin.choice([11, 15]), 10))
            elif what == "charge":
                name = coin.choice(HOLDERS)
                table = here.face(name).table(MINE)
                query = question(table, coin)
                told = table.preview(query)
                over = name != "cene" and _held(here, people[name]).moved > shares[people[name]]
                try:
                    charge(here, name, query, f"r{turn}")
                    assert told.admissible and not over
                except BudgetExceeded:
                    assert not told.admissible
            else:
                try:
                    owner.table(MINE).protect(dp.Unit.column("n", int(what[-1])))
                except dp.AllowanceError as refusal:  # by the budget's own rule alone, never by a grant
                    assert refusal.code in ("protect.exceeded", "protect.never")
            moved, deltas = parts(here, cap)
            for holder in shares:
                held = _held(here, holder)
                assert 0 <= held.moved - moved[holder] <= 20 * LEAST and held.delta == deltas[holder], (turn, turns)
            assert sum(moved.values()) == used(ledger.budget(budget).rule, ledger.standing(budget).totals)
        assert ledger.verify().ok, ledger.verify()


def test_who_is_over_the_grant_by_more_protection_asks_nothing_more(tmp_path: Path) -> None:
    with office(tmp_path, epsilon="10") as here:
        here.give(MINE, "analyst", Fraction(1, 50))
        ledger, budget = here.workspace.ledger, here.workspace.record(MINE).budget
        analyst, owner = here.face("analyst"), here.face("owner")
        for face, epsilon, noise in ((owner, "0.2", ""), (analyst, "0.05", "gaussian"), (analyst, "0.04", "")):
            table = face.table(MINE)
            more = {"noise": noise} if noise else {}
            table.ask(table.query("count", where=[["town", "in", ["a"]]], epsilon=epsilon, **more))
        before, share = _held(here, here.person("analyst")).moved, Fraction(1, 50)
        assert 0 < before <= share
        after = owner.table(MINE).protect(dp.Unit.column("n", 5))  # not refused because of that
        assert _held(here, here.person("analyst")).moved > share > before
        [told] = [one for one in owner.grants(MINE) if one.grant.to == here.person("analyst")]
        recounted, _ = parts(here, Fraction(10))
        assert told.used == _held(here, here.person("analyst")).moved == recounted[here.person("analyst")]
        table = analyst.table(MINE)
        query = table.query("count", where=[["town", "in", ["a"]]], epsilon="0.001")
        assert not table.preview(query).admissible and analyst.meter(MINE)[0].unused == 0
        with raises("people.exceeded", BudgetExceeded) as refused:
            table.ask(query)
        assert refused.value.facts["left"] == 0
        after.ask(after.query("count", where=[["town", "in", ["a"]]], epsilon="0.001"))  # the owner has room
        over = _held(here, here.person("analyst")).moved
        owner.raise_cap(MINE, Fraction(100))  # the meter falls, and so does every part
        lower = _held(here, here.person("analyst")).moved
        assert lower < share < over
        analyst.table(MINE).ask(query)
        assert ledger.verify().ok
        # What the row says of the parts is recomputed: a smaller part, chained well, is noticed.
        rows, last = [], ""
        for found in ledger.export_rows():
            row = dict(found)
            if row["kind"] == "protect":
                body = json.loads(row["body"])
                body["moved"][here.person("analyst")] = {MINE: "1/100"}
                row["body"] = canonical(body)
            row["prev"] = last or row["prev"]
            last = row["hash"] = hash_of(row)
            rows.append(row)
        verdict = verify(rows)
        assert not verdict.ok and verdict.why == "chain.totals" and budget == rows[verdict.broken - 1]["budget"]


def test_a_part_counted_anew_tells_of_the_tables_that_an_owner_knows(tmp_path: Path) -> None:
    """One owner had two tables on one allowance and declared more protection; then one of the two was handed over."""
    with office(tmp_path, epsilon="10") as here:
        here.bring("owner", "copy", epsilon="10")  # the very rows of MINE
        ledger, budget, unit = here.workspace.ledger, here.workspace.record(MINE).budget, dp.Unit.column("n", 3)
        assert here.workspace.record("copy").budget == budget
        here.give("copy", "analyst")
        for name, epsilon in ((MINE, "0.1"), ("copy", "0.2"), (MINE, "0.03")):
            table = here.face("analyst").table(name)
            table.ask(table.query("count", where=[["town", "in", ["a"]]], epsilon=epsilon))
        here.face("owner").table(MINE).protect(unit)
        whole = _held(here, here.person("analyst")).moved
        here.name("owner of another", "owner", table="copy")
        here.name("owner", "owner", False, table="copy")
        here.give("copy", "owner", Fraction(0), by="owner of another")
        [told] = [one for one in here.face("owner").grants(MINE) if one.grant.to == here.person("analyst")]
        expected = [for_group(Pure(Fraction(one)), 3) for one in ("0.1", "0.2", "0.03")]
        rule, totals, mine = ledger.budget(budget).rule, Totals.NOTHING, Fraction(0)
        for place, loss in enumerate(expected):
            after = totals.plus(cost(loss, rule.alpha))
            mine += 0 if place == 1 else used(rule, after) - used(rule, totals)
            totals = after
        assert whole == used(rule, totals) and told.used == mine < whole
        assert ledger.verify().ok


def _held(here: Office, holder: str) -> HolderPart:
    ledger = here.workspace.ledger
    with ledger.people() as book:
        return book.held(ledger.budget(here.workspace.record(MINE).budget), holder)


def _grant(here: Office, holder: str) -> Grant | None:
    with here.workspace.ledger.people() as book:
        return book.grant(here.workspace.record(MINE).budget, MINE, holder)


def test_a_part_tells_nothing_of_another_owners_questions_about_the_same_content(tmp_path: Path) -> None:
    """One budget pays for two tables of owners who do not know of each other: a part is one of the meter that the
    table's own owner reads, also after either raises the cap."""
    with office(tmp_path / "one") as here, office(tmp_path / "two") as alone:
        told: dict[str, list[object]] = {}
        for name, at in (("shared", here), ("alone", alone)):
            at.give(MINE, "analyst", Fraction(1, 10))
            if at is here:
                at.bring("owner of another", "copy", start=0)
                copy = at.face("owner of another").table("copy")
                copy.ask(copy.query("count", where=[["town", "in", ["a"]]], epsilon="0.3"))
            table = at.face("analyst").table(MINE)
            seen: list[object] = []
            for turn, noise in enumerate(("", "gaussian", "")):
                query = table.query("histogram", column="town", epsilon="0.02", noise=noise)
                seen.append(table.preview(query).own_share)
                charge(at, "analyst", query, f"r{turn}")
                if turn == 1:
                    at.face("owner").raise_cap(MINE, "2")
                seen.append([meter.used for meter in at.face("analyst").meter(MINE)])
                seen.append([held.used for held in at.face("owner").grants(MINE)])
            told[name] = seen
            assert at.workspace.ledger.verify().ok
        assert told["shared"] == told["alone"]


def test_a_grant_of_one_percent_moves_the_table_by_one_percent_at_most(tmp_path: Path) -> None:
    """As it was seen: half of the allowance spent on Laplace questions, then a Gaussian one."""
    with office(tmp_path) as here:
        here.give(MINE, "analyst", Fraction(1, 100))
        ledger, budget = here.workspace.ledger, here.workspace.record(MINE).budget
        rule = ledger.budget(budget).rule
        told = {"budget": budget, "table": MINE}
        ledger.reserve(**ask("laplace", **told, actor=here.person("owner"), loss=Pure(Fraction(1, 2))))
        before = used(rule, ledger.standing(budget).totals)
        with raises("people.exceeded", BudgetExceeded):
            ledger.reserve(**ask("g", **told, actor=here.person("analyst"), loss=Gaussian(Fraction(1, 5000))))
        assert used(rule, ledger.standing(budget).totals) == before
        table = here.face("analyst").table(MINE)
        given = {"lists": ["n"], "epsilon": "0.001", "noise": "laplace"}
        with raises("people.exceeded_delta", BudgetExceeded):
            table.ask(table.query("find_declarations", **given, delta="1e-7"))
        unnamed = table.query("find_declarations", **given)  # takes a tenth of the person's own part
        assert table.preview(unnamed).admissible and not table.preview(unnamed.at(Fraction(1, 2))).admissible
        short = table.preview(table.query("find_declarations", **given, delta="1e-7"))
        assert not short.admissible and not short.own_delta
        table.ask(unnamed)
        assert ledger.standing(budget).totals.delta <= rule.delta_reserve / 100
