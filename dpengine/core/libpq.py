"""Connections to a Postgres database that holds a table, whether the table is copied or queried in place.

Every setting of a connection is set here, so that none comes from a file or from the server's environment: six from the
address, ours, and libpq's built-in defaults for the rest. Two are left to the environment: the name of a service (libpq
has no way to set none), which cannot change a setting given here, and the protocol versions.

The caller passes the driver, because it is not installed by default.
"""

from __future__ import annotations

import logging

from dpengine.core.types import Arrow

Driver = Arrow  # parts of psycopg, which has types, and is not installed by default

_ADDRESS = {"host": "", "port": "5432", "dbname": "", "user": "", "password": "", "sslmode": "prefer"}
_OPEN = {"service", "servicefile", "min_protocol_version", "max_protocol_version"}
_OURS: dict[str, str] = {
    "passfile": "/dev/null/none",  # a file that cannot be
    "gssencmode": "disable",
    "connect_timeout": "10",  # seconds
    "keepalives": "1",  # a broken connection is noticed within a minute
    "keepalives_idle": "20",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
    "application_name": "allowance",
    "client_encoding": "utf8",
}
# Whoever names an address gets neither the server's certificate nor its Kerberos ticket.
_SINCE_16 = {"sslcertmode": "disable", "require_auth": "none,password,md5,scram-sha-256"}

# A digest of a table of ours. It survives VACUUM, ANALYZE and restarts, and changes with anything that lets rows
# change: triggers, their function, columns, inheriting tables, rules and policies. NULL if there is no such table. (Its
# rows alone cannot change while the triggers are there: they refuse every write.)
AS_MADE = """
    SELECT pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat_ws(' ', c.oid, c.relkind,
        c.relpersistence, c.relhasrules, c.relhassubclass, c.relrowsecurity, c.relforcerowsecurity,
        (SELECT pg_catalog.string_agg(pg_catalog.concat_ws(':', t.oid, t.xmin, t.tgenabled, p.oid, p.xmin), ','
                ORDER BY t.oid)
            FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid),
        (SELECT pg_catalog.string_agg(pg_catalog.concat_ws(':', a.attnum, a.xmin), ',' ORDER BY a.attnum)
            FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0)), 'UTF8')), 'hex')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = {schema} AND c.relname = {table}
"""


def settings(psycopg: Driver, address: str) -> dict[str, str]:
    options = {option.keyword.decode(): option for option in psycopg.pq.Conninfo.get_defaults()}
    closed = {name: option for name, option in options.items() if option.envvar and name not in _OPEN}
    built_in = {name: (option.compiled or b"").decode() for name, option in closed.items()}
    given = psycopg.conninfo.conninfo_to_dict(address)
    chosen = built_in | _OURS | {name: str(given.get(name, usual)) for name, usual in _ADDRESS.items()}
    chosen["sslrootcert"] = "system" if chosen["sslmode"] == "verify-full" else ""
    return chosen | {name: value for name, value in _SINCE_16.items() if name in options}


def connect(psycopg: Driver, address: str, **more: object) -> Driver:
    """A connection to the database at `address`; `more` are options of the driver. The driver's log is turned off,
    since its warnings quote the server."""
    logging.getLogger("psycopg").disabled = True
    return psycopg.connect(**settings(psycopg, address), prepare_threshold=None, **more)
