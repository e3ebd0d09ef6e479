"""The facade: a folder with a ledger, declared tables and one worker. Pages, notebooks and outside checks come in here.

    var/ledger.sqlite     every charge and answer, chained        var/tables/<random>/   raw and coded Parquet
    var/registry.sqlite   what was declared                       var/secret             the fingerprint key
    var/published/        tables that were published
    var/*.head            how far each of the two has come        var/open.lock          held by whoever has it open
    var/samples-only      in the folder of a workshop: no table but the bundled ones comes in
The folder is its user's alone (0700).
"""

from __future__ import annotations

import fcntl
import hashlib
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
from pathlib import Path
from typing import Any

from dpengine.accountant.budget import Budget
from dpengine.asking.answers import Answer, Job
from dpengine.asking.jobs import Jobs
from dpengine.asking.receipts import Finding, check, read_receipts
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number
from dpengine.core.space import refuse_full
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import ItemSet, Schema
from dpengine.declared.unit import Unit, read_relation
from dpengine.intake.encode import encode
from dpengine.intake.items_per_person import cut_sets
from dpengine.intake.load import Loaded, load
from dpengine.intake.rows_per_person import RULE, SPACES_ALONE, keep_rows
from dpengine.ledger.chain import Verdict
from dpengine.ledger.ledger import Act, BudgetRecord, Entry, Ledger
from dpengine.mechanisms import catalogue
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.engines.duck import DuckEngine, every_row
from dpengine.statistics.engines.raw_parquet import read_raw
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import Bands, RawNeed, Values
from dpengine.storage import arrivals, erase, redeclare
from dpengine.storage.arrivals import Arriving
from dpengine.storage.folder_lock import Hold
from dpengine.storage.registry import Record, Registry
from dpengine.storage.samples import SAMPLES, Sample
from dpengine.table import Table, closed_kind

LONGEST_NAME = 80
SECRET_BYTES = 32
OWNER = "owner"
_SCHEMAS_KEPT = 32
_STATISTICS_KEPT = 500
_PARQUET_END = b"PAR1"
_SAMPLES_ONLY = "samples-only"

_opened: dict[Path, Workspace] = {}
_opening = threading.Lock()


def open_workspace(folder: str | Path = "var", samples_only: bool = False) -> Workspace:
    """The workspace in this folder, created when absent. One per process and folder. With `samples_only` it is one that
    was made so, or is made now: it holds the bundled tables and refuses every other."""
    path = Path(folder).resolve()
    with _opening:
        if path not in _opened:
            if samples_only:
                _mark_samples_only(path)
            _opened[path] = Workspace(path)
        if samples_only and not _opened[path].samples_only:
            raise AllowanceError("workshop.folder")
        return _opened[path]


def _mark_samples_only(path: Path) -> None:
    """An empty folder becomes one for samples alone; a workspace that is there already stays what it is."""
    if not (path / "registry.sqlite").exists():
        try:
            path.mkdir(parents=True, exist_ok=True)
            (path / _SAMPLES_ONLY).touch(0o600)
        except OSError:
            raise AllowanceError("workspace.unwritable") from None


