"""If only h of n people are honest: what an observer who knows the others' messages can tell, and how far an answer can
be off, by listing everything that can happen among few people."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpengine.core.exact import decimal_of, exp_decimal
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.planning import trust_models
from dpengine.planning.trust_models import (
    SHARES,
    along,
    delta_of,
    error_with_dishonest,
    fewest,
    honest_people,
    kept_by_honest,
    needed,
)
from tests.planted.honesty import chances_of, check_what_colluders_see

SCHEMA = Schema({"c": Category(["a", "b", "d"], unknown="d", missing="d")})
SOME = [["c", "in", ["a"]]]


def asked(key: str, people: int, **more: Any) -> Any:
    facts = Facts("t", SCHEMA, Unit.rows(), "replace", people)
    own = {"where": SOME} if key.endswith("count") else {"column": "c"}
    return catalogue[key].build(facts, {"epsilon": "1"} | own | more)


def test_what_colluders_see_by_listing_every_coin() -> None:
    check_what_colluders_see(delta_of)


def test_with_everybody_honest_it_is_the_claim_itself() -> None:
    for key in ("shuffle_count", "shuffle_histogram"):
        query = asked(key, 2_000, delta="1e-6")
        assert delta_of(query, 2_000) <= query.delta < 2 * delta_of(query, 2_000)
        assert (
            needed(query, 2_000) == query.chance
            and error_with_dishonest(query, 2_000, query.chance) == query.promise().alpha
        )


def test_fewer_honest_people_hide_each_other_less_and_need_a_larger_coin() -> None:
    query = asked("shuffle_count", 2_000, delta="1e-6")
    told = [delta_of(query, honest_people(2_000, share)) for share in SHARES]
    assert told == sorted(told, reverse=True) and told[-1] <= query.delta < told[-2] and told[0] > Fraction(1, 10)
    coin = needed(query, 1_000)
    assert coin is not None and coin > query.chance and delta_of(query, 1_000, coin) <= query.delta
    assert delta_of(query, 1_000, coin - Fraction(1, 2**30)) > query.delta, "and no smaller one does"
    assert error_with_dishonest(query, 2_000, coin) > query.promise().alpha, "it costs error even if all are honest"
    assert fewest(query) == 80 and needed(query, 79) is None and needed(query, 80) is not None
    assert along(query, 2_000)[-1] == (2_000, float(told[-1]))


@pytest.mark.parametrize("solution", ["", "first", "second"])
def test_what_liars_can_do_to_the_answer_by_listing_it(solution: str) -> None:
    """Five people, three of them honest. Every truth and every message of the other two, against the exact noise."""
    people, honest, others = 5, 3, 2
    query = asked(
        "shuffle_histogram" if solution else "shuffle_count",
        people,
        delta="0.6",
        **({"solution": solution} if solution else {}),
    )
    bound, beta = (
        error_with_dishonest(query, honest, query.chance),
        decimal_of(query.beta / (query.size if solution else 1)),
    )
    worst = Decimal(0)
    for truth in range(honest + 1):  # of the honest people
        for hidden, sent in product(range(others + 1), range(2 * others + 1)):
            missed = Decimal(0)
            for coins, chance in enumerate(chances_of(honest, query.chance)):
                if solution == "second":
                    told, true = query._bar(honest - truth + coins + sent)[0], truth + others - hidden
                elif solution:
                    told, true = query._bar(truth + coins + sent)[0], truth + hidden
                else:
                    told, true = query.finish(truth + coins + sent).value, truth + hidden
                missed += chance if abs(Fraction(told) - true) > bound else 0
            worst = max(worst, missed)
    assert worst <= beta


def test_the_local_model_and_the_curator_protect_whoever_is_honest() -> None:
    facts = Facts("t", SCHEMA, Unit.rows(), "replace", 2_000)
    given = {"epsilon": "1", "delta": "1e-6", "where": SOME}
    rows = {row.model: row for row in kept_by_honest(trust_models.ways(facts, "count", given), 1_800)}
    assert set(rows) == {"central", "lecture", "tight", "needed", "local"}
    assert rows["central"].holds and rows["local"].holds and rows["needed"].holds and not rows["tight"].holds
    assert rows["central"].worst == rows["central"].error + 200, "each of the 200 moves a count by one"
    factor = exp_decimal(Fraction(1)) / (exp_decimal(Fraction(1)) - 1)
    assert abs(float(rows["local"].worst - rows["local"].error) - 200 * float(factor)) < 1.01
    assert rows["needed"].error > rows["tight"].error and rows["tight"].worst > rows["tight"].error + 200


def test_one_local_message_moves_the_answer_by_so_much_at_most() -> None:
    query = asked("local_count", 50)
    p = query.row.chance
    moved = [abs((message - p) / (1 - 2 * p) - truth) for message, truth in product((0, 1), (0, 1))]
    assert max(moved) == (1 - p) / (1 - 2 * p)


@pytest.mark.parametrize(("people", "share", "honest"), [(10, 1, 1), (1_000, 50, 500), (3, 100, 3), (7, 99, 6)])
def test_so_many_are_meant(people: int, share: int, honest: int) -> None:
    assert honest_people(people, share) == honest
