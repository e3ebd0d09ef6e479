"""Makes the kept workspaces of a version, from the root of its checkout: `python -m tests.kept.make 1.0`.

The archive tests/kept/<version>.tar.xz holds two workspaces with a row of every kind, and `expected.json`: every answer
as this version gave it, its receipt, the meters, a declaration, and the links that its pages wrote. One workspace is a
person's own; in the other people sign in, and its ledger was lost and recovered. From 1.0 on an archive is never made
anew: it would prove nothing.
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
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd

import dpengine as dp
from dpengine.audit.world import CASES, SCHEMA
from dpengine.commands import recover
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.noise.coins import SystemCoins
from dpengine.released.shapes import Shapes, predictable
from tests.helpers_people import HALF, MINE, Office, count, office
from ui.train import train

KEPT = Path(__file__).resolve().parent
PEOPLE = 60
UNITS = {"rows": dp.Unit.rows(), "several": dp.Unit.column("who", at_most=2)}
RELATIONS = ("replace", "add_remove")
BUDGET = dp.Budget("100", "0.9")
SMALL = dp.Schema({"x": dp.Number(0, 4), "c": dp.Category(["a", "b", "z"])})
# Every part that a declaration may have.
RICH = dp.Schema(
    {
        "x": dp.Number(0, 4, missing=1, measure="kg", codes=[9], words=True),
        "c": dp.Category(["a", "b"], aliases=[["z", "b"]], spellings="months-1", complete=True),
        "d": dp.Category(["e", "f"], unknown="other", missing="none"),
        "s": dp.ItemSet(["p", "q"], at_most=2),
        "b": dp.Date("1990-01-01", "1990-01-04", words=True),
    },
    never=[[["c", "in", ["a"]], ["x", ">", 3]]],
)
LONG = dp.Schema({"c": dp.Category(["a", "b", *(f"v{number}" for number in range(1_000))])})


def frame(shift: int, several: bool = False) -> pd.DataFrame:
    """Every column of the small world, with cells that do not fit and cells that are empty."""
    rows = range(PEOPLE * 2 if several else PEOPLE)
    return pd.DataFrame(
        {
            "who": [f"p{row // 2 if several else row}" for row in rows],
            "x": [None if row % 7 == 0 else (row + shift) % 5 for row in rows],
            "c": ["abz"[(row + shift) % 3] for row in rows],
            "z": [(row + shift) % 9 - 4 for row in rows],
            "p": [4 + (row + shift) % 4 for row in rows],
            "d": ["ef"[(row + shift) % 2] for row in rows],
            "t": ["uvw"[(row * shift) % 3] for row in rows],
            "s": [["p", "p;q", "q;r;o", None][(row + shift) % 4] for row in rows],
            "b": [f"1990-01-0{1 + (row + shift) % 4}" for row in rows],
            "raw number": [None if row % 5 == 0 else row * 37 for row in rows],
            "raw text": [f"Ann {row % 4}" for row in rows],
        }
    )


def add(home: dp.Workspace, name: str, shift: int, unit: str = "rows", relation: str = "replace", **terms: Any) -> Any:
    given = {"schema": SCHEMA, "budget": BUDGET} | terms
    about = PEOPLE if relation == "add_remove" else None
    people = frame(shift, unit == "several")
    return home.add_table(name, people, unit=UNITS[unit], relation=relation, about_rows=about, **given)


def ask_everything(table: dp.Table, unit: str, relation: str) -> None:
    """Every variant of every question that this unit and this relation allow; the others refuse."""
    for number, (key, parameters) in enumerate(CASES):
        card = dp.catalogue[key].card
        if relation not in card.relations or (unit != "rows" and not card.several) or key == "adaptive_session":
            continue
        more = {"delta": "0.001"} if "delta" in parameters else {}
        more |= {"epsilon": "4"} if key.startswith("shuffle") else {}  # else there are too few people
        try:
            table.ask(table.query(key, **{"epsilon": "0.2"} | parameters | more), f"{table.name} {number} {key}")
        except dp.AllowanceError as refusal:
            print(f"{table.name}: {key} {parameters}: {refusal}")


@contextmanager
def failing(home: dp.Workspace) -> Iterator[None]:
    """No draw succeeds."""

    class Failing(SystemCoins):
        def laplace(self, *_: Any) -> Any:
            raise RuntimeError

        gaussian = laplace

    home.coins = Failing()
    try:
        yield
    except dp.AllowanceError:
        pass
    finally:
        home.coins = SystemCoins()


def sessions(home: dp.Workspace, table: dp.Table) -> None:
    half_way = table.open_session(table.query("adaptive_session", questions=4, epsilon="1"), "half way")
    half_way.ask({"share": [["c", "in", ["a"]]]}, "first")
    half_way.ask({"largest": [[["x", ">", 2]], [["c", "in", ["b"]]]]}, "second")
    with failing(home):
        table.session("half way").ask({"share": [["c", "in", ["b"]]]}, "lost")
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
    while not (rows := table.run("a plan").rows) or not all(state == "done" for _, state in rows):
        time.sleep(0.05)


def owner(home: dp.Workspace) -> None:
    """Every act of an owner."""
    half: dict[str, Any] = {"epsilon": "0.5"}
    names = ("sealed", "forgotten", "raised", "declared anew", "first name", "protected")
    for shift, name in enumerate(names, start=11):
        table = add(home, name, shift, schema=SMALL, budget=dp.Budget("9", "1e-6"))
        table.ask(table.query("count", where=[["x", ">", 1]], **half), f"{name} count")
        table.ask(table.query("histogram", column="c", **half), f"{name} bars")
    again = add(home, "second name", 15, schema=SMALL, budget=dp.Budget("9", "1e-6"))
    again.ask(again.query("median", column="x", **half), "second name median")
    home.seal("sealed")
    home.forget("forgotten")
    home.raise_cap("raised", "12")
    home.protect("protected", dp.Unit.column("who", at_most=3))
    home.ledger.new_people(home.record("raised").budget, "raised", "next year", "owner")
    wider = dp.Schema({**SMALL.columns, "x": dp.Number(0, 9), "z": dp.Number(-4, 4)})
    anew = home.table("declared anew").revise(wider)
    anew.ask(anew.query("sum", column="z", **half), "declared anew sum")
    long = add(home, "long list", 20, schema=LONG)
    long.ask(long.query("top_item", column="c", **half), "long list top")
    rich = add(home, "every part", 23, schema=RICH)
    rich.ask(rich.query("mean", column="x", **half), "every part mean")
    survey = add(home, "sample", 21, schema=SMALL, sample=True)
    survey.ask(survey.query("proportion", of=[["c", "in", ["a"]]], **half), "share of a sample")
    checked = add(home, "checked", 22, schema=SMALL)
    checked.ask(checked.query("count", where=[["c", "in", ["a"]]], **half), "checked count", checked=True)
    pure = add(home, "without a reserve", 24, schema=SMALL, budget=dp.Budget("9", "0"))
    pure.ask(pure.query("count", where=[["c", "in", ["a"]]], **half), "without a reserve count")
    practice = home.table("residents", "somebody")
    practice.ask(practice.query("count", where=[["gender", "in", ["F"]]], epsilon="0.1"), "practice")
    with failing(home):
        table = home.table("raised")
        table.ask(table.query("count", where=[["x", ">", 2]], epsilon="0.1"), "failed")


def joined(home: dp.Workspace) -> None:
    """Two files that have an allowance each become one table, whose allowance has spent both."""
    with tempfile.TemporaryDirectory() as folder:
        visits, people = Path(folder) / "visits.csv", Path(folder) / "people.csv"
        rows = range(PEOPLE)
        pd.DataFrame({"who": [f"p{row // 2}" for row in rows], "cost": [row % 9 for row in rows]}).to_csv(
            visits, index=False
        )
        pd.DataFrame({"id": [f"p{row}" for row in rows], "age": [row % 8 for row in rows]}).to_csv(people, index=False)
        terms: dict[str, Any] = {"relation": "add_remove", "about_rows": PEOPLE, "budget": dp.Budget("5", "1e-6")}
        by_id, cost, age = dp.Unit.column("who", at_most=2), {"cost": dp.Number(0, 9)}, {"age": dp.Number(0, 9)}
        first = home.add_table("their visits", visits, schema=dp.Schema(cost), unit=by_id, **terms)
        first.ask(first.query("mean", column="cost", epsilon="0.5"), "visits mean")
        other = home.add_table("people", people, schema=dp.Schema(age), unit=dp.Unit.rows(), **terms)
        other.ask(other.query("mean", column="age", epsilon="0.5"), "people mean")
        source = dp.Joined(visits, people, ("who", "id"))
        both = home.add_table(
            "visits of people", source, schema=dp.Schema(cost | age), unit=by_id, add_up=True, **terms
        )
        both.ask(both.query("mean", column="age", epsilon="0.5"), "joined mean")


def to_download(table: dp.Table) -> None:
    """A model whose coefficients have ranges, and a first look from which models are read."""
    terms = {"target": "z", "features": ["x"], "calibration": "l2_laplace", "steps": 1}
    table.ask(table.query("train_linear", **terms, epsilon="2"), "a model with ranges")
    table.ask(table.query("overview", columns=["z", "c"], against=["c"], epsilon="1"), "a look with models")


def models(home: dp.Workspace) -> dict[str, Any]:
    """Every model as its page downloads it: of each training, and of each column that a first look predicts."""
    found: dict[str, Any] = {}
    for name in (record.name for record in home.tables()):
        for answer in home.table(name).trainings(most=-1):
            if isinstance(answer.query, OfGradients) and answer.path is not None:
                found[answer.request_id] = train.model_json(answer, answer.query.model(answer.path.weights))
        for answer in home.table(name).first_looks():
            for target in predictable(answer.value):
                found[f"{answer.request_id} {target}"] = train.model_json(answer, Shapes(answer.value, target))
    return {request: json.loads(text) for request, text in found.items()}


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def expected_of(home: dp.Workspace, links: dict[str, list[str]]) -> dict[str, Any]:
    """What later versions must still say."""
    answers: dict[str, Any] = {}
    for entry in home.ledger.charges(limit=-1):
        if entry.outcome is not None and entry.outcome.kind == "answer":
            answer = home.answer_of(entry)
            assert answer is not None
            given = {"value": answer.value, "interval": answer.interval, "receipt": answer.receipt}
            beyond = {"population": answer.population}
            also = {"key": answer.query.card.key, "table": entry.charge.table}
            answers[entry.charge.request] = plain(given | beyond | also)
    names = [record.name for record in home.tables()]
    steps = {
        name: [
            {"id": one.step, "state": one.state, "value": plain(one.value), "receipt": plain(one.receipt)}
            for one in home.table("rows replace").session(name).look()[2]
        ]
        for name in ("half way", "ended early")
    }
    meters = {name: [str(home.table(name).meter().spent_epsilon), home.table(name).meter().charges] for name in names}
    declarations = {
        name: home.table(name).declaration().as_json() for name in ("rows replace", "several add_remove", "every part")
    }
    return {
        "answers": answers,
        "steps": steps,
        "meters": meters,
        "closed": home.closed(),
        "declarations": plain(declarations),
        "models": models(home),
        "links": links,
    }


def links_of(home: dp.Workspace) -> dict[str, list[str]]:
    """Every address that the Ledger's first pages write for these tables, and the form of every question on Ask."""
    from streamlit.testing.v1 import AppTest

    from ui.ask import preview

    found: dict[str, list[str]] = {}
    for record in home.tables():
        for number in "123":
            page = AppTest.from_file(str(Path.cwd() / "ui" / "main.py"), default_timeout=60)
            page.query_params["table"], page.query_params["view"] = record.name, "ledger"
            page.query_params["page"] = number
            page.switch_page("../pages/answers.py").run()
            assert not page.exception, page.exception
            body = "\n".join(element.proto.body for element in page.get("html"))
            links = [unescape(link) for link in re.findall(r'href="([a-z]+\?[^"]+)"', body)]
            found[record.name] = list(dict.fromkeys([*found.get(record.name, []), *links]))
    first = home.table("rows replace")
    asked = [(key, more) for key, more in CASES if "ask" in dp.catalogue[key].card.asked_on]
    found["forms"] = [
        f"ask?{urlencode(preview.preview_link(first, first.query(key, **{'epsilon': '0.2'} | more)))}"
        for key, more in asked
    ]
    found["forms"].append(f"several?{urlencode({'table': first.name, 'run': 'a plan'})}")
    return found


