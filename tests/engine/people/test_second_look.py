"""What the ledger itself refuses to people, whatever the program above it asked, and what its check finds again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from dpengine.ledger import people_rules
from dpengine.ledger.chain import verify
from dpengine.ledger.people_rules import OPERATOR, OWNER
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.session.asks import KINDS
from tests.engine.people.test_grants import edited, insert, next_row, rewritten
from tests.helpers_ledger import raises
from tests.helpers_people import MINE, OTHER, Office, office


def row_of(here: Office, kind: str, last: int = -1) -> dict[str, object]:
    return [dict(row) for row in here.workspace.ledger.export_rows() if row["kind"] == kind][last]


# A table belongs to the budget that it was handed over with


def test_the_owner_of_one_table_does_nothing_to_the_budget_of_another(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        ledger, budget, other = (
            here.workspace.ledger,
            here.workspace.record(MINE).budget,
            here.person("owner of another"),
        )
        head = ledger.head()
        attempts: list[Callable[[], object]] = [
            lambda: ledger.raise_cap(budget, OTHER, Fraction(50), other),
            lambda: ledger.close_table("seal", budget, OTHER, other),
            lambda: ledger.grant(budget, OTHER, here.person("eva"), Fraction(1), other),
            lambda: ledger.grant(budget, OTHER, here.person("eva"), Fraction(1), here.person("administrator")),
            lambda: ledger.keep_apart(budget, OTHER, [other], other),
            lambda: ledger.set_limit(budget, OTHER, Fraction(1, 2), other),
            lambda: ledger.wish("w-1", budget, OTHER, "because", other, Fraction(1)),
        ]
        for attempt in attempts:
            with raises("people.no_right"):
                attempt()
        with raises("people.role_unknown"):
            ledger.name_role(here.person("eva"), OWNER, OPERATOR, OTHER, budget=budget)
        with raises("budget.unknown"):
            ledger.name_role(here.person("eva"), OWNER, OPERATOR, OTHER)
        assert ledger.head() == head and ledger.verify().ok


def test_the_file_and_the_check_ask_whose_budget_it_is_too(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.face("owner").raise_cap(MINE, "2")
        here.face("owner").set_limit(MINE, "0.5")
        other = {"actor": here.person("owner of another")}
        for kind in ("raise", "limit"):
            row = row_of(here, kind)
            with pytest.raises(sqlite3.IntegrityError, match="only an owner"):
                insert(here, next_row(here, row, **other, **edited(row, table=OTHER)))
            assert (
                verify(rewritten(here, {int(str(row["seq"])): other | edited(row, table=OTHER)})).why == "chain.people"
            )
        grant = row_of(here, "grant", 2)
        assert json.loads(str(grant["body"]))["to"] == here.person("analyst")
        assert (
            verify(rewritten(here, {int(str(grant["seq"])): other | edited(grant, table=OTHER)})).why == "chain.people"
        )


# One owner and the budget of another


def test_nobody_multiplies_a_budget_that_also_pays_for_another_owners_table(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.face("administrator").keep_apart(MINE, [here.person("analyst")])  # all of its tables are theirs
        agreed = row_of(here, "agreement")
        here.bring("owner", "mine too", start=0)  # as the same owner may
        with raises("people.not_as_declared"):
            here.bring("owner of another", "copy", start=0)
        assert [match.refused for match in here.face("administrator").matches()] == ["people.agreement_not"]
        budget, other = here.workspace.record(MINE).budget, here.person("owner of another")
        with raises("people.no_right"):  # nor by any other door
            here.workspace.ledger.hand_over(budget, "copy", other, other)
        here.face("administrator").hand_over("mine too", other)  # one of the two is theirs, and no more
        with raises("people.not_as_declared"):
            here.bring("owner of another", "beside", start=600, budget=budget)
        assert "beside" not in [name for name, _ in here.workspace.names()]
        here.bring("owner", "third", start=300)
        here.bring("owner of another", "copy of it", start=300)
        people = [here.person("s1"), here.person("s2")]
        for name, table in (("owner of another", "copy of it"), ("owner", "third"), ("owner", MINE)):
            with raises("people.no_right"):  # whatever somebody else has: it tells them nothing
                here.face(name).keep_apart(table, people)
            if table != MINE:
                with raises("people.agreement_shared"):
                    here.face("administrator").keep_apart(table, people)
        assert here.face("administrator").agreements() == {
            MINE: (here.person("analyst"),),
            "mine too": (here.person("analyst"),),
        }
        assert here.workspace.verify_ledger().ok
        rows = list(here.workspace.ledger.export_rows())
        theirs = next(row for row in rows if row["kind"] == "role" and '"copy of it"' in row["body"])
        joined = {theirs["seq"]: {"budget": budget}}  # as if it had come to the budget whose people keep apart
        assert verify(rewritten(here, joined)).why == "chain.people"
        assert agreed["budget"] == budget


def test_the_check_finds_an_agreement_over_another_owners_table(tmp_path: Path) -> None:
    with office(tmp_path) as here, pytest.MonkeyPatch.context() as patch:
        here.bring("owner of another", "copy", start=0)
        patch.setattr(people_rules, "one_owner", lambda *given: True)
        here.face("administrator").keep_apart("copy", [here.person("s1")])
        assert verify(rewritten(here, {})).ok
        patch.undo()
        assert verify(rewritten(here, {})).why == "chain.people"


# Groups


def test_nobody_puts_themselves_into_a_group(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        admin, analyst = here.face("administrator"), here.person("analyst")
        here.name("eva", "administrator")
        admin.name_group("g-team", [analyst])
        here.face("owner").grant(MINE, "g-team", "0.5")
        for group in ("g-team", "g-new"):
            with raises("people.own_group"):
                admin.name_group(group, [analyst, admin.person])
        named = row_of(here, "group")
        added = {int(str(named["seq"])): edited(named, people=sorted([analyst, admin.person]))}
        assert verify(rewritten(here, added)).why == "chain.people"
        here.face("eva").name_group("g-team", [analyst, admin.person])  # another one does
        admin.name_group("g-team", [analyst, admin.person, here.person("bor")])
        assert here.workspace.verify_ledger().ok


def test_a_groups_one_limit_and_people_kept_apart_exclude_one_another(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        owner, team = here.face("owner"), [here.person("s1"), here.person("s2")]
        here.face("administrator").name_group("g-team", team)
        owner.grant(MINE, "g-team", "0.3")
        with raises("people.agreement_group"):
            here.face("administrator").keep_apart(MINE, team)
        owner.grant(MINE, "g-team", "0")
        taken = row_of(here, "grant")
        here.face("administrator").keep_apart(MINE, team)
        with raises("people.agreement_group"):
            owner.grant(MINE, "g-team", "0.3")
        owner.grant(MINE, "g-team", "0")  # nothing, they may
        late = row_of(here, "grant")
        owner.grant(MINE, team[0], "0.3")
        assert here.workspace.verify_ledger().ok
        for row in (taken, late):
            assert verify(rewritten(here, {int(str(row["seq"])): edited(row, share="1/5")})).why == "chain.people"


# Sessions and wishes


def test_a_grant_for_some_questions_binds_the_steps_of_a_session(tmp_path: Path) -> None:
    with office(tmp_path, epsilon="40") as here:
        share, average = {"share": [["town", "in", ["a"]]]}, {"average": "x"}
        here.give(MINE, "analyst", questions=["*", "!mean"])
        table = here.face("analyst").table(MINE)
        session = table.open_session(table.query("adaptive_session", questions=3, epsilon="6"), "session")
        with raises("people.question_not_granted"):
            session.ask(average, "one")
        assert session.ask(share, "one").value is not None
        step = row_of(here, "step")
        here.give(MINE, "analyst", questions=["count", "proportion"])
        with raises("people.question_not_granted"):  # the session itself is not covered any more
            session.ask(share, "two")
        here.give(MINE, "analyst")
        assert session.ask(average, "two").value is not None
        assert here.workspace.verify_ledger().ok
        claim = json.loads(str(row_of(here, "step")["body"]))["claim"]
        assert verify(rewritten(here, {int(str(step["seq"])): edited(step, claim=claim)})).why == "chain.people"


def test_a_step_of_a_session_is_of_a_kind_that_a_grant_knows() -> None:
    assert set(people_rules.ASKED_AS) == set(KINDS) and set(people_rules.ASKED_AS.values()) <= set(catalogue)


def test_at_most_five_wishes_of_a_person_wait_for_a_table(tmp_path: Path) -> None:
    with office(tmp_path) as here, pytest.MonkeyPatch.context() as patch:
        analyst, owner = here.face("analyst"), here.face("owner")
        made = [analyst.wish(MINE, "the report", share="0.9") for _ in range(5)]
        with raises("people.wish_many"):
            analyst.wish(MINE, "the report", share="0.9")
        here.face("analyst of another").wish(OTHER, "the report", share="0.9")
        owner.decide(made[0].id, "no")
        analyst.wish(MINE, "the report", share="0.9")
        assert here.workspace.verify_ledger().ok
        patch.setattr(people_rules, "MOST_WAITING", 4)
        assert verify(here.workspace.ledger.export_rows()).why == "chain.people"
