"""The ledger's rows, as frozen records.

A row is a mapping with the COLUMNS below. `body` and `totals` are canonical JSON. Its kind is one of:

- `budget`, the creation of a budget;
- `charge`, and its outcome, `answer` or `failed`;
- an owner's acts (owner_rows.py);
- an operator's `recovered` and `close` (commands/recover.py): the ledger was restored or repaired, or nothing more is
  spent from this budget;
- the steps of a session: `step` records a step as used, `part` or `lost` is its outcome, `ended` closes the session
  early. They carry the request of the session's charge;
- rows about people (people_rules.py).

A reader skips kinds it does not know: later versions may add some.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, NotRequired, Protocol, TypedDict, TypeVar

from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.group import for_group
from dpengine.accountant.history import History
from dpengine.accountant.loss import Loss, loss_as_json, loss_from_json
from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical
from dpengine.core.types import Json, JsonObject
from dpengine.declared.unit import MOST_ROWS_EACH, Unit
from dpengine.ledger import long_lists

COLUMNS = ("seq", "at", "kind", "budget", "request", "actor", "body", "totals", "prev", "hash")
OUTCOMES = ("answer", "failed")
ACTS = ("seal", "forget", "raise", "close", "new_people", "protect")
STEP_OUTCOMES = ("part", "lost")
SESSION = "adaptive_session"
LONGEST_REQUEST = 100
NO_ROW = 2**62  # after every row

LedgerRow = Mapping[str, Json]


class _Record(Protocol):
    """Any dataclass, for type checking."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Named = TypeVar("Named", bound=_Record)


def parts_of(row: LedgerRow) -> JsonObject:
    """The columns of a row and the parts of its body in one dict, by name."""
    return {**json.loads(row["body"]), **row}


def named(kind: type[Named], parts: JsonObject) -> Named:
    """A record of this class from the parts with the names of its fields; other parts are ignored."""
    return kind(**{own.name: parts[own.name] for own in fields(kind) if own.name in parts})


@dataclass(frozen=True)
class BudgetRecord:
    """A budget with its present cap ε and unit. The other numbers of `rule` stay as they were when the budget was
    created."""

    id: str
    name: str
    kind: str  # private or practice
    rule: Rule
    at: str
    unit: JsonObject = field(default_factory=dict)  # every loss charged here is stated for one such unit
    relation: str = ""  # … and under one relation, or the losses would not add up

    def body(self) -> str:
        data = {"name": self.name, "kind": self.kind, "rule": self.rule.as_json()}
        return canonical(data | {"unit": self.unit, "relation": self.relation})

    def at_cap(self, epsilon: Fraction) -> BudgetRecord:
        """The same budget with another cap ε."""
        return replace(self, rule=replace(self.rule, epsilon=epsilon))

    @staticmethod
    def from_row(row: LedgerRow) -> BudgetRecord:
        body = json.loads(row["body"])
        unit, relation, rule = body["unit"], body["relation"], Rule.from_json(body["rule"])
        return BudgetRecord(row["budget"], body["name"], body["kind"], rule, row["at"], unit, relation)


@dataclass(frozen=True)
class Standing:
    """Running sums of everything charged to a budget."""

    totals: Totals
    history: History

    NOTHING: ClassVar[Standing]

    @property
    def charges(self) -> int:
        return self.history.count

    def plus(self, paid: Cost, loss: Loss) -> Standing:
        return Standing(self.totals.plus(paid), self.history.plus(loss))


Standing.NOTHING = Standing(Totals.NOTHING, History.NOTHING)


def together(standings: Iterable[Standing]) -> Standing:
    """The sums of several budgets with the same α, or of several parts of one budget."""
    totals, history = Totals.NOTHING, History.NOTHING
    for standing in standings:
        totals = totals.plus(Cost(standing.totals.epsilon, standing.totals.renyi, standing.totals.delta))
        history = history.joined(standing.history)
    return Standing(totals, history)


def standing_of(losses: Iterable[tuple[Loss, int]], alpha: Fraction | None) -> Standing:
    """The sums of charges, each loss given with how often it was charged."""
    totals, history = Totals.NOTHING, History.NOTHING
    for loss, times in losses:
        paid, single = cost(loss, alpha), History.of([loss])
        many = (paid.epsilon, single.epsilon, single.squares)
        epsilon, in_all, squares = (None if amount is None else times * amount for amount in many)
        totals = totals.plus(Cost(epsilon, times * paid.renyi, times * paid.delta))
        history = history.joined(History(times, in_all, squares, times * single.rho, times * single.delta))
    return Standing(totals, history)


