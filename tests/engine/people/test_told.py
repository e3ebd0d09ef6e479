"""What a face tells: nothing of answers, people and tables that its person may not see, by whatever door they ask."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from dpengine.asking.exports import ROW_COLUMNS
from dpengine.ledger.people_rules import OWNER
from tests.helpers_ledger import raises
from tests.helpers_people import EVERYBODY, MINE, OTHER, Office, count, office


def test_a_made_up_receipt_reads_nobodys_answer(tmp_path: Path) -> None:
    """A receipt of one's own under the request of another: told like a request that was never made."""
    with office(tmp_path) as here:
        table = here.face("analyst").table(MINE)
        true = table.ask(count(table), "may-report").receipt
        eve = here.face("analyst of another")
        payroll = eve.table(OTHER)
        own = payroll.ask(count(payroll), "eve-1").receipt
        told = {}
        for request in ("may-report", "june-report"):
            forged = json.dumps(own | {"request": request}).encode()
            [told[request]] = eve.check_receipts(forged, "r.json")
        assert told["may-report"] == told["june-report"]
        assert told["may-report"].code == "verify.absent" and not told["may-report"].differences
        for name in ("analyst", "owner", "auditor"):  # who may read the answer is told where a receipt differs from it
            [found] = here.face(name).check_receipts(json.dumps(true | {"price": "7"}).encode(), "r.json")
            assert found.code == "verify.differs"
            assert here.face(name).check_receipts(json.dumps(true).encode(), "r.json")[0].ok


@pytest.mark.parametrize("reader", ["s2", "owner"])
def test_a_receipt_of_somebody_kept_apart_is_unknown_to_the_others(tmp_path: Path, reader: str) -> None:
    with office(tmp_path) as here:
        people = [here.person(name) for name in ("s1", "s2")]
        here.face("administrator").keep_apart(MINE, people)
        for one in people:
            here.face("owner").grant(MINE, one, "0.5")
        table = here.face("s1").table(MINE)
        receipt = table.ask(count(table), "theirs").receipt
        forged = json.dumps(receipt | {"answer": {"value": 0}}).encode()
        [found] = here.face(reader).check_receipts(forged, "r.json")
        assert found.code == "verify.absent" and not found.differences


def held(here: Office, name: str) -> list[tuple[Fraction, tuple[str, ...], str]]:
    grants = [one.grant for one in here.face("owner").grants(MINE) if one.grant.to == here.person(name)]
    return [(grant.share, grant.questions, grant.until) for grant in grants]


