"""What an answer can look like, and how much is drawn for it, does not depend on the table; nor does the order of rows.

Every law of the small world is compared with every other one of the same question and relation: neighbours, and far
apart. Draws: a selection asks for the same bits on every table except with probability below 2^-39 for a draw (2^-45
for a flip of at most four); with at most 10^5 draws a false alarm has a probability below 2·10^-7.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from battery import CASES, DATA_SUPPORT, PUBLIC_SUPPORT, build, case_name, neighbours
from leaks import stage, tally

import dpengine as dp
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.query import Averaged, Query
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.laws import Finite, Independent, Laplace, Law, Normal
from dpengine.statistics.need import Spread
from tests.planted.checks import (
    SOME_ROWS,
    check_all_that_is_told_comes_from_the_draw,
    check_noise_is_independent,
    check_supports_are_one_public_grid,
)

RELATIONS = ("add_remove", "replace")
STANDING = [case for case in CASES if case[0] not in DATA_SUPPORT]
DATA_WORK = {"cdf"}  # its work depends on the table, and docs/privacy.md says so among what is not claimed
SELECTIONS = [case for case in CASES if case[0] in ("median", "quantile", "top_item", "noisy_argmax")]


def support(law: Law) -> Any:
    """The values a law gives any chance to; of noise on all integers, which lattice it is."""
    if isinstance(law, Independent):
        return tuple(support(part) for part in law.parts)
    if isinstance(law, Finite):
        return frozenset(value for value, chance in law.chances.items() if chance > 0)
    assert isinstance(law, Laplace | Normal) and law.center == int(law.center)
    return "all integers", type(law).__name__, law.scale if isinstance(law, Laplace) else law.variance


def statistics(query: Query, most: int | None = None) -> list[Any]:
    """The different statistics of all tables of the small world."""
    known: dict[str, Any] = {}
    tables = neighbours(query.facts.relation, query.facts.unit)
    for pair in tables if most is None else tables[:: max(len(tables) // (2 * most), 1)]:
        for rows in pair:
            value = query.need().of(rows)
            known.setdefault(key(value), value)
    found = [known[name] for name in sorted(known)]
    return found if most is None else found[:: max(len(found) // most, 1)]


def key(value: Any) -> str:
    if isinstance(value, Spread):
        return f"{value.codes.tolist()} {value.counts.tolist()}"
    return repr([key(part) for part in value]) if isinstance(value, tuple) else repr(value)


def supports(query: Query, most: int | None = None) -> set[Any]:
    laws = (query.law(value) for value in of_one_size(query, statistics(query, most)))
    return {support(law) for law in laws if law is not None}


def of_one_size(query: Query, values: list[Any]) -> list[Any]:
    """A published table has as many rows as there are people, which is public: only tables of one size are compared."""
    if not isinstance(query, OfRows):
        return values
    most = max(len(value[0]) for value in values)
    return [value for value in values if len(value[0]) == most]


class Counting(Coins):
    """Remembers how many bits each request wanted, and how many noises were drawn at which scale."""

    def __init__(self) -> None:
        self._coins = SystemCoins()
        self.asked: list[Any] = []

    def bits(self, count: int) -> int:
        self.asked.append(count)
        return self._coins.bits(count)

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        self.asked.append(("laplace", len(values), scale))
        return self._coins.laplace(values, scale)

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        self.asked.append(("gaussian", len(values), sigma_squared))
        return self._coins.gaussian(values, sigma_squared)


def drawn(query: Query, most: int | None = None) -> set[Any]:
    """The different lists of requests that a draw makes, over all tables."""
    found = set()
    for value in of_one_size(query, statistics(query, most)):
        coins = Counting()
        query.draw(value, coins)
        found.add(tuple(coins.asked))
    return found


def asked_under(relation: str) -> list[tuple[str, dict[str, Any]]]:
    return [case for case in STANDING if relation in dp.catalogue[case[0]].card.relations]


def paid_by_delta(query: Query) -> bool:
    """A sum of coins reaches from the true number upwards: what its ends tell is within the δ that is charged, which
    `tests/engine/mechanisms/test_shuffle.py` computes exactly."""
    return query.card.trust == "shuffle"


@pytest.mark.parametrize(
    ("relation", "every"), [("replace", 3), *(pytest.param(one, 1, marks=pytest.mark.long) for one in RELATIONS)]
)
def test_supports_and_draws_are_the_same_on_every_table(relation: str, every: int) -> None:
    for name, given in asked_under(relation)[::every]:
        assert len(supports(build(name, given, relation), 12)) <= 1 or paid_by_delta(build(name, given, relation)), name
        assert name in DATA_WORK or len(drawn(build(name, given, relation), 6)) == 1, name


@pytest.mark.long
@pytest.mark.parametrize("case", STANDING, ids=case_name)
def test_every_support_is_the_public_grid(case: tuple[str, dict[str, Any]]) -> None:
    for relation in dp.catalogue[case[0]].card.relations:
        assert len(supports(build(*case, relation))) == 1 or paid_by_delta(build(*case, relation)), relation


@pytest.mark.long
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_selection_draws_the_same_on_every_table(relation: str) -> None:
    tables = 0
    for name, given in SELECTIONS:
        query = build(name, given, relation)
        tables += len(statistics(query))
        assert len(drawn(query)) == 1, name
    tally.add([[f"draws of a selection, {relation}: tables with the same requests", tables, "", "", 0]])
    asked = len(asked_under(relation))
    tally.add([[f"supports, {relation}: questions with one support on all tables", asked, "", "", 0]])


def test_a_support_that_depends_on_the_table_is_caught() -> None:
    """Power: empty bars left out, a grid that starts at the least value, noise whose scale is the data's."""
    bars = [Independent((Laplace(3, Fraction(2)),)), Independent((Laplace(3, Fraction(2)), Laplace(0, Fraction(2))))]
    grids = [Finite({0: 1, 1: 1}), Finite({1: 1, 2: 1})]  # type: ignore[dict-item]
    scales = [Laplace(0, Fraction(2)), Laplace(0, Fraction(3))]
    for laws in (bars, grids, scales):
        assert len({support(law) for law in laws}) == 2


