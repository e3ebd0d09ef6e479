"""An account that was taken away: receipts with their answers, read without a ledger, a table or a workspace.

What a receipt says by its own words can be checked anywhere: that its loss, its promise and its cuts follow from its
parameters. That it is what a ledger holds is checked against a copy of that ledger. Figures can be compared as on the
page: each record holds the number of its charge (`released/compare.py`). Nothing here draws or spends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dpengine.accountant.filter import Totals
from dpengine.accountant.history import History
from dpengine.accountant.loss import loss_from_json
from dpengine.asking.answers import Answer, make_answer, make_receipt
from dpengine.asking.receipts import Finding, Receipt, check, check_alone, facts_of
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json
from dpengine.ledger.exports import opened
from dpengine.ledger.rows import Charge, Entry, Outcome, questions_of
from dpengine.mechanisms import catalogue
from dpengine.messages import plain, say
from dpengine.released.compare import Comparable, figures

_ILLEGIBLE = (AllowanceError, KeyError, TypeError, ValueError)


def lines_of(entries: Iterable[Entry]) -> Iterator[str]:
    """One record a line, of every charge that was answered."""
    for entry in entries:
        if entry.outcome is not None and entry.outcome.kind == "answer":
            yield json.dumps({"place": entry.charge.history.count, "receipt": make_receipt(entry)})


def charge_of(receipt: Receipt) -> Charge:
    """A charge as its receipt tells it; the sums around it stay with the ledger."""
    return Charge(
        seq=receipt["charge"]["seq"],
        at=receipt["at"],
        hash=receipt["charge"]["hash"],
        request=receipt["request"],
        budget=receipt["budget"],
        table=receipt["table"],
        actor=receipt["actor"],
        worker="",
        claim=receipt["claim"],
        loss=loss_from_json(receipt["loss"]),
        price=Fraction(receipt["price"]),
        totals_before=Totals.NOTHING,
        totals_after=Totals.NOTHING,
        history=History.NOTHING,
    )


@dataclass(frozen=True)
class Account:
    """Records in the order they were charged."""

    records: tuple[tuple[int, Receipt], ...]

    @staticmethod
    def read(lines: Iterable[str]) -> Account:
        records = [json.loads(line) for line in lines]
        return Account(tuple((int(record["place"]), record["receipt"]) for record in records))

    def checked(self) -> list[str]:
        """Each receipt by its own words."""
        return [_line(check_alone(receipt, charge_of(receipt))) for _, receipt in self.records]

    def against(self, ledger: str) -> list[str]:
        """Each receipt against a copy of the ledger."""
        with opened(Path(ledger)) as rows:
            return [_line(finding) for finding in check([receipt for _, receipt in self.records], rows)]

    def answer(self, number: int) -> Answer | None:
        """The answer of a record, from 0 on; None for a session, or where this program has no such question."""
        receipt = self.records[number][1]
        charge, body = charge_of(receipt), dict(receipt["answer"])
        if questions_of(charge.claim) is not None or charge.claim.get("key") not in catalogue:
            return None
        outcome = Outcome(body.pop("seq"), charge.at, body.pop("hash"), "answer", body)
        try:
            query = catalogue[charge.claim["key"]].build(facts_of(charge), charge.claim["parameters"])
            return make_answer(query, Entry(charge, outcome, receipt["ledger"]))
        except _ILLEGIBLE:
            return None

    def told(self) -> list[str]:
        """Every answer in a line or more: its number, its question, its figures with their ranges."""
        found = []
        for number, (_, receipt) in enumerate(self.records):
            answer = self.answer(number)
            words = receipt["claim"].get("sentence", "") if answer is None else answer.sentence
            found.append(f"{number}  {plain(words)}")
            value, interval = receipt["answer"]["value"], receipt["answer"]["interval"]
            parts = value if isinstance(value, dict) else {"": value}
            ranges = interval if isinstance(interval, dict) else {"": interval}
            found += [f"   {_figure(part, one, ranges.get(part))}" for part, one in parts.items()]
        return found

    def figures(self, number: int) -> list[Comparable]:
        """The figures of a record as they may be compared, in one claim with all others."""
        answer, place = self.answer(number), self.records[number][0]
        if answer is None:
            return []
        table = self.records[number][1]["table"]
        return figures(answer.query, answer.value, answer.interval, answer.raw, place, answer.request_id, table)


def _line(finding: Finding) -> str:
    return say("verify.line.good" if finding.ok else "verify.line.bad", file=finding.name, sentence=finding.sentence)


def _figure(part: str, value: Json, ends: Json) -> str:
    text = f"{plain(part)}: {plain(value)}" if part else plain(value)
    return text if ends is None else f"{text}  ({plain(ends[0])} – {plain(ends[1])})"
