"""Every refusal a person can meet, caused on tables full of canaries; those nobody can cause, with the reason."""

from __future__ import annotations

import ast
import io
import json
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from leaks import bombs
from leaks.stage import NAMES, Stage, rows, schema, written

import dpengine as dp
from dpengine.accountant.filter import Rule
from dpengine.asking.receipts import MOST_BYTES, read_receipts
from dpengine.commands import backup
from dpengine.commands.verify import _bytes
from dpengine.core import space
from dpengine.core.amounts import read_delta, read_epsilon
from dpengine.core.exact import read_typed
from dpengine.declared.dialect import Dialect
from dpengine.declared.unit import Unit
from dpengine.ledger.exports import opened
from dpengine.ledger.ledger import Ledger
from dpengine.mechanisms import catalogue
from dpengine.released.density_samples import sample
from dpengine.released.published import Published
from dpengine.statistics.features import model_from_json
from ui.data import declare_cards, declare_change, declare_draft, declare_lists, declare_task
from ui.data.declare_column import Card, column_of
from ui.shell import uploads

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Bench:
    """Tables, and files made of canaries."""

    stage: Stage
    folder: Path
    made: int = 0
    held: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> dp.Table:
        return self.stage.tables[0]

    @property
    def people(self) -> dp.Table:
        return self.stage.tables[-1]

    @property
    def cell(self) -> str:
        return self.stage.canaries[4].core

    @property
    def digits(self) -> str:
        return self.stage.canaries[6].core

    def put(self, data: bytes | str, name: str = "") -> Path:
        self.made += 1
        path = self.folder / (name or f"{self.made}.csv")
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))
        return path

    def add(self, source: Any, columns: dict[str, Any] | None = None, **terms: Any) -> dp.Table:
        self.made += 1
        given = {"schema": dp.Schema(columns or {"a": dp.Number(0, 9)}), "unit": dp.Unit.rows(), "budget": dp.Budget()}
        return self.stage.workspace.add_table(f"made {self.made}", source, **(given | terms))

    def load(self, data: bytes | str, **terms: Any) -> dp.Table:
        """A file with a fault of form."""
        return self.add(self.put(data), **terms)

    def ask(self, key: str, **given: Any) -> dp.Query:
        return self.table.query(key, **({"epsilon": "0.1"} | given))

    def train(self, **given: Any) -> dp.Query:
        return self.ask("train_linear", **({"target": "far", "features": ["age"]} | given))

    def check(self, model: Any, **given: Any) -> dp.Query:
        return self.ask("check_model", model=model, **given)

    def frame(self, **columns: Any) -> Any:
        return pd.DataFrame(columns)

    def small(self, name: str = "small", budget: str = "0.2", delta: str = "1e-6") -> dp.Table:
        """A table that is soon spent."""
        if name not in self.held:
            path = written(self.folder / f"{name}.csv", rows(self.stage.canaries, 20 + len(self.held)))
            self.held[name] = self.stage.workspace.add_table(
                name, path, schema=schema(), unit=dp.Unit.rows(), budget=dp.Budget(budget, delta)
            )
        return self.held[name]

    def session(self, questions: int = 1) -> Any:
        self.made += 1
        query = self.ask("adaptive_session", questions=questions, epsilon="0.5")
        return self.table.open_session(query, f"r{self.made}")

    def ledger(self, change: Callable[[sqlite3.Connection], Any]) -> Ledger:
        """A copy of the ledger that somebody has changed."""
        self.made += 1
        path = self.folder / f"ledger-{self.made}" / "ledger.sqlite"
        path.parent.mkdir()
        source = sqlite3.connect(self.stage.workspace.folder / "ledger.sqlite")
        target = sqlite3.connect(path)
        source.backup(target)
        source.close()
        change(target)
        target.commit()
        target.close()
        return Ledger(path, wait=0.1)


def _failing(bench: Bench, fault: BaseException) -> dp.Answer:
    """A release that breaks while it reads: what broke it quotes a cell."""
    workspace = bench.stage.workspace

    def read(*_: Any) -> Any:
        raise fault

    kept, workspace.read = workspace.read, read
    try:
        return bench.table.ask(bench.ask("median", column="pay"), f"broken{bench.made}")
    finally:
        bench.made += 1
        del workspace.read
        assert workspace.read == kept


def _task(bench: Bench) -> None:
    def work(tell: Any) -> None:
        raise ValueError(f"could not convert string to float: {bench.cell!r}")

    task = declare_task.Task("load", work)
    task.wait(10)
    raise task.error or AssertionError


def _stopped(bench: Bench) -> None:
    path = written(bench.folder / "stopped.csv", rows(bench.stage.canaries, 30))
    started: list[declare_task.Task] = []

    def work(tell: Any) -> Any:
        while not started:
            pass
        started[0].stop()
        return bench.add(path, {"far": dp.Number(0, 9)}, progress=tell)

    started.append(task := declare_task.Task("load", work))
    task.wait(20)
    raise task.error or AssertionError


def _refused(bench: Bench, query: dp.Query, table: dp.Table) -> None:
    """A release on the worker, whose refusal the page is told."""
    bench.made += 1
    job = table.submit(query, f"w{bench.made}")
    table._workspace.jobs.wait(job.request_id, 20)
    error = table._workspace.job(job.request_id).error
    raise error or AssertionError


def _not_started(bench: Bench) -> None:
    bench.made += 1
    jobs, name = bench.stage.workspace.jobs, f"n{bench.made}"

    def carry() -> None:
        raise RuntimeError(bench.cell)

    jobs.submit(name, carry)
    raise jobs.wait(name, 20).error or AssertionError


