"""An ε with any number of decimals is rounded down to what the ledger keeps, before noise is set for it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.core.amounts import FINEST_EPSILON, read_epsilon
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import as_typed
from dpengine.workspace import Workspace

WRITTEN: list[tuple[Any, str]] = [
    ("0.1234567891", "0.123456789"),
    ("0.1234567899999999999999", "0.123456789"),
    ("0." + "3" * 500, "0.333333333"),
    ("." + "9" * 60, "0.999999999"),
    (Fraction(1, 3), "0.333333333"),
    (0.1, "0.1"),
    (1 / 3, "0.333333333"),
    (Decimal("0.1") / 3, "0.033333333"),
    (Decimal.from_float(0.1), "0.1"),  # 55 digits
    ("0.1", "0.1"),
    (" 2 ", "2"),
]


@pytest.mark.parametrize(("given", "kept"), WRITTEN, ids=[str(given)[:20] for given, _ in WRITTEN])
def test_more_decimals_than_are_kept_are_rounded_down(given: Any, kept: str) -> None:
    epsilon = read_epsilon(given)
    assert epsilon == Fraction(kept) and (epsilon * FINEST_EPSILON).denominator == 1
    assert read_epsilon(str(kept)) == epsilon


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("0", "epsilon.positive"),
        (0, "epsilon.positive"),
        ("0." + "0" * 100, "epsilon.positive"),
        ("-0.1", "epsilon.positive"),
        ("0.00000000001", "epsilon.tiny"),
        ("50.0000000001", "epsilon.huge"),
        ("0.1" + "x" * 50, "number.unreadable"),
        (as_typed("0.1.1"), "number.unreadable"),
        (Decimal("1e-999999"), "number.unreadable"),
        (Decimal("NaN"), "number.unreadable"),
        (float("nan"), "number.unreadable"),
        ("", "epsilon.missing"),
    ],
)
def test_what_is_no_spend_is_still_refused(given: Any, code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        read_epsilon(given)
    assert refused.value.code == code


def test_noise_price_and_ledger_are_of_the_same_epsilon(tmp_path: Path) -> None:
    home = Workspace(tmp_path / "var")
    frame = pd.DataFrame({"c": ["a", "b"] * 50})
    schema = dp.Schema({"c": dp.Category(["a", "b"])})
    table = home.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "0"))
    query = table.query("count", where=[["c", "in", ["a"]]], epsilon="0.12345678999999999999999999")
    assert query.scale == 1 / Fraction("0.123456789"), "the noise is for what is charged"  # type: ignore[attr-defined]
    answer = table.ask(query)
    assert answer.receipt["claim"]["parameters"]["epsilon"] == "0.123456789"
    assert table.meter().spent_epsilon == Fraction("0.123456789")
    assert table.recall(query)[0].request_id == answer.request_id
    home.close()
