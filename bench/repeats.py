"""How much Ask and the Ledger work when the same questions were asked thousands of times: `python -m bench.repeats`.

Made-up answers are written into a ledger as releases write them, in one transaction. Counted are the steps of SQLite's
machine and the questions built, which a busy computer does not change; the seconds of the processor stand beside them.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd

import dpengine as dp
from bench.measure import drawn
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import price
from dpengine.asking.answers import claim_of
from dpengine.core.strict_json import canonical
from dpengine.ledger.rows import Standing, charge_body, charge_totals
from dpengine.mechanisms.query import Query
from dpengine.messages import plain

ROOT = Path(__file__).resolve().parents[1]
TIMES = (10, 100, 1_000, 8_334)
EVERY = 100  # steps of SQLite's machine between two counts
WHERE = '[["town", "in", ["a"]]]'


def questions(table: dp.Table) -> list[Query]:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("count", {"where": [["town", "in", ["a"]]]}),
        ("count", {"where": [["pay", ">", 50]]}),
        ("histogram", {"column": "town"}),
        ("mean", {"column": "pay"}),
        ("sum", {"column": "pay"}),
        ("median", {"column": "pay"}),
    ]
    return [table.query(key, epsilon="0.001", **given) for key, given in asked]


def ask_often(table: dp.Table, times: int) -> None:
    """Six questions, each so many times, one after the other."""
    ledger, worker = table._workspace.ledger, table._workspace.jobs.worker
    rule, before, at = table.budget.rule, Standing.NOTHING, "2026-01-02T03:04:05+00:00"
    told = []
    for one in questions(table):
        raw = one.draw(table._workspace.read(one.need(), table._record, table.schema), table._workspace.coins)
        told.append((claim_of(one), one.loss(), one.stored(raw)))
    with ledger._store.writing() as db:
        for turn in range(times):
            for place, (claim, loss, body) in enumerate(told):
                paid, request = cost(loss, rule.alpha), f"{turn} {place}"
                after = Standing(before.totals.plus(paid), before.history.plus(loss))
                text = charge_body(table.name, worker, claim, loss, price(rule, before.totals, paid))
                sums = charge_totals(before.totals, after.totals, after.history)
                charge = ledger._append(db, "charge", table.budget.id, request, table.actor, text, sums, at)
                answer = ledger._append(db, "answer", table.budget.id, request, table.actor, canonical(body), "", at)
                noted(db, answer, charge)
                before = after


def noted(db: Any, answer: dict[str, Any], charge: dict[str, Any]) -> None:
    """What is kept beside the chain, by a version that keeps it."""
    try:
        from dpengine.ledger import repeats
    except ImportError:
        return
    repeats.note(db, answer["seq"], charge["seq"], charge["budget"], charge["body"])


def measured(folder: Path, times: int) -> list[tuple[str, int, int, float]]:
    from streamlit.testing.v1 import AppTest

    os.environ["ALLOWANCE_HOME"] = str(folder)
    people = pd.DataFrame({"town": ["a", "b"] * 250, "pay": [str(place % 100) for place in range(500)]})
    schema = dp.Schema({"town": dp.Category(["a", "b"]), "pay": dp.Number(0, 100)})
    workspace = dp.open_workspace(folder)
    table = workspace.add_table("T", people, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("100", "1e-6"))
    ask_often(table, times)
    counted = {"steps": 0, "built": 0}
    build = Query.build.__func__  # type: ignore[attr-defined]

    def building(cls: Any, *given: Any) -> Any:
        counted["built"] += 1
        return build(cls, *given)

    Query.build = classmethod(building)  # type: ignore[method-assign]
    from dpengine.ledger import sqlite_file

    made = sqlite_file.Handle.__init__

    def watched(self: Any, *given: Any) -> None:
        made(self, *given)
        self.db.conn.set_progress_handler(lambda: counted.__setitem__("steps", counted["steps"] + EVERY), EVERY)

    sqlite_file.Handle.__init__ = watched  # type: ignore[method-assign]
    found = []
    asked = {"q": "count", "where": WHERE, "epsilon": "0.001"}
    pages = (("ask", asked), ("ask", {"answer": f"{times - 1} 0"}), ("answers", {"view": "ledger"}), ("answers", {}))
    for warm in (True, False):
        for name, given in pages:
            app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=600)
            app.switch_page(f"../pages/{name}.py")
            for key, value in ({"table": "T"} | given).items():
                app.query_params[key] = value
            counted.update(steps=0, built=0)
            start = time.process_time()
            app.run()
            drawn(app, name)
            if not warm:
                title = " ".join([name, *given])
                found.append((title, counted["steps"], counted["built"], time.process_time() - start))
    Query.build = classmethod(build)  # type: ignore[method-assign]
    sqlite_file.Handle.__init__ = made  # type: ignore[method-assign]
    return found


def main() -> None:
    logging.disable(logging.WARNING)
    chosen = tuple(int(one) for one in sys.argv[1:]) or TIMES
    print("| six questions, each asked | page | SQLite steps | questions built | processor s |")
    print("|---:|---|---:|---:|---:|")
    for times in chosen:
        with tempfile.TemporaryDirectory() as folder:
            for title, steps, built, seconds in measured(Path(folder), times):
                told = (plain(times) + " times", title, plain(steps), plain(built), f"{seconds:.2f}")
                print(f"| {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
