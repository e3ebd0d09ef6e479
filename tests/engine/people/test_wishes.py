"""Asking for more, questions that wait, people who keep apart, and what an auditor reads."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import dpengine as dp
from dpengine.accountant.filter import spent
from dpengine.accountant.history import Past
from dpengine.ledger.chain import verify
from dpengine.ledger.people_rules import OWNER
from dpengine.ledger.rows import together
from tests.engine.people.test_grants import edited, reserve, rewritten
from tests.helpers_ledger import raises
from tests.helpers_people import HALF, MINE, OTHER, count, office


def test_a_wish_is_approved_declined_or_changed(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        analyst, owner = here.face("analyst"), here.face("owner")
        here.give(MINE, "analyst", Fraction(1, 10), questions=["count"])
        one = analyst.wish(MINE, "the report of  May", share="0.3")
        two = analyst.wish(MINE, "more", share="0.8")
        three = analyst.wish(MINE, "more", share="0.9")
        assert [wanted.id for wanted in owner.pending()] == [one.id, two.id, three.id]
        assert analyst.pending() == [] == here.face("owner of another").pending()
        assert owner.decide(one.id, "yes").share == Fraction(3, 10)
        assert owner.decide(two.id, "changed", "0.4").share == Fraction(2, 5)
        assert owner.decide(three.id, "no").share is None
        [held] = [one for one in owner.grants(MINE) if one.grant.to == analyst.person]
        assert held.grant.share == Fraction(2, 5) and held.grant.questions == ("count",)  # as they were
        told = {asked.wanted.id: asked.decision.answer for asked in owner.wishes(MINE) if asked.decision}
        assert told == {one.id: "yes", two.id: "changed", three.id: "no"} and owner.pending() == []
        assert here.face("owner of another").wishes() == [] == here.face("nobody").wishes(MINE)
        owner.grant(MINE, analyst.person, 0)  # no table any more, but what became of the wishes
        assert [asked.wanted.id for asked in analyst.wishes()] == [one.id, two.id, three.id]
        here.give(MINE, "analyst", Fraction(2, 5))
        with raises("people.wish_decided"):
            owner.decide(one.id, "yes")
        for wrong in ({"share": "0"}, {"share": "2"}, {}):
            with raises("people.wish_form"):
                analyst.wish(MINE, "more", **wrong)  # type: ignore[arg-type]
        with raises("people.wish_form"):
            analyst.wish(MINE, "  ", share="0.5")
        with raises("people.wish_unknown"):
            here.face("owner of another").decide(three.id, "yes")
        assert here.workspace.verify_ledger().ok


def test_nobody_decides_their_own_wish(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        owner, admin = here.face("owner"), here.face("administrator")
        here.give(MINE, "owner", Fraction(1, 10))
        wanted = owner.wish(MINE, "the yearly report", share="1")
        with raises("people.own_wish"):
            owner.decide(wanted.id, "yes")
        assert owner.pending() == [] and [one.id for one in admin.pending()] == [wanted.id]
        analysts = here.face("analyst").wish(MINE, "more", share="0.7")
        assert [one.id for one in admin.pending()] == [wanted.id]  # an analyst's is the owner's to decide
        with raises("people.wish_unknown"):
            admin.decide(analysts.id, "yes")
        admin.decide(wanted.id, "yes")
        admin.name_role(owner.person, "administrator")  # both at once: still not one's own
        again = owner.wish(MINE, "once more", share="1")
        with raises("people.own_wish"):
            owner.decide(again.id, "yes")
        admin.name_role(here.person("eva"), OWNER, table=MINE)
        here.face("eva").decide(again.id, "no")
        rows = [row for row in here.workspace.ledger.export_rows() if row["kind"] == "decided"]
        assert verify(rewritten(here, {rows[0]["seq"]: {"actor": owner.person}})).why == "chain.people"
        assert here.workspace.verify_ledger().ok


def test_a_question_above_the_limit_waits_and_is_then_asked_once(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        analyst, owner = here.face("analyst"), here.face("owner")
        owner.set_limit(MINE, "0.05")
        table = analyst.table(MINE)
        small, large = count(table, "0.02"), count(table, "0.2")
        assert not table.preview(small).waits and table.preview(large).waits
        table.ask(small, "small")
        for attempt in range(2):
            with raises("people.waits"):
                table.ask(large, f"large {attempt}")
        wanted = analyst.wish(MINE, "the yearly report", query=large)
        assert wanted.takes == table.preview(large).share and wanted.claim is not None
        [stored] = [row for row in here.workspace.ledger.export_rows() if row["kind"] == "wish"]
        assert set(json.loads(stored["body"])) == {"table", "reason", "share", "takes", "claim"}  # and no answer
        with raises("people.decision_form"):
            owner.decide(wanted.id, "changed", "0.1")
        with raises("people.waits"):
            table.ask(large, "not yet")
        owner.decide(wanted.id, "yes")
        assert not table.preview(large).waits
        with raises("people.waits"):
            table.ask(count(table, "0.21"), "another")  # exactly that claim
        colleague = here.face("owner").table(MINE)
        with raises("people.waits"):
            colleague.ask(large, "by another")
        table.ask(large, "approved")
        with raises("people.waits"):
            table.ask(large, "again")  # once
        owner.set_limit(MINE, None)
        table.ask(count(table, "0.15"), "free")
        assert here.workspace.verify_ledger().ok
        charge = next(row for row in here.workspace.ledger.export_rows() if row["request"] == "approved")
        assert verify(rewritten(here, {charge["seq"]: edited(charge, wish="w-none")})).why == "chain.people"


# Kept apart by agreement


def test_people_who_keep_apart_have_a_budget_each_and_see_the_sum(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        ana, bor = here.person("ana"), here.person("bor")
        for name in ("ana", "bor"):
            here.give(MINE, name, Fraction(1))
        here.face("administrator").keep_apart(MINE, [ana, bor])
        tables = {name: here.face(name).table(MINE) for name in ("ana", "bor")}
        query = count(tables["ana"], "0.5")
        for place, name in enumerate(["ana", "ana", "bor"]):
            tables[name].ask(query, f"r{place}")
        for name in ("ana", "bor"):
            with raises("budget.exceeded"):
                tables[name].ask(count(tables[name], "0.9"))
        assert {name: len(table.history()) for name, table in tables.items()} == {"ana": 2, "bor": 1}
        assert {name: len(table.recall(query)) for name, table in tables.items()} == {"ana": 2, "bor": 1}
        assert [answer.request_id for answer in tables["bor"].answers(9)] == ["r2"]
        assert here.face("bor").ledger.find("r0") is None and here.face("bor").job("r0").state == "unknown"
        (mine, together_), (other, same) = (here.face(name).meter(MINE) for name in ("ana", "bor"))
        assert mine.used > other.used > 0 and together_ == same
        ledger, base = here.workspace.ledger, here.workspace.record(MINE).budget
        summed = together(ledger.standing(f"{base}:{one}") for one in (ana, bor))
        assert together_.spent_epsilon == spent(ledger.budget(base).rule, summed.totals)
        assert together_.charges == 3 and together_.spent_epsilon > max(mine.spent_epsilon, other.spent_epsilon)
        with raises("people.kept_apart"):
            reserve(here, "owner", "beside", "0.001")
        with raises("people.no_right"):
            reserve(here, "ana", "as bor", "0.001", budget=f"{base}:{bor}")
        assert {account.budget.id for account in here.face("auditor").accounts()} >= {f"{base}:{ana}", f"{base}:{bor}"}
        assert ledger.verify().ok
        here.face("owner").raise_cap(MINE, "3")
        tables["ana"].ask(count(tables["ana"], "0.9"), "after the raise")
        here.face("administrator").keep_apart(MINE, [ana, bor, here.person("eva")])
        here.face("owner").seal(MINE)
        for table in tables.values():
            with raises("table.sealed"):
                table.ask(count(table, "0.01"))
            assert table.closed == "seal"
        assert ledger.verify().ok


def test_what_all_have_seen_cannot_be_kept_apart(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        with raises("people.agreement_form"):
            here.face("administrator").keep_apart(MINE, [])
        reserve(here, "analyst", "one", "0.01")
        with raises("people.agreement_late"):
            here.face("administrator").keep_apart(MINE, [here.person("analyst")])


# New people, new allowance; the same people under another owner


def test_a_table_by_period_shares_an_allowance_by_declaration_alone(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        base = here.workspace.record(MINE).budget
        new = here.bring("owner", "hospital 2027", start=300)
        same = here.bring("owner", "hospital 2028", start=400, budget=base)
        assert new.budget.id != base == same.budget.id
        assert same.sharing() == [MINE, "hospital 2028"] and not same.joined
        with raises("budget.unknown"):  # of a table that they own, and of no other
            here.bring("owner of another", "mine now", start=500, budget=base)
        here.give("hospital 2028", "analyst")
        table = here.face("analyst").table("hospital 2028")
        table.ask(count(table, "0.1"))
        reserve(here, "owner", "beside", "0.1")
        assert here.face("analyst").meter("hospital 2028")[1].charges == 2  # the same owner's: no secret
        assert here.workspace.verify_ledger().ok


def test_an_upload_does_not_tell_that_another_owner_has_it(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        reserve(here, "analyst", "before", "0.4")
        same, fresh = (
            here.bring("owner of another", name, start=start) for name, start in (("copy", 0), ("fresh", 700))
        )
        assert here.workspace.record("copy").budget == here.workspace.record(MINE).budget  # one budget pays
        for table in (same, fresh):
            assert (table.joined, table.sharing(), table.acts(), table.history()) == (False, [table.name], [], [])
            assert table.budget.name == table.name and next(iter(table.burn_down())).left == 1
            seen = str([list(table.ledger_rows()), table.budget, table.facts])
            assert MINE not in seen and here.person("owner") not in seen
            assert table.meter().used == 0 and here.face("owner of another").meter(table.name)[1].charges == 0
        assert same.ask(count(same, "0.1"), "copied").value is not None
        assert same.meter().charges == 1 and len(same.history()) == 1
        assert same.took(same.history()[0]) == same.meter().used
        assert here.face("owner").table(MINE).meter().charges == 1  # nor is the first owner told
        with raises("people.shared_exceeded"):
            same.ask(count(same, "0.9"))
        with raises("budget.exceeded"):
            fresh.ask(count(fresh, "1.1"))
        seen = [(match.name, match.others, match.refused) for match in here.face("administrator").matches()]
        assert seen == [("copy", (MINE,), "")]
        here.face("owner").seal(MINE)
        assert same.closed is None and same.ask(count(same, "0.01")).value is not None
        assert here.workspace.verify_ledger().ok


def test_what_another_owner_released_does_not_show_in_what_a_session_counts(tmp_path: Path) -> None:
    """Claims about a population count what is told to the person who asks; for one who is told of all, all of it."""
    with office(tmp_path) as here:
        reserve(here, "analyst", "before", "0.1")
        same = here.bring("owner of another", "copy", start=0)
        session = same.open_session(same.query("adaptive_session", questions=1, epsilon="0.4"), "asking")
        reserve(here, "analyst", "between", "0.1")
        assert same.released() == Past.of([session.query.loss()])
        assert session.past == Past.NOTHING and session.others_from is None
        mine = count(same, "0.05")
        between = same.ask(mine)
        assert session.others_from == between.receipt["charge"]["seq"]
        assert same.released() == Past.of([session.query.loss(), mine.loss()])
        every = here.workspace.ledger.released(here.workspace.record("copy").budget)
        assert every.pure == same.released().pure + Fraction(2, 10)


def test_what_cannot_join_unseen_is_refused_without_a_reason(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        told = set()
        for name, changes in {
            "other unit": {"relation": "add_remove", "about_rows": 40},
            "other allowance": {"epsilon": "2"},
        }.items():
            with raises("people.not_as_declared") as refused:
                here.bring("owner of another", name, **changes)  # type: ignore[arg-type]
            told.add(str(refused.value))
        assert len(told) == 1 and MINE not in told.pop()
        assert [match.refused for match in here.face("administrator").matches()] == ["budget.other_terms"] * 2
        assert [name for name, _ in here.face("owner of another").names()] == [OTHER]


# What an auditor reads


def test_an_auditor_reads_every_account_and_act(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        reserve(here, "analyst", "one", "0.1")
        here.face("analyst").wish(MINE, "more", share="0.6", wish_id="wish")
        here.face("owner").decide("wish", "yes")
        here.face("owner").set_limit(MINE, HALF)
        here.face("administrator").name_group("g-team", [here.person("ana")])
        auditor = here.face("auditor")
        accounts = {account.tables: account for account in auditor.accounts()}
        assert set(accounts) == {(MINE,), (OTHER,)} and accounts[(MINE,)].meter.charges == 1
        deeds = auditor.acts_of(most=1000)
        assert [deed.seq for deed in deeds] == sorted((deed.seq for deed in deeds), reverse=True)
        assert {deed.kind for deed in deeds} >= {
            "role",
            "grant",
            "wish",
            "decided",
            "limit",
            "group",
            "charge",
            "budget",
        }
        assert all(deed.words and "{" not in deed.words for deed in deeds if deed.kind != "charge")
        theirs = auditor.acts_of(here.person("analyst"))
        assert [deed.kind for deed in theirs] == ["wish", "charge"]
        assert [deed.kind for deed in auditor.acts_of(here.person("analyst"), before=theirs[0].seq)] == ["charge"]
        practice = here.face("nobody").table("town")
        practice.ask(practice.suggestions()[0])
        assert list(auditor.ledger.export_rows()) == list(here.workspace.ledger.export_rows())
        assert len(list(auditor.export())) == here.workspace.ledger.head()[0] + 1
        assert len(list(auditor.table(MINE).ledger_rows())) > 4 and auditor.verify_ledger().ok
        with raises("people.no_right"):
            auditor.table(MINE).ask(count(here.workspace.table(MINE)))


def test_a_budget_of_one_is_told_to_no_other(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        reserve(here, "analyst", "one", "0.1")
        for name in ("owner of another", "nobody", "administrator"):
            face = here.face(name)
            assert face.ledger.find("one") is None and face.ledger.steps("one") == []
            with raises("budget.unknown"):
                face.ledger.budget(here.workspace.record(MINE).budget)
        assert (
            here.face("owner").ledger.budget(here.workspace.record(MINE).budget).rule == dp.Budget("1", "1e-6").rule()
        )