def standing_json(standing: Standing) -> JsonObject:
    return {"totals": standing.totals.as_json(), "history": standing.history.as_json()}


def standing_from(data: JsonObject) -> Standing:
    return Standing(Totals.from_json(data["totals"]), History.from_json(data["history"]))


@dataclass(frozen=True)
class Sums:
    """What a charge stores where people sign in: which grant pays, and the holder's and the table's sums after the
    charge."""

    under: str  # the holder of the grant that pays
    own: Standing  # of that holder on this budget, with this charge
    table: Standing  # of its table on this budget, with this charge
    takes: Fraction  # how far this charge moved the table's meter, under the cap at that moment
    moved: Fraction  # how far that holder has moved it, with this charge (people_rules.py)
    wish: str = ""  # the approved request that it uses up

    def as_json(self) -> JsonObject:
        data: JsonObject = {"under": self.under, "own": standing_json(self.own), "of_table": standing_json(self.table)}
        data |= {"takes": str(self.takes), "moved": str(self.moved)}
        return data | ({"wish": self.wish} if self.wish else {})


def sums_of(body: JsonObject) -> Sums | None:
    if "under" not in body:
        return None
    own, table = standing_from(body["own"]), standing_from(body["of_table"])
    takes, moved = Fraction(body["takes"]), Fraction(body["moved"])
    return Sums(body["under"], own, table, takes, moved, body.get("wish", ""))


class Reservation(TypedDict):
    """A charge that somebody wants to make."""

    budget: str
    table: str
    actor: str
    request: str
    claim: JsonObject
    loss: Loss
    worker: str
    # The last ledger row that the asking person has seen. If the same question was charged after it, in another tab or
    # by another person, it is not charged again before this person knows.
    seen: NotRequired[int | None]


@dataclass(frozen=True)
class Charge:
    """A charge: what was spent on which claim, and the sums after it. `claim` holds public facts only."""

    seq: int
    at: str
    hash: str
    request: str
    budget: str
    table: str
    actor: str
    worker: str  # the process that computes the release; see jobs.py
    claim: JsonObject
    loss: Loss
    price: Fraction
    totals_after: Totals
    history: History  # after
    fresh: bool = False  # True only for the caller that wrote this row; only this caller may draw
    sums: Sums | None = None  # where people sign in

    @staticmethod
    def from_row(row: LedgerRow, fresh: bool = False) -> Charge:
        parts, totals = parts_of(row), json.loads(row["totals"])
        parts |= {"claim": long_lists.whole(parts["claim"]), "loss": loss_from_json(parts["loss"])}
        parts |= {"price": Fraction(parts["price"]), "sums": sums_of(parts), "fresh": fresh}
        parts |= {"totals_after": Totals.from_json(totals["after"]), "history": History.from_json(totals["history"])}
        return named(Charge, parts)

    @property
    def standing(self) -> Standing:
        return Standing(self.totals_after, self.history)


def standing_after(row: LedgerRow) -> Standing:
    """The sums of a budget after the charge or `protect` row `row`."""
    totals = json.loads(row["totals"])
    return Standing(Totals.from_json(totals["after"]), History.from_json(totals["history"]))


def charge_body(
    table: str, worker: str, claim: JsonObject, loss: Loss, price: Fraction, sums: Sums | None = None
) -> str:
    data = {"table": table, "worker": worker, "claim": claim, "loss": loss_as_json(loss), "price": str(price)}
    return canonical(data if sums is None else data | sums.as_json())


def charge_totals(before: Totals, after: Totals, history: History) -> str:
    return canonical({"before": before.as_json(), "after": after.as_json(), "history": history.as_json()})


@dataclass(frozen=True)
class Outcome:
    """How a charge ended: `answer` with the released body, or `failed` with a code."""

    seq: int
    at: str
    hash: str
    kind: str
    body: JsonObject

    @staticmethod
    def from_row(row: LedgerRow) -> Outcome:
        return Outcome(row["seq"], row["at"], row["hash"], row["kind"], json.loads(row["body"]))


