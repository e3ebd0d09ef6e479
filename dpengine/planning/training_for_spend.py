"""The training with the least noise that an amount buys, under the budget's own rule."""

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
from dpengine.mechanisms.models.excess import COORDINATE
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.mechanisms.query import AnyQuery

_GRAIN = 10**6  # ε is tried in millionths


def trained(
    make: Callable[..., AnyQuery], key: str, given: JsonObject, share: Fraction, rule: Rule, totals: Totals
) -> AnyQuery:
    """With default steps and rate for about the ε that was found."""

    fixed: JsonObject = {}

    def at(millionths: int) -> AnyQuery:
        return make(key, **given | fixed | {"epsilon": text_of(Fraction(millionths, _GRAIN))})

    least = int(LEAST_EPSILON * _GRAIN)
    usual = at(least)
    if not isinstance(usual, OfGradients):
        raise AllowanceError("query.unknown", key=key[:60], keys=["train_linear", "train_logistic"])
    if usual.calibration != COORDINATE and rule.c is None:
        raise AllowanceError("train.no_delta")

    def allowed(millionths: int) -> bool:
        paid = cost(at(millionths).loss(), rule.alpha)
        return filter.affords(rule, totals, paid, share)

    if not allowed(least):
        raise AllowanceError("train.no_room")
    most = int(MOST_EPSILON * _GRAIN)
    found = at(largest(allowed, least, most))
    assert isinstance(found, OfGradients)
    fixed["steps"] = found.steps  # the default grows with ε, and what pure parts cost grows with it in jumps
    return at(largest(allowed, least, most))
