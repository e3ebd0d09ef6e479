"""The noise that is chosen for a person moves the meter no farther, fits as often, and promises at least as much."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian, Pure
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import Query
from dpengine.planning.best_noise import cheapest, closing

SCHEMA = Schema({"state": Category([f"s{place}" for place in range(51)])})
RULE = Rule.make(Fraction(1), Fraction(1, 10**6))
NO_DELTA = Rule.make(Fraction(1), Fraction(0))
LONG_AGO = Totals.NOTHING.plus(cost(Pure(Fraction(3, 100)), RULE.alpha))
# Many small questions: the pure sum is used up, the Rényi sum is not.
MANY = Totals(Fraction(99, 100), Fraction(1, 100), Fraction(0))
CLOSED = Totals.NOTHING.plus(cost(Gaussian(Fraction(1, 10**4)), RULE.alpha))


def ask(key: str, epsilon: str, relation: str = "replace", **more: Any) -> Query:
    facts = Facts("t", SCHEMA, Unit.rows(), relation, 10_000)  # type: ignore[arg-type]
    return catalogue[key].build(facts, {"column": "state", "epsilon": epsilon} | more)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("totals", [Totals.NOTHING, LONG_AGO, MANY, CLOSED], ids=["new", "used", "many", "closed"])
@pytest.mark.parametrize("key", ["histogram", "top_item"])
@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "2"])
def test_it_costs_no_more_and_promises_no_less(key: str, epsilon: str, totals: Totals, relation: str) -> None:
    usual = ask(key, epsilon, relation)
    found = cheapest(usual, RULE, totals)
    before, after = (cost(one.loss(), RULE.alpha) for one in (usual, found))
    assert found.promise().amount <= usual.promise().amount
    assert filter.price(RULE, totals, after) <= filter.price(RULE, totals, before)
    assert filter.fits(RULE, totals, after) >= filter.fits(RULE, totals, before)


def test_permute_and_flip_where_the_pure_clause_binds() -> None:
    """Three of 0.3 fit, whatever the noise; of 0.1 nineteen fit, if they are of bounded range."""
    assert cheapest(ask("top_item", "0.3"), RULE, Totals.NOTHING).noise == "permute_and_flip"
    assert cheapest(ask("top_item", "0.1"), RULE, Totals.NOTHING).noise == ""
    assert cheapest(ask("top_item", "0.1"), NO_DELTA, Totals.NOTHING).noise == "permute_and_flip"


def test_gaussian_only_where_the_pure_clause_is_lost_already() -> None:
    assert cheapest(ask("histogram", "0.1"), RULE, Totals.NOTHING).noise == ""
    usual = ask("histogram", "0.1")
    found = cheapest(usual, RULE, CLOSED)
    assert found.noise == "gaussian" and found.promise().amount < usual.promise().amount * 6 / 10
    assert cheapest(ask("histogram", "0.1"), NO_DELTA, Totals.NOTHING).noise == ""


def test_closing_the_pure_clause_is_offered_not_done() -> None:
    usual = ask("histogram", "0.05")
    offer = closing(usual, RULE, Totals.NOTHING)
    assert offer is not None and offer.noise == "gaussian"
    told = cost(offer.loss(), RULE.alpha)
    assert told.epsilon is None
    assert filter.fits(RULE, Totals.NOTHING, told) >= filter.fits(RULE, Totals.NOTHING, cost(usual.loss(), RULE.alpha))
    assert closing(usual, RULE, CLOSED) is None
    assert closing(usual, NO_DELTA, Totals.NOTHING) is None
    assert closing(ask("top_item", "0.1"), RULE, Totals.NOTHING) is None


def test_what_was_chosen_is_asked_and_kept() -> None:
    """The noise is part of the claim, and not of the question's name."""
    usual, flip = ask("top_item", "0.3"), ask("top_item", "0.3", noise="permute_and_flip")
    assert flip.parameters()["noise"] == "permute_and_flip" and "noise" not in usual.parameters()
    assert flip.digest() == usual.digest()
    assert flip.theorem != usual.theorem
