"""Checks a receipt against a ledger: is the chain intact, does it hold exactly this charge and answer, and is the claim
right?

A receipt (answers.make_receipt) is a function of two rows and the hash of the ledger's first row. To check it,
`chain.verify` verifies all rows, the receipt is rebuilt from the rows with its request, and the two are compared field
by field. Then the loss is recomputed: the mechanism, in the version that the claim names and built from the claim
alone, must state this loss for these parameters, under the budget's own unit and relation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from dpengine.accountant.filter import Rule
from dpengine.accountant.loss import loss_as_json
from dpengine.asking.answers import RECEIPT, build_receipt, build_step_receipt, facts_of, promise_as_json
from dpengine.asking.sessions import session_of, step_claim
from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical, read_strict
from dpengine.core.types import Json, JsonObject
from dpengine.declared.unit import Unit
from dpengine.ledger import long_lists
from dpengine.ledger.chain import verify
from dpengine.ledger.rows import (
    OUTCOMES,
    STEP_OUTCOMES,
    BudgetRecord,
    Charge,
    Entry,
    LedgerRow,
    Outcome,
    SessionStep,
    is_request,
)
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import known, plain, say

MOST_BYTES = 50 * 2**20
_LONGEST_SHOWN = 60
_NO_RULE = Rule(Fraction(1), Fraction(0), Fraction(0), Fraction(0), None, None)  # stands in for an unknown budget's
_ILLEGIBLE = (AllowanceError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError)

Receipt = JsonObject


@dataclass(frozen=True)
class Finding:
    """The result for one receipt: one sentence, and one more for each field that differs from the ledger."""

    ok: bool
    name: str  # the start of its charge's hash
    sentence: str
    code: str
    differences: list[str] = field(default_factory=list)
    request: str = ""  # of the charge, where the receipt holds


def read_receipts(content: bytes, name: str) -> list[Receipt]:
    """The receipts in a file: one as JSON, or one on each line."""
    if len(content) > MOST_BYTES:
        raise AllowanceError("verify.large", file=name, most=MOST_BYTES // 2**20)
    receipts = _parsed(content)
    if not receipts:  # raised here, because the parser's own error would quote the whole file
        raise AllowanceError("verify.not_json", file=name)
    for receipt in receipts:
        if not isinstance(receipt, dict) or "receipt" not in receipt or not is_request(receipt.get("request")):
            raise AllowanceError("verify.not_receipt", file=name)
    return receipts


def _parsed(content: bytes) -> list[Json]:
    """The JSON values of a file, or of the lines of a file; empty if neither is JSON."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return []
    for pieces in ([text], [line for line in text.splitlines() if line.strip()]):
        with suppress(ValueError):
            return [read_strict(piece) for piece in pieces]
    return []


def check(
    receipts: list[Receipt], rows: Iterable[LedgerRow], seen: Callable[[str], bool] = lambda request: True
) -> list[Finding]:
    """Check every receipt in one pass over all rows of a ledger. `seen` returns True if the asker may see a request.
    Every other request counts as absent: otherwise the differences to a forged receipt would reveal its answer."""
    book = _Book({receipt["request"] for receipt in receipts if seen(receipt["request"])})
    verdict = verify(book.noting(rows))
    if not verdict.ok:
        return [_finding(receipt, "verify.chain", why=verdict.sentence) for receipt in receipts]
    return [book.check(receipt) for receipt in receipts]


def check_alone(receipt: Receipt, charge: Charge) -> Finding:
    """Check a receipt without a ledger: do its loss, its promise and its cuts follow from its parameters? The result is
    a sentence."""
    if receipt.get("receipt") != RECEIPT:
        return _finding(receipt, "verify.version")
    if not _recomputable(charge.claim):
        return _finding(receipt, "verify.alone_unknown")
    unbound = BudgetRecord(charge.budget, "", "", _NO_RULE, charge.at)
    fault = claim_fault(charge, unbound)
    return _finding(receipt, "verify.alone_bad" if fault else "verify.fine_alone")


