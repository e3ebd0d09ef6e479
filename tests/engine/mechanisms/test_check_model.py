"""The check of a trained model: what is counted, what it promises, and what is refused before anything is spent."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest
from battery import POSSIBLE_ROWS, allowed_failures, build, check_sensitivity

import dpengine as dp
from dpengine.accountant.history import Past
from dpengine.accountant.loss import Approximate, Gaussian, Pure
from dpengine.core.errors import AllowanceError
from dpengine.declared.facts import Facts
from dpengine.declared.read_group import read_ref
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms.models.check_model import CheckChances, CheckErrors
from dpengine.mechanisms.trial import HALF, WORLD, model
from dpengine.messages import say
from dpengine.noise.coins import SystemCoins
from dpengine.population.validity import flattery
from dpengine.statistics import view
from dpengine.statistics.counts import flag_name
from dpengine.statistics.features import Layout, Model, layout_of
from dpengine.workspace import Workspace

SOME = [["c", "in", ["a"]]]
every_relation = pytest.mark.parametrize("relation", RELATIONS)
COLUMNS = dp.Schema(
    {
        "age": dp.Number(18, 90),
        "town": dp.Category(["North", "South", "West"]),
        "born": dp.Date("1950-01-01", "1950-03-01"),
        "pay": dp.Number(0, 5000, step=10),
        "owns": dp.Category(["yes", "no"], unknown="no", missing="no"),
    }
)
FEATURES = ("age", "town", "born")
WEIGHTS = (2**22, 2**24, -(2**22), 2**21, 0, 2**20, -(2**23), 2**23)  # constant, age, five labels of town, born


def long(given: dict[str, Any]) -> Any:
    return pytest.param(given, marks=pytest.mark.long)


def learned(target: str, weights: tuple[int, ...] = WEIGHTS) -> Model:
    sides = ((0,), (1,)) if target == "owns" else ((), ())
    return Model(Layout(FEATURES, tuple(COLUMNS[name] for name in FEATURES), target, COLUMNS[target], *sides), weights)


@pytest.mark.long
@pytest.mark.every(9)
@every_relation
def test_the_baseline_stands_beside_the_score_and_keeps_its_chance(relation: str) -> None:
    """Of 400 draws each. A model no better than always *no*: it is said to beat that, or to lose, in 1 of 20 draws at
    most (β = 0.05; false alarm 1e-6 by the binomial tail). One that is clearly better or worse is told so."""
    facts = Facts("t", COLUMNS, dp.Unit.rows(), relation, 900)  # type: ignore[arg-type]
    query, other = (
        dp.catalogue["check_model"].build(facts, {"model": learned(target).as_json(), "epsilon": "1"})
        for target in ("owns", "pay")
    )
    assert isinstance(query, CheckChances) and isinstance(other, CheckErrors) and other.beside(()) == ""
    coins, draws = SystemCoins(), 400
    even = ((20, 60),) * 5 + ((50, 50),) * 5  # 350 yes and 550 no; what it finds yes is so for half
    better, worse = even[:5] + ((80, 20),) * 5, even[:5] + ((20, 80),) * 5

    def told(cells: Any) -> list[str]:
        flat = tuple(count for cell in cells for count in cell)
        drawn.extend(tuple(query.draw(flat, coins)) for _ in range(draws))
        return [query.beside(one) for one in drawn[-draws:]]

    drawn: list[tuple[int, ...]] = []
    beats, beaten, unsure = (str(say(f"check_model.{word}")) for word in ("beats", "beaten", "unsure"))
    assert sum(not one.endswith(unsure) for one in told(even)) <= allowed_failures(draws, 0.05)
    assert all(one.endswith(beats) for one in told(better))
    found = [re.findall(r"between (\d+) and (\d+)", query.finds(one)) for one in drawn[-draws:]]  # 400 of 500, twice
    off = [any(not int(low) <= 80 <= int(high) for low, high in both) for both in found]
    assert all(len(both) == 2 for both in found) and sum(off) <= allowed_failures(draws, 0.05)
    assert query.finds((1,) * 20) == other.finds(()) == "", "noise alone is told"
    assert all(one.endswith(beaten) for one in told(worse))
    ends = [tuple(map(int, re.findall(r"(\d+) to (\d+) of 100", one)[0])) for one in told(even)]
    assert sum(not low <= 550 / 9 <= high for low, high in ends) <= allowed_failures(draws, 0.05)


def people(count: int) -> pd.DataFrame:
    """Some without an age; towns that are not listed, pay beyond the range."""
    rng = np.random.default_rng()
    age = [str(one) if one > 20 else "" for one in rng.integers(15, 95, count)]
    born = pd.Timestamp("1949-12-20") + pd.to_timedelta(rng.integers(0, 90, count), unit="D")
    return pd.DataFrame(
        {
            "age": age,
            "town": rng.choice(["North", "South", "West", "Moon", ""], count),
            "born": born.strftime("%Y-%m-%d"),
            "pay": rng.integers(-100, 6000, count),
            "owns": rng.choice(["yes", "no", "?"], count),
        }
    )


@pytest.fixture(name="table", scope="module")
def made_table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Table]:
    workspace = Workspace(tmp_path_factory.mktemp("var"))
    yield workspace.add_table(
        "people",
        people(900),
        schema=COLUMNS,
        unit=dp.Unit.rows(),
        relation="replace",
        budget=dp.Budget("50", "1e-6"),
    )
    workspace.close()


def coded(table: dp.Table) -> list[dict[str, int]]:
    import pyarrow.parquet as pq

    (path,) = table._workspace.folder.glob("tables/*/coded-1.parquet")
    read = pq.read_table(path, columns=[f"c{place}" for place in range(len(COLUMNS.columns))]).to_pydict()
    return [dict(zip(COLUMNS.columns, row, strict=True)) for row in zip(*read.values(), strict=True)]


# --- what is counted --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["owns", "pay"])
@pytest.mark.parametrize("where", [[], [["age", ">=", 40], ["town", "in", ["North", "other"]]]], ids=["all", "some"])
def test_the_engine_counts_as_the_reference_does(table: dp.Table, target: str, where: list[Any]) -> None:
    query = table.query("check_model", model=learned(target).as_json(), where=where, parts=6, epsilon="1")
    rows, need = coded(table), query.need()
    found = table._workspace.engine.duck.read(
        need, next(table._workspace.folder.glob("tables/*/coded-1.parquet")), COLUMNS
    )
    assert found == need.of(rows) and sum(found) and found != (0,) * len(found)


@pytest.mark.parametrize("target", ["owns", "pay"])
def test_the_engine_counts_a_model_of_cells_as_the_reference_does(table: dp.Table, target: str) -> None:
    """Rows without an age, and those that do not fit, are in cells of their own."""
    import pyarrow.parquet as pq

    refs = [read_ref({"column": "age", "step": 10}, COLUMNS), "town"]
    sides: tuple[tuple[int, ...], ...] = ((0,), (1,)) if target == "owns" else ((), ())
    layout = layout_of(COLUMNS, refs, target, *sides)
    weights = np.random.default_rng(3).integers(-(2**24), 2**24, layout.width).tolist()
    query = table.query("check_model", model=Model(layout, tuple(weights)).as_json(), parts=6, epsilon="1")
    path = next(table._workspace.folder.glob("tables/*/coded-1.parquet"))
    flags = pq.read_table(path)[flag_name(f"c{list(COLUMNS.columns).index('age')}")].to_pylist()
    rows = [row | {"kind age": flag} for row, flag in zip(coded(table), flags, strict=True)]
    found = table._workspace.engine.duck.read(query.need(), path, COLUMNS)
    assert found == query.need().of(rows) and sum(flags) and sum(found) and any(row["age"] < 0 for row in rows)
    assert {*query.used()} == {"age", "town", target}, "its claim could not be read again"


def test_a_condition_with_a_long_list_finds_both_its_list_and_the_weights(
    table: dp.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are looked up in tables beside the rows; without one of them the answer fails after its charge."""
    monkeypatch.setattr(view, "MOST_RUNS", 1)
    where = [["town", "in", ["North", "West"]]]
    need = table.query("check_model", model=learned("owns").as_json(), where=where, parts=8, epsilon="1").need()
    path = next(table._workspace.folder.glob("tables/*/coded-1.parquet"))
    assert table._workspace.engine.duck.read(need, path, COLUMNS) == need.of(coded(table))


