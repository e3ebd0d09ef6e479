"""Yes or no from nine columns: of 10,000 other people, the share that a model guesses right, and the area under its ROC
curve (how often it ranks a yes above a no); more is better.

A look-alike of a census, not one: the made-up people of `bench.census`, and a gain of which 92 of 100 have none; a
large one nearly decides. (Another table, on which nothing was tuned: `python -m bench.models fresh`.) The whole of a
fresh allowance (ε, 10⁻⁶) is spent. Rows are read from arrays and noise is drawn as in `bench.training`.

Ours          what the Train page takes: a first look at all pairs, and the model that is read off it.
Before        logistic regression in steps that follow the shape of the data (`train_logistic`).
diffprivlib   keeps (ε, 0) by objective perturbation, on rows scaled alike; with the C that does best on the very people
              it is judged on (so no worse than it would be).
DP-EBM        interpret's boosted shapes, (ε, 10⁻⁶), default settings and the public ranges; `max_bins` and rounds as it
              comes. Its neighbours differ in one row more or less, which is the easier relation.
Without       privacy, logistic on the same bins and on the scaled rows, and always the more frequent answer: in the
              note.

The peers need `python3 -m venv build/models-venv && build/models-venv/bin/pip install -r bench/requirements-models.in`;
rows without them say so.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpengine as dp
from bench.accuracy import MORE, REPLACE, line
from bench.census import LISTS, NUMBERS, Columns, accuracy, census
from bench.tasks import BUILD, ROOT, SEED
from bench.training import Quick, checked, coded, schema, weights_of
from bench.utility.columns import gains
from bench.utility.frame import BEFORE, OURS
from bench.utility.roc import area
from dpengine.accountant.filter import Rule, Totals
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.planning import training
from dpengine.planning.opening import at_share
from dpengine.planning.training import trained
from dpengine.released.look import Look
from dpengine.released.shapes import Shapes
from dpengine.statistics.features import ROW_BITS
from dpengine.statistics.view import flag_name

PEERS = ROOT / "build" / "models-venv" / "bin" / "python"
MOST_GAIN, LARGE = 99_999, 6_000
TESTED = 10_000
SPENDS = (0.3, 1.0, 3.0)
SLOW = 10


@dataclass(frozen=True)
class Sort:
    """A kind of table: what is known of its people, in public; `owner` is what is guessed, 0 for yes."""

    made: Callable[[int, int], Columns]
    numbers: dict[str, tuple[int, int]]
    lists: dict[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        return (*(name for name in self.numbers if name != "gain"), *self.lists, *(["gain"] * ("gain" in self.numbers)))

    def facts(self, people: int) -> Facts:
        columns: dict[str, Any] = {
            name: dp.Number(low, high, missing=low) for name, (low, high) in self.numbers.items()
        }
        for name, size in self.lists.items():
            labels = [str(one) for one in range(size)]
            columns[name] = dp.Category(labels, unknown=labels[-1], missing=labels[-1])
        columns |= {name: column for name, column in schema().columns.items() if name in ("pay", "owner")}
        return Facts("bench", dp.Schema(columns), dp.Unit.rows(), "replace", people)


Told = dict[str, list[float]]  # "right" and "area" of every run


def rows(draws: int) -> Iterator[dict[str, Any]]:
    other = people_like(TESTED, SEED + 1)
    for people in (3_000, 30_000):
        table, often = people_like(people, SEED), max(SLOW, draws // 10)
        theirs = peers(table, other)
        bare = without(table, other)
        for epsilon in SPENDS:
            told = {OURS: ours(table, other, epsilon, often), BEFORE: before(table, other, epsilon)}
            for who, found in theirs.items():
                spend, name = who.split(" ", 1)
                if float(spend) == epsilon:
                    told[name] = found
            for figure, what in (("right", "share guessed right"), ("area", "area under the ROC curve")):
                case, guarantee = f"{what}, {people:,} people", f"(ε, δ) = ({epsilon:g}, 10⁻⁶)"
                for who, found in told.items():
                    note = f"{often} models, {SLOW} of the others; {bare[figure]}" if who == OURS else ""
                    yield line(case, REPLACE, guarantee, who, found[figure], better=MORE, note=note)


# Ours


def rule_of(epsilon: float) -> Rule:
    return Rule.make(Fraction(str(epsilon)), Fraction(1, 10**6))


def people_like(people: int, seed: int) -> Columns:
    random = np.random.default_rng(seed + 7)
    table = census(people, seed)
    gain = np.minimum(gains(random, people), MOST_GAIN)
    decided = (gain > LARGE) & (random.random(people) < 0.9)
    return table | {"gain": gain, "owner": np.where(decided, 0, table["owner"])}


CENSUS = Sort(people_like, NUMBERS | {"gain": (0, MOST_GAIN)}, LISTS)
NAMES = CENSUS.names


def bought(people: int, epsilon: float, target: str = "owner", sort: Sort = CENSUS, **given: Any) -> Overview:
    """The first look that spends a whole fresh allowance of (ε, δ)."""
    facts = sort.facts(people)
    wanted = training.look_for_model(facts.schema, target, sort.names) | given
    found = at_share(
        dp.catalogue["overview"].build(facts, wanted | {"epsilon": "1"}), Fraction(1), rule_of(epsilon), Totals.NOTHING
    )
    assert isinstance(found, Overview)
    return found


def stored(table: Columns) -> Columns:
    """Codes, as the need reads them, and no cell that does not fit."""
    codes = coded(table)
    return codes | {flag_name(name): np.zeros(len(table["owner"]), dtype=np.int64) for name in codes}


def looks(query: Overview, table: Columns, often: int) -> Iterator[Look]:
    need: Any = query.need()
    value = need.summed(need.added([stored(table)], {name: name for name in table}))
    for _ in range(often):
        yield Look(query, query.draw(value, Quick()))  # type: ignore[arg-type]


def predicted(model: Shapes, other: Columns) -> Any:
    query, held = model.look.query, stored(other)
    said = np.full(len(other["owner"]), model.average)
    for at, place in enumerate(model.places):
        effects = model.fit.effects[model.moments.block(at)]
        said = said + effects[query.axes[place].cells(held, {name: name for name in other})]
    return said


def ours(table: Columns, other: Columns, epsilon: float, often: int, sort: Sort = CENSUS, **given: Any) -> Told:
    told: Told = {"right": [], "area": []}
    for look in looks(bought(len(table["owner"]), epsilon, sort=sort, **given), table, often):
        said = predicted(Shapes(look, "owner", ["yes"]), other)
        told["right"].append(accuracy(said - 0.5, other))
        told["area"].append(area(said, other["owner"] == 0))
    return told


def before(table: Columns, other: Columns, epsilon: float, sort: Sort = CENSUS) -> Told:
    """Training in steps, with default settings."""
    rule, facts = rule_of(epsilon), sort.facts(len(table["owner"]))

    def make(key: str, **rest: Any) -> Any:
        return dp.catalogue[key].build(facts, rest)

    given = {"target": "owner", "features": list(sort.names)}
    query = trained(make, "train_logistic", given, Fraction(1), rule, Totals.NOTHING)
    read, there = checked(query, coded(table)), checked(query, coded(other)).rows / 2**ROW_BITS
    told: Told = {"right": [], "area": []}
    for _ in range(SLOW):
        said = there @ weights_of(query, read)
        told["right"].append(accuracy(said, other))
        told["area"].append(area(said, other["owner"] == 0))
    return told


# The others


def peers(table: Columns, other: Columns, sort: Sort = CENSUS) -> dict[str, Told]:
    """What the other tools guess right in each run, by ε and tool; nothing where they are not installed."""
    if not PEERS.exists():
        return {}
    path = BUILD / "utility-models.npz"
    BUILD.mkdir(parents=True, exist_ok=True)
    own, there = (np.column_stack([one[name] for name in sort.names]) for one in (table, other))
    scaled = [_scaled(one, sort) for one in (table, other)]
    answers = [(one["owner"] == 0).astype(int) for one in (table, other)]
    np.savez(path, rows=scaled[0], there=scaled[1], bare=own, others=there, own=answers[0], owns=answers[1])
    ends = [sort.numbers.get(name) for name in sort.names]
    command = [str(PEERS), "-m", "bench.utility.models_peer", str(path), json.dumps(ends), str(SLOW), *map(str, SPENDS)]
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # small matrices: threads cost more
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True, env=alone)
    found: dict[str, Told] = json.loads(done.stdout.splitlines()[-1])
    return found


def _scaled(table: Columns, sort: Sort) -> Any:
    """Rows in the unit ball, by the public ranges."""
    parts = [np.ones((len(table["owner"]), 1))]
    for name in sort.names:
        if name in sort.lists:
            parts.append((table[name][:, None] == np.arange(sort.lists[name])).astype(float))
        else:
            low, high = sort.numbers[name]
            parts.append((2 * (table[name] - low) / (high - low) - 1)[:, None])
    return np.hstack(parts) / math.sqrt(len(sort.names) + 1)


def without(table: Columns, other: Columns, sort: Sort = CENSUS) -> dict[str, str]:
    """Logistic regression without privacy, on rows that are scaled and on bins."""
    query, yes = bought(len(table["owner"]), 1.0, sort=sort), other["owner"] == 0
    told: dict[str, list[float]] = {"right": [], "area": []}
    ways: tuple[Callable[[Columns], Any], ...] = (lambda one: _scaled(one, sort), lambda one: _binned(query, one))
    for made in ways:
        said = made(other) @ _newton(made(table), (table["owner"] == 0).astype(float))
        told["right"].append(accuracy(said, other))
        told["area"].append(area(said, yes))
    blank = accuracy(np.full(TESTED, (table["owner"] == 0).mean() - 0.5), other)
    words = {name: f"no privacy {bins:.4f} on bins, {line:.4f} on lines" for name, (line, bins) in told.items()}
    return {"right": f"{words['right']}; always the same {blank:.4f}", "area": words["area"]}


def _binned(query: Overview, table: Columns) -> Any:
    held, names = stored(table), {name: name for name in table}
    parts = [axis.cells(held, names)[:, None] == np.arange(axis.size) for axis in query.axes[:-1]]
    return np.hstack([np.ones((len(table["owner"]), 1)), *parts]).astype(float)


def _newton(x: Any, own: Any) -> Any:
    w = np.zeros(x.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(x @ w, -40, 40)))
        hessian = (x * (chance * (1 - chance))[:, None]).T @ x + 1e-3 * np.eye(len(w))
        w -= np.linalg.solve(hessian, x.T @ (chance - own) + 1e-3 * w)
    return w
