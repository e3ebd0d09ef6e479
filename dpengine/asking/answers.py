"""What callers get back: previews, answers with their receipts, and the meter. Frozen records, built from public facts
and from the ledger. Also the question behind an answer: as a person asks it, and rebuilt from its charge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from threading import Lock

from dpengine.accountant import filter
from dpengine.accountant.compositions import EPSILON_OF
from dpengine.accountant.costs import cost
from dpengine.accountant.loss import loss_as_json
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.remembered import Lately, remembered
from dpengine.core.types import Json, JsonObject
from dpengine.declared.facts import Facts, named_columns
from dpengine.declared.schema import Category, Schema
from dpengine.declared.spelling import normal
from dpengine.declared.unit import Unit, read_relation
from dpengine.ledger import repeats
from dpengine.ledger.ledger import BudgetRecord, Entry, SessionStep, Standing, cap_needed
from dpengine.ledger.rows import Charge
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.promises import Blurred, Promise
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.stepwise import Path
from dpengine.messages.language import current, stored
from dpengine.released.shapes import LookWithModels

RECEIPT = 2  # the form of a receipt; docs/receipts.md
FINDS = 10  # this many finds without a δ of their own fit into the δ reserve


@dataclass(frozen=True)
class Preview:
    """The price and the accuracy of a question before anything is spent. No data are used."""

    cost: Fraction  # by how much ε "if you stop now" grows
    share: Fraction  # how far the meter moves
    promise: Promise
    useful: bool  # False: mostly noise
    people_needed: int  # about how many people would make it useful at this ε
    times_needed: Fraction  # or how many times this ε would
    unused_after: Fraction  # the share of the allowance that would be left
    admissible: bool
    more_like_this: int
    own_share: Fraction | None = None  # where people sign in: what it takes of the asker's own share
    own_left: Fraction | None = None  # what is left of that share before it …
    own_whole: Fraction | None = None  # … and the whole share; all as parts of the allowance
    own_delta: bool = True  # False: it takes more δ than is left of the asker's part of the δ reserve
    tighter: str = "table"  # the limit that leaves less now: `table` or `own`
    covered: bool = True  # False: the asker's share excludes this kind of question
    waits: bool = False  # it needs the owner's decision
    check: AnyQuery | None = None  # the check bought with it, included in the price
    check_share: Fraction = Fraction(0)  # the check's part of the price


@dataclass(frozen=True)
class Answer:
    value: Json
    interval: Json
    promise: Promise
    receipt: JsonObject
    query: AnyQuery
    request_id: str
    at: str
    raw: tuple[int, ...] | None = None  # the draw, where further draws may be averaged with it
    path: Path | None = None  # of a training
    population: Json = None  # the range for the larger group of a random sample; None where nothing is claimed
    beyond: str = ""  # for a sample: what the claim rests on, or why there is none (`asking/beyond.py`)

    @property
    def sentence(self) -> str:
        return self.query.sentence()


@dataclass(frozen=True)
class Job:
    """The state of a submitted question: queued, running, done, refused, failed, interrupted or unknown."""

    request_id: str
    state: str
    done: int = 0
    total: int = 1
    answer: Answer | None = None
    error: Exception | None = None
    ahead: int = 0  # in the queue before it

    @property
    def over(self) -> bool:
        return self.state not in ("queued", "running")


@dataclass(frozen=True)
class Meter:
    """How much of an allowance is used. `used` is the used share. `spent_epsilon` is the ε that is guaranteed if
    nothing more is asked; that guarantee holds with `delta_now`, at any moment, even a moment chosen because of the
    answers."""

    epsilon: Fraction
    delta: Fraction
    used: Fraction
    spent_epsilon: Fraction
    spent_delta: Fraction
    delta_reserve: Fraction
    charges: int
    pure_closed: bool
    rules: dict[str, Fraction | None]  # the same history under other accountants, had it been fixed in advance
    share: Fraction = Fraction(1)  # of the table's allowance: less for a person's own meter

    @property
    def unused(self) -> Fraction:
        return max(1 - self.used, Fraction(0))

    @property
    def delta_now(self) -> Fraction:
        """The δ with which `spent_epsilon` holds now: the rule's slack, plus the δ of single questions."""
        return self.delta - self.delta_reserve + self.spent_delta


