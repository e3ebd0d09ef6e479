"""What has to be done before some refusals come: a table is damaged, a session used up, a disk is full."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from leaks.refusal_bench import Bench
from leaks.stage import NAMES, rows, written

import dpengine as dp
from dpengine.asking.jobs import Jobs
from dpengine.core import files
from dpengine.declared.dialect import Dialect
from dpengine.ledger.exports import opened
from dpengine.ledger.ledger import Ledger
from dpengine.mechanisms import catalogue
from dpengine.released.published import Published
from tests.helpers_ledger import PATIENCE, once_closing
from ui.data import wizard
from ui.data.draft import Card, Draft, column_of


def failing(bench: Bench, fault: BaseException) -> dp.Answer:
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


def task(bench: Bench) -> None:
    def work(tell: Any) -> None:
        raise ValueError(f"could not convert string to float: {bench.cell!r}")

    task = wizard.Task("load", work)
    task.wait(PATIENCE)
    raise task.error or AssertionError


def stopped(bench: Bench) -> None:
    path = written(bench.folder / "stopped.csv", rows(bench.stage.canaries, 30))
    started: list[wizard.Task] = []

    def work(tell: Any) -> Any:
        while not started:
            pass
        started[0].stop()
        return bench.add(path, {"far": dp.Number(0, 9)}, progress=tell)

    started.append(task := wizard.Task("load", work))
    task.wait(PATIENCE)
    raise task.error or AssertionError


def refused(bench: Bench, query: dp.Query, table: dp.Table) -> None:
    """A release on the worker, whose refusal the page is told."""
    bench.made += 1
    job = table.submit(query, f"w{bench.made}")
    table._workspace.jobs.wait(job.request_id, PATIENCE)
    error = table._workspace.job(job.request_id).error
    raise error or AssertionError


def not_started(bench: Bench) -> None:
    bench.made += 1
    jobs, name = bench.stage.workspace.jobs, f"n{bench.made}"

    def carry() -> None:
        raise RuntimeError(bench.cell)

    jobs.submit(name, carry)
    raise jobs.wait(name, PATIENCE).error or AssertionError


def before_its_turn(bench: Bench) -> None:
    """Cancelled while others are before it."""
    bench.made += 1
    jobs, name, gate = bench.stage.workspace.jobs, f"s{bench.made}", threading.Event()
    for place in range(2):
        jobs.submit(f"{name}.{place}", lambda: gate.wait(PATIENCE))
    jobs.submit(name, lambda: None)
    jobs.cancel(name)
    gate.set()
    raise jobs.wait(name, PATIENCE).error or AssertionError


def dropped(bench: Bench) -> None:
    """Still in the queue when its process ends."""
    bench.made += 1
    ledger, name, gate = bench.stage.workspace.ledger, f"d{bench.made}", threading.Event()
    ending = Jobs(ledger.path.parent, ledger)
    for place in range(2):
        ending.submit(f"{name}.{place}", lambda: gate.wait(PATIENCE))
    ending.submit(name, lambda: None)
    once_closing(ending, gate.set)
    ending.close()
    raise bench.stage.workspace.jobs.state(name).error or AssertionError


def lost_step(bench: Bench) -> None:
    """A step of a session that breaks while it reads."""
    session, workspace = bench.session(), bench.stage.workspace

    def read(*_: Any) -> Any:
        raise RuntimeError(bench.cell)

    workspace.read = read
    try:
        session.ask({"average": "pay"}, "one")
    finally:
        del workspace.read


def interrupted(bench: Bench) -> None:
    """A charge whose worker is gone."""
    bench.made += 1
    name, table, workspace = f"i{bench.made}", bench.table, bench.stage.workspace
    step = table._asker.prepared(bench.ask("count", by="home"), name)()
    workspace.ledger.reserve(**(step.reserve_args | {"worker": "ab12"}))
    raise workspace.jobs.state(name).error or AssertionError


def waiting(bench: Bench) -> None:
    """A charge another process is busy with."""
    from dpengine.asking.release import charge_and_draw
    from dpengine.storage.workers import in_hand

    bench.made += 1
    name, workspace = f"b{bench.made}", bench.stage.workspace
    step = bench.table._asker.prepared(bench.ask("count", by="home"), name)()
    workspace.ledger.reserve(**step.reserve_args)
    with in_hand(step.reserve_args["worker"], name):
        charge_and_draw(workspace.ledger, step.reserve_args, step.read, step.draw, patience=0.0)


def damaged_table(bench: Bench, part: str, act: Callable[[dp.Table], Any]) -> None:
    """A table whose file somebody overwrote with rows of their own."""
    table = bench.add(
        written(bench.folder / f"d{bench.made}.csv", rows(bench.stage.canaries, 40 + bench.made)),
        {"far": dp.Number(0, 9)},
    )
    folder = bench.stage.workspace.folder / "tables" / table._record.folder
    end = b"" if part.startswith("coded") else b"PAR1"
    (folder / part).write_bytes(b"PAR1" + bench.cell.encode() * 9 + end)
    act(table)


def forget_left(bench: Bench) -> None:
    table, owner = bench.small("kept"), __import__("dpengine.storage.erase", fromlist=["owner"])
    kept, owner.shutil = owner.shutil, SimpleNamespace(rmtree=lambda *_, **__: None)
    try:
        bench.stage.workspace.forget(table.name)
    finally:
        owner.shutil = kept


def unwritable(bench: Bench) -> None:
    from dpengine.intake.load import load

    source = written(bench.folder / "full.csv", rows(bench.stage.canaries, 10))
    load(source, Dialect(), bench.folder / "no such folder" / "raw.parquet", b"k" * 32)


def locked(bench: Bench) -> None:
    ledger = bench.ledger(lambda db: None)
    other = sqlite3.connect(ledger.path)
    other.execute("BEGIN IMMEDIATE")
    try:
        ledger.raise_cap(bench.table.budget.id, bench.table.name, Fraction(100), "owner")
    finally:
        other.rollback()
        other.close()
        ledger.close()


def damaged(bench: Bench) -> None:
    def change(db: sqlite3.Connection) -> None:
        db.execute("DROP TRIGGER no_update")
        db.execute("UPDATE entries SET actor = 'somebody else' WHERE kind = 'charge'")

    ledger = bench.ledger(change)
    try:
        ledger.standing(bench.table.budget.id)
    finally:
        ledger.close()


def of_version(version: int) -> Callable[[Bench], None]:
    def change(db: sqlite3.Connection) -> None:
        db.execute(f"PRAGMA user_version = {version}")

    return lambda bench: bench.ledger(change).close()


def read_only(bench: Bench) -> None:
    """A folder in place of the ledger."""
    place = bench.folder / f"dir{bench.made}" / "ledger.sqlite"
    bench.made += 1
    place.mkdir(parents=True)
    Ledger(place, wait=0.1)


def copy(bench: Bench, data: bytes, name: str) -> None:
    with opened(bench.put(data, name)) as found:
        list(found)


def secret(bench: Bench) -> None:
    home = bench.folder / f"home{bench.made}"
    bench.made += 1
    home.mkdir()
    (home / "secret").write_bytes(b"short")
    dp.open_workspace(home)


def no_secret(bench: Bench) -> None:
    home = bench.folder / f"home{bench.made}"
    bench.made += 1
    home.mkdir()
    (home / "ledger.sqlite").write_bytes(b"")
    dp.open_workspace(home)


def some_file(bench: Bench) -> Path:
    path = bench.folder / "some.zip"
    path.write_text(bench.cell, encoding="utf-8")
    return path


def settled(bench: Bench) -> None:
    answer = bench.table.ask(bench.ask("count", by="home"))
    bench.stage.workspace.ledger.answer(answer.request_id, {"value": 1})


def closed(bench: Bench, kind: str) -> None:
    table = bench.small(f"to {kind}")
    getattr(bench.stage.workspace, kind)(table.name)
    table.ask(table.query("count", by="home", epsilon="0.01"))


def revised(bench: Bench) -> None:
    table = bench.small("to revise")
    query = table.query("count", by="home", epsilon="0.01")
    table.revise(dp.Schema({"far": dp.Number(0, 5)}))
    table.ask(query)


def protected(bench: Bench) -> dp.Table:
    """A table whose rows belong to people since it was added."""
    table = bench.small("to protect")
    name = "protected"
    if name not in bench.held:
        bench.held[name] = table.protect(dp.Unit.column("note", 3))
    return bench.held[name]


def unprotected(bench: Bench, budget: str, epsilon: str) -> None:
    table = bench.small(f"asked {epsilon}", budget)
    table.ask(table.query("count", by="home", epsilon=epsilon))
    table.protect(dp.Unit.column("note", 7))


def outlived(bench: Bench) -> None:
    table = bench.small("to outlive", "20")
    table.open_session(table.query("adaptive_session", questions=2, epsilon="4"), "outlived")
    table.protect(dp.Unit.column("note", 2)).session("outlived").ask({"average": "pay"}, "x")


def parquet(bench: Bench, **columns: Any) -> Path:
    path = bench.put(b"", f"{bench.made}.parquet")
    bench.made += 1
    pq.write_table(pa.table(columns), path)
    return path


WHOSE: dict[str, Any] = {"unit": dp.Unit.column("b", 1)}


def folder(bench: Bench, *texts: str) -> Path:
    bench.made += 1
    place = bench.folder / f"folder{bench.made}"
    place.mkdir()
    for number, content in enumerate(texts):
        (place / f"{number}.csv").write_text(content, encoding="utf-8")
    return place


def card(bench: Bench, **parts: Any) -> None:
    column_of(Card(**parts), Dialect())


def published(bench: Bench, column: str) -> Published:
    answer = bench.table.ask(bench.ask("publish_table", columns=[column]))
    return bench.table.published(answer)


def other_columns(bench: Bench, key: str, **columns: Any) -> Any:
    """A question about all columns of the same table, had it been declared so."""
    facts = replace(bench.table.facts, schema=dp.Schema(columns))
    return catalogue[key].build(facts, {"columns": list(columns), "epsilon": "1"})


def of_a_thousand_million(bench: Bench) -> Any:
    return replace(bench.ask("publish_number", columns=["far"]), facts=replace(bench.table.facts, about=10**9))


def changed_file(bench: Bench) -> Any:
    found = published(bench, "home")
    found.path.write_bytes(b"PAR1")
    return found.counts("home")


def full(bench: Bench) -> None:
    with patch.object(files, "KEPT_FREE", 2**80):
        bench.table.ask(bench.ask("count", where=[["far", ">", 1]], epsilon="0.001"))


def copied(path: Path) -> None:
    with opened(path) as found:
        list(found)


def guessed() -> Any:
    """A column whose name says something, and nobody said yes."""
    return Draft(names=["age"], chosen=["age"])


def draft(bench: Bench, **parts: Any) -> Any:
    draft = Draft(names=["far"], chosen=["far"])
    draft.cards["far"] = Card(**parts)
    return draft


def same(bench: Bench) -> Any:
    columns = bench.table.schema.columns
    cards = {name: Card.of(column, Dialect()) for name, column in columns.items()}
    return Draft(names=list(NAMES), chosen=list(columns), cards=cards)


def many_cells(bench: Bench) -> dp.Table:
    wide = dp.Category([str(one) for one in range(3000)])
    return bench.add(bench.frame(a=[bench.cell], b=[bench.cell]), {"a": wide, "b": wide})


def huge(bench: Bench) -> dp.Table:
    return bench.add(bench.frame(a=[bench.digits]), {"a": dp.Number(10**18 + 1, 10**18 + 8, step=7)})


def gaussian(bench: Bench) -> None:
    table = bench.small("pure", "1", "0")
    refused(bench, table.query("histogram", column="home", epsilon="0.1", noise="gaussian"), table)


def plan(bench: Bench) -> None:
    table = bench.small()
    bench.made += 1
    run = f"plan{bench.made}"
    table.submit_plan([table.query("count", by="home", epsilon="0.15")] * 2, run)
    bench.stage.workspace.jobs.wait(run, PATIENCE)
    raise table.run(run).error or AssertionError


def ended(bench: Bench) -> None:
    session = bench.session(2)
    session.end()
    session.ask({"average": "pay"}, "x")


def declared_anew(bench: Bench) -> None:
    """A session asks about a column that was checked, and then declared anew."""
    table = bench.small("anew", "5")
    session = table.open_session(table.query("adaptive_session", questions=2, epsilon="0.5"), "anew")
    table.ask(table.query("fit_checks", columns=["pay"], epsilon="0.01"))
    anew = table.revise(dp.Schema(table.schema.columns | {"pay": dp.Number(0, 7)}))
    anew.session(session.request).ask({"average": "pay"}, "x", checked=True)


def valueless(bench: Bench) -> None:
    """A session asks for an average where half of the cells are empty."""
    table = bench.add(bench.frame(a=[None, 1] * 200, note=[bench.cell] * 400), budget=dp.Budget("60", "1e-6"))
    session = table.open_session(table.query("adaptive_session", questions=2, epsilon="2"), f"empty {bench.made}")
    table.ask(table.query("fit_checks", columns=["a"], epsilon="20"))
    session.ask({"average": "a"}, "x", checked=True)


def padded(bench: Bench) -> None:
    """A session asks for an average where people have several rows."""
    frame = bench.frame(who=[bench.cell, *map(str, range(399))], a=[1, 2] * 200)
    table = bench.add(frame, unit=dp.Unit.column("who", 3), budget=dp.Budget("60", "1e-6"))
    session = table.open_session(table.query("adaptive_session", questions=2, epsilon="5"), f"padded {bench.made}")
    table.ask(table.query("fit_checks", columns=["a"], epsilon="20"))
    session.ask({"average": "a"}, "x", checked=True)


def over(bench: Bench) -> None:
    session = bench.session(1)
    session.ask({"average": "pay"}, "x")
    session.ask({"average": "pay"}, "y")


def reused(bench: Bench) -> None:
    session = bench.session(2)
    session.ask({"average": "pay"}, "x")
    session.ask({"average": "far"}, "x")
