"""The address of a ledger in a database: `ALLOWANCE_LEDGER=postgresql://user:password@host/database?schema=name`.

It may hold a password. The object that keeps it does not show it, and no error of the driver, which could quote it, is
ever passed on. `schema` is our option; all others are libpq's (sslmode, passfile, connect_timeout …).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from dpengine.core.errors import AllowanceError

SETTING = "ALLOWANCE_LEDGER"
SCHEMA = "allowance_ledger"  # not `allowance`, which holds the codes of tables that stay in their database
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_LOCKS = 2**63


@dataclass(frozen=True)
class Address:
    """A database, and the schema in it. Two ledgers in one database have schemas of their own."""

    given: str = field(repr=False)
    schema: str = SCHEMA

    def lock(self, what: str) -> int:
        """The number of an advisory lock: the same in every program, another for every schema."""
        digest = hashlib.sha256(f"allowance ledger {self.schema} {what}".encode()).digest()
        return int.from_bytes(digest[:8], "big") - _LOCKS


def read_address(text: str) -> Address:
    try:
        parts = urlsplit(text.strip())
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise AllowanceError("ledger.address", setting=SETTING) from None
    schema = dict(options).get("schema", SCHEMA)
    if parts.scheme not in ("postgresql", "postgres") or not _NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise AllowanceError("ledger.address", setting=SETTING)
    rest = urlencode([(name, value) for name, value in options if name != "schema"])
    return Address(urlunsplit(parts._replace(query=rest)), schema)


def address_set() -> Address | None:
    """The address that the environment names; None: the ledger is a file."""
    text = os.environ.get(SETTING, "").strip()
    return read_address(text) if text else None


def mark_of(secret: bytes) -> str:
    """The mark by which a database knows its folder; it reveals nothing about the key itself."""
    return hmac.new(secret, b"allowance ledger 1", hashlib.sha256).hexdigest()
