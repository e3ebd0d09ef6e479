"""What a face tells: nothing of answers, people and tables that its person may not see, by whatever door they ask."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers_people import MINE, OTHER, count, office


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
        here.face("owner").keep_apart(MINE, people)
        for one in people:
            here.face("owner").grant(MINE, one, "0.5")
        table = here.face("s1").table(MINE)
        receipt = table.ask(count(table), "theirs").receipt
        forged = json.dumps(receipt | {"answer": {"value": 0}}).encode()
        [found] = here.face(reader).check_receipts(forged, "r.json")
        assert found.code == "verify.absent" and not found.differences