@dataclass(frozen=True)
class Entry:
    """A charge and its outcome. The outcome is None while the release is pending, and for good if the release was
    interrupted."""

    charge: Charge
    outcome: Outcome | None
    origin: str = ""  # the hash of the ledger's first row, which identifies the workspace's ledger

    @property
    def answer(self) -> Outcome | None:
        """The outcome of the charge if it is an answer; else None."""
        return self.outcome if self.outcome is not None and self.outcome.kind == "answer" else None


@dataclass(frozen=True)
class Repeats:
    """The answers to one question in order: how many there are, the first ones of each law, and the latest."""

    count: int
    first: tuple[Entry, ...]
    newest: tuple[Entry, ...]


def rows_of_a_person(before: JsonObject, unit: Unit) -> int:
    """The most rows of a person under the new `unit`; each earlier charge will count for that many. Refused unless
    `unit` protects more than the unit `before`: either rows had no id, and a person now has at least two rows; or more
    rows of the same id count. Another id could make two people of one; fewer rows would leave some of a person's rows
    unprotected."""
    if unit.id_column is None:
        raise AllowanceError("protect.less")
    if before == unit.as_json():
        raise AllowanceError("protect.same")
    was = Unit.from_json(before)
    if was.id_column not in (None, unit.id_column):
        raise AllowanceError("protect.other_id", column=was.id_column)
    if unit.at_most <= was.at_most:
        raise AllowanceError("protect.fewer", least=was.at_most + 1)
    return unit.at_most


def by_row(claim: JsonObject) -> bool:
    """Is the claim's loss stated for a change of one row, rather than of all rows under an id?"""
    unit = claim.get("unit")
    return not (isinstance(unit, dict) and unit.get("kind") == "column")


class Paid(NamedTuple):
    """What must be known of a charge to count it anew. `by_row`: the charge's loss was stated for one row, before the
    budget had an id. `under`: the holder of the grant that paid."""

    by_row: bool
    under: str
    table: str
    loss: Loss

    def loss_for(self, rows: int) -> Loss:
        """The loss for a person with at most `rows` rows. A charge for a row counts for that many rows
        (accountant/group.py). A charge for an id covers all rows of a person already, and stays."""
        return for_group(self.loss, rows) if self.by_row else self.loss


class Raised(NamedTuple):
    """A raise of a budget's cap, from `before` to `after`, in a list of its charges."""

    before: Fraction
    after: Fraction


def paid_of(row: LedgerRow, by_row: bool) -> Paid:
    body = json.loads(row["body"])
    return Paid(by_row, body.get("under", ""), body["table"], loss_from_json(body["loss"]))


Moved = dict[str, dict[str, Fraction]]  # how far each grant holder moved the meter, by table


@dataclass(frozen=True)
class Repriced:
    """The sums of a budget counted anew: the sums of everything, by grant holder, and by table."""

    whole: Standing
    own: dict[str, Standing]
    of_table: dict[str, Standing]


def repriced(past: Iterable[Paid | Raised], rows: int, alpha: Fraction | None) -> Repriced:
    """The sums of a budget, counted anew for a person with at most `rows` rows."""
    charges = Counter(paid for paid in past if isinstance(paid, Paid))
    whole: list[tuple[Loss, int]] = []
    own: dict[str, list[tuple[Loss, int]]] = {}
    of_table: dict[str, list[tuple[Loss, int]]] = {}
    for paid, times in charges.items():
        entry = (paid.loss_for(rows), times)
        whole.append(entry)
        if paid.under:  # where people sign in, each charge names who pays
            own.setdefault(paid.under, []).append(entry)
            of_table.setdefault(paid.table, []).append(entry)
    parts = ({name: standing_of(losses, alpha) for name, losses in sorted(by.items())} for by in (own, of_table))
    return Repriced(standing_of(whole, alpha), *parts)


@dataclass(frozen=True)
class TakenOver:
    """A budget of the same people that another one takes over, because its table was joined. A loss stated on it for
    one row counts for `rows` rows, the most that a person has in the joined table."""

    budget: str
    rows: int


