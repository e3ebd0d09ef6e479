"""A budget's account for download and for auditors: what was left after each charge, its rows, its answers with notes.

Everything here reads the ledger alone: public facts, running sums and released answers. `Account` reads downloaded
receipts without a ledger, a table or a workspace. A receipt can be checked by itself: its loss, promise and cuts must
follow from its parameters. Whether a ledger holds it is checked against a copy of that ledger. Its figures can be
compared as on the page, because each record holds the number of its charge (`released/compare.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals
from dpengine.accountant.history import History
from dpengine.accountant.loss import loss_from_json
from dpengine.asking.answers import Answer, build_answer, build_receipt, build_step_receipt, facts_of, query_of
from dpengine.asking.column_fit import Fits
from dpengine.asking.receipts import Finding, Receipt, check, check_alone
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.types import Json, JsonObject
from dpengine.ledger import long_lists
from dpengine.ledger.exports import opened
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.people_rules import ALL_QUESTIONS, KINDS
from dpengine.ledger.rows import (
    ACTS,
    STEP_OUTCOMES,
    Act,
    BudgetRecord,
    Charge,
    Entry,
    Outcome,
    SessionStep,
    questions_of,
    standing_after,
)
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.messages import plain, say
from dpengine.messages.language import STORED, current, stored
from dpengine.released.compare import Comparable, figures

MOST_COUNTED = 10**6
MOST_STEPS = 240  # a picture cannot show more
LABELS = 3  # the most columns that label the figures of one answer
ROW_COLUMNS = tuple("seq at kind table actor request sentence epsilon_spent running_total hash".split())
ANSWER_COLUMNS = tuple(
    "seq at table question label label_2 label_3 value low high epsilon_spent request hash counted unit note"
    " population_low population_high".split()
)
_ILLEGIBLE = (AllowanceError, KeyError, TypeError, ValueError)


class FigureNotes:
    """The notes on one answer. A figure that was drawn is not changed by its note."""

    def __init__(self, query: AnyQuery, value: Json, interval: Json, fits: Fits) -> None:
        self._query, self._interval, self._fits = query, interval, fits
        self._state = query.state(value, interval)  # goes through every part, so only once
        self._notes: dict[frozenset[str], str] = {}

    def of(self, part: str = "") -> str:
        """The notes on one part of the answer, or on the whole answer: whether the range is so wide that it says
        nothing, and whether the cells of the columns fit."""
        state, interval = self._state, self._interval
        if part and isinstance(interval, dict) and self._query.mute(interval.get(part), part):
            state = FEW
        return " ".join(note for note in (say(f"state.{state}") if state else "", self._fit(part)) if note)

    def _fit(self, part: str) -> str:
        about = frozenset(self._query.about(part))
        if about not in self._notes:
            rows = self._fits.row_notes(self._query) if part else []
            self._notes[about] = " ".join([*rows, *self._fits.notes(self._query, part)])
        return self._notes[about]


@dataclass(frozen=True)
class BurnDownStep:
    """The share `left` of the allowance after the first `charges` charges."""

    at: str
    left: Fraction
    charges: int
    raised: bool = False  # a step up: the owner raised the cap


def burn_down(ledger: Ledger, budget: BudgetRecord, most: int = MOST_STEPS) -> list[BurnDownStep]:
    """The share that was left after each charge. It falls with charges and with more protection, and rises when the cap
    is raised. At most `most` of the charges are taken, evenly, the last among them."""
    rule = budget.rule
    acts = [act for act in reversed(ledger.acts(budget.id)) if act.kind in ("raise", "protect")]
    raises = [act for act in acts if act.kind == "raise"]
    cap = (raises[0].before if raises else None) or rule.epsilon
    totals, count = Totals.NOTHING, 0
    steps = [BurnDownStep(budget.at, Fraction(1), 0)]
    events: list[Charge | Act] = [*ledger.spread(budget.id, most), *acts]
    for event in sorted(events, key=lambda item: item.seq):
        if isinstance(event, Act):
            cap, totals = event.after or cap, totals if event.standing is None else event.standing.totals
        else:
            totals, count = event.totals_after, event.history.count
        gone = filter.used(replace(rule, epsilon=cap), totals)
        steps.append(BurnDownStep(event.at, 1 - gone, count, isinstance(event, Act) and event.kind == "raise"))
    return steps


@dataclass(frozen=True)
class Fit:
    """How many more such questions the allowance admits. `cheaper`: will later ones take less than the present price,
    so that more of them are admitted than the price suggests?"""

    more: int
    cheaper: bool


def more_like_last(ledger: Ledger, budget: BudgetRecord) -> Fit | None:
    """How many more questions like the last charged one the allowance admits; None before the first charge."""
    last = ledger.charges(budget.id, limit=1)
    if not last:
        return None
    charge, rule = last[0].charge, budget.rule
    paid, totals = cost(charge.loss, rule.alpha), ledger.standing(budget.id).totals
    more = filter.fits(rule, totals, paid, MOST_COUNTED)
    share, left = filter.share(rule, totals, paid), 1 - filter.used(rule, totals)
    return Fit(more, cheaper=more * share > left)


def statement_rows(ledger: Ledger, budget: BudgetRecord) -> Iterator[list[Json]]:
    """Every ledger row of a budget with ROW_COLUMNS, oldest first; amounts as exact decimal text."""
    for row in ledger.export_rows(budget.id):
        table = sentence = price = total = ""
        if row["kind"] == "charge":
            stood = Charge.from_row(row)
            charge = ledger.visible_part(stood)
            table, sentence = charge.table, charge.claim.get("sentence", "")
            after = filter.spent(budget.rule, charge.totals_after)
            took = stood.price if charge is stood else after - filter.spent(budget.rule, ledger.before(charge))
            price, total = text_of(took), text_of(after)
        elif row["kind"] == long_lists.KIND:
            with stored():
                sentence = say("act.list", many=len(json.loads(row["body"])["values"]))
        else:
            with stored():
                table, sentence = _act_of(row) or ("", "")
            if row["kind"] == "protect":
                before = Totals.from_json(json.loads(row["totals"])["before"])
                after = filter.spent(budget.rule, standing_after(row).totals)
                price, total = text_of(after - filter.spent(budget.rule, before)), text_of(after)
        row_columns = row["seq"], row["at"], row["kind"], table, row["actor"], row["request"]
        yield [*row_columns, sentence, price, total, row["hash"]]


def sentence_of(charge: Charge) -> str:
    """The question of a charge as a sentence in the reader's language; if the question cannot be rebuilt, the stored
    sentence."""
    as_stored = str(charge.claim.get("sentence", ""))
    query = None if current() == STORED else query_of(charge)
    return as_stored if query is None else query.sentence()


def counted(charge: Charge, step: SessionStep | None = None) -> str:
    """One sentence with the cuts of an answer, as its charge or its step states them; "" without cuts."""
    claim = charge.claim if step is None else step.claim
    with stored():
        parts = [str(stated_cut["words"]) for stated_cut in claim["cuts"]]
        return say("cut.all", parts="; ".join(parts)) if parts else ""


def cells_of(charge: Charge) -> dict[str, tuple[str, ...]]:
    """For a question about 2 to LABELS columns: for each label of the answer, the cell of every column. For any other
    question an empty dict."""
    query = query_of(charge) if len(charge.claim.get("parameters", {}).get("columns") or ()) > 1 else None
    names, cells = ((), []) if query is None else query.cells()
    return dict(zip(query.labels(), cells, strict=True)) if query is not None and 1 < len(names) <= LABELS else {}


def act_words(act: Act) -> str:
    caps: JsonObject = {} if act.before is None else {"before": act.before, "after": act.after}
    caps |= {} if act.unit is None else {"column": act.unit.id_column, "rows": act.unit.at_most}
    kind = "took_over" if act.taken is not None else act.kind
    return say(f"act.{kind}", table=act.table, **caps)  # not the newer table, which not everybody may see


@dataclass(frozen=True)
class AuditRow:
    """A ledger row as an auditor reads it."""

    seq: int
    at: str
    actor: str
    kind: str
    budget: str
    table: str
    words: str
    hash: str


def _act_of(row: JsonObject) -> tuple[str, str] | None:
    """The table and a sentence, for a row that is an act, a step of a session or about people. None for other rows."""
    kind, body = row["kind"], json.loads(row["body"])
    if kind in ACTS:
        act = Act.from_row(row)
        return act.table, act_words(act)
    if kind in ("step", "ended", *STEP_OUTCOMES):
        facts = {"sentence": body["claim"]["sentence"]} if kind == "step" else {}
        facts |= {"asked": body["asked"]} if kind == "ended" else {"index": body["index"]}
        return body.get("table", ""), say(f"session.row.{kind}", **facts)
    return (body.get("table", ""), people_words(kind, body, row["actor"])) if kind in KINDS else None


def audit_row(row: JsonObject) -> AuditRow:
    if row["kind"] == "charge":
        charge = Charge.from_row(row)
        table, words = charge.table, sentence_of(charge)
    elif (act := _act_of(row)) is not None:
        table, words = act
    else:
        known = row["kind"] in ("budget", "recovered")
        words = say(f"people.row.{row['kind']}") if known else row["kind"]
        table = json.loads(row["body"]).get("name", "")
    return AuditRow(row["seq"], row["at"], row["actor"], row["kind"], row["budget"], table, words, row["hash"])


def people_words(kind: str, body: JsonObject, actor: str) -> str:
    """A sentence for a row about people. A person is named by the beginning of their id."""
    shares = {name: body[name] for name in ("share", "takes") if body.get(name) is not None}
    facts: JsonObject = {name: Fraction(str(share)) * 100 for name, share in shares.items()}
    facts |= {name: str(body[name])[:12] for name in ("person", "to") if name in body}
    facts |= {"who": actor[:12], "table": body.get("table", ""), "reason": body.get("reason", "")}
    facts |= {"group": body.get("group", "")[2:], "people": len(body.get("people", ()))}
    if kind == "role":
        code = f"{body['role']}{'_of' if body['table'] else ''}.{'on' if body['on'] else 'off'}"
    elif kind == "wish":
        code = "wish.question" if body["share"] is None else "wish.share"
        facts |= {} if body["claim"] is None else {"sentence": body["claim"].get("sentence", "")}
    elif kind == "decided":
        code = f"decided.{body['answer']}"
    elif kind == "grant" and body["share"] == "0":
        code = "grant.back"
    else:
        code = kind if kind != "limit" else f"limit.{'off' if body['share'] is None else 'on'}"
    return " ".join([say(f"people.row.{code}", **facts), *(_terms(body) if code == "grant" else ())])


def _terms(body: JsonObject) -> list[str]:
    """The questions and the last day of a grant, as texts; empty if it is for all questions and without an end."""
    patterns = [str(pattern) for pattern in body.get("questions", ALL_QUESTIONS)]
    terms = []
    for code, out in (("only", False), ("except", True)):
        keys = [pattern.lstrip("!") for pattern in patterns if pattern.startswith("!") == out]
        if keys and tuple(keys) != ALL_QUESTIONS:
            terms.append(say(f"people.row.grant.{code}", questions=", ".join(map(_title, keys))))
    return terms + ([say("people.row.grant.until", day=body["until"])] if body.get("until") else [])


def _title(key: str) -> str:
    return catalogue[key].card.title if key in catalogue else key


def answer_rows(
    ledger: Ledger, budget: BudgetRecord, fits: Callable[[str], Fits], beyond: Callable[[Entry], Json]
) -> Iterator[list[Json]]:
    """A row with ANSWER_COLUMNS for every released figure, oldest first. `fits`: a table's checks. `beyond`: an
    answer's ranges for the larger group, if they still hold."""
    for entry in _answered(ledger, budget):
        charge, body = entry.charge, entry.outcome.body if entry.outcome else {}
        value, interval, wider = body["value"], body["interval"], body.get("population") and beyond(entry)
        cut = counted(charge)
        figures = (value or {"": ""}).items() if isinstance(value, dict) else [("", value)]
        cells, query = cells_of(charge), query_of(charge)
        known = None if query is None else FigureNotes(query, value, interval, fits(charge.table))
        for label, figure in figures:
            figure = ", ".join(figure) if isinstance(figure, list) else figure  # the columns of a published table
            low, high = (interval.get(label) if isinstance(interval, dict) else interval) or ("", "")
            labels = (*cells.get(label, (label,)), "", "")[:LABELS]
            measure = "" if query is None else query.measure_of(label)
            asked = charge.seq, charge.at, charge.table, charge.claim.get("sentence", "")
            paid = text_of(charge.price), charge.request, charge.hash
            ends = (wider.get(label) if isinstance(wider, dict) else wider) or ("", "")
            yield [*asked, *labels, figure, low, high, *paid, cut, measure, _english(known, label), *ends]
        for burned in _parts(ledger, entry):
            body = burned.outcome.body if burned.outcome else {}
            low, high = body["interval"] or ("", "")
            step = query.again(burned.claim) if isinstance(query, AdaptiveSession) else None
            known = None if step is None else FigureNotes(step, body["value"], body["interval"], fits(charge.table))
            measure = "" if step is None else step.measure
            asked = burned.seq, burned.at, charge.table, burned.claim["sentence"]
            values = *[""] * LABELS, body["value"], low, high
            burnt = "", charge.request, burned.hash, counted(charge, burned)
            yield [*asked, *values, *burnt, measure, _english(known), "", ""]


