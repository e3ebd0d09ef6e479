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

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian
from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import Schema
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.excess import CALIBRATIONS
from dpengine.mechanisms.models.noise_carried import spread
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.mechanisms.stepwise import Path as Walk
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.features import ROW_BITS, WEIGHT_BITS, Layout, Model, centred, model_from_json
from dpengine.statistics.gradient import GradientSum
from tests.planted.trained import change_at, check_all_steps_are_paid_for, check_gradients_at_weights

KINDS: dict[str, dict[str, Any]] = {
    "train_linear": {"target": "z", "features": ["x"]},
    "train_logistic": {"target": "c", "features": ["x"]},
}
every_kind = pytest.mark.parametrize("key", sorted(KINDS))
every_relation = pytest.mark.parametrize("relation", RELATIONS)


def made(key: str, relation: str = "replace", unit: Unit | None = None, epsilon: str = "1", **given: Any) -> Any:
    about = given.pop("about", 10)
    found = build(key, KINDS[key] | given, relation, epsilon, about=about, unit=unit)
    assert isinstance(found, OfGradients)
    return found


def some_weights(query: OfGradients, rng: np.random.Generator, edge: float = 1.0) -> tuple[int, ...]:
    """Inside the region, often at its edge."""
    there = rng.normal(size=query.width)
    there *= edge * float(query.radius) / np.linalg.norm(there)
    return tuple(int(one * 2**WEIGHT_BITS * (1 - 1e-9)) for one in there)


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


@pytest.mark.parametrize("target", ["pay", "sure"])
def test_the_engine_computes_what_the_reference_means(target: str, tmp_path: Path) -> None:
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
    layout = Layout(names, tuple(COLUMNS[name] for name in names), target, COLUMNS[target], *sides)  # type: ignore[arg-type]
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


def test_stopping_keeps_the_charge_and_the_model_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_table(tmp_path, 50, budget="10")
    query = table.query("train_linear", target="pay", features=["age"], epsilon="0.3", steps=500)
    price, begun = table.preview(query).cost, threading.Event()
    read = type(table._workspace).read

    def slowly(self: Any, *given: Any) -> Any:
        begun.set()
        return read(self, *given)

    monkeypatch.setattr(type(table._workspace), "read", slowly)
    table.submit(query, "long")
    assert begun.wait(30) and table.cancel("long") and not table.cancel("nobody")
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
    assert seen == [table.meter().spent_epsilon] * 3


# How far the noise carries


def walked(query: OfGradients, rows: Any, coins: Any) -> Walk:
    return query.descend(lambda need: need.of(rows), coins, lambda *_: None, lambda: False)


class Silent(SeededCoins):
    """Coins without noise: the noiseless twin of a training, rounded as the real one is."""

    def laplace(self, values: Any, scale: Fraction) -> list[int]:
        return list(values)

    gaussian = laplace


@every_kind
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
    draws, coins = 120, SystemCoins()
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
    assert made("train_linear", "add_remove").interval_reason() == "train.interval.nominal"
    fast = made("train_linear", rate="3")
    assert fast.diverges and fast.interval_reason() == "train.interval.rate"
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


# The bounds

LONGER = ("average", "last")


def test_excess_bounds_have_the_lecture_as_their_limit() -> None:
    one = excess.TrainingSetting(10**5, 10, 2.0, 1.0, 1.0, 2, 0.5, 1.0, 100)
    calm = replace(one, epsilon=math.inf)
    lecture = 2.0 / math.sqrt(100)
    assert excess.limit(one) == pytest.approx(lecture)
    assert excess.risk(calm, 2.0 / math.sqrt(100)) <= lecture * (1 + 1e-12)
    risks = [
        excess.risk(replace(one, calibration=name), excess.best_rate(replace(one, calibration=name)))
        for name in CALIBRATIONS
    ]
    assert risks == sorted(risks)  # Gaussian noise is best, noise on every coordinate worst
    told = excess.along_epsilon(one, [0.1, 1.0, 10.0])
    assert all([y for _, y in told[name]] == sorted((y for _, y in told[name]), reverse=True) for name in CALIBRATIONS)
    assert excess.along_steps(one, [1, 10])["limit"] == [(1.0, 2.0), (10.0, pytest.approx(2 / math.sqrt(10)))]


