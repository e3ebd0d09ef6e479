"""Yes or no from nine columns: the share of 10,000 other people that a logistic model guesses right; more is better.

A look-alike of a census, not one: the made-up people of `bench.census`, and a gain of which 92 of 100 have none; a
large one nearly decides. The whole of a fresh allowance (ε, 10⁻⁶) is spent on the training. Gradients are read from
arrays and noise is drawn as in `bench.training`.

Times         the large table is trained a quarter as often, what takes seconds each SLOW times: its standard error is
              a few parts in ten thousand. How often stands in the note.
Before        steps in a ball of weights, hundreds of them.
diffprivlib   keeps (ε, 0) by objective perturbation, on the same rows; with the C that does best on the very people it
              is judged on (so no worse than it would be).
Without       privacy, by Newton's method, and always the more frequent answer: in the note.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import dpengine as dp
from bench.accuracy import MORE, REPLACE, again, line
from bench.census import LISTS, NUMBERS, Columns, accuracy, census
from bench.tasks import BUILD, ROOT, SEED
from bench.training import PEERS, checked, coded, schema, weights_of
from bench.utility.columns import gains
from bench.utility.frame import BEFORE, OURS
from dpengine.accountant.filter import Rule, Totals
from dpengine.declared.facts import Facts
from dpengine.planning.training_for_spend import trained
from dpengine.statistics.features import ROW_BITS

NAMES = (*NUMBERS, *LISTS, "gain")
MOST_GAIN, LARGE = 99_999, 6_000
TESTED = 10_000
SPENDS = (0.3, 1.0, 3.0)
SLOW = 20


def rows(draws: int) -> Iterator[dict[str, Any]]:
    other = people_like(TESTED, SEED + 1)
    for people in (3_000, 30_000):
        table, small = people_like(people, SEED), people == 3_000
        times, slow = draws if small else -(-draws // 4), min(draws, SLOW)
        theirs = _peers(table, other, slow)
        for epsilon in SPENDS:
            case, guarantee = f"share guessed right, {people:,} people", f"(ε, δ) = ({epsilon:g}, 10⁻⁶)"
            for who, given, often in ((OURS, {}, times), (BEFORE, {"region": "ball"}, slow)):
                query = _question(people, epsilon, **given)
                read, there = checked(query, coded(table)), checked(query, coded(other)).rows / 2**ROW_BITS
                right = again(often, lambda q=query, r=read, x=there: accuracy(x @ weights_of(q, r), other))
                note = (
                    f"{times} trainings, {slow} of the others; {_without(read.rows / 2**ROW_BITS, table, there, other)}"
                )
                yield line(case, REPLACE, guarantee, who, right, better=MORE, note=note if who == OURS else "")
            for key, rights in theirs.items():
                spend, strength = key.split()
                if float(spend) == epsilon:
                    yield line(case, REPLACE, guarantee, f"diffprivlib, C = {strength}", rights, better=MORE)


def _peers(table: Columns, other: Columns, runs: int) -> dict[str, list[float]]:
    """What diffprivlib guesses right in each run, by ε and C; nothing where `make bench` has not installed it."""
    if not PEERS.exists():
        return {}
    query = _question(len(table["owner"]), 1.0)
    scaled = [checked(query, coded(one)).rows / 2**ROW_BITS for one in (table, other)]
    answers = [one["owner"] == 0 for one in (table, other)]
    path = BUILD / "utility-models.npz"
    BUILD.mkdir(parents=True, exist_ok=True)
    np.savez(path, rows=scaled[0], own=answers[0].astype(int), there=scaled[1], owns=answers[1])
    command = [str(PEERS), "-m", "bench.utility.models_peer", str(path), str(runs), *map(str, SPENDS)]
    told: dict[str, list[float]] = json.loads(
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    )
    return told


def people_like(people: int, seed: int) -> Columns:
    random = np.random.default_rng(seed + 7)
    table = census(people, seed)
    gain = np.minimum(gains(random, people), MOST_GAIN)
    decided = (gain > LARGE) & (random.random(people) < 0.9)
    return table | {"gain": gain, "owner": np.where(decided, 0, table["owner"])}


def _question(people: int, epsilon: float, **given: str) -> Any:
    """The training with default settings that spends a whole fresh allowance of (ε, δ)."""
    columns = {**schema().columns, "gain": dp.Number(0, MOST_GAIN, missing=0)}
    facts = Facts("census", dp.Schema(columns), dp.Unit.rows(), "replace", people)
    rule = Rule.make(Fraction(str(epsilon)), Fraction(1, 10**6))

    def make(key: str, **rest: Any) -> Any:
        return dp.catalogue[key].build(facts, rest)

    asked = {"target": "owner", "features": list(NAMES), **given}
    return trained(make, "train_logistic", asked, rule.epsilon, rule, Totals.NOTHING)


def _without(x: Any, table: Columns, there: Any, other: Columns) -> str:
    own, w = (table["owner"] == 0).astype(float), np.zeros(x.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-(x @ w)))
        hessian = (x * (chance * (1 - chance))[:, None]).T @ x + 1e-6 * np.eye(len(w))
        w -= np.linalg.solve(hessian, x.T @ (chance - own))
    blank = accuracy(np.full(TESTED, own.mean() - 0.5), other)
    return f"no privacy {accuracy(there @ w, other):.4f}; always the same {blank:.4f}"
