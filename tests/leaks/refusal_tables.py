"""Refusals of synthetic tables, and of files that are brought to a model, each with what causes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from leaks.refusal_bench import Bench
from leaks.stage import schema

import dpengine as dp
from dpengine.mechanisms import catalogue
from dpengine.released.scoring import MOST_ROWS, score
from dpengine.statistics.features import model_from_json


def scored(b: Bench, content: str | bytes, name: str = "brought.csv") -> object:
    """A file full of canaries, brought to a model."""
    held = {"features": [["age", schema()["age"].as_json()]], "target": ["far", schema()["far"].as_json()]}
    return score(
        b.put(content, name), model_from_json(held | {"kind": "linear", "bits": 24, "weights": [0, 1]}), dp.Dialect()
    )


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
    "scoring.absent": lambda b: scored(b, f"years,home\n1,{b.cell}\n"),
    "scoring.kind": lambda b: scored(b, b"PAR1" + b.cell.encode(), "brought.parquet"),
    "scoring.rows": lambda b: scored(b, "age,home\n" + f"1,{b.cell}\n" * (MOST_ROWS + 1)),
    "synthetic_table.wide": lambda b: catalogue["synthetic_table"].build(
        replace(
            b.table.facts, schema=dp.Schema({name: dp.Category([str(one) for one in range(120)]) for name in "ab"})
        ),
        {"columns": ["a", "b"], "epsilon": "1"},
    ),
}
