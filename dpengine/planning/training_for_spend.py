"""The training with the least noise for a given share of the allowance, under the budget's own rule."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.how_many_fit import largest
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.json_types import JsonObject
from dpengine.mechanisms import asked_on, catalogue
from dpengine.mechanisms.models.excess import COORDINATE
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.mechanisms.query import AnyQuery

_GRAIN = 10**6  # ε is tried in millionths


def trainings() -> tuple[str, ...]:
    """The questions that train a model."""
    return tuple(key for key in asked_on("train") if issubclass(catalogue[key], OfGradients))


def trained(
    make: Callable[..., AnyQuery], key: str, given: JsonObject, share: Fraction, rule: Rule, totals: Totals
) -> AnyQuery:
    """The training at the largest ε that fits, with default steps and rate for about that ε."""

    fixed: JsonObject = {}

    def at(millionths: int) -> AnyQuery:
        return make(key, **given | fixed | {"epsilon": text_of(Fraction(millionths, _GRAIN))})

    least = int(LEAST_EPSILON * _GRAIN)
    usual = at(least)
    if not isinstance(usual, OfGradients):
        raise AllowanceError("query.unknown", key=key[:60], keys=list(trainings()))
    if usual.calibration != COORDINATE and rule.c is None:
        raise AllowanceError("train.no_delta")

    def allowed(millionths: int) -> bool:
        paid = cost(at(millionths).loss(), rule.alpha)
        return filter.affords(rule, totals, paid, share)

    if not allowed(least):
        raise AllowanceError("train.no_room")
    most = int(MOST_EPSILON * _GRAIN)
    query = at(largest(allowed, least, most))
    assert isinstance(query, OfGradients)
    fixed["steps"] = query.steps  # the default number of steps grows with ε, and the cost of pure parts jumps with it
    return at(largest(allowed, least, most))