def _before_its_turn(bench: Bench) -> None:
    """Cancelled while others are before it."""
    bench.made += 1
    jobs, name, gate = bench.stage.workspace.jobs, f"s{bench.made}", threading.Event()
    for place in range(2):
        jobs.submit(f"{name}.{place}", lambda: gate.wait(20))
    jobs.submit(name, lambda: None)
    jobs.cancel(name)
    gate.set()
    raise jobs.wait(name, 20).error or AssertionError


def _lost_step(bench: Bench) -> None:
    """A step of a session that breaks while it reads."""
    session, workspace = bench.session(), bench.stage.workspace

    def read(*_: Any) -> Any:
        raise RuntimeError(bench.cell)

    workspace.read = read
    try:
        session.ask({"average": "pay"}, "one")
    finally:
        del workspace.read


def _interrupted(bench: Bench) -> None:
    """A charge whose worker is gone."""
    bench.made += 1
    name, table, workspace = f"i{bench.made}", bench.table, bench.stage.workspace
    step = table._asker.release(bench.ask("count", by="home"), name)()
    workspace.ledger.reserve(**(step.reserve_args | {"worker": "ab12"}))
    raise workspace.jobs.state(name).error or AssertionError


def _waiting(bench: Bench) -> None:
    """A charge another process is busy with."""
    from dpengine.asking.jobs import carry_release
    from dpengine.storage.workers import in_hand

    bench.made += 1
    name, workspace = f"b{bench.made}", bench.stage.workspace
    step = bench.table._asker.release(bench.ask("count", by="home"), name)()
    workspace.ledger.reserve(**step.reserve_args)
    with in_hand(step.reserve_args["worker"], name):
        carry_release(workspace.ledger, step.reserve_args, step.read, step.draw, patience=0.0)


def _damaged_table(bench: Bench, part: str, act: Callable[[dp.Table], Any]) -> None:
    """A table whose file somebody overwrote with rows of their own."""
    table = bench.add(
        written(bench.folder / f"d{bench.made}.csv", rows(bench.stage.canaries, 40 + bench.made)),
        {"far": dp.Number(0, 9)},
    )
    folder = bench.stage.workspace.folder / "tables" / table._record.folder
    end = b"" if part.startswith("coded") else b"PAR1"
    (folder / part).write_bytes(b"PAR1" + bench.cell.encode() * 9 + end)
    act(table)


def _forget_left(bench: Bench) -> None:
    table, owner = bench.small("kept"), __import__("dpengine.storage.erase", fromlist=["owner"])
    kept, owner.shutil = owner.shutil, SimpleNamespace(rmtree=lambda *_, **__: None)
    try:
        bench.stage.workspace.forget(table.name)
    finally:
        owner.shutil = kept


def _unwritable(bench: Bench) -> None:
    from dpengine.intake.load import load

    source = written(bench.folder / "full.csv", rows(bench.stage.canaries, 10))
    load(source, Dialect(), bench.folder / "no such folder" / "raw.parquet", b"k" * 32)


def _locked(bench: Bench) -> None:
    ledger = bench.ledger(lambda db: None)
    other = sqlite3.connect(ledger.path)
    other.execute("BEGIN IMMEDIATE")
    try:
        ledger.raise_cap(bench.table.budget.id, bench.table.name, Fraction(100), "owner")
    finally:
        other.rollback()
        other.close()
        ledger.close()


def _damaged(bench: Bench) -> None:
    def change(db: sqlite3.Connection) -> None:
        db.execute("DROP TRIGGER no_update")
        db.execute("UPDATE entries SET actor = 'somebody else' WHERE kind = 'charge'")

    ledger = bench.ledger(change)
    try:
        ledger.standing(bench.table.budget.id)
    finally:
        ledger.close()


def _newer(bench: Bench) -> None:
    def change(db: sqlite3.Connection) -> None:
        table = next(name for (name,) in db.execute("SELECT name FROM sqlite_master") if "migrations" in name)
        columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
        first = db.execute(f'SELECT * FROM "{table}" LIMIT 1').fetchone()
        told = [
            "of tomorrow" if name == "name" else 10**6 if name == "id" else value
            for name, value in zip(columns, first, strict=True)
        ]
        db.execute(f'INSERT INTO "{table}" VALUES ({",".join("?" * len(told))})', told)

    bench.ledger(change).standing(bench.table.budget.id)


def _read_only(bench: Bench) -> None:
    """A folder in place of the ledger."""
    place = bench.folder / f"dir{bench.made}" / "ledger.sqlite"
    bench.made += 1
    place.mkdir(parents=True)
    Ledger(place, wait=0.1)


def _copy(bench: Bench, data: bytes, name: str) -> None:
    with opened(bench.put(data, name)) as found:
        list(found)


def _secret(bench: Bench) -> None:
    home = bench.folder / f"home{bench.made}"
    bench.made += 1
    home.mkdir()
    (home / "secret").write_bytes(b"short")
    dp.open_workspace(home)


def _no_secret(bench: Bench) -> None:
    home = bench.folder / f"home{bench.made}"
    bench.made += 1
    home.mkdir()
    (home / "ledger.sqlite").write_bytes(b"")
    dp.open_workspace(home)


def _settled(bench: Bench) -> None:
    answer = bench.table.ask(bench.ask("count", by="home"))
    bench.stage.workspace.ledger.answer(answer.request_id, {"value": 1})


