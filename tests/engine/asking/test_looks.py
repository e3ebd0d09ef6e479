"""Several answers to one question read together: exact sums, shares of β that hold for looks chosen by the answers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.answers import Answer, claim_of
from dpengine.asking.paid_answers import MOST_AVERAGED, foreseen, mean_of, read_together, share_of
from dpengine.core.amounts import BETA
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.query import Averaged
from dpengine.messages import say
from dpengine.noise.laws import Laplace, Normal, chance
from dpengine.noise.tails import gaussian_mean_reach, laplace_reach, mean_reach, sum_reach, sum_tail
from dpengine.statistics.need import Spread
from dpengine.workspace import Workspace
from tests.helpers_looks import FACTS, SCHEMA, answer, count_at, failed, failures, most_failures, noises

# The law of a sum


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_the_tail_of_a_sum_is_what_adding_up_all_outcomes_gives(scale: Fraction) -> None:
    """Three draws, each cut where less than 10^-12 is left out."""
    reach = laplace_reach(scale, Fraction(1, 10**13))
    alone = {z: chance(Laplace(0, scale), z) for z in range(-reach, reach + 1)}
    law = dict(alone)
    for draws in (1, 2, 3):
        if draws > 1:
            wider: dict[int, Any] = {}
            for (a, p), (b, q) in product(law.items(), alone.items()):
                wider[a + b] = wider.get(a + b, 0) + p * q
            law = wider
        for away in (0, 1, 4, 11):
            exact = sum(p for z, p in law.items() if z > away)
            assert abs(float(sum_tail(scale, draws, away) - exact)) < 1e-11


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10), Fraction(10**9)])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_the_reach_of_a_sum_is_the_least_that_holds(scale: Fraction, draws: int) -> None:
    reach = sum_reach(scale, draws, BETA)
    assert 2 * sum_tail(scale, draws, reach) <= float(BETA)
    assert reach == 0 or 2 * sum_tail(scale, draws, reach - 1) > float(BETA)
    assert draws > 1 or reach == laplace_reach(scale, BETA)
    assert mean_reach(scale, draws, BETA) == Fraction(reach, draws)


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(9)])
@pytest.mark.parametrize("draws", [1, 2, 3])
def test_the_reach_of_a_mean_of_gaussians_holds(variance: Fraction, draws: int) -> None:
    alone = {z: float(chance(Normal(0, variance), z)) for z in range(-40, 41)}
    law = {0: 1.0}
    for _ in range(draws):
        wider: dict[int, float] = {}
        for (a, p), (b, q) in product(law.items(), alone.items()):
            wider[a + b] = wider.get(a + b, 0.0) + p * q
        law = wider
    reach = gaussian_mean_reach(variance, draws, BETA)
    assert sum(p for z, p in law.items() if abs(z) > reach * draws) <= float(BETA)
    assert sum(p for z, p in law.items() if abs(z) > reach * draws - draws * 2) > float(BETA) / 20  # and not by far


def test_the_shares_of_beta_add_up_to_beta() -> None:
    far = 60
    total = sum(share_of(BETA, spend, look) for spend in range(1, far) for look in range(1, far))
    assert BETA * (1 - Fraction(1, 2**50)) < total < BETA
    assert [share_of(BETA, 1, look) / BETA for look in (2, 3, 5)] == [Fraction(1, 4), Fraction(1, 8), Fraction(1, 32)]


# Looks chosen by the answers


@pytest.mark.parametrize("width", [2, pytest.param(10, marks=pytest.mark.long)])  # five: tests/planted/accounts.py
def test_the_range_holds_however_the_looks_were_chosen(width: int) -> None:
    assert failures(width) <= most_failures(BETA)


@pytest.mark.long
def test_the_range_holds_when_the_spend_is_chosen_by_the_answers_too() -> None:
    """Repeat the ε that was unlucky, else change it: a choice that a share by the number of looks alone would miss."""
    spends = ("0.1", "0.2", "0.05")
    rows = list(zip(*(noises(epsilon, 6) for epsilon in spends), strict=True))
    queries = [count_at(epsilon) for epsilon in spends]
    like = [answer(query, (0,)) for query in queries]
    bad = 0
    for row in rows:
        used, found, which = [0, 0, 0], [], 0
        for _ in range(6):
            z = row[which][used[which]]
            used[which] += 1
            found.append(replace(like[which], raw=(z,)))
            if abs(z) <= 12 / float(queries[which].epsilon) / 10:  # lucky: go elsewhere
                which = (which + 1) % 3
        bad += failed(read_together(found, BETA))
    assert bad <= most_failures(BETA)


# What is read together


def test_the_mean_is_exact_and_its_range_is_the_stated_one() -> None:
    query = count_at("0.1")
    reading = read_together([answer(query, (z,)) for z in (10, 11, 11)], BETA)
    assert (reading.kind, reading.value, reading.agree, reading.beta) == ("averaged", Fraction(32, 3), True, BETA)
    reaches = [mean_reach(query.scale, m, share_of(BETA, 1, m)) for m in (1, 2, 3)]  # type: ignore[attr-defined]
    means = [Fraction(10), Fraction(21, 2), Fraction(32, 3)]
    low = max(mean - reach for mean, reach in zip(means, reaches, strict=True))
    high = min(mean + reach for mean, reach in zip(means, reaches, strict=True))
    assert reading.interval == (low, high) and high - low < 2 * mean_reach(query.scale, 1, BETA)  # type: ignore[attr-defined]


def test_ranges_at_different_spends_are_intersected_and_disjoint_ones_are_told() -> None:
    few, much = count_at("0.1"), count_at("1")
    reading = read_together([answer(few, (50,)), answer(much, (40,))], BETA)
    reach = mean_reach(much.scale, 1, share_of(BETA, 2, 1))  # type: ignore[attr-defined]
    assert reading.agree and reading.interval == (40 - reach, 40 + reach) and reading.value == 40
    apart = read_together([answer(few, (5000,)), answer(much, (40,))], BETA)
    assert not apart.agree and apart.value == 40 and apart.interval == much.finish((40,)).interval


def test_where_answers_disagree_the_latest_is_shown_alone() -> None:
    """As the words beside it say: not averaged with the one it contradicts, and at its own β."""
    query = count_at("0.1")
    reading = read_together([answer(query, (5000,)), answer(query, (40,))], BETA)
    assert not reading.agree and reading.value == 40 and reading.interval == query.finish((40,)).interval


def test_after_a_dozen_looks_nothing_more_is_stated() -> None:
    like = answer(count_at("0.1"), (0,))
    many = [replace(like, raw=(z % 5,)) for z in range(3 * MOST_AVERAGED)]
    dozen, all_of_them = read_together(many[:MOST_AVERAGED], BETA), read_together(many, BETA)
    assert all_of_them.interval == dozen.interval and all_of_them.count == 3 * MOST_AVERAGED


def test_one_answer_is_only_itself() -> None:
    assert read_together([answer(count_at("0.1"), (3,))], BETA).interval is None
    assert mean_of([(3, 4)]) == (3, 4)


# From the ledger


NUMBERS = {"salary": dp.Number(0, 100), "fee": dp.Number(1, 101)}  # a question may take only one of them


@pytest.fixture
def table(tmp_path: Path) -> Iterator[dp.Table]:
    workspace = Workspace(tmp_path / "var")
    rows = pd.DataFrame({"salary": [i % 101 for i in range(1000)], "state": ["TX", "CA", "NY", "TX"] * 250})
    rows["fee"] = rows["salary"] + 1
    yield workspace.add_table(
        "people",
        rows,
        schema=dp.Schema(SCHEMA.columns | NUMBERS),
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget(epsilon="50", delta="1e-6"),
    )
    workspace.close()


def of(where: list[Any] | None = None, **given: Any) -> dict[str, Any]:
    return ({"where": where} if where else {}) | given


MODEL = {
    "kind": "logistic",
    "features": [["salary", SCHEMA["salary"].as_json()]],
    "target": ["state", SCHEMA["state"].as_json()],
    "yes": [0],
    "no": [1, 2],
    "bits": 24,
    "weights": [0, 2**24],
}


def taken(card: Card) -> str:
    """The first column that its form would offer."""
    (field,) = (one for one in card.parameters if one.kind == "column.number")
    return next(name for name, column in NUMBERS.items() if field.takes is None or field.takes.holds(column))


AVERAGED: dict[str, dict[str, Any]] = {
    "cdf_tree": of(column="salary"),
    "check_model": of(parts=2, model=MODEL),
    "count": of([["state", "in", ["TX"]]]),
    "histogram": of(column="state"),
    "mean": of([["state", "in", ["TX"]]], column="salary"),
    "proportion": of([["salary", ">=", 10]], of=[["state", "in", ["TX"]]]),
    "sum": of(column="salary", by="state"),
    "variance": of(column="salary"),
    "vector_mean": of(columns=["salary"]),
}
AVERAGED |= {
    key: of(column=taken(query.card))
    for key, query in dp.catalogue.items()
    if issubclass(query, Averaged) and key not in AVERAGED
    if [one.kind for one in query.card.parameters if one.required] == ["column.number", "epsilon"]
}


def test_every_question_that_is_averaged_is_tried_here() -> None:
    averaged = {key for key, query in dp.catalogue.items() if issubclass(query, Averaged)}
    assert averaged == AVERAGED.keys() | {"crosstab", "fit_check", "fit_checks"}  # a histogram, a count, and counts


@pytest.mark.every(9)
@pytest.mark.parametrize("key", sorted(AVERAGED))
def test_what_the_ledger_holds_is_enough(table: dp.Table, key: str) -> None:
    """Three paid draws, one of them at another ε; the table's files are gone when they are read together."""
    query = table.query(key, epsilon="1", **AVERAGED[key])
    for epsilon in ("1", "1", "2"):
        table.ask(query.at(Fraction(epsilon)))
    shutil.rmtree(table._workspace.folder / "tables")
    reading = table.looks(query)
    assert reading.kind == "averaged" and reading.count == 3 and reading.beta == BETA
    ranges = list(reading.interval.values()) if isinstance(reading.interval, dict) else [reading.interval]
    values = list(reading.value.values()) if isinstance(reading.value, dict) else [reading.value]
    assert all(low <= value <= high for (low, high), value in zip(ranges, values, strict=True))
    assert [one.epsilon for one in (look.query for look in reading.answers)] == [1, 1, 2]
    assert table.looks(query.at(Fraction(3))).answers == reading.answers  # whatever the ε
    raw = reading.answers[0].raw
    assert raw is not None and query.from_mean(raw, 1) == query.finish(raw)
    once, twice = (_width(query.from_mean(mean_of([raw] * looks), looks).interval) for looks in (1, 2))
    assert twice < once


