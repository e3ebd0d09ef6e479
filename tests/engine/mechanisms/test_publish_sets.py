"""Published sets, days and whole rows: what is written is what was drawn, and what is read off holds the truth."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from helpers_floors import set_floor

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.facts import Facts
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.publish import of_rows, write_file
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.publish.publish_row import PublishRow
from dpengine.mechanisms.publish.write_file import publish
from dpengine.noise.coins import SystemCoins
from dpengine.noise.row_noise import AsOne, ItemByItem, of_sets
from dpengine.released.published import Published
from tests.battery import allowed_failures

PEOPLE = 900
SCHEMA = dp.Schema(
    {
        "pay": dp.Number(0, 40, step=10, missing=0),
        "state": dp.Category(["TX", "CA", "NY"], unknown="NY", missing="NY"),
        "likes": dp.ItemSet(["chess", "judo", "yoga"]),
        "born": dp.Date("1990-01-01", "1990-12-31"),
    }
)
FRAME = pd.DataFrame(
    {
        "pay": [10 * (place % 4) for place in range(PEOPLE)],
        "state": ["TX" if place % 2 else "CA" if place % 3 else "NY" for place in range(PEOPLE)],
        "likes": [["chess|yoga", "", "judo", "chess"][place % 4] for place in range(PEOPLE)],
        "born": [f"1990-{1 + place % 12:02}-15" for place in range(PEOPLE)],
    }
)


def made(key: str, schema: dp.Schema = SCHEMA, people: int = PEOPLE, **given: Any) -> OfRows:
    facts = Facts("people", schema, dp.Unit.rows(), "replace", people)
    found = catalogue[key].build(facts, {"epsilon": "1"} | given)
    assert isinstance(found, OfRows)
    return found


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    workspace = dp.open_workspace(tmp_path_factory.mktemp("sets"))
    budget = dp.Budget(epsilon="70", delta="0.5")
    yield workspace.add_table("people", FRAME, schema=SCHEMA, unit=dp.Unit.rows(), budget=budget)
    workspace.close()


def codes(query: OfRows) -> tuple[np.ndarray[Any, Any], ...]:
    """Straight from the frame, without the engine."""
    items = list(SCHEMA["likes"].labels)  # type: ignore[union-attr]
    found = {
        "pay": np.array([place % 4 for place in range(PEOPLE)]),
        "state": np.array([["TX", "CA", "NY"].index(one) for one in FRAME["state"]]),
        "likes": np.array([sum(1 << items.index(one) for one in cell.split("|") if one) for cell in FRAME["likes"]]),
        "born": np.array([SCHEMA["born"].code(day) for day in FRAME["born"]]),  # type: ignore[union-attr]
    }
    return tuple(found[name] for name in query.columns)


def test_the_engine_reads_a_set_as_one_number(table: Any) -> None:
    """At ε = 40 any of 900 sets is changed with chance below 1e-13: the file holds what the table holds."""
    published = table.published(table.ask(table.query("publish_set", columns=["likes"], epsilon="40")))
    assert sorted(pq.read_table(published.path).column(0).to_pylist()) == sorted(FRAME["likes"])
    assert sorted(published.codes("likes").tolist()) == sorted(codes(published.query)[0].tolist())


@pytest.mark.parametrize("items", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
@pytest.mark.parametrize("delta", ["0", "0.1"])
def test_the_expected_distance_is_what_the_law_says(items: int, epsilon: str, delta: str) -> None:
    """Counted over every set that can be published; the chosen way errs least, and not less than anybody can."""
    found = []
    for way in (AsOne, ItemByItem):
        noise = way(items, Fraction(epsilon), Fraction(delta))
        for code in (0, 2**items - 1):
            law = noise.law(code).chances
            assert sum(law.values()) == pytest.approx(1)
            away = sum(p * (told ^ code).bit_count() for told, p in law.items())
            assert float(away) == pytest.approx(float(noise.error))
            assert float(law[code]) == pytest.approx(float(noise.truth))
        found.append(noise.error)
    chosen = of_sets(items, Fraction(epsilon), Fraction(delta))
    assert chosen.error == min(found) >= set_floor(items, Fraction(epsilon), Fraction(delta))
    plain = items * 2 ** (items - 1) * (1 - float(delta)) / (2**items - 1 + exp(float(epsilon)))
    assert float(found[0]) == pytest.approx(plain)


def test_which_way_a_set_is_published_depends_on_spend_and_length() -> None:
    assert isinstance(of_sets(3, Fraction(1), Fraction(0)), AsOne)
    assert isinstance(of_sets(4, Fraction(1), Fraction(0)), ItemByItem)
    assert isinstance(of_sets(4, Fraction(2), Fraction(0)), AsOne)
    assert isinstance(of_sets(40, Fraction(50), Fraction(0)), ItemByItem), "2^40 sets cannot be drawn from in bulk"


def drawn(query: OfRows, folder: Path, draws: int) -> list[Published]:
    found = []
    for place in range(draws):
        path = folder / f"{place}.parquet"
        found.append(Published(query, path, publish(query, codes(query), SystemCoins(), path, lambda *two: None)))
    return found


@pytest.mark.every(9)
@pytest.mark.parametrize("key", ["publish_row", "publish_table"])
def test_what_is_read_off_sets_and_rows_holds_the_truth(key: str, tmp_path: Path) -> None:
    """Counts of items and of listed values, means, bars and percentiles: no bias, and ranges that hold."""
    draws = 40
    query = made(key, columns=["pay", "likes", "state"], epsilon="6", delta="0.01")
    pay, likes, state = codes(query)
    truth = {"mean": 10 * pay.mean(), "judo": (likes >> 1 & 1).sum(), "TX": (state == 0).sum(), "low": (pay < 2).sum()}
    found: dict[str, list[Any]] = {name: [] for name in truth}
    missed = 0
    for one in drawn(query, tmp_path, draws):
        found["mean"].append(one.mean("pay"))
        found["judo"].append(one.counts("likes")["judo"])
        found["TX"].append(one.counts("state")["TX"])
        found["low"].append(one.bins("pay", [0, 2])[0])
        middle = one.quantile("pay", Fraction(1, 2))
        missed += not middle.low <= 10 <= middle.high
    assert missed <= allowed_failures(draws, 0.05)
    for name, true in truth.items():
        told = found[name]
        assert sum(not one.low <= true <= one.high for one in told) <= allowed_failures(draws, 0.05), name
        width = max(one.high - one.value for one in told)
        assert abs(np.mean([one.value for one in told]) - true) < 2 * width / sqrt(draws), (
            name
        )  # more than five deviations
    assert sum(not one.low <= truth["TX"] + 300 <= one.high for one in found["TX"]) > draws / 2, "ranges say something"
    assert sum(not one.low <= truth["mean"] + 15 <= one.high for one in found["mean"]) > draws / 2


@pytest.mark.parametrize("given", [{"columns": ["born"]}, {"columns": ["born"], "grid": 11}, {"columns": ["likes"]}])
def test_what_is_written_is_what_was_drawn(given: Any) -> None:
    query = made("publish_table", **given)
    [name] = query.columns
    own = np.arange(8) if name == "likes" else np.array([-(10**6), -400, 0, 5, 11, 364, 3 * 10**6])
    values = write_file.values_of(query, name, own)
    assert write_file.codes_of(query, name, values).tolist() == own.tolist()
    if name == "likes":
        assert values.to_pylist()[:4] == ["", "chess", "judo", "chess|judo"]


def test_days_are_published_as_days_and_averaged_without_bias(table: Any) -> None:
    answer = table.ask(table.query("publish_number", columns=["born"], epsilon="20"))
    published = table.published(answer)
    found = published.mean("born")
    days = np.array([SCHEMA["born"].code(day) for day in FRAME["born"]])  # type: ignore[union-attr]
    width = found.high - found.low
    assert found.low - 2 * width <= days.mean() <= found.high + 2 * width and width < 20, "five times its range"
    assert published.day("born", found.value).startswith("1990-0")
    assert published.day("born", -1e9) == "1990-01-01" and published.day("born", 1e9) == "1990-12-31"
    assert all(len(one) >= 10 for one in pq.read_table(published.path).column(0).to_pylist())
    cut = published.table(clamped=True).column(0).to_pylist()
    assert min(cut) >= "1990-01-01" and max(cut) <= "1990-12-31"


@pytest.mark.long
def test_combinations_of_whole_rows_have_no_bias_and_hold_the_truth(tmp_path: Path) -> None:
    """How many rows hold each of 24 combinations of a set and a list, all at once; column by column it is refused."""
    draws, query = 40, made("publish_row", columns=["likes", "state"], epsilon="5")
    likes, state = codes(query)
    held = {("chess|yoga", "CA"): (5, 1), ("", "TX"): (0, 0), ("judo|yoga", "NY"): (6, 2)}
    truth = {cells: int(((likes == a) & (state == b)).sum()) for cells, (a, b) in held.items()}
    assert truth["", "TX"] > 200 and truth["judo|yoga", "NY"] == 0
    told = [one.combinations() for one in drawn(query, tmp_path, draws)]
    assert all(len(one) == 24 and sum(each.value for each in one.values()) == pytest.approx(PEOPLE) for one in told)
    missed = sum(any(not one[c].low <= true <= one[c].high for c, true in truth.items()) for one in told)
    assert missed <= allowed_failures(draws, 0.05)
    for cells, true in truth.items():
        found = [one[cells] for one in told]
        assert abs(np.mean([one.value for one in found]) - true) < 6 * (found[0].high - found[0].value) / sqrt(draws)
    assert sum(not one["", "TX"].low <= 0 <= one["", "TX"].high for one in told) > draws / 2, "ranges say something"
    with pytest.raises(AllowanceError) as refused:
        drawn(made("publish_table", columns=["likes", "state"]), tmp_path, 1)[0].combinations()
    assert refused.value.code == "publish.no_rows"


# Whole rows as one value, or column by column


def lists(*sizes: int) -> dp.Schema:
    labels = "abcdefghij"
    columns = {f"c{at}": dp.Category(list(labels[:n]), unknown="a", missing="a") for at, n in enumerate(sizes)}
    return dp.Schema(dict(columns))


def chosen(schema: dp.Schema, epsilon: str = "1", **given: Any) -> of_rows.Chosen:
    def build(key: str, parameters: Any) -> OfRows:
        return made(key, schema, **parameters)

    return of_rows.best_way(build, schema, {"columns": list(schema.columns), "epsilon": epsilon} | given)


def test_the_better_way_follows_from_public_facts() -> None:
    """Two short lists as one value of four; five of them one by one; a fine number never in a product."""
    two = chosen(lists(2, 2))
    assert two.as_row and two.other is not None and two.query.promise().amount < two.other.promise().amount
    five = chosen(lists(2, 2, 2, 2, 2))
    assert not five.as_row and five.other is not None and five.query.promise().amount < five.other.promise().amount
    assert chosen(lists(2, 2, 2, 2, 2), epsilon="6").as_row, "with a larger spend the product is small again"
    fine = dp.Schema({"n": dp.Number(0, 10**6), "m": dp.Number(0, 10**6)})
    assert not chosen(fine).as_row and chosen(fine).other is None, "10^12 rows: no product"
    assert not chosen(lists(3)).as_row and chosen(lists(3)).other is None


def test_keys_by_kind() -> None:
    kinds = {"pay": "number", "born": "number", "state": "category", "likes": "set"}
    for name, kind in kinds.items():
        assert of_rows.way_key(SCHEMA, [name]) == f"publish_{kind}"
    assert of_rows.way_key(SCHEMA, ["pay", "born"]) == "publish_number"
    assert of_rows.way_key(SCHEMA, ["pay", "likes"]) == of_rows.way_key(SCHEMA, []) == "publish_table"


def test_a_row_is_one_value_with_the_whole_spend() -> None:
    row, apart = chosen(lists(2, 2)).query, chosen(lists(2, 2)).other
    assert isinstance(row, PublishRow) and apart is not None and row.combinations == 4
    assert float(row.promise().untrue) == pytest.approx(3 / (3 + exp(1)))
    assert row.promise().untrue == pytest.approx(row.promise().untrue_floor, abs=1e-8), "nobody can do better (Ex. 5.6)"
    assert row.promise().untrue < apart.promise().untrue
    assert [float(one) for one in row.promise().errors] == pytest.approx([2 / (3 + exp(1))] * 2)


def test_the_parts_of_a_row_are_told_by_the_law_of_the_whole() -> None:
    """A column's marginal, the number's expected error and the set's, against sums over all rows."""
    query = made("publish_row", columns=["pay", "likes", "state"])
    assert isinstance(query, PublishRow) and query.sizes == (5, 8, 3)
    law = query.whole.law(0).chances  # of the row with the lowest number, no item and the first value
    cells = [np.unravel_index(code, query.sizes) for code in law]
    off, apart, other = (
        sum(float(p) * far(cell) for p, cell in zip(law.values(), cells, strict=True))
        for far in (lambda c: 10 * c[0], lambda c: int(c[1]).bit_count(), lambda c: c[2] != 0)
    )
    assert [float(query.error(name)) for name in query.columns] == pytest.approx([off, apart, other])


def test_what_cannot_be_published_so_is_said() -> None:
    wide = dp.Schema({"likes": dp.ItemSet([f"i{place}" for place in range(63)])})
    with pytest.raises(AllowanceError) as refused:
        made("publish_set", wide, columns=["likes"])
    assert refused.value.code == "publish.items"
    with pytest.raises(AllowanceError) as refused:
        made("publish_row", dp.Schema({"n": dp.Number(0, 10**6), "m": dp.Number(0, 10**6)}), columns=["n", "m"])
    assert refused.value.code == "publish.product"
