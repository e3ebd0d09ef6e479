"""Training that follows the shape of the data: the moments' sensitivity by brute force, what is paid for, and what the
steps may depend on."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from battery import POSSIBLE_ROWS, SEVERAL, check_law_against_loss, neighbours
from helpers_training import every_relation, made, walked

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.accountant.loss import Gaussian
from dpengine.audit.exact import ORDER, worst
from dpengine.audit.world import named
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.models.of_models import BALL, MARGINS
from dpengine.mechanisms.models.train_logistic import TrainLogistic
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.features import ROW_BITS, WEIGHT_BITS, Layout
from dpengine.statistics.model_needs import SecondMoments
from tests.planted.trained import CheapMoments, Scripted, check_steps_follow_the_draws_alone

COLUMNS = Schema(
    {
        "age": dp.Number(0, 100),
        "city": dp.Category(list("abcde")),
        "pay": dp.Number(0, 9_999_999),
        "sure": dp.Category(["yes", "no"]),
        "born": dp.Date("1950-01-01", "2000-01-01"),
        "way": dp.Category(list("xyz")),
    }
)
NAMES = ("age", "city", "born", "pay", "way")


def _layout(*names: str) -> Layout:
    columns: Any = tuple(COLUMNS[name] for name in names)
    return Layout(names, columns, "sure", COLUMNS["sure"], (0,), (1,))  # type: ignore[arg-type]


def _many(people: int, **given: Any) -> TrainLogistic:
    facts = Facts("t", COLUMNS, Unit.rows(), "replace", people)
    found = catalogue["train_logistic"].build(
        facts, {"target": "sure", "features": ["age", "city"], "epsilon": "1"} | given
    )
    assert isinstance(found, TrainLogistic)
    return found


@every_relation
@pytest.mark.parametrize("unit", [None, SEVERAL], ids=["rows", "several"])
def test_no_neighbour_moves_the_moments_further_than_claimed(relation: str, unit: Unit | None) -> None:
    """Over all small tables, on a fine and on a coarse lattice; and the claim is nearly reached."""
    for bits in (24, 3):
        query = made("train_logistic", relation, unit, region=MARGINS, lattice=bits)
        known: dict[Any, tuple[int, ...]] = {}
        worst, most = 0, query.moments.change(query.facts.unit.at_most, relation == "replace")
        for pair in neighbours(relation, query.facts.unit):
            sums = []
            for rows in pair:
                key = tuple(sorted((row["x"], row["c"]) for row in rows))
                if key not in known:
                    known[key] = query.moments.of(rows)
                sums.append(known[key])
            worst = max(worst, sum((a - b) ** 2 for a, b in zip(*sums, strict=True)))
        assert worst <= most
        assert bits == 3 or worst >= most / 4


def test_rows_as_far_apart_as_can_be() -> None:
    """Random pairs of rows of five columns, in exact integers: what the cut can do to two rows is within the claim."""
    rng = np.random.default_rng()
    need = SecondMoments(_layout(*NAMES), 24)
    most, rows = need.change(1, True), []
    for _ in range(150):
        row: dict[str, Any] = {name: int(rng.integers(0, column.size)) for name, column in COLUMNS.columns.items()}
        rows.append(need.of([row | {name: int(rng.choice([0, COLUMNS[name].size - 1])) for name in ("age", "born")}]))
    for one in rows:
        assert sum(part * part for part in one) <= need.change(1, False)
        assert max(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for other in rows[:20]) <= most


def test_the_engine_computes_what_the_reference_means(tmp_path: Path) -> None:
    """Missing values, codes at both ends, large codes in narrow columns; several batches."""
    rng = np.random.default_rng()
    codes = {}
    for name, column in COLUMNS.columns.items():
        low = -1 if isinstance(column, dp.Number | dp.Date) else 0
        codes[name] = rng.integers(low, column.size, 900)
        codes[name][:4] = (low, column.size - 1, 0, column.size - 1)
    kinds = [pa.int8(), pa.int8(), pa.int32(), pa.int8(), pa.int16(), pa.int8()]
    cells = zip(codes.values(), kinds, strict=True)
    table = pa.table({f"c{place}": pa.array(one, kind) for place, (one, kind) in enumerate(cells)})
    pq.write_table(table, tmp_path / "coded.parquet", row_group_size=300)
    rows = [dict(zip(codes, map(int, row), strict=True)) for row in zip(*codes.values(), strict=True)]
    for bits in (24, 7):
        need = SecondMoments(_layout(*NAMES), bits)
        assert DuckEngine().read(need, tmp_path / "coded.parquet", COLUMNS) == need.of(rows)
        assert DuckEngine()._read(need, tmp_path / "coded.parquet", COLUMNS) == need.of(rows)  # as an aggregate
    width = need.layout.width
    dense = np.zeros((width, width))
    for row in rows:
        found = need.layout.row(row)
        if found is not None and need.layout.target_of(row) is not None:
            x = np.zeros(width)
            for place, value in found:
                x[place] = value / 2**ROW_BITS
            dense += np.outer(x, x)
    fine = SecondMoments(need.layout, 24)
    told = np.array(fine.of(rows)) / 2**24
    assert np.allclose(told, [dense[pair] for pair in fine.pairs], atol=1e-3)


@every_relation
def test_moments_and_steps_together_lose_what_is_charged(relation: str) -> None:
    query = made("train_logistic", relation, region=MARGINS, steps=7, epsilon="0.3")
    change = query.moments.change(1, relation == "replace")
    spent = change / (2 * query.moments_variance) + 7 * query.change**2 / (2 * query.amount)
    assert spent == query.epsilon**2 / 2 and query.loss() == Gaussian(spent)
    ball = made("train_logistic", relation, region=BALL, steps=7, epsilon="0.3")
    assert 7 * ball.change**2 / (2 * ball.amount) == query.epsilon**2 / 2


def test_public_facts_choose_the_region() -> None:
    assert _many(30_000).region == MARGINS and _many(30_000).steps <= 60 and _many(300).region == BALL
    assert _many(30_000, epsilon="0.01").region == BALL
    for given in ({"radius": "5"}, {"rate": "1"}, {"calibration": "coordinate"}, {"region": "ball"}):
        assert _many(30_000, **given).region == BALL
    query = _many(30_000)
    assert TrainLogistic.build(query.facts, query.parameters()) == query
    assert query.promise().risk < query.blank / 2 and query.interval_reason() == "train.interval.margins"


def test_the_shape_covers_the_hessian_and_steps_stay_in_the_region() -> None:
    """The ridge is above the noise but for 10⁻⁹; a model is put back where log-odds are limited."""
    query = replace(_many(2_000), steps=3)
    rng = np.random.default_rng()
    rows = [{name: int(rng.integers(0, one.size)) for name, one in COLUMNS.columns.items()} for _ in range(2_000)]
    exact = query.moments.of(rows)
    noisy = SystemCoins().gaussian(list(exact), query.moments_variance)
    shape, truth = query.shape_of(noisy), np.zeros((query.width, query.width))
    for (i, j), amount in zip(query.moments.pairs, exact, strict=True):
        truth[i, j] = truth[j, i] = amount / 2**query.lattice
    held = shape.ways @ np.diag(shape.sizes) @ shape.ways.T
    assert np.linalg.eigvalsh(held - truth / (4 * query.people)).min() >= -1e-9
    far = query.moved_in(shape, (0,) * query.width, tuple([-(10**12)] * query.width))
    length = shape.length(np.array(far) / 2**WEIGHT_BITS)
    assert math.isclose(length, float(query.radius) / 2, rel_tol=1e-3)


def test_one_step_is_audited_with_its_moments() -> None:
    """The law of the audited case is of all that one step draws, in the order in which it is drawn and told."""
    query = made("train_logistic", **named("train_logistic: along the data")[1])
    rows, coins = POSSIBLE_ROWS[2:7], Scripted()
    walk = walked(query, rows, coins)
    drawn = tuple(number for some in coins.drawn for number in some)
    law = query.law(query.need().of(rows))
    kinds = [part.variance for part in law.parts]
    assert query.follows and [len(some) for some in coins.drawn] == [3, 2]
    assert kinds == [query.moments_variance] * 3 + [query.amount] * 2
    assert [part.center for part in law.parts] == list(query.measured(query.need().of(rows)))
    assert query.finish(drawn) == query.ended(walk)


@every_relation
def test_the_audited_law_comes_near_its_claim(relation: str) -> None:
    """Nearer than any other case, so that the audit's lines are of it; and moments beside the price are seen in it."""
    given = named("train_logistic: along the data")[1]
    query = made("train_logistic", relation, **given)
    check_law_against_loss(query)
    assert worst(query).renyi > 0.7 * float(cost(query.loss(), ORDER).renyi)
    if relation == "add_remove":
        with pytest.raises(AssertionError, match="Rényi"):
            check_law_against_loss(CheapMoments.build(query.facts, query.parameters()))


