"""Are the tables, indexes, triggers and functions of a ledger in Postgres the ones that this program makes?

Postgres keeps the source of a function word for word, and of everything else a normal form of its own. So `verify`
makes the tables once more, as temporary ones that vanish with the transaction, and compares what the catalogue says of
both. For that the role needs no right but the usual one to make temporary tables.
"""

from __future__ import annotations

from dpengine.ledger.postgres_link import Link
from dpengine.ledger.postgres_sql import Function, parts_of
from dpengine.ledger.sqlite_file import SCHEMA

_TABLES = "('entries', 'looks')"
_OF = f"JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %(schema)s AND c.relname IN {_TABLES}"
_DESCRIBED = f"""
    SELECT concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, o.collname,
            pg_get_expr(d.adbin, d.adrelid)) AS told
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_collation AS o ON o.oid = a.attcollation
        LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum {_OF}
    UNION ALL SELECT concat_ws(' ', c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relhasrules,
            c.relhassubclass, c.relispartition) FROM pg_class AS c {_OF}
    UNION ALL SELECT concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisready, i.indisunique,
            i.indimmediate) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid {_OF}
    UNION ALL SELECT concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
        FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid {_OF} AND NOT t.tgisinternal
    UNION ALL SELECT concat_ws(' ', c.relname, k.conname, k.contype, pg_get_constraintdef(k.oid))
        FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid {_OF}
"""
_FUNCTIONS = """
    SELECT p.proname AS name, l.lanname AS language, p.provolatile AS volatility, p.prosecdef AS definer,
        pg_get_function_arguments(p.oid) AS takes, pg_get_function_result(p.oid) AS gives, p.prosrc AS source,
        coalesce(p.proconfig, '{}') AS settings
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace JOIN pg_language AS l ON l.oid = p.prolang
    WHERE n.nspname = %(schema)s
"""


def described(link: Link, schema: str) -> set[str]:
    """What stands in the database."""
    functions = {
        " ".join(map(str, row.values())).replace('"', "") for row in link.plain(_FUNCTIONS, {"schema": schema})
    }
    return functions | _told(link, schema)


def expected(link: Link, schema: str) -> set[str]:
    """What would stand there if it were made now."""
    told = set()
    parts = parts_of(SCHEMA)
    for part in parts:
        if isinstance(part, Function):
            where = [f"search_path={schema}, pg_temp"] if part.language == "plpgsql" else []
            gives = part.gives.replace("TABLE (", "TABLE(")
            row = (part.name, part.language, part.volatility, False, part.takes, gives, part.source, where)
            told.add(" ".join(map(str, row)).replace('"', ""))
    with link.passing():
        link.plain(f"SET LOCAL search_path = pg_temp, {schema}")
        for part in parts:
            if isinstance(part, str):
                link.plain(part.replace("CREATE TABLE ", "CREATE TEMPORARY TABLE ", 1))
        own = link.value("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()")
        return told | _told(link, own)


def _told(link: Link, schema: str) -> set[str]:
    """What the catalogue says of the two tables, whichever schema they are in; "pg_temp" is its word for our own."""
    rows = link.plain(_DESCRIBED, {"schema": schema})
    return {row["told"].replace(f"{schema}.", "").replace("pg_temp.", "") for row in rows}
