"""`python -m dpengine audit`: every question × relation × unit, the ledger, and the sections from long runs in
build/audit.

`--write` puts the figures into docs/audit.md between two marks; with `--only KEY` only the lines of one question, with
`--sections` only those in build/audit, so that one long test can be run and its section written. The page does not give
the time of the run, so a rerun changes only figures. Exit code 1 if an exact loss or a proven bound is above its claim.

The file goes from the parts to the whole: a lower bound on a divergence, one line, the sections, the command.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule
from dpengine.accountant.loss import simple_events
from dpengine.audit import games
from dpengine.audit.empirical import FAILURE, Counts, Evidence, lower_bound, lower_chance, search_by, upper_chance
from dpengine.audit.events import EventReading, plain, readings_of, values_of
from dpengine.audit.exact import ORDER, SEEN_DELTA, Worst, claimed_at, epsilon_at, laws_of, worst
from dpengine.audit.games import BUDGET, RULE, audit_plays, exact_game
from dpengine.audit.world import CASES, SEVERAL, build
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import halved, text_of
from dpengine.core.types import Floats
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say
from dpengine.noise.coins import Coins, SystemCoins

# A lower bound on the divergence of a release: from draws on two neighbouring tables, with a witness trained on half
#
# As in DP-Auditorium (Kong, Muñoz Medina, Ribero, Syed 2023), a function is fitted to some of the draws, and evaluated
# on the others. `empirical` bounds ε; here are the two other quantities in which claims are made.
#
# **Hockey-stick.** For every event S, δ(ε) ≥ Pr_P[S] − e^ε·Pr_Q[S]. With S chosen on the first halves, the second
# halves give p₋ − e^ε·q₊ by Clopper and Pearson, as in `empirical`.
#
# **Rényi.** For every bounded g and α > 1 (Birrell, Dupuis, Katsoulakis, Rey-Bellet, Wang 2021):
#
#     D_α(P‖Q) ≥ α/(α−1) · ln E_P[e^((α−1)g)] − ln E_Q[e^(αg)].
#
# Proof: E_P[e^((α−1)g)] = E_Q[(P/Q)·e^((α−1)g)] ≤ E_Q[(P/Q)^α]^(1/α) · E_Q[e^(αg)]^((α−1)/α) by Hölder's inequality;
# take logarithms and multiply by α/(α−1). With g = ln(P/Q) both sides are equal. ∎ Here g is an estimated log-
# likelihood ratio, shrunk and cut at ±c; which one, by how much and in which direction is decided on the first halves.
# On the second halves the exponentials of the draws are independent and lie between known ends, so their means obey the
# bound of Chernoff and Hoeffding (1963, Thm 1): Pr[mean ≥ x] ≤ e^(−n·KL(x‖μ)) for values in [0, 1]. Each of the two
# means gets half of `failure`. It is a lower bound: a small value means that these draws showed nothing.

CUTS = (0.5, 1.0, 2.0, 4.0)  # where a log-likelihood ratio is cut off
SHRUNK = (0.5, 0.75, 1.0)  # factors, because an estimated ratio is too large
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Witnessed:
    """The divergence is at least this, except with probability `failure`."""

    amount: float
    at: float  # the order of a Rényi divergence, or the ε of a hockey-stick
    failure: float
    swapped: bool  # True: of the second table from the first


@dataclass(frozen=True)
class Witness:
    """g: a fitted log-likelihood ratio, shrunk and cut."""

    reading: EventReading
    shrunk: float
    cut: float

    def of(self, outcomes: Sequence[object]) -> Floats:
        return _cut(_ratios(self.reading, outcomes), self.shrunk, self.cut)


def hockey_stick(
    one: Sequence[object], other: Sequence[object], epsilon: Fraction, failure: float = FAILURE
) -> Witnessed:
    """A lower bound on the δ at this ε of a release that drew `one` on a table and `other` on a neighbouring one."""
    first, second = _halved(one), _halved(other)

    def bound(more: Counts, many: int, less: Counts, others: int) -> Floats:
        low, high = lower_chance(more, many, failure / 2), upper_chance(less, others, failure / 2)
        return np.asarray(low - math.exp(epsilon) * high)

    event, swapped = search_by(first[0], second[0], bound)
    more, less = (second[1], first[1]) if swapped else (first[1], second[1])
    hits = [np.array([event.hits(outcomes)]) for outcomes in (more, less)]
    [delta] = bound(hits[0], len(more), hits[1], len(less))
    return Witnessed(max(0.0, float(delta)), float(epsilon), failure, swapped)


def renyi(one: Sequence[object], other: Sequence[object], order: Fraction, failure: float = FAILURE) -> Witnessed:
    """A lower bound on the Rényi divergence of this order, the greater of the two directions."""
    first, second = _halved(one), _halved(other)
    chosen = train_divergence(first[0], second[0], float(order), failure)
    if chosen is None:
        return Witnessed(0.0, float(order), failure, False)
    witness, swapped = chosen
    tables = (second[1], first[1]) if swapped else (first[1], second[1])
    values = [witness.of(outcomes) for outcomes in tables]
    bound = variational(values[0], values[1], witness.cut, float(order), failure)
    return Witnessed(max(0.0, bound), float(order), failure, swapped)


def train_divergence(
    one: Sequence[object], other: Sequence[object], order: float, failure: float
) -> tuple[Witness, bool] | None:
    """The witness and direction with the best bound, judged by the draws that they were not fitted to."""
    middle, centre = (len(one) + 1) // 2, (len(other) + 1) // 2
    tried = one[middle:] or one, other[centre:] or other
    best: tuple[float, Witness, bool] | None = None
    for swapped in (False, True):
        fitted = (other[:centre], one[:middle]) if swapped else (one[:middle], other[:centre])
        tables = tried[::-1] if swapped else tried
        for reading in readings_of(*fitted)["likelihood"]:
            more, less = (_ratios(reading, outcomes) for outcomes in tables)
            for shrunk, cut in product(SHRUNK, CUTS):
                cuts = _cut(more, shrunk, cut), _cut(less, shrunk, cut)
                bound = variational(*cuts, cut, order, failure, 2)  # as many draws again will be tested
                if best is None or bound > best[0]:
                    best = bound, Witness(reading, shrunk, cut), swapped
    return None if best is None else best[1:]


def variational(one: Floats, other: Floats, cut: float, order: float, failure: float, times: int = 1) -> float:
    """A lower bound on the divergence: α/(α−1)·ln(lower end of E_P) − ln(upper end of E_Q), for `times` as many
    draws."""
    low = _mean_end(np.exp((order - 1) * one), math.exp((order - 1) * cut), failure / 2, times, up=False)
    high = _mean_end(np.exp(order * other), math.exp(order * cut), failure / 2, times, up=True)
    return -math.inf if low <= 0 else order / (order - 1) * math.log(low) - math.log(high)


def _ratios(reading: EventReading, outcomes: Sequence[object]) -> Floats:
    """The log-likelihood ratios of the outcomes; 0 for an outcome that the reading does not cover."""
    return np.nan_to_num(values_of(reading, outcomes), nan=0.0)


def _cut(ratios: Floats, shrunk: float, cut: float) -> Floats:
    return np.clip(shrunk * ratios, -cut, cut)


def _halved(outcomes: Sequence[object]) -> tuple[list[Any], list[Any]]:
    hashable = plain(outcomes)
    if len(hashable) < 4:
        raise ValueError("four draws of each table are needed")
    return hashable[: len(hashable) // 2], hashable[len(hashable) // 2 :]


def _mean_end(values: Floats, top: float, failure: float, times: int, up: bool) -> float:
    """The true mean of values in [0, top] is at most (`up`) or at least this, except with probability `failure`."""
    return top * _end(float(values.mean()) / top, len(values) * times, failure, up)


def _end(seen: float, draws: int, failure: float, up: bool) -> float:
    """The farthest mean μ, above or below, at which draws·KL(seen‖μ) is still ln(1/failure): by bisection, outwards."""
    allowed = -math.log(failure) / draws
    _, far = halved(lambda mean: _kl(seen, mean) <= allowed, min(max(seen, 0.0), 1.0), 1.0 if up else 0.0, 200)
    return min(1.0, far * (1 + _ROUNDING)) if up else far * (1 - _ROUNDING)


def _kl(seen: float, mean: float) -> float:
    """The Kullback–Leibler divergence of two coins with these chances."""
    if not 0 < mean < 1:
        return 0.0 if seen == mean else math.inf
    of_ones = seen * math.log(seen / mean) if seen > 0 else 0.0
    of_zeros = (1 - seen) * math.log((1 - seen) / (1 - mean)) if seen < 1 else 0.0
    return of_ones + of_zeros


# One line of the report: a question's claim, the exact loss of its law, and a lower bound on the loss from its draws
#
# A line stands for one kind of claim of one catalogue entry, under one relation and one unit: the variant that comes
# closest to its claim, by the exact auditor. Its worst pair of tables is then drawn from, with the system's coins.

UNITS: dict[str, Unit] = {"rows": Unit.rows(), "people": SEVERAL}
_SLACK = 1e-9  # rounding of floats and decimals compared with a claim


@dataclass(frozen=True)
class Spot:
    """What identifies a line of the report."""

    key: str
    kind: str  # of the claim: pure, exponential, gaussian, approximate
    relation: str
    unit: str


@dataclass(frozen=True)
class AuditLine:
    spot: Spot
    claimed: float  # ε, at the δ of the evidence
    used: float  # the part of the claim that the law uses over the small world, in the claim's currency: ε, Rényi or δ
    claim_words: str
    exact_words: str
    evidence: Evidence
    witnessed: Witnessed  # of the Rényi divergence, or of δ at the claimed ε if a δ is claimed
    allowed: float  # the claim for that

    @property
    def kept(self) -> bool:
        """Are the law and the draws within the claim?"""
        within = self.evidence.epsilon <= self.claimed and self.witnessed.amount <= self.allowed
        return self.used <= 1 + _SLACK and within

    def row(self) -> tuple[str, ...]:
        spot = self.spot
        where = (say(f"audit.{name}.{getattr(spot, name)}") for name in ("kind", "relation", "unit"))
        code = "audit.witness.delta" if spot.kind == "approximate" else "audit.witness.renyi"
        witness = say(code, amount=figure(self.witnessed.amount), claimed=figure(self.allowed))
        return spot.key, *where, self.claim_words, self.exact_words, figure(self.evidence.epsilon), witness


def spots() -> list[Spot]:
    """Every line of the report, in the order of the catalogue."""
    key_kinds = dict.fromkeys((key, _kind(build(key, given, "replace"))) for key, given in CASES)
    order = list(dict.fromkeys(key for key, _ in CASES))
    kinds = sorted(key_kinds, key=lambda pair: order.index(pair[0]))
    return [
        Spot(key, kind, relation, unit)
        for key, kind in kinds
        for relation in catalogue[key].card.relations
        for unit in UNITS
        if unit == "rows" or catalogue[key].card.several
    ]


def audited(spot: Spot, draws: int, coins: Coins | None = None) -> AuditLine:
    """The line of a spot, with `draws` draws on each table of the worst pair."""
    query, worst_case = max(_variants(spot), key=lambda variant: _closeness(*variant))
    used, _ = _closeness(query, worst_case)
    claimed, delta, claim_words, exact_words = _words(query, worst_case)
    source = coins or SystemCoins()
    one, other = ([query.draw(value, source) for _ in range(draws)] for value in worst_case.pair)
    bound = lower_bound(one, other, delta, FAILURE)
    return AuditLine(spot, claimed, used, claim_words, exact_words, bound, *witnessed(query, one, other))


def witnessed(query: AnyQuery, one: Sequence[object], other: Sequence[object]) -> tuple[Witnessed, float]:
    """What the draws show in the claimed quantity, and the claim: δ at its ε, or a Rényi divergence."""
    claimed = cost(query.loss(), ORDER)
    if claimed.delta:
        epsilon, delta = claimed_at(query.loss())
        return hockey_stick(one, other, epsilon, FAILURE), float(delta)
    return renyi(one, other, ORDER, FAILURE), float(claimed.renyi)


def figure(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.2e}"


def _kind(query: AnyQuery) -> str:
    return type(simple_events(query.loss())[0][0]).__name__.lower()


def _variants(spot: Spot) -> Iterator[tuple[AnyQuery, Worst]]:
    for key, given in CASES:
        if key == spot.key:
            query = build(key, given, spot.relation, unit=UNITS[spot.unit])
            if _kind(query) == spot.kind:
                yield query, worst(query)


def _closeness(query: AnyQuery, worst_case: Worst) -> tuple[float, float]:
    """The worst loss as a part of the claim, in the claimed quantity; to break ties, how far apart the two laws are."""
    claimed, apart = cost(query.loss(), ORDER), round(worst_case.renyi, 9)
    if claimed.delta and worst_case.delta is not None:
        return float(worst_case.delta.high) / float(claimed_at(query.loss())[1]), apart
    if claimed.epsilon is None:
        return round(worst_case.renyi / float(claimed.renyi), 9), apart
    return round(float(worst_case.epsilon) / float(claimed.epsilon), 9), apart


def _words(query: AnyQuery, worst_case: Worst) -> tuple[float, Fraction, str, str]:
    """The claimed ε, its δ, and claim and exact loss in words."""
    claimed = cost(query.loss(), ORDER)
    if claimed.epsilon is None:
        most, delta = claimed_at(query.loss())
        exact = epsilon_at(*laws_of(query, *worst_case.pair), delta).high
        part = figure(_closeness(query, worst_case)[0])
        claim = say("audit.claim.gaussian", epsilon=figure(float(most)), delta=text_of(SEEN_DELTA))
        code = "audit.exact.gaussian_delta" if claimed.delta else "audit.exact.gaussian"
        return float(most), delta, claim, say(code, epsilon=figure(float(exact)), part=part)
    epsilon = float(claimed.epsilon)
    if claimed.delta and worst_case.delta is not None:
        claim = say("audit.claim.approximate", epsilon=figure(epsilon), delta=f"{float(claimed.delta):.0e}")
        found = say("audit.exact.approximate", delta=f"{float(worst_case.delta.high):.2e}")
        return epsilon, claimed.delta, claim, found
    return epsilon, Fraction(0), figure(epsilon), figure(float(worst_case.epsilon))


# The sections from long runs: one JSON file each in `build/audit/`
#
#     {"title": "Planted errors", "columns": ["error", "caught by"], "rows": [["half noise", "the law check"], …]}
#
# The long tests write them; `python -m dpengine audit` prints every section and writes it into docs/audit.md.

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "audit"

Cell = str | int | float


@dataclass(frozen=True)
class Section:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def as_markdown(self) -> list[str]:
        """A table of its rows. A bar or a line break in a cell would end it, so both are replaced."""
        head, *rows = ("| " + " | ".join(map(_cell, row)) + " |" for row in (self.columns, *self.rows))
        return [head, "|" + "---|" * len(self.columns), *rows]

    def as_text(self) -> list[str]:
        """The rows in columns of equal width, for a terminal."""
        lines = [self.columns, *self.rows]
        wide = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        return ["  ".join(cell.ljust(w) for cell, w in zip(line, wide, strict=True)).rstrip() for line in lines]


def read_section() -> list[Section]:
    """Every section, by the name of its file; rows that do not fit the columns are a fault of its writer."""
    return [_section(json.loads(path.read_text(encoding="utf-8")), path.name) for path in sorted(FOLDER.glob("*.json"))]


def section_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Section:
    return Section(title, tuple(columns), tuple(tuple(str(cell) for cell in row) for row in rows))


def _section(data: dict[str, object], name: str) -> Section:
    title, columns, rows = data["title"], data["columns"], data["rows"]
    assert isinstance(columns, list) and isinstance(rows, list)
    if any(len(row) != len(columns) for row in rows):
        raise ValueError(f"{name}: a row does not fit its columns")
    return section_table(str(title), [str(column) for column in columns], rows)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


# The command

FIGURES = ROOT / "docs" / "audit.md"
BEGIN, END = "<!-- audit:begin -->", "<!-- audit:end -->"
DRAWS, PLAYS = 10_000, 400
SHORT_DRAWS, SHORT_PLAYS = 1_000, 0
LEAST_DRAWS = 100
_COUNTED = ("questions", "ledger")  # the tables with lines that the verdict counts
_TOGETHER = 2  # processes
_REPORT_EVERY = 10  # lines between two messages about progress


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m dpengine audit", description=say("audit.about"))
    parser.add_argument("--draws", type=int, help=say("audit.draws"))
    parser.add_argument("--plays", type=int, help=say("audit.plays"))
    parser.add_argument("--short", action="store_true", help=say("audit.short"))
    parser.add_argument("--write", action="store_true", help=say("audit.write"))
    parser.add_argument("--only", metavar="KEY", help=say("audit.only"))
    parser.add_argument("--sections", action="store_true", help=say("audit.sections"))
    given = parser.parse_args(arguments)
    draws = given.draws if given.draws is not None else SHORT_DRAWS if given.short else DRAWS
    plays = given.plays if given.plays is not None else SHORT_PLAYS if given.short else PLAYS
    if draws < LEAST_DRAWS or plays < 0:
        raise AllowanceError("audit.draws_range", least=LEAST_DRAWS)
    if given.only is not None and given.only not in catalogue:
        raise AllowanceError("query.unknown", key=given.only[:60], keys=list(catalogue))
    if given.write:
        _parts(FIGURES)  # fails before an hour's work, not after
    if given.only is not None:
        return _only(given.only, draws, given.write)
    if given.sections:
        return _sections(given.write)
    with ProcessPoolExecutor(_TOGETHER, multiprocessing.get_context("spawn")) as pool:
        game = pool.submit(ledger_section, plays)
        lines = []
        for line in pool.map(partial(audited, draws=draws), wanted := spots()):
            lines.append(line)
            if len(lines) % _REPORT_EVERY == 0:  # it takes minutes
                print(say("audit.progress", done=len(lines), all=len(wanted)), file=sys.stderr, flush=True)
        ledger, above = game.result()
    above = [*(line.spot.key for line in lines if not line.kept), *above]
    parts = [(questions_section(lines), _questions_note(draws)), (ledger, _ledger_note(plays))]
    parts += [(section, "") for section in read_section()]
    code = "audit.above" if above else "audit.kept"
    verdict = say(code, lines=len(lines) + len(ledger.rows), names=above)
    for section, note in parts:
        print("\n".join(["", section.title, *([note] if note else []), "", *section.as_text()]))
    print(f"\n{verdict}")
    if given.write:
        write(FIGURES, markdown(parts, verdict))
        print(say("audit.written"))
    return 1 if above else 0


def _only(key: str, draws: int, wanted: bool) -> int:
    """The lines of one question: shown, and written in place of the old ones."""
    if wanted:
        _questions_on(FIGURES, draws)  # fails before anything is drawn
    lines = [audited(spot, draws) for spot in spots() if spot.key == key]
    section = questions_section(lines)
    above = [line.spot.key for line in lines if not line.kept]
    print("\n".join([section.title, _questions_note(draws), "", *section.as_text()]))
    print(f"\n{say('audit.above' if above else 'audit.kept', lines=len(lines), names=above)}")
    if wanted:
        write_only(FIGURES, key, section, draws, not above)
        print(say("audit.written"))
    return 1 if above else 0


def _sections(wanted: bool) -> int:
    """The sections of long runs in build/audit: shown, and written line by line in place of the old."""
    sections = read_section()
    for section in sections:
        print("\n".join([section.title, "", *section.as_text(), ""]))
        if wanted:
            write_section(FIGURES, section)
    if wanted and sections:
        print(say("audit.written"))
    return 0


def write_section(path: Path, section: Section) -> None:
    """Put a section's lines into its table on the page: a line with the same first cell is replaced, others stay in
    place, new ones come last. A table with other columns is replaced whole; a new section comes last."""
    lines = _parts(path)[1].strip("\n").split("\n")
    first, last = _table(lines, section.title)
    fresh = section.as_markdown()
    if first == last:
        write(path, [*lines, "", f"### {section.title}", "", *fresh])
        return
    if _cells(lines[first]) != _cells(fresh[0]):
        write(path, [*lines[:first], *fresh, *lines[last:]])
        return
    by_name = {_cells(row)[0]: row for row in fresh[2:]}
    kept = [by_name.pop(_cells(row)[0], row) for row in lines[first + 2 : last]]
    write(path, [*lines[: first + 2], *kept, *by_name.values(), *lines[last:]])


def write_only(path: Path, key: str, section: Section, draws: int, kept: bool) -> None:
    """Replace only this question's lines in the table of questions: under the page's columns, after the question that
    precedes it in the catalogue."""
    lines, first, last = _questions_on(path, draws)
    columns, rows = _cells(lines[first]), lines[first + 2 : last]
    by_column = [dict(zip(section.columns, row, strict=True)) for row in section.rows]
    ordered = [[row.get(column, "") for column in columns] for row in by_column]
    fresh = section_table("", columns, ordered).as_markdown()[2:]
    others = [row for row in rows if _cells(row)[0] != key]
    order = list(catalogue)[: list(catalogue).index(key)]
    before = {question: place for place, row in enumerate(others) for question in order if _cells(row)[0] == question}
    place = next((before[question] + 1 for question in reversed(order) if question in before), 0)
    many = sum(last - first - 2 for first, last in (_table(lines, say(f"audit.{name}.title")) for name in _COUNTED))
    verdict = lines[0]
    if not kept or verdict == say("audit.kept", lines=many):  # an earlier alarm stays
        many += len(fresh) + len(others) - len(rows)
        verdict = say("audit.kept" if kept else "audit.above", lines=many, names=[key])
    write(path, [verdict, *lines[1 : first + 2], *others[:place], *fresh, *others[place:], *lines[last:]])


def _questions_on(path: Path, draws: int) -> tuple[list[str], int, int]:
    """The lines of the page between the marks, and the first and last line of its table of questions."""
    lines = _parts(path)[1].strip("\n").split("\n")
    first, last = _table(lines, say("audit.questions.title"))
    if first == last or say("audit.drawn", draws=draws) not in lines[first - 2]:
        raise AllowanceError("audit.other_draws", draws=draws)
    return lines, first, last


def _table(lines: Sequence[str], title: str) -> tuple[int, int]:
    """The first line of the table under a title, and the line after its last."""
    at = lines.index(f"### {title}") if f"### {title}" in lines else len(lines)
    first = next((place for place in range(at, len(lines)) if lines[place].startswith("|")), len(lines))
    return first, next((place for place in range(first, len(lines)) if not lines[place].startswith("|")), len(lines))


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def questions_section(lines: Iterable[AuditLine]) -> Section:
    columns = say("audit.questions.columns").split(";")
    return section_table(say("audit.questions.title"), columns, [line.row() for line in lines])


def ledger_section(plays: int) -> tuple[Section, list[str]]:
    """The exact games and the plays, and the names of those above the allowance."""
    worth, sets = exact_game()
    rows = [(say("audit.ledger.exact", sets=sets), _allowance(RULE), say("audit.ledger.worth", worth=f"{worth:.2e}"))]
    above = [say("audit.ledger.title")] if worth > RULE.delta else []
    with games.in_memory() as folder:
        together = games.game_of_people(Path(folder))
    people = say("audit.ledger.people", people=len(games.PEOPLE_SIZES), sets=together.admitted)
    rows.append((people, _allowance(games.PEOPLE_RULE), say("audit.ledger.worth", worth=f"{together.worth:.2e}")))
    above += [people] if together.worth > games.PEOPLE_RULE.delta else []
    rule = BUDGET.rule()
    for name, evidence in audit_plays(plays) if plays > 1 else []:
        bound = say("audit.ledger.bound", bound=figure(evidence.epsilon))
        rows.append((say(f"audit.strategy.{name}"), _allowance(rule), bound))
        if evidence.epsilon > rule.epsilon:
            above.append(say(f"audit.strategy.{name}"))
    return section_table(say("audit.ledger.title"), say("audit.ledger.columns").split(";"), rows), above


def most_shown(draws: int) -> float:
    """The largest bound that this many draws can give: for an event certain on one table, impossible on the other."""
    tested = draws - draws // 2
    low = lower_chance(np.array([tested]), tested, FAILURE / 2)[0]
    return math.log(float(low) / float(upper_chance(np.array([0]), tested, FAILURE / 2)[0]))


def markdown(parts: Sequence[tuple[Section, str]], verdict: str) -> list[str]:
    """The text between the two marks."""
    lines = [verdict]
    for section, note in parts:
        lines += ["", f"### {section.title}", "", *([note, ""] if note else []), *section.as_markdown()]
    return lines


def write(path: Path, lines: Sequence[str]) -> None:
    before, _, after = _parts(path)
    path.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]), encoding="utf-8")


def _parts(path: Path) -> tuple[str, str, str]:
    """The text before the figures, the figures, and the text after them."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, begin, rest = text.partition(BEGIN)
    figures, end, after = rest.partition(END)
    if not begin or not end:
        raise AllowanceError("audit.nowhere", begin=BEGIN, end=END)
    return before, figures, after


def _questions_note(draws: int) -> str:
    return say("audit.questions.note", draws=draws, failure=str(FAILURE), most=figure(most_shown(draws)))


def _ledger_note(plays: int) -> str:
    if plays < 2:
        return say("audit.ledger.note")
    facts = {"plays": plays, "failure": str(FAILURE), "most": figure(most_shown(plays))}
    return f"{say('audit.ledger.note')} {say('audit.ledger.note_plays', **facts)}"


def _allowance(rule: Rule) -> str:
    return say("audit.ledger.allowance", epsilon=text_of(rule.epsilon), delta=f"{float(rule.delta):.0e}")
