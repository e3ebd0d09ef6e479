"""What a table's budget has paid for, read from the ledger: answers, plans, sessions, synthetic rows. Free.

**Averaging** answers to one question. The draws of one question at one ε are the same integers plus independent
discrete Laplace noise, so their mean is the truth plus a mean of noises, and `tails.sum_reach` has its exact law (for
Gaussian noise a bound on its tail is used). Parts of a ratio (hits and misses, a sum and a count) are averaged before
they are divided.

**Repeated draws.** A person decides after each draw whether to draw again, and at which ε. Number the ε by first use,
g = 1, 2, … (the same ε with other noise, or more numbers, counts as another); after the m-th draw at the g-th ε state a
range for the mean of those m draws, at

    β_(1,m) = β/2^max(m, 2)        β_(g,m) = β/2^(g+m+1) for g ≥ 2.

*Theorem.* With probability at least 1−β all ranges ever stated hold, whatever rule chose the draws and their end; so
their intersection holds at any moment, also one chosen by the answers.

*Proof.* The noise of the m-th draw at an ε may be thought drawn beforehand, one row of noises for every ε. When an ε is
first used nobody has seen anything of its row, so given the past the range stated after m draws at it, a function of
its first m noises alone, fails with probability at most β_(g,m). They sum to β/4 + β/2 + Σ_(g≥2) Σ_m β/2^(g+m+1) = β. ∎

A share that depended on the number of draws alone would not do: whether the second draw repeats the ε could then be
chosen by how unlucky the first one was. The range of one answer alone, at β, keeps its own meaning, for that answer.

**Bought ranges** (quantiles) were drawn at β and cannot be stated at less afterwards. Each fails with probability at
most β given the past, so of J draws *fixed beforehand* some range fails with probability at most J·β, and says nothing
once that reaches 1. That is all: an analyst who goes on until a range fails sees it fail in the end, so no number below
1 is true for a J chosen by the answers, and the words beside it say so. (On average it is right: the end chosen by the
answers finds a failed range with probability at most β·E[J].) A range holds when it meets the interval of true
quantiles; intervals that pairwise meet have a common point, so their intersection meets it too, where it is not empty.
Two that hold may yet be disjoint, where that interval is wide, so disjoint ranges prove no failure and no claim is made
about how often they happen.

**Choices** are shown side by side.

**Rows of a synthetic table** are fitted in the background once the draw is stored, and again if they are lost. Fitting
takes up to minutes, costs nothing and sees released numbers alone. It is a job of its own: the question is over, and
its answer visible, as soon as it is stored. A process that ends meanwhile loses nothing that was paid for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import partial

from dpengine.asking.answers import Answer, build_answer, claim_of, question_of
from dpengine.asking.column_fit import fits_of
from dpengine.asking.plan import PlanRun, requests_of
from dpengine.asking.release import Asker
from dpengine.asking.sessions import Session, session_of
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Ends, Json
from dpengine.declared.facts import Facts
from dpengine.ledger.ledger import Entry, Ledger
from dpengine.ledger.rows import questions_of
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.promises import Answered
from dpengine.mechanisms.query import AnyQuery, Averaged
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.released.look import Look
from dpengine.released.look_answers import KnownAlready, known
from dpengine.released.synthetic import Curve, FittedTable, Synthetic

Interval = Ends
Law = tuple[str, Fraction, int]  # noise, ε and how many numbers are drawn
MOST_AVERAGED = 12  # answers at one ε: β/2^m falls so fast that later ones hardly narrow the range
MOST_LOOKS = 5  # the newest first looks that are searched for an answer
MOST_CURVES = 100  # answers that are searched for a curve


@dataclass(frozen=True)
class Reading:
    """What several answers to one question say together. `value` and `interval` have the same form as those of one
    answer."""

    kind: str  # averaged, shared (the intersection of the ranges) or apart (side by side)
    answers: tuple[Answer, ...]  # the combined ones, oldest first
    newest: tuple[Answer, ...] = ()  # oldest first
    count: int = 0  # of all answers, including those in neither
    value: Json = None
    interval: Json = None  # None with fewer than two answers, for choices, or where nothing can be claimed
    beta: Fraction = Fraction(1)  # an upper bound on the probability that the interval is wrong
    agree: bool = True  # False: the ranges are disjoint, so the latest is shown alone


def share_of(beta: Fraction, spend: int, draws: int) -> Fraction:
    """β_(g,m): the probability that the range stated after the m-th draw (`draws`) at the g-th ε (`spend`) fails. Over
    all g and m they add up to β."""
    halvings: int = max(draws, 2) if spend == 1 else spend + draws + 1
    return beta * Fraction(1, 1 << halvings)


def read_together(
    answers: Sequence[Answer], beta: Fraction, newest: Sequence[Answer] | None = None, count: int | None = None
) -> Reading:
    """What answers to one question (the same except for ε and noise) say together. `answers`, oldest first, are all
    answers; or the first few of each law, with the `newest` of `count` answers. Leaving out answers changes no stated
    range; fewer ranges are then stated."""
    latest = tuple(answers if newest is None else newest)
    count = len(answers) if count is None else count
    return replace(_read(tuple(answers), latest, count, beta), newest=latest, count=count)


def _read(answers: tuple[Answer, ...], latest: tuple[Answer, ...], count: int, beta: Fraction) -> Reading:
    both = answers + latest
    unlike = any(answer.interval is None or _parts(answer) != _parts(both[0]) for answer in both)
    if len(both) < 2 or count < 2 or unlike:
        return Reading("apart", latest)
    if all(answer.raw is not None and isinstance(answer.query, Averaged) for answer in both):
        return _averaged(answers, latest[-1], beta)
    return _shared(latest, count, beta)


def _parts(answer: Answer) -> set[str] | None:
    """The names of an answer's parts, such as groups; None for an answer without parts. If the groups are not declared,
    two answers to one question may have different parts."""
    return set(answer.interval) if isinstance(answer.interval, dict) else None


def _averaged(answers: tuple[Answer, ...], last: Answer, beta: Fraction) -> Reading:
    drawn: dict[Law, list[tuple[int, ...]]] = {}
    stated = []  # one range for each draw
    for answer in answers:
        law = _law(answer)
        rows = drawn.setdefault(law, [])
        assert answer.raw is not None and isinstance(answer.query, Averaged)
        rows.append(answer.raw)
        if len(rows) > MOST_AVERAGED:
            continue
        query = replace(answer.query, beta=share_of(beta, list(drawn).index(law) + 1, len(rows)))
        stated.append(query.from_mean(mean_of(rows), len(rows)))
    common = _intersection([reading.interval for reading in stated])
    if common is None:
        return Reading("averaged", answers, value=last.value, interval=last.interval, beta=beta, agree=False)
    best = min(reversed(stated), key=lambda reading: _width(reading.interval))  # the latest of equally narrow ones
    return Reading("averaged", answers, value=_inside(best.value, common), interval=common, beta=beta)


def _law(answer: Answer) -> Law:
    """What two draws must share to be averaged: the noise, the ε and the number of drawn integers."""
    return answer.query.noise, answer.query.epsilon, len(answer.raw or ())


def foreseen(answers: Sequence[Answer], query: AnyQuery, beta: Fraction) -> Json:
    """The range that all answers would have together after one more answer to `query`, if their mean stays the same;
    None if it cannot be computed. For plain counts the width of this range does not depend on the draws. Free: only
    released answers are used."""
    laws = list(dict.fromkeys(map(_law, answers)))
    own = [law for law in laws if law[:2] == (query.noise, query.epsilon)]
    rows = [answer.raw for answer in answers if own and _law(answer) == own[-1] and answer.raw is not None]
    if not rows or not isinstance(query, Averaged):
        return None
    then = replace(query, beta=share_of(beta, laws.index(own[-1]) + 1, len(rows) + 1))
    return then.from_mean(mean_of(rows), len(rows) + 1).interval


def _width(interval: Json) -> Json:
    if isinstance(interval, dict):
        return sum(_width(part) for part in interval.values())
    return interval[1] - interval[0]


def mean_of(rows: Sequence[tuple[int, ...]]) -> tuple[int | Fraction, ...]:
    if len(rows) == 1:
        return rows[0]
    return tuple(Fraction(sum(parts), len(rows)) for parts in zip(*rows, strict=True))


def _shared(answers: tuple[Answer, ...], count: int, beta: Fraction) -> Reading:
    """All answers read together: the newest value, moved into the intersection of all ranges. Without a range if some
    answers were not read, or if nothing is guaranteed any more; the newest answer as it is if the ranges are
    disjoint."""
    last, fails = answers[-1], count * beta
    common = _intersection([answer.interval for answer in answers])
    if common is None:
        return Reading("shared", answers, value=last.value, interval=last.interval, beta=beta, agree=False)
    if fails >= 1 or count > len(answers):
        return Reading("shared", answers, value=last.value)
    return Reading("shared", answers, value=_inside(last.value, common), interval=common, beta=fails)


def _intersection(ranges: Sequence[Json]) -> Json:
    """The intersection of ranges, for each label if they have labels; None if an intersection is empty."""
    if isinstance(ranges[0], dict):
        parts = {label: _overlap([part_of[label] for part_of in ranges]) for label in ranges[0]}
        return None if None in parts.values() else parts
    return _overlap(ranges)


def _overlap(ranges: Sequence[Interval]) -> Interval | None:
    low, high = max(interval[0] for interval in ranges), min(interval[1] for interval in ranges)
    return (low, high) if low <= high else None


def _inside(value: Json, ranges: Json) -> Json:
    """The value, moved to the nearest point of its range: a mean may lie outside the intersection of ranges."""
    if isinstance(value, dict):
        return {label: _inside(part, ranges[label]) for label, part in value.items()}
    return min(max(value, ranges[0]), ranges[1])


def answer_of(ledger: Ledger, facts: Facts, entry: Entry) -> Answer:
    """A stored answer, under the bounds in its claim, even if the table was declared anew since. The answer's range for
    a larger group is left out if the people are not, or no longer, a random sample, or if more protection was declared
    since."""
    answer = build_answer(question_of(entry.charge, facts), entry)
    if not answer.beyond:
        return answer
    protected = ledger.protected_since(entry.charge.budget)
    if facts.sample and (protected is None or protected < entry.charge.seq):
        return answer
    value = answer.value.of_these_people() if isinstance(answer.value, Look) else answer.value
    return replace(answer, value=value, population=None, beyond="")


def entries_of_kinds(asker: Asker, keys: Sequence[str], most: int) -> list[Entry]:
    """The answered charges of questions with these keys (patterns) to this table and budget, newest first; at most
    `most`."""
    ledger, asked = asker.home.ledger, [key for key in catalogue if any(fnmatchcase(key, kind) for kind in keys)]
    entries = [
        entry for key in asked for entry in ledger.charges(asker.budget.id, asker.record.name, key=key, limit=most)
    ]
    entries = sorted(entries, key=lambda entry: entry.charge.seq, reverse=True)[:most]
    return [entry for entry in entries if entry.answer]


def answers_of_kinds(asker: Asker, keys: Sequence[str], most: int, but: str = "") -> list[Answer]:
    """The answers to questions with these keys (patterns), newest first; at most `most`, and without the answer to the
    request `but`."""
    entries = entries_of_kinds(asker, keys, most)
    return [_own(asker, entry) for entry in entries if entry.charge.request != but]


def answers_to(asker: Asker, query: AnyQuery) -> list[Answer]:
    """The latest answers to exactly this question at its ε, with any noise, oldest first."""
    noises = ("", *query.noises)
    entries = asker.home.ledger.answers_to(asker.budget.id, asker.record.name, claim_of(query), noises)
    return [_own(asker, entry) for entry in entries]


def latest_to(asker: Asker, query: AnyQuery) -> list[Answer]:
    """A list with the latest answer to this question at any ε and with any noise; empty if there is none."""
    repeats = asker.home.ledger.all_answers_to(asker.budget.id, asker.record.name, claim_of(query))
    return [_own(asker, entry) for entry in repeats.newest[-1:]]


def _own(asker: Asker, entry: Entry) -> Answer:
    return answer_of(asker.home.ledger, asker.facts, entry)


def already_known(bought: Sequence[Answer], query: AdaptiveSession) -> KnownAlready | None:
    """What the paid first looks say about a session's question: the narrowest range that one of them promises. If none
    promises a range, an estimate; if there is no estimate, None."""
    if query.ask is None:
        return None
    looks = [(answer.request_id, answer.value) for answer in bought if isinstance(answer.value, Look)]
    estimates = [(request, known(look, query.ask, query.facts)) for request, look in looks]
    known_by = [replace(estimate, request=request) for request, estimate in estimates if estimate is not None]
    promised = [estimate for estimate in known_by if estimate.width is not None]
    return min(promised, key=lambda estimate: estimate.width or 0.0) if promised else next(iter(known_by), None)


def repeated_answers(asker: Asker, query: AnyQuery) -> Reading:
    """What all answers to this question at any ε say together. They are read in the order in which they were given, so
    that a later answer never changes a range stated before."""
    repeats = asker.home.ledger.all_answers_to(asker.budget.id, asker.record.name, claim_of(query))
    answers = {entry.charge.seq: _own(asker, entry) for entry in (*repeats.first, *repeats.newest)}
    first, newest = ([answers[entry.charge.seq] for entry in entries] for entries in (repeats.first, repeats.newest))
    return read_together(first, query.beta, newest, repeats.count)


def run_of(asker: Asker, run: str) -> PlanRun:
    """The state of the plan `run`: from this process, from another one, or from the ledger."""
    jobs, rows = asker.home.jobs, []
    handed = jobs.state(run)
    for request in requests_of(run):
        entry = asker.home.ledger.find(request)
        if entry is None or entry.charge.budget != asker.budget.id:
            break
        state = jobs.state(request).state
        if state == "done" and entry.outcome is None:  # answered since its row was read
            entry = asker.home.ledger.find(request) or entry
        rows.append((entry, state))
    return PlanRun(run, tuple(rows), waiting=not rows and not handed.over, error=None if rows else handed.error)


def paid_session(asker: Asker, request: str) -> Session:
    """A paid session of this table in its present state; refused if no session has this request id."""
    ledger, jobs, coins = asker.home.ledger, asker.home.jobs, asker.home.coins
    entry = ledger.find(request)
    if entry is None or (entry.charge.budget, entry.charge.table) != (asker.budget.id, asker.record.name):
        raise AllowanceError("session.unknown")
    if questions_of(entry.charge.claim) is None:
        raise AllowanceError("session.unknown")
    query = session_of(asker.facts, entry)
    if entry.outcome is None and jobs.state(request).state == "interrupted":
        with suppress(AllowanceError):  # opening draws nothing, so it is stored now if the process was killed
            ledger.answer(request, query.stored(query.draw((), coins)))
    fits = partial(fits_of, ledger, asker.budget.id, asker.record.name, asker.record.practice)
    stored, reserve = ledger.find(request) or entry, asker.budget.rule.delta_reserve

    def known_by(asked: AdaptiveSession) -> KnownAlready | None:
        return already_known(answers_of_kinds(asker, (Overview.card.key,), MOST_LOOKS), asked)

    return Session(ledger, jobs, stored, query, asker.read, coins, asker.refuse_changed, reserve, fits, known_by)


def synthetic_rows(asker: Asker, answer: Answer) -> Synthetic | FittedTable:
    if answer.query.makes_rows != "fitted":
        return Synthetic(answer.query, answer.value)
    path = asker.home.published_file(answer.request_id)
    return FittedTable(
        answer.query, answer.value, path, partial(_curves, asker, answer), partial(_progress, asker, answer)
    )


def with_rows(asker: Asker, query: AnyQuery, work: Callable[[], Entry]) -> Callable[[], object]:
    """A function that does `work` and then, if the question makes a synthetic table, queues the fitting of its rows."""
    return (lambda: submit_rows(asker, build_answer(query, work()))) if query.makes_rows == "fitted" else work


def submit_rows(asker: Asker, answer: Answer) -> None:
    table = synthetic_rows(asker, answer)
    if isinstance(table, FittedTable) and not table.ready:
        fit = _fit_of(answer)
        work = partial(table.make, partial(asker.home.jobs.note, fit))
        asker.home.jobs.submit(fit, work, turn=asker.actor, long=True)


def _fit_of(answer: Answer) -> str:
    return f"rows-{hashlib.sha256(answer.request_id.encode()).hexdigest()[:32]}"


def _progress(asker: Asker, answer: Answer) -> tuple[int, int] | None:
    jobs = asker.home.jobs
    return None if jobs.state(_fit_of(answer)).over else jobs.progress(_fit_of(answer))


def _curves(asker: Asker, answer: Answer) -> list[Curve]:
    """The distributions of single columns in other paid answers. Distributions that are mostly noise are left out."""
    kinds = [key for key, kind in catalogue.items() if kind.spreads is not Answered.spreads]
    curves, schema = [], answer.query.facts.schema
    for other in answers_of_kinds(asker, kinds, MOST_CURVES, answer.request_id):
        if other.query.state(other.value, other.interval):
            continue
        for column, starts, counts, off in other.query.spreads(other.value):
            declared = schema.columns.get(column)
            if declared is not None and declared == other.query.facts.schema.columns.get(column):
                curves.append(Curve(column, starts, counts, off, declared.size, other.request_id))
    return curves