def test_steps_depend_on_the_table_through_draws_alone() -> None:
    check_steps_follow_the_draws_alone(made("train_logistic", region=MARGINS, steps=3))


@pytest.mark.long
def test_the_promise_holds_on_average() -> None:
    """Ten trainings on 600 rows with ε 30; the bound is far above what happens."""
    facts = Facts("t", COLUMNS, Unit.rows(), "replace", 600)
    given = {"target": "sure", "features": ["age", "way"], "epsilon": "30", "steps": 20}
    query = catalogue["train_logistic"].build(facts, given)
    assert isinstance(query, TrainLogistic) and query.region == MARGINS
    rng = np.random.default_rng()
    rows = []
    for _ in range(600):
        row: dict[str, Any] = {name: int(rng.integers(0, one.size)) for name, one in COLUMNS.columns.items()}
        row["sure"] = int(rng.random() < 1 / (1 + math.exp((row["age"] - 50) / 15 - (row["way"] == 2))))
        rows.append(row)
    x = np.zeros((600, query.width))
    for at, row in enumerate(rows):
        for place, value in query.layout.row(row) or ():
            x[at, place] = value / 2**ROW_BITS
    y = np.array([query.layout.target_of(row) for row in rows])

    def loss(weights: Any) -> float:
        margins = x @ weights
        return float(np.mean(np.logaddexp(0, margins) - y * margins))

    best = np.zeros(query.width)
    for _ in range(30):
        chance = 1 / (1 + np.exp(-x @ best))
        hessian = (x * (chance * (1 - chance))[:, None]).T @ x / 600 + 1e-6 * np.eye(query.width)
        best -= np.linalg.solve(hessian, x.T @ (chance - y) / 600)
    found = [np.array(walked(query, rows, SystemCoins()).weights) / 2**WEIGHT_BITS for _ in range(3)]
    excess = np.mean([loss(weights) for weights in found]) - loss(best)
    assert excess <= float(query.promise().risk) and excess < 0.02 < loss(np.zeros(query.width)) - loss(best)


def test_rows_that_do_not_count_add_nothing() -> None:
    query = made("train_logistic", region=MARGINS)
    nobody = [row | {"c": 9} for row in POSSIBLE_ROWS[:3]]
    assert set(query.moments.of(nobody)) == {0}