class Workspace:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            for part in (folder, folder / "tables", folder / "tmp", folder / "files", folder / "published"):
                part.mkdir(parents=True, exist_ok=True)
                part.chmod(0o700)
            self._hold = Hold(folder)
            self._secret = _secret(folder / "secret")
        except OSError:
            raise AllowanceError("workspace.unwritable") from None
        self.samples_only = (folder / _SAMPLES_ONLY).exists()
        self._registry = Registry(folder / "registry.sqlite")
        self.ledger = Ledger(folder / "ledger.sqlite")
        jobs = self.jobs = Jobs(folder, self.ledger)
        self.engine = DuckEngine(lambda: erase.spill_folder(folder, jobs.worker))
        self.coins = SystemCoins()
        self._sampling = threading.Lock()
        self._samples: dict[str, Record] = {}
        self._statistics: dict[tuple[str, str], Any] = {}
        self._schemas: OrderedDict[tuple[str, int], Schema] = OrderedDict()
        self._sweep()
        if self.samples_only and self.tables():
            raise AllowanceError("workshop.folder")

    # Tables

    def add_table(
        self,
        name: str,
        source: Any,
        *,
        schema: Schema,
        unit: Unit | None = None,
        relation: str = "replace",
        budget: Budget | str | Callable[[int], Budget],
        about_rows: int | None = None,
        dialect: Dialect | None = None,
        bad_records: str = "refuse",
        actor: str = OWNER,
        progress: Callable[[float], None] | None = None,
    ) -> Table:
        """Declare a table: a CSV or Parquet path or a pandas frame, with what is public about it. A budget may be made
        for the number of people, which nobody knows before."""
        if self.samples_only:
            raise AllowanceError("workshop.no_tables")
        clean = _name(name)
        if unit is None:
            raise AllowanceError("unit.missing")
        schema.check_signs()
        kind = read_relation(relation)
        if kind == "add_remove" and about_rows is None:
            raise AllowanceError("facts.rows_needed")
        if about_rows is not None and (type(about_rows) is not int or about_rows < 1):
            raise AllowanceError("facts.rows")
        if isinstance(budget, str):
            self.ledger.budget(budget)  # refuses an unknown one before any work
        if self._registry.get(clean) is not None or clean in SAMPLES:
            raise AllowanceError("table.exists", name=clean)
        with self.loading():
            arriving = Arriving(clean, schema, unit, kind, dialect or Dialect(), actor, about_rows)
            return self._arrive(arriving, source, budget, bad_records, progress)

    def _arrive(
        self,
        new: Arriving,
        source: Any,
        budget: Budget | str | Callable[[int], Budget],
        bad_records: str,
        progress: Callable[[float], None] | None,
    ) -> Table:
        """Join the budget this content already has, or the one named, or open its own; then write the table down. Only
        now are people counted, and told nowhere else; known content keeps its terms, so it tells one number ever."""
        folder = self._fresh_folder()
        try:
            rule = RULE
            loaded = self._load(folder, source, new, bad_records, rule, progress)
            with self._registry.transaction() as rows:
                known = arrivals.known(self._registry, rows, self.folder / "tables", folder, loaded, self._secret)
            if known:
                joined = arrivals.budget_of(known)
                arrivals.same_terms(self.ledger.budget(str(joined)), new.unit, new.relation)
                arrivals.same_people(known, new, len(loaded.columns))
                if known[0].record.rule != rule:
                    rule = known[0].record.rule
                    loaded = self._load(folder, source, new, bad_records, rule, progress)
            people = self._code(folder, loaded, new.schema, new.unit, new.dialect, 1, rule)
            about = max(people, 1) if new.relation == "replace" else int(new.about or 1)
            with self._registry.transaction() as rows:
                if self._registry.find(rows, new.name) is not None:
                    raise AllowanceError("table.exists", name=new.name)
                known = arrivals.known(self._registry, rows, self.folder / "tables", folder, loaded, self._secret)
                joined = arrivals.budget_of(known)
                budget_id = joined or (budget if isinstance(budget, str) else f"budget-{secrets.token_hex(6)}")
                if joined is None and not isinstance(budget, str):
                    opened = budget(about) if callable(budget) else budget
                    self.ledger.create_budget(
                        budget_id, opened.rule(), "private", new.actor, new.name, new.unit.as_json(), new.relation
                    )
                arrivals.same_terms(self.ledger.budget(budget_id), new.unit, new.relation)
                arrivals.same_people(known, new, len(loaded.columns))  # some may have come in meanwhile
                arrivals.same_number(known, new, about)
                closed = arrivals.sealed(self._registry, rows, known, self.ledger.acts(budget_id))
                record = new.record(folder.name, budget_id, about, loaded, rule, _now())
                arrivals.learnt(self._registry, rows, known, loaded)
                self._registry.add(rows, record)
                self._registry.mark(rows, new.name, arrivals.marks_of(loaded))
                if closed:
                    self._seal(rows, new.name, new.actor)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return Table(self, record, self.ledger.budget(budget_id), new.actor, joined=joined is not None)

    def table(self, name: str, visitor: str = "local") -> Table:
        """A declared table. A bundled sample is brought in on first use, with a practice budget per visitor."""
        record = self._sample(SAMPLES[name]) if name in SAMPLES else self._registry.get(name)
        if record is None:
            raise AllowanceError("table.unknown", name=str(name)[:LONGEST_NAME])
        if not record.practice:
            return Table(self, record, self.ledger.budget(record.budget), OWNER)
        actor = f"visitor-{hashlib.sha256(visitor.encode()).hexdigest()[:12]}"
        budget_id = f"{record.budget}:{actor}"
        sample = SAMPLES[record.name]
        try:
            budget = self.ledger.budget(budget_id)
        except AllowanceError:  # not opened yet; or damaged, and then the meter says so and no charge is taken
            rule = sample.budget.rule()
            budget = BudgetRecord(budget_id, record.name, "practice", rule, record.at, record.unit, record.relation)
        return Table(self, record, budget, actor)

    def tables(self) -> list[Record]:
        """The declared tables, not the samples."""
        return [record for record in self._registry.all() if not record.practice]

    def names(self) -> list[tuple[str, str]]:
        """Their names and budgets alone."""
        return self._registry.names()

    def open_budget(self, budget: BudgetRecord, actor: str) -> None:
        """A practice budget is written down when its first question is charged, not when a page is looked at."""
        if budget.kind == "practice":
            self.ledger.create_budget(
                budget.id, budget.rule, budget.kind, actor, budget.name, budget.unit, budget.relation
            )

    def coded(self, record: Record) -> Path:
        return self.folder / "tables" / record.folder / f"coded-{record.version}.parquet"

    def refuse_damaged(self, record: Record) -> None:
        """Before a charge: is the coded file there, to its last bytes? That says nothing about the rows in it."""
        try:
            with self.coded(record).open("rb") as file:
                file.seek(-len(_PARQUET_END), os.SEEK_END)
                whole = file.read() == _PARQUET_END
        except OSError:
            whole = False
        if not whole and not closed_kind(self.ledger.closed(), record.budget, record.name):  # else the ledger says why
            raise AllowanceError("table.damaged", table=record.name)

    def read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> Any:
        """A statistic of the coded rows, or of a raw column. Of samples alone it is kept: they are public, and a whole
        class asks the same."""
        key = record.name, repr(need)
        if self.samples_only and key in self._statistics:
            return self._statistics[key]
        found = self._read(need, record, schema)
        if self.samples_only and len(self._statistics) < _STATISTICS_KEPT:
            self._statistics[key] = found
        return found

    def _read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> Any:
        if not isinstance(need, Bands | Values):
            return self.engine.read(need, self.coded(record), schema)
        folder = self.folder / "tables" / record.folder
        if isinstance(need, Bands):
            need = replace(need, dialect=Dialect.from_json(record.dialect))
        rows = redeclare.raw_rows(folder, Unit.from_json(record.unit), self._secret, record.rule)
        return read_raw(need, rows, redeclare.names_of(folder).index(need.column))

    def revise(self, name: str, schema: Schema) -> Record:
        """Declare a table anew, on the budget it has: free, and no answer already given changes."""
        record = self._registry.get(name)
        if record is None or record.practice:
            raise AllowanceError("table.practice")
        schema.check_signs()
        if closed_kind(self.ledger.closed(), record.budget, name):
            raise AllowanceError("table.closed", table=name)
        folder = self.folder / "tables" / record.folder
        unit, dialect = Unit.from_json(record.unit), Dialect.from_json(record.dialect)

        refuse_full(self.folder)

        def code(header: Sequence[str], new: Record) -> None:
            loaded = Loaded(record.about, tuple(header))
            self._code(folder, loaded, schema, unit, dialect, new.version, record.rule)

        with self.loading():
            return redeclare.revise(self._registry, name, folder, schema, code)

    def schema_of(self, record: Record) -> Schema:
        """Kept, because a list of 100,000 values takes half a second to read and every page asks for it."""
        key = record.folder, record.version
        found = self._schemas.get(key) or Schema.from_json(record.schema)
        self._schemas[key] = found
        if len(self._schemas) > _SCHEMAS_KEPT:
            with suppress(KeyError):  # another thread was first
                self._schemas.popitem(last=False)
        return found

    def current(self, record: Record) -> bool:
        """Is this still how the table is declared?"""
        found = self._registry.get(record.name)
        return found is not None and found.version == record.version

    # What an owner does

    def seal(self, name: str, actor: str = OWNER) -> Act:
        """No more questions to this table, nor to its content under another name, for good. Its answers stay."""
        own = self._own(name)
        with self._registry.transaction() as rows:  # nobody brings the same content meanwhile
            self._seal(rows, name, actor)
            return self.ledger.close_table("seal", own.budget, name, actor)

    def _seal(self, rows: sqlite3.Connection, name: str, actor: str) -> None:
        """All that shares content with this table, and last itself; an earlier version may have given one of them
        another budget."""
        for other in reversed(self._registry.kin(rows, [name])):
            found = self._registry.find(rows, other)
            if found is not None:
                self.ledger.close_table("seal", found.budget, other, actor)

    def forget(self, name: str, actor: str = OWNER) -> Act:
        """Delete a table's rows from disk, for good. The ledger, its answers and the fingerprint stay."""
        record = self._own(name)
        act = self.ledger.close_table("forget", record.budget, name, actor)
        erase.erase(self.folder / "tables" / record.folder)
        self.engine.let_go()
        erase.sweep_spill(self.folder)
        return act

    def raise_cap(self, name: str, epsilon: Any, actor: str = OWNER) -> Act:
        """A larger cap ε for the budget this table spends; see accountant/filter.py for what is then promised."""
        return self.ledger.raise_cap(self._own(name).budget, name, read_number(epsilon, "ε"), actor)

    def closed(self) -> dict[str, str]:
        """The tables of which nothing more is asked: their names, and `seal`, `forget` or `close`."""
        found = self.ledger.closed()
        return {name: kind for name, budget in self.names() if (kind := closed_kind(found, budget, name))}

    def _own(self, name: str) -> Record:
        record = self._registry.get(name)
        if name in SAMPLES or (record is not None and record.practice):
            raise AllowanceError("act.practice")
        if record is None:
            raise AllowanceError("table.unknown", name=str(name)[:LONGEST_NAME])
        return record

    # Answers

    def answer_of(self, entry: Entry) -> Answer | None:
        """A stored answer, whichever table it is of, forgotten ones too; None where that table was never here."""
        record = self._registry.get(entry.charge.table)
        if record is None or entry.outcome is None or entry.outcome.kind != "answer":
            return None
        return Table(self, record, self.ledger.budget(entry.charge.budget), entry.charge.actor).answer_of(entry)

    def job(self, request_id: str) -> Job:
        """Where a question stands: in this process, in another one, or in the ledger since before a restart."""
        state = self.jobs.state(request_id)
        answer = None
        if state.state == "done":
            entry = self.ledger.find(request_id)
            answer = None if entry is None else self.answer_of(entry)
            if answer is None:
                return Job(request_id, "unknown")
        done, total = (1, 1) if state.state == "done" else self.jobs.progress(request_id)
        return Job(request_id, state.state, done=done, total=total, answer=answer, error=state.error)

    def published_file(self, request_id: str) -> Path:
        """Where the table that a request published lies."""
        folder = self.folder / "published"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / f"{hashlib.sha256(request_id.encode()).hexdigest()[:32]}.parquet"

    def verify_ledger(self) -> Verdict:
        """Is the hash chain whole, and where does it break?"""
        return self.ledger.verify()

    def check_receipts(self, content: bytes, name: str) -> list[Finding]:
        """Does this workspace's ledger hold what the receipts in a file say?"""
        return check(read_receipts(content, name), self.ledger.export_rows())

    def close(self) -> None:
        """Let the worker finish and close the files."""
        self.jobs.close()
        self.ledger.close()
        self._registry.close()
        self._hold.let_go()

    # How a file comes in

    def _sweep(self) -> None:
        """Remove what a load or a forgetting that was killed left behind, unless some process is loading right now."""
        with self.loading(exclusive=True) as alone:
            if alone:
                gone = {name for name, kind in self.closed().items() if kind == "forget"}
                known = [record.folder for record in self._registry.all() if record.name not in gone]
                erase.sweep(self.folder, known)
        with suppress(AllowanceError):  # a damaged ledger does not say what is an answer: nothing is removed
            erase.sweep_published(self.folder / "published", self._published)

    def _published(self) -> set[str]:
        """The files of published tables that are answers, or are being made."""
        kinds = [key for key in catalogue if key.startswith("publish_")]
        found = (one.charge.request for key in kinds for one in self.ledger.charges(limit=-1, key=key))
        kept = (request for request in found if self.jobs.state(request).state in ("running", "done"))
        return {self.published_file(request).name for request in kept}

    @contextmanager
    def loading(self, exclusive: bool = False) -> Iterator[bool]:
        """Held while a table comes in, by any number of loads; the kernel drops it on a kill."""
        with (self.folder / "loading.lock").open("a") as file:
            os.chmod(file.name, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB if exclusive else fcntl.LOCK_SH)
                held = True
            except BlockingIOError:
                held = False
            yield held

    def _fresh_folder(self) -> Path:
        refuse_full(self.folder)
        folder = self.folder / "tables" / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def _load(
        self,
        folder: Path,
        source: Any,
        new: Arriving,
        bad_records: str,
        rule: int,
        progress: Callable[[float], None] | None = None,
    ) -> Loaded:
        if isinstance(source, str) and not source:  # a Path made of it would be the folder one is in
            raise AllowanceError("load.absent")
        path = Path(source) if isinstance(source, (str, Path)) else source
        raw, keep = folder / "raw.parquet", rule == SPACES_ALONE
        loaded = load(path, new.dialect, raw, self._secret, progress, bad_records, keep_blank=keep)
        for name in (*new.schema.columns, *([new.unit.id_column] if new.unit.id_column else [])):
            if name not in loaded.columns:
                raise AllowanceError("column.absent", column=name, columns=list(loaded.columns))
        return loaded

    def _code(
        self, folder: Path, loaded: Loaded, schema: Schema, unit: Unit, dialect: Dialect, version: int, rule: int = RULE
    ) -> int:
        raw, coded = folder / "raw.parquet", folder / f"coded-{version}.parquet"
        if unit.id_column is None:
            encode(raw, schema, dialect, coded)
            cut_sets(coded, schema, self._secret, several=False)
            return loaded.rows
        kept = folder / "kept.parquet"
        people = keep_rows(raw, loaded.columns, unit, self._secret, kept, rule=rule)
        encode(kept, schema, dialect, coded, loaded.columns)
        if schema.of_kind(ItemSet):
            keep_rows(raw, loaded.columns, unit, self._secret, kept, every=True, rule=rule)
            encode(kept, schema, dialect, every_row(coded), loaded.columns)
            cut_sets(every_row(coded), schema, self._secret, several=True)
        kept.unlink()
        return people

    def _sample(self, sample: Sample) -> Record:
        if self.samples_only:  # a whole class asks for it: where nothing else can come in, it is looked up once
            if sample.name not in self._samples:
                self._samples[sample.name] = self._bring_sample(sample)
            return self._samples[sample.name]
        return self._bring_sample(sample)

    def _bring_sample(self, sample: Sample) -> Record:
        with self._sampling, self.loading():
            found = self._registry.get(sample.name)
            if found is not None:
                return found
            new = Arriving(sample.name, sample.schema, sample.unit, "replace", Dialect(), "allowance")
            folder = self._fresh_folder()
            try:
                loaded = self._load(folder, sample.path, new, "refuse", RULE)
                people = self._code(folder, loaded, sample.schema, sample.unit, new.dialect, 1)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            record = new.record(folder.name, f"practice:{sample.name}", people, loaded, RULE, _now(), practice=True)
            with self._registry.transaction() as rows:
                other = self._registry.find(rows, sample.name)
                if other is None:
                    self._registry.add(rows, record)
            if other is not None:  # another process was faster
                shutil.rmtree(folder, ignore_errors=True)
            return other or record


def _secret(path: Path) -> bytes:
    """The key of the fingerprints, made once and whole; it never leaves this file."""
    if not path.exists():
        if any(path.with_name(name).exists() for name in ("registry.sqlite", "ledger.sqlite")):
            # Under a new key no content would be known again, and each would get a new allowance.
            raise AllowanceError("workspace.secret_missing")
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was faster: its key counts
            os.link(fresh, path)
        fresh.unlink()
    key = path.read_bytes()
    if len(key) != SECRET_BYTES:
        raise AllowanceError("workspace.secret")
    return key


def _name(name: Any) -> str:
    clean = str(name).strip()
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise AllowanceError("table.name", most=LONGEST_NAME)
    return clean


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