def test_the_range_of_one_more_look_is_known_beforehand(table: dp.Table) -> None:
    """For a count its width is exactly what the next look is then stated with, whichever ε came before."""
    small, large = (table.query("count", where=[["state", "in", ["TX"]]], epsilon=epsilon) for epsilon in ("1", "2"))
    for query in (small, large):
        table.ask(query)
    for query, spend in ((small, 1), (large, 2), (large, 2)):
        answers = table.looks(query).answers
        told = foreseen(answers, query, BETA)
        table.ask(query)
        rows = [one.raw for one in table.looks(query).answers if one.query.epsilon == query.epsilon and one.raw]
        stated = replace(query, beta=share_of(BETA, spend, len(rows))).from_mean(mean_of(rows), len(rows)).interval
        assert told[1] - told[0] == stated[1] - stated[0]
    assert foreseen((), small, BETA) is None


def test_other_noise_is_another_law(table: dp.Table) -> None:
    usual = table.query("histogram", column="state", epsilon="1")
    for query in (usual, usual.with_noise("gaussian"), usual.with_noise("gaussian")):
        table.ask(query)
    reading = table.looks(usual)
    assert (reading.kind, reading.count) == ("averaged", 3)
    assert [look.query.noise for look in reading.answers] == ["", "gaussian", "gaussian"]