@every_relation
@pytest.mark.parametrize(
    "given",
    [
        {"parts": 4, "model": model(WORLD, "t", "z", (0,), (2,), HALF, 4 * HALF), "where": SOME},
        {"parts": 2, "error_steps": 4, "model": model(WORLD, "x", "c", (), (), 0, -HALF, HALF)},
        long({"parts": 2, "error_steps": 1024, "model": model(WORLD, "z", "c", (), (), 0, -HALF, HALF)}),
        long(
            {"parts": 6, "error_steps": 8, "most_error": "6", "model": model(WORLD, "z", "c", (), (), 0, -2 * HALF, 0)}
        ),
    ],
    ids=["chances", "missing", "fine", "uncut"],
)
def test_more_variants_by_brute_force(relation: str, given: dict[str, Any]) -> None:
    check_sensitivity(build("check_model", given, relation))


def test_edges_are_the_chances_they_stand_for() -> None:
    query = build("check_model", {"parts": 20, "model": model(WORLD, "c", "x", (0,), (1,), 0, HALF)}, "replace")
    assert isinstance(query, CheckChances) and query.edges[9] == 0
    for place, edge in enumerate(query.edges, start=1):
        assert 1 / (1 + math.exp(-edge / 2**40)) == pytest.approx(place / 20, abs=1e-12)


