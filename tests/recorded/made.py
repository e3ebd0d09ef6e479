"""Random schemas, tables and their neighbours, conditions and questions, from one random source.

Cells are what files hold: listed values and numbers in range, and everything else that a cell can be. A neighbour is
one by the table's own terms: under *replace* one person has other data, under *add_remove* one person more is there;
where rows of one id are one person's, that person may have any number of them, anywhere in the file.
"""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dpengine as dp
from dpengine.declared.spelling import trimmed
from dpengine.statistics.features import WEIGHT_BITS

ODD_NUMBERS = [
    "",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "1e400",
    "-1e400",
    "x",
    "1,5",
    " 7 ",
    "٣",
    "0x10",
    "-0",
    "1e-9",
    "9" * 30,
    "-" + "9" * 30,
    "1_0",
    "+3",
    "½",
    "3.999999999999999999",
    "null",
    "None",
    "\u00a02",
]
ODD_TEXTS = ["", " ", "?", "a b", "A", " a ", "ß", "nan", "NULL", "'; --", "\u202ea", "a|b", "é", "e\u0301", "0"]
ODD_DATES = ["", "31.2.1990", "1990-02-31", "0000-00-00", "1990-01-02T25:00", "9999-12-31", "x", "2.1.1990"]
NUMBERS = [
    (0, 3, 1),
    (-4, 2, 2),
    (0, 100, 1),
    (0, 1, "0.1"),
    (-1_000_000, 1_000_000, 1000),
    (1, 2, 1),
    ("0.5", "2.5", "0.5"),
]
ID = "who"
NAMES = ["x", "y", "c", "d", "s", "b"]


@dataclass(frozen=True)
class World:
    """A declared table and its neighbour, as files would hold them."""

    schema: dp.Schema
    unit: dp.Unit
    relation: str
    about: int
    header: list[str]
    one: list[list[str]]
    other: list[list[str]]
    second: tuple[list[list[str]], list[list[str]]] | None = None  # a file about the people, on either side
    everybody: bool = True
    summaries: dict[str, dp.Summary] | None = None  # one row a person is made of it

    def rows(self, side: int) -> list[list[str]]:
        return (self.one, self.other)[side]


def world(rng: random.Random) -> World:
    schema = _schema(rng)
    header = [*schema.columns, "free", "raw"]
    unit = dp.Unit.rows() if rng.random() < 0.6 else dp.Unit.column(ID, at_most=rng.randint(1, 3))
    relation = rng.choice(["replace", "replace", "add_remove"])
    several = unit.id_column is not None
    header = [ID, *header] if several else header
    rng.shuffle(header)
    people = rng.randint(2, 10)
    each = [_person(rng, schema, header, f"p{place}", several) for place in range(people)]
    changed = rng.randrange(people)
    other = _person(rng, schema, header, rng.choice([f"p{changed}", "someone"]), several)
    if relation == "add_remove":
        before, after = [*each[:changed], *each[changed + 1 :]], each
    else:
        before, after = each, [*each[:changed], other, *each[changed + 1 :]]
    tables = [[row for person in table for row in person] for table in (before, after)]
    if several:  # by its place in the file nothing may be told; a row of one's own stays where it is
        for table in tables:
            rng.shuffle(table)
    if rng.random() < 0.5:
        tables.reverse()
    return World(schema, unit, relation, rng.randint(1, 9), header, tables[0], tables[1])


def with_people(rng: random.Random) -> World:
    """The same in two files: events, and what is known of the people, some in one file alone. One person's records in
    both are others; nobody else's are."""
    made = world(rng)
    while made.unit.id_column is None:
        made = world(rng)
    own = [name for name in made.header if name in made.schema.columns]
    moved = rng.sample(own, rng.randint(1, len(own) - 1))
    kept = [place for place, name in enumerate(made.header) if name not in moved]
    at, head = made.header.index(ID), ["person", *moved]
    by_person = [_by_person(made.rows(side), at) for side in (0, 1)]
    here = {who: _records(rng, made.schema, head, who) for who in (*by_person[0], *by_person[1], "q1", "q2")}
    changed = {who for who in here if by_person[0].get(who) != by_person[1].get(who)}
    files = []
    for side, people in enumerate(by_person):
        of = {who: _records(rng, made.schema, head, who) if side and who in changed else here[who] for who in here}
        rows = [row for who in (*people, "q1", "q2") for row in of[who]]
        rng.shuffle(rows)
        files.append([head, *(rows or [["", *([""] * len(moved))]])])
    sides = [[[row[place] for place in kept] for row in made.rows(side)] for side in (0, 1)]
    header = [made.header[place] for place in kept]
    second, everybody = (files[0], files[1]), rng.random() < 0.5
    return replace(made, header=header, one=sides[0], other=sides[1], second=second, everybody=everybody)


