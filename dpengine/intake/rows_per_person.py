"""Which rows count where a person may have several: at most m of each, chosen without a look at anybody else's.

Ids that differ in white space around them or in how letters are composed are one person's (spelling.py); a table that
came in under an earlier rule, which knew spaces alone, keeps it. Rows without an id are left out. Of a person's rows
the first m by a keyed hash of their content are kept: not by their place in the file, which could depend on other
people, and not by a plain hash, which a person could aim at.
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
SPACES_ALONE, RULE = 1, 2  # by which rule a table tells people apart; it stays what it was when the table came in


def keep_rows(
    raw: Path, names: Sequence[str], unit: Unit, secret: bytes, kept: Path, every: bool = False, rule: int = RULE
) -> int:
    """Write the rows that count, as columns c0, c1, … in the file's order and `person`; returns how many people, which
    may be none: one person more or less is no refusal. With `every`, all rows of each person: for sets, whose union may
    be over any number of rows."""
    if unit.id_column is None or unit.id_column not in names:
        raise AllowanceError("column.absent", column=unit.id_column, columns=list(names))
    key = hmac.new(secret, b"allowance: which rows", hashlib.sha256).hexdigest()
    columns = [f"c{place}" for place, _ in enumerate(names)]
    listed = ", ".join(columns)
    column = columns[list(names).index(unit.id_column)]
    who = f"trim({column})" if rule == SPACES_ALONE else trimmed_sql(column)
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
            found = connection.execute(f"SELECT count(DISTINCT {PERSON}) FROM read_parquet(?)", [str(part)]).fetchone()
        part.chmod(0o600)
        part.rename(kept)
    except duckdb.Error:
        raise AllowanceError("load.unreadable") from None
    finally:
        part.unlink(missing_ok=True)
    return int(found[0]) if found else 0
