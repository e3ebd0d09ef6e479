"""The declared tables of a workspace folder: their declarations, their files, and how content is loaded.

Known content joins its existing budget. The ledger knows which tables are closed; the registry stores the declarations.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from dpengine.accountant.filter import Budget
from dpengine.core import files
from dpengine.core.errors import AllowanceError, UnknownTable
from dpengine.core.files import refuse_full
from dpengine.declared import public_rules
from dpengine.declared.dialect import Dialect
from dpengine.declared.joined import Joined
from dpengine.declared.schema import Schema
from dpengine.declared.source import Source
from dpengine.declared.unit import Unit
from dpengine.intake import in_spark
from dpengine.intake.bring_in import RAW, code_rows, load_raw, refuse_absent
from dpengine.intake.join_files import load_joined
from dpengine.intake.load import Loaded
from dpengine.intake.marks import address_mark
from dpengine.intake.postgres import Described, describe
from dpengine.ledger.ledger import Ledger, refuse_unprotected
from dpengine.ledger.opening import open_ledger
from dpengine.ledger.owner_rows import closed_kind
from dpengine.ledger.people_rules import owns
from dpengine.ledger.rows import rows_of_a_person
from dpengine.statistics import kept
from dpengine.statistics.engines import Coded
from dpengine.statistics.engines.choose import Engines
from dpengine.statistics.engines.duck import read_columns
from dpengine.statistics.raw_needs import Crowded, Different, RawNeed, RawStatistic
from dpengine.storage import arrivals, matches, redeclare, sources
from dpengine.storage.arrivals import Arriving
from dpengine.storage.registry import ADDRESS, Record, Registry
from dpengine.storage.samples import SAMPLES, Sample
from dpengine.storage.workers import Hold

OWNER = "owner"  # the actor where nobody signs in

LONGEST_NAME = 80
SECRET_BYTES = 32
SAMPLES_ONLY = "samples-only"  # this file marks the folder of a workshop, which holds only the bundled tables
_SCHEMAS_KEPT = 32
_PARQUET_END = b"PAR1"

# A new budget, the id of an existing one, or a function of the number of people.
BudgetFor = Budget | str | Callable[[int], Budget]


class DeclaredTables:
    """Only its user may read the folder (0700)."""

    engine: Engines

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            for part in (folder, folder / "tables", folder / "tmp", folder / "files", folder / "published"):
                part.mkdir(parents=True, exist_ok=True)
                part.chmod(0o700)
            self._hold = Hold(folder)
            self._secret = read_secret(folder / "secret")
        except OSError:
            raise AllowanceError("workspace.unwritable") from None
        self.samples_only = (folder / SAMPLES_ONLY).exists()
        self.databases: tuple[str, ...] | None = None  # allowed hosts of tables; None: see sources.py
        self._registry = Registry(folder / "registry.sqlite")
        place = folder / "ledger.sqlite"
        self.ledger = Ledger(place) if self.samples_only else open_ledger(place, self._secret)
        self._sampling = threading.Lock()
        self._samples: dict[str, Record] = {}
        self._schemas: OrderedDict[tuple[str, int], Schema] = OrderedDict()

    def tables(self) -> list[Record]:
        """The declared tables, not the samples."""
        return [record for record in self._registry.all() if not record.practice]

    def names(self) -> list[tuple[str, str]]:
        """Only their names and budgets."""
        return self._registry.names()

    def here(self, name: str) -> bool:
        """Is the table loaded? A bundled sample is loaded at its first use."""
        return self._registry.get(name) is not None

    def current(self, record: Record) -> bool:
        """Is this still the table's declaration?"""
        declared = self._registry.get(record.name)
        return declared is not None and declared.version == record.version

    def closed(self) -> dict[str, str]:
        """The tables that accept no more questions: their names, and `seal`, `forget` or `close`."""
        closed = self.ledger.closed()
        return {name: kind for name, budget in self.names() if (kind := closed_kind(closed, budget, name))}

    def _own(self, name: str) -> Record:
        record = self._registry.get(name)
        if name in SAMPLES or (record is not None and record.practice):
            raise AllowanceError("act.practice")
        if record is None:
            raise UnknownTable(name)
        return record

    def schema_of(self, record: Record) -> Schema:
        """Cached, because a list of 100,000 values takes half a second to read and every page needs it."""
        key = record.folder, record.version
        schema = self._schemas.get(key) or Schema.from_json(record.schema)
        self._schemas[key] = schema
        if len(self._schemas) > _SCHEMAS_KEPT:
            with suppress(KeyError):  # another thread was first
                self._schemas.popitem(last=False)
        return schema

    def coded(self, record: Record) -> Coded:
        """The place of the coded rows: a file here, unless they stayed in their database."""
        folder = self.folder / "tables" / record.folder
        most = record.about * Unit.from_json(record.unit).at_most if record.relation == "replace" else None
        return sources.coded_there(folder, record.version, most) or folder / f"coded-{record.version}.parquet"

    def kept(self, record: Record) -> Path | None:
        """Where a large table's counts are kept; None for a small one, by its declared number of people."""
        most = record.about * Unit.from_json(record.unit).at_most
        return self.folder / "tables" / record.folder / f"coded-{record.version}" if most >= kept.LEAST_ROWS else None

    def _keep(self, record: Record, schema: Schema) -> None:
        """Count the columns of a large table, if its rows lie here: elsewhere a column is counted when first asked."""
        coded, place = self.coded(record), self.kept(record)
        if place is not None and isinstance(coded, Path):
            self.engine.keep(coded, schema, place)

    def differing_counts(self) -> list[str]:
        """The tables with kept counts that do not follow from their rows: a test of oneself, for an operator."""
        closed, wrong = self.closed(), []
        for record in self.tables():
            place = self.kept(record)
            if place is not None and record.name not in closed:
                coded, schema = self.coded(record), self.schema_of(record)
                if kept.differing(place, schema, partial(self.engine.read, coded=coded, schema=schema)):
                    wrong.append(record.name)
        return wrong

    def refuse_damaged(self, record: Record) -> None:
        """Called before a charge: is the coded file complete? That reveals nothing about its rows."""
        coded = self.coded(record)
        if not isinstance(coded, Path):
            self.engine.refuse_away(coded)
            return
        try:
            with coded.open("rb") as file:
                file.seek(-len(_PARQUET_END), os.SEEK_END)
                complete = file.read() == _PARQUET_END
        except OSError:
            complete = False
        # For a closed table the ledger itself gives the reason.
        if not complete and not closed_kind(self.ledger.closed(), record.budget, record.name):
            raise AllowanceError("table.damaged", table=record.name)

    def read_raw(self, need: RawNeed, record: Record) -> RawStatistic:
        """A statistic of a raw column over the rows that count; for ids, over all rows."""
        folder = self.folder / "tables" / record.folder
        unit = Unit.rows() if isinstance(need, Crowded | Different) else Unit.from_json(record.unit)
        rows = redeclare.raw_rows(folder, unit, self._secret)
        place = redeclare.names_of(folder).index
        return read_columns(need.under(Dialect.from_json(record.dialect)), rows, place)

    def describe_source(self, source: Source) -> Described:
        """The columns of a table in a database, as the database declares them; no row is read."""
        if self.samples_only:
            raise AllowanceError("workshop.no_tables")
        sources.refuse_elsewhere(source, self.databases, self.ledger.served)
        described = in_spark.describe_lake(source, self.engine.spill) if source.spark else describe(source)
        marks = [ADDRESS + address_mark(place, self._secret) for place in described.places]
        with self._registry.transaction(write=False) as rows:
            return replace(described, earlier=tuple(record.name for record in self._registry.of_content(rows, marks)))

    @property
    def reads_databases(self) -> bool:
        """May a table come from a database at all? Where people sign in, only from hosts that the operator named."""
        return not self.samples_only and sources.may_read(self.databases, self.ledger.served, lakes=False)

    @property
    def reads_lakes(self) -> bool:
        """The same for a lake, if Spark is installed here."""
        return not self.samples_only and sources.may_read(self.databases, self.ledger.served, lakes=True)

    def has_source(self, name: str) -> bool:
        """Can newer rows of a table be loaded from its source?"""
        record = self._registry.get(name)
        return record is not None and sources.kept(self.folder / "tables" / record.folder) is not None

    def revise(self, name: str, schema: Schema, actor: str = OWNER) -> Record:
        """Declare a table anew, on the budget it has: free, and no answer already given changes."""
        record = self._registry.get(name)
        if record is None or record.practice:
            raise AllowanceError("table.practice")
        self.ledger.refuse_other(record.budget, name, actor)
        schema.check_signs()
        schema = public_rules.carry_over(self.schema_of(record), schema)
        public_rules.check(schema)
        if closed_kind(self.ledger.closed(), record.budget, name):
            raise AllowanceError("table.closed", table=name)
        folder = self.folder / "tables" / record.folder
        refuse_full(self.folder)
        header = self._header(record)
        with self.loading():
            return redeclare.revise(self._registry, name, folder, schema, header, lambda new: self._code(new, schema))

    def _header(self, record: Record) -> Sequence[str]:
        folder = self.folder / "tables" / record.folder
        return redeclare.names_of(folder) if sources.kept_there(folder) is None else record.header

    def _code(self, new: Record, schema: Schema, other_people: bool = False) -> int:
        """Code a table anew under its next version, unit and schema; returns the number of people."""
        folder = self.folder / "tables" / new.folder
        unit, dialect = Unit.from_json(new.unit), Dialect.from_json(new.dialect)
        source = sources.kept_there(folder)
        if source is not None:
            sources.refuse_elsewhere(source, self.databases, self.ledger.served)
            given = schema, unit, dialect, self._secret
            return sources.code_anew(folder, source, new, given, self.engine.spill, other_people)
        loaded = Loaded(new.about, redeclare.names_of(folder))
        people = code_rows(folder, loaded, schema, unit, dialect, self._secret, new.version)
        self._keep(new, schema)
        return people

    def refuse_unit(self, record: Record, unit: Unit) -> None:
        """Refuses a unit for a table, and for all tables on its budget, that is no more protection, or if a file has no
        such column. Uses only public facts."""
        if record.practice:
            raise AllowanceError("act.practice")
        if closed_kind(self.ledger.closed(), record.budget, record.name):
            raise AllowanceError("table.closed", table=record.name)
        rows_of_a_person(record.unit, unit)
        for other in self._protected_with(record.budget, unit):
            if unit.id_column not in other.header:
                raise AllowanceError("protect.absent", table=other.name, column=unit.id_column)

    def protect(self, name: str, unit: Unit, actor: str = OWNER, people: int | None = None) -> Record:
        """More protection: rows belong to people, identified by this column, or more rows of a person count. The rows
        are coded anew, and every earlier charge counts anew for a person, in one row of the ledger, for all tables that
        the budget pays for. `people`: about how many there are, if their number is secret."""
        record = self._own(name)
        self.ledger.refuse_protecting(record.budget, name, actor)
        self.refuse_unit(record, unit)
        secret = record.relation == "add_remove" and record.unit == Unit.rows().as_json()
        if secret and (type(people) is not int or people < 1):
            raise AllowanceError("protect.people_needed" if people is None else "facts.rows")
        budget = self.ledger.budget(record.budget)
        if budget.unit != unit.as_json():  # else a process was killed after it wrote its row
            _, after = self.ledger.protection_of(record.budget, unit)  # refuses before any work
            refuse_unprotected(budget.rule, after.totals)
        refuse_full(self.folder)
        self._protect(record, unit, actor, people)
        return self._own(name)

    def _protect(self, record: Record, unit: Unit, actor: str, people: int | None) -> None:
        tables = self._protected_with(record.budget, unit)

        def code(new: Record) -> Record:
            by_row = next(table for table in tables if table.name == new.name).unit == Unit.rows().as_json()
            counted = self._code(new, Schema.from_json(new.schema), other_people=by_row)
            about = new.about if not by_row else max(counted, 1) if new.relation == "replace" else people or new.about
            return replace(new, about=about, header=list(self._header(new)))

        def commit() -> None:
            self.ledger.protect(record.budget, record.name, unit, actor)

        folders = {table.name: self.folder / "tables" / table.folder for table in tables}
        with self.loading():
            redeclare.protect(self._registry, folders, unit, code, commit)

    def _protected_with(self, budget: str, unit: Unit) -> list[Record]:
        """The open tables on a budget that this unit protects more; a table with another id keeps its own bound."""
        closed, tables = self.ledger.closed(), []
        for table in self.tables():
            was = Unit.from_json(table.unit)
            less = was.id_column is None or (was.id_column == unit.id_column and was.at_most < unit.at_most)
            if table.budget == budget and less and not closed_kind(closed, budget, table.name):
                tables.append(table)
        return tables

    def _finish_protecting(self) -> None:
        """Code the tables that a process, killed between the row of the ledger and the registry, left unusable."""
        with suppress(AllowanceError):  # a damaged ledger, or rows that cannot be read: a question reports it
            for record in self.tables():
                if self.ledger.protected_since(record.budget) is None:
                    continue
                unit = Unit.from_json(self.ledger.budget(record.budget).unit)
                if record in self._protected_with(record.budget, unit):
                    act = next(act for act in self.ledger.acts(record.budget) if act.kind == "protect")
                    self._protect(record, unit, act.actor, None)

    def correct_people(self, name: str, people: int, actor: str = OWNER) -> Record:
        """Change the declared number of people, if the owner only estimated it: only promises are planned with it."""
        record = self._registry.get(name)
        if record is None or record.practice:
            raise AllowanceError("table.practice")
        self.ledger.refuse_other(record.budget, name, actor)
        if record.relation != "add_remove":
            raise AllowanceError("facts.people_public")
        if type(people) is not int or people < 1:
            raise AllowanceError("facts.rows")
        if closed_kind(self.ledger.closed(), record.budget, name):
            raise AllowanceError("table.closed", table=name)
        return self._registry.correct(replace(record, about=people))

    def declare_sample(self, name: str, sample: bool, actor: str = OWNER) -> Record:
        """Say whether a table's people, one row each, are a random sample of a larger group. Answers that were given
        before stay as they are."""
        record = self._registry.get(name)
        if record is None or record.practice:
            raise AllowanceError("table.practice")
        self.ledger.refuse_other(record.budget, name, actor)
        refuse_sample(Unit.from_json(record.unit), sample)
        if closed_kind(self.ledger.closed(), record.budget, name):
            raise AllowanceError("table.closed", table=name)
        return self._registry.correct(replace(record, sample=sample))

    def _arrive(
        self,
        new: Arriving,
        source: object,
        budget: BudgetFor,
        bad_records: str,
        progress: Callable[[float], None] | None,
    ) -> tuple[Record, bool]:
        """Join the budget that this content already has, or the named one, or open a new one; then register the table.
        People are counted only now, and their number is reported nowhere else; known content keeps its terms, so only
        one number is ever revealed. Also returns whether a budget was joined."""
        with self._fresh_folder() as folder:
            loaded = self._load(folder, source, new, bad_records, progress)
            if isinstance(source, Source):
                sources.keep(folder, source.described(loaded.seen), {1: loaded.made})
            with self._registry.transaction() as rows:
                known = arrivals.known(self._registry, rows, loaded)
            others: list[str] = []  # tables of other owners, where people sign in
            if known and not arrivals.apart(known, new):
                others += self._of_others(known, new.actor)
                with matches.discreet(self._registry, new.name, new.actor, lambda: others):
                    joined = arrivals.budget_of(known)
                    if arrivals.protects(self.ledger.budget(str(joined)), new):
                        name = arrivals.corrected(known, new)
                        self.protect(name, new.unit, new.actor, new.about)
                    arrivals.same_terms(self.ledger.budget(str(joined)), new.unit, new.relation)
                    arrivals.same_people(known, new, len(loaded.columns))
            people = loaded.people
            if people is None:
                people = code_rows(folder, loaded, new.schema, new.unit, new.dialect, self._secret)
            about = max(people, 1) if new.relation == "replace" else int(new.about or 1)
            self._keep(new.record(folder.name, "", about, loaded, _now()), new.schema)
            with (
                matches.discreet(self._registry, new.name, new.actor, lambda: others),
                self._registry.transaction() as rows,
            ):
                if self._registry.find(rows, new.name) is not None:
                    others.clear()
                    raise AllowanceError("table.exists", name=new.name)
                known = arrivals.known(self._registry, rows, loaded)
                others[:] = self._of_others(known, new.actor)
                if arrivals.apart(known, new):
                    arrivals.note_apart(self.ledger, known, new)
                    known = []
                joined = arrivals.budget_of(known)
                if joined is not None and others:
                    declared = budget(about) if callable(budget) else budget
                    matches.refuse_other_terms(declared, self.ledger.budget(joined))
                budget_id = joined or (budget if isinstance(budget, str) else f"budget-{secrets.token_hex(6)}")
                if joined is None and not isinstance(budget, str):
                    opened = budget(about) if callable(budget) else budget
                    self.ledger.create_budget(
                        budget_id, opened.rule(), "private", new.actor, new.name, new.unit.as_json(), new.relation
                    )
                matches.refuse_apart(self.ledger, budget_id, new.actor, others)
                shared = joined is None and isinstance(budget, str)
                arrivals.same_terms(self.ledger.budget(budget_id), new.unit, new.relation, shared)
                arrivals.same_people(known, new, len(loaded.columns))  # other tables may have been loaded meanwhile
                arrivals.same_number(known, new, about)
                acts = [act for act in self.ledger.acts(budget_id) if self._theirs(act.table, new.actor)]
                closed = arrivals.sealed(self._registry, rows, known, acts)
                record = new.record(folder.name, budget_id, about, loaded, _now())
                self._registry.add(rows, record)
                self._registry.mark(rows, new.name, [*arrivals.marks_of(loaded), *new.also])
                if closed:
                    self._seal(rows, new.name, new.actor)
        if others:
            matches.note(self._registry, new.name, new.actor, others)
        return record, joined is not None and len(others) < len(known)

    def _theirs(self, name: str, actor: str) -> bool:
        """Does a table belong to this person? Where nobody signs in, every table does."""
        with self.ledger.people() as book:
            return not book.served() or owns(book, actor, name)

    def _of_others(self, known: Sequence[arrivals.Known], actor: str) -> list[str]:
        return [table.record.name for table in known if not self._theirs(table.record.name, actor)]

    def _seal(self, rows: sqlite3.Connection, name: str, actor: str) -> None:
        """Seal all tables that share content with this one, and this one last."""
        for other in reversed(self._registry.kin(rows, [name])):
            table = self._registry.find(rows, other)
            if table is not None and (other == name or self._theirs(other, actor)):
                self.ledger.close_table("seal", table.budget, other, actor)

    @contextmanager
    def loading(self, exclusive: bool = False) -> Iterator[bool]:
        """A lock that any number of loads hold while they run; the kernel releases it if the process is killed."""
        with files.locked(self.folder / "loading.lock", shared=not exclusive, wait=not exclusive) as held:
            yield held

    @contextmanager
    def _fresh_folder(self) -> Iterator[Path]:
        """A folder for the files of a new table; deleted if loading fails."""
        refuse_full(self.folder)
        folder = self.folder / "tables" / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        except BaseException:
            with suppress(AllowanceError):  # an unreachable database keeps codes that nobody reads
                sources.drop_there(folder)
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _load(
        self,
        folder: Path,
        source: object,
        new: Arriving,
        bad_records: str,
        progress: Callable[[float], None] | None = None,
    ) -> Loaded:
        if isinstance(source, Source) and source.in_place:
            given = new.schema, new.unit, new.dialect, self._secret
            return sources.code_there(folder, source, 1, given, self.engine.spill, progress)
        if isinstance(source, Joined):
            loaded = load_joined(source, folder / RAW, self._secret, progress, bad_records)
            refuse_absent(new.schema, new.unit, loaded.columns)
            return loaded
        return load_raw(folder, source, new.schema, new.unit, new.dialect, self._secret, bad_records, progress)

    def _sample(self, sample: Sample) -> Record:
        if self.samples_only:  # a whole class asks for it, and no other table can be loaded: look it up once
            if sample.name not in self._samples:
                self._samples[sample.name] = self._bring_sample(sample)
            return self._samples[sample.name]
        return self._bring_sample(sample)

    def _bring_sample(self, sample: Sample) -> Record:
        with self._sampling, self.loading():
            known = self._registry.get(sample.name)
            if known is not None:
                return known
            new = Arriving(sample.name, sample.schema, sample.unit, "replace", Dialect(), "allowance")
            with self._fresh_folder() as folder:
                given = sample.schema, sample.unit, new.dialect, self._secret
                loaded = load_raw(folder, sample.path, *given, marked=False)  # everybody may know a sample
                people = code_rows(folder, loaded, sample.schema, sample.unit, new.dialect, self._secret)
            record = new.record(folder.name, f"practice:{sample.name}", people, loaded, _now(), practice=True)
            with self._registry.transaction() as rows:
                other = self._registry.find(rows, sample.name)
                if other is None:
                    self._registry.add(rows, record)
            if other is not None:  # another process was faster
                shutil.rmtree(folder, ignore_errors=True)
            return other or record


def refuse_sample(unit: Unit, sample: object) -> None:
    """Only people with one row each can be a sample here: rows of one person are not drawn independently."""
    if not isinstance(sample, bool):
        raise AllowanceError("sample.yes_no")
    if sample and unit != Unit.rows():
        raise AllowanceError("sample.one_row")


def read_secret(path: Path) -> bytes:
    """The key of the fingerprints that identify content. Created once, and never shown outside its file."""
    if not path.exists():
        if any(path.with_name(name).exists() for name in ("registry.sqlite", "ledger.sqlite")):
            # Under a new key no content would be recognised, and each would get a new allowance.
            raise AllowanceError("workspace.secret_missing")
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with files.create(fresh) as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        files.put_first(fresh, path)  # where another process was faster, its key counts
    key = path.read_bytes()
    if len(key) != SECRET_BYTES:
        raise AllowanceError("workspace.secret")
    return key


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
