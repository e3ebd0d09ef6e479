"""Tokens, by which a program asks for a person. A token is shown when it is created and never again. The registry,
beside the names that it can forget, holds a keyed hash of it, so whoever reads that file has no token.

A token is `alw_<id>_<secret>`. The id is no secret: it finds the row, and a log may name it. The secret is 256 random
bits and is compared in constant time. A token lets its bearer do no more than its person may do at that moment, and if
it names tables, only what concerns those. It has a last day, at most a year away.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.strict_json import canonical
from dpengine.storage.registry import Registry

PREFIX = "alw"
LONGEST_NAME = 60
MOST_TABLES = 100
MOST_TOKENS = 50  # of one person at a time
USUAL_DAYS, MOST_DAYS = 90, 365  # lifetime of a token
_INSERT = (
    "INSERT INTO tokens (id, hash, person, name, tables, metrics, at, used, revoked, until)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LONGEST = 200  # characters of a presented token


@dataclass(frozen=True)
class Token:
    """What is stored of a token. The token's text cannot be computed from it."""

    id: str
    person: str
    name: str
    tables: tuple[str, ...]  # empty: every table that the person may see
    metrics: bool  # it opens only the figures about the server
    at: str
    used: str  # the last day on which it was used, or empty
    revoked: str  # when, or empty
    until: str  # the last day on which it opens anything

    @property
    def ended(self) -> bool:
        return _now()[:10] > self.until

    @property
    def live(self) -> bool:
        return not self.revoked and not self.ended

    def covers(self, table: str) -> bool:
        return not self.metrics and (not self.tables or table in self.tables)


class TokenBook:
    def __init__(self, registry: Registry, secret: bytes) -> None:
        self._registry, self._secret = registry, secret

    def make(
        self, person: str, name: str, tables: Sequence[str] = (), metrics: bool = False, until: str = ""
    ) -> tuple[str, Token]:
        """A new token's text, which is shown now and never again, and its stored record. Without `until` the token gets
        a usual last day."""
        name = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
        tables = tuple(dict.fromkeys(tables))
        if not name or len(name) > LONGEST_NAME or len(tables) > MOST_TABLES or (metrics and tables):
            raise AllowanceError("token.form", most=LONGEST_NAME)
        last = _last_day(until)
        token = Token(secrets.token_hex(6), person, name, tables, metrics, _now(), "", "", last)
        shown = f"{PREFIX}_{token.id}_{secrets.token_urlsafe(32)}"
        row = [token.id, self._hash(shown), person, name, json.dumps(tables), int(metrics), token.at, "", "", last]
        with self._registry.transaction() as rows:
            live = "SELECT count(*) FROM tokens WHERE person = ? AND revoked = '' AND (until = '' OR until >= ?)"
            if rows.execute(live, [person, token.at[:10]]).fetchone()[0] >= MOST_TOKENS:
                raise AllowanceError("token.many", most=MOST_TOKENS)
            rows.execute(_INSERT, row)
        return shown, token

    def of(self, person: str) -> list[Token]:
        """All tokens of a person, oldest first, the revoked ones too."""
        with self._registry.transaction(write=False) as rows:
            tokens = rows.execute("SELECT * FROM tokens WHERE person = ? ORDER BY at, rowid", [person])
            return [_token(row) for row in tokens]

    def find(self, token: str) -> Token | None:
        """The stored record with this id, of any person; None if there is none."""
        with self._registry.transaction(write=False) as rows:
            row = rows.execute("SELECT * FROM tokens WHERE id = ?", [token]).fetchone()
            return None if row is None else _token(row)

    def revoke(self, token: str) -> None:
        """Revoke the token with this id for good."""
        with self._registry.transaction() as rows:
            rows.execute("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked = ''", [_now(), token])

    def revoke_all(self, person: str) -> None:
        """Revoke all tokens of a person for good."""
        with self._registry.transaction() as rows:
            rows.execute("UPDATE tokens SET revoked = ? WHERE person = ? AND revoked = ''", [_now(), person])

    def forget(self, person: str) -> None:
        """Revoke all tokens of a person, and empty the tokens' names, which may identify the person."""
        self.revoke_all(person)
        with self._registry.transaction() as rows:
            rows.execute("UPDATE tokens SET name = '' WHERE person = ?", [person])

    def opened(self, shown: str) -> Token | None:
        """The stored record of a token that somebody presents; today is noted as the day of its last use. None if the
        token is unknown or revoked. After its last day the token is refused, with that reason."""
        parts = shown.split("_", 2) if len(shown) <= _LONGEST and shown.isascii() else []
        if len(parts) != 3 or parts[0] != PREFIX:
            return None
        with self._registry.transaction(write=False) as rows:
            row = rows.execute("SELECT * FROM tokens WHERE id = ?", [parts[1]]).fetchone()
        kept = "" if row is None else row["hash"]
        if not hmac.compare_digest(self._hash(shown), kept) or row["revoked"]:
            return None
        token = _token(row)
        if token.ended:
            raise AllowanceError("door.token_ended", day=token.until)
        if row["used"] != (today := _now()[:10]):
            with self._registry.transaction() as rows:
                rows.execute("UPDATE tokens SET used = ? WHERE id = ?", [today, row["id"]])
        return token

    def _hash(self, shown: str) -> str:
        return hmac.new(self._secret, canonical(["token", shown]).encode(), hashlib.sha256).hexdigest()


def _token(row: sqlite3.Row) -> Token:
    kept = dict(row)
    del kept["hash"]
    return Token(**kept | {"tables": tuple(json.loads(row["tables"])), "metrics": bool(row["metrics"])})


def _last_day(until: str) -> str:
    """A token's last day: `until`, refused unless it is from today to a year from now; without `until` the usual
    one."""
    today = datetime.now(UTC).date()
    with refusing("token.until", ValueError, most=MOST_DAYS):
        last = date.fromisoformat(until) if until else today + timedelta(days=USUAL_DAYS)
    if not today <= last <= today + timedelta(days=MOST_DAYS):
        raise AllowanceError("token.until", most=MOST_DAYS)
    return last.isoformat()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
