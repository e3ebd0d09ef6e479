"""What a killed program was doing, and what must be true of the folder it leaves. Played by stage.py, never imported by
a test in a process that runs threads."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

import dpengine as dp
from dpengine.asking import release as asking_release
from dpengine.asking.release import charge_and_draw
from dpengine.commands import backup, recover
from dpengine.commands.ledger_places import place_of_ledger
from dpengine.ledger.ledger import Ledger
from dpengine.mechanisms.publish.write_file import file_digest
from dpengine.noise.coins import SystemCoins
from dpengine.statistics import kept
from dpengine.workspace import Workspace
from tests.helpers_ledger import PATIENCE

Tell = Callable[..., None]
A = [["town", "in", ["A"]]]
SCHEMA = dp.Schema({"x": dp.Number(0, 10, step=1), "town": dp.Category(["A", "B"])})
WIDER = dp.Schema({"x": dp.Number(0, 20, step=1), "town": dp.Category(["A", "B"])})


def frame(note: str) -> pd.DataFrame:
    return pd.DataFrame({"x": [1, 2, 3, 4] * 10, "town": ["A", "B"] * 20, "note": note})


def declare(home: Workspace, name: str) -> dp.Table:
    terms: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "budget": dp.Budget("3", "1e-6")}
    return home.add_table(name, frame(name), **terms)


class Telling(SystemCoins):
    """Says that noise is drawn, before it is."""

    def __init__(self, draw: Callable[[], None]) -> None:
        self._draw = draw

    def laplace(self, values: Any, scale: Any) -> list[int]:
        self._draw()
        return super().laplace(values, scale)

    def gaussian(self, values: Any, sigma_squared: Any) -> list[int]:
        self._draw()
        return super().gaussian(values, sigma_squared)

    def order(self, count: int) -> Any:  # the first draw of a published table
        self._draw()
        return super().order(count)


# Scenes


def _ask(home: Workspace, tell: Tell) -> None:
    table = home.table("people")
    tell("asking", "one")
    answer = table.ask(table.query("count", where=A, epsilon="0.1"), request_id="one")
    tell("shown", "one", answer.value)


def _publish(home: Workspace, tell: Tell) -> None:
    table = home.table("people")
    tell("asking", "file")
    answer = table.ask(table.query("publish_table", columns=["x", "town"], epsilon="0.5"), request_id="file")
    tell("shown", "file", answer.value)


def _train(home: Workspace, tell: Tell) -> None:
    """From forty people: a few looks, each a draw of its own within the one charge."""
    table = home.table("people")
    tell("asking", "model")
    query = table.query("train_linear", target="x", features=["town"], steps=1, epsilon="0.2")
    tell("shown", "model", table.ask(query, request_id="model").value)


def _session(home: Workspace, tell: Tell) -> None:
    table = home.table("people")
    tell("asking", "s")
    session = table.open_session(table.query("adaptive_session", questions=3, epsilon="1.5"), "s")
    for step in ("s/1", "s/2"):
        tell("asking", step)
        with suppress(dp.AllowanceError):  # cut short before, and never drawn again
            tell("shown", step, session.ask({"share": A}, step).value)


def _plan(home: Workspace, tell: Tell) -> None:
    table = home.table("people")
    tell("asking", "run")
    table.submit_plan([table.query("count", where=A, epsilon=e) for e in ("0.1", "0.2", "0.3")], "run")
    home.jobs.wait("run", PATIENCE)
    for entry, state in table.run("run").rows:
        if state == "done" and entry.outcome is not None:
            tell("shown", entry.charge.request, entry.outcome.body["value"])


def _crowd(home: Workspace, tell: Tell) -> None:
    """Many questions at once, as two servers would be asked them."""
    table, names = home.table("people"), [f"both {number}" for number in range(12)]
    for name in names:
        table.submit(table.query("count", where=A, epsilon="0.01"), request_id=name)
    for name in names:
        home.jobs.wait(name, PATIENCE)
        answer = home.job(name).answer
        tell("shown", name, None if answer is None else answer.value)


def _declare(home: Workspace, tell: Tell) -> None:
    declare(home, "more")
    tell("declared", "more")


def _revise(home: Workspace, tell: Tell) -> None:
    tell("version", home.table("people").revise(WIDER)._record.version)


def _act(kind: str) -> Callable[[Workspace, Tell], None]:
    def act(home: Workspace, tell: Tell) -> None:
        home.raise_cap("people", "4") if kind == "raise" else getattr(home, kind)("people")
        tell("done", kind)

    return act


SCENES: dict[str, Callable[[Workspace, Tell], None]] = {
    "ask": _ask,
    "publish": _publish,
    "train": _train,
    "session": _session,
    "plan": _plan,
    "crowd": _crowd,
    "declare": _declare,
    "revise": _revise,
    "seal": _act("seal"),
    "forget": _act("forget"),
    "raise": _act("raise"),
}


def play(scene: str, folder: Path, tell: Tell, draw: Callable[[], None]) -> None:
    """In a process of its own."""
    kept.LEAST_ROWS = 0  # so that kept counts are among what a kill may leave
    _telling[:] = [tell]
    if scene == "make":
        return _make(folder)
    if scene == "backup":
        backup.backup(folder, folder.with_name("copy"))
        return tell("done", scene)
    if scene == "lose":  # the last row, as if an older copy had been put back
        with closing(sqlite3.connect(folder / "ledger.sqlite")) as stranger, stranger:
            guard = stranger.execute("SELECT sql FROM sqlite_master WHERE name = 'no_delete'").fetchone()[0]
            stranger.execute("DROP TRIGGER no_delete")
            stranger.execute("DELETE FROM entries WHERE seq > 3")
            stranger.execute(guard)
        return None
    if scene == "open":
        try:
            with closing(Workspace(folder)) as home:
                return tell("closed", home.table("people").closed)
        except dp.AllowanceError as complaint:
            return tell("refused", complaint.code)
    if scene == "recover":
        with closing(place_of_ledger(folder)) as place:
            recover.close(folder, recover.look(folder, place), place)
        return tell("done", scene)
    home = Workspace(folder)
    home.coins = Telling(draw)
    if scene.startswith("check:"):
        tell("checked", _look(home, scene.removeprefix("check:"), tell))
    else:
        SCENES[scene](home, tell)
    home.close()


def _make(folder: Path) -> None:
    with closing(Workspace(folder)) as home:
        table = declare(home, "people")
        for request in ("before", "before too"):
            table.ask(table.query("count", epsilon="0.1", where=A), request_id=request)


# What is left


def _look(home: Workspace, scene: str, tell: Tell) -> dict[str, Any]:
    """The folder opens; what it holds; then the same is asked again, and a next question."""
    found = {"verified": home.verify_ledger().ok, "head": home.ledger.head()[0]}
    answers, charged = {}, []
    for entry in home.ledger.charges(limit=1000):
        request = entry.charge.request
        charged.append(request)
        if entry.outcome is not None and entry.outcome.kind == "answer":
            answers[request] = entry.outcome.body.get("value")
        for step in home.ledger.steps(request):
            charged.append(step.step)
            if step.outcome is not None and step.outcome.kind == "part":
                answers[step.step] = step.outcome.body["value"]
    table = home.table("people")
    found |= {"charged": charged, "answers": answers, "charges": table.meter().charges}
    found |= {"tables": [record.name for record in home.tables()], "version": table._record.version}
    found |= {"closed": home.closed(), "cap": str(table.budget.rule.epsilon)}
    known = {record.folder for record in home._registry.all()}
    found["strays"] = sorted(path.name for path in (home.folder / "tables").iterdir() if path.name not in known)
    found["differing"] = home.differing_counts()
    # A published table is an answer with its whole file, or nothing at all.
    told = {one["file"]: one["sha256"] for one in answers.values() if isinstance(one, dict) and "sha256" in one}
    files = {path.name: file_digest(path) for path in (home.folder / "published").iterdir()}
    found["strays"] += sorted(name for name in told.keys() | files.keys() if told.get(name) != files.get(name))
    with suppress(dp.AllowanceError):  # interrupted before: told so, and never drawn again
        SCENES[scene](home, tell)
    if "more" not in found["tables"] and scene == "declare":
        found["declared_again"] = "more" in [record.name for record in home.tables()]
    table, spent = home.table("people"), home.ledger.standing(home.table("people").budget.id).charges
    tell("asking", "next")
    try:
        table.ask(table.query("count", where=A, epsilon="0.05"), request_id="next")
        found["next"] = "answered"
    except dp.AllowanceError as complaint:
        found["next"] = complaint.code
    found["next_charged"] = home.ledger.standing(table.budget.id).charges - spent
    found["verified"] = found["verified"] and home.verify_ledger().ok
    return found


# Planted mistakes: each must be seen by the checks of test_kills.py


def _draw_before_charge() -> None:
    def carry(ledger: Ledger, args: dict[str, Any], read: Any, draw: Any, patience: float = 30) -> Any:
        body = draw(read())
        return charge_and_draw(ledger, args, lambda: None, lambda _: body)

    asking_release.charge_and_draw = carry  # type: ignore[attr-defined]


def _refund_at_restart() -> None:
    """A charge that was not answered is taken for not made."""
    standing = Ledger.standing

    def refunding(self: Ledger, budget: str) -> Any:
        answered = [entry.charge for entry in self.charges(budget, limit=1000) if entry.outcome is not None]
        return answered[0].standing if answered else standing(self, "nobody")

    Ledger.standing = refunding  # type: ignore[method-assign]


def _draw_again_at_restart() -> None:
    reserve = Ledger.reserve

    def again(self: Ledger, **told: Any) -> Any:
        charge = reserve(self, **told)
        entry = self.find(charge.request)
        return replace(charge, fresh=charge.fresh or (entry is not None and entry.outcome is None))

    Ledger.reserve = again  # type: ignore[method-assign]


def _show_before_store() -> None:
    """The answer is shown from memory, and stored after."""
    draw_once = asking_release._draw_once

    def early(ledger: Ledger, request: str, read: Any, draw: Any) -> None:
        body = draw(read())
        _telling[0]("shown", request, body["value"])
        draw_once(ledger, request, lambda: None, lambda _: body)

    asking_release._draw_once = early


_telling: list[Tell] = []
PLANTS: dict[str, Callable[[], None]] = {
    "": lambda: None,
    "draw before charge": _draw_before_charge,
    "refund at restart": _refund_at_restart,
    "draw again at restart": _draw_again_at_restart,
    "show before store": _show_before_store,
}
