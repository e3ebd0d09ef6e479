"""How this program reaches a Postgres that holds a table, whether it brings the table or asks it.

Every setting of a connection is given, so that none comes from a file or the environment of whoever runs the program:
the six that an address holds, ours, and for all others what libpq itself has built in. Left to the environment are a
service's name (libpq has no word for none), whose file cannot change a setting that is given, and the versions of its
protocol.

The driver is handed in: it is not installed by default, and imported only when it is needed.
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
    "keepalives": "1",  # a line that is cut is noticed within a minute
    "keepalives_idle": "20",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
    "application_name": "allowance",
    "client_encoding": "utf8",
}
# Neither a certificate nor a Kerberos ticket of whoever runs the program is lent to whoever names an address.
_SINCE_16 = {"sslcertmode": "disable", "require_auth": "none,password,md5,scram-sha-256"}

# What a table of ours was when it was made: a text that stays the same under VACUUM, ANALYZE and restarts, and is
# another once anything is changed through which its rows can change: its triggers, their function, its columns, what
# inherits from it, the rules and policies on it. NULL if there is no such table. (Its rows alone cannot change while
# the triggers are there: they refuse every row that is written, whoever writes it.)
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
    """All settings of a connection to an address, which is a URL."""
    options = {option.keyword.decode(): option for option in psycopg.pq.Conninfo.get_defaults()}
    built_in = {
        name: (option.compiled or b"").decode()
        for name, option in options.items()
        if option.envvar and name not in _OPEN
    }
    told = psycopg.conninfo.conninfo_to_dict(address)
    found = built_in | _OURS | {name: str(told.get(name, usual)) for name, usual in _ADDRESS.items()}
    found["sslrootcert"] = "system" if found["sslmode"] == "verify-full" else ""
    return found | {name: value for name, value in _SINCE_16.items() if name in options}


def connect(psycopg: Driver, address: str, **more: object) -> Driver:
    """A connection; `more` are the driver's own options. Its log is silent: its warnings quote the server's words."""
    logging.getLogger("psycopg").disabled = True
    return psycopg.connect(**settings(psycopg, address), prepare_threshold=None, **more)