class _Book:
    """Those rows of a ledger that the receipts refer to."""

    def __init__(self, wanted: set[str]) -> None:
        self.wanted = wanted
        self.origin = ""
        self.budgets: dict[str, BudgetRecord] = {}
        self.charges: dict[str, LedgerRow] = {}
        self.outcomes: dict[str, LedgerRow] = {}
        self.steps: dict[tuple[str, int], LedgerRow] = {}  # of sessions, by request and number
        self.step_outcomes: dict[tuple[str, int], LedgerRow] = {}
        self.lists: dict[str, str] = {}  # bodies of the rows of long lists, by digest

    def noting(self, rows: Iterable[LedgerRow]) -> Iterator[LedgerRow]:
        for row in rows:
            yield row  # verified by the caller before it is used here
            if row["seq"] == 1:
                self.origin = row["hash"]
            if row["kind"] == "budget":
                self.budgets[row["budget"]] = BudgetRecord.from_row(row)
            elif row["kind"] == long_lists.KIND:
                self.lists[json.loads(row["body"])["digest"]] = row["body"]
            elif row["kind"] in ("charge", *OUTCOMES) and row["request"] in self.wanted:
                (self.charges if row["kind"] == "charge" else self.outcomes)[row["request"]] = row
            elif row["kind"] in ("step", *STEP_OUTCOMES) and row["request"] in self.wanted:
                place = (row["request"], json.loads(row["body"])["index"])
                (self.steps if row["kind"] == "step" else self.step_outcomes)[place] = row

    def check(self, receipt: Receipt) -> Finding:
        if receipt["receipt"] != RECEIPT:
            return _finding(receipt, "verify.version")
        if receipt.get("ledger") != self.origin:
            return _finding(receipt, "verify.elsewhere")
        if receipt["request"] not in self.charges:
            return _finding(receipt, "verify.absent")
        charge = Charge.from_row(self._with_lists(self.charges[receipt["request"]]))
        outcome = self.outcomes.get(charge.request)
        entry = Entry(charge, None if outcome is None else Outcome.from_row(outcome), self.origin)
        burned = None
        if "step" in receipt:
            burned = self._burned(receipt)
            if burned is None:
                return _finding(receipt, "verify.absent")
        ours = json.loads(canonical(build_receipt(entry) if burned is None else build_step_receipt(entry, burned)))
        differences = list(_differences(receipt, ours, ""))
        if differences:
            return _finding(receipt, "verify.differs", differences, first=differences[0])
        if entry.answer is None:
            return _finding(receipt, "verify.unanswered", row=charge.seq)
        if burned is not None and (burned.outcome is None or burned.outcome.kind != "part"):
            return _finding(receipt, "verify.step_unanswered", row=burned.seq)
        code = claim_fault(charge, self.budgets[charge.budget]) or (burned and step_fault(charge, burned))
        if code:
            return _finding(receipt, code, title=_title(charge), version=charge.claim.get("version"))
        if burned is not None and burned.outcome is not None and _recomputable(charge.claim):
            return _finding(receipt, "verify.fine_step", row=burned.seq, answer=burned.outcome.seq)
        code = "verify.fine" if _recomputable(charge.claim) else "verify.fine_unknown"
        rows, version = {"row": charge.seq, "answer": entry.answer.seq}, charge.claim.get("version")
        return _finding(receipt, code, None, title=_title(charge), version=version, **rows)

    def _burned(self, receipt: Receipt) -> SessionStep | None:
        step = receipt["step"]
        index = step.get("index") if isinstance(step, dict) else None
        place = (receipt["request"], index) if type(index) is int else None
        if place is None or place not in self.steps:
            return None
        return SessionStep.from_row(self._with_lists(self.steps[place]), self.step_outcomes.get(place))

    def _with_lists(self, row: LedgerRow) -> LedgerRow:
        """The row, after the long lists that it refers to are loaded."""
        for digest in long_lists.named_in(row["body"]):
            long_lists.noted(self.lists[digest])
        return row


def _finding(receipt: Receipt, code: str, differences: list[str] | None = None, **facts: object) -> Finding:
    charge = receipt.get("charge")
    name = charge.get("hash") if isinstance(charge, dict) else None
    fine = code.startswith("verify.fine")
    sentence, request = say(code, **facts), receipt["request"] if fine else ""
    return Finding(fine, _short(name or receipt["request"])[:8], sentence, code, differences or [], request)


