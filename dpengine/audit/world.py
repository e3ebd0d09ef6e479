"""A small world in which everything can be counted: all tables of up to three people, and all their neighbours.

One Number with a missing value, one Category, and columns that move with them, so that every kind of question has
something to ask. Where a person may have several rows: all people of one or two rows, beside at most one other.
`CASES` names every variant of every question in the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

from dpengine.declared.conditions import Row
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING, Category, ItemSet, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import Query
from dpengine.statistics.counts import cut
from dpengine.statistics.need import Spread

SCHEMA = Schema(
    {
        "x": Number(0, 3),
        "c": Category(["a", "b"], unknown="b", missing="b"),
        "z": Number(-4, 2, step=2, missing=0),  # every row has a value, by declaration
        "d": Category(["e", "f"], unknown="f", missing="f"),
        "t": Category(["u", "v", "w"], unknown="w", missing="w"),
        "s": ItemSet(["p", "q", "r", "o"], at_most=2),
        "b": Date("1990-01-01", "1990-01-04"),
    }
)
RAW_NUMBERS = {MISSING: None, 0: "0", 1: "-3.5", 3: "1e99"}  # cells of a column that is not declared
RAW_TEXTS = ("Ann", "ann ", "Bo", None, "tab\there")
SETS = ((), (0,), (0, 1), (2, 3), (1, 2), (0, 1, 2, 3), (0, 2), (3,))


def one_person(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Of the set that these rows hold together, the two first items count in a histogram: any rule would do that looks
    at this set alone."""
    first = sorted({item for row in rows for item in row["s"]})[:2]
    return tuple(row | {cut("s"): tuple(item for item in row["s"] if item in first)} for row in rows)


# z, d, t and s move with x and c, to keep the world small; each number and list still takes all its values.
POSSIBLE_ROWS: tuple[Row, ...] = tuple(
    one_person(({"x": x, "c": c, "z": 2 if x == MISSING else x, "d": (x + c) % 2, "t": (x + c) % 3, "s": held},))[0]
    | {"b": x, "fault": max(c, int(x == 3)), "fault x": int(x == 3)}
    | {"raw number": RAW_NUMBERS[x], "raw text": RAW_TEXTS[(x + c) % 5]}
    for (x, c), held in zip(product((MISSING, 0, 1, 3), (0, 1)), SETS, strict=True)
)
HEADER = (*SCHEMA.columns, "raw number", "raw text")

SOME = ["x", ">", 0]
ONE_STEP = {"steps": 1, "clip": "0.5", "lattice": 3}  # of a training; coarse, so that its law can be summed


def model(target: str, feature: str, yes: tuple[int, ...], no: tuple[int, ...], *weights: int) -> dict[str, Any]:
    """A released model, as a question about it is given it."""
    columns = {name: [name, SCHEMA[name].as_json()] for name in (target, feature)}
    sides = {"kind": "logistic", "yes": list(yes), "no": list(no)} if yes else {"kind": "linear"}
    return {"features": [columns[feature]], "target": columns[target], "bits": 24, "weights": list(weights)} | sides


HALF = 11_863_283  # a weight that adds ½ to what a model of one list says

