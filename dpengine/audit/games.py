"""The ledger as one mechanism: everything that adaptive analysts can make it release, compared with its cap.

**Exactly** (`exact_game`). `Game` tries every strategy against an admission rule, by dynamic programming; nothing is
drawn at random. Randomized response is the worst ε-DP release (Kairouz, Oh, Viswanath 2015), so the game is: on table D
a question at ε moves the loss by +ε with probability p = e^ε/(1+e^ε), else by −ε. The chooser sees the loss, picks the
next admitted ε or stops, and is worth E[(1 − e^(reading − loss))₊] at the end: the true δ at the promised ε. Floats,
exact to about twelve digits. A real ledger file decides every admission and shows the meter. The worth must not exceed
δ.

**By several people** (`game_of_people`). Several people play that game at once, each through a grant of their own. They
talk: every next question, its asker and its size may depend on all answers so far, and each asks as long as their own
grant and the table's cap allow. The worth of the best strategy must not exceed δ: one budget pays for all, whatever the
grants add up to. With a budget of its own for each person, the same game would be worth more (`apart`).

**By draws** (`audit_plays`). `play` asks a real table through `Table.ask`, each time on a fresh budget of a real
ledger, until the strategy stops or the ledger refuses. A strategy sees every answer, what is left, and how far the
answers favour one of the two tables: the exact log-likelihood ratio of the transcript so far, from the laws of the
questions. A play shows that ratio at the end, and the number of questions. `empirical.lower_bound` turns plays on the
two tables into a lower bound on the ε of the whole, which must not exceed the cap.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpengine.accountant.filter import Budget, Rule, spent
from dpengine.accountant.loss import Pure, Repeated
from dpengine.audit.empirical import FAILURE, Evidence, lower_bound
from dpengine.core.errors import BudgetExceeded
from dpengine.core.exact import down
from dpengine.core.types import Figures, Floats, JsonObject
from dpengine.declared.conditions import Row
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.people_rules import ADMINISTRATOR, OPERATOR, OWNER
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.laws import chance
from dpengine.table import Table
from dpengine.workspace import Workspace

Counts = tuple[int, ...]  # the number of questions of each size


class Game:
    """All reachable (questions asked, loss) under an admission test. Losses are whole multiples of the smallest ε."""

    def __init__(self, sizes: tuple[Fraction, ...], admitted: Callable[[Counts], bool]) -> None:
        self.sizes = sizes
        self.moves = [int(size / sizes[0]) for size in sizes]
        assert all(move * sizes[0] == size for move, size in zip(self.moves, sizes, strict=True))
        self.up = [1 / (1 + math.exp(-size)) for size in sizes]
        self.layers = self._layers(admitted)
        self.reach = max(sum(n * m for n, m in zip(c, self.moves, strict=True)) for layer in self.layers for c in layer)
        self.losses: Floats = np.arange(-self.reach, self.reach + 1, dtype=np.float64) * float(sizes[0])

    def _layers(self, admitted: Callable[[Counts], bool]) -> list[list[Counts]]:
        """The admitted sets of questions, grouped by their number. The sums alone decide whether one more is
        admitted."""
        layers = [[(0,) * len(self.sizes)]]
        while layers[-1]:
            following = {more for counts in layers[-1] for more in self.one_more(counts) if admitted(more)}
            layers.append(sorted(following))
        return layers[:-1]

    def one_more(self, counts: Counts) -> list[Counts]:
        return [(*counts[:i], counts[i] + 1, *counts[i + 1 :]) for i in range(len(counts))]

    def worth(self, reading: Callable[[Counts], float]) -> float:
        """The largest E[(1 − e^(reading − loss))₊] over all strategies, which may stop at any time."""
        later: dict[Counts, Floats] = {}
        for layer in reversed(self.layers):
            now: dict[Counts, Floats] = {}
            for counts in layer:
                best = np.maximum(0.0, -np.expm1(reading(counts) - self.losses))
                for move, p, more in zip(self.moves, self.up, self.one_more(counts), strict=True):
                    if more in later:
                        next_worth = p * shifted(later[more], move) + (1 - p) * shifted(later[more], -move)
                        best = np.maximum(best, next_worth)
                now[counts] = best
            later = now
        return float(later[(0,) * len(self.sizes)][self.reach])


def shifted(values: Floats, move: int) -> Floats:
    """values[s + move] at each s. Where s + move is beyond the ends it is 0: no history reaches such losses."""
    moved = np.zeros_like(values)
    if move > 0:
        moved[:-move] = values[move:]
    else:
        moved[-move:] = values[:move]
    return moved


# By draws
CAP, DELTA = Fraction(3, 2), Fraction(1, 10**6)
SCHEMA = Schema({"x": Number(0, 3), "c": Category(["a", "b"], unknown="b", missing="b")})
REST = [{"x": place % 4, "c": "ab"[place % 2]} for place in range(6)]
PERSONS = ({"x": 3, "c": "a"}, {"x": 0, "c": "b"})  # the person that differs between the two tables
NAMES = ("one", "other")
BUDGET = Budget(CAP, DELTA)
_GRAIN = 10**6
_MEMORY = Path("/dev/shm")
_FINEST = Fraction(1, 1000)


@dataclass
class Transcript:
    """What the analyst knows while asking: the answers' log-likelihood ratio, and their number."""

    table: Table
    ratio: float = 0.0  # ln(Pr[answers | one] / Pr[answers | other])
    asked: int = 0

    @property
    def left(self) -> Fraction:
        meter = self.table.meter()
        return down(meter.epsilon - meter.spent_epsilon, _GRAIN)


