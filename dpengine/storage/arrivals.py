"""Content that comes in again: which tables it is known from, and what it then has to keep.

Content tells one number of people, ever. So it keeps its id column, its relation and the number of rows that count;
and where another reading of the same bytes could make other people of them, it is refused by what was declared, before
anybody is counted. A part of known content (a file of a folder, or a folder with that file) joins its budget too;
where an id column says who is who, its people would be counted anew among others, and it is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Schema
from dpengine.declared.unit import Relation, Unit
from dpengine.intake.load import Loaded
from dpengine.intake.marks import content_marks, older_mark
from dpengine.ledger.ledger import Act, BudgetRecord
from dpengine.storage.redeclare import RAW, names_of
from dpengine.storage.registry import FILE, OLDER, PART, ROWS, Record, Registry, alike


@dataclass(frozen=True)
class Arriving:
    """What was declared of a table that comes in."""

    name: str
    schema: Schema
    unit: Unit
    relation: Relation
    dialect: Dialect
    actor: str
    about: int | None = None

    def record(
        self, folder: str, budget: str, about: int, loaded: Loaded, rule: int, at: str, practice: bool = False
    ) -> Record:
        """As it is written down."""
        return Record(
            name=self.name,
            folder=folder,
            budget=budget,
            practice=practice,
            relation=self.relation,
            about=about,
            unit=self.unit.as_json(),
            schema=self.schema.as_json(),
            dialect=self.dialect.as_json(),
            fingerprint=loaded.fingerprint,
            file_mark="",
            version=1,
            owner=self.actor,
            at=at,
            header=list(loaded.columns),
            rule=rule,
        )


@dataclass(frozen=True)
class Known:
    """A table with the same content, or with a part of it."""

    record: Record
    whole: bool
    same_bytes: bool


def marks_of(loaded: Loaded) -> list[str]:
    whole = [ROWS + loaded.fingerprint] if loaded.fingerprint else []
    return [*whole, *(PART + one for one in loaded.marks), *(FILE + one for one in loaded.files)]


def known(
    registry: Registry, rows: sqlite3.Connection, tables: Path, folder: Path, loaded: Loaded, secret: bytes
) -> list[Known]:
    """The tables that hold this content or a part of it, the first first."""
    for record in registry.unmarked(rows, ROWS):  # of an earlier version: marked anew, as long as their rows are there
        with suppress(AllowanceError):
            registry.mark(rows, record.name, _marked_anew(tables / record.folder, secret))
    marks = set(marks_of(loaded))
    if registry.unmarked(rows, ROWS):
        marks.add(OLDER + older_mark(folder / RAW, loaded.header, loaded.rows, loaded.blank, secret))
    found = []
    for record in registry.of_content(rows, alike(marks)):
        theirs = registry.marks_of(rows, [record.name])
        files = {one for one in theirs if one.startswith(FILE)}
        same_bytes = bool(files) and files == {one for one in marks if one.startswith(FILE)}
        rows_too = any(one.startswith((ROWS, OLDER)) for one in marks & theirs)
        found.append(Known(record, same_bytes or rows_too, bool(files & marks)))
    return found


def _marked_anew(folder: Path, secret: bytes) -> list[str]:
    return [ROWS + mark for mark in content_marks(folder / RAW, len(names_of(folder)), (), secret)]


def budget_of(found: Sequence[Known]) -> str | None:
    """The budget this content already spends; it cannot be on two."""
    if len({one.record.budget for one in found}) > 1:
        raise AllowanceError("budget.several", tables=[one.record.name for one in found])
    return found[0].record.budget if found else None


def sealed(registry: Registry, rows: sqlite3.Connection, found: Sequence[Known], acts: Iterable[Act]) -> bool:
    """What was sealed is not opened by bringing the same content again under another name."""
    before = registry.kin(rows, [one.record.name for one in found])
    return any(act.kind == "seal" and act.table in before for act in acts)


def same_terms(budget: BudgetRecord, unit: Unit, relation: str) -> None:
    """Losses add up only when all are stated for the same change of the same unit, on people who are real."""
    if budget.kind != "private":
        raise AllowanceError("budget.practice")
    if budget.unit != unit.as_json() or budget.relation != relation:
        raise AllowanceError("budget.other_terms")


def learnt(registry: Registry, rows: sqlite3.Connection, found: Sequence[Known], loaded: Loaded) -> None:
    """A table whose rows were gone before they could be marked anew is known by these from now on, and sealed with
    whatever is known by them."""
    gone = {record.name for record in registry.unmarked(rows, ROWS)}
    for one in found:
        if one.whole and loaded.fingerprint and one.record.name in gone:
            registry.mark(rows, one.record.name, [ROWS + loaded.fingerprint])


def same_people(found: Sequence[Known], new: Arriving, columns: int) -> None:
    """Refuses by what was declared, where other people would be made of content that has told their number. An empty
    cell is a row in a table of one column and nobody's in a wider one."""
    if new.relation != "replace":
        return
    for one in found:
        if (one.whole or one.same_bytes) and one.record.header and (len(one.record.header) == 1) != (columns == 1):
            raise AllowanceError("content.read_otherwise", table=one.record.name)
        old = Dialect.from_json(one.record.dialect)
        parts = ("line_breaks",) if new.unit.id_column is None else ("separator", "quote", "encoding", "line_breaks")
        if one.same_bytes and any(getattr(old, part) != getattr(new.dialect, part) for part in parts):
            raise AllowanceError("content.read_otherwise", table=one.record.name)
        if not one.whole and new.unit.id_column is not None:
            raise AllowanceError("content.part_known", table=one.record.name)


def same_number(found: Sequence[Known], new: Arriving, about: int) -> None:
    """The last resort, where rows were written anew or lines are told apart by another sign."""
    for one in found:
        if new.relation == "replace" and one.whole and one.record.about != about:
            raise AllowanceError("content.read_otherwise", table=one.record.name)
