"""The noise that is chosen for a person moves the meter no farther, fits as often, and promises at least as much."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpengine.accountant import filter
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian, Pure
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import Query
from dpengine.planning.opening import cheapest, nearest

SCHEMA = Schema({"state": Category([f"s{place}" for place in range(51)])})
RULE = Rule.make(Fraction(1), Fraction(1, 10**6))
NO_DELTA = Rule.make(Fraction(1), Fraction(0))
LONG_AGO = Totals.NOTHING.plus(cost(Pure(Fraction(3, 100)), RULE.alpha))
# Many small questions: the pure sum is used up, the Rényi sum is not.
MANY = Totals(Fraction(99, 100), Fraction(1, 100), Fraction(0))
CLOSED = Totals.NOTHING.plus(cost(Gaussian(Fraction(1, 10**4)), RULE.alpha))


def ask(key: str, epsilon: str, relation: str = "replace", **more: Any) -> Query:
    facts = Facts("t", SCHEMA, Unit.rows(), relation, 10_000)  # type: ignore[arg-type]
    options = [[["state", "in", [f"s{place}"]]] for place in range(10)]
    about: dict[str, Any] = {"options": options} if key == "noisy_argmax" else {"column": "state"}
    return catalogue[key].build(facts, {"epsilon": epsilon} | about | more)


@pytest.mark.every(9)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("totals", [Totals.NOTHING, LONG_AGO, MANY, CLOSED], ids=["new", "used", "many", "closed"])
@pytest.mark.parametrize("key", ["histogram", "top_item", "noisy_argmax"])
@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "2"])
def test_it_costs_no_more_and_promises_no_less(key: str, epsilon: str, totals: Totals, relation: str) -> None:
    usual = ask(key, epsilon, relation)
    found = cheapest(usual, RULE, totals)
    before, after = (cost(one.loss(), RULE.alpha) for one in (usual, found))
    assert found.promise().amount <= usual.promise().amount
    assert filter.share(RULE, totals, after) <= filter.share(RULE, totals, before)
    assert filter.fits(RULE, totals, after) >= filter.fits(RULE, totals, before)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rule", [RULE, NO_DELTA], ids=["delta", "no delta"])
@pytest.mark.parametrize("totals", [Totals.NOTHING, LONG_AGO, MANY], ids=["new", "used", "many"])
@pytest.mark.parametrize("key", ["histogram", "top_item", "noisy_argmax"])
def test_whoever_names_epsilon_keeps_it_and_a_finite_sum(key: str, totals: Totals, rule: Rule, relation: str) -> None:
    usual = ask(key, "0.01", relation)
    found = nearest(usual, rule, totals)
    before, after = (cost(one.loss(), rule.alpha) for one in (usual, found))
    assert found.epsilon == usual.epsilon and after.epsilon is not None
    assert found.expected() <= usual.expected()
    assert filter.share(rule, totals, after) <= filter.share(rule, totals, before)
    assert filter.fits(rule, totals, after) >= filter.fits(rule, totals, before)


def test_the_same_noise_as_on_the_page_where_only_epsilon_counts() -> None:
    schema = Schema({"x": Number(0, 120, missing=0)})
    facts = Facts("t", schema, Unit.rows(), "add_remove", 1_000)
    for key, given, noise in (
        ("mean", {}, "shared"),
        ("variance", {}, "shared"),
        ("median", {"with_range": False}, "permute_and_flip"),
        ("quantile", {"share": ["0.1", "0.5", "0.9"], "with_range": False}, "joint"),
    ):
        usual = catalogue[key].build(facts, {"column": "x", "epsilon": "0.1"} | given)
        assert nearest(usual, NO_DELTA, Totals.NOTHING) == cheapest(usual, NO_DELTA, Totals.NOTHING)
        assert nearest(usual, NO_DELTA, Totals.NOTHING).noise == noise


def test_permute_and_flip_where_the_pure_clause_binds() -> None:
    """Three of 0.3 fit, whatever the noise; of 0.1 nineteen fit, if they are of bounded range."""
    assert cheapest(ask("top_item", "0.3"), RULE, Totals.NOTHING).noise == "permute_and_flip"
    assert cheapest(ask("top_item", "0.1"), RULE, Totals.NOTHING).noise == ""
    assert cheapest(ask("top_item", "0.1"), NO_DELTA, Totals.NOTHING).noise == "permute_and_flip"


def test_the_largest_of_ten_groups_is_nearer_by_whichever_way_takes_less_now() -> None:
    """After a Gaussian answer only Rényi loss counts."""
    usual = ask("noisy_argmax", "1")
    assert usual.promise().amount == 10
    assert cheapest(usual, RULE, Totals.NOTHING).promise().amount == 8
    assert cheapest(ask("noisy_argmax", "0.1"), RULE, CLOSED).noise == ""


def test_gaussian_wherever_it_promises_more_for_the_same_share() -> None:
    for totals in (Totals.NOTHING, CLOSED):
        usual = ask("histogram", "0.05")
        found = cheapest(usual, RULE, totals)
        assert found.noise == "gaussian" and found.promise().amount < usual.promise().amount * 8 / 10
    assert cheapest(ask("histogram", "0.1"), NO_DELTA, Totals.NOTHING).noise == ""


def test_where_the_usual_noise_fits_no_more_another_that_promises_as_much_is_taken() -> None:
    usual = ask("histogram", "0.3")
    late = Totals(None, (RULE.epsilon - (RULE.c or 0)) * Fraction(9, 10), Fraction(0))
    assert not filter.fits(RULE, late, cost(usual.loss(), RULE.alpha))
    found = cheapest(usual, RULE, Totals(None, (RULE.epsilon - (RULE.c or 0)) / 2, Fraction(0)))
    assert found.noise == "gaussian" and found.promise().amount <= usual.promise().amount
    assert cheapest(usual, RULE, late) == usual, "none fits: the usual one is refused with its price"


def test_what_was_chosen_is_asked_and_kept() -> None:
    """The noise is part of the claim, and not of the question's name."""
    usual, flip = ask("top_item", "0.3"), ask("top_item", "0.3", noise="permute_and_flip")
    assert flip.parameters()["noise"] == "permute_and_flip" and "noise" not in usual.parameters()
    assert flip.digest() == usual.digest()
    assert flip.theorem != usual.theorem


def test_what_is_no_more_is_what_two_prices_and_two_numbers_of_questions_say() -> None:
    """By trying: under each rule, near each end, a cost counts as no more exactly if the meter moves no further and as
    many fit. A bound that forgot how often it fits, or one of the clauses, would be seen."""
    steps = [Fraction(0), Fraction(1, 100), Fraction(1, 3)]
    costs = [Cost(*amounts) for amounts in product([None, *steps], steps, [Fraction(0), Fraction(1, 10**8)])]
    whole = [Totals(*amounts) for amounts in product([None, *steps[:2], Fraction(98, 100)], steps[:2], [Fraction(0)])]
    found = set()
    for rule, totals, paid in product((RULE, NO_DELTA), whole, costs):
        many = filter.fits(rule, totals, paid)
        no_more = filter.no_more(rule, totals, paid)
        assert (no_more is None) == (many == 0)
        if no_more is None:
            continue
        price = filter.share(rule, totals, paid)
        for other in costs:
            moved = rule.c is None and (totals.epsilon is None or other.epsilon is None)  # the meter has no reading
            less = not moved and filter.share(rule, totals, other) <= price
            often = filter.fits(rule, totals, other) >= many
            assert no_more(other) == (less and often), (rule, totals, paid, other)
            found.add((less, often))
    assert len(found) == 4  # else a comparison shows nothing