# One line per variant puts an entry under every check and into the report.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("count", {"where": [["c", "in", ["a"]]]}),
    ("count", {"where": [["any", [["x", ">", 1], ["c", "in", ["b"]]]]]}),
    ("count", {"by": "c", "where": [["x", ">=", 1]]}),
    ("count", {"where": [["s", "has", ["p", "r"]]]}),
    ("count", {"people": True, "where": [["x", ">=", 1]]}),
    ("proportion", {"of": [["c", "in", ["a"]]]}),
    ("proportion", {"of": [["x", ">", 0]], "where": [["c", "in", ["a"]]]}),
    ("proportion", {"of": [["x", ">", 0]], "by": "c"}),
    ("mean", {"column": "x"}),
    ("mean", {"column": "z"}),
    ("mean", {"column": "x", "by": "c"}),
    ("mean", {"column": "z", "where": [["c", "in", ["a"]]]}),
    ("sum", {"column": "x"}),
    ("sum", {"column": "z"}),
    ("sum", {"column": "z", "by": "c"}),
    ("variance", {"column": "x"}),
    ("noisy_argmax", {"options": [[["c", "in", ["a"]]], [["x", ">", 0]]]}),
    ("crosstab", {"columns": ["c", "d"]}),
    ("histogram", {"column": "c"}),
    ("histogram", {"column": "s"}),
    ("histogram", {"column": "s", "where": [["x", "=", 0]]}),
    ("histogram", {"column": "x", "bins": 4}),
    ("histogram", {"column": "x", "bins": [0, 2], "where": [["c", "in", ["a"]]]}),
    ("median", {"column": "x"}),
    ("median", {"column": "x", "with_range": False, "where": [["c", "in", ["a"]]]}),
    ("quantile", {"column": "x", "share": "0.9"}),
    ("quantile", {"column": "x", "share": "0.25", "with_range": False}),
    ("quantile", {"column": "x", "share": ["0.25", "0.75"], "with_range": False}),
    ("median", {"column": "x", "by": "c", "with_range": False}),
    ("median", {"column": "z", "by": "d"}),
    ("quantile", {"column": "x", "share": "0.333", "with_range": False, "where": [["x", "<=", 1]]}),
    ("top_item", {"column": "c"}),
    ("top_item", {"column": "c", "where": [["x", ">=", 1]]}),
    ("top_item", {"column": "t", "how_many": 2}),
    ("median", {"column": "b", "with_range": False}),
    ("quantile", {"column": "b", "share": "0.9", "where": [["b", "between", ["1989-12-31", "1990-01-02"]]]}),
    ("histogram", {"column": "b", "bins": ["1990-01-01", "1990-01-03"]}),
    ("count", {"where": [["b", ">", "1990-01-01"]]}),
    ("fit_check", {}),
    ("fit_check", {"column": "x"}),
    ("find_range", {"column": "raw number"}),
    ("find_values", {"column": "raw text", "delta": "1e-6"}),
    ("top_item", {"column": "s"}),
    ("top_item", {"column": "t", "noise": "permute_and_flip"}),
    ("top_item", {"column": "t", "how_many": 2, "noise": "permute_and_flip"}),
    ("top_item", {"column": "s", "noise": "permute_and_flip", "where": [["x", ">=", 1]]}),
    ("histogram", {"column": "c", "noise": "gaussian"}),
    ("count", {"by": "c", "where": [["x", ">=", 1]], "noise": "gaussian"}),
    ("count", {"where": [["c", "in", ["a"]]], "noise": "gaussian"}),
    ("histogram", {"column": "s", "noise": "gaussian"}),
    ("crosstab", {"columns": ["c", "d"], "noise": "gaussian"}),
    ("top_item", {"column": "s", "how_many": 2, "where": [["x", ">=", 1]]}),
    ("adaptive_session", {"questions": 3}),
    ("adaptive_session", {"questions": 2, "ask": {"share": [["x", ">", 0], ["c", "in", ["b"]]]}}),
    ("adaptive_session", {"questions": 2, "ask": {"average": "x"}}),
    ("adaptive_session", {"questions": 1, "ask": {"largest": [[["c", "in", ["a"]]], [["x", ">", 0]]]}}),
    ("adaptive_session", {"calibration": "gaussian", "questions": 2, "ask": {"average": "z"}}),
    ("adaptive_session", {"calibration": "lecture", "delta": "1e-12", "questions": 2, "ask": {"share": [SOME]}}),
    ("publish_number", {"columns": ["z"]}),
    ("publish_number", {"columns": ["x", "z"], "grid": 2}),
    ("publish_number", {"columns": ["x"], "delta": "0.1"}),
    ("publish_category", {"columns": ["t", "c"]}),
    ("publish_category", {"columns": ["t"], "delta": "0.2"}),
    ("publish_table", {"columns": ["x", "c"]}),
    ("local_count", {"where": [["c", "in", ["a"]]]}),
    ("shuffle_count", {"where": [["c", "in", ["a"]]], "delta": "0.5"}),
    ("shuffle_histogram", {"column": "t", "delta": "0.7"}),
    ("shuffle_histogram", {"column": "t", "delta": "0.7", "solution": "second"}),
    ("shuffle_histogram", {"column": "c", "delta": "0.8", "calibration": "halved"}),
    ("cdf", {"column": "x", "points": 2}),
    ("cdf", {"column": "z", "points": 3, "where": [["c", "in", ["a"]]]}),
    ("cdf_tree", {"column": "x"}),
    ("cdf_tree", {"column": "b", "where": [["c", "in", ["a"]]], "noise": "gaussian"}),
    ("small_database", {"columns": ["c"], "size": 2}),
    ("small_database", {"columns": ["t"]}),
    ("small_database", {"columns": ["c", "d"], "size": 1, "queries": [[["c", "in", ["a"]]]], "where": [SOME]}),
    ("mwem", {"columns": ["c"], "rounds": 1}),
    ("density", {"columns": ["x"], "resolution": 2, "bandwidth": 2}),
    ("density", {"columns": ["z"], "resolution": 4, "bandwidth": "2.5"}),
    ("density", {"columns": ["x", "z"], "resolution": 2, "bandwidth": ["1.8", 4], "where": [["c", "in", ["a"]]]}),
    ("train_linear", {"target": "z", "features": ["c"], **ONE_STEP}),
    ("train_linear", {"target": "z", "features": ["x"], "calibration": "l2_laplace", "region": "box", **ONE_STEP}),
    ("train_linear", {"target": "x", "features": ["c"], "calibration": "coordinate", **ONE_STEP}),
    ("train_logistic", {"target": "c", "features": ["x"], **ONE_STEP}),
    ("train_logistic", {"target": "t", "features": ["b"], "calibration": "l2_laplace", **ONE_STEP}),
    ("train_logistic", {"target": "c", "features": ["z"], "calibration": "coordinate", **ONE_STEP}),
    ("check_model", {"parts": 2, "model": model("c", "x", (0,), (1,), 0, HALF)}),
    ("check_model", {"parts": 2, "model": model("d", "z", (0,), (1,), 0, HALF), "noise": "gaussian"}),
    ("check_model", {"parts": 2, "error_steps": 2, "model": model("z", "c", (), (), 0, -HALF, HALF)}),
]