def _closed(bench: Bench, kind: str) -> None:
    table = bench.small(f"to {kind}")
    getattr(bench.stage.workspace, kind)(table.name)
    table.ask(table.query("count", by="home", epsilon="0.01"))


def _revised(bench: Bench) -> None:
    table = bench.small("to revise")
    query = table.query("count", by="home", epsilon="0.01")
    table.revise(dp.Schema({"far": dp.Number(0, 5)}))
    table.ask(query)


def _parquet(bench: Bench, **columns: Any) -> Path:
    path = bench.put(b"", f"{bench.made}.parquet")
    bench.made += 1
    pq.write_table(pa.table(columns), path)
    return path


_WHOSE: dict[str, Any] = {"unit": dp.Unit.column("b", 1)}


def _folder(bench: Bench, *texts: str) -> Path:
    bench.made += 1
    place = bench.folder / f"folder{bench.made}"
    place.mkdir()
    for number, content in enumerate(texts):
        (place / f"{number}.csv").write_text(content, encoding="utf-8")
    return place


def _card(bench: Bench, **parts: Any) -> None:
    column_of(Card(**parts), Dialect())


Cause = Callable[[Bench], Any]
N, C, S = dp.Number, dp.Category, dp.ItemSet


def _published(bench: Bench, column: str) -> Published:
    answer = bench.table.ask(bench.ask("publish_table", columns=[column]))
    return bench.table.published(answer)


def _changed_file(bench: Bench) -> Any:
    found = _published(bench, "home")
    found.path.write_bytes(b"PAR1")
    return found.counts("home")


MODEL = {
    "kind": "linear",
    "features": [["age", schema()["age"].as_json()]],
    "target": ["far", schema()["far"].as_json()],
    "bits": 24,
    "weights": [0, 2**20],
}

