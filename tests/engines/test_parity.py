"""Every need on every engine is exactly what it means, on random tables: empty ones, columns without a value, people
with several rows, sets, codes at the ends of long grids, sums beyond 64 bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from amount import amount
from engines.postgres_server import PostgresServer
from engines.tables import (
    WHICH,
    WIDE,
    Made,
    different,
    in_parquet,
    in_postgres,
    kinds_of_needs,
    needs_of_questions,
    same,
    some_tables,
    together,
    wide_needs,
)

from dpengine.audit.world import SCHEMA
from dpengine.declared.schema import Schema
from dpengine.statistics.engines import SparkRows, every_row
from dpengine.statistics.engines.postgres import PostgresEngine, computed
from dpengine.statistics.engines.spark import SparkEngine, whole_columns
from dpengine.statistics.kept import CodeCounts, read_kept
from dpengine.statistics.need import Aggregate, CodedRows, Needs, NoData
from dpengine.statistics.raw_needs import Beside

both_worlds = pytest.mark.parametrize(
    ("schema", "needs"),
    [pytest.param(SCHEMA, needs_of_questions, id="small"), pytest.param(WIDE, wide_needs, id="wide")],
)
FEW, MANY = 6, amount(40, 200)  # tables
few_or_many = pytest.mark.parametrize("many", [FEW, pytest.param(MANY, marks=pytest.mark.long)])


def test_every_kind_of_need_is_here() -> None:
    kinds = {type(need) for need in (*needs_of_questions(), *wide_needs())}
    assert kinds_of_needs() - kinds == {Beside, CodeCounts, CodedRows, NoData, Needs}


def test_counts_kept_of_a_table_in_postgres_say_the_same(postgres: PostgresServer, tmp_path: Path) -> None:
    url = postgres.database()
    [_, made] = some_tables(SCHEMA, 2)
    with psycopg.connect(url) as connection:
        where = in_postgres(made, connection, url, "kept")
    engine, needs = PostgresEngine(), [need for need in needs_of_questions() if getattr(need, "weighed", False)]
    assert needs
    scan = partial(engine.read, coded=where, schema=SCHEMA)
    for need in needs:
        assert same(read_kept(need, SCHEMA, tmp_path / "coded-1", scan), need.of(made.rows)), need
    assert list(tmp_path.glob("coded-1.kept-*.parquet"))
    engine.let_go()


@few_or_many
@both_worlds
def test_postgres_says_what_a_need_means(postgres: PostgresServer, schema: Schema, needs: Any, many: int) -> None:
    """Through one connection that reads only."""
    url = postgres.database()
    with psycopg.connect(url) as connection:
        tables = [
            (made, in_postgres(made, connection, url, f"t{at}")) for at, made in enumerate(some_tables(schema, many))
        ]
    with psycopg.connect(url, cursor_factory=psycopg.RawCursor) as connection:
        connection.read_only = True
        with connection.cursor(binary=True) as cursor:
            for made, where in tables:
                for need in needs():
                    assert same(computed(need, where, schema, cursor), made.of(need)), need


def test_needs_together_are_read_in_one_snapshot(postgres: PostgresServer) -> None:
    url, needs = postgres.database(), wide_needs()[:5]
    [_, made] = some_tables(WIDE, 2)
    with psycopg.connect(url) as connection:
        where = in_postgres(made, connection, url, "t")
    engine = PostgresEngine()
    assert engine.read(Needs(needs), where, WIDE) == tuple(made.of(need) for need in needs)
    assert engine.read(NoData(), where, WIDE) == ()
    engine.let_go()


def in_one_job(
    engine: SparkEngine, need: Aggregate[Any], tables: list[tuple[Made, SparkRows]], schema: Schema
) -> list[Any]:
    """The need of every table, by one statement that puts theirs side by side."""
    parts = [engine.statement(need, where, schema) for _, where in tables]
    together = " UNION ALL ".join(f"SELECT {at} AS which, * FROM ({sql})" for at, (_, sql) in enumerate(parts))
    found = whole_columns(parts[0][0].sql(together).toArrow())
    which = found.pop("which")
    return [need.shape({name: cells[which == at] for name, cells in found.items()}) for at in range(len(tables))]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("schema", "needs"),
    [pytest.param(SCHEMA, needs_of_questions, id="small"), pytest.param(WIDE, wide_needs, id="wide")],
)
def test_spark_says_what_a_need_means(spark: SparkEngine, schema: Schema, needs: Any, tmp_path: Path) -> None:
    """One need of each kind, by the very statement that a question asks, on two tables in files of their own, one of
    them empty. The long test has all needs and more tables."""
    tables = [(made, in_parquet(made, tmp_path / f"t{at}.parquet")) for at, made in enumerate(some_tables(schema, 2))]
    for need in different(needs()):
        for (made, _), found in zip(tables, in_one_job(spark, need, tables, schema), strict=True):
            assert same(found, made.of(need)), need


def of_each_table(
    engine: SparkEngine, need: Aggregate[Any], where: SparkRows, many: int, schema: Schema
) -> Iterator[list[Any]]:
    """The need of every table of those that lie together, in one job: its statement as it is, but over the rows of one
    table, once for each. And once more where it is another one if the number of rows is public."""
    done = set[str]()
    for most in (None, 100):
        session, sql = engine.statement(need, replace(where, most=most), schema)
        _, view = engine.view(every_row(where) if need.every_row else replace(where, most=most))
        [before, after] = sql.split(f"FROM {view})")
        each = f"{before}FROM coded_together WHERE {WHICH} = tables.at){after}"
        if each not in done:
            session.table(view).createOrReplaceTempView("coded_together")
            done.add(each)
            asked = f"SELECT tables.at AS {WHICH}, told.* FROM range({many}) AS tables(at), LATERAL ({each}) AS told"
            found = whole_columns(session.sql(asked).toArrow())
            which = found.pop(WHICH)
            yield [need.shape({name: cells[which == at] for name, cells in found.items()}) for at in range(many)]


@pytest.mark.long
@pytest.mark.timeout(1800)
@both_worlds
def test_spark_says_what_a_need_means_on_many_tables(
    spark: SparkEngine, schema: Schema, needs: Any, tmp_path: Path
) -> None:
    tables = some_tables(schema, MANY)
    where = together(tables, tmp_path)
    for need in needs():
        meant = [made.of(need) for made in tables]
        for found in of_each_table(spark, need, where, len(tables), schema):
            assert all(same(one, other) for one, other in zip(found, meant, strict=True)), need
