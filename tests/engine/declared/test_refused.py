"""Declarations that cannot be are refused, each in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dpengine as dp


def test_declarations_are_refused_in_one_sentence() -> None:
    wrong: list[Callable[[], Any]] = [
        lambda: dp.Number(5, 5),
        lambda: dp.Number(9, 1),
        lambda: dp.Number(0, 10, step=3),
        lambda: dp.Number(0, 1, step=0),
        lambda: dp.Number(0, 1, step=-1),
        lambda: dp.Number("a", 1),
        lambda: dp.Number(0, float("nan")),
        lambda: dp.Number(0, float("inf")),
        lambda: dp.Number(0, 10**9),
        lambda: dp.Category([]),
        lambda: dp.Category(["a"], unknown="a", missing="a"),
        lambda: dp.Category(["a", " A "]),
        lambda: dp.Category(["a", ""]),
        lambda: dp.Category("abc"),
        lambda: dp.Schema({}),
        lambda: dp.Schema({" ": dp.Number(0, 1)}),
        lambda: dp.Budget(epsilon="0"),
        lambda: dp.Budget(epsilon="-1"),
        lambda: dp.Budget(epsilon="much"),
        lambda: dp.Budget(delta="1"),
        lambda: dp.Budget(delta="-0.1"),
        lambda: dp.Budget(epsilon="1e9"),
    ]
    for declare in wrong:
        with pytest.raises(dp.AllowanceError) as refused:
            declare()
        assert str(refused.value).endswith(".") and "\n" not in str(refused.value)
