"""Long lists of declared values are stored once, each in a row of its own; claims refer to them by digest.

A claim holds the declared bounds of every column it uses. A list of 100,000 values would add most of a megabyte to
every charge. So a list of more than LONG values becomes a row of kind `list`, chained like every other, right before
the first charge that needs it. In the bodies of charges and steps `values` is then {"listed": digest}, SHA-256 over the
list's canonical JSON. Readers get the whole claim: the list is put back in.

Lists are public facts, and a digest names the same list in every ledger, so a process keeps lists in memory for all its
ledgers.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterable, Iterator

from dpengine.core.strict_json import canonical
from dpengine.core.types import Json, JsonObject
from dpengine.ledger.store import Database

KIND = "list"
LONG = 1_000
STATEMENTS = ("CREATE UNIQUE INDEX one_list ON entries (json_extract(body, '$.digest')) WHERE kind = 'list'",)
_BODY = "SELECT body FROM entries WHERE kind = 'list' AND json_extract(body, '$.digest') = ?"
_NAMED = re.compile(r'"values":\{"listed":"([0-9a-f]{64})"\}')  # inside a text the quotes would be escaped
_MOST_KEPT = 20

_kept: dict[str, list[str]] = {}
_lock = threading.Lock()


def digest_of(values: Json) -> str:
    return hashlib.sha256(canonical(values).encode("utf-8", "surrogatepass")).hexdigest()


def folded(claim: JsonObject) -> tuple[JsonObject, dict[str, list[str]]]:
    """The claim with digests in place of its long lists; and those lists, by digest."""
    lists: dict[str, list[str]] = {}
    bounds: JsonObject = {}
    for name, column in claim.get("bounds", {}).items():
        values = column.get("values") if isinstance(column, dict) else None
        if isinstance(values, list) and len(values) > LONG:
            digest = _known(values) or digest_of(values)
            lists[digest] = _keep(digest, values)
            column = column | {"values": {"listed": digest}}
        bounds[name] = column
    return (claim | {"bounds": bounds} if lists else claim), lists


def whole(claim: JsonObject) -> JsonObject:
    """The claim with its lists in place of their digests. A digest whose list is not in memory is left in."""
    bounds = claim.get("bounds")
    if not isinstance(bounds, dict) or not any(_digest(column) for column in bounds.values()):
        return claim
    with _lock:
        again = {
            name: column | {"values": _kept[digest]} if (digest := _digest(column)) in _kept else column
            for name, column in bounds.items()
        }
    return claim | {"bounds": again}


def _digest(column: Json) -> str:
    values = column.get("values") if isinstance(column, dict) else None
    return str(values.get("listed", "")) if isinstance(values, dict) else ""


def body_of(digest: str, values: list[str]) -> str:
    return canonical({"digest": digest, "values": values})


def stands(db: Database, digest: str) -> bool:
    """Does the ledger hold this list?"""
    return bool(list(db.query(_BODY, [digest])))


def at_hand(db: Database, bodies: Iterable[str]) -> None:
    """Load into memory the lists that these bodies refer to. A list that does not match its digest is not loaded."""
    for digest in {digest for body in bodies for digest in named_in(body)}:
        with _lock:
            known = digest in _kept
        if not known:
            for row in db.query(_BODY, [digest]):
                noted(row["body"])


def named_in(body: str) -> Iterator[str]:
    return (match.group(1) for match in _NAMED.finditer(body))


def noted(body: str) -> str:
    """Keep the list of a `list` row in memory and return the list's digest; "" if the digest in the row is wrong."""
    data = json.loads(body)
    values = data["values"]
    if data["digest"] != digest_of(values) or body != body_of(data["digest"], values):
        return ""
    _keep(data["digest"], values)
    return str(data["digest"])


def _known(values: list[str]) -> str:
    """The digest of a list that is in memory, found by comparison and not by hashing; "" if the list is not in
    memory."""
    with _lock:
        return next((digest for digest, kept in _kept.items() if kept is values or kept == values), "")


def _keep(digest: str, values: list[str]) -> list[str]:
    with _lock:
        kept = _kept.pop(digest, values)
        while len(_kept) >= _MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[digest] = kept  # the most recently used comes last
        return kept
