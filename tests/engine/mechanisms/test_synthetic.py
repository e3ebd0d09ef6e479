"""Small databases: laws against brute force, bounds against draws, and what is read off a synthetic table."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from battery import (
    POSSIBLE_ROWS,
    SEVERAL,
    allowed_failures,
    build,
    check_law_against_loss,
    check_samples_against_law,
    check_sensitivity,
)
from helpers_synthetic import class_of, facts, gap, in_rows, off_by, small_database_law

import dpengine as dp
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.synthetic import small_database
from dpengine.mechanisms.synthetic.of_class import OfClass
from dpengine.mechanisms.synthetic.small_database import (
    MOST_MULTISETS,
    MOST_WORK,
    all_multisets,
    fits,
    multisets_in_all,
)
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import Finite
from dpengine.noise.tails import choice_gap
from dpengine.released.synthetic import Synthetic

CASES: list[tuple[tuple[int, ...], int]] = [
    ((2,), 1),
    ((2,), 4),
    ((3,), 3),
    ((6,), 2),
    ((2, 2), 4),
    ((2, 3), 3),
    ((6,), 4),
]
OWN = [[["c0", "in", ["v0"]]], [["any", [["c0", "in", ["v1"]], ["c1", "not in", ["v1"]]]]]]


def made(key: str, sizes: tuple[int, ...], people: int, relation: str = "replace", **given: Any) -> Any:
    asked = {"columns": [f"c{at}" for at in range(len(sizes))], "epsilon": "1"} | given
    return catalogue[key].build(facts(sizes, people, relation), asked)


def table_of(domain: int, people: int) -> tuple[int, ...]:
    rng = np.random.default_rng()
    return tuple(rng.multinomial(people, rng.dirichlet(np.ones(domain))).tolist())


def agrees(law: Finite, wanted: dict[tuple[int, ...], Decimal]) -> None:
    assert law.chances.keys() == wanted.keys()
    assert all(abs(p - wanted[rows]) < Decimal("1e-20") for rows, p in law.chances.items())


@pytest.mark.parametrize(("sizes", "size"), CASES)
def test_the_law_is_that_of_every_sequence(sizes: tuple[int, ...], size: int) -> None:
    for people, relation in ((0, "add_remove"), (1, "replace"), (3, "replace"), (7, "add_remove")):
        query = made("small_database", sizes, max(people, 1), relation, size=size, epsilon="1.5")
        value = table_of(query.domain, people)
        law = query.law(value)
        assert law is not None
        agrees(law, small_database_law(query, value))


def test_the_law_of_conditions_of_ones_own() -> None:
    query = made("small_database", (2, 3), 5, size=3, queries=OWN)
    assert [frozenset(np.flatnonzero(query.cells_of(at))) for at in range(2)] == class_of(query)
    agrees(query.law((1, 0, 2, 0, 1, 1)), small_database_law(query, (1, 0, 2, 0, 1, 1)))


@pytest.mark.every(3)
@pytest.mark.parametrize("sizes", [(2, 2), (6,)])
def test_draws_follow_the_law(sizes: tuple[int, ...]) -> None:
    query = made("small_database", sizes, 9, size=3, epsilon="2")
    check_samples_against_law(query, table_of(query.domain, 9), draws=1_500)


def test_all_multisets_with_all_their_sequences() -> None:
    for cells, size in ((2, 61), (4, 30), (5, 4), (8, 7), (30, 3)):
        counts, ways = all_multisets(cells, size)
        assert len(counts) == multisets_in_all(cells, size) == len({tuple(row) for row in counts.tolist()})
        assert (counts.sum(axis=1) == size).all() and sum(ways.tolist()) == cells**size


@pytest.mark.long
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("unit", [Unit.rows(), SEVERAL], ids=["rows", "several"])
def test_larger_small_databases_keep_their_loss(relation: str, unit: Unit) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [("small_database", {"columns": ["c", "d"], "size": 2})]
    if unit == Unit.rows():  # with more outcomes of more people these take minutes
        cases.append(("small_database", {"columns": ["c", "t"], "size": 2, "where": [["x", ">", 0]]}))
    for key, given in cases:
        query = build(key, given, relation, unit=unit)
        check_sensitivity(query)
        check_law_against_loss(query)


# The bounds


def test_rounding_moves_no_set_further_than_is_proved() -> None:
    """Every set of up to six cells, 300 distributions; the even ones are the worst."""
    rng = np.random.default_rng()
    for _ in range(300):
        cells, rows = int(rng.integers(2, 7)), int(rng.integers(1, 20))
        shares = rng.dirichlet(np.full(cells, rng.choice([0.3, 1, 50])))
        off = in_rows(shares, rows) - shares * rows
        assert in_rows(shares, rows).sum() == rows and abs(off).max() <= 1 + 1e-9
        sets = chain(*(combinations(range(cells), k) for k in range(cells)))
        worst = max(abs(off[list(held)].sum()) for held in sets)
        assert worst <= cells / 4 + 1e-9


@pytest.mark.parametrize(("sizes", "size"), [((2,), 5), ((3,), 4), ((2, 2), 3), ((2, 2), 8)])
def test_some_small_database_is_as_near_as_is_claimed(sizes: tuple[int, ...], size: int) -> None:
    """OPT: of all databases the nearest is within what the promise allows for it."""
    query = made("small_database", sizes, 100, size=size)
    allowed = 100 * query.reach() - _choice(query)
    for _ in range(60):
        value = table_of(query.domain, 100)
        assert int(query.gaps(value).min()) <= allowed


def _choice(query: Any) -> int:
    return choice_gap(query.rate, query.domain**query.rows, query.beta)


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("key", "relation", "given"),
    [
        ("small_database", "replace", {"size": 6}),
        ("small_database", "add_remove", {}),
    ],
)
def test_the_promise_is_kept(key: str, relation: str, given: dict[str, Any]) -> None:
    """β = 0.2, 150 draws for 400 people; a right mechanism fails with chance at most 1e-6."""
    query = made(key, (2, 2), 400, relation, beta="0.2", epsilon="2", **given)
    promised, coins, draws = float(query.promise().alpha), SystemCoins(), 150
    assert promised < 100
    value = table_of(query.domain, 400)
    far = sum(off_by(query, value, query.release(value, coins).value) > promised + 1e-9 for _ in range(draws))
    assert far <= allowed_failures(draws, 0.2)


def test_the_gap_itself_stays_within_the_bound_for_choices() -> None:
    """S(chosen) ≥ OPT − g except with chance β; and a rate a fifth of the right one would be seen."""
    query = made("small_database", (2, 2), 400, beta="0.05", epsilon="0.5", size=6)
    value, queries, coins, draws = table_of(4, 400), class_of(query), SystemCoins(), 200
    best = int(query.gaps(value).min())
    far = sum(gap(value, query.draw(value, coins), queries) > best + _choice(query) for _ in range(draws))
    assert far <= allowed_failures(draws, 0.05)
    law = made("small_database", (2, 2), 400, epsilon="0.01", size=6).law(value)
    lost = sum(p for rows, p in law.chances.items() if gap(value, rows, queries) > best + _choice(query) // 5)
    assert lost > Decimal("0.5"), "the check would not see a wrong rate"


def test_the_size_is_the_best_of_those_that_can_be_drawn() -> None:
    query = made("small_database", (2, 3), 5_000, epsilon="0.3")
    others = [made("small_database", (2, 3), 5_000, epsilon="0.3", size=m) for m in range(1, 24)]
    assert query.promise() == min((one.promise() for one in others), key=lambda one: one.alpha)
    assert query.parameters() == {"columns": ["c0", "c1"], "epsilon": "0.3"}


# What is refused, and what it costs


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"size": 0}, "synthetic.whole"),
        ({"size": "-1"}, "synthetic.whole"),
        ({"size": "2.5"}, "synthetic.whole"),
        ({"size": 40}, "synthetic.large"),
        ({"size": 1_001}, "synthetic.whole"),
        ({"columns": []}, "synthetic.columns"),
        ({"columns": ["c0", "c0"]}, "synthetic.columns"),
        ({"queries": "all"}, "synthetic.queries"),
        ({"queries": [[]]}, "synthetic.queries"),
        ({"columns": ["c0"], "queries": OWN}, "synthetic.condition"),
        ({"queries": [OWN[0]] * 101}, "synthetic.queries"),
        ({"queries": [5]}, "predicate.unreadable"),
    ],
)
def test_bad_input_is_one_sentence(given: dict[str, Any], code: str) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        made("small_database", (3, 4), 100, **given)
    assert refused.value.code == code and "\n" not in str(refused.value)


def test_what_is_too_large_says_what_it_would_cost() -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        made("small_database", (3, 4), 100, size=20)
    assert f"{multisets_in_all(12, 20):,} small tables" in str(refused.value) and "minute" in str(refused.value)
    for size in range(1, 62):
        if fits(12, 19, size):
            assert multisets_in_all(12, size) <= MOST_MULTISETS and multisets_in_all(12, size) * 31 <= MOST_WORK


def test_a_long_draw_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    query = made("small_database", (2, 3), 50, size=23)
    query.drawn(table_of(6, 50), SystemCoins(), lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] == 98_280
    assert told == sorted(told) and len({total for _, total in told}) == 1


# What is read off a synthetic table


def test_shares_are_promised_for_the_class_alone() -> None:
    query = made("small_database", (2, 3, 2), 1_000, epsilon="5")
    assert isinstance(query, OfClass)
    rows = in_rows(np.arange(1, 13) / 78, 1_000)
    found = Synthetic(query, query.rows_by_label(rows.tolist()))
    assert found.rows == 1_000 and found.table().num_rows == 1_000 and found.table(3).num_rows == 3
    shares = found.marginal(["c1", "c0"])
    assert list(shares)[:2] == ["v0 × v0", "v0 × v1"] and abs(sum(one.value for one in shares.values()) - 100) < 1e-9
    assert all(one.width == found.width for one in chain(shares.values(), found.marginal(["c2"]).values()))
    assert all(one.interval is None for one in found.marginal(["c0", "c1", "c2"]).values())
    pair = found.share([["c0", "in", ["v1"]], ["c1", "in", ["v2"]]])
    assert pair == shares["v2 × v1"] and pair.interval is not None
    assert found.share([["c1", "not in", ["v2"]]]).width == found.width, "all others of a query"
    assert found.share([["c0", "in", ["v0"]], ["c1", "in", ["v0", "v1"]]]).width is None
    with pytest.raises(dp.AllowanceError) as refused:
        found.share([["nobody", "in", ["v0"]]])
    assert refused.value.code == "column.unknown"
    mine = Synthetic(made("small_database", (2, 3), 9, queries=OWN), dict.fromkeys(query.labels(), 0))
    assert [mine.promised(mine.query.cells_of(at)) for at in range(2)] == [True, True]
    assert not mine.promised(np.array([True, False, False, True, False, False]))


def test_a_synthetic_table_is_charged_kept_and_found(tmp_path: Path) -> None:
    workspace = dp.Workspace(tmp_path / "home")
    frame = pd.DataFrame({"c": ["a", "b", "a"] * 20, "d": ["e", "f"] * 30})
    schema = dp.Schema({"c": dp.Category(["a", "b"], "b", "b"), "d": dp.Category(["e", "f"], "f", "f")})
    terms: dict[str, Any] = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("9", "1e-6")}
    table = workspace.add_table("t", frame, **terms)
    small = table.ask(table.query("small_database", columns=["c", "d"], epsilon="2"), "one")
    other = table.ask(table.query("small_database", columns=["c", "d"], epsilon="2", where=[["c", "in", ["a"]]]))
    assert [one.request_id for one in table.syntheses()] == [other.request_id, "one"]
    assert list(small.value) == ["a × e", "a × f", "b × e", "b × f"] and table.meter().charges == 2
    assert sum(small.value.values()) == small.query.rows
    again = table.answer_of(table.history()[1])
    assert again.value == small.value and table.synthetic(again).rows == small.query.rows
    assert small.receipt["loss"] == {"kind": "exponential", "epsilon": "2"}
    assert workspace.verify_ledger().ok
    workspace.close()


def test_the_exact_statistic_of_a_table_is_its_cells() -> None:
    query = build("small_database", {"columns": ["c", "d"], "size": 1, "where": [["x", ">=", 1]]}, "replace")
    held = [row for row in POSSIBLE_ROWS if row["x"] >= 1]
    assert sum(query.need().of(POSSIBLE_ROWS)) == len(held)


def test_without_rounding_the_size_needs_the_probabilistic_method() -> None:
    """m rows drawn from the table miss one of |C| questions by √(ln(2|C|)/(2m)) at most: with n times that in rows."""
    for size, many in ((2, 5), (40, 3)):
        found = small_database.reach(2, many, Fraction(10**6), 1000, Fraction(1, 2), Fraction(1, 20), size)
        off = math.ceil(1000 * math.sqrt(math.log(2 * many) / (2 * size)))
        assert found == Fraction(off + choice_gap(Fraction(1, 2), 2**size, Fraction(1, 20)), 1000)