def by_person(rng: random.Random) -> World:
    """One row a person, of a file or of two."""
    made = with_people(rng) if rng.random() < 0.5 else world(rng)
    while made.unit.id_column is None:
        made = world(rng)
    summaries = {"n": dp.Summary("count", lower=0, upper=rng.randint(1, 6))}
    for name, column in made.schema.columns.items():
        if isinstance(column, dp.Number):
            kind, ends = rng.choice(["sum", "mean", "least", "most"]), (column.lower, column.upper, column.step)
            summaries[name] = dp.Summary(kind, name, *ends)
        elif isinstance(column, dp.Category):
            any_one = dp.Summary("any", name, value=column.values[0])
            summaries[name] = rng.choice([any_one, dp.Summary("frequent", name), dp.Summary("first", name, by="x")])
        elif isinstance(column, dp.Date):
            summaries[name] = dp.Summary("last", name, by=name)
    return replace(made, summaries=summaries)


def _by_person(rows: list[list[str]], at: int) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for row in rows:
        found.setdefault(trimmed(row[at]), []).append(row)
    return {who: sorted(theirs) for who, theirs in found.items()}


def _records(rng: random.Random, schema: dp.Schema, header: list[str], name: str) -> list[list[str]]:
    spelled = rng.choice([name, f" {name}", f"{name}\u00a0"])
    cells = [[_cell(rng, schema, column) for column in header[1:]] for _ in range(rng.choice([0, 1, 1, 2]))]
    return [[spelled, *row] for row in cells]


