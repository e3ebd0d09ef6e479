"""The k most common as a set, in one draw."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb, exp
from typing import Any

import numpy as np
import pytest
from battery import FALSE_ALARM, _tail, allowed_failures

import dpengine as dp
from dpengine.accountant.filter import Rule, Totals
from dpengine.declared.facts import Facts
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms.choices import top_item
from dpengine.mechanisms.choices.top_item import TopItem
from dpengine.noise.coins import SystemCoins
from dpengine.planning.opening import cheapest

COINS = SystemCoins()


def ask(values: int, named: int, relation: str = "replace", people: int = 1_000, **given: Any) -> TopItem:
    names = [f"v{place}" for place in range(values)]
    facts = Facts("t", dp.Schema({"c": dp.Category(names, names[0], names[0])}), dp.Unit.rows(), relation, people)  # type: ignore[arg-type]
    made = dp.catalogue["top_item"].build(
        facts, {"column": "c", "how_many": named, "ordered": False, "epsilon": "1"} | given
    )
    assert isinstance(made, TopItem)
    return made


@pytest.mark.parametrize("of", range(1, 8))
def test_every_combination_has_its_place(of: int) -> None:
    for many in range(of + 1):
        found = [tuple(top_item.unranked(of, many, place)) for place in range(comb(of, many))]
        assert found == list(combinations(range(of), many))


@pytest.mark.parametrize(("values", "named"), [(2, 1), (4, 2), (5, 3), (6, 5)])
def test_blocks_hold_every_set_once_with_its_score(values: int, named: int) -> None:
    """On every table of counts from 0 to 2: sets by block and place against all sets and the definition."""
    firsts, lasts, sizes = top_item.joint_blocks(values, named)
    assert int(sizes.sum()) == comb(values, named)
    for counts in product(range(3), repeat=values):
        order = np.argsort(-np.array(counts), kind="stable")
        held = np.array(counts)[order]
        found: dict[tuple[int, ...], int] = {}
        for u, last, size in zip(firsts.tolist(), lasts.tolist(), sizes.tolist(), strict=True):
            for place in range(size):
                between = [u + 1 + one for one in top_item.unranked(last - u - 1, named - u - 1, place)]
                chosen = [*range(u), *between, last] if u < named else list(range(named))
                found[tuple(sorted(order[chosen].tolist()))] = int(held[last] - held[u])
        assert found == top_item.joint_scores(counts, named)


@pytest.mark.parametrize("relation", RELATIONS)
def test_draws_follow_the_law_of_all_sets(relation: str) -> None:
    """Five values with ties, 1,000 draws, set by set; a right draw fails with chance 1e-6 at most."""
    query, value, draws = ask(5, 2, relation, noise="joint_set"), (9, 4, 9, 6, 4), 1_000
    law = query.law(value)
    assert law is not None and len(law.chances) == 10
    weights = {chosen: exp(float(query.rate) * score) for chosen, score in top_item.joint_scores(value, 2).items()}
    drawn = [query.draw(value, COINS) for _ in range(draws)]
    for chosen, chance in law.chances.items():
        assert float(chance) == pytest.approx(weights[chosen] / sum(weights.values()))
        assert _tail(drawn.count(chosen), draws, float(chance)) * len(law.chances) > FALSE_ALARM


@pytest.mark.every(3)
@pytest.mark.parametrize("noise", ["", "permute_and_flip", "joint_set"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_none_that_is_left_out_is_farther_ahead_than_promised(relation: str, noise: str) -> None:
    """β = 0.2, 200 draws of three of eight values; false alarm 1e-6. And a fifth of the gap would be seen to fail, for
    the set drawn at once."""
    query, draws = ask(8, 3, relation, noise=noise, beta="0.2"), 200
    gap = query.promise().gap
    value = (gap + 1,) * 3 + (0,) * 5
    ahead = [
        max(value[one] for one in range(8) if one not in chosen) - min(value[one] for one in chosen)
        for chosen in (query.draw(value, COINS) for _ in range(draws))
    ]
    assert sum(one > gap for one in ahead) <= allowed_failures(draws, 0.2)
    if noise == "joint_set":
        near = (gap // 5 + 1,) * 3 + (0,) * 5
        off = sum(sorted(query.draw(near, COINS)) != [0, 1, 2] for _ in range(draws))
        assert off > allowed_failures(draws, 0.2)


def test_it_is_taken_where_it_promises_more() -> None:
    """Where only ε counts, of short lists about half; of a long one peeling is left."""
    no_delta = Rule.make(Fraction(1), Fraction(0))
    for relation in RELATIONS:
        usual = ask(10, 5, relation)
        assert usual.with_noise("joint_set").promise().gap < usual.promise().gap * Fraction(6, 10)
        assert cheapest(usual, no_delta, Totals.NOTHING).noise == "joint_set"
    long = ask(2_000, 20)
    assert long.with_noise("joint_set").noise == "" and long.with_noise("permute_and_flip").noise
    with pytest.raises(dp.AllowanceError):
        ask(10, 5, ordered=True, noise="joint_set")
    with pytest.raises(dp.AllowanceError):
        ask(10, 5, ordered="perhaps")


def test_names_come_without_an_order() -> None:
    query = ask(6, 3, noise="joint_set")
    assert query.parameters()["ordered"] is False and "no order" in query.sentence()
    told = query.finish((4, 0, 2)).value
    assert set(told) == {"v0", "v2", "v4"} and set(told.values()) == {1}
    assert "left out" in query.promise().words(query) and "left out" in query.promise().drawn(query)
    assert ask(6, 1).ordered and "ordered" not in ask(6, 3, ordered=True).parameters()


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_person_of_two_rows_moves_a_score_by_as_much_as_is_claimed(relation: str) -> None:
    """Among tables in which others have several rows too: all counts of three values up to 4, two rows more, or two
    rows elsewhere."""
    schema = dp.Schema({"t": dp.Category(["a", "b", "c"], "a", "a"), "who": dp.Number(1, 9)})
    facts = Facts("t", schema, dp.Unit.column("who", 2), relation, 9)  # type: ignore[arg-type]
    given = {"column": "t", "how_many": 2, "ordered": False, "noise": "joint_set", "epsilon": "1"}
    query = dp.catalogue["top_item"].build(facts, given)
    rows = [np.bincount(held, minlength=3) for held in product(range(3), repeat=2)]
    worst = 0
    for others in product(range(5), repeat=3):
        tables = [tuple((np.array(others) + own).tolist()) for own in rows]
        before = [tuple(others)] if relation == "add_remove" else tables
        for one, other in product(before, tables):
            pairs = zip(query.measured(one), query.measured(other), strict=True)
            worst = max(worst, *(abs(a - b) for a, b in pairs))
    assert worst == query.sensitivity().bound
