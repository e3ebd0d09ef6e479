"""A hundred shares asked one after another for a whole allowance of (1, 10⁻⁶): the mean error of an answer, in
percentage points.

Before      Laplace noise, at what the same rule admits.
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
from bench.utility.columns import every
from bench.utility.frame import BEFORE, COINS, OURS
from dpengine.accountant.filter import Rule, Totals
from dpengine.asking.sessions import BEST, fitted
from dpengine.declared.facts import Facts
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession

ANSWERS = 100
RULE = Rule.make(Fraction(1), Fraction(1, 10**6))
GUARANTEE = "ε = 1, δ = 1e-6"


def rows(draws: int) -> Iterator[dict[str, Any]]:
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
    assert RULE.alpha is not None and RULE.c is not None
    rho = float((RULE.epsilon - RULE.c) / RULE.alpha) / ANSWERS
    noisy = m.make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=(2 * rho) ** -0.5)
    return lambda: _off(noisy(counts), counts, people)
