"""The question that a person was putting together, one for each table. It survives a reload and a sign-out.

A draft holds what a form holds: the key of a question and its parameters, chosen or typed by that person. Nothing in it
comes from a row. It is deleted once the question is asked, when the person is forgotten, and when the table is.
"""

from __future__ import annotations

from dpengine.core.errors import AllowanceError
from dpengine.core.strict_json import canonical, read_strict
from dpengine.core.types import JsonObject
from dpengine.storage.registry import Registry

LONGEST = 10_000  # characters


def keep(registry: Registry, table: str, person: str, draft: JsonObject | None) -> None:
    """Replace the draft, or delete it. One that is too long is not kept."""
    text = "" if draft is None else canonical(draft)
    with registry.transaction() as rows:
        rows.execute("DELETE FROM drafts WHERE name = ? AND person = ?", [table, person])
        if text and len(text) <= LONGEST:
            rows.execute("INSERT INTO drafts VALUES (?, ?, ?)", [table, person, text])


def find(registry: Registry, table: str, person: str) -> JsonObject | None:
    with registry.transaction(write=False) as rows:
        found = rows.execute("SELECT draft FROM drafts WHERE name = ? AND person = ?", [table, person]).fetchone()
    try:
        draft = None if found is None else read_strict(found["draft"])
    except (AllowanceError, ValueError):
        return None
    return draft if isinstance(draft, dict) else None


def forget_person(registry: Registry, person: str) -> None:
    with registry.transaction() as rows:
        rows.execute("DELETE FROM drafts WHERE person = ?", [person])


def forget_table(registry: Registry, table: str) -> None:
    with registry.transaction() as rows:
        rows.execute("DELETE FROM drafts WHERE name = ?", [table])
