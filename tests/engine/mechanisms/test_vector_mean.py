"""Several means at once: a hostile search for neighbours that lose more than is claimed, the cut of long rows, the
ranges of all columns together, and bad input."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from battery import allowed_failures
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpengine as dp
from dpengine.accountant import compositions
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.loss import Bounded, Gaussian, Pure, loss_as_json, loss_from_json
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decimal_of
from dpengine.declared.conditions import read_predicate
from dpengine.declared.facts import Facts
from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.sums.vector_mean import ByCoordinate, ByNorm, GaussianByNorm, OfVector, Person, VectorMean
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import max_divergence, renyi
from dpengine.statistics.counts import UNITS, CentredSums
from dpengine.statistics.engines.duck import DuckEngine

F = Fraction
SCHEMA = dp.Schema(
    {
        "a": dp.Number(0, 2, missing=1),
        "b": dp.Number(-10, 10, step=5, missing=0),
        "m": dp.Number(0, 3),  # with empty cells
        "c": dp.Category(["in", "out"], unknown="out", missing="out"),
        "s": dp.ItemSet(["p", "q"]),
    }
)
THREE = Unit.column("who", at_most=3)
IN = [["c", "in", ["in"]]]


def query(relation: str = "replace", unit: Unit | None = None, about: int = 500, **asked: Any) -> VectorMean:
    facts = Facts("t", SCHEMA, unit or Unit.rows(), relation, about)  # type: ignore[arg-type]
    built = catalogue["vector_mean"].build(facts, {"columns": ["a", "b"], "epsilon": "1"} | asked)
    assert isinstance(built, VectorMean)
    return built


# Every neighbour of a person whose rows are anywhere: corners, middles, missing cells, outside the condition

ROWS = [
    {"a": a, "b": b, "m": m, "c": c}
    for (a, b), m, c in [
        *product([(0, 0), (2, 4), (0, 4), (1, 2), (2, 3)], [3], [0]),
        ((2, 4), 0, 0),
        ((2, 4), -1, 0),
        ((0, 0), 0, 1),
    ]
]


def changes(asked: VectorMean) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The statistics of what one person may bring before and after: all there is to a neighbour, since noise is added
    to sums. One each way."""
    most = asked.facts.unit.at_most
    fewest = 0 if asked.facts.unit != Unit.rows() or asked.facts.relation == "add_remove" else 1
    bundles = [rows for many in range(fewest, most + 1) for rows in combinations_with_replacement(ROWS, many)]
    found = {asked.need().of(rows) for rows in bundles}
    nothing = asked.need().of([])
    if asked.facts.relation == "add_remove":
        yield from ((nothing, one) for one in found)
    else:
        yield from {tuple(sorted(pair)) for pair in product(found, found)}  # type: ignore[misc]


HOSTILE = [
    {"columns": ["a", "b"]},
    {"columns": ["a", "b"], "where": IN},
    {"columns": ["a", "b", "m"]},
    {"columns": ["b", "m", "a"], "where": IN, "norm": "0.7", "lattice": 0},
    {"columns": ["a", "b"], "norm": "0.3", "lattice": 1},
]