Strategy = Callable[[Transcript], AnyQuery | None]


def whole(seen: Transcript) -> AnyQuery | None:
    """Asks everything at once."""
    return _count(seen.table, CAP)


def steady(seen: Transcript) -> AnyQuery | None:
    """Asks equal counts until the ledger refuses."""
    return _count(seen.table, CAP / 3)


def certain(seen: Transcript) -> AnyQuery | None:
    """Asks small counts, and stops as soon as the analyst is certain: then the answers reveal most."""
    return None if abs(seen.ratio) >= 0.6 * float(CAP) else _count(seen.table, CAP / 5)


def gambler(seen: Transcript) -> AnyQuery | None:
    """Asks small bars while the answers favour “other”, and spends everything that is left when they favour “one”."""
    if seen.ratio <= 0 or seen.asked == 0:
        return seen.table.query("histogram", column="c", noise="", epsilon=_at_most(CAP / 4, seen.left))
    return _count(seen.table, seen.left)


def chooser(seen: Transcript) -> AnyQuery | None:
    """Chooses question and ε by the answers: choices while in doubt, a count at twice the spend once they lean."""
    if abs(seen.ratio) < 0.3:
        return seen.table.query("top_item", column="c", noise="", epsilon=_at_most(CAP / 4, seen.left))
    return _count(seen.table, CAP / 2)


STRATEGIES: dict[str, Strategy] = {play.__name__: play for play in (whole, steady, certain, gambler, chooser)}


def _count(table: Table, epsilon: Fraction) -> AnyQuery:
    return table.query("count", where=[["c", "in", ["a"]]], noise="", epsilon=max(epsilon, _FINEST))


def _at_most(wanted: Fraction, left: Fraction) -> Fraction:
    """The wanted ε, or what is left if that is less; a thousandth if nothing is left: the ledger then refuses."""
    return max(min(wanted, left), _FINEST)


@contextmanager
def two_tables() -> Iterator[Workspace]:
    """A workspace in a temporary folder with the two neighbouring tables, replace-one."""
    with in_memory() as folder:
        workspace = Workspace(Path(folder) / "var")
        try:
            for name, person in zip(NAMES, PERSONS, strict=True):
                frame = pd.DataFrame([*REST, person])
                workspace.add_table(name, frame, schema=SCHEMA, unit=Unit.rows(), relation="replace", budget=BUDGET)
            yield workspace
        finally:
            workspace.close()


def in_memory() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory if possible: thousands of plays would wait for the disk at every commit."""
    return tempfile.TemporaryDirectory(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)


def play(workspace: Workspace, name: str, strategy: Strategy, number: int) -> tuple[float, int]:
    """One game to its end: the transcript's log-likelihood ratio, and the number of answered questions."""
    facts, own = workspace.table(name).facts, f"{strategy.__name__}-{name}-{number}"
    terms = facts.unit.as_json(), facts.relation
    budget = workspace.ledger.create_budget(own, BUDGET.rule(), "private", "auditor", name, *terms)
    [record] = [table for table in workspace.tables() if table.name == name]
    seen = Transcript(Table(workspace, replace(record, budget=budget.id), budget, "auditor"))
    while (query := strategy(seen)) is not None:
        try:
            answer = seen.table.ask(query)
        except BudgetExceeded:
            break
        seen.ratio += log_ratio(query, answer.raw if answer.raw is not None else _raw(query, answer.value))
        seen.asked += 1
    return seen.ratio, seen.asked


def log_ratio(query: AnyQuery, raw: Figures) -> float:
    """ln(Pr[raw | one] / Pr[raw | other]), from the exact laws."""
    first, second = (query.law(query.need().of(_coded(person))) for person in PERSONS)
    assert first is not None and second is not None
    return float((chance(first, raw) / chance(second, raw)).ln())


def audit_plays(plays: int, strategies: Sequence[str] = tuple(STRATEGIES)) -> list[tuple[str, Evidence]]:
    """Plays of every strategy on each table, and the lower bound on the ε of the whole ledger."""
    bounds = []
    with two_tables() as workspace:
        for name in strategies:
            drawn = [[play(workspace, table, STRATEGIES[name], number) for number in range(plays)] for table in NAMES]
            bounds.append((name, lower_bound(drawn[0], drawn[1], DELTA, FAILURE)))
    return bounds