@dataclass(frozen=True)
class Protection:
    """What more protection would cost: the share of the allowance left now, and the share left afterwards."""

    rows: int  # the most of one person
    left_now: Fraction
    left_then: Fraction
    fits: bool
    needs: Fraction | None  # the cap it would take; None where no cap is enough


def build_protection(rule: filter.Rule, before: Standing, after: Standing, rows: int) -> Protection:
    left_now, left_then = (max(1 - filter.used(rule, standing.totals), Fraction(0)) for standing in (before, after))
    return Protection(rows, left_now, left_then, filter.admits(rule, after.totals), cap_needed(rule, after.totals))


@remembered(4096)
def build_preview(query: AnyQuery, rule: filter.Rule, standing: Standing) -> Preview:
    price_of = cost(query.loss(), rule.alpha)
    after = standing.totals.plus(price_of)
    promise = query.promise()
    over = promise.amount / query.coarse()
    people = over * over if isinstance(promise, Blurred) else over  # noise in every row averages out with √n
    return Preview(
        cost=filter.price(rule, standing.totals, price_of),
        share=filter.share(rule, standing.totals, price_of),
        promise=promise,
        useful=over <= 1,
        people_needed=round_up_two(query.facts.about * people),
        times_needed=over,
        unused_after=max(1 - filter.used(rule, after), Fraction(0)),
        admissible=filter.admits(rule, after),
        more_like_this=filter.fits(rule, standing.totals, price_of),
    )


