"""Who a person is. The ledger, which keeps everything, holds an opaque id; the name and the e-mail address are in the
registry, which can forget them.

The id is an HMAC of the sign-in provider and its own name for the person, under the workspace's secret. It reveals
nothing without the secret, and another workspace gives the same person another id.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime

from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical
from dpengine.storage.registry import Registry

LONGEST = 200


@dataclass(frozen=True)
class KnownPerson:
    id: str
    name: str  # empty if unknown or forgotten
    email: str
    at: str  # when they first came

    @property
    def shown(self) -> str:
        """The text by which pages name this person: the name, else the address, else the beginning of the id."""
        return self.name or self.email or self.id[:10]


def person_id(secret: bytes, issuer: str, subject: str) -> str:
    if not issuer or not subject:
        raise AllowanceError("people.unnamed")
    identity = canonical(["person", issuer, subject]).encode()
    return "p-" + hmac.new(secret, identity, hashlib.sha256).hexdigest()[:32]


def remember(registry: Registry, person: str, name: str, email: str) -> None:
    """Store a person's name and address after a sign-in. Nothing is written if both are stored already."""
    name, email = _line(name), _line(email)
    known = find(registry, person)
    if known is not None and (known.name, known.email) == (name or known.name, email or known.email):
        return
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with registry.transaction() as rows:
        rows.execute(
            "INSERT INTO people VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
            " name = CASE WHEN excluded.name <> '' THEN excluded.name ELSE name END,"
            " email = CASE WHEN excluded.email <> '' THEN excluded.email ELSE email END",
            [person, name, email, now],
        )


def find(registry: Registry, person: str) -> KnownPerson | None:
    with registry.transaction(write=False) as rows:
        row = rows.execute("SELECT * FROM people WHERE id = ?", [person]).fetchone()
        return None if row is None else KnownPerson(**dict(row))


def everybody(registry: Registry) -> list[KnownPerson]:
    with registry.transaction(write=False) as rows:
        return [KnownPerson(**dict(row)) for row in rows.execute("SELECT * FROM people ORDER BY at, id")]


def forget(registry: Registry, person: str) -> None:
    """Empty a person's name and address. What the person did stays in the ledger under the id."""
    with registry.transaction() as rows:
        rows.execute("UPDATE people SET name = '', email = '' WHERE id = ?", [person])


def _line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:LONGEST]
