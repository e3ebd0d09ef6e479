"""Training: gradients by brute force, the engine against its reference, how far noise carries, cancel, the bounds."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from battery import POSSIBLE_ROWS, SEVERAL, allowed_failures, build, facts
from helpers_coins import SeededCoins
from helpers_training import KINDS, every_kind, every_relation, every_smooth_kind, made, walked

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian
from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import Schema
from dpengine.mechanisms.models.excess import CALIBRATIONS
from dpengine.mechanisms.models.of_averages import LOOKS
from dpengine.mechanisms.models.of_gradients import OfGradients, spread
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.features import ROW_BITS, WEIGHT_BITS, Layout, Model, centred, model_from_json
from dpengine.statistics.model_needs import GradientSum
from tests.helpers_ledger import PATIENCE
from tests.planted.trained import change_at, check_all_steps_are_paid_for, check_gradients_at_weights


def some_weights(query: OfGradients, rng: np.random.Generator, edge: float = 1.0) -> tuple[int, ...]:
    """Inside the region, often at its edge."""
    there = rng.normal(size=query.width)
    there *= edge * float(query.radius) / np.linalg.norm(there)
    return tuple(int(one * 2**WEIGHT_BITS * (1 - 1e-9)) for one in there)


@pytest.mark.every(5)
@every_kind
@every_relation
def test_no_neighbour_moves_a_gradient_further_than_claimed_at_any_weights(key: str, relation: str) -> None:
    """Over all small tables, at weights all over the region, clipped and not; and the claim is nearly reached."""
    rng = np.random.default_rng()
    for given in ({"clip": "0.25", "lattice": 8}, {"clip": "1"}):
        query = made(key, relation, **given)
        for edge in (0.3, 1.0):
            change_at(query, some_weights(query, rng, edge))
        check_gradients_at_weights(query)
        assert change_at(query, (0, 0)) >= 0.5 * query.change**2 or given["clip"] == "1"  # z moves with x in that world


@every_kind
def test_a_person_with_two_rows_moves_it_twice_as_far(key: str) -> None:
    query = made(key, "replace", SEVERAL, clip="0.25", lattice=8)
    assert query.change == 2 * made(key, "replace", clip="0.25", lattice=8).change
    check_gradients_at_weights(query)
    assert change_at(query, (0, 0)) > query.change**2 // 4  # more than one row could move it


def test_a_grid_on_which_nothing_counts_is_refused_before_the_charge() -> None:
    """Also where nobody chose how far a row pulls: noise of scale 0 cannot be drawn, and the charge would stay."""
    for calibration in CALIBRATIONS:
        with pytest.raises(AllowanceError) as refused:
            made("train_linear", lattice=1, calibration=calibration)
        assert refused.value.code == "train.coarse"


def test_every_row_lies_in_the_ball_and_is_cut_toward_zero() -> None:
    schema = dp.Schema(
        {
            "a": dp.Number(0, 6),
            "b": dp.Number(-1, 1, step="0.5"),
            "c": dp.Category(["u", "v"]),
            "y": dp.Number(0, 1),
        }
    )
    names = ("a", "b", "c")
    layout = Layout(names, tuple(schema[name] for name in names), "y", schema.number("y"))  # type: ignore[arg-type]
    for a in range(7):
        for b in range(5):
            found = dict(layout.row({"a": a, "b": b, "c": 1}) or ())
            assert sum(one * one for one in found.values()) <= 2 ** (2 * ROW_BITS)
            exact = [(2 * a / 6 - 1) / 2, (2 * b / 4 - 1) / 2]
            for place, one in zip((1, 2), exact, strict=True):
                there = found[place] / 2**ROW_BITS
                assert abs(there) <= abs(one) + 1e-12 and abs(there - one) < 1e-4
    assert layout.row({"a": 7, "b": 0, "c": 0}) is None and layout.row({"a": -1, "b": 0, "c": 0}) is None
    assert [centred(code, 3, 100) for code in range(3)] == [-100, 0, 100]


COLUMNS = Schema(
    {
        "age": dp.Number(0, 100),
        "city": dp.Category(list("abcdefg")),
        "pay": dp.Number(0, 9_999_999),
        "sure": dp.Category(["yes", "no"]),
        "born": dp.Date("1950-01-01", "2000-01-01"),
    }
)


@pytest.mark.every(9)
@pytest.mark.parametrize(("target", "sharp"), [("pay", False), ("sure", False), ("sure", True)])
def test_the_engine_computes_what_the_reference_means(target: str, sharp: bool, tmp_path: Path) -> None:
    """Missing values, codes at both ends, large codes in narrow columns, weights at the edge of the region."""
    rng = np.random.default_rng()
    codes = {}
    for name, column in COLUMNS.columns.items():
        low = -1 if isinstance(column, (dp.Number, dp.Date)) else 0
        drawn = rng.integers(low, column.size, 3_000)
        drawn[:4] = (low, column.size - 1, 0, column.size - 1)
        codes[name] = drawn
    kinds = {"age": pa.int8(), "city": pa.int8(), "pay": pa.int32(), "sure": pa.int8(), "born": pa.int16()}
    table = pa.table({f"c{place}": pa.array(codes[name], kinds[name]) for place, name in enumerate(COLUMNS.columns)})
    pq.write_table(table, tmp_path / "coded.parquet")
    rows = [dict(zip(codes, map(int, row), strict=True)) for row in zip(*codes.values(), strict=True)]
    names = tuple(name for name in ("age", "city", "born", "pay") if name != target)
    sides = ((0,), (1,)) if target == "sure" else ((), ())
    layout = Layout(names, tuple(COLUMNS[name] for name in names), target, COLUMNS[target], *sides, sharp)  # type: ignore[arg-type]
    engine = DuckEngine()
    for bits, clip in ((24, 2**24), (24, 2**22), (3, 5)):
        weights = tuple(rng.integers(-(2**26), 2**26, layout.width).tolist())
        need = GradientSum(layout, weights, clip, bits)
        assert engine.read(need, tmp_path / "coded.parquet", COLUMNS) == need.of(rows)


# What it loses


@every_kind
@every_relation
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_noise_and_loss_are_those_of_the_theorem(key: str, relation: str, calibration: str) -> None:
    query = made(key, relation, calibration=calibration, steps=7, clip="0.5", lattice=10, epsilon="0.3")
    change = (2 if relation == "replace" else 1) * 512
    d, steps, rho = query.width, 7, Fraction(9, 200)
    check_all_steps_are_paid_for(query)
    if calibration == "gaussian":
        assert query.amount == Fraction(change**2 * steps) / (2 * rho) and query.loss() == Gaussian(rho)
    elif calibration == "l2_laplace":
        assert Fraction(change**2 * steps) / (2 * query.amount**2) <= rho == query.loss().rho
        assert change**2 * steps / (2 * (query.amount - Fraction(1, 10**5)) ** 2) > rho
    else:
        side = (2 if relation == "replace" else 1) * (512 * query.layout.most >> ROW_BITS)
        each = side / query.amount
        assert query.loss().times == d * steps and query.loss().part.epsilon == each
        assert d * steps * each**2 / 2 <= rho < d * steps * (each + Fraction(1, 10**9)) ** 2 / 2
        assert abs(side / change - 1 / math.sqrt(2)) < 0.01  # two columns, the constant one of them


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_a_spend_buys_the_least_noise_that_fits(calibration: str, tmp_path: Path) -> None:
    rule, spend = Rule.make(Fraction(1), Fraction(1, 10**6)), Fraction(6, 10)
    table = small_table(tmp_path, 60)
    query = table.training_for("train_linear", spend, target="pay", features=["age"], calibration=calibration)

    def price(epsilon: Fraction) -> Fraction:
        return filter.share(rule, Totals.NOTHING, cost(replace(query, epsilon=epsilon).loss(), rule.alpha))

    assert price(query.epsilon) <= spend == Fraction(6, 10)
    assert price(query.epsilon + Fraction(1, 10**4)) > spend


# How it goes


def small_table(folder: Path, people: int, relation: str = "replace", budget: str = "1", name: str = "t") -> dp.Table:
    rng = np.random.default_rng(people)
    age = rng.integers(0, 101, people)
    pay = np.clip(20 * age + rng.integers(0, 500, people), 0, 2_500)
    sure = np.where(age + rng.integers(0, 20, people) > 60, "yes", "no")
    rows = [",".join(map(str, row)) for row in zip(age, pay, sure, strict=True)]
    rows[0] = ",," if people > 3 else rows[0]
    source = folder / f"{name}-{people}.csv"
    source.write_text("age,pay,sure\n" + "\n".join(rows) + "\n", encoding="utf-8")
    schema = dp.Schema({"age": dp.Number(0, 100), "pay": dp.Number(0, 2_500), "sure": dp.Category(["yes", "no"])})
    home = dp.open_workspace(folder / "home")
    terms: dict[str, Any] = {} if relation == "replace" else {"about_rows": people}
    return home.add_table(
        name, source, schema=schema, unit=dp.Unit.rows(), relation=relation, budget=dp.Budget(budget, "1e-6"), **terms
    )


def test_a_model_is_trained_and_found_again(tmp_path: Path) -> None:
    """With much to spend the truth comes out: 20 for a year; and the ledger holds all of it."""
    table = small_table(tmp_path, 2_000, budget="100")
    query = table.query("train_linear", target="pay", features=["age"], epsilon="5", steps=30, rate="1", clip="2")
    answer = table.ask(query, "one")
    assert abs(answer.value["age"] - 20) < 4 and answer.path is not None and answer.path.steps == 30
    assert answer.path.points[0] == (0, (0, 0)) and answer.path.points[-1][0] == 30 and not answer.path.stopped
    again = table.recall(query)[0]
    assert (again.value, again.interval, again.path) == (answer.value, answer.interval, answer.path)
    low, high = answer.interval["age"]
    assert low < answer.value["age"] < high
    model = query.model(answer.path.weights)
    told = answer.value["constant"] + 50 * answer.value["age"]
    assert abs(model.predict({"age": 50}) - told) < 1e-6 and model_from_json(model.as_json()) == model
    assert model.predict({"age": 1e6}) == model.predict({"age": 100})  # as in training, within the declared range
    chance = table.ask(table.query("train_logistic", target="sure", features=["age"], epsilon="5", steps=10))
    sure = chance.query.model(chance.path.weights)
    assert sure.predict({"age": 100}) > 0.55 > 0.45 > sure.predict({"age": 0})
    line = table.ask(table.query("train_hinge", target="sure", features=["age"], epsilon="5", steps=10))
    split = line.query.model(line.path.weights)
    assert split.predict({"age": 100}) > 0 > split.predict({"age": 0})  # a score
    assert model_from_json(split.as_json()) == split and split.as_json()["kind"] == "hinge"


def test_stopping_keeps_the_charge_and_the_model_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_table(tmp_path, 50, budget="10")
    query = table.query("train_linear", target="pay", features=["age"], epsilon="0.3", steps=500, region="ball")
    price, begun = table.preview(query).cost, threading.Event()
    read = type(table._workspace).read

    def slowly(self: Any, *given: Any) -> Any:
        begun.set()
        return read(self, *given)

    monkeypatch.setattr(type(table._workspace), "read", slowly)
    table.submit(query, "long")
    assert begun.wait(PATIENCE) and table.cancel("long") and not table.cancel("nobody")
    job = table._workspace.jobs.wait("long", 60)
    assert job.state == "done"
    answer = table._workspace.job("long").answer
    assert answer is not None and answer.path is not None and answer.path.stopped
    assert 1 <= answer.path.steps < 500 and answer.path.of == 500 and len(answer.path.points) <= 60
    assert table.meter().spent_epsilon == price  # as for all of it


def test_a_plan_may_hold_a_training(tmp_path: Path) -> None:
    table = small_table(tmp_path, 50, budget="10")
    queries = [
        table.query("train_linear", target="pay", features=["age"], epsilon="0.1", steps=2),
        table.query("mean", column="pay", epsilon="0.1"),
    ]
    table.submit_plan(queries, "both")
    assert table._workspace.jobs.wait("both", 60).over
    assert all(entry.outcome is not None and entry.outcome.kind == "answer" for entry, _ in table.run("both").rows)


def test_every_step_is_charged_before_the_first_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_table(tmp_path, 50, budget="10")
    query = table.query("train_linear", target="pay", features=["age"], epsilon="0.3", steps=3)
    seen = []
    read = type(table._workspace).read

    def watched(self: Any, *given: Any) -> Any:
        seen.append(table.meter().spent_epsilon)
        return read(self, *given)

    monkeypatch.setattr(type(table._workspace), "read", watched)
    table.ask(query)
    assert set(seen) == {table.meter().spent_epsilon} and len(seen) in (LOOKS + 1, LOOKS + 3)


# How far the noise carries


class Silent(SeededCoins):
    """Coins without noise: the noiseless twin of a training, rounded as the real one is."""

    def laplace(self, values: Any, scale: Fraction) -> list[int]:
        return list(values)

    gaussian = laplace


@every_smooth_kind
@pytest.mark.parametrize("calibration", ["gaussian", pytest.param("l2_laplace", marks=pytest.mark.long)])
def test_intervals_hold_the_model_without_noise(key: str, calibration: str) -> None:
    """β = 0.2, all coefficients at once; a right bound fails with probability at most 1e-6. Clipping and projection are
    both at work."""
    rng = np.random.default_rng()
    rows = [POSSIBLE_ROWS[place] for place in rng.integers(0, len(POSSIBLE_ROWS), 20)]
    given = {"steps": 6, "clip": "0.4", "calibration": calibration, "beta": "0.2", "radius": "0.7", "about": 20}
    query = made(key, **given, rate=str(2 / made(key).smooth), iterate="tail", epsilon="20")
    assert query.interval_reason() is None
    truth = query.ended(walked(query, rows, Silent(1))).value
    draws, coins = 40, SystemCoins()
    missed = 0
    for _ in range(draws):
        told = query.ended(walked(query, rows, coins))
        missed += any(not low <= truth[name] <= high for name, (low, high) in told.interval.items())
    assert missed <= allowed_failures(draws, 0.2)


def test_the_chi_square_bound_is_one() -> None:
    """`spread` against the law itself: a bound, and not a loose one."""
    rng = np.random.default_rng()
    for d in (1, 5, 40):
        q = spread(d, 0.05)
        over = (rng.chisquare(d, 20_000) > q).sum()
        assert over <= allowed_failures(20_000, 0.05)
        assert (q / d) ** (d / 2) * math.exp((d - q) / 2) <= 0.05 * (1 + 1e-9)


def test_no_interval_where_none_can_be_proved() -> None:
    assert made("train_linear", "add_remove", region="ball").interval_reason() == "train.interval.nominal"
    fast = made("train_linear", rate="3")
    assert fast.diverges and fast.interval_reason() == "train.interval.rate"
    corner = made("train_hinge", rate="1000")
    assert not corner.diverges and corner.interval_reason() == "train.interval.corner"
    assert corner.release(corner.need().of(POSSIBLE_ROWS), SystemCoins()).interval is None
    value = fast.need().of(POSSIBLE_ROWS)
    assert fast.release(value, SystemCoins()).interval is None


@pytest.mark.parametrize("region", ["ball", "box"])
def test_a_step_never_leaves_the_region(region: str) -> None:
    """Also where it diverges."""
    rng = np.random.default_rng()
    query = made("train_linear", region=region, radius="0.3", rate="1000", steps=30)
    edge = int(query.radius * 2**WEIGHT_BITS)
    for _ in range(200):
        there = query.moved((0,) * query.width, tuple(rng.integers(-(2**40), 2**40, query.width).tolist()))
        assert max(map(abs, there)) <= edge
        assert region == "box" or sum(one * one for one in there) <= edge * edge


# Bad input, beyond what tests/leaks/refusals.py causes


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("column.wrong_kind", {"target": "c"}),
        ("column.unknown", {"target": "nobody"}),
        ("column.unknown", {"features": ["nobody"]}),
        ("train.features", {"features": []}),
        ("train.steps", {"steps": 100_000}),
        ("train.steps", {"steps": "1.5"}),
        ("train.rate", {"rate": "0.0000001"}),
        ("train.few", {"features": ["x", "c"]}),
        ("query.parameter", {"where": [["x", ">", 1]]}),
    ],
)
def test_bad_input_is_one_sentence(code: str, given: dict[str, Any]) -> None:
    with pytest.raises(AllowanceError) as refused:
        build("train_linear", KINDS["train_linear"] | given, "replace")
    wanted = {code} | ({"query.missing"} if given.get("features") == [] else set())
    assert refused.value.code in wanted and str(refused.value).endswith(".")


@pytest.mark.parametrize("bits", [3, 24])
def test_the_pull_of_a_hinge_is_its_subgradient(bits: int) -> None:
    """max(0, 1 − y·m): a slope of −y below the margin and 0 from it on, for both sides and at the corner itself."""
    need = GradientSum(replace(made("train_hinge").layout), (0, 0), 1 << bits, bits)
    one = 1 << ROW_BITS + WEIGHT_BITS
    for margin in (-3 * one, -one - 1, -one, -one + 1, 0, one - 1, one, one + 1, 3 * one):
        for target, side in ((1, 1), (0, -1)):
            pull = need.residual(margin, target)
            assert pull == (-side << bits if side * margin < one else 0)

            def loss(at: int, side: int = side) -> Fraction:
                return max(Fraction(0), 1 - Fraction(side * at, one))

            for other in (-2 * one, 0, one // 2, one, 2 * one):  # convex: never below the line with that slope
                assert loss(other) >= loss(margin) + Fraction(pull, 1 << bits) * Fraction(other - margin, one)


def test_sides_of_a_logistic_target() -> None:
    query = build("train_logistic", {"target": "t", "features": ["x"], "positive": ["w"], "negative": ["u"]}, "replace")
    assert (query.layout.yes, query.layout.no) == ((2,), (0,))  # type: ignore[attr-defined]
    usual = build("train_logistic", {"target": "t", "features": ["x"]}, "replace")
    assert usual.positive == ("u",) and usual.negative == ("v", "w")  # type: ignore[attr-defined]
    assert facts("replace").schema.category("t").size == 3


def test_model_in_the_units_of_its_columns() -> None:
    query = made("train_linear")
    model = Model(query.layout, tuple(int(one * 2**WEIGHT_BITS) for one in (0.4, -0.7)))
    told = model.coefficients()
    for x in range(4):
        assert told["constant"] + told["x"] * x == pytest.approx(model.predict({"x": x}))


def test_which_iterates_are_kept() -> None:
    """The average is of all but the first, which has learned nothing; the second half, or the last alone."""
    walk = [(0, 0), (8, -8), (0, 4), (4, 4), (12, -12)]
    kept = {"average": (6, -3), "tail": (8, -4), "last": (12, -12)}
    for name, weights in kept.items():
        assert made("train_linear", iterate=name, steps=4).path(walk).weights == weights


@pytest.mark.long  # that no statement is deep: tests/engine/statistics/test_engines.py
def test_a_target_of_600_values_is_trained_on(tmp_path: Path) -> None:
    """It once failed after the charge: the statement had one “or” inside the other for every value."""
    values = [f"v{place}" for place in range(600)]
    (tmp_path / "t.csv").write_text("x,c\n" + "".join(f"{place % 10},{one}\n" for place, one in enumerate(values)))
    schema = dp.Schema({"x": dp.Number(0, 9), "c": dp.Category(values)})
    ws, budget = dp.open_workspace(tmp_path / "home"), dp.Budget(3, Fraction(1, 10**6))
    table = ws.add_table("t", tmp_path / "t.csv", schema=schema, unit=dp.Unit.rows(), budget=budget)
    for key in ("train_logistic", "train_hinge"):
        query = table.query(key, target="c", positive=values[::2], features=["x"], epsilon="0.1")
        assert set(table.ask(query).value) == {"constant", "x"}
