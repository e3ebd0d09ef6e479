"""A declared column is audited from its declaration: against every pair of one-row tables, and against broken noise."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from math import isinf
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.audit.columns import audited_column, audited_row
from dpengine.audit.exact import hockey_stick
from dpengine.declared.facts import Facts
from dpengine.mechanisms.publish import of_rows
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.noise.laws import max_divergence
from dpengine.noise.row_noise import AsOne, Blur, ItemByItem, Swap

SCHEMA = dp.Schema(
    {
        "pay": dp.Number(0, 12),
        "fine": dp.Number(0, 10**6),
        "state": dp.Category(["TX", "CA", "NY", "FL"]),
        "likes": dp.ItemSet(["a", "b", "c", "d"]),
        "many": dp.ItemSet([str(place) for place in range(40)]),
        "born": dp.Date("1990-01-01", "1990-03-31"),
    }
)


def published(name: str, epsilon: str = "1", delta: str = "0") -> OfRows:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), "replace", 100)
    given = {"columns": [name], "epsilon": epsilon, "delta": delta}
    found = dp.catalogue[of_rows.way_key(SCHEMA, [name])].build(facts, given)
    assert isinstance(found, OfRows)
    return found


@pytest.mark.every(9)
@pytest.mark.parametrize("delta", ["0", "0.05"])
@pytest.mark.parametrize("epsilon", ["0.3", "2"])
@pytest.mark.parametrize("name", ["pay", "state", "likes", "born"])
def test_it_says_what_every_pair_of_one_row_tables_says(name: str, epsilon: str, delta: str) -> None:
    query = published(name, epsilon, delta)
    found, laws = audited_column(query, name), [query.cell(name).law(code) for code in range(query.steps(name) + 1)]
    pairs = list(permutations(laws, 2))
    assert len(pairs) == 2 * found.pairs and found.cells == len(laws)
    few = pairs if len(pairs) < 400 else [(laws[0], laws[-1]), (laws[-1], laws[0]), *pairs[:40]]
    assert abs(max(max_divergence(*pair) for pair in few) - found.epsilon) < Decimal("1e-20")
    worst = max(hockey_stick(*pair, Fraction(epsilon)).high for pair in few)
    assert abs(worst - found.delta) < Decimal("1e-18")
    assert found.kept


@pytest.mark.every(3)
@pytest.mark.parametrize("name", SCHEMA.columns)
def test_the_claim_is_used_to_the_last_bit(name: str) -> None:
    found = audited_column(published(name), name)
    assert found.kept and float(found.epsilon) == pytest.approx(1, abs=1e-8) and found.delta < Decimal("1e-15")
    with_delta = audited_column(published(name, delta="0.1"), name)
    assert with_delta.kept and not isinf(with_delta.epsilon)
    if name != "many" and name != "likes":  # item by item (ε/h, δ/h) composes to less than (ε, δ)
        assert float(with_delta.delta) == pytest.approx(0.1, abs=1e-6)


class HalfBlur(Blur):
    @property
    def scale(self) -> Fraction:  # type: ignore[override]
        return super().scale / 2


class HairSwap(Swap):
    @property
    def mixed(self) -> Fraction:  # type: ignore[override]
        return super().mixed - Fraction(1, 2**40)


class WholeSpend(ItemByItem):
    @property
    def each(self) -> Swap:  # type: ignore[override]
        return Swap(2, self.epsilon, self.delta)


ONE, NONE, TENTH = Fraction(1), Fraction(0), Fraction(1, 10)


@pytest.mark.parametrize(
    ("wrong", "cells"),
    [
        (HalfBlur(12, ONE, NONE), 13),
        (HalfBlur(12, ONE, TENTH), 13),
        (HalfBlur(10**6, ONE, NONE), 10**6 + 1),
        (HairSwap(4, ONE, NONE), 4),
        (HairSwap(4, ONE, TENTH), 4),
        (WholeSpend(4, ONE, NONE), 16),
        (WholeSpend(4, ONE, TENTH), 16),
    ],
    ids=str,
)
def test_noise_that_is_too_little_is_caught(wrong: Any, cells: int) -> None:
    assert not audited_row(wrong, cells, wrong.epsilon, wrong.delta).kept


def test_a_set_as_one_value_is_a_list_of_sets() -> None:
    as_one, swap = AsOne(4, ONE, TENTH), Swap(16, ONE, TENTH)
    one, other = audited_row(as_one, 16, ONE, TENTH), audited_row(swap, 16, ONE, TENTH)
    assert (one.epsilon, one.delta, one.pairs) == (other.epsilon, other.delta, 120)


def test_no_cell_is_read(tmp_path: Path) -> None:
    """The table's files are gone, and the audit says the same."""
    workspace = dp.open_workspace(tmp_path / "var")
    frame = pd.DataFrame({"state": ["TX", "CA"] * 20})
    schema = dp.Schema({"state": SCHEMA["state"]})
    table = workspace.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("10", "1e-6"))
    query = table.query("publish_category", columns=["state"], epsilon="1")
    assert isinstance(query, OfRows)
    before = audited_column(query, "state")
    for file in (tmp_path / "var").rglob("*.parquet"):
        file.unlink()
    assert audited_column(query, "state") == before and table.meter().charges == 0
    workspace.close()
