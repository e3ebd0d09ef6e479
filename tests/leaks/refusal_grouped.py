"""Groups and lists of columns that cannot be asked for, on a table full of canaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from leaks.refusal_bench import Bench

import dpengine as dp
from dpengine.mechanisms import catalogue


def by(given: Any) -> Callable[[Bench], Any]:
    return lambda bench: bench.ask("histogram", column=given)


APART = [{"mean": "a"}, {"mean": "c"}]


def steps_apart(bench: Bench) -> Any:
    columns = {"a": dp.Number(0, 9973), "c": dp.Number(0, 9967)}
    return bench.add(bench.frame(a=[bench.digits], c=[bench.digits]), columns)


def open_lists(bench: Bench) -> dict[str, Any]:
    """10,404 combinations, of which 10,000 are of listed values."""
    wide = dp.Category([str(one) for one in range(100)])
    return {"facts": replace(bench.table.facts, schema=dp.Schema({"a": wide, "b": wide}))}


CAUSES: dict[str, Callable[[Bench], Any]] = {
    "category.complete": lambda bench: dp.Category(["a", "b"], complete=True, unknown=bench.cell),
    "crosstab.cells_open": lambda bench: catalogue["crosstab"].build(
        **open_lists(bench), parameters={"columns": ["a", "b"], "epsilon": "1"}
    ),
    "train.margins": lambda bench: bench.ask(
        "train_logistic", target="home", features=["far"], region="margins", calibration="coordinate"
    ),
    "synthetic.cells_open": lambda bench: catalogue["small_database"].build(
        **open_lists(bench), parameters={"columns": ["a", "b"], "epsilon": "1"}
    ),
    "group.unreadable": by({"step": 1}),
    "group.kind": by({"column": "far", "by": "month"}),
    "group.step_positive": by({"column": "far", "step": 0}),
    "group.rising": by({"column": "far", "edges": [5, 3]}),
    "group.one": by({"column": "far", "edges": [0]}),
    "group.of_days": by({"column": "born", "by": "decade"}),
    "group.many": by({"column": "pay", "step": 10**14}),
    "fit_checks.columns": lambda bench: bench.ask("fit_checks", columns=["far", "far"]),
    "vector.columns": lambda bench: bench.ask("vector_mean", columns=[]),
    "vector.twice": lambda bench: bench.ask("vector_mean", columns=["far", "far"]),
    "vector.many": lambda bench: bench.ask("vector_mean", columns=[f"far{at}" for at in range(21)]),
    "vector.kind": lambda bench: bench.ask("vector_mean", columns=["far", "likes"]),
    "vector.norm": lambda bench: bench.ask("vector_mean", columns=["far"], norm="2"),
    "vector.lattice": lambda bench: bench.ask("vector_mean", columns=["far"], lattice=99),
    "options.many": lambda bench: bench.ask("noisy_argmax", options=[]),
    "options.different": lambda bench: bench.ask("noisy_argmax", options=[[["far", ">", 1]]] * 2),
    "options.mixed": lambda bench: bench.ask("noisy_argmax", options=[{"mean": "far"}, [["far", ">", 1]]]),
    "options.twice": lambda bench: bench.ask("noisy_argmax", options=[{"mean": "far"}, {"mean": "far"}]),
    "options.steps": lambda bench: steps_apart(bench).query("noisy_argmax", options=APART, epsilon="0.1"),
    "find_declarations.columns": lambda bench: bench.ask("find_declarations", numbers=[]),
}