def test_bought_ranges_are_intersected_and_choices_stand_side_by_side(table: dp.Table) -> None:
    median = table.query("median", column="salary", epsilon="0.5")
    asked = [table.ask(median) for _ in range(3)]
    reading = table.looks(median)
    low, high = max(one.interval[0] for one in asked), min(one.interval[1] for one in asked)
    if low <= high:
        assert (reading.kind, reading.interval, reading.beta) == ("shared", (low, high), 3 * BETA)
    else:
        assert not reading.agree and reading.interval == asked[-1].interval
    common = table.query("top_item", column="state", epsilon="0.5")
    first, second = table.ask(common), table.ask(common)
    side = table.looks(common)
    assert (side.kind, side.interval) == ("apart", None)
    assert [one.value for one in side.answers] == [first.value, second.value]


def test_a_range_once_stated_stays_when_an_earlier_charge_is_answered_later(table: dp.Table) -> None:
    """Shares of β go by the order of the answers: by that of the charges one more look would state others anew."""
    slow, quick = (table.query("count", where=[["state", "in", ["TX"]]], epsilon=epsilon) for epsilon in ("1", "2"))
    ledger, worker = table._workspace.ledger, table._workspace.jobs.worker
    ledger.reserve(
        budget=table.budget.id,
        table=table.name,
        actor=table.actor,
        request="slow",
        claim=claim_of(slow),
        loss=slow.loss(),
        worker=worker,
    )
    table.ask(quick)
    table.ask(quick)
    before = table.looks(quick)
    ledger.answer("slow", slow.stored((500,)))
    after = table.looks(quick)
    assert before.count == 2 and after.answers[:2] == before.answers and after.answers[2].request_id == "slow"


