"""The facade: a folder with a ledger and declared tables. Pages, notebooks and outside checks start here.

    ledger.sqlite      every charge and answer, chained
    registry.sqlite    what was declared
    *.head             the last row of ledger and registry
    secret             the key of the fingerprints
    tables/<random>/   raw and coded Parquet, and the connection to a database
    published/         tables that were published
    files/             files too large to upload, put here by hand
    open.lock          held by whoever has the folder open
    samples-only       marks a workshop's folder, which holds only the bundled tables
The folder (`places.home`, in a checkout var/) is its user's alone (0700).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from dpengine.accountant.filter import Budget
from dpengine.asking.answers import Answer, Job
from dpengine.asking.jobs import Jobs
from dpengine.asking.receipts import Finding, check, read_receipts
from dpengine.core import files, places
from dpengine.core.errors import AllowanceError, UnknownBudget, UnknownTable, refusing
from dpengine.core.exact import read_number
from dpengine.core.files import refuse_full
from dpengine.core.remembered import Lately
from dpengine.core.types import JsonObject
from dpengine.declared import public_rules
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Schema
from dpengine.declared.source import Joined, Source
from dpengine.declared.summary import PersonRows, Summary, read_summaries, tables_of
from dpengine.declared.unit import Unit, read_relation
from dpengine.intake import in_spark
from dpengine.intake.bring_in import RAW, Declared, code_rows, load_raw, refuse_absent
from dpengine.intake.encode import KeptColumns
from dpengine.intake.join_files import load_joined
from dpengine.intake.load import Loaded
from dpengine.intake.marks import address_mark
from dpengine.intake.person_rows import summarise
from dpengine.intake.postgres import Described, describe
from dpengine.ledger.chain import Verdict
from dpengine.ledger.ledger import Act, BudgetRecord, Entry, Ledger, open_ledger, refuse_over_cap
from dpengine.ledger.owner_rows import closed_kind
from dpengine.ledger.people_rules import ADMINISTRATOR, OPERATOR, is_person, owns
from dpengine.ledger.rows import TakenOver, rows_of_a_person
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.noise.coins import SystemCoins
from dpengine.people.face import Face
from dpengine.statistics import kept
from dpengine.statistics.counts import KindCounts
from dpengine.statistics.engines import Coded
from dpengine.statistics.engines.choose import Engines
from dpengine.statistics.engines.duck import read_columns
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import Beside, Crowded, Different, RawNeed, RawStatistic
from dpengine.storage import arrivals, erase, matches, people_names, redeclare, sources
from dpengine.storage.arrivals import Arriving
from dpengine.storage.matches import Match, all_matches
from dpengine.storage.people_names import KnownPerson
from dpengine.storage.registry import ADDRESS, ROWS, Record, Registry
from dpengine.storage.samples import SAMPLES, Sample
from dpengine.storage.tokens import TokenBook
from dpengine.storage.workers import Hold
from dpengine.table import Table

OWNER = "owner"  # the actor where nobody signs in

LONGEST_NAME = 80
SECRET_BYTES = 32
SAMPLES_ONLY = "samples-only"  # this file marks the folder of a workshop, which holds only the bundled tables
LOADING, CODING = 0.8, 0.15  # shares of the work of bringing a table in; the rest counts columns
_SCHEMAS_KEPT, _STATISTICS_KEPT = 32, 500
_PARQUET_END = b"PAR1"

# A new budget, the id of an existing one, or a function of the number of people.
BudgetFor = Budget | str | Callable[[int], Budget]


def refuse_sample(unit: Unit, sample: object) -> None:
    """Refuse a random sample where people may have several rows: rows of one person are not drawn independently."""
    if not isinstance(sample, bool):
        raise AllowanceError("sample.yes_no")
    if sample and not unit.single:
        raise AllowanceError("sample.one_row")


def read_secret(path: Path) -> bytes:
    """The workspace's key, with which content is identified, rows are chosen and people get their ids. Created at the
    first call."""
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


_opened: dict[Path, Workspace] = {}
_opening = threading.Lock()


def open_workspace(folder: str | Path | None = None, samples_only: bool = False) -> Workspace:
    """The workspace in this folder, created if there is none; without a folder, that of the app. A process opens each
    folder's workspace once. With `samples_only` the workspace holds only the bundled tables."""
    path = places.home() if folder is None else Path(folder)
    if path not in _opened:  # its keys are resolved, and pages ask for their folder some thirty times a click
        path = path.resolve()
    with _opening:
        if path not in _opened:
            if samples_only and not (path / "registry.sqlite").exists():  # an existing workspace stays as it is
                with refusing("workspace.unwritable", OSError):
                    path.mkdir(parents=True, exist_ok=True)
                    (path / SAMPLES_ONLY).touch(0o600)
            _opened[path] = Workspace(path)
            _opened[path].ledger.check_soon()  # before the first question has to wait for it
        if samples_only and not _opened[path].samples_only:
            raise AllowanceError("workshop.folder")
        return _opened[path]


def finish_releases() -> None:
    """Finish the running questions of every open workspace and store their answers. A server calls this before it
    ends."""
    for opened in list(_opened.values()):
        opened.jobs.close()