@pytest.mark.every(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("unit", [Unit.rows(), pytest.param(THREE, marks=pytest.mark.long)], ids=["rows", "three"])
@pytest.mark.parametrize("asked", HOSTILE, ids=str)
def test_no_neighbour_loses_more_than_is_claimed(relation: str, unit: Unit, asked: dict[str, Any]) -> None:
    """Every way of noise, in ε and in Rényi divergence at three orders."""
    orders = (F(3, 2), F(11, 2), F(40))
    for noise, epsilon in product(("", *VectorMean.noises), ("0.5", "3")):
        question = query(relation, unit, epsilon=epsilon, noise=noise, **asked)
        claims = {order: cost(question.loss(), order) for order in orders}
        worst: dict[Fraction, float] = dict.fromkeys(orders, 0.0)
        pure, seen = decimal_of(F(0)), set()
        for before, after in changes(question):
            moves = tuple(abs(x - y) for x, y in zip(before, after, strict=True))
            if moves in seen:
                continue
            seen.add(moves)
            first, second = question.law(tuple(0 for _ in moves)), question.law(moves)
            pure = max(pure, max_divergence(first, second))
            for order in orders:
                worst[order] = max(worst[order], renyi(first, second, float(order)))
        for order, claimed in claims.items():
            assert worst[order] <= float(claimed.renyi) + 1e-9, (noise, epsilon, order)
            if claimed.epsilon is not None:
                assert pure <= decimal_of(claimed.epsilon) + decimal_of(F(1, 10**12)), (noise, epsilon)
        event = question.loss()
        if question.norm == 1 and isinstance(event, Bounded | Gaussian):  # no wider than what some neighbour loses
            assert max(_rho(question, *pair) for pair in changes(question)) == event.rho, noise


def _rho(question: VectorMean, before: tuple[int, ...], after: tuple[int, ...]) -> Fraction:
    moves = zip(question.noised(before), question.noised(after), question.scales, strict=True)
    return sum(((x - y) ** 2 / (2 * scale**2) for x, y, scale in moves), F(0))


@pytest.mark.parametrize("norm", ["0.05", "0.3", "0.577", "0.7", "0.999"])
@pytest.mark.parametrize("lattice", [0, 1, 3, 8])
def test_a_cut_row_is_never_longer_than_its_norm(norm: str, lattice: int) -> None:
    """In exact fractions, over every row of three small grids."""
    need = query(columns=["a", "b", "m"], norm=norm, lattice=lattice).need()
    most, touched = F(norm) ** 2 * 3, 0
    for codes in product(range(3), range(5), range(4)):
        row = need.row(codes)
        length = sum((F(part, need.parts * half) ** 2 for part, half in zip(row, need.halves, strict=True)), F(0))
        own = sum((F(2 * code - half, half) ** 2 for code, half in zip(codes, need.halves, strict=True)), F(0))
        assert length <= min(most, own)
        touched += row != tuple((2 * code - half) * need.parts for code, half in zip(codes, need.halves, strict=True))
        if own > most and lattice == 8:
            assert length >= most * F(9, 10) or most < F(1, 50)
    assert touched


ROW = st.tuples(st.integers(-1, 10**7 - 1), st.integers(-1, 4), st.integers(-1, 1))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROW, max_size=20), share=st.sampled_from([None, "0.05", "0.4", "0.9"]), some=st.booleans())
def test_the_engine_computes_what_it_means(tmp_path: Path, rows: list[Any], share: str | None, some: bool) -> None:
    """Also of the finest grid there is."""
    schema = dp.Schema({"x": dp.Number(0, 10**7 - 1), "y": dp.Number(0, 4), "z": dp.Number(0, 1)})
    names = ("x", "y", "z")
    columns = {f"c{at}": pa.array([row[at] for row in rows], pa.int64()) for at in range(3)}
    pq.write_table(pa.table(columns), tmp_path / "coded.parquet")
    where = read_predicate([["y", ">", 1]] if some else None, schema)
    limit = None if share is None else int(F(share) ** 2 * 3 * UNITS**2)
    need = CentredSums(names, (10**7, 5, 2), 1 if limit is None else 16, limit, where)
    found = DuckEngine().read(need, tmp_path / "coded.parquet", schema)
    assert found == need.of([dict(zip(names, row, strict=True)) for row in rows])


@pytest.mark.every(27)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", ("", *VectorMean.noises))
@pytest.mark.parametrize("norm", ["1", "0.5"])
def test_all_ranges_hold_at_once(relation: str, noise: str, norm: str) -> None:
    """β = 0.2, 300 draws on 400 people; false alarm ≤ 1e-6 by the binomial tail."""
    asked = query(relation, about=400, columns=["a", "b", "m"], noise=noise, norm=norm, beta="0.2", epsilon="0.8")
    rng = np.random.default_rng()
    rows = [ROWS[place] for place in rng.integers(0, len(ROWS), 400)]
    value, truth, coins, missed = asked.need().of(rows), asked.truth(rows), SystemCoins(), 0
    for _ in range(300):
        told = asked.release(value, coins)
        missed += any(not low - 1e-9 <= truth[name] <= high + 1e-9 for name, (low, high) in dict(told.interval).items())
    assert missed <= allowed_failures(300, 0.2)


