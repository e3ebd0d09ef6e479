"""Published tables: charged before they are drawn, shuffled, whole, and what is read off them holds the truth."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.publish import write_file
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.publish.write_file import publish
from dpengine.noise.coins import SystemCoins
from dpengine.noise.row_noise import Blur
from dpengine.released.published import Published, reach_of, unbiased
from tests.battery import allowed_failures

PEOPLE = 600
SCHEMA = dp.Schema(
    {
        "pay": dp.Number(100, 500, step=5, missing=100),
        "share": dp.Number(0, 1, step="0.05", missing=0),
        "state": dp.Category(["TX", "CA", "NY"], unknown="NY", missing="NY"),
        "left_out": dp.Number(0, 9),
    }
)
FRAME = pd.DataFrame(
    {
        "pay": [100 + 5 * (place % 61) for place in range(PEOPLE)],
        "share": [0.05 * (place % 7) for place in range(PEOPLE)],
        "state": ["TX" if place % 2 else "CA" if place % 3 else "NY" for place in range(PEOPLE)],
        "left_out": [place % 10 for place in range(PEOPLE)],
    }
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    workspace = dp.open_workspace(tmp_path_factory.mktemp("publish"))
    made = workspace.add_table(
        "people", FRAME, schema=SCHEMA, unit=dp.Unit.rows(), budget=dp.Budget(epsilon="40", delta="0.5")
    )
    yield made
    workspace.close()


def asked(table: Any, key: str = "publish_table", **parameters: Any) -> tuple[Any, Published]:
    answer = table.ask(table.query(key, **({"epsilon": "1"} | parameters)))
    return answer, table.published(answer)


def test_from_the_charge_to_a_file_with_its_receipt(table: Any) -> None:
    before = table.meter().charges
    answer, published = asked(table, columns=["pay", "state", "share"])
    assert table.meter().charges == before + 1
    assert published.rows == PEOPLE and published.whole
    assert answer.receipt["answer"]["value"]["sha256"] == answer.value["sha256"]
    file = pq.read_table(published.path)
    assert file.column_names == ["pay", "state", "share"] and file.num_rows == PEOPLE
    assert set(file.column("state").to_pylist()) <= {"TX", "CA", "NY"}
    assert all((value - 100) % 5 == 0 for value in file.column("pay").to_pylist()), "on the declared grid"
    assert published.path.stat().st_mode & 0o777 == 0o600
    again = table.recall(answer.query)
    assert again[-1].value == answer.value, "found again for nothing"


def test_a_file_that_was_changed_is_refused(table: Any) -> None:
    answer, published = asked(table, columns=["state"])
    published.path.write_bytes(published.path.read_bytes() + b" ")
    with pytest.raises(AllowanceError) as refused:
        table.published(answer).counts("state")
    assert refused.value.code == "publish.changed"


def test_the_order_of_the_file_is_not_the_order_of_the_table(table: Any, tmp_path: Path) -> None:
    """Rows are put in random order: with almost no noise, the table's own order would show."""
    query = table.query("publish_category", columns=["state"], epsilon="50")
    codes = np.sort(np.array([SCHEMA.category("state").code(one) for one in FRAME["state"]]))
    target = tmp_path / "one.parquet"
    publish(query, (codes,), SystemCoins(), target, lambda done, total: None)
    shown = [SCHEMA.category("state").code(one) for one in pq.read_table(target).column(0).to_pylist()]
    assert sorted(shown) == codes.tolist() != shown


