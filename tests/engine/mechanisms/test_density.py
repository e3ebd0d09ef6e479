"""A private curve: its integer table, its sensitivity, its noise at every point, and its band.

Statistical checks fail a right curve with chance at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from battery import allowed_failures

from dpengine.core.errors import AllowanceError
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.curves.density import Density
from dpengine.noise import density_table
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import Normal, chance, renyi
from dpengine.noise.tails import gaussian_mix_reach, gaussian_quantile
from dpengine.released.curves import cut_off, sample
from dpengine.statistics.need import Spread

SCHEMA = Schema(
    {
        "age": Number(0, 120, missing=0),
        "pay": Number(0, 20_000, missing=0),
        "gap": Number(0, 9),
        "home": Category(["a", "b"]),
    }
)


def made(columns: list[str], people: int = 1_000, relation: str = "replace", **more: Any) -> Density:
    facts = Facts("t", SCHEMA, more.pop("unit", Unit.rows()), relation, people)  # type: ignore[arg-type]
    return Density.build(facts, {"columns": columns, "epsilon": "1"} | more)


def some(query: Density, people: int, rng: np.random.Generator) -> Spread:
    """A table on which rounding, mixing and smearing all show: values anywhere."""
    sizes = [column.size for column in query.declared]
    codes = rng.integers(0, sizes[0], people)
    if len(sizes) == 2:
        codes = codes * sizes[1] + rng.integers(0, sizes[1], people)
    found, counts = np.unique(codes, return_counts=True)
    return Spread(found.astype(np.int64), counts.astype(np.int64))


def plain_curve(query: Density, value: Spread) -> np.ndarray[Any, Any]:
    """Σ φ_h(x − v), written without the table."""
    sizes = [column.size for column in query.declared]
    codes = [value.codes] if len(sizes) == 1 else list(np.divmod(value.codes, sizes[1]))
    each = []
    for column, width, grid, code in zip(query.declared, query.widths, query.grids(), codes, strict=True):
        at = float(column.lower) + code * float(column.step)
        h = float(width)
        away = (np.array([float(x) for x in grid])[:, None] - at[None, :]) / h
        each.append(np.exp(-(away**2) / 2) / (h * math.sqrt(2 * math.pi)))
    heights = each[0] * value.counts
    return (heights.sum(axis=1) if len(each) == 1 else (heights @ each[1].T).ravel()) / (query.people or 1)


AXES = {
    "one": made(["age"]),
    "mixed": made(["pay"], resolution=50),
    "wide": made(["pay"], bandwidth=20_000),
    "two": made(["age", "pay"], resolution=12),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", sorted(AXES))
def test_sums_over_the_table_are_exact(name: str) -> None:
    """Against the definition in whole numbers, also where a sum needs more than 64 bits."""
    query, rng = AXES[name], np.random.default_rng()
    value = some(query, 40, rng)
    value = Spread(value.codes, value.counts * 10**9 + rng.integers(0, 10**9, len(value.counts)))
    tables = [[[int(one) for one in row] for row in table.units] for table in query.tables]
    sizes = [column.size for column in query.declared]

    def row_of(at: int, code: int) -> list[int]:
        axis = query.axes[at]
        if axis.whole:
            return tables[at][code]
        fine = math.floor(Fraction(code, axis.size - 1) * (axis.knots - 1) * axis.scale + Fraction(1, 2))
        low, t = divmod(fine, axis.scale)
        above = tables[at][min(low + 1, axis.knots - 1)]
        return [(axis.scale - t) * one + t * two for one, two in zip(tables[at][low], above, strict=True)]

    total = [0] * math.prod(len(table[0]) for table in tables)
    for code, count in zip(value.codes.tolist(), value.counts.tolist(), strict=True):
        parts = [row_of(0, code)] if len(sizes) == 1 else [row_of(at, c) for at, c in enumerate(divmod(code, sizes[1]))]
        whole = parts[0] if len(parts) == 1 else [one * two for one in parts[0] for two in parts[1]]
        total = [before + count * one for before, one in zip(total, whole, strict=True)]
    assert list(query.measured(value)) == total


@pytest.mark.every(3)
@pytest.mark.parametrize("name", sorted(AXES))
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_no_pair_of_rows_moves_it_by_more(name: str, relation: str) -> None:
    """Any two values, also between knots; some are as far apart as is claimed, but for rounding."""
    right = AXES[name]
    widths = [str(width) for width in right.widths]
    query = made(list(right.columns), relation=relation, resolution=right.points, bandwidth=widths)
    bound, sizes = query.sensitivity().bound, [column.size for column in query.declared]
    rng, worst = np.random.default_rng(), 0
    codes = [0, math.prod(sizes) - 1, *rng.integers(0, math.prod(sizes), 40 if len(sizes) == 1 else 12).tolist()]
    vectors = [query.measured(Spread(np.array([code]), np.array([1]))) for code in codes]
    for place, one in enumerate(vectors):
        for other in vectors[:place] if relation == "replace" else ((0,) * len(one),):
            worst = max(worst, sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))
    assert worst <= bound
    assert worst >= bound * 0.99, "a bound that no two values come near"


def test_a_row_that_may_not_count_is_weighed_too() -> None:
    """With a wide kernel two values lie closer to each other than either to nothing."""
    counted, filtered = (made(["age"], bandwidth=120, where=w) for w in ([], [["home", "in", ["a"]]]))
    assert counted.sensitivity().bound == counted.tables[0].farthest < counted.tables[0].longest
    assert filtered.sensitivity().bound == filtered.tables[0].longest
    missing = made(["gap"], bandwidth=9)
    assert missing.people is None and missing.sensitivity().bound == missing.tables[0].longest
    thrice = made(["age"], bandwidth=120, unit=Unit.column("who", 3))
    assert thrice.sensitivity().bound == 9 * thrice.tables[0].longest


@pytest.mark.parametrize("columns", [["age"], ["pay"], ["age", "pay"]], ids="+".join)
def test_the_sensitivity_is_the_theorems(columns: list[str]) -> None:
    """√2/(n(2πh²)^(d/2)), within rounding."""
    query = made(columns)
    steps = 2.0 ** sum(axis.bits for axis in query.axes) * query.scale
    found = math.sqrt(query.sensitivity().bound) / steps * query.height / 1_000
    meant = math.sqrt(2) / (1_000 * math.prod(math.sqrt(2 * math.pi) * float(h) for h in query.widths))
    assert meant * (1 - 1e-3) < found < meant * (1 + 1e-3)


@pytest.mark.parametrize("name", sorted(AXES))
def test_noise_is_at_every_point(name: str) -> None:
    """Its variance there, by the way back, is the kernel's own height at 0: near 1 everywhere, the first point too."""
    query = AXES[name]
    each = [(table.back**2).sum(axis=1) * 4.0**table.axis.bits for table in query.tables]
    at = each[0] if len(each) == 1 else np.outer(*each)
    assert at.min() > 1 - 1e-6 and at.max() < 1 + 1e-6


