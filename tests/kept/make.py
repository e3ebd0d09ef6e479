"""Makes a kept workspace: run once, at the commit whose workspaces must go on opening, from the root of its checkout:

    PYTHONPATH=. python /path/to/tests/kept/make.py tests/kept/<commit>.tar.xz

It uses only what every version since has had: `import dpengine as dp`, the cases of the small world and the page
Ledger. The archive holds the folder of the workspace and `expected.json`: every answer as that version gave it, its
receipt, the meters, and the links that its pages wrote.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd

import dpengine as dp
from dpengine.audit.world import CASES, SCHEMA

PEOPLE = 60
UNITS = {"rows": dp.Unit.rows(), "several": dp.Unit.column("who", at_most=2)}
RELATIONS = ("replace", "add_remove")
SHORT = {"epsilon": "0.2"}


def frame(shift: int, several: bool) -> pd.DataFrame:
    """Every column of the small world, with cells that do not fit and cells that are empty."""
    rows = range(PEOPLE * 2 if several else PEOPLE)
    return pd.DataFrame(
        {
            "who": [f"p{row // 2 if several else row}" for row in rows],
            "x": [None if row % 7 == 0 else (row + shift) % 5 for row in rows],
            "c": ["abz"[(row + shift) % 3] for row in rows],
            "z": [(row + shift) % 9 - 4 for row in rows],
            "d": ["ef"[(row + shift) % 2] for row in rows],
            "t": ["uvw"[(row * shift) % 3] for row in rows],
            "s": [["p", "p;q", "q;r;o", None][(row + shift) % 4] for row in rows],
            "b": [f"1990-01-0{1 + (row + shift) % 4}" for row in rows],
            "raw number": [None if row % 5 == 0 else row * 37 for row in rows],
            "raw text": [f"Ann {row % 4}" for row in rows],
        }
    )


def add(home: dp.Workspace, name: str, shift: int, unit: str, relation: str = "replace", **more: Any) -> dp.Table:
    return home.add_table(
        name,
        frame(shift, unit == "several"),
        schema=more.get("schema", SCHEMA),
        unit=UNITS[unit],
        relation=relation,
        about_rows=PEOPLE if relation == "add_remove" else None,
        budget=more.get("budget", dp.Budget("100", "0.9")),
    )


def ask_everything(table: dp.Table, unit: str, relation: str) -> None:
    for number, (key, parameters) in enumerate(CASES):
        card = dp.catalogue[key].card
        if relation in card.relations and (unit == "rows" or card.several) and key != "adaptive_session":
            more = {"delta": "0.001"} if "delta" in parameters else {}
            more |= {"epsilon": "4"} if key.startswith("shuffle") else {}  # else too few people
            try:
                table.ask(table.query(key, **SHORT | parameters | more), f"{table.name} {number} {key}")
            except dp.AllowanceError as complaint:
                print(table.name, key, parameters, complaint)


def sessions(table: dp.Table) -> None:
    halfway = table.open_session(table.query("adaptive_session", questions=4, epsilon="1"), "half way")
    halfway.ask({"share": [["c", "in", ["a"]]]}, "first")
    halfway.ask({"largest": [[["x", ">", 2]], [["c", "in", ["b"]]]]}, "second")
    over = table.open_session(
        table.query("adaptive_session", questions=3, epsilon="1", calibration="gaussian"), "ended early"
    )
    over.ask({"average": "z"}, "only")
    over.end()


def plan(table: dp.Table) -> None:
    queries = [
        table.query("count", where=[["x", ">", 1]], epsilon="0.1"),
        table.query("mean", column="z", epsilon="0.3"),
    ]
    table.submit_plan(queries, "a plan")
    while not all(state == "done" for _, state in table.run("a plan").rows) or not table.run("a plan").rows:
        time.sleep(0.05)


def model(table: dp.Table) -> None:
    """A training of several steps, and a check of what it gave."""
    table.ask(table.query("train_logistic", target="c", features=["x", "d"], steps=5, epsilon="2"), "a model")


def owner(home: dp.Workspace) -> None:
    count = {"epsilon": "0.5"}
    small = dp.Schema({"x": dp.Number(0, 4), "c": dp.Category(["a", "b", "z"])})
    for name, shift in (("sealed", 11), ("forgotten", 12), ("raised", 13), ("declared anew", 14), ("first name", 15)):
        table = add(home, name, shift, "rows", schema=small, budget=dp.Budget("3", "1e-6"))
        table.ask(table.query("count", where=[["x", ">", 1]], **count), f"{name} count")
        table.ask(table.query("histogram", column="c", **count), f"{name} bars")
    again = add(home, "second name", 15, "rows", schema=small, budget=dp.Budget("3", "1e-6"))
    again.ask(again.query("median", column="x", **count), "second name median")
    home.seal("sealed")
    home.forget("forgotten")
    home.raise_cap("raised", "5")
    wider = dp.Schema({"x": dp.Number(0, 9), "c": dp.Category(["a", "b", "z"]), "z": dp.Number(-4, 4)})
    anew = home.table("declared anew").revise(wider)
    anew.ask(anew.query("sum", column="z", **count), "declared anew sum")


def lost(home: dp.Workspace) -> None:
    """A question that could not be drawn, and last one whose program was killed after it was charged."""
    table = home.table("raised")
    reading = home.engine.read

    def broken(*_: Any) -> None:
        raise RuntimeError

    home.engine.read = broken  # type: ignore[method-assign]
    try:
        table.ask(table.query("mean", column="x", epsilon="0.1"), "failed")
    except dp.AllowanceError:
        home.engine.read = reading  # type: ignore[method-assign]


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def taken(home: dp.Workspace, links: dict[str, list[str]]) -> dict[str, Any]:
    """What later versions must still say."""
    answers: dict[str, Any] = {}
    for entry in home.ledger.charges(limit=-1):
        if entry.outcome is not None and entry.outcome.kind == "answer":
            answer = home.answer_of(entry)
            told = {"value": plain(answer.value), "interval": plain(answer.interval), "receipt": plain(answer.receipt)}
            answers[entry.charge.request] = told | {"key": answer.query.card.key, "table": entry.charge.table}
    names = [record.name for record in home.tables()]
    steps = {
        name: [
            {"id": one.step, "state": one.state, "value": plain(one.value), "receipt": plain(one.receipt)}
            for one in home.table("rows replace").session(name).look()[2]
        ]
        for name in ("half way", "ended early")
    }
    meters = {name: [str(home.table(name).meter().spent_epsilon), home.table(name).meter().charges] for name in names}
    return {"answers": answers, "steps": steps, "meters": meters, "closed": home.closed(), "links": links}


def links_of(names: list[str]) -> dict[str, list[str]]:
    """Every address that the page Ledger writes for these tables, one page of it or more."""
    from streamlit.testing.v1 import AppTest

    found: dict[str, list[str]] = {}
    for name in names:
        for page_number in "123":
            page = AppTest.from_file(str(Path.cwd() / "ui" / "main.py"), default_timeout=60)
            page.query_params["table"], page.query_params["page"] = name, page_number
            page.switch_page("../pages/ledger.py").run()
            assert not page.exception, page.exception
            body = "\n".join(element.proto.body for element in page.get("html"))
            links = [unescape(link) for link in re.findall(r'href="([a-z]+\?[^"]+)"', body)]
            found[name] = list(dict.fromkeys([*found.get(name, []), *links]))
    return found


def form_links(home: dp.Workspace) -> list[str]:
    """The address of the form of every question that is asked on Ask, as that version wrote it."""
    preview = import_module("ui.preview" if Path("ui/preview.py").exists() else "ui.parts.preview")
    table = home.table("rows replace")
    asked = [case for case in CASES if not case[0].startswith(("publish", "train", "adaptive", "check", "find", "fit"))]
    return [f"ask?{urlencode(preview.link(table, table.query(key, **SHORT | more)))}" for key, more in asked]


def fill(folder: Path, expected: Path) -> None:
    """In a process of its own, which ends as a killed program does."""
    os.environ["ALLOWANCE_HOME"] = str(folder)
    home = dp.open_workspace(folder)
    shift = 0
    for unit in UNITS:
        for relation in RELATIONS:
            shift += 1
            ask_everything(add(home, f"{unit} {relation}", shift, unit, relation), unit, relation)
    first = home.table("rows replace")
    sessions(first)
    plan(first)
    model(first)
    owner(home)
    practice = home.table("residents", "somebody")
    practice.ask(practice.query("count", where=[["gender", "in", ["F"]]], epsilon="0.1"), "practice")
    lost(home)
    links = links_of([record.name for record in home.tables()]) | {"forms": form_links(home)}
    links["rows replace"] += [f"plan?{urlencode({'table': first.name, 'run': 'a plan'})}"]
    expected.write_text(json.dumps(taken(home, links)))
    home.engine.read = lambda *_: os._exit(0)  # type: ignore[method-assign]
    table = home.table("raised")
    table.ask(table.query("mean", column="z" if "z" in table.schema.columns else "x", epsilon="0.1"), "killed")


def main(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder, expected = Path(scratch) / "workspace", Path(scratch) / "expected.json"
        subprocess.run([sys.executable, __file__, "--fill", str(folder), str(expected)], check=True)
        with tarfile.open(archive, "w:xz", preset=9) as packed:
            packed.add(folder, "workspace")
            packed.add(expected, "expected.json")
    print(f"{archive}: {archive.stat().st_size} bytes")


if __name__ == "__main__":
    if sys.argv[1] == "--fill":
        fill(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main(Path(sys.argv[1]))
