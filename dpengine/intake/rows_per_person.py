"""Which rows count if a person may have several: at most m of each, chosen without looking at anybody else's rows.

Ids that differ only in surrounding white space or in how letters are composed belong to one person (spelling.py). Rows
without an id are left out. Of a person's rows the first m by a keyed hash of their content are kept: not by their place
in the file, which could depend on other people, and not by a plain hash, for which a person could choose the rows that
win.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path

import duckdb

from dpengine.core.errors import AllowanceError
from dpengine.declared.spelling import trimmed_sql
from dpengine.declared.unit import Unit
from dpengine.statistics.engines.duck import connect

PERSON = "person"


def keep_rows(raw: Path, names: Sequence[str], unit: Unit, secret: bytes, kept: Path, every: bool = False) -> int:
    """Write the rows that count, as columns c0, c1, … in the file's order and `person`. Returns the number of people,
    which may be 0: a refusal must not depend on one person. With `every` all rows are written, since a person's set is
    over all of them."""
    if unit.id_column is None or unit.id_column not in names:
        raise AllowanceError("column.absent", column=unit.id_column, columns=list(names))
    key = hmac.new(secret, b"allowance: which rows", hashlib.sha256).hexdigest()
    columns = [f"c{place}" for place, _ in enumerate(names)]
    listed = ", ".join(columns)
    column = columns[list(names).index(unit.id_column)]
    who = trimmed_sql(column)
    cells = ", ".join(f"CASE WHEN {c} IS NULL THEN '-' ELSE strlen({c}) || ':' || {c} END" for c in columns)
    chosen = f"""
        SELECT {listed}, dense_rank() OVER (ORDER BY {who}) - 1 AS {PERSON},
               row_number() OVER (PARTITION BY {who} ORDER BY sha256(concat(?, {cells}))) AS place
        FROM read_parquet(?) AS t({listed}) WHERE {who} <> ''
    """
    part = kept.with_name(f"{kept.name}.part")
    try:
        with connect(kept.parent) as connection:
            target = str(part).replace("'", "''")
            rows = f"SELECT {listed}, {PERSON} FROM ({chosen})" + ("" if every else f" WHERE place <= {unit.at_most}")
            connection.execute(f"COPY ({rows}) TO '{target}' (FORMAT parquet)", [key, str(raw)])
            people = connection.execute(f"SELECT count(DISTINCT {PERSON}) FROM read_parquet(?)", [str(part)]).fetchone()
        part.chmod(0o600)
        part.replace(kept)
    except duckdb.Error:
        raise AllowanceError("load.unreadable") from None
    finally:
        part.unlink(missing_ok=True)
    return int(people[0]) if people else 0
