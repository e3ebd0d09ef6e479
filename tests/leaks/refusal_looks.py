"""What a first look refuses, each caused on a table full of canaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from leaks.refusal_bench import Bench

import dpengine as dp
from dpengine.declared.merging import read_lookup
from dpengine.mechanisms import catalogue
from dpengine.released.look import Look
from dpengine.released.shapes import Shapes


def _wide(bench: Bench, columns: int, values: int, against: list[str] | str, **more: Any) -> Any:
    listed = dp.Category([str(one) for one in range(values)])
    facts = replace(bench.table.facts, schema=dp.Schema({f"c{place}": listed for place in range(columns)}))
    return catalogue["overview"].build(facts, {"against": against, "epsilon": "1"} | more)


def _look(bench: Bench) -> Look:
    found = bench.table.ask(bench.ask("overview", columns=["home"])).value
    assert isinstance(found, Look)
    return found


def _against(bench: Bench) -> Look:
    found = bench.table.ask(bench.ask("overview", columns=["home", "rank"], against=["home"])).value
    assert isinstance(found, Look)
    return found


def _items(bench: Bench) -> Look:
    found = bench.table.ask(bench.ask("overview", columns=["home", "likes"])).value
    assert isinstance(found, Look)
    return found


def _estimate(bench: Bench) -> Any:
    query = _wide(bench, 3, 95, "all")
    raw = [0] * sum(query.layout.cells(part) for part in query.layout.bases)
    return Look(query, raw).share({"c0": ["1"], "c1": ["1"], "c2": ["1"]})


_TWICE = [["x", ["a"]], ["y", ["a", "b"]]]

CAUSES: dict[str, Callable[[Bench], Any]] = {
    "overview.columns": lambda b: b.ask("overview", columns=["home", "home"]),
    "overview.against": lambda b: b.ask("overview", columns=["home"], against=["far"]),
    "overview.weights": lambda b: b.ask("overview", columns=["home"], weights={"home": 0}),
    "overview.cells": lambda b: _wide(b, 2, 120, ["c0"]),
    "overview.numbers": lambda b: _wide(b, 24, 95, ["c0", "c1"]),
    "overview.sets": lambda b: _wide(b, 30, 2, "all", three=True),
    "merged.column": lambda b: b.ask("overview", columns=[{"column": "pay", "merged": [["", ["1"]]]}]),
    "merged.values": lambda b: b.ask("overview", columns=[{"column": "home", "merged": [["", ["nobody"]]]}]),
    "merged.twice": lambda b: b.ask("overview", columns=[{"column": "home", "merged": _TWICE}]),
    "merged.name": lambda b: b.ask("overview", columns=[{"column": "home", "merged": [["x" * 300, ["a"]]]}]),
    "lookup.lines": lambda b: read_lookup("", b.table.schema.category("home")),
    "lookup.columns": lambda b: read_lookup("a", b.table.schema.category("home")),
    "lookup.twice": lambda b: read_lookup("a,x\na,y", b.table.schema.category("home")),
    "lookup.none": lambda b: read_lookup("nobody,x", b.table.schema.category("home")),
    "look.column": lambda b: _look(b).bars("nobody"),
    "look.items": lambda b: _items(b).cross("home", "likes"),
    "look.large": _estimate,
    "look.label": lambda b: _look(b).share({"home": ["nobody"]}),
    "look.mean": lambda b: _look(b).mean("home"),
    "look.percentile": lambda b: _look(b).percentile("home"),
    "shapes.target": lambda b: Shapes(_look(b), "far"),
    "shapes.columns": lambda b: Shapes(_against(b), "home", columns=["nobody"]),
}