CAUSES: dict[str, Cause] = {
    # A file that comes in, with a fault of form in a line that holds a canary.
    "load.absent": lambda b: b.add(b.folder / "nobody.csv"),
    "load.empty": lambda b: b.load(b""),
    "load.bad_records": lambda b: b.load(f"a\n{b.cell}\n", bad_records="guess"),
    "load.ragged": lambda b: b.load(f"a,b\n1,2\n{b.cell},4,{b.digits}\n"),
    "load.quoting": lambda b: b.load(f'a,b\n1,2\n"{b.cell}" x,{b.digits}\n'),
    "load.line_end": lambda b: b.load(f"a,b\n1,2\n{b.cell}\r,{b.digits}\n"),
    "load.header_quoting": lambda b: b.load(f'a,"b\n1,{b.cell}\n'),
    "load.broken": lambda b: b.load(f'a,b\n1,"2"x{b.cell}\n', dialect=Dialect(line_breaks=True)),
    "load.unclosed": lambda b: b.load(f'a,b\n1,"{b.cell}\n', dialect=Dialect(line_breaks=True)),
    "load.long_line": lambda b: b.load(f"a,b\n1,{b.cell * 60_000}\n"),
    "load.long": lambda b: b.load(f'a,b\n1,"{(b.cell + chr(10)) * 60_000}"\n', dialect=Dialect(line_breaks=True)),
    "load.encoding": lambda b: b.load(f"a,b\n1,{b.cell}".encode() + b"\xe8\n"),
    "load.header_encoding": lambda b: b.load(b"a\xe8,b\n1," + b.cell.encode()),
    "load.no_header": lambda b: b.load(f",,\n1,{b.cell},3\n"),
    "load.no_names": lambda b: b.load(f"12,{b.cell}\n1,2\n"),
    "load.no_rows": lambda b: b.load("a,b\n"),
    "load.name_blank": lambda b: b.load(f"a,,b\n1,2,{b.cell}\n"),
    "load.name_twice": lambda b: b.load(f"a,a\n1,{b.cell}\n"),
    "load.many_columns": lambda b: b.load(",".join(f"n{n}" for n in range(1001)) + f"\n{b.cell}\n"),
    "column.name_long": lambda b: b.load("a" * 201 + f",b\n1,{b.cell}\n"),
    "column.name_signs": lambda b: b.load(f"a\u202eb,c\n1,{b.cell}\n"),
    "load.swollen": lambda b: b.add(bombs.many_rows(b.folder / "many.parquet")),
    "load.is_parquet": lambda b: b.load(b"PAR1" + b.cell.encode()),
    "load.not_parquet": lambda b: b.add(b.put(b.cell, "x.parquet")),
    "load.unreadable": lambda b: b.add(b.put(b"PAR1" + b.cell.encode() * 9 + b"PAR1", "y.parquet")),
    "load.not_text": lambda b: b.load(b"PK\x03\x04" + b.cell.encode()),
    "load.column_kind": lambda b: b.add(_parquet(b, a=[[b.cell], [b.digits]])),
    "load.folder_empty": lambda b: b.add(_folder(b)),
    "load.folder_names": lambda b: b.add(_folder(b, f"a\n{b.cell}\n", f"b\n{b.digits}\n")),
    "load.unwritable": _unwritable,
    "load.cancelled": _stopped,
    "column.absent": lambda b: b.load(f"b\n{b.cell}\n"),
    "unit.missing": lambda b: b.load(f"a\n{b.cell}\n", unit=None),
    "unit.column": lambda b: dp.Unit.column("", 1),
    "unit.at_most": lambda b: dp.Unit.column("who", 0),
    "unit.unknown": lambda b: Unit.from_json({"kind": "herd"}),
    "facts.rows": lambda b: b.load(f"a\n{b.cell}\n", relation="add_remove", about_rows=0),
    "facts.rows_needed": lambda b: b.load(f"a\n{b.cell}\n", relation="add_remove"),
    "relation.unknown": lambda b: b.load(f"a\n{b.cell}\n", relation="cousin"),
    "table.name": lambda b: b.stage.workspace.add_table(
        "a\nb", b.put(b.cell), schema=schema(), unit=dp.Unit.rows(), budget=dp.Budget()
    ),
    "table.exists": lambda b: b.stage.workspace.add_table(
        b.table.name, b.put(b.cell), schema=schema(), unit=dp.Unit.rows(), budget=dp.Budget()
    ),
    "table.unknown": lambda b: b.stage.workspace.table("nobody"),
    "budget.unknown": lambda b: b.load(f"a\n{b.cell}\n", budget="nobody"),
    "budget.other_terms": lambda b: b.add(b.stage.source / "0.csv", {"far": N(0, 9)}, unit=dp.Unit.column("note", 1)),
    "budget.several": lambda b: (
        b.load(f"a,b\n1,{b.cell}\n"),
        b.load(f"a,b\n2,{b.cell}\n"),
        b.add(_folder(b, f"a,b\n1,{b.cell}\n", f"a,b\n2,{b.cell}\n")),
    ),
    "content.read_otherwise": lambda b: (
        b.load(f"a,b\n3,{b.cell}\n", **_WHOSE),
        b.load(f"a,b\n3,{b.cell}\n", dialect=dp.Dialect(quote="'"), **_WHOSE),
    ),
    "content.part_known": lambda b: (
        b.load(f"a,b\n4,{b.cell}\n", **_WHOSE),
        b.add(_folder(b, f"a,b\n4,{b.cell}\n", f"a,b\n5,{b.cell}\n"), **_WHOSE),
    ),
    "budget.practice": lambda b: (
        b.stage.workspace.table("clinic").ask(b.stage.workspace.table("clinic").suggestions()[0]),
        b.load(f"a\n{b.cell}\n", budget=b.stage.workspace.table("clinic").budget.id),
    ),
    "budget.epsilon_range": lambda b: dp.Budget("0"),
    "budget.delta_range": lambda b: dp.Budget("1", "1"),
    "budget.share_range": lambda b: Rule.make(Fraction(1), Fraction(1, 10), Fraction(2)),
    "budget.rule_unknown": lambda b: Rule.from_json({"kind": "guess"}),
    "workspace.secret": _secret,
    # What is declared.
    "schema.empty": lambda b: dp.Schema({}),
    "schema.unreadable": lambda b: dp.Schema({"a": b.cell}),  # type: ignore[dict-item]
    "column.name_blank": lambda b: dp.Schema({" ": N(0, 1)}),
    "number.reversed": lambda b: N(3, 1),
    "number.step": lambda b: N(0, 1, step="0.3"),
    "number.grid": lambda b: N(0, 10**9),
    "number.missing_outside": lambda b: N(0, 1, missing=5),
    "number.unreadable": lambda b: N("many", 1),
    "number.ambiguous": lambda b: read_typed("25.000", "n"),
    "category.few": lambda b: C([]),
    "category.many": lambda b: C([str(one) for one in range(10**6 + 1)]),
    "category.blank": lambda b: C(["a", " "]),
    "category.twice": lambda b: C(["a", "A "]),
    "category.long": lambda b: C(["a" * 201]),
    "category.signs": lambda b: b.add(b.frame(a=[b.cell]), {"a": C(["x\u202ey"])}),
    "category.closed_unknown": lambda b: C(["a"], unknown=""),
    "items.many": lambda b: S(["a"]),
    "items.blank": lambda b: S(["a", ""]),
    "items.separator": lambda b: S(["a", "b"], separator=""),
    "items.inside": lambda b: S(["a|b", "c"]),
    "items.at_most": lambda b: S(["a", "b"], at_most=9),
    "date.unreadable": lambda b: dp.Date("soon", "2000-01-01"),
    "date.reversed": lambda b: dp.Date("2000-01-01", "1990-01-01"),
    "date.order": lambda b: dp.Date("1990-01-01", "2000-01-01", "dym"),
    "dialect.unreadable": lambda b: Dialect.from_json({"x": 1}),
    "dialect.separator": lambda b: Dialect(separator="ab"),
    "dialect.quote": lambda b: Dialect(quote="`"),
    "dialect.decimal": lambda b: Dialect(decimal="x"),
    "dialect.thousands": lambda b: Dialect(thousands="."),
    "dialect.encoding": lambda b: Dialect(encoding="ebcdic"),
    "dialect.line_breaks": lambda b: Dialect(line_breaks=1),  # type: ignore[arg-type]
    "table.practice": lambda b: b.stage.workspace.table("town").revise(schema()),
    # On the Data page.
    "data.failed": _task,
    "data.file.large": lambda b: uploads.keep(io.BytesIO(b.cell.encode()), 99, b.folder, 9),
    "data.list.large": lambda b: declare_lists.read_list(b"x" * (declare_lists.LARGEST + 1)),
    "data.list.encoding": lambda b: declare_lists.read_list(b.cell.encode() + b"\0"),
    "data.list.many": lambda b: declare_lists.read_list("\n".join(map(str, range(100_001))).encode()),
    "data.list.few": lambda b: declare_lists.read_list(b"\n"),
    "data.list.long": lambda b: _card(b, kind="list", listed="\n".join(map(str, range(10_000)))),
    "data.list.not_public": lambda b: _card(b, kind="list", brought=("a", "b"), public=False),
    "data.card.days_missing": lambda b: _card(b, kind="date"),
    "data.card.order_missing": lambda b: _card(b, kind="date", first="1990-01-01", last="1991-01-01", order=None),
    "data.card.kind_missing": lambda b: _card(b, kind=None),
    "data.card.items_spelled": lambda b: _card(b, kind="items", listed="a = A, b"),
    "data.card.goes_to_missing": lambda b: _card(b, kind="list", listed="a\nb", closed=True, goes_to=""),
    "data.cards.all_unknown": lambda b: declare_cards.settled(_draft(b, kind="unknown")),
    "data.cards.mend": lambda b: declare_cards.settled(_draft(b, kind="date")),
    "data.care.missing": lambda b: declare_draft.budget(declare_draft.Draft()),
    "data.relation.missing": lambda b: declare_draft.relation(declare_draft.Draft()),
    "data.change.same": lambda b: declare_change._changed(_same(b), b.table),
    # A question.
    "query.unknown": lambda b: b.ask("guess"),
    "query.parameter": lambda b: b.ask("count", colour="red"),
    "query.missing": lambda b: b.ask("median"),
    "query.noise": lambda b: b.ask("count", by="home", noise="loud"),
    "query.switch": lambda b: b.ask("median", column="pay", with_range="perhaps"),
    "query.other_table": lambda b: b.table.ask(b.people.query("count", by="home", epsilon="0.1")),
    "epsilon.missing": lambda b: read_epsilon(""),
    "epsilon.positive": lambda b: b.ask("count", by="home", epsilon="0"),
    "epsilon.tiny": lambda b: b.ask("count", by="home", epsilon="0.0000001"),
    "epsilon.huge": lambda b: b.ask("count", by="home", epsilon="1000"),
    "epsilon.fine": lambda b: b.ask("count", by="home", epsilon="0.1234567891"),
    "beta.range": lambda b: b.ask("count", by="home", beta="2"),
    "share.range": lambda b: b.ask("quantile", column="pay", share="7"),
    "share.one_by_group": lambda b: b.ask("quantile", column="pay", share=["0.1", "0.2"], by="home"),
    "top.how_many": lambda b: b.ask("top_item", column="home", how_many=99),
    "bins.category": lambda b: b.ask("histogram", column="home", bins=3),
    "bins.rising": lambda b: b.ask("histogram", column="far", bins=[5, 2]),
    "bins.outside": lambda b: b.ask("histogram", column="far", bins=[-5, 2]),
    "bins.many": lambda b: b.ask("histogram", column="far", bins=0),
    "options.many": lambda b: b.ask("noisy_argmax", options=[]),
    "options.different": lambda b: b.ask("noisy_argmax", options=[[["far", ">", 1]]] * 2),
    "crosstab.columns": lambda b: b.ask("crosstab", columns=["home"]),
    "crosstab.cells": lambda b: _many_cells(b).query("crosstab", columns=["a", "b"], epsilon="0.1"),
    "sum.overflow": lambda b: _huge(b).query("sum", column="a", epsilon="0.1"),
    "variance.overflow": lambda b: b.add(b.frame(a=[b.digits]), {"a": N(0, 10**6)}).query(
        "variance", column="a", epsilon="0.1"
    ),
    "count.public": lambda b: b.ask("count"),
    "count.people_by": lambda b: b.people.query("count", people=True, by="home", epsilon="0.1"),
    "column.unknown": lambda b: b.ask("median", column="nobody"),
    "column.wrong_kind": lambda b: b.ask("median", column="home"),
    "items.size_needed": lambda b: b.add(b.frame(a=[b.cell]), {"a": S(["x", "y"])}).query(
        "histogram", column="a", epsilon="0.1"
    ),
    "predicate.unreadable": lambda b: b.ask("count", where=[[7]]),
    "predicate.op": lambda b: b.ask("count", where=[["home", ">=", "a"]]),
    "predicate.value": lambda b: b.ask("count", where=[["home", "in", ["nobody"]]]),
    "predicate.empty": lambda b: b.ask("count", where=[["home", "in", []]]),
    "predicate.deep": lambda b: b.ask("count", where=[["any", [["any", [["far", ">", 1]]]]]]),
    "predicate.has_many": lambda b: b.add(b.frame(a=[b.cell]), {"a": S([str(one) for one in range(99)])}).query(
        "count", where=[["a", "has", [str(one) for one in range(99)]]], epsilon="0.1"
    ),
    "delta.missing": lambda b: read_delta(""),
    "delta.range": lambda b: b.ask("find_values", column="note", delta="2"),
    # Publishing.
    "query.relation": lambda b: b.stage.tables[1].query("publish_table", columns=["home"], epsilon="0.1"),
    "query.several": lambda b: b.people.query("publish_table", columns=["home"], epsilon="0.1"),
    "publish.columns": lambda b: b.ask("publish_table", columns=[]),
    "publish.kind": lambda b: b.ask("publish_table", columns=["likes"]),
    "publish.digits": lambda b: catalogue["publish_number"].build(
        replace(b.table.facts, schema=dp.Schema({"far": dp.Number(10**20, 10**20 + 5)})),
        {"columns": ["far"], "epsilon": "1"},
    ),
    "publish.grid": lambda b: b.ask("publish_number", columns=["far"], grid="0"),
    "publish.everyone": lambda b: replace(b.ask("publish_number", columns=["far"]), by="home"),
    "publish.large": lambda b: replace(
        b.ask("publish_number", columns=["far"]), facts=replace(b.table.facts, about=10**9)
    ),
    "publish.changed": _changed_file,
    "publish.fine": lambda b: _published(b, "pay").quantile("pay", Fraction(1, 2)),
    "publish.no_list": lambda b: _published(b, "far").counts("far"),
    "publish.no_number": lambda b: _published(b, "home").mean("home"),
    "publish.unknown": lambda b: b.table.published(b.table.ask(b.ask("count", by="home"))),
    "delta.row": lambda b: b.ask("publish_number", columns=["far"], delta="1"),
    # Messages without a curator.
    "shuffle.delta": lambda b: b.ask("shuffle_histogram", column="home", delta="0"),
    "shuffle.few": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", epsilon="0.01"),
    "shuffle.never": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", epsilon="0.0001"),
    "shuffle.lecture": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", calibration="lecture"),
    "shuffle.calibration": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", calibration="loose"),
    "shuffle.solution": lambda b: b.ask("shuffle_histogram", column="home", delta="1e-8", solution="third"),
    "shuffle.large": lambda b: replace(
        b.ask("local_count", where=[["far", ">", 1]]), facts=replace(b.table.facts, about=10**9)
    ),
    "shuffle.messages": lambda b: catalogue["shuffle_histogram"].build(
        replace(b.add(b.frame(a=[b.cell]), {"a": C([str(one) for one in range(99)])}).facts, about=10**7),
        {"column": "a", "delta": "0.5", "epsilon": "1"},
    ),
    # Curves.
    "density.columns": lambda b: b.ask("density", columns=["far", "far"]),
    "density.bandwidth": lambda b: b.ask("density", columns=["far"], bandwidth="0"),
    "density.bandwidths": lambda b: b.ask("density", columns=["far"], bandwidth=["1", "2"]),
    "density.narrow": lambda b: b.ask("density", columns=["far"], bandwidth="1e-9"),
    "density.points": lambda b: b.ask("density", columns=["far"], resolution=1),
    "density.sample_many": lambda b: sample(b.ask("density", columns=["far"], resolution=2), {}, 0),
    "density.sample_none": lambda b: sample(
        one := b.ask("density", columns=["far"], resolution=2), dict.fromkeys(one.labels(), -1.0), 5
    ),
    "curve.points": lambda b: b.ask("cdf", column="far", points="0"),
    # Synthetic tables.
    "synthetic.columns": lambda b: b.ask("small_database", columns=[]),
    "synthetic.cells": lambda b: catalogue["mwem"].build(
        replace(b.table.facts, schema=dp.Schema({name: C([str(one) for one in range(120)]) for name in "ab"})),
        {"columns": ["a", "b"], "epsilon": "1"},
    ),
    "synthetic.queries": lambda b: b.ask("mwem", columns=["home"], queries=[[]]),
    "synthetic.condition": lambda b: b.ask("mwem", columns=["home"], queries=[[["far", ">", 1]]]),
    "synthetic.whole": lambda b: b.ask("small_database", columns=["home"], size="0"),
    "synthetic.large": lambda b: b.ask("small_database", columns=["home"], size="900"),
    "synthetic.unknown": lambda b: b.table.synthetic(b.table.ask(b.ask("count", by="home"))),
    # Training.
    "train.features": lambda b: b.train(features=[1]),
    "train.features_twice": lambda b: b.train(features=["age", "age"]),
    "train.feature_kind": lambda b: b.train(features=["likes"]),
    "train.feature_one": lambda b: b.add(b.frame(a=[b.cell], n=[b.digits]), {"a": C(["one"]), "n": N(0, 9)}).query(
        "train_linear", target="n", features=["a"], epsilon="0.1"
    ),
    "train.target_feature": lambda b: b.train(features=["far"]),
    "train.target_one": lambda b: b.add(b.frame(a=[b.cell], n=[b.digits]), {"a": C(["one"]), "n": N(0, 9)}).query(
        "train_logistic", target="a", features=["n"], epsilon="0.1"
    ),
    "train.sides": lambda b: b.ask("train_logistic", target="home", features=["age"], positive=["a"], negative=["a"]),
    "train.wide": lambda b: b.add(
        b.frame(a=[b.cell], n=[b.digits]), {"a": C([str(one) for one in range(300)]), "n": N(0, 9)}
    ).query("train_linear", target="n", features=["a"], epsilon="0.1"),
    "train.few": lambda b: b.add(b.frame(a=[b.cell], n=[b.digits]), {"a": C(["x", "y"]), "n": N(0, 9)}).query(
        "train_linear", target="n", features=["a"], epsilon="0.1"
    ),
    "train.names": lambda b: b.add(
        b.frame(**{"a": [b.cell] * 9, "a = x": [b.digits] * 9, "n": [b.digits] * 9}),
        {"a": C(["x", "y"]), "a = x": N(0, 9), "n": N(0, 9)},
    ).query("train_linear", target="n", features=["a", "a = x"], epsilon="0.1"),
    "train.steps": lambda b: b.train(steps=0),
    "train.lattice": lambda b: b.train(lattice=99),
    "train.rate": lambda b: b.train(rate=0),
    "train.radius": lambda b: b.train(radius="1e9"),
    "train.clip": lambda b: b.train(clip=-1),
    "train.coarse": lambda b: b.train(clip="0.5", lattice=1),
    "train.calibration": lambda b: b.train(calibration="loud"),
    "train.region": lambda b: b.train(region="cube"),
    "train.iterate": lambda b: b.train(iterate="first"),
    "train.no_delta": lambda b: b.small("pure", "1", "0").training_for(
        "train_linear", Fraction(1, 2), target="far", features=["age"]
    ),
    "train.no_room": lambda b: b.table.training_for("train_linear", Fraction(1, 10**9), target="far", features=["age"]),
    "train.model": lambda b: model_from_json({"weights": b.cell}),
    "check_model.model": lambda b: b.check({"kind": "linear"}),
    "check_model.other": lambda b: b.check(
        MODEL | {"target": ["far", {"kind": "number", "lower": "0", "upper": "9", "step": "1", "shape": "bell"}]}
    ),
    "check_model.weights": lambda b: b.check(MODEL | {"weights": [0.5, 0]}),
    "check_model.sides": lambda b: b.check(
        MODEL | {"target": ["home", schema()["home"].as_json()], "kind": "logistic", "yes": [0], "no": [9]}
    ),
    "check_model.parts": lambda b: b.check(MODEL, parts=0),
    "check_model.most_error": lambda b: b.check(MODEL, most_error="11"),
    "check_model.error_steps": lambda b: b.check(MODEL, error_steps="3"),
    "check_model.linear_only": lambda b: b.check(
        MODEL | {"target": ["home", schema()["home"].as_json()], "kind": "logistic", "yes": [0], "no": [1]},
        most_error="1",
    ),
    "budget.exceeded": lambda b: _refused(b, b.small().query("median", column="pay", epsilon="1"), b.small()),
    "budget.exceeded_delta": lambda b: _refused(
        b, b.small().query("find_values", column="note", epsilon="0.01", delta="1e-3"), b.small()
    ),
    "budget.needs_delta": lambda b: _gaussian(b),
    "request.id": lambda b: b.table.ask(b.ask("count", by="home"), "x" * 999),
    "request.reused": lambda b: [
        b.table.ask(b.ask("count", by="home", epsilon=one), "twice") for one in ("0.1", "0.2")
    ],
    "request.meanwhile": lambda b: [b.table.ask(b.ask("count", by="home", epsilon="0.1"), seen=0) for _ in range(2)],
    "request.settled": _settled,
    "request.unknown": lambda b: b.stage.workspace.ledger.answer("nobody", {}),
    "release.failed": lambda b: _failing(b, RuntimeError(f"Conversion Error: {b.cell} {b.digits}")),
    "release.not_started": _not_started,
    "release.stopped": _before_its_turn,
    "release.interrupted": _interrupted,
    "release.waiting": _waiting,
    "engine.unreadable": lambda b: _damaged_table(b, "raw.parquet", lambda t: t.revise(dp.Schema({"home": C(["a"])}))),
    "table.damaged": lambda b: _damaged_table(
        b, "coded-1.parquet", lambda t: t.ask(t.query("mean", column="far", epsilon="0.1"))
    ),
    "table.closed": lambda b: (b.stage.workspace.seal(b.small("shut").name), b.small("shut").revise(schema())),
    "table.sealed": lambda b: _closed(b, "seal"),
    "table.forgotten": lambda b: _closed(b, "forget"),
    "table.revised": _revised,
    # Plans and sessions.
    "plan.empty": lambda b: b.table.submit_plan([], "p"),
    "plan.long": lambda b: b.table.submit_plan([b.ask("count", by="home")] * 999, "p"),
    "plan.keep_range": lambda b: b.table.planner(Fraction(2)),
    "plan.exceeded": lambda b: _plan(b),
    "session.ask_everyone": lambda b: b.session().ask({"share": []}, "x"),
    "session.ask_unknown": lambda b: b.session().ask({"guess": 1}, "x"),
    "session.calibration": lambda b: b.ask("adaptive_session", questions=1, calibration="loud"),
    "session.delta_unused": lambda b: b.ask("adaptive_session", questions=1, delta="1e-6"),
    "session.ended": lambda b: _ended(b),
    "session.largest_gaussian": lambda b: b.ask(
        "adaptive_session", questions=1, calibration="gaussian", ask={"largest": [[["far", ">", 1]], [["far", "<", 1]]]}
    ),
    "session.no_delta": lambda b: b.small("pure", "1", "0").session_for(3, Fraction(1, 2), "gaussian"),
    "session.no_room": lambda b: b.table.session_for(1000, Fraction(1, 10**9)),
    "session.over": lambda b: _over(b),
    "session.questions": lambda b: b.ask("adaptive_session", questions=0),
    "session.step_alone": lambda b: b.table.ask(b.ask("adaptive_session", questions=1, ask={"average": "far"})),
    "session.step_lost": _lost_step,
    "session.step_reused": lambda b: _reused(b),
    "session.too_many": lambda b: b.table.open_session(b.ask("adaptive_session", questions=500, epsilon="1")),
    "session.too_small": lambda b: b.table.open_session(b.ask("adaptive_session", questions=1, epsilon="0.001")),
    "session.unknown": lambda b: b.table.session("nobody"),
    # What an owner does.
    "act.practice": lambda b: b.stage.workspace.seal("town"),
    "raise.upwards": lambda b: b.stage.workspace.raise_cap(b.table.name, "0.1"),
    "forget.left": _forget_left,
    # The ledger and receipts.
    "ledger.locked": _locked,
    "ledger.damaged": _damaged,
    "ledger.newer": _newer,
    "ledger.unwritable": _read_only,
    "ledger.full": lambda b: _full(b),
    "backup.exists": lambda b: backup.backup(b.stage.workspace.folder, b.folder),
    "backup.inside": lambda b: backup.backup(b.stage.workspace.folder, b.stage.workspace.folder / "copy"),
    "backup.nothing": lambda b: backup.home_of(["--home", str(b.folder)]),
    "workspace.secret_missing": lambda b: _no_secret(b),
    "verify.large": lambda b: read_receipts(b"x" * (MOST_BYTES + 1), "r.json"),
    "verify.not_json": lambda b: read_receipts(b.cell.encode(), "r.json"),
    "verify.not_receipt": lambda b: read_receipts(json.dumps({"x": b.cell}).encode(), "r.json"),
    "verify.missing": lambda b: _bytes(b.folder / "nobody"),
    "verify.unreadable": lambda b: _bytes(b.folder),
    "verify.ledger_missing": lambda b: _copied(b.folder / "nobody.sqlite"),
    "verify.not_ledger": lambda b: _copy(b, b.cell.encode(), f"{b.made}.jsonl"),
}

