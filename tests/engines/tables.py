"""Random coded tables, put where each engine reads them, and every need of every question.

The needs are those of all cases of the catalogue in the audit's small world, under both relations and both units, and
some of a wider one: long grids, large sums, days, groups, lists too long for a condition in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

import dpengine as dp
from dpengine.audit.world import CASES, SEVERAL, build
from dpengine.declared.conditions import Has, OneOf, Predicate, Range, Row, read_predicate
from dpengine.declared.read_group import read_group
from dpengine.declared.schema import MISSING, Category, ItemSet, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.statistics.counts import (
    CellCounts,
    CentredSums,
    ConditionCounts,
    Distribution,
    GroupDistributions,
    HitCounts,
    ItemCounts,
    Moments,
    PairDistribution,
    PlaceSums,
    RowCount,
    cut,
    cut_name,
)
from dpengine.statistics.engines import PostgresRows, SparkRows, every_row
from dpengine.statistics.features import Layout
from dpengine.statistics.marginals import CellAxis, Marginals
from dpengine.statistics.model_needs import ErrorSums, GradientSum, HitsByMargin, SecondMoments
from dpengine.statistics.need import Aggregate, Need, Needs, Spread
from dpengine.statistics.raw_needs import RawNeed

WIDE = Schema(
    {
        "x; --": dp.Number(0, 9),
        'big "one"': dp.Number(0, 9_999_999),
        "c": Category(["a", "b", "c"]),
        "day": dp.Date("1990-01-03", "1995-12-31"),
        "list": Category([f"v{place}" for place in range(300)]),
        "tags": ItemSet(["p", "q", "r", "s"], at_most=2),
        "sure": Category(["yes", "no"]),
    }
)
X, BIG, C, DAY, LIST, TAGS, SURE = WIDE.columns
WHICH = "which"  # table a row is of, where many lie together
NARROW = {np.iinfo(kind).max: kind for kind in (np.int8, np.int16, np.int32)}


# Tables


def random_rows(schema: Schema, rng: np.random.Generator, people: int, several: bool) -> list[Row]:
    """With values at both ends more often than chance, missing ones, and in some tables columns without any value."""
    empty = {name for name in schema.columns if rng.random() < 0.1}
    rows: list[Row] = []
    for person in range(people):
        bundle = [_row(schema, rng, empty) for _ in range(int(rng.integers(1, 4)) if several else 1)]
        held = {
            name: sorted({item for row in bundle for item in row[name]})[:2] for name in schema.of_kind(ItemSet)
        }  # any rule of a person's own set will do
        rows += [
            row
            | {cut(name): tuple(item for item in row[name] if item in few) for name, few in held.items()}
            | {"person": person}
            for row in bundle
        ]
    return rows


def _row(schema: Schema, rng: np.random.Generator, empty: set[str]) -> Row:
    row: Row = {}
    for name, column in schema.columns.items():
        if isinstance(column, ItemSet):
            row[name] = tuple(int(item) for item in range(column.size) if rng.random() < 0.4 and name not in empty)
        elif isinstance(column, Category):
            row[name] = int(rng.integers(0, column.size))
        elif getattr(column, "missing", None) is None and (name in empty or rng.random() < 0.15):
            row[name] = MISSING
        else:
            ends = [0, column.size - 1, column.size // 2]
            row[name] = int(rng.choice(ends) if rng.random() < 0.3 else rng.integers(0, column.size))
        row[f"kind {name}"] = int(rng.integers(-4, 4))
    row["fault"] = int(any(row[f"kind {name}"] < 0 for name in schema.columns))
    return row


def stored(rows: Sequence[Row], schema: Schema) -> pa.Table:
    """As `intake.encode` stores them: as narrow as they fit."""
    columns: dict[str, Any] = {}
    for place, (name, column) in enumerate(schema.columns.items()):
        kind = pa.from_numpy_dtype(next(kind for most, kind in NARROW.items() if column.size - 1 <= most))
        if isinstance(column, ItemSet):
            columns[f"c{place}"] = pa.array([row[name] for row in rows], pa.list_(kind))
            columns[cut_name(f"c{place}")] = pa.array([row[cut(name)] for row in rows], pa.list_(kind))
        else:
            columns[f"c{place}"] = pa.array([row[name] for row in rows], kind)
        columns[f"f{place}"] = pa.array([row[f"kind {name}"] for row in rows], pa.int8())
    columns["fault"] = pa.array([row["fault"] for row in rows], pa.int8())
    columns["person"] = pa.array([row["person"] for row in rows], pa.int64())
    return pa.table(columns)


@dataclass(frozen=True)
class Made:
    """A table: the rows that count, and every row."""

    schema: Schema
    rows: list[Row]
    every: list[Row]

    def of(self, need: Need[Any]) -> Any:
        return need.of(self.every if getattr(need, "every_row", False) else self.rows)


def made(schema: Schema, rng: np.random.Generator, people: int, several: bool) -> Made:
    every = random_rows(schema, rng, people, several)
    first: dict[int, int] = {}
    kept = []
    for row in every:  # at most two rows of a person count
        first[row["person"]] = first.get(row["person"], 0) + 1
        if first[row["person"]] <= 2:
            kept.append(row)
    return Made(schema, kept, every)


def some_tables(schema: Schema, many: int) -> list[Made]:
    """The first is empty, and the third has one person."""
    rng = np.random.default_rng()
    some, *others = rng.integers(2, 25, many)
    sizes = [0, some, 1, *others][:many]
    return [made(schema, rng, int(people), several=place % 2 == 1) for place, people in enumerate(sizes)]


def in_parquet(table: Made, path: Path, master: str = "local[2]") -> SparkRows:
    public = len(table.rows) if len(table.rows) % 2 else None  # then Spark may add in 64 bits
    where = SparkRows(str(path), master, public)
    for rows, place in ((table.rows, path), (table.every, Path(every_row(where).path))):
        pq.write_table(stored(rows, table.schema), place)
    return where


def together(tables: list[Made], folder: Path) -> SparkRows:
    """All of them at one address, each row with the number of its table; in files that each have some rows of most."""
    where = SparkRows(str(folder / "together"))
    for every, place in ((False, where.path), (True, every_row(where).path)):
        parts = []
        for at, table in enumerate(tables):
            rows = stored(table.every if every else table.rows, table.schema)
            parts.append(rows.append_column(WHICH, pa.array([at] * len(rows), pa.int32())))
        whole = pa.concat_tables(parts)
        files = np.random.default_rng().integers(0, 4, len(whole))
        Path(place).mkdir()
        for file in range(4):
            pq.write_table(whole.filter(pa.array(files == file)), Path(place) / f"{file}.parquet")
    return where


def in_postgres(table: Made, connection: psycopg.Connection, url: str, name: str) -> PostgresRows:
    """In a schema `coded`, by COPY."""
    where = PostgresRows("coded", name, url)
    connection.execute("CREATE SCHEMA IF NOT EXISTS coded")
    for rows, place in ((table.rows, where), (table.every, every_row(where))):
        put(connection, stored(rows, table.schema), place)
    return where


def put(connection: psycopg.Connection, rows: pa.Table, where: PostgresRows) -> None:
    kinds = {"int8": "smallint", "int16": "smallint", "int32": "integer", "int64": "bigint"}

    def kind(field: pa.Field) -> str:
        return f"{kinds[str(field.type.value_type)]}[]" if pa.types.is_list(field.type) else kinds[str(field.type)]

    columns = ", ".join(f"{field.name} {kind(field)} NOT NULL" for field in rows.schema)
    named = f'"{where.schema}"."{where.table}"'
    connection.execute(f"CREATE TABLE {named} ({columns})")
    with connection.cursor().copy(f"COPY {named} FROM STDIN") as copy:
        for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            copy.write_row(row)


def same(found: Any, meant: Any) -> bool:
    """Equal, and exact whole numbers."""
    if isinstance(meant, Spread):
        pairs = ((found.codes, meant.codes), (found.counts, meant.counts))
        return all(one.dtype == np.int64 and one.tolist() == other.tolist() for one, other in pairs)
    if isinstance(meant, tuple):
        return (
            isinstance(found, tuple)
            and len(found) == len(meant)
            and all(same(one, other) for one, other in zip(found, meant, strict=True))
        )
    return type(found) is int and found == meant


# Needs


@cache
def needs_of_questions() -> tuple[Aggregate[Any], ...]:
    """Every aggregate that any case of any question reads first, in the small world."""
    found: dict[str, Aggregate[Any]] = {}
    for key, given in CASES:
        card = catalogue[key].card
        for relation in card.relations:
            for unit in (Unit.rows(), SEVERAL) if card.several else (Unit.rows(),):
                need = build(key, given, relation, unit=unit).need()
                for part in need.parts if isinstance(need, Needs) else (need,):
                    if not isinstance(part, RawNeed) and isinstance(part, Aggregate):
                        found[repr(part)] = part
    return tuple(found.values())


def different(needs: Iterable[Aggregate[Any]]) -> tuple[Aggregate[Any], ...]:
    """One of each kind of them: of rows or people, of some or everyone, by group or not."""
    found: dict[object, Aggregate[Any]] = {}
    for need in needs:
        traits = [getattr(need, name, None) for name in ("people", "cut", "degree", "fitting", "limit")]
        if layout := getattr(need, "layout", None):
            traits += [layout.sharp, bool(layout.listed), len(layout.names)]
        found.setdefault((type(need), *traits, need.where.everyone, getattr(need, "by", None) is None), need)
    return tuple(found.values())


def _layouts() -> list[Layout]:
    features = (X, C, DAY, BIG)
    columns: Any = tuple(WIDE[name] for name in features)
    sure: Any = WIDE[SURE]
    number: Any = WIDE[BIG]
    yes_no = Layout(features, columns, SURE, sure, (0,), (1, 2))
    sharp = Layout(features, columns, SURE, sure, (0,), (1, 2), sharp=True)
    listed: Any = WIDE[LIST]
    long = Layout(features[:3], columns[:3], LIST, listed, tuple(range(0, 300, 2)), tuple(range(1, 200, 2)))
    return [Layout(features[:3], columns[:3], BIG, number), yes_no, sharp, long]


@cache
def wide_needs() -> tuple[Aggregate[Any], ...]:
    week, months, tens = (
        read_group(given, WIDE)
        for given in ({"column": DAY, "by": "weekday"}, {"column": DAY, "by": "month"}, {"column": X, "step": 4})
    )
    hit = read_predicate([["any", [[X, "<", 5], [C, "in", ["a"]]]]], WIDE)
    far = Predicate((OneOf(LIST, tuple(range(0, 300, 2))), Range(BIG, 1000, 9_999_998)))
    has, none = Predicate((Has(TAGS, (0, 2)),)), Predicate((Has(TAGS, (1,), none=True),))
    nobody = Predicate((OneOf(C, ()),))
    monday = read_predicate([[{"column": DAY, "by": "weekday"}, "in", ["Monday"]]], WIDE)
    linear, logistic, hinge, long = _layouts()
    large = 2**38  # times a far code, some rows add to more than 64 bits
    needs: list[Aggregate[Any]] = [
        *(RowCount(where, people) for where in (far, has, none, nobody, monday) for people in (False, True)),
        ConditionCounts((hit, far, has, nobody)),
        PlaceSums((BIG, X), (1, 7), far),
        PlaceSums((BIG,), (large,)),
        CellCounts((week, C), (7, 5)),
        CellCounts((months, tens), (72, 3), hit),
        HitCounts(hit, week, 7),
        HitCounts(far, LIST, 302),
        *(Moments(BIG, 10**7, 2, by, many) for by, many in ((None, 1), (C, 5), (months, 72))),
        Distribution(BIG, 10**7, hit),
        GroupDistributions(BIG, 10**7, tens, 3),
        PairDistribution((BIG, X), (10**7, 10)),
        CentredSums((X, BIG), (10, 10**7)),
        CentredSums((X, BIG), (10, 10**7), 16, 2**40, hit),
        *(ItemCounts(TAGS, 4, hit, people, cut_) for people in (False, True) for cut_ in (False, True)),
        Marginals(
            (
                CellAxis(tens, 3, absent=True, misfit=True),
                CellAxis(week, 7, absent=True, misfit=True),
                CellAxis(C, 5, absent=False, misfit=False),
                CellAxis(months, 72, absent=True, misfit=True),
            ),
            ((0, 1), (0, 2), (1, 2, 3), (3,)),
        ),
        *(SecondMoments(layout, bits) for layout in (linear, logistic) for bits in (24, 3)),
    ]
    rng = np.random.default_rng()
    for layout in (linear, logistic, hinge, long):
        weights = tuple(rng.integers(-(2**26), 2**26, layout.width).tolist())
        needs += [GradientSum(layout, weights, clip, bits) for clip, bits in ((2**24, 24), (5, 3))]
        edges = tuple(sorted(rng.integers(-(2**40), 2**40, 5).tolist()))
        if layout.listed:
            needs.append(HitsByMargin(layout, weights, edges))
        else:
            needs.append(ErrorSums(layout, weights, edges, 33, 200))
    return tuple(needs)


def kinds_of_needs() -> set[type]:
    """Every kind of need that the engine has."""
    found, kinds = [Need], set()
    while found:
        kind = found.pop()
        found += kind.__subclasses__()
        if kind.__module__.startswith("dpengine.") and not getattr(kind, "__abstractmethods__", None):
            kinds.add(kind)
    return kinds