# Checks that compare laws or shapes on a public support cannot be put to a question whose support is what it finds and
# δ pays for. It stands all the others, and these in a file of its own.
DATA_SUPPORT = {"find_values": "tests/engine/mechanisms/test_find_values.py"}
PUBLIC_SUPPORT = [case for case in CASES if case[0] not in DATA_SUPPORT]


SEVERAL = Unit.column("who", at_most=2)


def facts(relation: str, about: int = 3, unit: Unit | None = None) -> Facts:
    return Facts("small", SCHEMA, unit or Unit.rows(), relation, about, HEADER)  # type: ignore[arg-type]


def build(
    key: str, parameters: dict[str, Any], relation: str, epsilon: str = "1", about: int = 3, unit: Unit | None = None
) -> Query:
    return catalogue[key].build(facts(relation, about, unit), {"epsilon": epsilon} | parameters)


def case_name(case: tuple[str, dict[str, Any]]) -> str:
    return f"{case[0]}-{'-'.join(str(value) for value in case[1].values())}"[:60]


Pairs = tuple[tuple[tuple[Row, ...], tuple[Row, ...]], ...]


@cache
def neighbours(relation: str, unit: Unit | None = None) -> Pairs:
    return tuple(_neighbours(relation) if unit in (None, Unit.rows()) else _neighbours_of_people(relation))


def _neighbours_of_people(relation: str) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """One person with one or two rows becomes another such person, appears, or goes; at most one other is there."""
    rows = [POSSIBLE_ROWS[place] for place in (0, 2, 3, 5, 6, 7)]
    bundles = [(row,) for row in rows] + list(combinations_with_replacement(rows, 2))

    def person(number: int, bundle: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(row | {"person": number} for row in one_person(bundle))

    for rest in [()] + [person(0, (row,)) for row in rows]:
        for one in bundles:
            if relation == "add_remove":
                yield rest, rest + person(1, one)
                yield rest + person(1, one), rest
            else:
                yield from ((rest + person(1, one), rest + person(1, other)) for other in bundles if other != one)


def _neighbours(relation: str) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """Ordered pairs of neighbouring tables; row order does not matter to any statistic, so tables are multisets."""
    if relation == "replace":
        for size in (1, 2, 3):
            for rest in combinations_with_replacement(POSSIBLE_ROWS, size - 1):
                for one, other in product(POSSIBLE_ROWS, repeat=2):
                    if one != other:
                        yield (*rest, one), (*rest, other)
    else:
        for size in (0, 1, 2):
            for rest in combinations_with_replacement(POSSIBLE_ROWS, size):
                for one in POSSIBLE_ROWS:
                    yield rest, (*rest, one)
                    yield (*rest, one), rest


def key_of(statistic: Any) -> Any:
    """Equal for equal statistics, and hashable."""
    if isinstance(statistic, Spread):
        return tuple(statistic.codes.tolist()), tuple(statistic.counts.tolist())
    return tuple(key_of(part) for part in statistic) if isinstance(statistic, tuple) else statistic
