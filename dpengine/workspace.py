"""The facade: a folder with a ledger, declared tables and one worker. Pages, notebooks and outside checks start here.

    var/ledger.sqlite     every charge and answer, chained        var/tables/<random>/   raw and coded Parquet,
                                                              and the connection to a database
    var/registry.sqlite   what was declared                       var/secret             the fingerprint key
    var/published/        tables that were published
    var/*.head            the last row of each of the two         var/open.lock          held by whoever has it open
    var/samples-only      marks a workshop's folder, which holds only the bundled tables
The folder is its user's alone (0700).
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpengine.accountant.filter import Budget
from dpengine.asking.answers import Answer, Job
from dpengine.asking.jobs import Jobs
from dpengine.asking.receipts import Finding, check, read_receipts
from dpengine.core import places
from dpengine.core.errors import AllowanceError, UnknownBudget, UnknownTable
from dpengine.core.exact import read_number
from dpengine.core.files import refuse_full
from dpengine.core.types import JsonObject
from dpengine.declared import public_rules
from dpengine.declared.dialect import Dialect
from dpengine.declared.joined import Joined
from dpengine.declared.schema import Schema
from dpengine.declared.source import Source
from dpengine.declared.summary import Summary, read_summaries
from dpengine.declared.unit import Unit, read_relation
from dpengine.intake.bring_in import RAW
from dpengine.intake.person_rows import summarise
from dpengine.ledger.chain import Verdict
from dpengine.ledger.ledger import Act, BudgetRecord, Entry
from dpengine.ledger.owner_rows import closed_kind
from dpengine.ledger.people_rules import ADMINISTRATOR, OPERATOR, is_person, owns
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.noise.coins import SystemCoins
from dpengine.people.face import Face
from dpengine.statistics.counts import KindCounts
from dpengine.statistics.engines.choose import Engines
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import Beside, RawNeed
from dpengine.storage import drafts, erase, people_names, redeclare, sources
from dpengine.storage.arrivals import Arriving
from dpengine.storage.declared_tables import LONGEST_NAME, OWNER, SAMPLES_ONLY, BudgetFor, DeclaredTables, refuse_sample
from dpengine.storage.matches import Match, all_matches
from dpengine.storage.people_names import KnownPerson
from dpengine.storage.registry import ROWS, Record
from dpengine.storage.samples import SAMPLES
from dpengine.storage.tokens import TokenBook
from dpengine.table import Table

_STATISTICS_KEPT = 500

_opened: dict[Path, Workspace] = {}
_opening = threading.Lock()


def open_workspace(folder: str | Path | None = None, samples_only: bool = False) -> Workspace:
    """The workspace in this folder, created if absent; the app's own without one. One per process and folder. With
    `samples_only` it holds the bundled tables alone and refuses every other."""
    path = (places.home() if folder is None else Path(folder)).resolve()
    with _opening:
        if path not in _opened:
            if samples_only:
                _mark_samples_only(path)
            _opened[path] = Workspace(path)
            _opened[path].ledger.check_soon()  # before the first question has to wait for it
        if samples_only and not _opened[path].samples_only:
            raise AllowanceError("workshop.folder")
        return _opened[path]


def finish_releases() -> None:
    """Before a server ends: finish and store the running answers of every open workspace."""
    for opened in list(_opened.values()):
        opened.jobs.close()


def _mark_samples_only(path: Path) -> None:
    """An empty folder becomes one for samples alone; an existing workspace stays as it is."""
    if not (path / "registry.sqlite").exists():
        try:
            path.mkdir(parents=True, exist_ok=True)
            (path / SAMPLES_ONLY).touch(0o600)
        except OSError:
            raise AllowanceError("workspace.unwritable") from None


class Workspace(DeclaredTables):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        jobs = self.jobs = Jobs(folder, self.ledger)
        self.engine = Engines(lambda: erase.spill_folder(folder, jobs.worker))
        self.coins = SystemCoins()
        self.token_book = TokenBook(self._registry, self._secret)
        self._statistics: dict[tuple[str, str], Any] = {}
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
    ) -> Table:
        """Declare a table: a CSV or Parquet path, a pandas frame, a `Source` or two files that are `Joined`, with its
        public facts. The budget may be a function of the number of people, which is not known before. A newer state of
        a source joins its budget, unless the owner says that these are `new_people`. If the content is here with less
        protection (one row each, and now rows belong to people), `protect` corrects that, at a price: see
        `Table.protect`. `sample`: the people, one row each, are a random sample of a larger group
        (`Table.declare_sample`)."""
        if self.samples_only:
            raise AllowanceError("workshop.no_tables")
        if isinstance(source, Source):
            sources.refuse_elsewhere(source, self.databases, self.served)
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
            arriving = Arriving(clean, schema, unit, kind, how, actor, about_rows, new_people, protect, sample)
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
        """The present rows of a table's source as another table with the same declaration. It shares the allowance,
        unless the owner says that its people are new: then it gets one of the same size."""
        record = self._own(name)
        self.ledger.refuse_other(record.budget, name, actor)
        source = sources.kept(self.folder / "tables" / record.folder)
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
        """Another table `made` of the table `name`: one row for each person, with columns that summarise all of that
        person's rows. It is about the same people and spends the same allowance; m = 1, and no row is dropped."""
        record = self._own(name)
        self.ledger.refuse_other(record.budget, name, actor)
        if closed_kind(self.ledger.closed(), record.budget, name):
            raise AllowanceError("table.closed", table=name)
        unit, schema = Unit.from_json(record.unit), self.schema_of(record)
        if unit.single:
            raise AllowanceError("summary.one_row", table=name)
        folder = self.folder / "tables" / record.folder
        if sources.kept_there(folder) is not None:
            raise AllowanceError("summary.rows_stay", table=name)
        declared = read_summaries(summaries, schema, str(unit.id_column))
        if self._registry.get(_name(made)) is not None or _name(made) in SAMPLES:
            raise AllowanceError("table.exists", name=_name(made))
        refuse_full(self.folder)
        with self.loading(), tempfile.TemporaryDirectory(prefix=".", dir=folder) as inside:
            given = unit, schema, Dialect.from_json(record.dialect), self._secret, summaries
            people = Path(inside) / "people.parquet"
            summarise(folder / RAW, redeclare.names_of(folder), *given, people)
            numbers = Dialect(decimal=Dialect.from_json(record.dialect).decimal)
            of_person, known = Unit.of_person(str(unit.id_column)), (ROWS + record.fingerprint,)
            arriving = Arriving(
                _name(made),
                declared,
                of_person,
                read_relation(record.relation),
                numbers,
                actor,
                record.about,
                also=known,
            )
            new, joined = self._arrive(arriving, people, record.budget, "refuse", progress)
            if self.ledger.served:
                self.ledger.hand_over(new.budget, new.name, actor, actor)
        return Table(self, new, self.ledger.budget(new.budget), actor, joined)

    def _refuse_sharing(self, budget: str, actor: str) -> None:
        """Where people sign in, a table may share only the allowance of another table of its owner."""
        with self.ledger.people() as book:
            theirs = (owns(book, actor, name) for name, paid in self.names() if paid == budget)
            if book.served() and not any(theirs):
                raise UnknownBudget()

    def table(self, name: str, visitor: str = "local") -> Table:
        """A declared table. A bundled sample is loaded on first use, with a practice budget per visitor."""
        record = self.record(name)
        if not record.practice:
            return Table(self, record, self.ledger.budget(record.budget), OWNER)
        actor = f"visitor-{hashlib.sha256(visitor.encode()).hexdigest()[:12]}"
        return Table(self, record, self.practice_budget(record, actor), actor)

    def record(self, name: str) -> Record:
        """The declaration of a table or a bundled sample."""
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
        """The rights of this person and nothing else: pages and programs use it once people sign in."""
        return Face(self, person)

    def person(self, issuer: str, subject: str, name: str = "", email: str = "") -> str:
        """The id of the person who signed in; name and address are stored beside the ledger, not in it."""
        person = people_names.person_id(self._secret, issuer, subject)
        people_names.remember(self._registry, person, name, email)
        return person

    def people(self) -> list[KnownPerson]:
        """Everybody who ever signed in or was named."""
        return people_names.everybody(self._registry)

    def forget_person(self, person: str) -> None:
        """Delete a person's name, address and tokens. Their acts stay, under an id that says nothing."""
        people_names.forget(self._registry, person)
        self.token_book.forget(person)
        drafts.forget_person(self._registry, person)

    def matches(self) -> list[Match]:
        """Tables that were added although another owner's table held their content."""
        return all_matches(self._registry)

    @property
    def served(self) -> bool:
        """Do people sign in? Then every act needs a right."""
        return self.ledger.served

    def name_administrator(self, person: str) -> None:
        """Name an administrator from the machine itself. The first one makes the workspace served, for good."""
        self.ledger.name_role(person, ADMINISTRATOR, OPERATOR)

    def open_budget(self, budget: BudgetRecord, actor: str) -> None:
        """A practice budget is stored when its first question is charged, not when a page is opened."""
        if budget.kind == "practice":
            terms = budget.name, budget.unit, budget.relation
            self.ledger.create_budget(budget.id, budget.rule, budget.kind, actor, *terms)

    def refuse_need(self, need: AnyNeed | RawNeed, record: Record) -> None:
        """Called before a charge: can this be computed where the table lies? From public facts."""
        parts: tuple[AnyNeed | RawNeed, ...] = (need.coded, *need.raw) if isinstance(need, Beside) else (need,)
        for part in parts:
            self.engine.refuse(part, self.coded(record))

    def read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> Any:
        """A statistic of coded rows or a raw column. Cached for samples only: they are public."""
        key = record.name, repr(need)
        if self.samples_only and key in self._statistics:
            return self._statistics[key]
        value = self._read(need, record, schema)
        if self.samples_only and len(self._statistics) < _STATISTICS_KEPT:
            self._statistics[key] = value
        return value

    def _read(self, need: AnyNeed | RawNeed, record: Record, schema: Schema) -> object:
        if isinstance(need, Beside):
            empty = isinstance(need.coded, KindCounts) and not need.coded.columns
            coded = () if empty else self.read(need.coded, record, schema)
            return need.joined(coded, (self.read(part, record, schema)[0] for part in need.raw))
        if isinstance(need, RawNeed):
            return self.read_raw(need, record)
        return self.engine.read(need, self.coded(record), schema, self.kept(record))

    # What an owner does

    def seal(self, name: str, actor: str = OWNER) -> Act:
        """No more questions to this table, nor to its content under another name, for good. Its answers stay."""
        own = self._own(name)
        with self._registry.transaction() as rows:  # nobody adds the same content meanwhile
            self._seal(rows, name, actor)
            return self.ledger.close_table("seal", own.budget, name, actor)

    def forget(self, name: str, actor: str = OWNER) -> Act:
        """Delete a table's rows from disk, for good. The ledger, its answers and the fingerprint stay."""
        record = self._own(name)
        act = self.ledger.close_table("forget", record.budget, name, actor)
        drafts.forget_table(self._registry, name)
        sources.drop_there(self.folder / "tables" / record.folder)
        erase.erase(self.folder / "tables" / record.folder)
        self.engine.let_go()
        erase.sweep_spill(self.folder)
        return act

    def raise_cap(self, name: str, epsilon: object, actor: str = OWNER) -> Act:
        """A larger cap ε for this table's budget; accountant/filter.py states the guarantee."""
        return self.ledger.raise_cap(self._own(name).budget, name, read_number(epsilon, "ε"), actor)

    # Answers

    def keep_draft(self, name: str, actor: str, draft: JsonObject | None) -> None:
        drafts.keep(self._registry, name, actor, draft)

    def draft_of(self, name: str, actor: str) -> JsonObject | None:
        return drafts.find(self._registry, name, actor)

    def answer_of(self, entry: Entry) -> Answer | None:
        """A stored answer of any table, even a forgotten one; None if the table was never here."""
        record = self._registry.get(entry.charge.table)
        if record is None or entry.outcome is None or entry.outcome.kind != "answer":
            return None
        return Table(self, record, self.ledger.budget(entry.charge.budget), entry.charge.actor).answer_of(entry)

    def job(self, request_id: str, actor: str = "") -> Job:
        """The state of a question, here, in another process, or stored. With `actor`, only if this person asked it."""
        state = self.jobs.state(request_id, actor)
        answer = None
        if state.state == "done":
            entry = self.ledger.find(request_id)
            answer = None if entry is None else self.answer_of(entry)
            if answer is None:
                return Job(request_id, "unknown")
        done, total = (1, 1) if state.state == "done" else self.jobs.progress(request_id, actor)
        ahead = self.jobs.ahead(request_id, actor) if state.state == "queued" else 0
        return Job(request_id, state.state, done=done, total=total, answer=answer, error=state.error, ahead=ahead)

    def published_file(self, request_id: str) -> Path:
        folder = self.folder / "published"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / f"{hashlib.sha256(request_id.encode()).hexdigest()[:32]}.parquet"

    def verify_ledger(self) -> Verdict:
        """Is the hash chain intact, and if not, where does it break?"""
        return self.ledger.verify()

    def check_receipts(self, content: bytes, name: str) -> list[Finding]:
        """Does this workspace's ledger hold the receipts in a file?"""
        return check(read_receipts(content, name), self.ledger.export_rows())

    def close(self) -> None:
        self.jobs.close()
        self.engine.let_go()
        self.ledger.close()
        self._registry.close()
        self._hold.let_go()

    def _sweep(self) -> None:
        """Remove what a killed load or deletion left behind, unless some process is loading right now."""
        with self.loading(exclusive=True) as alone:
            if alone:
                gone = {name for name, kind in self.closed().items() if kind == "forget"}
                places = {record.folder: record.name in gone for record in self._registry.all()}
                kept = [folder for folder, forgotten in places.items() if not (forgotten and self._let_go(folder))]
                erase.sweep(self.folder, kept)
        with suppress(AllowanceError):  # a damaged ledger does not show which files are answers: nothing is removed
            erase.sweep_published(self.folder / "published", self._published)

    def _let_go(self, folder: str) -> bool:
        """Is nothing of a forgotten table left in its database? If unreachable, its address is kept."""
        with suppress(AllowanceError):
            sources.drop_there(self.folder / "tables" / folder)
            return True
        return False

    def _give_back(self) -> None:
        """A table from a process that was killed before it named the owner goes to the person who added it."""
        lost: list[Record] = []
        with suppress(AllowanceError), self.ledger.people() as book:  # a damaged ledger does not name their owners
            lost = [table for table in self.tables() if is_person(table.owner) and not book.owned(table.name)]
        for record in lost:
            with suppress(AllowanceError):  # the person may add no more tables: an administrator hands it over
                self.ledger.hand_over(record.budget, record.name, record.owner, record.owner)

    def _published(self) -> set[str]:
        """The files of published tables that are answers, or are being written."""
        kinds = [key for key in catalogue if key.startswith("publish_") or key == SyntheticTable.card.key]
        requests = (entry.charge.request for key in kinds for entry in self.ledger.charges(limit=-1, key=key))
        published = (request for request in requests if self.jobs.state(request).state in ("running", "done"))
        return {self.published_file(request).name for request in published}


def _name(name: object) -> str:
    clean = str(name).strip()
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise AllowanceError("table.name", most=LONGEST_NAME)
    return clean