def taken_of(row: LedgerRow) -> TakenOver | None:
    """The budget that the act in this row takes over; None for every other row."""
    taken = json.loads(row["body"]).get("joined") if row["kind"] == "protect" else None
    return None if taken is None else TakenOver(str(taken["budget"]), int(taken["rows"]))


def may_take_over(budget: BudgetRecord, other: BudgetRecord, taken: TakenOver) -> bool:
    """May one budget take over the other? Losses add up only for a change of one person under one relation."""
    most = MOST_ROWS_EACH if Unit.from_json(other.unit).id_column is None else 1
    same = budget.relation == other.relation and Unit.from_json(budget.unit).id_column is not None
    return same and budget.id != other.id and 1 <= taken.rows <= most


def taken_over(past: Iterable[Paid | Raised], unit: JsonObject, rows: int) -> list[Paid]:
    """The charges of a budget with this `unit`, each with its loss for a person with at most `rows` rows there."""
    own = Unit.from_json(unit)
    most = rows if own.id_column is None else own.at_most
    return [Paid(False, "", paid.table, paid.loss_for(most)) for paid in past if isinstance(paid, Paid)]


def protect_body(
    table: str, before: JsonObject, unit: JsonObject, sums: Repriced, moved: Moved, taken: TakenOver | None = None
) -> str:
    body: JsonObject = {"table": table, "from": before, "unit": unit}
    if taken is not None:
        body["joined"] = {"budget": taken.budget, "rows": taken.rows}
    if moved:
        body["moved"] = {name: {of: str(part) for of, part in parts.items()} for name, parts in moved.items()}
    parts = (("own", sums.own), ("of_table", sums.of_table))
    named = {name: {key: standing_json(standing) for key, standing in part.items()} for name, part in parts if part}
    return canonical(body | named)


@dataclass(frozen=True)
class Act:
    """A row of owner_rows.py. The act `raise` has the cap `before` and `after`; `new_people` has the table `newer`;
    `protect` has the new `unit` and the sums after it."""

    seq: int
    at: str
    hash: str
    kind: str
    budget: str
    actor: str
    table: str
    before: Fraction | None = None
    after: Fraction | None = None
    newer: str = ""
    unit: Unit | None = None
    standing: Standing | None = None
    taken: TakenOver | None = None  # the budget that this one takes over

    @staticmethod
    def from_row(row: LedgerRow) -> Act:
        body, kind = json.loads(row["body"]), row["kind"]
        before, after = (Fraction(body["from"]), Fraction(body["to"])) if kind == "raise" else (None, None)
        newer = str(body["newer"]) if kind == "new_people" else ""
        unit, standing = (Unit.from_json(body["unit"]), standing_after(row)) if kind == "protect" else (None, None)
        start = row["seq"], row["at"], row["hash"], kind, row["budget"], row["actor"], str(body["table"])
        return Act(*start, before, after, newer, unit, standing, taken_of(row))


@dataclass(frozen=True)
class SessionStep:
    """A step of a session that was recorded as used, and its outcome: `part`, `lost`, or none yet."""

    seq: int
    at: str
    hash: str
    session: str  # the request of its charge
    index: int
    step: str  # its own id
    table: str
    worker: str
    claim: JsonObject  # ask, sentence, bounds, promise: public facts only
    outcome: Outcome | None = None
    fresh: bool = False  # True only for the caller who recorded the step; only this caller may draw

    @staticmethod
    def from_row(row: LedgerRow, outcome: LedgerRow | None = None, fresh: bool = False) -> SessionStep:
        parts, ended = parts_of(row), None if outcome is None else Outcome.from_row(outcome)
        own = {"session": row["request"], "claim": long_lists.whole(parts["claim"]), "outcome": ended, "fresh": fresh}
        return named(SessionStep, parts | own)


def questions_of(claim: JsonObject) -> int | None:
    """The number of steps that a charge pays for; None if the claim is not that of a session."""
    return int(claim["parameters"]["questions"]) if claim.get("key") == SESSION else None


def is_request(request: object) -> bool:
    """May this be a request id? Any 1 to 100 printable characters may."""
    return isinstance(request, str) and 1 <= len(request) <= LONGEST_REQUEST and request.isprintable()


def read_request(request: str) -> str:
    if not is_request(request):
        raise AllowanceError("request.id", most=LONGEST_REQUEST)
    return request