class Workspace:
    """One folder's ledger, declared tables and jobs. `open_workspace` returns it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with refusing("workspace.unwritable", OSError):
            for part in (folder, folder / "tables", folder / "tmp", folder / "files", folder / "published"):
                part.mkdir(parents=True, exist_ok=True)
                part.chmod(0o700)
            self._hold = Hold(folder)
            self._secret = read_secret(folder / "secret")
        self.samples_only = (folder / SAMPLES_ONLY).exists()
        self.databases: tuple[str, ...] | None = None  # allowed hosts of tables; None: see sources.py
        self._registry = Registry(folder / "registry.sqlite")
        place = folder / "ledger.sqlite"
        self.ledger = Ledger(place) if self.samples_only else open_ledger(place, self._secret)
        self._sampling = threading.Lock()
        self._samples, self._schemas, self._statistics = (
            Lately(most) for most in (len(SAMPLES), _SCHEMAS_KEPT, _STATISTICS_KEPT)
        )
        jobs = self.jobs = Jobs(folder, self.ledger)
        self.engine = Engines(lambda: erase.spill_folder(folder, jobs.worker))
        self.coins = SystemCoins()
        self.token_book = TokenBook(self._registry, self._secret)
        self._sweep()
        self._give_back()
        self._finish_protecting()
        if self.samples_only and self.tables():
            raise AllowanceError("workshop.folder")

    # Tables

    def add_table(
        self,
        name: str,
        source: object,
        *,
        schema: Schema,
        unit: Unit | None = None,
        relation: str = "replace",
        budget: BudgetFor,
        about_rows: int | None = None,
        dialect: Dialect | None = None,
        bad_records: str = "refuse",
        actor: str = OWNER,
        progress: Callable[[float], None] | None = None,
        new_people: bool = False,
        protect: bool = False,
        sample: bool = False,
        whose: str = "",
        add_up: bool = False,
    ) -> Table:
        """Declare a table: a CSV or Parquet path, a pandas frame, a `Source` or two files that are `Joined`, with its
        public facts. `budget` may be a function of the number of people, which is not known before. A newer state of a
        source joins the source's budget, unless the owner says that these are `new_people`. If the content is here with
        less protection (one row each, and now rows belong to people), `protect` corrects that, at a price: see
        `Table.protect`. `sample`: the people, one row each, are a random sample of a larger group
        (`Table.declare_sample`). `whose`: the column that tells people apart, where each row is said to be one person;
        a check then counts that column's different values. `add_up`: if both joined files have an allowance, one of the
        two pays from now on; what both have spent counts, and the people file is not asked by itself again."""
        if self.samples_only:
            raise AllowanceError("workshop.no_tables")
        for table in tables_of(source) if isinstance(source, Source | Joined) else ():
            sources.refuse_elsewhere(table, self.databases, self.served)
        if isinstance(source, Joined):
            if unit is None or unit.id_column != source.on[0]:
                raise AllowanceError("joined.unit", column=source.on[0])
            dialect = source.events_dialect
        clean = _name(name)
        if unit is None:
            raise AllowanceError("unit.missing")
        refuse_sample(unit, sample)
        schema.check_signs()
        public_rules.check(schema)
        kind = read_relation(relation)
        if kind == "add_remove" and about_rows is None:
            raise AllowanceError("facts.rows_needed")
        if about_rows is not None and (type(about_rows) is not int or about_rows < 1):
            raise AllowanceError("facts.rows")
        self.ledger.refuse_bringing(actor)
        if isinstance(budget, str):
            self.ledger.budget(budget)  # refuses an unknown one before any work
            self._refuse_sharing(budget, actor)
        if self._registry.get(clean) is not None or clean in SAMPLES:
            raise AllowanceError("table.exists", name=clean)
        with self.loading():
            how = dialect or Dialect()
            arriving = Arriving(clean, schema, unit, kind, how, actor, about_rows, new_people, protect, sample, whose)
            if isinstance(source, Joined):
                arriving = replace(arriving, joins=source, add_up=add_up)
            record, joined = self._arrive(arriving, source, budget, bad_records, progress)
            if self.ledger.served:
                self.ledger.hand_over(record.budget, clean, actor, actor)
        return Table(self, record, self.ledger.budget(record.budget), actor, joined)

    def bring_newer(
        self,
        name: str,
        newer: str,
        *,
        new_people: bool = False,
        actor: str = OWNER,
        progress: Callable[[float], None] | None = None,
    ) -> Table:
        """Load the present rows of a table's source as another table `newer` with the same declaration. The new table
        shares the allowance, or gets one of the same size if the owner says that its people are new."""
        record = self._declared(name)
        self.ledger.refuse_not_owner(record.budget, name, actor)
        source = sources.kept_alone(self.folder / "tables" / record.folder)
        if source is None:
            raise AllowanceError("source.unknown", table=name)
        rule = self.ledger.budget(record.budget).rule
        return self.add_table(
            newer,
            source.newest(),
            schema=self.schema_of(record),
            unit=Unit.from_json(record.unit),
            relation=record.relation,
            budget=Budget(rule.epsilon, rule.delta),
            about_rows=record.about if record.relation == "add_remove" else None,
            dialect=Dialect.from_json(record.dialect),
            actor=actor,
            progress=progress,
            new_people=new_people,
            sample=record.sample,
            whose=record.whose,
        )

    def one_row_a_person(
        self,
        name: str,
        made: str,
        summaries: Mapping[str, Summary],
        *,
        actor: str = OWNER,
        progress: Callable[[float], None] | None = None,
    ) -> Table:
        """Make another table `made` with one row for each person of the table `name`; each column of `made` summarises
        all of the person's rows, and no row is dropped. The new table is about the same people and spends the same
        allowance."""
        record = self._declared(name)
        self.ledger.refuse_not_owner(record.budget, name, actor)
        self._refuse_closed(record)
        unit, schema = Unit.from_json(record.unit), self.schema_of(record)
        if unit.single:
            raise AllowanceError("summary.one_row", table=name)
        folder = self.folder / "tables" / record.folder
        declared = read_summaries(summaries, schema, str(unit.id_column))
        if self._registry.get(_name(made)) is not None or _name(made) in SAMPLES:
            raise AllowanceError("table.exists", name=_name(made))
        refuse_full(self.folder)
        with self.loading(), tempfile.TemporaryDirectory(prefix=".", dir=folder) as inside:
            dialect, people = Dialect.from_json(record.dialect), Path(inside) / "people.parquet"
            rows: Path | PersonRows = people
            if (there := sources.made_of(folder) if sources.kept_there(folder) is not None else None) is not None:
                if isinstance(there, PersonRows):
                    raise AllowanceError("summary.one_row", table=name)
                for table in tables_of(there):
                    sources.refuse_elsewhere(table, self.databases, self.served)
                rows = PersonRows(there, record.fingerprint, schema, unit, dialect, dict(summaries))
            else:
                names = redeclare.names_of(folder)
                summarise(folder / RAW, names, Declared(schema, unit, dialect, self._secret), summaries, people)
            numbers = Dialect(decimal=dialect.decimal)
            of_person, known = Unit.of_person(str(unit.id_column)), (ROWS + record.fingerprint,)
            terms = _name(made), declared, of_person, read_relation(record.relation), numbers
            arriving = Arriving(*terms, actor, record.about, also=known)
            new, joined = self._arrive(arriving, rows, record.budget, "refuse", progress)
            if self.ledger.served:
                self.ledger.hand_over(new.budget, new.name, actor, actor)
        return Table(self, new, self.ledger.budget(new.budget), actor, joined)

    def _refuse_sharing(self, budget: str, actor: str) -> None:
        """Where people sign in, refuse to share the allowance of a table that the actor does not own."""
        with self.ledger.people() as book:
            theirs = (owns(book, actor, name) for name, paid in self.names() if paid == budget)
            if book.served() and not any(theirs):
                raise UnknownBudget()

    def table(self, name: str, visitor: str = "local") -> Table:
        """A declared table. A bundled sample is loaded when first used, with a practice budget for each visitor."""
        record = self.record(name)
        if not record.practice:
            return Table(self, record, self.ledger.budget(record.budget), OWNER)
        actor = f"visitor-{hashlib.sha256(visitor.encode()).hexdigest()[:12]}"
        return Table(self, record, self.practice_budget(record, actor), actor)

    def record(self, name: str) -> Record:
        """The stored record of a declared table or a bundled sample."""
        record = self._sample(SAMPLES[name]) if name in SAMPLES else self._registry.get(name)
        if record is None:
            raise UnknownTable(name)
        return record

    def practice_budget(self, record: Record, actor: str) -> BudgetRecord:
        budget_id = f"{record.budget}:{actor}"
        try:
            return self.ledger.budget(budget_id)
        except AllowanceError:  # not opened yet; or damaged, and then the meter says so and nothing can be charged
            rule = SAMPLES[record.name].budget.rule()
            return BudgetRecord(budget_id, record.name, "practice", rule, record.at, record.unit, record.relation)

    # People

    def as_person(self, person: str) -> Face:
        """The workspace as this person may use it. Pages and programs use only this once people sign in."""
        return Face(self, person)

    def person(self, issuer: str, subject: str, name: str = "", email: str = "") -> str:
        """The id of a person who signed in. Their name and address are stored in the registry, not in the ledger."""
        person = people_names.person_id(self._secret, issuer, subject)
        people_names.remember(self._registry, person, name, email)
        return person

    def people(self) -> list[KnownPerson]:
        """Everybody who ever signed in or was named."""
        return people_names.everybody(self._registry)

    def forget_person(self, person: str) -> None:
        """Delete a person's name, address and tokens. What the person did stays, under an id that reveals nothing."""
        people_names.forget(self._registry, person)
        self.token_book.forget(person)
        self._registry.forget_drafts("person", person)

    def matches(self) -> list[Match]:
        """The tables that somebody added although another owner's table has the same content."""
        return all_matches(self._registry)

    @property
    def served(self) -> bool:
        """Do people sign in? If so, everything needs a right."""
        return self.ledger.served

    def name_administrator(self, person: str) -> None:
        """Name an administrator from the machine itself. From the first one on everything needs a right, for good."""
        self.ledger.name_role(person, ADMINISTRATOR, OPERATOR)

    # What a release uses

    def open_budget(self, budget: BudgetRecord, actor: str) -> None:
        """Create a practice budget in the ledger. Called when the budget's first question is charged, not when a page
        opens."""
        if budget.kind == "practice":
            terms = budget.name, budget.unit, budget.relation
            self.ledger.create_budget(budget.id, budget.rule, budget.kind, actor, *terms)

    def refuse_need(self, need: AnyNeed | RawNeed, record: Record) -> None:
        """Refuse, before a charge, a statistic that cannot be computed where the table's rows are. From public
        facts."""
        parts: tuple[AnyNeed | RawNeed, ...] = (need.coded, *need.raw) if isinstance(need, Beside) else (need,)
        for part in parts:
            self.engine.of(self.coded(record)).refuse(part)

    def read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> Any:
        """A need's statistic, of coded rows or of a raw column. Cached only in a workshop's folder, where tables are
        public."""
        if not self.samples_only:
            return self._read(need, record, schema)
        return self._statistics((record.name, repr(need)), lambda: self._read(need, record, schema))

    def _read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> object:
        if isinstance(need, Beside):
            empty = isinstance(need.coded, KindCounts) and not need.coded.columns
            coded = () if empty else self.read(need.coded, record, schema)
            return need.joined(coded, (self.read(part, record, schema)[0] for part in need.raw))
        if isinstance(need, RawNeed):
            return self.read_raw(need, record)
        coded, place = self.coded(record), self.counts_place(record)
        engine = self.engine.of(coded)
        if place is None:
            return engine.read(need, coded, schema)
        return kept.read_kept(need, schema, place, partial(engine.read, coded=coded, schema=schema))

    # What an owner does

    def seal(self, name: str, actor: str = OWNER) -> Act:
        """Accept no more questions to this table, nor to the same content under another name, for good. Answers already
        given stay."""
        own = self._declared(name)
        with self._registry.transaction() as rows:  # nobody adds the same content meanwhile
            self._seal(rows, name, actor)
            return self.ledger.close_table("seal", own.budget, name, actor)

    def forget(self, name: str, actor: str = OWNER) -> Act:
        """Delete a table's rows from disk, for good. The ledger, the answers in it and the fingerprint stay."""
        record = self._declared(name)
        act = self.ledger.close_table("forget", record.budget, name, actor)
        self._registry.forget_drafts("name", name)
        sources.drop_there(self.folder / "tables" / record.folder)
        erase.erase(self.folder / "tables" / record.folder)
        self.engine.let_go()
        erase.sweep_spill(self.folder)
        return act

    def raise_cap(self, name: str, epsilon: object, actor: str = OWNER) -> Act:
        """Raise the cap ε of this table's budget; accountant/filter.py states the guarantee."""
        return self.ledger.raise_cap(self._declared(name).budget, name, read_number(epsilon, "ε"), actor)

    # Declared tables: their declarations, their files, and how content is loaded. Known content joins its existing
    # budget. The ledger knows which tables are closed; the registry stores the declarations.

    def tables(self) -> list[Record]:
        """The declared tables, without the samples."""
        return [record for record in self._registry.all() if not record.practice]

    def names(self) -> list[tuple[str, str]]:
        """The declared tables' names with their budgets."""
        return self._registry.names()

    def here(self, name: str) -> bool:
        """Are the table's rows loaded? The rows of a bundled sample are loaded when the sample is first used."""
        return self._registry.get(name) is not None

    def current(self, record: Record) -> bool:
        """Does this record state the table's present declaration, and not one that was replaced?"""
        declared = self._registry.get(record.name)
        return declared is not None and declared.version == record.version

    def closed(self) -> dict[str, str]:
        """Maps each table that accepts no more questions to the reason: `seal`, `forget`, `close` or `joined`."""
        closed = self.ledger.closed()
        return {name: kind for name, budget in self.names() if (kind := closed_kind(closed, budget, name))}

    def _declared(self, name: str) -> Record:
        record = self._registry.get(name)
        if name in SAMPLES or (record is not None and record.practice):
            raise AllowanceError("act.practice")
        if record is None:
            raise UnknownTable(name)
        return record

    def _to_correct(self, name: str, actor: str) -> Record:
        """The record of a table that the actor wants to correct. Refused for a sample, and for an actor who is not the
        table's owner."""
        record = self.record(name)
        if record.practice:
            raise AllowanceError("table.practice")
        self.ledger.refuse_not_owner(record.budget, name, actor)
        return record

    def _refuse_closed(self, record: Record) -> None:
        if closed_kind(self.ledger.closed(), record.budget, record.name):
            raise AllowanceError("table.closed", table=record.name)

    def schema_of(self, record: Record) -> Schema:
        """The declared columns of a table. Cached: a list of 100,000 values takes half a second to read, and every page
        needs the columns."""
        return self._schemas((record.folder, record.version), lambda: Schema.from_json(record.schema))

    def coded(self, record: Record) -> Coded:
        """The address of the coded rows: a file here, unless the rows stayed in their database or lake."""
        folder = self.folder / "tables" / record.folder
        most = record.about * Unit.from_json(record.unit).at_most if record.relation == "replace" else None
        return sources.coded_there(folder, record.version, most) or folder / f"coded-{record.version}.parquet"

    def counts_place(self, record: Record) -> Path | None:
        """The beginning of the paths of a large table's kept counts; None for a table that, by its declared number of
        people, has few rows."""
        most = record.about * Unit.from_json(record.unit).at_most
        return self.folder / "tables" / record.folder / f"coded-{record.version}" if most >= kept.LEAST_ROWS else None

    def _keep_counts(self, record: Record, schema: Schema, counted: KeptColumns) -> None:
        """Store a large table's kept counts, if the table's rows are in this folder. Of other tables a column is
        counted when it is first asked about."""
        coded, place = self.coded(record), self.counts_place(record)
        if place is not None and isinstance(coded, Path):
            scan = partial(self.engine.duck.read, coded=coded, schema=schema)
            kept.keep_all(place, schema, scan, counted)

    def differing_counts(self) -> list[str]:
        """The names of the tables whose kept counts differ from a scan of their rows, for `verify --kept`."""
        closed, wrong = self.closed(), []
        for record in self.tables():
            place = self.counts_place(record)
            if place is not None and record.name not in closed:
                coded, schema = self.coded(record), self.schema_of(record)
                if kept.differing(place, schema, partial(self.engine.of(coded).read, coded=coded, schema=schema)):
                    wrong.append(record.name)
        return wrong

    def refuse_damaged(self, record: Record) -> None:
        """Refuse, before a charge, if the table's coded file is not complete. The refusal reveals nothing about the
        rows."""
        coded = self.coded(record)
        if not isinstance(coded, Path):
            self.engine.of(coded).refuse_away(coded)
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
        """A statistic of a raw column: over the rows that count, or over all rows for a statistic about ids."""
        folder = self.folder / "tables" / record.folder
        unit = Unit.rows() if isinstance(need, Crowded | Different) else Unit.from_json(record.unit)
        rows = redeclare.raw_rows(folder, unit, self._secret)
        place = redeclare.names_of(folder).index
        return read_columns(need.under(Dialect.from_json(record.dialect)), rows, place)

    def describe_source(self, source: Source) -> Described:
        """The columns of a database table, as the database declares them. No row is read."""
        if self.samples_only:
            raise AllowanceError("workshop.no_tables")
        sources.refuse_elsewhere(source, self.databases, self.ledger.served)
        described = in_spark.describe_lake(source, self.engine.spill) if source.spark else describe(source)
        marks = [ADDRESS + address_mark(place, self._secret) for place in described.places]
        with self._registry.transaction(write=False) as rows:
            return replace(described, earlier=tuple(record.name for record in self._registry.of_content(rows, marks)))

    @property
    def reads_databases(self) -> bool:
        """Can tables come from databases? True unless this is a workshop's folder, or people sign in and the operator
        allowed no host."""
        return not self.samples_only and sources.may_read(self.databases, self.ledger.served, lakes=False)

    @property
    def reads_lakes(self) -> bool:
        """Can tables come from lakes? As `reads_databases`, for the operator's lakes; and Spark must be installed
        here."""
        return not self.samples_only and sources.may_read(self.databases, self.ledger.served, lakes=True)

    def has_source(self, name: str) -> bool:
        """Can newer rows of this table be loaded, because the connection to their source is stored?"""
        record = self._registry.get(name)
        return record is not None and sources.kept_alone(self.folder / "tables" / record.folder) is not None

    def revise(self, name: str, schema: Schema, actor: str = OWNER) -> Record:
        """Declare a table anew on the same budget. Free; answers already given do not change."""
        record = self._to_correct(name, actor)
        schema.check_signs()
        schema = public_rules.carry_over(self.schema_of(record), schema)
        public_rules.check(schema)
        self._refuse_closed(record)
        folder = self.folder / "tables" / record.folder
        refuse_full(self.folder)
        header = self._header(record)
        with self.loading():
            return redeclare.revise(self._registry, name, folder, schema, header, lambda new: self._code(new, schema))

    def _header(self, record: Record) -> Sequence[str]:
        folder = self.folder / "tables" / record.folder
        return redeclare.names_of(folder) if sources.kept_there(folder) is None else record.header

    def _code(self, new: Record, schema: Schema, other_people: bool = False) -> int:
        """Code a table under the version and unit of the record `new`, and this schema; returns the number of
        people."""
        folder = self.folder / "tables" / new.folder
        declared = Declared(schema, Unit.from_json(new.unit), Dialect.from_json(new.dialect), self._secret)
        source = sources.kept_there(folder)
        if source is not None:
            sources.refuse_elsewhere(source, self.databases, self.ledger.served)
            return sources.code_anew(folder, source, new, declared, self.engine.spill, other_people)
        loaded = Loaded(new.about, redeclare.names_of(folder))
        people, counted = code_rows(folder, loaded, declared, new.version)
        self._keep_counts(new, schema, counted)
        return people

    def refuse_unit(self, record: Record, unit: Unit) -> None:
        """Refuse a unit unless it protects the table more than now. Refuse also if another table on the budget, which
        would be protected too, lacks the unit's id column. From public facts."""
        if record.practice:
            raise AllowanceError("act.practice")
        self._refuse_closed(record)
        rows_of_a_person(record.unit, unit)
        for other in self._protected_with(record.budget, unit):
            if unit.id_column not in other.header:
                raise AllowanceError("protect.absent", table=other.name, column=unit.id_column)

    def protect(self, name: str, unit: Unit, actor: str = OWNER, people: int | None = None) -> Record:
        """Declare more protection: rows belong to people, identified by this column, or more rows of a person count.
        The rows are coded anew. One row of the ledger counts every earlier charge for a person, for all tables on the
        budget. `people`: about how many there are, if that is secret."""
        record = self._declared(name)
        self.ledger.refuse_protecting(record.budget, name, actor)
        self.refuse_unit(record, unit)
        secret = record.relation == "add_remove" and record.unit == Unit.rows().as_json()
        if secret and (type(people) is not int or people < 1):
            raise AllowanceError("protect.people_needed" if people is None else "facts.rows")
        budget = self.ledger.budget(record.budget)
        if budget.unit != unit.as_json():  # else a process was killed after it wrote its row
            _, after = self.ledger.protection_of(record.budget, unit)  # refuses before any work
            refuse_over_cap(budget.rule, after.totals)
        refuse_full(self.folder)
        self._protect(record, unit, actor, people)
        return self._declared(name)

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
        """The open tables on a budget that this unit protects more. A table with another id column keeps its own unit
        and is not among them."""
        closed, tables = self.ledger.closed(), []
        for table in self.tables():
            was = Unit.from_json(table.unit)
            less = was.id_column is None or (was.id_column == unit.id_column and was.at_most < unit.at_most)
            if table.budget == budget and less and not closed_kind(closed, budget, table.name):
                tables.append(table)
        return tables

    def _finish_protecting(self) -> None:
        """Code the tables of a process that was killed after it wrote the `protect` row and before it updated the
        registry."""
        with suppress(AllowanceError):  # a damaged ledger, or rows that cannot be read: a question reports it
            for record in self.tables():
                if self.ledger.protected_since(record.budget) is None:
                    continue
                acts = [act for act in self.ledger.acts(record.budget) if act.kind == "protect" and act.taken is None]
                unit = Unit.from_json(self.ledger.budget(record.budget).unit)
                if acts and record in self._protected_with(record.budget, unit):
                    act = acts[0]
                    self._protect(record, unit, act.actor, None)

    def correct_people(self, name: str, people: int, actor: str = OWNER) -> Record:
        """Change the declared number of people where that number was estimated: only promises are computed from it."""
        record = self._to_correct(name, actor)
        if record.relation != "add_remove":
            raise AllowanceError("facts.people_public")
        if type(people) is not int or people < 1:
            raise AllowanceError("facts.rows")
        self._refuse_closed(record)
        return self._registry.correct(replace(record, about=people), "about")

    def declare_sample(self, name: str, sample: bool, actor: str = OWNER) -> Record:
        """Declare whether people, one row each, are a random sample of a larger group. Earlier answers stay."""
        record = self._to_correct(name, actor)
        refuse_sample(Unit.from_json(record.unit), sample)
        self._refuse_closed(record)
        return self._registry.correct(replace(record, sample=sample), "sample")

    def _arrive(
        self,
        new: Arriving,
        source: object,
        budget: BudgetFor,
        bad_records: str,
        progress: Callable[[float], None] | None,
    ) -> tuple[Record, bool]:
        """Register a loaded table: on the budget that its content already has, on the named one, or on a new one.
        People are counted only now. Their number is reported nowhere else, and known content keeps its terms, so only
        one number is ever revealed. All this is checked before counting and again inside the transaction. Returns the
        record, and whether the table joined a budget as far as the person may know: False if only other owners have the
        content."""
        tell = progress or (lambda share: None)
        with self._fresh_folder() as folder:
            loaded = self._load(folder, source, new, bad_records, lambda share: tell(LOADING * share))
            if isinstance(source, Source):
                sources.keep(folder, source.described(loaded.seen), {1: loaded.made})
            elif isinstance(source, Joined | PersonRows) and sources.stays(source):
                sources.keep(folder, source, {1: loaded.made})
            with self._registry.transaction() as rows:
                known = arrivals.known(self._registry, rows, loaded, self.ledger.taken_by())
            named = budget if isinstance(budget, str) else ""
            others: list[str] = []  # tables of other owners, where people sign in
            if known and not arrivals.apart(known, new):
                others += self._of_others(known, new.actor)
                with matches.discreet(self._registry, new.name, new.actor, lambda: others):
                    joined, taken = arrivals.adding_up(known, new, self.ledger, named)
                    if joined is not None:
                        if arrivals.protects(self.ledger.budget(joined), new):
                            name = arrivals.corrected([table for table in known if table.budget == joined], new)
                            self.protect(name, new.unit, new.actor, new.about)
                        parts = arrivals.only_parts(known)
                        arrivals.same_terms(self.ledger.budget(joined), new.unit, new.relation, parts)
                    arrivals.same_people(known, new, len(loaded.columns))
                    self._refuse_added_up(known, new, joined or named, taken, budget, others)
            people, counted = loaded.people, KeptColumns()
            if people is None:
                how = Declared(new.schema, new.unit, new.dialect, self._secret)
                coding = lambda share: tell(LOADING + CODING * share)  # noqa: E731
                people, counted = code_rows(folder, loaded, how, report=coding)
            about = max(people, 1) if new.relation == "replace" else int(new.about or 1)
            self._keep_counts(new.record(folder.name, "", about, loaded, _now()), new.schema, counted)
            tell(1.0)
            with (
                matches.discreet(self._registry, new.name, new.actor, lambda: others),
                self._registry.transaction() as rows,
            ):
                if self._registry.find(rows, new.name) is not None:
                    others.clear()
                    raise AllowanceError("table.exists", name=new.name)
                known = arrivals.known(self._registry, rows, loaded, self.ledger.taken_by())
                others[:] = self._of_others(known, new.actor)
                if arrivals.apart(known, new):
                    for table in known:  # before the new table exists, so that none stands apart without its row
                        self.ledger.new_people(table.budget, table.record.name, new.name, new.actor)
                    known = []
                joined, taken = arrivals.adding_up(known, new, self.ledger, named)
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
                shared = arrivals.only_parts(known) if joined is not None else isinstance(budget, str)
                arrivals.same_terms(self.ledger.budget(budget_id), new.unit, new.relation, shared)
                arrivals.same_people(known, new, len(loaded.columns))  # other tables may have been loaded meanwhile
                arrivals.same_number(known, new, about)
                self._refuse_added_up(known, new, joined or named, taken, budget, others)
                paid = next((table.record.name for table in known if table.budget == budget_id), new.name)
                for part in taken:
                    self.ledger.take_over(budget_id, paid, part, new.actor)
                budgets = dict.fromkeys([budget_id, *(table.record.budget for table in known)])
                acts = [act for own in budgets for act in self.ledger.acts(own) if self._theirs(act.table, new.actor)]
                closed = arrivals.sealed(self._registry, rows, known, acts)
                record = new.record(folder.name, budget_id, about, loaded, _now())
                self._registry.add(rows, record)
                self._registry.mark(rows, new.name, [*arrivals.marks_of(loaded), *new.also])
                if closed:
                    self._seal(rows, new.name, new.actor)
        if others:
            matches.note(self._registry, new.name, new.actor, others)
        return record, (joined is not None or bool(taken)) and len(others) < len(known)

    def _refuse_added_up(
        self,
        known: Sequence[arrivals.Known],
        new: Arriving,
        pays: str,
        taken: Sequence[TakenOver],
        budget: BudgetFor,
        others: Sequence[str],
    ) -> None:
        """Refuse to make several allowances one, unless the owner says so and no other owner has the content. Where
        people sign in, one of these allowances must pay, not a new one."""
        if not taken:
            return
        if others or (self.ledger.served and not pays):
            raise AllowanceError("budget.several", tables=[table.record.name for table in known])
        if pays:
            rule = self.ledger.budget(pays).rule
        else:
            opened = budget(int(new.about or 1)) if callable(budget) else budget
            assert isinstance(opened, Budget)
            rule = opened.rule()
        arrivals.refuse_added_up(known, new, taken, rule, self.ledger.sum_of(pays or None, taken, rule).totals)

    def _theirs(self, name: str, actor: str) -> bool:
        """Does the table belong to this person? True for every table where nobody signs in."""
        with self.ledger.people() as book:
            return not book.served() or owns(book, actor, name)

    def _of_others(self, known: Sequence[arrivals.Known], actor: str) -> list[str]:
        return [table.record.name for table in known if not self._theirs(table.record.name, actor)]

    def _seal(self, rows: sqlite3.Connection, name: str, actor: str) -> None:
        """Seal all tables that share content with this one, then this one."""
        for other in reversed(self._registry.kin(rows, [name])):
            table = self._registry.find(rows, other)
            if table is not None and (other == name or self._theirs(other, actor)):
                self.ledger.close_table("seal", table.budget, other, actor)

    def loading(self, exclusive: bool = False) -> AbstractContextManager[bool]:
        """A context with a lock that any number of loads can hold at once; the kernel releases the lock on a kill. With
        `exclusive` it yields False at once if a load holds the lock."""
        return files.locked(self.folder / "loading.lock", shared=not exclusive, wait=not exclusive)

    @contextmanager
    def _fresh_folder(self) -> Iterator[Path]:
        """A context with a folder for a new table's files; the folder is deleted if loading fails."""
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
        progress: Callable[[float], None],
    ) -> Loaded:
        declared = Declared(new.schema, new.unit, new.dialect, self._secret)
        if isinstance(source, Source | Joined | PersonRows) and sources.stays(source):
            return sources.code_there(folder, source, 1, declared, self.engine.spill, progress)
        if isinstance(source, Joined):
            loaded = load_joined(source, folder / RAW, self._secret, progress, bad_records)
            refuse_absent(declared, loaded.columns)
            return loaded
        return load_raw(folder, source, declared, bad_records, progress)

    def _sample(self, sample: Sample) -> Record:
        if not self.samples_only:
            return self._bring_sample(sample)
        # A whole class asks for it, and no other table can be loaded: it is looked up once.
        return self._samples(sample.name, lambda: self._bring_sample(sample))

    def _bring_sample(self, sample: Sample) -> Record:
        with self._sampling, self.loading():
            known = self._registry.get(sample.name)
            if known is not None:
                return known
            new = Arriving(sample.name, sample.schema, sample.unit, "replace", Dialect(), "allowance")
            with self._fresh_folder() as folder:
                declared = Declared(sample.schema, sample.unit, new.dialect, self._secret)
                loaded = load_raw(folder, sample.path, declared, marked=False)  # everybody may know a sample
                people, _ = code_rows(folder, loaded, declared)
            record = new.record(folder.name, f"practice:{sample.name}", people, loaded, _now(), practice=True)
            with self._registry.transaction() as rows:
                other = self._registry.find(rows, sample.name)
                if other is None:
                    self._registry.add(rows, record)
            if other is not None:  # another process was faster
                shutil.rmtree(folder, ignore_errors=True)
            return other or record

    # Answers

    def keep_draft(self, name: str, actor: str, draft: JsonObject | None) -> None:
        self._registry.keep_draft(name, actor, draft)

    def draft_of(self, name: str, actor: str) -> JsonObject | None:
        return self._registry.draft_of(name, actor)

    def answer_of(self, entry: Entry) -> Answer | None:
        """A stored answer of any table, also of a forgotten one. None if there is no answer, or if the table was never
        in this workspace."""
        record = self._registry.get(entry.charge.table)
        if record is None or entry.answer is None:
            return None
        return Table(self, record, self.ledger.budget(entry.charge.budget), entry.charge.actor).answer_of(entry)

    def job(self, request_id: str, actor: str = "") -> Job:
        """The state of a question: from this process, from another one, or from the ledger. With `actor`, only of a
        question that this person asked."""
        jobs = self.jobs.of(actor) if actor else self.jobs
        state, answer = jobs.state(request_id), None
        if state.state == "done":
            entry = self.ledger.find(request_id)
            answer = None if entry is None else self.answer_of(entry)
            if answer is None:
                return Job(request_id, "unknown")
        done, total = (1, 1) if state.state == "done" else jobs.progress(request_id)
        ahead = jobs.ahead(request_id) if state.state == "queued" else 0
        return Job(request_id, state.state, done=done, total=total, answer=answer, error=state.error, ahead=ahead)

    def published_file(self, request_id: str) -> Path:
        folder = self.folder / "published"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / f"{hashlib.sha256(request_id.encode()).hexdigest()[:32]}.parquet"

    def verify_ledger(self) -> Verdict:
        """Check the whole ledger: is it intact, and if not, which row is at fault?"""
        return self.ledger.verify()

    def check_receipts(self, content: bytes, name: str) -> list[Finding]:
        """For each receipt in a file: does this workspace's ledger hold it?"""
        return check(read_receipts(content, name), self.ledger.export_rows())

    # Closing, and what a killed process left behind

    def close(self) -> None:
        with _opening:
            if _opened.get(self.folder) is self:
                del _opened[self.folder]
        self.jobs.close()
        self.engine.let_go()
        self.ledger.close()
        self._registry.close()
        self._hold.let_go()

    def _sweep(self) -> None:
        """Remove what a killed load or deletion left behind, unless a process is loading right now."""
        with self.loading(exclusive=True) as alone:
            if alone:
                gone = {name for name, kind in self.closed().items() if kind == "forget"}
                places = {record.folder: record.name in gone for record in self._registry.all()}
                kept = [folder for folder, forgotten in places.items() if not (forgotten and self._drop_there(folder))]
                erase.sweep(self.folder, kept)
        with suppress(AllowanceError):  # a damaged ledger does not show which files are answers: nothing is removed
            erase.sweep_published(self.folder / "published", self._published)

    def _drop_there(self, folder: str) -> bool:
        """Drop a forgotten table's codes from its database. False if the database does not answer: then its address
        must stay stored."""
        with suppress(AllowanceError):
            sources.drop_there(self.folder / "tables" / folder)
            return True
        return False

    def _give_back(self) -> None:
        """Make each person who added a table its owner, if a process was killed before it did that."""
        lost: list[Record] = []
        with suppress(AllowanceError), self.ledger.people() as book:  # a damaged ledger does not name their owners
            lost = [table for table in self.tables() if is_person(table.owner) and not book.owned(table.name)]
        for record in lost:
            with suppress(AllowanceError):  # the person may add no more tables: an administrator hands it over
                self.ledger.hand_over(record.budget, record.name, record.owner, record.owner)

    def _published(self) -> set[str]:
        """The names of the published files that are answers, or are being written now."""
        kinds = [key for key in catalogue if key.startswith("publish_") or key == SyntheticTable.card.key]
        requests = (entry.charge.request for key in kinds for entry in self.ledger.charges(limit=-1, key=key))
        published = (request for request in requests if self.jobs.state(request).state in ("running", "done"))
        return {self.published_file(request).name for request in published}


def _name(name: object) -> str:
    clean = str(name).strip()
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise AllowanceError("table.name", most=LONGEST_NAME)
    return clean