def test_a_selection_that_stops_early_is_caught() -> None:
    """Power: the usual way to draw, which ends where a running sum passes a point, asks for more where it goes on."""

    def early(scores: list[int], coins: Counting) -> int:
        while True:
            place = coins.below(len(scores))
            if coins.bits(8) < 255 >> min(max(scores) - scores[place], 8):
                return place

    lists = []
    for scores in ([9, 9, 9, 9], [9, 0, 0, 0]):
        coins = Counting()
        for _ in range(200):
            early(scores, coins)
        lists.append(len(coins.asked))
    assert lists[0] < lists[1]


# --- the order of rows


def shuffled(made: list[list[str]], seed: int) -> list[list[str]]:
    other = list(made)
    random.Random(seed).shuffle(other)
    return other


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.long] * (one != "canary people")) for one in sorted(stage.TERMS)]
)
def test_permuting_rows_changes_nothing(name: str, tmp_path: Path) -> None:
    """The statistics of every question, which rows of a person count, and the budget the content has."""
    found = stage.canaries()
    made = stage.rows(found)
    made += [[*row[:4], "5", *row[5:]] for row in made[:20]]  # more rows of a person than count
    terms = {"schema": stage.schema(), "budget": dp.Budget("10", "1e-6")} | stage.TERMS[name]
    workspace = dp.open_workspace(tmp_path / "home")
    tables = [
        workspace.add_table(f"t{seed}", stage.written(tmp_path / f"{seed}.csv", shuffled(made, seed)), **terms)
        for seed in range(2)
    ]
    assert [table.joined for table in tables] == [False, True] and tables[0].budget.id == tables[1].budget.id
    assert tables[0].facts.about == tables[1].facts.about
    for asked, given in stage.QUESTIONS:
        needs = [table.query(asked, epsilon="0.1", **given).need() for table in tables]
        one, other = (
            workspace.read(need, table._record, table.schema) for need, table in zip(needs, tables, strict=True)
        )
        assert key(one) == key(other), asked


# What tests/planted/checks.py looks at, on every question of the catalogue


IN_EACH_RELATION = [(case, one) for case in PUBLIC_SUPPORT for one in sorted(dp.catalogue[case[0]].card.relations)]


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("case", "relation"), IN_EACH_RELATION, ids=lambda one: one if one in RELATIONS else case_name(one)
)
def test_what_is_told_and_what_can_come_out(case: tuple[str, dict[str, Any]], relation: str) -> None:
    query = build(*case, relation)
    if query.card.trust != "shuffle":  # the ends of binomial noise move with the count, and δ pays for them
        check_supports_are_one_public_grid(query)
    if isinstance(query, Averaged):
        check_all_that_is_told_comes_from_the_draw(query)


def of_several_numbers(case: tuple[str, dict[str, Any]]) -> bool:
    query = build(*case, "replace")
    parts = getattr(query.law(query.need().of(SOME_ROWS)), "parts", ())
    return len(parts) > 1 and all(isinstance(part, Laplace | Normal) for part in parts)


def test_the_numbers_of_one_answer_have_noise_of_their_own() -> None:
    several = [case for case in PUBLIC_SUPPORT if of_several_numbers(case)]
    one_of_each = {(name, told.get("noise", "")): (name, told) for name, told in several}
    assert len(one_of_each) > 10
    for case in one_of_each.values():
        check_noise_is_independent(build(*case, "replace"), draws=200)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted({case[0] for case in PUBLIC_SUPPORT}))
def test_the_numbers_of_any_answer_have_noise_of_their_own(name: str) -> None:
    for case in PUBLIC_SUPPORT:
        if case[0] == name and of_several_numbers(case):
            for relation in dp.catalogue[name].card.relations:
                check_noise_is_independent(build(*case, relation), draws=2_000)