def test_an_approved_wish_keeps_the_limits_of_the_group_and_is_a_share_in_all(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        owner, gina = here.face("owner"), here.face("gina")
        here.face("administrator").name_group("g-team", [gina.person])
        here.face("administrator").name_group("g-wide", [gina.person])
        owner.grant(MINE, "g-team", "0.2", questions=["count"], until="2099-12-31")
        owner.decide(gina.wish(MINE, "what I have", share="0.2").id, "yes")
        assert held(here, "gina") == []
        owner.decide(gina.wish(MINE, "more", share="0.3").id, "yes")
        assert held(here, "gina") == [(Fraction(1, 10), ("count",), "2099-12-31")]
        table = gina.table(MINE)
        with raises("people.question_not_granted"):
            table.ask(table.query("mean", column="x", epsilon="0.01"))
        for _ in range(3):
            table.ask(count(table, "0.1"))
        with raises("people.exceeded"):
            table.ask(count(table, "0.1"))
        owner.grant(MINE, "g-wide", "0.5")
        owner.decide(gina.wish(MINE, "less than all I have", share="0.4").id, "yes")
        assert held(here, "gina") == [(Fraction(1, 10), ("count",), "2099-12-31")]
        assert here.workspace.verify_ledger().ok


def test_a_wish_approved_after_its_grant_was_taken_back_lifts_no_limit(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        owner, dora = here.face("owner"), here.face("dora")
        owner.grant(MINE, dora.person, "0.1", questions=["count"], until="2099-12-31")
        wish = dora.wish(MINE, "more", share="0.2").id
        owner.grant(MINE, dora.person, 0)
        assert held(here, "dora") == [(Fraction(0), ("count",), "2099-12-31")]
        owner.decide(wish, "yes")
        assert held(here, "dora") == [(Fraction(1, 5), ("count",), "2099-12-31")]
        assert here.workspace.verify_ledger().ok


def test_the_account_of_equal_content_tells_nothing_of_the_other_owners_questions(tmp_path: Path) -> None:
    """Not in the rows to take away, not in a refusal, not in who used what, not in either meter."""
    with office(tmp_path) as here:
        table = here.face("analyst").table(MINE)
        table.ask(count(table, "0.3"))
        here.bring("owner of another", "copy", start=0)
        other = here.face("owner of another")
        other.grant("copy", here.person("analyst"), "0.5")
        assert {float(one.used) for one in other.grants("copy")} == {0}
        copy = other.table("copy")
        copy.ask(count(copy, "0.1"))
        [row] = [row for row in copy.ledger_rows() if row[2] == "charge"]
        assert dict(zip(ROW_COLUMNS, row, strict=True))["running_total"] == "0.1"
        assert dict(zip(ROW_COLUMNS, row, strict=True))["epsilon_spent"] == "0.1"
        assert [float(one.used) for one in other.grants("copy") if one.grant.to == other.person] == [0.1]
        with raises("people.exceeded"):  # by their own sums alone, whatever is left of the budget
            copy.ask(count(copy, "1.01"))
        both = here.face("analyst").grants("copy")  # who may see both tables is told of both
        assert [float(one.used) for one in both] == [0.3]


def test_an_agreement_of_another_owners_people_is_not_told(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.bring("owner", "copy", start=0)
        here.face("administrator").keep_apart(MINE, [here.person("analyst")])
        table = here.face("analyst").table(MINE)
        table.ask(count(table, "0.3"))
        other = here.face("owner of another")
        here.face("administrator").hand_over("copy", other.person)
        here.face("administrator").name_role(here.person("owner"), OWNER, on=False, table="copy")
        assert [float(meter.used) for meter in other.meter("copy")] == [0, 0]
        with raises("people.shared_exceeded"):
            other.table("copy").ask(count(other.table("copy")))
        with raises("people.kept_apart"):
            here.face("owner").table(MINE).ask(count(table))
        assert here.face("owner").meter(MINE)[1].charges == 1


def test_an_owner_is_told_of_no_table_that_they_may_not_see(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        told = {name: {role.table for role in here.face(name).roles() if role.table} for name in EVERYBODY[2:5]}
        assert told == {"administrator": {MINE, OTHER}, "owner": {MINE}, "owner of another": {OTHER}}
        assert here.face("owner").roles(here.person("owner of another")) != []  # that they are one
        assert all(not role.table for role in here.face("owner").roles(here.person("owner of another")))


def test_why_a_colleague_wishes_more_is_told_to_the_owner_alone(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        here.give(MINE, "colleague", Fraction(1, 4))
        wish = here.face("colleague").wish(MINE, "my divorce needs more numbers", share="0.4").id
        here.face("owner").decide(wish, "yes")
        told = {}
        for name in ("owner", "auditor", "analyst", "colleague"):
            rows = list(here.face(name).table(MINE).ledger_rows())
            kinds = Counter(row[2] for row in rows if row[2] in ("wish", "decided", "grant"))
            told[name] = ("divorce" in str(rows), here.person("colleague")[:12] in str(rows), kinds)
        every = Counter(wish=1, decided=1, grant=5)
        assert told["owner"] == told["auditor"] == (True, True, every)
        assert told["colleague"] == (True, True, Counter(wish=1, decided=1, grant=2))
        assert told["analyst"] == (False, False, Counter(grant=1))