def _english(notes: FigureNotes | None, part: str = "") -> str:
    """The notes in English, in which a file of all answers is written for any reader."""
    with stored():
        return "" if notes is None else notes.of(part)


def answer_lines(ledger: Ledger, budget: BudgetRecord) -> Iterator[str]:
    """Every receipt with its answer as one line of JSON, oldest first."""
    for entry in _answered(ledger, budget):
        yield json.dumps(build_receipt(entry), ensure_ascii=False) + "\n"
        for burned in _parts(ledger, entry):
            yield json.dumps(build_step_receipt(entry, burned), ensure_ascii=False) + "\n"


def _parts(ledger: Ledger, entry: Entry) -> list[SessionStep]:
    """The answers of a session's steps, in order."""
    if questions_of(entry.charge.claim) is None:
        return []
    return [step for step in ledger.steps(entry.charge.request) if step.outcome and step.outcome.kind == "part"]


def _answered(ledger: Ledger, budget: BudgetRecord) -> Iterator[Entry]:
    return (entry for entry in ledger.walk(budget.id) if entry.answer)


def account_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """Each answered charge as a line of JSON with its number and its receipt."""
    for entry in entries:
        if entry.answer:
            yield json.dumps({"place": entry.charge.history.count, "receipt": build_receipt(entry)})