def test_a_score_has_even_bins_between_one_margin_and_the_other() -> None:
    """Rows beyond are in the first and the last; the middle is where yes begins, as in the verdict."""
    told = model(WORLD, "c", "x", (0,), (1,), 0, HALF)
    query = build("check_model", {"model": told | {"kind": "hinge"}, "parts": 4}, "replace")
    assert isinstance(query, CheckChances) and not query.calibrated and query.said == (-1, 1)
    assert [edge / 2**40 for edge in query.edges] == [-0.5, 0, 0.5]
    assert query.labels() == ["right", "score below -0.5", "score -0.5 to 0", "score 0 to 0.5", "score 0.5 or more"]
    same = build("check_model", {"model": told, "parts": 2}, "replace")
    other = build("check_model", {"model": told | {"kind": "hinge"}, "parts": 2}, "replace")
    assert same.need().of(POSSIBLE_ROWS) == other.need().of(POSSIBLE_ROWS)


def test_no_row_is_further_off_than_the_bound_and_rounding_is_within_half_a_step() -> None:
    given = {"parts": 2, "error_steps": 8, "model": model(WORLD, "z", "c", (), (), 0, -HALF, HALF)}
    query = build("check_model", given, "replace")
    assert isinstance(query, CheckErrors) and query.bound == 3
    need, step = query.need(), 2.0**-3  # the range is ±1, so half of it is 1
    for row in POSSIBLE_ROWS:
        margin, target = need.layout.margin(row, need.weights), need.layout.target_of(row)
        assert margin is not None and target is not None
        away = target / 2**16 - max(min(margin / 2**40, 1), -1)
        assert abs(need.residual(margin, target) * step - max(min(away, 1), -1)) <= step / 2 + 1e-9
    assert need.residual(2**60, -(2**16)) == -8 and need.residual(-(2**60), 2**16) == 8


# --- what is told -----------------------------------------------------------------------------------------------------


def truth_of(query: Any, rows: list[Any]) -> dict[str, float]:
    """The plain answer in floats, from the model's own predictions, written apart from the mechanism."""
    layout, goal = query.model.layout, query.model.layout.goal
    told = []
    for row in rows:
        code = row[layout.target]
        if not query.where.holds(row) or code < 0 or any(row[name] < 0 for name in layout.names):
            continue
        cells = zip(layout.names, layout.columns, strict=True)
        said = query.model.predict({name: column.value(row[name]) for name, column in cells})
        if query.model.kind == "logistic":
            if code in (*layout.yes, *layout.no):
                told.append((said, code in layout.yes))
        else:
            kept = min(max(said, float(goal.lower)), float(goal.upper))
            off, most = float(goal.value(code)) - kept, float(query.bound)
            told.append(((kept - float(goal.lower)) / float(goal.diameter), min(max(off, -most), most)))
    bins: list[list[float]] = [[] for _ in range(query.parts)]
    for said, value in told:
        bins[min(int(said * query.parts), query.parts - 1)].append(float(value))
    values = np.array([value for _, value in told], dtype=float)
    if query.model.kind == "logistic":
        first = [100 * float(np.mean([(said >= 0.5) == value for said, value in told]))]
        means = [100 * float(np.mean(one)) if one else math.nan for one in bins]
    else:
        first = [float(np.sqrt(np.mean(values**2))), float(values.mean())]
        means = [float(np.mean(one)) if one else math.nan for one in bins]
    return dict(zip(query.labels(), first + means, strict=True))