def test_the_promise_holds_before_anything_is_drawn() -> None:
    """Where n is public: no answer is farther off than promised, but for β. 100 draws, β = 0.2."""
    asked = query(columns=["a", "b"], noise="gaussian", beta="0.2", about=300)
    rows = [ROWS[place % 5] for place in range(300)]
    truth, coins, missed = asked.truth(rows), SystemCoins(), 0
    alphas = dict(zip(asked.promise().columns, asked.promise().alphas, strict=True))
    value = asked.need().of(rows)
    for _ in range(100):
        told = asked.release(value, coins)
        missed += any(abs(told.value[name] - truth[name]) > float(alphas[name]) + 1e-9 for name in truth)
    assert missed <= allowed_failures(100, 0.2)


def test_rows_that_are_pulled_in_are_told_and_compared_with_nothing() -> None:
    """A cut moves an average by up to 1 − s of half its range; as much where everybody is in a corner."""
    asked, whole = query(columns=["a", "b"], norm="0.6"), query(columns=["a", "b"])
    rows = [{"a": 2, "b": 4, "m": 3, "c": 0}] * 20
    assert asked.truth(rows)["b"] == pytest.approx(10 - 0.4 * 10) and whole.truth(rows)["b"] == 10
    assert "60 % of the way to a corner" in asked.sentence() and "corner" not in whole.sentence()
    assert "by up to 40 % of half its range" in asked.cuts()[-1].words()
    assert whole.comparable and not asked.comparable


# The three ways against d


def test_each_way_grows_with_the_columns_as_its_theorem_says() -> None:
    def scale(d: int, way: type[OfVector], epsilon: Fraction, share: Fraction) -> Fraction:
        return way.moved(Person(d, share, 1, True, False)).first / epsilon

    all_of_it = F(1)

    for d in (1, 4, 9, 16):
        assert scale(d, ByCoordinate, F(1), all_of_it) == 2 * d  # ordinary composition: ε/d each
        root = F(math.isqrt(d))
        # one ρ for all: ε = √(2ρd) each, so that noise grows with √d in a corner, and not at all at a fixed length
        assert scale(d, ByNorm, root, all_of_it) == scale(d, ByCoordinate, root, all_of_it) == 2 * root
        assert scale(d, ByNorm, root, 1 / root) == 2
        person = Person(d, F(1), 1, True, False)
        assert GaussianByNorm.loss_of(person, root) == Gaussian(F(1, 2))
        assert ByNorm.loss_of(person, root) == Bounded(root, F(1, 2))


def test_the_length_is_twice_as_much_when_a_row_is_replaced() -> None:
    added, replaced = (GaussianByNorm.moved(Person(6, F(1, 2), 1, kind, False)) for kind in (False, True))
    assert (added.second, replaced.second) == (F(3, 2), 6) and replaced.first == 2 * added.first


def test_the_lectures_constant_is_not_enough() -> None:
    """Its b = Δ√ln(1/δ)/ε, put into its own composition theorem: √2·ε + 2ε²/ln(1/δ), not ε."""
    epsilon, delta, d = F(1, 2), F(1, 10**6), 50
    b = 1 / epsilon * F(math.sqrt(math.log(10**6)))  # for Δ = 1, each coordinate 1/√d
    each = Pure(1 / (b * F(math.sqrt(d))))
    told = compositions.advanced_epsilon([each] * d, delta)
    assert told is not None
    assert float(told) == pytest.approx(math.sqrt(2) * 0.5 + 2 * 0.25 / math.log(10**6), rel=1e-6) and told > epsilon
    ours = compositions.zcdp_epsilon([Bounded(d * each.epsilon, 1 / (2 * b**2))], delta)
    assert ours is not None and epsilon < ours < told