NUMBERS_ALONE = "is said of numbers that were typed; no table is within its reach"
BY_HAND = "needs a ledger or a registry that was rewritten by hand; tests/engine holds those"
PUT_BACK = "is said of a workspace that was put back, taken apart or is in use, before any row is read"
CANNOT: dict[str, str] = {
    "backup.failed": "needs a disk that fails while it copies; tests of the backup hold that",
    "backup.loading": PUT_BACK,
    "budget.closed": PUT_BACK,
    "ledger.rolled_back": PUT_BACK,
    "recover.not_copy": PUT_BACK,
    "recover.other_head": PUT_BACK,
    "recover.short_head": PUT_BACK,
    "registry.missing": PUT_BACK,
    "registry.rolled_back": PUT_BACK,
    "workspace.copy": PUT_BACK,
    "workspace.in_use": PUT_BACK,
    "workspace.mending": PUT_BACK,
    "workspace.unwritable": PUT_BACK,
    "loss.range": "a programming error: every question states its own loss",
    "loss.unknown": BY_HAND,
    "lecture.epsilon_range": NUMBERS_ALONE,
    "verify.ledger_cut": BY_HAND,
    "verify.ledger_unreadable": BY_HAND,
}
PREFIXES_CANNOT = dict.fromkeys(("whatif.", "validity.", "overfitting.", "audit."), NUMBERS_ALONE)
PREFIXES_CANNOT["gate."] = "is said of the address that was asked for, before any page"
PREFIXES_CANNOT["upload."] = "is said of a file that was not kept, or is gone, and so not read"
PREFIXES_CANNOT["workshop."] = "a workshop has no table but the bundled samples"