def fill_own(folder: Path) -> None:
    home = dp.open_workspace(folder)
    shift = 0
    for unit in UNITS:
        for relation in RELATIONS:
            shift += 1
            ask_everything(add(home, f"{unit} {relation}", shift, unit, relation), unit, relation)
    first = home.table("rows replace")
    sessions(home, first)
    to_download(first)
    plan(first)
    owner(home)
    joined(home)
    home.close()


def fill_served(folder: Path) -> None:
    """Every row about people; then a head from elsewhere shows that the ledger lost its last rows."""
    with office(folder) as here:
        people(here)
    assert recover.main(["--home", str(folder / "var"), "--close", "f" * 64]) == 0


def people(here: Office) -> None:
    record, owner_id = here.workspace.record(MINE), here.person("owner")
    here.face("administrator").name_group("g-ward", [here.person("analyst"), here.person("auditor")])
    table = here.face("analyst").table(MINE)
    table.ask(count(table), "of a grant")
    here.face("analyst").wish(MINE, "one more figure", share="0.6", wish_id="a wish")
    here.face("owner").decide("a wish", "yes")
    here.workspace.ledger.set_limit(record.budget, MINE, Fraction(1, 4), owner_id)
    above = count(table, "0.3")
    here.face("analyst").wish(MINE, "this one question", query=above, wish_id="one question")
    here.face("owner").decide("one question", "yes")
    table.ask(above, "of a wish")
    here.face("analyst").wish(MINE, "and another", query=count(table, "0.31"), wish_id="declined")
    here.face("owner").decide("declined", "no")
    here.face("analyst").wish(MINE, "a larger share", share="0.9", wish_id="changed")
    here.face("owner").decide("changed", "changed", "0.7")
    here.workspace.ledger.set_limit(record.budget, MINE, None, owner_id)
    here.bring("owner", "several rows each", start=500)
    here.give("several rows each", "analyst", HALF)
    several = here.face("analyst").table("several rows each")
    several.ask(count(several), "before its people")
    here.face("owner").table("several rows each").protect(dp.Unit.column("n", at_most=2))
    fresh = here.bring("owner", "apart", start=300)
    here.give("apart", "analyst", HALF)
    here.face("administrator").keep_apart(fresh.name, [here.person("analyst")])


