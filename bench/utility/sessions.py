"""A hundred shares asked one after another for a whole allowance of (1, 10⁻⁶): the mean error of an answer, in
percentage points.

One column  shares of one column, a session alone. Before: Laplace noise, at what the same rule admits.
Few columns shares over six columns of the two made-up tables of `bench.synthetic_people`: in turns of one, two and
            three columns, each with some of its values, so that one share has nothing to do with the next. Ours: a
            session over listed columns, a first look at them and FRESH questions for what it leaves in doubt
            (`Session.answer`). Before: the session alone. AIM: our reading of the paper (`bench.synthetic_peers`), all
            of the allowance for its table, answered from its fit: nothing is promised of its answers.
OpenDP      `make_gaussian` on each count, at what the rule admits of ρ-zCDP: a hundredth for each.
Rounding    is left out: a session that is the first release from a table also rounds, for the population's sake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from opendp import measurements as m
from opendp.domains import atom_domain, vector_domain
from opendp.metrics import l2_distance

import dpengine as dp
from bench.accuracy import REPLACE, again, line
from bench.synthetic_peers import Marginal, World, aim
from bench.synthetic_people import TABLES, codes_and_sizes
from bench.synthetic_tables import facts_of
from bench.tasks import SEED
from bench.utility.columns import every
from bench.utility.frame import BEFORE, COINS, OURS
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.history import Past
from dpengine.asking.sessions import BEST, fitted
from dpengine.declared.facts import Facts
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.session.asks import read_ask
from dpengine.planning.listed_columns import over_columns
from dpengine.released.look import Look
from dpengine.released.look_answers import known

ANSWERS = 100
RULE = Rule.make(Fraction(1), Fraction(1, 10**6))
GUARANTEE = "ε = 1, δ = 1e-6"


FRESH, RUNS = 10, 10  # questions; AIM runs, and one of ours for every so many draws of a session alone
Share = dict[str, list[int]]  # by column, the codes that are meant


def rows(draws: int) -> Iterator[dict[str, Any]]:
    yield from _few_columns(max(draws // 4, 2))
    for table in every():
        facts = Facts("bench", dp.Schema({"x": table.column}), dp.Unit.rows(), "replace", table.rows)
        case = f"{ANSWERS} shares of {table.title}"
        ends = np.quantile(table.codes, np.linspace(0.01, 0.99, ANSWERS)).astype(np.int64)
        counts = [int((table.codes <= end).sum()) for end in ends]
        for who, kind in ((OURS, BEST), (BEFORE, "laplace")):
            session = fitted(facts, ANSWERS, kind, Fraction(1), RULE, Totals.NOTHING)
            yield line(case, REPLACE, GUARANTEE, who, again(draws, _ours(session, counts, table.rows)))
        yield line(case, REPLACE, GUARANTEE, "OpenDP", again(draws, _their(counts, table.rows)))


def _ours(session: AdaptiveSession, counts: list[int], people: int) -> Callable[[], float]:
    """All answers in one call, which is the same law: every count is changed by one person by one at most."""
    scale = 1 / session.each
    if session.calibration == "gaussian":
        return lambda: _off(COINS.gaussian(counts, scale**2), counts, people)
    return lambda: _off(COINS.laplace(counts, scale), counts, people)


def _off(told: list[int], counts: list[int], people: int) -> float:
    return float(np.mean(np.abs(np.clip(told, 0, people) - counts))) * 100 / people


def _their(counts: list[int], people: int) -> Callable[[], float]:
    rho = _rho() / ANSWERS
    noisy = m.make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=(2 * rho) ** -0.5)
    return lambda: _off(noisy(counts), counts, people)


def _few_columns(draws: int) -> Iterator[dict[str, Any]]:
    for name in TABLES:
        codes, sizes = codes_and_sizes(name, 6)
        world = World(codes, sizes, True, SEED)
        facts: Facts = facts_of(world, "replace")
        asks = _shares(sizes)
        truth = np.array([_share(codes, np.ones(world.people), ask) for ask in asks])
        case = f"{ANSWERS} shares over 6 columns: {name}, {world.people:,} people"
        look, session = over_columns(
            facts, list(facts.schema.columns), FRESH, Fraction(1), RULE, Totals.NOTHING, Past.NOTHING
        )
        value = [world.truth(part).astype(np.int64).ravel().tolist() for part in look.largest]
        read = [read_ask({"share": [[column, "in", [f"v{at}" for at in held]] for column, held in ask.items()]}, facts)
                for ask in asks]  # fmt: skip
        promised = session.asking(read[0].as_json()).promise().amount
        found, used = [], []
        for _ in range(draws):
            told, fresh = _over(Look(look, look.draw(value, COINS)), session, read, truth, facts, promised)
            found.append(float(np.mean(np.abs(told - truth))))
            used.append(fresh)
        note = f"{draws} draws of ours, {RUNS} of AIM; {np.mean(used):.0f} of {FRESH} questions used"
        yield line(case, REPLACE, GUARANTEE, OURS, found, note=note)
        counts = [round(share * world.people / 100) for share in truth]
        alone = fitted(facts, ANSWERS, BEST, Fraction(1), RULE, Totals.NOTHING)
        yield line(case, REPLACE, GUARANTEE, BEFORE, again(draws, _ours(alone, counts, world.people)))
        yield line(case, REPLACE, GUARANTEE, "OpenDP", again(draws, _their(counts, world.people)))
        runs = []
        for run in range(RUNS):
            fit = aim(World(codes, sizes, True, SEED + run), _rho())
            told = np.array([_of_marginal(fit, ask) for ask in asks])
            runs.append(float(np.mean(np.abs(told - truth))))
        yield line(case, REPLACE, GUARANTEE, "AIM, our reading", runs)


def _shares(sizes: tuple[int, ...]) -> list[Share]:
    random, asks = np.random.default_rng(SEED), []
    for place in range(ANSWERS):
        ask = {}
        for column in sorted(random.choice(len(sizes), size=1 + place % 3, replace=False).tolist()):
            many = random.integers(1, max(sizes[column] // 2, 1) + 1)
            ask[f"c{column}"] = sorted(random.choice(sizes[column], size=many, replace=False).tolist())
        asks.append(ask)
    return asks


def _share(codes: Any, weights: Any, ask: Share) -> float:
    met = np.ones(len(weights), dtype=bool)
    for column, held in ask.items():
        met &= np.isin(codes[int(column[1:])], held)
    return float(100 * weights[met].sum() / weights.sum())


def _of_marginal(fit: Marginal, ask: Share) -> float:
    places = tuple(int(column[1:]) for column in ask)
    return float(100 * fit(places)[np.ix_(*ask.values())].sum())


def _over(
    look: Look, session: AdaptiveSession, asks: list[Any], truth: Any, facts: Facts, promised: Fraction
) -> tuple[Any, int]:
    """All answers, and how many questions they took. `Session.answer` decides in the same way."""
    told, left = [], FRESH
    variance = 1 / session.each**2
    for ask, share in zip(asks, truth, strict=True):
        free = known(look, ask, facts)
        assert free is not None and session.calibration == "gaussian"
        if not left or not free.doubtful(promised):
            told.append(free.value)
            continue
        left -= 1
        count = round(share * facts.about / 100)
        told.append(100 * COINS.gaussian([count], variance)[0] / facts.about)
    return np.array(told), FRESH - left


def _rho() -> float:
    assert RULE.alpha is not None and RULE.c is not None
    return float((RULE.epsilon - RULE.c) / RULE.alpha)