def _full(bench: Bench) -> None:
    with patch.object(space, "KEPT_FREE", 2**80):
        bench.table.ask(bench.ask("count", where=[["far", ">", 1]], epsilon="0.001"))


def _copied(path: Path) -> None:
    with opened(path) as found:
        list(found)


def _draft(bench: Bench, **parts: Any) -> Any:
    draft = declare_draft.Draft(names=list(NAMES), chosen=["far"])
    draft.cards["far"] = Card(**parts)
    return draft


def _same(bench: Bench) -> Any:
    columns = bench.table.schema.columns
    cards = {name: Card.of(column, Dialect()) for name, column in columns.items()}
    return declare_draft.Draft(names=list(NAMES), chosen=list(columns), cards=cards)


def _many_cells(bench: Bench) -> dp.Table:
    wide = C([str(one) for one in range(3000)])
    return bench.add(bench.frame(a=[bench.cell], b=[bench.cell]), {"a": wide, "b": wide})


def _huge(bench: Bench) -> dp.Table:
    return bench.add(bench.frame(a=[bench.digits]), {"a": N(10**18 + 1, 10**18 + 8, step=7)})


def _gaussian(bench: Bench) -> None:
    table = bench.small("pure", "1", "0")
    _refused(bench, table.query("histogram", column="home", epsilon="0.1", noise="gaussian"), table)


