"""A workspace full of canaries: three tables, whose every odd cell can be told from everything else."""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaks.canaries import Canary, day, number, text

import dpengine as dp

PEOPLE = 120
COMMON = "usual"  # what most people hold: `find_declarations` may show it
NAMES = ["who", "pay", "far", "note", "account", "home", "born", "likes", "bad", "story", "age", "rank"]


def canaries() -> list[Canary]:
    """One for every kind of cell that could slip out."""
    return [
        Canary("id of a person", text()),
        Canary("id without a letter", str(number())),
        Canary("declared number, between two steps", str(number())),
        Canary("number out of range", str(number())),
        Canary("text that is not declared", text()),
        Canary("strange text", core := text(), f"<b>{core}' \"; --\u202e=1+1"),
        Canary("number that is not declared", str(number())),
        Canary("rare category", text()),
        Canary("date out of range", day()),
        Canary("date as no file writes it", core := day(), f"{core}T25:61"),
        Canary("item nobody listed", text()),
        Canary("malformed number", core := text(), f"12,3.4x{core}"),
        Canary("long cell", core := text(), (core + " ") * 2_000),
    ]


@dataclass(frozen=True)
class Stage:
    workspace: Any
    tables: list[dp.Table]
    canaries: list[Canary]
    source: Path


def rows(found: list[Canary], people: int = PEOPLE, seed: int = 7) -> list[list[str]]:
    """Plain people, and among them one row for each kind of odd cell; the plain ones are the same in every run."""
    cell = {one.name: one.cell or one.core for one in found}
    plain = random.Random(seed)
    made = [
        [
            f"p{place // 2}",
            str(plain.randrange(10**5) * 10**12),
            str(plain.randrange(11)),
            COMMON,
            "4",
            "ab"[place % 2],
            f"199{plain.randrange(10)}-0{1 + plain.randrange(9)}-11",
            "|".join("xyz"[: place % 4]),
            "7",
            "",
            str(place % 90),
            ("low", "high")[place % 3 > 0],
        ]
        for place in range(people)
    ]
    for column, name in [
        ("who", "id of a person"),
        ("who", "id without a letter"),
        ("pay", "declared number, between two steps"),
        ("far", "number out of range"),
        ("note", "text that is not declared"),
        ("note", "strange text"),
        ("account", "number that is not declared"),
        ("home", "rare category"),
        ("born", "date out of range"),
        ("born", "date as no file writes it"),
        ("likes", "item nobody listed"),
        ("bad", "malformed number"),
        ("story", "long cell"),
    ]:
        row = list(made[0])
        row[NAMES.index("who")] = f"odd {name}"[:7] + str(len(made))
        row[NAMES.index(column)] = cell[name] if column != "likes" else f"x|{cell[name]}|y"
        made.append(row)
    return made


def written(path: Path, made: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([NAMES, *made])
    return path


def schema() -> dp.Schema:
    return dp.Schema(
        {
            "pay": dp.Number(0, 10**18, step=10**14),
            "far": dp.Number(0, 10),
            "home": dp.Category(["a", "b"]),
            "born": dp.Date("1990-01-01", "2000-12-31"),
            "likes": dp.ItemSet(["x", "y", "z"], at_most=2),
            "bad": dp.Number(0, 20),
            "rank": dp.Category(["low", "high"]),
            "age": dp.Number(0, 100, missing=0),
        }
    )


TERMS: dict[str, dict[str, Any]] = {
    "canary rows": {"unit": dp.Unit.rows(), "relation": "replace"},
    "canary secret": {"unit": dp.Unit.rows(), "relation": "add_remove", "about_rows": 100},
    "canary people": {"unit": dp.Unit.column("who", at_most=2), "relation": "replace"},
}


def build(home: Path, source: Path, names: list[str] | None = None) -> Stage:
    """The same people under several terms; one file would join one budget, so each has a row more."""
    found = canaries()
    workspace = dp.open_workspace(home)
    tables = []
    for place, name in enumerate(names or list(TERMS)):
        path = written(source / f"{place}.csv", rows(found, PEOPLE + 2 * place))
        budget = dp.Budget("100", "1e-5")
        tables.append(workspace.add_table(name, path, schema=schema(), budget=budget, **TERMS[name]))
    return Stage(workspace, tables, found, source)


# A question of every kind.
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("count", {"where": [["home", "in", ["a"]]]}),
    ("count", {"by": "home"}),
    ("proportion", {"of": [["far", ">", 3]], "by": "home"}),
    ("mean", {"column": "pay"}),
    ("sum", {"column": "far"}),
    ("variance", {"column": "age"}),
    ("noisy_argmax", {"options": [[["home", "in", ["a"]]], [["far", ">", 5]]]}),
    ("crosstab", {"columns": ["home", "rank"]}),
    ("histogram", {"column": "likes"}),
    ("histogram", {"column": "pay", "bins": 4}),
    ("median", {"column": "pay"}),
    ("median", {"column": "born", "with_range": False}),
    ("quantile", {"column": "far", "share": ["0.25", "0.75"], "with_range": False}),
    ("top_item", {"column": "home"}),
    ("top_item", {"column": "likes", "noise": "permute_and_flip"}),
    ("histogram", {"column": "home", "noise": "gaussian"}),
    ("fit_check", {}),
    ("find_declarations", {"numbers": ["account"]}),
    ("find_declarations", {"lists": ["note"], "delta": "1e-7"}),
    ("cdf", {"column": "far"}),
    ("cdf_tree", {"column": "pay"}),
    (
        "check_model",
        {
            "parts": 2,
            "model": {
                "kind": "linear",
                "features": [["age", schema()["age"].as_json()]],
                "target": ["far", schema()["far"].as_json()],
                "bits": 24,
                "weights": [0, 2**20],
            },
        },
    ),
]


def publish(table: dp.Table) -> list[dp.Answer]:
    """The table itself, row by row, where that can be had."""
    if table.facts.relation != "replace" or table.facts.unit != dp.Unit.rows():
        return []
    query = table.query("publish_table", columns=["home", "far", "pay", "likes", "born"], epsilon="5")
    return [table.ask(query, f"p{table.name}")]


def make_up(table: dp.Table) -> list[dp.Answer]:
    """A synthetic table, in all ways."""
    asked = {"columns": ["home"], "epsilon": "0.5"}
    fitted = table.ask(table.query("synthetic_table", columns=["home", "far", "pay"], epsilon="0.5"), f"f{table.name}")
    table.synthetic(fitted).table()
    return [fitted, table.ask(table.query("small_database", size=2, **asked), f"m{table.name}")]


def look(table: dp.Table) -> list[dp.Answer]:
    """A first look."""
    return [
        table.ask(
            table.query("overview", columns=["home", "far", "pay"], against=["home"], epsilon="0.5"), f"l{table.name}"
        )
    ]


def train(table: dp.Table) -> list[dp.Answer]:
    """A model of a number and one of yes and no."""
    asked = {"epsilon": "0.5", "steps": 2}
    other = table.ask(table.query("train_logistic", target="rank", features=["far"], **asked))
    query = table.query("train_linear", target="pay", features=["age", "home", "born"], **asked)
    return [other, table.ask(query, f"t{table.name}")]


def ask_all(table: dp.Table, epsilon: str = "0.5", every: int = 1) -> list[dp.Answer]:
    """Every `every`-th of them."""
    return [table.ask(table.query(key, epsilon=epsilon, **given)) for key, given in QUESTIONS[::every]]
