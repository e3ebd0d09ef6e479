"""The same questions on DuckDB, Postgres and Spark: our answer beside the same plain aggregate on the same engine.

`python -m bench.engines` makes a table of 10⁶ and one of 10⁷ rows, has each engine read its own copy of the coded rows,
and writes bench/results-engines.md (`--rows 1000000`, `--engines duckdb postgres`: some of it, the rest stays as it
was; `make bench-engines` builds what it needs). Postgres and Spark are started here, on this machine, and then stopped.

*Ours* is `table.ask` end to end: charge, statistic, exact noise, answer stored. *Plain* is the same aggregate without
privacy, in the engine's own SQL over the same coded columns, on a connection that is open already. By turns; medians.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpengine as dp
from bench.tasks import BUILD, ROOT, SEED
from dpengine.statistics.engines import Coded, PostgresRows, SparkRows
from dpengine.workspace import Workspace

SIZES = (10**6, 10**7)
ENGINES = ("duckdb", "postgres", "spark")
TURNS = {"duckdb": 15, "postgres": 5, "spark": 5}  # the shorter, the more
WARM = {"duckdb": 1, "postgres": 1, "spark": 3}  # turns before; Java compiles what it has run a few times
FOLDER = BUILD / "engines"
RESULTS = ROOT / "bench" / "results-engines.md"
MOST, MORE = 1.2, 0.050  # ours ≤ MOST · plain + MORE seconds
GROWTH = 11  # times, for ten times the rows
_PART = 10**6

STATES = [f"state {place}" for place in range(51)]
SCHEMA = dp.Schema(
    {
        "amount": dp.Number(0, 999),
        "state": dp.Category(STATES, unknown=STATES[0], missing=STATES[0]),
        "member": dp.Category(["yes", "no"], unknown="no", missing="no"),
        "age": dp.Number(0, 120),
    }
)
# What is asked, and the same of the columns c0, c1, … in SQL that all three engines read.
QUESTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "filtered count": (
        "count",
        {"where": [["amount", "between", [250, 750]]]},
        "SELECT count(*) FROM {t} WHERE c0 BETWEEN 250 AND 750",
    ),
    "histogram, 51 values": ("histogram", {"column": "state"}, "SELECT c1, count(*) FROM {t} GROUP BY c1"),
    "mean": ("mean", {"column": "amount"}, "SELECT count(*), sum(c0) FROM {t} WHERE c0 >= 0"),
    "mean by 51 groups": (
        "mean",
        {"column": "amount", "by": "state"},
        "SELECT c1, count(*), sum(c0) FROM {t} WHERE c0 >= 0 GROUP BY c1",
    ),
    "variance": (
        "variance",
        {"column": "amount"},
        "SELECT count(*), sum(c0), sum(CAST(c0 AS BIGINT) * c0) FROM {t} WHERE c0 >= 0",
    ),
    "median, 1,000 points": ("median", {"column": "amount"}, "SELECT c0, count(*) FROM {t} WHERE c0 >= 0 GROUP BY c0"),
    "two columns crossed": (
        "crosstab",
        {"columns": ["state", "member"]},
        "SELECT c1, c2, count(*) FROM {t} GROUP BY c1, c2",
    ),
    "first look, 4 columns": (
        "overview",
        {"columns": ["amount", "state", "member", "age"], "against": ["member"]},
        "SELECT c0, c1, c2, c3, count(*) FROM {t} GROUP BY GROUPING SETS ((c0, c2), (c1, c2), (c3, c2))",
    ),
}


class ReadElsewhere(Workspace):
    """A workspace whose one table is read at another address."""

    elsewhere: Coded | None = None

    def coded(self, record: Any) -> Any:
        return self.elsewhere or super().coded(record)

    def refuse_damaged(self, record: Any) -> None:
        self.engine.of(self.coded(record)).refuse_away(self.coded(record))


def write(rows: int, path: Path) -> None:
    """Made up, from a public seed; in parts, so that it fits into memory."""
    random = np.random.default_rng(SEED)
    names, store = np.array(STATES), None
    for first in range(0, rows, _PART):
        count = min(_PART, rows - first)
        columns = {
            "amount": pa.array(
                np.clip(random.normal(500, 150, count), 0, 999).astype(np.int16), mask=random.random(count) < 0.02
            ),
            "state": pa.DictionaryArray.from_arrays(pa.array(random.integers(0, 51, count, dtype=np.int32)), names),
            "member": pa.DictionaryArray.from_arrays(
                pa.array(random.integers(0, 2, count, dtype=np.int32)), np.array(["yes", "no"])
            ),
            "age": pa.array(random.integers(0, 121, count, dtype=np.int16)),
        }
        table = pa.table(columns)
        store = store or pq.ParquetWriter(path, table.schema)
        store.write_table(table)
    assert store is not None
    store.close()


def declared(rows: int) -> ReadElsewhere:
    """A workspace with the table, made once and kept in build/."""
    folder = FOLDER / str(rows)
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write(rows, folder / "rows.parquet")
        home = ReadElsewhere(folder / "var")
        home.add_table(
            "made up",
            folder / "rows.parquet",
            schema=SCHEMA,
            unit=dp.Unit.rows(),
            relation="replace",
            budget=dp.Budget("100", "1e-6"),
        )
        home.close()
        (folder / "done").touch()
    return ReadElsewhere(folder / "var")


# Each engine's own copy of the coded rows, and a way to ask it plainly

Plainly = Callable[[str], Any]


@contextmanager
def in_duckdb(coded: Path) -> Iterator[tuple[Coded, Plainly]]:
    import duckdb

    from dpengine.statistics.engines.duck import SETTINGS

    with duckdb.connect(config=SETTINGS) as connection:
        source = f"read_parquet('{coded}')"
        yield coded, lambda sql: connection.execute(sql.format(t=source)).fetchall()


@contextmanager
def in_postgres(coded: Path) -> Iterator[tuple[Coded, Plainly]]:
    import psycopg

    from tests.engines.postgres_server import running

    with running(log_statement="none", fsync="off") as server, psycopg.connect(server.url(), autocommit=True) as plain:
        copied(plain, coded)
        plain.execute("VACUUM (ANALYZE, FREEZE) coded.t")
        yield (
            PostgresRows("coded", "t", server.url()),
            lambda sql: plain.execute(sql.format(t="coded.t")).fetchall(),
        )


def copied(connection: Any, coded: Path) -> None:
    """Postgres's own binary format, a part of the file at a time."""
    with pq.ParquetFile(coded) as file:
        wide = {field.name: "i4" if str(field.type) == "int32" else "i2" for field in file.schema_arrow}
        names = {"i2": "smallint", "i4": "integer"}
        columns = ", ".join(f"{name} {names[kind]} NOT NULL" for name, kind in wide.items())
        connection.execute("CREATE SCHEMA coded")
        connection.execute(f"CREATE TABLE coded.t ({columns})")
        row: list[tuple[str, str]] = [("cells", ">i2")]
        for name, kind in wide.items():
            row += [(f"size {name}", ">i4"), (name, f">{kind}")]
        with connection.cursor().copy("COPY coded.t FROM STDIN (FORMAT binary)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for batch in file.iter_batches(_PART):
                cells = np.zeros(batch.num_rows, dtype=row)
                cells["cells"] = len(wide)
                for name, kind in wide.items():
                    cells[f"size {name}"] = int(kind[1])
                    cells[name] = batch.column(name).to_numpy()
                copy.write(cells.tobytes())
            copy.write(b"\xff\xff")


@contextmanager
def in_spark(coded: Path) -> Iterator[tuple[Coded, Plainly]]:
    from pyspark.sql import SparkSession

    name = f"plain_{coded.parent.name}"
    opened = list[SparkSession]()

    def plainly(sql: str) -> Any:
        if not opened:  # our own question came first, and started it with the settings that both have
            opened.append(SparkSession.builder.getOrCreate())
            opened[0].read.parquet(str(coded)).createOrReplaceTempView(name)
        return opened[0].sql(sql.format(t=name)).toArrow()

    yield SparkRows(str(coded), most=pq.ParquetFile(coded).metadata.num_rows), plainly  # public under “replace”


HOMES = {"duckdb": in_duckdb, "postgres": in_postgres, "spark": in_spark}


def measured(engine: str, rows: int) -> dict[str, tuple[float, float]]:
    """For each question, the median seconds of ours and of the plain aggregate."""
    found: dict[str, tuple[float, float]] = {}
    with ExitStack() as open_:
        home = declared(rows)
        open_.callback(home.close)
        own = home.coded(home.record("made up"))
        home.elsewhere, plainly = open_.enter_context(HOMES[engine](own))
        table = home.table("made up")
        for name, (key, given, sql) in QUESTIONS.items():
            query = table.query(key, epsilon="0.01", **given)
            ways: list[Callable[[], Any]] = [lambda query=query: table.ask(query), lambda sql=sql: plainly(sql)]
            times: list[list[float]] = [[], []]
            for turn in range(TURNS[engine] + WARM[engine]):
                for way, work in enumerate(ways):
                    began = time.perf_counter()
                    work()
                    if turn >= WARM[engine]:
                        times[way].append(time.perf_counter() - began)
            found[name] = statistics.median(times[0]), statistics.median(times[1])
            print(
                f"{engine} {rows:,} {name}: {found[name][0] * 1e3:.0f} ms, plain {found[name][1] * 1e3:.0f} ms",
                flush=True,
            )
        home.engine.let_go()
    return found


def told(
    found: dict[tuple[str, int], dict[str, tuple[float, float]]], sizes: list[int], loads: dict[str, float]
) -> str:
    lines = [
        "# The same questions on three engines",
        "",
        "Written by `make bench-engines` (`python -m bench.engines`), on "
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}. Ours is a whole answer: "
        "charged, computed, noised, stored. Plain is the same aggregate without privacy over the same coded columns, "
        f"on an open connection. Milliseconds, medians of {min(TURNS.values())} to {max(TURNS.values())}, by turns.",
        "",
        f"Aim: ours at most {MOST} × plain + {MORE * 1e3:.0f} ms; ten times the rows at most {GROWTH} × the time.",
    ]
    for engine in loads:
        head = "".join(f" {rows:,} rows: ours | plain | within the aim |" for rows in sizes)
        grown = len(sizes) > 1
        lines += ["", f"## {engine}", "", f"Load average when it ended: {loads[engine]:.1f}.", ""]
        lines.append(f"| question |{head}{' times longer |' if grown else ''}")
        lines.append(f"|---|{'---:|---:|---|' * len(sizes)}{'---:|' if grown else ''}")
        for name in QUESTIONS:
            line = f"| {name} |"
            for rows in sizes:
                ours, plain = found[engine, rows][name]
                line += f" {ours * 1e3:,.0f} | {plain * 1e3:,.0f} | {'yes' if ours <= MOST * plain + MORE else 'no'} |"
            if grown:
                line += f" {found[engine, sizes[-1]][name][0] / found[engine, sizes[0]][name][0]:.1f} |"
            lines.append(line)
        if grown:
            lines += _extended(
                {name: (found[engine, sizes[0]][name][0], found[engine, sizes[-1]][name][0]) for name in QUESTIONS},
                sizes,
            )
    return "\n".join(lines) + "\n"


