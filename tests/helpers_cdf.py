"""The column and the tree of a small table."""

from __future__ import annotations

from typing import Any

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.curves.cdf_tree import CdfTree


def facts(grid: int, about: int, relation: str = "replace", rows: int = 1) -> Facts:
    unit = Unit.rows() if rows == 1 else Unit.column("who", at_most=rows)
    return Facts("t", Schema({"x": Number(0, grid - 1, missing=0)}), unit, relation, about)  # type: ignore[arg-type]


def column(grid: int, about: int, relation: str = "replace", **given: Any) -> Cdf:
    return Cdf.build(facts(grid, about, relation), {"column": "x", "epsilon": "1"} | given)


def tree(grid: int, about: int, relation: str = "replace", rows: int = 1, **given: Any) -> CdfTree:
    return CdfTree.build(facts(grid, about, relation, rows), {"column": "x", "epsilon": "1"} | given)