def charge_of(receipt: Receipt) -> Charge:
    """The charge that a receipt describes. The budget's sums are in the ledger alone, so here they are all 0."""
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
        totals_after=Totals.NOTHING,
        history=History.NOTHING,
    )


@dataclass(frozen=True)
class Account:
    """A downloaded account: receipts with the numbers of their charges, in the order of these charges."""

    records: tuple[tuple[int, Receipt], ...]

    @staticmethod
    def read(lines: Iterable[str]) -> Account:
        records = [json.loads(line) for line in lines]
        return Account(tuple((int(record["place"]), record["receipt"]) for record in records))

    def checked(self) -> list[str]:
        """Check each receipt without a ledger; one line of text for each."""
        return [_line(check_alone(receipt, charge_of(receipt))) for _, receipt in self.records]

    def against(self, ledger: str) -> list[str]:
        """Check each receipt against the copy of a ledger at the path `ledger`; one line of text for each."""
        with opened(Path(ledger)) as rows:
            return [_line(finding) for finding in check([receipt for _, receipt in self.records], rows)]

    def answer(self, number: int) -> Answer | None:
        """The answer of the record with this number, counted from 0. None for a session or an unknown question."""
        receipt = self.records[number][1]
        charge, body = charge_of(receipt), dict(receipt["answer"])
        if questions_of(charge.claim) is not None or charge.claim.get("key") not in catalogue:
            return None
        outcome = Outcome(body.pop("seq"), charge.at, body.pop("hash"), "answer", body)
        try:
            query = catalogue[charge.claim["key"]].build(facts_of(charge), charge.claim["parameters"])
            return build_answer(query, Entry(charge, outcome, receipt["ledger"]))
        except _ILLEGIBLE:
            return None

    def lines(self) -> list[str]:
        """Every answer as one line or more: its number, its question, and its figures with their ranges. A random
        sample also has ranges for all such people, a count also shares in percent."""
        lines = []
        for number, (_, receipt) in enumerate(self.records):
            answer = self.answer(number)
            words = receipt["claim"].get("sentence", "") if answer is None else answer.sentence
            lines.append(f"{number}  {plain(words)}")
            value, interval = receipt["answer"]["value"], receipt["answer"]["interval"]
            parts = value if isinstance(value, dict) else {"": value}
            ranges = interval if isinstance(interval, dict) else {"": interval}
            wider, kind = receipt["answer"].get("population"), None if answer is None else answer.query.answer_kind
            sign = " %" if kind in ("count", "share", "board", "label") else ""
            for part, figure in parts.items():
                ends = wider.get(part) if isinstance(wider, dict) else wider
                also = (
                    "" if ends is None else f"; {say('sample.column.all')}: {plain(ends[0])} – {plain(ends[1])}{sign}"
                )
                lines.append(f"   {_figure(part, figure, ranges.get(part))}{also}")
        return lines

    def figures(self, number: int) -> list[Comparable]:
        """The figures of the record with this number, for comparison. The ranges of all records hold together."""
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