def _extended(ours: dict[str, tuple[float, float]], sizes: list[int]) -> list[str]:
    """Not measured: the line through the two sizes, seconds(n, k) = start + n · (seconds for a row) / k."""
    few, many = sizes[0], sizes[-1]
    lines = [
        "",
        "By arithmetic, not measured: seconds(n, k) = start + n · (seconds for a row) / k, from the sizes above, on k "
        "machines like this one.",
        "",
        "| question | start, ms | a row, ns | 10⁹ rows, k = 1 | k = 10 | 10¹⁰ rows, k = 1 | k = 10 |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, (short, long) in ours.items():
        row = max(long - short, 0.0) / (many - few)
        start = max(short - few * row, 0.0)
        cells = "".join(f" {start + rows * row / k:,.0f} s |" for rows in (10**9, 10**10) for k in (1, 10))
        lines.append(f"| {name} | {start * 1e3:,.0f} | {row * 1e9:,.1f} |{cells}")
    return lines


def _sections(text: str | Path) -> dict[str, str]:
    """A report by engine, so that one can be measured anew; its head is under the empty name."""
    if isinstance(text, Path):
        text = text.read_text(encoding="utf-8") if text.exists() else ""
    head, *parts = text.split("\n## ")
    return {"": head} | {part.partition("\n")[0]: part.rstrip("\n") + "\n" for part in parts}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.engines")
    parser.add_argument("--rows", "--sizes", dest="sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    found, loads = dict[tuple[str, int], dict[str, tuple[float, float]]](), dict[str, float]()
    for engine in asked.engines:
        found |= {(engine, rows): measured(engine, rows) for rows in asked.sizes}
        loads[engine] = os.getloadavg()[0]  # what else the machine did: two threads of ours are 2
    sections = _sections(asked.out) | _sections(told(found, asked.sizes, loads))
    asked.out.write_text("\n## ".join(sections[name] for name in ("", *ENGINES) if name in sections), encoding="utf-8")
    print(f"written to {asked.out}")


if __name__ == "__main__":
    main()