def test_progress_counts_rows(table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpengine.mechanisms.publish.write_file.CHUNK", 250)
    query = table.query("publish_number", columns=["pay"], epsilon="1")
    seen: list[tuple[int, int]] = []
    publish(query, (np.arange(PEOPLE) % 81,), SystemCoins(), tmp_path / "p.parquet", lambda *two: seen.append(two))
    assert seen == [(250, PEOPLE), (500, PEOPLE), (600, PEOPLE)]


def of_draws(query: OfRows, tmp_path: Path, draws: int) -> list[Published]:
    codes = tuple(
        np.array([query.facts.schema[name].code(value) for value in FRAME[name]])
        for name in query.columns  # type: ignore[union-attr]
    )
    made = []
    for place in range(draws):
        path = tmp_path / f"{place}.parquet"
        made.append(Published(query, path, publish(query, codes, SystemCoins(), path, lambda done, total: None)))
    return made


def test_what_is_read_off_has_no_bias_and_holds_the_truth(table: Any, tmp_path: Path) -> None:
    draws = 40
    query = table.query("publish_table", columns=["pay", "state"], epsilon="8", grid=8, delta="0.01")
    assert isinstance(query, OfRows)
    coarse = query.coarsened("pay", (FRAME["pay"].to_numpy() - 100) // 5)
    truth = {"mean": 100 + coarse.mean() * 50, "TX": (FRAME["state"] == "TX").sum(), "low": (coarse < 3).sum()}
    half = 100 + 50 * int(np.sort(coarse)[PEOPLE // 2 - 1])
    found: dict[str, list[Any]] = {name: [] for name in truth}
    missed = 0
    for one in of_draws(query, tmp_path, draws):
        found["mean"].append(one.mean("pay"))
        found["TX"].append(one.counts("state")["TX"])
        found["low"].append(one.bins("pay", [0, 3])[0])
        middle = one.quantile("pay", Fraction(1, 2))
        missed += not middle.low <= half <= middle.high
    assert missed <= allowed_failures(draws, 0.05)
    for name, true in truth.items():
        told = found[name]
        assert sum(not one.low <= true <= one.high for one in told) <= allowed_failures(draws, 0.05), name
        width = max(one.high - one.value for one in told)
        assert abs(np.mean([one.value for one in told]) - true) < 6 * width / sqrt(draws), name
    wrong = sum(not one.low <= truth["low"] + 300 <= one.high for one in found["low"])
    assert wrong > draws / 2, "ranges say something"


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)], ids=str)
def test_the_inverse_of_the_noise_is_exact(scale: Fraction) -> None:
    """Σ_z Pr[z]·h(x+z) is 1 for x in the bin and 0 outside, whatever x; and its variance is within what is claimed."""
    steps, first, last = 9, 3, 6
    ratio = float(np.exp(-1 / float(scale)))
    reach = int(40 * scale) + 20
    noise = np.arange(-reach, reach + 1)
    chances = (1 - ratio) / (1 + ratio) * ratio ** np.abs(noise)
    row = Blur(steps, 1 / scale * steps, Fraction(0))
    assert row.scale == scale
    largest = 0.0
    for x in range(steps + 1):
        h = unbiased(scale, x + noise, first, last)
        mean = float((chances * h).sum())
        assert mean == pytest.approx(1.0 if first <= x <= last else 0.0, abs=1e-9)
        largest = max(largest, float((chances * (h - mean) ** 2).sum()))
    n, beta = 10**6, Fraction(1, 20)
    assert float(reach_of(row, first, last, n, beta)) >= sqrt(2 * n * largest * np.log(40))


def test_a_whole_table_may_be_counted_without_noise(table: Any) -> None:
    _, published = asked(table, "publish_number", columns=["pay"], grid=4)
    (everyone,) = published.bins("pay", [0])
    assert (everyone.value, everyone.low, everyone.high) == pytest.approx((PEOPLE,) * 3)


@pytest.mark.parametrize(
    ("column", "epsilon"),
    [
        (dp.Number(0, 10**16, step=10**10), "0.0001"),  # whole numbers with noise beyond 64 bits
        (dp.Number(-(10**9), 10**9, step=1000), "0.001"),
        (dp.Number("-0.3", "0.3", step="0.1"), "1"),
        (dp.Number("0.7", "3.7", step="0.03"), "1"),
    ],
    ids=str,
)
def test_what_is_written_is_what_was_drawn(column: dp.Number, epsilon: str) -> None:
    """No number of a file is rounded onto another point of the grid, and none overflows."""
    facts = Facts("t", dp.Schema({"x": column}), dp.Unit.rows(), "replace", 1_000)
    query = catalogue["publish_number"].build(facts, {"columns": ["x"], "epsilon": epsilon})
    codes = np.concatenate([np.arange(-50, 50), np.array([-(10**13), 10**13]), np.array([column.size - 1])])
    values = write_file.values_of(query, "x", codes)
    exact = [float(column.lower + int(code) * column.step) for code in codes]
    assert np.allclose(values.to_numpy().astype(float), exact, rtol=1e-14, atol=1e-14)
    assert write_file.codes_of(query, "x", values).tolist() == codes.tolist()


REFUSED = [
    ({"columns": []}, "publish.columns"),
    ({"columns": ["pay", "pay"]}, "publish.columns"),
    ({"columns": ["nobody"]}, "column.unknown"),
    ({"columns": ["pay"], "delta": "1"}, "delta.row"),
    ({"columns": ["pay"], "delta": "-1"}, "delta.row"),
    ({"columns": ["pay"], "grid": 0}, "publish.grid"),
    ({"columns": ["pay"], "grid": "2.5"}, "publish.grid"),
]


@pytest.mark.parametrize(("parameters", "code"), REFUSED)
def test_bad_input_is_one_clear_sentence(table: Any, parameters: dict[str, Any], code: str) -> None:
    before = table.meter()
    with pytest.raises(AllowanceError) as refused:
        table.query("publish_table", **({"epsilon": "1"} | parameters))
    assert refused.value.code == code and str(refused.value).endswith(".")
    assert table.meter() == before


def test_more_columns_than_the_budget_bears_are_refused_and_leave_no_file(table: Any) -> None:
    folder = table.published(asked(table, "publish_category", columns=["state"])[0]).path.parent
    files = sorted(folder.iterdir())
    with pytest.raises(dp.BudgetExceeded):
        table.ask(table.query("publish_table", columns=["pay", "share", "state"], epsilon="50"))
    assert sorted(folder.iterdir()) == files


def test_the_wrong_kind_is_pointed_elsewhere(table: Any) -> None:
    for key, column in (("publish_number", "state"), ("publish_category", "pay")):
        with pytest.raises(AllowanceError) as refused:
            table.query(key, columns=[column], epsilon="1")
        assert refused.value.code == "publish.kind"
