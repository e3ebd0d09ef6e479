"""A session over listed columns: one first look at them, two and three at a time, then fresh questions for what it
leaves in doubt.

Guarantee   that of its two charges, which the budget's filter admits together or not at all (accountant/filter.py): the
            look's (mechanisms/marginals/overview.py) and the session's (mechanisms/session/adaptive_session.py).
Free        what the look answers is post-processing of what it released, and so is the choice between its answer and
            a fresh one (`Session.answer`): it compares the look's range with the public width of a fresh one.
Accuracy    two claims, each but for β. All ranges read off the look hold at once (`released.look_answers`), also for
            questions chosen after seeing it. All fresh answers are within the session's α at once.
Population  the look is an earlier charge about the same people, so every claim of the session about the population
            counts it (`population.session_validity`: *history* or *counted*). What is read off the look has no claim
            about the population.
Shares      the look takes LOOK of the price, the session the rest; without threes where they have too many cells.
            Measured on a hundred shares of six columns, ε 1: `python -m bench.utility sessions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.history import Past
from dpengine.asking.sessions import BEST, fitted
from dpengine.core.errors import AllowanceError
from dpengine.core.remembered import remembered
from dpengine.core.types import Json, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import EVEN, EVERY_PAIR
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.planning.opening import at_share

LOOK = Fraction(9, 10)  # of the price


def over_columns(
    facts: Facts, columns: Sequence[str], questions: Json, share: Fraction, rule: Rule, totals: Totals, past: Past
) -> tuple[Overview, AdaptiveSession]:
    """The look and the session that together move the meter by at most `share`."""
    return _over(facts, tuple(columns), questions, share, rule, totals, past)


@remembered(256)
def _over(
    facts: Facts, columns: tuple[str, ...], questions: Json, share: Fraction, rule: Rule, totals: Totals, past: Past
) -> tuple[Overview, AdaptiveSession]:
    if len(columns) < 2:
        raise AllowanceError("session.columns")
    look = at_share(_look(facts, columns), share * LOOK, rule, totals)
    if rule.c is None or not isinstance(look, Overview):
        raise AllowanceError("session.columns_small")
    paid = cost(look.loss(), rule.alpha)
    left = share - filter.share(rule, totals, paid)
    session = fitted(facts, questions, BEST, left, rule, totals.plus(paid), past.plus(look.loss()))
    return look, session


def _look(facts: Facts, columns: tuple[str, ...]) -> AnyQuery:
    given: JsonObject = {"columns": list(columns), "against": EVERY_PAIR, "spread": EVEN, "epsilon": "1"}
    try:
        return catalogue[Overview.card.key].build(facts, given | {"three": len(columns) > 2})
    except AllowanceError:  # too many cells
        return catalogue[Overview.card.key].build(facts, given)