def main(version: str) -> None:
    archive = KEPT / f"{version}.tar.xz"
    with tempfile.TemporaryDirectory() as scratch:
        env = {**os.environ, "ALLOWANCE_HOME": str(Path(scratch) / "own"), "PYTHONPATH": str(KEPT.parent)}
        for step in ("--fill", "--expect"):
            subprocess.run([sys.executable, "-m", "tests.kept.make", step, scratch], check=True, env=env)
        with tarfile.open(archive, "w:xz", preset=9) as packed:
            for name in ("own", "served", "expected.json"):
                packed.add(Path(scratch) / name, name)
    print(f"{archive}: {archive.stat().st_size} bytes")


def fill(scratch: Path) -> None:
    fill_own(scratch / "own")
    fill_served(scratch / "served")


def expect(scratch: Path) -> None:
    """What stands there; then this process ends as a killed program does, after a charge and before its answer."""
    home = dp.open_workspace(scratch / "own")
    (scratch / "expected.json").write_text(json.dumps(expected_of(home, links_of(home))), encoding="utf-8")

    class Killing(SystemCoins):
        def laplace(self, *_: Any) -> Any:
            os._exit(0)

    home.coins = Killing()
    table = home.table("raised")
    table.ask(table.query("count", where=[["x", ">", 3]], epsilon="0.1"), "killed")


if __name__ == "__main__":
    act = {"--fill": fill, "--expect": expect}.get(sys.argv[1])
    act(Path(sys.argv[2])) if act else main(sys.argv[1])
