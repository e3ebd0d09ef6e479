"""Refusals of synthetic tables, each with what causes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from leaks.refusal_bench import Bench

import dpengine as dp
from dpengine.mechanisms import catalogue

CAUSES: dict[str, Callable[[Bench], object]] = {
    "synthetic_table.columns": lambda b: b.ask("synthetic_table", columns=["home"]),
    "synthetic_table.plan": lambda b: b.ask("synthetic_table", columns=["home", "far"], plan="all"),
    "synthetic_table.keep": lambda b: b.ask("synthetic_table", columns=["home", "far"], keep="pay"),
    "synthetic_table.never": lambda b: b.ask("synthetic_table", columns=["home", "far"], never=[[]]),
    "synthetic_table.nothing": lambda b: b.ask("synthetic_table", columns=["home", "far"], never=[[["far", ">=", 0]]]),
    "synthetic_table.rules": lambda b: catalogue["synthetic_table"].build(
        replace(b.table.facts, schema=dp.Schema({name: dp.Number(0, 99) for name in "abcdefghi"})),
        {
            "columns": list("abcdefghi"),
            "epsilon": "1",
            "never": [[[c, "<", n] for c in "abcdefghi"] for n in (9, 25, 64)],
        },
    ),
    "synthetic_table.wide": lambda b: catalogue["synthetic_table"].build(
        replace(
            b.table.facts, schema=dp.Schema({name: dp.Category([str(one) for one in range(120)]) for name in "ab"})
        ),
        {"columns": ["a", "b"], "epsilon": "1"},
    ),
}