@pytest.mark.every(9)
@every_relation
@pytest.mark.parametrize(
    "given",
    [
        {"parts": 4, "model": model(WORLD, "c", "x", (0,), (1,), HALF // 7, HALF)},
        long({"parts": 2, "model": model(WORLD, "d", "z", (0,), (1,), 0, -3 * HALF), "noise": "gaussian"}),
        {"parts": 2, "error_steps": 64, "model": model(WORLD, "z", "c", (), (), HALF // 9, -HALF, HALF)},
        long({"parts": 4, "error_steps": 16, "model": model(WORLD, "x", "d", (), (), 0, -HALF, HALF), "where": SOME}),
    ],
    ids=["chances", "gaussian", "errors", "some"],
)
def test_ranges_hold_the_truth(relation: str, given: dict[str, Any]) -> None:
    """β = 0.2, 150 draws on a table of 300 people, all figures at once; false alarms below 1e-6."""
    rng = np.random.default_rng()
    rows = [POSSIBLE_ROWS[place] for place in rng.integers(0, len(POSSIBLE_ROWS), 300)]
    query = build("check_model", given | {"beta": "0.2"}, relation, "2", about=300)
    value, truth, coins, missed = query.need().of(rows), truth_of(query, rows), SystemCoins(), 0
    for _ in range(150):
        answer = query.release(value, coins)
        assert list(answer.value) == list(answer.interval) == query.labels()
        missed += any(
            not low - 1e-3 <= truth[name] <= high + 1e-3
            for name, (low, high) in answer.interval.items()
            if not math.isnan(truth[name])
        )
    assert missed <= allowed_failures(150, 0.2)


def test_a_first_figure_keeps_its_promise() -> None:
    """At β = 0.2; where n is public the promise is no guess."""
    query = build(
        "check_model",
        {"parts": 2, "model": model(WORLD, "d", "z", (0,), (1,), 0, HALF), "beta": "0.2"},
        "replace",
        "0.5",
        about=1000,
    )
    promise, rows = query.promise(), [POSSIBLE_ROWS[place % 8] for place in range(1000)]
    value, coins = query.need().of(rows), SystemCoins()
    truth = truth_of(query, rows)["right"]
    missed = sum(abs(query.release(value, coins).value["right"] - truth) > promise.alpha for _ in range(200))
    assert not promise.nominal and promise.alpha < 3 and missed <= allowed_failures(200, 0.2)
    assert build("check_model", {"model": model(WORLD, "d", "z", (0,), (1,), 0, HALF)}, "add_remove").promise().nominal


@pytest.mark.parametrize("target", ["owns", "pay"])
def test_it_is_asked_paid_for_and_found_again(table: dp.Table, target: str) -> None:
    given = learned(target).as_json()
    query = table.query("check_model", model=json.dumps(given), epsilon="1")
    assert query == table.query("check_model", model=given, epsilon="1", parts=10)
    before = table.meter().unused
    answer = table.ask(query)
    assert table.meter().unused < before and set(answer.value) == set(query.labels())
    assert all(low <= answer.value[name] <= high for name, (low, high) in answer.interval.items())
    assert table.answer_of(table.history(1)[0]).value == answer.value
    assert query.used() == {*FEATURES, target} and query.known is None


# --- what is refused --------------------------------------------------------------------------------------------------

GOOD = learned("pay").as_json()
YES_NO = learned("owns").as_json()
REFUSED: list[tuple[str, Any, dict[str, Any]]] = [
    ("query.missing", None, {}),
    ("check_model.model", "nonsense {", {}),
    ("check_model.model", [1, 2], {}),
    ("check_model.model", GOOD | {"features": []}, {}),
    ("check_model.model", GOOD | {"bits": 20}, {}),
    ("check_model.model", GOOD | {"kind": "logistic"}, {}),
    ("check_model.model", GOOD | {"weights": list(WEIGHTS[:-1])}, {}),
    ("check_model.model", GOOD | {"features": [*GOOD["features"], GOOD["target"]]}, {}),
    ("check_model.weights", GOOD | {"weights": [0.5, *WEIGHTS[1:]]}, {}),
    ("check_model.weights", GOOD | {"weights": [True, *WEIGHTS[1:]]}, {}),
    ("check_model.weights", GOOD | {"weights": [2**41, *WEIGHTS[1:]]}, {}),
    ("check_model.other", GOOD | {"target": ["debt", COLUMNS["pay"].as_json()]}, {}),
    ("check_model.other", GOOD | {"target": ["pay", dp.Number(0, 4000, step=10).as_json()]}, {}),
    ("check_model.sides", YES_NO | {"yes": [0], "no": [0]}, {}),
    ("check_model.sides", YES_NO | {"yes": [], "no": [1]}, {}),
    ("check_model.sides", YES_NO | {"yes": [0], "no": [7]}, {}),
    *(("check_model.parts", YES_NO, {"parts": parts}) for parts in (0, 1, 3, 22, "2.5", -2)),
    ("check_model.linear_only", YES_NO, {"error_steps": 4}),
    *(("check_model.most_error", GOOD, {"most_error": most}) for most in (0, -1, 5001)),
    *(("check_model.error_steps", GOOD, {"error_steps": steps}) for steps in (1, 3, 2048, "0.5")),
    ("query.noise", YES_NO, {"noise": "loud"}),
    ("query.parameter", GOOD, {"noise": "gaussian"}),
    ("query.parameter", GOOD, {"bins": 4}),
]


@pytest.mark.parametrize(("code", "given", "more"), REFUSED)
def test_bad_input_is_one_sentence_and_nothing_is_spent(
    table: dp.Table, code: str, given: Any, more: dict[str, Any]
) -> None:
    head = table._workspace.ledger.head()
    with pytest.raises(AllowanceError) as refused:
        table.query("check_model", model=given, epsilon="1", **more)
    assert refused.value.code == code and str(refused.value).endswith(".") and "\n" not in str(refused.value)
    assert table._workspace.ledger.head() == head


def test_the_bound_is_rounded_up_to_a_halved_range(table: dp.Table) -> None:
    for wanted, bound in ((5000, 5000), (2501, 5000), (2500, 2500), (1, F(5000, 2**12)), ("0.001", F(5000, 2**16))):
        query = table.query("check_model", model=GOOD, epsilon="1", most_error=wanted)
        assert isinstance(query, CheckErrors) and query.bound == bound
        assert type(query).build(query.facts, query.parameters()) == query


# --- how much a model flatters itself ---------------------------------------------------------------------------------


def test_flattery_is_the_root_of_half_rho() -> None:
    """The same under both relations: as one law to compare with, that without the person does as well as any."""
    for relation in RELATIONS:
        assert F(1, 100) <= flattery(Past.of([Gaussian(F(2, 10**4))]), relation) <= F(1, 100) + F(1, 10**6)
        assert flattery(Past.of([Approximate(F(1, 100), F(1, 10**9))]), relation) == 1
    pure = Past.of([Pure(F(1, 5))])
    assert float(flattery(pure, "replace")) == pytest.approx(math.tanh(0.05), abs=2e-6)
    assert float(flattery(pure, "add_remove")) == pytest.approx(math.tanh(0.1), abs=2e-6)
    assert flattery(Past.of([Pure(F(50))]), "replace") == 1


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_training_of_a_tiny_table_flatters_itself_more(epsilon: float) -> None:
    """By enumeration: n coins; the model says which side is commoner, by randomised majority of ε. Its expected share
    of right answers on the table, less that in the population, against the bound."""
    for n in (1, 3, 7):
        p, gap = 0.5, 0.0
        for ones in range(n + 1):
            weight = math.comb(n, ones) * p**ones * (1 - p) ** (n - ones)
            keep = math.exp(epsilon) / (1 + math.exp(epsilon))  # an ε-DP choice of the majority
            share = max(ones, n - ones) / n
            gap += weight * (keep * share + (1 - keep) * (1 - share) - 0.5)
        assert gap <= flattery(Past.of([Pure(F(epsilon))]), "replace")