def test_an_answer_seen_again_keeps_its_own_noise(table: dp.Table) -> None:
    usual = table.query("histogram", column="state", epsilon="1")
    asked = table.ask(usual.with_noise("gaussian"))
    assert table.recall(usual) == [asked]


def test_nothing_is_said_of_how_often_bought_ranges_are_disjoint() -> None:
    """Two ranges may both hold a true median and be disjoint: half of the people at either end, and a large ε."""
    facts = replace(FACTS, schema=dp.Schema({"salary": dp.Number(0, 100)}))
    median = dp.catalogue["median"].build(facts, {"column": "salary", "epsilon": "50"})
    drawn = [median.finish(raw) for raw in ((20, 10, 30), (70, 60, 80))]
    value = Spread(np.array([0, 100]), np.array([500, 500]))
    assert all(median.law(value).parts[place].chances[code] > 0.009 for place in range(3) for code in (10, 80))  # type: ignore[union-attr]
    looked = [Answer(one.value, one.interval, median.promise(), {}, median, "r", "") for one in drawn]
    reading = read_together(looked, BETA)
    assert reading.kind == "shared" and not reading.agree
    words = say("looks.disagree.shared")
    assert "100" not in words and "beforehand" in say("looks.shared.holds", count=2, chance="95", together="90")


def _width(interval: Any) -> float:
    ranges = interval.values() if isinstance(interval, dict) else [interval]
    return sum(float(high) - float(low) for low, high in ranges)


def test_the_same_words_about_other_people_are_another_question(table: dp.Table) -> None:
    ask: Callable[[str], dp.Answer] = lambda state: table.ask(  # noqa: E731
        table.query("count", where=[["state", "in", [state]]], epsilon="0.5")
    )
    one, other = ask("TX"), ask("CA")
    assert table.looks(one.query).count == table.looks(other.query).count == 1
