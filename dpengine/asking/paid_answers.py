"""What a table's budget has paid for already, read from the ledger: answers, plans and sessions. Free."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from threading import Lock

from dpengine.asking.answers import Answer, claim_of, make_answer
from dpengine.asking.column_fit import fits_of
from dpengine.asking.plan import PlanRun, requests_of
from dpengine.asking.release import Asker
from dpengine.asking.repeated_answers import Reading, read_together
from dpengine.asking.sessions import Session, session_of
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Schema
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import Entry
from dpengine.ledger.rows import questions_of
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.released.look import Look
from dpengine.released.look_answers import KnownAlready, known

MOST_LOOKS = 5  # first looks, the newest, in which an answer is sought


def answer_of(facts: Facts, entry: Entry) -> Answer:
    """The answer as it was given: under the bounds in its claim, even if the table was declared anew since."""
    return make_answer(_asked(entry.charge.hash, facts, entry), entry)


def _asked(charge: str, facts: Facts, entry: Entry) -> AnyQuery:
    """The question of a charge. The last few are kept: a page that shows an answer of many columns asks for it at every
    click, and reading them takes longer than drawing them."""
    found = _kept.get(charge)
    if found is None or found[0] != facts:
        found = facts, _built(facts, entry.charge.claim)
        with _lock:
            while len(_kept) >= _MOST_KEPT:
                del _kept[next(iter(_kept))]
            _kept[charge] = found
    return found[1]


_MOST_KEPT = 100
_kept: dict[str, tuple[Facts, AnyQuery]] = {}  # public facts only, by the hash of the charge
_lock = Lock()


def _built(facts: Facts, claim: JsonObject) -> AnyQuery:
    # The declared number may have been corrected since, and more protection declared.
    facts = replace(facts, about=claim["about"], unit=Unit.from_json(claim["unit"]))
    kind, bounds, columns = catalogue[claim["key"]], claim["bounds"], facts.schema.columns
    if all(name in columns and columns[name].as_json() == stored for name, stored in bounds.items()):
        query = kind.build(facts, claim["parameters"])
        if not bounds or query.used() == bounds.keys():  # a column declared since may be one that the question uses
            return query
    before = replace(facts, schema=Schema.from_json({"columns": list(bounds.items())}))
    return kind.build(before, claim["parameters"])


def entries_of_kinds(asker: Asker, keys: Sequence[str], most: int) -> list[Entry]:
    """Answered questions of some kinds, asked of this table under this budget, newest first."""
    ledger, asked = asker.home.ledger, [key for key in catalogue if any(fnmatchcase(key, kind) for kind in keys)]
    entries = [
        entry for key in asked for entry in ledger.charges(asker.budget.id, asker.record.name, key=key, limit=most)
    ]
    entries = sorted(entries, key=lambda entry: entry.charge.seq, reverse=True)[:most]
    return [entry for entry in entries if entry.outcome and entry.outcome.kind == "answer"]


def answers_of_kinds(asker: Asker, keys: Sequence[str], most: int, but: str = "") -> list[Answer]:
    """Their answers, without that of one request."""
    entries = entries_of_kinds(asker, keys, most)
    return [answer_of(asker.facts, entry) for entry in entries if entry.charge.request != but]


def answers_to(asker: Asker, query: AnyQuery) -> list[Answer]:
    """The latest answers to exactly this question, oldest first."""
    noises = ("", *query.noises)
    entries = asker.home.ledger.answers_to(asker.budget.id, asker.record.name, claim_of(query), noises)
    return [answer_of(asker.facts, entry) for entry in entries]


def latest_to(asker: Asker, query: AnyQuery) -> list[Answer]:
    """The latest answer to this question at any ε, if there is one."""
    looked = asker.home.ledger.looks_at(asker.budget.id, asker.record.name, claim_of(query))
    return [answer_of(asker.facts, entry) for entry in looked.newest[-1:]]


def already_known(bought: Sequence[Answer], query: AdaptiveSession) -> KnownAlready | None:
    """What first looks say about one question of a session: the narrowest promised range, or else an estimate."""
    if query.ask is None:
        return None
    said = [
        replace(told, request=answer.request_id)
        for answer in bought
        if isinstance(answer.value, Look) and (told := known(answer.value, query.ask, query.facts)) is not None
    ]
    promised = [told for told in said if told.width is not None]
    return min(promised, key=lambda told: told.width or 0.0) if promised else next(iter(said), None)


def looks_at(asker: Asker, query: AnyQuery) -> Reading:
    """The answers to this question at any ε, and what they say together. They are read in the order they were given, so
    that a later answer never changes a range already stated."""
    looked = asker.home.ledger.looks_at(asker.budget.id, asker.record.name, claim_of(query))
    made = {entry.charge.seq: answer_of(asker.facts, entry) for entry in (*looked.first, *looked.newest)}
    first, newest = ([made[entry.charge.seq] for entry in some] for some in (looked.first, looked.newest))
    return read_together(first, query.beta, newest, looked.count)


def run_of(asker: Asker, run: str) -> PlanRun:
    """The state of a plan, whether it runs in this process or another, or was stored before a restart."""
    jobs, rows = asker.home.jobs, []
    handed = jobs.state(run)
    for request in requests_of(run):
        entry = asker.home.ledger.find(request)
        if entry is None or entry.charge.budget != asker.budget.id:
            break
        rows.append((entry, jobs.state(request).state))
    return PlanRun(run, tuple(rows), waiting=not rows and not handed.over, error=None if rows else handed.error)


def session_for(asker: Asker, request: str) -> Session:
    """A session that was paid for, at whatever step it is; refused if this table has none of that id."""
    ledger, jobs, coins = asker.home.ledger, asker.home.jobs, asker.home.coins
    entry = ledger.find(request)
    if entry is None or (entry.charge.budget, entry.charge.table) != (asker.budget.id, asker.record.name):
        raise AllowanceError("session.unknown")
    if questions_of(entry.charge.claim) is None:
        raise AllowanceError("session.unknown")
    query = session_of(asker.facts, entry)
    if entry.outcome is None and jobs.state(request).state == "interrupted":
        with suppress(AllowanceError):  # opening draws nothing, so what a killed process left out is written now
            ledger.answer(request, query.stored(query.draw((), coins)))
    fits = partial(fits_of, ledger, asker.budget.id, asker.record.name, asker.record.practice)
    found, reserve = ledger.find(request) or entry, asker.budget.rule.delta_reserve
    return Session(ledger, jobs, found, query, asker.read, coins, asker.refuse_changed, reserve, fits)