@every_kind
def test_what_was_chosen_for_a_person_is_read_again_as_it_was(key: str) -> None:
    """A paid answer is opened by its stored question: also where nearly nothing pulls, or the noise is enormous."""
    for given in ({"clip": "0.000001", "radius": "64", "steps": 1}, {"radius": "0.000001"}, {"iterate": "last"}):
        for epsilon in ("0.0001", "50"):
            query = made(key, "add_remove", epsilon=epsilon, about=1000, **given)
            assert type(query).build(query.facts, query.describe()["parameters"]) == query


def test_a_promise_about_all_rows_is_made_only_where_all_of_them_count() -> None:
    """A label on neither side, a missing number: so many rows count as nobody knows, and the promise says for how many
    it is."""
    schema = Schema({"age": dp.Number(0, 9, missing=0), "sure": dp.Category(["yes", "no"]), "gap": dp.Number(0, 9)})
    facts_ = replace(facts("replace"), schema=schema, about=1000)

    def nominal(features: list[str], **sides: Any) -> bool:
        given = {"target": "sure", "features": features, "epsilon": "1"} | sides
        return bool(dp.catalogue["train_logistic"].build(facts_, given).promise().nominal)

    assert nominal(["age"])  # "other" and "no answer" are on neither side
    assert not nominal(["age"], negative=["no", "other", "no answer"])
    assert nominal(["gap"], negative=["no", "other", "no answer"])


@pytest.mark.parametrize("steps", [1, 4])
def test_the_lecture_s_bound_counts_the_step_that_the_kept_iterates_are_late_by(steps: int) -> None:
    """The model averages w₂ … w_{T+1}, not w₁ … w_T: T+1 steps of gradient and noise are in it."""
    one = excess.TrainingSetting(10**3, 2, 9.0, 1.0, 1.0, 1, 0.5, 1.0, steps, iterate="average")
    rate = 3.0  # beyond 1/β: only the lecture's bound speaks
    late = 81 / (2 * rate * steps) + (steps + 1) / steps * rate / 2 * (1 + one.noise)
    assert excess.risk(one, rate) == pytest.approx(min(late, 18.0)) and late < 18


@pytest.mark.parametrize("iterate", ["tail", *(pytest.param(one, marks=[pytest.mark.long]) for one in LONGER)])
@every_kind
def test_the_promise_is_kept_on_average(key: str, iterate: str) -> None:
    """Excess loss over the best model of the region, 15 trainings of 40 people: its mean is far within the bound."""
    rng = np.random.default_rng()
    rows = [POSSIBLE_ROWS[place] for place in rng.integers(2, len(POSSIBLE_ROWS), 40)]
    query = made(key, "replace", about=40, clip="1", radius="1", steps=12, iterate=iterate, epsilon="8")
    best = min(loss_of(query, one, rows) for one in grid(query))
    runs = [loss_of(query, walked(query, rows, SystemCoins()).weights, rows) - best for _ in range(15)]
    assert np.mean(runs) <= float(query.promise().risk)


def grid(query: OfGradients) -> list[tuple[int, ...]]:
    """Weights all over the region, for two coordinates."""
    assert query.width == 2
    edge = float(query.radius) * 2**WEIGHT_BITS
    turns = np.linspace(0, 2 * math.pi, 37)
    points = [(far * math.cos(turn), far * math.sin(turn)) for far in np.linspace(0, edge, 9) for turn in turns]
    return [(int(one), int(other)) for one, other in points]


def loss_of(query: OfGradients, weights: tuple[int, ...], rows: Any) -> float:
    total = 0.0
    for row in rows:
        margin, target = query.layout.margin(row, weights), query.layout.target_of(row)
        if margin is None or target is None:
            continue
        there = margin / 2 ** (ROW_BITS + WEIGHT_BITS)
        if query.layout.kind == "linear":
            off, edge = abs(there - target / 2**ROW_BITS), float(query.clip)
            total += off * off / 2 if off <= edge else edge * (off - edge / 2)
        else:
            total += math.log1p(math.exp(-there if target else there))
    return total / len(rows)


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