def _raw(query: AnyQuery, value: Any) -> tuple[int, ...]:
    """The answer as it was drawn: the chosen label's place in the list."""
    column = query.facts.schema.listed(getattr(query, "column", ""))
    return (list(column.labels).index(value),)


def _coded(person: JsonObject) -> list[Row]:
    return [row | {"c": "ab".index(row["c"])} for row in (*REST, person)]


# The exact game

SIZES = (Fraction(1, 50), Fraction(1, 10))
RULE = Rule.make(Fraction(1), DELTA, slack_share=Fraction(1))  # the second clause admits more than the first


def exact_game(sizes: tuple[Fraction, ...] = SIZES) -> tuple[float, int]:
    """The largest worth with the admissions and the meter of a real ledger file; and how many sets it admitted."""
    with in_memory() as folder, closing(Ledger(Path(folder) / "ledger.sqlite")) as ledger:

        def charge(budget: str, counts: Counts) -> None:
            ledger.create_budget(budget, RULE, "private", "auditor", "game")
            for size, many in zip(sizes, counts, strict=True):
                _reserve(ledger, budget, "game", "auditor", size, many, str(size.denominator))

        return _best(ledger, RULE, sizes, charge)


def _best(
    ledger: Ledger, rule: Rule, sizes: tuple[Fraction, ...], charge: Callable[[str, Counts], None]
) -> tuple[float, int]:
    """The value of the best strategy, at the cap or at the meter's reading, whichever is more; and the number of
    different sets of questions that the ledger admitted. `charge` asks a set under a new budget of this name."""

    @cache
    def reading(counts: Counts) -> float | None:
        """The meter after these questions; None if the file refused them."""
        budget = "game-" + "-".join(map(str, counts))
        try:
            charge(budget, counts)
        except BudgetExceeded:
            return None
        return float(spent(rule, ledger.standing(budget).totals))

    game = Game(sizes, lambda counts: reading(counts) is not None)
    at_cap = game.worth(lambda _: float(rule.epsilon))
    return max(at_cap, game.worth(lambda counts: reading(counts) or 0.0)), sum(map(len, game.layers))


def _reserve(ledger: Ledger, budget: str, table: str, actor: str, size: Fraction, many: int, name: str) -> None:
    """Charge `many` questions with ε = `size` at once; nothing if `many` is 0."""
    if many:
        claim, loss = {"key": "count", "digest": budget}, Repeated(Pure(size), many)
        asked: JsonObject = {"request": f"{budget}.{name}", "claim": claim, "loss": loss, "worker": "auditor"}
        ledger.reserve(budget=budget, table=table, actor=actor, **asked)


# The exact game of several people

PEOPLE_RULE = Rule.make(Fraction(1), Fraction(1, 10**6), slack_share=Fraction(1))
PEOPLE_SIZES = (Fraction(1, 10), Fraction(1, 10), Fraction(1, 5))  # of the questions of each of three people
SHARES = (Fraction(3, 5), Fraction(3, 5), Fraction(4, 5))  # which add up to twice the allowance


@dataclass(frozen=True)
class PlayedTogether:
    """The worth of the best strategy, and how many sets of questions the ledger admitted and refused."""

    worth: float
    admitted: int
    refused_by_cap: int
    refused_by_grant: int


def game_of_people(folder: Path) -> PlayedTogether:
    refused = {"budget.exceeded": 0, "people.exceeded": 0}
    people = [_person(place) for place in range(len(PEOPLE_SIZES))]
    owner = _person(len(PEOPLE_SIZES))
    with closing(Ledger(folder / "ledger.sqlite")) as ledger:
        ledger.name_role(_person(len(PEOPLE_SIZES) + 1), ADMINISTRATOR, OPERATOR)
        ledger.name_role(owner, OWNER, OPERATOR)

        def charge(budget: str, counts: Counts) -> None:
            ledger.create_budget(budget, PEOPLE_RULE, "private", owner, budget)
            ledger.hand_over(budget, budget, owner, owner)
            for person, share in zip(people, SHARES, strict=True):
                ledger.grant(budget, budget, person, share, owner)
            try:
                for person, size, many in zip(people, PEOPLE_SIZES, counts, strict=True):
                    _reserve(ledger, budget, budget, person, size, many, person)
            except BudgetExceeded as refusal:
                refused[refusal.code] += 1
                raise

        worth, admitted = _best(ledger, PEOPLE_RULE, PEOPLE_SIZES, charge)
    return PlayedTogether(worth, admitted, refused["budget.exceeded"], refused["people.exceeded"])


def apart(most: Callable[[int], int]) -> float:
    """The worth of the game at the cap if each person had a tally of their own, of at most `most` questions."""
    game = Game(PEOPLE_SIZES, lambda counts: all(many <= most(place) for place, many in enumerate(counts)))
    return game.worth(lambda _: float(PEOPLE_RULE.epsilon))


def _person(place: int) -> str:
    return f"p-{place:032x}"