def _plan(bench: Bench) -> None:
    table = bench.small()
    bench.made += 1
    run = f"plan{bench.made}"
    table.submit_plan([table.query("count", by="home", epsilon="0.15")] * 2, run)
    bench.stage.workspace.jobs.wait(run, 20)
    raise table.run(run).error or AssertionError


def _ended(bench: Bench) -> None:
    session = bench.session(2)
    session.end()
    session.ask({"average": "pay"}, "x")


def _over(bench: Bench) -> None:
    session = bench.session(1)
    session.ask({"average": "pay"}, "x")
    session.ask({"average": "pay"}, "y")


def _reused(bench: Bench) -> None:
    session = bench.session(2)
    session.ask({"average": "pay"}, "x")
    session.ask({"average": "far"}, "x")


def codes() -> set[str]:
    """Every code that the program raises, by its source; and those that are put together there."""
    found: set[str] = {
        "load.ragged",
        "load.quoting",
        "load.line_end",
        "load.long_line",
        "load.encoding",
        "load.broken",
        "load.unclosed",
        "load.header_quoting",
        "release.interrupted",
        "ledger.locked",
        "ledger.unwritable",
        "ledger.damaged",
        *(
            f"train.{name}"
            for name in ("calibration", "region", "iterate", "steps", "lattice", "rate", "radius", "clip")
        ),
    }
    for package in ("dpengine", "ui", "pages", "demos"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("AllowanceError", "BudgetExceeded"):
                    for part in ast.walk(node.args[0]) if node.args else ():
                        if isinstance(part, ast.Constant) and isinstance(part.value, str) and "." in part.value:
                            found.add(part.value)
    return {code for code in found if not code.endswith(".")}


def cannot(code: str) -> str | None:
    """Why nobody can cause it, or it cannot tell of a table."""
    return CANNOT.get(code) or next((why for start, why in PREFIXES_CANNOT.items() if code.startswith(start)), None)
