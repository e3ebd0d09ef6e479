"""Joins two loaded files by the id, at intake: one raw table, one unit.

Neighbours are all records that carry one id, in both files. Ids are compared as everywhere (surrounding white space and
composed letters do not count), and records without an id are left out. An id that occurs twice in the people file has
one of its own records kept, by a keyed hash of their content. Events without a person keep empty fields, and people
without events are one row. Nothing is computed across ids: no ranks, no lists, no removal of doubles. So if one
person's records change, only that person's joined rows do.

Content marks of both files are stored with the joined table: either file, brought alone, is then known, and joins its
budget. A file in which one row was changed is not recognised, as everywhere.
"""

from __future__ import annotations

import hashlib
import hmac
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa

from dpengine.core.errors import refusing
from dpengine.declared.source import Joined, Source
from dpengine.declared.spelling import trimmed_sql
from dpengine.intake.csv_records import Batches
from dpengine.intake.load import Loaded, load, write_table
from dpengine.statistics.engines.duck import connect

BATCH = 61_440  # rows at once
EVENTS, PEOPLE = 0.3, 0.6  # the share of the work done after each file


@dataclass(frozen=True)
class JoinWords:
    """An engine's SQL for a cell of a side (`e.`, `p.` or none), the id in a cell, and a keyed hash of cells."""

    cell: Callable[[str, int], str]
    who: Callable[[str], str]
    mark: Callable[[list[str]], str]


def join_sql(
    events: str, people: str, widths: tuple[int, int], on: tuple[int, int], words: JoinWords, everybody: bool
) -> tuple[list[str], str]:
    """SQL for the cells of a joined row, and for where they come from. First the cells of the events with the id in its
    place, then those of the people without the id. The same for DuckDB, Postgres and Spark."""
    who_e, who_p = (words.who(words.cell("", place)) for place in on)
    mark = words.mark([words.cell("", place) for place in range(widths[1])])
    one = (
        f"SELECT *, {who_p} AS who, row_number() OVER (PARTITION BY {who_p} ORDER BY {mark}) AS place"
        f" FROM {people} WHERE {who_p} <> ''"
    )
    each = f"SELECT *, {who_e} AS who FROM {events} WHERE {who_e} <> ''"
    cells = [words.cell("e.", place) for place in range(widths[0])]
    cells[on[0]] = f"coalesce({cells[on[0]]}, p.who)"
    cells += [words.cell("p.", place) for place in range(widths[1]) if place != on[1]]
    how = "FULL" if everybody else "LEFT"
    kept = f"SELECT * FROM ({one}) AS placed WHERE place = 1"
    return cells, f"({each}) AS e {how} JOIN ({kept}) AS p ON e.who = p.who"


def _duck(key: str) -> JoinWords:
    def mark(cells: list[str]) -> str:
        cells_as_text = ", ".join(
            f"CASE WHEN {cell} IS NULL THEN '-' ELSE strlen({cell}) || ':' || {cell} END" for cell in cells
        )
        return f"sha256(concat('{key}', {cells_as_text}))"

    return JoinWords(lambda side, place: f"{side}c{place}", trimmed_sql, mark)


def choosing_record(secret: bytes) -> str:
    """A key derived for one purpose: choosing which record of a person counts."""
    return hmac.new(secret, b"allowance: which record of a person", hashlib.sha256).hexdigest()


def load_joined(
    joined: Joined,
    raw: Path,
    secret: bytes,
    progress: Callable[[float], None] | None = None,
    bad_records: str = "refuse",
) -> Loaded:
    """Load both files and write the joined raw table."""
    report = progress or (lambda share: None)
    with tempfile.TemporaryDirectory(prefix=".", dir=raw.parent) as inside:
        events, people = Path(inside) / "events.parquet", Path(inside) / "people.parquet"

        def part(start: float, size: float) -> Callable[[float], None]:
            return lambda share: report(start + size * share)

        one = load(_given(joined.events), joined.events_dialect, events, secret, part(0, EVENTS), bad_records)
        other = load(
            _given(joined.people), joined.people_dialect, people, secret, part(EVENTS, PEOPLE - EVENTS), bad_records
        )
        names = joined.names(one.columns, other.columns)
        places = list(one.columns).index(joined.on[0]), list(other.columns).index(joined.on[1])
        widths = len(one.columns), len(other.columns)

        def batches() -> Batches:
            words = _duck(choosing_record(secret))
            cells, rows = join_sql("event_rows", "people_rows", widths, places, words, joined.everybody)
            query = f"SELECT {', '.join(f'{cell} AS j{at}' for at, cell in enumerate(cells))} FROM {rows}"
            with (
                refusing("load.unreadable", duckdb.Error, pa.ArrowException),
                connect(raw.parent) as connection,
            ):
                for name, path, width in (("event_rows", events, widths[0]), ("people_rows", people, widths[1])):
                    columns = ", ".join(f"c{place}" for place in range(width))
                    file = str(path).replace("'", "''")
                    connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{file}') AS t({columns})")
                for batch in connection.sql(query).to_arrow_reader(BATCH):
                    yield [column.cast(pa.string()).fill_null("") for column in batch.columns], 0.5

        # Whether a table is refused must not depend on one person: joined rows may be none.
        loaded = write_table([(names, batches())], raw, secret, part(PEOPLE, 1 - PEOPLE), no_rows="")
    marks = tuple(dict.fromkeys(file.fingerprint for file in (one, other) if file.fingerprint))
    return replace(loaded, marks=marks, addresses=(*one.addresses, *other.addresses))


def _given(file: str | Path | Source) -> Path | Source:
    return file if isinstance(file, Source) else Path(file)
