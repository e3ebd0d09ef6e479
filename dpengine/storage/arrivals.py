"""Content that is loaded again: which tables already hold it, and which terms it must keep.

The number of people in a content is revealed at most once. So content keeps its id column, its relation and the number
of rows that count. If the same bytes could be read in another way as other people, the table is refused because of its
declaration, before anybody is counted. A part of known content (a file of a folder, or a folder with that file) joins
its budget too; with an id column its people would be counted again among others, so it is refused. A folder is refused
if its files belong to tables with different budgets. Two joined files are refused for the same reason, unless the first
of them is here by itself with the same unit and the joined people are its people: then no other number is revealed.

A newer state of a table in a database is other content, mostly about the same people. It is known by its place, and
joins the budget of the newest table from there, unless its owner declares its people new. That declaration is a row of
the ledger, in the account of the budget that it does not join. If the very rows are known, it changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dpengine.accountant.filter import Rule, Totals, used
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import up
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Schema
from dpengine.declared.source import Joined
from dpengine.declared.unit import Relation, Unit
from dpengine.intake.load import Loaded
from dpengine.ledger.ledger import Act, BudgetRecord, Ledger, refuse_over_cap
from dpengine.ledger.rows import TakenOver, rows_of_a_person
from dpengine.storage.registry import ADDRESS, FILE, PART, ROWS, Record, Registry, alike


@dataclass(frozen=True)
class Arriving:
    """The declaration of a table that somebody is loading."""

    name: str
    schema: Schema
    unit: Unit
    relation: Relation
    dialect: Dialect
    actor: str
    about: int | None = None
    new_people: bool = False  # for a newer state of a database's table: its people are others
    protect: bool = False  # if the content is known with less protection: correct that
    sample: bool = False  # these people are a random sample of a larger group
    whose: str = ""  # the column that tells people apart
    also: tuple[str, ...] = ()  # marks of what it was made of: sealing that seals this too
    joins: Joined | None = None  # the two files that it is made of …
    add_up: bool = False  # … and what both have spent counts together from now on

    def record(self, folder: str, budget: str, about: int, loaded: Loaded, at: str, practice: bool = False) -> Record:
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
            version=1,
            owner=self.actor,
            at=at,
            header=list(loaded.columns),
            sample=self.sample,
            whose=self.whose if self.whose in loaded.columns else "",
        )


@dataclass(frozen=True)
class Known:
    """A declared table that holds the same content as the arriving one (`whole`), or a part of it. With `by_address`
    the table only came from the same place. `same_bytes`: the two share a file."""

    record: Record
    whole: bool
    same_bytes: bool
    by_address: bool = False
    budget: str = ""  # the budget that pays for its people now
    of_people: bool = False  # does it hold the second of the two joined files?
    first: bool = False  # is it the first of them, by itself?


def marks_of(loaded: Loaded) -> list[str]:
    of_rows = [ROWS + loaded.fingerprint] if loaded.fingerprint else []
    parts = [*of_rows, *(PART + mark for mark in loaded.marks), *(FILE + mark for mark in loaded.files)]
    return [*parts, *(ADDRESS + mark for mark in loaded.addresses)]


def known(
    registry: Registry, rows: sqlite3.Connection, loaded: Loaded, taken_by: Mapping[str, str] | None = None
) -> list[Known]:
    """The tables that hold this content or a part of it, oldest first. `taken_by`: budgets that others took over."""
    marks, second = set(marks_of(loaded)), alike({PART + mark for mark in loaded.marks[1:]})
    first = ROWS + loaded.marks[0] if len(loaded.marks) == 2 else ""
    now = taken_by or {}
    tables = []
    for record in registry.of_content(rows, alike(marks)):
        theirs = registry.marks_of(rows, [record.name])
        files = {mark for mark in theirs if mark.startswith(FILE)}
        same_bytes = bool(files) and files == {mark for mark in marks if mark.startswith(FILE)}
        same_rows = any(mark.startswith(ROWS) for mark in marks & theirs)
        content = any(not mark.startswith(ADDRESS) for mark in alike(marks) & theirs)
        paid, whole = now.get(record.budget, record.budget), same_bytes or same_rows
        parts = bool(second & theirs), first in theirs
        tables.append(Known(record, whole, bool(files & marks), not content, paid, *parts))
    # Of the tables known only by their place, those on the budget of the newest: its owner may have declared new people
    # since. If the content itself is known, that decides.
    by_content = [table for table in tables if not table.by_address]
    return by_content or [table for table in tables if table.budget == tables[-1].budget]


def apart(tables: Sequence[Known], new: Arriving) -> bool:
    """Does the arriving table get a budget of its own, because only its source is known and the owner says that its
    people are new?"""
    return bool(new.new_people and tables and tables[0].by_address)


def budget_of(tables: Sequence[Known]) -> str | None:
    """The budget that already pays for this content; None if no budget does. Refused if several do."""
    if len({table.budget for table in tables}) > 1:
        raise AllowanceError("budget.several", tables=[table.record.name for table in tables])
    return tables[0].budget if tables else None


def adding_up(
    tables: Sequence[Known], new: Arriving, ledger: Ledger, named: str = ""
) -> tuple[str | None, list[TakenOver]]:
    """The budget that pays for this content (None: a new one), and the budgets that this budget takes over. Only two
    joined files can cause a takeover: of the budget of the people file, if that file is also here by itself. `named`:
    the budget that the owner named."""
    if new.joins is None:
        return budget_of(tables), []
    own = budget_of([table for table in tables if not table.of_people])
    terms = new.unit.as_json(), new.relation
    theirs = {table.budget: ledger.budget(table.budget) for table in tables if table.budget != own}
    fits = [budget for budget, record in theirs.items() if (record.unit, record.relation) == terms]
    pays = own or next(iter(fits), None)
    taken = []
    for budget, record in theirs.items():
        if budget in (pays, pays or named):
            continue
        unit = Unit.from_json(record.unit)
        if record.relation != new.relation or unit.id_column not in (None, *new.joins.on):
            raise AllowanceError("budget.other_terms")
        taken.append(TakenOver(budget, new.joins.people_at_most if unit.id_column is None else 1))
    return pays, taken


def refuse_added_up(
    tables: Sequence[Known], new: Arriving, taken: Sequence[TakenOver], rule: Rule, sums: Totals
) -> None:
    """Refuse to let one budget take over others unless the owner said `add_up`: what both have spent then counts."""
    names = [table.record.name for table in tables if table.budget in {part.budget for part in taken}]
    refuse_over_cap(rule, sums, joined=True)
    if not new.add_up:
        raise AllowanceError("joined.adds_up", tables=names, spent=up(used(rule, sums) * 100, 100))


def sealed(registry: Registry, rows: sqlite3.Connection, tables: Sequence[Known], acts: Iterable[Act]) -> bool:
    """Is this content sealed under any name? Loading sealed content again under another name does not open it."""
    before = registry.kin(rows, [table.record.name for table in tables])
    return any(act.kind == "seal" and act.table in before for act in acts)


def same_terms(budget: BudgetRecord, unit: Unit, relation: str, other_rows: bool = False) -> None:
    """Refuse a budget for practice, or one with another relation or unit: losses add up only for one relation and the
    same people. With `other_rows` (other content, same people) the two units need only be compatible
    (`Unit.may_share`)."""
    if budget.kind != "private":
        raise AllowanceError("budget.practice")
    same = unit.may_share(budget.unit or {}) if other_rows else budget.unit == unit.as_json()
    if not same or budget.relation != relation:
        raise AllowanceError("budget.other_terms")


def only_parts(tables: Sequence[Known]) -> bool:
    """Is this content here only as one of two joined files, within another table? If so, its id may have another name
    here. A table whose budget was taken over does not count as such a table."""
    return bool(tables) and not any(table.whole and table.record.budget == table.budget for table in tables)


def protects(budget: BudgetRecord, new: Arriving) -> bool:
    """Does the arriving table declare more protection than this budget has, with all else the same?"""
    if budget.kind != "private" or budget.relation != new.relation:
        return False
    try:
        return rows_of_a_person(budget.unit, new.unit) > 0
    except AllowanceError:
        return False


def corrected(tables: Sequence[Known], new: Arriving) -> str:
    """The name of the known table that the new declaration corrects. Refused unless the declaration says `protect`; the
    refusal offers that."""
    first = tables[0]
    if new.protect:
        return first.record.name
    if first.by_address:  # a newer state of a database's table is no second copy of it
        raise AllowanceError("budget.other_terms")
    raise AllowanceError("protect.offered", table=first.record.name)


def same_people(tables: Sequence[Known], new: Arriving, columns: int) -> None:
    """Refuse a declaration that would count the people of known content in another way, if their number is public.
    Whether there is one column must agree too: an empty line is a row in a table of one column and nobody's row in a
    wider one."""
    if new.relation != "replace":
        return
    counted = any(same_people_joined(table, new) for table in tables)
    for table in tables:
        header = table.record.header
        if (table.whole or table.same_bytes) and header and (len(header) == 1) != (columns == 1):
            raise AllowanceError("content.read_otherwise", table=table.record.name)
        old = Dialect.from_json(table.record.dialect)
        parts = ("line_breaks",) if new.unit.id_column is None else ("separator", "quote", "encoding", "line_breaks")
        if table.same_bytes and any(getattr(old, part) != getattr(new.dialect, part) for part in parts):
            raise AllowanceError("content.read_otherwise", table=table.record.name)
        if not table.whole and not table.by_address and new.unit.id_column is not None and not counted:
            if new.joins is not None:
                raise AllowanceError("joined.counted", table=table.record.name)
            raise AllowanceError("content.part_known", table=table.record.name)


def same_people_joined(table: Known, new: Arriving) -> bool:
    """Do the two joined files hold the same people as this table? True if this table is their first file and no people
    without events are added."""
    alone = new.joins is not None and not new.joins.everybody
    return alone and table.first and table.record.unit == new.unit.as_json()


def same_number(tables: Sequence[Known], new: Arriving, about: int) -> None:
    """Refuse known content with another number of people: the last check, for rewritten rows or line breaks."""
    for table in tables:
        same_unit = table.record.unit == new.unit.as_json()  # a closed table keeps its earlier unit
        same = (table.whole and same_unit) or same_people_joined(table, new)
        if new.relation == "replace" and same and table.record.about != about:
            raise AllowanceError("content.read_otherwise", table=table.record.name)