def write(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def _schema(rng: random.Random) -> dp.Schema:
    columns: dict[str, Any] = {}
    for name in ("x", "y"):
        low, high, step = rng.choice(NUMBERS)
        columns[name] = dp.Number(low, high, step=step, missing=rng.choice([None, low, high]))
    for name in ("c", "d"):
        values = rng.sample(["a", "b", "é", "yes", "no", "0", "a b"], rng.randint(2, 4))
        own = {"unknown": rng.choice([values[-1], "else"]), "missing": rng.choice([values[0], "none"])}
        columns[name] = dp.Category(values, **own)
    items = rng.sample(["p", "q", "r", "o", "é"], rng.randint(2, 4))
    columns["s"] = dp.ItemSet(items, at_most=rng.randint(1, len(items)))
    columns["b"] = dp.Date("1990-01-01", rng.choice(["1990-01-04", "1990-02-01"]))
    kept = rng.sample(list(columns), rng.randint(4, len(columns)))
    kept += [name for name in ("x", "c") if name not in kept]
    return dp.Schema({name: columns[name] for name in kept})


def _person(rng: random.Random, schema: dp.Schema, header: list[str], name: str, several: bool) -> list[list[str]]:
    rows = rng.choice([1, 1, 2, 3, 5]) if several else 1
    spelled = [name, name, f" {name}", f"{name}\u00a0", f"\t{name}", f"\ufeff{name}", f"\u3000{name}\u2003"]  # one id
    return [
        [rng.choice(spelled) if column == ID else _cell(rng, schema, column) for column in header] for _ in range(rows)
    ]


def _cell(rng: random.Random, schema: dp.Schema, name: str) -> str:
    column = schema.columns.get(name)
    odd = rng.random() < 0.3
    if isinstance(column, dp.Number):
        return rng.choice(ODD_NUMBERS) if odd else str(float(column.value(rng.randrange(column.size))))
    if isinstance(column, dp.Category):
        return rng.choice(ODD_TEXTS) if odd else rng.choice(column.values)
    if isinstance(column, dp.Date):
        return rng.choice(ODD_DATES) if odd else column.text(rng.randrange(column.size))
    if isinstance(column, dp.ItemSet):
        items = [rng.choice([*column.values, "none of them"]) for _ in range(rng.randint(0, 5))]
        return "|".join(items)
    return rng.choice([*ODD_NUMBERS, *ODD_TEXTS, "Ann", "Bo", "7", "12.5", "-3"])


# Conditions and questions


def condition(rng: random.Random, schema: dp.Schema) -> list[Any]:
    name = rng.choice(list(schema.columns))
    column = schema[name]
    if isinstance(column, dp.ItemSet):
        return [name, rng.choice(["has", "has none of"]), rng.sample(list(column.values), rng.randint(1, 2))]
    if isinstance(column, dp.Category):
        values = rng.sample(list(column.labels), rng.randint(1, len(column.labels)))
        return [name, rng.choice(["in", "not in"]), values]
    first, last = sorted(rng.choices(range(column.size), k=2))
    if rng.random() < 0.3:
        return [name, "between", [column.text(first), column.text(last)]]
    return [name, rng.choice(["=", "<", "<=", ">", ">="]), column.text(first)]


def conditions(rng: random.Random, schema: dp.Schema, least: int = 0) -> list[Any]:
    rows: list[Any] = [condition(rng, schema) for _ in range(rng.choice([least, 1, 1, 2]))]
    if rng.random() < 0.2:
        rows.append(["any", [condition(rng, schema), condition(rng, schema)]])
    return rows


def questions(rng: random.Random, made: World) -> list[tuple[str, dict[str, Any]]]:
    """One or two of every kind in the catalogue, as far as the schema has the columns for it."""
    schema = made.schema
    numbers, lists = schema.of_kind(dp.Number), schema.of_kind(dp.Category)
    sets, days = schema.of_kind(dp.ItemSet), schema.of_kind(dp.Date)
    ordered, every = numbers + days, list(schema.columns)
    small = [name for name in ordered if schema[name].size <= 12]

    def where(least: int = 0) -> dict[str, Any]:
        rows = conditions(rng, schema, least) if least or rng.random() < 0.6 else []
        return {"where": rows} if rows else {}

    def by() -> dict[str, Any]:
        return {"by": rng.choice(lists)} if rng.random() < 0.4 else {}

    def noise(name: str = "gaussian") -> dict[str, Any]:
        return {"noise": name} if rng.random() < 0.4 else {}

    share = rng.choice(["0.1", "0.25", "0.9", ["0.25", "0.75"]])
    found: list[tuple[str, dict[str, Any]]] = [
        ("count", where() | by() | noise()),
        ("count", where(1) | {"people": rng.random() < 0.7}),
        ("proportion", {"of": conditions(rng, schema, 1)} | where() | by() | noise()),
        ("median", {"column": rng.choice(ordered), "with_range": rng.random() < 0.5} | where() | by()),
        ("mean", {"column": rng.choice(numbers)} | where() | by() | noise()),
        ("sum", {"column": rng.choice(numbers)} | where() | by() | noise()),
        ("variance", {"column": rng.choice(numbers)} | where() | noise()),
        ("quantile", {"column": rng.choice(ordered), "share": share, "with_range": False} | where() | by()),
        ("histogram", {"column": rng.choice(numbers), "bins": rng.choice([2, 3, 4])} | where() | noise()),
        ("histogram", {"column": rng.choice(lists + sets)} | where() | noise()),
        (
            "top_item",
            {"column": rng.choice(lists + sets), "how_many": rng.choice([1, 1, 2])}
            | where()
            | noise("permute_and_flip"),
        ),
        (
            "top_item",
            {"column": rng.choice(lists + sets), "how_many": 2, "ordered": False}
            | where()
            | rng.choice([{}, {"noise": "joint_set"}]),
        ),
        ("top_item", {"column": rng.choice(lists + sets), "how_many": 2, "noise": "joint_order"} | where()),
        (
            "noisy_argmax",
            {"options": [conditions(rng, schema, 1) for _ in range(rng.randint(2, 3))]}
            | where()
            | noise("permute_and_flip"),
        ),
        ("fit_check", ({"column": rng.choice(every)} if rng.random() < 0.7 else {}) | noise()),
        ("fit_checks", ({"columns": rng.sample(every, 2)} if rng.random() < 0.7 else {}) | noise()),
        ("find_declarations", {"numbers": [rng.choice(["raw", "free", *numbers])], "noise": "laplace"}),
        (
            "find_declarations",
            {
                "lists": [rng.choice(["raw", "free", *lists])],
                "delta": rng.choice(["1e-6", "0.001"]),
                "noise": "laplace",
            },
        ),
        (
            "find_declarations",
            {"numbers": ["raw"], "lists": ["free", rng.choice(lists)], "delta": rng.choice(["1e-6", "0.001"])},
        ),
        (
            "adaptive_session",
            {"questions": rng.randint(1, 3), "calibration": rng.choice(["laplace", "gaussian"]), "epsilon": "12"},
        ),
        (
            "publish_number",
            {"columns": rng.sample(numbers, rng.randint(1, len(numbers)))}
            | ({"delta": "0.005"} if rng.random() < 0.4 else {}),
        ),
        (
            "publish_category",
            {"columns": rng.sample(lists, rng.randint(1, len(lists)))}
            | ({"delta": "0.005"} if rng.random() < 0.4 else {}),
        ),
        ("publish_table", {"columns": rng.sample([*ordered, *lists, *sets], 2)}),
        (
            "publish_row",
            {"columns": rng.sample([*small, *lists, *sets], 2)} | ({"grid": 3} if rng.random() < 0.5 else {}),
        ),
        *([("publish_set", {"columns": sets[:1]})] if sets else []),
        ("local_count", where(1)),
        ("shuffle_count", where(1) | {"delta": "0.03", "epsilon": "4"}),
        (
            "shuffle_histogram",
            {"column": rng.choice(lists), "delta": "0.04", "epsilon": "8", "solution": rng.choice(["first", "second"])}
            | where(),
        ),
        ("cdf_tree", {"column": rng.choice(small or ordered)} | where() | noise()),
        ("small_database", {"columns": [rng.choice(lists)], "size": rng.choice([1, 2])} | where()),
        (
            "vector_mean",
            {"columns": rng.sample(numbers, rng.randint(1, len(numbers)))}
            | ({"norm": rng.choice(["0.3", "0.8"]), "lattice": 2} if rng.random() < 0.5 else {})
            | ({"noise": rng.choice(["l2_laplace", "gaussian"])} if rng.random() < 0.7 else {})
            | where(),
        ),
        ("overview", overview(rng, schema, [*numbers, *lists], sets)),
        *synthetic(rng, [*numbers, *lists]),
        ("density", {"columns": [rng.choice(numbers)], "resolution": rng.choice([2, 4])} | where()),
        (
            "train_linear",
            {
                "target": rng.choice(numbers),
                "features": [rng.choice(lists)],
                "steps": 2,
                "calibration": rng.choice(["gaussian", "l2_laplace", "coordinate"]),
            },
        ),
        (
            rng.choice(["train_logistic", "train_hinge"]),
            {
                "target": lists[0],
                "features": [rng.choice(numbers + days)],
                "steps": 2,
                "calibration": rng.choice(["gaussian", "l2_laplace", "coordinate"]),
            },
        ),
        (
            "train_logistic",
            {"target": lists[0], "features": [rng.choice(numbers + days)], "steps": 2, "region": "margins"},
        ),
        ("check_model", {"parts": 2, "model": model(rng, schema)} | where() | noise()),
    ]
    if len(lists) > 1:
        found.append(("crosstab", {"columns": rng.sample(lists, 2)} | where() | noise()))
    if small:
        cuts = rng.choice([{"share": ["0.25", "0.75"], "with_range": False}, {"share": "0.9"}])
        found.append(("quantile", {"column": rng.choice(small), "noise": "joint"} | cuts | where() | by()))
        tree = {"column": rng.choice(small), "share": ["0.25", "0.75"], "noise": rng.choice(["tree", "gaussian_root"])}
        found.append(("quantile", tree | where() | by()))
        found.append(("cdf", {"column": rng.choice(small), "points": rng.choice([1, 2])} | where()))
    columns = {"column.number": numbers, "column.ordered": ordered, "column.category": lists, "column.any": every}
    listed = {key for key, _ in found} | {"synthetic_table", "crosstab", "cdf", "train_logistic", "train_hinge"}
    for key in dp.catalogue.keys() - listed:  # a question of columns and conditions alone needs no line above
        asked = {
            one.name: rng.choice(columns[one.kind]) for one in dp.catalogue[key].card.parameters if one.kind in columns
        }
        found.append((key, asked | where()))
    epsilons = ["0.25", "0.5", "1", "2"]
    return [(key, {"epsilon": rng.choice(epsilons)} | given) for key, given in found]


def synthetic(rng: random.Random, cells: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """A synthetic table of two or three columns by any plan; nothing where there are not two columns."""
    if len(cells) < 2:
        return []
    names = rng.sample(cells, rng.randint(2, min(3, len(cells))))
    keep = {"keep": rng.choice(names)} if rng.random() < 0.4 else {}
    return [("synthetic_table", {"columns": names, "plan": rng.choice(["pairs", "triples", "mixed", "chosen"])} | keep)]


def overview(rng: random.Random, schema: dp.Schema, cells: list[str], sets: list[str]) -> dict[str, Any]:
    """A first look: some columns, also sets, lists with values put together, numbers in steps; against one, against
    all, or by themselves; with weights, and noise spread in either way."""
    names = rng.sample(cells, rng.randint(1, min(3, len(cells))))
    columns: list[Any] = []
    for name in names:
        column = schema[name]
        if isinstance(column, dp.Category) and column.size > 2 and rng.random() < 0.4:
            values = rng.sample(list(column.labels), rng.randint(2, column.size - 1))
            columns.append({"column": name, "merged": [[rng.choice(["", "some"]), values]]})
        else:
            columns.append(name)
    held = [name for name in sets if getattr(schema[name], "at_most", None) and rng.random() < 0.5]
    given: dict[str, Any] = {"columns": columns + held}
    if rng.random() < 0.7:
        given["against"] = rng.choice(["all", [rng.choice(names)], []])
    if rng.random() < 0.3:
        given["three"] = True
    if rng.random() < 0.4:
        given["weights"] = {rng.choice(names + held): rng.choice(["2", "0.3", "17"])}
    return given | ({"spread": "even"} if rng.random() < 0.3 else {})


def asks(rng: random.Random, schema: dp.Schema, given: dict[str, Any]) -> list[Any]:
    """What is asked in a session."""
    number, others = rng.choice(schema.of_kind(dp.Number)), [["x", ">=", 0]]
    largest = {"largest": [conditions(rng, schema, 1), others]}
    found: list[Any] = [{"share": conditions(rng, schema, 1)}, {"average": number}, largest]
    return [rng.choice(found) for _ in range(given["questions"])]


def model(rng: random.Random, schema: dp.Schema) -> dict[str, Any]:
    """A released model of a number by a list, or of yes and no by a number."""
    numbers, lists = schema.of_kind(dp.Number), schema.of_kind(dp.Category)
    target, feature = rng.choice(numbers), rng.choice(lists)
    told = {"kind": "linear"}
    if rng.random() < 0.5:
        target, feature = feature, target
        told |= {"kind": rng.choice(["logistic", "hinge"]), "yes": [0], "no": [1]}  # type: ignore[dict-item]
    width = 1 + (1 if isinstance(schema[feature], dp.Number) else schema[feature].size)
    weights = [rng.randrange(-(2**WEIGHT_BITS) // 2, 2**WEIGHT_BITS // 2) // 4 for _ in range(width)]
    columns = {name: [name, schema[name].as_json()] for name in (target, feature)}
    return told | {"features": [columns[feature]], "target": columns[target], "bits": WEIGHT_BITS, "weights": weights}