def _differences(stated: Json, held: Json, path: str) -> Iterator[str]:
    """A sentence for every field that differs. 1, 1.0 and true are three different values."""
    if isinstance(stated, dict) and isinstance(held, dict):
        for name in sorted(stated.keys() | held.keys()):
            inner = f"{path}.{name}" if path else name
            if name not in held:
                yield say("verify.field.extra", field=_short(inner))
            elif name not in stated:
                yield say("verify.field.missing", field=_short(inner))
            else:
                yield from _differences(stated[name], held[name], inner)
    elif canonical(stated) != canonical(held):
        yield say("verify.field", field=_short(path), stated=_short(stated), held=_short(held))


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else canonical(value)
    text = "".join(letter if letter.isprintable() else "�" for letter in text)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _title(charge: Charge) -> str:
    code = f"card.{charge.claim.get('key')}.title"
    return say(code) if known(code) else plain(charge.claim.get("key"))


def _recomputable(claim: JsonObject) -> bool:
    """Does this program have the claim's mechanism in the claim's version?"""
    kind = catalogue.get(str(claim.get("key")))
    return kind is not None and claim.get("version") == kind.card.version


def claim_fault(charge: Charge, budget: BudgetRecord) -> str | None:
    """The message code of the fault if a charge's claim contradicts its budget or the question rebuilt from it; None if
    all agree, or if this program no longer has the mechanism in that version."""
    claim = charge.claim
    try:
        alike = Unit.from_json(claim["unit"]).may_share(budget.unit or {})
        if budget.relation and (claim["relation"] != budget.relation or not alike):
            return "verify.terms"
        if not _recomputable(claim):
            return None
        query = catalogue[claim["key"]].build(facts_of(charge), claim["parameters"])
        if loss_as_json(query.loss()) != loss_as_json(charge.loss):
            return "verify.loss"
        promise = promise_as_json(query.promise())
        same = query.digest() == claim["digest"] and _alike(claim["promise"], promise) and _same_cuts(claim, query)
        return None if same else "verify.claim"
    except _ILLEGIBLE:
        return "verify.claim"


_ALIKE = Fraction(1, 10**9)
_NUMBER = re.compile(r"-?\d{1,60}(?:[./]\d{1,60})?")


def _alike(stated: Json, now: Json) -> bool:
    """Are two promises the same, their numbers up to a billionth? Some numbers of a promise are worked out in floats,
    whose last digits differ between processors; losses, which are exact, are compared exactly."""
    if isinstance(stated, dict) and isinstance(now, dict):
        return stated.keys() == now.keys() and all(_alike(stated[name], now[name]) for name in stated)
    if isinstance(stated, list) and isinstance(now, list):
        return len(stated) == len(now) and all(map(_alike, stated, now))
    if not (isinstance(stated, str) and isinstance(now, str)) or stated == now:
        return canonical(stated) == canonical(now)
    if not (_NUMBER.fullmatch(stated) and _NUMBER.fullmatch(now)):
        return False
    one, other = Fraction(stated), Fraction(now)
    return abs(one - other) <= _ALIKE * max(abs(one), abs(other))


def _same_cuts(claim: JsonObject, query: AnyQuery) -> bool:
    stated = [{name: fact for name, fact in stated_cut.items() if name != "words"} for stated_cut in claim["cuts"]]
    return canonical(stated) == canonical([cut.as_json() for cut in query.cuts()])


def step_fault(charge: Charge, burned: SessionStep) -> str | None:
    """The message code of the fault if a step's claim is not that of an answer of its session; None if all agree."""
    if not _recomputable(charge.claim):
        return None
    try:
        asked = session_of(facts_of(charge), Entry(charge, None)).again(burned.claim)
        now = step_claim(asked)
        recomputed, stated = (claim | {"cuts": None, "promise": None} for claim in (now, burned.claim))
        same = canonical(recomputed) == canonical(stated) and _same_cuts(burned.claim, asked)
        same = same and _alike(burned.claim["promise"], now["promise"])
        return None if same else "verify.claim"
    except _ILLEGIBLE:
        return "verify.claim"
