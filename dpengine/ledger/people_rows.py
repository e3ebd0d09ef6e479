"""Who may do what, as rows of the ledger. A ledger without any of them belongs to one person, and nothing is asked.

    role       a person becomes an administrator, an auditor or an owner, or is barred; `on` false takes it back
    group      a name for several people; the newest row of a name counts
    grant      a person or a group may use a share of a table's allowance, for some questions, until some day
    wish       somebody asks for a larger share, or for one question above the owner's limit, with a reason
    decided    what became of it: `yes`, `no` or `changed`; once, and never by who wished
    limit      a question that takes more than this share of the allowance waits for a decision
    agreement  people who keep their answers to themselves: from then on each has a budget of their own

The first `role` row makes the workspace *served*: from then on nobody does anything without a right. The newest row for
a person and a table counts. A person is an opaque id; names stand in the registry, which can forget them. A charge in a
served workspace says whose grant it was made `under`, and carries two more running sums: of that grant's holder, and of
its table; so deciding takes the same work after a hundred thousand rows as after ten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction

from dpengine.core.canonical import canonical
from dpengine.core.json_types import JsonObject
from dpengine.ledger.rows import BudgetRecord, LedgerRow

KINDS = ("role", "group", "grant", "wish", "decided", "limit", "agreement")
ADMINISTRATOR, AUDITOR, OWNER, BARRED = "administrator", "auditor", "owner", "barred"
ROLES = (ADMINISTRATOR, AUDITOR, OWNER, BARRED)
OPERATOR = "operator"  # who runs a command on the machine itself
ALL_QUESTIONS = ("*",)
YES, NO, CHANGED = "yes", "no", "changed"
_PERSON, _GROUP = re.compile(r"p-[0-9a-f]{32}"), re.compile(r"g-.{1,40}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def is_person(actor: object) -> bool:
    return isinstance(actor, str) and _PERSON.fullmatch(actor) is not None


def is_group(name: object) -> bool:
    return isinstance(name, str) and _GROUP.fullmatch(name) is not None and name.isprintable()


def is_day(text: object) -> bool:
    return isinstance(text, str) and _DAY.fullmatch(text) is not None


@dataclass(frozen=True)
class Role:
    """A role that a person was given or that was taken back; `table` is empty where it is about none."""

    seq: int
    at: str
    actor: str
    person: str
    role: str
    table: str
    on: bool

    @staticmethod
    def from_row(row: LedgerRow) -> Role:
        body = json.loads(row["body"])
        return Role(row["seq"], row["at"], row["actor"], body["person"], body["role"], body["table"], body["on"])


CHECK = "fit_checks"


@dataclass(frozen=True)
class Grant:
    """What a person or a group may use of a table's allowance."""

    seq: int
    at: str
    actor: str
    budget: str
    table: str
    to: str
    share: Fraction
    questions: tuple[str, ...]  # patterns of keys; one that begins with ! forbids
    until: str  # the last day on which it may be used; empty: no end

    @staticmethod
    def from_row(row: LedgerRow) -> Grant:
        body = json.loads(row["body"])
        return Grant(
            row["seq"],
            row["at"],
            row["actor"],
            row["budget"],
            body["table"],
            body["to"],
            Fraction(body["share"]),
            tuple(body["questions"]),
            body["until"],
        )

    def live(self, day: str) -> bool:
        return self.share > 0 and (not self.until or day <= self.until)

    def allows(self, key: str) -> bool:
        """Whoever may ask anything may pay for the check that is part of asking."""
        if key == CHECK:
            return True
        wanted = any(fnmatchcase(key, one) for one in self.questions if not one.startswith("!"))
        return wanted and not any(fnmatchcase(key, one[1:]) for one in self.questions if one.startswith("!"))


@dataclass(frozen=True)
class Wanted:
    """A wish: a share of the allowance, or one question with what it would take."""

    id: str
    seq: int
    at: str
    actor: str
    budget: str
    table: str
    reason: str
    share: Fraction | None
    claim: JsonObject | None
    takes: Fraction | None

    @staticmethod
    def from_row(row: LedgerRow) -> Wanted:
        body = json.loads(row["body"])
        share, takes = (None if body[name] is None else Fraction(body[name]) for name in ("share", "takes"))
        told = (row["request"], row["seq"], row["at"], row["actor"], row["budget"], body["table"], body["reason"])
        return Wanted(*told, share, body["claim"], takes)


@dataclass(frozen=True)
class Decision:
    seq: int
    at: str
    actor: str
    wish: str
    answer: str
    share: Fraction | None

    @staticmethod
    def from_row(row: LedgerRow) -> Decision:
        body = json.loads(row["body"])
        share = None if body["share"] is None else Fraction(body["share"])
        return Decision(row["seq"], row["at"], row["actor"], row["request"], body["answer"], share)


def role_body(person: str, role: str, table: str, on: bool) -> str:
    return canonical({"person": person, "role": role, "table": table, "on": on})


def group_body(group: str, people: Sequence[str]) -> str:
    return canonical({"group": group, "people": sorted(set(people))})


def grant_body(table: str, to: str, share: Fraction, questions: Sequence[str], until: str) -> str:
    return canonical({"table": table, "to": to, "share": str(share), "questions": list(questions), "until": until})


def wish_body(table: str, reason: str, share: Fraction | None, claim: JsonObject | None, takes: Fraction | None) -> str:
    amounts = {"share": None if share is None else str(share), "takes": None if takes is None else str(takes)}
    return canonical({"table": table, "reason": reason, "claim": claim} | amounts)


def decided_body(table: str, answer: str, share: Fraction | None) -> str:
    return canonical({"table": table, "answer": answer, "share": None if share is None else str(share)})


def limit_body(table: str, share: Fraction | None) -> str:
    return canonical({"table": table, "share": None if share is None else str(share)})


def agreement_body(table: str, people: Sequence[str]) -> str:
    return canonical({"table": table, "people": sorted(set(people))})


def apart_id(budget: str, person: str) -> str:
    """The budget of one of the people who keep apart."""
    return f"{budget}:{person}"


def base_of(budget: str) -> str:
    """The budget that the table was declared with."""
    base, _, person = budget.rpartition(":")
    return base if is_person(person) else budget


def is_own(record: BudgetRecord) -> bool:
    """Is it a table's own budget, neither for practice nor that of one of the people who keep apart?"""
    return record.kind == "private" and base_of(record.id) == record.id
