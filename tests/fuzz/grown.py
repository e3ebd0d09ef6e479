"""Strategies: files, schemas, questions, links and forms, as people write them, half right, and not at all."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from leaks import stage
from recorded import made

import dpengine as dp
from dpengine.mechanisms import catalogue

TEXTS = [
    "",
    " ",
    "0",
    "-1",
    "1e999",
    "NaN",
    "½",
    "0,1",
    "1.5",
    "true",
    "null",
    "[]",
    "{}",
    "[[1, 2",
    '"x"',
    "<script>",
    "\0",
    "\u202e",
    "é",
    "e\u0301",
    "'; DROP TABLE tables; --",
    "=1+1",
    "9" * 60,
    "x" * 3_000,
    "../../etc",
    "%00",
    "☃",
    "\ud800",
    "\n",
    "1_000",
    "٣",
    "+5",
    "1e-9",
    "Infinity",
    "None",
    "__class__",
    "{0}",
    "%s",
    "p1",
    "a",
    "b",
    "pay",
]
SCHEMA = stage.schema()
COLUMNS = [*SCHEMA.columns, "note", "account", "who"]
WORD = "zqzqzqzq"  # what stands on one of two neighbouring tables where the other has a canary

texts = st.sampled_from(TEXTS) | st.text(max_size=12)
scalars = st.none() | st.booleans() | st.integers(-5, 20) | st.integers(-(10**30), 10**30) | st.floats() | texts
junk = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
columns = st.sampled_from(COLUMNS)
amounts = st.sampled_from(["0.1", "0.5", "1", "2", 0.25, "1e-6", "0", "-1", "100", "1e9"])
seeds = st.integers(0, 2**32)


# Questions


@st.composite
def conditions(draw: st.DrawFn) -> Any:
    if draw(st.integers(0, 3)) == 0:
        return draw(junk)
    rng = draw(st.randoms(use_true_random=False))
    rows = made.conditions(rng, SCHEMA, draw(st.integers(0, 2)))
    if rows and draw(st.integers(0, 3)) == 0:
        rows[0] = [draw(columns), draw(st.sampled_from(["=", "<", "in", "has", "between", "any", "≈"])), draw(junk)]
    return rows


def value(kind: str) -> st.SearchStrategy[Any]:
    """What a field of this kind may be given: something that fits, or anything."""
    some: st.SearchStrategy[Any]
    if kind in ("where", "of"):
        some = conditions()
    elif kind in ("options", "queries"):
        some = st.lists(conditions(), max_size=4)
    elif kind.startswith("columns"):
        some = st.lists(columns, max_size=3)
    elif kind.startswith("column") or kind == "by":
        some = columns
    elif kind == "epsilon":
        some = amounts
    elif kind == "weights":
        some = st.dictionaries(columns, amounts, max_size=2)
    elif kind.startswith("delta"):
        some = st.sampled_from(["1e-6", "0.01", "0", "0.5", "1"])
    elif kind == "share":
        some = st.sampled_from(["0.1", "0.9", "1", "0", ["0.25", "0.75"]])
    elif kind in ("bins", "number", "grid", "points", "resolution", "bandwidth"):
        some = st.sampled_from([1, 2, 3, 10, "4", 0, -1, 2.5, [0, 5, 9], 10**9])
    elif kind == "labels":
        some = st.lists(st.sampled_from(["a", "b", "low", "high"]), max_size=2)
    elif kind == "model":
        some = st.randoms(use_true_random=False).map(lambda rng: made.model(rng, SCHEMA))
    elif kind == "ask":
        some = st.fixed_dictionaries({"share": conditions()}) | st.fixed_dictionaries({"average": columns})
    else:
        some = st.sampled_from(
            [
                True,
                False,
                "gaussian",
                "laplace",
                "lecture",
                "coordinate",
                "l2_laplace",
                "ball",
                "box",
                "last",
                "tail",
                "first",
                "second",
                "joint",
                "halved",
                "tight",
                "all",
            ]
        )
    return some if kind == "epsilon" else st.one_of(some, some, some, junk)


WORLD = made.World(SCHEMA, dp.Unit.rows(), "replace", 9, COLUMNS, [], [])
_OF_THE_FILE = {"raw": "account", "free": "note"}


@st.composite
def questions(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """One that this table can answer; the same with a field or two of its form filled in anyhow; or anything."""
    if draw(st.integers(0, 3)) == 0:
        key = draw(st.sampled_from(list(catalogue)))
        given: dict[str, Any] = {}
        for parameter in catalogue[key].card.parameters:
            if parameter.required or draw(st.integers(0, 2)) == 0:
                given[parameter.name] = draw(value(parameter.kind))
    else:
        rng = draw(st.randoms(use_true_random=False))
        key, given = rng.choice(made.questions(rng, WORLD))
        given = {name: _OF_THE_FILE.get(one, one) if isinstance(one, str) else one for name, one in given.items()}
        fields = {parameter.name: parameter.kind for parameter in catalogue[key].card.parameters}
        for name in draw(st.lists(st.sampled_from(sorted(fields)), max_size=draw(st.sampled_from([0, 0, 1, 2])))):
            given[name] = draw(value(fields[name]))
    if "steps" in given or key.startswith("train"):
        given["steps"] = draw(st.sampled_from([1, 2, "3", 0, "x"]))  # more of them is more of the same
    if draw(st.integers(0, 19)) == 0:
        given[draw(st.sampled_from(["beta", "noise", "seed", "delta", "by"]))] = draw(junk)
    return key, given


# Schemas

numbers = st.sampled_from([0, 1, 10, "0.5", "-3", 10**7, 10**30, "1e400", "x", None, -1, 0.1])


days = st.sampled_from(["1990-01-01", "1995-06-30", "2020-12-31", "1990-02-31", "x", 5, None, "9999-12-31"])
values = st.sampled_from(["a", "b", "é", "A", " a ", "0", "yes", "no", "a b", "ß", "x/y"])
listed = st.lists(values, min_size=2, max_size=4, unique_by=lambda one: one.strip().lower())


@st.composite
def column(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["number", "category", "date", "items"]))
    told: dict[str, Any] = {"kind": kind}
    if kind == "number":
        low, high, step = draw(st.sampled_from(made.NUMBERS))
        told |= {"lower": low, "upper": high, "step": step}
        told |= {"missing": low} if draw(st.booleans()) else {}
    elif kind == "date":
        told |= {"first": "1989-12-31", "last": draw(days), "order": draw(st.sampled_from(["ymd", "dmy", "mdy"]))}
    elif kind == "category":
        told |= {"values": draw(listed), "unknown": draw(st.sampled_from(["other", "a"])), "missing": "none"}
    else:
        told |= {"values": draw(listed), "separator": draw(st.sampled_from(["|", ",", None])), "at_most": 1}
    if draw(st.integers(0, 5)) == 0:
        name = draw(st.sampled_from([*told, "other"]))
        told[name] = draw(numbers | days | texts | junk)
    return told


plain_names = st.sampled_from(["a", "b", "c", "pay", "né", "a b"])
names = plain_names | texts
schemas = (
    st.fixed_dictionaries({"columns": st.lists(st.tuples(plain_names, column()).map(list), min_size=1, max_size=2)})
    | st.fixed_dictionaries({"columns": st.lists(st.tuples(names, column()).map(list), max_size=3) | junk})
    | junk
)


# Files


@dataclass(frozen=True)
class File:
    """Bytes that may be a table, the same with another word in one cell, and how somebody declares it."""

    data: bytes
    neighbour: bytes
    suffix: str
    dialect: dict[str, Any]
    columns: dict[str, Any]
    unit: tuple[str | None, int]
    relation: str
    bad_records: str


CELLS = [*made.ODD_NUMBERS, *made.ODD_TEXTS, *made.ODD_DATES, "a", "b", "5", "7", 'say "x"', "a;b", "a\nb", "a\tb", "'"]
HEADS = ["pay", "home", " x ", "", "a b", "7", "=1+1", "x" * 300, "\u202ea", "who\n", "<b>", "1990-01-01"]
KINDS: list[Any] = [
    dp.Number(0, 10),
    dp.Category(["a", "b"]),
    dp.Date("1990-01-01", "1999-12-31"),
    dp.ItemSet(["a", "b"], at_most=1),
]


@st.composite
def files(draw: st.DrawFn, secret: str) -> File:
    good = ["pay", "home", "who", "né"]
    heads = draw(st.lists(st.sampled_from(good * 4 + HEADS), min_size=1, max_size=4))
    if draw(st.integers(0, 2)):
        heads = list(dict.fromkeys(name for name in heads if name in good)) or ["pay"]
    rows = draw(st.lists(st.lists(st.sampled_from(CELLS), min_size=len(heads), max_size=len(heads)), max_size=4))
    rows.append([secret if place == 0 else "5" for place, _ in enumerate(heads)])
    separator = draw(st.sampled_from([",", ",", ";", "\t"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-16", "windows-1250", "utf-8-sig"]))
    damage = draw(st.integers(0, 6))
    ragged = damage == 1 and draw(st.integers(0, len(rows) - 1))
    cut, put = draw(seeds), draw(st.binary(max_size=5))

    def written(word: str) -> bytes:
        told = [[cell.replace(secret, word) for cell in row] for row in rows]
        if damage == 1:
            told[int(ragged)] = [*told[int(ragged)], "more"]
        text = io.StringIO()
        csv.writer(text, delimiter=separator, lineterminator=draw_end).writerows([heads, *told])
        data = text.getvalue().encode(encoding, "replace")
        if damage == 2:
            place = cut % (len(data) + 1)
            data = data[:place] + put + data[place:]
        return data[: cut % (len(data) + 1)] if damage == 3 else data

    draw_end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    data = written(secret) if damage != 4 else draw(st.binary(max_size=200))
    same = damage not in (0, 1, 5, 6)  # such damage falls elsewhere where another word is shorter
    dialect = {
        "separator": draw(st.sampled_from([separator] * 4 + ["|", "x"])),
        "encoding": draw(st.sampled_from([encoding.removesuffix("-sig")] * 4 + ["utf-8", "klingon"])),
        "quote": draw(st.sampled_from(['"', '"', "'", ""])),
        "line_breaks": draw(st.booleans()),
        "decimal": draw(st.sampled_from([".", ".", ","])),
    }
    names = draw(st.lists(st.sampled_from([*heads * 6, "absent"]), min_size=1, max_size=3))
    kinds = {name: draw(st.sampled_from(KINDS)) for name in names}
    unit = draw(st.sampled_from([(None, 1), (None, 1), ("who", 3), (heads[0], 2), (heads[0], 1)]))
    relation = draw(st.sampled_from(["replace", "add_remove", "replace", "other"]))
    suffix = draw(st.sampled_from([".csv"] * 6 + [".parquet", ".gz", ".txt", ""]))
    return File(
        data,
        data if same else written(WORD),
        suffix,
        dialect,
        kinds,
        unit,
        relation,
        draw(st.sampled_from(["refuse", "empty", "refuse", "guess"])),
    )


# Links

PAGES = [
    "ask",
    "ask",
    "ask",
    "data",
    "answers",
    "answers",
    "tables",
    "more",
    "several",
    "whatif",
    "several",
    "publish",
    "synthetic",
    "train",
    "lessons",
    "audit",
    "thesis",
    "start",
    "wall",
    "board",
    "board",
]
FIELDS = [
    "against",
    "without",
    "every",
    "coarse",
    "merged",
    "most",
    "three",
    "look",
    "group",
    "also",
    "second",
    "q",
    "column",
    "where",
    "of",
    "by",
    "bins",
    "share",
    "epsilon",
    "columns",
    "options",
    "answer",
    "lang",
    "change",
    "page",
    "view",
    "plan",
    "keep",
    "run",
    "session",
    "step",
    "k",
    "how",
    "published",
    "made",
    "trained",
    "checked",
    "target",
    "features",
    "calibration",
    "from",
    "see",
    "n",
    "e",
    "d",
    "low",
    "high",
    "a",
    "prior",
    "relation",
    "lesson",
    "word",
    "tour",
    "kind",
    "what",
    "if",
    "with",
    "points",
    "how_many",
    "noise",
    "delta",
    "size",
    "rounds",
    "queries",
    "grid",
    "bandwidth",
    "x",
]
told = texts | junk.map(lambda one: json.dumps(one, default=str))


@st.composite
def links(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A page, and what may stand in its address: the fields of a question, or any."""
    page = draw(st.sampled_from(PAGES))
    address: dict[str, str] = {}
    if page in ("ask", "whatif", "several", "train", "publish", "synthetic") and draw(st.integers(0, 2)):
        key, given = draw(questions())
        address["q"] = key
        address |= {name: one if isinstance(one, str) else json.dumps(one, default=str) for name, one in given.items()}
        if page == "several":
            address = {"plan": json.dumps([[key, given, draw(texts), draw(st.integers(-1, 3))]], default=str)}
    for name in draw(st.lists(st.sampled_from(FIELDS), max_size=4)):
        address[name] = draw(told)
    return page, {name: text.encode("utf-8", "replace").decode() for name, text in address.items()}