@pytest.mark.every(9)
@pytest.mark.parametrize(("columns", "relation"), [(["pay"], "replace"), (["age", "pay"], "add_remove")], ids=str)
def test_the_band_holds_the_whole_curve(columns: list[str], relation: str) -> None:
    """β = 0.2, 150 draws, sup over the grid against the true curve; and a band half as wide does not."""
    draws, points = 150, 60 if len(columns) == 1 else 12
    query = made(columns, 3_000, relation, resolution=points, beta="0.2")
    rng, coins = np.random.default_rng(), SystemCoins()
    value = some(query, 3_000, rng)
    truth, sums = plain_curve(query, value), query.measured(value)
    off = []
    for _ in range(draws):
        noise = coins.gaussian([0] * len(sums), query.variance)  # what `draw` adds, on sums that are taken once
        told = query.finish(tuple(one + other for one, other in zip(sums, noise, strict=True)))
        off.append(np.abs(np.array(list(told.value.values())) - truth))
        low, high = next(iter(told.interval.values()))
        assert math.isclose(high - low, 2 * float(query.promise().alpha), rel_tol=1e-2)
    wide, narrow = float(query.promise().alpha), float(query.promise().pointwise)
    assert sum(one.max() > wide for one in off) <= allowed_failures(draws, 0.2)
    assert sum(one[points // 2] > narrow for one in off) <= allowed_failures(draws, 0.2)
    assert sum(one.max() > wide / 2 for one in off) > draws / 2  # power: so does a twin with twice the noise


def test_without_noise_only_the_stated_bias_is_left() -> None:
    rng = np.random.default_rng()
    for query in AXES.values():
        value = some(query, 1_000, rng)
        bias = math.prod(1 + axis.bias for axis in query.axes) - 1
        exact = density_table.curve(query.tables, query.measured(value)).ravel() * query.height / 1_000
        assert np.abs(exact - plain_curve(query, value)).max() <= bias * query.height


def test_mixes_of_noise_reach_no_further_than_said() -> None:
    """Against the exact law of a·Z₁ + b·Z₂, enumerated."""
    for variance in (Fraction(1), Fraction(7, 2), Fraction(40)):
        noise = {z: float(chance(Normal(0, variance), z)) for z in range(-80, 81)}
        for a, b in ((1.0, 0.0), (0.6, 0.8), (1.0, -1.0), (0.3, 2.0)):
            for beta in (Fraction(1, 5), Fraction(1, 1000)):
                reach = gaussian_mix_reach(variance, math.hypot(a, b), abs(a) + abs(b), beta)
                far = sum(p * q for y, p in noise.items() for z, q in noise.items() if abs(a * y + b * z) > reach)
                assert far <= beta
    assert 1.9599 < gaussian_quantile(Fraction(1, 20)) < 1.96


def test_laws_of_wide_noise_are_the_sums() -> None:
    for variance in (Fraction(4), Fraction(17, 3), Fraction(900)):
        window = range(-math.isqrt(int(150 * variance)) - 2, math.isqrt(int(150 * variance)) + 3)
        assert abs(sum(chance(Normal(0, variance), z) for z in window) - 1) < Fraction(1, 10**25)
        total = math.fsum(math.exp(-z * z / (2 * variance)) for z in window)
        power = math.fsum(math.exp((-(z * z) * 3 + (z - 2) ** 2 * 2) / (2 * variance)) for z in window) / total
        assert math.isclose(renyi(Normal(0, variance), Normal(2, variance), 3.0), math.log(power) / 2, rel_tol=1e-9)


def test_price_and_promise_need_neither_data_nor_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is promised is the same on machines that find other eigenvectors."""
    query = made(["age", "pay"])
    monkeypatch.setattr(density_table, "table", None)
    assert query.promise().amount > 0 and query.loss().rho == Fraction(1, 4)
    assert made(["age"], relation="add_remove").loss().rho == Fraction(1, 2)
    assert made(["age"], relation="add_remove").promise().nominal


@pytest.mark.parametrize("epsilon", ["0.0001", "50"])
@pytest.mark.parametrize("columns", [["pay"], ["age", "pay"]], ids="+".join)
def test_every_epsilon_can_be_drawn(columns: list[str], epsilon: str) -> None:
    query = made(columns, epsilon=epsilon, resolution=5)
    told = query.release(some(query, 100, np.random.default_rng()), SystemCoins())
    assert list(told.value) == query.labels() and len(set(query.labels())) == 5 ** len(columns)
    assert all(low < told.value[label] < high for label, (low, high) in told.interval.items())
    crowded = replace(query, facts=replace(query.facts, unit=Unit.column("who", 1_000), about=10**9))
    assert float(crowded.variance) < 2.0 ** (2 * 60)


BAD = [
    ({"columns": []}, "density.columns"),
    ({"columns": ["age", "age"]}, "density.columns"),
    ({"columns": 5}, "density.columns"),
    ({"columns": ["age", "pay", "gap"]}, "density.columns"),
    ({"columns": ["home"]}, "column.wrong_kind"),
    ({"bandwidth": 0}, "density.bandwidth"),
    ({"bandwidth": "-3"}, "density.bandwidth"),
    ({"bandwidth": 121}, "density.bandwidth"),
    ({"bandwidth": "0.1"}, "density.narrow"),
    ({"bandwidth": "wide"}, "number.unreadable"),
    ({"bandwidth": [1, 2]}, "density.bandwidths"),
    ({"resolution": 1}, "density.points"),
    ({"resolution": 201}, "density.points"),
    ({"resolution": "2.5"}, "density.points"),
    ({"columns": ["age", "pay"], "resolution": 101}, "density.points"),
]


@pytest.mark.parametrize(("wrong", "code"), BAD, ids=str)
def test_bad_input_is_one_clear_sentence(wrong: dict[str, Any], code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        made(**({"columns": ["age"]} | wrong))
    assert refused.value.code == code
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


@pytest.mark.parametrize("points", [2, 3, 8, 12])
def test_few_points_have_a_bandwidth_that_can_be_written_down(points: int) -> None:
    query = made(["age", "pay"], resolution=points)
    assert Density.build(query.facts, query.parameters()) == query
    least = made(["age"], resolution=points, bandwidth=str(query.parameters()["bandwidth"][0]))
    assert least.widths[0] >= Fraction(120, 2 * (points - 1))


def test_made_up_values_come_from_the_cut_off_curve() -> None:
    """A curve that stands on three of its points alone, and dips elsewhere: shares within six deviations."""
    query = made(["age"], resolution=13)
    told = dict.fromkeys(query.labels(), -1.0) | {query.labels()[at]: height for at, height in ((0, 2.0), (6, 3.0))}
    kept = cut_off(query, told)
    assert kept is not None and math.isclose(float((kept * 10)[1:].sum() + kept[0] * 5), 1)
    values = [one for (one,) in sample(query, told, 4_000)]
    assert all(0 <= one <= 5 or 55 <= one <= 65 for one in values)
    assert abs(sum(one < 10 for one in values) - 1_000) < 6 * math.sqrt(750)
    two = made(["age", "pay"], resolution=3)
    assert all(len(one) == 2 for one in sample(two, dict.fromkeys(two.labels(), 1.0), 5))
    assert cut_off(query, dict.fromkeys(query.labels(), -1.0)) is None