def round_up_two(value: Fraction) -> int:
    """The amount as a whole number, rounded up to two figures: 1,234 becomes 1,300."""
    number = -(-value.numerator // value.denominator)
    grain = int(10 ** max(len(str(number)) - 2, 0))
    return -(-number // grain) * grain


def build_meter(record: BudgetRecord, standing: Standing) -> Meter:
    return _read(record.rule, standing)


@remembered(256)
def _read(rule: filter.Rule, standing: Standing) -> Meter:
    slack = rule.delta_slack + standing.history.delta
    return Meter(
        epsilon=rule.epsilon,
        delta=rule.delta,
        used=filter.used(rule, standing.totals),
        spent_epsilon=filter.spent(rule, standing.totals),
        spent_delta=standing.totals.delta,
        delta_reserve=rule.delta_reserve,
        charges=standing.charges,
        pure_closed=standing.totals.epsilon is None,
        rules={name: epsilon(standing.history, slack) for name, epsilon in EPSILON_OF.items()},
    )


def promise_as_json(promise: Promise) -> JsonObject:
    return {"kind": promise.kind} | {name: _plain(value) for name, value in vars(promise).items()}


def _plain(value: Json) -> Json:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return text_of(value) if isinstance(value, Fraction) else value


def claim_of(query: AnyQuery) -> JsonObject:
    """What the ledger stores about a question: only public facts, and enough to understand the question in ten years.
    The dict is cached with the question, so callers must not change it."""
    known = query.__dict__
    if "_claim" not in known:
        known["_claim"] = _claim_of(query)
    claim: JsonObject = known["_claim"]
    return claim


def _claim_of(query: AnyQuery) -> JsonObject:
    facts = query.facts
    with stored():
        words = {"sentence": query.sentence(), "theorem": query.theorem}
    return query.describe() | {
        "digest": query.digest(),
        **words,
        "relation": facts.relation,
        "unit": facts.unit.as_json(),
        "about": facts.about,
        **({"sample": True} if facts.sample else {}),
        "bounds": {name: facts.schema[name].as_json() for name in sorted(query.used())},
        "promise": promise_as_json(query.promise()),
        "cuts": cuts_as_json(query),
    }


def cuts_as_json(query: AnyQuery) -> list[JsonObject]:
    """The question's cuts (values clamped, rows ignored) as a claim stores them, each with a sentence."""
    with stored():
        return [cut.as_json() | {"words": cut.words()} for cut in query.cuts()]


def _interval(stored: Json, labels: list[str]) -> Json:
    """A stored range as a tuple (low, high), or a dict with such a tuple for each label; None for an answer without a
    range."""
    if isinstance(stored, dict):
        return {label: tuple(stored[label]) for label in labels}
    return None if stored is None else tuple(stored)


def build_answer(query: AnyQuery, entry: Entry) -> Answer:
    assert entry.outcome is not None
    body = entry.outcome.body
    value = body["value"]
    labels: list[str] = []
    if isinstance(value, dict) and query.answer_kind != "file":  # the ledger sorts labels
        labels = query.listed(value)
        value = {label: value[label] for label in labels}
    raw = tuple(body["raw"]) if "raw" in body else None
    interval, population = _interval(body["interval"], labels), _interval(body.get("population"), labels)
    if isinstance(query, Overview) and raw is not None:
        value = LookWithModels(query, raw, value, population, body.get("beyond") == "first")
    return Answer(
        value=value,
        interval=interval,
        promise=query.promise(),
        receipt=build_receipt(entry),
        query=query,
        request_id=entry.charge.request,
        at=entry.charge.at,
        raw=raw,
        path=Path.from_json(body["path"]) if "path" in body else None,
        population=population,
        beyond=body.get("beyond", ""),
    )


def build_step_receipt(entry: Entry, burned: SessionStep) -> JsonObject:
    """The receipt of a session with one of its steps and that step's outcome."""
    step = {"seq": burned.seq, "hash": burned.hash, "index": burned.index, "id": burned.step, "claim": burned.claim}
    outcome = burned.outcome
    part = {"seq": outcome.seq, "hash": outcome.hash} | outcome.body if outcome and outcome.kind == "part" else None
    return build_receipt(entry) | {"step": step, "part": part}


def build_receipt(entry: Entry) -> JsonObject:
    """The receipt of a charge: all that is needed to check the answer later against the ledger. docs/receipts.md
    explains each field."""
    charge, outcome = entry.charge, entry.outcome
    return {
        "receipt": RECEIPT,
        "ledger": entry.origin,
        "request": charge.request,
        "table": charge.table,
        "budget": charge.budget,
        "actor": charge.actor,
        "at": charge.at,
        "claim": charge.claim,
        "loss": loss_as_json(charge.loss),
        "price": text_of(charge.price),
        "charge": {"seq": charge.seq, "hash": charge.hash},
        "answer": None if outcome is None else {"seq": outcome.seq, "hash": outcome.hash} | outcome.body,
    }


def asked(key: str, facts: Facts, given: JsonObject, reserve: Fraction) -> AnyQuery:
    """The question that a page builds from a form's values `given`. If the question finds declarations and `given` has
    no δ, it gets a tenth of the δ reserve."""
    if key not in catalogue:
        raise AllowanceError("query.unknown", key=str(key)[:60], keys=list(catalogue))
    kind = catalogue[key]
    takes = kind.declares and any(parameter.kind == "delta" for parameter in kind.card.parameters)
    if takes and given.get("delta") is None:
        given = {**given, "delta": text_of(reserve / FINDS)}
    try:
        written = json.dumps(given)
    except (TypeError, ValueError):  # not from a form
        return kind.build(facts, kind.asked_now(given, facts))
    name = key, facts, facts.repeated, written, current()
    return _asked(name, lambda: kind.build(facts, kind.asked_now(given, facts)))


_asked = Lately(2048)  # a page asks for the same questions at every click


def same_question(one: AnyQuery, other: AnyQuery) -> bool:
    """Do both queries ask the same under the same bounds? They may differ in ε and in the kind of noise."""
    return identity(claim_of(one.with_noise(""))) == identity(claim_of(other.with_noise("")))


def identity(claim: JsonObject) -> str:
    """A hash of the claim without ε and noise. The ledger finds all answers to one question by this hash."""
    return repeats.question_of("", "", claim)


def with_folded_names(claim: JsonObject, names: Iterable[str]) -> JsonObject:
    """The claim with every column name in its parameters and bounds spelled in one way: names that differ only in
    capitals and spaces become equal. Other texts equal to a name change too. If two of `names` would become equal, both
    stay."""
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(normal(name), []).append(name)
    alike = {found[0]: word for word, found in folded.items() if len(found) == 1}

    def fold(part: Json) -> Json:
        if isinstance(part, dict):
            return {alike.get(key, key): fold(inner) for key, inner in part.items()}
        if isinstance(part, list | tuple):
            return [fold(inner) for inner in part]
        return alike.get(part, part) if isinstance(part, str) else part

    return claim | {part: fold(claim[part]) for part in ("parameters", "bounds")}


def question_of(charge: Charge, facts: Facts) -> AnyQuery:
    """The question of a table's charge, under the bounds in the charge's claim. The last few questions are cached:
    rebuilding a large question takes longer than drawing its answer on the page."""
    cached = _kept.get(charge.hash)
    if cached is None or (cached[0], cached[0].repeated) != (facts, facts.repeated):
        return keep_question(charge, facts, _built(facts, charge.claim))
    return cached[1]


def keep_question(charge: Charge, facts: Facts, query: AnyQuery) -> AnyQuery:
    with _lock:
        while len(_kept) >= _MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[charge.hash] = facts, query
    return query


_MOST_KEPT = 100
_kept: dict[str, tuple[Facts, AnyQuery]] = {}  # public facts only, by the hash of the charge
_lock = Lock()


def _built(facts: Facts, claim: JsonObject) -> AnyQuery:
    # The declared number may have been corrected since, and more protection declared.
    facts = replace(facts, about=claim["about"], unit=Unit.from_json(claim["unit"]), sample="sample" in claim)
    kind, bounds, columns = catalogue[claim["key"]], claim["bounds"], facts.schema.columns
    if all(name in columns and columns[name].as_json() == stored for name, stored in bounds.items()):
        query = kind.build(facts, claim["parameters"])
        if not bounds or query.used() == bounds.keys():  # a column declared since may be one that the question uses
            return query
    before = replace(facts, schema=Schema.from_json({"columns": list(bounds.items())}))
    return kind.build(before, claim["parameters"])


def query_of(charge: Charge) -> AnyQuery | None:
    """The question of a charge, rebuilt from the charge's claim. None if this program cannot build that question."""
    try:
        content = json.dumps([charge.table, charge.claim]).encode()
    except (TypeError, ValueError):  # a receipt that somebody wrote
        return _query_of(charge)
    return _rebuilt(hashlib.sha256(content).digest(), lambda: _query_of(charge))


_rebuilt = Lately(512)


def _query_of(charge: Charge) -> AnyQuery | None:
    if charge.claim.get("key") not in catalogue:
        return None
    try:
        return catalogue[charge.claim["key"]].build(facts_of(charge), charge.claim["parameters"])
    except (AllowanceError, KeyError, TypeError, ValueError):
        return None


def facts_of(charge: Charge) -> Facts:
    """The table's public facts as the charge's claim states them. The claim of a question about an undeclared column
    states no columns; then the schema gets a placeholder, since a schema needs a column."""
    claim = charge.claim
    header = tuple(dict.fromkeys([*claim["bounds"], *named_columns(claim["parameters"])]))
    bounds = claim["bounds"] or {claim["parameters"].get("column") or "-": Category(["-"]).as_json()}
    schema = Schema.from_json({"columns": list(bounds.items())})
    unit, relation = Unit.from_json(claim["unit"]), read_relation(claim["relation"])
    return Facts(charge.table, schema, unit, relation, claim["about"], header, sample="sample" in claim)