def test_the_loss_is_one_event_with_both_prices() -> None:
    event = Bounded(F(1), F(1, 50))
    assert loss_from_json(loss_as_json(event)) == event
    assert cost(event, F(11, 2)) == Cost(F(1), F(11, 100), F(0))
    assert cost(Bounded(F(1), F(50)), F(11, 2)) == cost(Pure(F(1)), F(11, 2))
    assert cost(event, None).epsilon == 1
    few, many = (compositions.zcdp_epsilon([one] * 20, F(1, 10**6)) for one in (event, Pure(F(1))))
    assert few is not None and many is not None and few < many


# Bad input


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"columns": ["a", "a"]}, "vector.twice"),
        ({"columns": ["a", "c"]}, "vector.kind"),
        ({"columns": ["s"]}, "vector.kind"),
        ({"columns": []}, "vector.columns"),
        ({"columns": {"a": 1}}, "vector.columns"),
        ({"columns": ["a", 3]}, "vector.columns"),
        ({"columns": ["nobody"]}, "column.unknown"),
        ({"columns": [f"x{at}" for at in range(21)]}, "vector.many"),
        ({"norm": "0.04"}, "vector.norm"),
        ({"norm": "1.1"}, "vector.norm"),
        ({"norm": "0.12345"}, "vector.norm"),
        ({"lattice": 9}, "vector.lattice"),
        ({"noise": "flat"}, "query.noise"),
    ],
)
def test_bad_input_is_one_sentence(asked: dict[str, Any], code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        query(**asked)
    assert refused.value.code == code and str(refused.value).endswith(".") and "\n" not in str(refused.value)


@pytest.mark.parametrize("d", [2, 4, 9, 20])
@pytest.mark.parametrize("rows", [1, 3])
def test_many_columns_and_a_count_lose_no_more_than_is_claimed(d: int, rows: int) -> None:
    """Replace-one where N is drawn, by coordinate: k rows leave and l come, at every coordinate's end."""
    person = Person(d, F(1), rows, True, True)
    change = ByCoordinate.moved(person)
    claimed = cost(ByCoordinate.loss_of(person, F(1)), F(11, 2)).renyi
    worst = F(0)
    for leave, come in product(range(rows + 1), repeat=2):
        parts = [Pure((leave + come) * person.largest / change.first)] * d + [
            Pure(abs(leave - come) * change.weight / change.first)
        ]
        worst = max(worst, sum((cost(part, F(11, 2)).renyi for part in parts), F(0)))
    assert worst <= claimed + F(d + 1, 10**12) and worst > claimed / 2


@pytest.mark.parametrize("lattice", [0, 1, 8])
@pytest.mark.parametrize("norm", ["0.3", "0.7"])
def test_what_cutting_on_the_lattice_moves_is_in_the_range(norm: str, lattice: int) -> None:
    asked, most, largest = query(columns=["a", "b", "m"], norm=norm, lattice=lattice), float(norm) * math.sqrt(3), 0.0
    need = asked.need()
    for codes in product(range(3), range(5), range(4)):
        away = [2 * code - half for code, half in zip(codes, need.halves, strict=True)]
        length = math.hypot(*(y / half for y, half in zip(away, need.halves, strict=True)))
        exact = [y * need.parts * min(1.0, most / (length or 1.0)) for y in away]
        off = [abs(one - told) for one, told in zip(exact, need.row(codes), strict=True)]
        assert all(one <= rounded for one, rounded in zip(off, asked._rounded, strict=True))
        largest = max(largest, *off)
    assert largest > 0.3, "a range without it would be too narrow"


def test_what_is_planned_is_what_comes_where_values_lie_in_the_middle() -> None:
    """Not twice as much: the preview supposes values spread evenly, as that of a mean does. The range of an answer with
    sums about 0 is as wide as planned, but for the noise of N."""
    facts = Facts("t", dp.Schema({"a": dp.Number(0, 100), "b": dp.Number(0, 10)}), Unit.rows(), "add_remove", 2_000)
    asked = VectorMean.build(facts, {"columns": ["a", "b"], "epsilon": "0.5"})
    promised, released = asked.promise(), asked.from_mean((0, 0, 2_000), 1)
    assert promised.spread and "spread over the declared range" in promised.words(asked)
    for name, alpha in zip(promised.columns, promised.alphas, strict=True):
        low, high = released.interval[name]
        assert 0.98 < (high - low) / 2 / float(alpha) < 1.0001
